package onnxio

import (
	"fmt"
	"maps"
	"slices"

	"hlsgen/frontend/graph"
	"hlsgen/frontend/onnxio/onnxpb"
	"hlsgen/frontend/operators"
)

// A read is one use of a tensor: its name, and the node or place that uses it.
type read struct {
	tensor string
	by     subject
}

// graph reads a graph, or the body of a subgraph attribute. at describes its place for diagnostics. It returns the uses
// of tensors that p does not define; in a subgraph, these belong to the graphs around it.
func (r *reader) graph(p *onnxpb.GraphProto, at string) (*graph.Graph, []read) {
	g := &graph.Graph{
		Name:        p.GetName(),
		Init:        make(map[string]*graph.ConstantTensor),
		Opsets:      r.opsets,
		Annotations: make(map[string]string),
		Meta:        make(map[string]string),
	}
	given := r.constants(g, p, at)
	r.values(g, p, given, at)
	for _, a := range p.GetQuantizationAnnotation() {
		for _, e := range a.GetQuantParameterTensorNames() {
			if e.GetKey() == "finn_datatype" {
				g.Annotations[a.GetTensorName()] = e.GetValue()
			}
		}
	}
	captured := make([][]read, len(p.GetNode()))
	for i, n := range p.GetNode() {
		node, reads := r.node(n, i, at)
		g.Nodes = append(g.Nodes, node)
		captured[i] = reads
	}
	return g, r.link(g, given, captured, at)
}

// constants decodes the initializers of p into g, and reports faults. It returns the set of all their names.
func (r *reader) constants(g *graph.Graph, p *onnxpb.GraphProto, at string) map[string]bool {
	given := make(map[string]bool)
	for _, t := range p.GetInitializer() {
		name := t.GetName()
		v, f := r.tensor(t)
		switch {
		case name == "":
			f = damaged("an initializer has no name")
		case given[name]:
			f = malformed("give each initializer a name of its own", "the name stands for two initializers")
		}
		given[name] = true
		if f != nil {
			r.report(subject{at: at}, f.prefix("initializer %s", quote(name)))
		} else if v != nil {
			g.Init[name] = v
		}
	}
	for _, s := range p.GetSparseInitializer() {
		name := s.GetValues().GetName()
		given[name] = true
		r.report(subject{at: at}, unsupported("store it as a dense tensor", "initializer %s is sparse", quote(name)))
	}
	return given
}

// values reads the inputs and outputs of p into g, and adds the inputs to given. An input that is in given already has
// an initializer, and is thus a parameter and not an input of g.
func (r *reader) values(g *graph.Graph, p *onnxpb.GraphProto, given map[string]bool, at string) {
	inputs := make(map[string]bool)
	for _, v := range p.GetInput() {
		name := v.GetName()
		if name == "" || inputs[name] {
			r.report(subject{at: at}, malformed("give each input a name of its own",
				"the input name %s is empty or stands for two inputs", quote(name)))
			continue
		}
		inputs[name] = true
		if !given[name] {
			g.Inputs = append(g.Inputs, r.value(v, "input", at))
		}
	}
	maps.Copy(given, inputs)
	for _, v := range p.GetOutput() {
		if v.GetName() == "" {
			r.report(subject{at: at}, damaged("an output has no name"))
			continue
		}
		g.Outputs = append(g.Outputs, r.value(v, "output", at))
	}
}

// value reads the declaration of an input or output and reports faults; what says which of the two it is. A missing
// type or shape is left open, since subgraphs often have none.
func (r *reader) value(p *onnxpb.ValueInfoProto, what, at string) graph.ValueInfo {
	v := graph.ValueInfo{Name: p.GetName()}
	bad := func(f *fault) graph.ValueInfo {
		r.report(subject{at: at}, f.prefix("%s %s", what, quote(v.Name)))
		return v
	}
	if p.GetType().GetValue() == nil {
		return v
	}
	t := p.GetType().GetTensorType()
	if t == nil {
		return bad(unsupported("hlsgen takes and makes dense tensors only", "it is %s", typeKind(p.GetType())))
	}
	if v.DType = graph.DType(t.GetElemType()); v.DType.String() == "unknown" {
		return bad(unsupported("", "element type %s is not known", typeName(v.DType)))
	}
	if v.Known = t.Shape != nil; !v.Known {
		return v
	}
	if len(t.Shape.GetDim()) > maxRank {
		return bad(tooLarge("it has %d axes; at most %d are read", len(t.Shape.GetDim()), maxRank))
	}
	n := int64(1)
	for _, d := range t.Shape.GetDim() {
		dim := graph.Dim{Size: -1, Param: d.GetDimParam()}
		// Some exporters write a dynamic axis as a negative size.
		if _, fixed := d.GetValue().(*onnxpb.TensorShapeProto_Dimension_DimValue); fixed && d.GetDimValue() >= 0 {
			size := d.GetDimValue()
			if size > maxElements || n > maxElements/max(size, 1) {
				return bad(tooLarge("its axes multiply to more than %d elements", maxElements))
			}
			n *= max(size, 1)
			dim.Size = int(size)
		}
		v.Dims = append(v.Dims, dim)
	}
	return v
}

// typeKind describes a type that is not a dense tensor, for use in a message: "a sequence".
func typeKind(t *onnxpb.TypeProto) string {
	switch t.GetValue().(type) {
	case *onnxpb.TypeProto_SequenceType:
		return "a sequence"
	case *onnxpb.TypeProto_MapType:
		return "a map"
	case *onnxpb.TypeProto_OptionalType:
		return "an optional value"
	case *onnxpb.TypeProto_SparseTensorType:
		return "a sparse tensor"
	}
	return "of an unknown kind"
}

// node reads the node with the given index in its graph. It also returns the uses of tensors from outside by the node's
// subgraphs.
func (r *reader) node(p *onnxpb.NodeProto, index int, at string) (*graph.Node, []read) {
	n := &graph.Node{
		Index:   index,
		Name:    p.GetName(),
		Op:      p.GetOpType(),
		Domain:  canonical(p.GetDomain()),
		Version: r.versions[p],
		Inputs:  p.GetInput(),
		Outputs: p.GetOutput(),
		Attrs:   make(map[string]graph.Attr),
	}
	for _, e := range p.GetMetadataProps() {
		if n.Meta == nil {
			n.Meta = make(map[string]string, len(p.GetMetadataProps()))
		}
		n.Meta[e.GetKey()] = e.GetValue()
	}
	here := subjectOf(n, at)
	if n.Op == "" {
		r.report(here, damaged("the node names no operator"))
	}
	if n.Domain == "" {
		r.core = true
	}
	if n.Domain == operators.InternalDomain {
		r.report(here, unsupported("export the model again: files hold no such operators",
			"the operator domain %s is the one that hlsgen uses inside", quote(n.Domain)))
	}
	var captured []read
	for _, a := range p.GetAttribute() {
		name := a.GetName()
		if _, twice := n.Attrs[name]; twice || name == "" {
			r.report(here, damaged("the attribute name %s is empty or stands for two attributes",
				quote(name)))
			continue
		}
		attr, reads, f := r.attr(a, here)
		if f != nil {
			r.report(here, f.prefix("attribute %s", quote(name)))
		}
		n.Attrs[name] = attr
		captured = append(captured, reads...)
	}
	return n, captured
}

func subjectOf(n *graph.Node, at string) subject {
	return subject{node: n.Label(), op: n.QualifiedOpName(), at: fmt.Sprintf("%s, node %d", at, n.Index)}
}

// attr reads an attribute, and the uses of tensors from outside if it is a graph. An attribute of a kind that
// graph.Attr cannot hold becomes one of kind AttrKindUnknown.
func (r *reader) attr(p *onnxpb.AttributeProto, here subject) (graph.Attr, []read, *fault) {
	if p.GetRefAttrName() != "" {
		return graph.Attr{}, nil,
			damaged("it refers to an attribute of a function, outside of a function")
	}
	a := graph.Attr{Kind: attrKind(p)}
	switch a.Kind {
	case graph.AttrKindFloat:
		a.F = float64(p.GetF())
	case graph.AttrKindInt:
		a.I = p.GetI()
	case graph.AttrKindString:
		a.S = string(p.GetS())
	case graph.AttrKindFloats:
		a.Floats = make([]float64, len(p.GetFloats()))
		for i, f := range p.GetFloats() {
			a.Floats[i] = float64(f)
		}
	case graph.AttrKindInts:
		a.Ints = p.GetInts()
	case graph.AttrKindStrings:
		for _, s := range p.GetStrings() {
			a.Strings = append(a.Strings, string(s))
		}
	case graph.AttrKindTensor:
		if p.T == nil {
			return a, nil, damaged("it holds no tensor")
		}
		t, f := r.tensor(p.T)
		a.T = t
		return a, nil, f
	case graph.AttrKindGraph:
		if p.G == nil {
			return a, nil, damaged("it holds no graph")
		}
		g, unmet := r.graph(p.G, fmt.Sprintf("%s, attribute %s", here.at, quote(p.GetName())))
		a.G = g
		return a, unmet, nil
	}
	return a, nil, nil
}

// declared maps the kinds of attributes that ONNX declares to those of package graph. It lacks the kinds that package
// graph cannot hold.
var declared = map[onnxpb.AttributeProto_AttributeType]graph.AttrKind{
	onnxpb.AttributeProto_FLOAT: graph.AttrKindFloat, onnxpb.AttributeProto_FLOATS: graph.AttrKindFloats,
	onnxpb.AttributeProto_INT: graph.AttrKindInt, onnxpb.AttributeProto_INTS: graph.AttrKindInts,
	onnxpb.AttributeProto_STRING: graph.AttrKindString, onnxpb.AttributeProto_STRINGS: graph.AttrKindStrings,
	onnxpb.AttributeProto_TENSOR: graph.AttrKindTensor, onnxpb.AttributeProto_GRAPH: graph.AttrKindGraph,
}

// attrKind returns the declared kind, or AttrKindUnknown if package graph has no such kind. In IR version 1, which had
// no declaration, it returns the kind of the field in use.
func attrKind(p *onnxpb.AttributeProto) graph.AttrKind {
	if p.GetType() != onnxpb.AttributeProto_UNDEFINED {
		return declared[p.GetType()]
	}
	inUse := []bool{p.F != nil, p.I != nil, p.S != nil, p.T != nil, p.G != nil, p.Floats != nil, p.Ints != nil,
		p.Strings != nil}
	return graph.AttrKind(1 + slices.Index(inUse, true)) // the kinds have this order
}
