package source_test

import (
	"fmt"
	"math/big"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"hlsgen/frontend"
	"hlsgen/frontend/graph"
	"hlsgen/frontend/operators"
	"hlsgen/internal/build"
	"hlsgen/internal/check"
	"hlsgen/internal/diag"
	"hlsgen/internal/npy"
	"hlsgen/internal/num"
	"hlsgen/internal/options"
	"hlsgen/internal/testsupport/onnxtest"
	"hlsgen/internal/testsupport/samplefiles"
	"hlsgen/internal/testsupport/tier"
)

// withoutQuantisers draws a network without a quantiser in front of its first layer: its weights are integers, codes of
// a Quant as QKeras writes them, or real numbers.
func withoutQuantisers(r *rand.Rand) []byte {
	m := onnxtest.New(13).Opset(operators.QONNXDomain, 2).Input("x", graph.DTypeFloat32, 1, 6)
	x, width, made := "x", 6, 0
	fresh := func() string {
		made++
		return fmt.Sprintf("t%d", made)
	}
	scalar := func(v float64) string {
		name := fresh()
		m.Init(name, graph.DTypeFloat32, nil, v)
		return name
	}
	node := func(op string, in ...string) *onnxtest.Node {
		x = fresh()
		return m.Node(op, in...).Out(x)
	}
	kind := r.IntN(3)
	for range 1 + r.IntN(3) {
		next := 2 + r.IntN(5)
		weights := make([]float64, width*next)
		for i := range weights {
			if weights[i] = float64(r.IntN(7) - 3); kind > 0 {
				weights[i] = float64(float32(r.NormFloat64()))
			}
		}
		data, w := x, fresh()
		m.Init(w, graph.DTypeFloat32, []int{width, next}, weights...)
		if kind == 1 {
			node("Quant", w, scalar(0.25), scalar(0), scalar(4)).Domain(operators.QONNXDomain)
			w = x
		}
		if r.IntN(2) == 0 {
			node("MatMul", data, w)
		} else {
			b := fresh()
			m.Init(b, graph.DTypeFloat32, []int{next}, weights[:next]...)
			node("Gemm", data, w, b)
		}
		width = next
		switch r.IntN(4) {
		case 0:
			node("Relu", x)
		case 1:
			node("Sigmoid", x)
		case 2:
			node("Tanh", x)
		}
	}
	m.Node("Identity", x).Out("y")
	return m.Output("y", graph.DTypeFloat32, 1, width).Bytes()
}

// The hint of a model of which nothing is quantised names every flag with which it maps, and no other.
func TestFlagsThatMap(t *testing.T) {
	t.Parallel()
	tier.NotQuick(t)
	dir := t.TempDir()
	named := map[string]int{}
	for seed := range uint64(100) {
		r := rand.New(rand.NewPCG(seed, 37))
		path := filepath.Join(dir, fmt.Sprintf("%d.onnx", seed))
		onnx := withoutQuantisers(r)
		if err := os.WriteFile(path, onnx, 0o600); err != nil {
			t.Fatal(err)
		}
		a := &npy.Array{DType: "float32", Shape: []int{5, 6}}
		for range 30 {
			a.Data = append(a.Data, float64(float32(r.NormFloat64())))
		}
		samples := samplefiles.Save(t, filepath.Join(dir, fmt.Sprintf("%d.npy", seed)), a)
		check := func(change func(*build.Options)) *diag.List {
			o, d := build.Options{Source: options.Source{Model: path}}, new(diag.List)
			change(&o)
			if _, err := check.Run(t.Context(), check.Options{Source: o.Source, AccBits: o.AccBits}, d); err != nil {
				t.Fatal(err)
			}
			return d
		}
		d := check(func(*build.Options) {})
		if !d.HasErrors() || d.Diags[0].Code != diag.NothingQuantised {
			t.Errorf("seed %d: %v", seed, d.Diags)
			continue
		}
		for flag, change := range map[string]func(*build.Options){
			"--input-type UINT8": func(o *build.Options) {
				o.InputType = &frontend.IntegerInputType{Type: num.Type{Kind: num.KindUInt, Width: 8},
					Scale: big.NewRat(1, 1)}
			},
			"--input-quant INT8:0.0625": func(o *build.Options) {
				o.InputQuant = &frontend.AddedInputQuantiser{Type: num.Type{Kind: num.KindInt, Width: 8}, Scale: 0.0625}
			},
			"--calibrate ": func(o *build.Options) { o.Calibrate = samples },
		} {
			does, says := !check(change).HasErrors(), strings.Contains(d.Diags[0].Hint, flag)
			if does != says {
				t.Errorf("seed %d: with %s it maps: %v; the hint is %q", seed, flag, does, d.Diags[0].Hint)
			}
			if says {
				named[flag]++
			}
		}
	}
	for _, flag := range []string{"--input-type UINT8", "--input-quant INT8:0.0625", "--calibrate "} {
		if named[flag] < 10 {
			t.Errorf("%s is named %d times", flag, named[flag])
		}
	}
}
