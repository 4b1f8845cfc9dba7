// Package pass runs a table of passes over a graph of any type.
//
// In come a table of passes and the graph; out come the rewritten graph and the diagnostics of the passes.
package pass

import (
	"fmt"

	"hlsgen/internal/diag"
)

// A Pass is a named change of a graph of type G. Tables of passes run from the first to the last.
type Pass[G any] struct {
	Name, Doc string
	After     []string // passes that must stand before this one; Doc says why
	// Run changes the graph in place and reports whether it did. It adds the errors of the model to the list. Even then
	// it leaves a well-formed graph, because the passes after it run, too.
	Run func(G, *diag.List) (changed bool)
}

// Options says how RunPasses runs a table: how much of it, with which check, and what to call after changes.
type Options[G any] struct {
	Until  int                                      // run only the first Until passes; 0 for all
	Verify func(G) error                            // checks the graph after every pass; nil for none
	Dump   func(number int, pass string, g G) error // called after each pass that changed the graph; nil for none
}

// A PassDefectPanicValue is the value with which RunPasses panics if a pass has a defect.
type PassDefectPanicValue struct {
	Pass  string
	Value any // the value with which the pass panicked, or the error of Verify
}

func (p *PassDefectPanicValue) Error() string { return fmt.Sprintf("pass %s: %v", p.Pass, p.Value) }

// Unwrap returns Value if it is an error, and nil otherwise.
func (p *PassDefectPanicValue) Unwrap() error {
	err, _ := p.Value.(error)
	return err
}

// checkPasses returns an error if a table contradicts itself: two passes have one name, a pass has no name, doc or
// body, or a pass does not stand after those in After.
func checkPasses[G any](table []Pass[G]) error {
	before := map[string]bool{}
	for i, p := range table {
		switch {
		case p.Name == "" || p.Doc == "" || p.Run == nil:
			return fmt.Errorf("pass %d (%q) lacks a name, a doc or a body", i+1, p.Name)
		case before[p.Name]:
			return fmt.Errorf("two passes are called %s", p.Name)
		}
		for _, a := range p.After {
			if !before[a] {
				return fmt.Errorf("pass %s must stand after %s", p.Name, a)
			}
		}
		before[p.Name] = true
	}
	return nil
}

// RunPasses runs the passes of the table in order, each once, and changes g in place. It panics with a
// *PassDefectPanicValue if a pass panics or leaves a graph that Verify refuses, and with an error if checkPasses
// refuses the table. These are defects of the program. An error of Dump ends the run and is returned; errors of the
// model are in d.
func RunPasses[G any](table []Pass[G], g G, opt Options[G], d *diag.List) error {
	if err := checkPasses(table); err != nil {
		panic(err)
	}
	if opt.Until > 0 {
		table = table[:min(opt.Until, len(table))]
	}
	for i, p := range table {
		if p.apply(g, d, opt.Verify) && opt.Dump != nil {
			if err := opt.Dump(i+1, p.Name, g); err != nil {
				return fmt.Errorf("dump after pass %s: %w", p.Name, err)
			}
		}
	}
	return nil
}

// apply runs one pass and then verify, unless it is nil, and reports whether the pass changed the graph. A panic, or an
// error of verify, becomes a panic with a *PassDefectPanicValue that names the pass.
func (p Pass[G]) apply(g G, d *diag.List, verify func(G) error) bool {
	defer func() {
		if v := recover(); v != nil {
			panic(&PassDefectPanicValue{Pass: p.Name, Value: v})
		}
	}()
	changed := p.Run(g, d)
	if verify != nil {
		if err := verify(g); err != nil {
			panic(fmt.Errorf("left a graph that is not well formed: %w", err))
		}
	}
	return changed
}
