package ask

import "sync"

// An Interrupt lets a user end a search with the best design so far. The zero value is ready for use.
type Interrupt struct {
	mu    sync.Mutex
	end   func()
	taken bool
}

// End ends the running search if it has a design, and reports whether it did.
func (i *Interrupt) End() bool {
	i.mu.Lock()
	defer i.mu.Unlock()
	if i.end == nil {
		return false
	}
	i.end()
	i.end, i.taken = nil, true
	return true
}

// Taken reports whether a search was ended.
func (i *Interrupt) Taken() bool {
	if i == nil {
		return false
	}
	i.mu.Lock()
	defer i.mu.Unlock()
	return i.taken
}

// On sets the function that ends the running search, which has a design; nil if it may not be ended. If a search was
// ended before, On calls end at once.
func (i *Interrupt) On(end func()) {
	if i == nil {
		return
	}
	i.mu.Lock()
	defer i.mu.Unlock()
	if i.end = end; i.taken && end != nil {
		end()
		i.end = nil
	}
}
