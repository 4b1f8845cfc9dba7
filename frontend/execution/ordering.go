package execution

import (
	"hlsgen/frontend/graph"
	"hlsgen/frontend/real"

	"hlsgen/frontend/program"
)

// A SourceElementsOfSameOrder lists the indices At of elements of an earlier tensor that have the same order as the
// elements of given rows. If Falls is set, their order is the reverse.
type SourceElementsOfSameOrder struct {
	Tensor string
	At     []int32       // row by row
	Falls  bool          // the order is the reverse
	Nodes  []*graph.Node // the nodes between the two tensors
}

// FindSourceElementsOfSameOrder returns the earliest elements that show the order of rows of n elements of a tensor; if
// there are none, the rows themselves. It goes back through moves, softmax over a row, and strictly rising or falling
// functions of one element. It passes a step only if may returns true for the step and the input.
func FindSourceElementsOfSameOrder(p *program.Program, tensor string, rows []int32, n int, may func(step *program.Step,
	in string) bool) SourceElementsOfSameOrder {
	o := SourceElementsOfSameOrder{Tensor: tensor, At: rows}
	for {
		step := p.ProducerOf(o.Tensor)
		if step == nil {
			return o
		}
		slot, at, falls, ok := sameOrder(p, step, o.At, n)
		if !ok || !may(step, step.Node.Inputs[slot]) {
			return o
		}
		o.Tensor, o.At, o.Falls = step.Node.Inputs[slot], at, o.Falls != falls
		o.Nodes = append(o.Nodes, step.Node)
	}
}

// sameOrder returns an input slot of a step whose elements at have the order of the rows of n elements of the step's
// output. falls says that the order is reversed. ok is false if there is no such input.
func sameOrder(p *program.Program, step *program.Step, rows []int32, n int) (slot int, at []int32, falls, ok bool) {
	at = make([]int32, len(rows))
	switch {
	case step.Move != nil:
		for j, i := range rows {
			s, from := step.Move.SourceOf(int(i))
			if j == 0 {
				slot = s
			}
			if s != slot {
				return 0, nil, false, false
			}
			at[j] = int32(from)
		}
		return slot, at, false, true
	case step.Elem == nil || step.Window != nil || program.TensorMayHoldInfinities(p, step.Output) ||
		program.StepMayReadInfinities(p,
			step):
		return 0, nil, false, false
	case step.Softmax:
		copy(at, rows)
		return 0, at, false, wholeRows(step.Elem, rows, n)
	}
	f := elementwise{p, step}
	v, ok := f.argument()
	if !ok {
		return 0, nil, false, false
	}
	direction := 0
	for j, i := range rows {
		at[j] = int32(step.Elem.ArgumentIndex(v, int(i)))
		if first := rows[j-j%n]; j%n > 0 && !f.alike(v, int(i), int(first)) {
			return 0, nil, false, false
		}
		if j > 0 && (j%n > 0 || f.alike(v, int(i), int(rows[j-n]))) {
			continue
		}
		d, strict := f.of(v, int(i)).StrictMonotonicDirection()
		if !strict || direction != 0 && d != direction {
			return 0, nil, false, false
		}
		direction = d
	}
	return step.Elem.Args[v], at, direction < 0, true
}

// wholeRows reports whether a softmax sums over exactly the given rows of n elements: exp(x)/sum, and its logarithm,
// rise strictly with x if the sum is the same.
func wholeRows(e *program.Elem, rows []int32, n int) bool {
	for j, i := range rows { // variable 0 is the first element of the sum
		if e.ArgumentIndex(0, int(i)) != e.ArgumentIndex(0, int(rows[j-j%n])) {
			return false
		}
	}
	return true
}

// An elementwise is a step that computes each element from one element of each argument.
type elementwise struct {
	p    *program.Program
	step *program.Step
}

// argument returns the only variable that is not constant. ok is false if there are several such variables or none.
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

// number returns the value of constant variable v for element i.
func (f elementwise) number(v, i int) float64 {
	return f.p.Known[f.step.Node.Inputs[f.step.Elem.Args[v]]].Const.FloatAt(f.step.Elem.ArgumentIndex(v, i))
}

// alike reports whether elements i and j are the same function of the variable argument.
func (f elementwise) alike(argument, i, j int) bool {
	for v := range f.step.Elem.Args {
		if v != argument && f.number(v, i) != f.number(v, j) {
			return false
		}
	}
	return true
}

// of returns element i as an expression of the variable argument, which becomes variable 0.
func (f elementwise) of(argument, i int) *real.Expr {
	with := make([]*real.Expr, len(f.step.Elem.Args))
	for v := range with {
		if with[v] = real.Var(0); v != argument {
			with[v] = real.ConstantExprOfFloat(f.number(v, i))
		}
	}
	return f.step.Elem.Expr.SubstituteVariables(with)
}
