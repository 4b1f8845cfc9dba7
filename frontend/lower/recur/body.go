package recur

import (
	"encoding/binary"
	"math/big"
	"slices"

	"hlsgen/frontend/graph"
	"hlsgen/frontend/lower/unmapped"
	"hlsgen/frontend/lower/whole"
	"hlsgen/frontend/real"
	"hlsgen/frontend/scaled"
	"hlsgen/internal/num"
)

// A kind says what a value is.
type kind int

const (
	lane  kind = iota // sums of products of the input
	sum               // sums of products of a vector
	state             // a state, as the step finds it
	code              // a function of other values
)

// A value is an integer per unit.
type value struct {
	kind   kind
	units  int
	ranges []num.Range // per unit

	rows    [][]int64    // of a lane or a sum, per unit: the weights
	product *num.Requant // of every product
	vector  *vector      // of a sum
	state   int

	step  *graph.Step  // that makes a code; nil for one that is made up
	args  []*value     // of a code
	expr  []*real.Expr // per unit, of the arguments
	span  num.Range    // that the quantiser limits codes to
	exact bool         // no quantiser limits it: expr is a polynomial with whole values
	of    []*real.Expr // what the quantiser rounds, likewise; nil where nobody asks

	made *made // once the numbers are known
}

// A vector is what sums multiply: a state, or a code of the same step.
type vector struct {
	state int
	of    *value // nil for a state
}

// key tells lists of elements of tensors apart.
func key(tensor string, at []int32) string {
	b := append([]byte(tensor), 0)
	for _, i := range at {
		b = binary.LittleEndian.AppendUint32(b, uint32(i))
	}
	return string(b)
}

// value is the elements of an integer tensor, unit by unit.
func (b *reader) value(tensor string, at []int32) (*value, error) {
	id := key(tensor, at)
	if v := b.values[id]; v != nil {
		return v, nil
	}
	v, reject := b.read(tensor, at)
	if reject == nil {
		b.values[id] = v
		b.know(v)
	}
	return v, reject
}

// know puts a value behind those that are known, if it is a new one.
func (b *reader) know(v *value) {
	if !b.known[v] {
		b.known[v] = true
		b.order = append(b.order, v)
	}
}

func (b *reader) read(tensor string, at []int32) (*value, error) {
	size := graph.Size(b.body.Known[tensor].Shape)
	if k := slices.Index(b.names, tensor); k >= 0 {
		if k >= b.recur.States {
			return &value{kind: lane, units: len(at), rows: picks(at, b.offset[k-b.recur.States], b.width)}, nil
		}
		if scaled.InOrder(at, size) {
			return b.states[k].found, nil
		}
		return &value{kind: sum, units: len(at), rows: picks(at, 0, size), vector: b.stateVector(k)}, nil
	}
	return b.code(b.body.Producer(tensor), at)
}

// picks is the weights that take elements of a vector as they are.
func picks(at []int32, offset, width int) [][]int64 {
	rows := make([][]int64, len(at))
	for u, i := range at {
		rows[u] = make([]int64, width)
		rows[u][offset+int(i)] = 1
	}
	return rows
}

// code reads elements of a quantiser.
func (b *reader) code(step *graph.Step, at []int32) (*value, error) {
	if b.depth++; b.depth > maxDepth {
		return nil, refuse(step, "stands behind more than %d others", maxDepth)
	}
	defer func() { b.depth-- }()
	v := &value{kind: code, units: len(at), step: step}
	v.span, _ = scaled.Codes(step)
	e := expressions{b: b, step: step, value: v}
	var reject error
	forms, err := b.a.FormsOf(step, at)
	if v.expr, reject = e.read(forms, err); reject != nil {
		return nil, reject
	}
	if step.Node.Is(graph.Uniform) {
		forms, err := b.a.Forms(step.Node.Inputs[0], at)
		if v.of, reject = e.read(forms, err); reject != nil {
			return nil, reject
		}
	}
	if same := v.unchanged(b); same != nil {
		return same, nil
	}
	return v, nil
}

// maxDepth bounds the quantisers behind each other in a body.
const maxDepth = 1 << 12

// widestExact bounds values that no quantiser limits.
var widestExact = num.Range{Lo: -maxSum, Hi: maxSum}

// exact reads what a step computes as polynomials with whole values, and what their real values are.
func (b *reader) exact(step *graph.Step, forms *scaled.Forms, err error, units int) (*value, []real.Affine, error) {
	v := &value{kind: code, units: units, exact: true, span: widestExact}
	e := expressions{b: b, step: step, value: v}
	list, reject := e.read(forms, err)
	if reject != nil {
		return nil, nil, reject
	}
	of := make([]real.Affine, units)
	for u, x := range list {
		terms, outer, ok := inner(x, len(v.args))
		f, affine := real.Affine{}, false
		if ok {
			f, affine = outer.Affine()
		}
		if !affine {
			return nil, nil, refuse(step, "makes no sum or product of integers: quantise it")
		}
		var scales []*big.Rat
		for _, t := range terms {
			scales = append(scales, t.Scale)
		}
		of[u] = real.Affine{Scale: new(big.Rat).Mul(whole.Unit(scales), f.Scale), Bias: f.Bias}
		if len(terms) == 0 || f.Scale.Sign() == 0 {
			of[u].Scale = big.NewRat(1, 1)
			x = real.Rat(f.Bias)
		}
		v.expr = append(v.expr, real.Div(real.Sub(x, real.Rat(of[u].Bias)), real.Rat(of[u].Scale)))
	}
	b.know(v)
	return v, of, nil
}

// unchanged is the state that a code is a copy of: a quantiser in front of products, for example, of what was quantised
// alike at the end of the step before.
func (v *value) unchanged(b *reader) *value {
	if len(v.args) != 1 || v.args[0].kind != state || v.args[0].units != v.units {
		return nil
	}
	span := b.states[v.args[0].state].span
	for u, e := range v.expr {
		if u > 0 && e == v.expr[u-1] {
			continue
		}
		f := real.Compile(e)
		for _, end := range []int64{span.Lo, span.Hi} { // most show at once that they are none
			if at, err := f.StepOver(num.Point(end), 1); err != nil || at.Value[0] != end {
				return nil
			}
		}
		steps, err := f.StepOver(span, maxCopied)
		if err != nil || int64(len(steps.At)) != span.Count()-1 {
			return nil
		}
		for i, at := range steps.At {
			if steps.Value[i+1] != at {
				return nil
			}
		}
	}
	return v.args[0]
}

// maxCopied bounds the codes of which it is found out that another quantiser leaves them as they are.
const maxCopied = 1 << 16

// Expressions read what a step computes in terms of values.
type expressions struct {
	b     *reader
	step  *graph.Step
	value *value // whose arguments they are
}

// read makes an expression per unit.
func (e *expressions) read(forms *scaled.Forms, err error) ([]*real.Expr, error) {
	if err != nil {
		return nil, refuse(e.step, "is not made of integers: %v", err)
	}
	leaves := make([][]leaf, len(forms.Of))
	for i := range forms.Of {
		for _, v := range forms.Of[i].Leaves() {
			l, reject := e.leaf(v, forms, i)
			if reject != nil {
				return nil, reject
			}
			leaves[i] = append(leaves[i], l)
		}
	}
	out := make([]*real.Expr, e.value.units)
	for u := range out {
		which := forms.Which(u)
		form := &forms.Of[which]
		if u > 0 && forms.Which(u-1) == which && form.SameNumbers(u-1, u) && alike(leaves[which], u) {
			out[u] = out[u-1]
			continue
		}
		expr, _ := form.Numbers(u)
		with := make([]*real.Expr, len(leaves[which]))
		for i, l := range leaves[which] {
			with[i] = l.expr(u)
		}
		out[u] = expr.Substitute(with)
	}
	return out, nil
}

// A leaf is what stands for an integer tensor of a form: one argument, or, for sums of products, a real number made of
// several.
type leaf struct {
	arg   int
	parts []scaledPart
	bias  []*big.Rat // of the parts, per unit
}

// leaf makes arguments of a leaf of form i of several. Units of other forms have no element there: they get any.
func (e *expressions) leaf(v *scaled.Var, forms *scaled.Forms, i int) (leaf, error) {
	at := v.Index
	if len(forms.Of) > 1 {
		at = slices.Clone(at)
		first := 0
		for forms.Which(first) != i {
			first++
		}
		for u := range at {
			if forms.Which(u) != i {
				at[u] = v.Index[first]
			}
		}
	}
	step := e.b.body.Producer(v.Tensor)
	if step == nil || step.Dot == nil {
		arg, reject := e.b.value(v.Tensor, at)
		if reject != nil {
			return leaf{}, reject
		}
		return leaf{arg: e.arg(arg)}, nil
	}
	d, reject := e.b.dot(step)
	if reject != nil {
		return leaf{}, reject
	}
	l := leaf{arg: -1}
	for _, u := range at {
		l.bias = append(l.bias, d.bias[u])
	}
	for k := range d.parts {
		p := e.b.part(step, d, k, at)
		if p == nil {
			continue
		}
		part := scaledPart{arg: e.arg(p)}
		for _, u := range at {
			part.scale = append(part.scale, d.parts[k].scale[u])
		}
		l.parts = append(l.parts, part)
	}
	return l, nil
}

// arg is the number of a value among the arguments.
func (e *expressions) arg(v *value) int {
	v2 := e.value
	if i := slices.Index(v2.args, v); i >= 0 {
		return i
	}
	v2.args = append(v2.args, v)
	return len(v2.args) - 1
}

// A scaledPart is an argument times a scale per unit; nil where the unit's weights are all zero.
type scaledPart struct {
	arg   int
	scale []*big.Rat
}

// expr is the leaf of unit u.
func (l *leaf) expr(u int) *real.Expr {
	if l.arg >= 0 {
		return real.Var(l.arg)
	}
	out := real.Rat(l.bias[u])
	for _, p := range l.parts {
		if s := p.scale[u]; s != nil {
			out = real.Add(out, real.Mul(real.Var(p.arg), real.Rat(s)))
		}
	}
	return out
}

// alike reports whether the leaves of units u-1 and u are written alike.
func alike(leaves []leaf, u int) bool {
	same := func(list []*big.Rat) bool {
		a, b := list[u-1], list[u]
		return a == b || a != nil && b != nil && a.Cmp(b) == 0
	}
	for _, l := range leaves {
		if l.arg < 0 && !same(l.bias) {
			return false
		}
		for _, p := range l.parts {
			if !same(p.scale) {
				return false
			}
		}
	}
	return true
}

// refuse is the reason of a body with a step that no cell computes.
func refuse(step *graph.Step, format string, args ...any) error {
	return NoCell(unmapped.Describe(step.Node)+" "+format, args...)
}
