package real

import (
	"math/big"
	"slices"
)

// A Linear is a sum of Scale[i]*variable i over all variables, and Bias.
type Linear struct {
	Scale []*big.Rat
	Bias  *big.Rat
}

// Joint reads e, an expression in n variables, as a function of one sum of multiples of them: e = Outer(Inner). Inner
// has the bias 0; where e is constant, all its scales are 0. ok is false where e is no such function: variables meet in
// a product, or in sums of different proportions.
func (e *Expr) Joint(n int) (inner Linear, outer *Expr, ok bool) {
	j := &joint{n: n, found: map[*Expr]*Linear{}, outer: map[*Expr]*Expr{}}
	if outer, ok = j.replace(e); !ok {
		return Linear{}, nil, false
	}
	if j.inner == nil {
		return Linear{zeros(n), new(big.Rat)}, outer, true
	}
	return *j.inner, outer, true
}

func zeros(n int) []*big.Rat {
	s := make([]*big.Rat, n)
	for i := range s {
		s[i] = new(big.Rat)
	}
	return s
}

type joint struct {
	n     int
	found map[*Expr]*Linear // nil: not linear
	inner *Linear
	outer map[*Expr]*Expr
}

// replace writes e with the inner sum as variable 0.
func (j *joint) replace(e *Expr) (*Expr, bool) {
	if known, ok := j.outer[e]; ok {
		return known, true
	}
	if l := j.linear(e); l != nil {
		out, ok := j.multiple(l)
		j.outer[e] = out
		return out, ok
	}
	x, ok := e.rebuilt(j.replace)
	if ok {
		j.outer[e] = x
	}
	return x, ok
}

// rebuilt is e of other arguments; ok is false where one has none, or e no arguments.
func (e *Expr) rebuilt(replace func(*Expr) (*Expr, bool)) (*Expr, bool) {
	x := *e
	for k, a := range e.args {
		if a != nil {
			var ok bool
			if x.args[k], ok = replace(a); !ok {
				return nil, false
			}
		}
	}
	return &x, e.args[0] != nil
}

// multiple writes a linear form as a multiple of the inner sum, and a bias.
func (j *joint) multiple(l *Linear) (*Expr, bool) {
	at := slices.IndexFunc(l.Scale, isScale)
	if at < 0 {
		return Rat(l.Bias), true
	}
	if j.inner == nil {
		j.inner = &Linear{l.Scale, new(big.Rat)}
	}
	if j.inner.Scale[at].Sign() == 0 {
		return nil, false
	}
	m := new(big.Rat).Quo(l.Scale[at], j.inner.Scale[at])
	for i, s := range l.Scale {
		if s.Cmp(new(big.Rat).Mul(m, j.inner.Scale[i])) != 0 {
			return nil, false
		}
	}
	return Add(Mul(Var(0), Rat(m)), Rat(l.Bias)), true
}

// linear is e as a linear form, nil where it is none.
func (j *joint) linear(e *Expr) *Linear {
	if l, ok := j.found[e]; ok {
		return l
	}
	l := j.form(e)
	j.found[e] = l
	return l
}

func (j *joint) form(e *Expr) *Linear {
	switch e.op {
	case constant:
		return &Linear{zeros(j.n), e.c}
	case variable:
		s := zeros(j.n)
		s[e.v] = big.NewRat(1, 1)
		return &Linear{s, new(big.Rat)}
	}
	x := j.linear(e.args[0])
	if x == nil {
		return nil
	}
	var y *Linear
	if e.args[1] != nil {
		if y = j.linear(e.args[1]); y == nil {
			return nil
		}
	}
	// A linear form of several variables follows the rules of one of a single one, variable by variable.
	out := &Linear{Scale: make([]*big.Rat, j.n)}
	for i := range out.Scale {
		var b Affine
		if y != nil {
			b = Affine{y.Scale[i], y.Bias}
			if e.op == mul && !x.Fixed() && !y.Fixed() || e.op == div && !y.Fixed() {
				return nil
			}
		}
		a, ok := e.combine(Affine{x.Scale[i], x.Bias}, b)
		if !ok || !e.arithmetic() && (!x.Fixed() || y != nil && !y.Fixed()) || size(a.Scale)+size(a.Bias) > maxRatBits {
			return nil
		}
		out.Scale[i], out.Bias = a.Scale, a.Bias
	}
	return out
}

// Fixed reports whether a linear form is a constant.
func (l *Linear) Fixed() bool {
	return !slices.ContainsFunc(l.Scale, isScale)
}

func isScale(s *big.Rat) bool { return s.Sign() != 0 }

// arithmetic reports whether e's operation may keep a linear form one.
func (e *Expr) arithmetic() bool {
	switch e.op {
	case add, sub, neg, mul, div:
		return true
	}
	return false
}
