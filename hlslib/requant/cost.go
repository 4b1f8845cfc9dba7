package requant

import (
	"hlsgen/internal/cost"
	"hlsgen/internal/dataflow"
	"hlsgen/internal/estimate"
	"hlsgen/internal/num"
)

// Cost counts a multiplier and an adder per PE, an increment where the layer rounds otherwise than down, and per limit that
// is reached a comparison and a choice. A shift is wiring. FINN has no formula for the whole; the multiplier is that of its
// MVAU.
func (o *op) Cost(f dataflow.Fold, t dataflow.Target) dataflow.Cost {
	m, folds := estimate.Model(t), o.channels/f.PE
	memory := cost.Distributed
	if f.Memory == dataflow.BRAM {
		memory = cost.Block
	}
	var products, tables, increment, clip cost.Resources
	if o.p.multiplies() {
		products = m.Multiplier(o.in.Elem.Width, o.multiplier.Width, f.Compute == dataflow.DSP).Times(f.PE)
	}
	if !common(o.p.Multiplier) {
		tables = m.Table(f.PE*o.multiplier.Width, folds, memory)
	}
	if !common(o.p.Bias) {
		tables = tables.Plus(m.Table(f.PE*o.bias.Width, folds, memory))
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
	return estimate.Parts(
		m.Control(cost.Counter(o.vectors).Plus(cost.Counter(folds))),
		tables.As("parameter memory"),
		products.As("multipliers"),
		cost.Adder(o.sum.Width).Times(f.PE).As("adders"),
		increment.Times(f.PE).As("rounding"),
		clip.Times(f.PE).As("clipping"),
		m.Registers(f.PE*(o.sum.Width+o.out.Elem.Width)),
	)
}
