package dataflow

import "slices"

// A LoopNest is the loop of most layers: a flattened loop nest. A port moves a word in an iteration if each index lies
// in the port's set for its level.
type LoopNest struct {
	Trips   []int             // the extents of the nest, outermost first; their product is the iterations of one frame
	Read    []PortMoveIndices // per input port: the iterations that take a word
	Write   []PortMoveIndices // per output port: the iterations that give a word
	Latency int
}

// PortMoveIndices says when a port moves a word in a LoopNest, by one set of indices per level.
type PortMoveIndices []IndexSet

// An IndexSet is a set of indices of one level of a LoopNest.
type IndexSet struct {
	Kind    IndexSetKind
	Pattern string // for IndexSetKindPattern: one '0' or '1' per index
}

// An IndexSetKind says which indices of a level are in an IndexSet.
type IndexSetKind uint8

// The kinds of sets. The zero value is invalid.
const (
	IndexSetKindEvery   IndexSetKind = iota + 1 // every index
	IndexSetKindFirst                           // index 0
	IndexSetKindLast                            // the largest index
	IndexSetKindPattern                         // the indices marked '1' in Pattern
)

// has reports whether index j, of the n indices of a level, is in the set.
func (x IndexSet) has(j, n int) bool {
	switch x.Kind {
	case IndexSetKindEvery:
		return true
	case IndexSetKindFirst:
		return j == 0
	case IndexSetKindLast:
		return j == n-1
	case IndexSetKindPattern:
		return x.Pattern[j] == '1'
	}
	panic("dataflow: invalid index set")
}

// AsLoop returns the nest as runs of iterations.
func (n LoopNest) AsLoop() Loop {
	all := PortMoves{Read: 1<<len(n.Read) - 1, Write: 1<<len(n.Write) - 1}
	return Loop{Body: n.runs(0, all), Latency: n.Latency}
}

// runs returns the levels from level on as runs, where the outer indices allow moves at the ports in allowed.
func (n LoopNest) runs(level int, allowed PortMoves) []LoopRun {
	if level == len(n.Trips) {
		return []LoopRun{{Times: 1, Moves: allowed}}
	}
	trips, plain := n.Trips[level], n.plain(level)
	type inner struct {
		moves PortMoves
		body  []LoopRun
	}
	var room [4]inner
	bodies, out := room[:0], make([]LoopRun, 0, len(room))
	for j := 0; j < trips; {
		m := n.allows(level, j).and(allowed)
		k := j + 1
		for k < trips && n.allows(level, k).and(allowed) == m {
			if k++; plain {
				k = max(k, trips-1) // the indices between the first and the last are alike
			}
		}
		at := slices.IndexFunc(bodies, func(b inner) bool { return b.moves == m })
		if at < 0 {
			at, bodies = len(bodies), append(bodies, inner{m, n.runs(level+1, m)})
		}
		out = appended(out, repeated(k-j, bodies[at].body))
		j = k
	}
	return out
}

// plain reports whether no port has a pattern at a level.
func (n LoopNest) plain(level int) bool {
	patterned := func(a PortMoveIndices) bool { return a[level].Kind == IndexSetKindPattern }
	return !slices.ContainsFunc(n.Read, patterned) && !slices.ContainsFunc(n.Write, patterned)
}

// allows returns the ports whose set at a level contains index j.
func (n LoopNest) allows(level, j int) PortMoves {
	ports := func(list []PortMoveIndices) (set uint64) {
		for p, a := range list {
			if a[level].has(j, n.Trips[level]) {
				set |= 1 << p
			}
		}
		return set
	}
	return PortMoves{ports(n.Read), ports(n.Write)}
}

// and returns the ports that are in both m and o.
func (m PortMoves) and(o PortMoves) PortMoves { return PortMoves{m.Read & o.Read, m.Write & o.Write} }
