package pool

import (
	"fmt"

	"hlsgen/hlslib/layer"
	"hlsgen/internal/circuit"
	"hlsgen/internal/dataflow"
)

// Circuit returns the layer's RTL. It takes the maximum or the sum of a word's positions for each channel, and then of
// this and the window's positions so far.
func (o *op) Circuit(f dataflow.Fold, t dataflow.Target) *circuit.Module {
	b := circuit.NewBuilder(t.CircuitTiming())
	always := b.ConstantNumber(1)
	sf := b.AddCounter("sf", o.positions/f.SIMD, always)
	x := layer.ElementsOfWord(b.AddInputStream(f.PE*f.SIMD*o.in.Elem.Width, always), o.in.Elem)
	y := make([]circuit.Value, f.PE)
	for pe := range y {
		positions := make([]circuit.Value, f.SIMD)
		for i := range positions {
			positions[i] = circuit.AssumeRange(x[i*f.PE+pe], o.in.UnionOfRanges())
		}
		name := fmt.Sprint("kept", pe)
		if o.P.Op == PoolingSum {
			h := b.NewBitHeap()
			for _, v := range positions {
				h.AddShifted(v, 0)
			}
			y[pe] = b.AddRunningSum(name, o.out.Elem, sf.First, h.Sum(o.out.Elem.Range()))
		} else {
			y[pe] = circuit.AddRunningMaximum(name, sf.First, greatest(positions))
		}
	}
	b.AddOutputStream(circuit.PackIntoWord(o.out.Elem, y...), sf.Last)
	return b.FinishLayer()
}

// greatest returns the greatest of one or more values, by a tree of comparisons.
func greatest(values []circuit.Value) circuit.Value {
	if n := len(values); n > 1 {
		return circuit.GreaterOf(greatest(values[:n/2]), greatest(values[n/2:]))
	}
	return values[0]
}
