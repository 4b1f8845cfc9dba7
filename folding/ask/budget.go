package ask

import (
	"math/big"
	"strings"

	"hlsgen/boards"
	"hlsgen/folding/search"
	"hlsgen/internal/dataflow"
)

// The kinds of amounts, in the order of a search.Vector.
const (
	LUT = iota
	LUTRAM
	FF
	BRAM
	URAM
	DSP
	Mean    // the mean share of the board's block RAM, UltraRAM and DSP slices, in MeanUnits
	Traffic // bytes of a frame that go to and from the processor's memory
	// Few is the DSP slices that multiply factors of FewBits bits or fewer, which LUTs do as well. No budget has it: a
	// design has any only where its LUTs would not be enough without.
	Few
)

// FewBits is the bits of a factor that no DSP slice is spent on while there are LUTs: LUTs take as much to put such
// factors into the lanes of a slice as to multiply them.
const FewBits = 3

// MeanUnits is a share of 1.
const MeanUnits = 10_000_000

// averaged are the kinds of which Mean is the mean.
var averaged = [...]int{BRAM, URAM, DSP}

// Names of what a budget counts, as users read them.
var Names = [Traffic]string{"LUT", "LUTRAM", "FF", "RAMB18", "URAM", "DSP", "mean of RAMB18, URAM, DSP"}

// Called is a name of Names, or a text of ours that has some, with the block RAM of a board as its data sheet calls it.
func Called(text string, b boards.Board) string {
	return strings.ReplaceAll(text, Names[BRAM], b.BlockName())
}

// Amounts is resources in the order of the kinds.
func Amounts(r dataflow.Resources) [Mean]int64 {
	return [Mean]int64{int64(r.LUT), int64(r.LUTRAM), int64(r.FF), int64(r.BRAM), int64(r.URAM), int64(r.DSP)}
}

// Capacity is what the board has, in the units of a cost.
func Capacity(b boards.Board) dataflow.Resources {
	return dataflow.Resources{LUT: b.LUT, LUTRAM: b.LUTRAM, FF: b.FF, BRAM: b.Blocks(), URAM: b.URAM, DSP: b.DSP}
}

// Available reports whether the board has every kind of resource that a cost names, in any amount.
func Available(cost dataflow.Resources, b boards.Board) bool {
	have := Amounts(Capacity(b))
	for k, n := range Amounts(cost) {
		if n > 0 && have[k] == 0 {
			return false
		}
	}
	return true
}

// A Budget is what a design may take of a board.
type Budget struct {
	Resources dataflow.Resources
	Mean      float64 // of the shares of block RAM, UltraRAM and DSP slices, of those that the board has
	Capacity  dataflow.Resources
}

// BudgetOf is the budget of a board; the zero Use means DefaultMaxUse. The fractions are decimals: 0.7 of 53,200 LUT is
// 37,240, as on paper.
func BudgetOf(b boards.Board, u Use) Budget {
	if u == (Use{}) {
		u = DefaultMaxUse
	}
	c := Capacity(b)
	part := func(n int, f float64) int { return int(times(f, int64(n))) }
	return Budget{dataflow.Resources{
		LUT: part(c.LUT, u.LUT), LUTRAM: part(c.LUTRAM, u.LUTRAM), FF: part(c.FF, u.FF), BRAM: part(c.BRAM, u.BRAM),
		URAM: part(c.URAM, u.URAM), DSP: part(c.DSP, u.DSP),
	}, u.Mean, c}
}

// times is a fraction of a number, rounded down.
func times(f float64, n int64) int64 {
	return int64(Floor(new(big.Rat).Mul(Decimal(f), big.NewRat(n, 1))))
}

// MeanOf is the mean share of the board's block RAM, UltraRAM and DSP slices that resources take, of those that it has.
func (b *Budget) MeanOf(r dataflow.Resources) float64 {
	have, used := Amounts(b.Capacity), Amounts(r)
	sum := 0.0
	for _, k := range averaged {
		if have[k] > 0 {
			sum += float64(used[k]) / float64(have[k])
		}
	}
	return sum / float64(max(1, b.averages()))
}

// averages is how many of the kinds that are averaged the board has.
func (b *Budget) averages() (n int64) {
	have := Amounts(b.Capacity)
	for _, k := range averaged {
		n += min(1, have[k])
	}
	return n
}

// Fits reports whether resources are within the budget.
func (b *Budget) Fits(r dataflow.Resources) bool {
	return r.Within(b.Resources) && b.Vector(r)[Mean] <= b.Caps().Vector[Mean]
}

// Vector is resources as the search counts them. The mean is rounded down, part by part.
func (b *Budget) Vector(r dataflow.Resources) (v search.Vector) {
	used, have := Amounts(r), Amounts(b.Capacity)
	copy(v[:], used[:])
	for _, k := range averaged {
		if have[k] > 0 {
			v[Mean] += used[k] * MeanUnits / (b.averages() * have[k])
		}
	}
	return v
}

// Caps is the budget as the search counts it; what else there is is not capped.
func (b *Budget) Caps() search.Caps {
	v := search.Unlimited
	a := Amounts(b.Resources)
	copy(v.Vector[:], a[:])
	v.Vector[Mean] = times(b.Mean, MeanUnits)
	return v
}

// Yard is what the load is measured against: the budget, where there is one.
func (b *Budget) Yard() (v search.Vector) {
	caps := b.Caps()
	copy(v[:Traffic], caps.Vector[:])
	return v
}

// A Share says how much of a kind of resource a design takes. Of the mean, the amounts are shares in millionths.
type Share struct {
	Name   string // as in Names
	Used   int
	Budget int // of Board, what may be taken
	Board  int
}

// Mean reports whether it is the mean.
func (s Share) Mean() bool { return s.Name == Names[Mean] }

// Of is the share of the whole board, from 0.
func (s Share) Of() float64 { return float64(s.Used) / float64(s.Board) }

// Shares are those of the kinds that the board has.
func (b *Budget) Shares(r dataflow.Resources) (list []Share) {
	const million = 1_000_000
	used, most, all := Amounts(r), Amounts(b.Resources), Amounts(b.Capacity)
	for k := range used {
		if all[k] > 0 {
			list = append(list, Share{Names[k], int(used[k]), int(most[k]), int(all[k])})
		}
	}
	const each = MeanUnits / million
	up := int(b.Vector(r)[Mean]+each-1) / each
	return append(list, Share{Names[Mean], up, int(b.Caps().Vector[Mean] / each), million})
}
