package simulate

import (
	"cmp"
	"context"
	"errors"
	"slices"

	"hlsgen/folding"
	"hlsgen/frontend"
	"hlsgen/internal/datafile"
	"hlsgen/internal/dataflow"
	"hlsgen/internal/diag"
	"hlsgen/internal/engines"
	"hlsgen/internal/options"
	"hlsgen/internal/samples"
	"hlsgen/templates"
)

// Limits for the clocks per frame of each layer in a simulation without a board. The limit for RTL is larger, because
// Verilator simulates many clocks of a narrow design as fast as few clocks of a wide one. A narrow design also compiles
// faster.
const (
	defaultMaxFrameClocks    = 100_000
	defaultMaxFrameClocksRTL = 1_000_000
)

// run runs the engine on all samples at once, and writes the tensors of --trace. It returns the model's outputs for all
// samples. Engines that run the design compare every stream with Eval of each layer; a difference is the error. The
// outputs are nil after run adds an error to d.
func (r *Result) run(ctx context.Context, o Options, im *frontend.ImportedModel, m *dataflow.Model,
	s *samples.RunInputs,
	d *diag.List) ([]engines.ModelTensors, error) {
	if o.Engine == engines.EngineReference || o.Engine == engines.EngineFloat {
		if o.Trace != "" {
			t, err := referenceTracing(im, s, o.Engine == engines.EngineFloat)
			if err == nil {
				err = t.write(o.Trace, d)
			}
			if err != nil || d.HasErrors() {
				return nil, err
			}
		}
		c := engines.NewSession(m)
		c.Float = o.Engine == engines.EngineFloat
		out, err := c.RunReference(ctx, s)
		return out, datafile.AddModelFaultDiag(err, r.Source.File, d)
	}
	in, err := engines.RunHostPrefix(ctx, m, s)
	if err != nil {
		return nil, datafile.AddModelFaultDiag(err, r.Source.File, d)
	}
	var streams, out []engines.FrameTensors
	if o.Engine == engines.EngineEval || o.traces() {
		if streams, err = engines.RunEval(ctx, m, in); err != nil {
			return nil, err
		}
		out = engines.SelectStreams(streams, m.Graph.Out)
	}
	switch o.Engine {
	case engines.EngineCycle, engines.EngineCSim, engines.EngineCircuit, engines.EngineRTL, engines.EngineNetlist:
		if out, err = r.runDesign(ctx, o, m, in, d); err != nil || d.HasErrors() {
			return nil, err
		}
	}
	for _, file := range []struct {
		path   string
		wanted func(stream int) bool
	}{
		{o.Trace, func(int) bool { return true }},
		{o.Codes, func(stream int) bool { return slices.Contains(m.Graph.Out, stream) }},
	} {
		if file.path == "" {
			continue
		}
		apart := m.Turns.ExtractSamples(func(t *dataflow.SampleInterleaving) []int { return t.Streams }, streams,
			len(s.In))
		t, err := streamsTracing(im, s, apart, file.wanted)
		if err == nil && file.path == o.Codes {
			t.addCodes(m, apart)
		}
		if err == nil {
			err = t.write(file.path, d)
		}
		if err != nil || d.HasErrors() {
			return nil, err
		}
	}
	reals, err := engines.RunHostSuffix(ctx, m, s, out)
	return reals, datafile.AddModelFaultDiag(err, r.Source.File, d)
}

// fold makes the design that the engine runs, and stores it in r.Design. Without a board it assumes the zcu104 without
// a budget, and limits only the clocks per frame. ok is false after it adds an error to d.
func (r *Result) fold(ctx context.Context, o Options, m *dataflow.Model, d *diag.List) (ok bool, err error) {
	wanted := o.ToSearchGoal(o.ReadFoldingFile(d))
	// the default stands in; without --board there is no budget to fit
	board, ok := options.FindBoardOrAddDiag(cmp.Or(o.Board, "zcu104"), d)
	if !ok {
		return false, nil
	}
	synthesised := o.Engine.RunsCircuitsOrSystemVerilog()
	if synthesised {
		o.Backend = options.BackendRTL
		if !o.Engine.CheckProgramsInstalled(d) {
			return false, nil
		}
	}
	target := o.MakeTarget(board, d)
	if o.Board == "" {
		target.IO = dataflow.HostIOStream
		if wanted.MaxCycles = defaultMaxFrameClocks; synthesised {
			wanted.MaxCycles = defaultMaxFrameClocksRTL
		}
		if o.FPS > 0 {
			wanted.MaxCycles, wanted.FPS = folding.MaxClocksPerFrameForRate(target.ClockMHz, o.FPS,
				m.Turns.SamplesPerFrame()), 0
		} else if o.Interval > 0 {
			wanted.MaxCycles, wanted.Interval = int(o.Interval), 0 // layers take whole clocks
		}
		r.MaxCycles = wanted.MaxCycles
	}
	for {
		if r.Design, err = folding.FindBestDesign(ctx, m, target, wanted, d); err != nil || r.Design == nil ||
			d.HasErrors() {
			return false, err
		}
		if o.Board != "" || len(m.Feedback) == 0 || o.FPS <= r.Design.SamplesPerSecond() || wanted.MaxCycles < 2 {
			break
		}
		wanted.MaxCycles /= 2 // here the rate is one frame per latency, and a frame passes through all layers
		r.MaxCycles = wanted.MaxCycles
	}
	if o.Engine == engines.EngineNetlist && !engines.CheckFitsNetlistEngine(r.Design, d) {
		return false, nil
	}
	return true, r.Design.SimulateAndStoreLatencyRange(ctx)
}

// runDesign folds the model and runs the design on the frames in, by the engine in o. It returns the output frames, or
// nil after adding an error to d.
func (r *Result) runDesign(ctx context.Context, o Options, m *dataflow.Model, in []engines.FrameTensors,
	d *diag.List) (out []engines.FrameTensors, err error) {
	if ok, err := r.fold(ctx, o, m, d); !ok || err != nil {
		return nil, err
	}
	design := r.Design.Design
	if o.Engine.RunsCircuitsOrSystemVerilog() && o.Engine != engines.EngineCircuit {
		o.ReportProgress("compiling", 0, 0)
		for part := range slices.Chunk(in, engines.FramesPerBench(design.Model.Graph)) {
			streams, err := engines.RunEval(ctx, design.Model, part)
			if err != nil {
				return nil, err
			}
			if err := engines.CheckDesignInVerilator(ctx, o.Engine, design, part, streams); err != nil {
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
	if o.Engine == engines.EngineCircuit {
		return engines.RunCircuits(ctx, design, in, streams)
	}
	if o.Engine == engines.EngineCycle {
		if r.Trace, err = engines.RunCycle(ctx, design, in, streams, o.VCD != "" || o.Timeline != ""); err != nil {
			return nil, err
		}
		return r.Trace.Outputs, o.draw(ctx, design, r.Trace, streams)
	}
	o.ReportProgress("compiling", 0, 0)
	files, err := templates.GenerateHLSProject(design, templates.TestVectors{Frames: streams}, templates.Options{})
	if err != nil {
		return nil, err
	}
	out, err = engines.RunCSim(ctx, design, files, streams)
	var missing *templates.NoCompilerError
	if errors.As(err, &missing) {
		d.AddError(diag.CppCompilerMissing, "", missing.Error(), "install g++ or clang++, or use --engine cycle")
		return nil, nil
	}
	return out, err
}
