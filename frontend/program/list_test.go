package program

import (
	"math/rand/v2"
	"slices"
	"testing"
)

// TestList holds lists of strides against tables of the same numbers.
func TestList(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(1, 2))
	permutations := 0
	for range 3000 {
		var shape, steps []int
		for range r.IntN(5) {
			shape, steps = append(shape, 1+r.IntN(5)), append(steps, r.IntN(30))
		}
		if r.IntN(3) == 0 { // the axes of a tensor in another order
			steps = make([]int, len(shape))
			n := 1
			for _, a := range r.Perm(len(shape)) {
				steps[a] = n
				n *= shape[a]
			}
			permutations++
		}
		want := NewStridedIndexTable(shape, steps)
		l, table := NewStridedIndexList(shape, steps), NewIndexList(want)
		for i, v := range want {
			if l.Len() != len(want) || l.At(i) != v || table.At(i) != v {
				t.Fatalf("shape %v, steps %v: number %d is %d, want %d", shape, steps, i, l.At(i), v)
			}
		}
		at := r.IntN(len(want))
		n := r.IntN(len(want) - at + 1)
		if got := l.AppendRangeToSlice([]int32{-1}, at, n); !slices.Equal(got[1:], want[at:at+n]) || got[0] != -1 {
			t.Fatalf("shape %v, steps %v: numbers %d to %d are %v", shape, steps, at, at+n, got)
		}
		var all []int32
		for i, v := range l.All {
			if all = append(all, v); i != len(all)-1 {
				t.Fatalf("number %d is told as %d", len(all)-1, i)
			}
		}
		least, most := l.LeastAndGreatest()
		if !slices.Equal(all, want) || !slices.Equal(l.ToSlice(), want) || !l.equal(table) || !table.equal(l) ||
			least != slices.Min(want) || most != slices.Max(want) || l.GreatestCommonDivisor() != common(want) {
			t.Fatalf("shape %v, steps %v: %v, from %d to %d by %d", shape, steps, all, least, most,
				l.GreatestCommonDivisor())
		}
		order := l.ArgSortOrNilIfSorted()
		var rising, indices []int32
		for _, i := range order.ToSlice() {
			if n := len(rising); n > 0 && rising[n-1] == want[i] && indices[n-1] > i {
				t.Fatalf("shape %v, steps %v: of equal numbers, %d comes before %d", shape, steps, indices[n-1], i)
			}
			rising, indices = append(rising, want[i]), append(indices, i)
		}
		slices.Sort(indices)
		if (order == nil) != slices.IsSorted(want) || order != nil && (!slices.IsSorted(rising) ||
			!slices.Equal(indices, NewStridedIndexTable([]int{len(want)}, []int{1}))) {
			t.Fatalf("shape %v, steps %v: the order is %v", shape, steps, order.ToSlice())
		}
		if l.Len() > 1 && slices.Equal(slices.Sorted(slices.Values(want)), NewStridedIndexTable([]int{len(want)},
			[]int{1})) {
			inverse := l.InversePermutation()
			for i, v := range want {
				if inverse.At(int(v)) != int32(i) {
					t.Fatalf("shape %v, steps %v: the inverse is %v", shape, steps, inverse.ToSlice())
				}
			}
		}
	}
	if permutations < 500 {
		t.Errorf("%d lists have an inverse", permutations)
	}
}

// TestPlaces holds places by axis against a table of all of them.
func TestPlaces(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(1, 3))
	for range 3000 {
		var from [][]int32
		for range r.IntN(5) {
			axis := make([]int32, 1+r.IntN(4))
			outside := r.IntN(2) == 0
			for j := range axis {
				if axis[j] = int32(r.IntN(20)); outside && r.IntN(3) == 0 {
					axis[j] = -1
				}
			}
			from = append(from, axis)
		}
		table := SumsOfAxisIndices(from)
		m := &Move{Places: NewPaddedSources(from)}
		var slots []int
		for i, at := range table {
			slot, element := m.SourceOf(i)
			if want := int(at); want < 0 && (slot != 1 || element != 0) || want >= 0 && (slot != 0 || element != want) {
				t.Fatalf("%v: element %d is %d of input %d, want %d", from, i, element, slot, want)
			}
			if !slices.Contains(slots, slot) {
				slots = append(slots, slot)
			}
		}
		if !slices.Equal(m.SourceInputs(), slots) || m.MayReadOtherInputs() != slices.Contains(slots, 1) ||
			m.IsCertainlyIdentity() {
			t.Fatalf("%v: inputs %v, want %v", from, m.SourceInputs(), slots)
		}
	}
}
