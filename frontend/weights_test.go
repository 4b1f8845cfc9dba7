package frontend_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"hlsgen/frontend"
	"hlsgen/frontend/graph"
	"hlsgen/internal/diag"
)

// folded is weights of random codes times a scale per column, rounded to float32. Where some are dead, row 2 and column
// 1 are.
func folded(r *rand.Rand, rows, columns int, most int64, dead bool) (w []float64, codes []int64, scales []float64) {
	for range columns {
		scales = append(scales, float64(float32(0.01+r.Float64())))
	}
	for range rows * columns {
		codes = append(codes, r.Int64N(2*most+1)-most)
	}
	for i := range codes {
		if dead && (i/columns == 2 || i%columns == 1) {
			codes[i] = 0
		}
	}
	for i, q := range codes {
		w = append(w, float64(float32(float64(q)*scales[i%columns])))
	}
	return w, codes, scales
}

// TestFoldedWeights multiplies weights with their scales, as exporters do, and finds them again.
func TestFoldedWeights(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(3, 4))
	for _, c := range []struct {
		name       string
		most       int64  // code
		annotation string // of the weights
		dead       bool   // some rows and columns
		spoil      func(w []float64)
		build      func(n *net, w []float64, rows, columns int)
		found      bool
	}{
		{name: "MatMul", most: 7, build: matMul, found: true},
		{name: "8 bits", most: 127, build: matMul, found: true},
		{name: "8 bits, parts are dead", most: 127, build: matMul, dead: true, found: true},
		{name: "12 bits", most: 2047, build: matMul},
		{name: "12 bits, annotated", most: 2047, annotation: "SCALEDINT<12>", build: matMul, found: true},
		{name: "annotated as floats", most: 7, annotation: "FLOAT32", build: matMul, found: true},
		{name: "annotated as less", most: 127, annotation: "INT4", build: matMul},
		{name: "one unit in the last place off", most: 127, build: matMul,
			spoil: func(w []float64) { w[5] = float64(float32(w[5]) * (1 + 0x1p-21)) }},
		{name: "Gemm, turned", most: 7, found: true, build: func(n *net, w []float64, rows, columns int) {
			n.op("Gemm", "h", "q", n.c([]int{columns, rows}, transposed(w, columns)...)).Int("transB", 1)
		}},
		{name: "Conv", most: 7, found: true, build: func(n *net, w []float64, rows, columns int) {
			n.op("Unsqueeze", "pixel", "q", n.i(2)).
				op("Conv", "c", "pixel", n.c([]int{columns, rows, 1}, transposed(w, columns)...)).
				op("Squeeze", "h", "c", n.i(2))
		}},
	} {
		w, codes, scales := folded(r, 12, 3, c.most, c.dead)
		if c.spoil != nil {
			c.spoil(w)
		}
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			n := newNet(13).Input("x", graph.DTypeFloat32, "N", 12).quant("x", "q", "half", 0, 4, 1)
			n.Init("half", graph.DTypeFloat32, nil, 0.5)
			c.build(n, w, 12, 3)
			if c.annotation != "" {
				n.Annotate(fmt.Sprintf("p%d", n.names), c.annotation)
			}
			n.op("Identity", "y", "h").output("N", 3)
			im, found := imported(t, n, frontend.Options{})
			if noted := found != nil && found[0].Code == diag.WeightsRecovered; noted != c.found ||
				c.found != (im.Model != nil) {
				t.Fatal(found)
			}
			if !c.found {
				if !slices.ContainsFunc(found, func(d diag.Diag) bool { return d.Code == diag.WeightsNotInteger }) {
					t.Error(found)
				}
				return
			}
			follows(t, im.Model, func(x [][]float64) []float64 {
				y := make([]float64, 3)
				for o := range y {
					sum := 0.0
					for i, v := range x[0] {
						sum += clip(math.RoundToEven(2*v), -8, 7) * 0.5 * float64(codes[3*i+o])
					}
					y[o] = float64(float32(sum * scales[o])) // the sum is exact, and so is the product
				}
				return y
			})
			if text := im.Model.Graph.String(); !strings.Contains(text, "MVAU") {
				t.Error(text)
			}
		})
	}
}

func matMul(n *net, w []float64, rows, columns int) {
	n.op("MatMul", "h", "q", n.c([]int{rows, columns}, w...))
}

func transposed(w []float64, columns int) []float64 {
	var out []float64
	for c := range columns {
		for i := c; i < len(w); i += columns {
			out = append(out, w[i])
		}
	}
	return out
}
