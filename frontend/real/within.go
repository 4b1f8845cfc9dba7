package real

// SimplifyWithin returns a simpler form of e for variables that lie in vars. It replaces a maximum, a minimum or an
// absolute value by one of its arguments, or the negated argument, if the outcome is always the same.
func (e *Expr) SimplifyWithin(vars []Interval) *Expr {
	f := Compile(e)
	f.EvaluateInterval(vars)
	made := make([]*Expr, len(f.code))
	for i, in := range f.code {
		a, b := f.slots[in.a], f.slots[in.b]
		x := *in.e
		for k, slot := range []int{in.a, in.b} {
			if x.args[k] != nil {
				x.args[k] = made[slot]
			}
		}
		switch {
		case in.op == maximum && a.Lo >= b.Hi, in.op == minimum && a.Hi <= b.Lo, in.op == abs && a.Lo >= 0:
			made[i] = made[in.a]
		case in.op == maximum && b.Lo >= a.Hi, in.op == minimum && b.Hi <= a.Lo:
			made[i] = made[in.b]
		case in.op == abs && a.Hi <= 0:
			made[i] = Neg(made[in.a])
		case in.op == constant || in.op == variable || x.args == in.e.args:
			made[i] = in.e
		default:
			made[i] = &x
		}
	}
	return made[len(made)-1]
}

// MonotonicDirection returns the direction in which e, an expression in variable 0 alone, moves when the variable
// grows. It is 1 if e certainly never falls, -1 if it certainly never rises, and 0 if it is constant. ok is false if
// the form of e does not show this.
func (e *Expr) MonotonicDirection() (d int, ok bool) { return e.direction(map[*Expr]int{}) }

func (e *Expr) direction(known map[*Expr]int) (d int, ok bool) {
	switch e.op {
	case constant:
		return 0, true
	case variable:
		return 1, true
	}
	if d, ok := known[e]; ok {
		return d, true
	}
	x, ok := e.args[0].direction(known)
	if !ok {
		return 0, false
	}
	y := 0
	if e.args[1] != nil {
		if y, ok = e.args[1].direction(known); !ok {
			return 0, false
		}
	}
	if d, ok = e.moves(x, y, func(arg int) (int, bool) { return signOf(e.args[arg]) }); ok {
		known[e] = d
	}
	return d, ok
}

// moves returns the direction of e, given the directions x and y of its arguments. sign returns the sign of a constant
// argument.
func (e *Expr) moves(x, y int, sign func(arg int) (int, bool)) (int, bool) {
	together := func(x, y int) (int, bool) {
		if x*y < 0 {
			return 0, false
		}
		if x == 0 {
			return y, true
		}
		return x, true
	}
	switch e.op {
	case add, minimum, maximum:
		return together(x, y)
	case sub, atLeast:
		return together(x, -y)
	case neg:
		return -x, true
	case exp, log, sqrt, erf, atan, round:
		return x, true
	}
	if x == 0 && y == 0 {
		return 0, true
	}
	switch {
	case e.op == mul && x == 0:
		s, ok := sign(0)
		return s * y, ok
	case (e.op == mul || e.op == div) && y == 0:
		s, ok := sign(1)
		return s * x, ok
	case e.op == div && x == 0: // c/y falls if c and y are positive
		if s, ok := sign(0); ok && e.args[1].positive() {
			return -s * y, true
		}
	}
	return 0, false
}

// signOf returns the sign of a constant expression. ok is false if it is unknown.
func signOf(e *Expr) (s int, ok bool) {
	if f, ok := e.AsAffine(); ok {
		return f.Bias.Sign(), true
	}
	y, _ := Compile(e).EvaluateInterval([]Interval{{}})
	return y.sign()
}

// positive reports whether the form of e shows that e is above 0 wherever it has a value.
func (e *Expr) positive() bool {
	switch e.op {
	case constant:
		return e.c.Sign() > 0
	case exp:
		return true
	case add, mul, div:
		return e.args[0].positive() && e.args[1].positive()
	}
	return false
}
