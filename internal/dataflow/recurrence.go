package dataflow

import (
	"fmt"
	"strings"
)

// A Recurrence is what a step hands on to a later one of a layer, and how long that takes on a target.
type Recurrence struct {
	Path   []string // what it goes through, from what a step begins with to what is handed on
	Clocks int      // from where a step begins to where it is there for the next one
	Work   int      // clocks in which a step has something to do
	Step   int      // clocks of a step
	Beside int      // sequences that would have to take turns for no clock to be idle, those that do included
}

// Recurring is implemented by layers with steps.
type Recurring interface {
	Recurrences(Fold, Target) []Recurrence
}

// String is the path, and what follows: "h -> sum -> h: 34 clocks; a step has work for 17 of its 34; 2 sequences ...".
func (r Recurrence) String() string {
	text := fmt.Sprintf("%s: %d clocks; a step has work for ", strings.Join(r.Path, " -> "), r.Clocks)
	if r.Step == r.Work {
		return text + fmt.Sprintf("all of its %d", r.Step)
	}
	return text + fmt.Sprintf("%d of its %d: II %d, or interleave %d", r.Work, r.Step, r.Step, r.Beside)
}
