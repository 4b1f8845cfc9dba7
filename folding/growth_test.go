package folding

import (
	"fmt"
	"math"
	"testing"

	"hlsgen/folding/fit"
	"hlsgen/internal/dataflow"
	"hlsgen/internal/diag"
	"hlsgen/internal/testsupport/tier"
)

// A sized is the size of a network of a family: the side of its square pictures and of all layers, its channels, and
// its number of layers with weights.
type sized struct{ side, channels, layers int }

// families returns networks of any size.
var families = map[string]func(sized) *dataflow.Model{
	"chain": func(n sized) *dataflow.Model {
		p := newPainter()
		s := p.image(n.side, n.side, n.channels)
		for range n.layers {
			s = p.conv(s, 3, 1, n.channels)
		}
		return p.model("chain", p.classify(s, n.channels))
	},
	"residual": func(n sized) *dataflow.Model {
		p := newPainter()
		s := p.conv(p.image(n.side, n.side, n.channels), 3, 1, n.channels)
		for range n.layers / 2 {
			f := p.fork(s, 2)
			s = p.join(p.conv(p.conv(f[0], 3, 1, n.channels), 3, 1, n.channels), f[1])
		}
		return p.model("residual", p.classify(s, n.channels))
	},
	"depthwise": func(n sized) *dataflow.Model {
		p := newPainter()
		s := p.image(n.side, n.side, n.channels)
		for range n.layers / 2 {
			s = p.conv(p.depthwise(s, 1), 1, 1, n.channels)
		}
		return p.model("depthwise", p.classify(s, n.channels))
	},
}

// effort is the number of steps for the fastest design of a network.
type effort struct {
	search int // steps, including the words that trials of FIFOs move
	run    int // words that runs of designs move
	usual  int // the usual steps for one interval, by the size of the network
}

// The steps per word that moves (fit), and the most times the usual steps of a search. Most of these find the shortest
// interval (narrowing); the others begin, and settle on a design. The last try of each of the three may take twice the
// usual steps.
const (
	perWord   = 2
	usualMost = narrowing + 3*2
)

func (e effort) steps() int { return e.search + perWord*e.run }

func effortOf(t *testing.T, m *dataflow.Model, target dataflow.Target) (e effort) {
	t.Helper()
	space := must(NewSpace(m, target, nil, FIFODepthPolicy{}, nil))
	q := &inquiry{report: report{fit.NewDesignSearch(space.FoldingSpace, Goal{})}, made: space.made,
		told: new(diag.List)}
	s := q.sequence(t.Context(), space.IntervalsToTry())
	defer s.close()
	f, err := s.fastest()
	if err != nil || f == nil {
		t.Fatal(err, text(q.told))
	}
	if _, err := q.design(t.Context(), f.Folding); err != nil {
		t.Fatal(err)
	}
	s.over() // counts the remaining steps
	for _, p := range s.pursuits {
		p.CountStepsTowards(&s.whole)
		e.usual = max(e.usual, p.UsualStepCount())
	}
	e.search, e.run = s.whole.Done, q.Known.WordsMoved()
	return e
}

// TestStepsGrow checks that steps of search and simulation grow with pixels, weights and layers by an exponent of at
// most 1.1. The usual steps for a network's size do, and no search takes more than a few times as many. The steps that
// searches take do, too, if both networks are equally hard.
//
// If the smaller network's search ends early, with a proof or without progress, the usual steps for one interval count.
// In a leap, only the larger network's search takes several intervals; its steps say nothing of sizes. Checking a
// network takes no steps.
func TestStepsGrow(t *testing.T) {
	t.Parallel()
	tier.NotQuick(t)
	const (
		u250, zcu104, part4 = "alveo-u250", "zcu104", "0.4 zcu104"
		long, early, leap   = 1, 2, 3 // all of them run in the long tier
	)
	for _, c := range []struct {
		family, grows, board string
		small, large         sized
		when                 int
	}{
		{"chain", "pixels", u250, sized{64, 4, 4}, sized{128, 4, 4}, 0},
		{"chain", "pixels", zcu104, sized{64, 16, 4}, sized{128, 16, 4}, 0},
		{"chain", "weights", u250, sized{16, 16, 4}, sized{16, 32, 4}, 0},
		{"chain", "weights", zcu104, sized{16, 32, 4}, sized{16, 64, 4}, early},
		{"chain", "layers", u250, sized{16, 4, 8}, sized{16, 4, 32}, 0},
		{"chain", "layers", part4, sized{16, 8, 16}, sized{16, 8, 64}, leap},
		{"chain", "layers", zcu104, sized{16, 8, 64}, sized{16, 8, 256}, leap},
		{"residual", "pixels", u250, sized{64, 16, 4}, sized{128, 16, 4}, 0},
		{"residual", "pixels", zcu104, sized{64, 16, 4}, sized{128, 16, 4}, 0},
		{"residual", "pixels", part4, sized{64, 16, 6}, sized{128, 16, 6}, early},
		{"residual", "weights", u250, sized{16, 16, 4}, sized{16, 32, 4}, 0},
		{"residual", "weights", zcu104, sized{16, 32, 4}, sized{16, 64, 4}, long},
		{"residual", "weights", part4, sized{16, 32, 6}, sized{16, 64, 6}, leap},
		{"residual", "layers", u250, sized{16, 4, 8}, sized{16, 4, 32}, early},
		{"residual", "layers", part4, sized{16, 8, 16}, sized{16, 8, 64}, leap},
		{"residual", "layers", zcu104, sized{16, 8, 64}, sized{16, 8, 256}, leap},
		{"depthwise", "pixels", u250, sized{64, 4, 4}, sized{128, 4, 4}, 0},
		{"depthwise", "pixels", zcu104, sized{64, 16, 8}, sized{128, 16, 8}, 0},
		{"depthwise", "weights", u250, sized{16, 16, 4}, sized{16, 32, 4}, 0},
		{"depthwise", "weights", zcu104, sized{8, 64, 8}, sized{8, 128, 8}, early},
		{"depthwise", "layers", u250, sized{16, 4, 4}, sized{16, 4, 16}, 0},
		{"depthwise", "layers", zcu104, sized{16, 8, 64}, sized{16, 8, 256}, early},
	} {
		t.Run(fmt.Sprintf("%s on %s, %s %v", c.family, c.board, c.grows, c.small), func(t *testing.T) {
			t.Parallel()
			if c.when > 0 {
				tier.NeedsLong(t)
			}
			on := board("zcu104")
			switch c.board {
			case u250:
				on = board(u250)
			case part4:
				on = part(on, 0.4)
			}
			var took [2]effort
			for i, n := range []sized{c.small, c.large} {
				e := effortOf(t, families[c.family](n), dataflow.Target{Board: on, ClockMHz: 200})
				if took[i] = e; e.steps() > usualMost*e.usual {
					t.Errorf("%v takes %d steps, where %d are usual for an interval", n, e.steps(), e.usual)
				}
			}
			exponent := func(of func(effort) int) float64 {
				return math.Log(float64(of(took[1]))/float64(of(took[0]))) / math.Log(4)
			}
			all, usual := exponent(effort.steps), exponent(func(e effort) int { return e.usual })
			if c.when == early {
				all = exponent(func(e effort) int { return max(e.steps(), e.usual) })
			}
			run := exponent(func(e effort) int { return e.run })
			t.Logf("%v takes %+v, %v %+v: the exponent is %.2f, of the run %.2f, of what is usual %.2f", c.small,
				took[0], c.large, took[1], all, run, usual)
			const most = 1.1
			if usual > most || all > most && c.when != leap {
				t.Errorf("%v takes %+v, %v %+v: the exponents are %.2f and %.2f", c.small, took[0], c.large,
					took[1], all, usual)
			}
		})
	}
}
