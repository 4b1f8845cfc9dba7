package scaled

import (
	"cmp"
	"container/heap"
	"slices"

	"hlsgen/frontend/graph"
	"hlsgen/frontend/program"
)

// move returns the forms of elements that a step moves. It follows a join of several tensors back through all other
// moves. So if parts of a tensor are split and joined again, their elements count as elements of that tensor.
func (f *former) move(step *program.Step, index []int32) (*ElementForms, error) {
	m, in := step.Move, step.Node.Inputs
	if m.MayReadOtherInputs() {
		return f.joined(step, index)
	}
	at := index
	if !m.IsCertainlyIdentity() {
		if at = f.list(len(index)); at == nil {
			return nil, &NoIntegerFunctionError{step.Output, step, true}
		}
		for k, i := range index {
			_, from := m.SourceOf(int(i))
			at[k] = int32(from)
		}
	}
	part, err := f.value(in[0], at)
	if err != nil {
		return nil, err
	}
	out := &ElementForms{Of: slices.Clone(part.Of), which: part.which}
	for i := range out.Of {
		out.Of[i].trail = &trail{step.Node, []*trail{out.Of[i].trail}}
	}
	return out, nil
}

// single reports whether a tensor is a constant with one element.
func (f *former) single(tensor string) bool {
	c := f.a.Program.Known[tensor].Const
	return c != nil && c.Len() == 1
}

// alone replaces the entries in mine of elements that come from other sources by the place of s's first element. Those
// of s's own elements become their places, from at. all lists all sources.
func (s *source) alone(all []*source, at, mine []int32) {
	first := at[s.of[0]]
	if &mine[0] != &at[0] {
		copy(mine, at)
	}
	for _, other := range all {
		if other == s {
			continue
		}
		for _, k := range other.of {
			mine[k] = first
		}
	}
}

// A source is a tensor from which some of the requested elements come.
type source struct {
	tensor string
	rank   int             // the index of the step that moves its elements; below 0 if none does
	of     []int32         // the indices of the requested elements that come from it
	first  int32           // the first of these
	by     []*source       // the tensors through which the elements came
	node   *graph.Node     // the node that moved them; nil if no node did
	inputs map[int]*source // the sources of the moving node, by input slot
}

// A following is a heap of sources whose elements are to be followed further back. The source whose elements the last
// step moves comes first. So all elements that pass through a tensor have arrived there before the tensor is followed.
type following []*source

func (f following) Len() int           { return len(f) }
func (f following) Less(i, j int) bool { return f[i].rank > f[j].rank }
func (f following) Swap(i, j int)      { f[i], f[j] = f[j], f[i] }
func (f *following) Push(s any)        { *f = append(*f, s.(*source)) }
func (f *following) Pop() any {
	last := (*f)[len(*f)-1]
	*f = (*f)[:len(*f)-1]
	return last
}

// moves returns the step that moves elements into a tensor. It returns nil if the tensor is an integer tensor, a
// constant, a model input or the output of another kind of step.
func (f *former) moves(tensor string) *program.Step {
	_, integer := f.a.integer[tensor]
	if s := f.a.Program.ProducerOf(tensor); s != nil && !integer && s.Move != nil &&
		f.a.Program.Known[tensor].Const == nil {
		return s
	}
	return nil
}

// joined returns the forms of elements that a step joins from several tensors. It requests the whole list from each
// source; the entries of other sources' elements are meaningless.
func (f *former) joined(step *program.Step, index []int32) (*ElementForms, error) {
	blocked := &NoIntegerFunctionError{step.Output, step, true}
	at := slices.Clone(index)
	sources := f.sources(step, at)
	if sources == nil {
		return nil, blocked
	}
	var out ElementForms
	out.which = make([]uint16, len(index))
	last := -1 // the last source that needs a list of its own
	for i, s := range sources {
		if !f.single(s.tensor) {
			last = i
		}
	}
	for i, s := range sources {
		mine := at
		if !f.single(s.tensor) {
			if i < last { // later sources still need their entries in at
				mine = f.list(len(at))
			}
			if mine == nil {
				return nil, blocked
			}
			s.alone(sources, at, mine)
		}
		part, err := f.value(s.tensor, mine)
		if err != nil {
			return nil, err
		}
		base := len(out.Of)
		if base+len(part.Of) > maxForms {
			return nil, blocked
		}
		through := s.through()
		for _, form := range part.Of {
			for _, node := range slices.Backward(through) {
				form.trail = &trail{node, []*trail{form.trail}}
			}
			out.Of = append(out.Of, form)
		}
		if base+len(part.Of) == 1 {
			continue
		}
		for _, k := range s.of {
			out.which[k] = uint16(base + part.FormIndexOf(int(k)))
		}
	}
	if len(out.Of) == 1 {
		out.which = nil
	}
	return &out, nil
}

// sources follows elements of a step's output back through moves to the tensors from which they come. at holds the
// elements' places in the output; sources replaces them by those in the returned sources. It returns nil if the work
// exceeds maxListed.
func (f *former) sources(step *program.Step, at []int32) (list []*source) {
	first := &source{tensor: step.Output, rank: f.a.rank(step), of: NewCountingList(len(at))}
	known := map[string]*source{step.Output: first}
	rest := &following{first}
	for rest.Len() > 0 {
		s := heap.Pop(rest).(*source)
		by := f.moves(s.tensor)
		if s == first {
			by = step
		}
		if by == nil {
			list = append(list, s)
			continue
		}
		if f.listed += len(s.of); f.listed > maxListed {
			return nil
		}
		s.node, s.inputs = by.Node, map[int]*source{}
		room := counted(by.Move, s.of, at)
		var to *source
		last := -1
		for _, k := range s.of {
			slot, j := by.Move.SourceOf(int(at[k]))
			if at[k] = int32(j); slot != last {
				to, last = f.input(s, by, slot, known, rest), slot
				to.of = slices.Grow(to.of, room[slot])
				room[slot] = 0
			}
			to.of = append(to.of, k)
		}
	}
	for _, s := range list {
		s.first = slices.Min(s.of)
	}
	slices.SortFunc(list, func(a, b *source) int { return cmp.Compare(a.first, b.first) })
	return list
}

// counted returns how many of the elements in of come from each input slot of a move. at[k] is the place of element k
// in the move's output.
func counted(m *program.Move, of, at []int32) (n [256]int) {
	if !m.MayReadOtherInputs() {
		n[0] = len(of)
		return n
	}
	for _, k := range of {
		slot, _ := m.SourceOf(int(at[k]))
		n[slot]++
	}
	return n
}

// input returns the source from which input slot slot of step by takes the elements of s. If known has no such source
// yet, input adds a new one to known and to rest.
func (f *former) input(s *source, by *program.Step, slot int, known map[string]*source, rest *following) *source {
	to := s.inputs[slot]
	if to != nil {
		return to
	}
	tensor := by.Node.Inputs[slot]
	if to = known[tensor]; to == nil {
		to = &source{tensor: tensor, rank: -1}
		if mover := f.moves(tensor); mover != nil {
			to.rank = f.a.rank(mover)
		}
		known[tensor] = to
		heap.Push(rest, to)
	}
	s.inputs[slot] = to
	if !slices.Contains(to.by, s) {
		to.by = append(to.by, s)
	}
	return to
}

// through returns the nodes that moved the elements of a source to the requested tensor, the last node first.
func (s *source) through() (nodes []*graph.Node) {
	var all []*source
	seen := map[*source]bool{s: true}
	for rest := s.by; len(rest) > 0; {
		next := rest[0]
		rest = rest[1:]
		if seen[next] {
			continue
		}
		seen[next] = true
		all = append(all, next)
		rest = append(rest, next.by...)
	}
	slices.SortStableFunc(all, func(a, b *source) int { return b.rank - a.rank })
	for _, a := range all {
		nodes = append(nodes, a.node)
	}
	return nodes
}
