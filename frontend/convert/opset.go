package convert

import (
	"maps"
	"slices"

	"hlsgen/frontend/graph"
)

// leastOpset is the version of ONNX' operators that a dialect needs: from 13 on QuantizeLinear has a scale per channel,
// from 12 on Clip bounds 8-bit integers, from 11 on it has them as inputs.
var leastOpset = map[Dialect]int64{QONNX: 0, QCDQ: 13, QOperator: 13}

// changed are the operators whose form changed since version 9 and up to 13: the first version of the new form, and
// what makes it of the old one. Without that, the model has to be raised by other means.
var changed = map[string]struct {
	since int64
	write func(*scope, *graph.Node) *graph.Node
}{
	"Unsqueeze": {13, axesAsInput}, "Squeeze": {13, axesAsInput}, "Clip": {11, boundsAsInputs},
	"ReduceSum": {13, axesAsInput},
	"Softmax":   {13, nil}, "LogSoftmax": {13, nil}, "Split": {13, nil}, "Dropout": {12, nil}, "Pad": {11, nil},
	"Resize": {11, nil}, "Upsample": {10, nil}, "TopK": {11, nil}, "Slice": {10, nil}, "Loop": {11, nil},
	"Scan": {11, nil}, "If": {11, nil}, "QuantizeLinear": {10, nil}, "DequantizeLinear": {10, nil},
	"ArgMax": {11, nil}, "ArgMin": {11, nil}, "BatchNormalization": {9, nil},
}

// versions raises the version of ONNX' operators to what the dialect needs.
func (s *scope) versions() {
	old, least := s.g.Opsets[""], leastOpset[s.to]
	if old >= least || old == 0 {
		return
	}
	for i, n := range s.g.Nodes {
		c, ok := changed[n.Op]
		if !ok || n.Domain != "" || old >= c.since {
			continue
		}
		if c.write == nil {
			s.fail(n, refuse("raise the model to opset 13 first: onnx.version_converter.convert_version(model, 13)",
				"its form changed in opset %d, and the model, of opset %d, needs 13 for this dialect", c.since, old))
			continue
		}
		s.g.Nodes[i] = c.write(s, n)
	}
	s.g.Opsets[""] = least
}

// axesAsInput has the axes as an input instead of an attribute.
func axesAsInput(s *scope, n *graph.Node) *graph.Node {
	axes, ok := n.Attrs["axes"]
	if !ok {
		return n
	}
	with := *n
	with.Attrs, with.Inputs = maps.Clone(n.Attrs), slices.Clone(n.Inputs)
	delete(with.Attrs, "axes")
	s.index()
	with.Inputs = append(with.Inputs, s.put(n.Outputs[0], "axes", &graph.Tensor{DType: graph.Int64,
		Shape: []int{len(axes.Ints)}, I: axes.Ints}))
	return &with
}

// boundsAsInputs has the bounds as inputs instead of attributes.
func boundsAsInputs(s *scope, n *graph.Node) *graph.Node {
	with := *n
	with.Attrs, with.Inputs = graph.Attrs{}, []string{n.Inputs[0]}
	s.index()
	for _, name := range []string{"min", "max"} {
		bound := ""
		if a, ok := n.Attrs[name]; ok {
			bound = s.reals(n.Outputs[0], name, a.F)
		}
		with.Inputs = append(with.Inputs, bound)
	}
	for len(with.Inputs) > 0 && with.Inputs[len(with.Inputs)-1] == "" {
		with.Inputs = with.Inputs[:len(with.Inputs)-1]
	}
	return &with
}
