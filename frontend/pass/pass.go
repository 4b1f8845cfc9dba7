// Package pass runs a table of passes over a graph, whatever the graph is.
//
// In come a table of passes and what they rewrite; out comes that, rewritten, with what every pass did. It sees diag.
package pass

import (
	"fmt"

	"hlsgen/internal/diag"
)

// A Pass is a row in a table. The order of the rows is the order of the run.
type Pass[G any] struct {
	Name, Doc string
	After     []string // passes that must stand before this one; the reason is in Doc
	// Run changes the graph in place and reports whether it did. Whatever it finds wrong with the model it adds to
	// the list, and leaves a well-formed graph all the same: the passes after it run too.
	Run func(G, *diag.List) (changed bool)
}

// Options say how to run a table.
type Options[G any] struct {
	Until  int                                      // run only the first Until passes; 0 for all
	Verify func(G) error                            // checks the graph after every pass; nil for none
	Dump   func(number int, pass string, g G) error // is shown the graph after every pass that changed it; nil for none
}

// A Panic is a defect of ours inside a pass: what Run panics with.
type Panic struct {
	Pass  string
	Value any // what the pass panicked with, or the error of Verify
}

func (p *Panic) Error() string { return fmt.Sprintf("pass %s: %v", p.Pass, p.Value) }

// Unwrap is the value where it is an error.
func (p *Panic) Unwrap() error {
	err, _ := p.Value.(error)
	return err
}

// Check reports how a table contradicts itself: a name used twice, a pass without body, or one that does not stand
// after those it names.
func Check[G any](table []Pass[G]) error {
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

// Run runs the passes of the table in order, each once. It panics with a *Panic where a pass panics or leaves a graph
// that Verify refuses, and with an error where Check refuses the table: these are defects of ours. The error is that
// of Dump, the world's.
func Run[G any](table []Pass[G], g G, opt Options[G], d *diag.List) error {
	if err := Check(table); err != nil {
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

// apply runs one pass and puts its name on whatever goes wrong.
func (p Pass[G]) apply(g G, d *diag.List, verify func(G) error) bool {
	defer func() {
		if v := recover(); v != nil {
			panic(&Panic{Pass: p.Name, Value: v})
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
