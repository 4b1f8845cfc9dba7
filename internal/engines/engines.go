// Package engines runs models and designs: as written, layer by layer, compiled, clock by clock, in C++ and in
// SystemVerilog.
//
//	engines.go    the engines; the model as written, Eval of every layer, the design with its clocks, the C++, circuits
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

// An Engine is a way to execute a model.
type Engine string

// The engines. All engines give the same outputs, and Reference defines them. The exception is Float: it rounds, and it
// runs only models without quantisers.
const (
	Reference Engine = "reference" // the ONNX model as written, in exact real arithmetic
	Float     Engine = "float"     // the model as written in float64, if it has no quantisers
	Fast      Engine = "fast"      // the integer layers, compiled for this machine
	Eval      Engine = "eval"      // every layer's plain integer form
	Cycle     Engine = "cycle"     // the folded design, clock by clock
	CSim      Engine = "csim"      // the generated C++, compiled
	Circuit   Engine = "circuit"   // the design in SystemVerilog, word by word
	RTL       Engine = "rtl"       // the generated SystemVerilog, in Verilator
	Netlist   Engine = "netlist"   // the cells that Yosys makes of the SystemVerilog, in Verilator
)

// All lists the engines with a line of documentation for each.
var All = []struct {
	Name Engine
	Doc  string
}{
	{Reference, "the ONNX model as written, in exact real arithmetic"},
	{Float, "the same in float64, for a model without quantisers (its default)"},
	{Fast, "the integer layers, compiled for this machine (default)"},
	{Eval, "every layer's plain integer form"},
	{Cycle, "the folded design, clock by clock"},
	{CSim, "the generated C++, compiled with g++ or clang++; every layer's stream is compared"},
	{Circuit, "the circuits that the SystemVerilog spells, word by word, without Verilator; every stream is compared"},
	{RTL, "the generated SystemVerilog, in Verilator; every stream is compared, and every clock"},
	{Netlist, "the cells that Yosys makes of the SystemVerilog, compared in the same way; of small designs"},
}

// each works like EachSample, for samples from the first one on.
func each[T any](ctx context.Context, n int, f func(i int) (T, error)) ([]T, error) {
	return EachSample(ctx, 0, n, f)
}

// EachSample returns f(0) to f(n-1), computed on all processors. If calls fail, it returns the error of the smallest
// index. first is the number of the first sample, for error messages.
func EachSample[T any](ctx context.Context, first, n int, f func(i int) (T, error)) ([]T, error) {
	out, errs := make([]T, n), make([]error, n)
	group, failed := errgroup.WithContext(ctx)
	group.SetLimit(runtime.GOMAXPROCS(0))
	for i := 0; i < n && failed.Err() == nil; i++ {
		group.Go(func() error {
			defer crash.Catch(&errs[i]) // Catch in Run does not see this goroutine
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

// EachSampleInOrder works like EachSample, but calls f one sample after the other, because samples depend on earlier
// ones.
func EachSampleInOrder[T any](ctx context.Context, first, n int, f func(i int) (T, error)) (out []T, err error) {
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
	Tensors = []dataflow.Tensor     // one per stream, input or output
	Reals   = []dataflow.RealTensor // one per input or output of the model
)

// A Session runs a model on one part of the samples after the other. It carries the state of stateful models between
// parts.
type Session struct {
	model   *dataflow.Model
	Float   bool               // run the model as written in float64
	written dataflow.Reference // the stateful model as written; nil if the model has no state
	layers  *dataflow.GraphRun // the stateful integer layers; nil if they have no state
}

// NewSession returns a session in the initial state.
func NewSession(m *dataflow.Model) *Session {
	c := &Session{model: m}
	if m.Stream != nil {
		c.written = m.Stream()
	}
	if m.Graph != nil && m.Graph.KeepsState() {
		c.layers = m.Graph.Begin()
	}
	return c
}

// RunReference runs the model as written on every sample, from the initial state.
func RunReference(ctx context.Context, m *dataflow.Model, s *samples.Runs) ([]Reals, error) {
	return NewSession(m).RunReference(ctx, s)
}

// RunReference runs the model as written on the next samples.
func (c *Session) RunReference(ctx context.Context, s *samples.Runs) ([]Reals, error) {
	if c.written != nil {
		return EachSampleInOrder(ctx, s.First, len(s.In), func(i int) (Reals, error) { return c.written(s.In[i]) })
	}
	return EachSample(ctx, s.First, len(s.In), func(i int) (Reals, error) {
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

// sized returns the model for the sequence length of sample i.
func sized(m *dataflow.Model, s *samples.Runs, i int) (*dataflow.Model, error) {
	if s.Lengths == nil {
		return m, nil
	}
	return m.Lengths.Of(s.Lengths[i])
}

// InputCodes runs the host's prefix. It returns the accelerator's input frames.
func InputCodes(ctx context.Context, m *dataflow.Model, s *samples.Runs) ([]Tensors, error) {
	of, err := EachSample(ctx, s.First, len(s.In), func(i int) (Tensors, error) {
		at, err := sized(m, s, i)
		if err != nil {
			return nil, err
		}
		return at.Prefix.ToCodes(s.In[i])
	})
	if err != nil {
		return nil, err
	}
	return m.Turns.Frames(of), nil
}

// ModelOutputs runs the host's suffix on the accelerator's output frames. It returns the outputs by sample.
func ModelOutputs(ctx context.Context, m *dataflow.Model, s *samples.Runs, frames []Tensors) ([]Reals, error) {
	codes := m.Turns.ExtractSamples(func(t *dataflow.SampleInterleaving) []int { return t.Out }, frames, len(s.In))
	return EachSample(ctx, s.First, len(s.In), func(i int) (Reals, error) {
		at, err := sized(m, s, i)
		if err != nil {
			return nil, err
		}
		return at.Suffix.ToReal(s.In[i], codes[i])
	})
}

// RunEval runs Eval of every layer, from the initial state. It returns the tensors of all streams, by frame.
func RunEval(ctx context.Context, m *dataflow.Model, in []Tensors) ([]Tensors, error) {
	return NewSession(m).eval(ctx, 0, in, func(streams Tensors) Tensors { return streams })
}

// eval runs Eval of every layer on frames and returns take of each frame's streams. first is the number of the first
// frame. Frames run one after the other if the layers have state, and in parallel otherwise.
func (c *Session) eval(ctx context.Context, first int, in []Tensors, take func(Tensors) Tensors) ([]Tensors, error) {
	m := c.model
	graphs, err := dataflow.MakePerLength(m.Lengths, in, func(steps int) (*dataflow.Graph, error) {
		if steps == 0 {
			return m.Graph, nil
		}
		return m.Graph.At(m.Lengths, steps)
	})
	if err != nil {
		return nil, err
	}
	taken := func(streams Tensors, err error) (Tensors, error) {
		if err != nil {
			return nil, err
		}
		return take(streams), nil
	}
	if c.layers != nil {
		return EachSampleInOrder(ctx, first, len(in), func(i int) (Tensors, error) {
			return taken(c.layers.EvalAs(ctx, graphs[i], in[i]))
		})
	}
	return EachSample(ctx, first, len(in), func(i int) (Tensors, error) { return taken(graphs[i].Eval(ctx, in[i])) })
}

// RunIntegers runs the host's prefix, Eval of every layer and the host's suffix. It returns the outputs by sample.
func (c *Session) RunIntegers(ctx context.Context, s *samples.Runs) ([]Reals, error) {
	in, err := InputCodes(ctx, c.model, s)
	if err != nil {
		return nil, err
	}
	ends := c.model.Graph.Out
	out, err := c.eval(ctx, s.First/c.model.Turns.PerFrame(), in, func(streams Tensors) Tensors {
		return SelectStreams([]Tensors{streams}, ends)[0]
	})
	if err != nil {
		return nil, err
	}
	return ModelOutputs(ctx, c.model, s, out)
}

// RunIntegers runs the host's prefix, Eval of every layer and the host's suffix. It returns the tensors on all streams
// and the outputs.
func RunIntegers(ctx context.Context, m *dataflow.Model, s *samples.Runs) (streams []Tensors, out []Reals, err error) {
	in, err := InputCodes(ctx, m, s)
	if err != nil {
		return nil, nil, err
	}
	if streams, err = RunEval(ctx, m, in); err != nil {
		return nil, nil, err
	}
	out, err = ModelOutputs(ctx, m, s, SelectStreams(streams, m.Graph.Out))
	return streams, out, err
}

// SelectStreams returns, of each frame, the tensors of the given streams.
func SelectStreams(frames []Tensors, streams []int) []Tensors {
	out := make([]Tensors, len(frames))
	for i, f := range frames {
		for _, s := range streams {
			out[i] = append(out[i], f[s])
		}
	}
	return out
}

// A MismatchError says that two engines disagree. The cause is a defect of hlsgen, or a wrong file to compare with.
type MismatchError struct{ Msg string }

func (m *MismatchError) Error() string { return m.Msg }

// RunCycle runs the design in the clock-by-clock simulator and compares every stream with Eval.
func RunCycle(ctx context.Context, d *dataflow.Design, in, streams []Tensors, record bool) (*rtlsim.Trace, error) {
	return rtlsim.Run(ctx, d, in, rtlsim.Options{OnTensor: same(Cycle, d, streams), Record: record})
}

// RunCircuits runs the circuits that the design's SystemVerilog spells, word by word, and compares every stream with
// Eval. It returns the outputs.
func RunCircuits(ctx context.Context, d *dataflow.Design, in, streams []Tensors) ([]Tensors, error) {
	return rtlsim.ComputeByCircuits(ctx, d, in, same(Circuit, d, streams))
}

// RunKernels computes the data on a design's streams, compares them with Eval and returns the outputs. It does not
// simulate clocks: these are the same for all frames. first is the number of the first frame.
func RunKernels(ctx context.Context, d *dataflow.Design, first int, in []Tensors) ([]Tensors, error) {
	streams, err := RunEval(ctx, d.Model, in)
	if err != nil {
		return nil, err
	}
	differs := StreamMismatch(Cycle, d.Model.Graph)
	return rtlsim.ComputeOutputs(ctx, d, in, func(frame, s int, got dataflow.Tensor) error {
		if err := rtlsim.Compare([]Tensors{{got}}, []Tensors{{streams[frame][s]}}); err != nil {
			return differs(first+frame, s, err)
		}
		return nil
	})
}

// same returns a function that compares a tensor on a stream of an engine with Eval.
func same(engine Engine, d *dataflow.Design, streams []Tensors) func(frame, s int, got dataflow.Tensor) error {
	differs := StreamMismatch(engine, d.Model.Graph)
	return func(frame, s int, got dataflow.Tensor) error {
		err := rtlsim.Compare([]Tensors{{got}}, []Tensors{{streams[frame][s]}})
		if err != nil {
			return differs(frame, s, err)
		}
		return nil
	}
}

// StreamMismatch returns a function that makes a MismatchError of a difference on a stream of an engine.
func StreamMismatch(engine Engine, g *dataflow.Graph) func(frame, s int, why error) error {
	return func(frame, s int, why error) error {
		return &MismatchError{fmt.Sprintf("engine %s against eval, frame %d, stream %s: %v", engine, frame,
			StreamName(g, s), why)}
	}
}

// StreamName returns the name of a stream in messages: its tensor and its layer.
func StreamName(g *dataflow.Graph, s int) string {
	from := "input"
	if i, _ := g.Writer(s); i >= 0 {
		from = g.Nodes[i].Name
	}
	return fmt.Sprintf("s%d from %s (%q)", s, from, g.Streams[s].Name)
}

// RunCSim compiles the generated C++ in a temporary folder and runs it. Its test bench compares every layer's stream
// with Eval. It reads the network's output words back and compares them a second time.
func RunCSim(ctx context.Context, d *dataflow.Design, files templates.Files, streams []Tensors) ([]Tensors, error) {
	run, err := templates.RunCSim(ctx, files, templates.CSim{})
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
			n, err := l.Steps(in)
			if err != nil {
				return nil, err
			}
			opt.Steps = append(opt.Steps, n)
		}
	}
	out, err := run.Tensors(d, opt)
	if err != nil {
		return nil, err
	}
	if err := rtlsim.Compare(out, SelectStreams(streams, d.Model.Graph.Out)); err != nil {
		return nil, &MismatchError{"engine csim against eval, output: " + err.Error()}
	}
	return out, nil
}

// Synthesised reports whether an engine runs the design in SystemVerilog.
func (e Engine) Synthesised() bool { return e == Circuit || e == RTL || e == Netlist }

// StreamElements returns the number of elements on all streams of a frame.
func StreamElements(g *dataflow.Graph) (n int) {
	for _, s := range g.Streams {
		n += s.Type.Shape.Size()
	}
	return n
}
