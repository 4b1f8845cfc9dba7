package space

import (
	"context"
	"testing"

	"hlsgen/folding/goal"
	"hlsgen/folding/search"
	"hlsgen/internal/dataflow"
	"hlsgen/internal/diag"
)

// circuits returns the space of two layers whose costs come from circuits, with options of at most the given DSP slices
// (0 for any number).
func circuits(t *testing.T, dsps int) *FoldingSpace {
	t.Helper()
	s := chain(t)
	target := s.Target
	target.Backend = dataflow.BackendRTL
	var told diag.List
	made := New(s.Model, target.WithinDSPs(dsps), nil, goal.FIFODepthPolicy{}, FoldFilterWorthwhile, &told)
	if made == nil {
		t.Fatal(told.Diags)
	}
	return made
}

// TestAsked checks that a space whose costs come from circuits learns the same in steps as at once, and nothing of
// options slower than asked.
func TestAsked(t *testing.T) {
	t.Parallel()
	whole, steps := circuits(t, 0), circuits(t, 0)
	list := whole.IntervalsToTry()
	AskOptions(whole, list[len(list)-1])
	some := 0
	for _, clocks := range list {
		if list[0] < clocks && Knows(steps, clocks) {
			t.Errorf("options of %d clocks are known before they are asked for", clocks)
		}
		AskOptions(steps, clocks)
		for i := range steps.Layers {
			l, all := &steps.Layers[i], &whole.Layers[i]
			for k := range l.Options {
				o, want := &l.Options[k], &all.Options[k]
				if o.clocks > clocks {
					some++
					continue
				}
				if o.left && want.left && !o.known {
					continue
				}
				if !o.known || o.Cost != want.Cost || o.Class != want.Class || o.left != want.left {
					t.Errorf("%+v: cost %v, class %d, left %t, want %v, %d, %t", o.Fold, o.Cost, o.Class, o.left,
						want.Cost, want.Class, want.left)
				}
			}
		}
		if a, b := CountOmittedSerialFolds(steps, clocks), CountOmittedSerialFolds(whole, clocks); a != b {
			t.Errorf("%d serial folds of %d clocks are left out, want %d", a, clocks, b)
		}
	}
	if !Knows(steps, list[len(list)-1]) || some == 0 {
		t.Errorf("%d options were slower than asked", some)
	}
}

// TestNarrowLater checks that a search that spares DSP slices asks for no option that multiplies few bits in them, and
// that a later search learns the same of all options as one that asks for them at once.
func TestNarrowLater(t *testing.T) {
	t.Parallel()
	whole, later := circuits(t, 0), circuits(t, 0)
	AskOptions(whole, goal.ClocksBeyondAnyInterval)
	narrow := 0
	for i := range later.Layers {
		l := &later.Layers[i]
		before := make([]bool, len(l.Options)) // whether the space itself asked for it
		for k := range l.Options {
			before[k] = l.Options[k].known
		}
		askAll(later, l, goal.ClocksBeyondAnyInterval, true)
		for k := range l.Options {
			if o := &l.Options[k]; l.isNarrow(o) && !before[k] {
				narrow++
				if o.known {
					t.Errorf("%+v is known although DSP slices are spared", o.Fold)
				}
			}
		}
	}
	if narrow == 0 || Knows(later, goal.ClocksBeyondAnyInterval) {
		t.Errorf("%d options multiply few bits in DSP slices, and all are known", narrow)
	}
	AskOptions(later, goal.ClocksBeyondAnyInterval)
	for i := range later.Layers {
		for k := range later.Layers[i].Options {
			o, want := &later.Layers[i].Options[k], &whole.Layers[i].Options[k]
			if o.Cost != want.Cost || o.Class != want.Class || o.known != want.known || o.left != want.left {
				t.Errorf("%+v: cost %v, class %d, want %v, %d", o.Fold, o.Cost, o.Class, want.Cost, want.Class)
			}
		}
	}
}

// TestTooManyDSPs checks that a space without options of many DSP slices has the others at their whole cost, and the
// same best folding within these slices.
func TestTooManyDSPs(t *testing.T) {
	t.Parallel()
	const most = 1
	few, all := circuits(t, most), circuits(t, 0)
	AskOptions(few, goal.ClocksBeyondAnyInterval)
	AskOptions(all, goal.ClocksBeyondAnyInterval)
	over := 0
	for i := range all.Layers {
		for k := range all.Layers[i].Options {
			o, want := &few.Layers[i].Options[k], &all.Layers[i].Options[k]
			if o.over {
				over++
			}
			if o.over != (want.Cost[goal.KindDSP] > most) || !o.over && o.Cost != want.Cost ||
				o.Cost[goal.KindDSP] != want.Cost[goal.KindDSP] {
				t.Errorf("%+v: over %t, %v, want %v", o.Fold, o.over, o.Cost, want.Cost)
			}
		}
	}
	n := CountOver(few, goal.ClocksBeyondAnyInterval)
	if n != over || n == 0 || CountOver(all, goal.ClocksBeyondAnyInterval) != 0 {
		t.Errorf("%d options take too many DSP slices, counted %d", over, n)
	}
	caps, measure := search.UnlimitedCaps, search.Objective{Kind: goal.KindLUT}
	caps.AmountVector[goal.KindDSP] = most
	for _, clocks := range all.IntervalsToTry() {
		var least [2]float64
		for i, s := range []*FoldingSpace{few, all} {
			tree := s.NewRegionChoiceTree(&FoldingRegion{Limit: clocks}, host(s), &search.StepCounter{Limit: 1 << 40})
			got, err := tree.FindMinimalSolution(context.Background(), measure, nil, caps, 10_000)
			if err != nil || !got.Proved {
				t.Fatal(got, err)
			}
			if got.Best != nil {
				least[i] = measure.MeasureOfSolution(got.Best)
			}
		}
		if least[0] != least[1] {
			t.Errorf("within %d clocks the best folding takes %v, want %v", clocks, least[0], least[1])
		}
		if HasAnyFolding(few, clocks, new(search.StepCounter)) != HasAnyFolding(all, clocks, new(search.StepCounter)) {
			t.Errorf("within %d clocks one space has foldings, and the other none", clocks)
		}
	}
}
