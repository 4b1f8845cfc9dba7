package goal

import "sync"

// A SearchStopper lets a user end a search with the best design so far. The zero value is ready for use.
type SearchStopper struct {
	mu    sync.Mutex
	end   func()
	taken bool
}

// TryStop ends the running search if it has a design, and reports whether it did.
func (i *SearchStopper) TryStop() bool {
	i.mu.Lock()
	defer i.mu.Unlock()
	if i.end == nil {
		return false
	}
	i.end()
	i.end, i.taken = nil, true
	return true
}

// WasStopped reports whether TryStop has ended a search. It returns false for nil.
func (i *SearchStopper) WasStopped() bool {
	if i == nil {
		return false
	}
	i.mu.Lock()
	defer i.mu.Unlock()
	return i.taken
}

// SetStopFunc sets the function that ends the running search, which has a design by now; nil takes it back. If TryStop
// has ended a search before, SetStopFunc calls end at once. On a nil SearchStopper it does nothing.
func (i *SearchStopper) SetStopFunc(end func()) {
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
