package onnxio

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"

	"hlsgen/frontend/graph"
	"hlsgen/internal/diag"
	"hlsgen/internal/testsupport/tier"
)

// TestWriteAndRead checks with every real model that the file written for a graph is read as the same graph, and
// that writing it again gives the same bytes.
func TestWriteAndRead(t *testing.T) {
	t.Parallel()
	tier.NotQuick(t)
	for _, path := range modelFiles(t) {
		b, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		if len(b) > 1<<20 && !tier.Long() {
			continue // large files test no more than small ones
		}
		var d diag.List
		g := ParseGraph(filepath.Base(path), b, &d)
		if g == nil {
			t.Errorf("%s: %v", path, d.Diags)
			continue
		}
		counted(g)
		written, err := EncodeGraph(g, nil)
		if err != nil {
			t.Errorf("%s: %v", path, err)
			continue
		}
		again := ParseGraph(filepath.Base(path), written, &d)
		if again == nil {
			t.Errorf("%s, written: %v", path, d.Diags)
			continue
		}
		if was, is := text(t, g), text(t, again); was != is {
			t.Errorf("%s: it was\n%.2000s\nit is\n%.2000s", path, was, is)
		}
		if twice, err := EncodeGraph(again, nil); err != nil || !bytes.Equal(written, twice) {
			t.Errorf("%s: written twice, it has other bytes (%v)", path, err)
		}
		for name, v := range g.Init {
			if w := again.Init[name]; w == nil || !v.Equal(w) {
				t.Errorf("%s: the constant %q changed", path, name)
			}
		}
	}
}

// counted gives nodes the indices that they have in the file written for them.
func counted(g *graph.Graph) {
	for i, n := range g.Nodes {
		n.Index = i
		for _, a := range n.Attrs {
			if a.G != nil {
				counted(a.G)
			}
		}
	}
}

func text(t *testing.T, g *graph.Graph) string {
	t.Helper()
	var b bytes.Buffer
	if err := graph.WriteGraphText(&b, g); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// TestWriteNarrow checks that constants with several elements per byte are written as they are read.
func TestWriteNarrow(t *testing.T) {
	t.Parallel()
	for _, c := range []graph.ConstantTensor{
		{DType: graph.DTypeInt4, I: []int64{-8, 7, -1, 0, 3}},
		{DType: graph.DTypeUInt4, I: []int64{15, 0, 9}},
		{DType: graph.DTypeInt2, I: []int64{-2, -1, 0, 1, -2, 1, 1}},
		{DType: graph.DTypeUInt2, I: []int64{3, 0, 2, 1}},
		{DType: graph.DTypeFloat4E2M1, F: []float64{-6, 0.5, 3, 0, 1.5}},
	} {
		c.Shape = []int{c.Len()}
		g := &graph.Graph{Opsets: map[string]int64{"": 24}, Init: map[string]*graph.ConstantTensor{"w": &c},
			Outputs: []graph.ValueInfo{{Name: "w", DType: c.DType}}}
		b, err := EncodeGraph(g, nil)
		if err != nil {
			t.Errorf("%s: %v", c.DType, err)
			continue
		}
		var d diag.List
		if again := ParseGraph("m.onnx", b, &d); again == nil || !again.Init["w"].Equal(&c) {
			t.Errorf("%s: %v", c.DType, d.Diags)
		}
	}
}

// TestWriteValues checks that values are written beside the graph, and that a graph with contents that no file can
// hold gives an error.
func TestWriteValues(t *testing.T) {
	t.Parallel()
	g := &graph.Graph{Opsets: map[string]int64{"": 21}, Init: map[string]*graph.ConstantTensor{},
		Inputs: []graph.ValueInfo{{Name: "x", DType: graph.DTypeFloat32, Known: true,
			Dims: []graph.Dim{{Size: -1, Param: "T"}}}},
		Nodes:   []*graph.Node{{Op: "Relu", Inputs: []string{"x"}, Outputs: []string{"y"}}},
		Outputs: []graph.ValueInfo{{Name: "y", DType: graph.DTypeFloat32}}}
	b, err := EncodeGraph(g, []graph.ValueInfo{{Name: "y", DType: graph.DTypeFloat32, Known: true,
		Dims: []graph.Dim{{Size: 3}}}})
	if err != nil || !bytes.Contains(b, []byte("Relu")) {
		t.Fatal(err)
	}
	m, f := decode(b)
	if f != nil || m.GetIrVersion() != 10 || len(m.GetGraph().GetValueInfo()) != 1 ||
		m.GetGraph().GetValueInfo()[0].GetType().GetTensorType().GetShape().GetDim()[0].GetDimValue() != 3 {
		t.Errorf("it has %v", m)
	}
	g.Nodes[0].Attrs = graph.AttributesByName{"odd": {}}
	if _, err := EncodeGraph(g, nil); err == nil {
		t.Error("an attribute without a value was written")
	}
	g.Nodes[0].Attrs = nil
	g.Init["w"] = &graph.ConstantTensor{DType: graph.DTypeFloat16, Shape: []int{1}, F: []float64{0.1}}
	if _, err := EncodeGraph(g, nil); err == nil {
		t.Error("0.1 was written as a float16")
	}
}
