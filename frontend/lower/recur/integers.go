package recur

import (
	"errors"
	"fmt"
	"math/big"
	"slices"

	"hlsgen/frontend/lower/integers"
	"hlsgen/frontend/lower/unmapped"
	"hlsgen/frontend/real"
	"hlsgen/internal/diag"
	"hlsgen/internal/num"
)

// A made is the computation of a code in integers: a function of a bias plus a sum of terms with factors. The function
// is a step function, or a multiplier and a shift.
type made struct {
	terms   [][]int   // arguments that each term multiplies
	factors [][]int64 // per term: one factor for all units, or one per unit
	bias    []int64   // one for all units, or one per unit; nil for zero
	steps   []num.StepFunction
	requant *num.Requant
}

// A polynomial is the function that gives a unit's code, term by term: outer(sum of scale*product).
type polynomial struct {
	scale  []*big.Rat
	ranges []num.Range // ranges of the products
	outer  *real.Expr
}

// exactBits is the largest width, in bits, of a sum with exact factors that is used without a search for smaller
// factors.
const exactBits = 32

// settle finds the integers of a code, and removes arguments that the code then does not need. It returns further
// values that the code needs. reject is the reason why there are no integers.
func (b *network) settle(v *value) (more []*value, reject error) {
	if more, reject = b.findIntegers(v); reject != nil {
		return nil, reject
	}
	number := make([]int, len(v.args))
	var args []*value
	for i, a := range v.args {
		if slices.ContainsFunc(v.made.terms, func(t []int) bool { return slices.Contains(t, i) }) {
			number[i] = len(args)
			args = append(args, a)
		}
	}
	for _, t := range v.made.terms {
		for k := range t {
			t[k] = number[t[k]]
		}
	}
	v.args = args
	return more, nil
}

func (b *network) findIntegers(v *value) (more []*value, reject error) {
	if v.step == nil { // a sum or a clipped copy
		if reject = v.settleExact(); reject == nil && !v.exact && v.made.steps == nil {
			v.made.requant = &num.Requant{Multiplier: 1, Mode: num.RoundingHalfEven, Lo: v.span.Lo, Hi: v.span.Hi}
		}
		return nil, reject
	}
	if q, err := integers.ProductRoundingWithZeroPointOf(b.body, v.step); err == nil && v.of != nil && v.mayRound() {
		if terms, units, ok := v.polynomials(v.of); ok && len(terms) > 0 {
			if more, ok := v.rounded(q, terms, units); ok {
				return more, nil
			}
		}
	}
	terms, units, ok := v.polynomials(v.expr)
	if !ok {
		return nil, v.notPolynomial()
	}
	if len(terms) == 0 {
		return nil, v.settleConstant(units)
	}
	m, reject := v.stepped(units)
	if errors.Is(reject, errFarApart) {
		return v.limbs(terms, units)
	}
	if reject != nil {
		return nil, reject
	}
	m.terms = terms
	v.made = m
	return nil, nil
}

// mayRound reports whether the expressions that a code rounds may be polynomials. It examines only the first unit,
// which rules out most others quickly.
func (v *value) mayRound() bool {
	_, outer, ok := inner(v.of[0], len(v.args))
	if ok {
		_, ok = outer.AsAffine()
	}
	return ok
}

// notPolynomial returns the reason for refusing a code that is not a function of one polynomial.
func (v *value) notPolynomial() error {
	return unmapped.NewReason(fmt.Sprintf("its body has no layer: %s is no function of one sum or product of integers",
		unmapped.DescribeNode(v.step.Node)),
		"quantise what meets in it, one by one: each gate, and what is multiplied; "+
			"the greater of two codes, max(a, b), is b + relu(a - b), with a quantiser of their scale behind relu")
}

// settleConstant finds the integers of a code that never changes but is still needed.
func (v *value) settleConstant(units []polynomial) error {
	m := &made{}
	for u := range units {
		s, err := real.Compile(units[u].outer).StepFunctionOver(num.Range{}, 1)
		if err != nil {
			return integers.NoStepFunctionReason(err, 1)
		}
		m.steps = append(m.steps, s)
	}
	m.steps = integers.MergeEqualStepFunctions(m.steps)
	v.made = m
	return nil
}

// settleExact finds the integers of a value that is a polynomial of integers.
func (v *value) settleExact() error {
	terms, units, ok := v.polynomials(v.expr)
	if !ok {
		panic("recur: a polynomial of integers is none any more")
	}
	m := &made{terms: terms, factors: make([][]int64, len(terms))}
	for u := range units {
		p := &units[u]
		f, _ := p.outer.AsAffine()
		if f.Scale.Sign() != 0 {
			for t := range p.scale {
				p.scale[t] = new(big.Rat).Mul(p.scale[t], f.Scale)
			}
		}
		factors, _, fits := p.whole(big.NewRat(1, 1))
		if !fits || !f.Bias.Num().IsInt64() {
			return newUnsupported("a sum of integers that is used as it is has scales too far apart: quantise it")
		}
		for t, w := range factors {
			m.factors[t] = append(m.factors[t], w)
		}
		m.bias = append(m.bias, f.Bias.Num().Int64())
	}
	if len(terms) == 0 {
		return v.settleConstant(units)
	}
	m.compact(units)
	v.made = m
	return nil
}

// polynomials reads one expression per unit as polynomials. It returns the terms that occur, and their scales and
// ranges in each unit. ok is false if an expression is not a function of one polynomial.
func (v *value) polynomials(list []*real.Expr) (terms [][]int, units []polynomial, ok bool) {
	all := make([][]real.PolynomialTerm, len(list))
	units = make([]polynomial, len(list))
	for u, e := range list {
		if all[u], units[u].outer, ok = inner(e, len(v.args)); !ok {
			return nil, nil, false
		}
		for _, t := range all[u] {
			at, known := slices.BinarySearchFunc(terms, t.Vars, slices.Compare)
			if !known {
				terms = slices.Insert(terms, at, t.Vars)
			}
		}
	}
	for u := range units {
		p := &units[u]
		for _, t := range terms {
			p.scale = append(p.scale, new(big.Rat))
			p.ranges = append(p.ranges, v.productRange(t, u))
		}
		for _, t := range all[u] {
			at, _ := slices.BinarySearchFunc(terms, t.Vars, slices.Compare)
			p.scale[at] = t.Scale
		}
	}
	return terms, units, true
}

// inner returns an expression as a function of one sum of multiples, or else of one polynomial. ok is false if it is
// neither.
func inner(e *real.Expr, n int) ([]real.PolynomialTerm, *real.Expr, bool) {
	l, outer, ok := e.AsFuncOfLinear(max(1, n))
	if !ok {
		return e.AsFuncOfPolynomial()
	}
	var terms []real.PolynomialTerm
	for i, s := range l.Scale {
		if s.Sign() != 0 {
			terms = append(terms, real.PolynomialTerm{Vars: []int{i}, Scale: s})
		}
	}
	return terms, outer, true
}

// productRange returns the range of a product of arguments in unit u, or -2^62 to 2^62 if it is too wide to compute.
func (v *value) productRange(term []int, u int) num.Range {
	r := num.SingleValueRange(1)
	for _, i := range term {
		a := v.args[i].ranges[u]
		p, ok := a.TimesConstant(r.Lo)
		q, ok2 := a.TimesConstant(r.Hi)
		if !ok || !ok2 {
			return num.Range{Lo: -1 << 62, Hi: 1 << 62}
		}
		r = p.Union(q)
	}
	return r
}

// maxSum is the largest magnitude of integers in a sum of terms.
const maxSum = 1 << 61

// whole returns the factors of the terms as multiples of unit, and the range of the sum. ok is false if that is too
// wide.
func (p *polynomial) whole(unit *big.Rat) (factors []int64, sum num.Range, ok bool) {
	for t, s := range p.scale {
		w, reject := integers.CountUnits(s, unit)
		if reject != nil {
			return nil, sum, false
		}
		r, fits := p.ranges[t].TimesConstant(w)
		if fits {
			r, fits = sum.Plus(r)
		}
		if sum = r; !fits || r.Lo < -maxSum || r.Hi > maxSum {
			return nil, sum, false
		}
		factors = append(factors, w)
	}
	return factors, sum, true
}

// compact replaces factors or biases that are equal in all units by a single one. A term that is always zero in a unit
// takes the factor of the other units.
func (m *made) compact(units []polynomial) {
	for t, f := range m.factors {
		var common *int64
		same := true
		for u := range f {
			if units[u].ranges[t] == (num.Range{}) {
				continue
			}
			if common == nil {
				common = &f[u]
			}
			same = same && f[u] == *common
		}
		if same {
			m.factors[t] = []int64{1}
			if common != nil {
				m.factors[t] = []int64{*common}
			}
		}
	}
	if len(m.bias) > 0 && !slices.ContainsFunc(m.bias, func(v int64) bool { return v != m.bias[0] }) {
		if m.bias = m.bias[:1]; m.bias[0] == 0 {
			m.bias = nil
		}
	}
}

// requantised returns the integers of a code that is a rounded polynomial. It uses a multiplier and a shift exactly, or
// factors that round alike for all integers that occur. ok is false if there are none.
func requantised(q *integers.ProductRounding, units []polynomial, bias []*big.Rat) (*made, bool) {
	var scales []*big.Rat
	for _, p := range units {
		scales = append(scales, p.scale...)
	}
	if !slices.ContainsFunc(bias, func(b *big.Rat) bool { return b.Sign() != 0 }) {
		if m, ok := exactRequant(q, units, integers.GreatestCommonUnitOf(scales)); ok {
			return m, true
		}
	}
	return sharpRequant(q, units, bias)
}

// exactRequant returns the integers of a rounded code whose scales are integer multiples of a unit, with an exact
// multiplier and shift. ok is false if there are none.
func exactRequant(q *integers.ProductRounding, units []polynomial, unit *big.Rat) (*made, bool) {
	m := &made{}
	var all num.Range
	for u := range units {
		factors, sum, ok := units[u].whole(unit)
		if !ok {
			return nil, false
		}
		if u == 0 {
			m.factors, all = make([][]int64, len(factors)), sum
		}
		all = all.Union(sum)
		for t, w := range factors {
			m.factors[t] = append(m.factors[t], w)
		}
	}
	r, err := q.FitRequant(unit, all)
	if err != nil {
		return nil, false
	}
	m.requant = &r
	m.compact(units)
	return m, true
}

// stepped returns the integers of a code that is a step function of a polynomial.
func (v *value) stepped(units []polynomial) (*made, error) {
	m, width, err := exactSteps(units)
	if err == nil && width <= exactBits {
		return m, nil
	}
	sharp, reject := v.sharpSteps(units)
	if reject == nil {
		return sharp, nil
	}
	if err == nil {
		return m, nil
	}
	if errors.Is(err, errTooWide) {
		return nil, reject
	}
	return nil, integers.NoStepFunctionReason(err, integers.MaxActivationSteps)
}

var (
	errTooWide  = errors.New("the sum is too wide")
	errFarApart = errors.New("no factors of 61 bits decide as the exact ones do, or none are known to")
)

// widest is the range of the finest sums over which steps are searched. It is wide enough that all steps lie in it,
// so that units that differ only by a bias have the same steps. It is narrow enough for a float64 to represent each
// sum.
var widest = num.Range{Lo: -1 << 52, Hi: 1 << 52}

// exactSteps expresses each unit's sum as an exact integer, in the greatest unit of which all its scales are multiples.
// It returns the factors, with the steps over these integers, and the number of bits of the widest sum. The error is
// errTooWide or that of the search for steps.
func exactSteps(units []polynomial) (m *made, width int, err error) {
	m = &made{factors: make([][]int64, len(units[0].scale))}
	steps, sums := make([]num.StepFunction, len(units)), make([]num.Range, len(units))
	scales := make([]*big.Rat, len(units))
	for u := range units {
		p := &units[u]
		scales[u] = integers.GreatestCommonUnitOf(p.scale)
		factors, sum, ok := p.whole(scales[u])
		if !ok || max(sum.Hi, -sum.Lo) > widest.Hi>>maxFiner {
			return nil, 0, errTooWide
		}
		for t, w := range factors {
			m.factors[t] = append(m.factors[t], w)
		}
		sums[u] = sum
		width = max(width, num.NarrowestIntTypeFor(sum).Width)
	}
	far := true // all steps are in the range: the function has a value far away and not too many steps
	for u := range units {
		if u > 0 && scales[u].Cmp(scales[u-1]) == 0 && units[u].outer.HasSameForm(units[u-1].outer) {
			steps[u] = steps[u-1]
			continue
		}
		var like num.StepFunction
		if u > 0 {
			like = scaledLike(steps[u-1], new(big.Rat).Quo(scales[u-1], scales[u]))
		}
		if steps[u], err = stepsLike(like, units[u].outer, finest(scales[u]), widest); err != nil {
			far = false
			break
		}
	}
	if far {
		m.shareSteps(units, steps, sums)
		return m, width, nil
	}
	for u := range units {
		if steps[u], err = stepsOver(units[u].outer, scales[u], sums[u]); err != nil {
			return nil, width, err
		}
	}
	m.steps = integers.MergeEqualStepFunctions(steps)
	m.compact(units)
	return m, width, nil
}

// finest returns the smallest unit of sums that are refined, from the given one, to allow for a bias.
func finest(unit *big.Rat) *big.Rat { return new(big.Rat).Quo(unit, big.NewRat(1<<maxFiner, 1)) }

// stepsOver returns the steps of a function over multiples of a unit.
func stepsOver(outer *real.Expr, unit *big.Rat, over num.Range) (num.StepFunction, error) {
	return stepsLike(num.StepFunction{}, outer, unit, over)
}

// stepsLike is stepsOver with a guess of the distances between steps, which makes the search faster.
func stepsLike(like num.StepFunction, outer *real.Expr, unit *big.Rat, over num.Range) (num.StepFunction, error) {
	e := outer.SubstituteVariables([]*real.Expr{real.Mul(real.Var(0), real.ConstantExpr(unit))})
	return real.Compile(e).StepFunctionLike(like, over, integers.MaxActivationSteps)
}

// scaledLike returns roughly where a step function has its steps over integers that are finer by the factor times.
func scaledLike(f num.StepFunction, times *big.Rat) num.StepFunction {
	t, _ := times.Float64()
	if t == 1 {
		return f
	}
	var at []int64
	for _, x := range f.At {
		at = append(at, int64(min(max(float64(x)*t, -1<<62), 1<<62)))
	}
	return num.StepFunction{At: at}
}

// maxFiner is the largest number of bits by which a sum may be finer than its terms. A bias may lie between two sums of
// terms.
const maxFiner = 8

// shareSteps gives all units a common step function and a bias each, if possible, and otherwise a function each.
// The steps are over the finest sums.
func (m *made) shareSteps(units []polynomial, steps []num.StepFunction, sums []num.Range) {
	each := make([]cuts, len(steps))
	for finer := 0; finer <= maxFiner; finer++ {
		for u, f := range steps {
			each[u] = cuts{values: f.Value}
			for _, at := range f.At {
				each[u].at = append(each[u].at, cutOf(coarse(at), sums[u], finer))
			}
			if n := len(f.At) / 2; len(f.At) == len(steps[0].At) && n > 0 {
				each[u].hint = (steps[0].At[n] - f.At[n]) >> (maxFiner - finer)
			}
		}
		if f, bias, ok := share(each); ok && wide(sums, bias, finer) {
			m.steps, m.bias = []num.StepFunction{f}, bias
			for t := range m.factors {
				for u := range m.factors[t] {
					m.factors[t][u] <<= finer
				}
			}
			m.compact(units)
			return
		}
	}
	m.steps = make([]num.StepFunction, len(steps))
	for u, f := range steps {
		g := num.StepFunction{Value: f.Value[:1]}
		for i, at := range f.At {
			n := len(g.At)
			if at = coarse(at); n > 0 && g.At[n-1] == at {
				g.Value = append(g.Value[:n:n], f.Value[i+1])
				continue
			}
			g.At, g.Value = append(g.At, at), append(g.Value[:n+1:n+1], f.Value[i+1])
		}
		m.steps[u] = g.RestrictedTo(sums[u])
	}
	m.steps = integers.MergeEqualStepFunctions(m.steps)
	m.compact(units)
}

// coarse returns the first sum behind a step over the finest sums.
func coarse(at int64) int64 { return -(-at >> maxFiner) }

// cutOf returns the cut in front of a sum, over sums that are finer by the given number of bits.
func cutOf(at int64, sums num.Range, finer int) cut {
	switch {
	case at > sums.Hi:
		return cut{sums.Hi << finer, never}
	case at <= sums.Lo:
		return cut{always, sums.Lo << finer}
	}
	return cut{(at - 1) << finer, at << finer}
}

// wide reports whether biases, and sums that become finer by the given number of bits, stay within the limits.
func wide(sums []num.Range, bias []int64, finer int) bool {
	for u, r := range sums {
		if max(r.Hi, -r.Lo) > maxSum>>finer || max(bias[u], -bias[u]) > maxSum {
			return false
		}
	}
	return true
}

// farApart returns the reason for refusing a sum that no digits can compute, because its scales are too far apart.
func (v *value) farApart() error {
	return unmapped.NewReasonWithCode(diag.NodeNotMapped,
		fmt.Sprintf("its body has no layer: %s decides by a sum of %d terms that need "+
			"more than %d bits each", unmapped.DescribeNode(v.step.Node), len(v.args), maxLimb), "use fewer bits")
}
