package lstm

import (
	"hlsgen/hlslib/layer"
	"hlsgen/internal/dataflow"
)

func (o *op) Eval(in []dataflow.Tensor) []dataflow.Tensor {
	x := in[0].Data
	h, c := make([][]int64, len(o.P.Cells)), make([][]int64, len(o.P.Cells))
	for d, cell := range o.P.Cells {
		for unit := range o.units {
			h[d], c[d] = append(h[d], at(cell.H0, unit)), append(c[d], at(cell.C0, unit))
		}
	}
	var hs, cs []int64
	for t := range o.length {
		for d, cell := range o.P.Cells {
			h[d], c[d] = cell.step(x[:gates*o.units], h[d], c[d])
			x = x[gates*o.units:]
			if o.P.Sequence || t == o.length-1 {
				hs, cs = append(hs, h[d]...), append(cs, c[d]...)
			}
		}
	}
	out := []dataflow.Tensor{{Shape: o.shape(), Data: hs}}
	if o.P.States {
		out = append(out, dataflow.Tensor{Shape: o.shape(), Data: cs})
	}
	return out
}

// step is the state after one time step on the cell's inputs x, of the state h and c.
func (c Cell) step(x, h, old []int64) (hidden, state []int64) {
	for unit := range h {
		var code [gates]int64
		gate := func(g int, seen int64) int64 {
			p := c.Gates[g]
			z := p.Factors[0]*x[unit*gates+g] + at(p.Bias, unit) + at(p.Peephole, unit)*seen
			for k, u := range c.Recurrent[g][unit] {
				product := u * h[k]
				if c.Product != nil {
					product = c.Product.Apply(product)
				}
				z += p.Factors[1] * product
			}
			return layer.Of(p.Steps, unit).Apply(z)
		}
		code[gateF], code[gateG] = gate(gateF, old[unit]), gate(gateG, 0)
		if c.CIFG != nil {
			code[gateI] = *c.CIFG - code[gateF]
		} else {
			code[gateI] = gate(gateI, old[unit])
		}
		kept, taken := c.Forget.Apply(code[gateF]*old[unit]), c.Input.Apply(code[gateI]*code[gateG])
		now := c.Cell.Apply(c.CellFactors[0]*kept + c.CellFactors[1]*taken)
		code[gateO] = gate(gateO, now)
		state = append(state, now)
		hidden = append(hidden, c.Hidden.Apply(code[gateO]*layer.Of(c.Tanh, unit).Apply(now)))
	}
	return hidden, state
}
