package compiler

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"

	"hlsgen/folding"
	"hlsgen/frontend"
	"hlsgen/frontend/execution"
	"hlsgen/internal/compiler/samples"
	"hlsgen/internal/ctc"
	"hlsgen/internal/dataflow"
	"hlsgen/internal/diag"
	"hlsgen/internal/npy"
	"hlsgen/internal/outputdir"
	"hlsgen/rtlsim"
	"hlsgen/templates"
)

// Limits for the clocks per frame of a layer in a simulation without a board. The RTL limit is larger: in Verilator, a
// narrow design runs for more clocks in about the same time as a wide design for few, and it compiles faster.
const (
	MaxCycles    = 100_000
	MaxCyclesRTL = 1_000_000
)

// SimOptions holds the flags of a simulation. Of the embedded Options it uses those that describe the model and shape
// the design.
type SimOptions struct {
	Options
	Engine      Engine     // "": chosen by the model; SimResult.Engine tells
	Input       string     // .npy or .npz, or StdioPath
	Labels      string     // .npy with a class per sample; may be empty
	LengthsFile string     // .npy with the lengths of the samples' sequences; may be empty
	Output      string     // .npy or .npz, or StdioPath; may be empty
	Compare     string     // .npy or .npz to compare with; may be empty
	Trace       string     // folder for every tensor; may be empty
	Decode      ctc.Method // how to decode scores to text; "" means as the model's metadata say
	// how accumulators of AccBits bits overflow, in the model as written; "": they do not
	Overflow     frontend.Overflow
	RandomOrders int       // number of random orders of addition to try, with Saturate
	VCD          string    // file for the waveforms of all streams, with engine cycle; may be empty
	Timeline     string    // SVG file that shows when layers work, with engine cycle; may be empty
	Stdout       io.Writer // receives the output if Output is StdioPath
	MaxShown     int       // number of elements of each output to keep; 0: all
}

// A SimResult is the result of a simulation.
type SimResult struct {
	Source         *ModelSource
	Engine         Engine // the engine that ran
	Samples        int
	Steps          []int // sequence lengths by sample; nil if all have the same length
	Out            []dataflow.RealPort
	Outputs        []*npy.Array      // by model output: all elements, or the first SimOptions.MaxShown
	Texts          []string          // by sample, for a model whose scores are decoded; else nil
	Decoder        *ctc.Decoder      // the decoder of Texts
	Design         *folding.Design   // of engines cycle and csim
	Trace          *rtlsim.Trace     // of engine cycle
	Compare        *Comparison       // with --compare
	Accuracy       *samples.Accuracy // with labels
	Overflow       *OverflowReport   // with narrower accumulators; then Outputs are the outputs with overflow
	StatedAccuracy *float64          // with labels: the accuracy in the info.json beside the model
	MaxCycles      int               // limit for each layer's clocks per frame if no board was given; else 0
}

// Simulate runs the model on data from files. It reports errors like Run.
func Simulate(ctx context.Context, o SimOptions, d *diag.List) (res *SimResult, err error) {
	defer CatchPanic(&err)
	r := &SimResult{}
	o.ReportProgress("reading", 0, 0)
	o.Data, o.LabelsFile = o.Input, o.Labels
	src, made, err := o.opened(ctx, d)
	if r.Source = src; src == nil || err != nil {
		return nil, err
	}
	o.Options = made
	open := o.Stdin.openOnce
	if len(o.States) > 0 { // samples are read twice
		open = o.Stdin.openData
	}
	data := open(o.Input, r.Source, d)
	if data == nil {
		return nil, ctx.Err()
	}
	defer data.close()
	o.ReportProgress("importing", 0, 0)
	engine, im, err := o.importFor(r.Source, data.shapes(), d)
	if im == nil || im.Model == nil || d.Failed() || err != nil {
		return nil, err
	}
	o.Engine, r.Engine = engine, engine
	model := im.Model
	steps, ok := o.steps(d)
	if !ok {
		return nil, nil
	}
	if ok, err := data.feed(ctx, model, o.Engine == EngineReference, d); !ok {
		return nil, modelError(err, r.Source, d)
	}
	s := data.samples(model, steps, o.LengthsFile, d)
	if s == nil {
		return nil, nil
	}
	r.Samples, r.Steps, r.Out = s.Count, s.Lengths, model.Out
	x := &simulation{o: o, r: r, im: im, model: model, source: s, data: data, d: d}
	x.decoder = decoderOf(model, o.Decode, r.Source.File, d)
	r.Decoder = x.decoder
	if d.Failed() {
		return nil, nil
	}
	if x.labels = r.labelled(o, s.Count, d); d.Failed() {
		return nil, nil
	}
	if s.Lengths != nil { // the shapes of the longest sequence
		if model, err = model.Lengths.Of(s.Stored); err != nil {
			return nil, err
		}
	}
	r.Out = model.Out
	return x.simulated(ctx)
}

// simulated runs the samples and returns the results.
func (x *simulation) simulated(ctx context.Context) (*SimResult, error) {
	o, r := x.o, x.r
	if o.Compare != "" {
		file := openArrays(o.Compare, hintOutputs, x.d)
		if file == nil {
			return nil, nil
		}
		defer file.close()
		if x.compare = comparingWith(file, x.im, x.source, r.Out, x.d); x.compare == nil {
			return nil, nil
		}
	}
	var err error
	if x.out, err = openOutputs(o.Output, o.Stdout, x.source, r.Out, o.MaxShown); err != nil {
		return nil, err
	}
	defer x.out.release()
	if err := x.told(x.run(ctx)); err != nil || x.d.Failed() {
		return nil, x.out.unwritten(err)
	}
	if err := x.out.finish(); err != nil {
		return nil, x.out.unwritten(err)
	}
	if x.labels != nil {
		a := samples.AccuracyOf(x.right, x.seen)
		r.Accuracy, r.StatedAccuracy = &a, stated(o.Model)
	}
	if x.compare != nil {
		r.Compare = &x.compare.total
	}
	r.Outputs = x.out.arrays()
	return r, nil
}

// labelled returns the labels of the samples: the given ones, or else the source's own, or nil.
func (r *SimResult) labelled(o SimOptions, runs int, d *diag.List) *samples.Labels {
	if o.Labels != "" {
		return readLabels(o.Labels, runs, r.Out, d)
	}
	if o.Input != "" || r.Source.Labels == nil {
		return nil
	}
	l, err := samples.LabelsOf(r.Source.Labels, runs, r.Out)
	if err != nil {
		panic(err) // they are the example's
	} // they belong to the example
	return l
}

// steps reads the lengths of sequences. It returns nil if none are given. ok is false after it adds an error to d.
func (o SimOptions) steps(d *diag.List) (a *npy.Array, ok bool) {
	if o.LengthsFile == "" {
		return nil, true
	}
	arrays, err := npy.ReadFile(o.LengthsFile)
	if a = arrays[""]; err == nil && a == nil {
		err = fmt.Errorf("it holds %d arrays with names", len(arrays))
	}
	if err != nil {
		unreadable(o.LengthsFile, err, "give a .npy file with an integer per sample", d)
	}
	return a, err == nil
}

// importFor chooses the engine and imports the model as far as the engine needs. There is no model after it adds an
// error to d. Engine fast is the default, but it has no tensors between layers to trace. Overflow needs engine
// reference. A model without quantisers runs on engine float.
func (o SimOptions) importFor(src *ModelSource, shapes map[string][]int, d *diag.List) (Engine, *frontend.Imported,
	error) {
	opt, ok := o.imports(d)
	if !ok {
		return o.Engine, nil, nil
	}
	opt.Data = shapes
	engine := cmp.Or(o.Engine, EngineFast)
	switch {
	case o.Overflow != "":
		engine = EngineReference
	case engine == EngineFast && o.Trace != "":
		engine = EngineEval
	case engine == EngineReference, engine == EngineFloat:
		im := frontend.ImportReference(src.File, src.ONNX, opt, d)
		if engine == EngineFloat && im.Model != nil && im.Model.Float == nil {
			d.Fail(diag.EngineUnfit, src.File, "engine float rounds, and here a rounded value would become another "+
				"code, order or state", "leave --engine out, or use --engine reference")
		}
		return engine, im, nil
	}
	if src.read != nil && src.read.fits(shapes) {
		d.Merge(src.read.told.Diags)
		return engine, src.read.Imported, nil
	}
	var told diag.List
	im, err := frontend.Import(src.File, src.ONNX, opt, &told)
	if im == nil {
		d.Merge(told.Diags)
		return engine, nil, err
	}
	if im.Model == nil && o.Engine == "" && o.Overflow == "" {
		var quiet diag.List
		as := frontend.ReferenceFromImport(im, src.File, src.ONNX, opt, &quiet)
		if as.Model != nil && as.Model.Float != nil {
			d.Merge(quiet.Diags)
			return EngineFloat, as, nil
		}
	}
	if d.Merge(told.Diags); im.Model == nil {
		namesCut(o.Options, im.Fates, opt, d)
	}
	return engine, im, err
}

// run runs an engine on all samples at once. Engines that run the design compare every stream with Eval.
func (r *SimResult) run(ctx context.Context, o SimOptions, im *frontend.Imported, m *dataflow.Model, s *samples.Runs,
	d *diag.List) ([]reals, error) {
	if o.Engine == EngineReference || o.Engine == EngineFloat {
		if o.Trace != "" {
			if err := WithSharedFolder(o.Trace, d, func(dir *outputdir.Shared) error {
				return traceReference(dir, im, s, o.Engine == EngineFloat)
			}); err != nil || d.Failed() {
				return nil, err
			}
		}
		c := courseOf(m)
		c.float = o.Engine == EngineFloat
		out, err := c.reference(ctx, s)
		return out, modelError(err, r.Source, d)
	}
	in, err := codes(ctx, m, s)
	if err != nil {
		return nil, modelError(err, r.Source, d)
	}
	var streams, out []tensors
	if o.Engine == EngineEval || o.Trace != "" {
		if streams, err = eval(ctx, m, in); err != nil {
			return nil, err
		}
		out = pick(streams, m.Graph.Out)
	}
	switch o.Engine {
	case EngineCycle, EngineCSim, EngineRTL, EngineNetlist:
		if out, err = r.runDesign(ctx, o, m, in, d); err != nil || d.Failed() {
			return nil, err
		}
	}
	if o.Trace != "" {
		apart := m.Turns.ExtractSamples(func(t *dataflow.SampleInterleaving) []int { return t.Streams }, streams,
			len(s.In))
		if err := WithSharedFolder(o.Trace, d, func(dir *outputdir.Shared) error {
			return traceStreams(dir, im, s, apart)
		}); err != nil || d.Failed() {
			return nil, err
		}
	}
	reals, err := results(ctx, m, s, out)
	return reals, modelError(err, r.Source, d)
}

// fold makes the design for an engine. ok is false after it adds an error to d.
func (r *SimResult) fold(ctx context.Context, o SimOptions, m *dataflow.Model, d *diag.List) (ok bool, err error) {
	wanted := o.goal(o.fixed(d))
	// the default stands in; without --board there is no budget to fit
	board, ok := FindBoard(cmp.Or(o.Board, "zcu104"), d)
	if !ok {
		return false, nil
	}
	synthesised := o.Engine.synthesised()
	if synthesised {
		o.Backend = BackendRTL
		if !o.Engine.ready(d) {
			return false, nil
		}
	}
	target := o.target(board, d)
	if o.Board == "" {
		target.IO = dataflow.FromStream
		if wanted.MaxCycles = MaxCycles; synthesised {
			wanted.MaxCycles = MaxCyclesRTL
		}
		if o.FPS > 0 {
			wanted.MaxCycles, wanted.FPS = folding.ClocksPerFrame(target.ClockMHz, o.FPS, m.Turns.PerFrame()), 0
		} else if o.Interval > 0 {
			wanted.MaxCycles, wanted.Interval = int(o.Interval), 0 // layers take whole clocks
		}
		r.MaxCycles = wanted.MaxCycles
	}
	for {
		if r.Design, err = folding.FindBestDesign(ctx, m, target, wanted, d); err != nil || r.Design == nil ||
			d.Failed() {
			return false, err
		}
		if o.Board != "" || len(m.Feedback) == 0 || o.FPS <= r.Design.FPS() || wanted.MaxCycles < 2 {
			break
		}
		wanted.MaxCycles /= 2 // here the rate is one frame per latency, and a frame passes through all layers
		r.MaxCycles = wanted.MaxCycles
	}
	if o.Engine == EngineNetlist && !small(r.Design, d) {
		return false, nil
	}
	return true, r.Design.SimulateRange(ctx)
}

// synthesised reports whether an engine runs SystemVerilog.
func (e Engine) synthesised() bool { return e == EngineRTL || e == EngineNetlist }

// runDesign folds the model and runs the folded design.
func (r *SimResult) runDesign(ctx context.Context, o SimOptions, m *dataflow.Model, in []tensors,
	d *diag.List) (out []tensors, err error) {
	if ok, err := r.fold(ctx, o, m, d); !ok || err != nil {
		return nil, err
	}
	design := r.Design.Design
	if o.Engine.synthesised() {
		o.ReportProgress("compiling", 0, 0)
		for part := range slices.Chunk(in, perBench(design.Model.Graph)) {
			streams, err := eval(ctx, design.Model, part)
			if err != nil {
				return nil, err
			}
			if err := verilated(ctx, o.Engine, design, part, streams); err != nil {
				return nil, err
			}
			out = append(out, pick(streams, design.Model.Graph.Out)...)
		}
		return out, nil
	}
	streams, err := eval(ctx, design.Model, in)
	if err != nil {
		return nil, err
	}
	if o.Engine == EngineCycle {
		if r.Trace, err = cycle(ctx, design, in, streams, o.VCD != "" || o.Timeline != ""); err != nil {
			return nil, err
		}
		return r.Trace.Outputs, o.draw(design, r.Trace)
	}
	o.ReportProgress("compiling", 0, 0)
	files, err := templates.Project(design, templates.TestVectors{Frames: streams}, templates.Options{})
	if err != nil {
		return nil, err
	}
	out, err = compile(ctx, design, files, streams)
	var missing *templates.NoCompiler
	if errors.As(err, &missing) {
		d.Fail(diag.CompilerMissing, "", missing.Error(), "install g++ or clang++, or use --engine cycle")
		return nil, nil
	}
	return out, err
}

// draw writes the VCD file and the timeline, if they are asked for.
func (o SimOptions) draw(d *dataflow.Design, t *rtlsim.Trace) error {
	for _, f := range []struct {
		path string
		draw func(io.Writer, *dataflow.Design, *rtlsim.Trace) error
	}{{o.VCD, rtlsim.WriteVCD}, {o.Timeline, rtlsim.WriteTimeline}} {
		if f.path == "" {
			continue
		}
		var b bytes.Buffer
		if err := f.draw(&b, d, t); err != nil {
			return err
		}
		if err := outputdir.WriteFile(f.path, b.Bytes()); err != nil {
			return err
		}
	}
	return nil
}

// modelError adds an error to d for a failure that the model or its data cause at run time: a division by zero, an
// undecidable rounding, or data that are not numbers. It returns all other errors.
func modelError(err error, src *ModelSource, d *diag.List) error {
	var internal *InternalError
	var mismatch *MismatchError
	var deadlock *rtlsim.Deadlock
	if err == nil || errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) ||
		errors.As(err, &internal) || errors.As(err, &mismatch) || errors.As(err, &deadlock) {
		return err
	}
	hint := "the model has no exact value for this sample"
	if off := new(frontend.NotOnGridError); errors.As(err, &off) {
		hint = "inputs are integers here: give their scale with --input-type TYPE:SCALE, or data that were rounded " +
			"to it"
	}
	if errors.Is(err, execution.ErrRoundingTooCostly) {
		hint = "use --engine float, which computes in float64: without --engine it is what runs such a model"
	}
	d.Fail(diag.DataInvalid, src.File, err.Error(), hint)
	return nil
}
