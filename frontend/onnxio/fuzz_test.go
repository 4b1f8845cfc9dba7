package onnxio

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"

	"hlsgen/frontend/graph"
	"hlsgen/internal/diag"
	"hlsgen/internal/testsupport/onnxtest"
	"hlsgen/internal/testsupport/tier"
)

// FuzzRead checks that no bytes make ParseGraph panic, and that ParseGraph fails exactly if it reports an error. A
// graph must keep Read's promises, and LooksLikeONNXFile must have accepted the file.
func FuzzRead(f *testing.F) {
	f.Add([]byte{})
	f.Add(quantModel().Bytes())
	f.Add(linkModel().Bytes())
	for t := graph.DTypeFloat32; t <= graph.DTypeInt2; t++ {
		m := linkModel()
		c := onnxtest.Tensor(graph.DTypeInt8, []int{8}, 1, 2, 3, 4, 5, 6, 7, 8)
		*c.DataType = int32(t)
		n := m.Node("Constant").Tensor("value", graph.DTypeInt8, nil, 0).Out("y")
		n.Proto.Attribute[0].T = c
		f.Add(m.Bytes())
	}
	body := onnxtest.New(0).Input("i", graph.DTypeInt64).Output("z", graph.DTypeFloat32)
	body.Node("Add", "x", "i").Out("z")
	loop := linkModel()
	loop.Node("Loop", "", "w").Graph("body", body).Out("y")
	f.Add(loop.Bytes())
	called := linkModel()
	function(called, "F", "a k", "b", func(f *onnxtest.Model) {
		refer(f.Node("LeakyRelu", "a").Float("alpha", 0), "k").Out("t")
		f.Node("G", "t").Domain("own").Out("b")
	})
	function(called, "G", "a", "a b", func(f *onnxtest.Model) { f.Node("If", "a").Graph("g", body).Out("b") })
	called.Node("F", "x").Domain("own").Float("k", 1).Out("y")
	f.Add(called.Bytes())
	if shared := tier.Shared(f); shared != "" {
		files, _ := filepath.Glob(filepath.Join(shared, "models", "qonnx_ops", "*_0.onnx"))
		for _, file := range files {
			if b, err := os.ReadFile(file); err == nil {
				f.Add(b)
			}
		}
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		var d diag.List
		g := ParseGraph("m.onnx", b, &d)
		if (g == nil) != d.HasErrors() {
			t.Fatalf("read %v, errors %v", g != nil, d.Diags)
		}
		for _, x := range d.Diags {
			_ = x.String()
		}
		var early diag.List
		begins := len(b) == 0 || LooksLikeONNXFile("m.onnx", bytes.NewReader(b), int64(len(b)), &early)
		if begins == early.HasErrors() || g != nil && !begins {
			t.Fatalf("begins %t, read %v, errors %v", begins, g != nil, early.Diags)
		}
		if g == nil {
			return
		}
		if err := g.Verify(); err != nil {
			t.Fatal(err)
		}
		checkGraph(t, g)
	})
}

// checkGraph checks the promises of graph.Graph: constants have the right length and kind, a single node writes
// each tensor, and nodes are in topological order.
func checkGraph(t *testing.T, g *graph.Graph) {
	check := func(c *graph.ConstantTensor) {
		f, i, codes := len(c.F), len(c.I), len(c.Codes)
		if f+i+codes != c.Len() || f > 0 && i+codes > 0 || i > 0 && codes > 0 || c.DType.IsReal() != (c.F != nil) {
			t.Fatalf("constant %v %v has %d reals, %d integers and %d codes", c.DType, c.Shape, f, i, codes)
		}
		for k := range c.Len() {
			c.FloatAt(k)
		}
	}
	for _, c := range g.Init {
		check(c)
	}
	maker := make(map[string]int)
	for at, n := range g.Nodes {
		for _, o := range n.Outputs {
			if _, twice := maker[o]; twice && o != "" {
				t.Fatalf("%q is made twice", o)
			}
			maker[o] = at
		}
		for _, a := range n.Attrs {
			switch a.Kind {
			case graph.AttrKindTensor:
				check(a.T)
			case graph.AttrKindGraph:
				checkGraph(t, a.G)
			}
		}
	}
	for at, n := range g.Nodes {
		for _, in := range n.Inputs {
			if m, ok := maker[in]; ok && in != "" && m >= at {
				t.Fatalf("%q is read before it is made", in)
			}
		}
	}
}
