package program

import (
	"slices"

	"hlsgen/frontend/graph"
)

// An IndexList is an immutable list of int32s, mostly indices of elements. It is stored as a table or, if its numbers
// are sums of coordinates times strides, as those strides. The second form takes no memory, however long the list is.
type IndexList struct {
	n     int
	table []int32 // nil if the list has strides
	from  int
	axes  []stride // the outermost first; empty if all numbers equal from
}

// A stride is an axis of an IndexList: its number of coordinates, and how much the numbers grow from one coordinate to
// the next.
type stride struct{ extent, step int }

// A CommonStrideAxis is an axis along which two lists grow by constant steps A and B. The lists are, for example, the
// indices of the two factors of a product. Extent is the axis' number of coordinates.
type CommonStrideAxis struct{ Extent, A, B int }

// CommonStrideAxes returns the axes along which two lists of equal length grow, the innermost last. ok is false if a
// list is a table, is empty or does not start at 0, or if there are no common axes.
func CommonStrideAxes(a, b *IndexList) (axes []CommonStrideAxis, ok bool) {
	if a.table != nil || b.table != nil || a.from != 0 || b.from != 0 || a.n == 0 {
		return nil, false
	}
	rest := func(l *IndexList) []stride {
		if len(l.axes) == 0 {
			return []stride{{l.n, 0}}
		}
		return slices.Clone(l.axes)
	}
	x, y := rest(a), rest(b)
	for len(x) > 0 && len(y) > 0 {
		s, t := &x[len(x)-1], &y[len(y)-1]
		n := min(s.extent, t.extent)
		if s.extent%n != 0 || t.extent%n != 0 {
			return nil, false
		}
		axes = append(axes, CommonStrideAxis{n, s.step, t.step})
		if s.extent, s.step = s.extent/n, s.step*n; s.extent == 1 {
			x = x[:len(x)-1]
		}
		if t.extent, t.step = t.extent/n, t.step*n; t.extent == 1 {
			y = y[:len(y)-1]
		}
	}
	slices.Reverse(axes)
	return axes, len(x) == len(y)
}

// NewIndexList returns a list with the numbers of a table, which must not change, or nil for a nil table.
func NewIndexList(table []int32) *IndexList {
	if table == nil {
		return nil
	}
	return &IndexList{n: len(table), table: table}
}

// NewStridedIndexList returns the list with an entry for every element of a shape, in row-major order: the sum of its
// coordinates times steps.
func NewStridedIndexList(shape, steps []int) *IndexList {
	l := &IndexList{n: graph.ElementCount(shape)}
	for i, extent := range shape {
		if extent == 1 {
			continue
		}
		if k := len(l.axes) - 1; k >= 0 && l.axes[k].step == extent*steps[i] {
			l.axes[k] = stride{l.axes[k].extent * extent, steps[i]}
			continue
		}
		l.axes = append(l.axes, stride{extent, steps[i]})
	}
	return l
}

// Len returns the length of the list.
func (l *IndexList) Len() int { return l.n }

// At returns the i-th number of the list, counted from 0.
func (l *IndexList) At(i int) int32 {
	if l.table != nil {
		return l.table[i]
	}
	at, rest := l.from, uint32(i)
	for k := len(l.axes) - 1; k > 0; k-- {
		a := l.axes[k]
		next := rest / uint32(a.extent)
		at += int(rest-next*uint32(a.extent)) * a.step
		rest = next
	}
	if len(l.axes) > 0 {
		at += int(rest) * l.axes[0].step
	}
	return int32(at)
}

// run returns how many numbers from the i-th on grow by a constant step, and that step. The list must not be stored as
// a table.
func (l *IndexList) run(i int) (n, step int) {
	if len(l.axes) == 0 {
		return l.n - i, 0
	}
	a := l.axes[len(l.axes)-1]
	return a.extent - i%a.extent, a.step
}

// AppendRangeToSlice appends the n numbers from the i-th on to a slice, and returns the extended slice.
func (l *IndexList) AppendRangeToSlice(to []int32, i, n int) []int32 {
	if l.table != nil {
		return append(to, l.table[i:i+n]...)
	}
	to = slices.Grow(to, n)
	for n > 0 {
		run, step := l.run(i)
		run = min(run, n)
		at := int(l.At(i))
		for k := range run {
			to = append(to, int32(at+k*step))
		}
		i, n = i+run, n-run
	}
	return to
}

// listed is the number of entries that All computes at a time for a list that is not stored as a table.
const listed = 1 << 12

// All yields all numbers in order, with their indices.
func (l *IndexList) All(yield func(i int, v int32) bool) {
	var some []int32
	for i := 0; i < l.n; i += len(some) {
		if l.table != nil {
			some = l.table
		} else {
			some = l.AppendRangeToSlice(some[:0], i, min(listed, l.n-i))
		}
		for k, v := range some {
			if !yield(i+k, v) {
				return
			}
		}
	}
}

// ToSlice returns all numbers as a slice, or nil for a nil list. The caller must not change it.
func (l *IndexList) ToSlice() []int32 {
	switch {
	case l == nil:
		return nil
	case l.table != nil:
		return l.table
	}
	return l.AppendRangeToSlice(nil, 0, l.n)
}

// InversePermutation returns the list in which entry l.At(i) is i. The list must hold each of 0, 1 ... n-1 once.
func (l *IndexList) InversePermutation() *IndexList {
	if order := l.ArgSortOrNilIfSorted(); order != nil {
		return order
	}
	return NewStridedIndexList([]int{l.n}, []int{1})
}

// LeastAndGreatest returns the least and the greatest number of a list that is not empty.
func (l *IndexList) LeastAndGreatest() (least, most int32) {
	if l.table != nil {
		return slices.Min(l.table), slices.Max(l.table)
	}
	lo, hi := l.from, l.from
	for _, a := range l.axes {
		lo, hi = lo+min(0, a.step*(a.extent-1)), hi+max(0, a.step*(a.extent-1))
	}
	return int32(lo), int32(hi)
}

// equal reports whether two lists hold the same numbers, in whatever form.
func (l *IndexList) equal(o *IndexList) bool {
	if l == o || l.table == nil && o.table == nil && l.n == o.n && l.from == o.from && slices.Equal(l.axes, o.axes) {
		return true
	}
	if l.n != o.n {
		return false
	}
	for i, v := range l.All {
		if o.At(i) != v {
			return false
		}
	}
	return true
}

// GreatestCommonDivisor returns the greatest common divisor of all numbers, or 0 if all are 0.
func (l *IndexList) GreatestCommonDivisor() int32 {
	if l.table != nil {
		return common(l.table)
	}
	steps := []int32{int32(l.from)}
	for _, a := range l.axes {
		steps = append(steps, int32(a.step))
	}
	return max(common(steps), -common(steps))
}

// ArgSortOrNilIfSorted returns the indices of the list's numbers, sorted by these numbers; equal numbers stay in order.
// It returns nil if the list is sorted already. The numbers must not be negative.
func (l *IndexList) ArgSortOrNilIfSorted() *IndexList {
	if l.table != nil {
		if slices.IsSorted(l.table) {
			return nil
		}
		return NewIndexList(sorted(l.table))
	}
	places := make([]stride, len(l.axes)) // the step along each axis, as an index
	n := 1
	for k, a := range slices.Backward(l.axes) {
		places[k] = stride{a.extent, n}
		n *= a.extent
	}
	order := make([]int, len(l.axes)) // the axes, with the longest steps first
	for k := range order {
		order[k] = k
	}
	slices.SortStableFunc(order, func(a, b int) int { return l.axes[b].step - l.axes[a].step })
	reach := 0 // the span of the inner axes
	for _, k := range slices.Backward(order) {
		a := l.axes[k]
		if reach > 0 && a.step <= reach { // numbers along the axis overlap, or meet
			return NewIndexList(l.ToSlice()).ArgSortOrNilIfSorted()
		}
		reach += a.step * (a.extent - 1)
	}
	if slices.IsSorted(order) {
		return nil
	}
	var shape, steps []int
	for _, k := range order {
		shape, steps = append(shape, places[k].extent), append(steps, places[k].step)
	}
	return NewStridedIndexList(shape, steps)
}

// NewCountingSlice returns the slice 0, 1 ... n-1.
func NewCountingSlice[T int | int32 | int64](n int) []T {
	out := make([]T, n)
	for i := range out {
		out[i] = T(i)
	}
	return out
}

// common returns the greatest common divisor of non-negative numbers, or 0 if all are 0.
func common(v []int32) (divisor int32) {
	last := int32(0)
	for _, x := range v {
		if x == last { // neighbours are often equal
			continue
		}
		last = x
		for x != 0 {
			divisor, x = x, divisor%x
		}
	}
	return divisor
}

// sorted returns the indices of non-negative numbers, sorted by these numbers. Equal numbers stay in order.
func sorted(v []int32) []int32 {
	place := make([]int32, slices.Max(v)+2) // by number: the next free place in order
	for _, x := range v {
		place[x+1]++
	}
	for x := range place[1:] {
		place[x+1] += place[x]
	}
	order := make([]int32, len(v))
	for i, x := range v {
		order[place[x]] = int32(i)
		place[x]++
	}
	return order
}
