package build

import (
	"context"

	"hlsgen/folding"
	"hlsgen/internal/crash"
	"hlsgen/internal/dataflow"
	"hlsgen/internal/diag"
	"hlsgen/internal/options"
	"hlsgen/internal/source"
)

// A ParetoFront holds the designs for a board that are worth choosing from, the fastest first. No design has both a
// shorter interval than another one and less of what Options.Least measures.
type ParetoFront struct {
	Source   *source.ModelSource
	Target   dataflow.Target
	Points   []*folding.Design
	Complete bool // Points holds all designs of the front
}

// Pareto returns at most most designs of the front. If Options.FPS or Options.Interval is set, slower designs are left
// out. Pareto writes nothing. If the user has to change something, the reasons are in d and the result is nil.
func Pareto(ctx context.Context, o Options, most int, d *diag.List) (f *ParetoFront, err error) {
	defer crash.Catch(&err)
	o.ReportProgress("reading", 0, 0)
	src, made, err := source.OpenQuantised(ctx, o.Source, d)
	if src == nil || err != nil {
		return nil, err
	}
	f = &ParetoFront{Source: src}
	board, _ := options.FindBoard(o.Board, d)
	fixed := o.ReadFolding(d)
	o.ReportProgress("importing", 0, 0)
	im, err := source.Import(made, f.Source, d)
	if err != nil || d.Failed() {
		return nil, err
	}
	o.ReportProgress("folding", 0, 0)
	f.Target = o.Target(board, d)
	wanted := o.ForSearch(fixed)
	wanted.Interrupt, wanted.Tell = nil, nil // they serve a single search, and a front takes many
	space, err := folding.NewSpace(im.Model, f.Target, fixed, wanted.FIFO, d)
	if err != nil || space == nil {
		return nil, err
	}
	f.Points, f.Complete, err = space.ParetoFront(ctx, wanted, most, d, func(n int) {
		o.ReportProgress("folding", n,
			most)
	})
	if err != nil || d.Failed() {
		return nil, err
	}
	return f, nil
}
