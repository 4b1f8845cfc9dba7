package frontend_test

import (
	"fmt"
	"strings"
	"testing"

	"hlsgen/frontend"
	"hlsgen/frontend/graph"
	"hlsgen/internal/diag"
	"hlsgen/internal/testsupport/onnxtest"
)

// exported is a perceptron as an exporter writes it: QuantizeLinear, DequantizeLinear, MatMul by weights w of 6 x 4
// whose scales s belong to columns, QuantizeLinear, DequantizeLinear.
type exported struct {
	*onnxtest.Model
}

func exportedNet() exported {
	m := onnxtest.New(21).Input("x", graph.DTypeFloat32, 1, 6).Output("y", graph.DTypeFloat32, 1, 4)
	return exported{m.Init("zero", graph.DTypeInt8, nil, 0)}
}

func (e exported) weights(scales []int) exported {
	w := make([]float64, 24)
	for i := range w {
		w[i] = float64(i*7%15 - 7)
	}
	e.Init("w", graph.DTypeInt8, []int{6, 4}, w...).Init("s", graph.DTypeFloat32, scales, 0.25, 0.5, 0.125, 0.25)
	return e
}

// nodes writes the nodes, all or those of a function.
func (e exported) nodes(m *onnxtest.Model, attrs func(n *onnxtest.Node)) exported {
	m.Node("QuantizeLinear", "x", "sx", "zero").Out("xq")
	m.Node("DequantizeLinear", "xq", "sx", "zero").Out("xd")
	n := m.Node("DequantizeLinear", "w", "s")
	attrs(n)
	n.Out("wd")
	m.Node("MatMul", "xd", "wd").Out("product")
	m.Node("QuantizeLinear", "product", "sy", "zero").Out("yq")
	m.Node("DequantizeLinear", "yq", "sy", "zero").Out("y")
	return e
}

func perColumn(n *onnxtest.Node) { n.Int("axis", 1) }

// scales lists the constants that every spelling has to give, by name.
var scales = []struct {
	name  string
	value float64
}{{"sx", 0.3125}, {"sy", 0.6875}}

func (e exported) scales(dt graph.DType) exported {
	for _, s := range scales {
		if dt == graph.DTypeFloat32 {
			e.Init(s.name, dt, nil, s.value)
			continue
		}
		e.Init(s.name+".stored", dt, nil, s.value)
		e.Node("Cast", s.name+".stored").Int("to", int64(graph.DTypeFloat32)).Out(s.name)
	}
	return e
}

// TestExporters checks that the forms of today's exporters give the same network as the plain form.
func TestExporters(t *testing.T) {
	t.Parallel()
	imported := func(name string, e exported) string {
		var d diag.List
		im, err := frontend.Import("model.onnx", e.Bytes(), frontend.Options{}, &d)
		if err != nil || im.Model == nil {
			t.Fatalf("%s: %v, %v", name, err, d.Diags)
		}
		var text strings.Builder // without names
		for _, n := range im.Model.Graph.Nodes {
			fmt.Fprintf(&text, "%s %v %v %+v\n", n.Op.Kind(), n.In, n.Out, n.Op.Params())
		}
		return text.String()
	}
	plain := exportedNet().weights([]int{4}).scales(graph.DTypeFloat32)
	want := imported("plain", plain.nodes(plain.Model, perColumn))
	for name, make := range map[string]func() exported{
		"a block a column": func() exported {
			e := exportedNet().weights([]int{1, 4}).scales(graph.DTypeFloat32)
			return e.nodes(e.Model, func(n *onnxtest.Node) { n.Int("axis", 0).Int("block_size", 6) })
		},
		"longer blocks than columns": func() exported {
			e := exportedNet().weights([]int{1, 4}).scales(graph.DTypeFloat32)
			return e.nodes(e.Model, func(n *onnxtest.Node) { n.Int("axis", 0).Int("block_size", 128) })
		},
		"float16":  func() exported { return casted(graph.DTypeFloat16) },
		"bfloat16": func() exported { return casted(graph.DTypeBFloat16) },
		"double":   func() exported { return casted(graph.DTypeFloat64) },
		"a function": func() exported {
			e := exportedNet().weights([]int{4}).scales(graph.DTypeFloat32)
			f := onnxtest.New(0)
			e.nodes(f, perColumn)
			e.Function("own", "Layer", "x w s sx sy zero", "y", f)
			e.Opset("own", 1).Node("Layer", "x", "w", "s", "sx", "sy", "zero").Domain("own").Out("y")
			return e
		},
	} {
		if got := imported(name, make()); got != want {
			t.Errorf("%s: %s\nwant\n%s", name, got, want)
		}
	}
}

func casted(dt graph.DType) exported {
	e := exportedNet().weights([]int{4}).scales(dt)
	return e.nodes(e.Model, perColumn)
}
