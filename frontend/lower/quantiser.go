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

// maxHeadSteps is the largest number of steps that a layer computes for a quantiser at the model's end. A quantiser
// with more goes to the host, where it costs nothing.
const maxHeadSteps = 1<<8 - 1

func slice(*lowering, *program.Step) (bool, error) { return true, nil }

func quantiser(l *lowering, step *program.Step) (bool, error) {
	if !scaled.IsQuantiserStep(step) {
		return false, nil
	}
	if reject := l.CountTowardsTraceLimit(graph.ElementCount(step.Shape)); reject != nil {
		return true, reject
	}
	codes, reject := l.ReadQuantiser(step)
	if reject != nil {
		return true, reject
	}
	if l.IsQuantiserRoundingProducts(codes) {
		l.DeferProductRounding(step)
		l.Integers.DeclareIntegerTensor(step.Output, scaled.IdentityAffines)
		return true, nil
	}
	if l.IsFromSharedSum(step.Node.Inputs[0]) && l.addUp(step.Node.Inputs[0]) == nil {
		codes = again(&l.circuit, step)
	}
	q := &quantising{circuit: &l.circuit, step: step, limit: integers.MaxActivationSteps}
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
	case unlayered(reject) && !l.Uses.FeedsProductOrLoop(step.Output):
		l.hosted[step.Output] = true // with the quantisers behind it
		l.leave(step, "quantiser", reject)
		return true, nil
	}
	switch {
	case reject != nil:
		if joins(codes) && find.IsBehindMove(l.AnalysedProgram, step.Node.Inputs[0]) {
			l.ahead[step.Output] = true
		}
		return true, reject
	case q.of != nil:
		l.Integers.DeclareIntegersAndConstants(step.Output, q.of)
	default:
		l.Integers.DeclareIntegerTensor(step.Output, scaled.IdentityAffines)
	}
	return true, nil
}

// unlayered reports whether a reason says that no layer computes a function. The host can still compute such a
// function.
func unlayered(reject error) bool {
	var why *unmapped.Reason
	return errors.As(reject, &why) && why.Code == diag.NodeNotMapped
}

// again returns a quantiser's input, read once more after something in front of the quantiser has become integers.
func again(c *circuit, step *program.Step) *find.QuantiserCodes {
	codes, reject := c.ReadQuantiser(step)
	if reject != nil {
		panic(reject) // cannot happen: it had forms before
	}
	return codes
}

// A quantising is the state of the search for layers that compute the codes of one quantiser.
type quantising struct {
	*circuit
	step  *program.Step
	limit int           // largest number of steps
	host  bool          // the host can take over, since no layer needs the codes
	of    []real.Affine // real values of codes with constants among them; nil if there are no constants
}

func (q *quantising) lower(codes *find.QuantiserCodes) error {
	if form, ok := codes.SeveralIntegersForm(); ok {
		forms := codes.Forms
		if len(forms.Of) > 1 {
			m, ok := q.FindCombiningStep(q.step.Node.Inputs[0])
			if ok {
				forms, ok = q.oneForm(q.step, m.Step, m.Data)
			}
			if !ok {
				return find.NewSeveralIntegersReason(form)
			}
			if len(forms.Of[0].IntegerVariables()) == 1 { // the combined values are now one tensor
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
	sources, reject := codes.CodeSources()
	if reject != nil {
		if slices.ContainsFunc(codes.CandidateChannelAxes(), func(axis int) bool { return q.moveFirst(codes, axis) }) {
			return nil
		}
		var ok bool
		if sources, ok = codes.CodeSourcesPerElement(); !ok || q.host {
			return reject
		}
	}
	// Compute the codes of each source before any element moves, where the number of thresholds is least.
	coded := map[string]*place.TensorPlace{}
	for _, src := range sources {
		if coded[src.Tensor], reject = q.codes(codes, src); reject != nil {
			return reject
		}
	}
	if first := coded[sources[0].Tensor]; len(sources) == 1 {
		if at, ok := codes.OneToOnePositions(first); ok {
			q.Places[q.step.Output] = &place.TensorPlace{WireStream: first.WireStream, At: at, Alias: first.Alias}
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
		if slices.ContainsFunc(codes.CandidateChannelAxes(), func(axis int) bool {
			return q.moveData(codes, axis,
				sources, coded)
		}) {
			return nil
		}
		return reject
	}
	if !q.among(codes, coded[sources[0].Tensor]) {
		return reject
	}
	return nil
}

// among leaves codes that all come from one stream where they are on that stream, without the constants among them. It
// returns false if that is impossible.
func (q *quantising) among(codes *find.QuantiserCodes, source *place.TensorPlace) bool {
	at, of, ok := codes.PositionsAmongConstants(source)
	if ok {
		q.Places[q.step.Output], q.of = &place.TensorPlace{WireStream: source.WireStream, At: at, Alias: source.Alias},
			of
	}
	return ok
}

func joins(codes *find.QuantiserCodes) bool {
	_, ok := codes.SeveralIntegersForm()
	return ok
}

// join adds layers for codes of sums or products of several integers, given the forms of what the quantiser reads.
func (q *quantising) join(forms *scaled.ElementForms) error {
	j, wires, reject := q.joint(q.step, forms)
	if reject != nil {
		return reject
	}
	f, reject := j.CodesFunction(q.types(wires), q.limit)
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
func (q *quantising) codes(codes *find.QuantiserCodes, src *find.CodeSource) (*place.TensorPlace, error) {
	at := q.Places[src.Tensor]
	if m, ok := at.Source.(*maximum); ok {
		if src.HasFunctionPerElement(at.Type) {
			delete(q.Places, src.Tensor)
			return q.codesOfGreatest(m, src)
		}
		return q.greatestCodes(m, src)
	}
	w, wire, reject := q.activate(at.WireStream, src)
	if reject != nil {
		return nil, reject
	}
	return &place.TensorPlace{WireStream: w, At: at.At, Alias: wire}, nil
}

// greatestCodes computes the codes of a maximum that waits. If the quantiser never falls, the maximum can be taken
// of codes instead of integers; if it never rises, the maximum can be taken of negated codes. Otherwise the maximum
// is taken of the integers.
func (q *quantising) greatestCodes(m *maximum, src *find.CodeSource) (*place.TensorPlace, error) {
	delete(q.Places, src.Tensor)
	functions, falls := slices.Clone(src.Functions), make([]bool, len(src.Functions))
	for c, f := range functions {
		d, ok := f.MonotonicDirection()
		if !ok {
			return q.codesOfGreatest(m, src)
		}
		if falls[c] = d < 0; falls[c] {
			functions[c] = real.Neg(f)
		}
	}
	tensor, win := m.step.Node.Inputs[0], m.step.Window
	shape, elements, reject := q.Layouts.WindowFrameElements(win, q.Known[tensor].Shape)
	if reject != nil {
		return nil, reject
	}
	forms, err := q.Integers.FormsOfElements(tensor, elements.ToSlice())
	if err != nil {
		return nil, unmapped.NewReason(err.Error(), "quantise every tensor between two matrix layers")
	}
	im := &find.PaddedImage{LayerOperand: &find.LayerOperand{}}
	im.H, im.W, im.C = place.HeightWidthChannelsOf(shape)
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
	wire, reject := q.net.AddMovement([]int{w.EnsureWire(&q.net, q.StreamNameOf(ahead.Tensor))}, order, shape, 0, nil)
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
	return &place.TensorPlace{WireStream: place.NewStreamOnWire(&q.net, wire), At: at}, nil
}

// codesOfGreatest adds layers that take the maximum of integers and then quantise it. It returns the place of the
// codes.
func (q *quantising) codesOfGreatest(m *maximum, src *find.CodeSource) (*place.TensorPlace, error) {
	if reject := q.greatest(m.step); reject != nil {
		return nil, reject
	}
	codes := again(q.circuit, q.step)
	sources, reject := codes.CodeSources()
	if reject != nil {
		var ok bool
		if sources, ok = codes.CodeSourcesPerElement(); !ok {
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
	var behind *choose.ProductBeforeActivation
	in := integers.Type
	if src.HasFunctionPerElement(in) {
		in, _ = in.AsVectors(len(src.Functions))
	} else if waits && q.Uses.ReachesOutputsOnlyThrough(src.Tensor, q.step) {
		behind = made.ProductBeforeActivation
	}
	a, reject := q.steps.StepActivationOf(src.Functions, in, behind, q.limit, q.host)
	if reject != nil {
		return nil, false, reject
	}
	c, reject := choose.ChooseLayersForFunction(a)
	if reject != nil {
		return nil, false, reject
	}
	nodes, from := append(slices.Clone(src.Nodes), q.step.Node), 0
	switch {
	case c.IsWire():
		q.wires = append(q.wires, nodes...)
		return integers, true, nil
	case c.IsFused():
		nodes, from = append(made.all(), src.Nodes...), made.in
	default:
		from = integers.EnsureWire(&q.net, q.StreamNameOf(src.Tensor))
	}
	w, reject := q.add(c, []int{from}, q.step.Output, nodes)
	return place.NewStreamOnWire(&q.net, w), false, reject
}

// move brings codes into the order of pixels: those of several sources, or of one source whose elements are
// repeated, left out or padded.
func (q *quantising) move(codes *find.QuantiserCodes, sources []*find.CodeSource,
	coded map[string]*place.TensorPlace) (first error) {
	for _, axis := range codes.CandidateChannelAxes() {
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

func (q *quantising) moveAlong(codes *find.QuantiserCodes, axis int, sources []*find.CodeSource,
	coded map[string]*place.TensorPlace) error {
	f, reject := codes.ArrangeCodes(axis, sources, coded)
	if reject != nil {
		return reject
	}
	wires := make([]int, len(f.Tensors))
	for i, tensor := range f.Tensors {
		wires[i] = coded[tensor].EnsureWire(&q.net, q.StreamNameOf(tensor))
	}
	w, reject := q.net.AddMovement(wires, f.Movement, f.Shape, f.Fill, f.Nodes)
	if reject != nil {
		return reject
	}
	q.put(q.step.Output, w, f.Places)
	return nil
}

// moveData moves codes of several sources side by side, without the constants among them. It returns false if it
// cannot.
func (q *quantising) moveData(codes *find.QuantiserCodes, axis int, sources []*find.CodeSource,
	coded map[string]*place.TensorPlace) bool {
	f, of, ok := codes.ArrangeWithoutConstants(axis, sources, coded)
	if !ok {
		return false
	}
	wires := make([]int, len(f.Tensors))
	for i, tensor := range f.Tensors {
		wires[i] = coded[tensor].EnsureWire(&q.net, q.StreamNameOf(tensor))
	}
	w, reject := q.net.AddMovement(wires, f.Movement, f.Shape, 0, f.Nodes)
	if reject != nil {
		return false
	}
	q.put(q.step.Output, w, f.Places)
	q.of = of
	return true
}

// moveFirst adds layers that bring integers into the order of the codes and then compute the codes. It serves integers
// that are quantised in several ways and so must occur several times. It returns false if it cannot.
func (q *quantising) moveFirst(unmoved *find.QuantiserCodes, axis int) bool {
	f, ok := unmoved.ArrangeIntegers(axis)
	if !ok {
		return false
	}
	w, reject := q.arrange(f.LayerOperand, f.Shape, 0)
	if reject != nil {
		return false
	}
	inner := *q
	inner.host = true // more steps than the limit are of no use here
	codes, _, reject := inner.activate(place.NewStreamOnWire(&q.net, w), &find.CodeSource{Functions: f.Functions})
	if reject != nil {
		return false
	}
	q.Places[q.step.Output] = &place.TensorPlace{WireStream: codes, At: f.Places}
	return true
}
