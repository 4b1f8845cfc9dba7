package goal

import "testing"

// TestInterrupt checks that a search that begins after another one was ended ends at once.
func TestInterrupt(t *testing.T) {
	t.Parallel()
	var none *Interrupt
	if none.SetEnd(func() {}); none.Ended() {
		t.Error("nobody interrupts it")
	}
	i, ended := new(Interrupt), ""
	if i.End() {
		t.Error("no search has a design")
	}
	i.SetEnd(func() { ended += "a" })
	i.SetEnd(nil)
	if i.End() || i.Ended() {
		t.Error("the search is over")
	}
	i.SetEnd(func() { ended += "b" })
	if !i.End() || !i.Ended() || i.End() {
		t.Error("a search with a design is ended once")
	}
	i.SetEnd(nil)
	i.SetEnd(func() { ended += "c" })
	if ended != "bc" || i.End() {
		t.Errorf("ended %s", ended)
	}
}
