package real

import "math/big"

// AsFuncOfProduct returns e, in variables 0 and 1, as a function of a product: outer with variable 0 replaced by
// (v0+offset[0]) * (v1+offset[1]) is e. ok is false if e has no such form.
func (e *Expr) AsFuncOfProduct() (offset [2]*big.Rat, outer *Expr, ok bool) {
	p := &factoring{known: map[*Expr]*term{}, outer: map[*Expr]*Expr{}}
	if outer, ok = p.replace(e); !ok || p.offset[0] == nil {
		return offset, nil, false
	}
	return p.offset, outer, true
}

type factoring struct {
	offset [2]*big.Rat // set once a product is found
	known  map[*Expr]*term
	outer  map[*Expr]*Expr
}

// A term is scale*x + bias, where x is 0, variable 0, variable 1 or their product.
type term struct {
	of          termOf
	scale, bias *big.Rat
}

type termOf uint8

const (
	ofNothing termOf = iota
	ofFirst
	ofSecond
	ofProduct
)

func (p *factoring) replace(e *Expr) (*Expr, bool) {
	if known, ok := p.outer[e]; ok {
		return known, true
	}
	if t := p.term(e); t != nil {
		switch t.of {
		case ofNothing:
			return ConstantExpr(t.bias), true
		case ofProduct:
			out := Add(Mul(Var(0), ConstantExpr(t.scale)), ConstantExpr(t.bias))
			p.outer[e] = out
			return out, true
		}
		return nil, false
	}
	x, ok := e.rebuilt(p.replace)
	if ok {
		p.outer[e] = x
	}
	return x, ok
}

func (p *factoring) term(e *Expr) *term {
	if t, ok := p.known[e]; ok {
		return t
	}
	t := p.find(e)
	if t != nil && t.of != ofNothing && t.scale.Sign() == 0 {
		t = &term{of: ofNothing, bias: t.bias}
	}
	p.known[e] = t
	return t
}

func (p *factoring) find(e *Expr) *term {
	switch e.op {
	case constant:
		return &term{of: ofNothing, bias: e.c}
	case variable:
		return &term{[]termOf{ofFirst, ofSecond}[e.v], big.NewRat(1, 1), new(big.Rat)}
	}
	if e.args[0] == nil {
		return nil
	}
	x := p.term(e.args[0])
	if x == nil {
		return nil
	}
	if e.args[1] == nil {
		if e.op == neg || x.of == ofNothing {
			return p.single(e, x, nil)
		}
		return nil
	}
	y := p.term(e.args[1])
	switch {
	case y == nil:
		return nil
	case e.op == mul && (x.of == ofFirst && y.of == ofSecond || x.of == ofSecond && y.of == ofFirst):
		if x.of == ofSecond {
			x, y = y, x
		}
		return p.multiply(x, y)
	case e.op == div && y.of != ofNothing:
		return nil
	case x.of == ofNothing || y.of == ofNothing || x.of == y.of && (e.op == add || e.op == sub):
		return p.single(e, x, y)
	}
	return nil
}

// single returns the result of e's operation on terms in the same variable or product.
func (p *factoring) single(e *Expr, x, y *term) *term {
	of := x.of
	a, b := x.affine(), Affine{}
	if y != nil {
		of, b = max(of, y.of), y.affine()
	}
	if of != ofNothing && !e.arithmetic() {
		return nil
	}
	c, ok := e.combine(a, b)
	if !ok || size(c.Scale)+size(c.Bias) > maxRatBits {
		return nil
	}
	return &term{of, c.Scale, c.Bias}
}

func (t *term) affine() Affine {
	if t.of == ofNothing {
		return Affine{new(big.Rat), t.bias}
	}
	return Affine{t.scale, t.bias}
}

// multiply returns the product of a term in each variable: (a*v0+b)*(c*v1+d) = a*c*(v0+b/a)*(v1+d/c).
func (p *factoring) multiply(x, y *term) *term {
	o := [2]*big.Rat{new(big.Rat).Quo(x.bias, x.scale), new(big.Rat).Quo(y.bias, y.scale)}
	if p.offset[0] == nil {
		p.offset = o
	} else if o[0].Cmp(p.offset[0]) != 0 || o[1].Cmp(p.offset[1]) != 0 {
		return nil
	}
	return &term{ofProduct, new(big.Rat).Mul(x.scale, y.scale), new(big.Rat)}
}
