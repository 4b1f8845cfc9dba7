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

// StatsOptions holds the model and the flags of `hlsgen stats`.
type StatsOptions struct {
	options.Source
	Plot string // .svg or .png; may be empty
}

// A StatsResult is the result of `hlsgen stats`: counts of operations and storage, and figures from samples if data are
// given.
type StatsResult struct {
	Source     *source.ModelSource
	Network    *stats.ModelStats
	Buildable  bool    // all of the model maps to hardware
	Samples    int     // number of samples, if data are given
	Efficiency float64 // geometric mean over the layers, if data are given
}

// RunStats counts what a model computes and stores, even if the model cannot be built. With data, it also runs the
// model as written and counts the states of its layers. It draws the chart if Plot is set. It returns nil after adding
// an error to d.
func RunStats(ctx context.Context, o StatsOptions, d *diag.List) (c *StatsResult, err error) {
	defer crash.RecoverPanicIntoError(&err)
	c = &StatsResult{}
	o.ReportProgress("reading", 0, 0)
	if c.Source = source.ReadModelFile(o.Model, d); c.Source == nil {
		return nil, nil
	}
	opt, ok := o.ToImportOptions(d)
	if !ok {
		return nil, nil
	}
	given := o.Data != "" || c.Source.Inputs != nil // or the samples of the example
	var data *datafile.ArrayFile
	if given {
		open := datafile.OpenForSinglePass
		if len(o.States) > 0 { // samples are read twice
			open = datafile.OpenForRereading
		}
		if data = open(o.Stdin, o.Data, c.Source.Inputs, d); data == nil {
			return nil, nil
		}
		defer data.Close()
		opt.Data = data.ArrayShapes()
	}
	o.ReportProgress("importing", 0, 0)
	im := frontend.ImportForReference(c.Source.File, c.Source.ONNX, opt, d)
	if im.Model == nil || d.HasErrors() {
		return nil, nil
	}
	var quiet diag.List // diagnostics about hardware do not matter here
	built, err := frontend.Import(c.Source.File, c.Source.ONNX, opt, &quiet)
	if err != nil {
		return nil, err
	}
	c.Buildable = built.Model != nil && !quiet.HasErrors()
	c.Network = im.CountOperations(built)
	if given {
		if ok, err := data.ComputeMissingStates(ctx, im.Model, true, d); !ok {
			return nil, datafile.AddSampleOrModelDiag(err, data, c.Source.File, d)
		}
		s := data.OpenSamples(im.Model, nil, "", d)
		if s == nil {
			return nil, nil
		}
		if err := c.observe(ctx, o, im, s); err != nil {
			return nil, datafile.AddSampleOrModelDiag(err, data, c.Source.File, d)
		}
	}
	if o.Plot == "" {
		return c, nil
	}
	return c, c.draw(o.Plot)
}

// observe runs the samples s through the model as written. It counts the states of each layer, the different sets of
// its neurons with outputs above 0, and stores them in c.Network. It sets Samples and Efficiency.
func (c *StatsResult) observe(ctx context.Context, o StatsOptions, im *frontend.ImportedModel,
	s *samples.SampleSource) error {
	observer := c.Network.NewNeuronStateObserver()
	see := im.NewObservedRunner(observer)
	err := datafile.ForEachPart(s, s.RunsPerPart(datafile.TargetPartBytes, 1), func(part *samples.RunInputs) error {
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
	c.Samples, c.Efficiency = s.Count, observer.SetNeuronStateStats()
	return nil
}

// draw writes a bar chart of the layers' bit operations to path, as PNG if path ends in .png, and else as SVG.
func (c *StatsResult) draw(path string) error {
	total := &c.Network.Total
	b := chart.BarChart{Title: fmt.Sprintf("%s: %s bit operations per sample, %s if no weight were 0", c.Source.Name,
		chart.FormatAmount(total.BOPs), chart.FormatAmount(total.DenseBOPs)), Value: "bit operations (BOPs)"}
	for _, l := range c.Network.Layers {
		text := chart.FormatAmount(l.BOPs)
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
		return outputdir.WriteFileAtomically(path, p.PNG)
	}
	return outputdir.WriteFileAtomically(path, p.SVG)
}
