package fit

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"hlsgen/boards"
	"hlsgen/folding/goal"
	"hlsgen/folding/search"
	"hlsgen/folding/space"
	"hlsgen/hlslib/add"
	"hlsgen/hlslib/dup"
	"hlsgen/hlslib/mvau"
	"hlsgen/hlslib/price/estimate"
	"hlsgen/internal/dataflow"
	"hlsgen/internal/diag"
	"hlsgen/internal/num"
	"hlsgen/rtlsim"
)

// skip returns the space of a fork, a layer on one of its branches, and their sum: the other branch needs a FIFO.
func skip(t *testing.T) *space.FoldingSpace {
	t.Helper()
	r := rand.New(rand.NewPCG(5, 7))
	elem := num.Type{Kind: num.UInt, Width: 4}
	step := num.StepFunction{Value: []int64{0}}
	for i := range int64(15) {
		step.At, step.Value = append(step.At, 3*i+1), append(step.Value, i+1)
	}
	var b dataflow.GraphBuilder
	put := func(op dataflow.Op, in ...int) []int {
		out, err := b.Add(op, in, nil, nil)
		if err != nil {
			t.Fatal(err)
		}
		return out
	}
	weights := make([][]int64, 4)
	for c := range weights {
		for range 4 {
			weights[c] = append(weights[c], r.Int64N(15)-7)
		}
	}
	x := b.Input("x", dataflow.StreamType{Shape: dataflow.Shape{3, 4}, Range: []num.Range{elem.Range()}, Elem: elem})
	both := put(dup.New(dup.Params{Copies: 2}), x)
	y := put(mvau.New(mvau.Params{Weights: weights, Steps: []num.StepFunction{step}}), both[0])[0]
	b.Output(put(add.New(add.Params{}), y, both[1])[0])
	g, err := b.Graph()
	if err != nil {
		t.Fatal(err)
	}
	board, err := boards.Find("pynq-z1")
	if err != nil {
		t.Fatal(err)
	}
	var told diag.List
	s := space.New(&dataflow.Model{Graph: g}, dataflow.Target{Board: board, ClockMHz: 100}, nil, goal.FIFODepthPolicy{},
		space.AllFolds, &told)
	if s == nil {
		t.Fatal(told)
	}
	return s
}

// foldings visits each combination of options, with FIFOs of least depth.
func foldings(t *testing.T, q *DesignSearch, limit int, visit func(f *space.Folding, b *space.FoldedDesign)) {
	t.Helper()
	options := make([]int32, len(q.Layers))
	var layer func(i int)
	layer = func(i int) {
		if i < len(options) {
			for o := range q.Layers[i].Options {
				if options[i] = int32(o); q.Layers[i].Clocks(o) <= limit {
					layer(i + 1)
				}
			}
			return
		}
		if f := least(t, q, &space.Region{Limit: limit}, options); f != nil {
			visit(f, q.Build(f))
		}
	}
	layer(0)
}

// least returns the folding with these options and the cheapest FIFOs in LUTs in a region, or nil if no width converter
// joins its layers.
func least(t *testing.T, q *DesignSearch, r *space.Region, options []int32) *space.Folding {
	t.Helper()
	tree := q.ClassTree(r, q.Classes(options), options, q.Around, &search.StepCounter{Limit: 1 << 40})
	if tree == nil {
		return nil
	}
	got, err := tree.Minimise(context.Background(), q.ObjectiveOf(goal.LeastLUT), nil, search.Unlimited, 1000)
	if err != nil || got.Best == nil {
		t.Fatal(got, err)
	}
	return q.Folding(r, got.Best)
}

// TestFound checks that the design found takes as few LUTs as the best of all foldings with sufficient FIFOs, that its
// bound is right, and that it keeps the interval.
func TestFound(t *testing.T) {
	t.Parallel()
	ctx, s := context.Background(), skip(t)
	list := s.Intervals()
	for _, limit := range []int{list[0], list[1], list[len(list)/2], list[len(list)-1]} {
		q := NewDesignSearch(s, goal.Goal{Interval: float64(limit), Least: goal.LeastLUT, MaxUse: goal.EvenUse(1)})
		best := math.Inf(1)
		foldings(t, q, limit, func(f *space.Folding, b *space.FoldedDesign) {
			z, err := rtlsim.SizeFIFOs(ctx, b.Design, rtlsim.SizeOptions{Interval: limit, From: b.Depths()})
			if err != nil {
				t.Fatal(err)
			}
			if z.Feasible {
				r := space.Region{Limit: limit}.WithDepths(b, z.Words)
				best = min(best, least(t, q, &r, f.Options).Value(q.ObjectiveOf(goal.LeastLUT)))
			}
		})
		p := q.NewIntervalSearch(limit)
		if err := p.Continue(ctx, 1, false); err != nil {
			t.Fatal(err)
		}
		got, err := p.Best(ctx)
		if err != nil || got == nil {
			t.Errorf("%d clocks: %v, %v", limit, got, err)
			continue
		}
		b := got.Bounds[0]
		if b.Value != best || b.Least > best || b.Gap() != 0 || p.Impossible() {
			t.Errorf("%d clocks: %v, none below %v, the best is %v", limit, b.Value, b.Least, best)
		}
		d := q.Build(got.Folding)
		clocks, err := q.SimulateInterval(ctx, d.Design)
		if luts := estimate.DesignCost(d.Design).Total.LUT; err != nil || clocks > float64(limit) ||
			float64(luts) != best {
			t.Errorf("%d clocks: the design takes %v and %d LUTs, %v", limit, clocks, luts, err)
		}
	}
	if p := NewDesignSearch(s, goal.Goal{}).NewIntervalSearch(list[0] - 1); p.Continue(ctx, 1, false) != nil ||
		!p.Impossible() ||
		len(p.Takes) > 0 {
		t.Errorf("a design in %d clocks: %+v", list[0]-1, p.Takes)
	}
}

// TestSize checks that FIFOs of the found depths keep the interval, and that no FIFOs do where none are found.
func TestSize(t *testing.T) {
	t.Parallel()
	ctx, s := context.Background(), skip(t)
	list := s.Intervals()
	deeper, none := 0, 0
	for _, limit := range []int{list[0], list[len(list)/2]} {
		q := NewDesignSearch(s, goal.Goal{Interval: float64(limit)})
		foldings(t, q, limit, func(f *space.Folding, b *space.FoldedDesign) {
			z, err := q.size(ctx, b, limit, false)
			if err != nil {
				t.Fatal(err)
			}
			d := *b.Design
			d.FIFO = slices.Clone(d.FIFO)
			for id := range d.FIFO {
				if d.FIFO[id].Depth = 1000; z != nil && z.Feasible {
					d.FIFO[id].Depth = z.Words[id]
				}
			}
			kept := z != nil && z.Feasible
			if clocks, err := q.SimulateInterval(ctx, &d); err != nil || (clocks <= float64(limit)) != kept {
				t.Errorf("%v at %d clocks: kept %v, and they are %v, %v", f.Options, limit, kept, clocks, err)
			}
			if !kept {
				none++
			} else if !slices.Equal(z.Words, b.Depths()) {
				deeper++
			}
		})
	}
	if deeper == 0 {
		t.Errorf("%d FIFOs are deeper, %d not deep enough", deeper, none)
	}
}

// TestShortest checks the shortest latency against the best of all foldings with sufficient FIFOs.
func TestShortest(t *testing.T) {
	t.Parallel()
	ctx, s := context.Background(), skip(t)
	list := s.Intervals()
	for _, limit := range []int{list[0], list[len(list)-1]} {
		q := NewDesignSearch(s, goal.Goal{Latency: true, MaxUse: goal.EvenUse(1)})
		best := math.MaxInt
		foldings(t, q, limit, func(f *space.Folding, b *space.FoldedDesign) {
			d := *b.Design
			d.FIFO = slices.Clone(d.FIFO)
			for id := range d.FIFO {
				d.FIFO[id].Depth = 1000
			}
			trace, err := rtlsim.Run(ctx, &d, nil, rtlsim.Options{Frames: 1})
			if err != nil {
				t.Fatal(err)
			}
			best = min(best, trace.Latency())
		})
		got, err := q.FindShortestLatency(ctx, limit, EndOnceFound{Ctx: ctx, Whole: &search.TotalStepCounter{},
			Found: func() {}})
		if err != nil || got == nil || got.Latency.Clocks != best || got.Latency.Least > best {
			t.Fatalf("%d clocks: %+v, %v, the best is %d", limit, got, err, best)
		}
		if clocks, err := latency(ctx, q.Build(got.Folding)); err != nil || clocks != best {
			t.Errorf("%d clocks: the design has a latency of %d, not %d, %v", limit, clocks, best, err)
		}
	}
}

// TestCaps checks the caps of designs: the budget, and what the memory carries in the interval; no DSP slices for few
// bits if these are spared; no caps if the goal only limits layers' clocks.
func TestCaps(t *testing.T) {
	t.Parallel()
	s := skip(t)
	q := NewDesignSearch(s, goal.Goal{MaxUse: goal.EvenUse(0.5)})
	for _, clocks := range []int{1, 100} {
		want := q.Budget.Caps()
		want.Vector[goal.KindMemoryBytes] = s.BytesIn(clocks)
		if got := q.CapsAt(clocks); got != want {
			t.Errorf("%d clocks: %v, want %v", clocks, got, want)
		}
		if want.Vector[goal.KindNarrowDSP] = 0; q.SparingDSPs().CapsAt(clocks) != want {
			t.Errorf("%d clocks, sparing: %v, want %v", clocks, q.SparingDSPs().CapsAt(clocks), want)
		}
	}
	if got := NewDesignSearch(s, goal.Goal{MaxCycles: 10}).CapsAt(10); got != search.Unlimited {
		t.Errorf("layers of ten clocks: %v", got)
	}
}

// TestBounds checks the texts of bounds.
func TestBounds(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		bound interface{ Gap() float64 }
		open  float64
		text  string
	}{
		{MinimisedMeasure{goal.LeastLUT, 120, 120}, 0, "120 LUT, the least there is"},
		{MinimisedMeasure{goal.LeastLUT, 120, 100}, 0.2,
			"120 LUT, at most 20.00 % above the least there is (no less than 100)"},
		{MinimisedMeasure{goal.LeastLoad, 0.5, 0.4}, 0.25,
			"load 50.000 % of the budget, at most 25.00 % above the least there is (no less than 40.000 %)"},
		{Latency{30, 20}, 0.5, "latency 30 clocks, at most 50.00 % above the least there is (no less than 20 clocks)"},
		{Latency{1, 1}, 0, "latency 1 clock, the least there is"},
	} {
		if got := tt.bound.Gap(); math.Abs(got-tt.open) > 1e-9 {
			t.Errorf("%v is open by %v, want %v", tt.bound, got, tt.open)
		}
		if got := fmt.Sprint(tt.bound); got != tt.text {
			t.Errorf("%q, want %q", got, tt.text)
		}
	}
}
