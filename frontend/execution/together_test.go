package execution_test

import (
	"math/rand/v2"
	"slices"
	"testing"

	"hlsgen/frontend/execution"
	"hlsgen/frontend/graph"
	"hlsgen/frontend/program"
	"hlsgen/internal/testsupport/graphtest"
)

// TestTogether holds parts that are run together against parts that are not: products, normalisations per channel and
// quantisers, at scales with and without ties, in runs that follow each other.
func TestTogether(t *testing.T) {
	t.Parallel()
	rng := rand.New(rand.NewPCG(8, 1))
	const channels, pixels = 4, 128
	for _, unit := range []float64{0.25, float64(float32(0.1))} {
		number := func() float64 { return unit * float64(rng.IntN(9)-4) }
		vector := func() *graph.ConstantTensor {
			return graphtest.Reals([]int{channels, 1}, numbers(channels, number)...)
		}
		init := map[string]*graph.ConstantTensor{"w": graphtest.Reals([]int{channels, channels},
			numbers(channels*channels,
				number)...),
			"mul": vector(), "add": vector(), "s": graphtest.Scalar(unit), "z": graphtest.Scalar(0),
			"b": graphtest.Scalar(4)}
		g := graphtest.Network([]int{channels, pixels}, init,
			graphtest.Node("MatMul", nil, "sums", "w", "x"),
			graphtest.Node("Mul", nil, "scaled", "sums", "mul"),
			graphtest.Node("Add", nil, "moved", "scaled", "add"),
			graphtest.Node("Relu", nil, "above", "moved"),
			graphtest.Node("Quant", nil, "codes", "above", "s", "z", "b"),
			graphtest.Node("Mul", nil, "twice", "codes", "add"), // read twice: by itself and by a quantiser
			graphtest.Node("Quant", nil, "again", "twice", "s", "z", "b"),
			graphtest.Node("Add", nil, "y", "again", "twice"))
		p := graphtest.Prepare(t, g)
		plain, err := execution.NewProgramPart(p, []string{"x"}, []string{"y"})
		if err != nil {
			t.Fatal(err)
		}
		together := plain.WithJoinedElementFunctions()
		if n, of := len(together.Nodes()), len(plain.Nodes()); n != of-4 {
			t.Errorf("%d of %d nodes are left", n, of)
		}
		for run := range 4 {
			x := program.NewExactReals([]int{channels, pixels}, numbers(channels*pixels, number))
			_, all, err := plain.Run([]*program.Reals{x})
			if err != nil {
				t.Fatal(err)
			}
			want, err := plain.RoundedOutput("y", all)
			if err != nil {
				t.Fatal(err)
			}
			if _, all, err = together.Run([]*program.Reals{x}); err != nil {
				t.Fatal(err)
			}
			got, err := together.RoundedOutput("y", all)
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
