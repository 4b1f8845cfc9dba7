package lstm

import (
	"hlsgen/internal/dataflow"
	"hlsgen/internal/num"
)

// Folds yields, for every PE and SIMD that divide the units in increasing order, the memories of the weights and the
// multipliers to choose from.
func (o *op) Folds() dataflow.Folds {
	return o.unit.Folds(o.divisors, o.divisors, o.fits)
}

// fits holds a fold against what Vitis HLS accepts.
func (o *op) fits(f dataflow.Fold) bool {
	pe, simd := f.PE, f.SIMD
	word := max(gates*pe*o.in.Elem.Width, o.word(f)*o.h.Width, pe*max(o.h.Width, o.c.Width))
	row := o.P.lanes() * pe * max(simd*o.unit.Weight.Width, o.P.biases(1).Elem.Width, o.P.peepholes(1).Elem.Width)
	for g := range o.steps {
		row = max(row, o.steps[g].rowBits(pe))
	}
	return word <= dataflow.MaxWord && row <= dataflow.MaxRow && o.length <= dataflow.MaxIterations/o.clocks(f).step
}

// word is the units of a word of h in memory: it is read by SIMD of them and written by PE.
func (o *op) word(f dataflow.Fold) int {
	return f.PE / dataflow.GCD(f.PE, f.SIMD) * f.SIMD
}

func (o *op) Ports(f dataflow.Fold) (in, out []dataflow.Port) {
	in = []dataflow.Port{{Elem: o.in.Elem, PerWord: gates * f.PE, Words: o.in.Shape.Size() / (gates * f.PE)}}
	for _, t := range o.out {
		out = append(out, dataflow.Port{Elem: t.Elem, PerWord: f.PE, Words: t.Shape.Size() / f.PE})
	}
	return in, out
}

// clocks is how a step's time divides.
type clocks struct {
	nf, sf, cell int // of one cell: NF, SF and T_c
	work         int // of all cells
	idle, step   int // what a step waits for its end, and all of it
}

func (o *op) clocks(f dataflow.Fold) clocks {
	c := clocks{nf: o.units / f.PE, sf: o.units / f.SIMD}
	c.cell = c.nf * c.sf
	c.work = len(o.P.Cells) * c.cell
	c.idle = max(0, c.cell+o.latency(f)-c.work)
	c.step = c.work + c.idle
	return c
}

// latency is L of the package's comment: the clocks from the start of a unit's last products to the arrival of its h,
// in memory and in the output.
func (o *op) latency(f dataflow.Fold) int {
	n := o.unit.SumLatency(f.SIMD) + 1 + 2 + 2 + 1 + 2 + 2 + 1
	var scaled, coupled, product, sum, hidden, peeping bool
	for _, cell := range o.P.Cells {
		for g, gate := range cell.Gates {
			scaled = scaled || g >= o.P.firstGate() && gate.Factors != [2]int64{1, 1} || nonZero(gate.Peephole)
		}
		coupled = cell.CIFG != nil
		product = product || multiplies(cell.Forget) || multiplies(cell.Input)
		sum = sum || multiplies(cell.Cell) || cell.CellFactors != [2]int64{1, 1}
		hidden = hidden || multiplies(cell.Hidden)
		peeping = peeping || nonZero(cell.Gates[gateO].Peephole)
	}
	for _, more := range []bool{scaled, coupled, product, sum, hidden, peeping, peeping} {
		if more {
			n++
		}
	}
	return n
}

// multiplies reports whether a requantiser is more than a shift.
func multiplies(q num.Requant) bool {
	m := q.Multiplier
	return m < 0 || m&(m-1) != 0
}

func nonZero(list []int64) bool {
	for _, v := range list {
		if v != 0 {
			return true
		}
	}
	return false
}

func (o *op) Loop(f dataflow.Fold, _ dataflow.Target) dataflow.Loop {
	c := o.clocks(f)
	step := func(write uint64) []dataflow.Run {
		unit := dataflow.Join(dataflow.Run{Times: c.sf - 1},
			dataflow.Run{Times: 1, Moves: dataflow.Moves{Read: 1, Write: write}})
		return dataflow.Repeat(len(o.P.Cells)*c.nf, unit...)
	}
	last := step(1<<len(o.out) - 1)
	before := last
	if !o.P.Sequence {
		before = step(0)
	}
	wait := dataflow.Run{Times: c.idle}
	body := dataflow.Repeat(o.length-1, dataflow.Join(append(before[:len(before):len(before)], wait)...)...)
	return dataflow.Loop{Body: dataflow.Join(append(body, last...)...), Latency: o.latency(f)}
}
