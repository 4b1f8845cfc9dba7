package real

import (
	"math/big"
	"slices"
)

// A LinearForm is the sum of Scale[i]*variable i over all variables, plus Bias.
type LinearForm struct {
	Scale []*big.Rat
	Bias  *big.Rat
}

// AsFuncOfLinear returns e, in n variables, as a function of one weighted sum of them: outer with variable 0 replaced
// by inner is e. inner has bias 0; its scales are 0 if e is constant. ok is false if e has no such form, or numbers
// become very long.
func (e *Expr) AsFuncOfLinear(n int) (inner LinearForm, outer *Expr, ok bool) {
	j := &joint{n: n, found: map[*Expr]part{}, outer: map[*Expr]*Expr{}}
	if outer, ok = j.replace(e); !ok {
		return LinearForm{}, nil, false
	}
	if j.inner == nil {
		return zero(n), outer, true
	}
	return *j.inner, outer, true
}

func zero(n int) LinearForm {
	l := LinearForm{make([]*big.Rat, n), new(big.Rat)}
	for i := range l.Scale {
		l.Scale[i] = new(big.Rat)
	}
	return l
}

// A joint does the work of AsFuncOfLinear for one expression. It first marks which subexpressions are linear, without
// their scales, of which there would be very many. Then it computes the scales of the largest ones alone.
type joint struct {
	n     int
	found map[*Expr]part
	inner *LinearForm
	outer map[*Expr]*Expr
}

// A part says whether a subexpression is linear. always is its value if it is constant, and nil otherwise.
type part struct {
	linear bool
	always *big.Rat
}

// replace returns e with the inner sum as variable 0. ok is false if e is no function of that sum.
func (j *joint) replace(e *Expr) (*Expr, bool) {
	if known, ok := j.outer[e]; ok {
		return known, true
	}
	if p := j.part(e); p.linear {
		l, ok := j.scales(e)
		if !ok {
			return nil, false
		}
		out, ok := j.multiple(&l)
		j.outer[e] = out
		return out, ok
	}
	x, ok := e.rebuilt(j.replace)
	if ok {
		j.outer[e] = x
	}
	return x, ok
}

// rebuilt returns e with each argument replaced. ok is false if replace fails for an argument, or e has no arguments.
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

// multiple returns a linear form as a multiple of the inner sum, variable 0, plus a bias. ok is false if the form has
// no such representation.
func (j *joint) multiple(l *LinearForm) (*Expr, bool) {
	at := slices.IndexFunc(l.Scale, isScale)
	if at < 0 {
		return ConstantExpr(l.Bias), true
	}
	if j.inner == nil {
		j.inner = &LinearForm{l.Scale, new(big.Rat)}
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
	return Add(Mul(Var(0), ConstantExpr(m)), ConstantExpr(l.Bias)), true
}

// part returns whether e is linear, and its value if it is constant. It caches the result.
func (j *joint) part(e *Expr) part {
	if p, ok := j.found[e]; ok {
		return p
	}
	p := j.find(e)
	j.found[e] = p
	return p
}

func (j *joint) find(e *Expr) part {
	switch e.op {
	case constant:
		return part{true, e.c}
	case variable:
		return part{true, nil}
	}
	var all [2]*big.Rat
	changes := 0
	for i, a := range e.args {
		if a == nil {
			continue
		}
		p := j.part(a)
		if !p.linear {
			return part{}
		}
		if all[i] = p.always; p.always == nil {
			changes++
		}
	}
	switch {
	case changes == 0:
		return e.always(all)
	case e.op == add, e.op == sub, e.op == neg,
		e.op == mul && changes == 1,
		e.op == div && all[1] != nil && all[1].Sign() != 0:
		return part{true, nil}
	}
	// An expression whose form depends on a variable may still be constant, as x - x is.
	for i, a := range e.args {
		if a != nil && all[i] == nil {
			if l, ok := j.scales(a); ok && l.IsConstant() {
				j.found[a] = part{true, l.Bias}
				return j.find(e)
			}
		}
	}
	return part{}
}

// always returns the part for the result of e's operation on constants. The part is not linear if the result has no
// value.
func (e *Expr) always(of [2]*big.Rat) part {
	none := new(big.Rat)
	a, b := Affine{none, of[0]}, Affine{}
	if of[1] != nil {
		b = Affine{none, of[1]}
	}
	if c, ok := e.combine(a, b); ok && size(c.Bias) <= maxRatBits {
		return part{true, c.Bias}
	}
	return part{}
}

// scales returns the coefficients of a linear subexpression. It walks from the result back to the variables: the factor
// of a subexpression is known once the factors of all its users are. ok is false if numbers become too long.
func (j *joint) scales(e *Expr) (l LinearForm, ok bool) {
	l = zero(j.n)
	times := map[*Expr]*big.Rat{e: big.NewRat(1, 1)} // the factor of each subexpression in the result
	give := func(to *Expr, by *big.Rat) bool {
		if old := times[to]; old != nil {
			by = new(big.Rat).Add(old, by)
		}
		times[to] = by
		return size(by) <= maxRatBits
	}
	for _, e := range slices.Backward(j.inside(e)) {
		by, x, y := times[e], e.args[0], e.args[1]
		if by == nil { // only a constant factor or divisor refers to it
			continue
		}
		ok := true
		switch p := j.found[e]; {
		case p.always != nil:
			l.Bias.Add(l.Bias, new(big.Rat).Mul(by, p.always))
			ok = size(l.Bias) <= maxRatBits
		case e.op == variable:
			l.Scale[e.v].Add(l.Scale[e.v], by)
		case e.op == add:
			ok = give(x, by) && give(y, by)
		case e.op == sub:
			ok = give(x, by) && give(y, new(big.Rat).Neg(by))
		case e.op == neg:
			ok = give(x, new(big.Rat).Neg(by))
		case e.op == div:
			ok = give(x, new(big.Rat).Quo(by, j.found[y].always))
		case j.found[y].always != nil:
			ok = give(x, new(big.Rat).Mul(by, j.found[y].always))
		default:
			ok = give(y, new(big.Rat).Mul(by, j.found[x].always))
		}
		if !ok {
			return l, false
		}
	}
	return l, true
}

// inside returns a linear subexpression and its operands, each one after its own operands.
func (j *joint) inside(e *Expr) (list []*Expr) {
	seen := map[*Expr]bool{}
	var visit func(e *Expr)
	visit = func(e *Expr) {
		if e == nil || seen[e] {
			return
		}
		seen[e] = true
		if j.found[e].always == nil {
			visit(e.args[0])
			visit(e.args[1])
		}
		list = append(list, e)
	}
	visit(e)
	return list
}

// IsConstant reports whether all scales are 0, so that l is a constant.
func (l *LinearForm) IsConstant() bool {
	return !slices.ContainsFunc(l.Scale, isScale)
}

func isScale(s *big.Rat) bool { return s.Sign() != 0 }

// arithmetic reports whether e's operation can map linear forms to a linear form.
func (e *Expr) arithmetic() bool {
	switch e.op {
	case add, sub, neg, mul, div:
		return true
	}
	return false
}
