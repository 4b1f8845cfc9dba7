package compiler

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"hlsgen/frontend"
	"hlsgen/internal/diag"
	"hlsgen/internal/npy"
	"hlsgen/internal/rnntest"
)

// TestLengthsOfData simulates padded samples, of which some steps count: all engines give what the reference gives, and
// zeros behind; what stands behind a sequence makes no difference.
func TestLengthsOfData(t *testing.T) {
	t.Parallel()
	var n *rnntest.Network
	for seed := uint64(0); n == nil; seed++ {
		n = rnntest.Draw(rnntest.Seeded(seed), rnntest.Axes{})
		if n.Front != nil || !slices.ContainsFunc(n.Outputs, func(o rnntest.Output) bool {
			return o.Of == "sequence"
		}) {
			n = nil
		}
	}
	n.Lengths, n.Steps = true, 5
	dir := t.TempDir()
	write := func(name string, b []byte, err error) string {
		t.Helper()
		path := filepath.Join(dir, name)
		if err != nil || os.WriteFile(path, b, 0o644) != nil {
			t.Fatalf("%s: %v", name, err)
		}
		return path
	}
	lengths := []float64{1, 5, 3, 2, 4}
	b, err := npy.Format(&npy.Array{DType: "int64", Shape: []int{len(lengths)}, Data: lengths})
	o := SimOptions{Options: Options{Model: write("m.onnx", n.ONNX(), nil),
		Lengths: &frontend.Lengths{Axis: "T", Min: 1, Max: 5}}, Steps: write("lengths.npy", b, err)}
	run := func(engine Engine, behind float64) *Simulated {
		choices := rnntest.Seeded(1)
		var data []float64
		for _, steps := range lengths {
			sample := n.Sample(choices)[0]
			each := len(sample) / n.Steps
			for i := int(steps) * each; i < len(sample); i++ {
				sample[i] = behind
			}
			data = append(data, sample...)
		}
		shape := []int{len(lengths), 5, 1, n.Inputs[0].Features}
		switch n.Form {
		case "samples first":
			shape = []int{len(lengths), 1, 5, n.Inputs[0].Features}
		case "flat":
			shape = []int{len(lengths), 5, n.Inputs[0].Features}
		}
		b, err := npy.Format(&npy.Array{DType: "float32", Shape: shape, Data: data})
		o.Input, o.Engine = write(string(engine)+".npy", b, err), engine
		var d diag.List
		r, err := Simulate(context.Background(), o, &d)
		if err != nil || r == nil {
			t.Fatalf("%s: %v %v", engine, err, d.Diags)
		}
		return r
	}
	want := run(Reference, 0)
	for _, engine := range []Engine{Reference, Eval, Cycle, CSim} {
		got := run(engine, 1)
		for k, a := range got.Outputs {
			if !slices.Equal(a.Shape, want.Outputs[k].Shape) || !slices.Equal(a.Data, want.Outputs[k].Data) {
				t.Errorf("%s: output %d is %v, want %v", engine, k, a, want.Outputs[k])
			}
		}
	}
	for k, out := range n.Outputs {
		if a := want.Outputs[k]; out.Of == "sequence" {
			each := len(a.Data) / len(lengths)
			for i, steps := range lengths {
				rest := a.Data[i*each+each/5*int(steps) : (i+1)*each]
				if slices.ContainsFunc(rest, func(v float64) bool { return v != 0 }) {
					t.Errorf("sample %d has %v behind its %v steps", i, rest, steps)
				}
			}
		}
	}
}
