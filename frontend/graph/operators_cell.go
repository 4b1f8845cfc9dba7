package graph

import "slices"

// A cell is one direction of an LSTM, about to be written as the body of a loop. Gates are in the order i, f, c, o.
type cell struct {
	n, in, hidden int // samples side by side, elements of x, units
	w, r          [4]*Tensor
	bias          [4][]*Tensor // added one after the other
	peep          [4]*Tensor   // nil where there is none; c has none
	quant         *[11]quantParams
	f, g, h       activation
	clip          float64 // of what activations read; 0 is none
	coupled       bool    // f = 1 - i
}

// quantParams are the parameters of a Quant node.
type quantParams struct {
	scale, zero, bits *Tensor
	attrs             Attrs
}

// An activation is one function of a cell.
type activation struct {
	op          string
	alpha, beta float64
}

var (
	gateNames = [4]string{"i", "f", "c", "o"}
	accs      = [4]int{FormatInputAcc, FormatForgetAcc, FormatCellAcc, FormatOutputAcc}
	gates     = [4]int{FormatInputSigmoid, FormatForgetSigmoid, FormatCellTanh, FormatOutputSigmoid}
)

// A cellBody is the graph of a cell being written: inputs h, c, x; outputs the next h and c, and h again for the
// sequence.
//
//	a  = quant(x W' + h R' + b + p*c), for o with the next c
//	i, f, o = quant(sigmoid(a)), g = quant(tanh(a)); coupled: f = quant(1) - i
//	c' = quant(quant(f*c) + quant(i*g)), h' = quant(o * quant(tanh(c')))
//
// Without quantisers the same in real numbers (Brevitas' QuantLSTM; ONNX, operator LSTM).
type cellBody struct {
	*cell
	graph *Graph
}

func (c *cell) body(opsets map[string]int64) *Graph {
	b := &cellBody{c, &Graph{Name: "cell", Init: map[string]*Tensor{}, Opsets: opsets}}
	b.graph.Inputs = []Value{fixedValue("h", Float32, []int{c.n, c.hidden}),
		fixedValue("c", Float32, []int{c.n, c.hidden}), fixedValue("x", Float32, []int{c.n, c.in})}
	i := b.gate(0, "c")
	var f string
	if c.coupled {
		f = b.node("Sub", "f", nil, b.quantised("one", b.constant("1", filled(Float32, nil, 1)), FormatInputSigmoid), i)
	} else {
		f = b.gate(1, "c")
	}
	g := b.gate(2, "")
	keep := b.quantised("f*c", b.node("Mul", "f*c.real", nil, f, "c"), FormatCellState)
	add := b.quantised("i*g", b.node("Mul", "i*g.real", nil, i, g), FormatCellState)
	next := b.quantised("state", b.node("Add", "state.sum", nil, keep, add), FormatCellState)
	o := b.gate(3, next)
	squashed := b.quantised("squashed", b.activated("squashed.real", b.clipped("state.clipped", next), c.h),
		FormatHiddenStateTanh)
	out := b.quantised("hidden", b.node("Mul", "hidden.real", nil, o, squashed), FormatOutput)
	for _, name := range []string{out, next, out} {
		b.graph.Outputs = append(b.graph.Outputs, Value{Name: name, DType: Float32})
	}
	return b.graph
}

// gate writes gate k, whose peephole reads the tensor `from`.
func (b *cellBody) gate(k int, from string) string {
	name := gateNames[k]
	a := b.node("MatMul", name+".x", nil, "x", b.constant(name+".W", transposed(b.w[k])))
	a = b.node("Add", name+".xh", nil, a, b.node("MatMul", name+".h", nil, "h",
		b.constant(name+".R", transposed(b.r[k]))))
	if p := b.peep[k]; p != nil {
		a = b.node("Add", name+".peephole", nil, a, b.node("Mul", name+".p*c", nil, from, b.constant(name+".P", p)))
	}
	if len(b.bias[k]) > 0 {
		sum := b.constant(name+".b", b.bias[k][0])
		for _, t := range b.bias[k][1:] {
			sum = b.node("Add", name+".bias", nil, sum, b.constant(name+".b2", t))
		}
		a = b.node("Add", name+".sum", nil, a, sum)
	}
	a = b.quantised(name+".acc", b.clipped(name+".clipped", a), accs[k])
	act := b.f
	if k == 2 {
		act = b.g
	}
	return b.quantised(name+".gate", b.activated(name+".activated", a, act), gates[k])
}

func (b *cellBody) node(op, out string, attrs Attrs, inputs ...string) string {
	return b.write("", op, out, attrs, inputs)
}

func (b *cellBody) write(domain, op, out string, attrs Attrs, inputs []string) string {
	b.graph.Nodes = append(b.graph.Nodes, &Node{Index: len(b.graph.Nodes), Domain: domain, Op: op, Inputs: inputs,
		Outputs: []string{out}, Attrs: attrs})
	return out
}

func (b *cellBody) constant(name string, t *Tensor) string {
	b.graph.Init[name] = t
	return name
}

// quantised puts quantiser k behind a tensor, if the cell has any.
func (b *cellBody) quantised(name, tensor string, k int) string {
	if b.quant == nil {
		return tensor
	}
	q := b.quant[k]
	inputs := []string{tensor, b.constant(name+".scale", q.scale), b.constant(name+".zero", q.zero),
		b.constant(name+".bits", q.bits)}
	return b.write(QONNX, "Quant", name, q.attrs, inputs)
}

// clipped bounds what an activation reads.
func (b *cellBody) clipped(name, tensor string) string {
	if b.clip == 0 {
		return tensor
	}
	low := b.node("Max", name+".low", nil, tensor, b.constant(name+".min", filled(Float32, nil, -b.clip)))
	return b.node("Min", name, nil, low, b.constant(name+".max", filled(Float32, nil, b.clip)))
}

func (b *cellBody) activated(name, tensor string, a activation) string {
	alpha, beta := FloatAttr(a.alpha), FloatAttr(a.beta)
	number := func(suffix string, v float64) string { return b.constant(name+suffix, filled(Float32, nil, v)) }
	switch a.op {
	case "HardSigmoid":
		return b.node(a.op, name, Attrs{"alpha": alpha, "beta": beta}, tensor)
	case "LeakyRelu", "Elu":
		return b.node(a.op, name, Attrs{"alpha": alpha}, tensor)
	case "Affine":
		return b.node("Add", name, nil, b.node("Mul", name+".scaled", nil, tensor, number(".alpha", a.alpha)),
			number(".beta", a.beta))
	case "ScaledTanh":
		t := b.node("Tanh", name+".tanh", nil, b.node("Mul", name+".scaled", nil, tensor, number(".beta", a.beta)))
		return b.node("Mul", name, nil, t, number(".alpha", a.alpha))
	}
	return b.node(a.op, name, nil, tensor)
}

// transposed turns a matrix.
func transposed(t *Tensor) *Tensor {
	rows, cols := t.Shape[0], t.Shape[1]
	out := &Tensor{DType: t.DType, Shape: []int{cols, rows}, F: make([]float64, len(t.F))}
	for i, v := range t.F {
		out.F[i%cols*rows+i/cols] = v
	}
	return out
}

const realGates = "real_gates"

// loop writes the cell as a Scan and names its outputs: the last h and c, and the sequence. An empty name is an output
// that is not in use.
func (cell *cell) loop(c *call, h, state, x string, along Scanned, outputs [3]string) {
	dir := 0
	if along.Reverse {
		dir = 1
	}
	opsets := map[string]int64{QONNX: 2, "": bodyOpset}
	attrs := Attrs{"body": GraphAttr(cell.body(opsets)), "num_scan_inputs": IntAttr(1)}
	for _, side := range []string{"input", "output"} {
		attrs["scan_"+side+"_axes"], attrs["scan_"+side+"_directions"] = intsAttr(along.Axis), intsAttr(dir)
	}
	if cell.quant == nil {
		attrs[realGates] = IntAttr(1)
	}
	c.writeAll(Internal, "Scan", attrs, outputs[:], []string{h, state, x})
}

// bodyOpset is the version of ONNX that cells are written in.
const bodyOpset = 13

// initial is a state's first value in the shape that the loop takes: zeros where it is omitted.
func (cell *cell) initial(c *call, name string) string {
	n, hidden := cell.n, cell.hidden
	shape, k := []int{n, hidden}, c.p.Known[name]
	if name == "" {
		return c.constant("initial", filled(Float32, shape, 0))
	}
	if !k.DType.Float() {
		invalid("the initial state %q is of type %s", name, k.DType)
	}
	if Size(k.Shape) == n*hidden {
		if len(k.Shape) == 2 && k.Shape[0] == n {
			return name
		}
		return c.reshaped(name, shape)
	}
	if s, ok := broadcasts(k.Shape, shape); !ok || !slices.Equal(s, shape) {
		invalid("the initial state %q has shape %v, want %v", name, k.Shape, shape)
	}
	return c.part("", "Expand", "initial", nil, name, c.shape(shape))
}
