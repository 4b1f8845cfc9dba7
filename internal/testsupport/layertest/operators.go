package layertest

import (
	"fmt"
	"runtime/debug"
	"slices"

	"hlsgen/internal/dataflow"
	"hlsgen/internal/testsupport/operatorlevel"
	"hlsgen/internal/testsupport/tier"
)

// runOperators compares the operator graphs of the programs' layers with Kernel and Eval, in every PE and SIMD. They do
// not depend on memories and multipliers. In the middle one and the last, and in the long tier in every one, the
// circuit is run, too, that the graph is lowered to. Layers of kinds that have no such graph pass.
func runOperators(programs []program) (errs []error) {
	var last *bound // programs of a layer follow each other
	for _, p := range programs {
		if p.bound == last {
			continue
		}
		last = p.bound
		var folds []dataflow.Fold
		seen := map[dataflow.Fold]bool{}
		for f := range p.op.Folds() {
			shape := dataflow.Fold{PE: f.PE, SIMD: f.SIMD, Steps: f.Steps}
			if !seen[shape] && (p.Only == nil || p.Only(f)) {
				folds = append(folds, f)
			}
			seen[shape] = true
		}
		for i, f := range folds {
			err := p.runOperators(f)
			if err == nil && (i == len(folds)/2 || i == len(folds)-1 || tier.Long()) {
				err = p.runLowered(f)
			}
			if err != nil {
				errs = append(errs, fmt.Errorf("%q: fold %+v: %w", p.Name, f, named(checkOperators, err)))
			}
		}
	}
	return errs
}

// runOperators compares the operator graph of a fold with Kernel and Eval: in every iteration of the frames the words
// must be the same, and they must move when the loop says so.
func (b *bound) runOperators(f dataflow.Fold) (err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("panic: %v\n%s", p, debug.Stack())
		}
	}()
	t := b.target()
	g, ok := operatorlevel.GraphOf(b.op, b.In, f, t)
	if !ok {
		return nil
	}
	run, kernel := operatorlevel.NewRun(g), b.op.Kernel(f, t)
	in, out := b.op.Ports(f)
	loop := b.op.Loop(f, t)
	for n := range b.frames {
		walk := loop.NewWalker()
		rest, want := in[0].ToStreamOrder(b.frames[n][0]), out[0].ToStreamOrder(b.want[n][0])
		for at := range loop.IterationsPerFrame() {
			moves := walk.NextMoves()
			var word dataflow.Word
			if reads := moves.Read&1 != 0; run.Reads() != reads {
				return fmt.Errorf("frame %d, iteration %d: the operators read a word: %t, and the loop says %t", n, at,
					!reads, reads)
			} else if reads {
				word, rest = rest[:in[0].PerWord], rest[in[0].PerWord:]
			}
			got, exact := run.Iterate(word), kernel.Step(at, []dataflow.Word{word})[0]
			if writes := moves.Write&1 != 0; writes != (got != nil) {
				return fmt.Errorf("frame %d, iteration %d: the operators write a word: %t, and the loop says %t", n, at,
					!writes, writes)
			} else if writes {
				eval := want[:out[0].PerWord]
				if !slices.Equal(got, exact) || !slices.Equal(got, eval) {
					return fmt.Errorf("frame %d, iteration %d: the operators write %v, the kernel %v, and Eval gives "+
						"%v", n, at, got, exact, eval)
				}
				want = want[len(eval):]
			}
			walk.AdvanceIteration()
		}
	}
	return nil
}

// runLowered compares the circuit that the operator graph of a fold is lowered to with Kernel and Eval.
func (b *bound) runLowered(f dataflow.Fold) (err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("the lowered circuit: panic: %v\n%s", p, debug.Stack())
		}
	}()
	t := b.target()
	g, ok := operatorlevel.GraphOf(b.op, b.In, f, t)
	if !ok {
		return nil
	}
	m, ok := g.Circuit(t.CircuitTiming())
	if !ok {
		return nil
	}
	if err := b.compareCircuit(m, f, t); err != nil {
		return fmt.Errorf("the lowered circuit: %w", err)
	}
	return nil
}
