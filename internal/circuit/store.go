package circuit

// A LoopMemory is a memory in a feedback loop: many stages lie between reading a row and writing what is computed from
// it. An iteration sees everything that iterations at least WriteToReadIterations before it wrote, and nothing that it
// or later ones write. What iterations in between write is undefined for it, so the layer's loop must wait.
type LoopMemory struct {
	b      *Builder
	memory int
}

// AddLoopMemory adds a LoopMemory with the given number of rows of width bits each. Each row must be written before it
// is read. The name must be unique.
func (b *Builder) AddLoopMemory(name string, style StorageStyle, rows, width int) LoopMemory {
	return LoopMemory{b, written(b, name, style, rows, width)}
}

// ReadRow returns the row at an address, read at the given stage or as soon as the address is available.
func (s LoopMemory) ReadRow(address Value, stage int) Value {
	return row(s.b, s.memory, stage, address)
}

// WriteRow makes each iteration for which the condition when holds write the word. It writes as soon as all values are
// available, but not before the stages at which rows are read. ReadRow must not be called afterwards.
func (s LoopMemory) WriteRow(address, word, when Value) {
	stage := FirstCommonStage(address, word, when)
	for _, n := range s.b.m.Nodes {
		if at, ok := n.reads(s.memory); ok {
			stage = max(stage, at)
		}
	}
	m := &s.b.m.Memories[s.memory]
	m.Stage, m.Address, m.Word = stage, address.AtStage(stage).id, word.AtStage(stage).id
	now := s.b.now(func() Value { return AllHold(s.b.iterationStarted(stage), when.AtStage(stage)) })
	s.b.m.Memories[s.memory].When = now.id
}

// reads returns the stage at which a node reads the memory with this number. ok is false if it does not read it.
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

// WriteToReadIterations returns the least d such that an iteration sees what the iteration d before it wrote to the
// LoopMemory called store. It is 0 if nothing reads it. Iterations d apart start at least d clocks apart.
func (m *Module) WriteToReadIterations(store string) (least int) {
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
