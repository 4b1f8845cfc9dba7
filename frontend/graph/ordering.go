package graph

import "hlsgen/frontend/real"

// An Ordering is what decides an order of rows: elements of a tensor that lies further back, whose order is that of the
// rows' own elements, or its reverse.
type Ordering struct {
	Tensor string
	At     []int32 // row by row
	Falls  bool    // what is greater here is smaller there
	Nodes  []*Node // in between
}

// Ordering goes back from rows of n elements of a tensor through what neither changes the order within a row nor makes
// equal ones of different ones: moves, a softmax over the row, and functions of one element that rise, or fall, with
// every change, alike for the whole row. Real numbers do not saturate: the sigmoids of 5000 and 5001 differ. It goes
// from a step to an input of it where may allows that.
func (p *Program) Ordering(tensor string, rows []int32, n int, may func(step *Step, in string) bool) Ordering {
	o := Ordering{Tensor: tensor, At: rows}
	for {
		step := p.by[o.Tensor]
		if step == nil {
			return o
		}
		slot, at, falls, ok := p.sameOrder(step, o.At, n)
		if !ok || !may(step, step.Node.Inputs[slot]) {
			return o
		}
		o.Tensor, o.At, o.Falls = step.Node.Inputs[slot], at, o.Falls != falls
		o.Nodes = append(o.Nodes, step.Node)
	}
}

// sameOrder is the input of a step, and the elements of it, that order rows of n of its elements; ok is false where
// there are none.
func (p *Program) sameOrder(step *Step, rows []int32, n int) (slot int, at []int32, falls, ok bool) {
	at = make([]int32, len(rows))
	switch {
	case step.Move != nil:
		for j, i := range rows {
			s, from := step.Move.From(int(i))
			if j == 0 {
				slot = s
			}
			if s != slot {
				return 0, nil, false, false
			}
			at[j] = int32(from)
		}
		return slot, at, false, true
	case step.Elem == nil || step.Window != nil || p.endless[step.Output] != 0 || ReadsEndless(p, step):
		return 0, nil, false, false
	case step.Node.Is(WholeRow):
		copy(at, rows)
		return 0, at, false, step.Elem.wholeRows(rows, n)
	}
	f := elementwise{p, step}
	v, ok := f.argument()
	if !ok {
		return 0, nil, false, false
	}
	direction := 0
	for j, i := range rows {
		at[j] = int32(step.Elem.At(v, int(i)))
		if first := rows[j-j%n]; j%n > 0 && !f.alike(v, int(i), int(first)) {
			return 0, nil, false, false
		}
		if j > 0 && (j%n > 0 || f.alike(v, int(i), int(rows[j-n]))) {
			continue
		}
		d, strict := f.of(v, int(i)).Strict()
		if !strict || direction != 0 && d != direction {
			return 0, nil, false, false
		}
		direction = d
	}
	return step.Elem.Args[v], at, direction < 0, true
}

// wholeRows reports whether a softmax takes each of the rows of n elements together: exp(x)/sum and its logarithm rise
// strictly with x where the sum is the same.
func (e *Elem) wholeRows(rows []int32, n int) bool {
	for j, i := range rows { // variable 0 is the first element of the sum
		if e.At(0, int(i)) != e.At(0, int(rows[j-j%n])) {
			return false
		}
	}
	return true
}

// An elementwise step computes each element of one of each argument.
type elementwise struct {
	p    *Program
	step *Step
}

// argument is the one variable that is not constant.
func (f elementwise) argument() (variable int, ok bool) {
	variable = -1
	for v, slot := range f.step.Elem.Args {
		if f.p.Known[f.step.Node.Inputs[slot]].Const != nil {
			continue
		}
		if variable >= 0 {
			return 0, false
		}
		variable = v
	}
	return variable, variable >= 0
}

// number is the value of a constant variable of element i.
func (f elementwise) number(v, i int) float64 {
	return f.p.Known[f.step.Node.Inputs[f.step.Elem.Args[v]]].Const.At(f.step.Elem.At(v, i))
}

// alike reports whether elements i and j are the same function of the argument.
func (f elementwise) alike(argument, i, j int) bool {
	for v := range f.step.Elem.Args {
		if v != argument && f.number(v, i) != f.number(v, j) {
			return false
		}
	}
	return true
}

// of is element i as a function of the argument, which becomes variable 0.
func (f elementwise) of(argument, i int) *real.Expr {
	with := make([]*real.Expr, len(f.step.Elem.Args))
	for v := range with {
		if with[v] = real.Var(0); v != argument {
			with[v] = real.Float(f.number(v, i))
		}
	}
	return f.step.Elem.Expr.Substitute(with)
}
