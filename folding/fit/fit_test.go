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
	elem := num.Type{Kind: num.KindUInt, Width: 4}
	step := num.StepFunction{Value: []int64{0}}
	for i := range int64(15) {
		step.At, step.Value = append(step.At, 3*i+1), append(step.Value, i+1)
	}
	var b dataflow.GraphBuilder
	put := func(op dataflow.Op, in ...int) []int {
		out, err := b.BindAndAddLayer(op, in, nil, nil)
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
	x := b.AddInput("x", dataflow.StreamType{Shape: dataflow.Shape{3, 4}, Range: []num.Range{elem.Range()}, Elem: elem})
	both := put(dup.New(dup.Params{Copies: 2}), x)
	y := put(mvau.New(mvau.Params{Weights: weights, Steps: []num.StepFunction{step}}), both[0])[0]
	b.MarkOutput(put(add.New(add.Params{}), y, both[1])[0])
	g, err := b.VerifiedGraph()
	if err != nil {
		t.Fatal(err)
	}
	board, err := boards.FindBoard("pynq-z1")
	if err != nil {
		t.Fatal(err)
	}
	var told diag.List
	s := space.New(&dataflow.Model{Graph: g}, dataflow.Target{Board: board, ClockMHz: 100}, nil, goal.FIFODepthPolicy{},
		space.FoldFilterAll, &told)
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
				if options[i] = int32(o); q.Layers[i].OptionClocks(o) <= limit {
					layer(i + 1)
				}
			}
			return
		}
		if f := least(t, q, &space.FoldingRegion{Limit: limit}, options); f != nil {
			visit(f, q.BuildDesign(f))
		}
	}
	layer(0)
}

// least returns the folding with these options and the cheapest FIFOs in LUTs in a region, or nil if no width converter
// joins its layers.
func least(t *testing.T, q *DesignSearch, r *space.FoldingRegion, options []int32) *space.Folding {
	t.Helper()
	tree := q.NewGivenClassesChoiceTree(r, q.OptionClassesOf(options), options, q.Around,
		&search.StepCounter{Limit: 1 << 40})
	if tree == nil {
		return nil
	}
	got, err := tree.FindMinimalSolution(context.Background(), q.ObjectiveOfMeasure(goal.ResourceMeasureLUT), nil,
		search.UnlimitedCaps, 1000)
	if err != nil || got.Best == nil {
		t.Fatal(got, err)
	}
	return q.FoldingOfSolution(r, got.Best)
}

// TestFound checks that the design found takes as few LUTs as the best of all foldings with sufficient FIFOs, that its
// bound is right, and that it keeps the interval.
func TestFound(t *testing.T) {
	t.Parallel()
	ctx, s := context.Background(), skip(t)
	list := s.IntervalsToTry()
	for _, limit := range []int{list[0], list[1], list[len(list)/2], list[len(list)-1]} {
		q := NewDesignSearch(s, goal.Goal{Interval: float64(limit), Least: goal.ResourceMeasureLUT,
			MaxUse: goal.NewUniformMaxUse(1)})
		best := math.Inf(1)
		foldings(t, q, limit, func(f *space.Folding, b *space.FoldedDesign) {
			z, err := rtlsim.FindFIFODepths(ctx, b.Design, rtlsim.FIFOSizingOptions{Interval: limit,
				From: b.FIFODepthsWords()})
			if err != nil {
				t.Fatal(err)
			}
			if z.Feasible {
				r := space.FoldingRegion{Limit: limit}.WithMinFIFODepths(b, z.Words)
				best = min(best, least(t, q, &r, f.Options).MeasureOf(q.ObjectiveOfMeasure(goal.ResourceMeasureLUT)))
			}
		})
		p := q.NewFixedIntervalSearch(limit)
		if err := p.ContinueSearch(ctx, 1, false); err != nil {
			t.Fatal(err)
		}
		got, err := p.BestFoldingWithBounds(ctx)
		if err != nil || got == nil {
			t.Errorf("%d clocks: %v, %v", limit, got, err)
			continue
		}
		b := got.Bounds[0]
		if b.Value != best || b.Least > best || b.RelativeGap() != 0 || p.IsProvedImpossible() {
			t.Errorf("%d clocks: %v, none below %v, the best is %v", limit, b.Value, b.Least, best)
		}
		d := q.BuildDesign(got.Folding)
		clocks, err := q.SimulateIntervalClocks(ctx, d.Design)
		if luts := estimate.EstimateDesignResources(d.Design).Total.LUT; err != nil || clocks > float64(limit) ||
			float64(luts) != best {
			t.Errorf("%d clocks: the design takes %v and %d LUTs, %v", limit, clocks, luts, err)
		}
	}
	if p := NewDesignSearch(s, goal.Goal{}).NewFixedIntervalSearch(list[0] - 1); p.ContinueSearch(ctx, 1,
		false) != nil ||
		!p.IsProvedImpossible() ||
		len(p.Takes) > 0 {
		t.Errorf("a design in %d clocks: %+v", list[0]-1, p.Takes)
	}
}

// TestSize checks that FIFOs of the found depths keep the interval, and that no FIFOs do where none are found.
func TestSize(t *testing.T) {
	t.Parallel()
	ctx, s := context.Background(), skip(t)
	list := s.IntervalsToTry()
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
			if clocks, err := q.SimulateIntervalClocks(ctx, &d); err != nil || (clocks <= float64(limit)) != kept {
				t.Errorf("%v at %d clocks: kept %v, and they are %v, %v", f.Options, limit, kept, clocks, err)
			}
			if !kept {
				none++
			} else if !slices.Equal(z.Words, b.FIFODepthsWords()) {
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
	list := s.IntervalsToTry()
	for _, limit := range []int{list[0], list[len(list)-1]} {
		q := NewDesignSearch(s, goal.Goal{Latency: true, MaxUse: goal.NewUniformMaxUse(1)})
		best := math.MaxInt
		foldings(t, q, limit, func(f *space.Folding, b *space.FoldedDesign) {
			d := *b.Design
			d.FIFO = slices.Clone(d.FIFO)
			for id := range d.FIFO {
				d.FIFO[id].Depth = 1000
			}
			trace, err := rtlsim.RunFrames(ctx, &d, nil, rtlsim.Options{Frames: 1})
			if err != nil {
				t.Fatal(err)
			}
			best = min(best, trace.FirstFrameLatencyClocks())
		})
		got, err := q.FindShortestLatencyDesign(ctx, limit, LimitsAfterFirstDesign{Ctx: ctx,
			Whole: &search.TotalStepCounter{},
			Found: func() {}})
		if err != nil || got == nil || got.Latency.Clocks != best || got.Latency.Least > best {
			t.Fatalf("%d clocks: %+v, %v, the best is %d", limit, got, err, best)
		}
		if clocks, err := latency(ctx, q.BuildDesign(got.Folding)); err != nil || clocks != best {
			t.Errorf("%d clocks: the design has a latency of %d, not %d, %v", limit, clocks, best, err)
		}
	}
}

// TestCaps checks the caps of designs: the budget, and what the memory carries in the interval; no DSP slices for few
// bits if these are spared; no caps if the goal only limits layers' clocks.
func TestCaps(t *testing.T) {
	t.Parallel()
	s := skip(t)
	q := NewDesignSearch(s, goal.Goal{MaxUse: goal.NewUniformMaxUse(0.5)})
	for _, clocks := range []int{1, 100} {
		want := q.Budget.SearchCaps()
		want.AmountVector[goal.KindMemoryBytesPerFrame] = s.BytesInClocks(clocks)
		if got := q.CapsAtInterval(clocks); got != want {
			t.Errorf("%d clocks: %v, want %v", clocks, got, want)
		}
		if want.AmountVector[goal.KindNarrowFactorDSP] = 0; q.withoutNarrowDSPs().CapsAtInterval(clocks) != want {
			t.Errorf("%d clocks, sparing: %v, want %v", clocks, q.withoutNarrowDSPs().CapsAtInterval(clocks), want)
		}
	}
	if got := NewDesignSearch(s, goal.Goal{MaxCycles: 10}).CapsAtInterval(10); got != search.UnlimitedCaps {
		t.Errorf("layers of ten clocks: %v", got)
	}
}

// TestBounds checks the texts of bounds.
func TestBounds(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		bound interface{ RelativeGap() float64 }
		open  float64
		text  string
	}{
		{MeasureWithBound{goal.ResourceMeasureLUT, 120, 120}, 0, "120 LUT, the least there is"},
		{MeasureWithBound{goal.ResourceMeasureLUT, 120, 100}, 0.2,
			"120 LUT, at most 20.00 % above the least there is (no less than 100)"},
		{MeasureWithBound{goal.ResourceMeasureLoad, 0.5, 0.4}, 0.25,
			"load 50.000 % of the budget, at most 25.00 % above the least there is (no less than 40.000 %)"},
		{LatencyWithBound{30, 20}, 0.5,
			"latency 30 clocks, at most 50.00 % above the least there is (no less than 20 clocks)"},
		{LatencyWithBound{1, 1}, 0, "latency 1 clock, the least there is"},
	} {
		if got := tt.bound.RelativeGap(); math.Abs(got-tt.open) > 1e-9 {
			t.Errorf("%v is open by %v, want %v", tt.bound, got, tt.open)
		}
		if got := fmt.Sprint(tt.bound); got != tt.text {
			t.Errorf("%q, want %q", got, tt.text)
		}
	}
}
