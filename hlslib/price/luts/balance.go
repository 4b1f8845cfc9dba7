package luts

import "slices"

// balanced returns the same logic with chains of gates made into trees, in which late signals are read last.
func (g *gates) balanced() *gates {
	reads := make([]int, len(g.in))
	for i, in := range g.in {
		if !g.leaves(int32(i)) {
			reads[in[0].gate()]++
			reads[in[1].gate()]++
		}
	}
	for _, s := range g.ends {
		reads[s.gate()]++
	}
	to := newGates()
	to.in, to.kind, to.depth, to.same = nil, nil, nil, gateIndex{slots: make([]int32, len(g.same.slots))}
	is := make([]signal, len(g.in)) // per gate: its signal in the new gates
	for i := range g.in {
		to.now = g.kind[i]
		if g.leaves(int32(i)) {
			is[i] = to.leaf()
			continue
		}
		var list []signal
		for _, s := range g.wide(int32(i), reads, nil) {
			list = append(list, is[s.gate()].when(s.turned()))
		}
		for len(list) > 1 {
			slices.SortStableFunc(list, func(a, b signal) int { return int(to.depth[b.gate()] - to.depth[a.gate()]) })
			n := len(list) - 2
			list = append(list[:n], to.and(list[n+1], list[n]))
		}
		is[i] = list[0]
	}
	for _, s := range g.ends {
		to.end(is[s.gate()].when(s.turned()))
	}
	to.was = is
	return to
}

// wide appends the operands of gate i to list. It replaces those that only this gate reads by their own operands.
func (g *gates) wide(i int32, reads []int, list []signal) []signal {
	for _, s := range g.in[i] {
		if k := s.gate(); !s.turned() && !g.leaves(k) && reads[k] == 1 {
			list = g.wide(k, reads, list)
		} else {
			list = append(list, s)
		}
	}
	return list
}
