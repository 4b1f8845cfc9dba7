package canon

import (
	"slices"

	"hlsgen/frontend/graph"
	"hlsgen/frontend/operators"
	"hlsgen/frontend/program"
)

// codesInFront moves the quantisers in m.Front in front of the nodes that move and join the elements they read. It
// reports whether it moved any. Element-wise steps in between move along. The codes of moved elements are the moved
// codes.
func codesInFront(m *PassState) bool {
	e, file := edit(m.Graph), map[string]bool{}
	for _, in := range m.Graph.Inputs {
		file[in.Name] = true
	}
	for _, n := range m.Graph.Nodes {
		for _, o := range n.Outputs {
			file[o] = true
		}
	}
	return e.each(func(n *graph.Node) []*graph.Node {
		if !operators.HasTrait(n, operators.TraitUniformCodes) || !m.Front[n.Outputs[0]] {
			return nil
		}
		f := &fronting{wholes: wholesOf(m.Program), editor: e, file: file, to: n.Outputs[0]}
		name := f.codes(n.Inputs[0], []stretch{{over: n.Inputs[0], steps: []*program.Step{m.Program.ProducerOf(f.to)}}})
		if f.lost {
			return nil
		}
		last := f.nodes[len(f.nodes)-1]
		last.Outputs[slices.Index(last.Outputs, name)] = f.to
		return f.nodes
	})
}

// A fronting moves one quantiser in front of the nodes that move and join the elements it reads. It holds the nodes
// that replace the quantiser.
type fronting struct {
	*wholes
	*editor
	file  map[string]bool // the tensors of the graph that depend on data
	to    string          // the tensor that holds the codes
	nodes []*graph.Node   // the nodes that replace the quantiser
	lost  bool            // the quantiser would read a tensor that the graph does not have
}

// A stretch is a chain of element-wise steps from the tensor over to the output of the last step. If a move takes only
// some elements along an axis, cuts says which; the constants that differ along the axis are cut alike.
type stretch struct {
	over  string
	steps []*program.Step
	cuts  []cut
}

// A cut takes n elements along an axis, the first one at index from.
type cut struct{ axis, from, n int }

// codes applies the stretches to a tensor, in order, and returns the name of the result. If a move or a join made the
// tensor, the stretches are applied to what it reads.
func (f *fronting) codes(tensor string, do []stretch) string {
	over := tensor
	for a := f.above(over); a != ""; a = f.above(over) {
		over = a
	}
	if s := f.p.ProducerOf(over); s != nil && s.Move != nil && (operators.IsInternalPad(s.Node) ||
		operators.IsSupportedOperator(s.Node.Domain,
			s.Node.Op)) {
		with := do
		if over != tensor {
			with = append([]stretch{{over: over, steps: f.between(over, tensor, nil)}}, do...)
		}
		if parts, ok := f.parts(s, with); ok {
			return f.joined(s, parts)
		}
	}
	f.lost = f.lost || f.p.Known[tensor].Const == nil && !f.file[tensor]
	tensor = f.constantNamed(tensor)
	for _, part := range do {
		tensor = f.applied(tensor, part)
	}
	return tensor
}

// between appends to list the steps that compute tensor from the tensor over, in order, without those that are in the
// list already.
func (f *fronting) between(over, tensor string, list []*program.Step) []*program.Step {
	s := f.p.ProducerOf(tensor)
	if tensor == over || slices.Contains(list, s) {
		return list
	}
	for _, in := range f.data(s) {
		list = f.between(over, in, list)
	}
	return append(list, s)
}

// parts returns, for each input slot from which a move takes elements, the stretches to apply to that input. ok is
// false if a constant of a stretch does not fit in front of the move.
func (f *fronting) parts(move *program.Step, do []stretch) (parts map[int][]stretch, ok bool) {
	slots, at := move.Move.SourceInputs(), 0
	axis := -1
	if move.Node.Op == operators.OpConcat {
		axis = int(move.Node.IntAttrOr("axis", 0)+int64(len(move.Shape))) % len(move.Shape)
	}
	parts = map[int][]stretch{}
	for slot, in := range move.Node.Inputs {
		if !slices.Contains(slots, slot) {
			continue
		}
		some := slices.Clone(do)
		for i, part := range do {
			for _, s := range part.steps {
				if !f.stays(s, move, axis, len(slots) == 1) {
					return nil, false
				}
			}
			if axis >= 0 {
				some[i].cuts = append(slices.Clip(part.cuts), cut{axis, at, f.p.Known[in].Shape[axis]})
			}
		}
		if parts[slot] = some; axis >= 0 {
			at += f.p.Known[in].Shape[axis]
		}
	}
	return parts, true
}

// stays reports whether step s gives the same values in front of a move. Its constants must be single numbers, or
// differ along an axis that the move joins along or keeps. joins is the joined axis, -1 for none; alone means that the
// move has a single input.
func (f *fronting) stays(s, move *program.Step, joins int, alone bool) bool {
	for v, slot := range s.Elem.Args {
		in := f.p.Known[s.Node.Inputs[slot]]
		if in.Const == nil {
			if !slices.Equal(in.Shape, s.Shape) {
				return false
			}
			continue
		}
		if in.Const.Len() == 1 && (len(in.Shape) == 0 || joins >= 0) {
			continue
		}
		a := along(&s.Elem.Index[v], s.Shape)
		if a < 0 || joins < 0 && !(alone && f.keeps(move, a)) {
			return false
		}
	}
	return true
}

// along returns the axis of the shape along which p reads one constant per index. It returns -1 if p reads in another
// way.
func along(p *graph.ElementIndexMap, shape []int) int {
	for a, n := range shape {
		if p.Table == nil && p.Count == n && p.Run == graph.ElementCount(shape[a+1:]) {
			return a
		}
	}
	return -1
}

// keeps reports whether a move of its first input leaves the index of every element along an axis unchanged.
func (f *fronting) keeps(move *program.Step, axis int) bool {
	from := f.p.Known[move.Node.Inputs[0]].Shape
	if len(from) != len(move.Shape) || from[axis] != move.Shape[axis] {
		return false
	}
	before, after := graph.ElementCount(from[axis+1:]), graph.ElementCount(move.Shape[axis+1:])
	for i := range graph.ElementCount(move.Shape) {
		if _, j := move.Move.SourceOf(i); i/after%from[axis] != j/before%from[axis] {
			return false
		}
	}
	return true
}

// joined writes a copy of the move that moves the codes of its inputs, and returns the name of its output.
func (f *fronting) joined(move *program.Step, parts map[int][]stretch) string {
	n := *move.Node
	n.Inputs = slices.Clone(n.Inputs)
	for slot, in := range n.Inputs {
		switch do, ok := parts[slot]; {
		case ok:
			n.Inputs[slot] = f.codes(in, do)
		case in != "":
			n.Inputs[slot] = f.constantNamed(in)
		}
	}
	n.Outputs = slices.Clone(n.Outputs)
	at := slices.Index(n.Outputs, move.Output)
	for i := range n.Outputs {
		n.Outputs[i] = f.taken.TakeFreshName(f.to, "part")
	}
	if operators.IsInternalPad(&n) { // pads in the form that a graph has
		all := &graph.ConstantTensor{DType: graph.DTypeInt64, Shape: []int{2 * len(move.Shape)}, I: n.IntsAttr("pads")}
		n.Domain, n.Version = "", padVersion
		n.Inputs = slices.Insert(n.Inputs, 1, f.constant(f.to, "pads", all))
		n.Attrs = graph.AttributesByName{"mode": n.Attrs["mode"]}
	}
	f.nodes = append(f.nodes, &n)
	return n.Outputs[at]
}

// padVersion is the version of ONNX's operators that joined writes. In it, the amounts and the value of Pad are inputs.
const padVersion = 13

// constantNamed returns a name under which the graph has the tensor. If that is a constant that the graph lacks, it
// adds an initializer.
func (f *fronting) constantNamed(name string) string {
	k := f.p.Known[name].Const
	if k == nil || f.g.Init[name] != nil {
		return name
	}
	return f.constant(f.to, "operand", k)
}

// applied adds copies of a stretch's steps that read tensor instead of over, and returns the name of the last one's
// output.
func (f *fronting) applied(tensor string, do stretch) string {
	with := map[string]string{do.over: tensor}
	for _, s := range do.steps {
		n := *s.Node
		n.Inputs, n.Outputs = slices.Clone(n.Inputs), []string{f.taken.TakeFreshName(f.to, "part")}
		for slot, in := range n.Inputs {
			if now, ok := with[in]; ok {
				n.Inputs[slot] = now
			} else if in != "" {
				n.Inputs[slot] = f.constantNamed(in)
			}
		}
		for v, slot := range s.Elem.Args {
			in := s.Node.Inputs[slot]
			if k := f.p.Known[in].Const; k != nil && k.Len() > 1 {
				if a := along(&s.Elem.Index[v], s.Shape); a >= 0 {
					n.Inputs[slot] = f.some(n.Inputs[slot], k, s.Shape[a], a, do.cuts)
				}
			}
		}
		f.nodes, with[s.Output] = append(f.nodes, &n), n.Outputs[0]
		tensor = n.Outputs[0]
	}
	return tensor
}

// some returns the name of a constant that holds those of k's n entries along an axis that remain after the cuts along
// it. name is the name of k, which some returns if nothing is cut.
func (f *fronting) some(name string, k *graph.ConstantTensor, n, axis int, cuts []cut) string {
	own := slices.Index(k.Shape, n)
	for _, c := range cuts {
		if c.axis != axis || c.n == n {
			continue
		}
		indices := &graph.ConstantTensor{DType: graph.DTypeInt64, Shape: []int{c.n}}
		for i := range c.n {
			indices.I = append(indices.I, int64(c.from+i))
		}
		out := f.taken.TakeFreshName(f.to, "elements")
		f.nodes = append(f.nodes, &graph.Node{Index: -1, Op: operators.OpGather,
			Inputs: []string{name, f.constant(f.to, "at", indices)}, Outputs: []string{out},
			Attrs: graph.AttributesByName{"axis": graph.NewIntAttr(own)}})
		name, n = out, c.n
	}
	return name
}
