package compiler

import (
	"context"
	"fmt"
	"runtime"

	"golang.org/x/sync/errgroup"

	"hlsgen/internal/dataflow"
	"hlsgen/rtlsim"
	"hlsgen/templates"
)

// An Engine is a way to execute a model.
type Engine string

// The engines. They agree, always; Reference is what the others must agree with.
const (
	Reference Engine = "reference" // the ONNX model as written, in exact real arithmetic
	Eval      Engine = "eval"      // every layer's plain integer form
	Cycle     Engine = "cycle"     // the design, clock by clock
	CSim      Engine = "csim"      // the generated C++, compiled
)

// Engines lists the engines with a line for each.
var Engines = []struct {
	Name Engine
	Doc  string
}{
	{Reference, "the ONNX model as written, in exact real arithmetic"},
	{Eval, "every layer's plain integer form (default)"},
	{Cycle, "the folded design, clock by clock"},
	{CSim, "the generated C++, compiled with g++ or clang++; every layer's stream is compared"},
}

// forEach runs f(0..n-1) on all processors and returns the error of the smallest index: what stands before it has begun.
func forEach(ctx context.Context, n int, f func(i int) error) error {
	errs := make([]error, n)
	group, failed := errgroup.WithContext(ctx)
	group.SetLimit(runtime.GOMAXPROCS(0))
	for i := 0; i < n && failed.Err() == nil; i++ {
		group.Go(func() error {
			errs[i] = guarded(f, i)
			return errs[i]
		})
	}
	group.Wait() // the first in time; the first in order is the same on every machine
	if ctx.Err() != nil {
		return ctx.Err()
	}
	for i, err := range errs {
		if err != nil {
			return fmt.Errorf("sample %d: %w", i, err)
		}
	}
	return nil
}

// guarded is f(i) with a panic as an *Internal error: Run's own catch does not see the goroutines of forEach.
func guarded(f func(int) error, i int) (err error) {
	defer catch(&err)
	return f(i)
}

// reference runs the model as written on every sample.
func reference(ctx context.Context, m *dataflow.Model, s *Samples) ([][]dataflow.RealTensor, error) {
	out := make([][]dataflow.RealTensor, len(s.In))
	return out, forEach(ctx, len(s.In), func(i int) (err error) {
		out[i], err = m.Reference(s.In[i])
		return err
	})
}

// codes runs the host's prefix: what the accelerator is fed with, per sample.
func codes(ctx context.Context, m *dataflow.Model, s *Samples) ([][]dataflow.Tensor, error) {
	out := make([][]dataflow.Tensor, len(s.In))
	return out, forEach(ctx, len(s.In), func(i int) (err error) {
		out[i], err = m.Prefix.ToCodes(s.In[i])
		return err
	})
}

// results runs the host's suffix on what the accelerator gave.
func results(ctx context.Context, m *dataflow.Model, s *Samples, codes [][]dataflow.Tensor) ([][]dataflow.RealTensor, error) {
	out := make([][]dataflow.RealTensor, len(s.In))
	return out, forEach(ctx, len(s.In), func(i int) (err error) {
		out[i], err = m.Suffix.ToReal(s.In[i], codes[i])
		return err
	})
}

// eval runs every layer's Eval: the frame on every stream, per sample.
func eval(ctx context.Context, g *dataflow.Graph, in [][]dataflow.Tensor) ([][]dataflow.Tensor, error) {
	out := make([][]dataflow.Tensor, len(in))
	return out, forEach(ctx, len(in), func(i int) (err error) {
		out[i], err = g.Eval(ctx, in[i])
		return err
	})
}

// integers runs the host's prefix, every layer's Eval and the host's suffix: what is on every stream, and the outputs.
func integers(ctx context.Context, m *dataflow.Model, s *Samples) (streams [][]dataflow.Tensor, out [][]dataflow.RealTensor, err error) {
	in, err := codes(ctx, m, s)
	if err != nil {
		return nil, nil, err
	}
	if streams, err = eval(ctx, m.Graph, in); err != nil {
		return nil, nil, err
	}
	out, err = results(ctx, m, s, pick(streams, m.Graph.Out))
	return streams, out, err
}

// pick takes the frames of some streams.
func pick(frames [][]dataflow.Tensor, streams []int) [][]dataflow.Tensor {
	out := make([][]dataflow.Tensor, len(frames))
	for i, f := range frames {
		for _, s := range streams {
			out[i] = append(out[i], f[s])
		}
	}
	return out
}

// A Mismatch is two engines that disagree: a defect of ours, or a wrong file to compare with.
type Mismatch struct{ Msg string }

func (m *Mismatch) Error() string { return m.Msg }

// cycle runs the design in the simulator and compares every stream with what Eval puts there.
func cycle(ctx context.Context, d *dataflow.Design, in, streams [][]dataflow.Tensor, record bool) (*rtlsim.Trace, error) {
	trace, err := rtlsim.Run(ctx, d, in, rtlsim.Options{Keep: true, Record: record})
	if err != nil {
		return nil, err
	}
	g := d.Model.Graph
	for s := range g.Streams {
		one := []int{s}
		if err := rtlsim.Compare(pick(trace.Streams, one), pick(streams, one)); err != nil {
			return nil, &Mismatch{fmt.Sprintf("engine cycle against eval, stream %s: %v", streamName(g, s), err)}
		}
	}
	return trace, nil
}

func streamName(g *dataflow.Graph, s int) string {
	from := "input"
	if i, _ := g.Writer(s); i >= 0 {
		from = g.Nodes[i].Name
	}
	return fmt.Sprintf("s%d from %s (%q)", s, from, g.Streams[s].Name)
}

// compile compiles the project in a folder of its own and runs it. The generated test bench compares every layer's
// stream with Eval's; the network's output words are read back and compared here once more.
func compile(ctx context.Context, d *dataflow.Design, files templates.Files, streams [][]dataflow.Tensor) ([][]dataflow.Tensor, error) {
	run, err := templates.RunCSim(ctx, files, templates.CSim{})
	if err != nil {
		return nil, err
	}
	for _, v := range run.Verdicts {
		if !v.OK {
			return nil, &Mismatch{fmt.Sprintf("engine csim against eval, %s: %s", v.Name, v.Message)}
		}
	}
	if !run.Passed {
		return nil, &Mismatch{"engine csim failed:\n" + run.Log}
	}
	out, err := run.Tensors(d, templates.Options{})
	if err != nil {
		return nil, err
	}
	if err := rtlsim.Compare(out, pick(streams, d.Model.Graph.Out)); err != nil {
		return nil, &Mismatch{"engine csim against eval, output: " + err.Error()}
	}
	return out, nil
}
