package mul

import (
	"hlsgen/internal/cost"
	"hlsgen/internal/dataflow"
	"hlsgen/internal/estimate"
	"hlsgen/internal/num"
)

// Cost counts a multiplier per PE, an adder per PE and input with an offset, what is kept of a gate, and the step functions
// like a Thresholding, or a requantiser. A factor of -1, 0 and 1 keeps, drops or negates the other, which is an adder's LUTs. FINN estimates
// nothing for its ElementwiseMul.
func (o *op) Cost(f dataflow.Fold, t dataflow.Target) dataflow.Cost {
	m, folds := estimate.Model(t), o.channels/f.PE
	memory := cost.Distributed
	if f.Memory == dataflow.BRAM {
		memory = cost.Block
	}
	product := cost.Adder(o.product.Width)
	if o.multiplies() {
		product = m.Multiplier(o.factor[0].Width, o.factor[1].Width, f.Compute == dataflow.DSP)
	}
	var offsets, gate cost.Resources
	for i, v := range o.p.Offset {
		if v != 0 {
			offsets = offsets.Plus(cost.Adder(o.factor[i].Width).Times(f.PE))
		}
	}
	if o.gate {
		gate = m.Buffer(f.PE*o.in[1].Elem.Width, folds)
	}
	parts := []cost.Part{
		m.Control(cost.Counter(o.vectors).Plus(cost.Counter(folds))),
		gate.As("gate memory"),
		offsets.As("adders"),
		product.Times(f.PE).As("multipliers"),
		m.Registers(f.PE * o.product.Width),
	}
	if o.p.Requant != nil {
		parts = append(parts, o.requantCost(m, f).Times(f.PE).As("requantisers"))
	}
	if len(o.compare.Over) > 0 {
		rows := folds
		if o.compare.Shared() {
			rows = 1
		}
		parts = append(parts, m.Steps(cost.Thresholding{InBits: o.product.Width, PE: f.PE, Rows: rows, Memory: memory, Steps: o.compare.Steps()})...)
	}
	return estimate.Parts(parts...)
}

// requantCost is that of one requantiser: a multiplier, an increment where it rounds otherwise than down, and per limit that
// is reached a comparison and a choice. A shift is wiring.
func (o *op) requantCost(m cost.Model, f dataflow.Fold) cost.Resources {
	q := o.p.Requant.Reduced()
	codes, _ := q.Rounded(o.products)
	width := num.Smallest(codes).Width
	var r cost.Resources
	if o.rescales() {
		r = m.Multiplier(o.product.Width, num.Smallest(num.Point(q.Multiplier)).Width, f.Compute == dataflow.DSP)
	}
	if q.Shift > 0 && q.Mode != num.Floor {
		r = r.Plus(cost.Adder(width))
	}
	limits := o.out.Union()
	if codes.Lo < limits.Lo {
		r = r.Plus(cost.Maximum(width))
	}
	if codes.Hi > limits.Hi {
		r = r.Plus(cost.Maximum(width))
	}
	return r
}

// Delay is that of the counter of words: values come and go, and a gate stays.
func (o *op) Delay(dataflow.Fold, dataflow.Target) float64 { return cost.CarriedDelay(1) }
