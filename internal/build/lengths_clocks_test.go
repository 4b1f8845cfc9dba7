package build

import (
	"context"
	"fmt"
	"slices"
	"testing"

	"hlsgen/boards"
	"hlsgen/folding"
	"hlsgen/frontend"
	"hlsgen/hlslib/price/estimate"
	"hlsgen/internal/dataflow"
	"hlsgen/internal/diag"
	"hlsgen/internal/testsupport/rnntest"
	"hlsgen/internal/testsupport/tier"
	"hlsgen/rtlsim"
	"hlsgen/templates"
)

// lengthsDesigns gives designs of random networks for sequences of up to so many steps.
func lengthsDesigns(t *testing.T, backend dataflow.Backend, seeds uint64, steps int,
	visit func(name string, d *folding.Design)) {
	t.Helper()
	axes := rnntest.All
	axes.Pieces, axes.Turns = false, false
	board, err := boards.FindBoard("zcu104")
	if err != nil {
		t.Fatal(err)
	}
	found := 0
	for seed := range seeds {
		n := rnntest.Draw(rnntest.Seeded(seed), axes)
		n.Lengths, n.Steps = true, steps
		var d diag.List
		im, err := frontend.Import("recurrent.onnx", n.ONNX(), lengthsOptions(n), &d)
		if err != nil {
			t.Fatal(err)
		}
		if im.Model == nil {
			continue
		}
		target := dataflow.Target{Board: board, ClockMHz: 200, Backend: backend}
		design, err := folding.FindBestDesign(context.Background(), im.Model, target, folding.Goal{}, &d)
		if err != nil || design == nil {
			t.Fatalf("seed %d: %v %v", seed, err, d.Diags)
		}
		found++
		visit(fmt.Sprintf("seed %d, %v", seed, n.Has), design)
	}
	if found < int(seeds)/3 {
		t.Errorf("%d designs of %d networks", found, seeds)
	}
}

// A layer whose kernel is not told where sequences end has the loop of so many steps one after the other: its clocks
// are those of the simulation, and what is proved of the loops holds of the calls.
func TestStepsOneAfterTheOther(t *testing.T) {
	t.Parallel()
	tier.NotQuick(t)
	called, own := 0, 0
	lengthsDesigns(t, dataflow.BackendHLS, 14, 5, func(name string, d *folding.Design) {
		one, err := d.AtSequenceLength(1)
		if err != nil {
			t.Fatal(err)
		}
		for i, n := range d.Model.Graph.Nodes {
			if d.Model.SequenceEndFIFOPerStream()[n.In[0]].Input < 0 {
				continue
			}
			if dataflow.NeedsSequenceEnds(n.Op, d.Model.Lengths.Max) {
				own++
				continue
			}
			called++
			got, step := d.LoopOfNode(i), one.LoopOfNode(i)
			want := dataflow.Loop{Body: dataflow.RepeatLoopRuns(d.Model.Lengths.Max, step.Body...),
				Latency: step.Latency}
			if !slices.Equal(movesOf(got), movesOf(want)) {
				t.Errorf("%s: %s has the loop %s, and %s in each step", name, n.Name, got.TextKey(), step.TextKey())
			}
		}
	})
	if called < 10 || own < 10 {
		t.Errorf("%d layers take steps as frames, %d do not", called, own)
	}
}

func movesOf(l dataflow.Loop) (list []dataflow.PortMoves) {
	for w := l.NewWalker(); ; {
		list = append(list, w.NextMoves())
		if w.AdvanceIteration() {
			return list
		}
	}
}

// What tells layers where sequences end is priced, and written with the depth at which it is priced; it is deep enough
// that it never holds up the input.
func TestEndsPricedAndDeepEnough(t *testing.T) {
	t.Parallel()
	tier.NotQuick(t)
	for _, backend := range []dataflow.Backend{dataflow.BackendHLS, dataflow.BackendRTL} {
		t.Run(backend.Name, func(t *testing.T) {
			t.Parallel()
			if backend == dataflow.BackendRTL {
				tier.NotQuick(t)
			}
			endsDeepEnough(t, backend)
		})
	}
}

func endsDeepEnough(t *testing.T, backend dataflow.Backend) {
	behind := 0
	lengthsDesigns(t, backend, 10, 12, func(name string, d *folding.Design) {
		ends := d.SequenceEndFIFOs()
		priced := estimate.NetworkWrapperCost(d.Design)
		for s := range d.FIFO {
			priced = priced.AppendCost(estimate.StreamFIFOCost(d.Design, s))
		}
		for _, e := range ends {
			priced = priced.AppendCost(estimate.SequenceEndFIFOCost(d.Target, e, d.Model.Lengths))
		}
		if len(ends) == 0 || d.Estimate.FIFOs.Total() != priced.Total() {
			t.Errorf("%s: %d ends, FIFOs take %v, want %v", name, len(ends), d.Estimate.FIFOs, priced)
		}
		// the lint
		if _, err := templates.GenerateHLSProject(d.Design, templates.TestVectors{}, templates.Options{}); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		trace, err := rtlsim.RunFrames(context.Background(), d.Design, nil, rtlsim.Options{Frames: 6, Record: true})
		if err != nil {
			t.Fatal(err)
		}
		one, err := d.AtSequenceLength(1)
		if err != nil {
			t.Fatal(err)
		}
		for _, e := range ends {
			told := everySteps(trace.Record.Streams[e.Input].Arrived, one.PortOfStream(e.Input).Words)
			taken := everySteps(trace.Record.Streams[e.Stream].Read, one.PortOfStream(e.Stream).Words)
			if len(told) != len(taken) {
				t.Fatalf("%s: %d steps, %d are told of", name, len(taken), len(told))
			}
			most := 0
			for k, at := 0, 0; k < len(told); k++ {
				for at < len(taken) && taken[at] < told[k] {
					at++
				}
				most = max(most, k+1-at)
			}
			behind = max(behind, most)
			if most > e.FIFO.Depth {
				t.Errorf("%s: stream %d is up to %d steps behind, a FIFO holds %d ends", name, e.Stream, most,
					e.FIFO.Depth)
			}
		}
	})
	if behind < 20 {
		t.Errorf("no layer is more than %d steps behind", behind)
	}
}

// everySteps is the last of every so many clocks.
func everySteps(clocks []int, words int) (list []int) {
	for i := words - 1; i < len(clocks); i += words {
		list = append(list, clocks[i])
	}
	return list
}
