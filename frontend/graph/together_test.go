package graph_test

import (
	"math/rand/v2"
	"slices"
	"testing"

	"hlsgen/frontend/graph"
)

// TestTogether holds parts that are run together against parts that are not: products, normalisations per channel and
// quantisers, at scales with and without ties, in runs that follow each other.
func TestTogether(t *testing.T) {
	t.Parallel()
	rng := rand.New(rand.NewPCG(8, 1))
	const channels, pixels = 4, 128
	for _, unit := range []float64{0.25, float64(float32(0.1))} {
		number := func() float64 { return unit * float64(rng.IntN(9)-4) }
		vector := func() *graph.Tensor {
			return reals([]int{channels, 1}, numbers(channels, number)...)
		}
		init := map[string]*graph.Tensor{"w": reals([]int{channels, channels}, numbers(channels*channels, number)...),
			"mul": vector(), "add": vector(), "s": scalar(unit), "z": scalar(0), "b": scalar(4)}
		g := network([]int{channels, pixels}, init,
			node("MatMul", nil, "sums", "w", "x"),
			node("Mul", nil, "scaled", "sums", "mul"),
			node("Add", nil, "moved", "scaled", "add"),
			node("Relu", nil, "above", "moved"),
			node("Quant", nil, "codes", "above", "s", "z", "b"),
			node("Mul", nil, "twice", "codes", "add"), // read twice: by itself and by a quantiser
			node("Quant", nil, "again", "twice", "s", "z", "b"),
			node("Add", nil, "y", "again", "twice"))
		p := prepare(t, g)
		plain, err := graph.NewPart(p, []string{"x"}, []string{"y"})
		if err != nil {
			t.Fatal(err)
		}
		together := plain.JoinFunctions()
		if n, of := len(together.Nodes()), len(plain.Nodes()); n != of-4 {
			t.Errorf("%d of %d nodes are left", n, of)
		}
		for run := range 4 {
			x := graph.NewExactReals([]int{channels, pixels}, numbers(channels*pixels, number))
			_, all, err := plain.Run([]*graph.Reals{x})
			if err != nil {
				t.Fatal(err)
			}
			want, err := plain.Rounded("y", all)
			if err != nil {
				t.Fatal(err)
			}
			if _, all, err = together.Run([]*graph.Reals{x}); err != nil {
				t.Fatal(err)
			}
			got, err := together.Rounded("y", all)
			if err != nil {
				t.Fatal(err)
			}
			if !slices.Equal(got, want) {
				t.Fatalf("unit %v, run %d: %v, want %v", unit, run, got, want)
			}
		}
	}
}

func numbers(n int, number func() float64) []float64 {
	v := make([]float64, n)
	for i := range v {
		v[i] = number()
	}
	return v
}
