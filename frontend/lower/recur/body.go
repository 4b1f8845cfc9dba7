package recur

import (
	"encoding/binary"
	"math/big"
	"slices"

	"hlsgen/frontend/graph"
	"hlsgen/frontend/lower/integers"
	"hlsgen/frontend/lower/unmapped"
	"hlsgen/frontend/operators"
	"hlsgen/frontend/program"
	"hlsgen/frontend/real"
	"hlsgen/frontend/scaled"
	"hlsgen/internal/num"
)

// A kind says how a value of a cell is computed.
type kind int

const (
	lane  kind = iota // sums of products of the input
	sum               // sums of products of a vector
	state             // a state before the time step
	code              // a function of other values
)

// A value is a vector of integers, one per unit.
type value struct {
	kind   kind
	units  int
	ranges []num.Range // per unit

	rows    [][]int64    // of a lane or a sum: the weights per unit
	product *num.Requant // rounding of each single product
	vector  *vector      // of a sum: the vector that is multiplied
	state   int

	step  *program.Step // step that computes a code; nil for a code that the reader adds
	args  []*value      // arguments of a code
	expr  []*real.Expr  // function of the arguments, per unit
	span  num.Range     // range to which the quantiser limits codes
	exact bool          // no quantiser limits it: expr is a polynomial with integer values
	of    []*real.Expr  // per unit: the expression that the quantiser rounds; nil if not needed

	made *made // set once the integers are known
}

// A vector holds the integers that sums of a cell multiply with weights: those of a state, or of a code of the same
// time step.
type vector struct {
	state int
	of    *value // nil for a state
}

// key returns a map key for a list of elements of a tensor.
func key(tensor string, at []int32) string {
	b := append([]byte(tensor), 0)
	for _, i := range at {
		b = binary.LittleEndian.AppendUint32(b, uint32(i))
	}
	return string(b)
}

// value returns the value whose unit u is element at[u] of an integer tensor. If the value is not known yet, it reads
// the step that computes the tensor.
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

// know appends a new value to the known values.
func (b *reader) know(v *value) {
	if !b.known[v] {
		b.known[v] = true
		b.order = append(b.order, v)
	}
}

func (b *reader) read(tensor string, at []int32) (*value, error) {
	size := graph.ElementCount(b.body.Known[tensor].Shape)
	if k := slices.Index(b.names, tensor); k >= 0 {
		if k >= b.recur.States {
			return &value{kind: lane, units: len(at), rows: picks(at, b.offset[k-b.recur.States], b.width)}, nil
		}
		if scaled.IsCountingList(at, size) {
			return b.states[k].found, nil
		}
		return &value{kind: sum, units: len(at), rows: picks(at, 0, size), vector: b.stateVector(k)}, nil
	}
	return b.code(b.body.ProducerOf(tensor), at)
}

// picks returns rows of weights that copy elements at of a vector: row u has a 1 at element at[u]. A row has the given
// width, and the vector begins at offset.
func picks(at []int32, offset, width int) [][]int64 {
	rows := make([][]int64, len(at))
	for u, i := range at {
		rows[u] = make([]int64, width)
		rows[u][offset+int(i)] = 1
	}
	return rows
}

// code returns the value whose units are elements at of the codes that a quantiser step gives. It returns the value of
// a state if the codes are an unchanged copy of it.
func (b *reader) code(step *program.Step, at []int32) (*value, error) {
	if b.depth++; b.depth > maxDepth {
		return nil, refuse(step, "stands behind more than %d others", maxDepth)
	}
	defer func() { b.depth-- }()
	v := &value{kind: code, units: len(at), step: step}
	v.span, _ = scaled.QuantiserCodeRange(step)
	e := expressions{b: b, step: step, value: v}
	var reject error
	forms, err := b.a.FormsOfStepElements(step, at)
	if v.expr, reject = e.read(forms, err); reject != nil {
		return nil, reject
	}
	if operators.HasTrait(step.Node, operators.TraitUniformCodes) {
		forms, err := b.a.FormsOfElements(step.Node.Inputs[0], at)
		if v.of, reject = e.read(forms, err); reject != nil {
			return nil, reject
		}
	}
	if same := v.unchanged(b); same != nil {
		return same, nil
	}
	return v, nil
}

// maxDepth is the largest number of quantisers that may follow each other in a body.
const maxDepth = 1 << 12

// widestExact is the range allowed for values that no quantiser limits.
var widestExact = num.Range{Lo: -maxSum, Hi: maxSum}

// exact returns a step's output as a value whose units are polynomials with integer values, and the units' real values.
func (b *reader) exact(step *program.Step, forms *scaled.ElementForms, err error, units int) (*value, []real.Affine,
	error) {
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
			f, affine = outer.AsAffine()
		}
		if !affine {
			return nil, nil, refuse(step, "makes no sum or product of integers: quantise it")
		}
		var scales []*big.Rat
		for _, t := range terms {
			scales = append(scales, t.Scale)
		}
		of[u] = real.Affine{Scale: new(big.Rat).Mul(integers.GreatestCommonUnitOf(scales), f.Scale), Bias: f.Bias}
		if len(terms) == 0 || f.Scale.Sign() == 0 {
			of[u].Scale = big.NewRat(1, 1)
			x = real.ConstantExpr(f.Bias)
		}
		v.expr = append(v.expr, real.Div(real.Sub(x, real.ConstantExpr(of[u].Bias)),
			real.ConstantExpr(of[u].Scale)))
	}
	b.know(v)
	return v, of, nil
}

// unchanged returns the state of which the code v is a copy, or nil if it is not one. An example is a quantiser in
// front of products whose input was already quantised in the same way at the end of the time step before.
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
		for _, end := range []int64{span.Lo, span.Hi} { // most candidates fail here
			if at, err := f.StepFunctionOver(num.SingleValueRange(end), 1); err != nil || at.Value[0] != end {
				return nil
			}
		}
		steps, err := f.StepFunctionOver(span, maxCopied)
		if err != nil || int64(len(steps.At)) != span.ValueCount()-1 {
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

// maxCopied is the largest number of codes for which unchanged tests whether a second quantiser changes them.
const maxCopied = 1 << 16

// An expressions reads the computation of a step as expressions whose variables are values.
type expressions struct {
	b     *reader
	step  *program.Step
	value *value // value whose arguments they are
}

// read returns one expression per unit, from the forms of a step. A non-nil err is passed on.
func (e *expressions) read(forms *scaled.ElementForms, err error) ([]*real.Expr, error) {
	if err != nil {
		return nil, refuse(e.step, "is not made of integers: %v", err)
	}
	leaves := make([][]leaf, len(forms.Of))
	for i := range forms.Of {
		for _, v := range forms.Of[i].IntegerVariables() {
			l, reject := e.leaf(v, forms, i)
			if reject != nil {
				return nil, reject
			}
			leaves[i] = append(leaves[i], l)
		}
	}
	out := make([]*real.Expr, e.value.units)
	for u := range out {
		which := forms.FormIndexOf(u)
		form := &forms.Of[which]
		if u > 0 && forms.FormIndexOf(u-1) == which && form.IsSameAtElements(u-1, u) && alike(leaves[which], u) {
			out[u] = out[u-1]
			continue
		}
		expr, _ := form.ExprAtElement(u)
		with := make([]*real.Expr, len(leaves[which]))
		for i, l := range leaves[which] {
			with[i] = l.expr(u)
		}
		out[u] = expr.SubstituteVariables(with)
	}
	return out, nil
}

// A leaf stands for an integer tensor in a form. It is one argument or, for sums of products, a real number computed
// from several arguments.
type leaf struct {
	arg   int
	parts []scaledPart
	bias  []*big.Rat // bias of the parts, per unit
}

// leaf returns the leaf for variable v of form i, and adds its arguments. Units of other forms have no element there
// and get an arbitrary one.
func (e *expressions) leaf(v *scaled.FormVariable, forms *scaled.ElementForms, i int) (leaf, error) {
	at := v.Index
	if len(forms.Of) > 1 {
		at = slices.Clone(at)
		first := 0
		for forms.FormIndexOf(first) != i {
			first++
		}
		for u := range at {
			if forms.FormIndexOf(u) != i {
				at[u] = v.Index[first]
			}
		}
	}
	step := e.b.body.ProducerOf(v.Tensor)
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

// arg returns the index of a value among the arguments. It adds the value if it is new.
func (e *expressions) arg(v *value) int {
	v2 := e.value
	if i := slices.Index(v2.args, v); i >= 0 {
		return i
	}
	v2.args = append(v2.args, v)
	return len(v2.args) - 1
}

// A scaledPart is an argument times a scale per unit. The scale is nil if the unit's weights are all zero.
type scaledPart struct {
	arg   int
	scale []*big.Rat
}

// expr returns the expression for which the leaf stands in unit u.
func (l *leaf) expr(u int) *real.Expr {
	if l.arg >= 0 {
		return real.Var(l.arg)
	}
	out := real.ConstantExpr(l.bias[u])
	for _, p := range l.parts {
		if s := p.scale[u]; s != nil {
			out = real.Add(out, real.Mul(real.Var(p.arg), real.ConstantExpr(s)))
		}
	}
	return out
}

// alike reports whether all leaves are the same expressions for unit u as for unit u-1.
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

// refuse returns the reason for refusing a body with a step that no cell computes.
func refuse(step *program.Step, format string, args ...any) error {
	return newUnsupported(unmapped.DescribeNode(step.Node)+" "+format, args...)
}
