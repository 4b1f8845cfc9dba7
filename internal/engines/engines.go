// Package engines runs models and designs: as written, layer by layer, compiled, clock by clock, in C++ and in
// SystemVerilog.
//
//	engines.go    the engines, except those in the files below
//	fast.go       compiled layers
//	predictor.go  compiled layers on parts of the samples, without conversions
//	rtl.go        the SystemVerilog in Verilator, and its netlist
package engines

import (
	"context"
	"fmt"
	"runtime"

	"golang.org/x/sync/errgroup"

	"hlsgen/internal/crash"
	"hlsgen/internal/dataflow"
	"hlsgen/internal/samples"
	"hlsgen/rtlsim"
	"hlsgen/templates"
)

// An EngineName is a way to execute a model.
type EngineName string

// The engines. All engines give the same outputs, and EngineReference defines them. The exception is EngineFloat: it
// rounds, and it runs only models without quantisers.
const (
	EngineReference EngineName = "reference" // the ONNX model as written, in exact real arithmetic
	EngineFloat     EngineName = "float"     // the model as written in float64, if it has no quantisers
	EngineFast      EngineName = "fast"      // the integer layers, compiled for this machine
	EngineEval      EngineName = "eval"      // every layer's plain integer form
	EngineCycle     EngineName = "cycle"     // the folded design, clock by clock
	EngineCSim      EngineName = "csim"      // the generated C++, compiled
	EngineCircuit   EngineName = "circuit"   // the design in SystemVerilog, word by word
	EngineRTL       EngineName = "rtl"       // the generated SystemVerilog, in Verilator
	EngineNetlist   EngineName = "netlist"   // the cells that Yosys makes of the SystemVerilog, in Verilator
)

// DocumentedEngines lists the engines with a line of documentation for each, for help texts.
var DocumentedEngines = []struct {
	Name EngineName
	Doc  string
}{
	{EngineReference, "the ONNX model as written, in exact real arithmetic"},
	{EngineFloat, "the same in float64, for a model without quantisers (its default)"},
	{EngineFast, "the integer layers, compiled for this machine (default)"},
	{EngineEval, "every layer's plain integer form"},
	{EngineCycle, "the folded design, clock by clock"},
	{EngineCSim, "the generated C++, compiled with g++ or clang++; every layer's stream is compared"},
	{EngineCircuit, "the circuits that the SystemVerilog spells, word by word, without Verilator; " +
		"every stream is compared"},
	{EngineRTL, "the generated SystemVerilog, in Verilator; every stream is compared, and every clock"},
	{EngineNetlist, "the cells that Yosys makes of the SystemVerilog, compared in the same way; of small designs"},
}

// each does what MapSamplesInParallel does, for samples from sample 0 on.
func each[T any](ctx context.Context, n int, f func(i int) (T, error)) ([]T, error) {
	return MapSamplesInParallel(ctx, 0, n, f)
}

// MapSamplesInParallel returns f(0) to f(n-1), computed on all processors. After a failure it starts no more calls, and
// returns the failed call's error, of the smallest index if several failed. A panic in f becomes an error. If ctx ends,
// it returns ctx.Err(). first is the number of sample f(0), for error messages.
func MapSamplesInParallel[T any](ctx context.Context, first, n int, f func(i int) (T, error)) ([]T, error) {
	out, errs := make([]T, n), make([]error, n)
	group, failed := errgroup.WithContext(ctx)
	group.SetLimit(runtime.GOMAXPROCS(0))
	for i := 0; i < n && failed.Err() == nil; i++ {
		group.Go(func() error {
			defer crash.RecoverPanicIntoError(&errs[i]) // CatchPanic in Run does not see this goroutine
			out[i], errs[i] = f(i)
			return errs[i]
		})
	}
	group.Wait() // ignores the error that came first in time; the smallest index is the same on every machine
	if ctx.Err() != nil {
		return nil, ctx.Err()
	}
	for i, err := range errs {
		if err != nil {
			return nil, fmt.Errorf("sample %d: %w", first+i, err)
		}
	}
	return out, nil
}

// MapSamplesInOrder does what MapSamplesInParallel does, but calls f for one sample after the other, up to the first
// error. It serves samples that depend on earlier ones. It does not catch panics.
func MapSamplesInOrder[T any](ctx context.Context, first, n int, f func(i int) (T, error)) (out []T, err error) {
	for i := range n {
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		y, err := f(i)
		if err != nil {
			return nil, fmt.Errorf("sample %d: %w", first+i, err)
		}
		out = append(out, y)
	}
	return out, nil
}

type (
	FrameTensors = []dataflow.Tensor     // one per stream, input or output
	ModelTensors = []dataflow.RealTensor // one per input or output of the model
)

// A Session runs a model on one part of the samples after the other. It carries the state of stateful models from part
// to part.
type Session struct {
	model   *dataflow.Model
	Float   bool                   // run the model as written in float64
	written dataflow.ReferenceFunc // the stateful model as written; nil if the model has no state
	layers  *dataflow.GraphRun     // the stateful integer layers; nil if they have no state
}

// NewSession returns a session with the model in its initial state.
func NewSession(m *dataflow.Model) *Session {
	c := &Session{model: m}
	if m.Stream != nil {
		c.written = m.Stream()
	}
	if m.Graph != nil && m.Graph.KeepsStateBetweenFrames() {
		c.layers = m.Graph.BeginRun()
	}
	return c
}

// RunReference runs the model as written on the samples s, from the initial state. It returns the outputs by sample.
func RunReference(ctx context.Context, m *dataflow.Model, s *samples.RunInputs) ([]ModelTensors, error) {
	return NewSession(m).RunReference(ctx, s)
}

// RunReference runs the model as written on the next samples, in float64 if c.Float is set and the model has no state.
// It returns their outputs by sample.
func (c *Session) RunReference(ctx context.Context, s *samples.RunInputs) ([]ModelTensors, error) {
	if c.written != nil {
		return MapSamplesInOrder(ctx, s.First, len(s.In), func(i int) (ModelTensors,
			error) {
			return c.written(s.In[i])
		})
	}
	return MapSamplesInParallel(ctx, s.First, len(s.In), func(i int) (ModelTensors, error) {
		at, err := sized(c.model, s, i)
		if err != nil {
			return nil, err
		}
		if c.Float {
			return at.Float(s.In[i])
		}
		return at.Reference(s.In[i])
	})
}

// sized returns the model for the sequence length of sample i. This is m itself if all samples have one length.
func sized(m *dataflow.Model, s *samples.RunInputs, i int) (*dataflow.Model, error) {
	if s.Lengths == nil {
		return m, nil
	}
	return m.Lengths.Of(s.Lengths[i])
}

// RunHostPrefix computes the part of the model that the host runs before the accelerator. It returns the accelerator's
// input frames.
func RunHostPrefix(ctx context.Context, m *dataflow.Model, s *samples.RunInputs) ([]FrameTensors, error) {
	of, err := MapSamplesInParallel(ctx, s.First, len(s.In), func(i int) (FrameTensors, error) {
		at, err := sized(m, s, i)
		if err != nil {
			return nil, err
		}
		return at.Prefix.ToCodes(s.In[i])
	})
	if err != nil {
		return nil, err
	}
	return m.Turns.MakeFrames(of), nil
}

// RunHostSuffix computes the part of the model that the host runs after the accelerator, from the accelerator's output
// frames. It returns the outputs by sample.
func RunHostSuffix(ctx context.Context, m *dataflow.Model, s *samples.RunInputs,
	frames []FrameTensors) ([]ModelTensors, error) {
	codes := m.Turns.ExtractSamples(func(t *dataflow.SampleInterleaving) []int { return t.Out }, frames, len(s.In))
	return MapSamplesInParallel(ctx, s.First, len(s.In), func(i int) (ModelTensors, error) {
		at, err := sized(m, s, i)
		if err != nil {
			return nil, err
		}
		return at.Suffix.ToReal(s.In[i], codes[i])
	})
}

// RunEval runs the plain integer form (Eval) of every layer on the frames in, from the initial state. It returns the
// tensors of all streams, by frame.
func RunEval(ctx context.Context, m *dataflow.Model, in []FrameTensors) ([]FrameTensors, error) {
	return NewSession(m).eval(ctx, 0, in, func(streams FrameTensors) FrameTensors { return streams })
}

// eval runs the plain integer form (Eval) of every layer on frames. It returns the result of take for each frame's
// streams. first is the number of the first frame. Frames run one after the other if the layers have state, and else in
// parallel.
func (c *Session) eval(ctx context.Context, first int, in []FrameTensors,
	take func(FrameTensors) FrameTensors) ([]FrameTensors, error) {
	m := c.model
	graphs, err := dataflow.MakeForFrameLengths(m.Lengths, in, func(steps int) (*dataflow.Graph, error) {
		if steps == 0 {
			return m.Graph, nil
		}
		return m.Graph.AtSequenceLength(m.Lengths, steps)
	})
	if err != nil {
		return nil, err
	}
	taken := func(streams FrameTensors, err error) (FrameTensors, error) {
		if err != nil {
			return nil, err
		}
		return take(streams), nil
	}
	if c.layers != nil {
		return MapSamplesInOrder(ctx, first, len(in), func(i int) (FrameTensors, error) {
			return taken(c.layers.EvalNextByStreamOnGraph(ctx, graphs[i], in[i]))
		})
	}
	return MapSamplesInParallel(ctx, first, len(in), func(i int) (FrameTensors,
		error) {
		return taken(graphs[i].EvalFirstFrameByStream(ctx, in[i]))
	})
}

// RunHostAndEvalKeepingStreams runs the host's prefix, the plain integer form (Eval) of every layer and the host's
// suffix on the next samples. It returns the outputs by sample.
func (c *Session) RunHostAndEval(ctx context.Context, s *samples.RunInputs) ([]ModelTensors, error) {
	in, err := RunHostPrefix(ctx, c.model, s)
	if err != nil {
		return nil, err
	}
	ends := c.model.Graph.Out
	out, err := c.eval(ctx, s.First/c.model.Turns.SamplesPerFrame(), in, func(streams FrameTensors) FrameTensors {
		return SelectStreams([]FrameTensors{streams}, ends)[0]
	})
	if err != nil {
		return nil, err
	}
	return RunHostSuffix(ctx, c.model, s, out)
}

// RunHostAndEvalKeepingStreams runs the host's prefix, the plain integer form (Eval) of every layer and the host's
// suffix, from the initial state. It returns the tensors of all streams by frame, and the outputs by sample.
func RunHostAndEvalKeepingStreams(ctx context.Context, m *dataflow.Model, s *samples.RunInputs) (streams []FrameTensors,
	out []ModelTensors, err error) {
	in, err := RunHostPrefix(ctx, m, s)
	if err != nil {
		return nil, nil, err
	}
	if streams, err = RunEval(ctx, m, in); err != nil {
		return nil, nil, err
	}
	out, err = RunHostSuffix(ctx, m, s, SelectStreams(streams, m.Graph.Out))
	return streams, out, err
}

// SelectStreams returns, for each frame, only the tensors of the given streams, in the order of the list.
func SelectStreams(frames []FrameTensors, streams []int) []FrameTensors {
	out := make([]FrameTensors, len(frames))
	for i, f := range frames {
		for _, s := range streams {
			out[i] = append(out[i], f[s])
		}
	}
	return out
}

// A MismatchError says that two engines disagree. The cause is a defect of hlsgen, or a wrong file to compare with.
type MismatchError struct{ Msg string }

// Error returns the message, which names the engines and the first difference.
func (m *MismatchError) Error() string { return m.Msg }

// RunCycle runs the design in the clock-by-clock simulator. in holds the input frames, and streams the tensors of all
// streams in engine eval. It returns a *MismatchError if a stream differs from these. record keeps the clocks in which
// words move.
func RunCycle(ctx context.Context, d *dataflow.Design, in, streams []FrameTensors, record bool) (*rtlsim.RunTrace,
	error) {
	return rtlsim.RunFrames(ctx, d, in, rtlsim.Options{OnTensor: same(EngineCycle, d, streams), Record: record})
}

// RunCircuits runs the circuits from which the design's SystemVerilog is spelled, word by word, and returns the output
// frames. It returns a *MismatchError if a stream differs from the expected tensors in streams.
func RunCircuits(ctx context.Context, d *dataflow.Design, in, streams []FrameTensors) ([]FrameTensors, error) {
	return rtlsim.ComputeOutputsByCircuits(ctx, d, in, same(EngineCircuit, d, streams))
}

// RunKernelsWithoutClocks computes the data on a design's streams, from the initial state, and returns the output
// frames. It returns a *MismatchError if a stream differs from engine eval. It does not simulate clocks, which are the
// same for all frames. first is the number of the first frame.
func RunKernelsWithoutClocks(ctx context.Context, d *dataflow.Design, first int, in []FrameTensors) ([]FrameTensors,
	error) {
	streams, err := RunEval(ctx, d.Model, in)
	if err != nil {
		return nil, err
	}
	differs := NewStreamMismatchMaker(EngineCycle, d.Model.Graph)
	return rtlsim.ComputeOutputs(ctx, d, in, func(frame, s int, got dataflow.Tensor) error {
		if err := rtlsim.CompareOutputs([]FrameTensors{{got}}, []FrameTensors{{streams[frame][s]}}); err != nil {
			return differs(first+frame, s, err)
		}
		return nil
	})
}

// same returns a function that compares a tensor on stream s of an engine's frame with the expected one in streams.
func same(engine EngineName, d *dataflow.Design, streams []FrameTensors) func(frame, s int, got dataflow.Tensor) error {
	differs := NewStreamMismatchMaker(engine, d.Model.Graph)
	return func(frame, s int, got dataflow.Tensor) error {
		err := rtlsim.CompareOutputs([]FrameTensors{{got}}, []FrameTensors{{streams[frame][s]}})
		if err != nil {
			return differs(frame, s, err)
		}
		return nil
	}
}

// NewStreamMismatchMaker returns a function that makes an error of a difference on stream s of an engine's frame. why
// describes the difference.
func NewStreamMismatchMaker(engine EngineName, g *dataflow.Graph) func(frame, s int, why error) error {
	return func(frame, s int, why error) error {
		return &MismatchError{fmt.Sprintf("engine %s against eval, frame %d, stream %s: %v", engine, frame,
			StreamNameInMessages(g, s), why)}
	}
}

// StreamNameInMessages returns the name of stream s for messages: its number, the layer that writes it, and its tensor.
func StreamNameInMessages(g *dataflow.Graph, s int) string {
	from := "input"
	if i, _ := g.WriterOfStream(s); i >= 0 {
		from = g.Nodes[i].Name
	}
	return fmt.Sprintf("s%d from %s (%q)", s, from, g.Streams[s].Name)
}

// RunCSim compiles the generated C++ in a temporary folder, runs it, and returns the network's output as frames. Its
// test bench compares every layer's stream with the expected tensors; RunCSim compares the output words too. A
// difference is a *MismatchError, and so is any other failure of the test bench.
func RunCSim(ctx context.Context, d *dataflow.Design, files templates.ProjectFiles,
	streams []FrameTensors) ([]FrameTensors, error) {
	run, err := templates.RunCSim(ctx, files, templates.CSimOptions{})
	if err != nil {
		return nil, err
	}
	for _, v := range run.Verdicts {
		if !v.OK {
			return nil, &MismatchError{fmt.Sprintf("engine csim against eval, %s: %s", v.Name, v.Message)}
		}
	}
	if !run.Passed {
		return nil, &MismatchError{"engine csim failed:\n" + run.Log}
	}
	opt := templates.Options{}
	if l := d.Model.Lengths; l != nil {
		for _, in := range SelectStreams(streams, d.Model.Graph.In) {
			n, err := l.TimeStepsInFrame(in)
			if err != nil {
				return nil, err
			}
			opt.Steps = append(opt.Steps, n)
		}
	}
	out, err := run.OutputTensors(d, opt)
	if err != nil {
		return nil, err
	}
	if err := rtlsim.CompareOutputs(out, SelectStreams(streams, d.Model.Graph.Out)); err != nil {
		return nil, &MismatchError{"engine csim against eval, output: " + err.Error()}
	}
	return out, nil
}

// RunsCircuitsOrSystemVerilog reports whether the engine runs the design's circuits, its SystemVerilog or its netlist.
func (e EngineName) RunsCircuitsOrSystemVerilog() bool {
	return e == EngineCircuit || e == EngineRTL || e == EngineNetlist
}

// StreamElementsPerFrame returns the number of elements that all streams together carry in a frame.
func StreamElementsPerFrame(g *dataflow.Graph) (n int) {
	for _, s := range g.Streams {
		n += s.Type.Shape.ElementCount()
	}
	return n
}
