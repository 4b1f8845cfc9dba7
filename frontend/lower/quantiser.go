package lower

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"hlsgen/frontend/graph"
	"hlsgen/frontend/lower/choose"
	"hlsgen/frontend/lower/place"
	"hlsgen/frontend/lower/unmapped"
	"hlsgen/frontend/lower/whole"
	"hlsgen/frontend/real"
	"hlsgen/frontend/scaled"
	"hlsgen/internal/dataflow"
	"hlsgen/internal/num"
)

// maxHeadSteps is the steps from which on a quantiser at the model's end goes to the host, where it costs nothing.
const maxHeadSteps = 1<<8 - 1

func hostQuantiser(s *state, step *graph.Step) (bool, *unmapped.Reason) {
	if !scaled.IsCode(step) || s.a.Derived(step.Node.Inputs[0]) {
		return false, nil
	}
	r, _ := scaled.Codes(step)
	elem := num.Smallest(r)
	if step.Node.Bipolar() {
		elem = num.Type{Kind: num.Bipolar, Width: 1}
	}
	s.places[step.Output] = s.hostPlace(step.Output, elem, r)
	s.a.Declare(step.Output, scaled.Unit)
	return true, nil
}

func hostPrefix(s *state, step *graph.Step) (bool, *unmapped.Reason) {
	for _, in := range step.Node.Inputs {
		if in != "" && s.a.Derived(in) {
			return false, nil
		}
	}
	return true, nil
}

func slice(s *state, step *graph.Step) (bool, *unmapped.Reason) { return true, nil }

func quantiser(s *state, step *graph.Step) (bool, *unmapped.Reason) {
	if !scaled.IsCode(step) {
		return false, nil
	}
	n := graph.Size(step.Shape)
	if reject := s.trace(n); reject != nil {
		return true, reject
	}
	forms, err := s.a.FormsOf(step, scaled.All(n))
	if err != nil {
		return true, unmapped.Because(err.Error(), "quantise every tensor between two matrix layers")
	}
	if s.roundsProducts(step, forms) {
		s.rounded[step.Output] = step
		s.a.Declare(step.Output, scaled.Unit)
		return true, nil
	}
	if s.sharedSum(step) && s.settle(step.Node.Inputs[0]) == nil {
		if forms, err = s.a.FormsOf(step, scaled.All(n)); err != nil {
			panic(err) // it had forms before
		}
	}
	q := &quantising{s: s, step: step, forms: forms, limit: whole.MaxSteps}
	if !s.feedsLayer(step.Output) {
		q.head, q.limit = true, maxHeadSteps
	}
	reject := q.lower()
	if q.head && reject != nil && errors.Is(reject.Cause, real.ErrTooManySteps) {
		return true, nil // the host rounds the accumulators
	}
	if reject == nil {
		s.a.Declare(step.Output, scaled.Unit)
	}
	return true, reject
}

// A quantising is a quantiser whose slice is being made a step function.
type quantising struct {
	s     *state
	step  *graph.Step
	forms *scaled.Forms
	head  bool // no layer needs it
	limit int  // of steps
}

func (q *quantising) lower() *unmapped.Reason {
	if i := slices.IndexFunc(q.forms.Of, func(f scaled.Form) bool { return len(f.Leaves()) > 1 }); i >= 0 {
		if len(q.forms.Of) > 1 {
			if !q.solidify() {
				return joined(&q.forms.Of[i])
			}
		}
		return q.join()
	}
	sources, reject := q.sources()
	if reject != nil {
		if q.moveFirst() {
			return nil
		}
		return reject
	}
	// The codes of each source, before any element moves: that is where thresholds are fewest.
	o := &operand{Movement: place.Still(graph.Size(q.step.Shape))}
	coded := map[string]*place.Place{}
	for _, src := range sources {
		p, reject := q.codes(src)
		if reject != nil {
			return reject
		}
		coded[src.tensor] = p
		o.wires = append(o.wires, src.tensor)
	}
	if len(sources) == 1 {
		if at, ok := q.inPlace(coded[sources[0].tensor]); ok {
			q.s.places[q.step.Output] = &place.Place{Stream: coded[sources[0].tensor].Stream, At: at}
			return nil
		}
	}
	return q.move(o, coded)
}

// A source is an integer tensor that a quantiser makes codes of: one function per channel of its stream.
type source struct {
	tensor   string
	channels int
	first    []int // per channel: an element of the quantiser's; -1 where it takes none
	nodes    []*graph.Node
}

// sources finds the integers behind the quantiser, and that all elements of a channel have one function.
func (q *quantising) sources() (list []*source, reject *unmapped.Reason) {
	by := map[string]*source{}
	for k := range graph.Size(q.step.Shape) {
		form := &q.forms.Of[q.forms.Which(k)]
		leaves := form.Leaves()
		if len(leaves) == 0 {
			continue
		}
		leaf := leaves[0]
		src := by[leaf.Tensor]
		if src == nil {
			src = &source{tensor: leaf.Tensor, channels: q.s.layout(leaf.Tensor).Type.Shape.Channels()}
			src.first = slices.Repeat([]int{-1}, src.channels)
			by[leaf.Tensor], list = src, append(list, src)
		}
		c := int(q.s.layout(leaf.Tensor).Position(leaf.Index[k])) % src.channels
		switch first := src.first[c]; {
		case first < 0:
			src.first[c] = k
			for _, n := range form.Nodes {
				if !slices.Contains(src.nodes, n) {
					src.nodes = append(src.nodes, n)
				}
			}
		case !q.alike(first, k):
			hint := "use scales and biases per tensor or per channel"
			if slices.ContainsFunc(form.Nodes, func(n *graph.Node) bool { return strings.HasSuffix(n.FullOp(), "AveragePool") }) {
				hint = "a mean at the border is of fewer elements: set count_include_pad of the AveragePool, or pad in front of it"
			}
			return nil, unmapped.Because(fmt.Sprintf("its parameters vary along another axis than the channels (element %d)", k), hint)
		}
	}
	if len(list) == 0 {
		return nil, unmapped.Because("an element of it does not depend on the input", "remove the constant part of the tensor")
	}
	return list, nil
}

// alike reports whether two elements are the same function of their integers.
func (q *quantising) alike(k, l int) bool {
	f, g := q.forms.Which(k), q.forms.Which(l)
	if f == g {
		return q.forms.Of[f].SameNumbers(k, l)
	}
	a, _ := q.forms.Of[f].Numbers(k)
	b, _ := q.forms.Of[g].Numbers(l)
	return a.Equal(b)
}

// layout is the place of an integer tensor, or what the place of a waiting maximum will be.
func (s *state) layout(tensor string) *place.Place {
	if lazy := s.pools[tensor]; lazy != nil {
		return lazy.place
	}
	return s.places[tensor]
}

// functions is the expression of every channel of a source; channels that are not taken get that of another.
func (q *quantising) functions(src *source) []*real.Expr {
	out := make([]*real.Expr, src.channels)
	var any *real.Expr
	for c, k := range src.first {
		if k >= 0 {
			out[c], _ = q.forms.Of[q.forms.Which(k)].Numbers(k)
			any = out[c]
		}
	}
	for c := range out {
		if out[c] == nil {
			out[c] = any
		}
	}
	return out
}

// codes makes the codes of a source.
func (q *quantising) codes(src *source) (*place.Place, *unmapped.Reason) {
	functions := q.functions(src)
	if lazy := q.s.pools[src.tensor]; lazy != nil {
		return q.pooledCodes(lazy, src, functions)
	}
	p := q.s.places[src.tensor]
	w, wire, reject := q.activate(src.tensor, functions, src.nodes)
	if reject != nil {
		return nil, reject
	}
	if wire {
		q.s.alias[q.step.Output] = true
	}
	return &place.Place{Stream: w, At: p.At}, nil
}

// activate puts one function per channel behind an integer tensor. The codes are the integers themselves where that is a wire.
func (q *quantising) activate(tensor string, functions []*real.Expr, nodes []*graph.Node) (codes *place.Stream, wire bool, reject *unmapped.Reason) {
	s := q.s
	p := s.places[tensor]
	made := waiting(p.Stream)
	var behind *choose.Product
	if made != nil && s.only(tensor, q.step) {
		behind = made.Product
	}
	a, reject := choose.Activate(functions, p.Type, behind, q.limit, q.head)
	if reject != nil {
		return nil, false, reject
	}
	c, reject := choose.Layer(a)
	if reject != nil {
		return nil, false, reject
	}
	var in int
	switch {
	case c.Wire():
		for _, n := range append(nodes, q.step.Node) {
			s.noLayer = append(s.noLayer, n.Index)
		}
		return p.Stream, true, nil
	case c.Fused():
		in, nodes = made.in, append(made.all(), nodes...)
	default:
		in, nodes = s.take(tensor), append(nodes, q.step.Node)
	}
	w, reject := s.add(c, []int{in}, s.name(q.step.Output), nodes)
	if reject != nil {
		return nil, false, reject
	}
	return place.On(&s.net, w), false, nil
}

// inPlace reports whether each element of the quantiser comes from a place of its own, and all places are taken: then its
// codes lie where its integers did.
func (q *quantising) inPlace(p *place.Place) (at []int32, ok bool) {
	n := graph.Size(q.step.Shape)
	if p.Type.Shape.Size() != n {
		return nil, false
	}
	at = make([]int32, n)
	taken := make([]bool, n)
	identity := true
	for k := range n {
		leaves := q.forms.Of[q.forms.Which(k)].Leaves()
		if len(leaves) == 0 {
			return nil, false
		}
		i := p.Position(leaves[0].Index[k])
		if taken[i] {
			return nil, false
		}
		taken[i], at[k] = true, i
		identity = identity && int(i) == k
	}
	if identity {
		return nil, true
	}
	return at, true
}

// move puts the codes of several sources, or of one whose elements are repeated, left out or padded, in the order of pixels.
func (q *quantising) move(o *operand, coded map[string]*place.Place) (reject *unmapped.Reason) {
	for _, axis := range q.axes() {
		r := q.moveAlong(axis, o, coded)
		if r == nil {
			return nil
		}
		if reject == nil {
			reject = r
		}
	}
	return reject
}

func (q *quantising) moveAlong(axis int, o *operand, coded map[string]*place.Place) *unmapped.Reason {
	s := q.s
	shape, at := place.ChannelsLast(q.step.Shape, axis)
	var fill *int64
	for k, e := range place.Inverse(at, len(o.At)) {
		form := &q.forms.Of[q.forms.Which(int(e))]
		leaves := form.Leaves()
		if len(leaves) == 0 {
			f, _ := form.Numbers(int(e))
			v, err := choose.StepsOver([]*real.Expr{f}, dataflow.Type{Range: []num.Range{{}}, Shape: dataflow.Shape{1}}, 1)
			if err != nil || fill != nil && *fill != v[0].Value[0] {
				return unmapped.Because("constants of several values are put among its elements", "pad with one value")
			}
			fill, o.From[k] = &v[0].Value[0], place.Constant
			continue
		}
		o.From[k] = o.wireOf(leaves[0].Tensor)
		o.At[k] = coded[leaves[0].Tensor].Position(leaves[0].Index[int(e)])
	}
	code := int64(0)
	if fill != nil {
		code = *fill
	}
	wires := make([]int, len(o.wires))
	for i, tensor := range o.wires {
		wires[i] = coded[tensor].Wire(&s.net, s.name(tensor))
	}
	w, reject := s.net.Move(wires, o.Movement, shape, code, []*graph.Node{q.step.Node})
	if reject != nil {
		return reject
	}
	delete(s.alias, q.step.Output)
	s.put(q.step.Output, w, at)
	return nil
}

// moveFirst makes one Thresholding of integers that have been put in the order of the codes: where one of them is quantised
// in several ways, it must be there several times.
func (q *quantising) moveFirst() bool { return slices.ContainsFunc(q.axes(), q.moveFirstAlong) }

func (q *quantising) moveFirstAlong(axis int) bool {
	s, n := q.s, graph.Size(q.step.Shape)
	shape, at := place.ChannelsLast(q.step.Shape, axis)
	o := &operand{Movement: place.Still(n)}
	functions := make([]*real.Expr, shape.Channels())
	order := place.Inverse(at, n)
	for k, e := range order {
		form, c := &q.forms.Of[q.forms.Which(int(e))], k%len(functions)
		leaves := form.Leaves()
		if len(leaves) == 0 || s.places[leaves[0].Tensor] == nil || k >= len(functions) && !q.alike(int(order[c]), int(e)) {
			return false
		}
		if k < len(functions) {
			functions[c], _ = form.Numbers(int(e))
		}
		o.From[k] = o.wireOf(leaves[0].Tensor)
		o.At[k] = s.places[leaves[0].Tensor].Position(leaves[0].Index[int(e)])
	}
	w, reject := s.arrange(o, shape, 0)
	if reject != nil {
		return false
	}
	a, reject := choose.Activate(functions, s.net.Type(w), nil, q.limit, true)
	if reject != nil {
		return false
	}
	c, reject := choose.Layer(a)
	if reject != nil {
		return false
	}
	if c.Wire() {
		s.noLayer = append(s.noLayer, q.step.Node.Index)
	} else if w, reject = s.add(c, []int{w}, s.name(q.step.Output), []*graph.Node{q.step.Node}); reject != nil {
		return false
	}
	s.put(q.step.Output, w, at)
	return true
}

// axes is where channels may lie, the likely axis first: elements of depth to space look as if it were another.
func (q *quantising) axes() []int {
	axes := []int{q.channelAxis()}
	for _, a := range []int{1, len(q.step.Shape) - 1} {
		if a > 0 && a < len(q.step.Shape) && !slices.Contains(axes, a) {
			axes = append(axes, a)
		}
	}
	return axes
}

// channelAxis is the axis of a quantiser's output along which the channels of its sources lie.
func (q *quantising) channelAxis() int {
	shape := q.step.Shape
	stride := 1
	channel := func(k int) (tensor string, c int) {
		leaves := q.forms.Of[q.forms.Which(k)].Leaves()
		if len(leaves) == 0 {
			return "", 0
		}
		p := q.s.layout(leaves[0].Tensor)
		return leaves[0].Tensor, int(p.Position(leaves[0].Index[k])) % p.Type.Shape.Channels()
	}
	middle := 0 // an element that is likely none of a border
	for i := len(shape) - 1; i >= 0; i-- {
		middle += shape[i] / 2 * stride
		stride *= shape[i]
	}
	for _, several := range []bool{false, true} { // neighbours of one tensor tell more than those of two
		stride = 1
		for i := len(shape) - 1; i > 0; i-- {
			if shape[i] > 1 {
				ta, a := channel(middle)
				tb, b := channel(middle - stride)
				if ta != "" && tb != "" && (ta == tb && a != b || ta != tb && several) {
					return i
				}
			}
			stride *= shape[i]
		}
	}
	for i, n := range shape { // one channel: any axis of one element will do
		if i > 0 && n == 1 {
			return i
		}
	}
	return len(shape) - 1
}
