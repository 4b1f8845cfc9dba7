package graph

import "slices"

// An ElementPick maps element i of the output to an element of an argument. With a Table, that is Table[i], or Table[0]
// for all i if the table has one entry. With Count > 0, the output consists of runs of Run elements; element i reads
// the index of its run, modulo Count. A vector along an axis is read this way. Otherwise element i reads element i.
type ElementPick struct {
	Table      []int32
	Run, Count int
}

// At returns the index of the argument's element that output element i reads.
func (p *ElementPick) At(i int) int {
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

// IsIdentity reports whether element i reads element i for every i, by the form of the pick.
func (p *ElementPick) IsIdentity() bool { return p.Table == nil && p.Count == 0 }

// SameRuns reports whether two picks have equal Run and Count. It does not compare tables.
func (p *ElementPick) SameRuns(o *ElementPick) bool { return p.Run == o.Run && p.Count == o.Count }

// Equal reports whether two picks have equal tables and runs.
func (p *ElementPick) Equal(o *ElementPick) bool {
	if !p.SameRuns(o) || len(p.Table) != len(o.Table) {
		return false
	}
	return len(p.Table) == 0 || &p.Table[0] == &o.Table[0] || slices.Equal(p.Table, o.Table)
}

// IsSingleElement reports whether the pick has a table of one entry, so that all output elements read the same element.
func (p *ElementPick) IsSingleElement() bool { return len(p.Table) == 1 }
