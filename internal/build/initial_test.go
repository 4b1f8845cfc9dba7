package build_test

import (
	"cmp"
	"context"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"hlsgen/frontend"
	"hlsgen/frontend/graph"
	"hlsgen/internal/check"
	"hlsgen/internal/diag"
	"hlsgen/internal/engines"
	"hlsgen/internal/npy"
	"hlsgen/internal/options"
	"hlsgen/internal/simulate"
	"hlsgen/internal/testsupport/onnxtest"
)

// begins is a recurrence h = Q(x[t]*w + h*u) whose state begins with an input, h0; without quantisers where it is real.
func begins(real bool) []byte {
	m := onnxtest.New(14).Opset("qonnx.custom_op.general", 2).Input("x", graph.DTypeFloat32, 4, 1, 2).
		Input("h0", graph.DTypeFloat32, 1, 2)
	m.Init("w", graph.DTypeFloat32, []int{2, 2}, 1, -1, 2, 1).Init("u", graph.DTypeFloat32, []int{2, 2}, 1, 1, -1, 0)
	m.Init("s", graph.DTypeFloat32, nil, 0.25).Init("z", graph.DTypeFloat32, nil, 0).Init("bits", graph.DTypeFloat32,
		nil, 4)
	quant := func(m *onnxtest.Model, x, y string) {
		if real {
			m.Node("Identity", x).Out(y)
			return
		}
		m.Node("Quant", x, "s", "z", "bits").Domain("qonnx.custom_op.general").Int("signed", 1).
			Str("rounding_mode", "ROUND").Out(y)
	}
	quant(m, "x", "q")
	b := onnxtest.New(0).Input("h", graph.DTypeFloat32, 1, 2).Input("xt", graph.DTypeFloat32, 1, 2)
	b.Node("MatMul", "xt", "w").Out("a")
	b.Node("MatMul", "h", "u").Out("b")
	b.Node("Add", "a", "b").Out("sum")
	quant(b, "sum", "next")
	b.Node("Identity", "next").Out("step")
	b.Output("next", graph.DTypeFloat32, 1, 2).Output("step", graph.DTypeFloat32, 1, 2)
	m.Node("Scan", "h0", "q").Name("loop").Int("num_scan_inputs", 1).Graph("body", b).Out("", "y")
	return m.Output("y", graph.DTypeFloat32).Bytes()
}

// stateFiles writes samples for begins to a folder: those of x alone, and those of both inputs.
func stateFiles(t *testing.T) (dir, one, both string) {
	t.Helper()
	dir = t.TempDir()
	x := &npy.Array{DType: "float32", Shape: []int{4, 1, 2}, Data: []float64{0.25, 0, 0, 0.3, -0.5, 0, 0, 0}}
	h := &npy.Array{DType: "float32", Shape: []int{1, 2}, Data: []float64{0.6, -0.1}}
	only, err := npy.EncodeNPY(x)
	archive, err2 := npy.EncodeNPZ(map[string]*npy.Array{"x": x, "h0": h})
	if err = cmp.Or(err, err2); err != nil {
		t.Fatal(err)
	}
	return dir, saved(t, dir, "x.npy", only), saved(t, dir, "both.npz", archive)
}

// saved writes a file, and returns its path.
func saved(t *testing.T, dir, name string, data []byte) string {
	t.Helper()
	path := filepath.Join(dir, name)
	if err := os.WriteFile(path, data, 0o666); err != nil {
		t.Fatal(err)
	}
	return path
}

// TestInitialState holds what every engine makes of initial states that the user gives, on data whose outputs are
// known: zeros, and the input in steps of the state's quantiser.
func TestInitialState(t *testing.T) {
	t.Parallel()
	dir, one, both := stateFiles(t)
	model := saved(t, dir, "m.onnx", begins(false))
	for _, c := range []struct {
		as   frontend.InitialStateMode
		data string
		want []float64
	}{
		{frontend.InitialStateModeZero, one, []float64{0.25, -0.25, 1, 0.5, 0, 1.5, -1.5, 0}},
		{frontend.InitialStateModeQuant, both, []float64{0.75, 0.25, 1, 1, -0.5, 1.5, -2, -0.5}},
	} {
		for _, e := range []engines.EngineName{engines.EngineReference, engines.EngineEval, engines.EngineFast,
			engines.EngineCycle} {
			var d diag.List
			o := simulate.Options{Source: options.Source{SampleFiles: options.SampleFiles{Data: c.data},
				Model: model, ModelInputs: options.ModelInputs{Initial: frontend.InitialStateModesByInput{"h0": c.as}}},
				Engine: e}
			r, err := simulate.Run(context.Background(), o, &d)
			if err != nil || r == nil {
				t.Fatal(c.as, e, err, d.Diags)
			}
			if !slices.Equal(r.Outputs[0].Data, c.want) {
				t.Errorf("%s, engine %s: %v, want %v", c.as, e, r.Outputs[0].Data, c.want)
			}
			if len(d.Diags) != 1 || d.Diags[0].Code != diag.InitialStateChangedOrUnfit ||
				!strings.Contains(d.Diags[0].Msg, "changes the model") {
				t.Errorf("%s, engine %s: diagnostics %v, want one note", c.as, e, d.Diags)
			}
		}
	}
}

// TestInitialStateCalibrated has --initial-state with --calibrate: zeros are what samples are noted with, so these need
// no state; a quantiser of the loop is put in front where the loop has one.
func TestInitialStateCalibrated(t *testing.T) {
	t.Parallel()
	dir, one, both := stateFiles(t)
	for _, c := range []struct {
		name, data string
		real       bool
		states     frontend.InitialStateModesByInput
		says       string // of the first diagnostic
		maps       bool
	}{
		{"zeros, of a real model", one, true, frontend.InitialStateModesByInput{"": frontend.InitialStateModeZero},
			"became zeros",
			true},
		{"zeros, of a quantised one", one, false,
			frontend.InitialStateModesByInput{"h0": frontend.InitialStateModeZero},
			"became zeros",
			true},
		{"the quantiser of a loop", both, false,
			frontend.InitialStateModesByInput{"h0": frontend.InitialStateModeQuant},
			"was put behind it", true},
		{"no quantiser of a loop", both, true, frontend.InitialStateModesByInput{"h0": frontend.InitialStateModeQuant},
			"no quantiser of the loop's body makes this state", false},
	} {
		model := saved(t, dir, "m.onnx", begins(c.real))
		var d diag.List
		r, err := check.Run(context.Background(), check.Options{Source: options.Source{Model: model,
			Quantisation: options.Quantisation{Calibrate: c.data},
			ModelInputs:  options.ModelInputs{Initial: c.states}}}, &d)
		if err != nil || len(d.Diags) == 0 || !strings.Contains(d.Diags[0].Msg, c.says) ||
			c.maps != (r != nil && r.Imported != nil && r.Imported.Model != nil) {
			t.Errorf("%s: %v, %v", c.name, err, d.Diags)
		}
	}
}
