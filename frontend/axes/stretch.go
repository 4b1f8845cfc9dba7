package axes

import (
	"fmt"
	"slices"

	"hlsgen/frontend/graph"
	"hlsgen/frontend/program"
)

// A model treats a sequence of n steps like a longer one if it treats all steps alike. Comparing two programs, prepared
// for sequences of different lengths, shows this. Both must compute every element in the same way. The elements that
// they read must belong to the same step, to the step with the same distance from the end, or to the first or the last
// step.

// A StepLayout says which elements of a tensor belong to which step of a sequence of Count steps. Runs of Inner
// adjacent elements belong to one step; 0 means that the tensor has no steps.
type StepLayout struct {
	Inner, Count int
}

// StepAndElementOf returns the step of element e, and its index within the step. For a tensor without steps it returns
// -1 and e.
func (s StepLayout) StepAndElementOf(e int) (step, element int) {
	if s.Inner == 0 {
		return -1, e
	}
	return e / s.Inner % s.Count, e/(s.Inner*s.Count)*s.Inner + e%s.Inner
}

// IndexOfElement returns the index in the tensor of an element, given its step and its index in the step. It is the
// inverse of StepAndElementOf. For a tensor without steps it returns element.
func (s StepLayout) IndexOfElement(step, element int) int {
	if s.Inner == 0 {
		return element
	}
	return (element/s.Inner*s.Count+step)*s.Inner + element%s.Inner
}

// A SequenceLengthComparison compares two programs of one model: Long for sequences of From steps, Short for sequences
// of To steps.
type SequenceLengthComparison struct {
	Long, Short *program.Program
	From, To    int // the numbers of steps of a sequence in the two programs
	// Padded says that all sequences have the steps of the longer program, of which only the first ones count. Nothing
	// may then depend on where a sequence ends.
	Padded bool

	inner  map[string]int
	bodies map[*program.Recur]bool // whether two loops were found alike
}

// CompareTensors compares how the two programs compute the tensors to from the tensors from. It records how the
// elements of each tensor belong to steps. The error names a node that does not treat all steps alike, or an input that
// is needed besides from. Or it names a tensor of from whose shapes differ in another way.
func (x *SequenceLengthComparison) CompareTensors(from, to []string) error {
	x.inner, x.bodies = map[string]int{}, map[*program.Recur]bool{}
	for _, name := range from {
		inner, err := x.sides(name)
		if err != nil {
			return err
		}
		x.inner[name] = inner[0]
	}
	steps, need := x.Long.StepsBetween(from, to)
	for _, in := range x.Long.Graph.Inputs {
		if need[in.Name] {
			return fmt.Errorf("tensor %q is needed", in.Name)
		}
	}
	for _, s := range steps {
		if !x.alike(s, x.Short.ProducerOf(s.Output)) {
			return fmt.Errorf("%s %q treats %d steps differently from %d", s.Node.QualifiedOpName(), s.Node.Label(),
				x.To, x.From)
		}
	}
	return nil
}

// StepLayoutsOf returns how the elements of a tensor belong to steps, in the long and in the short program. ok is false
// if CompareTensors has not reached the tensor.
func (x *SequenceLengthComparison) StepLayoutsOf(tensor string) (long, short StepLayout, ok bool) {
	inner, ok := x.inner[tensor]
	return StepLayout{inner, x.From}, StepLayout{inner, x.To}, ok
}

// HasLengthDependentShape reports whether the shapes of a tensor in the programs differ by the length of an axis of
// steps. It returns an error if they differ in another way, or the short program lacks the tensor.
func (x *SequenceLengthComparison) HasLengthDependentShape(tensor string) (bool, error) {
	if _, known := x.Short.Known[tensor]; !known {
		return false, fmt.Errorf("%q is missing with %d steps", tensor, x.To)
	}
	inner, err := x.sides(tensor)
	return err == nil && inner[0] > 0, err
}

// sides returns the possible numbers of adjacent elements of a tensor that belong to one step, 0 if its shape has no
// steps. The error states that no axis of steps relates the shapes.
func (x *SequenceLengthComparison) sides(tensor string) (inner []int, err error) {
	long, short := x.Long.Known[tensor].Shape, x.Short.Known[tensor].Shape
	if slices.Equal(long, short) {
		return []int{0}, nil
	}
	at := 0
	for at < min(len(long), len(short)) && long[at] == short[at] {
		at++
	}
	if len(long) != len(short) || long[at]%x.From != 0 || long[at]/x.From*x.To != short[at] ||
		!slices.Equal(long[at+1:], short[at+1:]) {
		return nil, fmt.Errorf("%q has the shape %v with %d steps and %v with %d", tensor, long, x.From, short, x.To)
	}
	rest, each := graph.ElementCount(long[at+1:]), long[at]/x.From
	if each == 1 {
		return []int{rest}, nil
	}
	return []int{each * rest, rest}, nil
}

// alike reports whether step s of the long program treats all steps of the sequence as t does in the short one. If so,
// it records how the output's elements belong to steps.
func (x *SequenceLengthComparison) alike(s, t *program.Step) bool {
	if t == nil || s.DType != t.DType || len(s.Node.Inputs) != len(t.Node.Inputs) {
		return false
	}
	for i, in := range s.Node.Inputs {
		if long, short := x.Long.Known[in].Const, x.Short.Known[t.Node.Inputs[i]].Const; (long == nil) !=
			(short == nil) || long == nil && in != t.Node.Inputs[i] {
			return false
		}
	}
	if s.Recur != nil {
		return t.Recur != nil && x.loop(s, t)
	}
	inner, err := x.sides(s.Output)
	if err != nil || !resembles(s, t) {
		return false
	}
	for _, of := range inner {
		if x.elements(s, t, of) {
			x.inner[s.Output] = of
			return true
		}
	}
	return false
}

// elements reports whether s and t read corresponding elements for each element of t's output. inner adjacent elements
// belong to one step of the sequence.
func (x *SequenceLengthComparison) elements(s, t *program.Step, inner int) bool {
	long, short := StepLayout{inner, x.From}, StepLayout{inner, x.To}
	n := readCount(s)
	along := x.along(s, t)
	for j := range graph.ElementCount(t.Shape) {
		step, element := short.StepAndElementOf(j)
		i := long.IndexOfElement(step, element)
		if s.Order != nil && s.Order.Rank[i] != t.Order.Rank[j] {
			return false
		}
		for k := along(step, i, j); k < n; k++ {
			slot, e := readOf(s, i, k)
			other, f := readOf(t, j, k)
			if slot != other || !x.same(s, t, slot, step, e, f) {
				return false
			}
		}
	}
	return true
}

// same reports whether element e of an input slot of s corresponds to element f of the same slot of t. Both are read
// for an output element in the given step of the sequence.
func (x *SequenceLengthComparison) same(s, t *program.Step, slot, step, e, f int) bool {
	name := s.Node.Inputs[slot]
	if c := x.Long.Known[name].Const; c != nil {
		return c.IsElementEqualTo(x.Short.Known[t.Node.Inputs[slot]].Const, e, f)
	}
	a, b, _ := x.StepLayoutsOf(name)
	from, of := a.StepAndElementOf(e)
	to, other := b.StepAndElementOf(f)
	if of != other {
		return false
	}
	first, last := from == 0 && to == 0, from == a.Count-1 && to == b.Count-1
	straight, turned := from == step && to == step, from == a.Count-1-step && to == b.Count-1-step
	if x.Padded {
		return from < 0 || first || straight
	}
	return from < 0 || first || last || step >= 0 && (straight || turned)
}

// along returns a function of a step and two output elements i and j. It returns the number of the first read element
// from which on elements must be compared singly. That is 0, or the number of all if the sums of products certainly
// correspond.
func (x *SequenceLengthComparison) along(s, t *program.Step) func(step, i, j int) int {
	d, e := s.Dot, t.Dot
	none := func(int, int, int) int { return 0 }
	if d == nil || d.A != e.A || d.B != e.B || !slices.Equal(d.AOffset, e.AOffset) ||
		!slices.Equal(d.BOffset, e.BOffset) {
		return none
	}
	name := s.Node.Inputs[d.A]
	w, v := x.Long.Known[s.Node.Inputs[d.B]].Const, x.Short.Known[t.Node.Inputs[d.B]].Const
	inner := x.inner[name]
	if w == nil || !w.Equal(v) || x.Long.Known[name].Const != nil ||
		inner*x.From != graph.ElementCount(x.Long.Known[name].Shape) {
		return none
	}
	least, most := int(slices.Min(d.AOffset)), int(slices.Max(d.AOffset))
	return func(step, i, j int) int {
		a := int(d.ABase.At(i))
		if int(e.ABase.At(j)) != a || d.BBase.At(i) != e.BBase.At(j) || step < 0 || a+least < step*inner ||
			a+most >= (step+1)*inner {
			return 0
		}
		return 2 * d.K
	}
}

// loop reports whether loop s treats all steps as t does. The loops must run along the steps of the sequence, or be
// independent of them.
func (x *SequenceLengthComparison) loop(s, t *program.Step) bool {
	r, q := s.Recur, t.Recur
	if s.Result != t.Result || r.States != q.States || !slices.Equal(r.Scanned, q.Scanned) ||
		!slices.Equal(r.Gathered, q.Gathered) || !slices.Equal(r.RealGates, q.RealGates) {
		return false
	}
	timed := r.Length == x.From && q.Length == x.To
	same, known := x.bodies[r]
	if !known {
		same = newContrast(1, r.Body, q.Body).difference() == nil
		x.bodies[r] = same
	}
	if !same || !timed && r.Length != q.Length {
		return false
	}
	// along is the required number of adjacent elements of a step.
	along := func(shape []int, of []program.ScanAxis, i int) int {
		if i < r.States || !timed {
			return 0
		}
		return graph.ElementCount(shape[of[i-r.States].Axis+1:])
	}
	for i, name := range s.Node.Inputs {
		k := x.Long.Known[name]
		inner := along(k.Shape, r.Scanned, i)
		long, short := StepLayout{inner, x.From}, StepLayout{inner, x.To}
		c := x.Short.Known[t.Node.Inputs[i]].Const
		if k.Const == nil {
			if x.inner[name] != inner {
				return false
			}
			continue
		}
		if inner == 0 && !k.Const.Equal(c) {
			return false
		}
		for f := range c.Len() {
			if step, of := short.StepAndElementOf(f); !k.Const.IsElementEqualTo(c, long.IndexOfElement(step, of), f) {
				return false
			}
		}
	}
	x.inner[s.Output] = along(s.Shape, r.Gathered, s.Result)
	return true
}

// FindOutputBypassingLoops returns one of the tensors to that depends, in the longer program, on the tensors from
// without passing a loop. The elements of such a tensor behind the last valid step may depend on data. It returns "" if
// there is none.
func (x *SequenceLengthComparison) FindOutputBypassingLoops(from, to []string) string {
	reached := graph.NewNameSet(from)
	for _, s := range x.Long.Steps {
		if s.Recur == nil && slices.ContainsFunc(s.Node.Inputs, func(in string) bool { return reached[in] }) {
			reached[s.Output] = true
		}
	}
	if i := slices.IndexFunc(to, func(name string) bool { return reached[name] }); i >= 0 {
		return to[i]
	}
	return ""
}
