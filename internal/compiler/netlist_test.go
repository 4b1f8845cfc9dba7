package compiler

import (
	"slices"
	"testing"

	"hlsgen/internal/dataflow"
	"hlsgen/internal/npy"
	"hlsgen/internal/testsupport/models"
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
			input := data(t, &npy.Array{DType: x.DType, Shape: shape, Data: x.Data[:runs*len(x.Data)/x.Shape[0]]})
			o := Options{Source: Source{Model: m.Path("model.onnx")}, Hardware: Hardware{Board: c.board},
				Goal: Goal{FPS: c.fps, OverBudget: true}}
			got, d := asked(t, simulationOf(o, EngineNetlist, input))
			if d.Failed() {
				t.Fatal(d.Diags)
			}
			o.Board = "zcu104" // which Vitis HLS knows
			want, d := asked(t, simulationOf(o, EngineCSim, input))
			if d.Failed() {
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

// TestPerBench holds how many frames a bench has: what it holds is bounded, and there are two at least.
func TestPerBench(t *testing.T) {
	t.Parallel()
	for size, want := range map[int]int{1: maxBench / 4, maxBench / 12: 3, maxBench: 2} {
		of := dataflow.StreamType{Shape: dataflow.Shape{size, 4}}
		if got := perBench(&dataflow.Graph{Streams: []*dataflow.Stream{{Type: of}}}); got != want {
			t.Errorf("%d frames of %d elements, want %d", got, 4*size, want)
		}
	}
}
