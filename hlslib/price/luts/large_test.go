package luts

import (
	"math/rand/v2"
	"testing"

	"hlsgen/hlslib/price/cost"
)

// TestFirstCones compares the LUTs of a part that is too large with those of the whole. The part is lanes of like
// random logic, joined by a common gate.
func TestFirstCones(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(41, 3))
	g := newGates()
	common := g.and(g.leaf(), g.leaf())
	for range 120 {
		var lane []signal
		for range 12 {
			lane = append(lane, g.leaf())
		}
		for range 200 {
			a, b := lane[r.IntN(len(lane))], lane[r.IntN(len(lane))]
			lane = append(lane, g.and(a.when(r.IntN(2) > 0), b.when(r.IntN(2) > 0)))
		}
		for _, s := range lane[12:] {
			g.end(g.and(s, common))
		}
	}
	d := SynthesisRulesOf(cost.FabricECP5)
	parts := d.mappings(g)
	if len(parts) != 1 || parts[0].times < 1.1 {
		t.Fatalf("%d parts, want one that stands for a larger one", len(parts))
	}
	whole := d.fastest(g)
	whole.economise(whole.longest)
	want := 0
	for i := range whole.in {
		if whole.used(int32(i)) {
			want += whole.tables(int32(i))
		}
	}
	got := 0.
	for _, n := range parts[0].count(whole.longest).luts {
		got += parts[0].times * float64(n)
	}
	if diff := got/float64(want) - 1; diff < -.02 || diff > .02 {
		t.Errorf("%.0f LUTs by a part, %d as a whole", got, want)
	}
}
