package axes

import (
	"slices"

	"hlsgen/frontend/graph"
	"hlsgen/frontend/program"
)

// A leading axis counts samples if the model treats its n elements alike and separately. Comparing two programs shows
// this: one is prepared for n samples, the other for a single one. Each element of the first must be computed from
// elements of its own sample, in the same way as in the second.

// A contrast compares a program for n samples (many) with a program for a single sample (one).
type contrast struct {
	n         int
	many, one *program.Program
	whole     bool // all nodes of one are supported
	// By tensor of many: the number of adjacent elements of a sample, or 0 if all samples share the tensor.
	inner  map[string]int
	bodies map[*program.Recur]*contrast // nil for loops that differ
}

func newContrast(n int, many, one *program.Program) *contrast {
	c := &contrast{n: n, many: many, one: one, inner: map[string]int{}, bodies: map[*program.Recur]*contrast{}}
	for _, v := range many.Graph.Inputs {
		if inner, ok := sides(many.Known[v.Name].Shape, one.Known[v.Name].Shape, n); ok {
			c.inner[v.Name] = inner[0]
		}
	}
	return c
}

// sides returns the possible numbers of adjacent elements of a tensor that belong to one sample, given its shapes for n
// samples and for one. For equal shapes it returns 0 alone. ok is false if no axis of samples relates the shapes.
func sides(many, one []int, n int) (inner []int, ok bool) {
	if slices.Equal(many, one) {
		return []int{0}, true
	}
	at := 0
	for at < min(len(many), len(one)) && many[at] == one[at] {
		at++
	}
	switch {
	case len(many) == len(one)+1 && many[at] == n && slices.Equal(many[at+1:], one[at:]): // such as after a Squeeze
		return []int{graph.ElementCount(one[at:])}, true
	case len(many) != len(one) || many[at] != n*one[at] || !slices.Equal(many[at+1:], one[at+1:]):
		return nil, false
	case one[at] == 1:
		return []int{graph.ElementCount(one[at:])}, true
	}
	return []int{graph.ElementCount(one[at:]), graph.ElementCount(one[at+1:])}, true
}

// place returns the sample to which element e belongs, and the element's index within it. Runs of inner adjacent
// elements belong to one sample. With inner 0, all samples share the tensor, and the sample is -1.
func (c *contrast) place(inner, e int) (sample, element int) {
	if inner == 0 {
		return -1, e
	}
	return e / inner % c.n, e/(inner*c.n)*inner + e%inner
}

// An operand is an input of a step of many, with its counterpart in one.
type operand struct {
	inner     int
	size      int                   // the number of elements in many
	many, one *graph.ConstantTensor // the values, if both are constant
}

// operands returns the inputs of step s of many, each with its counterpart among the inputs of t, a step of one. ok is
// false if t reads other tensors.
func (c *contrast) operands(s, t *program.Step) (list []operand, ok bool) {
	if len(s.Node.Inputs) != len(t.Node.Inputs) {
		return nil, false
	}
	for i, name := range s.Node.Inputs {
		many, one := c.many.Known[name], c.one.Known[t.Node.Inputs[i]]
		if (many.Const == nil) != (one.Const == nil) || many.Const == nil && name != t.Node.Inputs[i] {
			return nil, false
		}
		o := operand{c.inner[name], graph.ElementCount(many.Shape), many.Const, one.Const}
		if o.many != nil && o.many.Equal(o.one) {
			o.one = o.many // each program computes its own copy of a constant
		}
		list = append(list, o)
	}
	return list, true
}

// same reports whether element e of an operand in many corresponds, for the given sample, to element f of the operand
// in one.
func (c *contrast) same(o operand, sample, e, f int) bool {
	switch {
	case o.many != nil:
		return o.many == o.one && e == f || o.many.IsElementEqualTo(o.one, e, f)
	case o.inner == 0:
		return e == f
	case o.inner*c.n == o.size: // the same as below without a division
		return sample >= 0 && e == sample*o.inner+f
	}
	of, element := c.place(o.inner, e)
	return of == sample && element == f
}

// difference returns the first step of many that does not treat each sample as its counterpart in one treats the single
// sample. It returns nil if there is none.
func (c *contrast) difference() *program.Step {
	for _, s := range c.many.Steps {
		t := c.one.ProducerOf(s.Output)
		if t == nil || !c.alike(s, t) {
			return s
		}
	}
	return nil
}

// alike reports whether step s of many treats each sample as its counterpart t in one treats the single sample. If so,
// it records how many adjacent elements of s's output belong to a sample.
func (c *contrast) alike(s, t *program.Step) bool {
	inner, ok := sides(s.Shape, t.Shape, c.n)
	if !ok || s.DType != t.DType || !resembles(s, t) {
		return false
	}
	operands, ok := c.operands(s, t)
	if !ok {
		return false
	}
	for _, of := range inner {
		if s.Recur != nil && c.loop(s, t, operands, of) || s.Recur == nil && c.elements(s, t, operands, of) {
			c.inner[s.Output] = of
			return true
		}
	}
	return false
}

// resembles reports whether two steps compute the same functions of the elements that they read, whichever elements
// these are. It does not compare the bodies of loops.
func resembles(s *program.Step, t *program.Step) bool {
	elem := func(a, b *program.Elem) bool {
		return (a == nil) == (b == nil) && (a == nil || len(a.Args) == len(b.Args) && a.Expr.HasSameForm(b.Expr))
	}
	switch {
	case s.Move != nil:
		return t.Move != nil
	case s.Elem != nil:
		return elem(s.Elem, t.Elem)
	case s.Dot != nil:
		return t.Dot != nil && s.Dot.K == t.Dot.K && elem(s.Dot.Then, t.Dot.Then)
	case s.Order != nil:
		a, b := s.Order, t.Order
		return b != nil && a.N == b.N && a.Largest == b.Largest && a.LastFirst == b.LastFirst && a.Index == b.Index
	}
	return t.Recur != nil && s.Result == t.Result
}

// elements reports whether s and t read corresponding elements for each element of the output. Runs of inner adjacent
// elements of s's output belong to one sample.
func (c *contrast) elements(s, t *program.Step, operands []operand, inner int) bool {
	first := func(int, int, int) int { return 0 }
	if s.Dot != nil {
		first = c.sums(s.Dot, t.Dot, operands)
	}
	n, i := readCount(s), 0
	run, runs := inner, c.n // the same as place without a division per element
	if inner == 0 {
		run, runs = graph.ElementCount(s.Shape), 1
	}
	for i < graph.ElementCount(s.Shape) {
		start := i / runs
		for sample := range runs {
			of := sample
			if inner == 0 {
				of = -1
			}
			for j := start; j < start+run; j++ {
				if s.Order != nil && s.Order.Rank[i] != t.Order.Rank[j] {
					return false
				}
				for k := first(of, i, j); k < n; k++ {
					slot, e := readOf(s, i, k)
					other, f := readOf(t, j, k)
					if slot != other || !c.same(operands[slot], of, e, f) {
						return false
					}
				}
				i++
			}
		}
	}
	return true
}

// sums returns a function of a sample and two output elements i and j. It returns the number of the first read element
// from which on elements must be compared singly. That is 0, or the number of all if the whole sums of products
// certainly correspond.
func (c *contrast) sums(d, e *program.Dot, operands []operand) func(sample, i, j int) int {
	along := func(o operand, of, to []int32) func(sample, e, f int) bool {
		switch equal := slices.Equal(of, to); {
		case !equal:
		case o.many != nil && o.many == o.one, o.many == nil && o.inner == 0:
			return func(_, e, f int) bool { return e == f }
		case o.many == nil && o.inner*c.n == o.size: // the elements of a sample are adjacent
			return func(sample, e, f int) bool { return e == sample*o.inner+f }
		}
		return func(int, int, int) bool { return false }
	}
	if d.A != e.A || d.B != e.B {
		return func(int, int, int) int { return 0 }
	}
	a, b := along(operands[d.A], d.AOffset, e.AOffset), along(operands[d.B], d.BOffset, e.BOffset)
	return func(sample, i, j int) int {
		if sample >= 0 && a(sample, int(d.ABase.At(i)), int(e.ABase.At(j))) &&
			b(sample, int(d.BBase.At(i)), int(e.BBase.At(j))) {
			return 2 * d.K
		}
		return 0
	}
}

// readCount returns how many elements each element of a step's output reads. It returns 0 for a Recur, which is
// compared in another way.
func readCount(s *program.Step) int {
	switch {
	case s.Move != nil:
		return 1
	case s.Elem != nil:
		return len(s.Elem.Args)
	case s.Order != nil:
		return s.Order.N
	case s.Dot != nil && s.Dot.Then != nil:
		return 2*s.Dot.K + len(s.Dot.Then.Args) - 1
	case s.Dot != nil:
		return 2 * s.Dot.K
	}
	return 0
}

// readOf returns the k-th element that output element i of a step reads, and the input slot that holds it. k is below
// readCount.
func readOf(s *program.Step, i, k int) (slot, element int) {
	switch d := s.Dot; {
	case s.Move != nil:
		return s.Move.SourceOf(i)
	case s.Elem != nil:
		return s.Elem.Args[k], s.Elem.ArgumentIndex(k, i)
	case s.Order != nil:
		return 0, int(s.Order.Base[i]) + k*s.Order.Stride
	case k < d.K:
		return d.A, int(d.ABase.At(i)) + int(d.AOffset[k])
	case k < 2*d.K:
		return d.B, int(d.BBase.At(i)) + int(d.BOffset[k-d.K])
	default:
		v := k - 2*d.K + 1
		return d.Then.Args[v], d.Then.ArgumentIndex(v, i)
	}
}

// mixes reports whether a step of many computes some element from several samples.
func (c *contrast) mixes(s *program.Step) bool {
	for i := range graph.ElementCount(s.Shape) {
		seen := -1
		for k := range readCount(s) {
			slot, e := readOf(s, i, k)
			sample, _ := c.place(c.inner[s.Node.Inputs[slot]], e)
			if sample >= 0 && seen >= 0 && sample != seen {
				return true
			}
			seen = max(seen, sample)
		}
	}
	return false
}
