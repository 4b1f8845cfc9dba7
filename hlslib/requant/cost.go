package requant

import (
	"hlsgen/hlslib/cost"
	"hlsgen/hlslib/estimate"
	"hlsgen/hlslib/layer"
	"hlsgen/internal/dataflow"
)

// FactorBits is the bits of an input or of the multiplier.
func (o *op) FactorBits() int { return min(o.In[0].Elem.Width, o.multiplier.Width) }

// Cost counts what the fold is built of. FINN has no formula for the whole; the multiplier is that of its MVAU.
func (o *op) Cost(f dataflow.Fold, t dataflow.Target) dataflow.Cost {
	if c, ok := layer.Priced(o, f, t); ok {
		return c
	}
	m := estimate.Model(t)
	control, registers := m.Control(o.Counters(f)), m.Registers(f.PE*(o.sum.Width+o.Out[0].Elem.Width))
	if form := o.form(f); form != nil {
		registers = m.Registers(f.PE * (o.In[0].Elem.Width + o.Out[0].Elem.Width))
		return estimate.Layer(m, form.Storage(), append(form.Logic(m), control, registers)...)
	}
	return estimate.Layer(m, o.Storage(f), append(o.logic(f, m), control, registers)...)
}

// logic is a multiplier and an adder per PE, an increment where the layer rounds otherwise than down, and per limit
// that is reached a comparison and a choice. A shift is wiring.
func (o *op) logic(f dataflow.Fold, m cost.Model) []cost.Part {
	width := max(1, o.sum.Width-o.P.Shift)
	var products cost.Resources
	if o.P.multiplies() {
		products = m.Multiplier(o.In[0].Elem.Width, o.multiplier.Width, f.Compute == dataflow.DSP).Times(f.PE)
	}
	return []cost.Part{
		products.As("multipliers"),
		cost.Adder(o.sum.Width).Times(f.PE).As("adders"),
		layer.Rounding(o.P.Shift, o.P.mode(), width).Times(f.PE).As("rounding"),
		layer.Clipping(o.code, o.limits, width).Times(f.PE).As("clipping"),
	}
}

// storage is the layer's memories: its tables.
func (o *op) Storage(f dataflow.Fold) []dataflow.Storage {
	list := make([]dataflow.Storage, 0, 3)
	for _, t := range o.tables(f) {
		list = append(list, t.Storage("parameter memory").At(f.Memory))
	}
	return list
}
