package frontend_test

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"hlsgen/frontend"
	"hlsgen/frontend/graph"
	"hlsgen/internal/diag"
	"hlsgen/internal/testsupport/tier"
)

// between draws an operation on size values, for a place between a layer and its quantiser.
func (n *net) between(r *rand.Rand, x string, size int) string {
	y := n.name()
	vector := func() string {
		v := make([]float64, size)
		for i := range v {
			v[i] = r.NormFloat64()
		}
		if r.IntN(3) == 0 {
			return n.s(v[0])
		}
		return n.c([]int{size}, v...)
	}
	switch r.IntN(12) {
	case 0:
		n.op("Relu", y, x)
	case 1:
		n.op("Add", y, x, vector())
	case 2:
		n.op("Mul", y, x, vector())
	case 3:
		n.op("Clip", y, x, n.s(-1-r.Float64()), n.s(1+r.Float64()))
	case 4:
		gamma, variance := make([]float64, size), make([]float64, size)
		for i := range gamma {
			gamma[i] = []float64{1, -1, 0, 2.9e-7, 1e-41, -0.3}[r.IntN(6)]
			variance[i] = []float64{1, 2, 0, 1e-12, 0.25}[r.IntN(5)]
		}
		n.op("BatchNormalization", y, x, n.c([]int{size}, gamma...), n.c([]int{size}, gamma...),
			n.c([]int{size}, variance...), n.c([]int{size}, variance...))
	case 5:
		n.op("Neg", y, x)
	case 6:
		n.op("Sigmoid", y, x)
	case 7:
		n.op("LeakyRelu", y, x).Float("alpha", 0.125)
	case 8:
		n.op("Mul", y, x, x)
	case 9:
		n.op("Reshape", y, x, n.i(1, -1))
	case 10:
		n.op("Div", y, x, n.s(1.5+r.Float64()))
	case 11:
		n.op("Abs", y, x)
	}
	return y
}

// coded draws a quantiser.
func (n *net) coded(r *rand.Rand, x string) string {
	y := n.name()
	scale := []float64{0.5, 0.25, 0.3, 1, 0.7, -0.5, -0.3}[r.IntN(7)]
	switch r.IntN(5) {
	case 0:
		zero := n.name()
		n.Init(zero, graph.DTypeUInt8, nil, float64(r.IntN(4)))
		n.op("QuantizeLinear", y+"c", x, n.s(scale/4), zero)
		n.op("DequantizeLinear", y, y+"c", n.s(scale/4), zero)
	case 1:
		n.bipolar(x, y, n.s(scale))
	default:
		mode := []string{"ROUND", "CEIL", "FLOOR", "UP", "DOWN", "HALF_UP", "HALF_DOWN"}[r.IntN(7)]
		n.Node("Quant", x, n.s(scale), n.s(float64(r.IntN(3)-1)/2),
			n.s(float64(1+r.IntN(5)))).Domain(qonnx).Int("signed", int64(r.IntN(2))).Str("rounding_mode", mode).Out(y)
	}
	return y
}

// TestRandomNetworks puts random nodes between layers. A network that imports must agree with its model. One that does
// not must have a reason.
func TestRandomNetworks(t *testing.T) {
	t.Parallel()
	tier.NotQuick(t)
	networks, became := 80, 0
	if tier.Long() {
		networks = 2000
	}
	for seed := range networks {
		r := rand.New(rand.NewPCG(uint64(seed), 3))
		n := newNet(13)
		width := 1 + r.IntN(5)
		n.Input("x", graph.DTypeFloat32, 1, width)
		y := n.coded(r, "x")
		for range 1 + r.IntN(2) {
			next, unit := 1+r.IntN(5), []float64{0.25, 0.375, 0x1p-33}[r.IntN(9)/4]
			w := make([]float64, width*next)
			for i := range w {
				w[i] = float64(r.IntN(7)-3) * unit
			}
			h := n.name()
			n.op("MatMul", h, y, n.c([]int{width, next}, w...))
			width, y = next, h
			for range r.IntN(4) {
				y = n.between(r, y, width)
			}
			y = n.coded(r, y)
		}
		n.op("Identity", "y", y)
		n.Output("y", graph.DTypeFloat32, 1, width)
		if r.IntN(2) == 0 {
			n.Prune(r)
		}
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			im, found := imported(t, n, frontend.Options{})
			if im.Model == nil {
				if found[0].Severity != diag.SeverityError || found[0].Msg == "" || found[0].Hint == "" {
					t.Fatalf("refused without a reason: %v", found)
				}
				t.Log(found[0].String())
				return
			}
			became++
			agree(t, im.Model, 60)
		})
	}
	if became*2 < networks {
		t.Errorf("%d of %d networks were imported", became, networks)
	}
}
