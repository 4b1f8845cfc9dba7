package real

// IsCertainlyInteger reports whether the form of e shows that e is an integer, given which variables are integers.
// rounds reports whether e rounds or compares something that is not certainly an integer.
func (e *Expr) IsCertainlyInteger(whole func(variable int) bool) (is, rounds bool) {
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
		if a != nil && !w.is(a) { // every argument is visited, because one may round
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
