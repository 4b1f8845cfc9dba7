package simulate

import (
	"context"
	"errors"
	"runtime"

	"hlsgen/frontend"
	"hlsgen/internal/ctc"
	"hlsgen/internal/datafile"
	"hlsgen/internal/dataflow"
	"hlsgen/internal/diag"
	"hlsgen/internal/engines"
	"hlsgen/internal/samples"
	"hlsgen/rtlsim"
)

// A simulation passes samples through an engine, one part after the other.
type simulation struct {
	o       Options
	r       *Result
	im      *frontend.ImportedModel
	warm    *warmImport
	model   *dataflow.Model
	source  *samples.SampleSource
	labels  *samples.ClassLabels
	decoder *ctc.Decoder
	data    *datafile.ArrayFile
	out     *outputs
	compare *comparing // nil without --compare
	d       *diag.List

	course      *engines.Session
	predictor   func() *engines.FastPredictor // for engine fast; nil if that engine falls back to eval
	right, seen int                           // numbers of right and of all labels
}

// A portion holds one part of the samples and its results.
type portion struct {
	part        samples.StoredPart
	given       given
	direct      bool                   // the predictor read the part without conversion
	runs        *samples.RunInputs     // nil if no step needs the converted runs
	out         []engines.ModelTensors // nil if only the predictor holds the outputs
	data        [][]float64            // by output, in the order of an array
	encoded     [][]byte               // data encoded for the output file
	right, seen int
	texts       []string
	compared    OutputComparison
}

// heldElements limits the input and output elements of one part of the samples, for engines other than fast. A part has
// at least one sample for each processor, even beyond this limit.
const heldElements = 1 << 18

// run runs the engine on all samples, in one or several parts.
func (x *simulation) run(ctx context.Context) error {
	if x.o.Engine == engines.EngineCycle && !x.whole() {
		if err := x.clocks(ctx); err != nil {
			return err
		}
	}
	lanes, size := x.lanes()
	x.o.ReportProgress("simulating", 0, x.source.Count)
	return inLanes(ctx, x.source.Count, size, lanes, func() lane { return x.lane(ctx) })
}

// whole reports whether the engine must take all samples at once.
func (x *simulation) whole() bool {
	switch x.o.Engine {
	case engines.EngineReference, engines.EngineFloat, engines.EngineFast, engines.EngineEval:
		return x.o.traces() || x.o.Overflow != ""
	case engines.EngineCycle: // the clocks do not depend on the data; only these features need all samples
		keeps := x.model.Graph.KeepsStateBetweenFrames() || x.model.Lengths != nil
		return x.o.traces() || x.o.VCD != "" || x.o.Timeline != "" || keeps
	}
	return true
}

// clocks folds the model and simulates the design's clocks for all frames, without their data.
func (x *simulation) clocks(ctx context.Context) error {
	if ok, err := x.r.fold(ctx, x.o, x.model, x.d); err != nil {
		return err
	} else if !ok || x.d.HasErrors() {
		return datafile.ErrAlreadyReported
	}
	turns := x.model.Turns.SamplesPerFrame()
	var err error
	frames := (x.source.Count + turns - 1) / turns
	x.r.Trace, err = rtlsim.RunFrames(ctx, x.r.Design.Design, nil, rtlsim.Options{Frames: frames})
	return err
}

// carried returns the outputs of the samples s, computed by the design's kernels without clocks.
func (x *simulation) carried(ctx context.Context, s *samples.RunInputs) ([]engines.ModelTensors, error) {
	in, err := engines.RunHostPrefix(ctx, x.model, s)
	if err != nil {
		return nil, datafile.ModelFaultError{Err: err}
	}
	out, err := engines.RunKernelsWithoutClocks(ctx, x.r.Design.Design, s.First/x.model.Turns.SamplesPerFrame(), in)
	if err != nil {
		return nil, err
	}
	reals, err := engines.RunHostSuffix(ctx, x.model, s, out)
	if err != nil {
		return nil, datafile.ModelFaultError{Err: err}
	}
	return reals, nil
}

// lanes returns the number of lanes that work in parallel, and the number of samples in each part.
func (x *simulation) lanes() (n, size int) {
	if x.whole() {
		return 1, x.source.Count
	}
	x.course = engines.NewSession(x.model)
	x.course.Float = x.o.Engine == engines.EngineFloat
	processors, turns := runtime.GOMAXPROCS(0), x.model.Turns.SamplesPerFrame()
	if x.o.Engine == engines.EngineFast {
		predictor, batch := x.warm.predictor(x.model)
		if x.predictor = predictor; predictor != nil {
			if x.compare != nil { // the comparison takes most of the time, and uses all processors itself
				processors = 1
			}
			return processors, x.source.RunsPerPart(datafile.TargetPartBytes, batch*turns)
		}
	}
	if x.o.Engine == engines.EngineCycle {
		frames := max(1, min(16, heldElements/engines.StreamElementsPerFrame(x.r.Design.Model.Graph)))
		return processors, x.source.RunsPerPart(1, turns) * max(1, frames/x.source.RunsPerPart(1, turns))
	}
	elements := 1
	for _, list := range [][]dataflow.RealTensorInfo{x.model.In, x.model.Out} {
		for _, t := range list {
			elements += dataflow.Shape(t.Shape).ElementCount()
		}
	}
	some := max(processors, min(64, heldElements/elements))
	return 1, x.source.RunsPerPart(1, turns) * max(1, some/x.source.RunsPerPart(1, turns))
}

// lane returns a lane that passes one part of the samples after the other through the engine.
func (x *simulation) lane(ctx context.Context) lane {
	p := &portion{data: make([][]float64, len(x.model.Out)), encoded: make([][]byte, len(x.model.Out))}
	var fast *engines.FastPredictor
	if x.predictor != nil {
		fast, p.part.Reuse = x.predictor(), true
	}
	return lane{
		read: func(from, to int) error {
			if err := x.source.ReadStoredPart(&p.part, from, to); err != nil {
				return datafile.UnusableSamplesError{Err: err}
			}
			return x.compare.read(&p.given, from, to)
		},
		work: func() error { return x.work(ctx, p, fast) },
		done: func() error { return x.done(p) },
	}
}

// work computes the results of the part p. fast is the lane's predictor, or nil for other engines.
func (x *simulation) work(ctx context.Context, p *portion, fast *engines.FastPredictor) (err error) {
	p.runs, p.out = nil, nil
	p.direct = fast != nil && fast.RunStoredPart(x.source, &p.part)
	if !p.direct || x.compare != nil || p.part.FirstRunNumber() == 0 {
		if p.runs, err = p.part.ToRuns(); err != nil {
			return datafile.UnusableSamplesError{Err: err}
		}
	}
	switch {
	case p.direct:
		if p.part.FirstRunNumber() == 0 {
			if err := engines.CheckFirstSampleAgainstEval(ctx, x.model, p.runs,
				fast.LastPredictedOutputs(p.part.RunCount())); err != nil {
				return datafile.ModelFaultError{Err: err}
			}
		}
	case fast != nil:
		if p.out, err = fast.RunSamples(ctx, p.runs); err == nil && fast.Ends != nil && p.part.FirstRunNumber() == 0 {
			err = engines.CheckFirstSampleAgainstEval(ctx, x.model, p.runs, p.out)
		}
	case x.whole():
		p.out, err = x.r.run(ctx, x.o, x.im, x.model, p.runs, x.d)
		if err == nil && x.d.HasErrors() {
			return datafile.ErrAlreadyReported
		}
		if err != nil {
			return err // errors of the model are already in the diagnostics
		}
	case x.o.Engine == engines.EngineCycle:
		if p.out, err = x.carried(ctx, p.runs); err != nil {
			return err
		}
	case x.o.Engine == engines.EngineReference, x.o.Engine == engines.EngineFloat:
		p.out, err = x.course.RunReference(ctx, p.runs)
	default:
		p.out, err = x.course.RunHostAndEval(ctx, p.runs)
	}
	if err != nil {
		return datafile.ModelFaultError{Err: err}
	}
	if p.direct && (x.labels != nil || x.decoder != nil || x.compare != nil || !x.together()) {
		p.out = fast.LastPredictedOutputs(p.part.RunCount())
	}
	return x.outcome(ctx, p, fast)
}

// together reports whether every output of the predictor already has the order of elements of its array.
func (x *simulation) together() bool {
	for _, o := range x.model.Out {
		if !x.source.IsOutputContiguous(o) {
			return false
		}
	}
	return true
}

// outcome counts right labels, decodes texts, encodes outputs and compares them, for the part p.
func (x *simulation) outcome(ctx context.Context, p *portion, fast *engines.FastPredictor) (err error) {
	from, to := p.part.FirstRunNumber(), p.part.FirstRunNumber()+p.part.RunCount()
	if x.labels != nil {
		p.right, p.seen = x.labels.CountRightAndLabelled(from, p.out)
	}
	if x.o.Overflow != "" {
		x.r.Overflow, p.out, err = x.o.overflowing(ctx, x.im, x.model, p.runs, x.labels, p.out, x.d)
		if err != nil {
			return datafile.ModelFaultError{Err: err}
		}
		if x.d.HasErrors() {
			return datafile.ErrAlreadyReported
		}
	}
	p.texts = nil
	if x.decoder != nil {
		p.texts = decoded(x.model.Out, x.decoder, p.out)
	}
	for k, o := range x.out.out {
		if p.direct && x.source.IsOutputContiguous(o) {
			p.data[k] = fast.Out[k]
		} else {
			p.data[k] = x.source.JoinOutputs(o, p.output(k))
		}
		if p.encoded[k], err = x.out.encode(p.encoded[k], k, p.data[k], from, to); err != nil {
			return err
		}
	}
	if x.compare != nil {
		p.compared, err = x.compare.judge(ctx, &p.given, p.runs, p.out)
	}
	return err
}

// output returns output k of every sample in the part, padded to the longest sequence.
func (p *portion) output(k int) []dataflow.RealTensor {
	list := make([]dataflow.RealTensor, len(p.out))
	for i := range list {
		if list[i] = p.out[i][k]; p.runs != nil {
			list[i] = p.runs.PadOutput(k, list[i])
		}
	}
	return list
}

// done adds the results of the part p to those of the simulation. It must be called for the parts in order.
func (x *simulation) done(p *portion) error {
	from, to := p.part.FirstRunNumber(), p.part.FirstRunNumber()+p.part.RunCount()
	for k := range p.data {
		if err := x.out.put(k, p.encoded[k], p.data[k], from, to); err != nil {
			return err
		}
	}
	x.right, x.seen = x.right+p.right, x.seen+p.seen
	x.r.Texts = append(x.r.Texts, p.texts...)
	if x.compare != nil {
		x.compare.add(p.compared)
	}
	x.o.ReportProgress("simulating", to, x.source.Count)
	return nil
}

// told adds an error about the samples, the file to compare with, or the model to the diagnostics. It returns all other
// errors.
func (x *simulation) told(err error) error {
	if other := new(otherFile); errors.As(err, &other) {
		datafile.AddUnreadableFileDiag(x.o.Compare, other.error, datafile.OutputsFileHint, x.d)
		return nil
	}
	return datafile.AddSampleOrModelDiag(err, x.data, x.r.Source.File, x.d)
}
