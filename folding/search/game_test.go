package search

import (
	"math"
	"math/rand/v2"
	"testing"
)

// The weights of a game are a distribution whose value no other one beats: here, none of many random ones. The mixture
// of solutions is as good against every kind.
func TestGame(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(5, 1))
	caps := Caps{Vector{100, 50, 20, 10, 30, 7, 90, 1000}, 0}
	share := func(f *Solution, k int) float64 { return shareOf(f.Cost[k], caps.Vector[k]) }
	worst := func(found []*Solution, w []float64) float64 {
		least := math.Inf(1)
		for _, f := range found {
			sum := 0.0
			for k := range w {
				sum += w[k] * share(f, k)
			}
			least = min(least, sum)
		}
		return least
	}
	for range 200 {
		tree, found := &parts{}, []*Solution(nil)
		for k := range tree.dearest {
			tree.dearest[k] = 3 * caps.Vector[k]
		}
		for range 1 + r.IntN(12) {
			f := &Solution{}
			for k := range f.Cost {
				f.Cost[k] = r.Int64N(2 * caps.Vector[k])
			}
			found = append(found, f)
		}
		w, mixture, value := tree.game(found, &caps)
		sum, parts := 0.0, 0.0
		for _, x := range w {
			sum += x
		}
		for _, x := range mixture {
			parts += x
		}
		if math.Abs(sum-1) > 1e-9 || math.Abs(parts-1) > 1e-9 || math.Abs(worst(found, w)-value) > 1e-9 {
			t.Fatalf("weights %v of value %v, said to be %v; mixture %v", w, worst(found, w), value, mixture)
		}
		for k := range Kinds {
			mixed := 0.0
			for i, f := range found {
				mixed += mixture[i] * share(f, k)
			}
			if mixed > value+1e-9 {
				t.Fatalf("the mixture takes %v of kind %d, the value is %v", mixed, k, value)
			}
		}
		for range 500 {
			o := make([]float64, len(w))
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
