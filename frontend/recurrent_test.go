package frontend_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"hlsgen/frontend/axes"
	"hlsgen/frontend/canon"
	"hlsgen/frontend/execution"
	"hlsgen/frontend/graph"
	"hlsgen/frontend/onnxio"
	"hlsgen/frontend/operators"
	"hlsgen/frontend/pass"
	"hlsgen/frontend/program"
	"hlsgen/internal/diag"
	"hlsgen/internal/npy"
	"hlsgen/internal/testsupport/models"
	"hlsgen/internal/testsupport/tier"
)

// canonical is a model after all passes, for data of the given shape, as a part that shows the codes inside loops.
func canonical(t *testing.T, file string, shape []int) *execution.ProgramPart {
	t.Helper()
	var d diag.List
	onnx, err := os.ReadFile(file)
	g := onnxio.ParseGraph("model.onnx", onnx, &d)
	if err != nil || g == nil {
		t.Fatal(err, d.Diags)
	}
	operators.DecomposeOperators(g)
	opt := axes.OptionsWithSequenceInputs(operators.Options{Data: map[string][]int{"": shape}}, g, file)
	written := operators.Prepare(g, file, opt, &d)
	if written == nil {
		t.Fatal(d.Diags)
	}
	p, err := canon.NormaliseGraph(&canon.PassState{Program: written}, pass.Options[*canon.PassState]{}, &d)
	if err != nil || p == nil {
		t.Fatal(err, d.Diags)
	}
	part, err := execution.NewProgramPart(p, graph.ValueNames(g.Inputs), graph.ValueNames(g.Outputs))
	if err != nil {
		t.Fatal(err)
	}
	part.Watch = true
	return part
}

// inside finds the codes of a tensor of a body, run by run.
func inside(t *testing.T, all map[string]*program.Reals, loop string, tensor string, run int) []float64 {
	t.Helper()
	v := all[fmt.Sprintf("%s[%d].%s", loop, run, tensor)]
	if v == nil || !v.IsExactInFloat64() {
		t.Fatalf("run %d of %q has no exact %q", run, loop, tensor)
	}
	return v.Lo
}

// loops lists the loops of a run's tensors in order.
func loops(part *execution.ProgramPart) (names []string) {
	for _, name := range part.QuantiserTensorNames() {
		loop, _, ok := strings.Cut(name, "[0].")
		if ok && (len(names) == 0 || names[len(names)-1] != loop) {
			names = append(names, loop)
		}
	}
	return names
}

// TestBrevitasCells compares every code inside Brevitas' cells, at every step, with Brevitas' own, in the order in
// which the cell runs.
func TestBrevitasCells(t *testing.T) {
	t.Parallel()
	tensors := map[string]string{"input_acc": "i.acc", "forget_acc": "f.acc", "cell_acc": "c.acc",
		"output_acc": "o.acc", "input_sigmoid": "i.gate", "forget_sigmoid": "f.gate",
		"cell_tanh": "c.gate", "output_sigmoid": "o.gate", "forget_cell": "f*c", "input_cell": "i*g",
		"cell_state": "state", "hidden_state_tanh": "squashed", "output": "hidden"}
	tier.NotQuick(t)
	for _, m := range models.HavingFile(t, "lstm_codes.npz") {
		t.Run(m.Name, func(t *testing.T) {
			t.Parallel()
			rec := m.Recorded(t)
			part := canonical(t, m.Path("model.onnx"), nil)
			steps, width := rec.X.Shape[1], rec.X.Shape[2]
			compared := 0
			for i := range samples(rec.X.Shape[0]) {
				if !rec.Cells(i) {
					continue
				}
				x := sample(rec.X, i, []int{steps, 1, width})
				_, all, err := part.Run([]*program.Reals{program.NewExactReals(x.Shape, x.Data)})
				if err != nil {
					t.Fatal(err)
				}
				for d, loop := range loops(part) {
					for was, is := range tensors {
						want := rec.LSTM[fmt.Sprintf("d%d_%s", d, was)]
						for run := range steps {
							codes := inside(t, all, loop, is+".codes", run)
							first := (i*steps + run) * len(codes)
							for u, q := range codes {
								if q != want.Data[first+u] {
									t.Fatalf("sample %d, direction %d, step %d, %s of unit %d: %v, want %v", i, d, run,
										was, u, q, want.Data[first+u])
								}
								compared++
							}
						}
					}
				}
			}
			if compared == 0 {
				t.Error("nothing was compared")
			}
		})
	}
}

// TestFINNL compares every gate and state of the text lines that FINN-L's hardware functions computed, at every step.
func TestFINNL(t *testing.T) {
	t.Parallel()
	tier.NotQuick(t)
	root := finnl(t)
	for _, c := range []struct {
		name   string
		bits   int
		length int // 0: the whole line and both directions; else so many columns, forward
	}{{"W2A2", 2, 0}, {"W4A4", 4, 60}, {"W4A8", 8, 12}} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			dir := filepath.Join(root, c.name)
			columns := load(t, filepath.Join(dir, "010029", "input_columns.npy"))
			cells, err := npy.ReadArrays(filepath.Join(dir, "010029", "cells.npz"))
			if err != nil {
				t.Fatal(err)
			}
			hidden := load(t, filepath.Join(dir, "010029", "hidden.npy"))
			length, width, directions := columns.Shape[0], columns.Shape[1], 2
			if c.length > 0 {
				length, directions = c.length, 1
			}
			x := make([]float64, length*width)
			for i := range x {
				x[i] = columns.Data[i] / float64(int(1)<<(c.bits-1))
			}
			part := canonical(t, filepath.Join(dir, "scan.onnx"), []int{length, width})
			_, all, err := part.Run([]*program.Reals{program.NewExactReals([]int{length, width}, x)})
			if err != nil {
				t.Fatal(err)
			}
			for d, loop := range loops(part)[:directions] {
				for run := range length {
					codes := func(tensor string) []float64 { return inside(t, all, loop, tensor+".codes", run) }
					at := (run*2 + d) * 128
					equal := func(what string, got []float64, factor, offset float64, want *npy.Array, stride,
						first int) {
						for u, q := range got {
							if w := want.Data[(at+u)*stride+first]; factor*q+offset != w {
								t.Fatalf("direction %d, step %d, %s of unit %d: %v, want %v", d, run, what, u,
									factor*q+offset, w)
							}
						}
					}
					for k, g := range []string{"i", "f", "o", "c"} {
						equal("sum "+g, codes("pre_"+g), 1, 0, cells["gate_pre"], 4, k)
						if g == "c" { // thresholds reached, of 128 from -1 to 1
							equal("gate c", codes("act_c"), 1, -64, cells["gate_act"], 4, k)
						} else { // of 64 from 0 to 1, recorded with 7 fractional bits
							equal("gate "+g, codes("act_"+g), 2, 0, cells["gate_act"], 4, k)
						}
					}
					equal("cell state", codes("c_next"), 1, 0, cells["c"], 1, 0)
					equal("tanh of it", codes("tanh_c"), 1, -64, cells["tanh_c"], 1, 0)
					equal("hidden state", codes("h_next"), 1, 0, hidden, 1, 0)
				}
			}
		})
	}
}
