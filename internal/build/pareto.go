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

// A ParetoFrontResult holds the designs for a board that are worth choosing from, the fastest first. No other design is
// at least as good both in its interval and in the measure Options.Least, unless the one listed spares DSP slices.
type ParetoFrontResult struct {
	Source   *source.ModelSource
	Target   dataflow.Target
	Points   []*folding.Design
	Complete bool // Points holds all designs of the front
}

// FindParetoFront returns up to most designs of the front, or all if most is 0, and writes no files. If Options.FPS or
// Options.Interval is set, it leaves out slower designs. If the user has to change something, it adds the reasons to d
// and returns nil.
func FindParetoFront(ctx context.Context, o Options, most int, d *diag.List) (f *ParetoFrontResult, err error) {
	defer crash.RecoverPanicIntoError(&err)
	o.ReportProgress("reading", 0, 0)
	src, made, err := source.ReadAndQuantiseModel(ctx, o.Source, d)
	if src == nil || err != nil {
		return nil, err
	}
	f = &ParetoFrontResult{Source: src}
	board, _ := options.FindBoardOrAddDiag(o.Board, d)
	fixed := o.ReadFoldingFile(d)
	o.ReportProgress("importing", 0, 0)
	im, err := source.ImportModel(made, f.Source, d)
	if err != nil || d.HasErrors() {
		return nil, err
	}
	o.ReportProgress("folding", 0, 0)
	f.Target = o.MakeTarget(board, d)
	wanted := o.ToSearchGoal(fixed)
	wanted.Interrupt, wanted.Tell = nil, nil // they serve a single search, and a front takes many
	space, err := folding.NewSpace(im.Model, f.Target, fixed, wanted.FIFO, d)
	if err != nil || space == nil {
		return nil, err
	}
	f.Points, f.Complete, err = space.FindParetoFront(ctx, wanted, most, d, func(n int) {
		o.ReportProgress("folding", n,
			most)
	})
	if err != nil || d.HasErrors() {
		return nil, err
	}
	return f, nil
}
