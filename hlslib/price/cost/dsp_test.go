package cost

import (
	"math/rand/v2"
	"slices"
	"testing"

	"hlsgen/internal/num"
	"hlsgen/internal/testsupport/tier"
)

func signedRange(w int) num.Range   { return num.Range{Lo: -1 << (w - 1), Hi: 1<<(w-1) - 1} }
func unsignedRange(w int) num.Range { return num.Range{Lo: 0, Hi: 1<<w - 1} }
func narrowRange(w int) num.Range   { return num.Range{Lo: 1 - 1<<(w-1), Hi: 1<<(w-1) - 1} }

var fabrics = []Fabric{FabricUltraScale, FabricSeries7, FabricVersal}

// TestPack checks packings. Those of 8 and of 4 bits are published: AMD's WP486 has 8 bits in lanes 18 apart and sums
// of seven, and FINN's mvu.sv (reference/finn.md) gives the numbers of lanes.
func TestPack(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name            string
		f               Fabric
		channels, simd  int
		weights, inputs num.Range
		at              []int
		overlapping     int
		terms           int
	}{
		{"8 bits, DSP48E2", FabricUltraScale, 2, 100, signedRange(8), signedRange(8), []int{0, 18}, 0, 7},
		{"as few as there are", FabricUltraScale, 2, 5, signedRange(8), signedRange(8), []int{0, 18}, 0, 5},
		{"groups of one length", FabricUltraScale, 2, 8, signedRange(8), signedRange(8), []int{0, 18}, 0, 4},
		{"8 bits, DSP48E1", FabricSeries7, 2, 100, signedRange(8), signedRange(8), []int{0, 16}, 0, 1},
		{"8 bits by unsigned", FabricUltraScale, 2, 100, signedRange(8), unsignedRange(8), []int{0, 18}, 0, 4},
		{"8 bits by unsigned, DSP48E1", FabricSeries7, 2, 9, signedRange(8), unsignedRange(8), []int{0, 16}, 0, 1},
		{"8 bits by unsigned, DSP58", FabricVersal, 2, 100, signedRange(8), unsignedRange(8), []int{0, 18}, 0, 4},
		{"4 bits", FabricUltraScale, 4, 10, signedRange(4), unsignedRange(4), []int{0, 8, 15, 22}, 2, 1},
		{"three of 4 bits", FabricUltraScale, 3, 1, signedRange(4), unsignedRange(4), []int{0, 8, 16}, 0, 1},
		{"five are three and two", FabricUltraScale, 5, 1, signedRange(4), unsignedRange(4), []int{0, 8, 16}, 0, 1},
		{"4 bits, DSP48E1", FabricSeries7, 4, 1, signedRange(4), unsignedRange(4), []int{0, 8}, 0, 1},
		{"4 narrow bits, DSP48E1", FabricSeries7, 4, 1, narrowRange(4), unsignedRange(4), []int{0, 7, 14, 21}, 3, 1},
		{"one channel", FabricUltraScale, 1, 10, signedRange(8), signedRange(8), []int{0}, 0, 1},
		{"wide inputs", FabricUltraScale, 8, 1, signedRange(4), signedRange(19), []int{0}, 0, 1},
		{"wide weights", FabricUltraScale, 8, 1, signedRange(28), signedRange(2), []int{0}, 0, 1},
		{"no room", FabricSeries7, 8, 1, signedRange(16), signedRange(16), []int{0}, 0, 1},
		{"the wider port of DSP58", FabricVersal, 8, 1, signedRange(2), signedRange(20), []int{0, 22}, 0, 1},
		{"zeros", FabricUltraScale, 3, 4, num.Range{}, num.Range{}, []int{0}, 0, 1},
		{"64 bits", FabricUltraScale, 2, 1, num.Range{Lo: -1 << 63, Hi: 1<<63 - 1}, signedRange(2), []int{0}, 0, 1},
	} {
		p := tt.f.PackProducts(tt.channels, tt.simd, tt.weights, tt.inputs)
		var at []int
		overlapping := 0
		for _, l := range p.Lanes {
			at = append(at, l.At)
			if l.Overlap {
				overlapping++
			}
		}
		if !slices.Equal(at, tt.at) || overlapping != tt.overlapping || p.Terms != tt.terms {
			t.Errorf("%s: %+v, want lanes %v, %d overlapping, of %d terms", tt.name, p, tt.at, tt.overlapping, tt.terms)
		}
	}
}

// TestLanes checks the number of lanes against FINN's multipliers (reference/finn.md), where numbers in brackets
// are for weights without their most negative value. Ranges allow more lanes than widths in some cases.
func TestLanes(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ w, a, e1, e1Narrow, e2, e2Narrow int }{
		{2, 2, 8, 8, 9, 9}, {2, 4, 5, 5, 5, 6}, {3, 3, 5, 5, 5, 5}, {4, 4, 3, 4, 4, 4}, {4, 8, 2, 2, 3, 3},
		{5, 5, 3, 3, 3, 3}, {6, 6, 2, 2, 2, 2}, {8, 8, 2, 2, 2, 2}, {27, 18, 1, 1, 1, 1},
	} {
		lanes := func(f Fabric, weights num.Range) int {
			return len(f.PackProducts(100, 1, weights, unsignedRange(tt.a)).Lanes)
		}
		got := [4]int{
			lanes(FabricSeries7, signedRange(tt.w)), lanes(FabricSeries7, narrowRange(tt.w)),
			lanes(FabricUltraScale, signedRange(tt.w)), lanes(FabricUltraScale, narrowRange(tt.w)),
		}
		t.Logf("%d by %d: %v", tt.w, tt.a, got)
		for i, want := range [4]int{tt.e1, tt.e1Narrow, tt.e2, tt.e2Narrow} {
			if got[i] < want {
				t.Errorf("%d by %d bits: %v lanes, want at least %v", tt.w, tt.a, got, tt)
			}
		}
	}
}

// apart extracts the sums of lanes from a sum of packed products, as hlslib/core/mac.hpp does. odd says which sums are
// odd.
func (p DSPPacking) apart(sum int64, odd []bool) []int64 {
	list := make([]int64, len(p.Lanes))
	bit := func(i int) int64 { return sum >> i & 1 }
	borrow := int64(0)
	for i, l := range p.Lanes {
		if i == len(p.Lanes)-1 {
			list[i] = sum>>l.At + borrow
			break
		}
		next := p.Lanes[i+1]
		below := bit(next.At - 1)
		if next.Overlap {
			below = bit(next.At)
			if odd[i+1] {
				below ^= 1
			}
		}
		width := next.At - l.At
		list[i] = sum>>l.At&(1<<width-1) - below<<width + borrow
		borrow = below
	}
	return list
}

// check multiplies and adds like a slice, and compares the extracted lanes. weights has the weight of every term, by
// lane.
func (p DSPPacking) check(t *testing.T, f Fabric, weights [][]int64, inputs []int64) {
	t.Helper()
	sum := int64(0)
	want, odd := make([]int64, len(p.Lanes)), make([]bool, len(p.Lanes))
	for k, x := range inputs {
		packed := int64(0)
		for i, l := range p.Lanes {
			packed += weights[i][k] << l.At
			want[i] += weights[i][k] * x
			odd[i] = want[i]&1 != 0
		}
		if wide, _ := f.ports(); p.Wide > wide || signedBits(num.SingleValueRange(packed)) > p.Wide {
			t.Fatalf("%+v: %d does not fit", p, packed)
		}
		sum += packed * x
	}
	if signedBits(num.SingleValueRange(sum)) > p.Sum {
		t.Fatalf("%+v: the sum %d does not fit", p, sum)
	}
	if got := p.apart(sum, odd); !slices.Equal(got, want) {
		t.Fatalf("%+v: weights %v, inputs %v: lanes %v, want %v", p, weights, inputs, got, want)
	}
}

// TestApart tries all weights of two neighbouring lanes with all inputs, with the other lanes at their limits, for all
// small factors and fabrics. It also tries sums of random terms, and of the largest and smallest terms.
func TestApart(t *testing.T) {
	t.Parallel()
	tier.NotQuick(t)
	ranges := []num.Range{{Lo: -1, Hi: 1}, {Lo: 0, Hi: 1}, {Lo: -1, Hi: 0}, {Lo: 2, Hi: 5}, {Lo: -7, Hi: -3}}
	for w := 2; w <= 4; w++ {
		ranges = append(ranges, signedRange(w), narrowRange(w), unsignedRange(w))
	}
	packings := 0
	for _, f := range fabrics {
		for _, weights := range ranges {
			for _, inputs := range ranges {
				for _, channels := range []int{2, 4, 9} {
					if p := f.PackProducts(channels, 3, weights, inputs); p.HasMultipleLanes() {
						p.tryPairs(t, f, weights, inputs)
						p.tryTerms(t, f, weights, inputs)
						packings++
					}
				}
			}
		}
		for _, weights := range []num.Range{signedRange(8), narrowRange(8), unsignedRange(7), unsignedRange(8)} {
			for _, inputs := range []num.Range{signedRange(8), unsignedRange(8), signedRange(9)} {
				if p := f.PackProducts(2, 16, weights, inputs); p.HasMultipleLanes() {
					p.tryTerms(t, f, weights, inputs)
					packings++
				}
			}
		}
	}
	if packings < 700 {
		t.Errorf("%d packings", packings)
	}
}

// tryPairs tries every pair of weights in two neighbouring lanes with every input; the other lanes have the same limit.
func (p DSPPacking) tryPairs(t *testing.T, f Fabric, weights, inputs num.Range) {
	one := make([][]int64, len(p.Lanes))
	for i := range len(p.Lanes) - 1 {
		for _, other := range []int64{weights.Lo, weights.Hi, 0} {
			for k := range one {
				one[k] = []int64{other}
			}
			for a := weights.Lo; a <= weights.Hi; a++ {
				for b := weights.Lo; b <= weights.Hi; b++ {
					for x := inputs.Lo; x <= inputs.Hi; x++ {
						one[i], one[i+1] = []int64{a}, []int64{b}
						p.check(t, f, one, []int64{x})
					}
				}
			}
		}
	}
}

// tryTerms tries sums of all terms, with limits and at random.
func (p DSPPacking) tryTerms(t *testing.T, f Fabric, weights, inputs num.Range) {
	r := rand.New(rand.NewPCG(1, 1))
	draw := func(of num.Range, limits bool) int64 {
		if limits {
			return []int64{of.Lo, of.Hi, 0}[r.IntN(3)]
		}
		return of.Lo + r.Int64N(of.ValueCount())
	}
	for n := range 200 {
		x := make([]int64, p.Terms)
		w := make([][]int64, len(p.Lanes))
		least := draw(weights, true)
		for i := range w {
			w[i] = make([]int64, p.Terms)
			for k := range w[i] {
				w[i][k] = draw(weights, n%2 == 0)
				if n%4 == 0 {
					w[i][k] = least
				}
			}
		}
		for k := range x {
			if x[k] = draw(inputs, n%3 == 0); n%4 == 0 && k > 0 {
				x[k] = x[0]
			}
		}
		p.check(t, f, w, x)
	}
}

// TestPackNothing checks that products that are always 0 have no lanes.
func TestPackNothing(t *testing.T) {
	t.Parallel()
	zero, some := num.SingleValueRange(0), num.Range{Lo: -8, Hi: 7}
	for _, f := range []Fabric{FabricSeries7, FabricUltraScale, FabricVersal} {
		for _, r := range [][2]num.Range{{zero, some}, {some, zero}, {zero, zero}} {
			if p := f.PackProducts(4, 2, r[0], r[1]); p.HasMultipleLanes() {
				t.Errorf("fabric %d, %v times %v: %+v", f, r[0], r[1], p)
			}
		}
	}
}
