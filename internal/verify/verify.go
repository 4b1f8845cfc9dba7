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

// VerificationReport describes the comparison of the engines in a build.
type VerificationReport struct {
	Samples  int      `json:"samples"`
	Recorded int      `json:"recorded"` // number of samples in the test bench that csim runs
	Engines  []string `json:"engines"`  // engines that agree with the model's own execution
	Left     string   `json:"left_out,omitempty"`
	Steps    []int    `json:"steps,omitempty"` // lengths of the samples, if sequences differ in length
	// the network is so large that fewer samples than usual were run
	Large bool `json:"fewer_samples_of_large_network"`
}

// AutoVerify selects the number of samples by the size of the network: UsualSamples, or fewer, but at least two. The
// second sample follows the first one through the pipeline.
const AutoVerify = -1

const (
	UsualSamples = 16
	maxChecked   = 1 << 25 // elements on all streams of all samples; they take some seconds
)

// AutoSamples returns the number of frames that AutoVerify selects for a graph.
func AutoSamples(g *dataflow.Graph) int {
	return max(2, min(UsualSamples, maxChecked/engines.StreamElements(g)))
}

// SelectSamples returns n samples: the first ones of s, or random ones if s is nil. The folded graph tells how much
// work a sample is.
func SelectSamples(m *dataflow.Model, s *datafile.Supply, folded *dataflow.Graph, n int) (*samples.Runs, error) {
	if n == AutoVerify {
		n = AutoSamples(folded) * m.Turns.PerFrame()
	}
	if s == nil {
		return samples.RandomLengths(m, n)
	}
	return s.ReadRange(0, n)
}

// The largest number of elements on streams that a verification holds at a time, and that it records for the test
// bench. A recording has a character for every four bits.
const (
	maxHeld     = 1 << 24
	maxRecorded = 1 << 23
)

// Run runs the engines reference, eval and cycle and compares their outputs bit for bit, and every stream element
// by element. It also compares the tables of drivers, and engine fast on the user's samples (see ends). Large networks
// run a few samples at a time. It returns the recording of the first samples for the test bench. This holds the frames
// of all streams if whole is set or sequences differ in length, and else their text.
func Run(ctx context.Context, m *dataflow.Model, d *dataflow.Design, s *samples.Runs, given *datafile.Supply,
	whole bool) (report VerificationReport, recorded templates.TestVectors, err error) {
	report.Engines = []string{}
	work := engines.StreamElements(d.Model.Graph)
	e := endsOf(m, given != nil)
	if err := e.thresholds(ctx); err != nil {
		return report, recorded, err
	}
	keep := max(1, maxRecorded/work)
	held := max(2, maxHeld/work) // at least two: the second sample follows the first one through the pipeline
	each := d.Model.Turns.PerFrame()
	to := &recording{design: d, most: keep, whole: whole}
	if frames := (len(s.In) + each - 1) / each; !whole && s.Lengths == nil && frames > 0 {
		to.text = templates.NewRecorder(d, min(frames, keep))
	}
	for first := 0; first < len(s.In); first += held * each {
		part := *s
		part.In = s.In[first:min(first+held*each, len(s.In))]
		if s.Lengths != nil {
			part.Lengths = s.Lengths[first:][:len(part.In)]
			streams, err := RunSized(ctx, d, &part)
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
			Engines: []string{string(engines.Eval), string(engines.Cycle)},
			Steps:   slices.Compact(slices.Sorted(slices.Values(s.Lengths)))}
	}
	return report, templates.TestVectors{Frames: to.frames, Recorded: to.text}, nil
}

// A recording keeps the contents of streams in the first frames.
type recording struct {
	design *dataflow.Design
	most   int                 // largest number of frames to keep
	whole  bool                // keep the frames of all streams, not only of the network's inputs and outputs
	text   *templates.Recorder // text of all streams; may be nil
	frames []engines.Tensors   // by frame and stream
	before int                 // number of frames before the current samples
}

// add adds rows of a tensor on a stream. It implements the callback of rtlsim.CompareKernels.
func (r *recording) add(frame, stream int, rows dataflow.Tensor) error {
	f := r.before + frame
	if f >= r.most {
		return nil
	}
	g := r.design.Model.Graph
	if f == len(r.frames) {
		r.frames = append(r.frames, make(engines.Tensors, len(g.Streams)))
	}
	if r.text != nil {
		if err := r.text.Add(stream, rows); err != nil {
			return err
		}
	}
	if !r.whole && !slices.Contains(g.In, stream) && !slices.Contains(g.Out, stream) {
		return nil
	}
	t, shape := &r.frames[f][stream], g.Streams[stream].Type.Shape
	if len(rows.Data) == shape.Size() {
		*t = rows
		return nil
	}
	if t.Data == nil {
		*t = dataflow.Tensor{Shape: shape, Data: make([]int64, 0, shape.Size())}
	}
	t.Data = append(t.Data, rows.Data...)
	return nil
}

// verifyRuns runs samples through all engines, compares them and records the streams in to.
func verifyRuns(ctx context.Context, d *dataflow.Design, s *samples.Runs, to *recording, e *ends) error {
	m := d.Model
	want, err := engines.RunReference(ctx, m, s)
	if err != nil {
		return err
	}
	in, err := engines.InputCodes(ctx, m, s)
	if err != nil {
		return err
	}
	out, err := rtlsim.CompareKernels(ctx, d, in, to.add, engines.StreamMismatch(engines.Cycle, m.Graph))
	if err != nil {
		return err
	}
	to.before += len(in)
	got, err := engines.ModelOutputs(ctx, m, s, out)
	if err != nil {
		return err
	}
	if err := SameReals("engine eval against the model", got, want); err != nil {
		return err
	}
	return e.agree(ctx, s, in, out, want)
}

// RunSized compares the engines like Run, for sequences of different lengths. It returns the tensors of all streams.
func RunSized(ctx context.Context, d *dataflow.Design, s *samples.Runs) ([]engines.Tensors, error) {
	m := d.Model
	want, err := engines.RunReference(ctx, m, s)
	if err != nil {
		return nil, err
	}
	streams, got, err := engines.RunIntegers(ctx, m, s)
	if err != nil {
		return nil, err
	}
	if err := SameReals("engine eval against the model", got, want); err != nil {
		return nil, err
	}
	// This run checks the data. Its clocks are not those of Design.Clocks.
	_, err = engines.RunCycle(ctx, d, engines.SelectStreams(streams, m.Graph.In), streams, false)
	return streams, err
}

// RunCSim runs engine csim on the generated C++, and adds it to the report. If there is no C++ compiler, it adds a
// warning to d instead.
func (r *VerificationReport) RunCSim(ctx context.Context, design *dataflow.Design, files templates.Files,
	v templates.TestVectors, d *diag.List) error {
	if len(v.Frames) == 0 {
		return nil
	}
	_, err := engines.RunCSim(ctx, design, files, v.Frames)
	var missing *templates.NoCompiler
	if errors.As(err, &missing) {
		r.Left = string(engines.CSim)
		d.Add(diag.Diag{Severity: diag.Warning, Code: diag.CompilerMissing,
			Msg:  "the generated C++ was not compiled and run: " + missing.Error(),
			Hint: "install g++ or clang++, or pass --no-csim"})
		return nil
	}
	if err == nil {
		r.Engines = append(r.Engines, string(engines.CSim))
	}
	return err
}

// RunRTL runs the design's SystemVerilog on the recorded streams, and adds engine rtl to the report. If Verilator is
// missing, it adds a warning to d instead. begin is called before the SystemVerilog is compiled.
func (r *VerificationReport) RunRTL(ctx context.Context, design *dataflow.Design, streams []engines.Tensors,
	begin func(),
	d *diag.List) error {
	if program := engines.MissingForVerilator(); program != "" {
		r.Left = string(engines.RTL)
		d.Add(diag.Diag{Severity: diag.Warning, Code: diag.VerilatorMissing,
			Msg:  "the generated SystemVerilog was not run: there is no " + program,
			Hint: "install verilator and g++, or pass --no-csim"})
		return nil
	}
	begin()
	if err := engines.RunVerilator(ctx, engines.RTL, design, engines.SelectStreams(streams, design.Model.Graph.In),
		streams); err != nil {
		return err
	}
	r.Engines = append(r.Engines, string(engines.RTL))
	return nil
}

// SameReals compares outputs by sample, and returns a MismatchError for the first difference. what names the two sides
// of the comparison.
func SameReals(what string, got, want []engines.Reals) error {
	for i := range got {
		for k := range got[i] {
			for j, v := range got[i][k].Data {
				if w := want[i][k].Data[j]; v != w && !(math.IsNaN(v) && math.IsNaN(w)) {
					return &engines.MismatchError{Msg: fmt.Sprintf("%s: sample %d, output %d, element %d is %v, want %v",
						what, i, k, j, v, w)}
				}
			}
		}
	}
	return nil
}

// OpenSamples opens the samples of the build, or those of the source, with their labels. It returns nil if there are
// none, or after adding an error to d.
func OpenSamples(ctx context.Context, o options.Source, m *dataflow.Model, src *source.ModelSource,
	d *diag.List) *datafile.Supply {
	if o.Data == "" && src.Inputs == nil {
		if o.LabelsFile != "" && o.Calibrate == "" {
			d.Fail(diag.DataInvalid, filepath.Base(o.LabelsFile), "these are labels of no samples",
				"give the samples, too: --input FILE")
		}
		if o.LabelsFile == "" || o.Calibrate == "" {
			return nil
		}
		o.Data = o.Calibrate
	}
	s := datafile.OpenSupply(ctx, o.Stdin, o.Data, m, src.Inputs, d)
	if s == nil {
		return nil
	}
	switch {
	case o.LabelsFile != "":
		s.Labels = datafile.ReadLabels(o.LabelsFile, s.Count, m.Out, d)
	case o.Data == "" && src.Labels != nil:
		var err error
		if s.Labels, err = samples.LabelsOf(src.Labels, s.Count, m.Out); err != nil {
			panic(err) // they belong to the example
		}
	}
	return s
}

// MeasureAccuracy runs all samples and returns the accuracy. It returns nil without labels.
func MeasureAccuracy(ctx context.Context, m *dataflow.Model, s *datafile.Supply) (*samples.Accuracy, error) {
	if s == nil || s.Labels == nil {
		return nil, nil
	}
	run, right, n := engines.NewSession(m), 0, 0
	err := datafile.ForEachPart(s.SampleSource, s.PartSize(datafile.PartBytes, m.Turns.PerFrame()),
		func(part *samples.Runs) error {
			out, err := run.RunIntegers(ctx, part)
			if err != nil {
				return err
			}
			agree, all := s.Labels.Count(part.First, out)
			right, n = right+agree, n+all
			return nil
		})
	if err != nil {
		return nil, err
	}
	a := samples.AccuracyOf(right, n)
	return &a, nil
}

// AccuracyOf measures an imported model on the samples of the options. It returns nil without labels.
func AccuracyOf(ctx context.Context, o options.Source, src *source.ModelSource, m *dataflow.Model,
	d *diag.List) (a *samples.Accuracy,
	err error) {
	defer crash.Catch(&err)
	if o.Data == "" && o.LabelsFile == "" || m == nil {
		return nil, nil
	}
	s := OpenSamples(ctx, o, m, src, d)
	defer s.Close()
	if d.Failed() {
		return nil, nil
	}
	a, err = MeasureAccuracy(ctx, m, s)
	return a, datafile.AddModelFault(err, src.File, d)
}
