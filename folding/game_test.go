package folding

import (
	"math"
	"math/rand/v2"
	"testing"
)

// The weights of a game are a distribution whose value no other one beats: here, none of a fine grid of others.
func TestGame(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(5, 1))
	caps := vector{100, 50, 20, 10, 30}
	worst := func(found []*folding, w [kinds]float64) float64 {
		least := math.Inf(1)
		for _, f := range found {
			sum := 0.0
			for k := range w {
				sum += w[k] * shareOf(f.cost[k], caps[k])
			}
			least = min(least, sum)
		}
		return least
	}
	for range 200 {
		var found []*folding
		for range 1 + r.IntN(12) {
			var v vector
			for k := range v {
				v[k] = r.Int64N(2 * caps[k])
			}
			found = append(found, &folding{cost: v})
		}
		w, value := game(found, caps)
		sum := 0.0
		for _, x := range w {
			sum += x
		}
		if math.Abs(sum-1) > 1e-9 || math.Abs(worst(found, w)-value) > 1e-9 {
			t.Fatalf("weights %v of value %v, said to be %v", w, worst(found, w), value)
		}
		for range 2000 {
			var o [kinds]float64
			total := 0.0
			for k := range o {
				o[k] = -math.Log(r.Float64())
				total += o[k]
			}
			for k := range o {
				o[k] /= total
			}
			if v := worst(found, o); v > value+1e-9 {
				t.Fatalf("weights %v have value %v, %v have %v", w, value, o, v)
			}
		}
	}
}
