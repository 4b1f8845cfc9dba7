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
	"hlsgen/internal/testsupport/tier"
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
	tier.NotQuick(t)
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
			for range tier.CasesToRun(150) {
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

// A sumOfCodes is a model that adds a code of 16 bits and one of fewer, and quantises the sum to 16 bits.
type sumOfCodes struct {
	size [3]float64 // the scales of the two and of the sum
	zero [3]int64
	bits int // of the second
}

// besideStep returns values of the two codes whose real sums lie on both sides of the step below a code of the sum, and
// false if it finds none. The second's values are neighbours. Of 40 draws it takes the one that comes nearest.
func (m sumOfCodes) besideStep(r *rand.Rand, code int64) (a float64, b [2]float64, ok bool) {
	step := (float64(code-m.zero[2]) - 0.5) * m.size[2]
	limit := int64(1) << (m.bits - 1)
	nearest := 1.0
	for range 40 {
		first := math.Round((step - float64(r.Int64N(2*limit)-limit)*m.size[1]) / m.size[0])
		first = min(max(first, float64(-m.zero[0])), float64(1<<16-1-m.zero[0]))
		second, part := math.Modf((step-first*m.size[0])/m.size[1] + float64(limit))
		second -= float64(limit) // rounded down
		distance := min(part, 1-part)
		if distance < nearest && second >= float64(-limit) && second+1 < float64(limit) {
			a, b = first*m.size[0], [2]float64{second * m.size[1], (second + 1) * m.size[1]}
			nearest, ok = distance, true
		}
	}
	return a, b, ok
}

// TestSumsOfLongCodes compares layers with models that add codes of two inputs, on both sides of steps of the quantiser
// behind: of every step in the long tier, and of one of 61 otherwise.
func TestSumsOfLongCodes(t *testing.T) {
	t.Parallel()
	tier.NotQuick(t)
	every := int64(61)
	switch {
	case tier.Long():
		every = 1
	case tier.Quick():
		every = 307
	}
	for seed := range uint64(6) {
		r := rand.New(rand.NewPCG(43, seed))
		m := sumOfCodes{bits: 13 + r.IntN(4)}
		for i := range m.size {
			m.size[i] = float64(float32(0.0003 * (0.5 + r.Float64())))
		}
		m.zero = [3]int64{r.Int64N(1 << 16), 0, r.Int64N(1 << 16)}
		n := newNet(13).Input("x", graph.DTypeFloat32, "N", 2).Input("z", graph.DTypeFloat32, "N", 2)
		n.quant("x", "a", n.s(m.size[0]), float64(m.zero[0]), 16, 0).quant("z", "b", n.s(m.size[1]), 0, m.bits, 1)
		n.op("Add", "s", "a", "b").quant("s", "q", n.s(m.size[2]), float64(m.zero[2]), 16, 0)
		n.op("MatMul", "y", "q", n.c([]int{2, 2}, 1, 2, -3, 4)).output("N", 2)
		im, found := imported(t, n, frontend.Options{})
		if im.Model == nil {
			t.Fatalf("%d: %v", seed, found)
		}
		steps := 0
		for code := 1 + r.Int64N(every); code < 1<<16; code += every {
			a, b, ok := m.besideStep(r, code)
			if !ok {
				continue
			}
			steps++
			x := []dataflow.RealTensor{{Shape: im.Model.In[0].Shape, Data: []float64{a, a}},
				{Shape: im.Model.In[1].Shape, Data: b[:]}}
			want, err := im.Model.Reference(x)
			if err != nil {
				t.Fatal(err)
			}
			if got, _ := run(t, im.Model, x); !slices.Equal(got[0].Data, want[0].Data) {
				t.Fatalf("%d, %v: the layers give %v, the model %v", seed, x, got[0].Data, want[0].Data)
			}
		}
		if steps < int(20_000/every) {
			t.Errorf("%d: %d steps can be met", seed, steps)
		}
	}
}
