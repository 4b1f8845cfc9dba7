// Package check reports on a model without building it: the fate of every node, the layers, and counts of operations
// and storage.
//
//	check.go  Run imports a model
//	stats.go  RunStats counts what a model computes and stores
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

// Options says which model `hlsgen check` reads, and which accumulator widths the user asks for.
type Options struct {
	options.Source
	AccBits options.AskedAccBits // the zero value: accumulators are reported only if samples are given
}

// A Result is the result of `hlsgen check`. Layers and Lengths are nil if the model does not map to hardware.
type Result struct {
	Source   *source.ModelSource
	Imported *frontend.ImportedModel
	Layers   []report.LayerReport
	Lengths  *report.SequenceLengthsReport   // range of sequence lengths; nil: all have one length
	Audit    []*audit.LayerAccumulatorReport // only with --acc-bits or samples
}

// Run imports a model and reports the fate of every node. It adds the reasons why a node does not map to hardware to d.
// The result is nil if the model cannot be read or quantised; then d has an error, or err is not nil. An error of the
// import also gives nil. If only the report on accumulators fails, Run returns both the result and an error.
func Run(ctx context.Context, o Options, d *diag.List) (c *Result, err error) {
	defer crash.RecoverPanicIntoError(&err)
	c = &Result{}
	src, made, err := source.ReadAndQuantiseModel(ctx, o.Source, d)
	if c.Source = src; src == nil || err != nil {
		return nil, err
	}
	if c.Imported, err = source.ImportModel(made, c.Source, d); err != nil {
		return nil, err
	}
	if m := c.Imported.Model; m != nil {
		c.Layers, c.Lengths = report.NewLayerReports(m.Graph, nil, c.Imported),
			report.NewSequenceLengthsReport(m.Lengths)
		if o.AccBits.IsAsked() || o.Data != "" {
			c.Audit, err = audit.Run(ctx, o.Source, o.AccBits, c.Source, c.Imported, d)
		}
	}
	return c, err
}
