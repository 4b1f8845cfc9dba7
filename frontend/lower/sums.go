package lower

import (
	"fmt"
	"slices"

	"hlsgen/frontend/graph"
	"hlsgen/frontend/lower/find"
	"hlsgen/frontend/lower/place"
	"hlsgen/frontend/lower/unmapped"
	"hlsgen/frontend/real"
	"hlsgen/frontend/scaled"
	"hlsgen/internal/dataflow"
)

// addUp makes integer tensors of the sums of several integer tensors that a tensor is made of, where they meet: layers that
// read it then have scaled integers of one tensor.
func (l *lowering) addUp(tensor string) *unmapped.Reason {
	if _, ok := l.Integers.Integer(tensor, 0); ok || !l.Integers.Derived(tensor) {
		return nil
	}
	forms, err := l.Integers.Forms(tensor, scaled.All(graph.Size(l.Known[tensor].Shape)))
	if err != nil {
		return nil // the one who asks says so
	}
	if !slices.ContainsFunc(forms.Of, func(f scaled.Form) bool { return len(f.Leaves()) > 1 }) {
		return nil
	}
	step := l.Producer(tensor)
	data := l.Data(step)
	inside := step.Move != nil || len(data) == 1 // they meet further back
	if inside || len(forms.Of) > 1 {
		for _, in := range data {
			if reject := l.addUp(in); reject != nil {
				return reject
			}
		}
	}
	if inside {
		return nil
	}
	if len(forms.Of) > 1 {
		var ok bool
		if forms, ok = l.oneForm(step, step, data); !ok {
			return unmapped.Because(fmt.Sprintf("%s joins tensors of several parts", unmapped.Describe(step.Node)), "concatenate after adding")
		}
	}
	j, wires, reject := l.joint(step, forms)
	if reject != nil {
		return reject
	}
	sum, affine, reject := j.Sum(l.types(wires))
	if reject != nil {
		return reject
	}
	w, reject := l.make(sum, wires, tensor, append([]*graph.Node{step.Node}, j.Nodes...))
	if reject != nil {
		return reject
	}
	l.put(tensor, w, j.At)
	l.Integers.Declare(tensor, affine)
	return nil
}

// joint brings the integers that meet in a step into one order, on wires.
func (l *lowering) joint(step *graph.Step, forms *scaled.Forms) (j *find.Joint, wires []int, reject *unmapped.Reason) {
	if j, reject = l.JointOf(step, forms); reject != nil {
		return nil, nil, reject
	}
	for _, o := range j.Operands {
		w, reject := l.arrange(o, j.Shape, 0)
		if reject != nil {
			return nil, nil, reject
		}
		wires = append(wires, w)
	}
	return j, wires, nil
}

func (l *lowering) types(wires []int) (types []dataflow.Type) {
	for _, w := range wires {
		types = append(types, l.net.Type(w))
	}
	return types
}

// oneForm is the forms of a step whose joined data come from one tensor each: where they do not, they are put on wires of
// their own first, with the channels of what join joins. ok is false where that cannot be done.
func (l *lowering) oneForm(step, join *graph.Step, data []string) (forms *scaled.Forms, ok bool) {
	all := scaled.All(graph.Size(step.Shape))
	if forms, err := l.Integers.FormsOf(step, all); err == nil && len(forms.Of) == 1 {
		return forms, true
	}
	for _, in := range data {
		axis := 0
		if c, reject := l.CodesOf(join); reject == nil {
			axis = c.Axis()
		}
		if l.together(in, axis) != nil {
			return nil, false
		}
	}
	forms, err := l.Integers.FormsOf(step, all)
	return forms, err == nil && len(forms.Of) == 1
}

// together makes an integer tensor of one whose elements come from several tensors, or are constants among others: padding.
func (l *lowering) together(tensor string, axis int) *unmapped.Reason {
	if _, ok := l.Integers.Integer(tensor, 0); ok {
		return nil
	}
	tensorShape := l.Known[tensor].Shape
	n := graph.Size(tensorShape)
	if forms, err := l.Integers.Forms(tensor, scaled.All(n)); err == nil && len(forms.Of) == 1 {
		return nil
	}
	if axis >= len(tensorShape) {
		return unmapped.Empty()
	}
	shape, at := place.ChannelsLast(tensorShape, axis)
	o, reject := l.operand(tensor, place.Inverse(at, n))
	if reject != nil {
		return reject
	}
	affine, ok := o.Affine(shape.Channels())
	if !ok || slices.ContainsFunc(affine, func(f real.Affine) bool { return f.Scale == nil }) {
		return unmapped.Because("its parts are scaled differently", "quantise activations per tensor or per channel")
	}
	fill, reject := o.Fill(affine)
	if reject != nil {
		return reject
	}
	w, reject := l.arrange(o, shape, fill)
	if reject != nil {
		return reject
	}
	l.put(tensor, w, at)
	l.Integers.Declare(tensor, scaled.Spread(affine, n, func(i int) int { return int(l.Places[tensor].Position(int32(i))) % len(affine) }))
	return nil
}
