package operators

import (
	"slices"

	"hlsgen/frontend/graph"
	"hlsgen/frontend/program"
)

// A Loop of ONNX with a fixed number of iterations is a Scan: an input that the body gathers by the iteration number is
// a scanned input. A body has the inputs number, condition and states, and the outputs condition, states and scanned
// outputs.

// A loopBody converts the body of a Loop to that of a Scan.
type loopBody struct {
	*call
	body      *graph.Graph
	states    int
	runs      int
	number    string // the iteration number
	condition string
	numbers   map[string]counter // the body's tensors that hold one integer, a linear function of the iteration number
	same      map[string]string  // the body's states that never change, and the outer tensors from which they come
	walks     []walk
	names     graph.UsedTensorNames
}

// A counter says that a tensor of the body, of the given rank, holds one integer. It is times*run + plus, where run is
// the number of the iteration.
type counter struct {
	times, plus int64
	rank        int
}

// A walk is a tensor of which the body reads one element in each iteration, so that a Scan can scan it.
type walk struct {
	of, outer string // its name in the body's graph, and its name as the Scan's input
	index     counter
	along     program.ScanAxis
	element   graph.ValueInfo
}

func buildLoop(c *call) {
	l := &loopBody{call: c, body: c.Attrs["body"].G, states: len(c.in) - 2, same: map[string]string{}}
	if l.body == nil {
		invalid("it has no body")
	}
	if len(c.in) < 2 || len(l.body.Inputs) != len(c.in) || len(l.body.Outputs) < 1+l.states ||
		len(c.Outputs) > len(l.body.Outputs)-1 {
		invalid("the body has %d inputs and %d outputs, the node %d and %d", len(l.body.Inputs), len(l.body.Outputs),
			len(c.in), len(c.Outputs))
	}
	for i := range l.states {
		if !c.HasInput(2 + i) {
			invalid("input %d is missing", 2+i)
		}
	}
	l.readRuns()
	l.body = l.body.ShallowCopy()
	l.number, l.condition, l.names = l.body.Inputs[0].Name, l.body.Inputs[1].Name, l.body.UsedTensorNames()
	for i := range l.states {
		if in := l.body.Inputs[2+i].Name; l.source(l.body.Outputs[1+i].Name) == in {
			l.same[in] = c.Inputs[2+i]
		}
	}
	l.readCondition()
	l.readNumbers()
	l.gathers()
	l.scan()
}

// readRuns sets the number of iterations, which must be constant.
func (l *loopBody) readRuns() {
	const hint = "export the model with a fixed number of runs, or bind dynamic axes with --dim"
	if !l.HasInput(0) {
		unsupported(hint, "no number of runs: only the condition ends it")
	}
	n := l.constInts(0, "the number of runs")
	switch {
	case len(n) != 1:
		invalid("%d numbers of runs", len(n))
	case n[0] < 1:
		unsupported("give it a sequence of at least one element", "%d runs", n[0])
	case n[0] > maxRuns:
		tooLarge("cut the sequence into parts", "%d runs, at most %d are accepted", n[0], maxRuns)
	}
	l.runs = int(n[0])
	if l.HasInput(1) {
		if t := l.in[1].Const; t == nil || t.Len() != 1 || t.FloatAt(0) == 0 {
			unsupported("export the model with the condition true", "the condition is not constant and true")
		}
	}
}

// writer returns the node of the body that gives a tensor, or nil if there is none.
func (l *loopBody) writer(name string) *graph.Node {
	k := slices.IndexFunc(l.body.Nodes, func(n *graph.Node) bool { return slices.Contains(n.Outputs, name) })
	if k < 0 {
		return nil
	}
	return l.body.Nodes[k]
}

// source returns the tensor of which the given tensor is a copy, through nodes that change nothing.
func (l *loopBody) source(name string) string {
	for n := l.writer(name); n != nil && n.Domain == "" && n.Op == OpIdentity; n = l.writer(name) {
		name = n.Inputs[0]
	}
	return name
}

// outside reports whether a name in the body belongs to the graph around it.
func (l *loopBody) outside(name string) bool {
	return l.body.Init[name] == nil && l.writer(name) == nil &&
		!slices.ContainsFunc(l.body.Inputs, func(v graph.ValueInfo) bool { return v.Name == name })
}

// fixed returns the value of a constant tensor of the body, or nil for other tensors.
func (l *loopBody) fixed(name string) *graph.ConstantTensor {
	if t := l.body.Init[name]; t != nil {
		return t
	}
	if n := l.writer(name); n != nil {
		return constantValue(n)
	}
	if l.outside(name) {
		return l.p.Known[name].Const
	}
	return nil
}

// readCondition refuses a loop whose body may make the loop's condition false.
func (l *loopBody) readCondition() {
	name := l.source(l.body.Outputs[0].Name)
	for n := l.writer(name); n != nil && n.Domain == "" && n.Op == "Cast"; n = l.writer(name) {
		name = l.source(n.Inputs[0])
	}
	if name == l.condition {
		return
	}
	if t := l.fixed(name); t == nil || t.Len() != 1 || t.FloatAt(0) == 0 {
		unsupported("export the model with a fixed number of runs and a condition that stays true",
			"the condition that ends it is computed in the body")
	}
}

// readNumbers records the body's tensors that are linear functions of the iteration number.
func (l *loopBody) readNumbers() {
	l.numbers = map[string]counter{l.number: {1, 0, 0}}
	for _, n := range l.body.Nodes {
		if n.Domain == "" && len(n.Outputs) == 1 {
			if y, ok := l.counts(n); ok {
				l.numbers[n.Outputs[0]] = y
			}
		}
	}
}

// counter returns a tensor as a function of the iteration number. A single constant integer counts, too.
func (l *loopBody) counter(name string) (c counter, ok bool) {
	if c, ok := l.numbers[name]; ok {
		return c, true
	}
	if name == "" {
		return c, false
	}
	t := l.fixed(name)
	if t == nil || t.DType.IsReal() || t.Len() != 1 || max(t.IntAt(0), -t.IntAt(0)) > maxRuns {
		return c, false
	}
	return counter{0, t.IntAt(0), len(t.Shape)}, true
}

// counts returns the output of a node as a function of the iteration number.
func (l *loopBody) counts(n *graph.Node) (y counter, ok bool) {
	a, ok := l.counter(n.InputName(0))
	if !ok {
		return y, false
	}
	switch n.Op {
	case OpIdentity:
		return a, true
	case "Cast":
		to := graph.DType(n.IntAttrOr("to", 0))
		return a, to == graph.DTypeInt64 || to == graph.DTypeInt32
	case "Neg":
		return counter{-a.times, -a.plus, a.rank}, true
	case "Unsqueeze":
		axes := n.IntsAttr("axes")
		if t := l.fixed(n.InputName(1)); t != nil {
			axes = t.Ints()
		}
		return counter{a.times, a.plus, a.rank + len(axes)}, len(axes) > 0
	}
	b, ok := l.counter(n.InputName(1))
	rank := max(a.rank, b.rank)
	switch {
	case !ok:
	case n.Op == OpAdd:
		return counter{a.times + b.times, a.plus + b.plus, rank}, true
	case n.Op == "Sub":
		return counter{a.times - b.times, a.plus - b.plus, rank}, true
	}
	return y, false
}

// gathers replaces each Gather by the iteration number with a scanned input.
func (l *loopBody) gathers() {
	for i, n := range l.body.Nodes {
		if n.Domain != "" || n.Op != OpGather {
			continue
		}
		index, ok := l.numbers[n.Inputs[1]]
		of := n.Inputs[0]
		outer, same := l.same[of]
		if !same && l.outside(of) {
			outer = of
		}
		x, known := l.p.Known[outer]
		if !ok || !known {
			continue
		}
		a := axis(n.IntAttrOr("axis", 0), len(x.Shape))
		element := l.walk(outer, index, a)
		shape := slices.Concat(x.Shape[:a], slices.Repeat([]int{1}, index.rank), x.Shape[a+1:])
		with := *n
		with.Op, with.Attrs = OpReshape, exactShape
		name := l.names.TakeFreshName(n.Outputs[0], "shape")
		l.body.Init[name] = &graph.ConstantTensor{DType: graph.DTypeInt64, Shape: []int{len(shape)},
			I: intsAttr(shape...).Ints}
		with.Inputs = []string{element, name}
		l.body.Nodes[i] = &with
	}
}

// walk returns the name of the body's input for the elements of a tensor that index selects along axis a, one in each
// iteration.
func (l *loopBody) walk(of string, index counter, a int) string {
	index.rank = 0
	for _, w := range l.walks {
		if w.of == of && w.index == index && w.along.Axis == a {
			return w.element.Name
		}
	}
	x := l.p.Known[of]
	w := walk{of: of, outer: of, index: index, along: program.ScanAxis{Axis: a}}
	at := make([]int64, l.runs)
	up, down := x.Shape[a] == l.runs, x.Shape[a] == l.runs
	for t := range at {
		k, ok := fromEnd(index.times*int64(t)+index.plus, x.Shape[a])
		if !ok {
			invalid("run %d gathers element %d of an axis with %d", t, index.times*int64(t)+index.plus, x.Shape[a])
		}
		at[t], up, down = int64(k), up && k == t, down && k == l.runs-1-t
	}
	switch {
	case up:
	case down:
		w.along.Reverse = true
	default:
		w.outer = l.part("", OpGather, "walked", graph.AttributesByName{"axis": graph.NewIntAttr(a)}, of,
			l.call.constant("runs", &graph.ConstantTensor{DType: graph.DTypeInt64, Shape: []int{l.runs}, I: at}))
	}
	w.element = fixedValue(l.names.TakeFreshName(of, "element"), x.DType, slices.Delete(slices.Clone(x.Shape), a, a+1))
	l.walks = append(l.walks, w)
	return w.element.Name
}

// scan writes the Scan.
func (l *loopBody) scan() {
	g := l.body
	outputs, inputs := g.Outputs[1:], g.Inputs[2:]
	used := l.prune(outputs)
	if used[l.condition] {
		g.Init[l.condition] = &graph.ConstantTensor{DType: graph.DTypeBool, I: []int64{1}}
	}
	if used[l.number] || len(l.walks) == 0 {
		counts := &graph.ConstantTensor{DType: graph.DTypeInt64, Shape: []int{l.runs},
			I: program.NewCountingSlice[int64](l.runs)}
		l.walks = append(l.walks, walk{outer: l.call.constant("runs", counts),
			element: fixedValue(l.number, graph.DTypeInt64, nil)})
	}
	g.Inputs, g.Outputs = nil, nil
	var from, to []string
	for i, in := range inputs {
		out := graph.NameAtSlot(l.Outputs, i)
		if l.same[in.Name] != "" && !used[in.Name] {
			if out != "" {
				l.write("", OpIdentity, nil, out, []string{l.same[in.Name]})
			}
			continue
		}
		g.Inputs, g.Outputs = append(g.Inputs, in), append(g.Outputs, outputs[i])
		from, to = append(from, l.Inputs[2+i]), append(to, out)
	}
	var axes, directions []int
	for _, w := range l.walks {
		g.Inputs, from = append(g.Inputs, w.element), append(from, w.outer)
		dir := 0
		if w.along.Reverse {
			dir = 1
		}
		axes, directions = append(axes, w.along.Axis), append(directions, dir)
	}
	g.Outputs = append(g.Outputs, outputs[len(inputs):]...)
	to = append(to, l.Outputs[min(len(l.Outputs), len(inputs)):]...)
	l.writeAll(InternalDomain, "Scan", graph.AttributesByName{"body": graph.NewGraphAttr(g),
		"num_scan_inputs": graph.NewIntAttr(len(l.walks)),
		"scan_input_axes": intsAttr(axes...), "scan_input_directions": intsAttr(directions...)}, to, from)
}

// prune removes the nodes of the body on which no output depends, and returns the tensors that are read. States that
// never change do not count as outputs.
func (l *loopBody) prune(outputs []graph.ValueInfo) map[string]bool {
	used := map[string]bool{}
	for i, o := range outputs {
		if i >= l.states || l.same[l.body.Inputs[2+i].Name] == "" {
			used[o.Name] = true
		}
	}
	var nodes []*graph.Node
	for _, n := range slices.Backward(l.body.Nodes) {
		if slices.ContainsFunc(n.Outputs, func(o string) bool { return used[o] }) {
			nodes = append(nodes, n)
			for _, in := range n.Inputs {
				used[in] = true
			}
		}
	}
	slices.Reverse(nodes)
	l.body.Nodes = nodes
	for i, in := range l.body.Inputs[2:] { // a constant state that is read stays a state
		if used[in.Name] && l.same[in.Name] != "" {
			outputs[i].Name = in.Name
		}
	}
	return used
}
