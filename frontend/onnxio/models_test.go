package onnxio

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"google.golang.org/protobuf/proto"

	"hlsgen/frontend/graph"
	"hlsgen/frontend/onnxio/onnxpb"
	"hlsgen/internal/diag"
	"hlsgen/internal/testsupport/models"
	"hlsgen/internal/testsupport/tier"
)

// modelFiles returns the repository's models, and every model file among the shared ones.
func modelFiles(t *testing.T) (files []string) {
	for _, m := range models.InRepository(t) {
		for _, file := range m.Files {
			files = append(files, m.Path(file))
		}
	}
	shared := tier.Shared(t)
	if shared == "" {
		return files
	}
	err := filepath.WalkDir(filepath.Join(shared, "models"), func(path string, d os.DirEntry, err error) error {
		if err == nil && strings.HasSuffix(path, ".onnx") {
			files = append(files, path)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return files
}

// TestModels checks that every real model is read without a diagnostic, and that nothing of it is lost.
func TestModels(t *testing.T) {
	t.Parallel()
	tier.NotQuick(t)
	for _, path := range modelFiles(t) {
		b, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		var d diag.List
		g := ParseGraph(filepath.Base(path), b, &d)
		if g == nil || len(d.Diags) != 0 {
			t.Errorf("%s: %v", path, d.Diags)
			continue
		}
		if err := g.Verify(); err != nil {
			t.Errorf("%s: %v", path, err)
		}
		m := new(onnxpb.ModelProto)
		if err := proto.Unmarshal(b, m); err != nil {
			t.Fatal(err)
		}
		compareGraph(t, path, g, m.GetGraph())
		if len(g.Meta) != len(m.GetMetadataProps()) || len(g.Opsets) != len(m.GetOpsetImport()) {
			t.Errorf("%s: %d metadata and %d opsets, want %d and %d", path, len(g.Meta), len(g.Opsets),
				len(m.GetMetadataProps()), len(m.GetOpsetImport()))
		}
	}
}

// compareGraph compares a graph with its own file, node by node, including subgraphs.
func compareGraph(t *testing.T, path string, g *graph.Graph, p *onnxpb.GraphProto) {
	t.Helper()
	params := 0
	for _, in := range p.GetInput() {
		if g.Init[in.GetName()] != nil {
			params++
		}
	}
	if len(g.Inputs) != len(p.GetInput())-params || len(g.Outputs) != len(p.GetOutput()) ||
		len(g.Init) != len(p.GetInitializer()) || len(g.Nodes) != len(p.GetNode()) ||
		len(g.Annotations) > len(p.GetQuantizationAnnotation()) {
		t.Errorf("%s: %d inputs, %d outputs, %d initializers, %d nodes; the file has %d (%d of them parameters), "+
			"%d, %d, %d", path, len(g.Inputs), len(g.Outputs), len(g.Init), len(g.Nodes), len(p.GetInput()), params,
			len(p.GetOutput()), len(p.GetInitializer()), len(p.GetNode()))
		return
	}
	for _, c := range p.GetInitializer() {
		size := int64(1)
		for _, s := range c.GetDims() {
			size *= s
		}
		if v := g.Init[c.GetName()]; int64(len(v.Floats())) != size || int64(v.Len()) != size {
			t.Errorf("%s: constant %s has %d elements, want %d", path, c.GetName(), len(v.Floats()), size)
		}
	}
	made := make(map[string]int) // position in the sorted order of the node that writes each tensor
	var ops []operator
	for at, n := range g.Nodes {
		q := p.GetNode()[n.Index]
		if n.Name != q.GetName() || n.Op != q.GetOpType() || n.Domain != canonical(q.GetDomain()) ||
			!slices.Equal(n.Inputs, q.GetInput()) || !slices.Equal(n.Outputs, q.GetOutput()) ||
			len(n.Attrs) != len(q.GetAttribute()) {
			t.Errorf("%s: node %d is %+v, the file has %v", path, n.Index, *n, q)
		}
		for _, a := range q.GetAttribute() {
			switch v := n.Attrs[a.GetName()]; {
			case int32(v.Kind) == 0:
				t.Errorf("%s: node %d: attribute %s has no value", path, n.Index, a.GetName())
			case v.Kind == graph.AttrKindGraph:
				compareGraph(t, path, v.G, a.GetG())
			}
		}
		for _, o := range n.Outputs {
			made[o] = at
		}
		ops = append(ops, operator{reads: n.Inputs, makes: n.Outputs})
	}
	for at, n := range g.Nodes {
		for _, in := range n.Inputs {
			if maker, ok := made[in]; ok && in != "" && maker >= at {
				t.Errorf("%s: node %d reads %q before node %d makes it", path, n.Index, in, g.Nodes[maker].Index)
			}
		}
	}
	w, err := wire(ops)
	if err != nil {
		t.Errorf("%s: %v", path, err)
		return
	}
	checkWiring(t, w, ops)
}
