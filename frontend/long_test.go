package frontend_test

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"hlsgen/frontend"
	"hlsgen/frontend/graph"
	"hlsgen/hlslib/requant"
	"hlsgen/internal/dataflow"
)

// longActivations are activations of 13 to 16 bits in front of another layer, behind sums h of 4 channels. Their codes
// are a.
var longActivations = []struct {
	name string
	make func(n *net, r *rand.Rand, quant func(x, y string))
}{
	{"a scale for the tensor", func(n *net, r *rand.Rand, quant func(x, y string)) { quant("h", "a") }},
	{"a scale per channel", func(n *net, r *rand.Rand, quant func(x, y string)) {
		var scale []float64
		for range 4 {
			scale = append(scale, float64(float32(0.5+r.Float64())))
		}
		n.op("Mul", "m", "h", n.c([]int{4}, scale...))
		quant("m", "a")
	}},
	{"a bias per channel", func(n *net, r *rand.Rand, quant func(x, y string)) {
		n.op("Add", "m", "h", n.c([]int{4}, 1.7, -20.3, 0.013, 55))
		quant("m", "a")
	}},
	{"a ReLU", func(n *net, r *rand.Rand, quant func(x, y string)) {
		n.op("Relu", "m", "h")
		quant("m", "a")
	}},
	{"a LeakyReLU", func(n *net, r *rand.Rand, quant func(x, y string)) {
		n.op("LeakyRelu", "m", "h").Float("alpha", 0.01+0.3*r.Float32())
		quant("m", "a")
	}},
	{"a LeakyReLU of a scale and a bias per channel", func(n *net, r *rand.Rand, quant func(x, y string)) {
		n.op("Mul", "g", "h", n.c([]int{4}, 0.7, 1.3, 0.45, 1))
		n.op("Add", "b", "g", n.c([]int{4}, 1.7, -20.3, 0.013, 55))
		n.op("LeakyRelu", "m", "b").Float("alpha", 0.01+2*r.Float32())
		quant("m", "a")
	}},
	{"two codes", func(n *net, r *rand.Rand, quant func(x, y string)) {
		n.op("MatMul", "g", "q", n.c([]int{3, 4}, count(12)...))
		quant("g", "g16")
		quant("h", "h16")
		n.op("Add", "s", "h16", "g16")
		quant("s", "a")
	}},
}

// TestLongMultipliers compares layers with models whose activations have so many codes, and such scales, that no
// multiplication of 63 bits gives them.
func TestLongMultipliers(t *testing.T) {
	t.Parallel()
	for _, c := range longActivations {
		long := 0
		for seed := range uint64(4) {
			r := rand.New(rand.NewPCG(41, seed))
			n := newNet(13).Input("x", graph.DTypeFloat32, "N", 3)
			size := float64(float32(0.0003 * (0.5 + r.Float64())))
			n.quant("x", "q", n.s(size), 0, 16, 1).op("MatMul", "h0", "q",
				n.c([]int{3, 4}, 3737, -3182, 2849, 297, -3071, 3553, 4144, -1850, 2369, 4699, -4329, 1369))
			n.op("Mul", "h", "h0", n.s(float64(float32(0.00005+0.0001*r.Float64()))))
			c.make(n, r, func(x, y string) {
				bits, signed := 13+r.IntN(4), r.Int64N(2)
				zero := float64(r.IntN(1<<(bits-1))) * float64(1-signed)
				n.quant(x, y, n.s(size*400/float64(int64(1)<<bits)*(50+50*r.Float64())), zero, bits, signed)
			})
			n.op("MatMul", "y", "a", n.c([]int{4, 2}, 1, 2, -3, 4, 5, -6, 7, 8)).output("N", 2)
			im, found := imported(t, n, frontend.Options{})
			if im.Model == nil {
				t.Fatalf("%s: %v", c.name, found)
			}
			for _, node := range im.Model.Graph.Nodes {
				if p, ok := node.Op.Params().(requant.Params); ok && len(p.Low) > 0 {
					long++
				}
			}
			for range 150 {
				x := dataflow.RealTensor{Shape: im.Model.In[0].Shape}
				for range 3 {
					x.Data = append(x.Data, size*float64(r.Int64N(1<<16)-1<<15))
				}
				want, err := im.Model.Reference([]dataflow.RealTensor{x})
				if err != nil {
					t.Fatal(err)
				}
				if got, _ := run(t, im.Model, []dataflow.RealTensor{x}); !slices.Equal(got[0].Data, want[0].Data) {
					t.Fatalf("%s, %v: the layers give %v, the model %v", c.name, x.Data, got[0].Data, want[0].Data)
				}
			}
		}
		if long == 0 {
			t.Errorf("%s: no multiplier is long", c.name)
		}
	}
}

// TestSumsOfLongCodes compares layers with models that add codes of two inputs, where the real sum is very near to a
// step of the quantiser behind.
func TestSumsOfLongCodes(t *testing.T) {
	t.Parallel()
	for seed := range uint64(6) {
		r := rand.New(rand.NewPCG(43, seed))
		n := newNet(13).Input("x", graph.DTypeFloat32, "N", 2).Input("z", graph.DTypeFloat32, "N", 2)
		size := [3]float64{}
		for i := range size {
			size[i] = float64(float32(0.0003 * (0.5 + r.Float64())))
		}
		n.quant("x", "a", n.s(size[0]), float64(r.IntN(1<<16)), 16, 0).quant("z", "b", n.s(size[1]), 0, 13+r.IntN(4), 1)
		n.op("Add", "s", "a", "b").quant("s", "q", n.s(size[2]), float64(r.IntN(1<<16)), 16, 0)
		n.op("MatMul", "y", "q", n.c([]int{2, 2}, 1, 2, -3, 4)).output("N", 2)
		im, found := imported(t, n, frontend.Options{})
		if im.Model == nil {
			t.Fatalf("%d: %v", seed, found)
		}
		for range 40 {
			x := make([]dataflow.RealTensor, 2)
			for i := range x {
				x[i] = dataflow.RealTensor{Shape: im.Model.In[i].Shape, Data: make([]float64, 2)}
			}
			for c := range 2 {
				nearest := 1.0
				for range 500 {
					a, b := float64(r.Int64N(1<<14)-1<<13)*size[0], float64(r.Int64N(1<<12)-1<<11)*size[1]
					_, part := math.Modf(math.Abs(a+b) / size[2])
					if d := math.Abs(part - 0.5); d < nearest {
						nearest, x[0].Data[c], x[1].Data[c] = d, a, b
					}
				}
			}
			want, err := im.Model.Reference(x)
			if err != nil {
				t.Fatal(err)
			}
			if got, _ := run(t, im.Model, x); !slices.Equal(got[0].Data, want[0].Data) {
				t.Fatalf("%d, %v: the layers give %v, the model %v", seed, x, got[0].Data, want[0].Data)
			}
		}
	}
}
