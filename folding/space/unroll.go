package space

import (
	"fmt"

	"hlsgen/folding/finn"
	"hlsgen/folding/goal"
	"hlsgen/internal/dataflow"
	"hlsgen/internal/diag"
)

// FindRaisedUnrollLimits returns the target's unroll limits, raised by as little as each layer needs for a fold of at
// most the given clocks per frame. ok is false if no limits help, or if they need not change.
func FindRaisedUnrollLimits(s *FoldingSpace, clocks int) (e dataflow.UnrollLimits, ok bool) {
	from := s.Target
	e = from.Unroll
	for i := range s.Layers {
		l := &s.Layers[i]
		if least, _ := l.ClocksRange(); least <= clocks {
			continue
		}
		best, found := e, false
		for _, f := range l.Folds {
			if l.Fixed || s.Target.MinProcesses(l.Node.Op, f) > 0 || !s.Target.UnrollLimitsCanHelp(l.Node.Op, f) ||
				l.Node.Op.Loop(f, s.Target.ForMovesOnly()).IterationsPerFrame() > clocks ||
				!available(s, l.Node.Op, f) {
				continue
			}
			if wider := from.UnrollLimitsRaisedToFit(l.Node.Op, f); !found || wider.SortKey() < best.SortKey() {
				best, found = wider, true
			}
		}
		if !found {
			return e, false
		}
		e = best
		from.Unroll = e
	}
	return e, e.OrDefault() != s.Target.Unroll.OrDefault()
}

// available reports whether the target's device can build a fold.
func available(s *FoldingSpace, op dataflow.Op, f dataflow.Fold) bool {
	return buildable(f, s.Target.Board) && goal.BoardHasResourceKinds(op.Cost(f, s.Target).Total(), s.Target.Board)
}

// beyond returns a diagnostic that says how far the folds exceed the unroll limits. told is false if none exceeds them.
func (l *LayerFoldOptions) beyond(s *FoldingSpace, folds []dataflow.Fold) (dg diag.Diag, told bool) {
	t := s.Target
	best, found := dataflow.Fold{}, false
	for _, f := range folds {
		if t.MinProcesses(l.Node.Op, f) > 0 || !t.UnrollLimitsCanHelp(l.Node.Op, f) || !available(s, l.Node.Op, f) {
			continue
		}
		if !found || beyondBy(t, l.Node.Op, f) < beyondBy(t, l.Node.Op, best) {
			best, found = f, true
		}
	}
	if !found {
		return dg, false
	}
	m := l.Node.Op.(dataflow.HasUnrolledProducts)
	n, bits := m.Products(best, 1)
	how := "and is not split"
	if d := dataflow.MaxProcessesOf(l.Node.Op, best); d > 1 {
		each, _ := m.Products(best, d)
		how = fmt.Sprintf("and has %d in each of %d processes", each, d)
	}
	allowed := fmt.Sprintf("--max-unroll allows %d in a process", t.Unroll.MaxProducts(bits))
	if t.IsLimitedByAddedBits() {
		allowed = fmt.Sprintf("They add %d bits, and a process may add %d",
			m.Adds(best, 1), dataflow.MaxAddedBitsPerProcess)
	}
	msg := fmt.Sprintf("%s computes %d products of %d bits in a clock at PE %d, SIMD %d, %s. %s", l.Node.Name, n, bits,
		best.PE, best.SIMD, how, allowed)
	return l.NewLayerErrorDiag(diag.UnrollLimitExceeded, msg, "--max-unroll "+t.UnrollLimitsRaisedToFit(l.Node.Op,
			best).String()),
		true
}

// beyondBy returns how far a fold exceeds a target's unroll limits, as a number for comparing folds.
func beyondBy(t dataflow.Target, op dataflow.Op, f dataflow.Fold) int {
	if t.IsLimitedByAddedBits() {
		return op.(dataflow.HasUnrolledProducts).Adds(f, 1)
	}
	return t.UnrollLimitsRaisedToFit(op, f).SortKey()
}

// tooWide returns a diagnostic that says that each fold reads more weights in a clock than a memory port carries. told
// is false if some fold does not.
func (l *LayerFoldOptions) tooWide(s *FoldingSpace, folds []dataflow.Fold) (dg diag.Diag, told bool) {
	for _, f := range folds {
		if _, ok := s.Target.ExternalWeightBytesPerFrame(l.Node.Op, f); ok {
			return dg, false
		}
	}
	if len(folds) == 0 {
		return dg, false
	}
	p := l.Node.Op.(dataflow.HasLoadableWeights).WeightPort(folds[0])
	return l.NewLayerErrorDiag(diag.BudgetExceeded,
		fmt.Sprintf("%s reads %d bits of weights from memory in a clock at PE %d, "+
			"SIMD %d; a port of the memory of %s carries %d", l.Node.Name, p.TDATABits(), folds[0].PE, folds[0].SIMD,
			s.Target.Board.Name, s.Target.Board.MemoryPortBits()), "a smaller PE or SIMD"), true
}

// notBuilt explains why the layer cannot have any of the folds that a file asks for.
func (l *LayerFoldOptions) notBuilt(s *FoldingSpace, w *finn.LayerFoldChoices) diag.Diag {
	if dg, told := l.tooWide(s, w.AllowedFolds()); told {
		dg.Where = w.PlaceInFile()
		return dg
	}
	if dg, told := l.beyond(s, w.AllowedFolds()); told {
		dg.Where, dg.Hint = w.PlaceInFile(), dg.Hint+", or a smaller PE or SIMD"
		return dg
	}
	return w.UnbuildableDiag(s.Target.Board.Name)
}
