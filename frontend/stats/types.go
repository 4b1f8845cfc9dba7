package stats

import (
	"fmt"
	"math"
	"slices"

	"hlsgen/frontend/graph"
	"hlsgen/frontend/operators"
	"hlsgen/frontend/program"
	"hlsgen/frontend/real"
	"hlsgen/internal/num"
)

// A DeclaredElementType is the type of a tensor's elements as the model declares it: codes of a quantiser, integers,
// minifloats or reals.
type DeclaredElementType struct {
	Name string // as num.Type and QONNX spell it: INT4, BIPOLAR, FLOAT32; E4M3 for a minifloat
	Bits int

	codes *num.Range // range of codes; nil for reals and minifloats
}

// integers returns the narrowest type of integers that holds a range.
func integers(r num.Range) DeclaredElementType {
	t := num.NarrowestIntTypeFor(r)
	return DeclaredElementType{t.String(), t.Width, &r}
}

// bipolar returns the type of codes that are -1 or +1.
func bipolar() DeclaredElementType {
	return DeclaredElementType{"BIPOLAR", 1, &num.Range{Lo: -1, Hi: 1}}
}

// stored returns the type for elements of which nothing is known but the ONNX type in which they are stored.
func stored(dt graph.DType) DeclaredElementType {
	switch bits := dt.BitsPerElement(); {
	case dt == graph.DTypeBool:
		return integers(num.Range{Lo: 0, Hi: 1})
	case dt.IsReal() || bits == 0:
		return DeclaredElementType{Name: "FLOAT" + fmt.Sprint(max(bits, 1)), Bits: max(bits, 1)}
	case bits > 16:
		t := num.Type{Kind: num.KindInt, Width: bits}
		if dt == graph.DTypeUInt32 || dt == graph.DTypeUInt64 {
			t.Kind = num.KindUInt
		}
		return DeclaredElementType{Name: t.String(), Bits: bits}
	}
	return declaredAs(dt.StreamIntegerType())
}

// known reports whether the type tells more than how elements are stored: that they are integers in a known range, or
// minifloats.
func (t DeclaredElementType) known() bool { return t.codes != nil || t.Name != "" && t.Name[0] == 'E' }

// wider returns the narrowest type of integers that holds the codes of both types. If one of the types holds no codes,
// it returns that one.
func wider(a, b DeclaredElementType) DeclaredElementType {
	switch {
	case a.Name == b.Name || a.codes == nil:
		return a
	case b.codes == nil:
		return b
	}
	return integers(num.Range{Lo: min(a.codes.Lo, b.codes.Lo), Hi: max(a.codes.Hi, b.codes.Hi)})
}

// A scope is a program in which types of tensors are looked up: the model, or the body of a loop in it.
type scope struct {
	*program.Program
	around *scope                 // for a body: the scope that contains its loop
	loop   *program.Step          // for a body: its loop
	makers map[string]*graph.Node // node by output
	types  map[string]DeclaredElementType
	// types of tensors that streams of the hardware carry, used where the model declares nothing
	carried map[string]num.Type
}

func scopeOf(p *program.Program, around *scope, loop *program.Step) *scope {
	s := &scope{p, around, loop, map[string]*graph.Node{}, map[string]DeclaredElementType{}, nil}
	for _, n := range p.Graph.Nodes {
		for _, o := range n.Outputs {
			s.makers[o] = n
		}
	}
	return s
}

// declared returns the declared type of a tensor's elements. A constant that is moved, scaled or shifted keeps the type
// of its codes. So does a piecewise linear function of data that are codes.
func (s *scope) declared(name string) DeclaredElementType {
	if t, ok := s.types[name]; ok {
		return t
	}
	as := stored(s.Known[name].DType)
	s.types[name] = as // in the meantime, since a state leads back to itself
	t, ok := s.find(name)
	if c, carried := s.carried[name]; !ok && carried {
		t, ok = declaredAs(c), true
	}
	if !ok {
		t = as
	}
	s.types[name] = t
	return t
}

// declaredAs returns an integer type of package num as a DeclaredElementType.
func declaredAs(t num.Type) DeclaredElementType {
	r := t.Range()
	return DeclaredElementType{t.String(), t.Width, &r}
}

// whole returns the smallest integer type for weights that the file stores as reals. ok is false unless all are
// integers of at most 16 bits.
func whole(c *graph.ConstantTensor) (DeclaredElementType, bool) {
	var values []int64
	for v := range c.PossibleValues() {
		if v != math.Trunc(v) || math.Abs(v) > math.MaxInt16 {
			return DeclaredElementType{}, false
		}
		values = append(values, int64(v))
	}
	if len(values) == 0 {
		return DeclaredElementType{}, false
	}
	return declaredAs(num.NarrowestTypeOfValues(values)), true
}

// find returns the declared type of a tensor. ok is false if only the type in which it is stored is known.
func (s *scope) find(name string) (DeclaredElementType, bool) {
	if t, err := num.ParseType(s.Graph.Annotations[name]); err == nil {
		return declaredAs(t), true
	}
	if t, ok := s.arrives(name); ok {
		return t, true
	}
	if t, ok := s.cellWeights(name); ok {
		return t, true
	}
	step, node := s.ProducerOf(name), s.makers[name]
	if step != nil {
		node = step.Node
	}
	switch {
	case node == nil:
		return DeclaredElementType{}, false
	case operators.HasTrait(node, operators.TraitMinifloatQuantiser):
		e, m := operators.MinifloatFieldBits(s.Program, node)
		return DeclaredElementType{Name: fmt.Sprintf("E%dM%d", e, m), Bits: 1 + e + m}, true
	}
	if t, ok := s.quantised(node); ok {
		return t, true
	}
	if step == nil {
		return s.constant(node)
	}
	return s.computed(step)
}

// quantised returns the type of the codes that a node gives. ok is false if the node is not a quantiser with bounded
// integers.
func (s *scope) quantised(node *graph.Node) (DeclaredElementType, bool) {
	lo, hi, ok := operators.CodeLimitsOfQuantiser(node)
	sign := ok && operators.IsBipolarQuantiser(node)
	if c := operators.SplitQuantiser(s.Program, node); c != nil {
		ok, lo, hi = true, c.Attrs["lo"].F, c.Attrs["hi"].F
		sign = operators.IsBipolarQuantiser((&graph.Node{Domain: operators.InternalDomain, Op: c.Op, Attrs: c.Attrs}))
	}
	switch {
	case !ok || math.IsInf(lo, 0) || math.IsInf(hi, 0):
		return DeclaredElementType{}, false
	case sign:
		return bipolar(), true
	}
	return integers(num.Range{Lo: int64(lo), Hi: int64(hi)}), true
}

// arrives returns the type of an input of a loop's body: that of the tensor outside the loop and, for a state, also
// that of the body's output. ok is false for other tensors and outside of loops.
func (s *scope) arrives(name string) (DeclaredElementType, bool) {
	if s.around == nil {
		return DeclaredElementType{}, false
	}
	i := slices.Index(graph.ValueNames(s.Graph.Inputs), name)
	if i < 0 {
		return DeclaredElementType{}, false
	}
	outside := s.loop.Node.Inputs[i]
	if i >= s.loop.Recur.States {
		return s.around.declared(outside), true
	}
	t := s.declared(s.Graph.Outputs[i].Name)
	if c := s.around.Known[outside].Const; c != nil && allAre(c, 0) {
		return t, true
	}
	return wider(t, s.around.declared(outside)), true
}

// cellWeights returns the type of weights in a body that stands for a recurrent operator, which is the type of the
// operator's input. ok is false for other tensors.
func (s *scope) cellWeights(name string) (DeclaredElementType, bool) {
	if s.around == nil || s.Graph.Init[name] == nil {
		return DeclaredElementType{}, false
	}
	cell := s.around.OriginOf(s.loop.Node)
	slot, ok := operators.InputSlotOfWeight(cell, name)
	if !ok {
		return DeclaredElementType{}, false
	}
	return s.around.declared(cell.InputName(slot)), true
}

// constant returns the type of the constant that a node makes from other constants. ok is false if the type is not
// known.
func (s *scope) constant(node *graph.Node) (t DeclaredElementType, ok bool) {
	for _, name := range s.moved(node) {
		of := s.declared(name)
		if ok {
			of = wider(t, of)
		}
		t, ok = of, true
	}
	if !ok || !t.known() {
		return t, false
	}
	return s.clipped(node, t), true
}

// moved returns the names of the constants whose elements a node moves or scales. These are all inputs of a Concat, and
// otherwise the largest input among those that are codes.
func (s *scope) moved(node *graph.Node) (names []string) {
	size := 0
	for _, name := range node.Inputs {
		c := s.Known[name].Const
		if name == "" || c == nil || !s.declared(name).known() && node.Op != operators.OpConcat {
			continue
		}
		switch n := c.Len(); {
		case node.Op == operators.OpConcat:
			names = append(names, name)
		case n > size:
			names, size = []string{name}, n
		}
	}
	return names
}

// clipped returns t, the type of a node's input, narrowed to the constant bounds of the node if that clips integers.
func (s *scope) clipped(node *graph.Node, t DeclaredElementType) DeclaredElementType {
	if !operators.HasTrait(node, operators.TraitClip) || t.codes == nil || s.Known[node.InputName(0)].DType.IsReal() {
		return t
	}
	r := *t.codes
	for slot, bound := range map[int]*int64{1: &r.Lo, 2: &r.Hi} {
		if c := s.Known[node.InputName(slot)].Const; node.InputName(slot) != "" && c != nil && c.Len() == 1 {
			*bound = max(t.codes.Lo, min(t.codes.Hi, int64(c.FloatAt(0))))
		}
	}
	if r.Lo > r.Hi {
		return t
	}
	return integers(r)
}

// computed returns the type of a step's output from those of its inputs. ok is false if the step does not determine it.
func (s *scope) computed(step *program.Step) (t DeclaredElementType, ok bool) {
	in := step.Node.Inputs
	switch {
	case step.Move != nil:
		for _, slot := range step.Move.SourceInputs() {
			if c := s.Known[in[slot]].Const; c != nil && c.Len() == 1 {
				continue // padding
			}
			of := s.declared(in[slot])
			if ok {
				of = wider(t, of)
			}
			t, ok = of, true
		}
		return t, ok && t.known()
	case step.Elem != nil:
		data := s.data(step)
		if len(data) != 1 {
			return t, false
		}
		if !real.IsPiecewiseLinear(step.Elem.Expr, func(v int) bool { return in[step.Elem.Args[v]] == data[0] }) {
			return t, false
		}
		t = s.declared(data[0])
		return s.clipped(step.Node, t), t.known()
	case step.Dot != nil && s.sums(step):
		t = s.declared(in[step.Dot.A])
		if t.codes == nil {
			return t, false
		}
		k := int64(step.Dot.K)
		return integers(num.Range{Lo: min(t.codes.Lo, t.codes.Lo*k), Hi: max(t.codes.Hi, t.codes.Hi*k)}), true
	case step.Recur != nil:
		body := scopeOf(step.Recur.Body, s, step)
		t = body.declared(body.Graph.Outputs[step.Result].Name)
		return t, t.known()
	}
	return t, false
}

// data returns the inputs of a step with Elem set that depend on the model's inputs, each once.
func (s *scope) data(step *program.Step) (names []string) {
	for _, slot := range step.Elem.Args {
		if name := step.Node.Inputs[slot]; s.Known[name].Const == nil && !s.IsInexactConstant(name) &&
			!slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	return names
}

// allAre reports whether all elements of a constant equal x.
func allAre(t *graph.ConstantTensor, x float64) bool {
	for v := range t.PossibleValues() {
		if v != x {
			return false
		}
	}
	return true
}
