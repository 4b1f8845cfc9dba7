package compiler

import (
	"encoding/binary"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"hlsgen/frontend"
	"hlsgen/frontend/graph"
	"hlsgen/frontend/onnxio"
	"hlsgen/frontend/onnxio/onnxtest"
	"hlsgen/internal/dataflow"
	"hlsgen/internal/diag"
	"hlsgen/internal/npy"
	"hlsgen/internal/tier"
)

// fixBatch writes a model as an exporter does that is given n samples: they stand in the shape of the input, and in the
// shapes that Reshape takes.
func fixBatch(m *onnxtest.Model, n int) *onnxtest.Model {
	dims := []any{n}
	for _, d := range m.Proto.Graph.Input[0].GetType().GetTensorType().GetShape().GetDim()[1:] {
		dims = append(dims, int(d.GetDimValue()))
	}
	m.Proto.Graph.Input = onnxtest.New(0).Input("x", graph.Float32, dims...).Proto.Graph.Input
	shapes := map[string]bool{}
	for _, node := range m.Proto.Graph.Node {
		if node.GetOpType() == "Reshape" {
			shapes[node.Input[1]] = true
		}
	}
	for _, t := range m.Proto.Graph.Initializer {
		if shapes[t.GetName()] && binary.LittleEndian.Uint64(t.RawData) == 1 {
			binary.LittleEndian.PutUint64(t.RawData, uint64(n))
		}
	}
	return m
}

// together executes a model of a fixed batch as its file has it, all samples in one run.
func together(t *testing.T, onnx []byte, x []float64) []float64 {
	t.Helper()
	var d diag.List
	g := onnxio.Read("m", onnx, &d)
	graph.Decompose(g)
	p := graph.Prepare(g, "m", graph.Options{}, &d)
	if p == nil {
		t.Fatal(d.Diags)
	}
	out := g.Outputs[0].Name
	part, err := p.Part([]string{"x"}, []string{out})
	if err != nil {
		t.Fatal(err)
	}
	_, all, err := part.Run([]*graph.Reals{graph.Exactly(p.Known["x"].Shape, x)})
	if err != nil {
		t.Fatal(err)
	}
	y, err := part.Rounded(out, all)
	if err != nil {
		t.Fatal(err)
	}
	return y
}

// TestFixedBatch draws networks and exports them with a batch: all engines give for its samples, in one run of the
// model's own shape, what the model of the file gives for all of them together.
func TestFixedBatch(t *testing.T) {
	t.Parallel()
	networks := 16
	if tier.Long() {
		networks = 400
	}
	dir := t.TempDir()
	for seed := range uint64(networks) {
		draw, n := drawnNetwork, 2+int(seed%4)
		if seed%2 == 1 {
			draw = drawnImages
		}
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			t.Parallel()
			onnx := fixBatch(draw(seed), n).Bytes()
			var d diag.List
			im, err := frontend.Import("m", onnx, frontend.Options{}, &d)
			if err != nil || im.Model == nil {
				t.Fatalf("%v %v", err, d.Diags)
			}
			in := im.Model.In[0]
			if len(d.Diags) != 1 || d.Diags[0].Code != diag.FixedBatch || d.Diags[0].Severity != diag.Note ||
				in.Shape[0] != 1 || in.Whole[0] != n {
				t.Fatalf("input %+v, %v", in, d.Diags)
			}
			x := &npy.Array{DType: "float32", Shape: in.Whole}
			for _, run := range Random(im.Model, n).In {
				x.Data = append(x.Data, run[0].Data...)
			}
			want := together(t, onnx, x.Data)
			base := filepath.Join(dir, fmt.Sprint(seed))
			model := kept(t, "m.onnx", onnx)
			for _, e := range []Engine{Reference, Eval, Cycle} {
				input := save(t, base+string(e)+".npy", x)
				r, d := asked(t, SimOptions{Options: Options{Model: model}, Engine: e, Input: input})
				if r == nil {
					t.Fatalf("%s: %v", e, d.Diags)
				}
				if y := r.Outputs[0]; r.Samples != n || !slices.Equal(y.Data, want) || y.Shape[0] != n ||
					y.Size() != len(want) {
					t.Errorf("engine %s, %d samples: %v %v, want %v", e, r.Samples, y.Shape, y.Data, want)
				}
			}
		})
	}
}

// TestBoundBatch binds a dynamic axis of samples: that is the model with a fixed batch.
func TestBoundBatch(t *testing.T) {
	t.Parallel()
	for seed := range uint64(4) {
		onnx := randomNetwork(seed)
		var d diag.List
		im, err := frontend.Import("m", onnx, frontend.Options{Dims: map[string]int{"N": 3}}, &d)
		if err != nil || im.Model == nil || len(d.Diags) != 1 || d.Diags[0].Code != diag.FixedBatch {
			t.Fatalf("seed %d: %v %v", seed, err, d.Diags)
		}
		free, err := frontend.Import("m", onnx, frontend.Options{}, &d)
		if err != nil || free.Model == nil {
			t.Fatal(err)
		}
		if in := im.Model.In[0]; in.Whole[0] != 3 || im.Model.Graph.String() != free.Model.Graph.String() {
			t.Errorf("seed %d: input %+v, graph\n%swant\n%s", seed, in, im.Model.Graph, free.Model.Graph)
		}
	}
}

// TestTooManySamples holds that a model that is too large because of its batch is told to be exported without.
func TestTooManySamples(t *testing.T) {
	t.Parallel()
	for _, n := range []int{1, 1 << 16} {
		m := onnxtest.New(14)
		m.Input("x", graph.Float32, n, 1<<10).Output("y", graph.Float32, n, 1<<11)
		m.Init("w", graph.Float32, []int{1 << 10, 1 << 11}, make([]float64, 1<<21)...)
		m.Node("MatMul", "x", "w").Out("y")
		var d diag.List
		if _, err := frontend.Import("m", m.Bytes(), frontend.Options{}, &d); err != nil {
			t.Fatal(err)
		}
		if said := strings.Contains(fmt.Sprint(d.Diags), "export the model with one"); said != (n > 1) || !d.Failed() {
			t.Errorf("%d samples: %v", n, d.Diags)
		}
	}
}

// TestFixedBatchShapes holds which shapes of data a model with a fixed batch takes.
func TestFixedBatchShapes(t *testing.T) {
	t.Parallel()
	shared := dataflow.Real{Name: "z", Shape: []int{1, 2}, DType: "float32", Batch: true}
	of := func(others ...dataflow.Real) *dataflow.Model {
		return &dataflow.Model{
			In: append(
				[]dataflow.Real{{Name: "x", Shape: []int{1, 3}, Whole: []int{4, 3}, DType: "float32", Batch: true}},
				others...),
			Out: []dataflow.Real{
				{Name: "y", Shape: []int{1, 5}, Whole: []int{4, 5}, Batch: true},
				{Name: "flat", Shape: []int{5}, Whole: []int{4, 5}, Batch: true},
				{Name: "rows", Shape: []int{2, 5}, Whole: []int{8, 5}, Batch: true},
			},
		}
	}
	for _, c := range []struct {
		model   *dataflow.Model
		x, z    []int
		samples int
		out     [3][]int
	}{
		{of(), []int{4, 3}, nil, 4, [3][]int{{4, 5}, {4, 5}, {8, 5}}},
		{of(), []int{2, 4, 3}, nil, 8, [3][]int{{2, 4, 5}, {2, 4, 5}, {2, 8, 5}}},
		{of(), []int{7, 3}, nil, 7, [3][]int{{7, 5}, {7, 5}, {7, 2, 5}}},
		{of(), []int{1, 3}, nil, 1, [3][]int{{1, 5}, {1, 5}, {1, 2, 5}}},
		{of(), []int{2, 1, 3}, nil, 2, [3][]int{{2, 1, 5}, {2, 5}, {2, 2, 5}}},
		{of(), []int{3}, nil, 0, [3][]int{}},
		{of(), []int{4, 4}, nil, 0, [3][]int{}},
		{of(shared), []int{4, 3}, []int{1, 2}, 4, [3][]int{{4, 5}, {4, 5}, {8, 5}}},
		{of(shared), []int{2, 4, 3}, []int{2, 2}, 8, [3][]int{{2, 4, 5}, {2, 4, 5}, {2, 8, 5}}},
		{of(shared), []int{7, 3}, []int{7, 2}, 7, [3][]int{{7, 5}, {7, 5}, {7, 2, 5}}},
		{of(shared), []int{4, 3}, []int{3, 2}, 0, [3][]int{}},
	} {
		data := map[string]*npy.Array{"x": counted(c.x)}
		if c.z != nil {
			data["z"] = counted(c.z)
		}
		s, err := Split(c.model, data)
		if c.samples == 0 {
			if err == nil {
				t.Errorf("%v and %v are taken", c.x, c.z)
			}
			continue
		}
		if err != nil || len(s.In) != c.samples {
			t.Errorf("%v: %v, want %d samples", c.x, err, c.samples)
			continue
		}
		for i, run := range s.In {
			if first := float64(i * 3); run[0].Data[0] != first {
				t.Errorf("%v: sample %d begins with %v, want %v", c.x, i, run[0].Data[0], first)
			}
			if c.z != nil && run[1].Data[0] != float64(i*c.z[0]/c.samples*2) {
				t.Errorf("%v and %v: sample %d goes with %v", c.x, c.z, i, run[1].Data)
			}
		}
		for k, out := range c.model.Out {
			runs := make([]dataflow.RealTensor, c.samples)
			for i := range runs {
				runs[i].Data = make([]float64, dataflow.Shape(out.Shape).Size())
			}
			if y := s.Join(out, runs); !slices.Equal(y.Shape, c.out[k]) || y.Size() != len(y.Data) {
				t.Errorf("%v: output %s has shape %v, %d elements; want %v", c.x, out.Name, y.Shape, len(y.Data), c.out[k])
			}
		}
	}
}

// counted is an array of 0, 1, 2 ...
func counted(shape []int) *npy.Array {
	a := &npy.Array{DType: "float32", Shape: shape}
	for i := range a.Size() {
		a.Data = append(a.Data, float64(i))
	}
	return a
}
