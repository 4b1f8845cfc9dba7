package folding

import (
	"fmt"
	"math/big"
	"slices"
	"strconv"
	"strings"

	"hlsgen/boards"
	"hlsgen/folding/search"
	"hlsgen/internal/dataflow"
)

// The kinds of amounts, in the order of a search.Vector.
const (
	lut = iota
	lutram
	ff
	bram
	uram
	dsp
	mean    // the mean share of the board's block RAM, UltraRAM and DSP slices, in meanUnits
	traffic // bytes of a frame that go to and from the processor's memory
)

// meanUnits is a share of 1.
const meanUnits = 10_000_000

// names of what a budget counts, as users read them.
var names = [traffic]string{"LUT", "LUTRAM", "FF", "RAMB18", "URAM", "DSP", "mean of RAMB18, URAM, DSP"}

// amounts is resources in the order of the kinds.
func amounts(r dataflow.Resources) [mean]int64 {
	return [mean]int64{int64(r.LUT), int64(r.LUTRAM), int64(r.FF), int64(r.BRAM), int64(r.URAM), int64(r.DSP)}
}

// A Use is the fraction of each of the board's resources that a design may take, 0 to 1. Mean is that of the mean of block
// RAM, UltraRAM and DSP slices, of those that the board has.
type Use struct{ LUT, LUTRAM, FF, BRAM, URAM, DSP, Mean float64 }

// DefaultMaxUse is what designs are known to close with (docs/boards.md).
var DefaultMaxUse = Use{LUT: 0.7, LUTRAM: 0.25, FF: 0.5, BRAM: 0.8, URAM: 0.8, DSP: 0.8, Mean: 0.7}

// useKeys are the names of a Use's fields in --max-use, in the order of the kinds.
var useKeys = [...]string{"lut", "lutram", "ff", "bram", "uram", "dsp", "mean"}

// field is the fraction of a kind.
func (u *Use) field(kind int) *float64 {
	return [...]*float64{&u.LUT, &u.LUTRAM, &u.FF, &u.BRAM, &u.URAM, &u.DSP, &u.Mean}[kind]
}

// Guideline is DefaultMaxUse in --max-use.
const Guideline = "guideline"

// ParseMaxUse reads --max-use: "guideline", which is DefaultMaxUse; a fraction for every resource, "0.8"; or single ones,
// "lut=0.7,bram=0.9", which leave the others at DefaultMaxUse; a fraction may come first: "0.5,dsp=1".
func ParseMaxUse(s string) (Use, error) {
	u := DefaultMaxUse
	if s == Guideline {
		return u, nil
	}
	var seen []string
	for i, part := range strings.Split(s, ",") {
		name, number, named := strings.Cut(strings.TrimSpace(part), "=")
		if !named {
			if i > 0 {
				return Use{}, fmt.Errorf("max-use %q: %q names no resource", s, part)
			}
			number = name
		}
		f, err := strconv.ParseFloat(strings.TrimSpace(number), 64)
		if err != nil || !(f >= 0 && f <= 1) {
			return Use{}, fmt.Errorf("max-use %q: %q is not a fraction from 0 to 1, nor %s", s, number, Guideline)
		}
		if !named {
			u = Use{f, f, f, f, f, f, f}
			continue
		}
		name = strings.ToLower(strings.TrimSpace(name))
		kind := slices.Index(useKeys[:], name)
		if kind < 0 {
			return Use{}, fmt.Errorf("max-use %q: unknown resource %q, known are %s", s, name, strings.Join(useKeys[:], ", "))
		}
		if slices.Contains(seen, name) {
			return Use{}, fmt.Errorf("max-use %q: %s is given twice", s, name)
		}
		seen = append(seen, name)
		*u.field(kind) = f
	}
	if u == (Use{}) {
		return Use{}, fmt.Errorf("max-use %q leaves no resource", s)
	}
	return u, nil
}

// String is the Use as ParseMaxUse reads it.
func (u Use) String() string {
	number := func(f float64) string { return strconv.FormatFloat(f, 'f', -1, 64) }
	if u == (Use{}) || u == DefaultMaxUse {
		return Guideline
	}
	base, parts := DefaultMaxUse, []string(nil)
	for kind := range useKeys { // the fraction that the fewest kinds differ from
		all := *u.field(kind)
		if same := (Use{all, all, all, all, all, all, all}); u.differs(same) < u.differs(base) {
			base, parts = same, []string{number(all)}
		}
	}
	for kind, key := range useKeys {
		if f := *u.field(kind); f != *base.field(kind) {
			parts = append(parts, key+"="+number(f))
		}
	}
	return strings.Join(parts, ",")
}

// differs counts the kinds in which two Uses differ.
func (u Use) differs(o Use) (n int) {
	for kind := range useKeys {
		if *u.field(kind) != *o.field(kind) {
			n++
		}
	}
	return n
}

// Capacity is what the board has, in the units of a cost.
func Capacity(b boards.Board) dataflow.Resources {
	return dataflow.Resources{LUT: b.LUT, LUTRAM: b.LUTRAM, FF: b.FF, BRAM: 2 * b.BRAM36, URAM: b.URAM, DSP: b.DSP}
}

// A Budget is what a design may take of a board.
type Budget struct {
	Resources dataflow.Resources
	Mean      float64 // of the shares of block RAM, UltraRAM and DSP slices, of those that the board has
	capacity  dataflow.Resources
}

// BudgetOf is the budget of a board; the zero Use means DefaultMaxUse. The fractions are decimals: 0.7 of 53,200 LUT is
// 37,240, as on paper.
func BudgetOf(b boards.Board, u Use) Budget {
	if u == (Use{}) {
		u = DefaultMaxUse
	}
	c := Capacity(b)
	part := func(n int, f float64) int {
		return floor(new(big.Rat).Mul(big.NewRat(int64(n), 1), decimal(f)))
	}
	return Budget{dataflow.Resources{
		LUT: part(c.LUT, u.LUT), LUTRAM: part(c.LUTRAM, u.LUTRAM), FF: part(c.FF, u.FF), BRAM: part(c.BRAM, u.BRAM),
		URAM: part(c.URAM, u.URAM), DSP: part(c.DSP, u.DSP),
	}, u.Mean, c}
}

// MeanOf is the mean share of the board's block RAM, UltraRAM and DSP slices that resources take, of those that it has.
func (b *Budget) MeanOf(r dataflow.Resources) float64 {
	sum, n := 0.0, 0
	for _, k := range [...]int{bram, uram, dsp} {
		if c := amounts(b.capacity)[k]; c > 0 {
			sum += float64(amounts(r)[k]) / float64(c)
			n++
		}
	}
	return sum / float64(max(1, n))
}

// Fits reports whether resources are within the budget.
func (b *Budget) Fits(r dataflow.Resources) bool {
	return r.Within(b.Resources) && b.vector(r)[mean] <= b.caps().Vector[mean]
}

// vector is resources as the search counts them. The mean is rounded down, part by part.
func (b *Budget) vector(r dataflow.Resources) (v search.Vector) {
	a, c := amounts(r), amounts(b.capacity)
	copy(v[:], a[:])
	n := int64(0)
	for _, k := range [...]int{bram, uram, dsp} {
		if c[k] > 0 {
			n++
		}
	}
	for _, k := range [...]int{bram, uram, dsp} {
		if c[k] > 0 {
			v[mean] += a[k] * meanUnits / (n * c[k])
		}
	}
	return v
}

// caps is the budget as the search counts it; what else there is is not capped.
func (b *Budget) caps() search.Caps {
	v := search.Unlimited
	a := amounts(b.Resources)
	copy(v.Vector[:], a[:])
	v.Vector[mean] = int64(floor(new(big.Rat).Mul(decimal(b.Mean), big.NewRat(meanUnits, 1))))
	return v
}

// yard is what the load is measured against: the budget, where there is one.
func (b *Budget) yard() (v search.Vector) {
	caps := b.caps()
	copy(v[:traffic], caps.Vector[:traffic])
	return v
}

// A Share says how much of a kind of resource a design takes. Of the mean, the amounts are shares in millionths.
type Share struct {
	Name   string // as in names
	Used   int
	Budget int // of Board, what may be taken
	Board  int
}

// Mean reports whether it is the mean.
func (s Share) Mean() bool { return s.Name == names[mean] }

// Of is the share of the whole board, from 0.
func (s Share) Of() float64 { return float64(s.Used) / float64(s.Board) }

// Shares are those of the kinds that the board has.
func (b *Budget) Shares(r dataflow.Resources) (list []Share) {
	const million = 1_000_000
	used, most, all := amounts(r), amounts(b.Resources), amounts(b.capacity)
	for k := range used {
		if all[k] > 0 {
			list = append(list, Share{names[k], int(used[k]), int(most[k]), int(all[k])})
		}
	}
	up := func(units int64) int { return int((units + meanUnits/million - 1) / (meanUnits / million)) }
	return append(list, Share{names[mean], up(b.vector(r)[mean]), int(b.caps().Vector[mean] / (meanUnits / million)), million})
}

// decimal is the shortest decimal that reads as f: the number the user wrote.
func decimal(f float64) *big.Rat {
	r, ok := new(big.Rat).SetString(strconv.FormatFloat(f, 'g', -1, 64))
	if !ok {
		panic(fmt.Sprintf("folding: %v is not a number", f))
	}
	return r
}

// mostClocks is beyond any interval; it bounds what floor returns.
const mostClocks = 1 << 40

func floor(r *big.Rat) int {
	q := new(big.Int).Quo(r.Num(), r.Denom())
	if !q.IsInt64() || q.Int64() > mostClocks {
		return mostClocks
	}
	return int(q.Int64())
}

func ceiling(r *big.Rat) int {
	if r.IsInt() {
		return floor(r)
	}
	return floor(r) + 1
}

// plain writes a number without an exponent, to at most six decimals.
func plain(f float64) string {
	return strings.TrimSuffix(strings.TrimRight(strconv.FormatFloat(f, 'f', 6, 64), "0"), ".")
}

// exact writes a number with all its decimals, so that it reads back to the same.
func exact(f float64) string { return strconv.FormatFloat(f, 'f', -1, 64) }
