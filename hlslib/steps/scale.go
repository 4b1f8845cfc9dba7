package steps

import (
	"fmt"
	"math"
	"math/bits"
	"slices"

	"hlsgen/hlslib/cost"
	"hlsgen/internal/dataflow"
	"hlsgen/internal/num"
)

// Limits of multiplications.
const (
	mostDigits   = 12 // of a multiplier: each further one is an adder as wide as the sum
	moreShifts   = 6  // than the least are looked at: a longer multiplier may have fewer digits
	widestSum    = 60 // bits
	mostMeasured = 1 << 18
)

// longShifts are enough for all lines over values of so many bits, or few fewer.
var longShifts = [...]int{44, 36, 28, 20, 12, 4}

// scalings is where multipliers are looked for: what is left out rounds down with another bias, or with a multiplier
// that is a little less or more.
var scalings = []num.Rounding{num.Floor, num.HalfEven}

// A scaling is step functions as lines: multiplier times value plus bias, over 2^shift, rounded and clipped.
// Multipliers are sums of a few powers of two, with signs.
type scaling struct {
	mode       num.Rounding
	shift      int
	multiplier []int64 // one for all functions, or one of each
	bias       []int64 // of each function
	limits     num.Range
	sum        num.Type // multiplier times value, plus bias, of values that occur
	code       num.Range
	digits     int // of a multiplier, at most
}

// A lines is what multipliers of functions are chosen from.
type lines struct {
	ramps  []*ramp
	mode   num.Rounding
	common []slopes // by shift, from the least on
}

// bindScalings finds one multiplier for all functions.
func (f *Functions) bindScalings() {
	if f.of.Kind == num.Bipolar || f.compare.Steps()*len(f.list) > mostMeasured {
		return
	}
	stairs, ok := num.Stairs(f.list, f.in)
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

// bindOwn finds a multiplier for each function, where these have fewer digits than one for all. It looks first at the
// function whose multipliers had too many digits with the shift before: it is likely to have them again.
func (f *Functions) bindOwn() {
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

// leastShift is the least with which lines equal all ramps. What one shift serves, the next serves too, unless
// something leaves 63 bits: a ramp that is no line is found out by a few of them.
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

// A slopes is the multipliers that ramps have in common with a shift; empty where there are none.
type slopes struct {
	shift       int
	multipliers num.Range
}

func (s *slopes) empty() bool { return s.multipliers.Lo > s.multipliers.Hi }

// slopesOf finds them with the least shift and with those behind it that all ramps have lines with.
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
			if m := &l.multipliers; !l.empty() { // else no others are asked for
				s := r.slope(mode, l.shift)
				m.Lo, m.Hi = max(m.Lo, s.multipliers.Lo), min(m.Hi, s.multipliers.Hi)
			}
		}
		r.mutex.Unlock()
	}
	return list
}

// scaling has the multipliers of fewest digits, of those the ones of the least shift; nil where there are none. choose
// gives those of a shift, and the most digits of any; more than most where there are none of so few.
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

// complete finds the biases, nearest to 0, and the width of sums.
func (s *scaling) complete(ramps []*ramp) bool {
	s.bias = make([]int64, 0, len(ramps))
	for c, r := range ramps {
		m := s.times(c)
		b := r.Biases(s.mode, s.shift, m)
		bias := min(max(0, b.Lo), b.Hi)
		product, ok1 := r.X.Times(m)
		sum, ok2 := product.Plus(num.Point(bias))
		if b.Lo > b.Hi || !ok1 || !ok2 {
			return false
		}
		code := num.Range{Lo: s.mode.Quotient(sum.Lo, s.shift), Hi: s.mode.Quotient(sum.Hi, s.shift)}
		if s.bias = append(s.bias, bias); c > 0 {
			code, sum = code.Union(s.code), sum.Union(s.sum.Range())
		}
		s.code, s.sum = code, num.Type{Kind: num.Int, Width: num.Smallest(sum.Union(num.Point(-1))).Width}
	}
	int32s := num.Range{Lo: math.MinInt32, Hi: math.MaxInt32}
	return s.sum.Width <= widestSum && s.limits.Within(int32s)
}

// times is function n's multiplier.
func (s *scaling) times(n int) int64 { return s.multiplier[min(n, len(s.multiplier)-1)] }

// fewestDigits is the number of a range that is a sum of fewest powers of two, with signs, and how many they are.
func fewestDigits(r num.Range) (m int64, n int) {
	for n = 0; ; n++ {
		if m, ok := withDigits(r, n); ok {
			return m, n
		}
	}
}

// withDigits is a number of a range that is a sum of so many powers of two, with signs. The highest of them is next to
// what is left, below or above.
func withDigits(r num.Range, n int) (m int64, ok bool) {
	if r.Contains(0) || n == 0 {
		return 0, r.Contains(0)
	}
	if r.Hi < 0 {
		m, ok = withDigits(r.Neg(), n)
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

// digits are the powers of two of which a number is the sum, no two of them next to each other: exponent e for +2^e,
// and -1-e for -2^e.
func digits(m int64) (list []int) {
	for _, d := range num.Digits(m) {
		if d.Negative {
			list = append(list, -1-d.Weight)
		} else {
			list = append(list, d.Weight)
		}
	}
	return list
}

// scaled are the functions by multiplication: by one multiplier, or in as many lanes by one for each.
func (f *Functions) scaled(p Site) (forms []Form) {
	if f.common != nil {
		forms = append(forms, &Scaled{f, p, f.common})
	}
	if !p.Alike && len(f.list) == p.PE {
		if f.bindOwn(); f.own != nil {
			forms = append(forms, &Scaled{f, p, f.own})
		}
	}
	return forms
}

// Scaled multiplies, adds, shifts and clips, without DSP slices. Values other than those that occur give anything.
type Scaled struct {
	f  *Functions
	at Site
	s  *scaling
}

// Name says how many adders there are.
func (s *Scaled) Name() string {
	own := ""
	if len(s.s.multiplier) > 1 {
		own = " of its own"
	}
	return fmt.Sprintf("multiplier of %d digits%s", s.s.digits, own)
}

// Terms is how many words are added up, and how wide these are.
func (s *Scaled) Terms() (n, width int) {
	n = s.s.digits
	for _, b := range s.s.bias {
		if b != 0 {
			return n + 1, s.s.sum.Width
		}
	}
	return max(1, n), s.s.sum.Width
}

// Rounds reports whether codes are rounded otherwise than down.
func (s *Scaled) Rounds() bool { return s.s.shift > 0 && s.s.mode != num.Floor }

// Clips reports whether codes are clipped.
func (s *Scaled) Clips() bool { return !s.s.code.Within(s.s.limits) }

// Clocks is one for every two levels of adders, and one for the limits.
func (s *Scaled) Clocks() int {
	n, _ := s.Terms()
	return (bits.Len(uint(n-1))+1)/2 + 1
}

// Lanes is PE.
func (s *Scaled) Lanes() int { return s.at.PE }

// Apart is false: what does not depend on the value lies in rows of all lanes.
func (s *Scaled) Apart() bool { return false }

// Apply is the line, clipped.
func (s *Scaled) Apply(n int, v int64) int64 {
	sum := s.s.sum.Decode(uint64(s.s.times(n)*v + s.s.bias[n]))
	return min(max(s.s.mode.Quotient(sum, s.s.shift), s.s.limits.Lo), s.s.limits.Hi)
}

// side is how many functions a row of biases is for.
func (s *Scaled) side() int {
	if s.at.Alike || len(s.s.bias) == 1 {
		return 1
	}
	return s.at.PE
}

// Fields has the digits of the multiplier, unless each lane has its own, which are in a table.
func (s *Scaled) Fields() []dataflow.Field {
	fields := []dataflow.Field{
		formField(scaled),
		{Name: "digit_count", Doc: "how many powers of two make a multiplier", Value: s.s.digits},
		{Name: "sum_width", Doc: "bits of multiplier times value, plus bias", Value: s.s.sum.Width},
		{Name: "shift", Doc: "what that is shifted right by", Value: s.s.shift},
		{Name: "mode", Doc: "how it rounds: a requant_mode", Value: s.s.mode.Code()},
		{Name: "lo", Doc: "the least output", Value: int(s.s.limits.Lo)},
		{Name: "hi", Doc: "the greatest output", Value: int(s.s.limits.Hi)},
		{Name: "clip_lo", Doc: "some code lies below", Value: s.s.code.Lo < s.s.limits.Lo},
		{Name: "clip_hi", Doc: "some code lies above", Value: s.s.code.Hi > s.s.limits.Hi},
		{Name: "shared", Doc: "one row serves all channels", Value: s.f.compare.Shared()},
	}
	if len(s.s.multiplier) > 1 {
		return fields
	}
	list := []int{0}
	if s.s.digits > 0 {
		list = digits(s.s.multiplier[0])
	}
	return append(fields,
		dataflow.Field{Name: "digits", Doc: "powers of two that make it: -1-e for -2^e", Value: list})
}

// Tables has the biases, and the digits of lanes that have multipliers of their own.
func (s *Scaled) Tables() []dataflow.Table {
	side := s.side()
	t := dataflow.Table{Name: "biases", Doc: "by fold: element pe", Elem: num.Narrowest(s.s.bias)}
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
				row = append(row, int64(s.s.sum.Width)) // nothing of a value is left
			}
		}
	}
	return append(tables, dataflow.Table{Name: "exponents", Doc: "of lanes' multipliers, as digits has them",
		Elem: s.exponent(), Rows: [][]int64{row}})
}

// exponent is the type of digits in a table.
func (s *Scaled) exponent() num.Type {
	return num.Smallest(num.Range{Lo: -1 - int64(s.s.sum.Width), Hi: int64(s.s.sum.Width)})
}

// Storage is that of the tables: a single row is constants.
func (s *Scaled) Storage() []dataflow.Storage {
	side := s.side()
	list := []dataflow.Storage{dataflow.ROM("biases", "threshold memory", len(s.s.bias)/side,
		side*num.Narrowest(s.s.bias).Width).At(s.at.Memory)}
	if len(s.s.multiplier) > 1 {
		list = append(list, dataflow.ROM("exponents", "threshold memory", 1,
			len(s.s.multiplier)*s.s.digits*s.exponent().Width))
	}
	return list
}

// Logic is an adder for every word but the first, the rounding, and a comparison and a choice for each limit.
func (s *Scaled) Logic(m cost.Model) []cost.Part {
	n, width := s.Terms()
	adders := (n - 1) * s.at.PE
	if len(s.s.multiplier) > 1 {
		for _, m := range s.s.multiplier {
			adders -= s.s.digits - len(digits(m))
		}
	}
	var lane cost.Resources
	code := max(1, width-s.s.shift)
	if s.Rounds() {
		lane = lane.Plus(cost.Adder(code))
	}
	var clip cost.Resources
	if s.s.code.Lo < s.s.limits.Lo {
		clip = clip.Plus(cost.Maximum(code))
	}
	if s.s.code.Hi > s.s.limits.Hi {
		clip = clip.Plus(cost.Maximum(code))
	}
	if m.Formula == cost.Fitted {
		lane.FF += s.Clocks() * width
	}
	sums := lane.Times(s.at.PE).Plus(cost.Adder(width).Times(max(0, adders)))
	return []cost.Part{sums.As("step sums"), clip.Times(s.at.PE).As("clipping")}
}
