package requant

import (
	"hlsgen/hlslib/cost"
	"hlsgen/hlslib/estimate"
	"hlsgen/internal/dataflow"
	"hlsgen/internal/num"
)

// Cost counts a multiplier and an adder per PE, an increment where the layer rounds otherwise than down, and per limit that
// is reached a comparison and a choice. A shift is wiring. FINN has no formula for the whole; the multiplier is that of its
// MVAU.
func (o *op) Cost(f dataflow.Fold, t dataflow.Target) dataflow.Cost {
	m := estimate.Model(t)
	var products, increment, clip cost.Resources
	if o.p.multiplies() {
		products = m.Multiplier(o.in.Elem.Width, o.multiplier.Width, f.Compute == dataflow.DSP).Times(f.PE)
	}
	limits, width := o.out.Union(), max(1, o.sum.Width-o.p.Shift)
	if o.p.Shift > 0 && o.p.mode() != num.Floor {
		increment = cost.Adder(width)
	}
	if o.code.Lo < limits.Lo {
		clip = clip.Plus(cost.Maximum(width))
	}
	if o.code.Hi > limits.Hi {
		clip = clip.Plus(cost.Maximum(width))
	}
	return estimate.Layer(m, o.storage(f),
		m.Control(cost.Counter(o.vectors).Plus(cost.Counter(o.channels/f.PE))),
		products.As("multipliers"),
		cost.Adder(o.sum.Width).Times(f.PE).As("adders"),
		increment.Times(f.PE).As("rounding"),
		clip.Times(f.PE).As("clipping"),
		m.Registers(f.PE*(o.sum.Width+o.out.Elem.Width)),
	)
}

// storage is the layer's memories: its tables.
func (o *op) storage(f dataflow.Fold) []dataflow.Storage {
	rom := func(name string, values []int64, elem num.Type) dataflow.Storage {
		rows, width := o.channels/f.PE, f.PE*elem.Width
		if common(values) {
			rows, width = 1, elem.Width
		}
		return dataflow.ROM(name, "parameter memory", rows, width).At(f.Memory)
	}
	return []dataflow.Storage{
		rom("multipliers", o.p.Multiplier, o.multiplier),
		rom("biases", o.p.Bias, o.bias),
		dataflow.ROM("limits", "parameter memory", 1, 2*o.out.Elem.Width),
	}
}
