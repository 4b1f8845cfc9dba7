package compiler

import (
	"context"

	"hlsgen/folding"
	"hlsgen/internal/dataflow"
	"hlsgen/internal/diag"
)

// A Front is the designs for a board that are worth choosing from, the fastest first: none of them is beaten by another
// one in both its interval and what Options.Least measures.
type Front struct {
	Source *Source
	Target dataflow.Target
	Points []*folding.Design
	Whole  bool // there are no others
}

// Pareto makes the designs of a front, at most so many, for every rate, or for all from Options.FPS or Options.Interval
// on. Nothing is written. What the user has to change is in d, and then the result is nil.
func Pareto(ctx context.Context, o Options, most int, d *diag.List) (f *Front, err error) {
	defer Catch(&err)
	o.Step("reading", 0, 0)
	src, made, err := o.opened(ctx, d)
	if src == nil || err != nil {
		return nil, err
	}
	f = &Front{Source: src}
	board, _ := FindBoard(o.Board, d)
	fixed := o.fixed(d)
	o.Step("importing", 0, 0)
	im, err := importModel(made, f.Source, d)
	if err != nil || d.Failed() {
		return nil, err
	}
	o.Step("folding", 0, 0)
	f.Target = o.target(board, d)
	goal := o.goal(fixed)
	goal.Interrupt, goal.Tell = nil, nil // no one of the searches is the front's
	space, err := folding.List(im.Model, f.Target, fixed, goal.FIFO, d)
	if err != nil || space == nil {
		return nil, err
	}
	f.Points, f.Whole, err = space.Front(ctx, goal, most, d, func(n int) { o.Step("folding", n, most) })
	if err != nil || d.Failed() {
		return nil, err
	}
	return f, nil
}
