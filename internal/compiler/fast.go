package compiler

import (
	"context"
	"fmt"
	"math"
	"slices"

	"hlsgen/internal/compiler/samples"
	"hlsgen/internal/dataflow"
	"hlsgen/internal/fast"
)

// programOf compiles the model's integer layers. It returns nil for models that engine fast leaves to eval.
func programOf(m *dataflow.Model) *fast.Executable {
	if m.Lengths != nil {
		return nil
	}
	p, _ := fast.Compile(m.Graph)
	return p
}

// compiledAs runs engine fast and returns the outputs of every sample. It compares the first sample with eval. If p is
// nil, it runs eval: frames that depend on each other or differ in length have no program.
func compiledAs(ctx context.Context, p *fast.Executable, m *dataflow.Model, s *samples.Runs) ([]reals, error) {
	if p == nil {
		return courseOf(m).integers(ctx, s)
	}
	if e, ok := p.HostTables(m); ok && finite(s) {
		out, err := predict(ctx, p, e, m, s)
		if err != nil {
			return nil, err
		}
		return out, likeEval(ctx, m, s, out)
	}
	in, err := codes(ctx, m, s)
	if err != nil {
		return nil, err
	}
	frames, err := fastFrames(ctx, p, m, in)
	if err != nil {
		return nil, err
	}
	if err := framesLikeEval(ctx, m, in, frames); err != nil {
		return nil, err
	}
	return results(ctx, m, s, frames)
}

// fastFrames runs the compiled layers on frames, on all processors.
func fastFrames(ctx context.Context, p *fast.Executable, m *dataflow.Model, in []tensors) ([]tensors, error) {
	return parts(ctx, p, len(in), func(w *fast.Worker, from, to int) ([]tensors, error) {
		return checkedRun(w, m, from, in[from:to])
	})
}

// checkedRun checks frames and runs the compiled layers on them. first is the number of the first frame, for errors.
func checkedRun(w *fast.Worker, m *dataflow.Model, first int, in []tensors) ([]tensors, error) {
	for i := range in {
		if err := m.Graph.Check(in[i]); err != nil {
			return nil, fmt.Errorf("sample %d: %w", first+i, err)
		}
	}
	return w.Run(in), nil
}

// parts computes n samples in batches on all processors. f computes the samples in [from, to).
func parts[T any](ctx context.Context, p *fast.Executable, n int, f func(w *fast.Worker, from, to int) ([]T,
	error)) ([]T,
	error) {
	workers := make(chan *fast.Worker, n/p.Batch+1)
	of, err := each(ctx, (n+p.Batch-1)/p.Batch, func(i int) ([]T, error) {
		var w *fast.Worker
		select {
		case w = <-workers:
		default:
			w = p.Worker()
		}
		defer func() { workers <- w }()
		return f(w, i*p.Batch, min(n, (i+1)*p.Batch))
	})
	return slices.Concat(of...), err
}

// finite reports whether all elements of the samples are finite numbers.
func finite(s *samples.Runs) bool {
	for _, sample := range s.In {
		for _, t := range sample {
			for _, v := range t.Data {
				if math.IsInf(v, 0) || math.IsNaN(v) {
					return false
				}
			}
		}
	}
	return true
}

// predict computes the model's outputs. The tables in e replace the host's prefix and suffix.
func predict(ctx context.Context, p *fast.Executable, e *fast.HostTables, m *dataflow.Model, s *samples.Runs) ([]reals,
	error) {
	return parts(ctx, p, len(s.In), func(w *fast.Worker, from, to int) (list []reals, err error) {
		in := make([][]float32, len(m.In))
		for k, of := range m.In {
			in[k] = make([]float32, 0, (to-from)*dataflow.Shape(of.Shape).Size())
		}
		for _, sample := range s.In[from:to] {
			for k, t := range sample {
				for _, v := range t.Data {
					in[k] = append(in[k], float32(v))
				}
			}
		}
		out := make([][]float64, len(m.Out))
		for k, o := range m.Out {
			out[k] = make([]float64, (to-from)*dataflow.Shape(o.Shape).Size())
		}
		w.Predict(e, in, out, to-from)
		list = make([]reals, to-from)
		all := make(reals, (to-from)*len(m.Out))
		for i := range list {
			list[i] = all[i*len(m.Out) : (i+1)*len(m.Out) : (i+1)*len(m.Out)]
			for k, o := range m.Out {
				n := dataflow.Shape(o.Shape).Size()
				list[i][k] = dataflow.RealTensor{Shape: o.Shape, Data: out[k][i*n : (i+1)*n : (i+1)*n]}
			}
		}
		return list, nil
	})
}

// likeEval compares the outputs of the first sample with those of eval.
func likeEval(ctx context.Context, m *dataflow.Model, s *samples.Runs, out []reals) error {
	if len(out) == 0 {
		return nil
	}
	one := *s
	one.In = s.In[:1]
	want, err := courseOf(m).integers(ctx, &one)
	if err != nil {
		return err
	}
	return sameOutputs(m, "engine fast against eval", out[0], want[0])
}

// sameOutputs returns a Mismatch if out differs from want. engines names the two engines for the message.
func sameOutputs(m *dataflow.Model, engines string, out, want reals) error {
	for k, t := range want {
		if !slices.Equal(t.Data, out[k].Data) {
			return &MismatchError{fmt.Sprintf("%s, output %q: %v, want %v", engines, m.Out[k].Name, out[k].Data,
				t.Data)}
		}
	}
	return nil
}
