package luts

import (
	"math/rand/v2"
	"reflect"
	"slices"
	"testing"

	"hlsgen/hlslib/price/cost"
)

// randomGates returns lanes of logic that share leaves. Some lanes are alike, and some logic has no end.
func randomGates(r *rand.Rand) *gates {
	g := newGates()
	var shared []signal
	for range 1 + r.IntN(6) {
		shared = append(shared, g.leaf())
	}
	seeds := 1 + r.Uint64N(3)
	for range 1 + r.IntN(5) {
		lane(g, shared, rand.New(rand.NewPCG(r.Uint64N(seeds), 1)))
	}
	return g
}

// lane adds a lane's logic to g.
func lane(g *gates, shared []signal, r *rand.Rand) {
	list := append([]signal{}, shared...)
	for range 1 + r.IntN(6) {
		list = append(list, g.leaf())
	}
	any := func() signal { return list[max(0, len(list)-1-r.IntN(12))].when(r.IntN(2) == 0) }
	for range 5 + r.IntN(60) {
		g.now = CellPurpose(r.IntN(3))
		switch s := any(); r.IntN(4) {
		case 0:
			list = append(list, g.and(s, any()))
		case 1:
			list = append(list, g.xor(s, any()))
		case 2:
			list = append(list, g.mux(s, any(), any()))
		default:
			list = append(list, g.or(s, any()))
		}
		if r.IntN(6) == 0 {
			g.end(any())
		}
	}
}

// TestParts checks that the LUTs of parts, and how they read leaves, are those of all gates mapped at once.
func TestParts(t *testing.T) {
	t.Parallel()
	for seed := range uint64(400) {
		r := rand.New(rand.NewPCG(seed, 2))
		d := SynthesisRulesOf([]cost.Fabric{cost.FabricICE40, cost.FabricECP5, cost.FabricSeries7}[seed%3])
		g := randomGates(r).balanced()
		whole := d.fastest(g)
		parts, longest := d.mappings(g), int16(0)
		for i := range parts {
			longest = max(longest, parts[i].longest())
		}
		if longest != whole.longest {
			t.Fatalf("%d: a path of %d, want %d", seed, longest, whole.longest)
		}
		longest += int16(r.IntN(4))
		whole.economise(longest)
		var got, want [CellPurposeCount]int
		for i := range g.in {
			if whole.used(int32(i)) {
				want[g.kind[i]] += whole.tables(int32(i))
			}
		}
		if d.Packs {
			for _, i := range whole.packed() {
				want[g.kind[i]]--
			}
		}
		reads := make([]int32, len(g.in))
		for _, s := range g.ends {
			if g.leaves(s.gate()) {
				reads[s.gate()]++
			}
		}
		for i := range parts {
			c := parts[i].count(longest)
			for k, n := range c.luts {
				got[k] += n
			}
			for k, l := range parts[i].leaf {
				reads[l] += c.reads[k]
			}
		}
		if got != want {
			t.Errorf("%d: %v lookup tables, want %v", seed, got, want)
		}
		for i := range g.in {
			if i > 0 && g.leaves(int32(i)) && reads[i] != whole.refs[i] {
				t.Errorf("%d: leaf %d has %d readers, want %d", seed, i, reads[i], whole.refs[i])
			}
		}
	}
}

// TestKnownCounts checks that the LUTs of a part, where they are known for other longest paths, are those that mapping
// it would give.
func TestKnownCounts(t *testing.T) {
	t.Parallel()
	mapped, asked := 0, 0
	for seed := range uint64(120) {
		r := rand.New(rand.NewPCG(seed, 3))
		rules := func() *SynthesisRules {
			return SynthesisRulesOf([]cost.Fabric{cost.FabricICE40, cost.FabricECP5, cost.FabricSeries7}[seed%3])
		}
		g := randomGates(r).balanced()
		parts := rules().mappings(g)
		for i := range parts {
			p := &parts[i]
			for range 6 {
				longest := p.longest() + int16(r.IntN(8))
				fresh := rules().mappings(g)
				got, want := p.count(longest), fresh[i].count(longest)
				if asked++; got.luts != want.luts || !slices.Equal(got.reads, want.reads) ||
					!reflect.DeepEqual(got.behind, want.behind) {
					t.Errorf("%d: part %d with paths of %d: %v, want %v", seed, i, longest, got, want)
				}
			}
			mapped += len(p.d.known.counts[p.known()])
		}
	}
	if mapped > asked/2 {
		t.Errorf("%d of %d counts were mapped", mapped, asked)
	}
}
