package build

import (
	"math/rand/v2"
	"path"
	"path/filepath"
	"reflect"
	"slices"
	"testing"

	"hlsgen/folding"
	"hlsgen/internal/dataflow"
	"hlsgen/internal/engines"
	"hlsgen/internal/options"
	"hlsgen/internal/testsupport/models"
	"hlsgen/internal/testsupport/tier"
	"hlsgen/rtlsim"
)

// TestSharedAdders builds perceptrons with a frame in every clock and without DSP slices. Outputs of their matrices
// share adders, and the circuits give the words of engine cycle.
func TestSharedAdders(t *testing.T) {
	t.Parallel()
	tier.NotQuick(t)
	use, err := folding.ParseMaxUseFractions("lut=1,dsp=0")
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		model string
		luts  int // fewer than with compressors
	}{{"jets-qap-w6a6-s80", 19_500}, {"a2qplus-mlp-signed-w4a4-p9", 0}} {
		t.Run(c.model, func(t *testing.T) {
			t.Parallel()
			list := models.All(t)
			m := list[slices.IndexFunc(list, func(m models.Model) bool { return path.Base(m.Name) == c.model })]
			r := built(t, Options{Source: options.Source{Model: filepath.Join(m.Dir, "model.onnx")},
				Hardware: options.Hardware{Board: "alveo-u250", ClockMHz: 200, IO: dataflow.HostIOStream,
					Backend: options.BackendRTL},
				Goal:         options.Goal{Interval: 1, MaxUse: use},
				Verification: options.Verification{Verify: 2, NoCSim: true},
				OutputFolder: options.OutputFolder{Out: filepath.Join(t.TempDir(), "out")}})
			matrices, share := 0, 0
			for i, n := range r.Design.Model.Graph.Nodes {
				if n.Op.Kind() != "MVAU" {
					continue
				}
				if matrices++; r.Design.Folds[i].Compute == dataflow.SharedAdders {
					share++
				}
			}
			if share == 0 || c.luts > 0 && share < matrices {
				t.Errorf("%d of %d matrices share adders", share, matrices)
			}
			circuitsAgree(t, r)
			if luts := r.Design.Estimate.Total.LUT; c.luts > 0 && luts > c.luts {
				t.Errorf("%d LUTs, at most %d are wanted", luts, c.luts)
			}
		})
	}
}

// circuitsAgree checks that the circuits of a build give the words of engine cycle for a frame of random inputs.
func circuitsAgree(t *testing.T, r *Result) {
	t.Helper()
	var in []dataflow.Tensor
	rnd := rand.New(rand.NewPCG(45, 1))
	for _, id := range r.Design.Model.Graph.In {
		typ := r.Design.Model.Graph.Streams[id].Type
		x := dataflow.Tensor{Shape: typ.Shape}
		for i := range typ.Shape.ElementCount() {
			of := typ.ChannelRange(i % typ.Shape.ChannelCount())
			x.Data = append(x.Data, of.Lo+rnd.Int64N(of.ValueCount()))
		}
		in = append(in, x)
	}
	want, err := rtlsim.ComputeOutputs(t.Context(), r.Design.Design, [][]dataflow.Tensor{in}, nil)
	if err != nil {
		t.Fatal(err)
	}
	got, err := rtlsim.ComputeOutputsByCircuits(t.Context(), r.Design.Design, [][]dataflow.Tensor{in}, nil)
	if err != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("the circuits give %v, %v, want %v", got, err, want)
	}
}

// TestWholeMatrix builds a perceptron whose first matrix is wider than a table can be, with a frame in every clock.
// No circuit has a table of constants.
func TestWholeMatrix(t *testing.T) {
	t.Parallel()
	tier.NotQuick(t)
	list := models.All(t)
	m := list[slices.IndexFunc(list, func(m models.Model) bool { return path.Base(m.Name) == "TFC_2W2A" })]
	r := built(t, Options{Source: options.Source{Model: filepath.Join(m.Dir, "model.onnx")},
		Hardware: options.Hardware{Board: "alveo-u250", ClockMHz: 200, IO: dataflow.HostIOStream,
			Backend: options.BackendRTL},
		Goal:         options.Goal{Interval: 1},
		Verification: options.Verification{Verify: 2, NoCSim: true},
		OutputFolder: options.OutputFolder{Out: filepath.Join(t.TempDir(), "out")}})
	if bits := r.Design.Model.Graph.Nodes[0].Op.(dataflow.HasUnrolledProducts).RowBits(r.Design.Folds[0]); bits <=
		dataflow.MaxTableRowBits {
		t.Errorf("%d weights, want a matrix that is wider than a table", bits)
	}
	circuitsAgree(t, r)
}

// TestOneClock builds perceptrons that are unrolled whole, a frame in every clock: their SystemVerilog gives in
// Verilator what engine eval gives, on every stream in the clocks of engine cycle.
func TestOneClock(t *testing.T) {
	t.Parallel()
	for _, model := range []string{"digits-mlp-w2a2", "digits-mlp-w4a4-pot", "digits-mlp-asym-u8",
		"a2qplus-mlp-signed-w4a4-p9", "jets-qap-w6a6-s80"} {
		t.Run(model, func(t *testing.T) {
			tier.NeedsLong(t)
			tier.Needs(t, "verilator", "g++")
			tier.NeedsShared(t)
			list := models.All(t)
			m := list[slices.IndexFunc(list, func(m models.Model) bool { return path.Base(m.Name) == model })]
			r := built(t, Options{Source: options.Source{Model: filepath.Join(m.Dir, "model.onnx")},
				Hardware: options.Hardware{Board: "alveo-u250", IO: dataflow.HostIOStream,
					Backend: options.BackendRTL},
				Verification: options.Verification{Verify: 16},
				OutputFolder: options.OutputFolder{Out: filepath.Join(t.TempDir(),
					"out")}})
			if r.Design.Clocks.Interval != 1 || !slices.Contains(r.Verified.Engines, string(engines.EngineRTL)) {
				t.Errorf("a frame every %v clocks, verified by %v", r.Design.Clocks.Interval, r.Verified.Engines)
			}
		})
	}
}
