package choose

import (
	"math/rand/v2"
	"testing"

	"hlsgen/internal/dataflow"
	"hlsgen/internal/num"
)

// TestRise turns random step functions round with the signs of their weights: the layer computes the same.
func TestRise(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(1, 2))
	turned, refused := 0, 0
	for range 500 {
		channels, inputs := 1+r.IntN(3), 1+r.IntN(3)
		in := num.Range{Lo: int64(-r.IntN(4)), Hi: int64(r.IntN(4))}
		weights, steps := make([][]int64, channels), make([]num.Step, channels)
		sums := dataflow.Type{Shape: dataflow.Shape{channels}}
		for c := range channels {
			for range inputs {
				weights[c] = append(weights[c], int64(r.IntN(9)-4))
			}
			s, ok := num.Dot(weights[c], []num.Range{in})
			if !ok {
				t.Fatal("a sum leaves int64")
			}
			sums.Range = append(sums.Range, s)
			f := num.Step{Value: []int64{int64(r.IntN(5))}}
			rising := int64(1 - 2*r.IntN(2))
			at := int64(-30)
			for range r.IntN(4) {
				at += 1 + int64(r.IntN(20))
				next := f.Value[len(f.Value)-1] + rising*int64(1+r.IntN(3))
				if r.IntN(12) == 0 {
					next -= rising * 5
				}
				f.At, f.Value = append(f.At, at), append(f.Value, next)
			}
			steps[c] = f
		}
		w, up, ok := rise(weights, steps, sums)
		if !ok {
			refused++
			continue
		}
		for c := range channels {
			if w[c][0] != weights[c][0] {
				turned++
			}
			x := make([]int64, inputs)
			var try func(k int)
			try = func(k int) {
				if k < inputs {
					for x[k] = in.Lo; x[k] <= in.Hi; x[k]++ {
						try(k + 1)
					}
					return
				}
				var before, after int64
				for k, v := range x {
					before, after = before+weights[c][k]*v, after+w[c][k]*v
				}
				if got, want := up[c].Apply(after), steps[c].Apply(before); got != want {
					t.Fatalf("channel %d at %v: %d, want %d", c, x, got, want)
				}
			}
			try(0)
			reach := num.Range{Lo: sums.Range[c].Lo, Hi: sums.Range[c].Hi}
			if w[c][0] != weights[c][0] || len(w[c]) > 0 && &w[c][0] != &weights[c][0] {
				reach = reach.Neg()
			}
			if !up[c].Over(reach).NonDecreasing() {
				t.Fatalf("channel %d falls: %v over %v", c, up[c], reach)
			}
		}
	}
	if turned == 0 || refused == 0 {
		t.Errorf("%d channels were turned, %d activations refused: the test tests nothing", turned, refused)
	}
}
