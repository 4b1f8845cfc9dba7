package main

import (
	"os"

	"hlsgen/folding"
)

// onInterrupt are the values of --on-interrupt: what the first Ctrl-C does.
var onInterrupt = []string{best, "stop"}

const best = "best"

// An ending is what a Ctrl-C may end instead of the process: the search of a build that has a design.
type ending struct {
	search folding.Interrupt
	tell   func(text string)
}

// tells has tell say that a search was ended. It comes before the search.
func (e *ending) tells(tell func(text string)) {
	if e != nil {
		e.tell = tell
	}
}

// takes reports whether a signal ends a search, and not the process.
func (e *ending) takes(s os.Signal) bool {
	if s != os.Interrupt || !e.search.End() {
		return false
	}
	e.tell("the search ends with the best design so far, which is built; another Ctrl-C stops that, too")
	return true
}

// by returns the interrupt that a build's search listens to, for the value of --on-interrupt. It is nil where Ctrl-C
// ends the process: with stop, and without the flag where standard error is no terminal.
func (e *ending) by(action string, terminal bool) *folding.Interrupt {
	if e == nil || action != best && (action != "" || !terminal) {
		return nil
	}
	return &e.search
}
