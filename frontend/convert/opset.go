package convert

import (
	"maps"
	"slices"
	"strings"

	"hlsgen/frontend/graph"
)

// leastOpset is the least version of ONNX's operators that each dialect needs. From 13 on, QuantizeLinear has a scale
// per channel. From 12 on, Clip supports 8-bit integers; from 11 on, its bounds are inputs.
var leastOpset = map[Dialect]int64{DialectQONNX: 0, DialectQCDQ: 13, DialectQOperator: 13}

// changed lists the operators whose form changed between versions 9 and 13 of ONNX's operators, with the first version
// of the new form. write converts a node from the old form. If write is nil, the user must raise the model by other
// means.
var changed = map[string]struct {
	since int64
	write func(*scope, *graph.Node) *graph.Node
}{
	"Unsqueeze": {13, axesAsInput}, "Squeeze": {13, axesAsInput}, "ReduceSum": {13, axesAsInput},
	"Clip": {11, boundsAsInputs}, "Softmax": {13, lastAxis}, "LogSoftmax": {13, lastAxis},
	"Split": {13, nil}, "Dropout": {12, nil}, "Pad": {11, nil}, "Resize": {11, nil}, "Upsample": {10, nil},
	"TopK": {10, nil}, "Slice": {10, nil}, "BatchNormalization": {9, nil},
}

// axesAreInputs is the version of ONNX's operators from which on the axes of every reduction are an input.
const axesAreInputs = 18

// oneVersion reports whether all nodes have the form of the model's own version of ONNX's operators, as they must in
// the converted file. It adds an error for each node of a function that imports another version in which the operator
// has another form.
func (c *conversion) oneVersion(g *graph.Graph) bool {
	ok := true
	for _, n := range g.Nodes {
		model := g.Opsets[n.Domain]
		since := changed[n.Op].since
		if strings.HasPrefix(n.Op, "Reduce") {
			since = max(since, axesAreInputs)
		}
		if n.Version != 0 && n.Domain == "" && (n.Version < since) != (model < since) {
			ok = false
			c.fail(n, refuse("export the model with one version for all",
				"it is of a function that imports version %d of ONNX' operators, the model version %d, and its form "+
					"changed in between", n.Version, model))
		}
	}
	return ok
}

// versions raises the version of ONNX's operators to that which the dialect needs, and converts nodes of changed
// operators. It adds an error for each node that it cannot convert.
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
		var with *graph.Node
		if c.write != nil {
			with = c.write(s, n)
		}
		if with == nil {
			s.fail(n, refuse("raise the model to opset 13 first: onnx.version_converter.convert_version(model, 13)",
				"its form changed in opset %d, and the model, of opset %d, needs 13 for this dialect", c.since, old))
			continue
		}
		s.g.Nodes[i] = with
	}
	s.g.Opsets[""] = least
}

// axesAsInput returns a copy of the node with its attribute axes turned into an input, or the node itself if it has
// none.
func axesAsInput(s *scope, n *graph.Node) *graph.Node {
	axes, ok := n.Attrs["axes"]
	if !ok {
		return n
	}
	with := *n
	with.Attrs, with.Inputs = maps.Clone(n.Attrs), slices.Clone(n.Inputs)
	delete(with.Attrs, "axes")
	s.index()
	with.Inputs = append(with.Inputs, s.put(n.Outputs[0], "axes", &graph.ConstantTensor{DType: graph.DTypeInt64,
		Shape: []int{len(axes.Ints)}, I: axes.Ints}))
	return &with
}

// lastAxis returns a softmax over the last axis with the axis named, as version 13 wants it. It returns nil if the
// softmax is over several axes, which version 13 does not support, or if the shape is not known.
func lastAxis(s *scope, n *graph.Node) *graph.Node {
	shape, known := s.shape(n.InputName(0))
	axis := int(n.IntAttrOr("axis", 1))
	if axis < 0 {
		axis += len(shape)
	}
	if !known || axis != len(shape)-1 {
		return nil
	}
	with := *n
	with.Attrs = maps.Clone(n.Attrs)
	if with.Attrs == nil {
		with.Attrs = graph.AttributesByName{}
	}
	with.Attrs["axis"] = graph.NewIntAttr(axis)
	return &with
}

// boundsAsInputs returns a Clip whose bounds, which were attributes, are inputs.
func boundsAsInputs(s *scope, n *graph.Node) *graph.Node {
	with := *n
	with.Attrs, with.Inputs = graph.AttributesByName{}, []string{n.Inputs[0]}
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
