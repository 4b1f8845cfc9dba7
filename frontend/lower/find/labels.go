package find

import "sort"

// A labels stores the class of each position of an operand. Adjacent positions with the same class form one run.
type labels struct {
	n    int
	runs []label
	last int // run of the last access
}

// A label is a run: all positions from first up to the next label have the class.
type label struct{ first, class int32 }

// then appends a position with the given class.
func (l *labels) then(class int32) {
	if k := len(l.runs) - 1; k < 0 || l.runs[k].class != class {
		l.runs = append(l.runs, label{int32(l.n), class})
	}
	l.n++
}

// at returns the class of position k.
func (l *labels) at(k int) int32 {
	if l.last >= len(l.runs) || int(l.runs[l.last].first) > k || k >= l.end(l.last) {
		l.last = sort.Search(len(l.runs), func(i int) bool { return int(l.runs[i].first) > k }) - 1
	}
	return l.runs[l.last].class
}

// end returns the position behind the last one of the run with this index.
func (l *labels) end(run int) int {
	if run+1 < len(l.runs) {
		return int(l.runs[run+1].first)
	}
	return l.n
}

// all yields every position with its class, in order.
func (l *labels) all(yield func(k int, class int32) bool) {
	for i, r := range l.runs {
		for k := int(r.first); k < l.end(i); k++ {
			if !yield(k, r.class) {
				return
			}
		}
	}
}
