package build

import (
	"encoding/binary"
	"fmt"
	"slices"
	"strings"
	"testing"

	"hlsgen/frontend"
	"hlsgen/frontend/execution"
	"hlsgen/frontend/graph"
	"hlsgen/frontend/onnxio"
	"hlsgen/frontend/operators"
	"hlsgen/frontend/program"
	"hlsgen/internal/diag"
	"hlsgen/internal/engines"
	"hlsgen/internal/npy"
	"hlsgen/internal/options"
	"hlsgen/internal/samples"
	"hlsgen/internal/simulate"
	"hlsgen/internal/testsupport/onnxtest"
	"hlsgen/internal/testsupport/samplefiles"
	"hlsgen/internal/testsupport/simtest"
	"hlsgen/internal/testsupport/tier"
)

// fixBatch writes a model as an exporter does that is given n samples: they stand in the shape of the input, and in the
// shapes that Reshape takes.
func fixBatch(m *onnxtest.Model, n int) *onnxtest.Model {
	dims := []any{n}
	for _, d := range m.Proto.Graph.Input[0].GetType().GetTensorType().GetShape().GetDim()[1:] {
		dims = append(dims, int(d.GetDimValue()))
	}
	m.Proto.Graph.Input = onnxtest.New(0).Input("x", graph.DTypeFloat32, dims...).Proto.Graph.Input
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
	g := onnxio.ParseGraph("m", onnx, &d)
	operators.DecomposeOperators(g)
	p := operators.Prepare(g, "m", operators.Options{}, &d)
	if p == nil {
		t.Fatal(d.Diags)
	}
	out := g.Outputs[0].Name
	part, err := execution.NewProgramPart(p, []string{"x"}, []string{out})
	if err != nil {
		t.Fatal(err)
	}
	_, all, err := part.Run([]*program.Reals{program.NewExactReals(p.Known["x"].Shape, x)})
	if err != nil {
		t.Fatal(err)
	}
	y, err := part.RoundedOutput(out, all)
	if err != nil {
		t.Fatal(err)
	}
	return y
}

// TestFixedBatch draws networks and exports them with a batch: all engines give for its samples, in one run of the
// model's own shape, what the model of the file gives for all of them together.
func TestFixedBatch(t *testing.T) {
	t.Parallel()
	tier.NotQuick(t)
	networks := 16
	if tier.Long() {
		networks = 400
	}
	for seed := range uint64(networks) {
		draw, n := drawnNetwork, 2+int(seed%4)
		if seed%2 == 1 {
			draw = drawnImages
		}
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			t.Parallel()
			onnx := halfPruned(int(seed/2), fixBatch(draw(seed), n))
			var d diag.List
			im, err := frontend.Import("m", onnx, frontend.Options{}, &d)
			if err != nil || im.Model == nil {
				t.Fatalf("%v %v", err, d.Diags)
			}
			in := im.Model.In[0]
			if len(d.Diags) != 1 || d.Diags[0].Code != diag.InputBatchFixed ||
				d.Diags[0].Severity != diag.SeverityNote ||
				in.Shape[0] != 1 || in.Whole[0] != n {
				t.Fatalf("input %+v, %v", in, d.Diags)
			}
			x := &npy.Array{DType: "float32", Shape: in.Whole}
			for _, run := range samples.MakeRandomRuns(im.Model, n).In {
				x.Data = append(x.Data, run[0].Data...)
			}
			want := together(t, onnx, x.Data)
			model := samplefiles.WriteFile(t, "m.onnx", onnx)
			for _, e := range []engines.EngineName{engines.EngineReference, engines.EngineEval, engines.EngineCycle} {
				input := samplefiles.Write(t, x)
				r, d := simtest.Run(t, simulate.Options{Source: options.Source{Model: model,
					SampleFiles: options.SampleFiles{Data: input}},
					Engine: e})
				if r == nil {
					t.Fatalf("%s: %v", e, d.Diags)
				}
				if y := r.Outputs[0]; r.Samples != n || !slices.Equal(y.Data, want) || y.Shape[0] != n ||
					y.ElementCount() != len(want) {
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
		if err != nil || im.Model == nil || len(d.Diags) != 1 || d.Diags[0].Code != diag.InputBatchFixed {
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
		m.Input("x", graph.DTypeFloat32, n, 1<<10).Output("y", graph.DTypeFloat32, n, 1<<11)
		m.Init("w", graph.DTypeFloat32, []int{1 << 10, 1 << 11}, make([]float64, 1<<21)...)
		m.Node("MatMul", "x", "w").Out("y")
		var d diag.List
		if _, err := frontend.Import("m", m.Bytes(), frontend.Options{}, &d); err != nil {
			t.Fatal(err)
		}
		if said := strings.Contains(fmt.Sprint(d.Diags), "export the model with one"); said != (n > 1) ||
			!d.HasErrors() {
			t.Errorf("%d samples: %v", n, d.Diags)
		}
	}
}
