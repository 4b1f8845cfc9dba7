package float

// A buffer holds the elements of a tensor. Several holders may share it.
type buffer struct {
	data    []float64
	holders int
	foreign bool // the part does not own the memory
}

// given returns a buffer for elements that the part does not own.
func given(data []float64) *buffer { return &buffer{data: data, holders: 1, foreign: true} }

// again adds a holder and returns the buffer.
func (b *buffer) again() *buffer {
	b.holders++
	return b
}

// A room recycles the memory of tensors, so that a run needs only as much memory as the tensors that exist at the same
// time.
type room struct{ free []*buffer }

// roomy bounds the size of a recycled buffer, as a multiple of the requested size.
const roomy = 4

// take returns a buffer for n elements with undefined values.
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

// mostFree bounds the number of free buffers that are kept.
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
