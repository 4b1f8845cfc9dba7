package dataflow

import "slices"

// A Nest is the loop of most layers: a flattened loop nest. A port moves a word in an iteration if each index lies in
// the port's set for its level.
type Nest struct {
	Trips   []int    // the extents of the nest, outermost first; their product is the iterations of one frame
	Read    []Access // per input port: the iterations that take a word
	Write   []Access // per output port: the iterations that give a word
	Latency int
}

// Access holds one set of indices per level of the nest.
type Access []Index

// Index is a set of indices of one level.
type Index struct {
	Kind    IndexKind
	Pattern string // for At: one '0' or '1' per index
}

// IndexKind is the kind of a set.
type IndexKind uint8

// The kinds of sets. The zero value is invalid.
const (
	Each  IndexKind = iota + 1 // every index
	First                      // index 0
	Last                       // the largest index
	At                         // the indices marked '1' in Pattern
)

// has reports whether index j of n lies in the set.
func (x Index) has(j, n int) bool {
	switch x.Kind {
	case Each:
		return true
	case First:
		return j == 0
	case Last:
		return j == n-1
	case At:
		return x.Pattern[j] == '1'
	}
	panic("dataflow: invalid index set")
}

// Loop returns the nest as a loop of runs.
func (n Nest) Loop() Loop {
	all := Moves{Read: 1<<len(n.Read) - 1, Write: 1<<len(n.Write) - 1}
	return Loop{Body: n.runs(0, all), Latency: n.Latency}
}

// runs returns the levels from level on as runs, for the ports that the outer indices allow.
func (n Nest) runs(level int, allowed Moves) []Run {
	if level == len(n.Trips) {
		return []Run{{Times: 1, Moves: allowed}}
	}
	trips, plain := n.Trips[level], n.plain(level)
	type inner struct {
		moves Moves
		body  []Run
	}
	var room [4]inner
	bodies, out := room[:0], make([]Run, 0, len(room))
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

// plain reports whether a level has no pattern.
func (n Nest) plain(level int) bool {
	patterned := func(a Access) bool { return a[level].Kind == At }
	return !slices.ContainsFunc(n.Read, patterned) && !slices.ContainsFunc(n.Write, patterned)
}

// allows returns the ports whose set at a level contains index j.
func (n Nest) allows(level, j int) Moves {
	ports := func(list []Access) (set uint64) {
		for p, a := range list {
			if a[level].has(j, n.Trips[level]) {
				set |= 1 << p
			}
		}
		return set
	}
	return Moves{ports(n.Read), ports(n.Write)}
}

func (m Moves) and(o Moves) Moves { return Moves{m.Read & o.Read, m.Write & o.Write} }
