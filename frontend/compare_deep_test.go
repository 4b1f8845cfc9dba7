package frontend_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"hlsgen/frontend"
	"hlsgen/frontend/graph"
	"hlsgen/internal/dataflow"
	"hlsgen/internal/testsupport/tier"
)

// A deep network has means of four of which one in four is a tie. In the layers behind, every code depends on all of
// these: a quantiser, a mean, a quantiser of the same scale, products of some channels. run executes it in float32 in
// an order of its own: columns first, the last channel first, with reciprocals of scales.
type deep struct {
	scale   float32
	layers  []float32     // scales
	weights [][][]float32 // by layer, output, input
}

const deepChannels = 16

func newDeep(r *rand.Rand, layers int) *deep {
	d := &deep{scale: float32(0.02 + 0.03*r.Float64())}
	for range layers {
		d.layers = append(d.layers, float32(0.015+0.01*r.Float64()))
		w := make([][]float32, deepChannels)
		for o := range w {
			for range deepChannels {
				w[o] = append(w[o], float32(r.IntN(31)-15)/32)
			}
		}
		d.weights = append(d.weights, w)
	}
	return d
}

func (d *deep) net() *net {
	n := newNet(13)
	n.Input("x", graph.DTypeFloat32, 1, deepChannels, 2, 2)
	n.quant("x", "q", n.s(float64(d.scale)), 0, 8, 1)
	n.op("AveragePool", "m", "q").Ints("kernel_shape", 2, 2)
	n.quant("m", "c0", n.s(float64(d.scale)), 0, 8, 1)
	for k, scale := range d.layers {
		var w []float64
		for _, row := range d.weights[k] {
			for _, v := range row {
				w = append(w, float64(v))
			}
		}
		sums, out := fmt.Sprint("s", k+1), fmt.Sprint("c", k+1)
		if k == len(d.layers)-1 {
			out = "y"
		}
		n.op("Conv", sums, fmt.Sprint("c", k), n.c([]int{deepChannels, deepChannels, 1, 1}, w...))
		n.quant(sums, out, n.s(float64(scale)), 0, 8, 1)
	}
	n.output(1, deepChannels, 1, 1)
	return n
}

func (d *deep) run(x []float64) []float64 {
	round := func(v, scale float32) float32 {
		return float32(max(-128, min(127, math.RoundToEven(float64(v*(1/scale)))))) * scale
	}
	c := make([]float32, deepChannels)
	for k := range c {
		at := func(i int) float32 { return round(float32(x[k*4+i]), d.scale) }
		c[k] = round(((at(0)+at(2))+(at(1)+at(3)))*0.25, d.scale)
	}
	for k, scale := range d.layers {
		next := make([]float32, deepChannels)
		for o, row := range d.weights[k] {
			var sum float32
			for i := range row {
				sum += float32(c[len(row)-1-i] * row[len(row)-1-i])
			}
			next[o] = round(sum, scale)
		}
		c = next
	}
	y := make([]float64, len(c))
	for i, v := range c {
		y[i] = float64(v)
	}
	return y
}

// TestCompareDeep changes several codes at once, in front of layers where each change affects everything. The
// comparison must find them, and must reject an output that is one code off at the end.
func TestCompareDeep(t *testing.T) {
	t.Parallel()
	tier.NotQuick(t)
	equal, ties, planted, found := 0, 0, 0, 0
	for seed := range uint64(8) {
		r := rand.New(rand.NewPCG(seed, 12))
		d := newDeep(r, 8)
		im, diags := imported(t, d.net(), frontend.Options{})
		if im.Model == nil {
			t.Fatal(diags)
		}
		c, err := im.NewOutputComparer()
		if err != nil {
			t.Fatal(err)
		}
		for k := range 60 {
			x := make([]float64, deepChannels*4)
			for i := range x {
				x[i] = float64(float32(r.NormFloat64()))
			}
			judge := func(y []float64) frontend.OutputVerdict {
				v, err := c.JudgeOutputs([]dataflow.RealTensor{{Shape: []int{1, deepChannels, 2, 2}, Data: x}},
					[]dataflow.RealTensor{{Shape: []int{1, deepChannels, 1, 1}, Data: y}})
				if err != nil {
					t.Fatal(err)
				}
				return v
			}
			y := d.run(x)
			switch v := judge(y); {
			case v.Equal:
				if equal++; k%3 > 0 {
					break
				}
				planted++
				y[r.IntN(len(y))] += float64(d.layers[len(d.layers)-1])
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
	if ties < 40 || planted < 40 || found < planted*9/10 {
		t.Errorf("%d samples are equal, %d have near ties; of %d with a code off %d are found wrong", equal, ties,
			planted, found)
	}
}
