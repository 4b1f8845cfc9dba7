package onnxio

import (
	"reflect"
	"strings"
	"testing"

	"hlsgen/frontend/graph"
	"hlsgen/frontend/onnxio/onnxpb"
	"hlsgen/internal/diag"
	"hlsgen/internal/testsupport/onnxtest"
)

// mustRead reads the bytes of a model without faults.
func mustRead(t *testing.T, b []byte) *graph.Graph {
	t.Helper()
	var d diag.List
	g := ParseGraph("m.onnx", b, &d)
	if g == nil || len(d.Diags) != 0 {
		t.Fatalf("not read: %v", d.Diags)
	}
	return g
}

// quantModel returns a model that uses most features of the format.
func quantModel() *onnxtest.Model {
	m := onnxtest.New(0).Opset("ai.onnx", 14).Opset("qonnx.custom_op.general", 2)
	m.Proto.ProducerName, m.Proto.ProducerVersion = new("pytorch"), new("2.1.0")
	m.Proto.MetadataProps = []*onnxpb.StringStringEntryProto{{Key: new("author"), Value: new("us")}}
	m.Input("x", graph.DTypeFloat32, "batch", 4, nil).Output("y", graph.DTypeFloat32)
	// a parameter that is listed as an input, too
	m.Input("s", graph.DTypeFloat32).Init("s", graph.DTypeFloat32, nil, 0.25)
	m.Init("z", graph.DTypeFloat32, nil, 0).Init("b", graph.DTypeFloat32, nil, 8)
	m.Annotate("x", "INT8")
	m.Node("Quant", "x", "s", "z", "b").Domain("qonnx.custom_op.general").Name("/q/Quant.0").
		Int("signed", 1).Str("rounding_mode", "ROUND").Out("q")
	m.Node("Clip", "q", "", "max").Domain("ai.onnx").Out("y")
	m.Node("Constant").Tensor("value", graph.DTypeFloat32, nil, 6).Out("max")
	m.Node("Pad", "y").Ints("pads", 0, -1).Floats("f", 0.1).Strs("s", "a", "b").Float("v", 0.1).Out("", "dead")
	return m
}

func TestRead(t *testing.T) {
	t.Parallel()
	g := mustRead(t, quantModel().Bytes())
	if want := []graph.ValueInfo{{Name: "x", DType: graph.DTypeFloat32, Known: true,
		Dims: []graph.Dim{{Size: -1, Param: "batch"}, {Size: 4}, {Size: -1}}}}; !reflect.DeepEqual(g.Inputs, want) {
		t.Errorf("inputs %+v, want %+v", g.Inputs, want)
	}
	if want := []graph.ValueInfo{{Name: "y", DType: graph.DTypeFloat32, Known: true}}; !reflect.DeepEqual(g.Outputs,
		want) {
		t.Errorf("outputs %+v, want %+v", g.Outputs, want)
	}
	if want := map[string]int64{"": 14, "qonnx.custom_op.general": 2}; !reflect.DeepEqual(g.Opsets, want) {
		t.Errorf("opsets %v, want %v", g.Opsets, want)
	}
	if g.Name != "test" || g.Producer != "pytorch 2.1.0" || g.Meta["author"] != "us" || len(g.Meta) != 1 ||
		g.Annotations["x"] != "INT8" || len(g.Annotations) != 1 {
		t.Errorf("name %q, producer %q, metadata %v, annotations %v", g.Name, g.Producer, g.Meta, g.Annotations)
	}
	if s := g.Init["s"]; len(g.Init) != 3 || s == nil || len(s.Shape) != 0 || s.F[0] != 0.25 {
		t.Errorf("initializers %v", g.Init)
	}
	value := &graph.ConstantTensor{DType: graph.DTypeFloat32, Shape: []int{}, F: []float64{6}}
	want := []*graph.Node{
		{Index: 0, Name: "/q/Quant.0", Op: "Quant", Domain: "qonnx.custom_op.general",
			Inputs: []string{"x", "s", "z", "b"}, Outputs: []string{"q"},
			Attrs: map[string]graph.Attr{"signed": {Kind: graph.AttrKindInt, I: 1},
				"rounding_mode": {Kind: graph.AttrKindString, S: "ROUND"}}},
		{Index: 2, Op: "Constant", Outputs: []string{"max"},
			Attrs: map[string]graph.Attr{"value": {Kind: graph.AttrKindTensor, T: value}}},
		{Index: 1, Op: "Clip", Inputs: []string{"q", "", "max"}, Outputs: []string{"y"},
			Attrs: map[string]graph.Attr{}},
		{Index: 3, Op: "Pad", Inputs: []string{"y"}, Outputs: []string{"", "dead"}, Attrs: map[string]graph.Attr{
			"pads": {Kind: graph.AttrKindInts, Ints: []int64{0, -1}},
			"f":    {Kind: graph.AttrKindFloats, Floats: []float64{float64(float32(0.1))}},
			"s":    {Kind: graph.AttrKindStrings, Strings: []string{"a", "b"}},
			"v":    {Kind: graph.AttrKindFloat, F: float64(float32(0.1))},
		}},
	}
	if !reflect.DeepEqual(g.Nodes, want) {
		for i, n := range g.Nodes {
			t.Errorf("node %d: %+v", i, *n)
		}
	}
}

func TestValues(t *testing.T) {
	t.Parallel()
	tensorType := func(shape *onnxpb.TensorShapeProto) *onnxpb.TypeProto {
		tensor := &onnxpb.TypeProto_Tensor{ElemType: new(int32(3)), Shape: shape}
		return &onnxpb.TypeProto{Value: &onnxpb.TypeProto_TensorType{TensorType: tensor}}
	}
	dims := func(sizes ...int64) *onnxpb.TensorShapeProto {
		s := new(onnxpb.TensorShapeProto)
		for _, d := range sizes {
			s.Dim = append(s.Dim,
				&onnxpb.TensorShapeProto_Dimension{Value: &onnxpb.TensorShapeProto_Dimension_DimValue{DimValue: d}})
		}
		return s
	}
	for _, c := range []struct {
		name string
		typ  *onnxpb.TypeProto
		want graph.ValueInfo
		code diag.Code // of the error, if one is expected
	}{
		{"no type", nil, graph.ValueInfo{Name: "x"}, ""},
		{"empty type", &onnxpb.TypeProto{}, graph.ValueInfo{Name: "x"}, ""},
		{"no shape", tensorType(nil), graph.ValueInfo{Name: "x", DType: graph.DTypeInt8}, ""},
		{"scalar", tensorType(dims()), graph.ValueInfo{Name: "x", DType: graph.DTypeInt8, Known: true}, ""},
		{"negative size", tensorType(dims(-1, 2)), graph.ValueInfo{Name: "x", DType: graph.DTypeInt8, Known: true,
			Dims: []graph.Dim{{Size: -1}, {Size: 2}}}, ""},
		{"empty axis", tensorType(dims(0, 2)), graph.ValueInfo{Name: "x", DType: graph.DTypeInt8, Known: true,
			Dims: []graph.Dim{{Size: 0}, {Size: 2}}}, ""},
		{"largest", tensorType(dims(1<<14, 1<<14)), graph.ValueInfo{Name: "x", DType: graph.DTypeInt8, Known: true,
			Dims: []graph.Dim{{Size: 1 << 14}, {Size: 1 << 14}}}, ""},
		{"too large", tensorType(dims(1<<14, 1<<15)), graph.ValueInfo{}, diag.ModelTooLarge},
		{"overflowing", tensorType(dims(1<<62, 4)), graph.ValueInfo{}, diag.ModelTooLarge},
		{"rank 65", tensorType(dims(make([]int64, 65)...)), graph.ValueInfo{}, diag.ModelTooLarge},
		{"sequence", &onnxpb.TypeProto{Value: &onnxpb.TypeProto_SequenceType{}}, graph.ValueInfo{}, diag.OpUnsupported},
		{"map", &onnxpb.TypeProto{Value: &onnxpb.TypeProto_MapType{}}, graph.ValueInfo{}, diag.OpUnsupported},
		{"optional", &onnxpb.TypeProto{Value: &onnxpb.TypeProto_OptionalType{}}, graph.ValueInfo{}, diag.OpUnsupported},
		{"sparse", &onnxpb.TypeProto{Value: &onnxpb.TypeProto_SparseTensorType{}}, graph.ValueInfo{},
			diag.OpUnsupported},
	} {
		m := onnxtest.New(13).Output("y", graph.DTypeInt8)
		m.Proto.Graph.Input = []*onnxpb.ValueInfoProto{{Name: new("x"), Type: c.typ}}
		m.Node("Relu", "x").Out("y")
		if c.code != "" {
			checkFault(t, c.name, m.Bytes(), c.code)
			continue
		}
		g := mustRead(t, m.Bytes())
		if len(g.Inputs) != 1 || !reflect.DeepEqual(g.Inputs[0], c.want) {
			t.Errorf("%s: %+v, want %+v", c.name, g.Inputs, c.want)
		}
	}
}

// TestOldFiles checks files of IR version 1, which declare no kinds of attributes, and of versions below 3, which
// declare no opsets.
func TestOldFiles(t *testing.T) {
	t.Parallel()
	m := onnxtest.New(0).Input("x", graph.DTypeFloat32).Output("y", graph.DTypeFloat32)
	m.Proto.IrVersion = new(int64(1))
	body := onnxtest.New(0).Output("x", graph.DTypeFloat32)
	n := m.Node("Op", "x").Int("i", 2).Float("f", 2).Str("s", "").Ints("is", 2).Floats("fs", 2).Strs("ss", "a").
		Tensor("t", graph.DTypeInt8, nil, 2).Graph("g", body).Int("none", 0).Out("y")
	kinds := []graph.AttrKind{graph.AttrKindInt, graph.AttrKindFloat, graph.AttrKindString, graph.AttrKindInts,
		graph.AttrKindFloats,
		graph.AttrKindStrings, graph.AttrKindTensor, graph.AttrKindGraph, graph.AttrKindUnknown}
	for i, a := range n.Proto.Attribute {
		a.Type = nil
		if kinds[i] == graph.AttrKindUnknown {
			a.I = nil
		}
	}
	n.Proto.Attribute[2].S = []byte{}
	g := mustRead(t, m.Bytes())
	for i, a := range n.Proto.Attribute {
		if got := g.Nodes[0].Attrs[a.GetName()].Kind; got != kinds[i] {
			t.Errorf("attribute %s has kind %d, want %d", a.GetName(), got, kinds[i])
		}
	}
	if g.Opsets[""] != 1 {
		t.Errorf("opsets %v, want version 1", g.Opsets)
	}
}

func TestSubgraphs(t *testing.T) {
	t.Parallel()
	inner := onnxtest.New(0).Output("z", graph.DTypeFloat32)
	inner.Node("Add", "late", "local").Out("z")
	body := onnxtest.New(0).Input("i", graph.DTypeInt64).Input("c", graph.DTypeBool).Output("c",
		graph.DTypeBool).Output("w",
		graph.DTypeFloat32)
	body.Init("k", graph.DTypeFloat32, []int{1}, 3)
	body.Node("If", "c").Graph("then_branch", inner).Out("w")
	body.Node("Mul", "x", "k").Out("local")
	m := onnxtest.New(13).Input("x", graph.DTypeFloat32, 1).Output("y", graph.DTypeFloat32, 1)
	m.Node("Loop", "", "").Name("loop").Graph("body", body).Out("y")
	m.Node("Relu", "x").Out("late")
	g := mustRead(t, m.Bytes())
	// The loop reads "late" only from a subgraph two levels down, but must still follow the node that writes it.
	if g.Nodes[0].Op != "Relu" || g.Nodes[1].Op != "Loop" {
		t.Errorf("order %s, %s; want Relu, Loop", g.Nodes[0].Op, g.Nodes[1].Op)
	}
	b := g.Nodes[1].Attrs["body"].G
	if len(b.Inputs) != 2 || len(b.Outputs) != 2 || b.Init["k"] == nil || b.Opsets[""] != 13 {
		t.Errorf("body: inputs %v, outputs %v, initializers %v, opsets %v", b.Inputs, b.Outputs, b.Init, b.Opsets)
	}
	if b.Nodes[0].Op != "Mul" || b.Nodes[1].Op != "If" || b.Nodes[1].Index != 0 {
		t.Errorf("body: order %s, %s; want Mul, If", b.Nodes[0].Op, b.Nodes[1].Op)
	}
	if z := b.Nodes[1].Attrs["then_branch"].G; len(z.Nodes) != 1 || z.Nodes[0].Op != "Add" {
		t.Errorf("branch: %+v", z)
	}
}

func TestModelFaults(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name   string
		change func(m *onnxtest.Model)
		code   diag.Code
		says   string // must be part of the message, the place or the hint
	}{
		{"no graph", func(m *onnxtest.Model) { m.Proto.Graph = nil }, diag.ModelMalformed, "no graph"},
		{"no output", func(m *onnxtest.Model) { m.Proto.Graph.Output = nil }, diag.ModelMalformed, "no output"},
		{"no opset", func(m *onnxtest.Model) { m.Proto.OpsetImport = nil }, diag.ModelMalformed, "does not import"},
		{"opset 0", func(m *onnxtest.Model) { m.Opset("a.b", 0) }, diag.ModelMalformed, `domain "a.b"`},
		{"two opsets", func(m *onnxtest.Model) { m.Opset("", 9) }, diag.ModelMalformed, "versions 14 and 9"},
		{"initializer twice", func(m *onnxtest.Model) { m.Init("z", graph.DTypeFloat32, nil, 1) }, diag.ModelMalformed,
			`initializer "z"`},
		{"initializer without name", func(m *onnxtest.Model) { m.Init("", graph.DTypeFloat32, nil, 1) },
			diag.ModelMalformed,
			"no name"},
		{"input twice", func(m *onnxtest.Model) { m.Input("x", graph.DTypeFloat32) }, diag.ModelMalformed,
			`input name "x"`},
		{"input without name", func(m *onnxtest.Model) { m.Input("", graph.DTypeFloat32) }, diag.ModelMalformed,
			"input name"},
		{"output without name", func(m *onnxtest.Model) { m.Output("", graph.DTypeFloat32) }, diag.ModelMalformed,
			"output has no name"},
		{"unknown element type", func(m *onnxtest.Model) { m.Input("n", 99) }, diag.OpUnsupported, "number 99"},
		{"no operator", func(m *onnxtest.Model) { m.Node("", "x").Out("n") }, diag.ModelMalformed, "node 4"},
		{"attribute twice", func(m *onnxtest.Model) { m.Node("Op", "x").Int("a", 1).Int("a", 1).Out("n") },
			diag.ModelMalformed, `"a"`},
		{"attribute without name", func(m *onnxtest.Model) { m.Node("Op", "x").Int("", 1).Out("n") },
			diag.ModelMalformed, "attribute name"},
		{"attribute by reference", func(m *onnxtest.Model) {
			m.Node("Op", "x").Int("a", 1).Out("n").Proto.Attribute[0].RefAttrName = new("b")
		}, diag.ModelMalformed, `attribute "a"`},
		{"tensor attribute without tensor", func(m *onnxtest.Model) {
			m.Node("Op", "x").Tensor("a", graph.DTypeInt8, nil, 1).Out("n").Proto.Attribute[0].T = nil
		}, diag.ModelMalformed, "no tensor"},
		{"graph attribute without graph", func(m *onnxtest.Model) {
			m.Node("Op", "x").Graph("a", m).Out("n").Proto.Attribute[0].G = nil
		}, diag.ModelMalformed, "no graph"},
		{"sparse initializer", func(m *onnxtest.Model) {
			m.Proto.Graph.SparseInitializer = []*onnxpb.SparseTensorProto{
				{Values: &onnxpb.TensorProto{Name: new("sp")}}}
		}, diag.OpUnsupported, `initializer "sp" is sparse`},
		{"external data", func(m *onnxtest.Model) {
			for _, name := range []string{"e", "f"} {
				m.Init(name, graph.DTypeFloat32, nil, 1).External(name, "../w.bin")
			}
			m.Node("Relu", "f").Out("n")
		}, diag.ExternalTensorUnreadable, `2 tensors are kept in other files, the first is "e" in "../w.bin"`},
	} {
		m := quantModel()
		c.change(m)
		b := m.Bytes()
		checkFault(t, c.name, b, c.code)
		var d diag.List
		ParseGraph("m.onnx", b, &d)
		if text := d.Diags[0].String(); !strings.Contains(text, c.says) || !strings.Contains(text, "m.onnx") {
			t.Errorf("%s: %s, want %q in it", c.name, text, c.says)
		}
	}
}

// TestDialectFunctions checks that functions which exporters add for quantisers do not replace hlsgen's own
// knowledge of the operators.
func TestDialectFunctions(t *testing.T) {
	t.Parallel()
	m := quantModel()
	m.Proto.Functions = []*onnxpb.FunctionProto{{Domain: new("qonnx.custom_op.general"), Name: new("Quant")}}
	mustRead(t, m.Bytes())
}

// TestManyFaults checks that all errors of a file are collected, up to a limit.
func TestManyFaults(t *testing.T) {
	t.Parallel()
	m := quantModel()
	for range maxErrors + 7 {
		m.Init("", graph.DTypeFloat32, nil, 1)
	}
	var d diag.List
	if ParseGraph("m.onnx", m.Bytes(), &d) != nil || len(d.Diags) != maxErrors+1 {
		t.Fatalf("%d diagnostics, want %d", len(d.Diags), maxErrors+1)
	}
	if last := d.Diags[maxErrors]; last.Severity != diag.SeverityNote || !strings.HasPrefix(last.Msg, "7 more") {
		t.Errorf("the last is %v", last)
	}
}

// TestEarlierErrors checks that a list which has errors already does not affect a good model.
func TestEarlierErrors(t *testing.T) {
	t.Parallel()
	var d diag.List
	d.Add(diag.Diag{Severity: diag.SeverityError, Code: diag.BoardUnknown})
	if ParseGraph("m.onnx", quantModel().Bytes(), &d) == nil || len(d.Diags) != 1 {
		t.Errorf("not read: %v", d.Diags)
	}
}
