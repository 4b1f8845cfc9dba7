package search

import "slices"

// A room is where trees put what they need, and where a pruner puts labels, which the next one overwrites.
type room struct {
	columns columns
	spare   [][]int64 // lists that no tree needs any more
	sheets  []sheet   // by table
	amounts [][]int64 // lists that no sheet needs any more
	row     labels    // of the row whose labels are made
	order   []entry
	digests []uint64  // of each of these
	front   []uint64  // those of the ones that none beats
	shares  []float64 // of labels of which some are kept
	sorted  []float64
	kept    []int32
}

// list is one of so many numbers, which may be any.
func (r *room) list(n int) []int64 {
	last := len(r.spare) - 1
	if last < 0 {
		return make([]int64, n)
	}
	list := r.spare[last]
	r.spare = r.spare[:last]
	return sized(list, n)
}

// layOut makes room for the sheets of so many tables.
func (r *room) layOut(tables int) {
	r.sheets = slices.Grow(r.sheets, max(0, tables-len(r.sheets)))[:tables]
	for i := range r.sheets {
		r.sheets[i].amounts = nil // of a tree before that ended early
	}
}

// take is a list of no amounts.
func (r *room) take() (amounts []int64) {
	if last := len(r.amounts) - 1; last >= 0 {
		amounts, r.amounts = r.amounts[last][:0], r.amounts[:last]
	}
	return amounts
}

// free gives the amounts of a sheet back.
func (r *room) free(s *sheet) {
	const most = 16 // lists that are kept: few tables wait for the one that they are joined with
	if len(r.amounts) < most {
		r.amounts = append(r.amounts, s.amounts)
	}
	s.amounts = nil
}

// leave gives lists back.
func (r *room) leave(lists ...[]int64) {
	for _, list := range lists {
		if list != nil {
			r.spare = append(r.spare, list)
		}
	}
}
