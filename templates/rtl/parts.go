package rtl

import (
	"fmt"
	"slices"
	"sync"

	"hlsgen/internal/circuit"
	"hlsgen/internal/dataflow"
)

// partBits is how many bits a module of a layer's text adds, compares or chooses at most, by what belongs to one of its
// elements alone: for about so many Yosys takes 2 GiB and five minutes (docs/rtl.md).
const partBits = dataflow.MostBits / 16

// A parting takes groups of the elements that a layer writes, with all that is there for them alone, out of its module.
// What several groups share, and all that later iterations read, stays. Nothing is computed twice, and nothing comes
// sooner or later: only the text has borders.
type parting struct {
	m     *circuit.Module
	owner []int          // per node: the group that it is there for, or one of the below
	reads []int          // per memory: how many nodes read it
	roots [][]circuit.ID // per group: its elements
}

const (
	nobody = -2 // nobody reads it, or nothing yet
	shared = -1
)

// parted is a layer's circuit as a module that uses others, of about so many bits each.
func parted(m *circuit.Module, most int) *circuit.Module {
	bits := 0
	for _, n := range m.Nodes {
		bits += added(m, n)
	}
	if bits <= most || len(m.Out) != 1 {
		return m
	}
	elements := elementsOf(m, m.Out[0].Word)
	groups := min((bits+most-1)/most, len(elements))
	if groups < 2 {
		return m
	}
	p := parting{m: m, owner: slices.Repeat([]int{nobody}, len(m.Nodes)), reads: make([]int, len(m.Memories)),
		roots: make([][]circuit.ID, groups)}
	p.keep()
	for i, id := range elements {
		p.claim(id, i*groups/len(elements))
	}
	p.spread(elements)
	return p.made()
}

// added is the bits of a node that take logic.
func added(m *circuit.Module, n circuit.Node) int {
	switch n.Op {
	case circuit.Add, circuit.Sub, circuit.Mux:
		return n.Width
	case circuit.Less, circuit.Equal:
		return max(m.Nodes[n.Args[0]].Width, m.Nodes[n.Args[1]].Width)
	case circuit.Look, circuit.And, circuit.Or, circuit.Xor:
		return 1
	}
	return 0
}

// elementsOf is what a word is joined of, however late it is.
func elementsOf(m *circuit.Module, word circuit.ID) []circuit.ID {
	for word != circuit.None && m.Nodes[word].Op == circuit.Delay {
		word = m.Nodes[word].Args[0]
	}
	if word == circuit.None || m.Nodes[word].Op != circuit.Join {
		return nil
	}
	return m.Nodes[word].Args
}

// movable reports whether a node may be in a module of its own: it depends on its operands alone. A table goes with the
// only node that reads it.
func (p *parting) movable(n circuit.Node) bool {
	switch n.Op {
	case circuit.Peek, circuit.Fetch:
		return p.m.Memories[n.K].Constant() && p.reads[n.K] == 1
	case circuit.Add, circuit.Sub, circuit.Multiply, circuit.And, circuit.Or, circuit.Xor, circuit.Invert,
		circuit.Look, circuit.Mux, circuit.Pick, circuit.Less, circuit.Equal, circuit.Slice, circuit.Join,
		circuit.Shift, circuit.Wrap, circuit.Bits, circuit.Delay, circuit.Result:
		return true
	}
	return false
}

// named gives a visitor every node that something other than a node names.
func named(m *circuit.Module, visit func(id *circuit.ID)) {
	visit(&m.Fire)
	for i := range m.In {
		visit(&m.In[i].When)
		visit(&m.In[i].Word)
	}
	for i := range m.Out {
		visit(&m.Out[i].When)
		visit(&m.Out[i].Word)
		visit(&m.Out[i].Moves)
	}
	for i := range m.States {
		visit(&m.States[i].Node)
		visit(&m.States[i].Next)
		visit(&m.States[i].When)
	}
	for i := range m.Memories {
		visit(&m.Memories[i].Address)
		visit(&m.Memories[i].Word)
		visit(&m.Memories[i].When)
	}
}

// operands is what a node reads; a result, what its call does.
func operands(m *circuit.Module, n circuit.Node) []circuit.ID {
	if n.Op == circuit.Result {
		return m.Calls[n.Table].Args
	}
	return n.Args
}

// keep has what is named stay.
func (p *parting) keep() {
	for _, n := range p.m.Nodes {
		if n.Op == circuit.Peek || n.Op == circuit.Fetch {
			p.reads[n.K]++
		}
	}
	named(p.m, func(id *circuit.ID) {
		if *id >= 0 {
			p.owner[*id] = shared
		}
	})
}

// claim notes that a node is there for a group, unless it is there for others, too.
func (p *parting) claim(id circuit.ID, group int) {
	switch p.owner[id] {
	case nobody, group:
		p.owner[id] = group
	default:
		p.owner[id] = shared
	}
}

// spread claims what the nodes of groups read. Readers come behind what they read.
func (p *parting) spread(elements []circuit.ID) {
	joined := -1
	for i := len(p.m.Nodes) - 1; i >= 0; i-- {
		n := p.m.Nodes[i]
		if n.Op == circuit.Join && joined < 0 && slices.Equal(n.Args, elements) {
			joined = i
			p.owner[i] = shared // and its elements are claimed
			continue
		}
		if !p.movable(n) || p.owner[i] == nobody {
			p.owner[i] = shared
		}
		for _, a := range operands(p.m, n) {
			p.claim(a, p.owner[i])
		}
	}
	p.together()
	for _, id := range elements {
		if g := p.owner[id]; g >= 0 && !slices.Contains(p.roots[g], id) {
			p.roots[g] = append(p.roots[g], id)
		}
	}
}

// together has a call where all of its results are there for one group, or stay.
func (p *parting) together() {
	owner := make(map[uint64]int)
	for pass := range 2 {
		for i, n := range p.m.Nodes {
			if n.Op != circuit.Result {
				continue
			}
			g, known := owner[n.Table]
			switch {
			case pass == 1:
				p.owner[i] = g
			case !known:
				owner[n.Table] = p.owner[i]
			case g != p.owner[i]:
				owner[n.Table] = shared
			}
		}
	}
}

// made is the module with its groups as functions.
func (p *parting) made() *circuit.Module {
	from := p.m
	m := *from
	m.Nodes, m.In, m.Out = nil, slices.Clone(from.In), slices.Clone(from.Out)
	m.States, m.Memories, m.Calls = slices.Clone(from.States), nil, nil
	calls := map[uint64]uint64{} // those that stay
	gone := p.tables()
	memory := make([]int, len(from.Memories))
	for k, a := range from.Memories {
		if memory[k] = len(m.Memories); !gone[k] {
			m.Memories = append(m.Memories, a)
		}
	}
	last := map[circuit.ID]int{} // the last element of each group
	for g, roots := range p.roots {
		if len(roots) > 0 {
			last[slices.Max(roots)] = g
		}
	}
	to := slices.Repeat([]circuit.ID{circuit.None}, len(from.Nodes))
	for i, n := range from.Nodes {
		if p.owner[i] < 0 {
			switch n.Op {
			case circuit.Result:
				n.Table = moved(&m, from.Calls, calls, n.Table)
			case circuit.Peek, circuit.Fetch:
				n.K = memory[n.K]
			}
			to[i] = circuit.ID(len(m.Nodes))
			m.Nodes = append(m.Nodes, n)
		}
		g, ends := last[circuit.ID(i)]
		if !ends {
			continue
		}
		f, args := p.function(g)
		for k, id := range p.roots[g] {
			r := from.Nodes[id]
			r.Op, r.Args, r.K, r.Table = circuit.Result, nil, k, uint64(len(m.Calls))
			to[id] = circuit.ID(len(m.Nodes))
			m.Nodes = append(m.Nodes, r)
		}
		m.Calls = append(m.Calls, circuit.Call{Function: f, Args: args, Stage: stageOf(from, args)})
	}
	for i := range m.Nodes {
		m.Nodes[i].Args = slices.Clone(m.Nodes[i].Args)
		for k, a := range m.Nodes[i].Args {
			m.Nodes[i].Args[k] = to[a]
		}
	}
	for i := range m.Calls {
		for k, a := range m.Calls[i].Args {
			m.Calls[i].Args[k] = to[a]
		}
	}
	named(&m, func(id *circuit.ID) {
		if *id >= 0 {
			*id = to[*id]
		}
	})
	return &m
}

// tables are the memories that go into modules of groups.
func (p *parting) tables() map[int]bool {
	gone := map[int]bool{}
	for i, n := range p.m.Nodes {
		if (n.Op == circuit.Peek || n.Op == circuit.Fetch) && p.owner[i] >= 0 {
			gone[n.K] = true
		}
	}
	return gone
}

// moved is the number of a call in another module, to which it is moved with its first result.
func moved(to *circuit.Module, from []circuit.Call, known map[uint64]uint64, call uint64) uint64 {
	at, ok := known[call]
	if !ok {
		at = uint64(len(to.Calls))
		known[call] = at
		c := from[call]
		c.Args = slices.Clone(c.Args)
		to.Calls = append(to.Calls, c)
	}
	return at
}

// stageOf is the first stage of some values.
func stageOf(m *circuit.Module, list []circuit.ID) (stage int) {
	if len(list) > 0 {
		stage = m.Nodes[slices.MinFunc(list, func(a, b circuit.ID) int {
			return m.Nodes[a].Stage - m.Nodes[b].Stage
		})].Stage
	}
	return max(0, stage)
}

// function is a group, and what it reads.
func (p *parting) function(g int) (f *circuit.Module, args []circuit.ID) {
	f = &circuit.Module{Name: fmt.Sprintf("part_%d", g), Fire: circuit.None, Known: new(sync.Map)}
	to := map[circuit.ID]circuit.ID{}
	add := func(id circuit.ID, n circuit.Node) {
		to[id] = circuit.ID(len(f.Nodes))
		f.Nodes = append(f.Nodes, n)
	}
	var own []circuit.ID
	for i := range p.m.Nodes {
		if p.owner[i] == g {
			own = append(own, circuit.ID(i))
		}
	}
	for _, id := range own {
		for _, a := range operands(p.m, p.m.Nodes[id]) {
			n := p.m.Nodes[a]
			if _, known := to[a]; known || p.owner[a] == g {
				continue
			}
			if n.Op != circuit.Const {
				n.Op, n.K, n.Name, n.Args = circuit.Pin, len(args), fmt.Sprint("x", len(args)), nil
				f.Pins, args = append(f.Pins, circuit.ID(len(f.Nodes))), append(args, a)
			}
			add(a, n)
		}
	}
	calls := map[uint64]uint64{}
	for _, id := range own {
		n := p.m.Nodes[id]
		switch n.Op {
		case circuit.Result:
			n.Table = moved(f, p.m.Calls, calls, n.Table)
		case circuit.Peek, circuit.Fetch:
			f.Memories = append(f.Memories, p.m.Memories[n.K])
			n.K = len(f.Memories) - 1
		}
		n.Args = slices.Clone(n.Args)
		for k, a := range n.Args {
			n.Args[k] = to[a]
		}
		add(id, n)
	}
	for i := range f.Calls {
		for k, a := range f.Calls[i].Args {
			f.Calls[i].Args[k] = to[a]
		}
	}
	for _, id := range p.roots[g] {
		f.Results = append(f.Results, to[id])
		f.Stages = max(f.Stages, p.m.Nodes[id].Stage-stageOf(p.m, args))
	}
	return f, args
}
