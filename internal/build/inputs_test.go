package build

import (
	"context"
	"math/big"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"hlsgen/frontend"
	"hlsgen/frontend/graph"
	"hlsgen/frontend/onnxio/onnxtest"
	"hlsgen/internal/dataflow"
	"hlsgen/internal/diag"
	"hlsgen/internal/npy"
	"hlsgen/internal/num"
	"hlsgen/internal/tier"
)

// pixels is a network that divides pixels by 255 itself, quantises, and multiplies.
func pixels(t *testing.T, quantised bool) string {
	t.Helper()
	m := onnxtest.New(14).Opset("qonnx.custom_op.general", 2)
	m.Input("x", graph.Float32, 1, 4).Output("y", graph.Float32, 1, 2)
	m.Init("d", graph.Float32, nil, 255).Init("s", graph.Float32, nil, 0.25).Init("z", graph.Float32, nil, 0).Init("b", graph.Float32, nil, 3)
	m.Init("w", graph.Float32, []int{4, 2}, 1, -2, 3, 0, -1, 1, 2, 2)
	m.Node("Div", "x", "d").Out("n")
	in := "n"
	if quantised {
		m.Node("Quant", "n", "s", "z", "b").Domain("qonnx.custom_op.general").Int("signed", 1).Out("q")
		in = "q"
	}
	m.Node("MatMul", in, "w").Out("y")
	path := filepath.Join(t.TempDir(), "pixels.onnx")
	if err := os.WriteFile(path, m.Bytes(), 0o644); err != nil {
		t.Fatal(err)
	}
	return path
}

func byteInput(scale *big.Rat) *frontend.InputType {
	return &frontend.InputType{Type: num.Type{Kind: num.UInt, Width: 8}, Scale: scale}
}

func kinds(g *dataflow.Graph) (out []string) {
	for _, n := range g.Nodes {
		out = append(out, n.Op.Kind())
	}
	return out
}

// TestInputType holds what declaring the input does: the model's own scaling becomes thresholds on the device, the
// meaning stays, and data off the grid are refused.
func TestInputType(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name      string
		quantised bool
		input     *frontend.InputType
		kinds     []string
		in        num.Type
	}{
		{"host quantises", true, nil, []string{"MVAU"}, num.Type{Kind: num.Int, Width: 3}},
		{"device quantises", true, byteInput(big.NewRat(1, 1)), []string{"Thresholding", "MVAU"}, num.Type{Kind: num.UInt, Width: 8}},
		{"no quantiser at all", false, byteInput(big.NewRat(1, 1)), []string{"MVAU"}, num.Type{Kind: num.UInt, Width: 8}},
		{"fractions that float32 rounds", true, byteInput(big.NewRat(1, 255)), []string{"Thresholding", "MVAU"}, num.Type{Kind: num.UInt, Width: 8}},
	} {
		var d diag.List
		r, err := Run(context.Background(), Options{Model: pixels(t, c.quantised), Board: "pynq-z1", Verify: 6, NoCSim: true, Arrives: c.input, Out: filepath.Join(t.TempDir(), "out")}, &d)
		clean(t, &d, err)
		g := r.Imported.Model.Graph
		if got := kinds(g); !slices.Equal(got, c.kinds) || g.Streams[g.In[0]].Type.Elem != c.in {
			t.Errorf("%s: layers %v fed with %s, want %v and %s", c.name, got, g.Streams[g.In[0]].Type.Elem, c.kinds, c.in)
		}
	}
}

func TestInputTypeRefuses(t *testing.T) {
	t.Parallel()
	// Fractions that float32 rounds are no scaled integers: a product cannot take them.
	var d diag.List
	c, err := Check(context.Background(), Options{Model: pixels(t, false), Arrives: byteInput(big.NewRat(1, 255))}, &d)
	if err != nil || c.Imported.Model != nil || len(d.Diags) != 1 || d.Diags[0].Code != diag.NotMapped {
		t.Errorf("1/255 in front of a product: %v %v", err, d.Diags)
	}
	for _, x := range []float64{0.5, -1, 256} {
		d = diag.List{}
		file := save(t, filepath.Join(t.TempDir(), "x.npy"), &npy.Array{DType: "float32", Shape: []int{1, 4}, Data: []float64{0, 1, 255, x}})
		r, err := Simulate(context.Background(), SimOptions{Options: Options{Model: pixels(t, true), Arrives: byteInput(big.NewRat(1, 1))}, Engine: Eval, Input: file}, &d)
		if err != nil || r != nil || len(d.Diags) != 1 || d.Diags[0].Code != diag.DataInvalid || !strings.Contains(d.Diags[0].Hint, "--input-type") {
			t.Errorf("%v is not on the grid: %v %v", x, err, d.Diags)
		}
	}
}

// TestInputQuant holds that a real input gets a quantiser, that the user is told, and that all engines agree on the
// changed model.
func TestInputQuant(t *testing.T) {
	t.Parallel()
	var d diag.List
	q := &frontend.InputQuant{Type: num.Type{Kind: num.Int, Width: 8}, Scale: 0.0625}
	r, err := Run(context.Background(), Options{Model: pixels(t, false), Board: "pynq-z1", Verify: 6, NoCSim: true, Quantise: q, Out: filepath.Join(t.TempDir(), "out")}, &d)
	if err != nil || r == nil {
		t.Fatalf("%v %v", err, d.Diags)
	}
	if len(d.Diags) != 1 || d.Diags[0].Code != diag.InputQuantised {
		t.Errorf("diagnostics %v, want one note", d.Diags)
	}
	if got := kinds(r.Imported.Model.Graph); !slices.Equal(got, []string{"MVAU"}) {
		t.Errorf("layers %v", got)
	}
}

// TestBipolarTakesOneBit holds TFC_1W1A's accumulators against FINN's forced conversion, and that weights of -1 and +1
// take one bit in every table and every estimate, where FINN widens those of TFC_1W2A to two.
func TestBipolarTakesOneBit(t *testing.T) {
	t.Parallel()
	shared := tier.NeedsShared(t)
	for _, c := range []struct {
		model string
		acc   []int
	}{{"TFC_1W1A", []int{10, 7, 7, 7}}, {"TFC_1W2A", []int{11, 8, 8, 8}}} {
		var d diag.List
		r, err := Run(context.Background(), Options{Model: filepath.Join(shared, "models/zoo", c.model, "model.onnx"), Board: "zcu104", Verify: 4, NoCSim: true, Out: filepath.Join(t.TempDir(), "out")}, &d)
		clean(t, &d, err)
		layer := 0
		for i, n := range r.Design.Model.Graph.Nodes {
			a, ok := n.Op.(dataflow.Accumulating)
			if !ok {
				continue
			}
			if got := a.Accumulator().Used; got > c.acc[layer] {
				t.Errorf("%s %s: accumulator of %d bits, want at most %d", c.model, n.Name, got, c.acc[layer])
			}
			layer++
			bits := 0
			for _, table := range n.Op.Emit(r.Design.Folds[i], r.Design.Target).Tables {
				if table.Name == "weights" {
					bits = table.Elem.Width
				}
			}
			counts := n.Op.(dataflow.Counting).Counts()
			if _, ok := counts["param_weight_BIPOLAR"]; bits != 1 || !ok {
				t.Errorf("%s %s: weights of %d bits, counted as %v", c.model, n.Name, bits, counts)
			}
		}
		if layer != 4 {
			t.Errorf("%s: %d layers with accumulators", c.model, layer)
		}
	}
}
