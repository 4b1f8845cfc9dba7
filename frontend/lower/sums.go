package lower

import (
	"errors"
	"fmt"
	"slices"

	"hlsgen/frontend/graph"
	"hlsgen/frontend/lower/find"
	"hlsgen/frontend/lower/place"
	"hlsgen/frontend/lower/unmapped"
	"hlsgen/frontend/program"
	"hlsgen/frontend/real"
	"hlsgen/frontend/scaled"
	"hlsgen/internal/dataflow"
)

// addUp makes integer tensors of the sums of several integer tensors on which a tensor depends, as far as it finds any.
// The tensor's readers then find scaled integers of a single tensor. The error is the reason why a sum has no layer.
func (c *circuit) addUp(tensor string) error {
	if _, ok := c.Integers.AffineOfElement(tensor, 0); ok || !c.Integers.IsFromIntegers(tensor) ||
		c.Integers.IsFromSingleIntegers(tensor) {
		return nil
	}
	forms := joined(c, tensor)
	if forms == nil {
		return nil
	}
	step := c.ProducerOf(tensor)
	data := c.IntegerInputsOf(step)
	inside := step.Move != nil || len(data) == 1 // they are combined further back
	if inside || len(forms.Of) > 1 {
		for _, in := range data {
			if reject := c.addUp(in); reject != nil {
				return reject
			}
		}
	}
	if inside {
		return nil
	}
	if len(forms.Of) > 1 {
		var ok bool
		if forms, ok = c.oneForm(step, step, data); !ok {
			return unmapped.NewReason(fmt.Sprintf("%s joins tensors of several parts",
				unmapped.DescribeNode(step.Node)),
				"concatenate after adding")
		}
	}
	j, wires, reject := c.joint(step, forms)
	if reject != nil {
		return reject
	}
	sum, affine, reject := j.AsWeightedSum(c.types(wires))
	if errors.Is(reject, find.ErrSeveralIntegers) || errors.Is(reject, find.ErrNotScaledInteger) {
		for _, in := range data {
			c.addUp(in)
		}
		if joined(c, tensor) == nil {
			return nil
		}
		recoded, _ := recoder{circuit: c}.recodeAll(data)
		if recoded {
			return c.addUp(tensor)
		}
	}
	if reject != nil {
		return reject
	}
	w, reject := c.make(sum, wires, tensor, append([]*graph.Node{step.Node}, j.Nodes...))
	if reject != nil {
		return reject
	}
	c.put(tensor, w, j.At)
	c.Integers.DeclareGroupedIntegers(tensor, affine)
	return nil
}

// joined returns the forms of a tensor if some element depends on several integers, and nil otherwise. It also returns
// nil for a tensor that is not made of integers, which its reader reports.
func joined(c *circuit, tensor string) *scaled.ElementForms {
	forms, err := c.Integers.FormsOfElements(tensor,
		c.Integers.SharedCountingList(graph.ElementCount(c.Known[tensor].Shape)))
	if err != nil || !slices.ContainsFunc(forms.Of,
		func(f scaled.FormExpression) bool { return len(f.IntegerVariables()) > 1 }) {
		return nil
	}
	return forms
}

// joint arranges the integers that a step combines on wires, in one order. forms are those of the step's elements.
func (c *circuit) joint(step *program.Step, forms *scaled.ElementForms) (j *find.MultiTensorValue, wires []int,
	reject error) {
	if j, reject = c.MultiTensorValueOf(step, forms); reject != nil {
		return nil, nil, reject
	}
	for _, o := range j.Operands {
		w, reject := c.arrange(o, j.Shape, 0)
		if reject != nil {
			return nil, nil, reject
		}
		wires = append(wires, w)
	}
	return j, wires, nil
}

func (c *circuit) types(wires []int) (types []dataflow.StreamType) {
	for _, w := range wires {
		types = append(types, c.net.WireType(w))
	}
	return types
}

// oneForm returns the forms of a step, each of whose data must come from a single tensor. Data that do not come from
// one are first put on a wire of their own, with the channels of the result of join. ok is false if that is impossible.
func (c *circuit) oneForm(step, join *program.Step, data []string) (forms *scaled.ElementForms, ok bool) {
	all := c.Integers.SharedCountingList(graph.ElementCount(step.Shape))
	if forms, err := c.Integers.FormsOfStepElements(step, all); err == nil && len(forms.Of) == 1 {
		return forms, true
	}
	for _, in := range data {
		axis := 0
		if choice, reject := c.ReadQuantiser(join); reject == nil {
			axis = choice.ChannelAxis()
		}
		if c.together(in, axis) != nil {
			return nil, false
		}
	}
	forms, err := c.Integers.FormsOfStepElements(step, all)
	return forms, err == nil && len(forms.Of) == 1
}

// together makes an integer tensor of a tensor whose elements come from several tensors, or that has constants such as
// padding among its elements. It leaves other tensors alone. The error is the reason why it cannot.
func (c *circuit) together(tensor string, axis int) error {
	if _, ok := c.Integers.AffineOfElement(tensor, 0); ok {
		return nil
	}
	tensorShape := c.Known[tensor].Shape
	n := graph.ElementCount(tensorShape)
	if forms, err := c.Integers.FormsOfElements(tensor, c.Integers.SharedCountingList(n)); err == nil &&
		len(forms.Of) == 1 {
		return nil
	}
	if axis >= len(tensorShape) {
		return unmapped.NewEmptyTensorReason()
	}
	shape, at := place.ChannelsLastLayoutOf(tensorShape, axis)
	o, reject := c.operand(tensor, program.NewIndexList(place.ElementIndicesByPosition(at, n)))
	if reject != nil {
		return reject
	}
	affine, ok := o.ChannelAffines(shape.ChannelCount())
	if !ok || slices.ContainsFunc(affine, func(f real.Affine) bool { return f.Scale == nil }) {
		return unmapped.NewReason("its parts are scaled differently", "quantise activations per tensor or per channel")
	}
	fill, reject := o.CodeOfConstants(affine)
	if reject != nil {
		return reject
	}
	w, reject := c.arrange(o, shape, fill)
	if reject != nil {
		return reject
	}
	c.put(tensor, w, at)
	of := *c.Places[tensor]
	channels := int32(len(affine))
	c.Integers.DeclareGroupedIntegers(tensor, scaled.AffinesOfElements{Of: affine, Group: func(i int32) int32 {
		return of.PositionOf(i) % channels
	}})
	return nil
}
