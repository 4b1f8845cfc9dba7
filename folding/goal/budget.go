package goal

import (
	"math/big"
	"strings"

	"hlsgen/boards"
	"hlsgen/folding/search"
	"hlsgen/internal/dataflow"
)

// The kinds of amounts, in the order of a search.Vector.
const (
	KindLUT = iota
	KindLUTRAM
	KindFF
	KindBRAM
	KindURAM
	KindDSP
	KindMeanShare   // the mean share of the board's block RAM, UltraRAM and DSP slices, in MeanUnits
	KindMemoryBytes // bytes per frame to and from the processor's memory
	// KindNarrowDSP counts the DSP slices that multiply factors of at most MaxNarrowFactorBits bits, which LUTs
	// could do as well. No budget has this kind; a design uses such slices only if it would otherwise run out of LUTs.
	KindNarrowDSP
)

// MaxNarrowFactorBits is the largest width of a factor that LUTs should multiply while there are LUTs left. To put such
// factors into the lanes of a DSP slice takes as many LUTs as to multiply them.
const MaxNarrowFactorBits = 3

// MeanUnits is the amount of KindMeanShare that stands for a mean share of 1.
const MeanUnits = 10_000_000

// averaged lists the kinds of resources over which KindMeanShare and MaxUse.Mean take the mean.
var averaged = [...]int{KindBRAM, KindURAM, KindDSP}

// KindNames holds the user's names of the kinds that a budget counts.
var KindNames = [KindMemoryBytes]string{"LUT", "LUTRAM", "FF", "RAMB18", "URAM", "DSP", "mean of RAMB18, URAM, DSP"}

// WithBlockName returns the text with "RAMB18", wherever it occurs, replaced by the board's own name of block RAM.
func WithBlockName(text string, b boards.Board) string {
	return strings.ReplaceAll(text, KindNames[KindBRAM], b.BlockRAMName())
}

// Amounts returns resources as a list with one amount per kind, from KindLUT to KindDSP.
func Amounts(r dataflow.Resources) [KindMeanShare]int64 {
	return [KindMeanShare]int64{int64(r.LUT), int64(r.LUTRAM), int64(r.FF), int64(r.BRAM), int64(r.URAM), int64(r.DSP)}
}

// Capacity returns all resources of the board's device, in the same units as the cost of a layer.
func Capacity(b boards.Board) dataflow.Resources {
	return dataflow.Resources{LUT: b.LUT, LUTRAM: b.LUTRAM, FF: b.FF, BRAM: b.BlockRAMCount(), URAM: b.URAM, DSP: b.DSP}
}

// Available reports whether the board has at least one of every kind of resource that the cost takes. It does not
// compare amounts.
func Available(cost dataflow.Resources, b boards.Board) bool {
	have := Amounts(Capacity(b))
	for k, n := range Amounts(cost) {
		if n > 0 && have[k] == 0 {
			return false
		}
	}
	return true
}

// A Budget holds the resources of a board that a design may take, and all that the board has (Capacity).
type Budget struct {
	Resources dataflow.Resources
	// the largest mean share of block RAM, UltraRAM and DSP slices, among those that the board has
	Mean     float64
	Capacity dataflow.Resources
}

// BudgetOf returns the budget that a MaxUse gives on a board. The zero MaxUse means DefaultMaxUse. It computes exactly
// with decimals and rounds down: 0.7 of 53,200 LUTs is 37,240.
func BudgetOf(b boards.Board, u MaxUse) Budget {
	if u == (MaxUse{}) {
		u = DefaultMaxUse
	}
	c := Capacity(b)
	part := func(n int, f float64) int { return int(times(f, int64(n))) }
	return Budget{dataflow.Resources{
		LUT: part(c.LUT, u.LUT), LUTRAM: part(c.LUTRAM, u.LUTRAM), FF: part(c.FF, u.FF), BRAM: part(c.BRAM, u.BRAM),
		URAM: part(c.URAM, u.URAM), DSP: part(c.DSP, u.DSP),
	}, u.Mean, c}
}

// times returns the product of f, as the decimal that the user wrote, and n, rounded down.
func times(f float64, n int64) int64 {
	return int64(Floor(new(big.Rat).Mul(Decimal(f), big.NewRat(n, 1))))
}

// MeanOf returns the mean share of block RAM, UltraRAM and DSP slices that the resources take, among those that the
// board has.
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

// averages returns how many of the kinds in averaged the board has at all.
func (b *Budget) averages() (n int64) {
	have := Amounts(b.Capacity)
	for _, k := range averaged {
		n += min(1, have[k])
	}
	return n
}

// Allows reports whether resources are within the budget, and their mean share within Mean.
func (b *Budget) Allows(r dataflow.Resources) bool {
	return r.Within(b.Resources) && b.Vector(r)[KindMeanShare] <= b.Caps().Vector[KindMeanShare]
}

// Vector returns the resources as the search counts them, with the mean share in KindMeanShare. Each term of the mean
// is rounded down.
func (b *Budget) Vector(r dataflow.Resources) (v search.Vector) {
	used, have := Amounts(r), Amounts(b.Capacity)
	copy(v[:], used[:])
	for _, k := range averaged {
		if have[k] > 0 {
			v[KindMeanShare] += used[k] * MeanUnits / (b.averages() * have[k])
		}
	}
	return v
}

// Caps returns the budget in the form of package search. Kinds without a budget have no cap.
func (b *Budget) Caps() search.Caps {
	v := search.Unlimited
	a := Amounts(b.Resources)
	copy(v.Vector[:], a[:])
	v.Vector[KindMeanShare] = times(b.Mean, MeanUnits)
	return v
}

// LoadDenominators returns, for each kind that has a budget, the amount of which a load is a share. It is 0 for the
// others.
func (b *Budget) LoadDenominators() (v search.Vector) {
	caps := b.Caps()
	copy(v[:KindMemoryBytes], caps.Vector[:])
	return v
}

// A Share holds how much a design takes of one kind of resource, of its budget and of the board. For the mean, the
// amounts are shares in millionths.
type Share struct {
	Name   string // one of KindNames
	Used   int
	Budget int // the part of Board that the design may take
	Board  int
}

// IsMean reports whether the share is the mean of block RAM, UltraRAM and DSP slices.
func (s Share) IsMean() bool { return s.Name == KindNames[KindMeanShare] }

// UsedFraction returns the used part of the whole board. It exceeds 1 if the design does not fit.
func (s Share) UsedFraction() float64 { return float64(s.Used) / float64(s.Board) }

// Shares returns, for resources of a design, the share of each kind that the board has, and last that of the mean.
func (b *Budget) Shares(r dataflow.Resources) (list []Share) {
	const million = 1_000_000
	used, most, all := Amounts(r), Amounts(b.Resources), Amounts(b.Capacity)
	for k := range used {
		if all[k] > 0 {
			list = append(list, Share{KindNames[k], int(used[k]), int(most[k]), int(all[k])})
		}
	}
	const each = MeanUnits / million
	up := int(b.Vector(r)[KindMeanShare]+each-1) / each
	return append(list, Share{KindNames[KindMeanShare], up, int(b.Caps().Vector[KindMeanShare] / each), million})
}
