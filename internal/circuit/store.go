package circuit

// A LoopMemory is a memory in a feedback loop: many stages lie between reading a row and writing what is computed from
// it. An iteration sees everything that iterations at least WriteReadDistance before it wrote, and nothing that it or
// later ones write. What iterations in between write is undefined for it, so the layer's loop must wait.
type LoopMemory struct {
	b      *Builder
	memory int
}

// Store adds a LoopMemory with the given number of rows of width bits each. Each row must be written before it is read.
// The name must be unique.
func (b *Builder) Store(name string, style Style, rows, width int) LoopMemory {
	return LoopMemory{b, written(b, name, style, rows, width)}
}

// Row returns the row at an address, read at the given stage or as soon as the address is available.
func (s LoopMemory) Row(address Value, stage int) Value { return row(s.b, s.memory, stage, address) }

// Write makes each iteration for which the condition when holds write the word. It writes as soon as all values are
// available, but not before the stages at which Row was read. Row must not be called afterwards.
func (s LoopMemory) Write(address, word, when Value) {
	stage := Stage(address, word, when)
	for _, n := range s.b.m.Nodes {
		if at, ok := n.reads(s.memory); ok {
			stage = max(stage, at)
		}
	}
	m := &s.b.m.Memories[s.memory]
	m.Stage, m.Address, m.Word = stage, address.At(stage).id, word.At(stage).id
	now := s.b.now(func() Value { return All(s.b.Started(stage), when.At(stage)) })
	s.b.m.Memories[s.memory].When = now.id
}

// reads returns the stage at which a node reads a memory. ok is false if it does not.
func (n *Node) reads(memory int) (stage int, ok bool) {
	switch {
	case n.K != memory:
	case n.Op == OpReadMemoryUnclocked:
		return n.Stage, true
	case n.Op == OpReadMemoryClocked:
		return n.Stage - 1, true
	}
	return 0, false
}

// WriteReadDistance returns the least d such that an iteration sees what the iteration d before it wrote to the
// LoopMemory called store. It is 0 if nothing reads it. Iterations d apart are at least d stages apart.
func (m *Module) WriteReadDistance(store string) (least int) {
	for k, a := range m.Memories {
		if a.Name != store {
			continue
		}
		for i := range m.Nodes {
			if at, ok := m.Nodes[i].reads(k); ok {
				least = max(least, a.Stage-at+1)
			}
		}
	}
	return least
}
