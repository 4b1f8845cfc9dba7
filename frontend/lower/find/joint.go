package find

import (
	"math/big"
	"slices"

	"hlsgen/frontend/graph"
	"hlsgen/frontend/lower/choose"
	"hlsgen/frontend/lower/integers"
	"hlsgen/frontend/lower/place"
	"hlsgen/frontend/lower/unmapped"
	"hlsgen/frontend/program"
	"hlsgen/frontend/real"
	"hlsgen/frontend/scaled"
	"hlsgen/internal/dataflow"
	"hlsgen/internal/diag"
	"hlsgen/internal/num"
)

// A MultiTensorValue is a value that a step computes from several integer tensors, whose elements are in one common
// order.
type MultiTensorValue struct {
	Shape    dataflow.Shape     // shape of a frame in that order
	At       *program.IndexList // position of each element of the value; nil if element i is at position i
	Operands []*LayerOperand    // in that order, one per tensor
	Nodes    []*graph.Node

	form  *scaled.FormExpression
	at    []int32 // At as a list
	first []int   // an element per channel
}

// MultiTensorValueOf returns the value that a step computes from several integer tensors. It uses the order of the
// first tensor of which every element is used, or else an order of pixels. All elements of a channel must be the same
// function. The step's elements must have a single form.
func (p *AnalysedProgram) MultiTensorValueOf(step *program.Step, forms *scaled.ElementForms) (*MultiTensorValue,
	error) {
	form := &forms.Of[0]
	leaves := form.IntegerVariables()
	n := graph.ElementCount(step.Shape)
	j := &MultiTensorValue{form: form, Nodes: form.Nodes}
	for _, leaf := range leaves {
		from, ok := p.PlaceOf(leaf.Tensor)
		if !ok {
			return nil, NewSeveralIntegersReason(form)
		}
		if at, ok := onto(from, leaf, n); ok && len(from.Type.Shape) > len(j.Shape) {
			j.at, j.Shape = at, from.Type.Shape
		}
	}
	varies := -1
	if j.Shape != nil {
		if varies = j.channels(n); varies < 0 {
			if !scaled.IsCountingList(j.at, n) {
				j.At = program.NewIndexList(j.at)
			}
			return j.withOperands(p, leaves, n), nil
		}
	}
	for _, axis := range (&QuantiserCodes{Step: step, Forms: forms, p: p, n: n}).CandidateChannelAxes() {
		j.Shape, j.At = place.ChannelsLastLayoutOf(step.Shape, axis)
		if j.at = j.At.ToSlice(); j.At == nil {
			j.at = scaled.NewCountingList(n)
		}
		at := j.channels(n)
		if at < 0 {
			return j.withOperands(p, leaves, n), nil
		}
		if varies < 0 {
			varies = at
		}
	}
	return nil, varied(varies, perChannel)
}

// channels records, for each of n channels, an element that represents its function. It returns an element whose
// function differs from that of its channel, or -1 if there is none.
func (j *MultiTensorValue) channels(n int) (varies int) {
	j.first = slices.Repeat([]int{-1}, j.Shape.ChannelCount())
	for k, e := range place.ElementIndicesByPosition(program.NewIndexList(j.at), n) {
		c := k % len(j.first)
		if j.first[c] < 0 {
			j.first[c] = int(e)
		} else if !j.form.IsSameAtElements(j.first[c], int(e)) {
			return int(e)
		}
	}
	return -1
}

// withOperands brings the integers of the leaves into the common order of j, and returns the value with them as
// operands.
func (j *MultiTensorValue) withOperands(p *AnalysedProgram, leaves []*scaled.FormVariable, n int) *MultiTensorValue {
	order := place.ElementIndicesByPosition(program.NewIndexList(j.at), n)
	for _, leaf := range leaves {
		from := p.Places[leaf.Tensor]
		o := &LayerOperand{Tensors: []string{leaf.Tensor}, Nodes: j.form.Nodes}
		for _, e := range order {
			o.AppendPosition(0, from.PositionOf(leaf.Index[e]))
		}
		j.Operands = append(j.Operands, o)
	}
	return j
}

// onto returns the positions of a tensor's elements. ok is false unless each element is used exactly once.
func onto(p *place.TensorPlace, leaf *scaled.FormVariable, n int) ([]int32, bool) {
	if p.Type.Shape.ElementCount() != n {
		return nil, false
	}
	at, taken := make([]int32, n), make([]bool, n)
	for k, i := range leaf.Index {
		at[k] = p.PositionOf(i)
		if taken[at[k]] {
			return nil, false
		}
		taken[at[k]] = true
	}
	return at, true
}

// ranges returns the range of channel c on each of several streams.
func ranges(types []dataflow.StreamType, c int) (out []num.Range) {
	for i := range types {
		out = append(out, types[i].ChannelRange(c))
	}
	return out
}

// alive returns an expression in which constants replace the integers that never change, since these have no scale.
func alive(e *real.Expr, in []num.Range) *real.Expr {
	with, spans := make([]*real.Expr, len(in)), make([]real.Interval, len(in))
	for i, r := range in {
		if with[i], spans[i] = real.Var(i), integers.IntervalOfRange(r); r.Lo == r.Hi {
			with[i] = real.ConstantExpr(new(big.Rat).SetInt64(r.Lo))
		}
	}
	return e.SubstituteVariables(with).SimplifyWithin(spans)
}

// repeats reports whether channel c is the same function of the same integers as the channel before.
func (j *MultiTensorValue) repeats(c int, types []dataflow.StreamType) bool {
	if c == 0 || !j.form.IsSameAtElements(j.first[c-1], j.first[c]) {
		return false
	}
	return !slices.ContainsFunc(types,
		func(t dataflow.StreamType) bool { return t.ChannelRange(c) != t.ChannelRange(c-1) })
}

// linear returns each channel's value as a function (outer) of one sum of multiples (inner).
func (j *MultiTensorValue) linear(types []dataflow.StreamType) (inner []real.LinearForm, outer []*real.Expr,
	reject error) {
	for c, k := range j.first {
		if j.repeats(c, types) {
			inner, outer = append(inner, inner[c-1]), append(outer, outer[c-1])
			continue
		}
		e, n := j.form.ExprAtElement(k)
		l, o, ok := alive(e, ranges(types, c)).AsFuncOfLinear(n)
		if !ok {
			return nil, nil, NewSeveralIntegersReason(j.form)
		}
		if l.IsConstant() { // a dead channel: any sum is right
			for i := range l.Scale {
				l.Scale[i] = big.NewRat(1, 1)
			}
		}
		inner, outer = append(inner, l), append(outer, o)
	}
	return inner, outer, nil
}

// AsWeightedSum returns the value as a sum of integer multiples, which are as small as possible. of holds the real
// value of each element for its integer. reject has ErrSeveralIntegers or ErrNotScaledInteger in its chain if the value
// is no such sum.
func (j *MultiTensorValue) AsWeightedSum(types []dataflow.StreamType) (sum choose.WeightedSumWithSteps,
	of scaled.AffinesOfElements, reject error) {
	inner, outer, reject := j.linear(types)
	if reject != nil {
		return sum, of, reject
	}
	sum.Factors = make([][]int64, len(types))
	var affine []real.Affine
	for c, l := range inner {
		a, ok := outer[c].AsAffine()
		if !ok {
			return sum, of, unmapped.NewReasonWithCause(ErrNotScaledInteger, diag.NodeNotMapped,
				"a sum of two tensors is used without being quantised after "+between(j.Nodes), "quantise the sum")
		}
		unit := integers.GreatestCommonUnitOf(l.Scale)
		for i, v := range l.Scale {
			m, reject := integers.CountUnits(v, unit)
			if reject != nil {
				return sum, of, reject
			}
			sum.Factors[i] = append(sum.Factors[i], m)
		}
		affine = append(affine, real.Affine{Scale: new(big.Rat).Mul(a.Scale, unit), Bias: a.Bias})
	}
	channels := int32(len(affine))
	return sum, scaled.AffinesOfElements{Of: affine, Group: func(i int32) int32 { return j.at[i] % channels }}, nil
}

// CodesFunction returns the function that computes the codes of the value, with at most limit steps: a step function of
// a sum or else, for two tensors, of a product. The error is the reason why there is none.
func (j *MultiTensorValue) CodesFunction(types []dataflow.StreamType, limit int) (choose.IntegerFunction, error) {
	inner, outer, reject := j.linear(types)
	if reject != nil {
		if len(types) == 2 {
			return j.product(types, limit, reject)
		}
		return nil, reject
	}
	f := choose.WeightedSumWithSteps{Factors: make([][]int64, len(types)), Steps: make([]num.StepFunction, len(inner))}
	for c, l := range inner {
		in := ranges(types, c)
		if j.repeats(c, types) ||
			c > 0 && alikeChannels(inner[c-1], l, outer[c-1], outer[c]) && slices.Equal(in, ranges(types, c-1)) {
			f.Steps[c] = f.Steps[c-1]
			for i := range f.Factors {
				f.Factors[i] = append(f.Factors[i], f.Factors[i][c-1])
			}
			continue
		}
		m, steps, err := integers.FindRequantisation(l, outer[c], in, limit)
		if err != nil {
			return nil, integers.NoStepFunctionReason(err, limit)
		}
		f.Steps[c] = steps
		for i, v := range m {
			f.Factors[i] = append(f.Factors[i], v)
		}
	}
	num.ShareStepValues(f.Steps)
	return f, nil
}

func alikeChannels(a, b real.LinearForm, f, g *real.Expr) bool {
	for i := range a.Scale {
		if a.Scale[i].Cmp(b.Scale[i]) != 0 {
			return false
		}
	}
	return f.HasSameForm(g)
}

// product returns the codes as a step function of a product of two integers. reject is the reason why they are not one
// of a sum.
func (j *MultiTensorValue) product(types []dataflow.StreamType, limit int, reject error) (choose.IntegerFunction,
	error) {
	out := choose.ElementProductWithSteps{Steps: make([]num.StepFunction, len(j.first))}
	for c, k := range j.first {
		if j.repeats(c, types) {
			out.Steps[c] = out.Steps[c-1]
			continue
		}
		e, _ := j.form.ExprAtElement(k)
		x := ranges(types, c)
		o, outer, ok := e.SimplifyWithin([]real.Interval{integers.IntervalOfRange(x[0]),
			integers.IntervalOfRange(x[1])}).AsFuncOfProduct()
		if !ok || !o[0].IsInt() || !o[1].IsInt() || max(o[0].Num().BitLen(), o[1].Num().BitLen()) > 30 {
			return nil, reject
		}
		for i := range o {
			if v := o[i].Num().Int64(); c > 0 && v != out.Offset[i] {
				return nil, reject
			}
			out.Offset[i] = o[i].Num().Int64()
			x[i] = num.Range{Lo: x[i].Lo + out.Offset[i], Hi: x[i].Hi + out.Offset[i]}
		}
		a, ok := x[1].TimesConstant(x[0].Lo)
		b, ok2 := x[1].TimesConstant(x[0].Hi)
		if !ok || !ok2 {
			return nil, reject
		}
		f, err := real.Compile(outer).StepFunctionOver(a.Union(b), limit)
		if err != nil {
			return nil, integers.NoStepFunctionReason(err, limit)
		}
		out.Steps[c] = f
	}
	num.ShareStepValues(out.Steps)
	return out, nil
}
