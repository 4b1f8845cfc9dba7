package rnntest

import (
	"fmt"
	"slices"

	"hlsgen/frontend/graph"
	"hlsgen/frontend/operators"
)

// onnxGates maps the order of gates in ONNX's tensors to our gates: i, o, f, c for an LSTM.
var onnxGates = map[string][]int{LSTM: {gateI, gateO, gateF, gateG}, GRU: {gateZ, gateR, gateN}, RNN: {0}}

// formats returns the quantisers of a cell under their names in --cell-config.
func (c *Cell) formats() operators.CellFormats {
	out := operators.CellFormats{}
	set := func(name string, q *Quantiser) {
		if q != nil {
			out[name] = operators.CellQuantiserFormat{Scale: float64(q.Scale), Zero: float64(q.Zero), Bits: q.Bits,
				Signed: q.Signed,
				Narrow: q.Narrow, Rounding: q.Mode}
		}
	}
	gate := func(k int, name, function string) {
		set(name+"_acc", c.Gates[k].Sum)
		set(name+"_"+function, c.Gates[k].Code)
	}
	switch c.Kind {
	case LSTM:
		gate(gateI, "input", "sigmoid")
		gate(gateF, "forget", "sigmoid")
		gate(gateG, "cell", "tanh")
		gate(gateO, "output", "sigmoid")
		set("cell_state", c.State)
		set("hidden_state_tanh", c.Squashed)
		set("output", c.Output)
	case GRU:
		gate(gateZ, "update", "sigmoid")
		gate(gateR, "reset", "sigmoid")
		gate(gateN, "hidden", "tanh")
		set("recurrent_acc", c.ResetSum)
		set("reset_product", c.Reset)
		set("update_product", c.Keep)
		set("hidden_product", c.Add)
		set("output", c.Output)
	case RNN:
		set("hidden_acc", c.Gates[0].Sum)
		set("output", c.Gates[0].Code)
	}
	return out
}

// operator writes a layer as ONNX's operator of its kind. The layer's cells must have the same structure and
// quantisers.
func (w *writer) operator(l *Layer, name string, x string, n *Network) (sequence string, last map[string]string) {
	c := l.Cells[0]
	states, directions := []string{"h"}, len(l.Cells)
	if c.Kind == LSTM {
		states = append(states, "c")
	}
	first := n.Form == "samples first"
	if n.Form == "flat" {
		x = w.op("Unsqueeze", x, w.ints(1))
	}
	in := []string{x, w.rows(l, func(g *Gate) string { return w.matrix(g.Input[0], 0, true) }),
		w.rows(l, func(g *Gate) string { return w.matrix(g.Hidden, 0, true) }), w.biases(l), ""}
	if n.Counted {
		in[4] = StepCountInput
	}
	var starts [2][]string
	for d, cell := range l.Cells {
		for k, s := range states {
			q, codes, width := cell.Hidden(), l.Starts[d].H, cell.Units
			if s == "c" {
				q, codes = cell.State, l.Starts[d].C
			}
			start := l.Starts[d]
			shape := []int{1, n.samples(), width}
			if first {
				shape = []int{n.samples(), 1, width}
			}
			if start.Data { // the operator's own format quantises it
				name := fmt.Sprintf("%sd%d%s", name, d, s)
				w.Input(name, graph.DTypeFloat32, axes(shape)...)
				starts[k] = append(starts[k], name)
			} else {
				starts[k] = append(starts[k], w.start("", q, start, codes, shape))
			}
		}
	}
	axis := 0
	if first {
		axis = 1
	}
	for k := range states {
		in = append(in, w.joined(starts[k], axis))
	}
	if c.Gates[0].Peephole != nil {
		var all []string
		for _, cell := range l.Cells {
			p := slices.Concat(cell.Gates[gateI].Peephole, cell.Gates[gateO].Peephole, cell.Gates[gateF].Peephole)
			all = append(all, w.vector(p))
		}
		in = append(in, w.op("Reshape", w.joined(all, 0), w.ints(float64(directions), float64(3*c.Units))))
	}
	node := w.Node(c.Kind, in...).Name(name).Int("hidden_size", int64(c.Units)).Int("layout", flag(first)).
		Str("direction", direction(l.Reverse))
	if clip := c.Gates[0].Clip; clip > 0 {
		node.Float("clip", clip)
	}
	var names []string
	var alpha, beta []float32
	for _, cell := range l.Cells {
		for _, a := range cell.functions() {
			names = append(names, a.Op)
			switch a.Op {
			case "LeakyRelu", "Elu":
				alpha = append(alpha, a.Alpha)
			case "HardSigmoid", "Affine", "ScaledTanh":
				alpha, beta = append(alpha, a.Alpha), append(beta, a.Beta)
			}
		}
	}
	node.Strs("activations", names...)
	if alpha != nil {
		node.Floats("activation_alpha", alpha...)
	}
	if beta != nil {
		node.Floats("activation_beta", beta...)
	}
	if c.Kind == LSTM {
		node.Int("input_forget", flag(c.Coupled != ""))
	}
	if c.Kind == GRU {
		node.Int("linear_before_reset", flag(c.ResetAfter))
	}
	var out []string
	for range len(states) + 1 {
		out = append(out, w.fresh())
	}
	node.Out(out...)
	return w.operatorOutputs(out, l, n)
}

// brevitasGates lists our gates in the order of the inputs of Brevitas' cell: i, f, c, o.
var brevitasGates = []int{gateI, gateF, gateG, gateO}

// quantCell writes a layer with one direction as Brevitas' cell.
func (w *writer) quantCell(l *Layer, name string, x string, n *Network) (sequence string, last map[string]string) {
	c, start := l.Cells[0], l.Starts[0]
	if n.Form == "flat" {
		x = w.op("Unsqueeze", x, w.ints(1))
	}
	in := []string{x}
	for k, s := range []string{"h", "c"} {
		if start.Data { // the cell quantises it
			w.Input(name+s, graph.DTypeFloat32, 1, c.Units)
			in = append(in, name+s)
			continue
		}
		q, codes := c.Output, start.H
		if k == 1 {
			q, codes = c.State, start.C
		}
		in = append(in, w.start("", q, start, codes, []int{1, c.Units}))
	}
	for _, k := range brevitasGates {
		in = append(in, w.matrix(c.Gates[k].Input[0], 0, true))
	}
	for _, k := range brevitasGates {
		in = append(in, w.matrix(c.Gates[k].Hidden, 0, true))
	}
	for _, k := range brevitasGates {
		b := c.Gates[k].Bias
		if b == nil {
			b = []float32{0}
		}
		in = append(in, w.vector(b))
	}
	formats := c.formats()
	for _, name := range operators.LSTMCellQuantiserNames {
		f := formats[name]
		in = append(in, w.scalar(f.Scale), w.scalar(f.Zero), w.scalar(float64(f.Bits)))
	}
	node := w.Node("QuantLSTMCell", in...).Domain("onnx.brevitas").Name(name).Int("cifg", flag(c.Coupled != "")).
		Int("reverse_input", flag(l.Reverse[0])).Int("batch_first", flag(n.Form == "samples first"))
	for _, name := range operators.LSTMCellQuantiserNames {
		f, narrow := formats[name], "_narrow"
		if name == "output_sigmoid" {
			narrow = "_narrow_range"
		}
		node.Int(name+"_signed", flag(f.Signed)).Int(name+narrow, flag(f.Narrow)).
			Str(name+"_rounding_mode", f.Rounding)
	}
	y, h, state := w.fresh(), w.fresh(), w.fresh()
	node.Out(y, h, state)
	if n.Form == "flat" {
		y, h, state = w.op("Squeeze", y, w.ints(1)), w.op("Squeeze", h, w.ints(0)), w.op("Squeeze", state, w.ints(0))
	}
	return y, map[string]string{"h": h, "c": state}
}

// operatorOutputs puts the outputs of both directions side by side.
func (w *writer) operatorOutputs(out []string, l *Layer, n *Network) (sequence string, last map[string]string) {
	width := len(l.Cells) * l.Cells[0].Units
	shaped := func(x string, shape []int) string {
		list := make([]float64, len(shape))
		for i, v := range shape {
			list[i] = float64(v)
		}
		return w.op("Reshape", x, w.ints(list...))
	}
	y := out[0]
	if n.Form != "samples first" {
		y = w.node(w.Node("Transpose", y).Ints("perm", 0, 2, 1, 3))
	}
	last = map[string]string{}
	for k, name := range []string{"h", "c"}[:len(out)-1] {
		state := out[1+k] // one of the two leading axes counts directions, the other counts samples
		if n.samples() > 1 && n.Form != "samples first" {
			state = w.node(w.Node("Transpose", state).Ints("perm", 1, 0, 2))
		}
		last[name] = shaped(state, n.vector(width))
	}
	return shaped(y, n.whole(-1, width)), last // any number of steps
}

// direction returns ONNX's word for the directions of a layer.
func direction(reverse []bool) string {
	switch {
	case len(reverse) == 2:
		return "bidirectional"
	case reverse[0]:
		return "reverse"
	}
	return "forward"
}

// functions returns the activations of a cell in the order of an operator's attribute.
func (c *Cell) functions() []Activation {
	switch c.Kind {
	case LSTM:
		return []Activation{c.Gates[gateI].Activation, c.Gates[gateG].Activation, c.Squash}
	case GRU:
		return []Activation{c.Gates[gateZ].Activation, c.Gates[gateN].Activation}
	}
	return []Activation{c.Gates[0].Activation}
}

// joined concatenates tensors along an axis.
func (w *writer) joined(list []string, axis int) string {
	if len(list) == 1 {
		return list[0]
	}
	return w.node(w.Node("Concat", list...).Int("axis", int64(axis)))
}

// rows returns a tensor for all directions, with the rows of the gates one below the other.
func (w *writer) rows(l *Layer, of func(*Gate) string) string {
	var all []string
	for _, c := range l.Cells {
		var parts []string
		for _, k := range onnxGates[c.Kind] {
			parts = append(parts, of(&c.Gates[k]))
		}
		all = append(all, w.op("Unsqueeze", w.joined(parts, 0), w.ints(0)))
	}
	return w.joined(all, 0)
}

// biases returns ONNX's B: first the biases of products with the input, then those with the hidden state.
func (w *writer) biases(l *Layer) string {
	c := l.Cells[0]
	var v []float64
	for _, c := range l.Cells {
		for _, hidden := range []bool{false, true} {
			for _, k := range onnxGates[c.Kind] {
				b := c.Gates[k].Bias
				if hidden {
					b = c.Gates[k].HiddenBias
				}
				for u := range c.Units {
					if b == nil {
						v = append(v, 0)
					} else {
						v = append(v, float64(of(b, u)))
					}
				}
			}
		}
	}
	return w.constant([]int{len(l.Cells), 2 * len(c.Gates) * c.Units}, v...)
}

// formatted changes a cell so that an ONNX operator with the formats of --cell-config can express it.
func (c *Cell) formatted() {
	own := func(a Activation) Activation { // the operator has only these functions
		switch {
		case a.Op == "Identity":
			return Activation{"Affine", 0.5, 0.25}
		case a.Op == "Clip":
			return Activation{"HardSigmoid", 0.25, 0.5}
		}
		return a
	}
	for k := range c.Gates {
		c.Gates[k].Activation = own(c.Gates[k].Activation)
	}
	switch c.Kind {
	case LSTM:
		c.Squash, c.Keep, c.Add, c.Projection = own(c.Squash), c.State, c.State, nil
		for _, k := range []int{gateF, gateO} {
			c.Gates[k].Activation = c.Gates[gateI].Activation
		}
		if c.Coupled != "" {
			c.Coupled, c.One = "forget", c.Gates[gateI].Code
		}
	case GRU:
		c.Difference, c.One = false, nil
		c.Gates[gateR].Activation = c.Gates[gateZ].Activation
	}
	for _, q := range c.quantisers() {
		q.Linear = false
	}
}

// quantisers returns all quantisers of a cell.
func (c *Cell) quantisers() (list []*Quantiser) {
	all := []*Quantiser{c.Keep, c.Add, c.State, c.Squashed, c.Output, c.Reset, c.ResetSum}
	for _, g := range c.Gates {
		all = append(all, g.Sum, g.Code)
	}
	for _, q := range all {
		if q != nil {
			list = append(list, q)
		}
	}
	return list
}
