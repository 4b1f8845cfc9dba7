package compiler

import (
	"context"

	"hlsgen/frontend"
	"hlsgen/internal/diag"
)

// CheckOptions says which model to check.
type CheckOptions struct {
	Source
	AccBits AccBits // the zero value: accumulators are reported only if samples are given
}

// CheckResult is the result of `hlsgen check`.
type CheckResult struct {
	Source   *ModelSource
	Imported *frontend.Imported
	Layers   []LayerReport
	Lengths  *LengthsReport       // range of sequence lengths; nil: all have one length
	Audit    []*AccumulatorReport // only with --acc-bits or samples
}

// Check imports a model and reports the fate of every node. The reasons why a node does not map to hardware are in d.
func Check(ctx context.Context, o CheckOptions, d *diag.List) (c *CheckResult, err error) {
	defer CatchPanic(&err)
	c = &CheckResult{}
	src, made, err := opened(ctx, o.Source, d)
	if c.Source = src; src == nil || err != nil {
		return nil, err
	}
	if c.Imported, err = importModel(made, c.Source, d); err != nil {
		return nil, err
	}
	if m := c.Imported.Model; m != nil {
		c.Layers, c.Lengths = layerReports(m.Graph, nil, c.Imported), LengthsOf(m.Lengths)
		if o.AccBits.Asked() || o.Data != "" {
			c.Audit, err = audit(ctx, o.Source, o.AccBits, c.Source, c.Imported, d)
		}
	}
	return c, err
}
