package frontend_test

import (
	"math/rand/v2"
	"slices"
	"testing"

	"hlsgen/frontend"
	"hlsgen/frontend/graph"
	"hlsgen/internal/dataflow"
)

// TestManyCodes has quantisers of 16 and 18 bits between layers, where no layer has a comparator for each code.
func TestManyCodes(t *testing.T) {
	t.Parallel()
	behind := func(n *net) {
		n.op("MatMul", "y", "a", n.c([]int{4, 2}, 1, 2, -3, 4, 5, -6, 7, 8)).output("N", 2)
	}
	for _, c := range []struct {
		name, layers string
		build        func(n *net)
	}{
		{"ties, and both limits", "MVAU Requantization MVAU", func(n *net) {
			behind(n.quant("h", "a", n.s(0x1p-5), 0, 16, 1))
		}},
		{"finer than the sums", "MVAU Requantization MVAU", func(n *net) {
			behind(n.quant("h", "a", n.s(0x1p-9), 0, 18, 1))
		}},
		{"a ReLU, and a scale that is no power of two", "MVAU Requantization MVAU", func(n *net) {
			behind(n.op("Relu", "r", "h").quant("r", "a", n.s(0.0123), 0, 16, 0))
		}},
		{"a bias per channel, and a zero point", "MVAU Requantization MVAU", func(n *net) {
			behind(n.op("Add", "b", "h", n.c([]int{4}, 1.7, -20.3, 0.013, 55)).
				quant("b", "a", n.s(0.0371), 32768, 16, 0))
		}},
		{"two added", "DuplicateStreams MVAU Requantization MVAU Requantization AddStreams Requantization MVAU",
			func(n *net) {
				n.op("MatMul", "g", "q", n.c([]int{3, 4}, count(12)...)).quant("h", "h16", n.s(0x1p-6), 0, 16, 1).
					quant("g", "g16", n.s(0x1p-5), 0, 16, 1).op("Add", "s", "h16", "g16")
				behind(n.op("Relu", "r", "s").quant("r", "a", n.s(0x1p-7), 0, 17, 0))
			}},
		{"labels, which the host finds", "MVAU", func(n *net) {
			n.quant("h", "a", n.s(0x1p-6), 0, 18, 1).op("ArgMax", "y", "a").Int("axis", 1).Int("keepdims", 0).
				indices("N")
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			n := newNet(13).Input("x", graph.DTypeFloat32, "N", 3)
			n.quant("x", "q", n.s(0x1p-8), 0, 16, 1).dense()
			c.build(n)
			im, found := imported(t, n, frontend.Options{})
			if im.Model == nil {
				t.Fatal(found)
			}
			if got := kinds(im); got != c.layers {
				t.Errorf("layers %s, want %s", got, c.layers)
			}
			r := rand.New(rand.NewPCG(16, 18))
			for i := range 300 {
				x := dataflow.RealTensor{Shape: im.Model.In[0].Shape}
				for range 3 {
					v := float64(r.Int64N(1<<16)-1<<15) * 0x1p-8
					if i%3 == 0 {
						v = []float64{-128, 127.99609375, v / 64}[r.IntN(3)]
					}
					x.Data = append(x.Data, v)
				}
				want, err := im.Model.Reference([]dataflow.RealTensor{x})
				if err != nil {
					t.Fatal(err)
				}
				if got, _ := run(t, im.Model, []dataflow.RealTensor{x}); !slices.Equal(got[0].Data, want[0].Data) {
					t.Fatalf("%v: the layers give %v, the model %v", x.Data, got[0].Data, want[0].Data)
				}
			}
		})
	}
}
