package goal

import (
	"math/big"
	"strings"

	"hlsgen/boards"
	"hlsgen/folding/search"
	"hlsgen/internal/dataflow"
)

// The kinds of amounts, in the order of a search.AmountVector.
const (
	KindLUT = iota
	KindLUTRAM
	KindFF
	KindBRAM
	KindURAM
	KindDSP
	// the mean share of the board's block RAM, UltraRAM and DSP slices, in MeanHardBlockShareScale
	KindMeanHardBlockShare
	KindMemoryBytesPerFrame // bytes per frame to and from the processor's memory
	// KindNarrowFactorDSP counts the DSP slices that multiply factors of at most MaxNarrowFactorBits bits, which LUTs
	// could do as well. No budget has this kind; a design uses such slices only if it would otherwise run out of LUTs.
	KindNarrowFactorDSP
)

// MaxNarrowFactorBits is the largest width of a factor that LUTs should multiply while there are LUTs left. To put such
// factors into the lanes of a DSP slice takes as many LUTs as to multiply them.
const MaxNarrowFactorBits = 3

// MeanHardBlockShareScale is the amount of KindMeanHardBlockShare that stands for a mean share of 1.
const MeanHardBlockShareScale = 10_000_000

// averaged lists the kinds of resources of which KindMeanHardBlockShare and MaxUseFractions.Mean take the mean.
var averaged = [...]int{KindBRAM, KindURAM, KindDSP}

// KindNames holds the names by which users know the kinds that a budget counts, by kind.
var KindNames = [KindMemoryBytesPerFrame]string{"LUT", "LUTRAM", "FF", "RAMB18", "URAM", "DSP",
	"mean of RAMB18, URAM, DSP"}

// ReplaceRAMB18ByBoardName returns the text with "RAMB18", wherever it occurs, replaced by the board's own name of
// block RAM.
func ReplaceRAMB18ByBoardName(text string, b boards.Board) string {
	return strings.ReplaceAll(text, KindNames[KindBRAM], b.BlockRAMUnitName())
}

// AmountsByKind returns resources as a list with one amount per kind, from KindLUT to KindDSP.
func AmountsByKind(r dataflow.Resources) [KindMeanHardBlockShare]int64 {
	return [KindMeanHardBlockShare]int64{int64(r.LUT), int64(r.LUTRAM), int64(r.FF), int64(r.BRAM), int64(r.URAM),
		int64(r.DSP)}
}

// ResourcesOfBoard returns all resources of the board's device, in the same units as the cost of a layer.
func ResourcesOfBoard(b boards.Board) dataflow.Resources {
	return dataflow.Resources{LUT: b.LUT, LUTRAM: b.LUTRAM, FF: b.FF, BRAM: b.BlockRAMCount(), URAM: b.URAM, DSP: b.DSP}
}

// BoardHasResourceKinds reports whether the board has at least one of every kind of resource that the cost takes. It
// does not compare amounts.
func BoardHasResourceKinds(cost dataflow.Resources, b boards.Board) bool {
	have := AmountsByKind(ResourcesOfBoard(b))
	for k, n := range AmountsByKind(cost) {
		if n > 0 && have[k] == 0 {
			return false
		}
	}
	return true
}

// A Budget holds the resources of a board that a design may take (Resources, Mean), and all that the board has
// (Capacity).
type Budget struct {
	Resources dataflow.Resources
	// the largest mean share of block RAM, UltraRAM and DSP slices, among those that the board has
	Mean     float64
	Capacity dataflow.Resources
}

// BudgetOfBoard returns the budget on a board for the fractions u. The zero MaxUseFractions and
// DefaultMaxUseFractions mean the board's guideline. It computes exactly with decimals and rounds down: 0.7 of 53,200
// LUTs is 37,240.
func BudgetOfBoard(b boards.Board, u MaxUseFractions) Budget {
	if u == (MaxUseFractions{}) || u == DefaultMaxUseFractions {
		u = GuidelineOf(b)
	}
	c := ResourcesOfBoard(b)
	part := func(n int, f float64) int { return int(times(f, int64(n))) }
	return Budget{dataflow.Resources{
		LUT: part(c.LUT, u.LUT), LUTRAM: part(c.LUTRAM, u.LUTRAM), FF: part(c.FF, u.FF), BRAM: part(c.BRAM, u.BRAM),
		URAM: part(c.URAM, u.URAM), DSP: part(c.DSP, u.DSP),
	}, u.Mean, c}
}

// times returns the product of f and n, rounded down. It computes exactly, with f as the decimal number that the user
// wrote.
func times(f float64, n int64) int64 {
	return int64(CappedFloorOfRational(new(big.Rat).Mul(RationalOfShortestDecimal(f), big.NewRat(n, 1))))
}

// MeanHardBlockShareOf returns the mean share of block RAM, UltraRAM and DSP slices that the resources take, among
// those that the board has.
func (b *Budget) MeanHardBlockShareOf(r dataflow.Resources) float64 {
	have, used := AmountsByKind(b.Capacity), AmountsByKind(r)
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
	have := AmountsByKind(b.Capacity)
	for _, k := range averaged {
		n += min(1, have[k])
	}
	return n
}

// AllowsResources reports whether resources are within the budget, and their mean share within Mean.
func (b *Budget) AllowsResources(r dataflow.Resources) bool {
	return r.IsWithin(b.Resources) &&
		b.AmountVectorOf(r)[KindMeanHardBlockShare] <= b.SearchCaps().AmountVector[KindMeanHardBlockShare]
}

// AmountVectorOf returns the resources as the search counts them, with the mean share in KindMeanHardBlockShare. Each
// term of the mean is rounded down.
func (b *Budget) AmountVectorOf(r dataflow.Resources) (v search.AmountVector) {
	used, have := AmountsByKind(r), AmountsByKind(b.Capacity)
	copy(v[:], used[:])
	for _, k := range averaged {
		if have[k] > 0 {
			v[KindMeanHardBlockShare] += used[k] * MeanHardBlockShareScale / (b.averages() * have[k])
		}
	}
	return v
}

// SearchCaps returns the budget in the form of package search. Kinds without a budget have no cap.
func (b *Budget) SearchCaps() search.Caps {
	v := search.UnlimitedCaps
	a := AmountsByKind(b.Resources)
	copy(v.AmountVector[:], a[:])
	v.AmountVector[KindMeanHardBlockShare] = times(b.Mean, MeanHardBlockShareScale)
	return v
}

// LoadDenominators returns, for each kind that has a budget, the amount that counts as a load of 1. It is 0 for the
// other kinds.
func (b *Budget) LoadDenominators() (v search.AmountVector) {
	caps := b.SearchCaps()
	copy(v[:KindMemoryBytesPerFrame], caps.AmountVector[:])
	return v
}

// A ResourceShare holds how much a design takes of one kind of resource, of its budget and of the board. For the mean,
// the amounts are shares in millionths.
type ResourceShare struct {
	Name   string // one of KindNames
	Used   int
	Budget int // the part of Board that the design may take
	Board  int
}

// IsMeanHardBlockShare reports whether the share is the mean of block RAM, UltraRAM and DSP slices.
func (s ResourceShare) IsMeanHardBlockShare() bool {
	return s.Name == KindNames[KindMeanHardBlockShare]
}

// UsedFractionOfBoard returns the used part of the whole board. It exceeds 1 if the design does not fit.
func (s ResourceShare) UsedFractionOfBoard() float64 { return float64(s.Used) / float64(s.Board) }

// ResourceSharesOf returns, for resources of a design, the share of each kind that the board has, and last that of the
// mean.
func (b *Budget) ResourceSharesOf(r dataflow.Resources) (list []ResourceShare) {
	const million = 1_000_000
	used, most, all := AmountsByKind(r), AmountsByKind(b.Resources), AmountsByKind(b.Capacity)
	for k := range used {
		if all[k] > 0 {
			list = append(list, ResourceShare{KindNames[k], int(used[k]), int(most[k]), int(all[k])})
		}
	}
	const each = MeanHardBlockShareScale / million
	up := int(b.AmountVectorOf(r)[KindMeanHardBlockShare]+each-1) / each
	return append(list, ResourceShare{KindNames[KindMeanHardBlockShare], up,
		int(b.SearchCaps().AmountVector[KindMeanHardBlockShare] / each), million})
}
