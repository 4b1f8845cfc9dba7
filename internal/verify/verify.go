// Package verify compares the engines on samples: the model as written, the layers, the design and the generated code.
//
//	verify.go  Run compares a design; the accuracy of its samples
//	ends.go    the tables of drivers, and compiled layers
package verify

import (
	"context"
	"errors"
	"fmt"
	"math"
	"path/filepath"
	"slices"

	"hlsgen/internal/crash"
	"hlsgen/internal/datafile"
	"hlsgen/internal/dataflow"
	"hlsgen/internal/diag"
	"hlsgen/internal/engines"
	"hlsgen/internal/options"
	"hlsgen/internal/samples"
	"hlsgen/internal/source"
	"hlsgen/rtlsim"
	"hlsgen/templates"
)

// A VerificationReport describes the comparison of the engines in a build.
type VerificationReport struct {
	Samples  int      `json:"samples"`
	Recorded int      `json:"recorded"` // number of samples in the test bench that csim runs
	Engines  []string `json:"engines"`  // engines that agree with the model's own execution
	Left     string   `json:"left_out,omitempty"`
	Steps    []int    `json:"steps,omitempty"` // lengths of the samples, if sequences differ in length
	// the network is so large that fewer samples than usual were run
	Large bool `json:"fewer_samples_of_large_network"`
}

// SampleCountAuto, as a number of samples, selects the number by the size of the network: UsualSampleCount, or fewer,
// but at least two. The second sample follows the first one through the pipeline.
const SampleCountAuto = -1

// The usual number of samples that a build verifies, and the limit for their elements on streams.
const (
	UsualSampleCount = 16
	maxChecked       = 1 << 25 // elements on all streams of all samples; they take some seconds
)

// ChooseSampleCount returns the number of frames for a graph that SampleCountAuto stands for.
func ChooseSampleCount(g *dataflow.Graph) int {
	return max(2, min(UsualSampleCount, maxChecked/engines.StreamElementsPerFrame(g)))
}

// SelectSamples returns the first n samples of s, or all if s has fewer; if s is nil, it returns n random ones. If n is
// SampleCountAuto, the size of the folded graph determines the number.
func SelectSamples(m *dataflow.Model, s *datafile.SamplesAndLabels, folded *dataflow.Graph, n int) (*samples.RunInputs,
	error) {
	if n == SampleCountAuto {
		n = ChooseSampleCount(folded) * m.Turns.SamplesPerFrame()
	}
	if s == nil {
		return samples.MakeRandomRunsOfMixedLengths(m, n)
	}
	return s.ReadRange(0, n)
}

// The largest number of elements on streams that a verification holds at a time, and that it records for the test
// bench. A recording has a character for every four bits.
const (
	maxHeld     = 1 << 24
	maxRecorded = 1 << 23
)

// Run runs the engines reference, eval and cycle on the samples s, and returns an *engines.MismatchError unless all
// outputs and streams are equal. If sequences have one length, it also compares the tables of drivers and, on the
// samples in given, engine fast. given may be nil. It records the first samples: frames of all streams if whole is set
// or lengths differ, else text.
func Run(ctx context.Context, m *dataflow.Model, d *dataflow.Design, s *samples.RunInputs,
	given *datafile.SamplesAndLabels,
	whole bool) (report VerificationReport, recorded templates.TestVectors, err error) {
	report.Engines = []string{}
	work := engines.StreamElementsPerFrame(d.Model.Graph)
	e := endsOf(m, given != nil)
	if err := e.thresholds(ctx); err != nil {
		return report, recorded, err
	}
	keep := max(1, maxRecorded/work)
	held := max(2, maxHeld/work) // at least two: the second sample follows the first one through the pipeline
	each := d.Model.Turns.SamplesPerFrame()
	to := &recording{design: d, most: keep, whole: whole}
	if frames := (len(s.In) + each - 1) / each; !whole && s.Lengths == nil && frames > 0 {
		to.text = templates.NewStreamRecorder(d, min(frames, keep))
	}
	for first := 0; first < len(s.In); first += held * each {
		part := *s
		part.In = s.In[first:min(first+held*each, len(s.In))]
		if s.Lengths != nil {
			part.Lengths = s.Lengths[first:][:len(part.In)]
			streams, err := RunForDifferentSequenceLengths(ctx, d, &part)
			if err != nil {
				return report, recorded, err
			}
			to.frames = append(to.frames, streams[:min(len(streams), keep-len(to.frames))]...)
		} else if err := verifyRuns(ctx, d, &part, to, e); err != nil {
			return report, recorded, err
		}
	}
	if given != nil {
		if err := e.others(ctx, given.SampleSource, len(s.In)); err != nil {
			return report, recorded, err
		}
	}
	if len(s.In) > 0 {
		report = VerificationReport{Samples: len(s.In), Recorded: min(len(s.In), len(to.frames)*each),
			Engines: []string{string(engines.EngineEval), string(engines.EngineCycle)},
			Steps:   slices.Compact(slices.Sorted(slices.Values(s.Lengths)))}
	}
	return report, templates.TestVectors{Frames: to.frames, Recorded: to.text}, nil
}

// A recording keeps the contents of streams in the first frames, for the test bench.
type recording struct {
	design *dataflow.Design
	most   int                       // largest number of frames to keep
	whole  bool                      // keep the frames of all streams, not only of the network's inputs and outputs
	text   *templates.StreamRecorder // text of all streams; may be nil
	frames []engines.FrameTensors    // by frame and stream
	before int                       // number of frames before the current samples
}

// add adds rows of a tensor on a stream, and may keep them without a copy. It ignores frames beyond r.most, and streams
// that are not kept. It is a callback of rtlsim.CompareKernelsWithEval.
func (r *recording) add(frame, stream int, rows dataflow.Tensor) error {
	f := r.before + frame
	if f >= r.most {
		return nil
	}
	g := r.design.Model.Graph
	if f == len(r.frames) {
		r.frames = append(r.frames, make(engines.FrameTensors, len(g.Streams)))
	}
	if r.text != nil {
		if err := r.text.AppendRows(stream, rows); err != nil {
			return err
		}
	}
	if !r.whole && !slices.Contains(g.In, stream) && !slices.Contains(g.Out, stream) {
		return nil
	}
	t, shape := &r.frames[f][stream], g.Streams[stream].Type.Shape
	if len(rows.Data) == shape.ElementCount() {
		*t = rows
		return nil
	}
	if t.Data == nil {
		*t = dataflow.Tensor{Shape: shape, Data: make([]int64, 0, shape.ElementCount())}
	}
	t.Data = append(t.Data, rows.Data...)
	return nil
}

// verifyRuns runs the samples s through all engines, compares them, and records the streams in to.
func verifyRuns(ctx context.Context, d *dataflow.Design, s *samples.RunInputs, to *recording, e *ends) error {
	m := d.Model
	want, err := engines.RunReference(ctx, m, s)
	if err != nil {
		return err
	}
	in, err := engines.RunHostPrefix(ctx, m, s)
	if err != nil {
		return err
	}
	out, err := rtlsim.CompareKernelsWithEval(ctx, d, in, to.add, engines.NewStreamMismatchMaker(engines.EngineCycle,
		m.Graph))
	if err != nil {
		return err
	}
	to.before += len(in)
	got, err := engines.RunHostSuffix(ctx, m, s, out)
	if err != nil {
		return err
	}
	if err := CompareModelOutputs("engine eval against the model", got, want); err != nil {
		return err
	}
	return e.agree(ctx, s, in, out, want)
}

// RunForDifferentSequenceLengths compares the engines reference, eval and cycle, as Run does, for sequences of
// different lengths. It compares neither the tables of drivers nor engine fast. It returns the tensors of all streams,
// by frame.
func RunForDifferentSequenceLengths(ctx context.Context, d *dataflow.Design,
	s *samples.RunInputs) ([]engines.FrameTensors,
	error) {
	m := d.Model
	want, err := engines.RunReference(ctx, m, s)
	if err != nil {
		return nil, err
	}
	streams, got, err := engines.RunHostAndEvalKeepingStreams(ctx, m, s)
	if err != nil {
		return nil, err
	}
	if err := CompareModelOutputs("engine eval against the model", got, want); err != nil {
		return nil, err
	}
	// This run checks the data. Its clocks are not those of Design.Clocks.
	_, err = engines.RunCycle(ctx, d, engines.SelectStreams(streams, m.Graph.In), streams, false)
	return streams, err
}

// RunBackend runs the files of a back end on the recorded frames, and adds its engine to the report. If a program is
// missing, it adds a warning to d instead.
func (r *VerificationReport) RunBackend(ctx context.Context, row *templates.Backend, design *dataflow.Design,
	files templates.ProjectFiles, frames []engines.FrameTensors, d *diag.List) error {
	err := row.Verify(ctx, design, files, frames)
	if missing := new(templates.NotVerifiedError); errors.As(err, &missing) {
		r.Left = row.Engine
		d.Add(missing.Diag)
		return nil
	}
	if err == nil {
		r.Engines = append(r.Engines, row.Engine)
	}
	return err
}

// CompareModelOutputs compares outputs by sample, and returns a MismatchError for the first difference. what names the
// two sides of the comparison.
func CompareModelOutputs(what string, got, want []engines.ModelTensors) error {
	for i := range got {
		for k := range got[i] {
			for j, v := range got[i][k].Data {
				if w := want[i][k].Data[j]; v != w && !(math.IsNaN(v) && math.IsNaN(w)) {
					return &engines.MismatchError{Msg: fmt.Sprintf(
						"%s: sample %d, output %d, element %d is %v, want %v",
						what, i, k, j, v, w)}
				}
			}
		}
	}
	return nil
}

// OpenSamplesAndLabels opens the samples of o.Data, of the model's source or, if labels are given, those of
// --calibrate, with their labels. It returns nil if there are none, or if samples do not fit; then d has an error. If
// only the labels do not fit, d has an error and the samples are returned.
func OpenSamplesAndLabels(ctx context.Context, o options.Source, m *dataflow.Model, src *source.ModelSource,
	d *diag.List) *datafile.SamplesAndLabels {
	if o.Data == "" && src.Inputs == nil {
		if o.LabelsFile != "" && o.Calibrate == "" {
			d.AddError(diag.InputDataInvalid, filepath.Base(o.LabelsFile), "these are labels of no samples",
				"give the samples, too: --input FILE")
		}
		if o.LabelsFile == "" || o.Calibrate == "" {
			return nil
		}
		o.Data = o.Calibrate
	}
	s := datafile.OpenSamplesWithoutLabels(ctx, o.Stdin, o.Data, m, src.Inputs, d)
	if s == nil {
		return nil
	}
	switch {
	case o.LabelsFile != "":
		s.Labels = datafile.ReadLabels(o.LabelsFile, s.Count, m.Out, d)
	case o.Data == "" && src.Labels != nil:
		var err error
		if s.Labels, err = samples.NewClassLabelsFromArray(src.Labels, s.Count, m.Out); err != nil {
			panic(err) // they belong to the example
		}
	}
	return s
}

// MeasureAccuracy runs engine eval on all samples and returns the accuracy. It returns nil without samples or labels.
func MeasureAccuracy(ctx context.Context, m *dataflow.Model, s *datafile.SamplesAndLabels) (*samples.Accuracy, error) {
	if s == nil || s.Labels == nil {
		return nil, nil
	}
	run, right, n := engines.NewSession(m), 0, 0
	err := datafile.ForEachPart(s.SampleSource, s.RunsPerPart(datafile.TargetPartBytes, m.Turns.SamplesPerFrame()),
		func(part *samples.RunInputs) error {
			out, err := run.RunHostAndEval(ctx, part)
			if err != nil {
				return err
			}
			agree, all := s.Labels.CountRightAndLabelled(part.First, out)
			right, n = right+agree, n+all
			return nil
		})
	if err != nil {
		return nil, err
	}
	a := samples.NewAccuracy(right, n)
	return &a, nil
}

// OpenSamplesAndMeasureAccuracy measures the accuracy of an imported model on the samples and labels that the options
// name. It returns nil if they name none, if m is nil, or after adding an error to d.
func OpenSamplesAndMeasureAccuracy(ctx context.Context, o options.Source, src *source.ModelSource, m *dataflow.Model,
	d *diag.List) (a *samples.Accuracy,
	err error) {
	defer crash.RecoverPanicIntoError(&err)
	if o.Data == "" && o.LabelsFile == "" || m == nil {
		return nil, nil
	}
	s := OpenSamplesAndLabels(ctx, o, m, src, d)
	defer s.Close()
	if d.HasErrors() {
		return nil, nil
	}
	a, err = MeasureAccuracy(ctx, m, s)
	return a, datafile.AddModelFaultDiag(err, src.File, d)
}
