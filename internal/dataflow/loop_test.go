package dataflow

import (
	"math/rand/v2"
	"slices"
	"testing"

	"hlsgen/internal/testsupport/tier"
)

func TestStride(t *testing.T) {
	t.Parallel()
	hit, miss := []LoopRun{{Times: 2, Moves: PortMoves{Read: 1}}}, []LoopRun{{Times: 1, Moves: PortMoves{Write: 1}}}
	for _, tt := range []struct {
		s    StridedPositions
		want string
	}{
		{StridedPositions{1, 0, 1, 1}, "x"},
		{StridedPositions{3, 0, 3, 1}, "xxx"},
		{StridedPositions{5, 2, 4, 1}, "..xx."},
		{StridedPositions{7, 1, 7, 2}, ".x.x.x."},
		{StridedPositions{7, 1, 6, 2}, ".x.x.x."},
		{StridedPositions{7, 1, 5, 2}, ".x.x..."},
		{StridedPositions{6, 0, 6, 4}, "x...x."},
		{StridedPositions{4, 3, 4, 9}, "...x"},
	} {
		got := ""
		for i := range tt.s.Length {
			got += map[bool]string{true: "x", false: "."}[tt.s.IsHit(i)]
		}
		var moves []PortMoves
		hits := 0
		for _, c := range tt.want {
			if c == 'x' {
				moves, hits = append(moves, hit[0].Moves, hit[0].Moves), hits+1
			} else {
				moves = append(moves, miss[0].Moves)
			}
		}
		l := Loop{Body: tt.s.LoopRunsAlong(hit, miss), Latency: 1}
		if got != tt.want || tt.s.HitCount() != hits || l.IterationsPerFrame() != len(moves) {
			t.Errorf("%+v: %s, %d hits, %d iterations, want %s", tt.s, got, tt.s.HitCount(), l.IterationsPerFrame(),
				tt.want)
			continue
		}
		for i, m := range moves {
			if l.MovesOfIteration(i) != m {
				t.Errorf("%+v: iteration %d moves %+v, want %+v", tt.s, i, l.MovesOfIteration(i), m)
			}
		}
	}
	if n := len((StridedPositions{1 << 30, 5, 1 << 29, 3}).LoopRunsAlong(hit, miss)); n > 4 {
		t.Errorf("a long axis is %d runs", n)
	}
}

// TestNestAgainstWalk compares LoopNest.AsLoop with a nest walked index by index, and all methods of a Loop with its
// runs walked one by one.
func TestNestAgainstWalk(t *testing.T) {
	t.Parallel()
	rng := rand.New(rand.NewPCG(1, 2))
	for range 3000 {
		n := randomNest(rng)
		var want []PortMoves
		var walk func(level int, m PortMoves)
		walk = func(level int, m PortMoves) {
			if level == len(n.Trips) {
				want = append(want, m)
				return
			}
			for j := range n.Trips[level] {
				inner := m
				if !member(n.Read[0][level], j, n.Trips[level]) {
					inner.Read = 0
				}
				if !member(n.Write[0][level], j, n.Trips[level]) {
					inner.Write &^= 1
				}
				walk(level+1, inner)
			}
		}
		walk(0, PortMoves{1, 1})
		checkLoop(t, n.AsLoop(), want)
	}
}

func TestLoopAgainstRuns(t *testing.T) {
	t.Parallel()
	tier.NotQuick(t)
	rng := rand.New(rand.NewPCG(3, 4))
	for range 3000 {
		l := Loop{Body: append(randomRuns(rng, 3), LoopRun{Times: 1, Moves: PortMoves{1, 1}}), Latency: 1 + rng.IntN(5)}
		var want []PortMoves
		var walk func(body []LoopRun)
		walk = func(body []LoopRun) {
			for _, r := range body {
				for range r.Times {
					if r.Body == nil {
						want = append(want, r.Moves)
					}
					walk(r.Body)
				}
			}
		}
		walk(l.Body)
		checkLoop(t, l, want)
		checkLoop(t, Loop{RepeatLoopRuns(2, JoinLoopRuns(l.Body...)...), l.Latency}, append(want, want...))
	}
}

func checkLoop(t *testing.T, l Loop, want []PortMoves) {
	t.Helper()
	w, skipping, passing := l.NewWalker(), l.NewWalker(), l.NewWalker()
	reads, writes, first, last := 0, 0, -1, -1
	for f := range 2 {
		for i, m := range want {
			if w.NextMoves() != m || l.MovesOfIteration(i) != m {
				t.Fatalf("%+v: iteration %d of frame %d moves %v and %v, want %v", l, i, f, w.NextMoves(),
					l.MovesOfIteration(i), m)
			}
			for _, next := range want[i:][:w.EqualIterationsAhead()] {
				if next != m {
					t.Fatalf("%+v: %d iterations from %d on are said to be alike", l, w.EqualIterationsAhead(), i)
				}
			}
			if end := w.AdvanceIteration(); end != (i == len(want)-1) {
				t.Fatalf("%+v: end of frame at %d: %t", l, i, end)
			}
			reads += int(m.Read)
			if m.Write != 0 && f == 0 {
				if writes++; first < 0 {
					first = i
				}
				last = i
			}
		}
	}
	for n := 0; n < len(want); {
		k := skipping.EqualIterationsAhead()
		skipping.SkipEqualIterations(k - 1)
		n += k
		end, passed := skipping.AdvanceIteration(), passing.AdvanceEqualIterations()
		if end != (n == len(want)) || passed != end || passing.NextMoves() != skipping.NextMoves() ||
			passing.EqualIterationsAhead() != skipping.EqualIterationsAhead() {
			t.Fatalf("%+v: after %d of %d iterations the end is %t, passed by %t", l, n, len(want), end, passed)
		}
	}
	got := []int{l.IterationsPerFrame(), 2 * l.WordsRead(0), l.WordsWritten(0), l.FirstWriteClock(0),
		l.LastWriteClock(0)}
	if w := []int{len(want), reads, writes, first + l.Latency, last + l.Latency}; !slices.Equal(got, w) {
		t.Fatalf("%+v: %v, want %v", l, got, w)
	}
	k, j := 0, 0
	for i, m := range want {
		if m.Read != 0 {
			if at := l.IterationOfRead(0, k); at != i {
				t.Fatalf("%+v: word %d is read at %d, want %d", l, k, at, i)
			}
			k++
		}
		if m.Write != 0 {
			if at := l.IterationOfWrite(0, j); at != i {
				t.Fatalf("%+v: word %d is written at %d, want %d", l, j, at, i)
			}
			j++
		}
	}
	if n, ok := count(l.Body, 1, 1); !ok || n != len(want) {
		t.Fatalf("%+v: %d iterations, well formed %t", l, n, ok)
	}
}

func randomRuns(rng *rand.Rand, depth int) (body []LoopRun) {
	for range 1 + rng.IntN(3) {
		r := LoopRun{Times: 1 + rng.IntN(4)}
		if depth > 0 && rng.IntN(2) == 0 {
			r.Body = randomRuns(rng, depth-1)
		} else {
			r.Moves = PortMoves{uint64(rng.IntN(2)), uint64(rng.IntN(2))}
		}
		body = append(body, r)
	}
	return body
}

func member(x IndexSet, j, n int) bool {
	return x.Kind == IndexSetKindEvery || x.Kind == IndexSetKindFirst && j == 0 || x.Kind == IndexSetKindLast &&
		j == n-1 ||
		x.Kind == IndexSetKindPattern && x.Pattern[j] == '1'
}

// randomNest returns a nest that reads and writes at least one word.
func randomNest(rng *rand.Rand) LoopNest {
	n := LoopNest{Latency: 1 + rng.IntN(5), Read: make([]PortMoveIndices, 1), Write: make([]PortMoveIndices, 1)}
	for range rng.IntN(5) {
		trips := 1 + rng.IntN(4)
		n.Trips = append(n.Trips, trips)
		for _, a := range []*PortMoveIndices{&n.Read[0], &n.Write[0]} {
			x := IndexSet{Kind: IndexSetKindEvery + IndexSetKind(rng.IntN(4))}
			if x.Kind == IndexSetKindPattern {
				p := make([]byte, trips)
				for j := range p {
					p[j] = '0' + byte(rng.IntN(2))
				}
				p[rng.IntN(trips)] = '1'
				x.Pattern = string(p)
			}
			*a = append(*a, x)
		}
	}
	return n
}

func TestNestRefusesZeroIndex(t *testing.T) {
	t.Parallel()
	defer func() {
		if recover() == nil {
			t.Error("an index set without a kind was taken for one")
		}
	}()
	LoopNest{Trips: []int{2}, Read: []PortMoveIndices{{{}}}}.AsLoop()
}
