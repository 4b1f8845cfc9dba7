package space

import (
	"fmt"

	"hlsgen/folding/finn"
	"hlsgen/folding/goal"
	"hlsgen/internal/dataflow"
	"hlsgen/internal/diag"
)

// RaisedEnvelope returns the target's envelope, raised by the least amount with which each layer has a fold of at most
// the given clocks per frame. ok is false if no envelope helps, or if the envelope need not change.
func RaisedEnvelope(s *FoldingSpace, clocks int) (e dataflow.UnrollLimits, ok bool) {
	from := s.Target
	e = from.Unroll
	for i := range s.Layers {
		l := &s.Layers[i]
		if least, _ := l.Range(); least <= clocks {
			continue
		}
		best, found := e, false
		for _, f := range l.Folds {
			if l.Fixed || s.Target.MinProcesses(l.Node.Op, f) > 0 || !available(s, l.Node.Op, f) ||
				l.Node.Op.Loop(f, s.Target).Iterations() > clocks {
				continue
			}
			if wider := from.EnvelopeFor(l.Node.Op, f); !found || wider.Size() < best.Size() {
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
	return buildable(f, s.Target.Board) && goal.Available(op.Cost(f, s.Target).Total(), s.Target.Board)
}

// beyond returns a diagnostic that says how far the folds are beyond the envelope. told is false if none is beyond it.
func (l *LayerOptions) beyond(s *FoldingSpace, folds []dataflow.Fold) (dg diag.Diag, told bool) {
	t := s.Target
	best, found := dataflow.Fold{}, false
	for _, f := range folds {
		if t.MinProcesses(l.Node.Op, f) > 0 || !available(s, l.Node.Op, f) {
			continue
		}
		if !found || beyondBy(t, l.Node.Op, f) < beyondBy(t, l.Node.Op, best) {
			best, found = f, true
		}
	}
	if !found {
		return dg, false
	}
	n, bits := l.Node.Op.(dataflow.Unrolled).Products(best)
	how := "and is not split"
	if d := dataflow.MaxProcesses(l.Node.Op, best); d > 1 {
		how = fmt.Sprintf("and has %d in each of %d processes", n/d, d)
	}
	allowed := fmt.Sprintf("--max-unroll allows %d in a process", t.Unroll.Most(bits))
	if t.BoundBySums() {
		allowed = fmt.Sprintf("They add %d bits, and a process may add %d",
			dataflow.Adds(l.Node.Op.(dataflow.Unrolled), best), dataflow.MaxAddedBits)
	}
	msg := fmt.Sprintf("%s computes %d products of %d bits in a clock at PE %d, SIMD %d, %s. %s", l.Node.Name, n, bits,
		best.PE, best.SIMD, how, allowed)
	return l.Diag(diag.UnrollExceeded, msg, "--max-unroll "+t.EnvelopeFor(l.Node.Op, best).String()), true
}

// beyondBy returns how far a fold is beyond a target's envelope, as a number for comparing folds.
func beyondBy(t dataflow.Target, op dataflow.Op, f dataflow.Fold) int {
	if t.BoundBySums() {
		return dataflow.Adds(op.(dataflow.Unrolled), f)
	}
	return t.EnvelopeFor(op, f).Size()
}

// tooWide returns a diagnostic that says that each fold reads more weights in a clock than a memory port carries. told
// is false if some fold does not.
func (l *LayerOptions) tooWide(s *FoldingSpace, folds []dataflow.Fold) (dg diag.Diag, told bool) {
	for _, f := range folds {
		if _, ok := s.Target.WeightBytes(l.Node.Op, f); ok {
			return dg, false
		}
	}
	if len(folds) == 0 {
		return dg, false
	}
	p := l.Node.Op.(dataflow.WeightsPerFrame).WeightPort(folds[0])
	return l.Diag(diag.BudgetExceeded, fmt.Sprintf("%s reads %d bits of weights from memory in a clock at PE %d, "+
		"SIMD %d; a port of the memory of %s carries %d", l.Node.Name, p.TDATA(), folds[0].PE, folds[0].SIMD,
		s.Target.Board.Name, s.Target.Board.MemoryPortBits()), "a smaller PE or SIMD"), true
}

// notBuilt explains why the layer cannot have any of the folds that a file asks for.
func (l *LayerOptions) notBuilt(s *FoldingSpace, w *finn.LayerChoices) diag.Diag {
	if dg, told := l.tooWide(s, w.Folds()); told {
		dg.Where = w.Where()
		return dg
	}
	if dg, told := l.beyond(s, w.Folds()); told {
		dg.Where, dg.Hint = w.Where(), dg.Hint+", or a smaller PE or SIMD"
		return dg
	}
	return w.Unbuildable(s.Target.Board.Name)
}
