package circuit

// A Store is a memory on the way round a loop: what it is written with takes many stages to make of what is read from
// it. A row is read at earlier stages than it is written at, or at the same. So an iteration sees what those have
// written that are at least Distance before it, and nothing of its own and of later ones. What those between write, it
// may see or not: the layer's loop waits.
type Store struct {
	b      *Builder
	memory int
}

// Store is so many rows of bits, which are written before they are read. Its name is its own.
func (b *Builder) Store(name string, style Style, rows, width int) Store {
	return Store{b, written(b, name, style, rows, width)}
}

// Row is the row at an address, which is read at a stage, or as soon as the address is there.
func (s Store) Row(address Value, stage int) Value { return row(s.b, s.memory, stage, address) }

// Write has iterations write a row for which the condition holds: as soon as all is there, but not before the stages of
// the Rows, of which there are no more after it.
func (s Store) Write(address, word, when Value) {
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

// reads is the stage at which a node reads a memory, if it does.
func (n *Node) reads(memory int) (stage int, ok bool) {
	switch {
	case n.K != memory:
	case n.Op == Peek:
		return n.Stage, true
	case n.Op == Fetch:
		return n.Stage - 1, true
	}
	return 0, false
}

// Distance is how many iterations behind one that writes a row of a store those are, at least, that see it. It is 0
// where nothing reads the store. An iteration takes a clock or more, so that this many have that many stages between
// them.
func (m *Module) Distance(store string) (least int) {
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
