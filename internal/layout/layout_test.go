package layout

import (
	"math/rand/v2"
	"reflect"
	"testing"
)

// graph returns a graph of equal boxes with arrows from and to boxes in turn.
func graph(boxes int, ends ...int) Graph {
	g := Graph{Gap: 10, RankGap: 20, ArrowGap: 4}
	for range boxes {
		g.Boxes = append(g.Boxes, Box{40, 10})
	}
	for i := 0; i < len(ends); i += 2 {
		g.Arrows = append(g.Arrows, Arrow{From: ends[i], To: ends[i+1]})
	}
	return g
}

// TestPlace compares places of small graphs with those of a careful hand.
func TestPlace(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name  string
		g     Graph
		boxes []Point
	}{
		{"nothing", graph(0), []Point{}},
		{"one", graph(1), []Point{{0, 0}}},
		{"a chain", graph(3, 0, 1, 1, 2), []Point{{0, 0}, {0, 30}, {0, 60}}},
		{"a chain written backwards", graph(3, 2, 1, 1, 0), []Point{{0, 60}, {0, 30}, {0, 0}}},
		{"a fork and a join", graph(4, 0, 1, 0, 2, 1, 3, 2, 3), []Point{{25, 0}, {0, 30}, {50, 30}, {25, 60}}},
		{"a late input", graph(4, 0, 1, 1, 2, 3, 2), []Point{{0, 0}, {0, 30}, {25, 60}, {50, 30}}},
		{"a state", graph(2, 0, 1, 1, 0), []Point{{0, 0}, {0, 30}}},
		{"an arrow to itself", graph(2, 0, 1, 1, 1), []Point{{0, 0}, {0, 30}}},
	} {
		got := Place(c.g)
		if !reflect.DeepEqual(got.Boxes, c.boxes) {
			t.Errorf("%s: %v, want %v", c.name, got.Boxes, c.boxes)
		}
	}
}

// TestArrows places a residual: the long arrow passes beside the boxes, without a bend between them.
func TestArrows(t *testing.T) {
	t.Parallel()
	g := graph(4, 0, 1, 1, 2, 2, 3, 0, 3)
	got := Place(g)
	long := got.Arrows[3]
	if len(long) != 6 || long[1].X != long[2].X || long[2].X != long[3].X || long[3].X != long[4].X {
		t.Errorf("%v", long)
	}
	check(t, "residual", g, got)
}

// TestLoose places a chain that a loose arrow enters: the chain stays straight.
func TestLoose(t *testing.T) {
	t.Parallel()
	g := graph(6, 0, 1, 1, 2, 2, 3, 4, 3, 5, 1)
	g.Arrows[3].Loose, g.Arrows[4].Loose = true, true
	got := Place(g)
	for _, b := range got.Boxes[1:4] {
		if b.X != got.Boxes[0].X {
			t.Errorf("%v", got.Boxes)
		}
	}
	check(t, "loose", g, got)
}

// TestCrossings has graphs that can be drawn without crossings, but not in the order in which they come.
func TestCrossings(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name string
		g    Graph
		want int
	}{
		{"two chains", graph(6, 0, 3, 1, 2, 2, 5, 3, 4), 0},
		{"a tree", graph(7, 0, 1, 0, 2, 2, 3, 1, 4, 2, 5, 1, 6), 0},
		{"three to three", graph(6, 0, 3, 0, 4, 0, 5, 1, 3, 1, 4, 1, 5, 2, 3, 2, 4, 2, 5), 9},
	} {
		s := ranked(c.g)
		s.arrange()
		if got := s.crossings(); got != c.want {
			t.Errorf("%s: %d crossings, want %d", c.name, got, c.want)
		}
	}
}

// TestRandom draws graphs. In each, no box touches another one or an arrow that passes, all is within the picture, and
// the second layout is equal.
func TestRandom(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(3, 4))
	for range 200 {
		g := Graph{Gap: 8, RankGap: 16, ArrowGap: 3}
		for range 1 + r.IntN(30) {
			g.Boxes = append(g.Boxes, Box{float64(10 + r.IntN(90)), float64(5 + r.IntN(40))})
		}
		for range r.IntN(2 * len(g.Boxes)) {
			g.Arrows = append(g.Arrows, Arrow{r.IntN(len(g.Boxes)), r.IntN(len(g.Boxes)), r.IntN(4) == 0})
		}
		got := Place(g)
		check(t, "random", g, got)
		before := ranked(g)
		after := ranked(g)
		after.arrange()
		if before.crossings() < after.crossings() {
			t.Errorf("%d crossings became %d", before.crossings(), after.crossings())
		}
		if !reflect.DeepEqual(got, Place(g)) {
			t.Error("the same graph gives two layouts")
		}
	}
}

// TestLarge places graphs of a hostile form: a chain with an arrow from its first box to each of the others, and two
// boxes with arrows to each of many.
func TestLarge(t *testing.T) {
	t.Parallel()
	const n = 3000
	chain, star := graph(n), graph(n)
	for i := 1; i < n; i++ {
		chain.Arrows = append(chain.Arrows, Arrow{From: i - 1, To: i}, Arrow{From: 0, To: i})
		star.Arrows = append(star.Arrows, Arrow{From: i % 2, To: n - i}, Arrow{From: 1 - i%2, To: i})
	}
	for _, g := range []Graph{chain, star} {
		for a, points := range Place(g).Arrows {
			if g.Arrows[a].From != g.Arrows[a].To && len(points) < 2 {
				t.Fatalf("arrow %d has %d points", a, len(points))
			}
		}
	}
}

// check compares a layout with what Place promises.
func check(t *testing.T, name string, g Graph, l Layout) {
	t.Helper()
	const rounding = 1e-6
	gap := min(g.Gap, 2*g.ArrowGap) - 1 - rounding // an arrow may pass between two boxes
	for i, a := range l.Boxes {
		w, h := g.Boxes[i].Width, g.Boxes[i].Height
		if a.X < -rounding || a.Y < 0 || a.X+w > l.Width+rounding || a.Y+h > l.Height+rounding {
			t.Errorf("%s: box %d at %v is outside %v x %v", name, i, a, l.Width, l.Height)
		}
		for k, b := range l.Boxes[:i] {
			if a.X < b.X+g.Boxes[k].Width+gap && b.X < a.X+w+gap && a.Y < b.Y+g.Boxes[k].Height &&
				b.Y < a.Y+h {
				t.Errorf("%s: boxes %d and %d touch: %v, %v", name, k, i, b, a)
			}
		}
	}
	for a, points := range l.Arrows {
		from, to := g.Arrows[a].From, g.Arrows[a].To
		if from == to {
			if points != nil {
				t.Errorf("%s: the arrow from box %d to itself has points", name, from)
			}
			continue
		}
		if len(points) < 2 || len(points)%2 != 0 {
			t.Fatalf("%s: arrow %d has %d points", name, a, len(points))
		}
		first, last := points[0], points[len(points)-1]
		for _, end := range []struct {
			box int
			p   Point
		}{{from, first}, {to, last}} {
			at, size := l.Boxes[end.box], g.Boxes[end.box]
			if d := end.p.X - (at.X + size.Width/2); d > rounding || d < -rounding ||
				end.p.Y != at.Y && end.p.Y != at.Y+size.Height {
				t.Errorf("%s: arrow %d ends at %v, box %d is at %v", name, a, end.p, end.box, at)
			}
		}
		for k := 1; k+1 < len(points); k += 2 { // where it passes a rank
			p, q := points[k], points[k+1]
			for i, b := range l.Boxes {
				if min(p.Y, q.Y) <= b.Y && b.Y+g.Boxes[i].Height <= max(p.Y, q.Y) && p.X > b.X-rounding &&
					p.X < b.X+g.Boxes[i].Width+rounding {
					t.Errorf("%s: arrow %d passes through box %d", name, a, i)
				}
			}
		}
	}
}

// BenchmarkPlace places a chain of 1,000 boxes with arrows past ten of them.
func BenchmarkPlace(b *testing.B) {
	g := graph(1000)
	for i := range 999 {
		g.Arrows = append(g.Arrows, Arrow{From: i, To: i + 1})
		if i+10 < 1000 {
			g.Arrows = append(g.Arrows, Arrow{From: i, To: i + 10})
		}
	}
	for b.Loop() {
		Place(g)
	}
}
