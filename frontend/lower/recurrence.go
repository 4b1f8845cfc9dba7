package lower

import (
	"slices"

	"hlsgen/frontend/canon"
	"hlsgen/frontend/graph"
	"hlsgen/frontend/lower/choose"
	"hlsgen/frontend/lower/find"
	"hlsgen/frontend/lower/place"
	"hlsgen/frontend/lower/recur"
	"hlsgen/frontend/lower/unmapped"
	"hlsgen/frontend/real"
	"hlsgen/frontend/scaled"
	"hlsgen/hlslib/lstm"
	"hlsgen/internal/dataflow"
)

// A loop is an LSTM that has no layer yet: a second cell over the same input, which runs the other way, may still join
// it, so that the two take turns and neither waits for itself.
type loop struct {
	step     *graph.Step // an output of the first cell
	nodes    []*graph.Node
	in       []*find.Operand // per cell: the elements of its input, step by step
	length   int             // steps
	elements int             // of the input in a step
	cells    []*recur.Cell
	reverse  []bool
	streams  [2]*place.Stream // of h and of c
	read     [2]bool          // something asks for them
	outputs  []loopOutput
	sequence bool // some output has all steps
	built    bool
}

// A loopOutput is a tensor that a loop makes: of every run the units of a cell, or those of the last run.
type loopOutput struct {
	place *place.Place
	cell  int
	runs  []int32 // per element: its run times units, and its unit; none for the last run alone
}

// Wire is never asked for: loops are built before something reads their streams.
func (*loop) Wire(*place.Netlist, string) int {
	panic("lower: a recurrence is read before it is built")
}

// recurrences are the loops that have been read.
type recurrences struct {
	of    map[*graph.Recur]*loop
	order []*loop
	open  map[string]bool // tensors that depend on loops that are not built
}

func newRecurrences() recurrences {
	return recurrences{of: map[*graph.Recur]*loop{}, open: map[string]bool{}}
}

// pair adds a loop, or its cell to one that it can take turns with.
func (r *recurrences) pair(of *graph.Recur, e *loop) *loop {
	if at := slices.IndexFunc(r.order, func(o *loop) bool { return o.pairs(e) }); at >= 0 {
		r.order[at].join(e)
		e = r.order[at]
	} else {
		r.order = append(r.order, e)
	}
	r.of[of] = e
	return e
}

func recurrence(l *lowering, step *graph.Step) (bool, error) {
	if step.Recur == nil {
		return false, nil
	}
	reject := l.recurrence(step)
	if reject != nil && step.Recur.Length <= canon.MaxUnrolled {
		l.unroll[step.Node.Index] = true
	}
	return true, reject
}

// recurrence makes a place for an output of a recurrence.
func (l *lowering) recurrence(step *graph.Step) error {
	r := step.Recur
	if e := l.loops.of[r]; e != nil {
		return l.loopOutput(step, e)
	}
	if len(r.Scanned) != 1 {
		return recur.NotLSTM("it walks through %d tensors", len(r.Scanned))
	}
	input := step.Node.Inputs[r.States]
	shape := l.Known[input].Shape
	axis := r.Scanned[0].Axis
	if shape[axis] != r.Length {
		panic("lower: a scanned axis of another length")
	}
	elements := scanOrder(shape, axis)
	o, reject := l.operand(input, elements)
	if reject != nil {
		return reject
	}
	affine, ok := o.Affine(1)
	if !ok || o.Value != nil {
		return recur.NotLSTM("elements of its input are scaled differently")
	}
	span := l.Places[o.Tensors[0]].Type.Union()
	for _, w := range o.Tensors {
		span = span.Union(l.Places[w].Type.Union())
	}
	c, reject := recur.Read(r, recur.Code{Affine: affine[0], Span: span})
	if reject == nil {
		reject = c.Begin(func(k int) *graph.Tensor { return l.Known[step.Node.Inputs[k]].Const })
	}
	if reject != nil {
		return reject
	}
	e := &loop{step: step, nodes: o.Nodes, in: []*find.Operand{o}, length: r.Length, elements: len(elements) / r.Length,
		cells: []*recur.Cell{c}, reverse: []bool{r.Scanned[0].Reverse}}
	for i := range e.streams {
		e.streams[i] = &place.Stream{Source: e}
	}
	return l.loopOutput(step, l.loops.pair(r, e))
}

// scanOrder lists the elements of a tensor step by step along an axis.
func scanOrder(shape []int, axis int) []int32 {
	inner := graph.Size(shape[axis+1:])
	outer := graph.Size(shape) / inner / shape[axis]
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

// pairs reports whether a loop that has one cell can take another one in turn.
func (e *loop) pairs(o *loop) bool {
	return !e.built && len(e.cells) == 1 && e.length == o.length && e.elements == o.elements &&
		e.reverse[0] != o.reverse[0] && e.cells[0].Like(o.cells[0])
}

func (e *loop) join(o *loop) {
	e.cells, e.reverse, e.in = append(e.cells, o.cells...), append(e.reverse, o.reverse...), append(e.in, o.in...)
	e.nodes = graph.Join(e.nodes, append(slices.Clone(o.nodes), o.step.Node))
}

// loopOutput says where an output of a recurrence is: h or c, of every step or of the last one. Its place is known when
// the layer is built, for a cell may still join.
func (l *lowering) loopOutput(step *graph.Step, e *loop) error {
	r := step.Recur
	o := loopOutput{cell: slices.IndexFunc(e.cells, func(c *recur.Cell) bool { return c.Of(r.Body) })}
	c := e.cells[o.cell]
	which, affine, reject := c.Output(r.Body.Graph.Outputs[step.Result].Name)
	if reject != nil {
		return reject
	}
	if step.Result >= r.States {
		e.sequence = true
		g := r.Gathered[step.Result-r.States]
		o.runs = make([]int32, graph.Size(step.Shape))
		for t, i := range scanOrder(step.Shape, g.Axis) {
			run := t / c.Units
			if g.Reverse {
				run = r.Length - 1 - run
			}
			o.runs[i] = int32(run*c.Units + t%c.Units)
		}
	}
	e.read[which] = true
	o.place = &place.Place{Stream: e.streams[which]}
	l.Places[step.Output] = o.place
	l.Integers.Declare(step.Output, []real.Affine{affine})
	e.outputs = append(e.outputs, o)
	return nil
}

// recurrencesFirst is the steps of a program with recurrences, and what they depend on, before all others: so that
// cells over one sequence meet before one of them is needed.
func recurrencesFirst(p *graph.Program) []*graph.Step {
	early := map[*graph.Step]bool{}
	needed := map[string]bool{}
	for _, step := range slices.Backward(p.Steps) {
		if step.Recur != nil || needed[step.Output] {
			early[step] = true
			for _, in := range step.Node.Inputs {
				needed[in] = true
			}
		}
	}
	first, rest := []*graph.Step(nil), []*graph.Step(nil)
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
func (l *lowering) buildFor(step *graph.Step) {
	open := l.loops.open
	if slices.ContainsFunc(step.Node.Inputs, func(in string) bool { return open[in] }) {
		if step.Move != nil || step.Elem != nil && step.Window == nil && !scaled.IsCode(step) {
			open[step.Output] = true
		} else {
			l.buildLoops()
		}
	}
	if step.Recur != nil {
		open[step.Output] = true
	}
}

// buildLoops builds all loops that have been read, and says where their outputs are: no cell joins them any more.
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

// place says where a loop's outputs are on its streams.
func (e *loop) place() {
	for _, o := range e.outputs {
		units := e.cells[o.cell].Units
		runs := o.runs
		if runs == nil {
			runs = scaled.All(units)
			if e.sequence {
				for i := range runs {
					runs[i] += int32((e.length - 1) * units)
				}
			}
		}
		width := len(e.cells) * units
		o.place.At = make([]int32, len(runs))
		for i, v := range runs {
			o.place.At[i] = v/int32(units)*int32(width) + int32(o.cell*units) + v%int32(units)
		}
	}
}

// turns is the elements of the cells' inputs in the order in which the cells take turns.
func (e *loop) turns(l *lowering) *find.Operand {
	o := &find.Operand{Nodes: e.nodes}
	n := e.elements
	for t := range e.length {
		for k, in := range e.in {
			at := t
			if e.reverse[k] {
				at = e.length - 1 - t
			}
			for i := at * n; i < (at+1)*n; i++ {
				o.Then(o.Stream(l.Program, in.Tensors[in.From[i]]), in.At[i])
			}
		}
	}
	return o
}

// functions are what the loop computes: the products with its input, and the cells.
func (e *loop) functions() (choose.Matrix, choose.Recurrence) {
	m := choose.Matrix{Product: e.cells[0].Product}
	if d := len(e.cells); d > 1 {
		m.Groups = d
	}
	p := lstm.Params{Sequence: e.sequence, States: e.read[1]}
	for _, c := range e.cells {
		for j := range c.Units {
			for _, rows := range c.Input {
				if rows == nil {
					m.Weights = append(m.Weights, make([]int64, e.elements)) // the lane of a gate that is not there
					continue
				}
				m.Weights = append(m.Weights, rows[j])
			}
		}
		p.Cells = append(p.Cells, c.Params)
	}
	return m, choose.Recurrence{Loop: p}
}

// build makes the products of the inputs and the loop behind them.
func (l *lowering) build(e *loop) error {
	in, reject := l.arrange(e.turns(l), dataflow.Shape{e.length, len(e.cells) * e.elements}, 0)
	if reject != nil {
		return reject
	}
	m, r := e.functions()
	products, reject := choose.Layer(m)
	if reject != nil {
		return reject
	}
	cells, reject := choose.Layer(r)
	if reject != nil {
		return reject
	}
	sums, err := l.net.Add(products.Waits.Op(), []int{in}, "", e.nodes)
	if err != nil {
		return unmapped.Because("no layer multiplies its input: "+err.Error(), "use fewer bits")
	}
	name := l.Name(e.step.Node.Outputs[len(e.step.Node.Outputs)-1])
	out, err := l.net.Add(cells.Ops[0], sums, name, append([]*graph.Node{e.step.Node}, e.nodes...))
	if err != nil {
		return cells.Refused(err)
	}
	for i, w := range out {
		e.streams[i].Is(&l.net, w)
	}
	return nil
}
