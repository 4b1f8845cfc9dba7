// Package audit compares the accumulators of a network with the widths that the user asks for, and with the sums that
// samples produce in them.
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

// AccumulatorSamples describes the sums that samples produced in a layer's accumulators, in the model's own integers.
type AccumulatorSamples struct {
	Samples   int   `json:"samples"`
	Sums      int   `json:"sums"`
	Min       int64 `json:"min"`
	Max       int64 `json:"max"`
	Bits      int   `json:"exact_bits"` // the narrowest signed number that holds Min and Max
	Histogram []Bin `json:"histogram"`  // of all sums, from the smallest values on
}

// A Bin counts the sums of one sign that need the same number of bits.
type Bin struct {
	Bits int   `json:"bits"` // as a signed number
	Min  int64 `json:"min"`
	Max  int64 `json:"max"`
	Sums int   `json:"sums"`
}

// Run reports the accumulators of all layers. It adds an error per layer that does not fit the asked width. If the
// user gives samples, the reports say which sums occur.
func Run(ctx context.Context, o options.Source, asked options.AccBits, src *source.ModelSource, im *frontend.Imported,
	d *diag.List) (list []*AccumulatorReport, err error) {
	sums := im.Sums()
	layers, _ := AskedAccumulators(asked, im.Model.Graph, sums, d)
	var seen map[*frontend.LayerSums]*frontend.ObservedSums
	n := 0
	if o.Data != "" {
		if seen, n, err = seenSums(ctx, o, src, im, sums, d); err != nil {
			return nil, err
		}
	}
	for _, l := range layers {
		r := l.Report()
		if s := seen[l.Sums]; s != nil {
			r.Seen = samplesOf(n, s)
		}
		l.audited(r, d)
		list = append(list, r)
	}
	return list, nil
}

// seen runs samples through the model as written and records its sums. It also returns the number of samples.
func seenSums(ctx context.Context, o options.Source, src *source.ModelSource, im *frontend.Imported,
	sums []*frontend.LayerSums,
	d *diag.List) (map[*frontend.LayerSums]*frontend.ObservedSums, int, error) {
	data := fixedSamples(ctx, o.SampleFiles, src, im.Model, d)
	if data == nil {
		return nil, 0, nil
	}
	defer data.Close()
	by, seen := map[*frontend.LayerSums]frontend.Accumulator{}, map[*frontend.LayerSums]*frontend.ObservedSums{}
	for _, s := range sums {
		if s.Why == "" {
			seen[s] = &frontend.ObservedSums{}
			by[s] = frontend.Accumulator{Seen: seen[s]}
		}
	}
	m := *im.Model
	m.Reference = im.ReferenceWithAccumulators(by)
	run := engines.NewSession(&m)
	o.ReportProgress("simulating", 0, data.Count)
	err := datafile.ForEachPart(data.SampleSource, data.PartSize(datafile.PartBytes, 1),
		func(part *samples.Runs) error {
			if _, err := run.RunReference(ctx, part); err != nil {
				return datafile.ModelFaultError{Err: err}
			}
			o.ReportProgress("simulating", part.First+len(part.In), data.Count)
			return nil
		})
	return seen, data.Count, datafile.AddError(err, data.File, src.File, d)
}

// fixedSamples opens samples of a model whose samples have one length and do not depend on each other. It returns nil
// after adding an error to d.
func fixedSamples(ctx context.Context, o options.SampleFiles, src *source.ModelSource, m *dataflow.Model,
	d *diag.List) *datafile.Supply {
	if m.Lengths != nil || m.Stream != nil {
		d.Fail(diag.AccBitsUnfit, "", "accumulators are looked at in samples of one length, each for itself",
			"leave --stateful out, and bind one length: --dim T=8")
		return nil
	}
	return datafile.OpenSupply(ctx, o.Stdin, o.Data, m, src.Inputs, d)
}

func samplesOf(n int, s *frontend.ObservedSums) *AccumulatorSamples {
	r := &AccumulatorSamples{Samples: n, Sums: s.Sums, Min: s.Range.Lo, Max: s.Range.Hi,
		Bits: frontend.SignedBits(s.Range), Histogram: []Bin{}}
	for bits := len(s.Count[0]) - 1; bits > 0; bits-- {
		if c := s.Count[0][bits]; c > 0 {
			lo, hi := int64(-1)<<(bits-1), int64(-1)
			if bits > 1 {
				hi = int64(-1)<<(bits-2) - 1
			}
			r.Histogram = append(r.Histogram, Bin{bits, lo, hi, c})
		}
	}
	for bits, c := range s.Count[1] {
		if c > 0 {
			lo, hi := int64(0), int64(0)
			if bits > 1 {
				lo, hi = int64(1)<<(bits-2), int64(1)<<(bits-1)-1
			}
			r.Histogram = append(r.Histogram, Bin{bits, lo, hi, c})
		}
	}
	return r
}

// String returns the values of the bin: "5" or "4 to 7".
func (b Bin) String() string {
	if b.Min == b.Max {
		return fmt.Sprint(b.Min)
	}
	return fmt.Sprintf("%d to %d", b.Min, b.Max)
}
