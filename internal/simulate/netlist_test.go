package simulate_test

import (
	"slices"
	"testing"

	"hlsgen/internal/engines"
	"hlsgen/internal/npy"
	"hlsgen/internal/options"
	"hlsgen/internal/simulate"
	"hlsgen/internal/testsupport/models"
	"hlsgen/internal/testsupport/samplefiles"
	"hlsgen/internal/testsupport/simtest"
	"hlsgen/internal/testsupport/tier"
)

// TestEngineNetlist runs the cells that Yosys makes of networks, an LSTM among them: what comes out is what the
// compiled C++ gives. Engine netlist itself compares the words of every stream with eval's, and clocks with cycle's.
func TestEngineNetlist(t *testing.T) {
	t.Parallel()
	tier.NeedsLong(t) // make test runs one netlist, TestNetlist's
	tier.Needs(t, "yosys", "verilator", "g++")
	for _, c := range []struct {
		model, board string
		fps          float64
	}{
		{"lstm-h16-w8a8-pot", "icebreaker", 10},
		{"digits-mlp-w2a2", "icebreaker", 1000}, // as TestNetlist, by the project's Makefile
		{"digits-mlp-w2a2", "zcu104", 1000},
		{"digits-mlp-w2a2", "ulx3s-85f", 1000},
	} {
		t.Run(c.model+" for "+c.board, func(t *testing.T) {
			t.Parallel()
			m := models.Find(t, c.model)
			x, runs := m.Recorded(t).X, 2
			shape := append([]int{runs}, x.Shape[1:]...)
			if len(shape) == 3 { // a sequence: steps, one batch, features
				shape = []int{runs, x.Shape[1], 1, x.Shape[2]}
			}
			input := samplefiles.Write(t, &npy.Array{DType: x.DType, Shape: shape,
				Data: x.Data[:runs*len(x.Data)/x.Shape[0]]})
			o := simulate.Options{Source: options.Source{Model: m.Path("model.onnx"),
				SampleFiles: options.SampleFiles{Data: input}},
				Hardware: options.Hardware{Board: c.board}, Goal: options.Goal{FPS: c.fps, OverBudget: true},
				Engine: engines.EngineNetlist}
			got, d := simtest.Run(t, o)
			if d.HasErrors() {
				t.Fatal(d.Diags)
			}
			o.Board, o.Engine = "zcu104", engines.EngineCSim // which Vitis HLS knows
			want, d := simtest.Run(t, o)
			if d.HasErrors() {
				t.Fatal(d.Diags)
			}
			for k, y := range want.Outputs {
				if len(y.Data) == 0 || !slices.Equal(got.Outputs[k].Data, y.Data) {
					t.Errorf("output %d is %v, of the C++ %v", k, got.Outputs[k].Data, y.Data)
				}
			}
		})
	}
}
