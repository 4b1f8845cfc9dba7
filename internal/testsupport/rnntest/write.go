package rnntest

import (
	"fmt"
	"slices"
	"strconv"

	"hlsgen/frontend/graph"
	"hlsgen/internal/testsupport/onnxtest"
)

// The domain of QONNX' operators, and the version of ONNX's operators in the files.
const (
	qonnx = "qonnx.custom_op.general"
	opset = 14
)

// A writer builds a graph. Its names begin with a prefix, so that names in a body differ from names around it.
type writer struct {
	*onnxtest.Model
	prefix string
	names  int
	shared map[*int64]string // weights already written, by their first code; nil to write weights every time
	pool   map[string]string // initializers already written, by their numbers; nil to write them every time
	outer  *writer           // writer for the initializers of a body; nil if the body has its own
}

// initializer returns the name of an initializer with the given numbers.
func (w *writer) initializer(dt graph.DType, shape []int, v ...float64) string {
	if w.outer != nil {
		return w.outer.initializer(dt, shape, v...)
	}
	key := fmt.Sprint(dt, shape, v)
	if name := w.pool[key]; name != "" {
		return name
	}
	name := w.fresh()
	w.Init(name, dt, shape, v...)
	if w.pool != nil {
		w.pool[key] = name
	}
	return name
}

// of returns a writer for a body.
func (w *writer) of(m *onnxtest.Model, prefix string, captured bool) *writer {
	inner := &writer{Model: m, prefix: prefix}
	if captured {
		inner.outer = w
	}
	if w.pool != nil {
		inner.pool = map[string]string{}
	}
	return inner
}

// fresh returns a name that the graph has not used.
func (w *writer) fresh() string {
	w.names++
	return w.prefix + strconv.Itoa(w.names)
}

// scalar returns the name of a float32 constant without axes.
func (w *writer) scalar(v float64) string { return w.constant(nil, v) }

// scalar64 returns the name of an integer constant, such as an index.
func (w *writer) scalar64(v int) string {
	return w.initializer(graph.DTypeInt64, nil, float64(v))
}

// constant returns the name of a float32 constant.
func (w *writer) constant(shape []int, v ...float64) string {
	return w.initializer(graph.DTypeFloat32, shape, v...)
}

// ints returns the name of a constant vector of int64s.
func (w *writer) ints(v ...float64) string {
	return w.initializer(graph.DTypeInt64, []int{len(v)}, v...)
}

// vector returns the name of a constant: a scalar if v has one number, otherwise a vector.
func (w *writer) vector(v []float32) string {
	list := make([]float64, len(v))
	for i := range v {
		list[i] = float64(v[i])
	}
	if len(v) == 1 {
		return w.scalar(list[0])
	}
	return w.constant([]int{len(v)}, list...)
}

// op adds a node with one output, and returns the output's name.
func (w *writer) op(op string, inputs ...string) string { return w.node(w.Node(op, inputs...)) }

// node gives the node n an output with a fresh name, and returns the name.
func (w *writer) node(n *onnxtest.Node) string {
	y := w.fresh()
	n.Name(y).Out(y)
	return y
}

// flag returns 1 for true and 0 for false, as attributes have them.
func flag(b bool) int64 {
	if b {
		return 1
	}
	return 0
}

// quant writes the quantiser of a tensor. Without a quantiser it returns the tensor.
func (w *writer) quant(x string, q *Quantiser) string {
	if q == nil || x == "" {
		return x
	}
	scale := w.scalar(float64(q.Scale))
	if q.Linear {
		dt := graph.DTypeUInt8
		if q.Signed {
			dt = graph.DTypeInt8
		}
		zero := w.initializer(dt, nil, float64(q.Zero))
		return w.op("DequantizeLinear", w.op("QuantizeLinear", x, scale, zero), scale, zero)
	}
	return w.node(w.Node("Quant", x, scale, w.scalar(float64(q.Zero)), w.scalar(float64(q.Bits))).Domain(qonnx).
		Int("signed", flag(q.Signed)).Int("narrow", flag(q.Narrow)).Str("rounding_mode", q.Mode))
}

// matrix writes weights with one column per unit. With a kernel it writes them as weights of a convolution, and
// with rows set it writes one row per unit.
func (w *writer) matrix(m Matrix, kernel int, rows bool) (name string) {
	if w.shared != nil {
		first := &m.Codes[0][0]
		if w.shared[first] != "" {
			return w.shared[first]
		}
		defer func() { w.shared[first] = name }()
	}
	units, length := len(m.Codes), len(m.Codes[0])
	shape, perUnit := []int{length, units}, []int{1, units}
	at := func(k, u int) int { return k*units + u }
	if kernel > 0 || rows {
		shape, perUnit = []int{units, length}, []int{units, 1}
		at = func(k, u int) int { return u*length + k }
	}
	if kernel > 0 {
		shape, perUnit = []int{units, length / kernel, kernel}, []int{units, 1, 1}
	}
	codes, v := make([]float64, units*length), make([]float64, units*length)
	for u, row := range m.Codes {
		for k, q := range row {
			codes[at(k, u)] = float64(q)
			v[at(k, u)] = float64(q) * float64(of(m.Scale, u))
		}
	}
	scales := make([]float64, len(m.Scale))
	for i, s := range m.Scale {
		scales[i] = float64(s)
	}
	if len(scales) == 1 {
		perUnit = nil
	}
	if m.Linear {
		q := w.initializer(graph.DTypeInt8, shape, codes...)
		n := w.Node("DequantizeLinear", q, w.constant(flat(perUnit), scales...))
		if perUnit != nil && !rows && kernel == 0 {
			n.Int("axis", 1)
		} else if perUnit != nil {
			n.Int("axis", 0)
		}
		return w.node(n)
	}
	scale, raw := w.constant(perUnit, scales...), w.constant(shape, v...)
	if m.Bits == 1 {
		return w.node(w.Node("BipolarQuant", raw, scale).Domain(qonnx))
	}
	return w.node(w.Node("Quant", raw, scale, w.scalar(0), w.scalar(float64(m.Bits))).Domain(qonnx).Int("signed", 1).
		Int("narrow", 0).Str("rounding_mode", "ROUND"))
}

// flat returns a shape with a single axis and the same size.
func flat(shape []int) []int {
	if shape == nil {
		return nil
	}
	return []int{graph.ElementCount(shape)}
}

// activation writes an activation function.
func (w *writer) activation(x string, a Activation) string {
	switch a.Op {
	case "Identity":
		return x
	case "LeakyRelu", "Elu":
		return w.node(w.Node(a.Op, x).Float("alpha", a.Alpha))
	case "HardSigmoid":
		return w.node(w.Node(a.Op, x).Float("alpha", a.Alpha).Float("beta", a.Beta))
	case "Clip":
		return w.op(a.Op, x, w.scalar(-1), w.scalar(1))
	case "Affine":
		return w.op("Add", w.op("Mul", x, w.scalar(float64(a.Alpha))), w.scalar(float64(a.Beta)))
	case "ScaledTanh":
		return w.op("Mul", w.op("Tanh", w.op("Mul", x, w.scalar(float64(a.Beta)))), w.scalar(float64(a.Alpha)))
	}
	return w.op(a.Op, x)
}

// shapes holds the forms of a sequence: its shape, the axis of time, and the shape of one vector.
var shapes = map[string]struct {
	whole        func(steps, width int) []int
	axis         int
	vector       func(width int) []int
	toImage, out []int64 // permutations to and from [sample, feature, time]
}{
	"time first": {func(t, f int) []int { return []int{t, 1, f} }, 0, func(f int) []int { return []int{1, f} },
		[]int64{1, 2, 0}, []int64{2, 0, 1}},
	"samples first": {func(t, f int) []int { return []int{1, t, f} }, 1, func(f int) []int { return []int{1, f} },
		[]int64{0, 2, 1}, []int64{0, 2, 1}},
	"flat": {func(t, f int) []int { return []int{t, f} }, 0, func(f int) []int { return []int{f} },
		[]int64{1, 0}, []int64{1, 0}},
}

// axes returns a shape in the form in which onnxtest declares it.
func axes(shape []int) []any {
	out := make([]any, len(shape))
	for i, n := range shape {
		out[i] = n
	}
	return out
}

// samples returns the number of samples side by side in the file.
func (n *Network) samples() int { return max(1, n.Side) }

// whole returns the shape of a sequence in the file.
func (n *Network) whole(steps, width int) []int {
	shape := shapes[n.Form].whole(steps, width)
	if n.Form != "flat" {
		shape[1-shapes[n.Form].axis] = n.samples()
	}
	return shape
}

// vector returns the shape of one vector per sample.
func (n *Network) vector(width int) []int {
	shape := shapes[n.Form].vector(width)
	if n.Form != "flat" {
		shape[0] = n.samples()
	}
	return shape
}

// ONNX returns the network as an ONNX file.
func (n *Network) ONNX() []byte {
	w := &writer{Model: onnxtest.New(opset).Opset(qonnx, 2), prefix: "t"}
	if n.Shared {
		w.pool = map[string]string{}
	}
	form := shapes[n.Form]
	var x []string
	for k, s := range n.Inputs {
		name := fmt.Sprintf("x%d", k)
		dims := axes(n.whole(n.Steps, s.Features))
		if n.Lengths {
			dims[form.axis] = "T"
		}
		w.Input(name, graph.DTypeFloat32, dims...)
		x = append(x, w.quant(name, s.Quantiser))
	}
	switch {
	case n.Counts > 0:
		w.Init(StepCountInput, graph.DTypeInt32, []int{n.samples()}, slices.Repeat([]float64{float64(n.Counts)},
			n.samples())...)
	case n.Counted:
		w.Input(StepCountInput, graph.DTypeInt32, n.samples())
	}
	if n.Front != nil {
		x[0] = w.dense(x[0], n.Front, n.Form)
	}
	last := map[string]string{}
	for i, l := range n.Layers {
		var seq string
		seq, last = w.layer(l, i, x, n)
		x = []string{w.quant(seq, l.Requant)}
	}
	for k, o := range n.Outputs {
		y := x[0]
		switch o.Of {
		case "last":
			y = w.node(w.Node("Gather", y, w.ints(-1)).Int("axis", int64(form.axis)))
		case "h", "c":
			y = last[o.Of]
		}
		if o.Dense != nil {
			y = w.dense(y, o.Dense, "")
		}
		name := fmt.Sprintf("y%d", k)
		w.Node("Identity", y).Out(name)
		w.Output(name, graph.DTypeFloat32)
		w.Proto.Graph.Output[k].Type.GetTensorType().Shape = nil
	}
	return w.Bytes()
}

// dense writes a layer without recurrence.
func (w *writer) dense(x string, d *Dense, form string) string {
	if d.Kernel > 0 {
		s := shapes[form]
		x = w.node(w.Node("Transpose", x).Ints("perm", s.toImage...))
		if form == "flat" {
			x = w.op("Unsqueeze", x, w.ints(0))
		}
		in := []string{x, w.matrix(d.Weights, d.Kernel, false)}
		if d.Bias != nil {
			bias := d.Bias
			for len(bias) < len(d.Weights.Codes) {
				bias = append(bias, bias[0])
			}
			v := w.vector(bias)
			if len(bias) == 1 {
				v = w.constant([]int{1}, float64(bias[0]))
			}
			in = append(in, v)
		}
		half := int64(d.Kernel / 2)
		x = w.node(w.Node("Conv", in...).Ints("kernel_shape", int64(d.Kernel)).Ints("pads", half, half))
	} else if x = w.op("MatMul", x, w.matrix(d.Weights, 0, false)); d.Bias != nil {
		x = w.op("Add", x, w.vector(d.Bias))
	}
	if d.Relu {
		x = w.op("Relu", x)
	}
	x = w.quant(x, d.Quantiser)
	if d.Kernel > 0 {
		if form == "flat" {
			x = w.op("Squeeze", x, w.ints(0))
		}
		x = w.node(w.Node("Transpose", x).Ints("perm", shapes[form].out...))
	}
	return x
}

// layer writes a recurrent layer. It returns its sequence and its last states, with the directions side by side.
func (w *writer) layer(l *Layer, index int, x []string, n *Network) (sequence string, last map[string]string) {
	switch l.Form {
	case "Node":
		return w.operator(l, fmt.Sprintf("l%d", index), x[0], n)
	case "QuantLSTMCell":
		return w.quantCell(l, fmt.Sprintf("l%d", index), x[0], n)
	}
	var seq, h, c []string
	for d, cell := range l.Cells {
		prefix := fmt.Sprintf("l%dd%d", index, d)
		vector := shapes[n.Form].vector
		byH, byC := l.Starts[d].quantisers(cell)
		starts := []string{w.start(prefix+"h", byH, l.Starts[d], l.Starts[d].H, vector(cell.Width()))}
		if cell.Kind == LSTM {
			starts = append(starts, w.start(prefix+"c", byC, l.Starts[d], l.Starts[d].C, vector(cell.Units)))
		}
		way := w.scan
		switch {
		case l.Form == "Unrolled":
			way = w.unrolled
		case l.Form == "Loop" && !l.Reverse[d]: // a Loop's outputs have the order of its iterations
			way = w.loop
		}
		out := way(l, d, prefix, append(starts, x...), n)
		h, seq = append(h, out[0]), append(seq, out[len(out)-1])
		if cell.Kind == LSTM {
			c = append(c, out[1])
		}
	}
	return w.beside(seq), map[string]string{"h": w.beside(h), "c": w.beside(c)}
}

// beside concatenates tensors along the last axis.
func (w *writer) beside(list []string) string {
	switch len(list) {
	case 0:
		return ""
	case 1:
		return list[0]
	}
	return w.node(w.Node("Concat", list...).Int("axis", -1))
}

// start returns the initial value of a state.
func (w *writer) start(name string, q *Quantiser, s Start, codes []int64, shape []int) string {
	if s.Data {
		w.Input(name, graph.DTypeFloat32, axes(shape)...)
		return w.quant(name, q)
	}
	v := make([]float64, graph.ElementCount(shape))
	for u := range v {
		if codes != nil { // the same for all samples
			v[u] = float64(q.constant(codes[u%len(codes)]))
		}
	}
	raw := w.constant(shape, v...)
	if codes != nil {
		return w.quant(raw, q) // the value of a code may not be a float32
	}
	return raw
}

// scan writes one direction as a Scan.
func (w *writer) scan(l *Layer, d int, prefix string, inputs []string, n *Network) (out []string) {
	cell := l.Cells[d]
	states := 1
	if cell.Kind == LSTM {
		states = 2
	}
	b := &body{writer: w.of(onnxtest.New(0), prefix+"b", n.Captured), cell: cell, spelled: l.Spelled}
	b.write(len(inputs)-states, func(width int) []any { return axes(shapes[n.Form].vector(width)) })
	in := make([]int64, len(inputs)-states)
	reverse := make([]int64, len(in))
	for k := range in {
		in[k], reverse[k] = int64(shapes[n.Form].axis), flag(l.Reverse[d])
	}
	for range states + 1 {
		out = append(out, w.fresh())
	}
	w.Node("Scan", inputs...).Name(prefix).Graph("body", b.Model).Int("num_scan_inputs", int64(len(in))).
		Ints("scan_input_axes", in...).Ints("scan_output_axes", in[0]).Ints("scan_input_directions", reverse...).
		Ints("scan_output_directions", reverse[0]).Out(out...)
	return out
}
