package find

import "sort"

// labels are numbers of classes, position by position. Those that are the same side by side are known together.
type labels struct {
	n    int
	runs []label
	last int // the run that was looked at last
}

// A label is the class of positions from first on.
type label struct{ first, class int32 }

// then appends a position's.
func (l *labels) then(class int32) {
	if k := len(l.runs) - 1; k < 0 || l.runs[k].class != class {
		l.runs = append(l.runs, label{int32(l.n), class})
	}
	l.n++
}

// at is that of position k.
func (l *labels) at(k int) int32 {
	if l.last >= len(l.runs) || int(l.runs[l.last].first) > k || k >= l.end(l.last) {
		l.last = sort.Search(len(l.runs), func(i int) bool { return int(l.runs[i].first) > k }) - 1
	}
	return l.runs[l.last].class
}

// end is the position behind those of a run.
func (l *labels) end(run int) int {
	if run+1 < len(l.runs) {
		return int(l.runs[run+1].first)
	}
	return l.n
}

// all visits all positions in order.
func (l *labels) all(yield func(k int, class int32) bool) {
	for i, r := range l.runs {
		for k := int(r.first); k < l.end(i); k++ {
			if !yield(k, r.class) {
				return
			}
		}
	}
}
