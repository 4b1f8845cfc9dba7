package convert

import (
	"maps"
	"slices"

	"hlsgen/frontend/graph"
	"hlsgen/frontend/operators"
)

// integers converts a graph in the dialect QCDQ to operators on integers. A node without such an operator stays real,
// between a DequantizeLinear and a QuantizeLinear. Products must become operators on integers.
func (s *scope) integers() {
	s.index()
	w := &integerForm{scope: s, readers: map[string][]*graph.Node{}, with: map[*graph.Node][]*graph.Node{},
		after: map[*graph.Node][]*graph.Node{}, codes: map[string]*coded{}}
	dead := s.live()
	for _, n := range s.g.Nodes {
		for _, in := range n.Inputs {
			w.readers[in] = append(w.readers[in], n)
		}
	}
	for _, o := range s.g.Outputs {
		w.readers[o.Name] = append(w.readers[o.Name], nil)
	}
	for _, n := range s.g.Nodes {
		if why := w.node(n); why != nil {
			s.fail(n, why)
		}
	}
	var nodes []*graph.Node
	for _, n := range s.g.Nodes {
		if with, ok := w.with[n]; ok {
			nodes = append(nodes, with...)
		} else {
			nodes = append(nodes, n)
		}
		nodes = append(nodes, w.after[n]...)
	}
	s.g.Nodes = nodes
	s.sweep(dead)
}

// An integerForm is a graph whose operators are being replaced by operators on integers.
type integerForm struct {
	*scope
	readers map[string][]*graph.Node      // nil stands for the outputs of the graph
	with    map[*graph.Node][]*graph.Node // nodes that replace a node
	after   map[*graph.Node][]*graph.Node // nodes that move a node's codes as well
	codes   map[string]*coded             // by name of the real tensor
}

// A coded is a tensor of integers, codes, that stands for a tensor of real numbers: (codes - zero point) * scale.
type coded struct {
	codes string
	q     *quantiser
	dt    graph.DType
	fixed *graph.ConstantTensor // the real numbers, if they are constants
}

// noIntegers lists operators with weights that have no form on integers, with the reason.
var noIntegers = map[string]string{
	"LSTM": "the gates of ONNX' LSTM are real numbers", "GRU": "the gates of ONNX' GRU are real numbers",
	"RNN":           "the sums of ONNX' RNN are real numbers",
	"ConvTranspose": "ONNX has no transposed convolution of integers",
}

// elementwise lists the operators on one or two quantised tensors for which onnxruntime has operators on integers,
// with their number of tensors.
var elementwise = map[string]struct {
	op     string
	inputs int
}{
	"Add": {"QLinearAdd", 2}, "Mul": {"QLinearMul", 2}, "Sigmoid": {"QLinearSigmoid", 1},
	"LeakyRelu": {"QLinearLeakyRelu", 1}, "AveragePool": {"QLinearAveragePool", 1},
	"GlobalAveragePool": {"QLinearGlobalAveragePool", 1},
}

// node replaces a node by an operator on integers, or leaves it unchanged. The refusal says why it can do neither.
func (w *integerForm) node(n *graph.Node) *refusal {
	if operators.IsQuantisationDomain(n.Domain) {
		return refuse("convert the model from before its layout was changed",
			"it is of a domain of QONNX's own: ONNX has "+
				"no such operator on integers")
	}
	if n.Domain != "" {
		return nil
	}
	for _, name := range slices.Sorted(maps.Keys(n.Attrs)) {
		if body := n.Attrs[name].G; body != nil && quantisesWithin(body) {
			return refuse("convert to qcdq, where loops keep their bodies",
				"its body quantises: operators on integers are written outside of loops alone")
		}
	}
	if why := noIntegers[n.Op]; why != "" {
		return refuse("convert to qcdq, which keeps the operator", "%s", why)
	}
	switch n.Op {
	case "MatMul", "Gemm", "Conv":
		p, why := w.product(n)
		if p == nil || why != nil {
			return why
		}
		return p.write()
	}
	if e, ok := elementwise[n.Op]; ok {
		w.linear(n, e.op, e.inputs)
	}
	return nil
}

// quantisesWithin reports whether a loop's body contains quantisers.
func quantisesWithin(body *graph.Graph) bool {
	found := false
	each(body, func(n *graph.Node) { found = found || quantises(n) })
	return found
}

// linear writes op, an operator on integers, in place of a node whose inputs are codes and whose output is quantised.
// It leaves other nodes unchanged. A Relu may lie in between if the quantiser's limits make it superfluous.
func (w *integerForm) linear(n *graph.Node, op string, inputs int) {
	var from []*coded
	for _, in := range n.Inputs {
		c := w.coded(in)
		if c == nil || c.fixed != nil || c.q.count() > 1 {
			return
		}
		from = append(from, c)
	}
	if len(from) != inputs {
		return
	}
	last := w.only(n.Outputs[0])
	if last != nil && last.Op == "Relu" {
		behind := w.only(last.Outputs[0])
		if behind == nil || behind.Op != "QuantizeLinear" {
			return
		}
		q, why := w.readLinear(behind)
		if why != nil || q.count() > 1 || q.zero[0] != w.bounded(behind.Outputs[0], q).lo {
			return
		}
		last = behind
	}
	if last == nil || last.Op != "QuantizeLinear" {
		return
	}
	if q, why := w.readLinear(last); why != nil || q.count() > 1 {
		return
	}
	var args []string
	for _, c := range from {
		scale, zero, _ := w.parameters(c.q, n.Outputs[0], c.dt)
		args = append(args, c.codes, scale, zero)
	}
	args = append(args, last.InputName(1), last.InputName(2))
	on := node(n, microsoft, op, last.Outputs[0], n.Attrs, args...)
	on.Name = n.Name
	w.with[last] = []*graph.Node{on}
	w.rewritten++
}

// only returns the single node that reads a tensor. It returns nil if no node or several read it, or if the tensor is
// an output of the graph.
func (w *integerForm) only(tensor string) *graph.Node {
	if r := w.readers[tensor]; len(r) == 1 {
		return r[0]
	}
	return nil
}

// bounded returns a copy of quantiser q. If a Clip is the only reader of the codes, the copy's limits are also within
// those of the Clip.
func (w *integerForm) bounded(codes string, q *quantiser) *quantiser {
	own := *q
	if clip := w.only(codes); clip != nil && clip.Op == "Clip" {
		if lo, hi, ok := w.bounds(clip); ok {
			own.lo, own.hi = max(own.lo, lo), min(own.hi, hi)
		}
	}
	return &own
}

// coded returns the codes of a real tensor, or nil if it has none. It goes back through nodes that only move elements,
// and writes these for the codes as well.
func (w *integerForm) coded(tensor string) *coded {
	if c, ok := w.codes[tensor]; ok {
		return c
	}
	c := w.find(tensor)
	w.codes[tensor] = c
	return c
}

func (w *integerForm) find(tensor string) *coded {
	n := w.by[tensor]
	if n == nil || n.Domain != "" || len(n.Outputs) != 1 {
		return nil
	}
	if n.Op == "DequantizeLinear" {
		return w.dequantised(n)
	}
	if !moves[n.Op] {
		return nil
	}
	from := w.coded(n.InputName(0))
	if from == nil {
		return nil
	}
	q := *from.q
	if q.count() > 1 {
		perm := n.IntsAttr("perm")
		if n.Op != operators.OpTranspose || perm == nil {
			return nil
		}
		q.axis = slices.Index(perm, int64(q.axis))
	}
	if from.fixed != nil {
		values := w.constant(tensor)
		if values == nil {
			return nil
		}
		return w.weights(tensor, &q, from.dt, values)
	}
	if n.Op == "MaxPool" && q.scale[0] < 0 {
		return nil
	}
	out := w.taken.TakeFreshName(tensor, "codes")
	inputs := append([]string{from.codes}, n.Inputs[1:]...)
	with := node(n, "", n.Op, out, n.Attrs, inputs...)
	w.after[n] = append(w.after[n], with)
	w.by[out] = with
	return &coded{out, &q, from.dt, nil}
}

// dequantised returns the codes that a DequantizeLinear reads. It returns nil if their quantiser cannot be read, or if
// some constant is not the value of a code.
func (w *integerForm) dequantised(n *graph.Node) *coded {
	q, why := w.readLinear(n)
	if why != nil {
		return nil
	}
	dt := graph.DTypeInt32
	if zero := w.constant(n.InputName(2)); zero != nil {
		dt = zero.DType
	}
	if values := w.constant(n.Outputs[0]); values != nil {
		return w.weights(n.Outputs[0], q, dt, values)
	}
	own := *q
	for at := w.by[n.InputName(0)]; at != nil && at.Op == "Clip"; at = w.by[at.InputName(0)] {
		if lo, hi, ok := w.bounds(at); ok {
			own.lo, own.hi = max(own.lo, lo), min(own.hi, hi)
		}
	}
	return &coded{n.InputName(0), &own, dt, nil}
}

// weights returns the codes, of type dt, of a constant real tensor with the given values. It returns nil if some value
// is not that of a code. The codes need no Clip.
func (w *integerForm) weights(tensor string, q *quantiser, dt graph.DType, values *graph.ConstantTensor) *coded {
	list, ok := q.codes(values)
	if !ok {
		return nil
	}
	return &coded{w.put(tensor, "codes", &graph.ConstantTensor{DType: dt, Shape: values.Shape, I: list}), q, dt, values}
}
