package real

// Piecewise reports whether e is made of the variables that vary by sums, products with and quotients by what does not
// vary, signs, minima and maxima alone: where these variables are multiples of a unit each, between limits, so is e.
func Piecewise(e *Expr, varies func(v int) bool) bool {
	p := pieces{varies, map[*Expr]piece{}}
	return p.of(e) != bent
}

// A piece is how an expression depends on what varies.
type piece uint8

const (
	still    piece = iota + 1 // not at all
	straight                  // in pieces, linearly
	bent                      // otherwise
)

// pieces are the parts of an expression that have been looked at.
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

// joined is what an operation makes of operands, of which one at least varies.
func joined(op Prim, x, y piece) piece {
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
