// Package onnxtest builds small ONNX models for tests:
//
//	m := onnxtest.New(13).Opset("qonnx.custom_op.general", 2)
//	m.Input("x", graph.DTypeFloat32, "batch", 4).Output("y", graph.DTypeFloat32, "batch", 4)
//	m.Init("s", graph.DTypeFloat32, nil, 0.25).Init("z", graph.DTypeFloat32, nil, 0)
//	m.Init("b", graph.DTypeFloat32, nil, 8)
//	m.Node("Quant", "x", "s", "z", "b").Domain("qonnx.custom_op.general").Int("signed", 1).Out("y")
//	b := m.Bytes()
//
// Mistakes of a test, such as a number of values that does not fit a shape, cause a panic.
//
// In come names, shapes and values; out come the bytes of a model.
package onnxtest

import (
	"encoding/binary"
	"fmt"
	"math"
	"strings"
	"testing"

	"google.golang.org/protobuf/proto"

	"hlsgen/frontend/graph"
	"hlsgen/frontend/onnxio/onnxpb"
	"hlsgen/frontend/operators"
	"hlsgen/frontend/program"
	"hlsgen/internal/diag"
	"hlsgen/internal/num"
)

// A Model is a model, or the body of a subgraph attribute, under construction. Proto has what was built so far.
// Tests of malformed files change it directly.
type Model struct{ Proto *onnxpb.ModelProto }

// New returns an empty model of IR version 8. It imports the given version of ONNX's operators, or none if that is
// 0.
func New(opset int64) *Model {
	m := &Model{&onnxpb.ModelProto{
		IrVersion: new(int64(onnxpb.Version_IR_VERSION)),
		Graph:     &onnxpb.GraphProto{Name: new("test")},
	}}
	if opset > 0 {
		m.Opset("", opset)
	}
	return m
}

// Of returns the model in the contents of an ONNX file. It panics if these are invalid.
func Of(file []byte) *Model {
	m := &Model{new(onnxpb.ModelProto)}
	if err := proto.Unmarshal(file, m.Proto); err != nil {
		panic(err)
	}
	return m
}

// Opset imports a version of an operator domain.
func (m *Model) Opset(domain string, version int64) *Model {
	m.Proto.OpsetImport = append(m.Proto.OpsetImport, &onnxpb.OperatorSetIdProto{Domain: new(domain),
		Version: &version})
	return m
}

// Input declares an input. An axis is an int, a string (the name of a dynamic axis) or nil (a dynamic axis without
// name).
func (m *Model) Input(name string, dtype graph.DType, dims ...any) *Model {
	m.Proto.Graph.Input = append(m.Proto.Graph.Input, value(name, dtype, dims))
	return m
}

// Output declares an output, as Input does.
func (m *Model) Output(name string, dtype graph.DType, dims ...any) *Model {
	m.Proto.Graph.Output = append(m.Proto.Graph.Output, value(name, dtype, dims))
	return m
}

// value returns the declaration of an input or an output; dims are as for Input.
func value(name string, dtype graph.DType, dims []any) *onnxpb.ValueInfoProto {
	shape := new(onnxpb.TensorShapeProto)
	for _, d := range dims {
		dim := new(onnxpb.TensorShapeProto_Dimension)
		switch d := d.(type) {
		case int:
			dim.Value = &onnxpb.TensorShapeProto_Dimension_DimValue{DimValue: int64(d)}
		case string:
			dim.Value = &onnxpb.TensorShapeProto_Dimension_DimParam{DimParam: d}
		case nil:
		default:
			panic(fmt.Sprintf("onnxtest: axis %v of %s is neither int, string nor nil", d, name))
		}
		shape.Dim = append(shape.Dim, dim)
	}
	return &onnxpb.ValueInfoProto{Name: &name, Type: &onnxpb.TypeProto{Value: &onnxpb.TypeProto_TensorType{
		TensorType: &onnxpb.TypeProto_Tensor{ElemType: new(int32(dtype)), Shape: shape},
	}}}
}

// Init adds an initializer; see Tensor.
func (m *Model) Init(name string, dtype graph.DType, shape []int, values ...float64) *Model {
	t := Tensor(dtype, shape, values...)
	t.Name = &name
	m.Proto.Graph.Initializer = append(m.Proto.Graph.Initializer, t)
	return m
}

// External removes the data from an initializer and declares them to be in another file. It does not write that
// file. more adds further pairs of keys and values behind the location.
func (m *Model) External(name, location string, more ...string) *Model {
	for _, t := range m.Proto.Graph.Initializer {
		if t.GetName() == name {
			t.RawData = nil
			keep(t, location, more...)
			return m
		}
	}
	panic("onnxtest: no initializer " + name)
}

// keep declares in which file the data of a tensor are.
func keep(t *onnxpb.TensorProto, location string, more ...string) {
	t.DataLocation = onnxpb.TensorProto_EXTERNAL.Enum()
	t.ExternalData = Props(append([]string{"location", location}, more...)...)
}

// ExternaliseTensors moves the data of a model's tensors, including those in attributes and bodies, from its file to
// other files. These are returned by name: a single one, as torch.onnx.export writes it, or one per tensor.
func ExternaliseTensors(model []byte, one bool) (file []byte, files map[string][]byte) {
	m, files := Of(model), map[string][]byte{}
	out := func(t *onnxpb.TensorProto) {
		if len(t.GetRawData()) == 0 {
			return
		}
		name := "model.onnx.data"
		if !one {
			name = fmt.Sprintf("weights/%d.bin", len(files))
		}
		for len(files[name])%64 != 0 {
			files[name] = append(files[name], 0xa5)
		}
		keep(t, name, "offset", fmt.Sprint(len(files[name])), "length", fmt.Sprint(len(t.RawData)))
		files[name] = append(files[name], t.RawData...)
		t.RawData = nil
	}
	var graph func(g *onnxpb.GraphProto)
	graph = func(g *onnxpb.GraphProto) {
		for _, t := range g.Initializer {
			out(t)
		}
		for _, n := range g.Node {
			for _, a := range n.Attribute {
				if a.G != nil {
					graph(a.G)
				}
				out(a.T)
			}
		}
	}
	graph(m.Proto.Graph)
	return m.Bytes(), files
}

// Function adds a function to a domain. inputs and outputs are names of tensors, separated by spaces. The function
// gets the nodes of body.
func (m *Model) Function(domain, name, inputs, outputs string, body *Model) *onnxpb.FunctionProto {
	f := &onnxpb.FunctionProto{Domain: &domain, Name: &name, Input: strings.Fields(inputs),
		Output: strings.Fields(outputs), Node: body.Proto.Graph.Node,
		OpsetImport: []*onnxpb.OperatorSetIdProto{{Domain: new(""), Version: new(int64(18))}}}
	m.Proto.Functions = append(m.Proto.Functions, f)
	return f
}

// Props returns metadata entries for pairs of a key and a value.
func Props(pairs ...string) (list []*onnxpb.StringStringEntryProto) {
	for i := 0; i < len(pairs); i += 2 {
		list = append(list, &onnxpb.StringStringEntryProto{Key: &pairs[i], Value: &pairs[i+1]})
	}
	return list
}

// Annotate gives a tensor a FINN data type, such as "INT4".
func (m *Model) Annotate(tensor, finnType string) *Model {
	m.Proto.Graph.QuantizationAnnotation = append(m.Proto.Graph.QuantizationAnnotation, &onnxpb.TensorAnnotation{
		TensorName: &tensor,
		QuantParameterTensorNames: []*onnxpb.StringStringEntryProto{
			{Key: new("finn_datatype"), Value: &finnType},
		},
	})
	return m
}

// Bytes returns the model as a file. Equal models have equal bytes.
func (m *Model) Bytes() []byte {
	b, err := proto.MarshalOptions{Deterministic: true}.Marshal(m.Proto)
	if err != nil {
		panic(err)
	}
	return b
}

// A Node is a node under construction, already in its model.
type Node struct{ Proto *onnxpb.NodeProto }

// Node adds a node with the given inputs. An empty string stands for an omitted input.
func (m *Model) Node(op string, inputs ...string) *Node {
	n := &Node{&onnxpb.NodeProto{OpType: &op, Input: inputs}}
	m.Proto.Graph.Node = append(m.Proto.Graph.Node, n.Proto)
	return n
}

// Out sets the outputs. An empty string stands for an omitted output.
func (n *Node) Out(outputs ...string) *Node {
	n.Proto.Output = outputs
	return n
}

// Name sets the node's name.
func (n *Node) Name(name string) *Node {
	n.Proto.Name = &name
	return n
}

// Domain sets the operator's domain.
func (n *Node) Domain(domain string) *Node {
	n.Proto.Domain = &domain
	return n
}

// attr adds an attribute of the given kind, with the value in a.
func (n *Node) attr(name string, kind onnxpb.AttributeProto_AttributeType, a *onnxpb.AttributeProto) *Node {
	a.Name, a.Type = &name, kind.Enum()
	n.Proto.Attribute = append(n.Proto.Attribute, a)
	return n
}

// Int adds an integer attribute.
func (n *Node) Int(name string, v int64) *Node {
	return n.attr(name, onnxpb.AttributeProto_INT, &onnxpb.AttributeProto{I: &v})
}

// Float adds a float attribute.
func (n *Node) Float(name string, v float32) *Node {
	return n.attr(name, onnxpb.AttributeProto_FLOAT, &onnxpb.AttributeProto{F: &v})
}

// Str adds a string attribute.
func (n *Node) Str(name, v string) *Node {
	return n.attr(name, onnxpb.AttributeProto_STRING, &onnxpb.AttributeProto{S: []byte(v)})
}

// Ints adds a list of integers.
func (n *Node) Ints(name string, v ...int64) *Node {
	return n.attr(name, onnxpb.AttributeProto_INTS, &onnxpb.AttributeProto{Ints: v})
}

// Floats adds a list of floats.
func (n *Node) Floats(name string, v ...float32) *Node {
	return n.attr(name, onnxpb.AttributeProto_FLOATS, &onnxpb.AttributeProto{Floats: v})
}

// Strs adds a list of strings.
func (n *Node) Strs(name string, v ...string) *Node {
	a := new(onnxpb.AttributeProto)
	for _, s := range v {
		a.Strings = append(a.Strings, []byte(s))
	}
	return n.attr(name, onnxpb.AttributeProto_STRINGS, a)
}

// Tensor adds a tensor attribute; see the function Tensor.
func (n *Node) Tensor(name string, dtype graph.DType, shape []int, values ...float64) *Node {
	return n.attr(name, onnxpb.AttributeProto_TENSOR, &onnxpb.AttributeProto{T: Tensor(dtype, shape, values...)})
}

// Graph adds a subgraph attribute: the graph of body.
func (n *Node) Graph(name string, body *Model) *Node {
	return n.attr(name, onnxpb.AttributeProto_GRAPH, &onnxpb.AttributeProto{G: body.Proto.Graph})
}

// Tensor returns a constant in raw form. Its type is float32, float64, bool, an integer type of 4 or 8 to 64 bits,
// or a two-byte float type. A nil shape makes a scalar.
func Tensor(dtype graph.DType, shape []int, values ...float64) *onnxpb.TensorProto {
	if graph.ElementCount(shape) != len(values) {
		panic(fmt.Sprintf("onnxtest: %d values for the shape %v", len(values), shape))
	}
	t := &onnxpb.TensorProto{DataType: new(int32(dtype)), RawData: []byte{}}
	for _, d := range shape {
		t.Dims = append(t.Dims, int64(d))
	}
	for i, v := range values {
		// the upper half of a byte
		if nibbles := dtype == graph.DTypeInt4 || dtype == graph.DTypeUInt4; nibbles && i%2 == 1 {
			t.RawData[i/2] = t.RawData[i/2]&0xf | byte(int64(v))<<4
			continue
		}
		t.RawData = appendValue(t.RawData, dtype, v)
	}
	return t
}

// appendValue appends a number of type dtype in raw form.
func appendValue(b []byte, dtype graph.DType, v float64) []byte {
	switch dtype {
	case graph.DTypeFloat32:
		return binary.LittleEndian.AppendUint32(b, math.Float32bits(float32(v)))
	case graph.DTypeFloat64:
		return binary.LittleEndian.AppendUint64(b, math.Float64bits(v))
	case graph.DTypeBool, graph.DTypeInt8, graph.DTypeUInt8, graph.DTypeInt4, graph.DTypeUInt4:
		return append(b, byte(int64(v)))
	case graph.DTypeInt16, graph.DTypeUInt16:
		return binary.LittleEndian.AppendUint16(b, uint16(int64(v)))
	case graph.DTypeInt32, graph.DTypeUInt32:
		return binary.LittleEndian.AppendUint32(b, uint32(int64(v)))
	case graph.DTypeInt64, graph.DTypeUInt64:
		return binary.LittleEndian.AppendUint64(b, uint64(int64(v)))
	}
	if f, ok := num.FloatFormatNamed(dtype.String()); ok { // of two bytes
		bits := uint16(f.PositionOf(math.Abs(v)))
		if math.Signbit(v) {
			bits |= 1 << 15
		}
		return binary.LittleEndian.AppendUint16(b, bits)
	}
	panic("onnxtest: no raw form of " + dtype.String())
}

// Prepare prepares a graph, with the given options or the default ones. It fails the test if the graph is rejected.
func Prepare(t testing.TB, g *graph.Graph, options ...operators.Options) *program.Program {
	t.Helper()
	var d diag.List
	p := operators.Prepare(g, "m", append(options, operators.Options{})[0], &d)
	if p == nil {
		t.Fatal(d.Diags)
	}
	return p
}
