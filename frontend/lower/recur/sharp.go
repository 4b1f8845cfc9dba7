package recur

import (
	"math"
	"math/big"
	"slices"

	"hlsgen/frontend/lower/integers"
	"hlsgen/frontend/real"
	"hlsgen/internal/num"
)

// A cut bounds the place where a function changes between two values: the first integer with the value behind the
// change is above l and at most h. The ends of int64 stand for minus and plus infinity.
type cut struct{ l, h int64 }

// A cuts holds the cuts of one unit's function in order, with the values between them. hint is roughly the unit's bias
// relative to that of the first unit.
type cuts struct {
	at     []cut
	values []int64
	hint   int64
}

const (
	never  = math.MaxInt64
	always = math.MinInt64
)

// moved returns the end of a cut plus a bias. The ends that stand for infinity stay as they are.
func moved(end, bias int64) int64 {
	if end == never || end == always {
		return end
	}
	return end + bias
}

// beyond returns a-b+1 for ends of cuts, limited to maxSum.
func beyond(a, b int64) int64 {
	switch {
	case a == always || b == never:
		return -maxSum
	case a == never || b == always:
		return maxSum
	}
	return min(max(a-b+1, -maxSum), maxSum)
}

// share returns one step function for all units, and a bias for each. For every step of unit u, x+bias[u] lies on the
// same side of the function's step as x does of unit u's cut. ok is false if there is no such function.
func share(units []cuts) (f num.StepFunction, bias []int64, ok bool) {
	common := slices.Clone(units[0].at)
	bias = make([]int64, len(units))
	for u, c := range units {
		if len(c.at) != len(common) || !slices.Equal(c.values, units[0].values) {
			return f, nil, false
		}
		lo, hi := int64(-maxSum), int64(maxSum)
		for i, k := range c.at {
			lo, hi = max(lo, beyond(common[i].l, k.h)), min(hi, -beyond(k.l, common[i].h))
		}
		if lo > hi {
			return f, nil, false
		}
		b := min(max(c.hint, lo), hi)
		bias[u] = b
		for i, k := range c.at {
			common[i].l, common[i].h = max(common[i].l, moved(k.l, b)), min(common[i].h, moved(k.h, b))
		}
	}
	f, ok = cuts{at: common, values: units[0].values}.step()
	return f, bias, ok
}

// step returns a step function whose changes lie within the cuts, each as early as possible. ok is false if there is
// none.
func (c cuts) step() (f num.StepFunction, ok bool) {
	f.Value = []int64{c.values[0]}
	for i, k := range c.at {
		if k.l >= k.h {
			return f, false
		}
		v := c.values[i+1]
		n := len(f.At)
		switch {
		case k.h == never: // no integer lies behind it
		case k.l == always: // no integer lies in front of it
			f.Value[0] = v
		case n > 0 && f.At[n-1] == k.l+1: // no integer lies in between
			f.Value[n] = v
		default:
			f.At, f.Value = append(f.At, k.l+1), append(f.Value, v)
		}
	}
	return f.RestrictedTo(num.Range{Lo: always, Hi: never}), true
}

// A gap holds the sums around a change of a function: the greatest sum below it, and the least sum behind it. Either is
// nil if there is none.
type gap struct{ below, from *big.Rat }

// A sharp searches for factors whose sums decide as the exact factors' sums do.
type sharp struct {
	units []polynomial
	gaps  [][]gap // per unit and change
}

// maxAsked limits the work of finding gaps. One unit of work takes about a quarter of a microsecond.
const maxAsked = 1 << 23

// affordable reports whether n changes per unit can be examined, judging by the work so far.
func affordable(lattices []*integers.SumLattice, n int) bool {
	work := 0.0
	for _, l := range lattices {
		work += max(l.EstimatedStepsTaken(), 2*l.EstimatedSearchSteps()*float64(n))
	}
	return work <= maxAsked
}

func lattices(units []polynomial) (list []*integers.SumLattice) {
	for _, p := range units {
		list = append(list, integers.NewSumLattice(p.scale, p.ranges))
	}
	return list
}

// factors returns the factors of unit u's terms, 2^shift times the exact ones and rounded, with the resulting cuts. ok
// is false if a change is undecided, or if sums become too wide, which wide reports.
func (s *sharp) factors(u, shift int) (factors []int64, at []cut, wide, ok bool) {
	p := &s.units[u]
	lo, hi := new(big.Rat), new(big.Rat) // bounds of the excess of the factors' sum
	var sum num.Range
	for t, exact := range p.scale {
		scaled := shifted(exact, shift)
		f := nearest(scaled)
		if !f.IsInt64() {
			return nil, nil, true, false
		}
		w := f.Int64()
		r, fits := p.ranges[t].TimesConstant(w)
		if fits {
			sum, fits = sum.Plus(r)
		}
		if !fits || sum.Lo < -maxSum || sum.Hi > maxSum {
			return nil, nil, true, false
		}
		factors = append(factors, w)
		e := new(big.Rat).SetInt(f)
		e.Sub(e, scaled)
		a := new(big.Rat).Mul(e, big.NewRat(p.ranges[t].Lo, 1))
		b := e.Mul(e, big.NewRat(p.ranges[t].Hi, 1))
		if a.Cmp(b) > 0 {
			a, b = b, a
		}
		lo.Add(lo, a)
		hi.Add(hi, b)
	}
	for _, g := range s.gaps[u] {
		c := cut{always, never}
		if g.below != nil {
			v := shifted(g.below, shift)
			c.l = ends(floor(v.Add(v, hi)))
		}
		if g.from != nil {
			v := shifted(g.from, shift)
			v.Add(v, lo)
			c.h = ends(new(big.Int).Neg(floor(v.Neg(v))))
		}
		if c.l >= c.h {
			return nil, nil, false, false
		}
		at = append(at, c)
	}
	return factors, at, false, true
}

// ends returns an end of a cut. Ends beyond the limits of sums become infinite.
func ends(v *big.Int) int64 {
	switch {
	case v.IsInt64() && v.Int64() < -maxSum || !v.IsInt64() && v.Sign() < 0:
		return always
	case !v.IsInt64() || v.Int64() > maxSum:
		return never
	}
	return v.Int64()
}

func shifted(v *big.Rat, shift int) *big.Rat {
	if shift < 0 {
		return new(big.Rat).Quo(v, new(big.Rat).SetInt(new(big.Int).Lsh(big.NewInt(1), uint(-shift))))
	}
	return new(big.Rat).Mul(v, new(big.Rat).SetInt(new(big.Int).Lsh(big.NewInt(1), uint(shift))))
}

func floor(v *big.Rat) *big.Int { return new(big.Int).Div(v.Num(), v.Denom()) }

// nearest returns the integer nearest to v; halves go up.
func nearest(v *big.Rat) *big.Int { return floor(new(big.Rat).Add(v, big.NewRat(1, 2))) }

// all returns the factors of all units at a shift, term by term, and their cuts.
func (s *sharp) all(shift int) (factors [][]int64, at [][]cut, wide, ok bool) {
	factors = make([][]int64, len(s.units[0].scale))
	for u := range s.units {
		f, c, wide, ok := s.factors(u, shift)
		if !ok {
			return nil, nil, wide, false
		}
		for t, w := range f {
			factors[t] = append(factors[t], w)
		}
		at = append(at, c)
	}
	return factors, at, false, true
}

// least returns the shift at which the widest term has about one bit.
func (s *sharp) least() int {
	least := math.MaxInt
	for _, p := range s.units {
		for t, v := range p.scale {
			r := p.ranges[t]
			if v.Sign() != 0 && r != (num.Range{}) {
				bits := v.Num().BitLen() - v.Denom().BitLen() + big.NewInt(max(r.Hi, -r.Lo)).BitLen()
				least = min(least, -bits)
			}
		}
	}
	if least == math.MaxInt {
		return 0
	}
	return least
}

// sharpSteps returns the integers of a code whose sum has factors with as few bits as possible. Its steps equal those
// of the exact sum. The error is errFarApart if it finds none or would take too long, and otherwise the reason why
// there are no steps.
func (v *value) sharpSteps(units []polynomial) (*made, error) {
	s := &sharp{units: units}
	list := lattices(units)
	each, middle := make([]cuts, len(units)), make([]*big.Rat, len(units))
	for u := range units {
		e, unit := units[u].outer, gridUnit(&units[u])
		f, err := stepsOver(e, unit, widest)
		if err != nil { // beyond all sums it may have no value, or grow without limit
			lo, hi := units[u].reach()
			e = e.SubstituteVariables([]*real.Expr{real.Min(real.Max(real.Var(0), real.ConstantExpr(lo)),
				real.ConstantExpr(hi))})
			f, err = stepsOver(e, unit, num.Range{Lo: -gridEnd, Hi: gridEnd})
		}
		if err != nil {
			return nil, integers.NoStepFunctionReason(err, integers.MaxActivationSteps)
		}
		if !affordable(list, len(f.At)) {
			return nil, errFarApart
		}
		gaps, values, ok := findGaps(list[u], e, unit, f)
		if !ok {
			return nil, errFarApart
		}
		s.gaps, each[u].values = append(s.gaps, gaps), values
		if n := len(f.At); n > 0 {
			middle[u] = new(big.Rat).Mul(unit, big.NewRat(f.At[n/2], 1))
		}
	}
	first := s.least()
	var best *made
	for shift := first; ; shift++ {
		factors, at, wide, ok := s.all(shift)
		if wide {
			break
		}
		if !ok {
			continue
		}
		for u := range at {
			if each[u].at = at[u]; middle[u] != nil && middle[0] != nil {
				each[u].hint = nearest(shifted(new(big.Rat).Sub(middle[0], middle[u]), shift)).Int64()
			}
		}
		m := &made{factors: factors}
		if f, bias, ok := share(each); ok {
			m.steps, m.bias = []num.StepFunction{f}, bias
			m.compact(units)
			return m, nil
		}
		if best == nil {
			for _, c := range each {
				f, _ := c.step()
				m.steps = append(m.steps, f)
			}
			m.steps = integers.MergeEqualStepFunctions(m.steps)
			m.compact(units)
			best, first = m, shift
		}
		if shift > first+maxFiner {
			break
		}
	}
	if best == nil {
		return nil, errFarApart
	}
	return best, nil
}

// gridEnd limits a unit's sum, counted in steps of the grid of gridUnit.
const gridEnd = 1 << gridBits

const gridBits = 49

// gridUnit returns a power of two such that a unit's sum is at most gridEnd times it. It is the spacing of the grid.
func gridUnit(p *polynomial) *big.Rat {
	lo, hi := p.reach()
	most := lo.Neg(lo)
	if most.Cmp(hi) < 0 {
		most = hi
	}
	return shifted(big.NewRat(1, 1), most.Num().BitLen()-most.Denom().BitLen()+1-gridBits)
}

// reach returns the least and the greatest sum.
func (p *polynomial) reach() (lo, hi *big.Rat) {
	lo, hi = new(big.Rat), new(big.Rat)
	for t, s := range p.scale {
		r := p.ranges[t]
		if s.Sign() < 0 {
			r.Lo, r.Hi = r.Hi, r.Lo
		}
		lo.Add(lo, new(big.Rat).Mul(s, big.NewRat(r.Lo, 1)))
		hi.Add(hi, new(big.Rat).Mul(s, big.NewRat(r.Hi, 1)))
	}
	return lo, hi
}

// maxBetween is the largest number of sums between two grid points that are examined one by one.
const maxBetween = 64

// findGaps returns the sums next to each step of a function, given as f over multiples of unit, and the values between
// the steps. It keeps steps beyond all sums, since other units may share them. ok is false if that takes too many
// tries.
func findGaps(l *integers.SumLattice, outer *real.Expr, unit *big.Rat, f num.StepFunction) (gaps []gap, values []int64,
	ok bool) {
	values = f.Value[:1:1]
	for i, at := range f.At {
		behind := new(big.Rat).Mul(unit, big.NewRat(at, 1))
		before := new(big.Rat).Mul(unit, big.NewRat(at-1, 1))
		if below, from := l.ApproxNeighbourSums(behind, true); below == nil || below.Cmp(before) <= 0 {
			gaps, values = append(gaps, gap{below, from}), append(values, f.Value[i+1])
			continue
		}
		g, v, ok := changes(l, outer, [2]*big.Rat{before, behind}, [2]int64{f.Value[i], f.Value[i+1]})
		if !ok {
			return nil, nil, false
		}
		gaps, values = append(gaps, g...), append(values, v...)
	}
	return gaps, values, true
}

// changes returns the gaps at which a function changes between two grid points with known values, and the values in
// between. There may be several changes: for example, the sign function is 0 at a single sum. For a monotonic function
// it does not examine sums below the first change. ok is false if that takes too many tries.
func changes(l *integers.SumLattice, outer *real.Expr, at [2]*big.Rat, known [2]int64) (gaps []gap, values []int64,
	ok bool) {
	_, monotone := outer.MonotonicDirection()
	below, from := l.NeighbourSums(at[1], true)
	behind := known[1]
	for tried := 0; behind != known[0] || !monotone; tried++ {
		if l.EstimatedStepsTaken() > maxAsked {
			return nil, nil, false
		}
		v, last := known[0], below == nil || below.Cmp(at[0]) <= 0
		if !last {
			f := real.Compile(outer.SubstituteVariables([]*real.Expr{real.ConstantExpr(below)}))
			s, err := f.StepFunctionOver(num.Range{}, 1)
			if err != nil || tried >= maxBetween {
				return nil, nil, false
			}
			v = s.Value[0]
		}
		if v != behind {
			gaps, values = append(gaps, gap{below, from}), append(values, behind)
			behind = v
		}
		if last {
			break
		}
		from = below
		below, _ = l.NeighbourSums(below, true)
	}
	slices.Reverse(gaps)
	slices.Reverse(values)
	return gaps, values, true
}

// maxCodes is the largest number of codes of a quantiser whose roundings are examined one by one.
const maxCodes = 1 << 16

// sharpRequant returns the integers of a code that is a rounded sum. Its factors over a power of two, and its biases,
// round as the exact factors do. ok is false if it finds none.
func sharpRequant(q *integers.ProductRounding, units []polynomial, bias []*big.Rat) (*made, bool) {
	if q.Codes.ValueCount() > maxCodes {
		return nil, false
	}
	same := true // all units round alike, so that one represents all
	for u := range units {
		same = same && bias[u].Cmp(bias[0]) == 0 && slices.EqualFunc(units[u].scale, units[0].scale,
			func(a, b *big.Rat) bool { return a.Cmp(b) == 0 })
	}
	all := units
	if same {
		one := polynomial{scale: units[0].scale, ranges: slices.Clone(units[0].ranges)}
		for _, p := range units {
			for t, r := range p.ranges {
				one.ranges[t] = one.ranges[t].Union(r)
			}
		}
		all, bias = []polynomial{one}, bias[:1]
	}
	s := &sharp{units: all}
	list := lattices(all)
	if !affordable(list, int(q.Codes.ValueCount())) {
		return nil, false
	}
	for u, l := range list {
		var gaps []gap
		for c := q.Codes.Lo + 1; c <= q.Codes.Hi; c++ {
			at, closed := q.Mode.LowerBoundaryOf(c)
			g := gap{}
			g.below, g.from = l.ApproxNeighbourSums(at.Sub(at, bias[u]), closed)
			gaps = append(gaps, g)
		}
		s.gaps = append(s.gaps, gaps)
	}
	for shift := max(0, s.least()); shift <= num.MaxRequantShift; shift++ {
		factors, at, wide, ok := s.all(shift)
		if wide {
			return nil, false
		}
		if !ok {
			continue
		}
		m := &made{factors: factors,
			requant: &num.Requant{Multiplier: 1, Shift: shift, Mode: q.Mode, Lo: q.Codes.Lo, Hi: q.Codes.Hi}}
		if m.bias, ok = biases(q, at, shift); ok {
			m.compact(all)
			return m, true
		}
	}
	return nil, false
}

// biases returns the biases that move the cuts of units to where a quotient by 2^shift changes. It returns false if
// some unit has none.
func biases(q *integers.ProductRounding, units [][]cut, shift int) ([]int64, bool) {
	var out []int64
	for _, at := range units {
		lo, hi := int64(-maxSum), int64(maxSum)
		for i, k := range at {
			v := q.Codes.Lo + 1 + int64(i)
			if max(v, -v) >= maxSum>>shift {
				return nil, false
			}
			t := q.Mode.LeastDividendReaching(v, shift)
			if k.h != never {
				lo = max(lo, t-k.h)
			}
			if k.l != always {
				hi = min(hi, t-k.l-1)
			}
		}
		if lo > hi {
			return nil, false
		}
		b := lo + (hi-lo)/2
		if lo <= 0 && 0 <= hi {
			b = 0
		}
		out = append(out, b)
	}
	return out, true
}
