package real

import (
	"math/big"
	"slices"
	"strings"
)

// A PolynomialTerm is Scale times the product of the variables Vars, in increasing order. A variable that occurs twice
// is squared.
type PolynomialTerm struct {
	Vars  []int
	Scale *big.Rat
}

// These limits bound a polynomial. No layer computes larger ones.
const (
	maxDegree = 4
	maxTerms  = 64
)

// AsFuncOfPolynomial returns e as a function of one polynomial in its variables: e = outer(sum of terms). The terms are
// in order, without a constant and without zeros; there are none if e is constant. ok is false if e has no such form,
// as when it joins two polynomials that are not multiples of each other. It is also false beyond maxDegree, maxTerms or
// maxRatBits.
func (e *Expr) AsFuncOfPolynomial() (terms []PolynomialTerm, outer *Expr, ok bool) {
	p := &polynomials{found: map[*Expr]polynomial{}, outer: map[*Expr]*Expr{}}
	if outer, ok = p.replace(e); !ok {
		return nil, nil, false
	}
	for _, key := range p.inner.keys() {
		if key != "" {
			t := PolynomialTerm{Scale: p.inner[key]}
			for _, v := range key {
				t.Vars = append(t.Vars, int(v))
			}
			terms = append(terms, t)
		}
	}
	return terms, outer, true
}

// A polynomial maps each product of variables to its scale. The key holds the variables as runes, in order; "" stands
// for the constant.
type polynomial map[string]*big.Rat

func (p polynomial) keys() []string {
	keys := make([]string, 0, len(p))
	for k := range p {
		keys = append(keys, k)
	}
	slices.Sort(keys)
	return keys
}

type polynomials struct {
	found map[*Expr]polynomial // nil if the expression is not a polynomial
	inner polynomial
	outer map[*Expr]*Expr
}

// replace returns e with variable 0 in place of the inner polynomial. ok is false if e is not a function of that
// polynomial.
func (p *polynomials) replace(e *Expr) (*Expr, bool) {
	if known, ok := p.outer[e]; ok {
		return known, true
	}
	var x *Expr
	var ok bool
	if q := p.polynomial(e); q != nil {
		x, ok = p.multiple(q)
	} else {
		x, ok = e.rebuilt(p.replace)
	}
	if ok {
		p.outer[e] = x
	}
	return x, ok
}

// multiple returns q as a multiple of the inner polynomial, plus a bias. ok is false if q has no such form.
func (p *polynomials) multiple(q polynomial) (*Expr, bool) {
	bias := new(big.Rat)
	if b := q[""]; b != nil {
		bias = b
	}
	keys := slices.DeleteFunc(q.keys(), func(k string) bool { return k == "" })
	if len(keys) == 0 {
		return ConstantExpr(bias), true
	}
	if p.inner == nil {
		p.inner = polynomial{}
		for _, k := range keys {
			p.inner[k] = q[k]
		}
	}
	if len(p.inner) != len(keys) || p.inner[keys[0]] == nil {
		return nil, false
	}
	m := new(big.Rat).Quo(q[keys[0]], p.inner[keys[0]])
	for _, k := range keys {
		if s := p.inner[k]; s == nil || q[k].Cmp(new(big.Rat).Mul(m, s)) != 0 {
			return nil, false
		}
	}
	return Add(Mul(Var(0), ConstantExpr(m)), ConstantExpr(bias)), true
}

// polynomial returns e as a polynomial, or nil if e is not one.
func (p *polynomials) polynomial(e *Expr) polynomial {
	if q, ok := p.found[e]; ok {
		return q
	}
	q := p.find(e)
	for k, s := range q {
		if s.Sign() == 0 {
			delete(q, k)
		} else if size(s) > maxRatBits || len(k) > maxDegree || len(q) > maxTerms {
			q = nil
			break
		}
	}
	p.found[e] = q
	return q
}

func (p *polynomials) find(e *Expr) polynomial {
	switch e.op {
	case constant:
		return polynomial{"": e.c}
	case variable:
		return polynomial{string(rune(e.v)): big.NewRat(1, 1)}
	}
	x := p.polynomial(e.args[0])
	var y polynomial
	if e.args[1] != nil {
		y = p.polynomial(e.args[1])
	}
	if x == nil || e.args[1] != nil && y == nil {
		return nil
	}
	switch e.op {
	case add, sub:
		return x.plus(y, e.op == sub)
	case neg:
		return polynomial{}.plus(x, true)
	case mul:
		return x.times(y)
	case div:
		if d, ok := y.fixed(); ok && d.Sign() != 0 {
			return x.times(polynomial{"": new(big.Rat).Inv(d)})
		}
		return nil
	}
	a, okA := x.fixed()
	b, okB := y.fixed()
	if !okA || !okB {
		return nil
	}
	if f, ok := e.fold(Affine{new(big.Rat), a}, Affine{new(big.Rat), b}); ok {
		return polynomial{"": f.Bias}
	}
	return nil
}

// fixed returns the value of a polynomial without variables. ok is false for others.
func (p polynomial) fixed() (*big.Rat, bool) {
	if len(p) == 0 {
		return new(big.Rat), true
	}
	c := p[""]
	return c, c != nil && len(p) == 1
}

func (p polynomial) plus(o polynomial, minus bool) polynomial {
	out := polynomial{}
	for k, s := range p {
		out[k] = s
	}
	for k, s := range o {
		if minus {
			s = new(big.Rat).Neg(s)
		}
		if was := out[k]; was != nil {
			s = new(big.Rat).Add(was, s)
		}
		out[k] = s
	}
	return out
}

func (p polynomial) times(o polynomial) polynomial {
	if len(p)*len(o) > maxTerms*maxTerms {
		return nil
	}
	out := polynomial{}
	for k, s := range p {
		for l, t := range o {
			letters := strings.Split(k+l, "")
			slices.Sort(letters)
			key, v := strings.Join(letters, ""), new(big.Rat).Mul(s, t)
			if was := out[key]; was != nil {
				v.Add(v, was)
			}
			out[key] = v
		}
	}
	return out
}
