package dataflow

import (
	"fmt"
	"strings"
)

// A RecurrenceTiming describes a value that a time step of a layer hands on to a later one, with the clocks that this
// takes on a target.
type RecurrenceTiming struct {
	Path   []string // the operations on its way, from the start of a time step to the value that is handed on
	Clocks int      // clocks from the start of a time step until the value is available to the next one
	Work   int      // clocks of a time step that have work
	Step   int      // clocks of a time step
	Beside int      // the sequences that would have to take turns so that no clock is idle, including those that do
}

// String describes the path and its clocks: "h -> sum -> h: 34 clocks; a step has work for 17 of its 34: II ...".
func (r RecurrenceTiming) String() string {
	text := fmt.Sprintf("%s: %d clocks; a step has work for ", strings.Join(r.Path, " -> "), r.Clocks)
	if r.Step == r.Work {
		return text + fmt.Sprintf("all of its %d", r.Step)
	}
	return text + fmt.Sprintf("%d of its %d: II %d, or interleave %d", r.Work, r.Step, r.Step, r.Beside)
}
