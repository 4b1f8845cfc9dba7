package deploy

import (
	"encoding/binary"
	"fmt"
	"math"
	"slices"
	"strings"

	"google.golang.org/protobuf/proto"

	"hlsgen/frontend/onnxio/onnxpb"
)

// opset is the least version of ONNX's operators that the models for the host use, the first in which GreaterOrEqual
// compares integers too. If they contain nodes of the original model, they use its version if that is later.
const opset = 12

// bfloatOpset is the first version whose operators accept bfloat16.
const bfloatOpset = 13

// irVersion is the version of ONNX's file format that came with opset.
const irVersion = 7

// A sketch is an ONNX graph under construction. A new node and its output share a name, which begins with own; no name
// of the original model begins so.
type sketch struct {
	graph       *onnxpb.GraphProto
	own         string
	names       []string           // names in the original model
	outside     *onnxpb.GraphProto // nodes of the original model, or nil
	opset, form int64              // versions of operators, and of the file format
}

// newSketch returns an empty graph of the given name, for tensors of the original model. outside is an ONNX file with
// nodes of it, or nil; a bad file is an error.
func newSketch(name string, of []HostTensor, outside []byte) (sketch, error) {
	s := sketch{graph: &onnxpb.GraphProto{Name: &name}, own: "hlsgen_", opset: opset, form: irVersion}
	for _, t := range of {
		if s.names = append(s.names, t.Name); t.DType == "bfloat16" {
			s.opset = max(s.opset, bfloatOpset)
		}
	}
	if outside != nil {
		var m onnxpb.ModelProto
		if err := proto.Unmarshal(outside, &m); err != nil {
			return s, err
		}
		s.outside, s.form = m.Graph, max(s.form, m.GetIrVersion())
		for _, o := range m.OpsetImport {
			s.opset = max(s.opset, o.GetVersion())
		}
		for _, v := range slices.Concat(s.outside.Input, s.outside.Output) {
			s.names = append(s.names, v.GetName())
		}
		for _, t := range s.outside.Initializer {
			s.names = append(s.names, t.GetName())
		}
		for _, n := range s.outside.Node {
			s.names = append(s.names, append(n.Output, n.GetName())...)
		}
	}
	for slices.ContainsFunc(s.names, func(name string) bool { return strings.HasPrefix(name, s.own) }) {
		s.own += "_"
	}
	return s, nil
}

// graft adds the nodes of the original model, with their constants. There must be some.
func (s sketch) graft() {
	s.graph.Node = append(s.graph.Node, s.outside.Node...)
	s.graph.Initializer = append(s.graph.Initializer, s.outside.Initializer...)
}

// port returns the name that the tensor of a stream has in the graph. It is the stream's name, with own in front if the
// original model uses it.
func (s sketch) port(name string) string {
	if slices.Contains(s.names, name) {
		return s.own + name
	}
	return name
}

// file returns the graph as the contents of an ONNX file.
func (s sketch) file() ([]byte, error) {
	return proto.MarshalOptions{Deterministic: true}.Marshal(&onnxpb.ModelProto{
		IrVersion: new(s.form), ProducerName: new("hlsgen"), Graph: s.graph,
		OpsetImport: []*onnxpb.OperatorSetIdProto{{Domain: new(""), Version: new(s.opset)}}})
}

// node adds a node of the operator op with one output called out, and returns out.
func (s sketch) node(op, out string, in []string, attrs ...*onnxpb.AttributeProto) string {
	s.graph.Node = append(s.graph.Node, &onnxpb.NodeProto{OpType: &op, Name: &out, Input: in, Output: []string{out},
		Attribute: attrs})
	return out
}

// intAttr returns an ONNX attribute with an integer.
func intAttr(name string, v int64) *onnxpb.AttributeProto {
	return &onnxpb.AttributeProto{Name: &name, Type: onnxpb.AttributeProto_INT.Enum(), I: &v}
}

// intsAttr returns an ONNX attribute with a list of integers.
func intsAttr(name string, v []int64) *onnxpb.AttributeProto {
	return &onnxpb.AttributeProto{Name: &name, Type: onnxpb.AttributeProto_INTS.Enum(), Ints: v}
}

// cast adds a conversion of the tensor in to type t, and returns its output's name, out.
func (s sketch) cast(out, in string, t onnxpb.TensorProto_DataType) string {
	return s.node("Cast", out, []string{in}, intAttr("to", int64(t)))
}

// gather adds a Gather of elements index along an axis of the tensor from, and returns its output's name, out. A
// negative axis counts from the end.
func (s sketch) gather(out, from, index string, axis int64) string {
	return s.node("Gather", out, []string{from, index}, intAttr("axis", axis))
}

// A number is an element type that constants of the graph may have.
type number interface{ int64 | float32 | float64 }

// constant adds a constant tensor of rank 1, or of rank 0 for a single element, and returns its name.
func constant[T number](s sketch, name string, v ...T) string {
	t := &onnxpb.TensorProto{Name: &name}
	if len(v) != 1 {
		t.Dims = []int64{int64(len(v))}
	}
	kind := onnxpb.TensorProto_INT64
	for _, x := range v {
		switch x := any(x).(type) {
		case int64:
			t.RawData = binary.LittleEndian.AppendUint64(t.RawData, uint64(x))
		case float32:
			kind, t.RawData = onnxpb.TensorProto_FLOAT, binary.LittleEndian.AppendUint32(t.RawData, math.Float32bits(x))
		case float64:
			kind = onnxpb.TensorProto_DOUBLE
			t.RawData = binary.LittleEndian.AppendUint64(t.RawData, math.Float64bits(x))
		}
	}
	t.DataType = new(int32(kind))
	s.graph.Initializer = append(s.graph.Initializer, t)
	return name
}

// vector adds a constant tensor of rank 1, and returns its name.
func vector[T number](s sketch, name string, v []T) string {
	constant(s, name, v...)
	t := s.graph.Initializer[len(s.graph.Initializer)-1]
	t.Dims = []int64{int64(len(v))}
	return name
}

// A rising table has rows of equal length, each of which rises. The length is a power of two minus one.
type rising[T number] struct {
	row    int
	places int64 // a row's length plus one
	steps  int   // steps of a binary search
	values []T
}

// sorted returns a table with bounds[k] in row k, where each list rises. Rows are filled up with greatest.
func sorted[T number](bounds [][]T, greatest T) rising[T] {
	var t rising[T]
	most := 0
	for _, b := range bounds {
		most = max(most, len(b))
	}
	for t.places = 1; int(t.places) <= most; t.places *= 2 {
		t.steps++
	}
	t.row = int(t.places) - 1
	for _, b := range bounds {
		t.values = append(t.values, b...)
		for range t.row - len(b) {
			t.values = append(t.values, greatest)
		}
	}
	return t
}

// search adds a binary search for the number of values in a row that are at most x, and returns its name. rows gives
// the row of each element along x's last axis; nil selects the first row for all.
func search[T number](s sketch, name, x string, t rising[T], rows []int32) string {
	zero := constant[int64](s, name+"_zero", 0)
	if t.steps == 0 {
		return s.node("Mul", name, []string{s.cast(name+"_any", x, onnxpb.TensorProto_INT64), zero})
	}
	table := vector(s, name+"_table", t.values)
	before := constant[int64](s, name+"_before_0", 0)
	if rows != nil {
		list := make([]int64, len(rows))
		for i, r := range rows {
			list[i] = int64(r) * int64(t.row)
		}
		before = vector(s, name+"_rows", list)
	}
	at := ""
	for k := t.steps - 1; k >= 0; k-- {
		suffix := fmt.Sprintf("_%d", k)
		half := constant(s, name+"_half"+suffix, int64(1)<<k)
		probe := s.node("Add", name+"_probe"+suffix, []string{before, constant(s, name+"_last"+suffix, int64(1)<<k-1)})
		if at != "" {
			probe = s.node("Add", name+"_from"+suffix, []string{probe, at})
		}
		reached := s.node("GreaterOrEqual", name+"_reached"+suffix, []string{x,
			s.gather(name+"_bound"+suffix, table, probe, 0)})
		step := s.node("Where", name+"_step"+suffix, []string{reached, half, zero})
		if at == "" {
			at = step
			continue
		}
		at = s.node("Add", name+"_at"+suffix, []string{at, step})
	}
	return at
}

// pick adds the lookup of element at in a row of a table, and returns its name. Rows have the given number of places.
// rows gives the row of each element, as in search.
func pick[T number](s sketch, name, at string, table []T, places int64, rows []int32) string {
	if rows != nil && len(table) > int(places) {
		list := make([]int64, len(rows))
		for i, r := range rows {
			list[i] = int64(r) * places
		}
		at = s.node("Add", name+"_place", []string{at, vector(s, name+"_begin", list)})
	}
	return s.gather(name, vector(s, name+"_of", table), at, 0)
}

// padded returns rows as one table, with the given number of places each. Rows are filled up with their last value, and
// must not be empty.
func padded[T number](rows [][]T, places int64) (table []T) {
	for _, r := range rows {
		for i := range int(places) {
			table = append(table, r[min(i, len(r)-1)])
		}
	}
	return table
}

// elementTypes maps numpy's names to ONNX's element types.
var elementTypes = map[string]onnxpb.TensorProto_DataType{
	"float32": onnxpb.TensorProto_FLOAT, "float64": onnxpb.TensorProto_DOUBLE, "float16": onnxpb.TensorProto_FLOAT16,
	"bfloat16": onnxpb.TensorProto_BFLOAT16,
	"int8":     onnxpb.TensorProto_INT8, "int16": onnxpb.TensorProto_INT16, "int32": onnxpb.TensorProto_INT32,
	"int64": onnxpb.TensorProto_INT64, "uint8": onnxpb.TensorProto_UINT8, "uint16": onnxpb.TensorProto_UINT16,
	"uint32": onnxpb.TensorProto_UINT32, "uint64": onnxpb.TensorProto_UINT64, "bool": onnxpb.TensorProto_BOOL,
}

// declared returns the declaration of an input or an output of the given type. An axis is a number, or a name if its
// size may vary.
func declared(name string, kind onnxpb.TensorProto_DataType, axes ...any) *onnxpb.ValueInfoProto {
	shape := new(onnxpb.TensorShapeProto)
	for _, a := range axes {
		dim := new(onnxpb.TensorShapeProto_Dimension)
		switch a := a.(type) {
		case int:
			dim.Value = &onnxpb.TensorShapeProto_Dimension_DimValue{DimValue: int64(a)}
		case string:
			dim.Value = &onnxpb.TensorShapeProto_Dimension_DimParam{DimParam: a}
		}
		shape.Dim = append(shape.Dim, dim)
	}
	return &onnxpb.ValueInfoProto{Name: &name, Type: &onnxpb.TypeProto{Value: &onnxpb.TypeProto_TensorType{
		TensorType: &onnxpb.TypeProto_Tensor{ElemType: new(int32(kind)), Shape: shape}}}}
}
