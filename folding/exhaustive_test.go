package folding

import (
	"context"
	"math/rand/v2"
	"slices"
	"testing"

	"hlsgen/boards"
	"hlsgen/hlslib/dwc"
	"hlsgen/internal/dataflow"
	"hlsgen/internal/diag"
)

// A plan is one complete folding as the enumeration sees it.
type plan struct {
	interval int
	cost     dataflow.Resources
}

// every enumerates all foldings of a graph: any fold of any layer, with a converter wherever words differ.
func every(g *dataflow.Graph, t dataflow.Target, visit func(plan)) {
	type end struct{ stream, per int }
	folds := make([][]dataflow.Fold, len(g.Nodes))
	for i, n := range g.Nodes {
		for f := range n.Op.Folds() {
			if f.Memory != dataflow.URAM || t.Board.InitialisesURAM() {
				folds[i] = append(folds[i], f)
			}
		}
	}
	converters := map[[3]int]plan{}
	var place func(i int, p plan, written []end)
	place = func(i int, p plan, written []end) {
		if i == len(g.Nodes) {
			visit(p)
			return
		}
		n := g.Nodes[i]
		for _, f := range folds[i] {
			next := plan{max(p.interval, n.Op.Loop(f, t).Iterations()), p.cost.Plus(n.Op.Cost(f, t).Total())}
			in, out := n.Op.Ports(f)
			for k, s := range n.In {
				w := slices.IndexFunc(written, func(e end) bool { return e.stream == s })
				if w < 0 || written[w].per == in[k].PerWord {
					continue
				}
				c, ok := converters[[3]int{s, written[w].per, in[k].PerWord}]
				if !ok {
					op, _, err := dwc.New(dwc.Params{In: written[w].per, Out: in[k].PerWord}).Bind([]dataflow.Type{g.Streams[s].Type})
					if err != nil {
						panic(err)
					}
					fold := onlyFold(op)
					c = plan{op.Loop(fold, t).Iterations(), op.Cost(fold, t).Total()}
					converters[[3]int{s, written[w].per, in[k].PerWord}] = c
				}
				next = plan{max(next.interval, c.interval), next.cost.Plus(c.cost)}
			}
			grown := slices.Clone(written)
			for k, s := range n.Out {
				grown = append(grown, end{s, out[k].PerWord})
			}
			place(i+1, next, grown)
		}
	}
	place(0, plan{}, nil)
}

// bestOf is the answer by enumeration: the shortest interval within the budget, or for an fps goal the asked one, and
// the least load and LUTs there. ok is false where nothing fits.
func bestOf(m *dataflow.Model, t dataflow.Target, goal Goal) (interval int, share float64, luts int, ok bool) {
	budget := vectorOf(Budget(t.Board, goal.MaxUse))
	limit := mostClocks
	if goal.FPS > 0 {
		limit = ClocksPerFrame(t.ClockMHz, goal.FPS)
	} else {
		best := limit
		every(m.Graph, t, func(p plan) {
			if vectorOf(p.cost).within(budget) {
				best = min(best, p.interval)
			}
		})
		limit = best
	}
	every(m.Graph, t, func(p plan) {
		if p.interval > limit || !vectorOf(p.cost).within(budget) {
			return
		}
		s, _ := load(vectorOf(p.cost), budget)
		if !ok || s < share || s == share && p.cost.LUT < luts {
			share, luts, ok = s, p.cost.LUT, true
		}
	})
	return limit, share, luts, ok
}

// tight is a board on which few of a random net's foldings fit.
func tight(r *rand.Rand) boards.Board {
	return boards.Board{Name: "tight", LUT: 60 + r.IntN(600), FF: 60 + r.IntN(600), BRAM36: 1 + r.IntN(6), URAM: r.IntN(6), DSP: 1 + r.IntN(14), DSPType: "DSP58"}
}

// checkAgainstEnumeration compares a search with all foldings; it reports whether anything fitted.
func checkAgainstEnumeration(t *testing.T, m *dataflow.Model, target dataflow.Target, goal Goal) bool {
	t.Helper()
	var d diag.List
	got, err := Search(context.Background(), m, target, goal, &d)
	if err != nil {
		t.Fatal(err)
	}
	interval, share, luts, ok := bestOf(m, target, goal)
	if !ok {
		if got != nil || !d.Failed() {
			t.Fatalf("%+v on %+v: nothing fits, got %+v", goal, target.Board, got)
		}
		return false
	}
	if got == nil {
		t.Fatalf("%+v on %+v: interval %d fits, got %v", goal, target.Board, interval, d.Diags)
	}
	gotShare, _ := load(vectorOf(got.Total), vectorOf(Budget(target.Board, goal.MaxUse)))
	if got.Interval > interval || goal.FPS == 0 && got.Interval != interval || gotShare != share || got.Total.LUT != luts || !got.Exact {
		t.Fatalf("%+v on %+v:\ngot  interval %d, load %v, %d LUT, exact %v\nwant interval %d, load %v, %d LUT",
			goal, target.Board, got.Interval, gotShare, got.Total.LUT, got.Exact, interval, share, luts)
	}
	if err := got.Design.Verify(); err != nil {
		t.Fatalf("design: %v", err)
	}
	return true
}

// On small networks the search finds what an enumeration of all foldings finds, in interval, load and LUTs.
func TestExhaustive(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(22, 7))
	fitted := 0
	const nets = 1000
	for range nets {
		m, target := randomNet(r), dataflow.Target{Board: tight(r), ClockMHz: 100}
		if checkAgainstEnumeration(t, m, target, Goal{MaxUse: Use{0.9, 0.9, 0.9, 0.9, 0.9}}) {
			fitted++
		}
		checkAgainstEnumeration(t, m, target, Goal{FPS: 1e8 / float64(1+r.IntN(40)), MaxUse: Use{1, 0.8, 0.5, 1, 0.7}})
	}
	if fitted < nets/3 || fitted > nets*9/10 {
		t.Errorf("%d of %d networks fit: the boards are not tight", fitted, nets)
	}
}

// The same with real layers.
func TestExhaustiveLayers(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(4, 4))
	for range 12 {
		m := mlp(r, uint2, 1+r.IntN(3), 2, 6, 4, 3)
		if r.IntN(3) == 0 {
			m = withThresholds(r, 12, 6)
		}
		b := board("pynq-z1")
		b.LUT, b.BRAM36, b.DSP = 900+r.IntN(1500), 1+r.IntN(4), 1+r.IntN(20)
		target := dataflow.Target{Board: b, ClockMHz: 100}
		checkAgainstEnumeration(t, m, target, Goal{})
		checkAgainstEnumeration(t, m, target, Goal{FPS: 1e8 / float64(1+r.IntN(30))})
	}
}
