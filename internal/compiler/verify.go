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

// Verified says what was compared.
type Verified struct {
	Samples  int      `json:"samples"`
	Recorded int      `json:"recorded"` // of these, the ones in the test bench, which csim runs
	Engines  []string `json:"engines"`  // that agree with the model's own execution
	Left     string   `json:"left_out,omitempty"`
	Steps    []int    `json:"steps,omitempty"` // lengths of the samples, where these are sequences of different ones
	// the network is so large that there are fewer samples than usual
	Large bool `json:"fewer_samples_of_large_network"`
}

// AutoVerify is a number of samples: usualSamples, and fewer of a large network, but at least two, of which the second
// follows the first through the pipeline.
const AutoVerify = -1

const (
	usualSamples = 16
	maxChecked   = 1 << 25 // elements on streams of all samples together: some seconds
)

// autoSamples is what AutoVerify means for a graph.
func autoSamples(g *dataflow.Graph) int {
	return max(2, min(usualSamples, maxChecked/elements(g)))
}

// elements is how many there are on all streams of a frame.
func elements(g *dataflow.Graph) (n int) {
	for _, s := range g.Streams {
		n += s.Type.Shape.Size()
	}
	return n
}

// verification takes the first of the samples that there are, made-up ones where there are none. The folded graph tells
// how much work a sample is.
func verification(m *dataflow.Model, s *supply, folded *dataflow.Graph, n int) (*samples.Runs, error) {
	if n == AutoVerify {
		n = autoSamples(folded) * m.Turns.PerFrame()
	}
	if s == nil {
		return samples.RandomLengths(m, n)
	}
	return s.Some(0, n)
}

// What a verification holds at a time, and what it keeps for the test bench: elements on streams. A recording has a
// character for every four bits.
const (
	maxHeld     = 1 << 24
	maxRecorded = 1 << 23
)

// simulate runs reference, eval and cycle and compares them: the model's outputs bit for bit, every stream element by
// element. The tables of drivers, and engine fast on the samples that a user has given, are compared, too (ends). Large
// networks are run a few samples at a time. It returns what the test bench records of the first samples: the frames of
// all streams, where they are wanted whole or are sequences of different lengths, else their text.
func (r *Result) simulate(ctx context.Context, s *samples.Runs, given *supply, whole bool) (
	recorded templates.Vectors, err error) {
	work := elements(r.Design.Model.Graph)
	e := endsOf(r.Imported.Model, given != nil)
	if err := e.thresholds(ctx); err != nil {
		return recorded, err
	}
	keep := max(1, maxRecorded/work)
	held := max(2, maxHeld/work) // two at least: the second follows the first through the pipeline
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
		if err := e.others(ctx, given.Source, len(s.In)); err != nil {
			return recorded, err
		}
	}
	if len(s.In) > 0 {
		r.Verified = Verified{Samples: len(s.In), Recorded: min(len(s.In), len(to.frames)*each),
			Engines: []string{string(Eval), string(Cycle)},
			Steps:   slices.Compact(slices.Sorted(slices.Values(s.Lengths)))}
	}
	return templates.Vectors{Frames: to.frames, Recorded: to.text}, nil
}

// A recording keeps what passes in the first frames.
type recording struct {
	design *dataflow.Design
	most   int                 // frames
	whole  bool                // all streams' frames are kept, else those of the ends
	text   *templates.Recorder // of all streams; or nil
	frames []tensors           // by frame and stream
	before int                 // frames that have passed before those at hand
}

// add is told of rows on a stream.
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

// verify runs and compares samples together.
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
	out, err := rtlsim.Agree(ctx, d, in, to.add, differs(m.Graph))
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

// verifySized is verify for sequences of different lengths. It returns what is on every stream.
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
	// The clocks are not those of Design.Clocks.
	_, err = cycle(ctx, d, pick(streams, m.Graph.In), streams, false)
	return streams, err
}

// compile runs the third engine, or says why it was left out.
func (r *Result) compile(ctx context.Context, files templates.Files, v templates.Vectors, d *diag.List) error {
	if len(v.Frames) == 0 {
		return nil
	}
	_, err := compile(ctx, r.Design.Design, files, v.Frames)
	var missing *templates.NoCompiler
	if errors.As(err, &missing) {
		r.Verified.Left = string(CSim)
		d.Add(diag.Diag{Severity: diag.Warning, Code: diag.CompilerMissing,
			Msg:  "the generated C++ was not compiled and run: " + missing.Error(),
			Hint: "install g++ or clang++, or pass --no-csim"})
		return nil
	}
	if err == nil {
		r.Verified.Engines = append(r.Verified.Engines, string(CSim))
	}
	return err
}

func sameReals(what string, got, want []reals) error {
	for i := range got {
		for k := range got[i] {
			for j, v := range got[i][k].Data {
				if w := want[i][k].Data[j]; v != w && !(math.IsNaN(v) && math.IsNaN(w)) {
					return &Mismatch{fmt.Sprintf("%s: sample %d, output %d, element %d is %v, want %v", what, i, k, j,
						v, w)}
				}
			}
		}
	}
	return nil
}

// data is the samples that a build is given, or that the source brings, and their labels; nil where there are none, or
// where d says what is wrong with them.
func (o Options) data(ctx context.Context, m *dataflow.Model, src *Source, d *diag.List) *supply {
	if o.Data == "" && src.Inputs == nil {
		if o.Classes != "" && o.Calibrate == "" {
			d.Fail(diag.DataInvalid, filepath.Base(o.Classes), "these are labels of no samples",
				"give the samples, too: --input FILE")
		}
		if o.Classes == "" || o.Calibrate == "" {
			return nil
		}
		o.Data = o.Calibrate
	}
	s := o.Stdin.supplied(ctx, o.Data, m, src, d)
	if s == nil {
		return nil
	}
	switch {
	case o.Classes != "":
		s.labels = readLabels(o.Classes, s.Count, m.Out, d)
	case o.Data == "" && src.Labels != nil:
		var err error
		if s.labels, err = samples.LabelsOf(src.Labels, s.Count, m.Out); err != nil {
			panic(err) // they are the example's
		}
	}
	return s
}

// accuracy runs every labelled sample.
func accuracy(ctx context.Context, m *dataflow.Model, s *supply) (*samples.Accuracy, error) {
	if s == nil || s.labels == nil {
		return nil, nil
	}
	run, right, n := courseOf(m), 0, 0
	err := partByPart(s.Source, s.Size(partBytes, m.Turns.PerFrame()), func(part *samples.Runs) error {
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
