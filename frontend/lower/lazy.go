package lower

import (
	"slices"

	"hlsgen/frontend/graph"
	"hlsgen/frontend/lower/place"
	"hlsgen/frontend/lower/unmapped"
	"hlsgen/frontend/real"
	"hlsgen/frontend/scaled"
	"hlsgen/internal/dataflow"
)

// A lazyPool is a maximum over windows that waits for its quantiser: thresholds in front of a maximum work on what a matrix
// layer has anyway, and leave the maximum of narrow codes.
type lazyPool struct {
	step  *graph.Step
	place *place.Place // what the place of its output will be; the stream has no wire
}

// defer puts a maximum off.
func (s *state) putOff(step *graph.Step) {
	shape, at := place.ChannelsLast(step.Shape, axisOf(step.Window, step.Shape))
	s.pools[step.Output] = &lazyPool{step, &place.Place{Stream: &place.Stream{Type: dataflow.Type{Shape: shape}}, At: at}}
	s.a.Declare(step.Output, scaled.Unit)
}

// pooledCodes makes the codes of a maximum that waits. Where the quantiser never falls, its codes of the values in front of
// the maximum have the code of the maximum as theirs; else the maximum is of the integers.
func (q *quantising) pooledCodes(lazy *lazyPool, src *source, functions []*real.Expr) (*place.Place, *unmapped.Reason) {
	s := q.s
	delete(s.pools, src.tensor)
	rising := true
	for _, f := range functions {
		d, ok := f.Direction()
		rising = rising && ok && d >= 0
	}
	if !rising {
		return q.codesOfMaximum(lazy, src)
	}
	tensor := lazy.step.Node.Inputs[0]
	shape, elements, reject := frame(lazy.step.Window, s.prog.Known[tensor].Shape)
	if reject != nil {
		return nil, reject
	}
	forms, err := s.a.Forms(tensor, elements)
	if err != nil {
		return nil, unmapped.Because(err.Error(), "quantise every tensor between two matrix layers")
	}
	inner := &quantising{s: s, step: q.step, forms: forms, limit: q.limit}
	image, reject := inner.before(shape, functions)
	if reject != nil {
		return nil, reject
	}
	wire, at, reject := s.pooled(lazy.step, image, s.name(q.step.Output))
	if reject != nil {
		return nil, reject
	}
	return &place.Place{Stream: place.On(&s.net, wire), At: at}, nil
}

// codesOfMaximum takes the maximum of integers, and quantises that.
func (q *quantising) codesOfMaximum(lazy *lazyPool, src *source) (*place.Place, *unmapped.Reason) {
	if reject := q.s.poolNow(lazy.step); reject != nil {
		return nil, reject
	}
	var err error
	if q.forms, err = q.s.a.FormsOf(q.step, scaled.All(graph.Size(q.step.Shape))); err != nil {
		panic(err) // it had forms before
	}
	sources, reject := q.sources()
	if reject != nil {
		return nil, reject
	}
	for _, again := range sources {
		if again.tensor == src.tensor {
			return q.codes(again)
		}
	}
	panic("lower: a source has gone")
}

// before makes the codes of an image whose elements are forms, in the order of its stream: of channel c, functions[c] of its
// real value.
func (q *quantising) before(shape dataflow.Shape, functions []*real.Expr) (*image, *unmapped.Reason) {
	s := q.s
	im := &image{}
	im.h, im.w, im.c = place.Pixels(shape)
	if len(q.forms.Of) != 1 || len(q.forms.Of[0].Leaves()) != 1 {
		return nil, unmapped.Because("the maximum is of several tensors together", "quantise before this max pool")
	}
	form := &q.forms.Of[0]
	leaf := form.Leaves()[0]
	p := s.places[leaf.Tensor]
	channels := p.Type.Shape.Channels()
	first := slices.Repeat([]int{-1}, channels)
	composed := make([]*real.Expr, channels)
	for k := range leaf.Index {
		c := int(p.Position(leaf.Index[k])) % channels
		if first[c] < 0 {
			first[c] = k
			e, _ := form.Numbers(k)
			composed[c] = functions[k%im.c].Substitute([]*real.Expr{e})
		} else if first[c]%im.c != k%im.c || !form.SameNumbers(first[c], k) {
			return nil, unmapped.Because("the values of which it takes the greatest are scaled differently", "quantise before this max pool")
		}
	}
	for c, k := range first {
		if k < 0 {
			composed[c] = composed[slices.IndexFunc(first, func(k int) bool { return k >= 0 })]
		}
	}
	im.nodes = form.Nodes
	w, _, reject := q.activate(leaf.Tensor, composed, form.Nodes)
	if reject != nil {
		return nil, reject
	}
	o := &operand{wires: []string{leaf.Tensor}, Movement: place.Still(len(leaf.Index))}
	for k, i := range leaf.Index {
		o.At[k] = p.Position(i)
	}
	im.wire, reject = s.net.Move([]int{w.Wire(&s.net, s.name(leaf.Tensor))}, o.Movement, shape, 0, nil)
	return im, reject
}
