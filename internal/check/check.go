// Package check tells what becomes of a model without building it: the fate of every node, the layers, and counts of
// operations and storage.
//
//	check.go  Run imports a model
//	stats.go  Stats counts what a model computes and stores
package check

import (
	"context"

	"hlsgen/frontend"
	"hlsgen/internal/audit"
	"hlsgen/internal/crash"
	"hlsgen/internal/diag"
	"hlsgen/internal/options"
	"hlsgen/internal/report"
	"hlsgen/internal/source"
)

// Options says which model to check.
type Options struct {
	options.Source
	AccBits options.AccBits // the zero value: accumulators are reported only if samples are given
}

// Result is the result of `hlsgen check`.
type Result struct {
	Source   *source.ModelSource
	Imported *frontend.Imported
	Layers   []report.LayerReport
	Lengths  *report.LengthsReport      // range of sequence lengths; nil: all have one length
	Audit    []*audit.AccumulatorReport // only with --acc-bits or samples
}

// Run imports a model and reports the fate of every node. The reasons why a node does not map to hardware are in d.
func Run(ctx context.Context, o Options, d *diag.List) (c *Result, err error) {
	defer crash.Catch(&err)
	c = &Result{}
	src, made, err := source.OpenQuantised(ctx, o.Source, d)
	if c.Source = src; src == nil || err != nil {
		return nil, err
	}
	if c.Imported, err = source.Import(made, c.Source, d); err != nil {
		return nil, err
	}
	if m := c.Imported.Model; m != nil {
		c.Layers, c.Lengths = report.LayerReports(m.Graph, nil, c.Imported), report.LengthsOf(m.Lengths)
		if o.AccBits.Asked() || o.Data != "" {
			c.Audit, err = audit.Run(ctx, o.Source, o.AccBits, c.Source, c.Imported, d)
		}
	}
	return c, err
}
