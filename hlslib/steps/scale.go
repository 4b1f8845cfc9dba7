package steps

import (
	"fmt"
	"math"
	"math/bits"
	"slices"

	"hlsgen/hlslib/price/cost"
	"hlsgen/internal/dataflow"
	"hlsgen/internal/num"
)

// The limits of the search for multipliers.
const (
	mostDigits   = 12 // digits of a multiplier: each further digit is an adder as wide as the sum
	moreShifts   = 6  // shifts tried beyond the least: a longer multiplier may have fewer digits
	widestSum    = 60 // bits
	mostMeasured = 1 << 18
)

// longShifts are the shifts with which leastShift tests whether a ramp is a line at all. A line over values of up to
// about as many bits can be written with one of them.
var longShifts = [...]int{44, 36, 28, 20, 12, 4}

// scalings are the roundings that are tried. Other roundings equal rounding down with another bias, or with a
// slightly smaller or larger multiplier.
var scalings = []num.Rounding{num.RoundingFloor, num.RoundingHalfEven}

// A scaling computes step functions as lines: (multiplier*value + bias) / 2^shift, rounded and clipped. Each multiplier
// is a sum of a few signed powers of two.
type scaling struct {
	mode       num.Rounding
	shift      int
	multiplier []int64 // one for all functions, or one per function
	bias       []int64 // one per function
	limits     num.Range
	sum        num.Type // type of multiplier*value + bias, for values that occur
	code       num.Range
	digits     int // the largest number of digits of a multiplier
}

// A lines holds the functions as ramps and, by shift, the multipliers that all of them have in common.
type lines struct {
	ramps  []*ramp
	mode   num.Rounding
	common []slopes // by shift, starting with the least
}

// bindScalings sets f.lines, the lines that the functions may be, and f.common, a scaling whose multiplier serves all
// functions. It sets neither if there are too many breakpoints, or if some function is no line.
func (f *StepFunctions) bindScalings() {
	if f.of.Kind == num.KindBipolar || f.compare.ThresholdsPerChannel()*len(f.list) > mostMeasured {
		return
	}
	stairs, ok := num.NewLineFitTargets(f.list, f.in)
	if !ok {
		return
	}
	f.lines.ramps = f.rampsOf(stairs)
	for _, mode := range scalings {
		if least, ok := leastShift(f.lines.ramps, mode); ok {
			f.lines.mode, f.lines.common = mode, slopesOf(f.lines.ramps, mode, least)
			f.common = f.lines.scaling(func(l slopes, _ int) ([]int64, int) {
				if l.empty() {
					return nil, mostDigits + 1
				}
				m, n := fewestDigits(l.multipliers)
				return []int64{m}, n
			})
			return
		}
	}
}

// bindOwn finds a multiplier for each function, and keeps them if they have fewer digits than a shared one. For each
// shift it first tries the function that had too many digits with the shift before, which will likely fail again.
func (f *StepFunctions) bindOwn() {
	f.owned.Do(func() {
		first := 0
		own := f.lines.scaling(func(l slopes, most int) (list []int64, digits int) {
			n := len(f.lines.ramps)
			list = make([]int64, n)
			for i := range n {
				c := (first + i) % n
				s := f.lines.ramps[c].find(f.lines.mode, l.shift)
				if list[c] = s.fewest; s.digits > digits {
					if digits, first = s.digits, c; digits > most {
						break
					}
				}
			}
			return list, digits
		})
		if f.common == nil || own != nil && own.digits < f.common.digits {
			f.own = own
		}
	})
}

// leastShift returns the least shift with which all ramps are lines. ok is false if there is none. A line with some
// shift usually exists with the next one, too, unless a number leaves 63 bits. So a few long shifts suffice to detect a
// ramp that is no line.
func leastShift(ramps []*ramp, mode num.Rounding) (shift int, ok bool) {
	for _, r := range ramps {
		passes := func(shift int) bool { return r.find(mode, shift).passes }
		if passes(shift) {
			continue
		}
		at := slices.IndexFunc(longShifts[:], passes)
		if at < 0 || longShifts[at] < shift {
			return 0, false
		}
		for shift++; !passes(shift); {
			shift++
		}
	}
	return shift, true
}

// A slopes is the range of multipliers that all ramps have in common with a shift. It is empty if there are none.
type slopes struct {
	shift       int
	multipliers num.Range
}

func (s *slopes) empty() bool { return s.multipliers.Lo > s.multipliers.Hi }

// slopesOf returns the common multipliers for the least shift and for the shifts after it, as long as all ramps have
// lines.
func slopesOf(ramps []*ramp, mode num.Rounding, least int) []slopes {
	list := make([]slopes, moreShifts+1)
	for i := range list {
		list[i] = slopes{least + i, num.Range{Lo: math.MinInt64, Hi: math.MaxInt64}}
	}
	for _, r := range ramps {
		r.mutex.Lock()
		for i := range list {
			l := &list[i]
			if !r.passes(mode, l.shift) {
				list = list[:i]
				break
			}
			if m := &l.multipliers; !l.empty() { // an empty range stays empty
				s := r.slope(mode, l.shift)
				m.Lo, m.Hi = max(m.Lo, s.multipliers.Lo), min(m.Hi, s.multipliers.Hi)
			}
		}
		r.mutex.Unlock()
	}
	return list
}

// scaling returns the scaling whose multipliers have the fewest digits, and among those the least shift; nil if none
// has at most mostDigits. choose returns the multipliers for a shift, and the largest number of their digits. That
// number exceeds most if no multipliers have at most most digits.
func (l *lines) scaling(choose func(l slopes, most int) (multiplier []int64, digits int)) (best *scaling) {
	most := mostDigits
	for _, common := range l.common {
		s := &scaling{mode: l.mode, shift: common.shift, limits: l.ramps[0].Limits}
		if s.multiplier, s.digits = choose(common, most); s.digits <= most && s.complete(l.ramps) {
			best, most = s, s.digits-1
		}
	}
	return best
}

// complete sets the biases, as near to 0 as possible, and the width of sums. It returns false if a number would have
// too many bits.
func (s *scaling) complete(ramps []*ramp) bool {
	s.bias = make([]int64, 0, len(ramps))
	for c, r := range ramps {
		m := s.times(c)
		b := r.MatchingBiases(s.mode, s.shift, m)
		bias := min(max(0, b.Lo), b.Hi)
		product, ok1 := r.X.TimesConstant(m)
		sum, ok2 := product.Plus(num.SingleValueRange(bias))
		if b.Lo > b.Hi || !ok1 || !ok2 {
			return false
		}
		code := num.Range{Lo: s.mode.DivideByPowerOfTwo(sum.Lo, s.shift), Hi: s.mode.DivideByPowerOfTwo(sum.Hi,
			s.shift)}
		if s.bias = append(s.bias, bias); c > 0 {
			code, sum = code.Union(s.code), sum.Union(s.sum.Range())
		}
		s.code, s.sum = code, num.Type{Kind: num.KindInt,
			Width: num.NarrowestIntTypeFor(sum.Union(num.SingleValueRange(-1))).Width}
	}
	int32s := num.Range{Lo: math.MinInt32, Hi: math.MaxInt32}
	return s.sum.Width <= widestSum && s.limits.IsWithin(int32s)
}

// times returns the multiplier of function n; all functions may share one.
func (s *scaling) times(n int) int64 { return s.multiplier[min(n, len(s.multiplier)-1)] }

// fewestDigits returns the number m in r that is a sum of the fewest signed powers of two, and their number n.
func fewestDigits(r num.Range) (m int64, n int) {
	for n = 0; ; n++ {
		if m, ok := withDigits(r, n); ok {
			return m, n
		}
	}
}

// withDigits returns a number in r that is a sum of n signed powers of two; ok is false if there is none. The highest
// power is the one just below or just above the rest of the range.
func withDigits(r num.Range, n int) (m int64, ok bool) {
	if r.Contains(0) || n == 0 {
		return 0, r.Contains(0)
	}
	if r.Hi < 0 {
		m, ok = withDigits(r.Negated(), n)
		return -m, ok
	}
	for k := max(0, bits.Len64(uint64(r.Lo))-1); k <= min(bits.Len64(uint64(r.Hi)), widestSum); k++ {
		p := int64(1) << k
		if m, ok := withDigits(num.Range{Lo: r.Lo - p, Hi: r.Hi - p}, n-1); ok {
			return m + p, true
		}
	}
	return 0, false
}

// digits returns the signed powers of two that sum to m, no two of them adjacent. Exponent e stands for +2^e, and
// -1-e for -2^e.
func digits(m int64) (list []int) {
	for _, d := range num.CanonicalSignedDigits(m) {
		if d.Negative {
			list = append(list, -1-d.Weight)
		} else {
			list = append(list, d.Weight)
		}
	}
	return list
}

// scaled returns the forms that multiply at a site. One has a shared multiplier; another has one multiplier per lane,
// if each function has its own lane.
func (f *StepFunctions) scaled(p FormSite) (forms []StepFunctionHardware) {
	if f.common != nil {
		forms = append(forms, &ScaledForm{f, p, f.common})
	}
	if !p.Alike && len(f.list) == p.PE {
		if f.bindOwn(); f.own != nil {
			forms = append(forms, &ScaledForm{f, p, f.own})
		}
	}
	return forms
}

// ScaledForm is the form that multiplies, adds, shifts and clips, without DSP slices. For values that do not occur its
// codes are arbitrary.
type ScaledForm struct {
	f  *StepFunctions
	at FormSite
	s  *scaling
}

// Name returns a name with the number of digits, and whether each function has its own multiplier.
func (s *ScaledForm) Name() string {
	own := ""
	if len(s.s.multiplier) > 1 {
		own = " of its own"
	}
	return fmt.Sprintf("multiplier of %d digits%s", s.s.digits, own)
}

// AddendCountAndSumBits returns the number of words that are added, and the width of their sum in bits.
func (s *ScaledForm) AddendCountAndSumBits() (n, width int) {
	n = s.s.digits
	for _, b := range s.s.bias {
		if b != 0 {
			return n + 1, s.s.sum.Width
		}
	}
	return max(1, n), s.s.sum.Width
}

// HasNonFloorRounding reports whether the shift rounds otherwise than down.
func (s *ScaledForm) HasNonFloorRounding() bool {
	return s.s.shift > 0 && s.s.mode != num.RoundingFloor
}

// HasClipping reports whether some result must be limited to the range of codes.
func (s *ScaledForm) HasClipping() bool { return !s.s.code.IsWithin(s.s.limits) }

// LatencyClocks returns the clocks from a value to its code: one for every two levels of adders, and one for the
// clipping.
func (s *ScaledForm) LatencyClocks() int {
	n, _ := s.AddendCountAndSumBits()
	return (bits.Len(uint(n-1))+1)/2 + 1
}

// LaneCount returns the number of values that are computed side by side.
func (s *ScaledForm) LaneCount() int { return s.at.PE }

// HasTablesPerLane returns false: each row of the biases holds those of all lanes.
func (s *ScaledForm) HasTablesPerLane() bool { return false }

// ComputeCode returns the code of function n for v: the line, rounded and clipped.
func (s *ScaledForm) ComputeCode(n int, v int64) int64 {
	sum := s.s.sum.DecodeBits(uint64(s.s.times(n)*v + s.s.bias[n]))
	return min(max(s.s.mode.DivideByPowerOfTwo(sum, s.s.shift), s.s.limits.Lo), s.s.limits.Hi)
}

// side returns how many functions have their biases side by side in a row.
func (s *ScaledForm) side() int {
	if s.at.Alike || len(s.s.bias) == 1 {
		return 1
	}
	return s.at.PE
}

// ConfigFields returns the arguments of apply_steps. The digits of the multiplier are among them unless each lane has
// its own; then they are in a table.
func (s *ScaledForm) ConfigFields() []dataflow.ConfigField {
	fields := []dataflow.ConfigField{
		formField(scaled),
		{Name: "digit_count", Doc: "powers of two that sum to a multiplier", Value: s.s.digits},
		{Name: "sum_width", Doc: "bits of multiplier times value, plus bias", Value: s.s.sum.Width},
		{Name: "shift", Doc: "bits by which the sum is shifted right", Value: s.s.shift},
		{Name: "mode", Doc: "rounding of the shift: a requant_mode", Value: s.s.mode.KernelCode()},
		{Name: "lo", Doc: "the least output", Value: int(s.s.limits.Lo)},
		{Name: "hi", Doc: "the greatest output", Value: int(s.s.limits.Hi)},
		{Name: "clip_lo", Doc: "some code lies below lo", Value: s.s.code.Lo < s.s.limits.Lo},
		{Name: "clip_hi", Doc: "some code lies above hi", Value: s.s.code.Hi > s.s.limits.Hi},
		{Name: "shared", Doc: "one row serves all channels", Value: s.f.compare.HasSharedRow()},
	}
	if len(s.s.multiplier) > 1 {
		return fields
	}
	list := []int{0}
	if s.s.digits > 0 {
		list = digits(s.s.multiplier[0])
	}
	return append(fields,
		dataflow.ConfigField{Name: "digits", Doc: "powers of two that sum to it: e for 2^e, -1-e for -2^e",
			Value: list})
}

// Tables returns the table of biases, and that of the digits if each lane has its own multiplier.
func (s *ScaledForm) Tables() []dataflow.Table {
	side := s.side()
	t := dataflow.Table{Name: "biases", Doc: "by fold: element pe", Elem: num.NarrowestTypeOfValues(s.s.bias)}
	for at := 0; at < len(s.s.bias); at += side {
		t.Rows = append(t.Rows, s.s.bias[at:at+side])
	}
	tables := []dataflow.Table{t}
	if len(s.s.multiplier) == 1 {
		return tables
	}
	var row []int64
	for _, m := range s.s.multiplier {
		list := digits(m)
		for i := range s.s.digits {
			if i < len(list) {
				row = append(row, int64(list[i]))
			} else {
				row = append(row, int64(s.s.sum.Width)) // shifts out all bits of a value
			}
		}
	}
	return append(tables, dataflow.Table{Name: "exponents", Doc: "powers of two by lane: e for 2^e, -1-e for -2^e",
		Elem: s.exponent(), Rows: [][]int64{row}})
}

// exponent returns the element type of the table of digits.
func (s *ScaledForm) exponent() num.Type {
	return num.NarrowestIntTypeFor(num.Range{Lo: -1 - int64(s.s.sum.Width), Hi: int64(s.s.sum.Width)})
}

// Storage returns the memories of the tables. A table with a single row is constants, and has none.
func (s *ScaledForm) Storage() []dataflow.Storage {
	side := s.side()
	list := []dataflow.Storage{dataflow.NewTableStorage("biases", "threshold memory", len(s.s.bias)/side,
		side*num.NarrowestTypeOfValues(s.s.bias).Width).MovedToMemory(s.at.Memory)}
	if len(s.s.multiplier) > 1 {
		list = append(list, dataflow.NewTableStorage("exponents", "threshold memory", 1,
			len(s.s.multiplier)*s.s.digits*s.exponent().Width))
	}
	return list
}

// LogicCost returns the cost of an adder for every word but the first, the rounding, and a comparison and a choice for
// each limit.
func (s *ScaledForm) LogicCost(m cost.CostModel) []cost.CostPart {
	n, width := s.AddendCountAndSumBits()
	adders := (n - 1) * s.at.PE
	if len(s.s.multiplier) > 1 {
		for _, m := range s.s.multiplier {
			adders -= s.s.digits - len(digits(m))
		}
	}
	var lane cost.Resources
	code := max(1, width-s.s.shift)
	if s.HasNonFloorRounding() {
		lane = lane.Plus(cost.AdderCost(code))
	}
	var clip cost.Resources
	if s.s.code.Lo < s.s.limits.Lo {
		clip = clip.Plus(cost.LargerOfTwoCost(code))
	}
	if s.s.code.Hi > s.s.limits.Hi {
		clip = clip.Plus(cost.LargerOfTwoCost(code))
	}
	if m.Formula == cost.FormulaFitted {
		lane.FF += s.LatencyClocks() * width
	}
	sums := lane.Times(s.at.PE).Plus(cost.AdderCost(width).Times(max(0, adders)))
	return []cost.CostPart{sums.AsPart("step sums"), clip.Times(s.at.PE).AsPart("clipping")}
}
