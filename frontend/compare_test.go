package frontend_test

import (
	"math"
	"math/rand/v2"
	"testing"

	"hlsgen/frontend"
	"hlsgen/frontend/graph"
	"hlsgen/internal/dataflow"
	"hlsgen/internal/testsupport/tier"
)

// pooled is a network whose means of four are ties for one in four: a quantiser, a mean, a quantiser of the same scale,
// two convolutions of one pixel. run is it in float32, in an order of its own: columns first, by reciprocals of scales.
type pooled struct {
	scale, middle float32
	first, second [4]float32
}

func (p *pooled) net() *net {
	n := newNet(13)
	n.Input("x", graph.DTypeFloat32, 1, 2, 4, 4)
	n.quant("x", "q", n.s(float64(p.scale)), 0, 8, 1)
	n.op("AveragePool", "m", "q").Ints("kernel_shape", 2, 2).Ints("strides", 2, 2)
	n.quant("m", "r", n.s(float64(p.scale)), 0, 8, 1)
	conv := func(in, out string, w [4]float32) {
		n.op("Conv", out, in, n.c([]int{2, 2, 1, 1}, float64(w[0]), float64(w[1]), float64(w[2]), float64(w[3])))
	}
	conv("r", "c", p.first)
	n.quant("c", "s", n.s(float64(p.middle)), 0, 8, 1)
	conv("s", "d", p.second)
	n.quant("d", "y", n.s(float64(p.middle)), 0, 8, 1)
	n.output(1, 2, 2, 2)
	return n
}

func (p *pooled) run(x []float64) (y []float64) {
	round := func(v, scale float32) float32 {
		return float32(max(-128, min(127, math.RoundToEven(float64(v*(1/scale)))))) * scale
	}
	var m, c [8]float32
	for k := range m {
		at := func(dy, dx int) float32 { return round(float32(x[k/4*16+(k/2%2*2+dy)*4+k%2*2+dx]), p.scale) }
		m[k] = round(((at(0, 0)+at(1, 0))+(at(0, 1)+at(1, 1)))*0.25, p.scale)
	}
	conv := func(in *[8]float32, w [4]float32, k int) float32 {
		return round(in[4+k%4]*w[k/4*2+1]+in[k%4]*w[k/4*2], p.middle)
	}
	for k := range c {
		c[k] = conv(&m, p.first, k)
	}
	for k := range c {
		y = append(y, float64(conv(&c, p.second, k)))
	}
	return y
}

// TestCompareAnyOrder checks that a program with another order of additions never differs. An output that is one code
// off, away from any tie, always does.
func TestCompareAnyOrder(t *testing.T) {
	t.Parallel()
	tier.NotQuick(t)
	equal, ties, found := 0, 0, 0
	for seed := range uint64(6) {
		r := rand.New(rand.NewPCG(seed, 11))
		weight := func() float32 { return float32(r.IntN(15)-7) / 8 }
		p := pooled{scale: float32(0.02 + 0.03*r.Float64()), middle: float32(0.01 + 0.02*r.Float64()),
			first:  [4]float32{weight(), weight(), weight(), weight()},
			second: [4]float32{weight(), weight(), weight(), weight()}}
		im, diags := imported(t, p.net(), frontend.Options{})
		if im.Model == nil {
			t.Fatal(diags)
		}
		c, err := im.NewOutputComparer()
		if err != nil {
			t.Fatal(err)
		}
		for range 40 {
			x := make([]float64, 32)
			for i := range x {
				x[i] = float64(float32(r.NormFloat64()))
			}
			in := []dataflow.RealTensor{{Shape: []int{1, 2, 4, 4}, Data: x}}
			judge := func(y []float64) frontend.OutputVerdict {
				v, err := c.JudgeOutputs(in, []dataflow.RealTensor{{Shape: []int{1, 2, 2, 2}, Data: y}})
				if err != nil {
					t.Fatal(err)
				}
				return v
			}
			y := p.run(x)
			v := judge(y)
			switch {
			case v.Equal:
				equal++
				y[r.IntN(len(y))] += float64(p.middle)
				if v := judge(y); !v.Equal && v.NearTie == "" {
					found++
				}
			case v.NearTie != "":
				ties++
			default:
				t.Errorf("seed %d: output %d differs", seed, v.Index)
			}
		}
	}
	if equal < 50 || ties < 50 || found < equal*9/10 {
		t.Errorf("%d samples are equal, %d have near ties; of the first %d are found wrong with a code off", equal,
			ties, found)
	}
}
