package operators

import (
	"slices"
	"strings"

	"hlsgen/frontend/execution"
	"hlsgen/frontend/graph"
	"hlsgen/frontend/program"
	"hlsgen/frontend/real"
)

// A call builds the steps of one node, from what its reading knows.
type call struct {
	*reading
	p     *preparation
	steps []*program.Step
	fixed *graph.ConstantTensor // the value of the only output, if the operator itself determines it (Shape, Constant)

	expanded bool // the node was replaced by internal nodes, which have the steps
}

// add adds an output of the node, which step s computes.
func (c *call) add(s program.Step) { c.steps = append(c.steps, &s) }

// value adds the only output of the node, with a value that the operator itself determines.
func (c *call) value(t *graph.ConstantTensor) {
	c.fixed = t
	c.add(program.Step{Shape: t.Shape, DType: t.DType, Move: &program.Move{}})
}

// build runs an operator's definition and folds constant outputs.
func (c *call) build(def operator) {
	if len(c.in) < def.min || len(c.in) > def.max {
		invalid("%d inputs, the operator has %d to %d", len(c.in), def.min, def.max)
	}
	for i := range def.min {
		if c.Inputs[i] == "" {
			invalid("input %d is missing", i)
		}
	}
	if strings.Join(c.Outputs, "") == "" || c.Outputs[0] == "" && !IsRecurrent(c.reading.Node) {
		invalid("no output")
	}
	c.finite()
	def.build(c)
	for _, s := range c.steps {
		countStep(c.p, s)
	}
	c.finish()
}

// finish names the outputs and folds the constant ones.
func (c *call) finish() {
	for i, name := range c.Outputs {
		if name == "" {
			continue
		}
		if _, written := c.p.Known[name]; c.expanded && written {
			continue
		}
		if i >= len(c.steps) {
			unsupported("only the first output is computed in inference", "output %d is used", i)
		}
		s := c.steps[i]
		s.Node, s.Output = c.Node, name
		s.Softmax, s.Codes = HasTrait(c.Node, TraitSoftmax), HasTrait(c.Node, codes)
		known := program.KnownTensor{Shape: s.Shape, DType: s.DType, Const: c.fixed}
		if known.Const == nil {
			var err error
			if known.Const, err = c.fold(s); err != nil {
				invalid("%v", err)
			}
		}
		c.p.know(name, known)
		if c.endless != 0 && s.DType.IsReal() {
			c.p.SetInfinitySigns(name, c.endless)
		}
		if known.Const == nil {
			c.p.AddStep(s)
		}
	}
}

// fold evaluates a step whose inputs are all constant. It returns a tensor if every element of the result is exactly a
// float64. Otherwise, as for a root or a quotient, the step stays and its value is known as intervals; rounding it may
// give an exact value again.
func (c *call) fold(s *program.Step) (*graph.ConstantTensor, error) {
	if t := c.foldMove(s); t != nil {
		return t, nil
	}
	if t := foldPart(c, s); t != nil {
		return t, nil
	}
	if t := c.foldCodes(s); t != nil {
		return t, nil
	}
	vals := make([]*program.Reals, len(c.in))
	for i, k := range c.in {
		switch known := c.p.InexactConstant(c.Inputs[i]); {
		case c.Inputs[i] == "":
		case k.Const != nil:
			vals[i] = program.RealsOfConstant(k.Const)
		case known != nil:
			vals[i] = known
		default:
			return nil, nil
		}
	}
	switch {
	case s.Recur != nil:
		return nil, nil // a loop over constants stays a loop
	case s.Dot != nil && s.Dot.K*graph.ElementCount(s.Shape) > maxFold:
		return nil, nil
	}
	v, err := execution.RunStep(c.p.Program, s, vals, map[string]*program.Reals{})
	if err != nil {
		return nil, err
	}
	if !v.IsExactInFloat64() {
		c.p.SetInexactConstant(s.Output, v)
		return nil, nil
	}
	t, err := v.ToConstantTensor(s.DType)
	if err != nil {
		return nil, err
	}
	return t.CompressedToCodes(), nil
}

// maxPart is the largest number of Moves behind which foldPart looks for a constant.
const maxPart = 8

// foldPart returns the constant that a step computes by taking only elements of constants out of tensors in which
// constants are joined with data. An example is one direction's initial state from the states of both. It returns nil
// for other steps.
func foldPart(c *call, s *program.Step) *graph.ConstantTensor {
	if s.Move == nil {
		return nil
	}
	var t *graph.ConstantTensor
	for i := range graph.ElementCount(s.Shape) {
		slot, j := s.Move.SourceOf(i)
		from := c.p.Known[c.Inputs[slot]].Const
		for by, n := c.p.ProducerOf(c.Inputs[slot]), 0; from == nil; n++ {
			if by == nil || by.Move == nil || n == maxPart {
				return nil
			}
			slot, j = by.Move.SourceOf(j)
			tensor := by.Node.Inputs[slot]
			from, by = c.p.Known[tensor].Const, c.p.ProducerOf(tensor)
		}
		if from.DType != s.DType {
			return nil
		}
		if t == nil {
			t = &graph.ConstantTensor{DType: s.DType, Shape: s.Shape}
		}
		if s.DType.IsReal() {
			t.F = append(t.F, from.FloatAt(j))
		} else {
			t.I = append(t.I, from.IntAt(j))
		}
	}
	return t
}

// foldMove returns the constant that a step computes by moving elements of constants. It does not convert them, so
// integers beyond 2^53 stay exact. It returns nil for other steps.
func (c *call) foldMove(s *program.Step) *graph.ConstantTensor {
	m := s.Move
	if m == nil {
		return nil
	}
	for i, k := range c.in {
		if k.Const == nil && c.HasInput(i) || k.Const != nil && m.MayReadOtherInputs() && k.DType != s.DType {
			return nil
		}
	}
	switch first := c.in[0].Const; {
	case first == nil || first.DType != s.DType:
		return nil
	case m.IsCertainlyIdentity():
		return first.GatherElements(s.Shape, nil)
	case !m.MayReadOtherInputs():
		return first.GatherElements(s.Shape, func(i int) int {
			_, j := m.SourceOf(i)
			return j
		})
	case s.DType.IsReal():
		return nil
	}
	t := &graph.ConstantTensor{DType: s.DType, Shape: s.Shape, I: make([]int64, graph.ElementCount(s.Shape))}
	for i := range t.I {
		slot, j := m.SourceOf(i)
		t.I[i] = c.in[slot].Const.IntAt(j)
	}
	return t
}

// foldCodes returns the constant that a step computes from one constant stored as codes, and from numbers and vectors
// along an axis. It evaluates the function once per code and channel. It returns nil for other steps, if a result is
// not a float64, or if channels have fewer elements than codes.
func (c *call) foldCodes(s *program.Step) *graph.ConstantTensor {
	of, groups := codedInput(c.reading, s.Elem)
	if of < 0 {
		return nil
	}
	t := c.in[of].Const
	used, n := t.UsedCodes(), max(1, groups.Count)
	if n > 1 && n*len(used) > t.Len() {
		return nil
	}
	values := make([]float64, 0, n*len(used))
	for g := range n {
		if t.CodeGroupCount() == 1 {
			g = 0
		}
		for _, code := range used {
			values = append(values, t.Values[g<<8+int(code)])
		}
	}
	once, elem := *s, *s.Elem
	once.Shape, once.Elem, elem.Index = []int{len(values)}, &elem, slices.Clone(elem.Index)
	for v, p := range elem.Index {
		if p.Count > 0 {
			elem.Index[v] = graph.ElementIndexMap{Run: len(used), Count: n}
		}
	}
	vals := make([]*program.Reals, len(c.in))
	for i, k := range c.in {
		switch {
		case i == of || c.Inputs[i] == c.Inputs[of]:
			vals[i] = program.NewExactReals(once.Shape, values)
		case k.Const != nil:
			vals[i] = program.RealsOfConstant(k.Const)
		}
	}
	known := map[string]*program.Reals{c.Inputs[of]: vals[of]}
	v, err := execution.RunStep(c.p.Program, &once, vals, known)
	if err != nil || !v.IsExactInFloat64() {
		return nil
	}
	y, err := v.ToConstantTensor(s.DType)
	if err != nil {
		return nil
	}
	return t.WithCodeValues(s.DType, groups, used, y.Floats())
}

// codedInput returns the input stored as codes on which e depends, besides numbers and vectors along one axis. groups
// says which channel an element belongs to. of is -1 if there is no such input.
func codedInput(c *reading, e *program.Elem) (of int, groups graph.ElementIndexMap) {
	of = -1
	if e == nil || e.Offset != nil {
		return of, groups
	}
	along := func(run, count int) bool {
		if groups.Count == 0 {
			groups = graph.ElementIndexMap{Run: run, Count: count}
		}
		return groups.Run == run && groups.Count == count
	}
	for v, slot := range e.Args {
		t, p := c.in[slot].Const, &e.Index[v]
		switch {
		case t == nil:
			return -1, groups
		case p.IsIdentity() && t.Codes != nil && (of < 0 || c.Inputs[slot] == c.Inputs[of]):
			if of = slot; t.Groups.Count > 0 && !along(t.Groups.Run, t.Groups.Count) {
				return -1, groups
			}
		case p.ReadsSingleElement() && t.Len() == 1:
		case p.Count > 0 && t.Len() == p.Count && along(p.Run, p.Count):
		default:
			return -1, groups
		}
	}
	return of, groups
}

// move adds an output of the given shape and type whose elements m moves.
func (c *call) move(shape []int, dt graph.DType, m *program.Move) {
	checkSize(shape)
	c.add(program.Step{Shape: shape, DType: dt, Move: m})
}

// pick adds an output of the given shape in the type of the data. Its element i is element index[i] of input 0. A nil
// index means all elements in order.
func (c *call) pick(shape []int, index []int32) {
	c.move(shape, c.dt, &program.Move{Index: index})
}

// elementwise adds an output that applies expr to the inputs in args, broadcast against each other. Variable v of expr
// is input args[v].
func (c *call) elementwise(dt graph.DType, expr *real.Expr, args ...int) {
	var shape []int
	for _, a := range args {
		shape = broadcastShape(shape, c.in[a].Shape)
	}
	checkSize(shape)
	e := &program.Elem{Expr: expr, Args: args}
	for _, a := range args {
		e.Index = append(e.Index, c.p.broadcast(shape, c.in[a].Shape))
	}
	c.add(program.Step{Shape: shape, DType: dt, Elem: e})
}

func broadcastShape(a, b []int) []int {
	out, ok := broadcasts(a, b)
	if !ok {
		invalid("shapes %v and %v do not broadcast", a, b)
	}
	return out
}

// broadcasts returns the common shape of two shapes after broadcasting. ok is false if they do not fit.
func broadcasts(a, b []int) (out []int, ok bool) {
	out = make([]int, max(len(a), len(b)))
	for i := range out {
		x, y := 1, 1
		if j := i - len(out) + len(a); j >= 0 {
			x = a[j]
		}
		if j := i - len(out) + len(b); j >= 0 {
			y = b[j]
		}
		switch {
		case x == y || y == 1:
			out[i] = x
		case x == 1:
			out[i] = y
		default:
			return nil, false
		}
	}
	return out, true
}
