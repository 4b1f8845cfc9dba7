package onnxio

import (
	"cmp"
	"encoding/binary"
	"fmt"
	"maps"
	"math"
	"slices"

	"google.golang.org/protobuf/proto"

	"hlsgen/frontend/graph"
	"hlsgen/frontend/onnxio/onnxpb"
)

// EncodeGraph returns the bytes of an ONNX file with the given graph: what ParseGraph reads from a file. values are
// written as the types of inner tensors (value_info). Initializers have the order in which nodes read them. The same
// graph always gives the same bytes. It returns an error for kinds of attributes and constants, or elements of
// constants, that it cannot write.
func EncodeGraph(g *graph.Graph, values []graph.ValueInfo) ([]byte, error) {
	p, err := writeGraph(g)
	if err != nil {
		return nil, err
	}
	for _, v := range values {
		p.ValueInfo = append(p.ValueInfo, writeValue(v))
	}
	m := &onnxpb.ModelProto{Graph: p}
	if g.Producer != "" {
		m.ProducerName = &g.Producer
	}
	for _, domain := range slices.Sorted(maps.Keys(g.Opsets)) {
		m.OpsetImport = append(m.OpsetImport, &onnxpb.OperatorSetIdProto{Domain: new(domain),
			Version: new(g.Opsets[domain])})
	}
	m.IrVersion = new(irVersion(g.Opsets[""]))
	m.MetadataProps = writeMeta(g.Meta)
	return proto.MarshalOptions{Deterministic: true}.Marshal(m)
}

// irVersions lists versions of ONNX's operators, the latest first, each with the version of the file format that came
// with it (onnx/docs/Versioning.md). Before version 4 of the format, initializers also had to be inputs.
var irVersions = []struct{ opset, ir int64 }{
	{23, 11}, {21, 10}, {19, 9}, {15, 8}, {12, 7}, {11, 6}, {10, 5}, {0, 4},
}

func irVersion(opset int64) int64 {
	for _, v := range irVersions {
		if opset >= v.opset {
			return v.ir
		}
	}
	return irVersions[len(irVersions)-1].ir
}

func writeGraph(g *graph.Graph) (*onnxpb.GraphProto, error) {
	p := &onnxpb.GraphProto{Name: new(cmp.Or(g.Name, "graph"))}
	for _, v := range g.Inputs {
		p.Input = append(p.Input, writeValue(v))
	}
	for _, v := range g.Outputs {
		p.Output = append(p.Output, writeValue(v))
	}
	for _, name := range initOrder(g) {
		t, err := writeTensor(g.Init[name])
		if err != nil {
			return nil, fmt.Errorf("the initializer %q: %w", name, err)
		}
		t.Name = new(name)
		p.Initializer = append(p.Initializer, t)
	}
	for _, n := range g.Nodes {
		node, err := writeNode(n)
		if err != nil {
			return nil, fmt.Errorf("%s %q: %w", n.QualifiedOpName(), n.Label(), err)
		}
		p.Node = append(p.Node, node)
	}
	for _, tensor := range slices.Sorted(maps.Keys(g.Annotations)) {
		p.QuantizationAnnotation = append(p.QuantizationAnnotation, &onnxpb.TensorAnnotation{TensorName: new(tensor),
			QuantParameterTensorNames: []*onnxpb.StringStringEntryProto{{Key: new("finn_datatype"),
				Value: new(g.Annotations[tensor])}}})
	}
	return p, nil
}

// initOrder returns the names of the initializers in the order in which nodes read them. Those that only bodies or
// outputs read follow, sorted by name.
func initOrder(g *graph.Graph) (names []string) {
	listed := map[string]bool{}
	add := func(name string) {
		if g.Init[name] != nil && !listed[name] {
			listed[name] = true
			names = append(names, name)
		}
	}
	for _, n := range g.Nodes {
		for _, in := range n.Inputs {
			add(in)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(g.Init)) {
		add(name)
	}
	return names
}

func writeValue(v graph.ValueInfo) *onnxpb.ValueInfoProto {
	p := &onnxpb.ValueInfoProto{Name: new(v.Name)}
	if v.DType == graph.DTypeUndefined {
		return p
	}
	t := &onnxpb.TypeProto_Tensor{ElemType: new(int32(v.DType))}
	if v.Known {
		t.Shape = new(onnxpb.TensorShapeProto)
		for _, d := range v.Dims {
			dim := new(onnxpb.TensorShapeProto_Dimension)
			switch {
			case d.Size >= 0:
				dim.Value = &onnxpb.TensorShapeProto_Dimension_DimValue{DimValue: int64(d.Size)}
			case d.Param != "":
				dim.Value = &onnxpb.TensorShapeProto_Dimension_DimParam{DimParam: d.Param}
			}
			t.Shape.Dim = append(t.Shape.Dim, dim)
		}
	}
	p.Type = &onnxpb.TypeProto{Value: &onnxpb.TypeProto_TensorType{TensorType: t}}
	return p
}

func writeNode(n *graph.Node) (*onnxpb.NodeProto, error) {
	p := &onnxpb.NodeProto{OpType: &n.Op, Input: n.Inputs, Output: n.Outputs}
	if n.Name != "" {
		p.Name = &n.Name
	}
	if n.Domain != "" {
		p.Domain = &n.Domain
	}
	for _, name := range slices.Sorted(maps.Keys(n.Attrs)) {
		a, err := writeAttr(n.Attrs[name])
		if err != nil {
			return nil, fmt.Errorf("its attribute %q: %w", name, err)
		}
		a.Name = new(name)
		p.Attribute = append(p.Attribute, a)
	}
	p.MetadataProps = writeMeta(n.Meta)
	return p, nil
}

func writeMeta(meta map[string]string) (list []*onnxpb.StringStringEntryProto) {
	for _, key := range slices.Sorted(maps.Keys(meta)) {
		list = append(list, &onnxpb.StringStringEntryProto{Key: new(key), Value: new(meta[key])})
	}
	return list
}

func writeAttr(a graph.Attr) (*onnxpb.AttributeProto, error) {
	p := new(onnxpb.AttributeProto)
	for t, kind := range declared {
		if kind == a.Kind {
			p.Type = t.Enum()
		}
	}
	switch a.Kind {
	case graph.AttrKindFloat:
		p.F = new(float32(a.F))
	case graph.AttrKindInt:
		p.I = &a.I
	case graph.AttrKindString:
		p.S = []byte(a.S)
	case graph.AttrKindFloats:
		for _, f := range a.Floats {
			p.Floats = append(p.Floats, float32(f))
		}
	case graph.AttrKindInts:
		p.Ints = a.Ints
	case graph.AttrKindStrings:
		for _, s := range a.Strings {
			p.Strings = append(p.Strings, []byte(s))
		}
	case graph.AttrKindTensor:
		t, err := writeTensor(a.T)
		p.T = t
		return p, err
	case graph.AttrKindGraph:
		g, err := writeGraph(a.G)
		p.G = g
		return p, err
	default:
		return nil, fmt.Errorf("it is of a kind that is not kept")
	}
	return p, nil
}

// writeTensor returns a constant in ONNX's form, with raw data. It rounds real numbers to float32 for that type. It
// returns an error for an element that is no value of another type, or for a type that it cannot write.
func writeTensor(t *graph.ConstantTensor) (*onnxpb.TensorProto, error) {
	e, ok := encodings[t.DType]
	if !ok {
		return nil, fmt.Errorf("constants of type %s are not written", typeName(t.DType))
	}
	p := &onnxpb.TensorProto{DataType: new(int32(t.DType))}
	for _, d := range t.Shape {
		p.Dims = append(p.Dims, int64(d))
	}
	code := e.coder()
	raw := make([]byte, 0, t.Len()*e.bits/8)
	for i := range t.Len() {
		c, ok := code(t, i)
		if !ok {
			return nil, fmt.Errorf("element %d, %v, is no value of type %s", i, t.FloatAt(i), t.DType)
		}
		switch e.bits {
		case 2, 4: // the first element in the lowest bits of a byte
			at := i * e.bits % 8
			if at == 0 {
				raw = append(raw, 0)
			}
			raw[len(raw)-1] |= byte(c&(1<<e.bits-1)) << at
		case 8:
			raw = append(raw, byte(c))
		case 16:
			raw = binary.LittleEndian.AppendUint16(raw, uint16(c))
		case 32:
			raw = binary.LittleEndian.AppendUint32(raw, uint32(c))
		default:
			raw = binary.LittleEndian.AppendUint64(raw, c)
		}
	}
	p.RawData = raw
	return p, nil
}

// coder returns a function that returns the code of a tensor's element i. That function's ok is false if the type has
// no such value.
func (e encoding) coder() func(t *graph.ConstantTensor, i int) (c uint64, ok bool) {
	switch {
	case e.real == nil:
		return func(t *graph.ConstantTensor, i int) (uint64, bool) {
			v := t.IntAt(i)
			return uint64(v), e.bits == 64 || e.integer(uint64(v)&(1<<e.bits-1)) == v
		}
	case e.bits == 64:
		return func(t *graph.ConstantTensor, i int) (uint64, bool) { return math.Float64bits(t.FloatAt(i)), true }
	case e.bits == 32:
		return func(t *graph.ConstantTensor, i int) (uint64, bool) {
			return uint64(math.Float32bits(float32(t.FloatAt(i)))), true
		}
	}
	codes := map[uint64]uint64{}
	for c := range uint64(1) << e.bits {
		codes[math.Float64bits(e.real(c))] = c
	}
	return func(t *graph.ConstantTensor, i int) (uint64, bool) {
		c, ok := codes[math.Float64bits(t.FloatAt(i))]
		return c, ok
	}
}
