package layertest

import (
	"context"
	"errors"
	"fmt"
	"runtime/debug"
	"slices"

	"hlsgen/internal/circuit"
	"hlsgen/internal/dataflow"
	"hlsgen/internal/testsupport/tier"
	"hlsgen/rtlsim"
)

// runCircuits compares the circuits of all folds of the programs' layers with Kernel and Eval. It also runs checkAsked:
// on every fold, but on one of four where tests are to be quick.
func runCircuits(programs []program) (errs []error) {
	var last *bound // programs of a layer follow each other
	folds := 0
	for _, p := range programs {
		if p.bound == last {
			continue
		}
		last = p.bound
		for f := range p.op.Folds() {
			if p.Only != nil && !p.Only(f) {
				continue
			}
			folds++
			if err := p.runCircuit(f, !tier.Quick() || folds%4 == 1); err != nil {
				errs = append(errs, fmt.Errorf("%q: fold %+v: %w", p.Name, f, named(checkCircuit, err)))
			}
		}
	}
	return errs
}

// A circuitRun runs a layer's circuit beside its kernel, iteration by iteration.
type circuitRun struct {
	machine *circuit.Machine
	kernel  dataflow.Kernel
	walk    *dataflow.LoopWalker
	in, out []dataflow.Port
	rest    [][]int64  // by input: elements that are not read yet
	heads   [][]uint64 // by input: the next word, or nil
	want    [][]int64  // by output: Eval's elements that are not written yet
	weights [][]uint64 // the rows of weights that come with every frame; nil if there are none
	weight  int        // weights so far: every iteration takes a row
	words   []dataflow.Word
	at      int // iteration in the frame
}

// runCircuit compares the circuit of a fold with Kernel and Eval. In every iteration of the frames, the words must be
// the same, and they must move when the loop says so. Below the full tier, layers without a state have only the random
// frames. If asked is true, it runs checkAsked before.
func (b *bound) runCircuit(f dataflow.Fold, asked bool) (err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("panic: %v\n%s", p, debug.Stack())
		}
	}()
	op, ok := b.op.(dataflow.HasCircuit)
	if !ok {
		return errors.New("it has no circuit")
	}
	t := b.target()
	t.Backend = dataflow.BackendRTL
	if asked {
		if err := b.checkAsked(f, t); err != nil {
			return err
		}
	}
	return b.compareCircuit(op.Circuit(f, t), f, t)
}

// compareCircuit compares a circuit of a fold with Kernel and Eval.
func (b *bound) compareCircuit(m *circuit.Module, f dataflow.Fold, t dataflow.Target) (err error) {
	loop := b.op.Loop(f, t)
	r := circuitRun{kernel: b.op.Kernel(f, t)}
	if r.machine, err = circuit.NewMachine(m); err != nil {
		return err
	}
	r.in, r.out = b.op.Ports(f)
	if e, ok := b.op.(dataflow.HasLoadableWeights); ok && e.External() && len(m.In) > len(r.in) {
		table := e.WeightTable(f)
		for _, row := range table.Rows {
			r.weights = append(r.weights, circuit.AppendPackedElements(nil, table.Elem, row))
		}
	}
	r.heads, r.words = make([][]uint64, len(r.in)), make([]dataflow.Word, len(r.in))
	from := 0
	if k, ok := b.op.(dataflow.KeepsState); !tier.Full() && (!ok || k.Begin() == nil) {
		from = 2 // the random frames
	}
	for n := from; n < len(b.frames); n++ {
		if err := r.frame(b.frames[n], b.want[n], loop); err != nil {
			return fmt.Errorf("frame %d, iteration %d: %w", n, r.at, err)
		}
	}
	return nil
}

// checkAsked checks what a search asks of a fold before it asks for all: the moves without the latency, and the DSP
// slices, which must be those of the whole cost. The fold's circuit must not have been priced before.
func (b *bound) checkAsked(f dataflow.Fold, t dataflow.Target) error {
	some := b.op.Cost(f, t.WithinDSPs(1)).Total()
	moves := b.op.Loop(f, t.ForMovesOnly())
	all, loop := b.op.Cost(f, t).Total(), b.op.Loop(f, t)
	if some.DSP != all.DSP || all.DSP <= 1 && some != all {
		return fmt.Errorf("a cost within one DSP slice of %+v, without that limit %+v", some, all)
	}
	if moves.Latency = loop.Latency; moves.TextKey() != loop.TextKey() {
		return fmt.Errorf("moves %s alone, with the latency %s", moves.TextKey(), loop.TextKey())
	}
	return nil
}

// frame runs a frame.
func (r *circuitRun) frame(in, want []dataflow.Tensor, loop dataflow.Loop) error {
	r.rest, r.want = nil, nil
	for k, p := range r.in {
		r.rest = append(r.rest, slices.Clone(p.ToStreamOrder(in[k])))
	}
	for k, p := range r.out {
		r.want = append(r.want, slices.Clone(p.ToStreamOrder(want[k])))
	}
	r.walk = loop.NewWalker()
	for r.at = 0; r.at < loop.IterationsPerFrame(); r.at++ {
		if err := r.iterate(); err != nil {
			return err
		}
		r.walk.AdvanceIteration()
	}
	return nil
}

// iterate runs an iteration of the circuit and of the kernel.
func (r *circuitRun) iterate() error {
	moves := r.walk.NextMoves()
	for k, p := range r.in {
		if r.heads[k] == nil && len(r.rest[k]) > 0 {
			r.heads[k] = circuit.AppendPackedElements(nil, p.Elem, r.rest[k][:p.PerWord])
		}
		if r.words[k] = nil; moves.Read>>k&1 != 0 {
			r.words[k] = r.rest[k][:p.PerWord]
		}
	}
	heads := r.heads
	if r.weights != nil {
		heads = append(slices.Clone(heads), r.weights[r.weight%len(r.weights)])
	}
	lacks, err := r.machine.Iterate(heads)
	switch {
	case err != nil:
		return err
	case lacks >= 0:
		return fmt.Errorf("the circuit wants a word of input %d after the last", lacks)
	}
	r.weight++
	for k, p := range r.in {
		if reads := moves.Read>>k&1 != 0; r.machine.HasReadInput(k) != reads {
			return fmt.Errorf("the circuit reads a word of input %d: %t, and the loop says %t", k, !reads, reads)
		} else if reads {
			r.rest[k], r.heads[k] = r.rest[k][p.PerWord:], nil
		}
	}
	for k, word := range r.kernel.Step(r.at, r.words) {
		if err := r.compare(k, word, moves.Write>>k&1 != 0); err != nil {
			return fmt.Errorf("output %d: %w", k, err)
		}
	}
	return nil
}

// compare compares the circuit's word of an output with the kernel's and with Eval's.
func (r *circuitRun) compare(k int, word dataflow.Word, writes bool) error {
	p, bits := r.out[k], r.machine.WrittenWord(k)
	if writes != (bits != nil) {
		return fmt.Errorf("the circuit writes a word: %t, and the loop says %t", !writes, writes)
	}
	if !writes {
		return nil
	}
	got := circuit.AppendUnpackedElements(nil, p.Elem, p.PerWord, bits)
	if !slices.Equal(got, word) || !slices.Equal(got, r.want[k][:p.PerWord]) {
		return fmt.Errorf("the circuit writes %v, the kernel %v, and Eval gives %v", got, word, r.want[k][:p.PerWord])
	}
	r.want[k] = r.want[k][p.PerWord:]
	return nil
}

// runCircuits compares the circuits of a design with its streams, word by word.
func (s simulated) runCircuits(ctx context.Context) error {
	s.design.Target.Backend = dataflow.BackendRTL
	_, err := rtlsim.ComputeOutputsByCircuits(ctx, s.design, s.in, func(frame, stream int, got dataflow.Tensor) error {
		want := s.streams[frame][stream]
		if !slices.Equal(got.Shape, want.Shape) || !slices.Equal(got.Data, want.Data) {
			return failed(checkCircuit, "sequence %d, stream %d carries %v, want %v", frame, stream, got, want)
		}
		return nil
	})
	return named(checkCircuit, err)
}
