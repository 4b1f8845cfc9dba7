package compiler

import (
	"context"
	"math/big"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"hlsgen/frontend"
	"hlsgen/internal/dataflow"
	"hlsgen/internal/diag"
	"hlsgen/internal/models"
	"hlsgen/internal/npy"
	"hlsgen/internal/num"
	"hlsgen/internal/tier"
)

// TestDriverXRT compiles the door to XRT against its headers.
func TestDriverXRT(t *testing.T) {
	t.Parallel()
	tools := tier.Needs(t, "g++", "xrt")
	o := Options{Board: "zcu104", FPS: 5000, NoCSim: true, Verify: 1, Out: filepath.Join(t.TempDir(), "out")}
	var d diag.List
	if r, err := Run(context.Background(), o, &d); err != nil || r == nil {
		t.Fatal(err, d.Diags)
	}
	said, err := exec.Command(tools[0], "-std=c++17", "-Wall", "-Wextra", "-Werror", "-fsyntax-only",
		"-isystem", tools[1], "-I",
		filepath.Join(o.Out, "deploy"), "testdata/card.cpp").CombinedOutput()
	if err != nil || len(said) > 0 {
		t.Errorf("%v\n%s", err, said)
	}
}

// TestDriver has the Python of a build drive its C++ as a library: results are, byte for byte, what engine eval
// writes, on all recorded samples, in batches of any size, of any type and order; of sequences, of any length. What
// fits neither the model nor the accelerator is refused with a reason.
func TestDriver(t *testing.T) {
	t.Parallel()
	cases := []struct {
		model   string
		lengths []int
		whole   bool // bytes, each a sixteenth
	}{
		{"digits-mlp-w2a2", nil, false},
		{"digits-mlp-w2a2", nil, true},
		{"bilstm-h32-w4a4", []int{1, 3, 16, 8, 16, 1}, false},
		{"digits-cnn-w4a4", nil, true},
		{"digits-resnet-w4a4", nil, false},
		{"bilstm-scan-h32-w4a8", nil, false}, // whose output is made of two streams
	}
	for _, c := range cases[:tier.Few(len(cases))] {
		t.Run(strings.TrimSpace(c.model), func(t *testing.T) {
			t.Parallel()
			tools := tier.Needs(t, "make", "g++", "numpy")
			m := models.Find(t, c.model)
			o := Options{Model: m.Path("model.onnx"), Board: "zcu104", FPS: 5000, NoCSim: true, Verify: 1}
			o.Out = filepath.Join(t.TempDir(), "out")
			x := m.Recorded(t).X
			in := &npy.Array{DType: "float32", Shape: x.Shape, Data: x.Data}
			args := []string{"testdata/predict.py", filepath.Join(o.Out, "deploy"), "", "", ""}
			sim := SimOptions{Options: o, Engine: Eval}
			if c.whole {
				in.DType = "uint8"
				o.Arrives = &frontend.InputType{Type: num.Type{Kind: num.UInt, Width: 8}, Scale: big.NewRat(1, 16)}
				in.Data = make([]float64, len(x.Data))
				for i := range in.Data {
					in.Data[i] = float64(i * 7 % 16)
				}
			}
			var d diag.List
			if c.lengths != nil {
				features := x.Shape[2]
				in.Shape = []int{len(c.lengths), 16, 1, features}
				in.Data = make([]float64, dataflow.Shape(in.Shape).Size())
				for i := range in.Data {
					in.Data[i] = x.Data[i%len(x.Data)]
				}
				sim.Steps = save(t, filepath.Join(t.TempDir(), "n.npy"), stepsOf(c.lengths))
				args = append(args, sim.Steps)
				o.Lengths = &frontend.Lengths{Axis: "inp.25:0", Min: 1, Max: 16}
			}
			r, err := Run(context.Background(), o, &d)
			if err != nil || r == nil {
				t.Fatal(err, d.Diags)
			}
			if shape := r.Imported.Model.In[0].Shape; len(x.Shape) == 3 && c.lengths == nil {
				in.Shape = append([]int{x.Shape[0]}, shape...)
			}
			if r.NoDriver != "" {
				t.Fatal(r.NoDriver)
			}
			makes(t, filepath.Join(o.Out, "hls"), "lib", "CXXFLAGS=-O1")
			libs, err := filepath.Glob(filepath.Join(o.Out, "hls", "build", "lib*.so"))
			if err != nil || len(libs) != 1 {
				t.Fatal(libs, err)
			}
			sim.Options, sim.Input, sim.Output = o, data(t, in), filepath.Join(t.TempDir(), "y.npy")
			simulated(t, sim)
			args[2], args[3], args[4] = libs[0], sim.Input, sim.Output
			said, err := exec.Command(tools[2], args...).CombinedOutput()
			if err != nil || !strings.Contains(string(said), "PASS ") {
				t.Errorf("%v\n%s", err, said)
			}
			t.Logf("%s", said)
		})
	}
}

// TestDriverAXI drives accelerators behind their movers, in Verilator: results are those of engine eval, with a memory
// that is always ready and with one that is often not. The long tier has more kinds of networks.
func TestDriverAXI(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		model   string
		lengths []int
		long    bool
	}{
		{"digits-mlp-w2a2", nil, false},
		{"bilstm-h32-w4a4", []int{1, 3, 16, 8, 16, 1}, true},
		{"digits-cnn-w4a4", nil, true},
		{"digits-resnet-w4a4", nil, true},
	} {
		t.Run(c.model, func(t *testing.T) {
			t.Parallel()
			if c.long {
				tier.NeedsLong(t)
			}
			tools := tier.Needs(t, "make", "verilator", "g++", "numpy")
			m := models.Find(t, c.model)
			o := Options{Model: m.Path("model.onnx"), Board: "zcu104", Backend: BackendRTL, Interval: 10_000,
				NoCSim: true, Verify: 1, Out: filepath.Join(t.TempDir(), "out")}
			x := m.Recorded(t).X
			in := &npy.Array{DType: x.DType, Shape: append([]int{12}, x.Shape[1:]...)}
			sim := SimOptions{Engine: Eval, Output: filepath.Join(t.TempDir(), "y.npy")}
			var args []string
			if c.lengths != nil {
				in.Shape = []int{len(c.lengths), 16, 1, x.Shape[2]}
				sim.Steps = save(t, filepath.Join(t.TempDir(), "n.npy"), stepsOf(c.lengths))
				args = []string{sim.Steps}
				o.Lengths = &frontend.Lengths{Axis: "inp.25:0", Min: 1, Max: 16}
			}
			var d diag.List
			if r, err := Run(context.Background(), o, &d); err != nil || r == nil {
				t.Fatal(err, d.Diags)
			}
			makes(t, filepath.Join(o.Out, "rtl", "axi"))
			libs, err := filepath.Glob(filepath.Join(o.Out, "rtl", "axi", "build", "lib*.so"))
			if err != nil || len(libs) != 1 {
				t.Fatal(libs, err)
			}
			for i := range dataflow.Shape(in.Shape).Size() {
				in.Data = append(in.Data, x.Data[i%len(x.Data)])
			}
			sim.Options, sim.Input = o, data(t, in)
			simulated(t, sim)
			args = append([]string{"testdata/axi.py", filepath.Join(o.Out, "deploy"), libs[0], sim.Input, sim.Output},
				args...)
			for _, stall := range []string{"0", "30", "80"} {
				c := exec.Command(tools[3], args...)
				c.Env = append(c.Environ(), "AXI_STALL="+stall)
				if said, err := c.CombinedOutput(); err != nil || !strings.Contains(string(said), "PASS ") {
					t.Errorf("%s of 100 clocks pass: %v\n%s", stall, err, said)
				}
			}
		})
	}
}

// stepsOf is lengths as an array.
func stepsOf(list []int) *npy.Array {
	a := &npy.Array{DType: "int64", Shape: []int{len(list)}}
	for _, n := range list {
		a.Data = append(a.Data, float64(n))
	}
	return a
}
