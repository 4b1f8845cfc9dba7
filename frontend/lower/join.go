package lower

import (
	"fmt"
	"math/big"
	"slices"

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

// settle makes integer tensors of the sums of several integer tensors that a tensor is made of, where they meet: layers that
// read it then have scaled integers of one tensor.
func (s *state) settle(tensor string) *unmapped.Reason {
	if _, ok := s.a.Integer(tensor, 0); ok || !s.a.Derived(tensor) {
		return nil
	}
	forms, err := s.a.Forms(tensor, scaled.All(graph.Size(s.prog.Known[tensor].Shape)))
	if err != nil {
		return nil // the one who asks says so
	}
	if !slices.ContainsFunc(forms.Of, func(f scaled.Form) bool { return len(f.Leaves()) > 1 }) {
		return nil
	}
	step := s.prog.Producer(tensor)
	var data []string
	for _, in := range step.Node.Inputs {
		if in != "" && s.a.Derived(in) && !slices.Contains(data, in) {
			data = append(data, in)
		}
	}
	if step.Move != nil || len(data) == 1 {
		for _, in := range data {
			if reject := s.settle(in); reject != nil {
				return reject
			}
		}
		return nil
	}
	if len(forms.Of) > 1 {
		for _, in := range data {
			if reject := s.settle(in); reject != nil {
				return reject
			}
		}
		if forms = s.solidOf(step, step, data); forms == nil {
			return unmapped.Because(fmt.Sprintf("%s joins tensors of several parts", unmapped.Describe(step.Node)), "concatenate after adding")
		}
	}
	j, reject := s.joining(step, forms)
	if reject != nil {
		return reject
	}
	sum, affine, reject := j.sum()
	if reject != nil {
		return reject
	}
	s.places[tensor] = &place.Place{Stream: sum, At: j.at}
	c := sum.Type.Shape.Channels()
	s.a.Declare(tensor, scaled.Spread(affine, len(j.at0), func(i int) int { return int(j.at0[i]) % c }))
	return nil
}

// solidOf is the forms of a step whose joined data come from one tensor each: where they do not, they are put on wires of
// their own first. It is nil where that cannot be done.
func (s *state) solidOf(step, join *graph.Step, data []string) *scaled.Forms {
	all := scaled.All(graph.Size(step.Shape))
	if forms, err := s.a.FormsOf(step, all); err == nil && len(forms.Of) == 1 {
		return forms
	}
	for _, in := range data {
		if s.solid(in, axisLike(s, join)) != nil {
			return nil
		}
	}
	forms, err := s.a.FormsOf(step, all)
	if err != nil || len(forms.Of) > 1 {
		return nil
	}
	return forms
}

// axisLike is the axis of channels of what a step joins.
func axisLike(s *state, join *graph.Step) int {
	forms, err := s.a.FormsOf(join, scaled.All(graph.Size(join.Shape)))
	if err != nil {
		return 0
	}
	return (&quantising{s: s, step: join, forms: forms}).channelAxis()
}

// solid makes an integer tensor of one whose elements come from several tensors, or are constants among others: padding.
func (s *state) solid(tensor string, axis int) *unmapped.Reason {
	if _, ok := s.a.Integer(tensor, 0); ok {
		return nil
	}
	tensorShape := s.prog.Known[tensor].Shape
	n := graph.Size(tensorShape)
	if forms, err := s.a.Forms(tensor, scaled.All(n)); err == nil && len(forms.Of) == 1 {
		return nil
	}
	if axis >= len(tensorShape) {
		return unmapped.Empty()
	}
	shape, at := place.ChannelsLast(tensorShape, axis)
	o, reject := s.operand(tensor, place.Inverse(at, n))
	if reject != nil {
		return reject
	}
	c := shape.Channels()
	affine, ok := o.affine(c)
	if !ok || slices.ContainsFunc(affine, func(f real.Affine) bool { return f.Scale == nil }) {
		return unmapped.Because("its parts are scaled differently", "quantise activations per tensor or per channel")
	}
	fill, reject := o.fill(affine)
	if reject != nil {
		return reject
	}
	w, reject := s.arrange(o, shape, fill)
	if reject != nil {
		return reject
	}
	s.put(tensor, w, at)
	s.a.Declare(tensor, scaled.Spread(affine, n, func(i int) int { return int(s.places[tensor].Position(int32(i))) % c }))
	return nil
}

// A joining is a value made of several integer tensors, whose elements are brought into one order.
type joining struct {
	s        *state
	step     *graph.Step
	form     *scaled.Form
	wires    []int
	at       []int32 // the position of each element; nil where element i is at i
	at0      []int32 // the same, spelled out
	channels int
	first    []int // per channel: an element
	nodes    []*graph.Node
}

// joining takes the order of the first of the tensors of which every element is used.
func (s *state) joining(step *graph.Step, forms *scaled.Forms) (*joining, *unmapped.Reason) {
	form := &forms.Of[0]
	leaves := form.Leaves()
	n := graph.Size(step.Shape)
	j := &joining{s: s, step: step, form: form, nodes: form.Nodes}
	var shape dataflow.Shape
	for _, leaf := range leaves {
		p := s.places[leaf.Tensor]
		if p == nil {
			return nil, joined(form)
		}
		if at, ok := onto(p, leaf, n); ok && len(p.Type.Shape) > len(shape) {
			j.at0, shape = at, p.Type.Shape
		}
	}
	if shape == nil {
		axis := (&quantising{s: s, step: step, forms: forms}).channelAxis()
		shape, j.at = place.ChannelsLast(step.Shape, axis)
		j.at0 = place.Inverse(place.Inverse(j.at, n), n)
	} else if !scaled.InOrder(j.at0, n) {
		j.at = j.at0
	}
	j.channels = shape.Channels()
	order := place.Inverse(j.at0, n)
	for _, leaf := range leaves {
		p := s.places[leaf.Tensor]
		o := &operand{wires: []string{leaf.Tensor}, Movement: place.Still(n), nodes: form.Nodes}
		for k, e := range order {
			o.At[k] = p.Position(leaf.Index[e])
		}
		w, reject := s.arrange(o, shape, 0)
		if reject != nil {
			return nil, reject
		}
		j.wires = append(j.wires, w)
	}
	j.first = slices.Repeat([]int{-1}, j.channels)
	for k, e := range order {
		c := k % j.channels
		if j.first[c] < 0 {
			j.first[c] = int(e)
		} else if !form.SameNumbers(j.first[c], int(e)) {
			return nil, unmapped.Because(fmt.Sprintf("its parameters vary along another axis than the channels (element %d)", e), "use scales and biases per tensor or per channel")
		}
	}
	return j, nil
}

// onto is the positions of a tensor's elements where each of them is used once.
func onto(p *place.Place, leaf *scaled.Var, n int) ([]int32, bool) {
	if p.Type.Shape.Size() != n {
		return nil, false
	}
	at, taken := make([]int32, n), make([]bool, n)
	for k, i := range leaf.Index {
		at[k] = p.Position(i)
		if taken[at[k]] {
			return nil, false
		}
		taken[at[k]] = true
	}
	return at, true
}

// linear reads every channel's value as a function of one sum of multiples.
func (j *joining) linear() (inner []real.Linear, outer []*real.Expr, reject *unmapped.Reason) {
	for c, k := range j.first {
		e, n := j.form.Numbers(k)
		spans := make([]real.Interval, n)
		for i, r := range j.ranges(c) {
			spans[i] = whole.Interval(r)
		}
		l, o, ok := e.Within(spans).Joint(n)
		if !ok {
			return nil, nil, joined(j.form)
		}
		if l.Fixed() { // a dead channel: any sum will do
			for i := range l.Scale {
				l.Scale[i] = big.NewRat(1, 1)
			}
		}
		inner, outer = append(inner, l), append(outer, o)
	}
	return inner, outer, nil
}

// sum makes a layer of a value that is a sum of multiples: the multiples are whole, and as small as they can be.
func (j *joining) sum() (*place.Stream, []real.Affine, *unmapped.Reason) {
	inner, outer, reject := j.linear()
	if reject != nil {
		return nil, nil, reject
	}
	factors := make([][]int64, len(j.wires))
	var affine []real.Affine
	for c, l := range inner {
		a, ok := outer[c].Affine()
		if !ok {
			return nil, nil, unmapped.Because("a sum of two tensors is used without being quantised after "+between(j.nodes), "quantise the sum")
		}
		unit := whole.Unit(l.Scale)
		for i, v := range l.Scale {
			m, reject := whole.Times(v, unit)
			if reject != nil {
				return nil, nil, reject
			}
			factors[i] = append(factors[i], m)
		}
		affine = append(affine, real.Affine{Scale: new(big.Rat).Mul(a.Scale, unit), Bias: a.Bias})
	}
	w, reject := j.make(choose.Sum{Factors: factors})
	return w, affine, reject
}

// make makes a layer of a function of the joined integers.
func (j *joining) make(f choose.Function) (*place.Stream, *unmapped.Reason) {
	c, reject := choose.Layer(f)
	if reject != nil {
		return nil, reject
	}
	w, reject := j.s.add(c, j.wires, j.s.name(j.step.Output), append([]*graph.Node{j.step.Node}, j.nodes...))
	if reject != nil {
		return nil, reject
	}
	return place.On(&j.s.net, w), nil
}

// join makes the codes of several integers that meet.
func (q *quantising) join() *unmapped.Reason {
	j, reject := q.s.joining(q.step, q.forms)
	if reject != nil {
		return reject
	}
	f, reject := j.codes(q.limit)
	if reject != nil {
		return reject
	}
	w, reject := j.make(f)
	if reject != nil {
		return reject
	}
	q.s.places[q.step.Output] = &place.Place{Stream: w, At: j.at}
	return nil
}

// codes is the function that the codes are: of a sum, or else of a product.
func (j *joining) codes(limit int) (choose.Function, *unmapped.Reason) {
	inner, outer, reject := j.linear()
	if reject != nil {
		if len(j.wires) == 2 {
			return j.product(limit, reject)
		}
		return nil, reject
	}
	f := choose.Sum{Factors: make([][]int64, len(j.wires)), Steps: make([]num.Step, len(inner))}
	for c, l := range inner {
		ranges := j.ranges(c)
		if c > 0 && alikeChannels(inner[c-1], l, outer[c-1], outer[c]) && slices.Equal(ranges, j.ranges(c-1)) {
			f.Steps[c] = f.Steps[c-1]
			for i := range f.Factors {
				f.Factors[i] = append(f.Factors[i], f.Factors[i][c-1])
			}
			continue
		}
		m, steps, err := whole.Requantise(l, outer[c], ranges, limit)
		if err != nil {
			return nil, whole.Stepless(err, limit)
		}
		f.Steps[c] = steps
		for i, v := range m {
			f.Factors[i] = append(f.Factors[i], v)
		}
	}
	return f, nil
}

// ranges is the integers of channel c of each wire.
func (j *joining) ranges(c int) (out []num.Range) {
	for _, w := range j.wires {
		out = append(out, j.s.net.Channel(w, c))
	}
	return out
}

func alikeChannels(a, b real.Linear, f, g *real.Expr) bool {
	for i := range a.Scale {
		if a.Scale[i].Cmp(b.Scale[i]) != 0 {
			return false
		}
	}
	return f.Equal(g)
}

// solidify puts the tensors that a quantiser's value joins on wires of their own, where their elements come from several
// places.
func (q *quantising) solidify() bool {
	s, tensor := q.s, q.step.Node.Inputs[0]
	for {
		step := s.prog.Producer(tensor)
		if step == nil || step.Dot != nil || step.Order != nil || step.Window != nil {
			return false
		}
		var data []string
		for _, in := range step.Node.Inputs {
			if in != "" && s.a.Derived(in) && !slices.Contains(data, in) {
				data = append(data, in)
			}
		}
		switch {
		case len(data) == 1:
			tensor = data[0]
			continue
		case step.Elem == nil:
			return false
		}
		forms := s.solidOf(q.step, step, data)
		if forms != nil {
			q.forms = forms
		}
		return forms != nil
	}
}

// sharedSum reports whether a quantiser's value is, behind steps of one argument, a sum that others read too: then it is best
// made once.
func (s *state) sharedSum(quantiser *graph.Step) bool {
	tensor, several := quantiser.Node.Inputs[0], false
	for {
		step := s.prog.Producer(tensor)
		if _, integer := s.a.Integer(tensor, 0); integer || step == nil || step.Dot != nil || step.Order != nil || step.Window != nil {
			return false
		}
		readers := 0
		for _, r := range s.prog.Readers(tensor) {
			if s.used[r] {
				readers++
			}
		}
		several = several || readers > 1
		var data []string
		for _, in := range step.Node.Inputs {
			if in != "" && s.a.Derived(in) && !slices.Contains(data, in) {
				data = append(data, in)
			}
		}
		if len(data) != 1 {
			return several && step.Elem != nil
		}
		tensor = data[0]
	}
}

// product is the codes of a product of two integers. reject is why they are no sum.
func (j *joining) product(limit int, reject *unmapped.Reason) (choose.Function, *unmapped.Reason) {
	out := choose.Times{Steps: make([]num.Step, j.channels)}
	for c, k := range j.first {
		e, _ := j.form.Numbers(k)
		x := j.ranges(c)
		o, outer, ok := e.Within([]real.Interval{whole.Interval(x[0]), whole.Interval(x[1])}).Product()
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
		a, ok := x[1].Times(x[0].Lo)
		b, ok2 := x[1].Times(x[0].Hi)
		if !ok || !ok2 {
			return nil, reject
		}
		f, err := real.Compile(outer).StepOver(a.Union(b), limit)
		if err != nil {
			return nil, whole.Stepless(err, limit)
		}
		out.Steps[c] = f
	}
	return out, nil
}
