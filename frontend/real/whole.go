package real

// Whole reports whether e is surely an integer, read off its form, where whole says which variables are. rounds says
// that e makes one of something that is not surely whole: somewhere in it is a rounding or a comparison of such.
func (e *Expr) Whole(whole func(variable int) bool) (is, rounds bool) {
	w := &wholeness{of: whole, known: map[*Expr]bool{}}
	is = w.is(e)
	return is, w.rounds
}

type wholeness struct {
	of     func(variable int) bool
	known  map[*Expr]bool
	rounds bool
}

func (w *wholeness) is(e *Expr) bool {
	if is, ok := w.known[e]; ok {
		return is
	}
	is := true
	for _, a := range e.args {
		if a != nil && !w.is(a) { // all are asked: one may round
			is = false
		}
	}
	switch e.op {
	case constant:
		is = e.c.IsInt()
	case variable:
		is = w.of(e.v)
	case round, atLeast:
		w.rounds = w.rounds || !is
		is = true
	case add, sub, mul, neg, abs, minimum, maximum:
	default:
		is = false
	}
	w.known[e] = is
	return is
}
