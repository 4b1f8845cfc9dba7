package canon

import (
	"math"

	"hlsgen/frontend/operators"
	"hlsgen/frontend/program"
	"hlsgen/frontend/real"
)

// data returns the inputs of an element-wise step that depend on the model's inputs, each once.
func (w *wholes) data(s *program.Step) (list []string) {
	seen := map[string]bool{}
	for _, slot := range s.Elem.Args {
		if in := s.Node.Inputs[slot]; w.p.Known[in].Const == nil && !seen[in] {
			seen[in] = true
			list = append(list, in)
		}
	}
	return list
}

// above returns the nearest tensor of which the given tensor is a function, element by element. It returns "" if there
// is no such tensor, or if the elements depend on several. For example, for y = Where(x > 1, 1, x) it returns x.
func (w *wholes) above(tensor string) string {
	over, ok := w.over[tensor]
	if !ok {
		over = w.findAbove(tensor)
		w.over[tensor] = over
	}
	return over
}

func (w *wholes) findAbove(tensor string) (over string) {
	s := w.p.ProducerOf(tensor)
	if s == nil || s.Elem == nil || s.Window != nil || s.Elem.Offset != nil {
		return ""
	}
	if _, _, code := operators.CodeLimitsOfQuantiser(s.Node); code {
		return ""
	}
	for v, slot := range s.Elem.Args {
		if w.p.Known[s.Node.Inputs[slot]].Const == nil && !s.Elem.Index[v].IsIdentity() {
			return ""
		}
	}
	for i, in := range w.data(s) {
		if i == 0 {
			over = in
		} else if over = w.common(over, in); over == "" {
			return ""
		}
	}
	return over
}

// common returns the nearest tensor of which both a and b are functions, element by element; that may be a or b itself.
// It returns "" if there is none.
func (w *wholes) common(a, b string) string {
	ways := map[string]bool{}
	for ; a != ""; a = w.above(a) {
		ways[a] = true
	}
	for b != "" && !ways[b] {
		b = w.above(b)
	}
	return b
}

// pieces returns an interval of the values of a step whose arguments are all functions of one tensor. It evaluates the
// step between the points at which a comparison changes its outcome. ok is false for other steps.
func (w *wholes) pieces(s *program.Step) (in real.Interval, ok bool) {
	over := w.above(s.Output)
	if over == "" || len(w.data(s)) < 2 {
		return in, false
	}
	c := &composition{wholes: w, over: over, vars: []real.Interval{w.of(over).in}, of: map[string]*real.Expr{}}
	e := c.step(s)
	if len(c.vars) > maxSpanned {
		return in, false
	}
	f, span := real.Compile(e), c.vars[0]
	lo := span.Lo
	piece := func(lo, hi float64) {
		if lo = max(lo, span.Lo); lo > min(hi, span.Hi) {
			return
		}
		c.vars[0] = real.Interval{Lo: lo, Hi: min(hi, span.Hi)}
		y, _ := f.EvaluateInterval(c.vars)
		if !ok {
			in, ok = y, true
			return
		}
		in = real.Interval{Lo: min(in.Lo, y.Lo), Hi: max(in.Hi, y.Hi)}
	}
	for _, at := range real.KinksOf(e) {
		piece(lo, math.Nextafter(at, math.Inf(-1)))
		piece(at, at)
		lo = math.Nextafter(at, math.Inf(1))
	}
	piece(lo, span.Hi)
	return in, ok
}

// A composition writes several steps as one expression. Variable 0 is the tensor over, of which the steps are all
// functions. The other variables are constants with several values; vars holds bounds on each variable.
type composition struct {
	*wholes
	over string
	vars []real.Interval
	of   map[string]*real.Expr
}

func (c *composition) step(s *program.Step) *real.Expr {
	with := make([]*real.Expr, len(s.Elem.Args))
	for v, slot := range s.Elem.Args {
		with[v] = c.tensor(s.Node.Inputs[slot])
	}
	return s.Elem.Expr.SubstituteVariables(with)
}

func (c *composition) tensor(tensor string) (e *real.Expr) {
	if e = c.of[tensor]; e != nil {
		return e
	}
	switch in := c.wholes.of(tensor).in; {
	case tensor == c.over:
		e = real.Var(0)
	case c.p.Known[tensor].Const == nil:
		e = c.step(c.p.ProducerOf(tensor))
	case in.IsPoint() && !math.IsInf(in.Lo, 0):
		e = real.ConstantExprOfFloat(in.Lo)
	default:
		e = real.Var(len(c.vars))
		c.vars = append(c.vars, in)
	}
	c.of[tensor] = e
	return e
}
