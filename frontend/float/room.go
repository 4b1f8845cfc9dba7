package float

// A buffer holds the elements of a tensor. It counts its holders, so that it can be recycled when the last one drops
// it.
type buffer struct {
	data    []float64
	holders int
	foreign bool // the evaluator does not own the memory
}

// given returns a buffer for elements that the evaluator does not own, and so never recycles.
func given(data []float64) *buffer { return &buffer{data: data, holders: 1, foreign: true} }

// again counts one more holder of the buffer, and returns it.
func (b *buffer) again() *buffer {
	b.holders++
	return b
}

// A room recycles the memory of tensors, so that a run needs only as much memory as the tensors that exist at the same
// time.
type room struct{ free []*buffer }

// roomy is the largest ratio of the size of a recycled buffer to the requested size.
const roomy = 4

// take returns a buffer for n elements, which have arbitrary values, with one holder.
func (r *room) take(n int) *buffer {
	best := -1
	for i, b := range r.free {
		if c := cap(b.data); c >= n && c <= roomy*n+1024 && (best < 0 || c < cap(r.free[best].data)) {
			best = i
		}
	}
	if best < 0 {
		return &buffer{data: make([]float64, n), holders: 1}
	}
	b := r.free[best]
	r.free[best] = r.free[len(r.free)-1]
	r.free = r.free[:len(r.free)-1]
	b.data, b.holders = b.data[:n], 1
	return b
}

// mostFree is the largest number of unused buffers that are kept for later.
const mostFree = 8

// drop removes a holder of b, and recycles b if it was the last one. b may be nil.
func (r *room) drop(b *buffer) {
	if b == nil {
		return
	}
	if b.holders--; b.holders > 0 || b.foreign {
		return
	}
	if r.free = append(r.free, b); len(r.free) > mostFree {
		least := 0
		for i, b := range r.free {
			if cap(b.data) < cap(r.free[least].data) {
				least = i
			}
		}
		r.free[least] = r.free[len(r.free)-1]
		r.free = r.free[:len(r.free)-1]
	}
}
