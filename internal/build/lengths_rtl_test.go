package build

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"hlsgen/boards"
	"hlsgen/folding"
	"hlsgen/frontend"
	"hlsgen/internal/dataflow"
	"hlsgen/internal/diag"
	"hlsgen/internal/engines"
	"hlsgen/internal/options"
	"hlsgen/internal/testsupport/rnntest"
	"hlsgen/internal/testsupport/tier"
)

// TestLengthsRTL runs random networks as SystemVerilog, with sequences of every length in a row: every word of every
// stream is eval's, and every clock cycle's.
func TestLengthsRTL(t *testing.T) {
	t.Parallel()
	tier.NotQuick(t)
	tier.Needs(t, "verilator", "g++")
	axes := rnntest.All
	axes.Pieces, axes.Turns, axes.Unrolled = false, false, false // a file that writes steps out has one length
	networks := 2
	if tier.Long() {
		networks = 30
	}
	for seed := uint64(0); networks > 0; seed++ {
		n := rnntest.Draw(rnntest.Seeded(seed), axes)
		if n.Front != nil && n.Front.Kernel > 0 {
			continue // a convolution over time
		}
		networks--
		n.Lengths, n.Steps = true, max(3, n.Steps)
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			t.Parallel()
			if err := lengthsRTL(context.Background(), n, seed); err != nil {
				t.Errorf("%v: %v", n.Has, err)
			}
		})
	}
}

// TestLengthsBoth builds a network with both back ends: each is held against eval, and says that it was.
func TestLengthsBoth(t *testing.T) {
	t.Parallel()
	tier.NotQuick(t)
	tier.Needs(t, "verilator", "g++")
	n := rnntest.Echoing(t, 5, false)
	model := filepath.Join(t.TempDir(), "model.onnx")
	if err := os.WriteFile(model, n.ONNX(), 0o644); err != nil {
		t.Fatal(err)
	}
	var d diag.List
	r, err := Run(t.Context(), Options{Source: options.Source{Model: model,
		ModelInputs: options.ModelInputs{Lengths: &frontend.AxisLengthRange{Axis: "T", Min: 1, Max: 5}}},
		Hardware:     options.Hardware{Board: "zcu104", Backend: options.BackendBoth},
		Verification: options.Verification{Verify: 4},
		OutputFolder: options.OutputFolder{Out: filepath.Join(t.TempDir(), "built")}}, &d)
	if err != nil || r == nil {
		t.Fatal(err, d.Diags)
	}
	for _, engine := range []engines.EngineName{engines.EngineCSim, engines.EngineRTL} {
		if !slices.Contains(r.Verified.Engines, string(engine)) {
			t.Errorf("engine %s has not run: %v", engine, r.Verified.Engines)
		}
	}
}

func lengthsRTL(ctx context.Context, n *rnntest.Network, seed uint64) error {
	var d diag.List
	im, err := frontend.Import("recurrent.onnx", n.ONNX(), lengthsOptions(n), &d)
	if err != nil || im.Model == nil {
		return fmt.Errorf("%v %w", err, &refused{d.Diags})
	}
	board, err := boards.FindBoard("zcu104")
	if err != nil {
		return err
	}
	target := dataflow.Target{Board: board, ClockMHz: 200, Backend: dataflow.BackendRTL}
	design, err := folding.FindBestDesign(ctx, im.Model, target, folding.Goal{}, &d)
	if err != nil || design == nil {
		return fmt.Errorf("%v %w", err, &refused{d.Diags})
	}
	runs, _, err := lengthsRuns(n, im.Model, seed)
	if err != nil {
		return err
	}
	streams, _, err := engines.RunHostAndEvalKeepingStreams(ctx, im.Model, runs)
	if err != nil {
		return err
	}
	in := engines.SelectStreams(streams, im.Model.Graph.In)
	if streams, err = engines.RunEval(ctx, design.Model, in); err != nil {
		return err
	}
	return engines.CheckDesignInVerilator(ctx, engines.EngineRTL, design.Design, in, streams)
}
