package space

import (
	"context"
	"math"
	"slices"
	"testing"

	"hlsgen/folding/goal"
	"hlsgen/folding/search"
	"hlsgen/hlslib/price/estimate"
	"hlsgen/internal/dataflow"
	"hlsgen/rtlsim"
)

// chain returns the space of two layers in a row.
func chain(t *testing.T) *FoldingSpace {
	t.Helper()
	d := draw(t)
	return d.space(d.product(d.product(d.image(2), 2, 3), 3, 2))
}

// combined visits every combination of one option per layer.
func combined(s *FoldingSpace, visit func(options []int32)) {
	options := make([]int32, len(s.Layers))
	var layer func(i int)
	layer = func(i int) {
		if i == len(options) {
			visit(slices.Clone(options))
			return
		}
		for o := range s.Layers[i].Options {
			options[i] = int32(o)
			layer(i + 1)
		}
	}
	layer(0)
}

// host returns the resources of the port to the processor's memory.
func host(s *FoldingSpace) search.AmountVector {
	return s.Board.AmountVectorOf(estimate.HostInterfaceCost(s.Target, s.Model.Graph).Total())
}

// single returns the folding of least measure with these options, or nil if no width converter joins them.
func single(t *testing.T, s *FoldingSpace, r *FoldingRegion, options []int32, m search.Objective) *Folding {
	t.Helper()
	tree := s.NewGivenClassesChoiceTree(r, s.OptionClassesOf(options), options, host(s),
		&search.StepCounter{Limit: 1 << 40})
	if tree == nil {
		return nil
	}
	got, err := tree.FindMinimalSolution(context.Background(), m, nil, search.UnlimitedCaps, 1000)
	if err != nil || got.Best == nil {
		t.Fatal(got, err)
	}
	return s.FoldingOfSolution(r, got.Best)
}

// TestOptions checks the options of a layer: each fold with its cost and clocks. Options of one class look alike to
// neighbours, and no others do.
func TestOptions(t *testing.T) {
	t.Parallel()
	s := chain(t)
	for i := range s.Layers {
		l := &s.Layers[i]
		of := func(f dataflow.Fold) (shape [2][]dataflow.Port, loop string, clocks int) {
			shape[0], shape[1] = l.Node.Op.Ports(f)
			made := l.Node.Op.Loop(f, s.Target)
			return shape, made.TextKey(), made.IterationsPerFrame()
		}
		least, most := math.MaxInt, 0
		for o, option := range l.Options {
			f := l.single(option.Fold)
			if option.split != nil {
				continue
			}
			shape, loop, clocks := of(f)
			least, most = min(least, clocks), max(most, clocks)
			want := s.Board.AmountVectorOf(l.Node.Op.Cost(f, s.Target).Total())
			want[goal.KindNarrowFactorDSP] = option.Cost[goal.KindNarrowFactorDSP]
			if l.OptionClocks(o) != clocks || option.Cost != want {
				t.Errorf("%+v: %d clocks, %v, want %d, %v", f, l.OptionClocks(o), option.Cost, clocks, want)
			}
			for p, other := range l.Options[:o] {
				if other.split != nil {
					continue
				}
				otherShape, otherLoop, _ := of(l.single(other.Fold))
				alike := loop == otherLoop && slices.Equal(shape[0], otherShape[0]) &&
					slices.Equal(shape[1], otherShape[1])
				if alike != (other.Class == option.Class) {
					t.Errorf("%+v and %+v: classes %d and %d", other.Fold, f, l.Options[p].Class, option.Class)
				}
			}
		}
		if a, b := l.ClocksRange(); a > least || b < most {
			t.Errorf("%d to %d clocks, options take %d to %d", a, b, least, most)
		}
		folds := slices.Collect(l.Node.Op.Folds())
		for _, f := range folds {
			is := func(o FoldOption) bool { return o.split == nil && l.single(o.Fold) == f }
			can := buildable(f, s.Target.Board) && s.Target.Builds(f)
			if can && !slices.ContainsFunc(l.Options, is) {
				t.Errorf("%+v is no option", f)
			}
		}
	}
}

// TestIntervals checks that the list has the clocks of all options that are no faster than the slowest layer's fastest.
func TestIntervals(t *testing.T) {
	t.Parallel()
	s := chain(t)
	list := s.IntervalsToTry()
	first, slowest := s.MinHostPortClocksPerFrame(), 0
	for i := range s.Layers {
		least, _ := s.Layers[i].ClocksRange()
		first, slowest = max(first, least), max(slowest, least)
	}
	if _, clocks := s.SlowestLayerAtFastestOptions(); clocks != slowest || list[0] != first || !slices.IsSorted(list) ||
		len(slices.Compact(slices.Clone(list))) != len(list) {
		t.Errorf("%v from %d on, slowest %d, want %d", list, first, clocks, slowest)
	}
	for i := range s.Layers {
		for o := range s.Layers[i].Options {
			if n := s.Layers[i].OptionClocks(o); n >= first && !slices.Contains(list, n) {
				t.Errorf("%d clocks are no interval of %v", n, list)
			}
		}
	}
}

// TestJoins checks that any two folds are joined, by a width converter if words differ. It also checks that a folding
// costs what its design costs, and that the tree of all foldings has the least cost.
func TestJoins(t *testing.T) {
	t.Parallel()
	s := chain(t)
	measure := search.Objective{Kind: goal.KindLUT}
	list := s.IntervalsToTry()
	limit := list[len(list)/2]
	all, least, converters := FoldingRegion{Limit: limit}, math.Inf(1), 0
	combined(s, func(options []int32) {
		f := single(t, s, &all, options, measure)
		if f == nil {
			t.Errorf("nothing joins %v", options)
			return
		}
		if max(s.Layers[0].OptionClocks(int(options[0])), s.Layers[1].OptionClocks(int(options[1]))) <= limit {
			least = min(least, f.MeasureOf(measure))
		}
		b := s.BuildDesign(f)
		if err := b.Verify(); err != nil || !slices.Equal(f.Options, options) {
			t.Fatalf("%v became %v: %v", options, f.Options, err)
		}
		got := s.Board.AmountVectorOf(estimate.EstimateDesignResources(b.Design).Total)
		for _, kind := range []int{goal.KindLUT, goal.KindLUTRAM, goal.KindFF, goal.KindBRAM, goal.KindURAM,
			goal.KindDSP} {
			if f.Cost[kind] != got[kind] {
				t.Errorf("%v takes %v, its design %v", options, f.Cost, got)
			}
		}
		_, out := s.Layers[0].Node.Op.Ports(s.Layers[0].Options[options[0]].Fold)
		in, _ := s.Layers[1].Node.Op.Ports(s.Layers[1].Options[options[1]].Fold)
		between := 0
		for n, stream := range b.conv {
			if b.layer[n] < 0 && s.Streams[stream].inner() {
				between++
			}
		}
		if differ := out[0].PerWord != in[0].PerWord; differ != (between == 1) {
			t.Errorf("%v: words of %d and %d, %d converters", options, out[0].PerWord, in[0].PerWord, between)
		}
		converters += between
	})
	tree := s.NewRegionChoiceTree(&all, host(s), &search.StepCounter{Limit: 1 << 40})
	bound := tree.LowerBoundOf(measure, search.UnlimitedCaps)
	got, err := tree.FindMinimalSolution(context.Background(), measure, nil, search.UnlimitedCaps, 10_000)
	if err != nil || !got.Proved || measure.MeasureOfSolution(got.Best) != least || bound > least || converters == 0 {
		t.Errorf("%v, no less than %v, proved %v, want %v, %v; %d converters", measure.MeasureOfSolution(got.Best),
			bound,
			got.Proved, least, err, converters)
	}
}

// TestDivide checks that the parts of a region hold every folding but one exactly once, and that one only with deeper
// FIFOs.
func TestDivide(t *testing.T) {
	t.Parallel()
	s := chain(t)
	none := FoldingRegion{Limit: goal.ClocksBeyondAnyInterval}
	if !none.IsWhole() {
		t.Error("the region of all is not whole")
	}
	in := func(r *FoldingRegion, class []int32) bool {
		for layer, c := range class {
			if !r.allows(s, layer, int(c)) {
				return false
			}
		}
		return true
	}
	classes := func(visit func(class []int32)) {
		for a := range s.Layers[0].Classes {
			for b := range s.Layers[1].Classes {
				visit([]int32{int32(a), int32(b)})
			}
		}
	}
	for _, layers := range [][]int{nil, {1, 0}, {1}} {
		classes(func(class []int32) {
			side := FIFOPlace{stream: 1}
			parts := none.DivideWithoutFolding(class, layers, map[FIFOPlace]int{side: rtlsim.RoundUpFIFODepth(3)})
			deeper := parts[len(parts)-1]
			if deeper.words[side] != rtlsim.RoundUpFIFODepth(3) || deeper.IsWhole() {
				t.Errorf("a FIFO of more than two words has %d in %+v", deeper.words[side], deeper)
			}
			classes(func(other []int32) {
				count := 0
				for i := range parts[:len(parts)-1] {
					if in(&parts[i], other) {
						count++
					}
				}
				same := other[1] == class[1] && (len(layers) == 1 || other[0] == class[0])
				if count != map[bool]int{false: 1, true: 0}[same] || in(&deeper, other) != same {
					t.Errorf("%v without %v by %v: in %d parts, in the last %v", other, class, layers, count,
						in(&deeper, other))
				}
			})
		})
	}
	if r := (FoldingRegion{Limit: s.Layers[0].Classes[0].Clocks - 1}); r.allows(s, 0, 0) {
		t.Error("a class slower than the limit is allowed")
	}
}

// TestHolding checks that a region with a design's depths has no shallower FIFOs, and that its foldings cost more only
// by these.
func TestHolding(t *testing.T) {
	t.Parallel()
	s := chain(t)
	all, m := FoldingRegion{Limit: goal.ClocksBeyondAnyInterval}, search.Objective{Kind: goal.KindFF}
	f := single(t, s, &all, []int32{0, 0}, m)
	b := s.BuildDesign(f)
	words := slices.Repeat([]int{100}, len(b.FIFO))
	holding := all.WithMinFIFODepths(b, words)
	deep := single(t, s, &holding, []int32{0, 0}, m)
	for id, fifo := range s.BuildDesign(deep).FIFO {
		if fifo.Depth < 100 {
			t.Errorf("stream %d holds %d words", id, fifo.Depth)
		}
	}
	if holding.IsWhole() || !all.IsWhole() || deep.MeasureOf(m) <= f.MeasureOf(m) && deep.Cost == f.Cost {
		t.Errorf("100 words take %v, two %v", deep.Cost, f.Cost)
	}
	again := deep.RegionWithSameMinFIFODepths(7)
	if again.Limit != 7 || single(t, s, &again, []int32{0, 0}, m).Cost != deep.Cost {
		t.Errorf("%+v is not the region of %+v", again, deep)
	}
}
