package ask

import "testing"

// TestInterrupt checks that a search that begins after another one was ended ends at once.
func TestInterrupt(t *testing.T) {
	t.Parallel()
	var none *Interrupt
	if none.On(func() {}); none.Taken() {
		t.Error("nobody interrupts it")
	}
	i, ended := new(Interrupt), ""
	if i.End() {
		t.Error("no search has a design")
	}
	i.On(func() { ended += "a" })
	i.On(nil)
	if i.End() || i.Taken() {
		t.Error("the search is over")
	}
	i.On(func() { ended += "b" })
	if !i.End() || !i.Taken() || i.End() {
		t.Error("a search with a design is ended once")
	}
	i.On(nil)
	i.On(func() { ended += "c" })
	if ended != "bc" || i.End() {
		t.Errorf("ended %s", ended)
	}
}
