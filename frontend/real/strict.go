package real

import (
	"math"
	"math/big"
	"slices"
)

// StrictMonotonicDirection returns 1 if e, an expression in variable 0 alone, rises strictly wherever it has a value,
// and -1 if it falls strictly. ok is false if the form of e does not show this, or e is constant over some range. At a
// bend, such as that of a leaky ReLU, both sides are examined.
func (e *Expr) StrictMonotonicDirection() (d int, ok bool) {
	ends := append([]float64{math.Inf(-1)}, e.turns(maximum, minimum, abs)...)
	for i, lo := range ends {
		hi := math.Inf(1)
		if i+1 < len(ends) {
			hi = ends[i+1]
		}
		piece := Interval{lo, hi}
		s := strictness{piece: piece, known: map[*Expr]int{}}
		this := s.of(e.SimplifyWithin([]Interval{piece}))
		if this == 0 || i > 0 && this != d {
			return 0, false
		}
		d = this
	}
	return d, true
}

// KinksOf returns, in order, the values of variable 0 at which comparisons, maxima, minima and absolute values in e
// change their outcome. It finds those that compare affine functions of variable 0 alone and whose change lies at a
// float64.
func KinksOf(e *Expr) (at []float64) { return e.turns(maximum, minimum, abs, atLeast) }

// turns implements KinksOf for the given operations. For example, a maximum changes its outcome at the point where one
// argument overtakes the other.
func (e *Expr) turns(ops ...PrimitiveOp) (at []float64) {
	for _, root := range exactTurns(e, ops...) {
		if v, exact := root.Float64(); exact {
			at = append(at, v)
		}
	}
	slices.Sort(at)
	return slices.Compact(at)
}

// IntegersAtKinks returns, in order, the first integers at or above the values of variable 0 at which maxima, minima
// and absolute values in e change their outcome. It finds those that compare affine functions of variable 0 alone.
func IntegersAtKinks(e *Expr) (at []int64) {
	for _, root := range exactTurns(e, maximum, minimum, abs) {
		n := new(big.Int).Neg(root.Num()) // Div rounds down for a positive denominator
		if n.Neg(n.Div(n, root.Denom())); n.IsInt64() {
			at = append(at, n.Int64())
		}
	}
	slices.Sort(at)
	return slices.Compact(at)
}

// exactTurns does what turns does, for changes at any rational number, in no order.
func exactTurns(e *Expr, ops ...PrimitiveOp) (at []*big.Rat) {
	seen := map[*Expr]bool{}
	var visit func(e *Expr)
	visit = func(e *Expr) {
		if e == nil || seen[e] {
			return
		}
		seen[e] = true
		visit(e.args[0])
		visit(e.args[1])
		if !slices.Contains(ops, e.op) || slices.ContainsFunc(e.VariableNumbers(), func(v int) bool { return v > 0 }) {
			return
		}
		d := e.args[0]
		if e.args[1] != nil {
			d = Sub(d, e.args[1])
		}
		if f, ok := d.AsAffine(); ok && f.Scale.Sign() != 0 {
			root := new(big.Rat).Quo(f.Bias, f.Scale)
			at = append(at, root.Neg(root))
		}
	}
	visit(e)
	return at
}

// A strictness finds, and caches, the directions of subexpressions while the variable lies in piece.
type strictness struct {
	piece Interval
	known map[*Expr]int
}

// of returns 1 or -1 if e certainly rises or falls strictly, and 0 otherwise.
func (s *strictness) of(e *Expr) int {
	if d, ok := s.known[e]; ok {
		return d
	}
	d := s.find(e)
	s.known[e] = d
	return d
}

func (s *strictness) find(e *Expr) int {
	x, y := e.args[0], e.args[1]
	switch e.op {
	case variable:
		return 1
	case neg:
		return -s.of(x)
	case exp, log, sqrt, erf, atan:
		return s.of(x)
	case maximum, minimum:
		if s.of(x) == s.of(y) {
			return s.of(x)
		}
	case add, sub:
		strict := s.of(x)
		if strict == 0 {
			if strict = s.of(y); e.op == sub {
				strict = -strict
			}
		}
		if strict == 0 {
			return 0
		}
		// the other operand never moves in the opposite direction
		if d, ok := e.MonotonicDirection(); ok && d == strict {
			return d
		}
	case mul:
		if d, ok := x.MonotonicDirection(); ok && d == 0 {
			return s.times(y, x)
		}
		return s.times(x, y)
	case div:
		return s.quotient(x, y)
	}
	return 0
}

// times returns the direction of x times the constant c.
func (s *strictness) times(x, c *Expr) int {
	if d, ok := c.MonotonicDirection(); !ok || d != 0 {
		return 0
	}
	sign, _ := signOf(c)
	return sign * s.of(x)
}

// quotient returns the direction of x/y. One of them is constant, or the quotient is u/(c+|u|), the form of a soft sign
// on either side of zero.
func (s *strictness) quotient(x, y *Expr) int {
	if d, ok := y.MonotonicDirection(); ok && d == 0 {
		return s.times(x, y)
	}
	below, _ := Compile(y).EvaluateInterval([]Interval{s.piece})
	if !(below.Lo > 0) && !y.positive() {
		return 0
	}
	if d, ok := x.MonotonicDirection(); ok && d == 0 {
		return -s.times(y, x)
	}
	if y.op != add {
		return 0
	}
	for i, c := range y.args {
		if u := y.args[1-i]; c.positive() && c.op == constant && (u.HasSameForm(x) || u.HasSameForm(Neg(x))) {
			return s.of(x)
		}
	}
	return 0
}
