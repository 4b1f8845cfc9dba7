package graph

import "slices"

// A List is numbers of elements, as a table or, where they are sums of coordinates times strides, as these strides:
// then it takes no memory however long it is. Nobody may change one.
type List struct {
	n     int
	table []int32 // nil where there are strides
	from  int
	axes  []stride // outermost first; none where all are from
}

// A stride is an axis of a List: so many elements, and from each to the next.
type stride struct{ extent, step int }

// An Axis is one along which elements of two lists are so far apart, as those of the factors of a product are.
type Axis struct{ Extent, A, B int }

// Axes finds the axes along which two lists of equal length grow, the innermost last; ok is false where there are none.
func Axes(a, b *List) (axes []Axis, ok bool) {
	if a.table != nil || b.table != nil || a.from != 0 || b.from != 0 || a.n == 0 {
		return nil, false
	}
	rest := func(l *List) []stride {
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
		axes = append(axes, Axis{n, s.step, t.step})
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

// Listed is a list of a table; nil of none.
func Listed(table []int32) *List {
	if table == nil {
		return nil
	}
	return &List{n: len(table), table: table}
}

// Strides is the list that has, for every element of a shape in order, the sum of its coordinates times strides.
func Strides(shape, steps []int) *List {
	l := &List{n: Size(shape)}
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

// Len is how many numbers there are.
func (l *List) Len() int { return l.n }

// At is number i.
func (l *List) At(i int) int32 {
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

// run is how many numbers from i on are Step apart from each other, and that.
func (l *List) run(i int) (n, step int) {
	if len(l.axes) == 0 {
		return l.n - i, 0
	}
	a := l.axes[len(l.axes)-1]
	return a.extent - i%a.extent, a.step
}

// Append appends n numbers from i on.
func (l *List) Append(to []int32, i, n int) []int32 {
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

// listed is how many numbers of a list are made at a time where all are looked at.
const listed = 1 << 12

// All visits all numbers in order.
func (l *List) All(yield func(i int, v int32) bool) {
	var some []int32
	for i := 0; i < l.n; i += len(some) {
		if l.table != nil {
			some = l.table
		} else {
			some = l.Append(some[:0], i, min(listed, l.n-i))
		}
		for k, v := range some {
			if !yield(i+k, v) {
				return
			}
		}
	}
}

// Table is all numbers; none of no list. Nobody may change it.
func (l *List) Table() []int32 {
	switch {
	case l == nil:
		return nil
	case l.table != nil:
		return l.table
	}
	return l.Append(nil, 0, l.n)
}

// Inverse is the list of the indices 0, 1, 2 ... by the numbers of a list, which has each of these once.
func (l *List) Inverse() *List {
	if order := l.bySize(); order != nil {
		return order
	}
	return Strides([]int{l.n}, []int{1})
}

// Range is the least and the greatest number of a list that is not empty.
func (l *List) Range() (least, most int32) {
	if l.table != nil {
		return slices.Min(l.table), slices.Max(l.table)
	}
	lo, hi := l.from, l.from
	for _, a := range l.axes {
		lo, hi = lo+min(0, a.step*(a.extent-1)), hi+max(0, a.step*(a.extent-1))
	}
	return int32(lo), int32(hi)
}

// Equal reports whether two lists are the same numbers.
func (l *List) Equal(o *List) bool {
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

// divisor is the greatest common divisor of all numbers; 0 where all are 0.
func (l *List) divisor() int32 {
	if l.table != nil {
		return common(l.table)
	}
	steps := []int32{int32(l.from)}
	for _, a := range l.axes {
		steps = append(steps, int32(a.step))
	}
	return max(common(steps), -common(steps))
}

// bySize lists the indices of the numbers of a list such that these do not fall; nil where that is their order.
func (l *List) bySize() *List {
	if l.table != nil {
		if slices.IsSorted(l.table) {
			return nil
		}
		return Listed(sorted(l.table))
	}
	places := make([]stride, len(l.axes)) // what a step along each axis is among the indices
	n := 1
	for k, a := range slices.Backward(l.axes) {
		places[k] = stride{a.extent, n}
		n *= a.extent
	}
	order := make([]int, len(l.axes)) // axes, the longest steps first
	for k := range order {
		order[k] = k
	}
	slices.SortStableFunc(order, func(a, b int) int { return l.axes[b].step - l.axes[a].step })
	reach := 0 // of the axes within
	for _, k := range slices.Backward(order) {
		a := l.axes[k]
		if a.step < reach {
			return Listed(sorted(l.Table()))
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
	return Strides(shape, steps)
}
