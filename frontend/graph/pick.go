package graph

import "slices"

// An ElementIndexMap says which element of an argument output element i reads. With a Table, that is Table[i], or
// Table[0] for all i if the table has one entry. With Count > 0, the output consists of runs of Run elements; element i
// reads the element whose index is that of its run, modulo Count. A vector along an axis is read this way. Otherwise it
// reads element i.
type ElementIndexMap struct {
	Table      []int32
	Run, Count int
}

// ArgumentIndex returns the index of the argument's element that output element i reads.
func (p *ElementIndexMap) ArgumentIndex(i int) int {
	switch {
	case len(p.Table) == 1:
		return int(p.Table[0])
	case p.Table != nil:
		return int(p.Table[i])
	case p.Count == 0:
		return i
	}
	return int(uint32(i) / uint32(p.Run) % uint32(p.Count))
}

// IsIdentity reports whether the map has neither a table nor runs, so that every output element i reads element i. It
// does not look at the entries of tables.
func (p *ElementIndexMap) IsIdentity() bool { return p.Table == nil && p.Count == 0 }

// HasSameRuns reports whether two maps have equal Run and Count. It does not compare tables.
func (p *ElementIndexMap) HasSameRuns(o *ElementIndexMap) bool {
	return p.Run == o.Run && p.Count == o.Count
}

// HasSameTableAndRuns reports whether two maps have equal tables and runs.
func (p *ElementIndexMap) HasSameTableAndRuns(o *ElementIndexMap) bool {
	if !p.HasSameRuns(o) || len(p.Table) != len(o.Table) {
		return false
	}
	return len(p.Table) == 0 || &p.Table[0] == &o.Table[0] || slices.Equal(p.Table, o.Table)
}

// ReadsSingleElement reports whether the map has a table of one entry, so that all output elements read the same
// element.
func (p *ElementIndexMap) ReadsSingleElement() bool { return len(p.Table) == 1 }
