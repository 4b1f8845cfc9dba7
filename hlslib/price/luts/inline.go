package luts

import (
	"slices"

	"hlsgen/internal/circuit"
)

// An inliner makes a circuit anew, with functions in place of some calls.
type inliner struct {
	*circuit.Module
	room []circuit.NodeID // for operands
}

// inlined returns a circuit with functions in place of those calls for which known is true.
func inlined(m *circuit.Module, known []bool) *circuit.Module {
	to := *m
	in := inliner{Module: &to}
	n := len(m.Nodes)
	for k, c := range m.Calls {
		if known[k] {
			n += len(c.Function.Nodes)
		}
	}
	in.Nodes, in.Calls, in.Memories = make([]circuit.Node, 0, n), nil, slices.Clone(m.Memories)
	nodes := in.add(m, nil, known)
	in.In, in.Out, in.States = slices.Clone(m.In), slices.Clone(m.Out), slices.Clone(m.States)
	renumber(nodes, &in.Fire)
	for _, list := range [][]circuit.StreamPort{in.In, in.Out} {
		for i := range list {
			renumber(nodes, &list[i].When, &list[i].Word, &list[i].Moves)
		}
	}
	for i := range in.States {
		renumber(nodes, &in.States[i].Node, &in.States[i].Next, &in.States[i].When)
	}
	in.arrays(nodes, 0)
	in.Results, in.Pins = renumbered(nodes, m.Results), renumbered(nodes, m.Pins)
	return in.Module
}

// add adds the nodes of m, and returns their new numbers. If m is a function, args are the nodes that it gets.
func (in *inliner) add(m *circuit.Module, args []circuit.NodeID, known []bool) []circuit.NodeID {
	nodes, results := make([]circuit.NodeID, len(m.Nodes)), make([][]circuit.NodeID, len(m.Calls))
	calls := map[uint64]uint64{} // those that stay: their new numbers
	memories := len(in.Memories) - len(m.Memories)
	for i, n := range m.Nodes {
		switch n.Op {
		case circuit.OpFunctionArgument:
			if args != nil {
				nodes[i] = args[n.K]
				continue
			}
		case circuit.OpReadMemoryClocked, circuit.OpReadMemoryUnclocked:
			n.K += memories
		case circuit.OpCallResult:
			c := &m.Calls[n.Table]
			if known != nil && known[n.Table] {
				if results[n.Table] == nil {
					results[n.Table] = in.function(c.Function, renumbered(nodes, c.Args))
				}
				nodes[i] = results[n.Table][n.K]
				continue
			}
			number, met := calls[n.Table]
			if !met {
				number = uint64(len(in.Calls))
				calls[n.Table] = number
				in.Calls = append(in.Calls, circuit.FunctionCall{Function: c.Function,
					Args: renumbered(nodes, c.Args), Stage: c.Stage})
			}
			n.Table = number
		}
		n.Args = in.operands(nodes, n.Args)
		nodes[i] = circuit.NodeID(len(in.Nodes))
		in.Nodes = append(in.Nodes, n)
	}
	return nodes
}

// operands returns the new numbers of a node's operands.
func (in *inliner) operands(nodes, ids []circuit.NodeID) []circuit.NodeID {
	const most = 1 << 12
	if len(in.room)+len(ids) > cap(in.room) {
		in.room = make([]circuit.NodeID, 0, max(most, len(ids)))
	}
	first := len(in.room)
	for _, id := range ids {
		in.room = append(in.room, id)
		renumber(nodes, &in.room[len(in.room)-1])
	}
	return in.room[first:len(in.room):len(in.room)]
}

// function adds a function, which gets the nodes args, and returns its results.
func (in *inliner) function(f *circuit.Module, args []circuit.NodeID) []circuit.NodeID {
	first := len(in.Memories)
	in.Memories = append(in.Memories, f.Memories...)
	nodes := in.add(f, args, nil)
	in.arrays(nodes, first)
	return renumbered(nodes, f.Results)
}

// arrays renumbers what memories from number first on read.
func (in *inliner) arrays(nodes []circuit.NodeID, first int) {
	for k := first; k < len(in.Memories); k++ {
		a := &in.Memories[k]
		renumber(nodes, &a.Address, &a.Word, &a.When)
	}
}

// renumber replaces numbers of nodes by new ones.
func renumber(nodes []circuit.NodeID, ids ...*circuit.NodeID) {
	for _, id := range ids {
		if *id != circuit.NoNode {
			*id = nodes[*id]
		}
	}
}

// renumbered returns the new numbers of nodes.
func renumbered(nodes, ids []circuit.NodeID) []circuit.NodeID {
	list := slices.Clone(ids)
	for i := range list {
		renumber(nodes, &list[i])
	}
	return list
}
