package rnn

import (
	"slices"

	"hlsgen/hlslib/layer"
	"hlsgen/hlslib/price/cost"
	"hlsgen/hlslib/price/estimate"
	"hlsgen/internal/dataflow"
	"hlsgen/internal/num"
)

// Cost returns the cost of the circuit for targets in SystemVerilog. In C++ it is that of the matrix unit that computes
// the dots, and a count of the rest. These are adders, multipliers and comparators of a unit, PE times, and memories.
// Constants cost nothing, nor do values that no output depends on. FINN has no recurrent layer.
func (o *op) Cost(f dataflow.Fold, t dataflow.Target) dataflow.Cost {
	if c, ok := layer.CircuitCost(o, f, t); ok {
		return c
	}
	m := estimate.CostModelOf(t)
	parts, storage := engine(o, m, f, t)
	var r work
	for i := range o.phases {
		for k := range o.phases[i].values {
			if v := &o.phases[i].values[k]; v.built() {
				costOf(o, &r, m, f, i, v)
			}
		}
	}
	registers := 0
	for i := range o.stores {
		s := &o.stores[i]
		registers += f.PE * s.elem.Width
		if s.vector {
			registers += s.word(f) * s.elem.Width
		}
	}
	for i, out := range o.out {
		if !slices.ContainsFunc(o.stores, func(s store) bool { return s.writer == o.P.Outputs[i] }) {
			registers += f.PE * out.Elem.Width
		}
	}
	parts = append(parts,
		r.multipliers.Times(f.PE).AsPart("cell multipliers"),
		r.requantisers.Times(f.PE).AsPart("requantisers"),
		r.adders.Times(f.PE).AsPart("cell adders"),
		r.steps.AsPart("gates"),
		o.choices(m, f).AsPart("choice of vectors"),
		m.RegisterCost(registers),
	)
	return estimate.MemoryAndLogicCost(m, storage, parts...)
}

// A work adds up the resources of values: all but steps for one unit, steps for PE units.
type work struct{ multipliers, requantisers, adders, steps cost.Resources }

// costOf adds the resources of the value v of phase i to r.
func costOf(o *op, r *work, m cost.CostModel, f dataflow.Fold, i int, v *value) {
	values := o.phases[i].values
	multiply := func(a, b num.Type) cost.Resources {
		return m.MultiplierCost(a.Width, b.Width, f.Compute == dataflow.MultiplierInDSPs)
	}
	switch v.Op {
	case OpLinear:
		terms := o.terms(i, v)
		for _, a := range terms {
			if p := &v.factors[a]; p.multiplies {
				r.multipliers = r.multipliers.Plus(multiply(p.elem, values[v.Of[a]].elem))
			}
		}
		n := len(terms)
		if !v.bias.is(0) {
			n++
		}
		if o.adds(i, v) {
			r.adders = r.adders.Plus(cost.AdderCost(v.elem.Width).Times(max(1, n-1)))
		}
	case OpProduct:
		r.multipliers = r.multipliers.Plus(multiply(values[v.Of[0]].elem, values[v.Of[1]].elem))
	case OpStepFunction:
		r.steps = r.steps.Plus(v.steps.cost(m, f.PE))
	case OpRequant:
		of := &values[v.Of[0]]
		var seen []num.Requant
		for d, q := range v.requant {
			if d > 0 && q == seen[0] {
				continue
			}
			seen = append(seen, q)
			if multiplies([]num.Requant{q}) {
				r.requantisers = r.requantisers.Plus(multiply(of.elem,
					num.NarrowestIntTypeFor(num.SingleValueRange(q.Multiplier))))
			}
			codes, _ := q.UnclippedRange(of.all)
			width := num.NarrowestIntTypeFor(codes).Width
			r.adders = r.adders.Plus(layer.RoundingCost(q.Shift, q.Mode, width)).
				Plus(layer.ClippingCost(codes, num.Range{Lo: q.Lo, Hi: q.Hi}, width))
		}
	}
}

// choices returns the cost of selecting the current phase's vector, if the phases read several stores.
func (g *program) choices(m cost.CostModel, f dataflow.Fold) cost.Resources {
	vectors := 0
	for _, s := range g.stores {
		if s.vector {
			vectors++
		}
	}
	if vectors < 2 {
		return cost.Resources{}
	}
	return m.MultiplexerCost(vectors, f.SIMD*g.vector.Width)
}

// engine returns the cost of the matrix unit by parts, and the memories to be counted beside it. FINN's formula
// includes the weights, so they are left out of the memories then.
func engine(o *op, m cost.CostModel, f dataflow.Fold, t dataflow.Target) ([]cost.CostPart, []dataflow.Storage) {
	storage := o.Storage(f)
	if o.dots == 0 {
		return []cost.CostPart{m.StreamControlCost(cost.CounterCost(iterations(o, o.timing(f, t))))}, storage
	}
	longest := 0
	for _, p := range o.phases {
		longest = max(longest, p.length)
	}
	pe := f.PE * o.dots
	unit := cost.MVAUShape{
		MW: longest, MH: o.rows(f) * pe * f.SIMD / longest, PE: pe, SIMD: f.SIMD,
		WeightBits: o.unit.Weight.Width, InBits: o.vector.Width, AccBits: o.unit.Acc.Width,
		InSigned: o.vector.IsSigned(),
		DSP:      f.Compute == dataflow.MultiplierInDSPs, Packing: packing(o, f, t),
		Memory: estimate.MemoryStyleOf(f.Memory),
		Fabric: m.Fabric,
	}
	var parts []cost.CostPart
	if m.Formula == cost.FormulaFitted {
		parts = o.unit.Codes.DecoderCost(pe*f.SIMD, o.rows(f))
	}
	if n := o.unit.RequantisedProductBits(); n > 0 {
		parts = append(parts, cost.AdderCost(n).Times(pe*f.SIMD).AsPart("product rounding"))
	}
	if m.Formula == cost.FormulaFINN {
		return append(parts, unit.FINNCost()...), storage[1:]
	}
	return append(parts, unit.FittedLogicCost()...), storage
}

// packing returns how the dots of a fold share DSP slices. All PE units multiply the same vector.
func packing(o *op, f dataflow.Fold, t dataflow.Target) cost.DSPPacking {
	if o.dots == 0 {
		return cost.DSPPacking{}
	}
	return o.unit.DSPPackingForChannels(f.PE*o.dots, f, t)
}
