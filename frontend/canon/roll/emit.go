package roll

import (
	"maps"
	"slices"

	"hlsgen/frontend/graph"
	"hlsgen/frontend/operators"
)

// A writing builds the loop that replaces the steps of a recurrence.
type writing struct {
	*recurrence
	taken    graph.UsedTensorNames
	steps    map[*graph.Node]bool // the nodes that the loop replaces
	stays    map[*graph.Node]bool // the replaced nodes that other nodes still need
	gives    map[int][]given      // by value: the outputs of steps that hold it
	used     map[given][]string   // the outputs that nodes outside the loop read, with the names they read
	init     map[string]*graph.ConstantTensor
	front    []*graph.Node // the nodes before the loop and after it
	behind   []*graph.Node
	loop     *graph.Node
	body     *graph.Graph
	names    map[output]string // names in the body
	carried  map[output]string // names of the states at the start of a step
	elements map[element]string
	reverse  bool // the sequence is stored with its last step first
}

// A given identifies an output of a part in one step of the recurrence.
type given struct {
	output
	step int
}

// An element identifies an element that a step reads of a sequence: the one that belongs to the step delay steps before
// it.
type element struct {
	of    *part
	delay int
}

// emit replaces the steps in the graph by a loop. It returns false and changes nothing if the result would contain a
// cycle, or if the initial states do not fit.
func (r *recurrence) emit() bool {
	w := &writing{recurrence: r, taken: r.g.UsedTensorNames(), steps: map[*graph.Node]bool{},
		stays: map[*graph.Node]bool{}, gives: map[int][]given{},
		used: map[given][]string{}, init: map[string]*graph.ConstantTensor{}, names: map[output]string{},
		carried: map[output]string{}, elements: map[element]string{}}
	if !w.findSteps() || !w.begin() {
		return false
	}
	w.findUsed()
	w.write()
	nodes, ok := w.sorted()
	if !ok {
		return false
	}
	r.g.Nodes = nodes
	maps.Copy(r.g.Init, w.init)
	return true
}

// findSteps records the nodes of which the steps consist, and the values that they compute. It reports whether they can
// be replaced.
func (w *writing) findSteps() bool {
	of := map[*graph.Node]bool{}
	for _, p := range w.parts {
		if p.node == nil {
			continue
		}
		for step := w.first; step <= w.last; step++ {
			if !p.done[step] {
				continue
			}
			for slot, name := range p.node.Outputs {
				v, ok := p.values[moment{step, slot}]
				if name == "" || !ok {
					continue
				}
				of[w.numbers.values[v].node] = true
				w.gives[v] = append(w.gives[v], given{output{p, slot}, step})
			}
		}
	}
	for _, n := range w.g.Nodes {
		if f := w.numbers.first[n]; f != nil && of[f] {
			w.steps[n] = true
		}
	}
	return len(w.steps) > 0
}

// begin reports whether the initial value of each state has the state's shape and type.
func (w *writing) begin() bool {
	for _, s := range w.states {
		v, ok := s.part.values[moment{w.first - 1, s.slot}]
		if !ok || !w.like(v, w.any(s)) {
			return false
		}
	}
	return true
}

// findUsed records the values of the steps that other nodes read. These nodes are the ones on which the graph's outputs
// and the loop's inputs depend.
func (w *writing) findUsed() {
	seen, late := map[string]bool{}, w.late()
	var list []string
	for _, o := range w.g.Outputs {
		list = append(list, o.Name)
	}
	for _, p := range w.parts {
		for at, v := range p.values {
			outer := p.node == nil || at.step < w.first
			if n := w.numbers.values[v]; outer && n.constant == nil {
				list = append(list, n.name)
			}
		}
		for _, in := range p.in {
			if in.part == nil && in.fixed != none && w.numbers.values[in.fixed].constant == nil {
				list = append(list, w.numbers.values[in.fixed].name)
			}
		}
	}
	slices.Sort(list) // so that the result does not depend on the map's order
	for len(list) > 0 {
		name := list[len(list)-1]
		list = list[:len(list)-1]
		n := w.writer(name)
		if seen[name] || n == nil || name == "" {
			continue
		}
		seen[name] = true
		if at := w.gives[w.of[name]]; w.steps[n] && len(at) > 0 && !late[at[0].part] {
			w.stays[w.numbers.first[n]] = true // nodes outside the loop need it, too
		}
		if !w.steps[n] || w.stays[w.numbers.first[n]] {
			list = append(list, n.Inputs...)
			continue
		}
		if at := w.gives[w.of[name]]; len(at) > 0 {
			w.used[at[0]] = append(w.used[at[0]], name)
		}
	}
}

// late returns the parts that depend, directly or through others, on a value of the step before.
func (w *writing) late() map[*part]bool {
	late := map[*part]bool{}
	for _, p := range w.parts { // in order: the operands of a part come before it
		for _, in := range p.in {
			if in.part != nil && (late[in.part] || in.part.node != nil && p.delay(in) > 0) {
				late[p] = true
			}
		}
	}
	return late
}

func (w *writing) write() {
	root := w.root.node
	w.body = &graph.Graph{Init: map[string]*graph.ConstantTensor{}, Opsets: w.g.Opsets}
	w.loop = &graph.Node{Index: root.Index, Name: root.Label(), Was: root.QualifiedOpName(),
		Domain: operators.InternalDomain,
		Op:     operators.OpScan}
	for n := range w.steps {
		if n.Index != root.Index {
			w.loop.Stands = append(w.loop.Stands, n.Index)
		}
	}
	slices.Sort(w.loop.Stands)
	w.loop.Stands = slices.Compact(w.loop.Stands)
	inner := graph.UsedTensorNames{}
	for _, p := range w.parts {
		if p.node == nil {
			continue
		}
		for slot, name := range p.node.Outputs {
			if name != "" {
				inner.MarkUsed(name)
				w.names[output{p, slot}] = name
			}
		}
	}
	w.writeStates(inner)
	scanned := w.writeElements(inner)
	w.writeBody(inner)
	for _, s := range w.states {
		w.body.Outputs = append(w.body.Outputs, graph.ValueInfo{Name: w.names[s]})
		w.loop.Outputs = append(w.loop.Outputs, "")
	}
	kept := len(w.loop.Inputs) - scanned - len(w.states)
	for k := range kept { // the inputs that all steps share are states that do not change
		w.body.Outputs = append(w.body.Outputs, graph.ValueInfo{Name: w.body.Inputs[len(w.states)+k].Name})
		w.loop.Outputs = append(w.loop.Outputs, "")
	}
	w.writeOutputs()
	w.loop.Attrs = graph.AttributesByName{"body": graph.NewGraphAttr(w.body),
		"num_scan_inputs": graph.NewIntAttr(scanned)}
	ints := func(v int64, n int) graph.Attr {
		return graph.Attr{Kind: graph.AttrKindInts, Ints: slices.Repeat([]int64{v}, n)}
	}
	if w.reverse {
		w.loop.Attrs["scan_input_directions"] = ints(1, scanned)
		w.loop.Attrs["scan_output_directions"] = ints(1, len(w.body.Outputs)-len(w.states)-kept)
	}
}

// input adds an input to the loop and to its body. inner is its name in the body; outer is the tensor that the loop
// reads.
func (w *writing) input(inner, outer string, dt graph.DType) {
	w.body.Inputs = append(w.body.Inputs, graph.ValueInfo{Name: inner, DType: dt})
	w.loop.Inputs = append(w.loop.Inputs, outer)
}

// outer returns the name of a tensor of the graph that has the value with number v. If that value is a constant, it
// adds an initializer.
func (w *writing) outer(v int) string {
	is := w.numbers.values[v]
	if is.constant == nil {
		return is.name
	}
	return w.constant(is.name, is.constant)
}

// constant adds an initializer under an unused name made of base, and returns the name.
func (w *writing) constant(base string, t *graph.ConstantTensor) string {
	name := w.taken.TakeFreshName(base, "loop")
	w.init[name] = t
	return name
}

// writeStates writes the states of the loop. Data that all steps share become further states, which never change. inner
// has the names in the body.
func (w *writing) writeStates(inner graph.UsedTensorNames) {
	for _, s := range w.states {
		w.carried[s] = inner.TakeFreshName(w.names[s], "before")
		dt := w.known(w.any(s)).DType
		w.input(w.carried[s], w.outer(s.part.values[moment{w.first - 1, s.slot}]), dt)
	}
	seen := map[int]bool{}
	for _, p := range w.parts {
		for _, in := range p.in {
			if in.part != nil || in.fixed == none || seen[in.fixed] {
				continue
			}
			seen[in.fixed] = true
			if is := w.numbers.values[in.fixed]; is.constant == nil {
				inner.MarkUsed(is.name)
				w.input(is.name, is.name, w.known(in.fixed).DType)
			}
		}
	}
}

// writeElements writes the sequences that the loop scans and returns their number. inner has the names in the body.
func (w *writing) writeElements(inner graph.UsedTensorNames) (scanned int) {
	var all []element
	seen := map[element]bool{}
	for _, p := range w.parts {
		for _, in := range p.in {
			if in.part == nil || in.part.node != nil {
				continue
			}
			if e := (element{in.part, p.delay(in)}); !seen[e] {
				seen[e] = true
				all = append(all, e)
			}
		}
	}
	w.reverse = w.backwards(all[0])
	for _, e := range all {
		var values []int
		for step := w.first; step <= w.last; step++ {
			values = append(values, e.of.values[moment{step - e.delay, 0}])
		}
		if w.reverse {
			slices.Reverse(values)
		}
		w.elements[e] = w.sequence(values, inner)
	}
	return len(all)
}

// sequence concatenates one tensor per step, those with the given values, to a scanned input of the loop. It returns
// the name that each element has in the body.
func (w *writing) sequence(values []int, inner graph.UsedTensorNames) string {
	first := w.numbers.values[values[0]]
	k := w.known(values[0])
	shape := []int64{1}
	for _, d := range k.Shape {
		shape = append(shape, int64(d))
	}
	to := w.constant(first.name, &graph.ConstantTensor{DType: graph.DTypeInt64, Shape: []int{len(shape)}, I: shape})
	var parts []string
	for _, v := range values {
		part := w.taken.TakeFreshName(w.numbers.values[v].name, "element")
		w.front = append(w.front, w.made(operators.OpReshape, part, nil, w.numbers.values[v].name, to))
		parts = append(parts, part)
	}
	whole := w.taken.TakeFreshName(first.name, "sequence")
	w.front = append(w.front, w.made(operators.OpConcat, whole, graph.AttributesByName{"axis": graph.NewIntAttr(0)},
		parts...))
	name := inner.TakeFreshName(first.name, "element")
	w.input(name, whole, k.DType)
	return name
}

// made returns a new node with one output and the name and index of the loop.
func (w *writing) made(op, output string, attrs graph.AttributesByName, inputs ...string) *graph.Node {
	return &graph.Node{Index: w.loop.Index, Name: w.loop.Name, Was: w.loop.Was, Op: op, Inputs: inputs,
		Outputs: []string{output}, Attrs: attrs}
}

// backwards reports whether the loop reads a sequence from its end. Then its first element lies behind its last one in
// the tensor from which both are taken.
func (w *writing) backwards(e element) bool {
	first := w.sources(e.of.values[moment{w.first - e.delay, 0}])
	for _, last := range w.sources(e.of.values[moment{w.last - e.delay, 0}]) {
		k := slices.IndexFunc(first, func(s source) bool { return s.tensor == last.tensor })
		if k >= 0 {
			return first[k].at > last.at
		}
	}
	return false
}

// A source is a tensor and the place in it from which an element comes.
type source struct {
	tensor string
	at     int
}

// sources returns the places from which the first element of the tensor with value v comes. It follows one move after
// the other, back to the first tensor.
func (w *writing) sources(v int) (list []source) {
	s := source{tensor: w.numbers.values[v].name}
	for {
		list = append(list, s)
		step := w.p.ProducerOf(s.tensor)
		if step == nil || step.Move == nil || graph.ElementCount(step.Shape) == 0 {
			return list
		}
		slot, from := step.Move.SourceOf(s.at)
		s = source{step.Node.Inputs[slot], from}
	}
}

// writeBody writes the nodes of one step into the body.
func (w *writing) writeBody(inner graph.UsedTensorNames) {
	constants := map[int]string{}
	for _, p := range w.parts {
		if p.node == nil {
			continue
		}
		n := *p.node
		n.Inputs = nil
		for _, in := range p.in {
			name := ""
			switch {
			case in.part == nil && in.fixed == none:
			case in.part == nil && w.numbers.values[in.fixed].constant == nil:
				name = w.numbers.values[in.fixed].name
			case in.part == nil:
				if constants[in.fixed] == "" {
					is := w.numbers.values[in.fixed]
					constants[in.fixed] = inner.TakeFreshName(is.name, "fixed")
					w.body.Init[constants[in.fixed]] = is.constant
				}
				name = constants[in.fixed]
			case in.part.node == nil:
				name = w.elements[element{in.part, p.delay(in)}]
			case p.delay(in) == 0:
				name = w.names[in.output]
			default:
				name = w.carried[in.output]
			}
			n.Inputs = append(n.Inputs, name)
		}
		w.body.Nodes = append(w.body.Nodes, &n)
	}
}

// writeOutputs writes the values that other nodes read. A value of the last step alone becomes a final state; values of
// several steps become a scanned output.
func (w *writing) writeOutputs() {
	by := map[output][]given{}
	for at := range w.used {
		by[at.output] = append(by[at.output], at)
	}
	for k, s := range w.states {
		if list := by[s]; len(list) == 1 && list[0].step == w.last {
			w.loop.Outputs[k] = w.taken.TakeFreshName(w.names[s], "last")
			w.copies(w.used[list[0]], operators.OpIdentity, nil, w.loop.Outputs[k])
			delete(by, s)
		}
	}
	for _, p := range w.parts {
		if p.node == nil {
			continue
		}
		for slot := range p.node.Outputs {
			o := output{p, slot}
			list := by[o]
			if list == nil {
				continue
			}
			slices.SortFunc(list, func(a, b given) int { return a.step - b.step })
			whole := w.taken.TakeFreshName(w.names[o], "all")
			w.body.Outputs = append(w.body.Outputs, graph.ValueInfo{Name: w.names[o]})
			w.loop.Outputs = append(w.loop.Outputs, whole)
			for _, at := range list {
				index := at.step - w.first
				if w.reverse {
					index = w.last - at.step
				}
				t := &graph.ConstantTensor{DType: graph.DTypeInt64, I: []int64{int64(index)}}
				w.copies(w.used[at], operators.OpGather, graph.AttributesByName{"axis": graph.NewIntAttr(0)}, whole,
					w.constant(whole, t))
			}
		}
	}
}

// copies adds one node for each of the names, which become their outputs. All nodes have the same operator and inputs.
func (w *writing) copies(names []string, op string, attrs graph.AttributesByName, inputs ...string) {
	slices.Sort(names)
	for _, name := range names {
		w.behind = append(w.behind, w.made(op, name, attrs, inputs...))
	}
}

// sorted returns the nodes of the graph with the loop in place of its steps. Every tensor is written before it is read,
// and nodes that no output needs are left out. ok is false if there is no such order.
func (w *writing) sorted() (nodes []*graph.Node, ok bool) {
	var all []*graph.Node
	placed := false
	for _, n := range w.g.Nodes {
		if !w.steps[n] || w.stays[w.numbers.first[n]] {
			all = append(all, n)
		}
		if w.steps[n] && !placed {
			placed = true
			all = append(append(append(all, w.front...), w.loop), w.behind...)
		}
	}
	writers := map[string]*graph.Node{}
	for _, n := range all {
		for _, o := range n.Outputs {
			writers[o] = n
		}
	}
	delete(writers, "")
	known := func(name string) bool {
		return name == "" || w.g.Init[name] != nil || w.init[name] != nil ||
			slices.ContainsFunc(w.g.Inputs, func(in graph.ValueInfo) bool { return in.Name == name })
	}
	const (
		waiting = 1 + iota
		written
		gone
	)
	state := map[*graph.Node]int{}
	ok = true
	var visit func(n *graph.Node) bool
	visit = func(n *graph.Node) bool {
		switch state[n] {
		case waiting:
			ok = false
			return false
		case written, gone:
			return state[n] == written
		}
		state[n] = waiting
		there := true
		for _, in := range n.Inputs {
			from := writers[in]
			there = (from != nil && visit(from) || from == nil && known(in)) && there
		}
		if state[n] = gone; there {
			state[n] = written
			nodes = append(nodes, n)
		}
		return there
	}
	for _, n := range all {
		visit(n)
	}
	return nodes, ok && state[w.loop] == written
}
