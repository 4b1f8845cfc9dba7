package compiler

import (
	"context"
	"fmt"
	"path/filepath"
	"strings"

	"hlsgen/frontend"
	"hlsgen/frontend/stats"
	"hlsgen/internal/chart"
	"hlsgen/internal/compiler/samples"
	"hlsgen/internal/diag"
	"hlsgen/internal/npy"
	"hlsgen/internal/owned"
)

// StatsOptions are what statistics are asked for; of the embedded Options the model, and what is said of its inputs.
type StatsOptions struct {
	Options
	Data string // .npy or .npz; may be empty
	Plot string // .svg or .png; may be empty
}

// A Counted is what `hlsgen stats` shows.
type Counted struct {
	Source     *Source
	Network    *stats.Network
	Buildable  bool    // there are layers of hardware for all of it
	Samples    int     // with data
	Efficiency float64 // with data: the geometric mean over the layers
}

// Stats counts what a model computes and stores, whether it can be built or not; with data, it runs them through the
// model as written and says what states layers are in.
func Stats(ctx context.Context, o StatsOptions, d *diag.List) (c *Counted, err error) {
	defer Catch(&err)
	c = &Counted{}
	o.Step("reading", 0, 0)
	if c.Source = Open(o.Model, d); c.Source == nil {
		return nil, nil
	}
	opt, ok := o.imports(d)
	if !ok {
		return nil, nil
	}
	given := o.Data != "" || c.Source.Inputs != nil // of the example
	var arrays map[string]*npy.Array
	if given {
		if arrays = readArrays(o.Data, c.Source, d); arrays == nil {
			return nil, nil
		}
	}
	opt.Data = map[string][]int{}
	for name, a := range arrays {
		opt.Data[name] = a.Shape
	}
	o.Step("importing", 0, 0)
	im := frontend.ImportReference(c.Source.File, c.Source.ONNX, opt, d)
	if im.Model == nil || d.Failed() {
		return nil, nil
	}
	var quiet diag.List // of hardware, which is not asked for
	built, err := frontend.Import(c.Source.File, c.Source.ONNX, opt, &quiet)
	if err != nil {
		return nil, err
	}
	c.Buildable = built.Model != nil && !quiet.Failed()
	c.Network = im.Stats(built)
	if given {
		s, err := samples.SplitLengths(im.Model, arrays, nil)
		if err != nil {
			unfitting(o.Data, err, d)
			return nil, nil
		}
		if err := c.observe(ctx, o, im, s); err != nil {
			return nil, modelError(err, c.Source, d)
		}
	}
	if o.Plot == "" {
		return c, nil
	}
	return c, c.draw(o.Plot)
}

// observe runs samples.
func (c *Counted) observe(ctx context.Context, o StatsOptions, im *frontend.Imported, s *samples.Runs) error {
	observer := c.Network.Observe()
	see := im.Observe(observer)
	for i, in := range s.In {
		if ctx.Err() != nil {
			return ctx.Err()
		}
		o.Step("simulating", i, len(s.In))
		if err := see(in); err != nil {
			return fmt.Errorf("sample %d: %w", i, err)
		}
	}
	c.Samples, c.Efficiency = len(s.In), observer.Done()
	return nil
}

// draw writes the picture of the layers' bit operations.
func (c *Counted) draw(path string) error {
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
		return owned.WriteFile(path, p.PNG)
	}
	return owned.WriteFile(path, p.SVG)
}
