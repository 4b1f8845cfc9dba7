package goal

import "testing"

// TestInterrupt checks that a search that begins after another one was ended ends at once.
func TestInterrupt(t *testing.T) {
	t.Parallel()
	var none *SearchStopper
	if none.SetStopFunc(func() {}); none.WasStopped() {
		t.Error("nobody interrupts it")
	}
	i, ended := new(SearchStopper), ""
	if i.TryStop() {
		t.Error("no search has a design")
	}
	i.SetStopFunc(func() { ended += "a" })
	i.SetStopFunc(nil)
	if i.TryStop() || i.WasStopped() {
		t.Error("the search is over")
	}
	i.SetStopFunc(func() { ended += "b" })
	if !i.TryStop() || !i.WasStopped() || i.TryStop() {
		t.Error("a search with a design is ended once")
	}
	i.SetStopFunc(nil)
	i.SetStopFunc(func() { ended += "c" })
	if ended != "bc" || i.TryStop() {
		t.Errorf("ended %s", ended)
	}
}
