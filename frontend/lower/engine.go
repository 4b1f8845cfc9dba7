package lower

import (
	"slices"

	"hlsgen/frontend/canon"
	"hlsgen/frontend/graph"
	"hlsgen/frontend/lower/choose"
	"hlsgen/frontend/lower/place"
	"hlsgen/frontend/lower/recur"
	"hlsgen/frontend/lower/unmapped"
	"hlsgen/frontend/real"
	"hlsgen/frontend/scaled"
	"hlsgen/hlslib/lstm"
	"hlsgen/internal/dataflow"
)

// An engine is an LSTM that has no layer yet: a second cell over the same input, which runs the other way, may still join it,
// so that the two take turns and neither waits for itself.
type engine struct {
	step     *graph.Step // an output of the first cell
	node     *graph.Node
	nodes    []*graph.Node
	in       []*operand // per cell: the elements of its input, step by step
	length   int        // steps
	elements int        // of the input in a step
	cells    []*recur.Cell
	reverse  []bool
	streams  [2]*place.Stream // of h and of c; nil where nothing asks for it
	outputs  []*output
	sequence bool // some output has all steps
	states   bool // some output is of the cell's state
	built    bool
}

func recurrence(s *state, step *graph.Step) (bool, *unmapped.Reason) {
	if step.Recur == nil {
		return false, nil
	}
	reject := s.recurrent(step)
	if reject != nil && step.Recur.Length <= canon.MaxUnrolled {
		s.unroll[step.Node.Index] = true
	}
	return true, reject
}

// recurrent makes a place for the outputs of a recurrence.
func (s *state) recurrent(step *graph.Step) *unmapped.Reason {
	r := step.Recur
	if e := s.engines[r]; e != nil {
		return s.recurrentOutput(step, e)
	}
	if len(r.Scanned) != 1 {
		return recur.NotLSTM("it walks through %d tensors", len(r.Scanned))
	}
	input := step.Node.Inputs[r.States]
	shape := s.prog.Known[input].Shape
	axis := r.Scanned[0].Axis
	if shape[axis] != r.Length {
		panic("lower: a scanned axis of another length")
	}
	elements := scanOrder(shape, axis)
	n := len(elements) / r.Length
	o, reject := s.operand(input, elements)
	if reject != nil {
		return reject
	}
	affine, ok := o.affine(1)
	if !ok || o.value != nil {
		return recur.NotLSTM("elements of its input are scaled differently")
	}
	span := s.places[o.wires[0]].Type.Union()
	for _, w := range o.wires {
		span = span.Union(s.places[w].Type.Union())
	}
	c, reject := recur.Read(r, recur.Code{Affine: affine[0], Span: span})
	if reject == nil {
		reject = c.Begin(func(k int) *graph.Tensor { return s.prog.Known[step.Node.Inputs[k]].Const })
	}
	if reject != nil {
		return reject
	}
	e := &engine{step: step, node: step.Node, nodes: o.nodes, in: []*operand{o}, length: r.Length, elements: n, cells: []*recur.Cell{c}, reverse: []bool{r.Scanned[0].Reverse}}
	if at := slices.IndexFunc(s.order, func(o *engine) bool { return o.pairs(e) }); at >= 0 {
		s.order[at].join(e)
		e = s.order[at]
	} else {
		s.order = append(s.order, e)
	}
	s.engines[r] = e
	return s.recurrentOutput(step, e)
}

// scanOrder lists the elements of a tensor step by step along an axis.
func scanOrder(shape []int, axis int) []int32 {
	inner := 1
	for _, d := range shape[axis+1:] {
		inner *= d
	}
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

// Wire is never asked for: engines are built before something reads their streams.
func (e *engine) Wire(*place.Netlist, string) int {
	panic("lower: a recurrence is read before it is built")
}

// pairs reports whether an engine that has one cell can take another one in turn.
func (e *engine) pairs(o *engine) bool {
	return !e.built && len(e.cells) == 1 && e.length == o.length && e.elements == o.elements && e.reverse[0] != o.reverse[0] && e.cells[0].Like(o.cells[0])
}

func (e *engine) join(o *engine) {
	e.cells, e.reverse, e.in = append(e.cells, o.cells...), append(e.reverse, o.reverse...), append(e.in, o.in...)
	for _, n := range append(o.nodes, o.node) {
		if !slices.Contains(e.nodes, n) {
			e.nodes = append(e.nodes, n)
		}
	}
}

// recurrentOutput says where an output of a recurrence is: h or c, of every step or of the last one. Its place is known when
// the layer is built, for a cell may still join.
func (s *state) recurrentOutput(step *graph.Step, e *engine) *unmapped.Reason {
	r := step.Recur
	d := slices.IndexFunc(e.cells, func(c *recur.Cell) bool { return c.Of(r.Body) })
	c := e.cells[d]
	which, affine, reject := c.Output(r.Body.Graph.Outputs[step.Result].Name)
	if reject != nil {
		return reject
	}
	o := &output{cell: d, units: c.Units}
	if step.Result >= r.States {
		e.sequence = true
		g := r.Gathered[step.Result-r.States]
		o.run = make([]int32, graph.Size(step.Shape))
		for t, i := range scanOrder(step.Shape, g.Axis) {
			run := t / c.Units
			if g.Reverse {
				run = r.Length - 1 - run
			}
			o.run[i] = int32(run*c.Units + t%c.Units)
		}
	}
	e.states = e.states || which == 1
	if e.streams[which] == nil {
		e.streams[which] = &place.Stream{Source: e}
	}
	s.places[step.Output] = &place.Place{Stream: e.streams[which]}
	s.a.Declare(step.Output, []real.Affine{affine})
	e.outputs = append(e.outputs, o)
	o.place = s.places[step.Output]
	return nil
}

// An output is a tensor that an engine makes: of every run the units of a cell, or those of the last run.
type output struct {
	place *place.Place
	cell  int
	units int
	run   []int32 // per element: its run times units, and its unit; nil for the last run alone
}

// recurrencesFirst is the steps of a program with recurrences, and what they depend on, before all others: so that cells over
// one sequence meet before one of them is needed.
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

// settleFor builds the engines that a step is about to read.
func (s *state) settleFor(step *graph.Step) {
	waits := slices.ContainsFunc(step.Node.Inputs, func(in string) bool { return s.unsettled[in] })
	switch {
	case !waits:
	case step.Move != nil, step.Elem != nil && step.Window == nil && !scaled.IsCode(step):
		s.unsettled[step.Output] = true
	default:
		s.settleEngines()
	}
	if step.Recur != nil {
		s.unsettled[step.Output] = true
	}
}

// settleEngines builds all engines that have been read, and says where their outputs are: no cell joins them any more.
func (s *state) settleEngines() {
	defer clear(s.unsettled)
	for _, e := range s.order {
		if e.built {
			continue
		}
		e.built = true
		if reject := s.engineLayers(e); reject != nil {
			s.report(e.step, "recurrence", reject)
			for tensor := range s.unsettled {
				s.failed[tensor] = true
			}
			continue
		}
		e.settle()
	}
}

// settle says where an engine's outputs are on its streams.
func (e *engine) settle() {
	width := len(e.cells) * e.cells[0].Units
	for _, o := range e.outputs {
		runs := o.run
		if runs == nil {
			runs = scaled.All(o.units)
			if e.sequence {
				for i := range runs {
					runs[i] += int32((e.length - 1) * o.units)
				}
			}
		}
		o.place.At = make([]int32, len(runs))
		for i, v := range runs {
			o.place.At[i] = v/int32(o.units)*int32(width) + int32(o.cell*o.units) + v%int32(o.units)
		}
	}
}

// engineLayers makes the products of the inputs and the loop behind them.
func (s *state) engineLayers(e *engine) *unmapped.Reason {
	d, n := len(e.cells), e.elements
	o := &operand{nodes: e.nodes}
	for t := range e.length {
		for k, in := range e.in {
			at := t
			if e.reverse[k] {
				at = e.length - 1 - t
			}
			for i := at * n; i < (at+1)*n; i++ {
				o.From, o.At = append(o.From, o.wire(s, in.wires[in.From[i]])), append(o.At, in.At[i])
			}
		}
	}
	in, reject := s.arrange(o, dataflow.Shape{e.length, d * n}, 0)
	if reject != nil {
		return reject
	}
	m := choose.Matrix{Product: e.cells[0].Product}
	if d > 1 {
		m.Groups = d
	}
	loop := lstm.Params{Sequence: e.sequence, States: e.states}
	for _, c := range e.cells {
		for j := range c.Units {
			for _, rows := range c.Input {
				if rows == nil {
					m.Weights = append(m.Weights, make([]int64, n)) // the lane of a gate that is not there
					continue
				}
				m.Weights = append(m.Weights, rows[j])
			}
		}
		loop.Cells = append(loop.Cells, c.Params)
	}
	products, reject := choose.Layer(m)
	if reject != nil {
		return reject
	}
	sums, err := s.net.Add(products.Waits.Op(), []int{in}, "", e.nodes)
	if err != nil {
		return unmapped.Because("no layer multiplies its input: "+err.Error(), "use fewer bits")
	}
	c, reject := choose.Layer(choose.Recurrence{Loop: loop})
	if reject != nil {
		return reject
	}
	out, err := s.net.Add(c.Ops[0], sums, s.name(e.node.Outputs[len(e.node.Outputs)-1]), append([]*graph.Node{e.node}, e.nodes...))
	if err != nil {
		return c.Refused(err)
	}
	for i, w := range out {
		if e.streams[i] == nil {
			e.streams[i] = &place.Stream{Source: e}
		}
		e.streams[i].Is(&s.net, w)
	}
	return nil
}
