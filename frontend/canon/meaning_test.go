package canon_test

import (
	"bytes"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"

	"hlsgen/frontend/canon"
	"hlsgen/frontend/execution"
	"hlsgen/frontend/graph"
	"hlsgen/frontend/onnxio"
	"hlsgen/frontend/operators"
	"hlsgen/frontend/pass"
	"hlsgen/frontend/program"
	"hlsgen/internal/diag"
	realmodels "hlsgen/internal/testsupport/models"
	"hlsgen/internal/testsupport/onnxtest"
	"hlsgen/internal/testsupport/tier"
)

func read(t *testing.T, name string, b []byte) *graph.Graph {
	t.Helper()
	var d diag.List
	g := onnxio.ParseGraph(name, b, &d)
	if g == nil {
		t.Fatalf("%s: %v", name, d.Diags)
	}
	return g
}

func build(t *testing.T, f func(m *onnxtest.Model)) *graph.Graph {
	t.Helper()
	m := onnxtest.New(13).Opset(qonnx, 2)
	f(m)
	return read(t, "model.onnx", m.Bytes())
}

// outputs runs a prepared graph and gives every output with its shape and type.
func outputs(p *program.Program, in []*program.Reals) ([][]float64, error) {
	to := graph.ValueNames(p.Graph.Outputs)
	part, err := execution.NewProgramPart(p, graph.ValueNames(p.Graph.Inputs), to)
	if err != nil {
		return nil, err
	}
	_, all, err := part.Run(in)
	if err != nil {
		return nil, err
	}
	var out [][]float64
	for _, name := range to {
		v, err := part.RoundedOutput(name, all)
		if err != nil {
			return nil, err
		}
		out = append(out, v)
	}
	return out, nil
}

// scales are the steps of the quantisers of a graph: inputs that are multiples of half a step meet ties.
func scales(p *program.Program) []float64 {
	out := []float64{1, 0.25}
	for _, n := range p.Graph.Nodes {
		if (n.Op == "Quant" || n.Op == "QuantizeLinear" || n.Op == "Code") && len(n.Inputs) > 1 {
			if c := p.Known[n.Inputs[1]].Const; c != nil && c.Len() > 0 && c.DType.IsReal() {
				out = append(out, c.FloatAt(0))
			}
		}
	}
	return out
}

func draw(r *rand.Rand, p *program.Program) (in []*program.Reals) {
	steps := scales(p)
	for _, v := range p.Graph.Inputs {
		k := p.Known[v.Name]
		data := make([]float64, graph.ElementCount(k.Shape))
		for i := range data {
			switch {
			case !k.DType.IsReal():
				data[i] = float64(r.IntN(100))
			case r.IntN(2) == 0:
				data[i] = steps[r.IntN(len(steps))] * float64(r.IntN(81)-40) / 2
			default:
				data[i] = float64(float32(r.NormFloat64() * 2))
			}
		}
		in = append(in, program.NewExactReals(k.Shape, data))
	}
	return in
}

// The elements that a model computes from which on one sample must do, and from which on even that takes long.
const (
	large = 1 << 22
	huge  = 1 << 23
)

// same executes a graph as read and after each pass, and compares outputs bit by bit, with their shapes and types.
func same(t *testing.T, g *graph.Graph, samples int) {
	t.Helper()
	var d diag.List
	before := operators.Prepare(g, "model.onnx", operators.Options{}, &d)
	if before == nil {
		t.Skip(d.Diags[0].Msg)
	}
	elements, first := 0, 0
	for _, s := range before.Steps {
		elements += graph.ElementCount(s.Shape)
	}
	if elements > large {
		samples, first = 1, len(canon.Passes)-1 // all passes at once
	}
	if elements > huge {
		tier.NeedsLong(t)
	}
	r := rand.New(rand.NewPCG(1, 2))
	var in [][]*program.Reals
	var want [][][]float64
	for range samples {
		x := draw(r, before)
		y, err := outputs(before, x)
		if err != nil {
			t.Fatal(err)
		}
		in, want = append(in, x), append(want, y)
	}
	for k, row := range canon.Passes[first:] {
		k += first
		m := &canon.PassState{Program: before}
		after, err := canon.NormaliseGraph(m, pass.Options[*canon.PassState]{Until: k + 1}, &d)
		if err != nil || after == nil {
			t.Fatalf("after %s: %v %v", row.Name, err, d.Diags)
		}
		if what := difference(after, onnxtest.Prepare(t, after.Graph)); what != "" {
			t.Errorf("after %s, the program that is kept is not that of its graph: %s", row.Name, what)
		}
		for i, o := range g.Outputs {
			b, a := before.Known[o.Name], after.Known[o.Name]
			if b.DType.IsReal() != a.DType.IsReal() || b.DType.IsReal() && b.DType != a.DType ||
				fmt.Sprint(b.Shape) != fmt.Sprint(a.Shape) {
				t.Errorf("after %s, output %d is %v%v, was %v%v", row.Name, i, a.DType, a.Shape, b.DType, b.Shape)
			}
		}
		for s := range in {
			got, err := outputs(after, in[s])
			if err != nil {
				t.Fatalf("after %s: %v", row.Name, err)
			}
			for o := range got {
				for i, v := range got[o] {
					if math.Float64bits(v+0) != math.Float64bits(want[s][o][i]+0) { // zeros have no sign
						t.Fatalf("after %s, output %d, element %d is %v, was %v", row.Name, o, i, v, want[s][o][i])
					}
				}
			}
		}
	}
	m := &canon.PassState{Program: before}
	canonical, err := canon.NormaliseGraph(m, pass.Options[*canon.PassState]{}, &d)
	if err != nil || canonical == nil {
		t.Fatal(err, d.Diags)
	}
	for _, n := range m.Graph.Nodes {
		if n.Op == "Gemm" || n.Op == "QuantizeLinear" || n.Domain != "" && n.Op == "Quant" {
			t.Errorf("%s %q is left", n.QualifiedOpName(), n.Name)
		}
	}
	// A second run folds constants that the first made; a third finds nothing.
	var text [2]bytes.Buffer
	for i := range text {
		if _, err := canon.NormaliseGraph(m, pass.Options[*canon.PassState]{}, &d); err != nil {
			t.Fatal(err)
		}
		if err := graph.WriteGraphText(&text[i], m.Graph); err != nil {
			t.Fatal(err)
		}
	}
	if text[0].String() != text[1].String() {
		t.Errorf("a third run changes the graph from\n%s\nto\n%s", text[0].String(), text[1].String())
	}
}

func TestPassesKeepTheMeaning(t *testing.T) {
	t.Parallel()
	tier.NotQuick(t)
	for _, m := range models {
		t.Run(m.name, func(t *testing.T) { same(t, build(t, m.build), 50) })
	}
}

// TestPassesKeepTheMeaningOfModels does so with every real model that can be executed.
func TestPassesKeepTheMeaningOfModels(t *testing.T) {
	t.Parallel()
	tier.NotQuick(t)
	files := map[string]string{} // by name
	for i, m := range realmodels.All(t) {
		for _, file := range m.Files {
			if m.TierAllows(t, file) && (!m.Shared || i%3 == 0 || tier.Long()) {
				files[m.Name+"/"+file] = m.Path(file)
			}
		}
	}
	if shared := tier.Shared(t); shared != "" {
		found, err := filepath.Glob(filepath.Join(shared, "models", "qonnx_ops", "*.onnx"))
		if err != nil || len(found) == 0 {
			t.Fatalf("%d single operators, %v", len(found), err)
		}
		for _, file := range found {
			files["qonnx_ops/"+filepath.Base(file)] = file
		}
	}
	for name, file := range files {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			var d diag.List
			g := onnxio.ParseGraph(filepath.Base(file), b, &d)
			if g == nil {
				t.Skip(d.Diags[0].Msg)
			}
			same(t, g, 2)
		})
	}
}
