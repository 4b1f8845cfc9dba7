package samplefiles

import (
	"os"
	"path/filepath"
	"slices"
	"testing"

	"hlsgen/frontend/graph"
	"hlsgen/frontend/onnxio"
	"hlsgen/frontend/operators"
	"hlsgen/internal/diag"
	"hlsgen/internal/examples"
	"hlsgen/internal/testsupport/onnxtest"
)

// Unquantised returns the model in a file without its quantisers. Those of activations are removed, and those of
// weights and biases are folded into constants.
func Unquantised(t *testing.T, path string) []byte {
	t.Helper()
	var d diag.List
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	g := onnxio.ParseGraph(filepath.Base(path), b, &d)
	if g == nil {
		t.Fatal(d.Diags)
	}
	p := onnxtest.Prepare(t, g)
	gone, removed := map[string]string{}, 0
	var nodes []*graph.Node
	for _, n := range g.Nodes {
		out := n.Outputs[0]
		if c := p.Known[out].Const; c != nil {
			g.Init[out] = &graph.ConstantTensor{DType: graph.DTypeFloat32, Shape: c.Shape, F: c.Floats()}
			continue
		}
		for i, in := range n.Inputs {
			if from := gone[in]; from != "" {
				n.Inputs[i] = from
			}
		}
		if n.Domain == operators.QONNXDomain {
			removed++
			gone[out] = n.Inputs[0]
			for i := range g.Outputs {
				if g.Outputs[i].Name == out {
					g.Outputs[i].Name = n.Inputs[0]
				}
			}
			continue
		}
		nodes = append(nodes, n)
	}
	if g.Nodes = nodes; removed == 0 {
		t.Fatal("the model has no quantisers")
	}
	if b, err = onnxio.EncodeGraph(g, nil); err != nil {
		t.Fatal(err)
	}
	return b
}

// Digits writes the embedded example's samples to a file, each in the given shape, and returns the paths of the samples
// and of their labels. If columns is set, an image is a sequence of its columns instead of its rows.
func Digits(t *testing.T, columns bool, shape ...int) (inputs, labels string) {
	t.Helper()
	dir := filepath.Join(Examples(t), examples.DigitsName)
	x := Read(t, dir+"/inputs.npy")
	n := x.Shape[0]
	if columns {
		was := slices.Clone(x.Data)
		for i := range was {
			at, row, column := i/64*64, i/8%8, i%8
			x.Data[at+8*column+row] = was[i]
		}
	}
	x.Shape = append([]int{n}, shape...)
	return Write(t, x), dir + "/labels.npy"
}
