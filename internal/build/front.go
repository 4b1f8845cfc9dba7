package build

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
	Points []Point
	Whole  bool // there are no others
}

// Pareto folds for every rate, or for all from Options.FPS on, and estimates the designs, at most so many. Nothing is
// simulated or written. What the user has to change is in d, and then the result is nil.
func Pareto(ctx context.Context, o Options, most int, d *diag.List) (f *Front, err error) {
	defer catch(&err)
	o.step("reading")
	f = &Front{Source: Open(o.Model, d)}
	if f.Source == nil {
		return nil, nil
	}
	board := findBoard(o.Board, d)
	fixed := readFolding(o.Folding, d)
	o.step("importing")
	im, err := importModel(o, f.Source, d)
	if err != nil || d.Failed() {
		return nil, err
	}
	o.step("folding")
	f.Target = o.target(board)
	find := func(ctx context.Context, goal folding.Goal, now *diag.List) (front []*folding.Result, err error) {
		front, f.Whole, err = folding.Pareto(ctx, im.Model, f.Target, goal, most, now)
		return front, err
	}
	if f.Points, err = Points(ctx, f.Target, o.goal(fixed), find, d); err != nil || d.Failed() {
		return nil, err
	}
	return f, nil
}
