package source

import (
	"context"
	"math"
	"slices"

	"hlsgen/frontend"
	"hlsgen/internal/datafile"
	"hlsgen/internal/dataflow"
	"hlsgen/internal/diag"
	"hlsgen/internal/engines"
	"hlsgen/internal/options"
	"hlsgen/internal/samples"
)

// A noted holds a model to be quantised, and the values that samples produced in it.
type noted struct {
	*frontend.QuantisationSession
	samples *samples.SampleSource
	file    *datafile.ArrayFile     // feedback of the states that the file does not give
	fed     []dataflow.FedBackState // states that the file does not have
	far     int                     // number of outliers left out
	was     []engines.ModelTensors  // outputs of the first samples; nil for outliers
}

// close closes the file of samples.
func (n *noted) close() { n.file.Close() }

// shapes returns the shapes of one sample's inputs, by name.
func (n *noted) shapes() (map[string][]int, error) {
	first, err := n.samples.ReadRange(0, 1)
	if err != nil {
		return nil, err
	}
	shapes := map[string][]int{}
	for k, in := range n.Model.In {
		shapes[in.Name] = first.In[0][k].Shape
	}
	return shapes, nil
}

// quantising reads a model and records the values that all samples but outliers produce in it. replace has the model's
// own quantisers replaced. It returns nil after adding an error to d.
func quantising(ctx context.Context, o options.Source, src *ModelSource, replace bool, d *diag.List) (*noted, error) {
	data := datafile.OpenForRereading(o.Stdin, o.Calibrate, src.Inputs, d)
	if data == nil {
		return nil, nil
	}
	n, err := noting(ctx, o, src, data, replace, d)
	if n == nil {
		data.Close()
	}
	return n, err
}

// noting does the work of quantising on the open samples data. It returns nil after adding an error to d.
func noting(ctx context.Context, o options.Source, src *ModelSource, data *datafile.ArrayFile, replace bool,
	d *diag.List) (*noted,
	error) {
	opt, ok := o.ToImportOptions(d)
	if !ok {
		return nil, nil
	}
	opt.Data, opt.Stateful = data.ArrayShapes(), opt.Stateful && len(opt.States) == 0 // samples carry their states
	n := &noted{QuantisationSession: frontend.NewQuantisationSession(src.File, src.ONNX, opt, replace, d), file: data}
	if n.QuantisationSession == nil {
		return nil, nil
	}
	if !o.Equalise {
		n.SkipRecordingByChannel()
	}
	n.fed = data.MissingStates(n.Model)
	if ok, err := data.ComputeMissingStatesBy(ctx, n.Model, datafile.WrapRunIgnoringSampleNumber(n.RunFloatModel),
		d); !ok {
		return nil, datafile.AddSampleOrModelDiag(err, data, src.File, d)
	}
	if n.samples = data.OpenSamples(n.Model, nil, "", d); n.samples == nil {
		return nil, nil
	}
	size := n.samples.RunsPerPart(datafile.TargetPartBytes, 1)
	var largest []float64 // largest magnitude of each sample
	err := datafile.ForEachPart(n.samples, size, func(part *samples.RunInputs) error {
		largest = append(largest, largestOf(part.In)...)
		return ctx.Err()
	})
	far, done := farOff(largest), 0
	if err == nil {
		err = datafile.ForEachPart(n.samples, size, func(part *samples.RunInputs) error {
			for _, in := range part.In {
				if ctx.Err() != nil {
					return ctx.Err()
				}
				var out engines.ModelTensors
				if !far[done] {
					var err error
					if out, err = n.RunAndRecord(in); err != nil {
						return datafile.ModelFaultError{Err: err}
					}
				} else {
					n.far++
				}
				if done < datafile.MaxComparedSamples {
					n.was = append(n.was, out)
				}
				done++
				o.ReportProgress("calibrating", done, n.samples.Count)
			}
			return nil
		})
	}
	if err != nil {
		return nil, datafile.AddSampleOrModelDiag(err, data, src.File, d)
	}
	return n, nil
}

// farAway bounds outliers: quantisation leaves out a sample whose largest magnitude is more than farAway times the
// median. A single outlier would coarsen the scales of all other samples.
const farAway = 8

// largestOf returns the largest magnitude of an element, for each sample.
func largestOf(runs []engines.ModelTensors) (largest []float64) {
	for _, in := range runs {
		most := 0.0
		for _, t := range in {
			for _, v := range t.Data {
				most = max(most, math.Abs(v))
			}
		}
		largest = append(largest, most)
	}
	return largest
}

// farOff reports for each sample whether it is an outlier. largest gives the largest magnitude of each sample's
// elements.
func farOff(largest []float64) []bool {
	far, sorted := make([]bool, len(largest)), slices.Sorted(slices.Values(largest))
	for i, v := range largest {
		far[i] = v > farAway*sorted[len(sorted)/2]
	}
	return far
}

// largest returns the index of the largest value, the first one if there are several.
func largest(v []float64) int {
	k := 0
	for i := range v {
		if v[i] > v[k] {
			k = i
		}
	}
	return k
}
