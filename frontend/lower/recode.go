package lower

import (
	"cmp"
	"errors"
	"math/big"

	"hlsgen/frontend/graph"
	"hlsgen/frontend/lower/find"
	"hlsgen/frontend/lower/integers"
	"hlsgen/frontend/program"
	"hlsgen/frontend/real"
	"hlsgen/internal/num"
)

// A recoder makes integer tensors of functions of integers that no quantiser follows. fill, if not nil, is the value of
// padding around these tensors, for which there must be a code.
type recoder struct {
	*circuit
	fill *big.Rat
}

// A wideCodes names a node whose recoded values have more bits than quantisers usually give, to tell the user.
type wideCodes struct {
	node *graph.Node
	bits int
}

// usualBits is the largest number of bits of recoded values that are not mentioned to the user.
const usualBits = 16

// recode makes an integer tensor of a function of integers other than scale*q + bias: a tensor, or one in front of it.
// It returns false if there is none, or if reject says why it cannot.
func (c recoder) recode(tensor string) (recoded bool, reject error) {
	step := c.ProducerOf(tensor)
	_, integer := c.Integers.AffineOfElement(tensor, 0)
	if integer && c.fill == nil || step == nil || !c.Integers.IsFromIntegers(tensor) {
		return false, nil
	}
	data := c.IntegerInputsOf(step)
	if !integer && step.Move == nil && (step.Elem == nil || step.Window != nil) {
		return false, nil
	}
	if !integer && (step.Move != nil || c.fill == nil && len(data) == 1 && c.straight(step, data[0])) {
		if recoded, reject = c.recodeAll(data); recoded || step.Move != nil {
			return recoded, reject
		}
	}
	codes, of, reject := c.RecodeStep(step, c.fill)
	if errors.Is(reject, find.ErrSeveralIntegers) && c.addUp(tensor) == nil {
		codes, of, reject = c.RecodeStep(step, c.fill)
	}
	if errors.Is(reject, find.ErrSeveralIntegers) {
		return c.recodeAll(data)
	}
	if reject != nil {
		return false, reject
	}
	if over, ok := codes.HostCodeRange(); ok {
		c.host.send(tensor, num.NarrowestIntTypeFor(over), over, of)
		return true, nil
	}
	q := &quantising{circuit: c.circuit, step: step, limit: integers.MaxActivationSteps}
	composed, ok := codes.ComposeWithPrecedingQuantisers(of)
	if ok = ok && q.composed(composed) == nil; !ok {
		q = &quantising{circuit: c.circuit, step: step, limit: integers.MaxActivationSteps}
		if reject = q.lower(codes); reject != nil {
			return false, reject
		}
	}
	if bits := c.Places[tensor].Type.Elem.Width; bits > usualBits {
		c.circuit.wide = append(c.circuit.wide, wideCodes{step.Node, bits})
	}
	if q.of == nil {
		c.Integers.DeclareGroupedIntegers(tensor, of)
		return true, nil
	}
	values := make([]real.Affine, len(q.of))
	for k, code := range q.of {
		if values[k] = *of.AffineOf(int32(k)); code.Scale.Sign() == 0 { // a constant
			v := new(big.Rat).Mul(values[k].Scale, code.Bias)
			values[k] = real.Affine{Scale: code.Scale, Bias: v.Add(v, values[k].Bias)}
		}
	}
	c.Integers.DeclareIntegersAndConstants(tensor, values)
	return true, nil
}

// composed adds layers for codes that are functions of the inputs of other quantisers.
func (q *quantising) composed(codes *find.QuantiserCodes) error {
	form, joins := codes.SeveralIntegersForm()
	switch {
	case !joins:
		return q.lower(codes)
	case len(codes.Forms.Of) > 1:
		return find.NewSeveralIntegersReason(form)
	}
	return q.join(codes.Forms)
}

// recodeAll recodes each of the tensors. It returns true if it recoded any; reject is the first reason why it did not
// recode one.
func (c recoder) recodeAll(tensors []string) (recoded bool, reject error) {
	for _, tensor := range tensors {
		done, why := c.recode(tensor)
		recoded, reject = recoded || done, cmp.Or(reject, why)
	}
	return recoded, reject
}

// recodeMeeting recodes the tensors that a quantiser's input combines, and returns true if it recoded any.
func (q *quantising) recodeMeeting() bool {
	m, ok := q.FindCombiningStep(q.step.Node.Inputs[0])
	if !ok {
		return false
	}
	recoded, _ := recoder{circuit: q.circuit}.recodeAll(m.Data)
	return recoded
}

// straight reports whether the first element of an element-wise step is scale*x + bias of an element x of data.
func (c recoder) straight(step *program.Step, data string) bool {
	with := make([]*real.Expr, len(step.Elem.Args))
	for v, slot := range step.Elem.Args {
		in := step.Node.Inputs[slot]
		if with[v] = real.Var(0); in != data {
			k := c.Known[in].Const
			if k == nil || program.TensorMayHoldInfinities(c.AnalysedProgram.Program, in) {
				return false
			}
			with[v] = real.ConstantExprOfFloat(k.FloatAt(step.Elem.ArgumentIndex(v, 0)))
		}
	}
	_, ok := step.Elem.Expr.SubstituteVariables(with).AsAffine()
	return ok
}
