package compiler

import (
	"context"
	"fmt"
	"runtime"

	"golang.org/x/sync/errgroup"

	"hlsgen/internal/compiler/samples"
	"hlsgen/internal/dataflow"
	"hlsgen/rtlsim"
	"hlsgen/templates"
)

// An Engine is a way to execute a model.
type Engine string

// The engines. All engines give the same outputs, and Reference defines them. The exception is Float: it rounds, and it
// runs only models without quantisers.
const (
	EngineReference Engine = "reference" // the ONNX model as written, in exact real arithmetic
	EngineFloat     Engine = "float"     // the model as written in float64, if it has no quantisers
	EngineFast      Engine = "fast"      // the integer layers, compiled for this machine
	EngineEval      Engine = "eval"      // every layer's plain integer form
	EngineCycle     Engine = "cycle"     // the folded design, clock by clock
	EngineCSim      Engine = "csim"      // the generated C++, compiled
	EngineRTL       Engine = "rtl"       // the generated SystemVerilog, in Verilator
	EngineNetlist   Engine = "netlist"   // the cells that Yosys makes of the SystemVerilog, in Verilator
)

// Engines lists the engines with a line of documentation for each.
var Engines = []struct {
	Name Engine
	Doc  string
}{
	{EngineReference, "the ONNX model as written, in exact real arithmetic"},
	{EngineFloat, "the same in float64, for a model without quantisers (its default)"},
	{EngineFast, "the integer layers, compiled for this machine (default)"},
	{EngineEval, "every layer's plain integer form"},
	{EngineCycle, "the folded design, clock by clock"},
	{EngineCSim, "the generated C++, compiled with g++ or clang++; every layer's stream is compared"},
	{EngineRTL, "the generated SystemVerilog, in Verilator; every stream is compared, and every clock"},
	{EngineNetlist, "the cells that Yosys makes of the SystemVerilog, compared in the same way; of small designs"},
}

// each returns f(0) to f(n-1), computed on all processors. If calls fail, it returns the error of the smallest index.
func each[T any](ctx context.Context, n int, f func(i int) (T, error)) ([]T, error) {
	return eachFrom(ctx, 0, n, f)
}

// eachFrom works like each. first is the number of the first sample, for error messages.
func eachFrom[T any](ctx context.Context, first, n int, f func(i int) (T, error)) ([]T, error) {
	out, errs := make([]T, n), make([]error, n)
	group, failed := errgroup.WithContext(ctx)
	group.SetLimit(runtime.GOMAXPROCS(0))
	for i := 0; i < n && failed.Err() == nil; i++ {
		group.Go(func() error {
			defer CatchPanic(&errs[i]) // Catch in Run does not see this goroutine
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

// inOrder works like eachFrom, but calls f one sample after the other, because samples depend on earlier ones.
func inOrder[T any](ctx context.Context, first, n int, f func(i int) (T, error)) (out []T, err error) {
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
	tensors = []dataflow.Tensor     // one per stream, input or output
	reals   = []dataflow.RealTensor // one per input or output of the model
)

// A course runs a model on one part of the samples after the other. It carries the state of stateful models between
// parts.
type course struct {
	model   *dataflow.Model
	float   bool               // run the model as written in float64
	written dataflow.Reference // the stateful model as written; nil if the model has no state
	layers  *dataflow.GraphRun // the stateful integer layers; nil if they have no state
}

// courseOf returns a course in the initial state.
func courseOf(m *dataflow.Model) *course {
	c := &course{model: m}
	if m.Stream != nil {
		c.written = m.Stream()
	}
	if m.Graph != nil && m.Graph.KeepsState() {
		c.layers = m.Graph.Begin()
	}
	return c
}

// reference runs the model as written on every sample, from the initial state.
func reference(ctx context.Context, m *dataflow.Model, s *samples.Runs) ([]reals, error) {
	return courseOf(m).reference(ctx, s)
}

func (c *course) reference(ctx context.Context, s *samples.Runs) ([]reals, error) {
	if c.written != nil {
		return inOrder(ctx, s.First, len(s.In), func(i int) (reals, error) { return c.written(s.In[i]) })
	}
	return eachFrom(ctx, s.First, len(s.In), func(i int) (reals, error) {
		at, err := sized(c.model, s, i)
		if err != nil {
			return nil, err
		}
		if c.float {
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

// codes runs the host's prefix. It returns the accelerator's input frames.
func codes(ctx context.Context, m *dataflow.Model, s *samples.Runs) ([]tensors, error) {
	of, err := eachFrom(ctx, s.First, len(s.In), func(i int) (tensors, error) {
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

// results runs the host's suffix on the accelerator's output frames. It returns the outputs by sample.
func results(ctx context.Context, m *dataflow.Model, s *samples.Runs, frames []tensors) ([]reals, error) {
	codes := m.Turns.ExtractSamples(func(t *dataflow.SampleInterleaving) []int { return t.Out }, frames, len(s.In))
	return eachFrom(ctx, s.First, len(s.In), func(i int) (reals, error) {
		at, err := sized(m, s, i)
		if err != nil {
			return nil, err
		}
		return at.Suffix.ToReal(s.In[i], codes[i])
	})
}

// eval runs Eval of every layer, from the initial state. It returns the tensors of all streams, by frame.
func eval(ctx context.Context, m *dataflow.Model, in []tensors) ([]tensors, error) {
	return courseOf(m).eval(ctx, 0, in, func(streams tensors) tensors { return streams })
}

// eval runs Eval of every layer on frames and returns take of each frame's streams. first is the number of the first
// frame. Frames run one after the other if the layers have state, and in parallel otherwise.
func (c *course) eval(ctx context.Context, first int, in []tensors, take func(tensors) tensors) ([]tensors, error) {
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
	taken := func(streams tensors, err error) (tensors, error) {
		if err != nil {
			return nil, err
		}
		return take(streams), nil
	}
	if c.layers != nil {
		return inOrder(ctx, first, len(in), func(i int) (tensors, error) {
			return taken(c.layers.EvalAs(ctx, graphs[i], in[i]))
		})
	}
	return eachFrom(ctx, first, len(in), func(i int) (tensors, error) { return taken(graphs[i].Eval(ctx, in[i])) })
}

// integers runs the host's prefix, Eval of every layer and the host's suffix. It returns the outputs by sample.
func (c *course) integers(ctx context.Context, s *samples.Runs) ([]reals, error) {
	in, err := codes(ctx, c.model, s)
	if err != nil {
		return nil, err
	}
	ends := c.model.Graph.Out
	out, err := c.eval(ctx, s.First/c.model.Turns.PerFrame(), in, func(streams tensors) tensors {
		return pick([]tensors{streams}, ends)[0]
	})
	if err != nil {
		return nil, err
	}
	return results(ctx, c.model, s, out)
}

// integers runs the host's prefix, Eval of every layer and the host's suffix. It returns the tensors on all streams and
// the outputs.
func integers(ctx context.Context, m *dataflow.Model, s *samples.Runs) (streams []tensors, out []reals, err error) {
	in, err := codes(ctx, m, s)
	if err != nil {
		return nil, nil, err
	}
	if streams, err = eval(ctx, m, in); err != nil {
		return nil, nil, err
	}
	out, err = results(ctx, m, s, pick(streams, m.Graph.Out))
	return streams, out, err
}

// pick returns, of each frame, the tensors of the given streams.
func pick(frames []tensors, streams []int) []tensors {
	out := make([]tensors, len(frames))
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

// cycle runs the design in the clock-by-clock simulator and compares every stream with Eval.
func cycle(ctx context.Context, d *dataflow.Design, in, streams []tensors, record bool) (*rtlsim.Trace, error) {
	return rtlsim.Run(ctx, d, in, rtlsim.Options{OnTensor: same(d, streams), Record: record})
}

// carried computes the data on a design's streams, compares them with Eval and returns the outputs. It does not
// simulate clocks: these are the same for all frames. first is the number of the first frame.
func carried(ctx context.Context, d *dataflow.Design, first int, in []tensors) ([]tensors, error) {
	streams, err := eval(ctx, d.Model, in)
	if err != nil {
		return nil, err
	}
	differs := differs(d.Model.Graph)
	return rtlsim.ComputeOutputs(ctx, d, in, func(frame, s int, got dataflow.Tensor) error {
		if err := rtlsim.Compare([]tensors{{got}}, []tensors{{streams[frame][s]}}); err != nil {
			return differs(first+frame, s, err)
		}
		return nil
	})
}

// same returns a function that compares a tensor on a stream of the simulator with Eval.
func same(d *dataflow.Design, streams []tensors) func(frame, s int, got dataflow.Tensor) error {
	differs := differs(d.Model.Graph)
	return func(frame, s int, got dataflow.Tensor) error {
		err := rtlsim.Compare([]tensors{{got}}, []tensors{{streams[frame][s]}})
		if err != nil {
			return differs(frame, s, err)
		}
		return nil
	}
}

// differs returns a function that makes a Mismatch of a difference on a stream.
func differs(g *dataflow.Graph) func(frame, s int, why error) error {
	return func(frame, s int, why error) error {
		return &MismatchError{fmt.Sprintf("engine cycle against eval, frame %d, stream %s: %v", frame, streamName(g, s),
			why)}
	}
}

func streamName(g *dataflow.Graph, s int) string {
	from := "input"
	if i, _ := g.Writer(s); i >= 0 {
		from = g.Nodes[i].Name
	}
	return fmt.Sprintf("s%d from %s (%q)", s, from, g.Streams[s].Name)
}

// compile compiles the generated C++ in a temporary folder and runs it. Its test bench compares every layer's stream
// with Eval. compile reads the network's output words back and compares them a second time.
func compile(ctx context.Context, d *dataflow.Design, files templates.Files, streams []tensors) ([]tensors, error) {
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
		for _, in := range pick(streams, d.Model.Graph.In) {
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
	if err := rtlsim.Compare(out, pick(streams, d.Model.Graph.Out)); err != nil {
		return nil, &MismatchError{"engine csim against eval, output: " + err.Error()}
	}
	return out, nil
}

// synthesised reports whether an engine runs SystemVerilog.
func (e Engine) synthesised() bool { return e == EngineRTL || e == EngineNetlist }

// elements returns the number of elements on all streams of a frame.
func elements(g *dataflow.Graph) (n int) {
	for _, s := range g.Streams {
		n += s.Type.Shape.Size()
	}
	return n
}
