package compiler

import (
	"context"
	"errors"
	"fmt"
	"math"
	"path/filepath"
	"slices"

	"hlsgen/internal/compiler/samples"
	"hlsgen/internal/dataflow"
	"hlsgen/internal/diag"
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

// AutoVerify selects the number of samples by the size of the network: usualSamples, or fewer, but at least two. The
// second sample follows the first one through the pipeline.
const AutoVerify = -1

const (
	usualSamples = 16
	maxChecked   = 1 << 25 // elements on all streams of all samples; they take some seconds
)

// autoSamples returns the number of frames that AutoVerify selects for a graph.
func autoSamples(g *dataflow.Graph) int {
	return max(2, min(usualSamples, maxChecked/elements(g)))
}

// verification returns n samples: the first ones of s, or random ones if s is nil. The folded graph tells how much work
// a sample is.
func verification(m *dataflow.Model, s *supply, folded *dataflow.Graph, n int) (*samples.Runs, error) {
	if n == AutoVerify {
		n = autoSamples(folded) * m.Turns.PerFrame()
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

// simulate runs the engines reference, eval and cycle and compares their outputs bit for bit, and every stream element
// by element. It also compares the tables of drivers, and engine fast on the user's samples (see ends). Large networks
// run a few samples at a time. It returns the recording of the first samples for the test bench. This holds the frames
// of all streams if whole is set or sequences differ in length, and else their text.
func (r *BuildResult) simulate(ctx context.Context, s *samples.Runs, given *supply, whole bool) (
	recorded templates.TestVectors, err error) {
	work := elements(r.Design.Model.Graph)
	e := endsOf(r.Imported.Model, given != nil)
	if err := e.thresholds(ctx); err != nil {
		return recorded, err
	}
	keep := max(1, maxRecorded/work)
	held := max(2, maxHeld/work) // at least two: the second sample follows the first one through the pipeline
	each := r.Design.Model.Turns.PerFrame()
	to := &recording{design: r.Design.Design, most: keep, whole: whole}
	if frames := (len(s.In) + each - 1) / each; !whole && s.Lengths == nil && frames > 0 {
		to.text = templates.NewRecorder(r.Design.Design, min(frames, keep))
	}
	for first := 0; first < len(s.In); first += held * each {
		part := *s
		part.In = s.In[first:min(first+held*each, len(s.In))]
		if s.Lengths != nil {
			part.Lengths = s.Lengths[first:][:len(part.In)]
			streams, err := verifySized(ctx, r.Design.Design, &part)
			if err != nil {
				return recorded, err
			}
			to.frames = append(to.frames, streams[:min(len(streams), keep-len(to.frames))]...)
		} else if err := verify(ctx, r.Design.Design, &part, to, e); err != nil {
			return recorded, err
		}
	}
	if given != nil {
		if err := e.others(ctx, given.SampleSource, len(s.In)); err != nil {
			return recorded, err
		}
	}
	if len(s.In) > 0 {
		r.Verified = VerificationReport{Samples: len(s.In), Recorded: min(len(s.In), len(to.frames)*each),
			Engines: []string{string(EngineEval), string(EngineCycle)},
			Steps:   slices.Compact(slices.Sorted(slices.Values(s.Lengths)))}
	}
	return templates.TestVectors{Frames: to.frames, Recorded: to.text}, nil
}

// A recording keeps the contents of streams in the first frames.
type recording struct {
	design *dataflow.Design
	most   int                 // largest number of frames to keep
	whole  bool                // keep the frames of all streams, not only of the network's inputs and outputs
	text   *templates.Recorder // text of all streams; may be nil
	frames []tensors           // by frame and stream
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
		r.frames = append(r.frames, make(tensors, len(g.Streams)))
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

// verify runs samples through all engines, compares them and records the streams in to.
func verify(ctx context.Context, d *dataflow.Design, s *samples.Runs, to *recording, e *ends) error {
	m := d.Model
	want, err := reference(ctx, m, s)
	if err != nil {
		return err
	}
	in, err := codes(ctx, m, s)
	if err != nil {
		return err
	}
	out, err := rtlsim.CompareKernels(ctx, d, in, to.add, differs(m.Graph))
	if err != nil {
		return err
	}
	to.before += len(in)
	got, err := results(ctx, m, s, out)
	if err != nil {
		return err
	}
	if err := sameReals("engine eval against the model", got, want); err != nil {
		return err
	}
	return e.agree(ctx, s, in, out, want)
}

// verifySized works like verify, for sequences of different lengths. It returns the tensors of all streams.
func verifySized(ctx context.Context, d *dataflow.Design, s *samples.Runs) ([]tensors, error) {
	m := d.Model
	want, err := reference(ctx, m, s)
	if err != nil {
		return nil, err
	}
	streams, got, err := integers(ctx, m, s)
	if err != nil {
		return nil, err
	}
	if err := sameReals("engine eval against the model", got, want); err != nil {
		return nil, err
	}
	// This run checks the data. Its clocks are not those of Design.Clocks.
	_, err = cycle(ctx, d, pick(streams, m.Graph.In), streams, false)
	return streams, err
}

// compile runs engine csim. If there is no C++ compiler, it adds a warning to d instead.
func (r *BuildResult) compile(ctx context.Context, files templates.Files, v templates.TestVectors, d *diag.List) error {
	if len(v.Frames) == 0 {
		return nil
	}
	_, err := compile(ctx, r.Design.Design, files, v.Frames)
	var missing *templates.NoCompiler
	if errors.As(err, &missing) {
		r.Verified.Left = string(EngineCSim)
		d.Add(diag.Diag{Severity: diag.Warning, Code: diag.CompilerMissing,
			Msg:  "the generated C++ was not compiled and run: " + missing.Error(),
			Hint: "install g++ or clang++, or pass --no-csim"})
		return nil
	}
	if err == nil {
		r.Verified.Engines = append(r.Verified.Engines, string(EngineCSim))
	}
	return err
}

func sameReals(what string, got, want []reals) error {
	for i := range got {
		for k := range got[i] {
			for j, v := range got[i][k].Data {
				if w := want[i][k].Data[j]; v != w && !(math.IsNaN(v) && math.IsNaN(w)) {
					return &MismatchError{fmt.Sprintf("%s: sample %d, output %d, element %d is %v, want %v", what, i,
						k, j,
						v, w)}
				}
			}
		}
	}
	return nil
}

// openSamples opens the samples of the build, or those of the source, with their labels. It returns nil if there are
// none, or after adding an error to d.
func openSamples(ctx context.Context, o Source, m *dataflow.Model, src *ModelSource, d *diag.List) *supply {
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
	s := supplied(ctx, o.Stdin, o.Data, m, src.Inputs, d)
	if s == nil {
		return nil
	}
	switch {
	case o.LabelsFile != "":
		s.labels = readLabels(o.LabelsFile, s.Count, m.Out, d)
	case o.Data == "" && src.Labels != nil:
		var err error
		if s.labels, err = samples.LabelsOf(src.Labels, s.Count, m.Out); err != nil {
			panic(err) // they belong to the example
		}
	}
	return s
}

// accuracy runs all samples and returns the accuracy. It returns nil without labels.
func accuracy(ctx context.Context, m *dataflow.Model, s *supply) (*samples.Accuracy, error) {
	if s == nil || s.labels == nil {
		return nil, nil
	}
	run, right, n := courseOf(m), 0, 0
	err := partByPart(s.SampleSource, s.PartSize(partBytes, m.Turns.PerFrame()), func(part *samples.Runs) error {
		out, err := run.integers(ctx, part)
		if err != nil {
			return err
		}
		agree, all := s.labels.Count(part.First, out)
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
func AccuracyOf(ctx context.Context, o Source, src *ModelSource, m *dataflow.Model, d *diag.List) (a *samples.Accuracy,
	err error) {
	defer CatchPanic(&err)
	if o.Data == "" && o.LabelsFile == "" || m == nil {
		return nil, nil
	}
	s := openSamples(ctx, o, m, src, d)
	defer s.close()
	if d.Failed() {
		return nil, nil
	}
	a, err = accuracy(ctx, m, s)
	return a, modelError(err, src.File, d)
}
