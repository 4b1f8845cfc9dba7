package simulate_test

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"sync/atomic"
	"testing"

	"hlsgen/frontend"
	"hlsgen/internal/engines"
	"hlsgen/internal/npy"
	"hlsgen/internal/options"
	"hlsgen/internal/simulate"
	"hlsgen/internal/testsupport/rnntest"
	"hlsgen/internal/testsupport/samplefiles"
	"hlsgen/internal/testsupport/simtest"
	"hlsgen/internal/testsupport/tier"
)

// TestStatefulLengths gives streams in pieces of different lengths: with --stateful, every engine gives what exact
// arithmetic gives of the whole stream at once.
func TestStatefulLengths(t *testing.T) {
	t.Parallel()
	tier.NotQuick(t)
	const most = 5
	networks := 8
	if tier.Long() {
		networks = 60
	}
	var matters atomic.Int32 // networks in which the state makes a difference
	t.Cleanup(func() {
		if matters.Load() == 0 {
			t.Error("no state makes a difference")
		}
	})
	axes := rnntest.All
	axes.Turns, axes.Data, axes.Unrolled = false, false, false // a file that writes steps out has one length
	for seed := uint64(0); networks > 0; seed++ {
		n := rnntest.Draw(rnntest.Seeded(seed), axes)
		across := n.Front != nil && n.Front.Kernel > 0
		if !n.Pieces || across || len(n.Inputs) > 1 || n.Outputs[0].Of != "sequence" {
			continue
		}
		networks--
		list := simtest.QuickEngines(t)
		if networks%2 > 0 && !tier.Long() {
			list = withoutCSim(list)
		}
		if networks == 0 && !tier.Quick() {
			list = append(list, engines.EngineRTL)
		}
		n.Lengths, n.Steps = true, most
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			t.Parallel()
			if slices.Contains(list, engines.EngineRTL) {
				tier.Needs(t, "verilator", "g++")
			}
			pieces := []float64{2, 5, 1, 1, 3, 4, 2}
			choices := rnntest.Seeded(seed)
			whole := n.SampleOf(choices, 18)
			want := n.Run([]rnntest.Sample{whole})[0]
			features := n.Inputs[0].Features
			var padded []float64
			from := 0
			for _, steps := range pieces {
				to := from + int(steps)*features
				padded = append(padded, whole[0][from:to]...)
				padded = append(padded, slices.Repeat([]float64{1}, (most-int(steps))*features)...)
				from = to
			}
			dir := t.TempDir()
			o := simulate.Options{Source: options.Source{SampleFiles: options.SampleFiles{Data: samplefiles.Write(t,
				&npy.Array{DType: "float32",
					Shape: rnntest.StoredShape(n, len(pieces), most), Data: padded})}, Model: filepath.Join(dir,
				"model.onnx"),
				ModelInputs: options.ModelInputs{Stateful: true, Lengths: &frontend.AxisLengthRange{Axis: "T", Min: 1,
					Max: most}}}, LengthsFile: samplefiles.Write(t, &npy.Array{DType: "int64",
				Shape: []int{len(pieces)}, Data: pieces})}
			if n.Formats != nil {
				o.Cells = filepath.Join(dir, "cells.json")
				f := frontend.CellFormatsFile{Flag: frontend.CellFormatsFlag, Cells: n.Formats}
				if err := os.WriteFile(o.Cells, f.FileContent(), 0o644); err != nil {
					t.Fatal(err)
				}
			}
			if err := os.WriteFile(o.Model, n.ONNX(), 0o644); err != nil {
				t.Fatal(err)
			}
			for _, o.Engine = range list {
				got, d := simtest.Run(t, o)
				if got == nil {
					t.Fatalf("%s: %v: %v", o.Engine, n.Has, d.Diags)
				}
				for k, out := range n.Outputs {
					a := got.Outputs[k].Data
					each := len(a) / len(pieces)
					joined := a[len(a)-each:] // a state is that of the last piece
					if out.Of == "sequence" {
						joined = nil
						for i, steps := range pieces {
							joined = append(joined, a[i*each:][:each/most*int(steps)]...)
						}
					}
					if !slices.Equal(joined, want[k]) {
						t.Errorf("%s: %v: output %d is %v in pieces, %v at once", o.Engine, n.Has, k, joined, want[k])
					}
				}
			}
			o.Engine = engines.EngineReference
			exact, _ := simtest.Run(t, o)
			o.Compare = samplefiles.Write(t, exact.Outputs[0])
			if c, _ := simtest.Run(t, o); c.Compare == nil || c.Compare.Differ > 0 {
				t.Errorf("%v: compared with itself: %+v", n.Has, c.Compare)
			}
			o.Compare, o.Stateful = "", false
			apart, _ := simtest.Run(t, o)
			a, each := apart.Outputs[0].Data, len(apart.Outputs[0].Data)/len(pieces)
			if last := a[len(a)-each:][:each/most*2]; !slices.Equal(last, want[0][len(want[0])-len(last):]) {
				matters.Add(1)
			}
		})
	}
}
