package circuit

import (
	"fmt"
	"slices"

	"hlsgen/internal/num"
)

// newMachine returns a machine for the circuit of a layer or a function. machines holds the machines of functions made
// so far; it adds further ones. The error is that of NewMachine.
func newMachine(m *Module, machines map[*Module]*Machine) (*Machine, error) {
	f := &flattener{Machine: &Machine{m: m}, seen: make([]int, len(m.Nodes)), machines: machines,
		results: make([][]NodeID, len(m.Calls))}
	r := f.Machine
	r.slots = slices.Repeat([]int32{-1}, len(m.Nodes))
	for i := range m.Nodes {
		if n := &m.Nodes[i]; n.Op == OpCallResult {
			f.results[n.Table] = append(f.results[n.Table], NodeID(i))
		}
	}
	if err := f.memories(); err != nil {
		return nil, err
	}
	for _, c := range m.Calls {
		if len(c.Function.States) > 0 {
			return nil, fmt.Errorf("function %s has a state", c.Function.Name)
		}
		if machines[c.Function] == nil {
			made, err := newMachine(c.Function, machines)
			if err != nil {
				return nil, fmt.Errorf("function %s: %w", c.Function.Name, err)
			}
			machines[c.Function] = made
		}
		r.functions = append(r.functions, machines[c.Function])
	}
	if err := f.order(); err != nil {
		return nil, err
	}
	r.values = make([]uint64, f.size)
	for i := range m.Nodes {
		if n := &m.Nodes[i]; n.Op == OpConstant && r.slots[i] >= 0 {
			extend(f.value(NodeID(i)), twoParts(n.WideRange().Lo), true)
			finish(f.value(NodeID(i)), n.Width, n.Signed && !n.Word)
		}
		if m.Nodes[i].Op == OpIterationStart && r.slots[i] >= 0 {
			r.values[r.slots[i]] = 1
		}
	}
	for k, s := range m.States {
		if s.Reset && r.slots[s.Node] >= 0 {
			extend(f.value(s.Node), twoParts(s.Init), true)
			finish(f.value(s.Node), s.Width, s.Signed)
		}
		r.next = append(r.next, make([]uint64, f.limbs(m.States[k].Node))...)
	}
	r.initial = slices.Clone(r.values)
	return r, nil
}

// twoParts returns the parts of a number.
func twoParts(v num.Wide) []uint64 { return []uint64{v.Lo, uint64(v.Hi)} }

// memories makes room for the memories' rows, and fills the tables. It returns an error if a table has another number
// of rows, or rows of another width, than its memory.
func (f *flattener) memories() error {
	for _, a := range f.m.Memories {
		limbs := LimbCount(a.Width)
		rows := make([]uint64, 0, a.Rows*limbs)
		if a.Data != nil {
			elem, data := a.Data()
			if len(data) != a.Rows {
				return fmt.Errorf("%s: table %s has %d rows, want %d", f.m.Name, a.Name, len(data), a.Rows)
			}
			for _, row := range data {
				if len(row)*elem.Width != a.Width {
					return fmt.Errorf("%s: table %s has a row of %d elements of %v, want %d bits", f.m.Name, a.Name,
						len(row), elem, a.Width)
				}
				rows = AppendPackedElements(rows, elem, row)
			}
		}
		f.rows = append(f.rows, rows[:cap(rows)])
	}
	return nil
}

// order adds the steps of all nodes that matter, first of those that decide which words move. Then it sets the
// machine's streams, states and arrays. The error is that of visit.
func (f *flattener) order() error {
	m := f.m
	var control, rest []NodeID
	for _, s := range slices.Concat(m.In, m.Out) {
		control = append(control, s.When)
	}
	for _, s := range slices.Concat(m.In, m.Out) {
		rest = append(rest, s.Word)
	}
	rest = slices.Concat(rest, m.Pins, m.Results)
	for _, s := range m.States {
		rest = append(rest, s.Node, s.Next, s.When)
	}
	for _, a := range m.Memories {
		rest = append(rest, a.Address, a.Word, a.When)
	}
	for i, id := range slices.Concat(control, rest) {
		if i == len(control) {
			f.control = len(f.code)
		}
		if err := f.visit(id); err != nil {
			return err
		}
	}
	for _, s := range m.In {
		f.in = append(f.in, f.stream(s))
	}
	for _, s := range m.Out {
		f.out = append(f.out, f.stream(s))
	}
	for _, s := range m.States {
		to := f.m.Nodes[s.Node]
		from := f.converted(s.Next, to)
		f.states = append(f.states, update{f.slots[s.When], from, f.slots[s.Node], int32(f.limbs(s.Node))})
	}
	for k, a := range m.Memories {
		if a.When == NoNode {
			continue
		}
		from := f.converted(a.Word, Node{Width: a.Width, Word: true})
		f.arrays = append(f.arrays, arrayWrite{int32(k), f.slots[a.When], f.slots[a.Address], from,
			int32(LimbCount(a.Width)), a.Address})
	}
	return nil
}

// stream returns the places of a stream's condition and word.
func (f *flattener) stream(s StreamPort) streamState {
	p := streamState{when: f.slots[s.When], word: -1, limbs: int32(LimbCount(s.Width))}
	if s.Word != NoNode {
		p.word = f.slots[s.Word]
	}
	return p
}

// visit adds the steps of a node and of all that it needs, except those that it has added before. The error names a
// node that depends on itself, has no possible width, or has no meaning.
func (f *flattener) visit(id NodeID) error {
	if id == NoNode || f.seen[id] == 2 {
		return nil
	}
	n := &f.m.Nodes[id]
	if f.seen[id] == 1 {
		return fmt.Errorf("%s depends on itself", f.describe(id))
	}
	if n.Width < 1 || !n.Word && (n.Width > 128 || n.Width == 128 && !n.Signed) {
		return fmt.Errorf("%s is a number of %d bits", f.describe(id), n.Width)
	}
	f.seen[id] = 1
	for _, a := range f.operands(n) {
		if err := f.visit(a); err != nil {
			return err
		}
	}
	f.seen[id] = 2
	return f.add(id, n)
}

// operands returns the values in this iteration on which a node depends.
func (f *flattener) operands(n *Node) []NodeID {
	switch n.Op {
	case OpReadStateBefore:
		return nil
	case OpReadStateAfter:
		s := &f.m.States[n.K]
		return []NodeID{s.Node, s.Next, s.When}
	case OpReadMemoryClocked, OpReadMemoryUnclocked:
		if a := &f.m.Memories[n.K]; f.forwards(n) {
			return append(slices.Clone(n.Args), a.Address, a.Word, a.When)
		}
	case OpCallResult:
		return f.m.Calls[n.Table].Args
	}
	return n.Args
}
