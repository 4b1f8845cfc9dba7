// Package simulate runs a model on data from files, on any engine.
//
//	simulate.go    Options, Result and Run; chooses the engine, folds the model where the engine needs a design
//	simulation.go  passes samples through the engine, part by part
//	lanes.go       computes parts in parallel, and reads and writes them in order
//	outputs.go     writes outputs
//	compare.go     compares outputs with a file
//	text.go        decodes scores to text
//	trace.go       writes every tensor
//	overflow.go    runs samples with narrower accumulators
package simulate

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
	"hlsgen/internal/crash"
	"hlsgen/internal/ctc"
	"hlsgen/internal/datafile"
	"hlsgen/internal/dataflow"
	"hlsgen/internal/diag"
	"hlsgen/internal/engines"
	"hlsgen/internal/folder"
	"hlsgen/internal/npy"
	"hlsgen/internal/options"
	"hlsgen/internal/outputdir"
	"hlsgen/internal/samples"
	"hlsgen/internal/source"
	"hlsgen/rtlsim"
	"hlsgen/templates"
)

// Limits for the clocks per frame of a layer in a simulation without a board. The RTL limit is larger: in Verilator, a
// narrow design runs for more clocks in about the same time as a wide design for few, and it compiles faster.
const (
	MaxCycles    = 100_000
	MaxCyclesRTL = 1_000_000
)

// Options says which model to run, on which engine, with which samples. Without Data, the samples are the source's
// own.
type Options struct {
	options.Source
	options.Hardware
	options.Goal
	AccBits     options.AccBits // widths of accumulators that overflow, with Overflow
	Engine      engines.Engine  // "": chosen by the model; Result.Engine tells
	LengthsFile string          // .npy with the lengths of the samples' sequences; may be empty
	Compare     string          // .npy or .npz to compare with; may be empty
	Decode      ctc.Method      // how to decode scores to text; "" means as the model's metadata say
	// how accumulators of AccBits bits overflow, in the model as written; "": they do not
	Overflow     frontend.Overflow
	RandomOrders int // number of random orders of addition to try, with Saturate
	OutputFiles
}

// OutputFiles says what a simulation writes, and what it keeps in memory.
type OutputFiles struct {
	Output   string    // .npy or .npz, or StdioPath; may be empty
	Stdout   io.Writer // receives the output if Output is StdioPath
	MaxShown int       // number of elements of each output to keep; 0: all
	Trace    string    // folder for every tensor; may be empty
	VCD      string    // file for the waveforms of all streams, with engine cycle; may be empty
	Timeline string    // SVG file that shows when layers work, with engine cycle; may be empty
}

// A Result is the result of a simulation.
type Result struct {
	Source         *source.ModelSource
	Engine         engines.Engine // the engine that ran
	Samples        int
	Steps          []int // sequence lengths by sample; nil if all have the same length
	Out            []dataflow.RealPort
	Outputs        []*npy.Array      // by model output: all elements, or the first Options.MaxShown
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

// Run runs the model on data from files. It reports errors like build.Run.
func Run(ctx context.Context, o Options, d *diag.List) (res *Result, err error) {
	defer crash.Catch(&err)
	r := &Result{}
	o.ReportProgress("reading", 0, 0)
	src, made, err := source.OpenQuantised(ctx, o.Source, d)
	if r.Source = src; src == nil || err != nil {
		return nil, err
	}
	o.Source = made
	open := datafile.OpenOnce
	if len(o.States) > 0 { // samples are read twice
		open = datafile.OpenForRereading
	}
	data := open(o.Stdin, o.Data, r.Source.Inputs, d)
	if data == nil {
		return nil, ctx.Err()
	}
	defer data.Close()
	o.ReportProgress("importing", 0, 0)
	engine, im, err := o.importFor(r.Source, data.Shapes(), d)
	if im == nil || im.Model == nil || d.Failed() || err != nil {
		return nil, err
	}
	o.Engine, r.Engine = engine, engine
	model := im.Model
	steps, ok := o.steps(d)
	if !ok {
		return nil, nil
	}
	if ok, err := data.FeedStates(ctx, model, o.Engine == engines.Reference, d); !ok {
		return nil, datafile.AddModelFault(err, r.Source.File, d)
	}
	s := data.OpenSamples(model, steps, o.LengthsFile, d)
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
func (x *simulation) simulated(ctx context.Context) (*Result, error) {
	o, r := x.o, x.r
	if o.Compare != "" {
		file := datafile.OpenArrays(o.Compare, datafile.HintOutputs, x.d)
		if file == nil {
			return nil, nil
		}
		defer file.Close()
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
		r.Accuracy, r.StatedAccuracy = &a, datafile.StatedAccuracy(o.Model)
	}
	if x.compare != nil {
		r.Compare = &x.compare.total
	}
	r.Outputs = x.out.arrays()
	return r, nil
}

// labelled returns the labels of the samples: the given ones, or else the source's own, or nil.
func (r *Result) labelled(o Options, runs int, d *diag.List) *samples.Labels {
	if o.LabelsFile != "" {
		return datafile.ReadLabels(o.LabelsFile, runs, r.Out, d)
	}
	if o.Data != "" || r.Source.Labels == nil {
		return nil
	}
	l, err := samples.LabelsOf(r.Source.Labels, runs, r.Out)
	if err != nil {
		panic(err) // they are the example's
	} // they belong to the example
	return l
}

// steps reads the lengths of sequences. It returns nil if none are given. ok is false after it adds an error to d.
func (o Options) steps(d *diag.List) (a *npy.Array, ok bool) {
	if o.LengthsFile == "" {
		return nil, true
	}
	arrays, err := npy.ReadFile(o.LengthsFile)
	if a = arrays[""]; err == nil && a == nil {
		err = fmt.Errorf("it holds %d arrays with names", len(arrays))
	}
	if err != nil {
		datafile.AddUnreadable(o.LengthsFile, err, "give a .npy file with an integer per sample", d)
	}
	return a, err == nil
}

// importFor chooses the engine and imports the model as far as the engine needs. There is no model after it adds an
// error to d. Engine fast is the default, but it has no tensors between layers to trace. Overflow needs engine
// reference. A model without quantisers runs on engine float.
func (o Options) importFor(src *source.ModelSource, shapes map[string][]int, d *diag.List) (engines.Engine,
	*frontend.Imported,
	error) {
	opt, ok := o.ForImport(d)
	if !ok {
		return o.Engine, nil, nil
	}
	opt.Data = shapes
	engine := cmp.Or(o.Engine, engines.Fast)
	switch {
	case o.Overflow != "":
		engine = engines.Reference
	case engine == engines.Fast && o.Trace != "":
		engine = engines.Eval
	case engine == engines.Reference, engine == engines.Float:
		im := frontend.ImportReference(src.File, src.ONNX, opt, d)
		if engine == engines.Float && im.Model != nil && im.Model.Float == nil {
			d.Fail(diag.EngineUnfit, src.File, "engine float rounds, and here a rounded value would become another "+
				"code, order or state", "leave --engine out, or use --engine reference")
		}
		return engine, im, nil
	}
	if im, told := src.Imported(shapes); im != nil {
		d.Merge(told)
		return engine, im, nil
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
			return engines.Float, as, nil
		}
	}
	if d.Merge(told.Diags); im.Model == nil {
		source.AddCutHint(o.Source, im.Fates, opt, d)
	}
	return engine, im, err
}

// run runs an engine on all samples at once. Engines that run the design compare every stream with Eval.
func (r *Result) run(ctx context.Context, o Options, im *frontend.Imported, m *dataflow.Model, s *samples.Runs,
	d *diag.List) ([]engines.Reals, error) {
	if o.Engine == engines.Reference || o.Engine == engines.Float {
		if o.Trace != "" {
			if err := folder.Share(o.Trace, d, func(dir *outputdir.Shared) error {
				return traceReference(dir, im, s, o.Engine == engines.Float)
			}); err != nil || d.Failed() {
				return nil, err
			}
		}
		c := engines.NewSession(m)
		c.Float = o.Engine == engines.Float
		out, err := c.RunReference(ctx, s)
		return out, datafile.AddModelFault(err, r.Source.File, d)
	}
	in, err := engines.InputCodes(ctx, m, s)
	if err != nil {
		return nil, datafile.AddModelFault(err, r.Source.File, d)
	}
	var streams, out []engines.Tensors
	if o.Engine == engines.Eval || o.Trace != "" {
		if streams, err = engines.RunEval(ctx, m, in); err != nil {
			return nil, err
		}
		out = engines.SelectStreams(streams, m.Graph.Out)
	}
	switch o.Engine {
	case engines.Cycle, engines.CSim, engines.RTL, engines.Netlist:
		if out, err = r.runDesign(ctx, o, m, in, d); err != nil || d.Failed() {
			return nil, err
		}
	}
	if o.Trace != "" {
		apart := m.Turns.ExtractSamples(func(t *dataflow.SampleInterleaving) []int { return t.Streams }, streams,
			len(s.In))
		if err := folder.Share(o.Trace, d, func(dir *outputdir.Shared) error {
			return traceStreams(dir, im, s, apart)
		}); err != nil || d.Failed() {
			return nil, err
		}
	}
	reals, err := engines.ModelOutputs(ctx, m, s, out)
	return reals, datafile.AddModelFault(err, r.Source.File, d)
}

// fold makes the design for an engine. ok is false after it adds an error to d.
func (r *Result) fold(ctx context.Context, o Options, m *dataflow.Model, d *diag.List) (ok bool, err error) {
	wanted := o.ForSearch(o.ReadFolding(d))
	// the default stands in; without --board there is no budget to fit
	board, ok := options.FindBoard(cmp.Or(o.Board, "zcu104"), d)
	if !ok {
		return false, nil
	}
	synthesised := o.Engine.Synthesised()
	if synthesised {
		o.Backend = options.BackendRTL
		if !o.Engine.Ready(d) {
			return false, nil
		}
	}
	target := o.Target(board, d)
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
	if o.Engine == engines.Netlist && !engines.FitsNetlist(r.Design, d) {
		return false, nil
	}
	return true, r.Design.SimulateRange(ctx)
}

// runDesign folds the model and runs the folded design.
func (r *Result) runDesign(ctx context.Context, o Options, m *dataflow.Model, in []engines.Tensors,
	d *diag.List) (out []engines.Tensors, err error) {
	if ok, err := r.fold(ctx, o, m, d); !ok || err != nil {
		return nil, err
	}
	design := r.Design.Design
	if o.Engine.Synthesised() {
		o.ReportProgress("compiling", 0, 0)
		for part := range slices.Chunk(in, engines.FramesPerBench(design.Model.Graph)) {
			streams, err := engines.RunEval(ctx, design.Model, part)
			if err != nil {
				return nil, err
			}
			if err := engines.RunVerilator(ctx, o.Engine, design, part, streams); err != nil {
				return nil, err
			}
			out = append(out, engines.SelectStreams(streams, design.Model.Graph.Out)...)
		}
		return out, nil
	}
	streams, err := engines.RunEval(ctx, design.Model, in)
	if err != nil {
		return nil, err
	}
	if o.Engine == engines.Cycle {
		if r.Trace, err = engines.RunCycle(ctx, design, in, streams, o.VCD != "" || o.Timeline != ""); err != nil {
			return nil, err
		}
		return r.Trace.Outputs, o.draw(design, r.Trace)
	}
	o.ReportProgress("compiling", 0, 0)
	files, err := templates.Project(design, templates.TestVectors{Frames: streams}, templates.Options{})
	if err != nil {
		return nil, err
	}
	out, err = engines.RunCSim(ctx, design, files, streams)
	var missing *templates.NoCompiler
	if errors.As(err, &missing) {
		d.Fail(diag.CompilerMissing, "", missing.Error(), "install g++ or clang++, or use --engine cycle")
		return nil, nil
	}
	return out, err
}

// draw writes the VCD file and the timeline, if they are asked for.
func (o Options) draw(d *dataflow.Design, t *rtlsim.Trace) error {
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
