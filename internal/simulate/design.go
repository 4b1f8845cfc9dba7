package simulate

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"io"
	"slices"

	"hlsgen/folding"
	"hlsgen/frontend"
	"hlsgen/internal/datafile"
	"hlsgen/internal/dataflow"
	"hlsgen/internal/diag"
	"hlsgen/internal/engines"
	"hlsgen/internal/folder"
	"hlsgen/internal/options"
	"hlsgen/internal/outputdir"
	"hlsgen/internal/samples"
	"hlsgen/rtlsim"
	"hlsgen/templates"
)

// Limits for the clocks per frame of a layer in a simulation without a board. The RTL limit is larger: in Verilator, a
// narrow design runs for more clocks in about the same time as a wide design for few, and it compiles faster.
const (
	MaxCycles    = 100_000
	MaxCyclesRTL = 1_000_000
)

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
	case engines.Cycle, engines.CSim, engines.Circuit, engines.RTL, engines.Netlist:
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
	if o.Engine.Synthesised() && o.Engine != engines.Circuit {
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
	if o.Engine == engines.Circuit {
		return engines.RunCircuits(ctx, design, in, streams)
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
