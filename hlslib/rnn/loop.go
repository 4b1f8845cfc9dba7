package rnn

import (
	"slices"

	"hlsgen/boards"
	"hlsgen/hlslib/layer"
	"hlsgen/hlslib/price/delay"
	"hlsgen/internal/dataflow"
)

// Folds yields a fold for every PE that divides the units and every SIMD that divides the vectors, within the limits of
// Vitis HLS. They come in increasing order, with each memory for the weights and each kind of multiplier. Without dots
// SIMD is 1 and there are no weights.
func (o *op) Folds() dataflow.FoldIterator {
	fit := func(f dataflow.Fold) bool { return fits(o, f) }
	if o.dots > 0 {
		return o.unit.FoldsThatFit(o.pe, o.simd, fit)
	}
	return layer.FoldChoices{PE: o.pe, Fits: fit, Compute: layer.MultiplierChoices(true)}.AllFolds()
}

// Products returns how many products the layer computes in a clock, with lanes that have no dot, and the bits of their
// wider factor. The layer has no parts.
func (o *op) Products(f dataflow.Fold, _ int) (n, bits int) {
	return f.PE * o.dots * f.SIMD, max(o.unit.Weight.Width, o.vector.Width)
}

// Adds counts each product as the square of its wider factor's bits.
func (o *op) Adds(f dataflow.Fold, parts int) int {
	n, bits := o.Products(f, parts)
	return n * bits * bits
}

// RowBits returns 0, because no fold has a wider row than C++ can have.
func (o *op) RowBits(dataflow.Fold) int { return 0 }

// slow is a target with nearly the longest latencies of all. A frame within the limit of iterations on it is within the
// limit on every target.
var slow = dataflow.Target{Board: boards.Board{DSPType: string(delay.FamilySeries7)}, ClockMHz: 1000,
	Bound: delay.DelayRangeMax}

// fits reports whether the fold stays within the limits that Vitis HLS accepts for words, tables and iterations.
func fits(o *op, f dataflow.Fold) bool {
	word, row := o.lanes*f.PE*o.in[0].Elem.Width, f.PE*o.dots*f.SIMD*o.unit.Codes.StoredType(o.rows(f)).Width
	for _, t := range slices.Concat(o.in[1:], o.out) {
		word = max(word, f.PE*t.Elem.Width)
	}
	for i := range o.stores {
		word = max(word, o.stores[i].word(f)*o.stores[i].elem.Width)
	}
	for i := range o.phases {
		for k := range o.phases[i].values {
			v := &o.phases[i].values[k]
			for _, p := range o.parameters(i, v) {
				_, n := p.size(f.PE)
				row = max(row, n*p.elem.Width)
			}
			if v.built() && v.Op == OpStepFunction {
				row = max(row, v.steps.rowBits(f.PE))
			}
		}
	}
	t := o.timing(f, slow)
	return word <= dataflow.MaxWordBits && row <= dataflow.MaxTableRowBits &&
		o.length <= (dataflow.MaxIterationsPerFrame-t.head-t.rest)/t.step
}

func (o *op) Ports(f dataflow.Fold) (in, out []dataflow.Port) {
	in = []dataflow.Port{o.in[0].RowMajorPort(o.lanes * f.PE)}
	return append(in, layer.PortsOf(o.in[1:], f.PE)...), layer.PortsOf(o.out, f.PE)
}

func (o *op) Loop(f dataflow.Fold, target dataflow.Target) dataflow.Loop {
	t := o.timing(f, target)
	before, last := t.run(o, o.P.Sequence), t.run(o, true)
	rest := dataflow.LoopRun{Times: t.phases[len(t.phases)-1].idle}
	waiting := func(step []dataflow.LoopRun) []dataflow.LoopRun { return append(slices.Clip(step), rest) }
	if o.P.Keeps {
		last = waiting(last)
	}
	body := t.arrival(o, f)
	body = append(body, dataflow.RepeatLoopRuns(o.length-1, waiting(before)...)...)
	return dataflow.Loop{Body: dataflow.JoinLoopRuns(append(body, last...)...), Latency: t.latency}
}

// arrival returns the iterations before the first step: those that read initial states, and then t.rest idle ones.
func (t *timing) arrival(o *op, f dataflow.Fold) (runs []dataflow.LoopRun) {
	words := make([]int, len(o.P.Starts))
	for i, s := range o.P.Starts {
		words[i] = o.turns * o.cell.units(s) / f.PE
	}
	for at := 0; at < t.head; {
		end, reads := t.head, uint64(0)
		for i, n := range words {
			if n > at {
				end, reads = min(end, n), reads|1<<(1+i)
			}
		}
		runs = append(runs, dataflow.LoopRun{Times: end - at, Moves: dataflow.PortMoves{Read: reads}})
		at = end
	}
	return append(runs, dataflow.LoopRun{Times: t.rest})
}

// run returns the iterations of a step, without the clocks after its last phase. writes says whether the step's outputs
// are written.
func (t *timing) run(o *op, writes bool) (runs []dataflow.LoopRun) {
	for i, p := range t.phases {
		var last dataflow.PortMoves
		if i == 0 {
			last.Read = 1
		}
		for k, out := range o.P.Outputs {
			if writes && out.Phase == i {
				last.Write |= 1 << k
			}
		}
		word := dataflow.JoinLoopRuns(dataflow.LoopRun{Times: p.sf - 1}, dataflow.LoopRun{Times: 1, Moves: last})
		runs = append(runs, dataflow.RepeatLoopRuns(o.turns*p.nf, word...)...)
		if i < len(t.phases)-1 {
			runs = append(runs, dataflow.LoopRun{Times: p.idle})
		}
	}
	return runs
}
