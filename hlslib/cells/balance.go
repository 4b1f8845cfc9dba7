package cells

import "slices"

// balanced is the same logic with chains of gates as trees: what comes late is read last.
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
	to.in, to.kind = to.in[:0], to.kind[:0]
	levels := []int16{}
	is := make([]signal, len(g.in)) // of a gate: what it is now
	for i := range g.in {
		to.now = g.kind[i]
		if g.leaves(int32(i)) {
			is[i] = to.leaf()
			levels = append(levels, 0)
			continue
		}
		var list []signal
		for _, s := range g.wide(int32(i), reads, nil) {
			list = append(list, is[s.gate()].when(s.turned()))
		}
		level := func(s signal) int16 { return levels[s.gate()] }
		for len(list) > 1 {
			slices.SortStableFunc(list, func(a, b signal) int { return int(level(b) - level(a)) })
			a, b := list[len(list)-1], list[len(list)-2]
			s := to.and(a, b)
			for len(levels) < len(to.in) {
				levels = append(levels, 1+max(level(a), level(b)))
			}
			list = append(list[:len(list)-2], s)
		}
		is[i] = list[0]
	}
	for _, s := range g.ends {
		to.end(is[s.gate()].when(s.turned()))
	}
	to.was = is
	return to
}

// wide is the operands of a gate of many inputs: gates that only it reads are of it.
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
