// Package audit compares the accumulators of a network with the widths that the user asks for. It also reports the sums
// that samples produce in them.
//
//	audit.go    Run, with samples
//	accbits.go  the accumulators, and their reports
package audit

import (
	"context"
	"fmt"

	"hlsgen/frontend"
	"hlsgen/internal/datafile"
	"hlsgen/internal/dataflow"
	"hlsgen/internal/diag"
	"hlsgen/internal/engines"
	"hlsgen/internal/options"
	"hlsgen/internal/samples"
	"hlsgen/internal/source"
)

// AccumulatorSumsOnSamples describes the sums that samples produce in a layer's accumulators, in the model's own
// integers.
type AccumulatorSumsOnSamples struct {
	Samples   int               `json:"samples"`
	Sums      int               `json:"sums"`
	Min       int64             `json:"min"`
	Max       int64             `json:"max"`
	Bits      int               `json:"exact_bits"` // the narrowest signed number that holds Min and Max
	Histogram []SumHistogramBin `json:"histogram"`  // of all sums, from the smallest values on
}

// A SumHistogramBin counts the sums of one sign that need the same number of bits. Min and Max are the ends of its
// range.
type SumHistogramBin struct {
	Bits int   `json:"bits"` // as a signed number
	Min  int64 `json:"min"`
	Max  int64 `json:"max"`
	Sums int   `json:"sums"`
}

// Run returns a report on the accumulators of each layer of im.Model, which must not be nil. It adds an error to d for
// each layer that does not fit the asked width, and for asked layers that do not exist. With samples from the user, the
// reports also say which sums occur. If samples are unfit, it adds an error to d, and sums are missing.
func Run(ctx context.Context, o options.Source, asked options.AskedAccBits, src *source.ModelSource,
	im *frontend.ImportedModel,
	d *diag.List) (list []*LayerAccumulatorReport, err error) {
	sums := im.AllLayerDotProducts()
	layers, _ := ListAccumulatorLayers(asked, im.Model.Graph, sums, d)
	var seen map[*frontend.LayerDotProducts]*frontend.ObservedSumStatistics
	n := 0
	if o.Data != "" {
		if seen, n, err = seenSums(ctx, o, src, im, sums, d); err != nil {
			return nil, err
		}
	}
	for _, l := range layers {
		r := l.NewReport()
		if s := seen[l.Sums]; s != nil {
			r.Seen = samplesOf(n, s)
		}
		l.audited(r, d)
		list = append(list, r)
	}
	return list, nil
}

// seenSums runs samples through the model as written. It returns the sums that occur in each layer, and the number of
// samples. If the samples cannot be opened, it adds an error to d and the map is nil. If one fails later, it adds an
// error to d, and the sums are those until then.
func seenSums(ctx context.Context, o options.Source, src *source.ModelSource, im *frontend.ImportedModel,
	sums []*frontend.LayerDotProducts,
	d *diag.List) (map[*frontend.LayerDotProducts]*frontend.ObservedSumStatistics, int, error) {
	data := fixedSamples(ctx, o.SampleFiles, src, im.Model, d)
	if data == nil {
		return nil, 0, nil
	}
	defer data.Close()
	run, seen := observing(im, sums)
	o.ReportProgress("simulating", 0, data.Count)
	err := datafile.ForEachPart(data.SampleSource, data.RunsPerPart(datafile.TargetPartBytes, 1),
		func(part *samples.RunInputs) error {
			if _, err := run.RunReference(ctx, part); err != nil {
				return datafile.ModelFaultError{Err: err}
			}
			o.ReportProgress("simulating", part.First+len(part.In), data.Count)
			return nil
		})
	return seen, data.Count, datafile.AddSampleOrModelDiag(err, data.File, src.File, d)
}

// observing returns a session that runs the model as written, and where it collects the sums of each layer.
func observing(im *frontend.ImportedModel, sums []*frontend.LayerDotProducts) (*engines.Session,
	map[*frontend.LayerDotProducts]*frontend.ObservedSumStatistics) {
	by, seen := map[*frontend.LayerDotProducts]frontend.AccumulatorSettings{},
		map[*frontend.LayerDotProducts]*frontend.ObservedSumStatistics{}
	for _, s := range sums {
		if s.Why == "" {
			seen[s] = &frontend.ObservedSumStatistics{}
			by[s] = frontend.AccumulatorSettings{Seen: seen[s]}
		}
	}
	m := *im.Model
	m.Reference = im.ReferenceWithAccumulators(by)
	return engines.NewSession(&m), seen
}

// A LayerSumsOnSamples compares the sums that samples produced in a layer with the range in which all sums are, in the
// model's own integers.
type LayerSumsOnSamples struct {
	Layer    string
	Min, Max int64 // of all sums that can occur
	Bits     int   // the narrowest signed number that holds them
	Seen     *AccumulatorSumsOnSamples
}

// ObserveSums runs samples through the model as written. It returns the sums of each layer of which the model declares
// integers. It returns nil for models with states, and for sequences of several lengths.
func ObserveSums(ctx context.Context, im *frontend.ImportedModel, runs *samples.RunInputs) (list []LayerSumsOnSamples,
	err error) {
	if im.Model.Lengths != nil || im.Model.Stream != nil || len(runs.In) == 0 {
		return nil, nil
	}
	sums := im.AllLayerDotProducts()
	run, seen := observing(im, sums)
	if _, err := run.RunReference(ctx, runs); err != nil {
		return nil, err
	}
	layers, _ := ListAccumulatorLayers(options.AskedAccBits{}, im.Model.Graph, sums, new(diag.List))
	for _, l := range layers {
		s := seen[l.Sums]
		if s == nil || s.Sums == 0 {
			continue
		}
		declared := l.declared()
		at := LayerSumsOnSamples{Layer: l.Node.Name, Bits: declared.Exact, Seen: samplesOf(len(runs.In), s)}
		for _, c := range declared.Channels {
			at.Min, at.Max = min(at.Min, c.Min), max(at.Max, c.Max)
		}
		list = append(list, at)
	}
	return list, nil
}

// fixedSamples opens the samples of a model that takes samples of one length, which do not depend on each other. For
// other models, or if the file does not fit, it adds an error to d and returns nil.
func fixedSamples(ctx context.Context, o options.SampleFiles, src *source.ModelSource, m *dataflow.Model,
	d *diag.List) *datafile.SamplesAndLabels {
	if m.Lengths != nil || m.Stream != nil {
		d.AddError(diag.AccBitsFlagUnfit, "", "accumulators are looked at in samples of one length, each for itself",
			"leave --stateful out, and bind one length: --dim T=8")
		return nil
	}
	return datafile.OpenSamplesWithoutLabels(ctx, o.Stdin, o.Data, m, src.Inputs, d)
}

// samplesOf converts the sums that n samples produced in a layer to a report with a histogram.
func samplesOf(n int, s *frontend.ObservedSumStatistics) *AccumulatorSumsOnSamples {
	r := &AccumulatorSumsOnSamples{Samples: n, Sums: s.Sums, Min: s.Range.Lo, Max: s.Range.Hi,
		Bits: frontend.SignedBitsForRange(s.Range), Histogram: []SumHistogramBin{}}
	for bits := len(s.Count[0]) - 1; bits > 0; bits-- {
		if c := s.Count[0][bits]; c > 0 {
			lo, hi := int64(-1)<<(bits-1), int64(-1)
			if bits > 1 {
				hi = int64(-1)<<(bits-2) - 1
			}
			r.Histogram = append(r.Histogram, SumHistogramBin{bits, lo, hi, c})
		}
	}
	for bits, c := range s.Count[1] {
		if c > 0 {
			lo, hi := int64(0), int64(0)
			if bits > 1 {
				lo, hi = int64(1)<<(bits-2), int64(1)<<(bits-1)-1
			}
			r.Histogram = append(r.Histogram, SumHistogramBin{bits, lo, hi, c})
		}
	}
	return r
}

// String returns the range of the bin's sums: "5" or "4 to 7".
func (b SumHistogramBin) String() string {
	if b.Min == b.Max {
		return fmt.Sprint(b.Min)
	}
	return fmt.Sprintf("%d to %d", b.Min, b.Max)
}
