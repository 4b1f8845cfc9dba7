package rtl

import (
	"fmt"
	"slices"
	"sync"

	"hlsgen/internal/circuit"
	"hlsgen/internal/dataflow"
)

// partBits limits the bits that a module adds, compares or selects for its own elements alone. With about so many bits,
// Yosys takes 2 GiB and five minutes (docs/rtl.md).
const partBits = dataflow.MaxAddedBitsPerProcess / 16

// A parting moves groups of a layer's output elements into modules of their own, with all nodes that serve only one
// group. Nodes that several groups share, and nodes that later iterations read, stay. Nothing is computed twice, and
// no latency changes: only the text is divided.
type parting struct {
	m     *circuit.Module
	owner []int              // by node: the group that it serves, or one of the constants below
	reads []int              // by memory: the number of nodes that read it
	roots [][]circuit.NodeID // by group: its elements
}

// The owners of nodes that belong to no group: nodes for which no reader was found yet, and nodes that stay. Nodes stay
// because several groups, or other parts of the circuit, read them.
const (
	nobody = -2 // no reader found yet
	shared = -1
)

// parted returns a layer's circuit divided into modules with about most bits each. It returns m itself if it is small
// enough, has not exactly one output, or cannot be divided.
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
		roots: make([][]circuit.NodeID, groups)}
	p.keep()
	for i, id := range elements {
		p.claim(id, i*groups/len(elements))
	}
	p.spread(elements)
	return p.made()
}

// added returns the number of a node's bits that need logic.
func added(m *circuit.Module, n circuit.Node) int {
	switch n.Op {
	case circuit.OpAdd, circuit.OpSubtract, circuit.OpSumOfThree, circuit.OpMuxByCondition:
		return n.Width
	case circuit.OpLess, circuit.OpEqual:
		return max(m.Nodes[n.Args[0]].Width, m.Nodes[n.Args[1]].Width)
	case circuit.OpLogicTable, circuit.OpAnd, circuit.OpOr, circuit.OpXor:
		return 1
	}
	return 0
}

// elementsOf returns the nodes of the elements that a word consists of, before any delays, or nil if it is no
// concatenation. The slice is shared with the circuit.
func elementsOf(m *circuit.Module, word circuit.NodeID) []circuit.NodeID {
	for word != circuit.NoNode && m.Nodes[word].Op == circuit.OpDelayOneClock {
		word = m.Nodes[word].Args[0]
	}
	if word == circuit.NoNode || m.Nodes[word].Op != circuit.OpConcatenateWords {
		return nil
	}
	return m.Nodes[word].Args
}

// movable reports whether a node can be in another module, which requires that it depends only on its operands. A
// table moves with a node if no other node reads it.
func (p *parting) movable(n circuit.Node) bool {
	switch n.Op {
	case circuit.OpReadMemoryUnclocked, circuit.OpReadMemoryClocked:
		return p.m.Memories[n.K].IsConstant() && p.reads[n.K] == 1
	case circuit.OpAdd, circuit.OpSubtract, circuit.OpSumOfThree, circuit.OpMultiply, circuit.OpAnd, circuit.OpOr,
		circuit.OpXor, circuit.OpNot,
		circuit.OpLogicTable, circuit.OpMuxByCondition, circuit.OpMuxByIndex, circuit.OpLess, circuit.OpEqual,
		circuit.OpSliceWord, circuit.OpConcatenateWords,
		circuit.OpShiftByConstant, circuit.OpLowBitsAsNumber, circuit.OpNumberToWord, circuit.OpDelayOneClock,
		circuit.OpCallResult:
		return true
	}
	return false
}

// named calls visit for every reference to a node that is not an operand of another node.
func named(m *circuit.Module, visit func(id *circuit.NodeID)) {
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

// operands returns the nodes that a node reads. For a result these are the arguments of its call.
func operands(m *circuit.Module, n circuit.Node) []circuit.NodeID {
	if n.Op == circuit.OpCallResult {
		return m.Calls[n.Table].Args
	}
	return n.Args
}

// keep marks the nodes to which something other than a node refers, so that they stay.
func (p *parting) keep() {
	for _, n := range p.m.Nodes {
		if n.Op == circuit.OpReadMemoryUnclocked || n.Op == circuit.OpReadMemoryClocked {
			p.reads[n.K]++
		}
	}
	named(p.m, func(id *circuit.NodeID) {
		if *id >= 0 {
			p.owner[*id] = shared
		}
	})
}

// claim marks a node as needed by a group alone, or as shared if another group needs it too.
func (p *parting) claim(id circuit.NodeID, group int) {
	switch p.owner[id] {
	case nobody, group:
		p.owner[id] = group
	default:
		p.owner[id] = shared
	}
}

// spread claims the operands of all claimed nodes for the same groups. It goes backwards, because readers come after
// the nodes that they read.
func (p *parting) spread(elements []circuit.NodeID) {
	joined := -1
	for i := len(p.m.Nodes) - 1; i >= 0; i-- {
		n := p.m.Nodes[i]
		if n.Op == circuit.OpConcatenateWords && joined < 0 && slices.Equal(n.Args, elements) {
			joined = i
			p.owner[i] = shared // its elements are claimed already
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

// together makes all results of a call serve one group, or stay where they are.
func (p *parting) together() {
	owner := make(map[uint64]int)
	for pass := range 2 {
		for i, n := range p.m.Nodes {
			if n.Op != circuit.OpCallResult {
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

// made returns the circuit in which the groups are calls of functions.
func (p *parting) made() *circuit.Module {
	from := p.m
	m := *from
	m.Nodes, m.In, m.Out = nil, slices.Clone(from.In), slices.Clone(from.Out)
	m.States, m.Memories, m.Calls = slices.Clone(from.States), nil, nil
	calls := map[uint64]uint64{} // from old to new numbers of calls that stay
	gone := p.tables()
	memory := make([]int, len(from.Memories))
	for k, a := range from.Memories {
		if memory[k] = len(m.Memories); !gone[k] {
			m.Memories = append(m.Memories, a)
		}
	}
	last := map[circuit.NodeID]int{} // by last element: the group
	for g, roots := range p.roots {
		if len(roots) > 0 {
			last[slices.Max(roots)] = g
		}
	}
	to := slices.Repeat([]circuit.NodeID{circuit.NoNode}, len(from.Nodes))
	for i, n := range from.Nodes {
		if p.owner[i] < 0 {
			switch n.Op {
			case circuit.OpCallResult:
				n.Table = moved(&m, from.Calls, calls, n.Table)
			case circuit.OpReadMemoryUnclocked, circuit.OpReadMemoryClocked:
				n.K = memory[n.K]
			}
			to[i] = circuit.NodeID(len(m.Nodes))
			m.Nodes = append(m.Nodes, n)
		}
		g, ends := last[circuit.NodeID(i)]
		if !ends {
			continue
		}
		f, args := p.function(g)
		for k, id := range p.roots[g] {
			r := from.Nodes[id]
			r.Op, r.Args, r.K, r.Table = circuit.OpCallResult, nil, k, uint64(len(m.Calls))
			to[id] = circuit.NodeID(len(m.Nodes))
			m.Nodes = append(m.Nodes, r)
		}
		m.Calls = append(m.Calls, circuit.FunctionCall{Function: f, Args: args, Stage: stageOf(from, args)})
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
	named(&m, func(id *circuit.NodeID) {
		if *id >= 0 {
			*id = to[*id]
		}
	})
	return &m
}

// tables returns the set of memories that move into the modules of groups, by number.
func (p *parting) tables() map[int]bool {
	gone := map[int]bool{}
	for i, n := range p.m.Nodes {
		if (n.Op == circuit.OpReadMemoryUnclocked || n.Op == circuit.OpReadMemoryClocked) && p.owner[i] >= 0 {
			gone[n.K] = true
		}
	}
	return gone
}

// moved copies a call of the list from to the module to, unless known has it, and returns its number there.
func moved(to *circuit.Module, from []circuit.FunctionCall, known map[uint64]uint64, call uint64) uint64 {
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

// stageOf returns the earliest stage of the nodes in the list.
func stageOf(m *circuit.Module, list []circuit.NodeID) (stage int) {
	if len(list) > 0 {
		stage = m.Nodes[slices.MinFunc(list, func(a, b circuit.NodeID) int {
			return m.Nodes[a].Stage - m.Nodes[b].Stage
		})].Stage
	}
	return max(0, stage)
}

// function returns group g as a function, and the nodes that are the arguments of its call.
func (p *parting) function(g int) (f *circuit.Module, args []circuit.NodeID) {
	f = &circuit.Module{Name: fmt.Sprintf("part_%d", g), Fire: circuit.NoNode, Known: new(sync.Map)}
	to := map[circuit.NodeID]circuit.NodeID{}
	add := func(id circuit.NodeID, n circuit.Node) {
		to[id] = circuit.NodeID(len(f.Nodes))
		f.Nodes = append(f.Nodes, n)
	}
	var own []circuit.NodeID
	for i := range p.m.Nodes {
		if p.owner[i] == g {
			own = append(own, circuit.NodeID(i))
		}
	}
	for _, id := range own {
		for _, a := range operands(p.m, p.m.Nodes[id]) {
			n := p.m.Nodes[a]
			if _, known := to[a]; known || p.owner[a] == g {
				continue
			}
			if n.Op != circuit.OpConstant {
				n.Op, n.K, n.Name, n.Args = circuit.OpFunctionArgument, len(args), fmt.Sprint("x", len(args)), nil
				f.Pins, args = append(f.Pins, circuit.NodeID(len(f.Nodes))), append(args, a)
			}
			add(a, n)
		}
	}
	calls := map[uint64]uint64{}
	for _, id := range own {
		n := p.m.Nodes[id]
		switch n.Op {
		case circuit.OpCallResult:
			n.Table = moved(f, p.m.Calls, calls, n.Table)
		case circuit.OpReadMemoryUnclocked, circuit.OpReadMemoryClocked:
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
