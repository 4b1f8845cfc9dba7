package lower

import (
	"errors"
	"fmt"
	"slices"

	"hlsgen/frontend/graph"
	"hlsgen/frontend/lower/place"
	"hlsgen/frontend/lower/unmapped"
	"hlsgen/frontend/lower/whole"
	"hlsgen/frontend/real"
	"hlsgen/frontend/scaled"
	"hlsgen/hlslib/requant"
	"hlsgen/hlslib/threshold"
	"hlsgen/internal/dataflow"
	"hlsgen/internal/diag"
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
	if errors.Is(q.err, real.ErrTooManySteps) && q.head {
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
	err   error
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
			if slices.ContainsFunc(form.Nodes, (*graph.Node).Averages) {
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
	w, reject := q.activate(src.tensor, functions, src.nodes)
	if reject != nil {
		return nil, reject
	}
	if w == nil { // the integers are the codes
		q.s.alias[q.step.Output] = true
		return p, nil
	}
	return &place.Place{Stream: w, At: p.At}, nil
}

// activate puts one function per channel behind an integer tensor: as thresholds of the product that made it, where that
// waits and nothing else needs it, and its activation can be made to rise (where it falls, the channel's weights change
// sign); else as a Thresholding. It is nil where the functions change nothing.
func (q *quantising) activate(tensor string, functions []*real.Expr, nodes []*graph.Node) (*place.Stream, *unmapped.Reason) {
	s := q.s
	p := s.places[tensor]
	steps, err := stepsOver(functions, p.Type, q.limit)
	if errors.Is(err, real.ErrTooManySteps) && !q.head {
		return q.rescale(tensor, functions, nodes)
	}
	if err != nil {
		q.err = err
		return nil, whole.Stepless(err, q.limit)
	}
	if identical(steps, p.Type) {
		for _, n := range append(nodes, q.step.Node) {
			s.noLayer = append(s.noLayer, n.Index)
		}
		return nil, nil
	}
	if most(steps) >= manySteps {
		if w := q.scaled(tensor, steps, nodes); w != nil {
			return w, nil
		}
	}
	if w := waiting(p.Stream); w != nil && !w.plain && s.only(tensor, q.step) {
		if weights, rising, ok := rise(w.weights, steps, p.Type); ok {
			out, err := s.net.Add(w.layer(weights, rising), []int{w.in}, s.name(q.step.Output), append(w.all(), nodes...))
			if err == nil {
				return place.On(&s.net, out[0]), nil
			} // its thresholds are too many for one layer
		}
	}
	out, err := s.net.Add(threshold.New(threshold.Params{Steps: whole.Shared(steps)}), []int{s.take(tensor)}, s.name(q.step.Output), append(nodes, q.step.Node))
	if err != nil {
		return nil, unmapped.As(diag.RangeTooWide, "no layer holds its activation: "+err.Error(), "quantise this activation with fewer bits")
	}
	return place.On(&s.net, out[0]), nil
}

// maxWideSteps bounds the steps of an activation that is computed by multiplying and shifting.
const maxWideSteps = 1 << 17

// rescale makes an activation of more steps than thresholds can hold: a multiplication and a shift that give the same.
func (q *quantising) rescale(tensor string, functions []*real.Expr, nodes []*graph.Node) (*place.Stream, *unmapped.Reason) {
	p := q.s.places[tensor]
	steps, err := stepsOver(functions, p.Type, maxWideSteps)
	if err != nil {
		return nil, whole.Stepless(err, maxWideSteps)
	}
	if identical(steps, p.Type) {
		for _, n := range append(nodes, q.step.Node) {
			q.s.noLayer = append(q.s.noLayer, n.Index)
		}
		return nil, nil
	}
	if w := q.scaled(tensor, steps, nodes); w != nil {
		return w, nil
	}
	return nil, unmapped.As(diag.RangeTooWide, fmt.Sprintf("its activation has more than %d steps, and no multiplication and shift gives them", whole.MaxSteps),
		"quantise this activation with fewer bits, or with a scale that is a power of two")
}

// manySteps is the steps from which on a multiplication and a shift are less hardware than a comparator per step.
const manySteps = 63

func most(steps []num.Step) (n int) {
	for _, f := range steps {
		n = max(n, len(f.At))
	}
	return n
}

// scaled is a Requantization of a tensor that gives the steps; nil where there is none.
func (q *quantising) scaled(tensor string, steps []num.Step, nodes []*graph.Node) *place.Stream {
	p := q.s.places[tensor]
	ranges := make([]num.Range, len(steps))
	for c := range ranges {
		ranges[c] = p.Type.Channel(c)
	}
	params, ok := requant.Fit(steps, ranges)
	if !ok {
		return nil
	}
	if _, _, err := requant.New(params).Bind([]dataflow.Type{p.Type}); err != nil {
		return nil
	}
	out, err := q.s.net.Add(requant.New(params), []int{q.s.take(tensor)}, q.s.name(q.step.Output), append(nodes, q.step.Node))
	if err != nil {
		panic(fmt.Sprintf("lower: %s: %v", tensor, err)) // it has been bound to this type above
	}
	return place.On(&q.s.net, out[0])
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
			v, err := stepsOver([]*real.Expr{f}, dataflow.Type{Range: []num.Range{{}}, Shape: dataflow.Shape{1}}, 1)
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
	steps, err := stepsOver(functions, s.net.Type(w), q.limit)
	if err != nil {
		return false
	}
	out, err := s.net.Add(threshold.New(threshold.Params{Steps: whole.Shared(steps)}), []int{w}, s.name(q.step.Output), []*graph.Node{q.step.Node})
	if err != nil {
		return false
	}
	s.put(q.step.Output, out[0], at)
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

// identical reports whether every channel's function leaves its integers as they are.
func identical(steps []num.Step, t dataflow.Type) bool {
	for c, f := range steps {
		r := t.Channel(c)
		f = f.Over(r)
		if int64(len(f.At)) != r.Hi-r.Lo || f.Value[0] != r.Lo {
			return false
		}
		for i, at := range f.At {
			if f.Value[i+1] != at {
				return false
			}
		}
	}
	return true
}

// rise turns the falling channels of an activation round.
func rise(weights [][]int64, steps []num.Step, t dataflow.Type) ([][]int64, []num.Step, bool) {
	w, up := append([][]int64(nil), weights...), append([]num.Step(nil), steps...)
	for c, f := range steps {
		r := t.Channel(c)
		switch {
		case f.Over(r).NonDecreasing():
		case f.Mirror().Over(r.Neg()).NonDecreasing():
			up[c] = f.Mirror()
			w[c] = make([]int64, len(weights[c]))
			for k, v := range weights[c] {
				w[c][k] = -v
			}
		default:
			return nil, nil, false
		}
	}
	return w, up, true
}

// stepsOver finds every channel's step function over the values that occur.
func stepsOver(functions []*real.Expr, t dataflow.Type, limit int) ([]num.Step, error) {
	out := make([]num.Step, len(functions))
	for c, e := range functions {
		if c > 0 && (e == functions[c-1] || e.Equal(functions[c-1])) && t.Channel(c) == t.Channel(c-1) {
			out[c] = out[c-1]
			continue
		}
		f, err := real.Compile(e).StepOver(t.Channel(c), limit)
		if err != nil {
			return nil, err
		}
		out[c] = f
	}
	return out, nil
}
