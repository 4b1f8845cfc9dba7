package ask

import "sync"

// An Interrupt lets a user end a search with the best design that it has. The zero value interrupts nothing yet.
type Interrupt struct {
	mu    sync.Mutex
	end   func()
	taken bool
}

// End ends the search that has a design, if there is one, and reports whether there is.
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

// On says what ends a search that has a design; nil where none may be ended. Where a search was ended before, this one
// ends at once.
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
