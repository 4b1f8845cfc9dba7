package check

import (
	"context"
	"fmt"
	"path/filepath"
	"strings"

	"hlsgen/frontend"
	"hlsgen/frontend/stats"
	"hlsgen/internal/chart"
	"hlsgen/internal/crash"
	"hlsgen/internal/datafile"
	"hlsgen/internal/diag"
	"hlsgen/internal/options"
	"hlsgen/internal/outputdir"
	"hlsgen/internal/samples"
	"hlsgen/internal/source"
)

// StatsOptions holds the flags of `hlsgen stats`.
type StatsOptions struct {
	options.Source
	Plot string // .svg or .png; may be empty
}

// A StatsResult is the result of `hlsgen stats`.
type StatsResult struct {
	Source     *source.ModelSource
	Network    *stats.Totals
	Buildable  bool    // all of the model maps to hardware
	Samples    int     // number of samples, if data are given
	Efficiency float64 // geometric mean over the layers, if data are given
}

// Stats counts what a model computes and stores, even if the model cannot be built. With data, it also runs the model
// as written and counts the states of its layers.
func Stats(ctx context.Context, o StatsOptions, d *diag.List) (c *StatsResult, err error) {
	defer crash.Catch(&err)
	c = &StatsResult{}
	o.ReportProgress("reading", 0, 0)
	if c.Source = source.Open(o.Model, d); c.Source == nil {
		return nil, nil
	}
	opt, ok := o.ForImport(d)
	if !ok {
		return nil, nil
	}
	given := o.Data != "" || c.Source.Inputs != nil // or the samples of the example
	var data *datafile.Arrays
	if given {
		open := datafile.OpenOnce
		if len(o.States) > 0 { // samples are read twice
			open = datafile.OpenForRereading
		}
		if data = open(o.Stdin, o.Data, c.Source.Inputs, d); data == nil {
			return nil, nil
		}
		defer data.Close()
		opt.Data = data.Shapes()
	}
	o.ReportProgress("importing", 0, 0)
	im := frontend.ImportReference(c.Source.File, c.Source.ONNX, opt, d)
	if im.Model == nil || d.Failed() {
		return nil, nil
	}
	var quiet diag.List // diagnostics about hardware do not matter here
	built, err := frontend.Import(c.Source.File, c.Source.ONNX, opt, &quiet)
	if err != nil {
		return nil, err
	}
	c.Buildable = built.Model != nil && !quiet.Failed()
	c.Network = im.Stats(built)
	if given {
		if ok, err := data.FeedStates(ctx, im.Model, true, d); !ok {
			return nil, datafile.AddError(err, data, c.Source.File, d)
		}
		s := data.OpenSamples(im.Model, nil, "", d)
		if s == nil {
			return nil, nil
		}
		if err := c.observe(ctx, o, im, s); err != nil {
			return nil, datafile.AddError(err, data, c.Source.File, d)
		}
	}
	if o.Plot == "" {
		return c, nil
	}
	return c, c.draw(o.Plot)
}

// observe runs samples and counts the states of layers.
func (c *StatsResult) observe(ctx context.Context, o StatsOptions, im *frontend.Imported,
	s *samples.SampleSource) error {
	observer := c.Network.Observe()
	see := im.Observe(observer)
	err := datafile.ForEachPart(s, s.PartSize(datafile.PartBytes, 1), func(part *samples.Runs) error {
		for i, in := range part.In {
			if ctx.Err() != nil {
				return ctx.Err()
			}
			o.ReportProgress("simulating", part.First+i, s.Count)
			if err := see(in); err != nil {
				return datafile.ModelFaultError{Err: fmt.Errorf("sample %d: %w", part.First+i, err)}
			}
		}
		return nil
	})
	if err != nil {
		return err
	}
	c.Samples, c.Efficiency = s.Count, observer.SetLayerStates()
	return nil
}

// draw writes a chart of the layers' bit operations.
func (c *StatsResult) draw(path string) error {
	total := &c.Network.Total
	b := chart.Bars{Title: fmt.Sprintf("%s: %s bit operations per sample, %s if no weight were 0", c.Source.Name,
		chart.Amount(total.BOPs), chart.Amount(total.DenseBOPs)), Value: "bit operations (BOPs)"}
	for _, l := range c.Network.Layers {
		text := chart.Amount(l.BOPs)
		if l.Weights > 0 {
			text += fmt.Sprintf(", %.0f %% zeros", 100*float64(l.ZeroWeights)/float64(l.Weights))
		}
		b.Rows = append(b.Rows, chart.Bar{Name: l.Node, Value: l.BOPs, Text: text})
	}
	p, err := b.Draw()
	if err != nil {
		return err
	}
	if strings.EqualFold(filepath.Ext(path), ".png") {
		return outputdir.WriteFile(path, p.PNG)
	}
	return outputdir.WriteFile(path, p.SVG)
}
