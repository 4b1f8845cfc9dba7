package axes

import (
	"slices"

	"hlsgen/frontend/graph"
	"hlsgen/frontend/operators"
)

// A SequenceLengthInput is an input that holds the number of valid steps of a sequence: sequence_lens of ONNX'
// recurrent operators, as data. The operators ignore later steps, and give zeros for them.
type SequenceLengthInput struct {
	Name string
	Axes []InputTimeAxis

	nodes []*graph.Node
	sides map[string]int // the axes of inputs that count samples, including that of the length input
}

// An InputTimeAxis names an input of the graph and its axis along which a sequence runs.
type InputTimeAxis struct {
	Input string
	Axis  int
}

// lensSlot is the slot of sequence_lens in ONNX' recurrent operators. Initial states have the slots from firstState to
// stateEnd-1.
const (
	lensSlot   = 4
	firstState = 5
	stateEnd   = 7
)

// FindSequenceLengthInput returns the input that holds the length of all sequences, one for each sample. It returns nil
// if not every recurrence reads this one, or something else depends on it. It does so too if the sequences come from no
// inputs with the same steps, or inputs differ in samples.
func FindSequenceLengthInput(g *graph.Graph) *SequenceLengthInput {
	l, by := &SequenceLengthInput{sides: map[string]int{}}, map[string]*graph.Node{}
	for _, n := range g.Nodes {
		for _, out := range n.Outputs {
			by[out] = n
		}
	}
	seen := map[string]int{}
	asked := map[*graph.Node]bool{} // nodes that read the length from the input, or pass it on
	for _, n := range g.Nodes {
		if !operators.IsRecurrent(n) {
			continue
		}
		if !operators.HasTrait(n, operators.TraitNeedsCellFormats) || len(n.Inputs) <= lensSlot {
			return nil
		}
		name := n.Inputs[lensSlot]
		for by[name] != nil && (by[name].Op == operators.OpCast || by[name].Op == operators.OpIdentity) {
			asked[by[name]] = true
			name = by[name].Inputs[0]
		}
		if name == "" || l.Name != "" && name != l.Name {
			return nil
		}
		l.Name, l.nodes, asked[n] = name, append(l.nodes, n), true
		time, samples := 0, 1
		if n.Attrs["layout"].I == 1 {
			time, samples = 1, 0
		}
		if axis, ok := inputAxis(g, by, n.Inputs[0], time); ok && !slices.Contains(l.Axes, axis) {
			l.Axes = append(l.Axes, axis)
		}
		for slot := range min(stateEnd, len(n.Inputs)) {
			if slot > 0 && slot < firstState {
				continue
			}
			recordSides(g, by, n.Inputs[slot], samples, seen)
		}
	}
	at := slices.IndexFunc(g.Inputs, func(v graph.ValueInfo) bool { return v.Name == l.Name })
	if at < 0 || len(l.Axes) == 0 || isReadElsewhere(g, l.Name, asked) {
		return nil
	}
	if v := g.Inputs[at]; !v.Known || len(v.Dims) != 1 {
		return nil
	}
	samples := g.Inputs[at].Dims[0].Size
	for _, v := range g.Inputs {
		axis, ok := seen[v.Name]
		if !ok || axis >= len(v.Dims) || samples == 1 {
			continue
		}
		if l.sides[v.Name] = axis; samples > 0 && v.Dims[axis].Size > 0 && v.Dims[axis].Size != samples {
			return nil
		}
	}
	l.sides[l.Name] = 0
	return l
}

// isReadElsewhere reports whether a tensor is an output of the graph, or is read by a node that is neither in nodes nor
// recurrent. Reading the outputs of nodes counts as reading the tensor.
func isReadElsewhere(g *graph.Graph, tensor string, nodes map[*graph.Node]bool) bool {
	known := map[string]bool{tensor: true}
	for _, n := range g.Nodes { // in topological order
		if !slices.ContainsFunc(n.Inputs, func(in string) bool { return known[in] }) || operators.IsRecurrent(n) {
			continue
		}
		if !nodes[n] {
			return true
		}
		known[n.Outputs[0]] = true
	}
	return slices.ContainsFunc(graph.ValueNames(g.Outputs), func(out string) bool { return known[out] })
}

// recordSides records in seen the given axis of a tensor and, for each tensor from which that comes, the axis that
// becomes it. by holds the node of each output. It stops at nodes that add or remove axes, and at recurrences.
func recordSides(g *graph.Graph, by map[string]*graph.Node, tensor string, axis int, seen map[string]int) {
	if _, ok := seen[tensor]; ok {
		return
	}
	seen[tensor] = axis
	n := by[tensor]
	if n == nil || operators.HasTrait(n, operators.TraitLoop|operators.TraitReshape) {
		return
	}
	if perm := n.Attrs["perm"].Ints; n.Op == operators.OpTranspose && axis < len(perm) {
		axis = int(perm[axis])
	}
	for i, in := range n.Inputs {
		if i == 0 || n.Op == operators.OpConcat {
			recordSides(g, by, in, axis, seen)
		}
	}
}

// inputAxis returns the graph's input and the axis of it that becomes the given axis of a tensor. by holds the node of
// each output. ok is false if no input does, as behind a recurrence.
func inputAxis(g *graph.Graph, by map[string]*graph.Node, tensor string, axis int) (a InputTimeAxis, ok bool) {
	for a = (InputTimeAxis{tensor, axis}); by[a.Input] != nil; {
		n := by[a.Input]
		if operators.IsRecurrent(n) || len(n.Inputs) == 0 {
			return a, false
		}
		if perm := n.Attrs["perm"].Ints; n.Op == operators.OpTranspose && a.Axis < len(perm) {
			a.Axis = int(perm[a.Axis])
		}
		a.Input = n.Inputs[0]
	}
	at := slices.IndexFunc(g.Inputs, func(v graph.ValueInfo) bool { return v.Name == a.Input })
	return a, at >= 0 && a.Axis < len(g.Inputs[at].Dims)
}

// StepsAndAxisName returns the number of steps of the inputs' sequences, and the name of their axis if the file leaves
// its size open. The number is 0 if it is unknown.
func (l *SequenceLengthInput) StepsAndAxisName(g *graph.Graph, opt operators.Options) (steps int, axis string) {
	for _, a := range l.Axes {
		v := inputNamed(g, a.Input)
		d := v.Dims[a.Axis]
		if d.Size > 0 {
			return d.Size, ""
		}
		if n := opt.Dims[d.Param]; n > 0 && d.Param != "" {
			return n, d.Param
		}
		if shape := dataShape(opt, *v); len(shape) > a.Axis && d.Param != "" {
			return shape[a.Axis+len(shape)-len(v.Dims)], d.Param
		}
	}
	return 0, ""
}

// dataShape returns the shape of the user's data for an input, with an axis of samples in front or without. It returns
// nil if no data with a fitting number of axes exist.
func dataShape(o operators.Options, v graph.ValueInfo) []int {
	shape, ok := o.Data[v.Name]
	if !ok {
		shape = o.Data[""]
	}
	if len(shape) < len(v.Dims) || len(shape) > len(v.Dims)+1 {
		return nil
	}
	return shape
}

// inputNamed returns the graph's input with the given name, which must exist.
func inputNamed(g *graph.Graph, name string) *graph.ValueInfo {
	return &g.Inputs[slices.IndexFunc(g.Inputs, func(v graph.ValueInfo) bool { return v.Name == name })]
}

// BindStepCount changes graph g, in which l was found, into one for sequences with the given number of steps, all
// valid. The input stays, but has no effect. Axes of steps whose size the file leaves open stay open.
func (l *SequenceLengthInput) BindStepCount(g *graph.Graph, steps int) {
	g.Sides = l.sides
	for _, n := range l.nodes {
		n.Inputs[lensSlot] = ""
	}
	for _, a := range l.Axes {
		if d := &inputNamed(g, a.Input).Dims[a.Axis]; d.Size > 0 {
			d.Size = steps
		}
	}
}

// GraphWithValidSteps returns a copy of a graph that BindStepCount has bound, for a single sample. In it, only the
// given number of steps at the beginning of each sequence are valid.
func GraphWithValidSteps(g *graph.Graph, steps int) *graph.Graph {
	c := g.ShallowCopy()
	lens := fresh(c, "steps")
	c.Init[lens] = &graph.ConstantTensor{DType: graph.DTypeInt32, Shape: []int{1}, I: []int64{int64(steps)}}
	for i, n := range c.Nodes {
		if operators.HasTrait(n, operators.TraitNeedsCellFormats) {
			with := *n
			with.Inputs = slices.Clone(n.Inputs)
			with.Inputs[lensSlot] = lens
			c.Nodes[i] = &with
		}
	}
	return c
}
