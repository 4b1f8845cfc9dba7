package lstm

import (
	"hlsgen/hlslib/cost"
	"hlsgen/hlslib/estimate"
	"hlsgen/internal/dataflow"
	"hlsgen/internal/num"
)

// Cost is that of the matrix layer which the products of h make, with H inputs and an output per gate and unit, and, as
// a plain count, of what stands behind it: adders and multipliers of the cells, comparators of gates and tanh, the
// state. FINN has no LSTM.
func (o *op) Cost(f dataflow.Fold, t dataflow.Target) dataflow.Cost {
	m, v := estimate.Model(t), o.values
	parts, storage := o.engine(m, f)
	if n := o.unit.RequantBits(); n > 0 {
		parts = append(parts, cost.Adder(n).Times(f.PE*o.P.lanes()*f.SIMD).As("product rounding"))
	}
	products := cost.Resources{}
	multiply := func(a, b num.Type) {
		products = products.Plus(m.Multiplier(a.Width, b.Width, f.Compute == dataflow.DSP))
	}
	code := func(g int) num.Type { return num.Smallest(v.code[g]) }
	multiply(code(gateF), o.c)
	multiply(code(gateI), code(gateG))
	multiply(code(gateO), num.Smallest(v.tanh))
	factors := o.P.factors()
	for g := o.P.firstGate(); g < gates; g++ {
		for _, x := range []struct {
			at int
			by num.Type
		}{{2 * g, o.in.Elem}, {2*g + 1, o.unit.Acc}} {
			if scales(factors, x.at) {
				multiply(factors.Elem, x.by)
			}
		}
		for _, cell := range o.P.Cells {
			if nonZero(cell.Gates[g].Peephole) {
				multiply(o.P.peepholes(1).Elem, o.c)
				break
			}
		}
	}
	for i, by := range []num.Range{v.kept, v.taken} {
		if scales(factors, 2*gates+i) {
			multiply(factors.Elem, num.Smallest(by))
		}
	}
	var comparators cost.Resources
	for g := o.P.firstGate(); g <= tanh; g++ {
		comparators = comparators.Plus(o.steps[g].cost(m, f.PE))
	}
	sum := num.Smallest(v.sum).Width
	// A gate adds its input and its bias; every requantiser rounds with an adder and clips with two comparisons.
	adders := cost.Adder(2*o.P.lanes()*o.pre.Width + sum)
	for _, r := range []num.Range{v.forget, v.input, v.sum, v.output} {
		w := num.Smallest(r).Width
		adders = adders.Plus(cost.Adder(w)).Plus(cost.Maximum(w).Times(2))
	}
	parts = append(parts,
		products.Times(f.PE).As("cell multipliers"),
		o.requantMultipliers(m, f).Times(f.PE).As("requantisers"),
		adders.Times(f.PE).As("cell adders"),
		comparators.As("gates"),
		m.Registers(f.PE*(o.h.Width+o.c.Width)+o.word(f)*o.h.Width),
	)
	return estimate.Layer(m, storage, parts...)
}

// engine is the matrix layer, and the memories that are counted beside it. FINN's formula has the weights in it.
func (o *op) engine(m cost.Model, f dataflow.Fold) ([]cost.Part, []dataflow.Storage) {
	unit, storage := cost.MVAU{
		MW: o.units, MH: len(o.P.Cells) * o.units * o.P.lanes(), PE: f.PE * o.P.lanes(), SIMD: f.SIMD,
		WeightBits: o.unit.Weight.Width, InBits: o.h.Width, AccBits: o.unit.Acc.Width, InSigned: o.h.Signed(),
		DSP: f.Compute == dataflow.DSP, Memory: estimate.Memory(f.Memory), Fabric: m.Fabric,
	}, o.storage(f)
	if m.Formula == cost.FINN {
		return unit.FINN(), storage[1:]
	}
	return unit.Logic(), storage
}

// scales reports whether a factor takes a multiplier in some cell: one row is constants, and a power of two then a
// shift.
func scales(factors dataflow.Table, i int) bool {
	for _, row := range factors.Rows {
		if v := row[i]; (v < -1 || v > 1) && (len(factors.Rows) > 1 || v < 0 || v&(v-1) != 0) {
			return true
		}
	}
	return false
}

// requantMultipliers is those of requantisers that are more than a shift, for one unit.
func (o *op) requantMultipliers(m cost.Model, f dataflow.Fold) (r cost.Resources) {
	for _, x := range []struct {
		in num.Range
		of func(Cell) num.Requant
	}{
		{o.values.forget, func(c Cell) num.Requant { return c.Forget }},
		{o.values.input, func(c Cell) num.Requant { return c.Input }},
		{o.values.sum, func(c Cell) num.Requant { return c.Cell }},
		{o.values.output, func(c Cell) num.Requant { return c.Hidden }},
	} {
		var seen []num.Requant
		for _, c := range o.P.Cells {
			q := x.of(c)
			if len(seen) > 0 && q == seen[0] || !multiplies(q) {
				continue
			}
			seen = append(seen, q)
			r = r.Plus(m.Multiplier(num.Smallest(x.in).Width, num.Smallest(num.Point(q.Multiplier)).Width,
				f.Compute == dataflow.DSP))
		}
	}
	return r
}

// Delay is the adder of the accumulators.
func (o *op) Delay(dataflow.Fold, dataflow.Target) float64 { return cost.CarriedDelay(1) }
