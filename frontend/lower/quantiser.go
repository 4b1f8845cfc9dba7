package lower

import (
	"errors"
	"slices"

	"hlsgen/frontend/graph"
	"hlsgen/frontend/lower/choose"
	"hlsgen/frontend/lower/find"
	"hlsgen/frontend/lower/integers"
	"hlsgen/frontend/lower/place"
	"hlsgen/frontend/lower/unmapped"
	"hlsgen/frontend/program"
	"hlsgen/frontend/real"
	"hlsgen/frontend/scaled"
	"hlsgen/internal/diag"
)

// maxHeadSteps is the most steps that a layer computes for a quantiser at the model's end. One with more goes to the
// host, where it costs nothing.
const maxHeadSteps = 1<<8 - 1

func slice(*lowering, *program.Step) (bool, error) { return true, nil }

func quantiser(l *lowering, step *program.Step) (bool, error) {
	if !scaled.IsCode(step) {
		return false, nil
	}
	if reject := l.Trace(graph.Size(step.Shape)); reject != nil {
		return true, reject
	}
	codes, reject := l.CodesOf(step)
	if reject != nil {
		return true, reject
	}
	if l.RoundsProducts(codes) {
		l.Defer(step)
		l.Integers.Declare(step.Output, scaled.IdentityAffine)
		return true, nil
	}
	if l.SharedSum(step.Node.Inputs[0]) && l.addUp(step.Node.Inputs[0]) == nil {
		codes = again(&l.circuit, step)
	}
	q := &quantising{circuit: &l.circuit, step: step, limit: integers.MaxSteps}
	if !l.Uses.FeedsLayer(step.Output) {
		q.host, q.limit = true, maxHeadSteps
	}
	reject = q.lower(codes)
	switch {
	case q.host && errors.Is(reject, real.ErrTooManySteps):
		return true, nil // the host rounds the accumulators
	case q.host && unlayered(reject):
		l.leave(step, "quantiser", reject)
		return true, nil
	case unlayered(reject) && !l.Uses.FeedsProduct(step.Output):
		l.hosted[step.Output] = true // with the quantisers behind it
		l.leave(step, "quantiser", reject)
		return true, nil
	}
	switch {
	case reject != nil:
		if joins(codes) && find.BehindMove(l.AnalysedProgram, step.Node.Inputs[0]) {
			l.ahead[step.Output] = true
		}
		return true, reject
	case q.of != nil:
		l.Integers.DeclareSome(step.Output, q.of)
	default:
		l.Integers.Declare(step.Output, scaled.IdentityAffine)
	}
	return true, nil
}

// unlayered reports whether a reason says that no layer computes a function. The host can still compute such a
// function.
func unlayered(reject error) bool {
	var why *unmapped.Reason
	return errors.As(reject, &why) && why.Code == diag.NotMapped
}

// again reads a quantiser once more, after something in front of it has become integers.
func again(c *circuit, step *program.Step) *find.RoundedCodes {
	codes, reject := c.CodesOf(step)
	if reject != nil {
		panic(reject) // cannot happen: it had forms before
	}
	return codes
}

// A quantising is the work of finding layers for the codes of one quantiser.
type quantising struct {
	*circuit
	step  *program.Step
	limit int           // limit of steps
	host  bool          // the host can take over, since no layer needs the codes
	of    []real.Affine // real values of codes with constants among them; nil if there are no constants
}

func (q *quantising) lower(codes *find.RoundedCodes) error {
	if form, ok := codes.SeveralIntegersForm(); ok {
		forms := codes.Forms
		if len(forms.Of) > 1 {
			m, ok := q.FindCombiningStep(q.step.Node.Inputs[0])
			if ok {
				forms, ok = q.oneForm(q.step, m.Step, m.Data)
			}
			if !ok {
				return find.SeveralIntegersReason(form)
			}
			if len(forms.Of[0].Leaves()) == 1 { // the combined values are now one tensor
				return q.lower(again(q.circuit, q.step))
			}
		}
		reject := q.join(forms)
		if errors.Is(reject, find.ErrSeveralIntegers) && !q.host && q.recodeMeeting() {
			return q.lower(again(q.circuit, q.step))
		}
		if errors.Is(reject, real.ErrTooManySteps) && !q.host && q.addUp(q.step.Node.Inputs[0]) == nil {
			// One layer computes the sum, and a second layer, which multiplies, the codes.
			if sum := again(q.circuit, q.step); !joins(sum) {
				return q.lower(sum)
			}
		}
		return reject
	}
	sources, reject := codes.Sources()
	if reject != nil {
		if slices.ContainsFunc(codes.Axes(), func(axis int) bool { return q.moveFirst(codes, axis) }) {
			return nil
		}
		var ok bool
		if sources, ok = codes.Positions(); !ok || q.host {
			return reject
		}
	}
	// Compute the codes of each source before any element moves, where the number of thresholds is least.
	coded := map[string]*place.Place{}
	for _, src := range sources {
		if coded[src.Tensor], reject = q.codes(codes, src); reject != nil {
			return reject
		}
	}
	if first := coded[sources[0].Tensor]; len(sources) == 1 {
		if at, ok := codes.InPlace(first); ok {
			q.Places[q.step.Output] = &place.Place{WireStream: first.WireStream, At: at, Alias: first.Alias}
			return nil
		}
		if q.apart && q.among(codes, first) { // inserting constants might bring time steps together
			return nil
		}
	}
	if reject = q.move(codes, sources, coded); reject == nil || q.host {
		return reject
	}
	if len(sources) > 1 {
		if slices.ContainsFunc(codes.Axes(), func(axis int) bool { return q.moveData(codes, axis, sources, coded) }) {
			return nil
		}
		return reject
	}
	if !q.among(codes, coded[sources[0].Tensor]) {
		return reject
	}
	return nil
}

// among leaves codes on the stream of the integers from which alone they come, without the constants among them. It
// returns false if that is impossible.
func (q *quantising) among(codes *find.RoundedCodes, source *place.Place) bool {
	at, of, ok := codes.Among(source)
	if ok {
		q.Places[q.step.Output], q.of = &place.Place{WireStream: source.WireStream, At: at, Alias: source.Alias}, of
	}
	return ok
}

func joins(codes *find.RoundedCodes) bool {
	_, ok := codes.SeveralIntegersForm()
	return ok
}

// join adds layers for codes of sums or products of several integers, given the forms of what the quantiser reads.
func (q *quantising) join(forms *scaled.Forms) error {
	j, wires, reject := q.joint(q.step, forms)
	if reject != nil {
		return reject
	}
	f, reject := j.Codes(q.types(wires), q.limit)
	if reject != nil {
		return reject
	}
	w, reject := q.make(f, wires, q.step.Output, append([]*graph.Node{q.step.Node}, j.Nodes...))
	if reject != nil {
		return reject
	}
	q.put(q.step.Output, w, j.At)
	return nil
}

// codes adds layers for the codes of one source, and returns where these are.
func (q *quantising) codes(codes *find.RoundedCodes, src *find.CodeSource) (*place.Place, error) {
	at := q.Places[src.Tensor]
	if m, ok := at.Source.(*maximum); ok {
		if src.ByElement(at.Type) {
			delete(q.Places, src.Tensor)
			return q.codesOfGreatest(m, src)
		}
		return q.greatestCodes(m, src)
	}
	w, wire, reject := q.activate(at.WireStream, src)
	if reject != nil {
		return nil, reject
	}
	return &place.Place{WireStream: w, At: at.At, Alias: wire}, nil
}

// greatestCodes computes the codes of a maximum that waits. If the quantiser never falls, the maximum can be taken
// of codes instead of integers; if it never rises, the maximum can be taken of negated codes. Otherwise the maximum
// is taken of the integers.
func (q *quantising) greatestCodes(m *maximum, src *find.CodeSource) (*place.Place, error) {
	delete(q.Places, src.Tensor)
	functions, falls := slices.Clone(src.Functions), make([]bool, len(src.Functions))
	for c, f := range functions {
		d, ok := f.Direction()
		if !ok {
			return q.codesOfGreatest(m, src)
		}
		if falls[c] = d < 0; falls[c] {
			functions[c] = real.Neg(f)
		}
	}
	tensor, win := m.step.Node.Inputs[0], m.step.Window
	shape, elements, reject := q.Layouts.Frame(win, q.Known[tensor].Shape)
	if reject != nil {
		return nil, reject
	}
	forms, err := q.Integers.Forms(tensor, elements.Table())
	if err != nil {
		return nil, unmapped.NewReason(err.Error(), "quantise every tensor between two matrix layers")
	}
	im := &find.Image{LayerOperand: &find.LayerOperand{}}
	im.H, im.W, im.C = place.Pixels(shape)
	ahead, order, reject := q.CodesBeforeMaximum(forms, im.C, functions)
	if reject != nil {
		return nil, reject
	}
	inner := *q
	inner.host = false
	w, _, reject := inner.activate(q.Places[ahead.Tensor].WireStream, ahead)
	if reject != nil {
		return nil, reject
	}
	wire, reject := q.net.Move([]int{w.Wire(&q.net, q.Name(ahead.Tensor))}, order, shape, 0, nil)
	if reject != nil {
		return nil, reject
	}
	im.Nodes = ahead.Nodes
	wire, at, reject := q.pooled(m.step, im, wire, q.step.Output)
	if reject != nil {
		return nil, reject
	}
	if wire, reject = q.turn(wire, falls, im.Nodes); reject != nil {
		return nil, reject
	}
	return &place.Place{WireStream: place.StreamOnWire(&q.net, wire), At: at}, nil
}

// codesOfGreatest adds layers that take the maximum of integers and then quantise it, and returns where the codes are.
func (q *quantising) codesOfGreatest(m *maximum, src *find.CodeSource) (*place.Place, error) {
	if reject := q.greatest(m.step); reject != nil {
		return nil, reject
	}
	codes := again(q.circuit, q.step)
	sources, reject := codes.Sources()
	if reject != nil {
		var ok bool
		if sources, ok = codes.Positions(); !ok {
			return nil, reject
		}
	}
	for _, again := range sources {
		if again.Tensor == src.Tensor {
			return q.codes(codes, again)
		}
	}
	panic("lower: a source has gone")
}

// activate applies the functions of a source to its integers, on a stream. If the functions change nothing, the
// codes are the integers themselves, and wire is true.
func (q *quantising) activate(integers *place.WireStream, src *find.CodeSource) (codes *place.WireStream, wire bool,
	reject error) {
	made, waits := waiting(integers)
	var behind *choose.FusibleProduct
	in := integers.Type
	if src.ByElement(in) {
		in, _ = in.Vectors(len(src.Functions))
	} else if waits && q.Uses.ReachesOutputsOnlyThrough(src.Tensor, q.step) {
		behind = made.FusibleProduct
	}
	a, reject := q.steps.Activate(src.Functions, in, behind, q.limit, q.host)
	if reject != nil {
		return nil, false, reject
	}
	c, reject := choose.Layer(a)
	if reject != nil {
		return nil, false, reject
	}
	nodes, from := append(slices.Clone(src.Nodes), q.step.Node), 0
	switch {
	case c.Wire():
		q.wires = append(q.wires, nodes...)
		return integers, true, nil
	case c.Fused():
		nodes, from = append(made.all(), src.Nodes...), made.in
	default:
		from = integers.Wire(&q.net, q.Name(src.Tensor))
	}
	w, reject := q.add(c, []int{from}, q.step.Output, nodes)
	return place.StreamOnWire(&q.net, w), false, reject
}

// move brings codes into the order of pixels: those of several sources, or of one source whose elements are
// repeated, left out or padded.
func (q *quantising) move(codes *find.RoundedCodes, sources []*find.CodeSource,
	coded map[string]*place.Place) (first error) {
	for _, axis := range codes.Axes() {
		reject := q.moveAlong(codes, axis, sources, coded)
		if reject == nil {
			return nil
		}
		if first == nil {
			first = reject
		}
	}
	return first
}

func (q *quantising) moveAlong(codes *find.RoundedCodes, axis int, sources []*find.CodeSource,
	coded map[string]*place.Place) error {
	f, reject := codes.Moved(axis, sources, coded)
	if reject != nil {
		return reject
	}
	wires := make([]int, len(f.Tensors))
	for i, tensor := range f.Tensors {
		wires[i] = coded[tensor].Wire(&q.net, q.Name(tensor))
	}
	w, reject := q.net.Move(wires, f.Movement, f.Shape, f.Fill, f.Nodes)
	if reject != nil {
		return reject
	}
	q.put(q.step.Output, w, f.Places)
	return nil
}

// moveData moves codes of several sources side by side, without the constants among them.
func (q *quantising) moveData(codes *find.RoundedCodes, axis int, sources []*find.CodeSource,
	coded map[string]*place.Place) bool {
	f, of, ok := codes.Data(axis, sources, coded)
	if !ok {
		return false
	}
	wires := make([]int, len(f.Tensors))
	for i, tensor := range f.Tensors {
		wires[i] = coded[tensor].Wire(&q.net, q.Name(tensor))
	}
	w, reject := q.net.Move(wires, f.Movement, f.Shape, 0, f.Nodes)
	if reject != nil {
		return false
	}
	q.put(q.step.Output, w, f.Places)
	q.of = of
	return true
}

// moveFirst brings integers into the order of the codes, and then computes the codes. An integer that is quantised in
// several ways must occur several times. It returns false if it cannot.
func (q *quantising) moveFirst(unmoved *find.RoundedCodes, axis int) bool {
	f, ok := unmoved.Unmoved(axis)
	if !ok {
		return false
	}
	w, reject := q.arrange(f.LayerOperand, f.Shape, 0)
	if reject != nil {
		return false
	}
	inner := *q
	inner.host = true // more steps than the limit are of no use here
	codes, _, reject := inner.activate(place.StreamOnWire(&q.net, w), &find.CodeSource{Functions: f.Functions})
	if reject != nil {
		return false
	}
	q.Places[q.step.Output] = &place.Place{WireStream: codes, At: f.Places}
	return true
}
