package float

// A buffer is the elements of a tensor, which others may share.
type buffer struct {
	data    []float64
	holders int
	foreign bool // somebody else's
}

// given is elements that the part does not own.
func given(data []float64) *buffer { return &buffer{data: data, holders: 1, foreign: true} }

// again is the buffer for one more who holds it.
func (b *buffer) again() *buffer {
	b.holders++
	return b
}

// A room is memory that tensors let go and others take: as much as those have together that are there at a time.
type room struct{ free []*buffer }

// roomy bounds the size of a buffer that is used again, as a multiple of the size that is asked for.
const roomy = 4

// take returns a buffer for n elements, of any values.
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

// mostFree bounds the buffers that are kept for others.
const mostFree = 8

// drop lets a buffer go; there may be none.
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
