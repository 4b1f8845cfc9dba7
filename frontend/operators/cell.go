package operators

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"hlsgen/frontend/graph"
	"hlsgen/frontend/program"
	"hlsgen/internal/diag"
)

// A cellKind describes the cells of a recurrent operator: their gates, activations and quantisers.
type cellKind struct {
	gates       []string // in the order of the rows of ONNX' W, R and B
	states      []string
	activations []string // ONNX' defaults for one direction
	formats     []string // the required quantisers
	more        []string // the optional quantisers; a tensor without one is not quantised separately
	write       func(*cellBody)
}

// cells returns the description of an operator's cells, or nil for other operators. It is a function rather than a
// variable, because the bodies of cells consist of operators, too.
func cells(op string) *cellKind {
	switch op {
	case "LSTM":
		return &cellKind{gates: []string{"i", "o", "f", "c"}, states: []string{"h", "c"},
			activations: []string{"Sigmoid", "Tanh", "Tanh"}, formats: LSTMCellQuantiserNames[:],
			write: (*cellBody).lstm}
	case "GRU":
		return &cellKind{gates: []string{"z", "r", "h"}, states: []string{"h"},
			activations: []string{"Sigmoid", "Tanh"},
			formats:     []string{"output", "update_sigmoid", "reset_sigmoid", "hidden_tanh"},
			more: []string{"update_acc", "reset_acc", "hidden_acc", "recurrent_acc", "reset_product", "update_product",
				"hidden_product"}, write: (*cellBody).gru}
	case "RNN":
		return &cellKind{gates: []string{"h"}, states: []string{"h"}, activations: []string{"Tanh"},
			formats: []string{"output"}, more: []string{"hidden_acc"}, write: (*cellBody).rnn}
	}
	return nil
}

// ApplicableOperators returns the names of the operators to which the formats in the file may apply.
func (f CellFormatsFile) ApplicableOperators() []string {
	if f.Flag == LSTMFormatsFlag {
		return []string{"LSTM"}
	}
	return []string{"LSTM", "GRU", "RNN"}
}

// DiagnosticCode returns the diagnostic code for messages about the file.
func (f CellFormatsFile) DiagnosticCode() diag.Code {
	if f.Flag == LSTMFormatsFlag {
		return diag.LSTMGateFormatsMissing
	}
	return diag.GRUOrRNNGateFormatsMissing
}

// DiagnosticCodeForCellFormats returns the diagnostic code for messages about the formats of a node's cell.
func DiagnosticCodeForCellFormats(n *graph.Node) diag.Code {
	if n.QualifiedOpName() == "LSTM" {
		return diag.LSTMGateFormatsMissing
	}
	return diag.GRUOrRNNGateFormatsMissing
}

// cellKindOf returns the description of the cells of a node's operator, or nil for operators without cells.
func cellKindOf(n *graph.Node) *cellKind { return cells(n.QualifiedOpName()) }

// stateFormats maps states to their quantisers.
var stateFormats = map[string]string{"h": "output", "c": "cell_state"}

// A cell is one direction of a recurrent operator, to be written as the body of a loop.
type cell struct {
	*cellKind
	n, in, hidden int          // the samples side by side, the elements of x, and the units
	w, r, wb, rb  gateTensors  // rb may be nil; then wb holds the sums of both biases
	peep          gateTensors  // for an LSTM's gates i, f and o
	functions     []activation // in the order of cellKind.activations
	quant         map[string]quantParams
	clip          float64 // the limit of the activations' inputs; 0 for none
	coupled       bool    // for an LSTM: f = 1 - i
	resetsSum     bool    // for a GRU: the reset gate multiplies the sum of products with h, not h itself
}

// A gateTensors maps each gate to its tensor, such as its weights. A gate without one has nil.
type gateTensors map[string]*graph.ConstantTensor

// A quantParams holds the parameters of a Quant node: scale, zero point, bits and the way to round.
type quantParams struct {
	scale, zero, bits *graph.ConstantTensor
	attrs             graph.AttributesByName
}

// An activation is one activation function of a cell, with its parameters.
type activation struct {
	op          string
	alpha, beta float64
}

// A cellBody writes the graph of a cell. Its inputs are the states and x; its outputs are the next states, and h again
// for the sequence. Q stands for a quantiser, or for nothing if the cell does not have that quantiser:
//
//	a  = Q(x W' + h R' + b)                          what a gate reads
//	LSTM: i, f, o = Q(sigmoid(a + p*c)), for o with the next c; g = Q(tanh(a)); coupled: f = Q(1) - i
//	      c' = Q(Q(f*c) + Q(i*g)), h' = Q(o * Q(tanh(c')))
//	GRU:  z, r = Q(sigmoid(a)), n = Q(tanh(Q(x W' + Q(r*h) R' + b))), or Q(tanh(Q(x W' + b + Q(r * Q(h R' + b')))))
//	      h' = Q(Q((1-z)*n) + Q(z*h))
//	RNN:  h' = Q(tanh(a))
//
// Without quantisers the cell computes the same in real numbers (Brevitas' QuantLSTM; ONNX, operators LSTM, GRU and
// RNN).
type cellBody struct {
	*cell
	graph *graph.Graph
}

func (c *cell) body(opsets map[string]int64) *graph.Graph {
	b := &cellBody{c, &graph.Graph{Name: "cell", Init: map[string]*graph.ConstantTensor{}, Opsets: opsets}}
	for _, s := range c.states {
		b.graph.Inputs = append(b.graph.Inputs, fixedValue(s, graph.DTypeFloat32, []int{c.n, c.hidden}))
	}
	b.graph.Inputs = append(b.graph.Inputs, fixedValue("x", graph.DTypeFloat32, []int{c.n, c.in}))
	c.write(b)
	return b.graph
}

// gives declares the outputs of the body: the next states and the element of the sequence.
func (b *cellBody) gives(names ...string) {
	for _, name := range names {
		b.graph.Outputs = append(b.graph.Outputs, graph.ValueInfo{Name: name, DType: graph.DTypeFloat32})
	}
}

func (b *cellBody) lstm() {
	i := b.gate("i", "input", "sigmoid", 0, "c")
	var f string
	if b.coupled {
		f = b.node("Sub", "f", nil, b.quantised("one", b.constant("1", graph.NewFilledTensor(graph.DTypeFloat32, nil,
			1)),
			"input_sigmoid"), i)
	} else {
		f = b.gate("f", "forget", "sigmoid", 0, "c")
	}
	g := b.gate("c", "cell", "tanh", 1, "")
	keep := b.quantised("f*c", b.node("Mul", "f*c.real", nil, f, "c"), "cell_state")
	add := b.quantised("i*g", b.node("Mul", "i*g.real", nil, i, g), "cell_state")
	next := b.quantised("state", b.node("Add", "state.sum", nil, keep, add), "cell_state")
	o := b.gate("o", "output", "sigmoid", 0, next)
	squashed := b.quantised("squashed", b.activated("squashed.real", b.clipped("state.clipped", next), 2),
		"hidden_state_tanh")
	out := b.quantised("hidden", b.node("Mul", "hidden.real", nil, o, squashed), "output")
	b.gives(out, next, out)
}

func (b *cellBody) gru() {
	z := b.gate("z", "update", "sigmoid", 0, "")
	r := b.gate("r", "reset", "sigmoid", 0, "")
	var sum string
	if b.resetsSum {
		inner := b.quantised("h.inner", b.biased("h.inner.sum", b.products("h", "h", b.r), b.rb["h"]), "recurrent_acc")
		reset := b.quantised("r*inner", b.node("Mul", "r*inner.real", nil, r, inner), "reset_product")
		sum = b.node("Add", "h.xh", nil, b.products("h", "x", b.w), reset)
		sum = b.biased("h.sum", sum, b.wb["h"])
	} else {
		reset := b.quantised("r*h", b.node("Mul", "r*h.real", nil, r, "h"), "reset_product")
		sum = b.sum("h", reset, "")
	}
	n := b.squashed("h", sum, "hidden_acc", "hidden_tanh", 1)
	rest := b.node("Sub", "1-z", nil, b.constant("1", graph.NewFilledTensor(graph.DTypeFloat32, nil, 1)), z)
	add := b.quantised("(1-z)*n", b.node("Mul", "(1-z)*n.real", nil, rest, n), "hidden_product")
	keep := b.quantised("z*h", b.node("Mul", "z*h.real", nil, z, "h"), "update_product")
	out := b.quantised("hidden", b.node("Add", "hidden.real", nil, add, keep), "output")
	b.gives(out, out)
}

func (b *cellBody) rnn() {
	out := b.squashed("h", b.sum("h", "h", ""), "hidden_acc", "output", 0)
	b.gives(out, out)
}

// gate writes a gate that reads x, h and, for its peephole, the tensor from. NAME_acc is its first quantiser, and
// NAME_FUNCTION the one after the activation. It returns the name of the gate's tensor.
func (b *cellBody) gate(gate, name, function string, which int, from string) string {
	return b.squashed(gate, b.sum(gate, "h", from), name+"_acc", name+"_"+function, which)
}

// sum writes the sum that a gate reads. h is the state or a tensor in its place.
func (b *cellBody) sum(gate, h, from string) string {
	a := b.node("Add", gate+".xh", nil, b.products(gate, "x", b.w), b.products(gate, h, b.r))
	if p := b.peep[gate]; p != nil {
		a = b.node("Add", gate+".peephole", nil, a,
			b.node("Mul", gate+".p*c", nil, from, b.constant(gate+".P", p)))
	}
	return b.biased(gate+".sum", a, b.wb[gate], b.rb[gate])
}

// products writes the product of a vector and the weights of a gate, and returns its name.
func (b *cellBody) products(gate, vector string, weights gateTensors) string {
	name := gate + ".R"
	if vector == "x" {
		name = gate + ".W"
	}
	return b.node("MatMul", gate+"."+vector, nil, vector, b.constant(name, transposed(weights[gate])))
}

// biased adds the sum of the biases that are not nil to a tensor, and returns the name of the result.
func (b *cellBody) biased(name, tensor string, biases ...*graph.ConstantTensor) string {
	biases = slices.DeleteFunc(biases, func(t *graph.ConstantTensor) bool { return t == nil })
	if len(biases) == 0 {
		return tensor
	}
	sum := b.constant(name+".b", biases[0])
	for i, t := range biases[1:] {
		sum = b.node("Add", fmt.Sprintf("%s.bias%d", name, i+1), nil, sum,
			b.constant(fmt.Sprintf("%s.b%d", name, i+1), t))
	}
	return b.node("Add", name, nil, tensor, sum)
}

// squashed applies a quantiser, an activation and another quantiser to a sum, and returns the name of the result.
func (b *cellBody) squashed(gate, sum, acc, behind string, which int) string {
	a := b.quantised(gate+".acc", b.clipped(gate+".clipped", sum), acc)
	return b.quantised(gate+".gate", b.activated(gate+".activated", a, which), behind)
}

func (b *cellBody) node(op, out string, attrs graph.AttributesByName, inputs ...string) string {
	return b.add("", op, out, attrs, inputs)
}

func (b *cellBody) add(domain, op, out string, attrs graph.AttributesByName, inputs []string) string {
	b.graph.Nodes = append(b.graph.Nodes, &graph.Node{Index: len(b.graph.Nodes), Domain: domain, Op: op, Inputs: inputs,
		Outputs: []string{out}, Attrs: attrs})
	return out
}

func (b *cellBody) constant(name string, t *graph.ConstantTensor) string {
	b.graph.Init[name] = t
	return name
}

// quantised applies a quantiser to a tensor if the cell has that quantiser. It returns the name of the result.
func (b *cellBody) quantised(name, tensor, quantiser string) string {
	q, ok := b.quant[quantiser]
	if !ok {
		return tensor
	}
	return b.add(QONNXDomain, OpQuant, name, q.attrs, append([]string{tensor}, q.constants(name, b.constant)...))
}

// constants adds the parameters as constants and returns their names. It calls known to add one constant.
func (q quantParams) constants(name string, known func(string, *graph.ConstantTensor) string) []string {
	return []string{known(name+".scale", q.scale), known(name+".zero", q.zero), known(name+".bits", q.bits)}
}

// clipped limits the input of an activation to the cell's clip value, and returns the name of the result.
func (b *cellBody) clipped(name, tensor string) string {
	if b.clip == 0 {
		return tensor
	}
	low := b.node("Max", name+".low", nil, tensor, b.constant(name+".min", graph.NewFilledTensor(graph.DTypeFloat32,
		nil,
		-b.clip)))
	return b.node("Min", name, nil, low, b.constant(name+".max", graph.NewFilledTensor(graph.DTypeFloat32, nil,
		b.clip)))
}

func (b *cellBody) activated(name, tensor string, which int) string {
	a := b.functions[which]
	alpha, beta := graph.NewFloatAttr(a.alpha), graph.NewFloatAttr(a.beta)
	number := func(suffix string, v float64) string {
		return b.constant(name+suffix, graph.NewFilledTensor(graph.DTypeFloat32, nil, v))
	}
	switch a.op {
	case "HardSigmoid":
		return b.node(a.op, name, graph.AttributesByName{"alpha": alpha, "beta": beta}, tensor)
	case "LeakyRelu", "Elu":
		return b.node(a.op, name, graph.AttributesByName{"alpha": alpha}, tensor)
	case "Affine":
		return b.node("Add", name, nil, b.node("Mul", name+".scaled", nil, tensor, number(".alpha", a.alpha)),
			number(".beta", a.beta))
	case "ScaledTanh":
		t := b.node("Tanh", name+".tanh", nil, b.node("Mul", name+".scaled", nil, tensor, number(".beta", a.beta)))
		return b.node("Mul", name, nil, t, number(".alpha", a.alpha))
	}
	return b.node(a.op, name, nil, tensor)
}

// transposed returns the matrix t with rows and columns exchanged.
func transposed(t *graph.ConstantTensor) *graph.ConstantTensor {
	rows, cols := t.Shape[0], t.Shape[1]
	return t.GatherElements([]int{cols, rows}, func(i int) int { return i%rows*cols + i/rows })
}

// realGates is an attribute of a loop that stands for an ONNX cell without formats. It lists the quantisers that the
// cell could have.
const realGates = "real_gates"

// loop writes the cell as a Scan of x that begins with the initial states. outputs names the last states and the
// sequence; "" stands for an output that is not used.
func (c *cell) loop(of *call, initial []string, x string, along program.ScanAxis, outputs []string) {
	dir := 0
	if along.Reverse {
		dir = 1
	}
	opsets := map[string]int64{QONNXDomain: 2, "": bodyOpset}
	attrs := graph.AttributesByName{"body": graph.NewGraphAttr(c.body(opsets)), "num_scan_inputs": graph.NewIntAttr(1)}
	for _, side := range []string{"input", "output"} {
		attrs["scan_"+side+"_axes"], attrs["scan_"+side+"_directions"] = intsAttr(along.Axis), intsAttr(dir)
	}
	if c.quant == nil {
		attrs[realGates] = graph.Attr{Kind: graph.AttrKindStrings, Strings: c.places()}
	}
	of.writeAll(InternalDomain, "Scan", attrs, outputs, append(slices.Clone(initial), x))
}

// CopyLoopNodeAsQuantised returns a copy of a loop's node for a graph whose loops contain quantisers. The copy no
// longer says that its gates are real numbers.
func CopyLoopNodeAsQuantised(n *graph.Node) *graph.Node {
	m := *n
	m.Attrs = maps.Clone(n.Attrs)
	delete(m.Attrs, realGates)
	return &m
}

// places returns the names of the quantisers that a cell without any should get first: the required ones, those of
// sums, and that of the matrix input.
func (c *cell) places() []string {
	list := slices.Clone(c.formats)
	for _, name := range c.more {
		switch name {
		case "recurrent_acc":
			if !c.resetsSum {
				continue
			}
		case "reset_product":
			if c.resetsSum {
				continue
			}
		case "update_product", "hidden_product":
			continue
		}
		list = append(list, name)
	}
	return list
}

// bodyOpset is the version of ONNX's operators in which the bodies of cells are written.
const bodyOpset = 13

// initial returns the name of a state's initial value for the loop. If name is empty, it is zeros. If the state has a
// quantiser, the initial value is quantised, too.
func (c *cell) initial(of *call, state, name string) string {
	shape, k := []int{c.n, c.hidden}, of.p.Known[name]
	if name == "" {
		return of.constant("initial", graph.NewFilledTensor(graph.DTypeFloat32, shape, 0))
	}
	if !k.DType.IsReal() {
		invalid("the initial state %q is of type %s", name, k.DType)
	}
	if graph.ElementCount(k.Shape) == graph.ElementCount(shape) {
		if len(k.Shape) != 2 || k.Shape[0] != c.n {
			name = of.reshaped(name, shape)
		}
	} else {
		if s, ok := broadcasts(k.Shape, shape); !ok || !slices.Equal(s, shape) {
			invalid("the initial state %q has shape %v, want %v", name, k.Shape, shape)
		}
		name = of.part("", "Expand", "initial", nil, name, of.shape(shape))
	}
	if q, ok := c.quant[stateFormats[state]]; ok {
		inputs := append([]string{name}, q.constants("initial", of.constant)...)
		name = of.part(QONNXDomain, OpQuant, "initial", q.attrs, inputs...)
	}
	return name
}

// InputSlotOfWeight returns the input slot of a recurrent operator from which a constant in the body of its cell is
// taken. ok is false for constants that are not weights, and for operators whose body is in the file.
func InputSlotOfWeight(n *graph.Node, constant string) (slot int, ok bool) {
	gate, of, _ := strings.Cut(constant, ".")
	if of != "W" && of != "R" {
		return 0, false
	}
	if i := slices.Index(quantGates[:], gate); i >= 0 && n.Op == "QuantLSTMCell" {
		if of == "R" {
			return 7 + i, true
		}
		return 3 + i, true
	}
	if cellKindOf(n) == nil {
		return 0, false
	}
	if of == "R" {
		return 2, true
	}
	return 1, true
}
