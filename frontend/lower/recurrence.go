package lower

import (
	"math/big"
	"slices"

	"hlsgen/frontend/canon"
	"hlsgen/frontend/graph"
	"hlsgen/frontend/lower/choose"
	"hlsgen/frontend/lower/find"
	"hlsgen/frontend/lower/place"
	"hlsgen/frontend/lower/recur"
	"hlsgen/frontend/lower/unmapped"
	"hlsgen/frontend/program"
	"hlsgen/frontend/real"
	"hlsgen/frontend/scaled"
	"hlsgen/hlslib/firstlast"
	"hlsgen/hlslib/rnn"
	"hlsgen/internal/dataflow"
	"hlsgen/internal/num"
)

// A loop is one or two recurrent cells that have no layer yet. A second cell that runs over the same input in the other
// direction may join the first. The two then take turns, and neither waits for itself.
type loop struct {
	step     *program.Step // an output of the first cell
	nodes    []*graph.Node
	length   int // number of time steps
	cells    []*loopCell
	outputs  []loopOutput
	refs     []rnn.ValueRef      // values that are output
	streams  []*place.WireStream // streams of these values
	sequence bool                // some output has all time steps
	built    bool
}

// A loopCell is one cell of a loop, with the tensors that it scans and those with which it begins.
type loopCell struct {
	*recur.CellProgram
	of      *program.Recur
	in      []scannedInput
	kept    []int // elements of a time step that are data
	arrives []*find.LayerOperand
}

// A scannedInput is a tensor that a cell reads time step by time step, as integers on streams.
type scannedInput struct {
	*find.LayerOperand
	elements int // elements in a time step, without constants
	of       int // elements in a time step, with constants
	reverse  bool
}

// A loopOutput is a tensor that a loop computes: units of a cell in every run, or in the last run.
type loopOutput struct {
	place *place.TensorPlace
	cell  *loopCell
	ref   int
	units []int32 // unit of each element
	runs  []int32 // run of each element; nil if only the last run counts
}

// EnsureWire panics. It is never called, since loops are built before anything reads their streams.
func (*loop) EnsureWire(*place.Netlist, string) int {
	panic("lower: a recurrence is read before it is built")
}

// A recurrences holds the loops that have been read, and the outputs that belong to them.
type recurrences struct {
	of      map[*program.Recur]*loop
	refused map[*program.Recur]bool
	order   []*loop
	open    map[string]bool // tensors that depend on loops that are not built yet
}

func newRecurrences() recurrences {
	return recurrences{of: map[*program.Recur]*loop{}, refused: map[*program.Recur]bool{}, open: map[string]bool{}}
}

// pair returns the loop that takes over e, the only cell of recurrence of. That is an open loop whose cell can take
// turns with it, or e itself as a new loop.
func (r *recurrences) pair(of *program.Recur, e *loop) *loop {
	if at := slices.IndexFunc(r.order, func(o *loop) bool { return o.pairs(e) }); at >= 0 {
		r.order[at].join(e)
		e = r.order[at]
	} else {
		r.order = append(r.order, e)
	}
	r.of[of] = e
	return e
}

func recurrence(l *lowering, step *program.Step) (bool, error) {
	if step.Recur == nil {
		return false, nil
	}
	if l.loops.refused[step.Recur] { // reported at its first output
		l.failed[step.Output] = true
		return true, nil
	}
	reject := l.recurrence(step)
	l.loops.refused[step.Recur] = reject != nil
	if reject != nil && (step.Recur.Length <= canon.MaxUnrolledIterations || step.Node.Stands != nil) {
		for _, index := range step.Node.FileNodeIndices() {
			l.unroll[index] = true
		}
	}
	return true, reject
}

// recurrence reads a recurrence, unless another output of it has been read, and makes a place for its output. The error
// is the reason why no layer runs it.
func (l *lowering) recurrence(step *program.Step) error {
	r := step.Recur
	if e := l.loops.of[r]; e != nil {
		return l.loopOutput(step, e)
	}
	c, source := &loopCell{of: r}, recur.LoopToRead{Recur: r, Wanted: l.wanted(r), Instead: make([]string, r.States)}
	e := &loop{step: step, length: r.Length, cells: []*loopCell{c}}
	for k := range r.Scanned {
		codes, nodes, reject := l.scanned(c, step.Node.Inputs[r.States+k], r.Scanned[k], r.Length)
		if reject != nil {
			return reject
		}
		source.Scanned, e.nodes = append(source.Scanned, codes), graph.AppendMissingNodes(e.nodes, nodes)
	}
	if len(c.kept) == 0 {
		return unmapped.NewReason("its input is constant", "remove the constant part of the model")
	}
	starts := make([]*find.LayerOperand, r.States)
	for k := range r.States {
		initial := step.Node.Inputs[k]
		t := l.Known[initial].Const
		var codes *recur.IntegersWithValues
		if t == nil {
			codes, starts[k] = l.initial(initial)
		}
		if t == nil && codes == nil {
			source.Instead[k] = instead(l, initial)
		}
		source.Start, source.Arrives = append(source.Start, t), append(source.Arrives, codes)
	}
	var reject error
	if c.CellProgram, reject = recur.ReadCellProgram(source); reject != nil {
		return reject
	}
	for _, a := range c.Arrives {
		c.arrives = append(c.arrives, starts[a.Body])
		e.nodes = graph.AppendMissingNodes(e.nodes, starts[a.Body].Nodes)
	}
	e.waits(l, 1)
	return l.loopOutput(step, l.loops.pair(r, e))
}

// waits adds by to the number of waiting operands of each tensor that the loop reads; a negative number subtracts.
func (e *loop) waits(l *lowering, by int) {
	for _, c := range e.cells {
		list := slices.Clone(c.arrives)
		for _, in := range c.in {
			list = append(list, in.LayerOperand)
		}
		for _, o := range list {
			for _, tensor := range o.Tensors {
				l.waiting[tensor] += by
			}
		}
	}
}

// wanted reports, for each output of a recurrence's body, whether anything needs it.
func (l *circuit) wanted(r *program.Recur) []bool {
	out := make([]bool, len(r.Body.Graph.Outputs))
	for _, s := range l.Steps {
		if s.Recur == r && l.Uses.IsStepNeededByOutputs(s) {
			out[s.Result] = true
		}
	}
	return out
}

// scanned reads a tensor that cell c scans, adds it to c's inputs, and returns the integers of a time step. It panics
// unless the scanned axis has the given length.
func (l *circuit) scanned(c *loopCell, tensor string, s program.ScanAxis, length int) (of recur.IntegersWithValues,
	nodes []*graph.Node, reject error) {
	shape := l.Known[tensor].Shape
	if shape[s.Axis] != length {
		panic("lower: a scanned axis of another length")
	}
	elements := scanOrder(shape, s.Axis)
	o, reject := l.operand(tensor, program.NewIndexList(elements))
	if reject != nil {
		return of, nil, reject
	}
	n := len(elements) / length
	affine, ok := o.ChannelAffines(n)
	if !ok {
		return of, nil, unmapped.NewReason("elements of its input are scaled differently from step to step",
			"quantise the input with one scale for all steps")
	}
	rest, kept, values, ok := o.WithoutConstantChannels(n)
	if !ok && len(kept) > 0 || rest != nil && rest.Constants != nil {
		return of, nil, unmapped.NewReason("elements of its input are constants in some steps, and data in others",
			"put a quantiser of the sequence's scale behind what pads it: constants are codes then, too")
	}
	for k, f := range affine {
		if values[k] != nil {
			f = real.Affine{Scale: new(big.Rat), Bias: values[k]}
		}
		of.Values = append(of.Values, f)
	}
	first := 0
	for _, in := range c.in {
		first += in.of
	}
	for _, k := range kept {
		c.kept = append(c.kept, first+k)
	}
	c.in = append(c.in, scannedInput{rest, len(kept), n, s.Reverse})
	of.Span = l.span(o)
	return of, o.Nodes, nil
}

// span returns a range that holds all integers of an operand.
func (l *circuit) span(o *find.LayerOperand) num.Range {
	var span num.Range
	for i, tensor := range o.Tensors {
		r := l.Places[tensor].Type.UnionOfRanges()
		if i > 0 {
			r = r.Union(span)
		}
		span = r
	}
	return span
}

// scanOrder returns the indices of a tensor's elements in the order of time steps, which lie along an axis.
func scanOrder(shape []int, axis int) []int32 {
	inner := graph.ElementCount(shape[axis+1:])
	outer := graph.ElementCount(shape) / inner / shape[axis]
	var out []int32
	for t := range shape[axis] {
		for o := range outer {
			for i := range inner {
				out = append(out, int32((o*shape[axis]+t)*inner+i))
			}
		}
	}
	return out
}

// pairs reports whether a loop with one cell can take turns with the cell of another. Both must have the same
// number of inputs and time steps, run in opposite directions, and differ only in numbers.
func (e *loop) pairs(o *loop) bool {
	a, b := e.cells[0], o.cells[0]
	return !e.built && len(e.cells) == 1 && e.length == o.length && len(a.kept) == len(b.kept) &&
		slices.EqualFunc(a.in, b.in, func(x, y scannedInput) bool { return x.reverse != y.reverse }) &&
		a.HasSameForm(b.CellProgram)
}

func (e *loop) join(o *loop) {
	e.cells = append(e.cells, o.cells...)
	e.nodes = graph.AppendMissingNodes(e.nodes, append(slices.Clone(o.nodes), o.step.Node))
}

// loopOutput records an output of a recurrence: a value of every time step or of the last one. Its place is known
// only when the layer is built, since a further cell may join.
func (l *lowering) loopOutput(step *program.Step, e *loop) error {
	r := step.Recur
	o := loopOutput{cell: e.cells[slices.IndexFunc(e.cells, func(c *loopCell) bool { return c.of == r })]}
	from := o.cell.Outputs[step.Result]
	if o.ref = slices.Index(e.refs, from.Ref); o.ref < 0 {
		o.ref = len(e.refs)
		e.refs, e.streams = append(e.refs, from.Ref), append(e.streams, &place.WireStream{Source: e})
	}
	affine := from.Of
	if o.units = from.At; step.Result >= r.States {
		e.sequence = true
		g := r.Gathered[step.Result-r.States]
		n := graph.ElementCount(step.Shape)
		o.units, o.runs, affine = make([]int32, n), make([]int32, n), make([]real.Affine, n)
		for t, i := range scanOrder(step.Shape, g.Axis) {
			run, element := t/len(from.At), t%len(from.At)
			if g.Reverse {
				run = r.Length - 1 - run
			}
			o.runs[i], o.units[i], affine[i] = int32(run), from.At[element], from.Of[element]
		}
	}
	o.place = &place.TensorPlace{WireStream: e.streams[o.ref]}
	l.Places[step.Output] = o.place
	l.Integers.DeclareIntegersAndConstants(step.Output, affine)
	e.outputs = append(e.outputs, o)
	return nil
}

// recurrencesFirst returns the steps of a program with recurrences, and all steps on which they depend, before the
// others. So cells over the same sequence are all read before one of them is needed.
func recurrencesFirst(p *program.Program) []*program.Step {
	early := map[*program.Step]bool{}
	needed := map[string]bool{}
	for _, step := range slices.Backward(p.Steps) {
		if step.Recur != nil || needed[step.Output] {
			early[step] = true
			for _, in := range step.Node.Inputs {
				needed[in] = true
			}
		}
	}
	first, rest := []*program.Step(nil), []*program.Step(nil)
	for _, step := range p.Steps {
		if early[step] {
			first = append(first, step)
		} else {
			rest = append(rest, step)
		}
	}
	return append(first, rest...)
}

// buildFor builds the loops that a step is about to read.
func (l *lowering) buildFor(step *program.Step) {
	open := l.loops.open
	if slices.ContainsFunc(step.Node.Inputs, func(in string) bool { return open[in] }) {
		if step.Move != nil || step.Elem != nil && step.Window == nil && !scaled.IsQuantiserStep(step) {
			open[step.Output] = true
		} else {
			l.buildLoops()
		}
	}
	if step.Recur != nil {
		open[step.Output] = true
	}
}

// buildLoops builds all loops that have been read, and records the places of their outputs. No cell can join them
// afterwards.
func (l *lowering) buildLoops() {
	for _, e := range l.loops.order {
		if e.built {
			continue
		}
		e.built = true
		if reject := l.build(e); reject != nil {
			l.report(e.step, "recurrence", reject)
			for tensor := range l.loops.open {
				l.failed[tensor] = true
			}
			continue
		}
		e.place()
	}
	clear(l.loops.open)
}

// place records where a loop's outputs are on the loop's streams.
func (e *loop) place() {
	for _, o := range e.outputs {
		units := o.cell.Program.Phases[e.refs[o.ref].Phase].Units
		width := len(e.cells) * units
		at := make([]int32, len(o.units))
		for i, u := range o.units {
			at[i] = int32(slices.Index(e.cells, o.cell)*units) + u
			switch {
			case o.runs != nil:
				at[i] += o.runs[i] * int32(width)
			case e.sequence:
				at[i] += int32((e.length - 1) * width)
			}
		}
		o.place.At = program.NewIndexList(at)
	}
}

// turns returns the integers that the cells read, in the order in which the cells take turns.
func (e *loop) turns(l *lowering) *find.LayerOperand {
	o := &find.LayerOperand{Nodes: e.nodes}
	for t := range e.length {
		for _, c := range e.cells {
			for _, in := range c.in {
				at := t
				if in.reverse {
					at = e.length - 1 - t
				}
				join(l, o, in.LayerOperand, at*in.elements, (at+1)*in.elements)
			}
		}
	}
	return o
}

// join appends elements first to end-1 of operand from to operand to.
func join(l *lowering, to, from *find.LayerOperand, first, end int) {
	for i := first; i < end; i++ {
		tensor, at := from.SourceOf(i)
		to.AppendPosition(to.FindOrAddStreamIndex(l.AnalysedProgram, from.Tensors[tensor]), at)
	}
}

// functions returns the functions that the loop's layers compute: the products with its input, and the cells.
func (e *loop) functions() (choose.MatrixProduct, choose.RecurrentCellSequence) {
	m := choose.MatrixProduct{Product: e.cells[0].Product}
	if d := len(e.cells); d > 1 {
		m.Groups = d
	}
	p := rnn.Params{Sequence: e.sequence, Outputs: e.refs}
	for _, c := range e.cells {
		for _, row := range c.Input {
			kept := make([]int64, len(c.kept))
			for i, k := range c.kept {
				kept[i] = row[k]
			}
			m.Weights = append(m.Weights, kept)
		}
		p.Cells = append(p.Cells, c.Program)
	}
	for _, a := range e.cells[0].Arrives {
		p.Starts = append(p.Starts, a.State)
	}
	return m, choose.RecurrentCellSequence{Loop: p}
}

// build adds the layers of a loop: the products with its inputs, and the recurrence behind them.
func (l *lowering) build(e *loop) error {
	e.waits(l, -1)
	in, reject := l.arrange(e.turns(l), dataflow.Shape{e.length, len(e.cells) * len(e.cells[0].kept)}, 0)
	if reject != nil {
		return reject
	}
	m, r := e.functions()
	r.Loop.Keeps, r.Loop.Sequence = l.stateful, e.sequence || l.timed
	products, reject := choose.ChooseLayersForFunction(m)
	if reject != nil {
		return reject
	}
	cells, reject := choose.ChooseLayersForFunction(r)
	if reject != nil {
		return reject
	}
	sums, err := l.net.AddLayer(products.Waits.OpWithoutActivation(), []int{in}, "", e.nodes)
	if err != nil {
		return unmapped.NewReason("no layer multiplies its input: "+err.Error(), "use fewer bits")
	}
	starts, reject := e.starts(l)
	if reject != nil {
		return reject
	}
	name := l.StreamNameOf(e.step.Node.Outputs[len(e.step.Node.Outputs)-1])
	out, err := l.net.AddLayer(cells.Ops[0], append(sums, starts...), name, append([]*graph.Node{e.step.Node},
		e.nodes...))
	if err != nil {
		return cells.RefusalReason(err)
	}
	for i, w := range out {
		if l.timed && !e.sequence {
			if w, err = l.lastStep(w, e.nodes); err != nil {
				return err
			}
		}
		e.streams[i].AttachWire(&l.net, w)
	}
	return nil
}

// lastStep adds a layer that takes the last time step on wire w, and returns its output's wire. With sequences of
// several lengths, a loop knows only after a time step that it was the last.
func (l *lowering) lastStep(w int, nodes []*graph.Node) (int, error) {
	width := l.net.WireType(w).Shape.ChannelCount()
	p := firstlast.Params{Step: width, Chunk: width, Order: []firstlast.ChunkOfFirstOrLastStep{{Last: true}},
		Shape: []int{width}}
	return l.net.AddMoverLayer(firstlast.New(p), []int{w}, nodes)
}
