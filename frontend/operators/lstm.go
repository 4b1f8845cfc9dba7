package operators

import (
	"slices"

	"hlsgen/frontend/graph"
	"hlsgen/frontend/program"
)

// buildQuantLSTMCell writes Brevitas' cell as a loop. Inputs: 0 x, 1 h, 2 c, 3 to 6 W, 7 to 10 R, 11 to 14 the biases,
// each in the order i, f, c, o. From input 15 on follow the scale, zero point and bit width of eleven quantisers.
// Outputs: the sequence, the last h, the last c.
func buildQuantLSTMCell(c *call) {
	x := c.x
	if len(x) != 3 {
		invalid("x has shape %v, want time, samples and elements", x)
	}
	along := program.ScanAxis{Reverse: c.IsFlagAttrSet("reverse_input")}
	if c.IsFlagAttrSet("batch_first") {
		along.Axis = 1
	}
	cell := &cell{cellKind: cells("LSTM"), n: x[1-along.Axis], in: x[2], coupled: c.IsFlagAttrSet("cifg"),
		w: gateTensors{},
		r: gateTensors{}, wb: gateTensors{}}
	for _, name := range cell.activations {
		cell.functions = append(cell.functions, activation{op: name})
	}
	for g, gate := range quantGates {
		w := c.weights(3+g, "W_i"+gate)
		if cell.hidden == 0 && len(w.Shape) == 2 {
			cell.hidden = w.Shape[0]
		}
		u := c.weights(7+g, "W_h"+gate)
		b := c.weights(11+g, "b_"+gate)
		if !slices.Equal(w.Shape, []int{cell.hidden, cell.in}) ||
			!slices.Equal(u.Shape, []int{cell.hidden, cell.hidden}) {
			invalid("weights of gate %s have shapes %v and %v, want %d units of %d elements", gate, w.Shape, u.Shape,
				cell.hidden, cell.in)
		}
		if b.Len() != 1 && !slices.Equal(b.Shape, []int{cell.hidden}) {
			invalid("the bias of gate %s has shape %v, want %d units", gate, b.Shape, cell.hidden)
		}
		cell.w[gate], cell.r[gate] = w, u
		if b.Len() != 1 || b.FloatAt(0) != 0 {
			cell.wb[gate] = b
		}
	}
	cell.readQuantisers(c)
	initial := []string{cell.initial(c, "h", c.Inputs[1]), cell.initial(c, "c", c.Inputs[2])}
	cell.loop(c, initial, c.Inputs[0], along, []string{c.OutputName(1), c.OutputName(2), c.OutputName(0)})
}

// quantGates lists the gates in the order of QuantLSTMCell's inputs.
var quantGates = [4]string{"i", "f", "c", "o"}

// weights returns the constant input of reals at a slot. It refuses other inputs; what is their name in the message.
func (c *reading) weights(slot int, what string) *graph.ConstantTensor {
	t := c.in[slot].Const
	switch {
	case t == nil:
		unsupported("export with constant parameters", "%s is not constant, or no float32", what)
	case !t.DType.IsReal():
		invalid("%s is of type %s", what, t.DType)
	}
	return t
}

// readQuantisers reads the quantisers of a QuantLSTMCell.
func (cell *cell) readQuantisers(c *call) {
	cell.quant = map[string]quantParams{}
	for k, name := range LSTMCellQuantiserNames {
		var q quantParams
		for i, to := range []**graph.ConstantTensor{&q.scale, &q.zero, &q.bits} {
			slot := 15 + 3*k + i
			t := c.in[slot].Const
			if t == nil || t.Len() != 1 {
				badQuant("export with constant quantiser parameters, one for all units",
					"input %d, of quantiser %s, is not one constant", slot, name)
			}
			*to = t
		}
		narrow, isNarrow := c.Attrs[name+"_narrow"]
		if !isNarrow {
			narrow, isNarrow = c.Attrs[name+"_narrow_range"] // Brevitas spells one of them this way
		}
		signed, isSigned := c.Attrs[name+"_signed"]
		mode, isMode := c.Attrs[name+"_rounding_mode"]
		if !isNarrow || !isSigned || !isMode {
			badQuant("export the cell with all of its eleven quantisers",
				"attributes of quantiser %s are missing", name)
		}
		q.attrs = graph.AttributesByName{"narrow": narrow, "signed": signed, "rounding_mode": mode}
		cell.quant[name] = q
	}
}
