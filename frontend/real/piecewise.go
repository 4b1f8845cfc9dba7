package real

// IsPiecewiseLinear reports whether e is piecewise linear in the variables that vary. Such an e has only sums, signs,
// minima and maxima of them, and products with and quotients by invariable factors. If each of these variables is a
// bounded multiple of a unit, so is e.
func IsPiecewiseLinear(e *Expr, varies func(v int) bool) bool {
	p := pieces{varies, map[*Expr]piece{}}
	return p.of(e) != bent
}

// A piece says how an expression depends on the variables that vary.
type piece uint8

const (
	still    piece = iota + 1 // not at all
	straight                  // piecewise linearly
	bent                      // otherwise
)

// A pieces finds, and caches, the piece of each subexpression.
type pieces struct {
	varies func(v int) bool
	found  map[*Expr]piece
}

func (p *pieces) of(e *Expr) piece {
	if e == nil {
		return still
	}
	if known, ok := p.found[e]; ok {
		return known
	}
	is := still
	if e.op == variable {
		if p.varies(e.v) {
			is = straight
		}
	} else if x, y := p.of(e.args[0]), p.of(e.args[1]); x != still || y != still {
		is = joined(e.op, x, y)
	}
	p.found[e] = is
	return is
}

// joined returns the piece of the result of an operation whose operands have pieces x and y. At least one operand
// varies.
func joined(op PrimitiveOp, x, y piece) piece {
	switch op {
	case add, sub, neg, abs, minimum, maximum:
		return max(x, y)
	case mul:
		if x == still || y == still {
			return max(x, y)
		}
	case div:
		if y == still {
			return x
		}
	}
	return bent
}
