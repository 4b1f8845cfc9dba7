package recur

import (
	"math/big"
	"slices"

	"hlsgen/frontend/lower/integers"
	"hlsgen/frontend/real"
	"hlsgen/internal/num"
)

// A limbs computes a code from a sum for which no factors of 61 bits suffice. The exact factors are split into
// digits of a few bits, and so is the sum. Digit 0 of the sum is the sum of the factors' digits 0 without the carry
// to digit 1, and so on. Sums are compared like numbers with several digits. Each digit is replaced by its rank
// among the digits of the steps, and the ranks form a number. For example, let a digit have 8 bits. Then x is at
// least 517 = 2*2^8 + 5 if its digit 1 is above 2, or is 2 and its digit 0 is at least 5. So rank(digit 1) = {below
// 2: 0, 2: 1, above: 2} and rank(digit 0) = {below 5: 0, from 5 on: 1}, and the condition is 2*rank(digit 1) +
// rank(digit 0) >= 2*1 + 1.
type limbs struct {
	of     *value
	terms  [][]int
	units  []limbed
	digits int
	bits   int // bits of each digit except the last, which is signed and takes the rest

	made []*value // values to compute before the code
}

// A limbed holds the sum and the steps of one unit in exact integers.
type limbed struct {
	factors []*big.Int
	at      []*big.Int
	values  []int64
}

// maxLimb is the number of bits for a sum of the factors' digits, without the carry.
const maxLimb = 59

// limbs finds the integers of a code that is a step function of a polynomial, and the further values that it needs.
func (v *value) limbs(terms [][]int, units []polynomial) ([]*value, error) {
	l := &limbs{of: v, terms: terms, digits: 1}
	most := big.NewInt(1) // greatest magnitude of the sum of the products
	for u := range units {
		sum := new(big.Int)
		for _, r := range units[u].ranges {
			sum.Add(sum, new(big.Int).Abs(big.NewInt(r.Lo))).Add(sum, new(big.Int).Abs(big.NewInt(r.Hi)))
		}
		if sum.Cmp(most) > 0 {
			most = sum
		}
	}
	if l.bits = maxLimb - most.BitLen(); l.bits < 1 {
		return nil, v.farApart()
	}
	for u := range units {
		of, err := limbsOf(&units[u])
		if err != nil {
			return nil, err
		}
		for _, f := range of.factors {
			l.digits = max(l.digits, f.BitLen()/l.bits+1)
		}
		l.units = append(l.units, of)
	}
	l.write()
	return l.made, nil
}

// limbsOf returns the sum and the steps of a unit in exact integers.
func limbsOf(p *polynomial) (of limbed, err error) {
	unit := integers.GreatestCommonUnitOf(p.scale)
	for _, s := range p.scale {
		of.factors = append(of.factors, new(big.Int).Set(new(big.Rat).Quo(s, unit).Num()))
	}
	lo, hi := p.reach()
	f := wideFunction{outer: p.outer, unit: unit}
	of.at, of.values, err = f.steps(lo.Quo(lo, unit).Num(), hi.Quo(hi, unit).Num())
	if err == nil && len(of.at) > integers.MaxActivationSteps {
		err = real.ErrTooManySteps
	}
	if err != nil {
		return of, integers.NoStepFunctionReason(err, integers.MaxActivationSteps)
	}
	return of, nil
}

// A wideFunction is a function of integer multiples of a unit that do not fit into an int64.
type wideFunction struct {
	outer *real.Expr
	unit  *big.Rat
}

// steps returns the integers at which the function changes from lo to hi, and the values in between. It searches a grid
// whose spacing is a power of two, and then refines the changes.
func (f *wideFunction) steps(lo, hi *big.Int) (at []*big.Int, values []int64, err error) {
	n := new(big.Int).Sub(hi, lo)
	shift := uint(max(0, n.BitLen()-gridBits))
	point := func(i int64) *big.Int {
		v := new(big.Int).Lsh(big.NewInt(i), shift)
		if v.Add(v, lo); v.Cmp(hi) > 0 {
			return hi
		}
		return v
	}
	count := new(big.Int).Rsh(n, shift).Int64()
	if shift > 0 {
		count++ // the last point is hi
	}
	x := real.Add(real.Mul(real.Var(0), real.ConstantExpr(new(big.Rat).SetInt(new(big.Int).Lsh(big.NewInt(1),
		shift)))),
		real.ConstantExpr(new(big.Rat).SetInt(lo)))
	x = real.Mul(real.Min(x, real.ConstantExpr(new(big.Rat).SetInt(hi))), real.ConstantExpr(f.unit))
	s, err := real.Compile(f.outer.SubstituteVariables([]*real.Expr{x})).StepFunctionOver(num.Range{Hi: count},
		integers.MaxActivationSteps)
	if err != nil {
		return nil, nil, err
	}
	values = s.Value[:1:1]
	for k, i := range s.At {
		if shift == 0 {
			at, values = append(at, point(i)), append(values, s.Value[k+1])
			continue
		}
		more, between, err := f.steps(point(i-1), point(i))
		if err != nil {
			return nil, nil, err
		}
		at, values = append(at, more...), append(values, between[1:]...)
	}
	return at, values, nil
}

// write adds the values of the digits and their ranks, and the function that computes the code from them.
func (l *limbs) write() {
	var ranks []*value
	var weight []int64
	var carry *value
	combined := make([][]int64, len(l.units)) // per unit and step
	for u, of := range l.units {
		combined[u] = make([]int64, len(of.at))
	}
	next := int64(1)
	for d := range l.digits {
		sum := l.sum(d, carry)
		digit, args := &made{terms: [][]int{{0}}, factors: [][]int64{{1}}}, []*value{sum}
		if last := d == l.digits-1; !last {
			carry = l.value(&made{terms: [][]int{{0}}, factors: [][]int64{{1}}, requant: &num.Requant{Multiplier: 1,
				Shift: l.bits, Mode: num.RoundingFloor, Lo: -maxSum, Hi: maxSum}}, sum)
			digit.terms, args = append(digit.terms, []int{1}), append(args, carry)
			digit.factors = append(digit.factors, []int64{-1 << l.bits})
		}
		most := int64(0)
		for u, of := range l.units {
			f, rank := l.ranks(d, of.at)
			digit.steps = append(digit.steps, f)
			for i, r := range rank {
				combined[u][i] += next * r
			}
			most = max(most, f.Value[len(f.Value)-1])
		}
		if most > 0 {
			digit.steps = integers.MergeEqualStepFunctions(digit.steps)
			ranks, weight = append(ranks, l.value(digit, args...)), append(weight, next)
			next *= most + 1
		}
	}
	m := &made{}
	for i, w := range weight {
		m.terms, m.factors = append(m.terms, []int{i}), append(m.factors, []int64{w})
	}
	for u, of := range l.units {
		m.steps = append(m.steps, num.StepFunction{At: combined[u], Value: of.values})
	}
	m.steps = integers.MergeEqualStepFunctions(m.steps)
	l.of.args, l.of.made = ranks, m
}

// value adds and returns a further value with integers m and the given arguments.
func (l *limbs) value(m *made, args ...*value) *value {
	v := &value{kind: code, units: l.of.units, step: l.of.step, args: args, made: m}
	l.made = append(l.made, v)
	return v
}

// sum returns the sum of digit d of the factors, with the carry to it.
func (l *limbs) sum(d int, carry *value) *value {
	m := &made{}
	for t, term := range l.terms {
		var factor []int64
		for _, of := range l.units {
			factor = append(factor, l.digit(of.factors[t], d))
		}
		if slices.ContainsFunc(factor, func(f int64) bool { return f != 0 }) {
			m.terms, m.factors = append(m.terms, slices.Clone(term)), append(m.factors, one(factor))
		}
	}
	args := slices.Clone(l.of.args)
	if carry != nil {
		m.terms, m.factors = append(m.terms, []int{len(args)}), append(m.factors, []int64{1})
		args = append(args, carry)
	}
	return l.value(m, args...)
}

// one returns a list with the first element alone if all elements are equal, and otherwise the list itself.
func one(list []int64) []int64 {
	if len(slices.Compact(slices.Clone(list))) == 1 {
		return list[:1]
	}
	return list
}

// digit returns digit d of a number. The last digit is signed.
func (l *limbs) digit(v *big.Int, d int) int64 {
	v = new(big.Int).Rsh(v, uint(d*l.bits))
	if d < l.digits-1 {
		v.And(v, big.NewInt(1<<l.bits-1))
	}
	return v.Int64()
}

// ranks returns the function from digit d of the sum to its rank, and the ranks of the steps' digits. Values
// between two digits of steps have a rank of their own; for digit 0 the rank only rises at a step.
func (l *limbs) ranks(d int, at []*big.Int) (f num.StepFunction, rank []int64) {
	var digits []int64
	for _, v := range at {
		digits = append(digits, l.digit(v, d))
	}
	f.Value = []int64{0}
	rise := func(at int64) {
		if n := len(f.At); n == 0 || f.At[n-1] < at {
			f.At, f.Value = append(f.At, at), append(f.Value, int64(n+1))
		}
	}
	for _, v := range slices.Sorted(slices.Values(digits)) {
		if rise(v); d > 0 {
			rise(v + 1)
		}
	}
	for _, v := range digits {
		rank = append(rank, f.Apply(v))
	}
	return f, rank
}
