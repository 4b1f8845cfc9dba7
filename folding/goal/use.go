package goal

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"hlsgen/boards"
)

// A MaxUseFractions holds the fraction, from 0 to 1, of each of the board's resources that a design may take. Mean
// limits the mean share of block RAM, UltraRAM and DSP slices, among those that the board has.
type MaxUseFractions struct{ LUT, LUTRAM, FF, BRAM, URAM, DSP, Mean float64 }

// DefaultMaxUseFractions holds the shares that a design takes at most unless the user says otherwise. Designs with
// these are known to reach their clock on AMD's devices (docs/boards.md).
var DefaultMaxUseFractions = MaxUseFractions{LUT: 0.7, LUTRAM: 0.25, FF: 0.5, BRAM: 0.8, URAM: 0.8, DSP: 0.8, Mean: 0.7}

// GuidelineOf returns the shares that DefaultMaxUseFractions stands for on a board. Where a LUT is a cell that a
// flip-flop shares, both have one share, which is the family's.
func GuidelineOf(b boards.Board) MaxUseFractions {
	u := DefaultMaxUseFractions
	if row := b.Family.Row(); row != nil && row.Logic.MostLUTs > 0 {
		u.LUT, u.FF = row.Logic.MostLUTs, row.Logic.MostLUTs
	}
	return u
}

// useKeys holds the names that the fields of MaxUseFractions have in --max-use, in the order of the kinds.
var useKeys = [...]string{"lut", "lutram", "ff", "bram", "uram", "dsp", "mean"}

// NewUniformMaxUse returns the MaxUseFractions with the same fraction of every resource, and of the mean of block RAM,
// UltraRAM and DSP slices.
func NewUniformMaxUse(f float64) MaxUseFractions { return MaxUseFractions{f, f, f, f, f, f, f} }

// FractionPointerOf returns a pointer to u's own fraction of a kind, one of KindLUT to KindMeanHardBlockShare.
func (u *MaxUseFractions) FractionPointerOf(kind int) *float64 {
	return [...]*float64{&u.LUT, &u.LUTRAM, &u.FF, &u.BRAM, &u.URAM, &u.DSP, &u.Mean}[kind]
}

// DefaultMaxUseName is the name of DefaultMaxUseFractions in --max-use.
const DefaultMaxUseName = "guideline"

// ParseMaxUseFractions reads the value of --max-use: "guideline", which means DefaultMaxUseFractions; a fraction for
// every resource, "0.8"; or fractions for some, "lut=0.7,bram=0.9". The others keep DefaultMaxUseFractions, or the
// fraction that comes first: "0.5,dsp=1".
func ParseMaxUseFractions(s string) (MaxUseFractions, error) {
	u := DefaultMaxUseFractions
	if s == DefaultMaxUseName {
		return u, nil
	}
	var seen []string
	for i, part := range strings.Split(s, ",") {
		name, number, named := strings.Cut(strings.TrimSpace(part), "=")
		if !named {
			if i > 0 {
				return MaxUseFractions{}, fmt.Errorf("max-use %q: %q names no resource", s, part)
			}
			number = name
		}
		f, err := strconv.ParseFloat(strings.TrimSpace(number), 64)
		if err != nil || !(f >= 0 && f <= 1) {
			return MaxUseFractions{}, fmt.Errorf("max-use %q: %q is not a fraction from 0 to 1, nor %s", s, number,
				DefaultMaxUseName)
		}
		if !named {
			u = NewUniformMaxUse(f)
			continue
		}
		name = strings.ToLower(strings.TrimSpace(name))
		kind := slices.Index(useKeys[:], name)
		if kind < 0 {
			return MaxUseFractions{}, fmt.Errorf("max-use %q: unknown resource %q, known are %s", s, name,
				strings.Join(useKeys[:],
					", "))
		}
		if slices.Contains(seen, name) {
			return MaxUseFractions{}, fmt.Errorf("max-use %q: %s is given twice", s, name)
		}
		seen = append(seen, name)
		*u.FractionPointerOf(kind) = f
	}
	if u == (MaxUseFractions{}) {
		return MaxUseFractions{}, fmt.Errorf("max-use %q leaves no resource", s)
	}
	return u, nil
}

// String returns the MaxUseFractions as the shortest text that ParseMaxUseFractions reads. The zero MaxUseFractions
// gives "guideline".
func (u MaxUseFractions) String() string {
	if u == (MaxUseFractions{}) || u == DefaultMaxUseFractions {
		return DefaultMaxUseName
	}
	base, parts := DefaultMaxUseFractions, []string(nil)
	for kind := range useKeys { // choose the base from which the fewest kinds differ
		all := *u.FractionPointerOf(kind)
		if same := NewUniformMaxUse(all); u.differs(same) < u.differs(base) {
			base, parts = same, []string{FormatAllDecimals(all)}
		}
	}
	for kind, key := range useKeys {
		if f := *u.FractionPointerOf(kind); f != *base.FractionPointerOf(kind) {
			parts = append(parts, key+"="+FormatAllDecimals(f))
		}
	}
	return strings.Join(parts, ",")
}

// valid reports whether every share is from 0 to 1.
func (u MaxUseFractions) valid() bool {
	for kind := range useKeys {
		if f := *u.FractionPointerOf(kind); !(f >= 0 && f <= 1) {
			return false
		}
	}
	return true
}

// differs returns the number of kinds of which u and o have different fractions.
func (u MaxUseFractions) differs(o MaxUseFractions) (n int) {
	for kind := range useKeys {
		if *u.FractionPointerOf(kind) != *o.FractionPointerOf(kind) {
			n++
		}
	}
	return n
}
