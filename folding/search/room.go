package search

import "slices"

// A room holds memory that the trees and pruners of one search after the other reuse.
type room struct {
	columns columns
	spare   [][]int64 // lists for reuse by trees
	sheets  []sheet   // per table
	amounts [][]int64 // lists for reuse by sheets
	row     labels    // labels of the row in work
	order   []entry
	digests []uint64  // the digest of each label
	front   []uint64  // the digests of the labels that no other beats
	shares  []float64 // shares of the labels among which some are kept
	sorted  []float64
	kept    []int32
}

// list returns a list of n numbers with arbitrary values, from the spare lists if one is long enough.
func (r *room) list(n int) []int64 {
	last := len(r.spare) - 1
	if last < 0 {
		return make([]int64, n)
	}
	list := r.spare[last]
	r.spare = r.spare[:last]
	return sized(list, n)
}

// layOut empties the sheets and provides one for each of the given number of tables.
func (r *room) layOut(tables int) {
	r.sheets = slices.Grow(r.sheets, max(0, tables-len(r.sheets)))[:tables]
	for i := range r.sheets {
		r.sheets[i].amounts = nil // left over if the last tree ended early
	}
}

// take returns an empty list for the amounts of a sheet, which free takes back.
func (r *room) take() (amounts []int64) {
	if last := len(r.amounts) - 1; last >= 0 {
		amounts, r.amounts = r.amounts[last][:0], r.amounts[:last]
	}
	return amounts
}

// free takes back the amounts of a sheet, so that take can return them again.
func (r *room) free(s *sheet) {
	const most = 16 // the most lists to keep: few tables wait for their join
	if len(r.amounts) < most {
		r.amounts = append(r.amounts, s.amounts)
	}
	s.amounts = nil
}

// leave takes back lists that list has returned. nil lists are ignored.
func (r *room) leave(lists ...[]int64) {
	for _, list := range lists {
		if list != nil {
			r.spare = append(r.spare, list)
		}
	}
}
