package engines

import (
	"context"
	"fmt"
	"math"
	"slices"

	"hlsgen/internal/dataflow"
	"hlsgen/internal/fast"
	"hlsgen/internal/samples"
)

// CompileLayers compiles the model's integer layers. It returns nil for models that engine fast leaves to eval.
func CompileLayers(m *dataflow.Model) *fast.Executable {
	if m.Lengths != nil {
		return nil
	}
	p, _ := fast.Compile(m.Graph)
	return p
}

// RunFast runs engine fast and returns the outputs of every sample. It compares the first sample with eval. If p is
// nil, it runs eval: frames that depend on each other or differ in length have no program.
func RunFast(ctx context.Context, p *fast.Executable, m *dataflow.Model, s *samples.Runs) ([]Reals, error) {
	if p == nil {
		return NewSession(m).RunIntegers(ctx, s)
	}
	if e, ok := p.HostTables(m); ok && finite(s) {
		out, err := predict(ctx, p, e, m, s)
		if err != nil {
			return nil, err
		}
		return out, CheckAgainstEval(ctx, m, s, out)
	}
	in, err := InputCodes(ctx, m, s)
	if err != nil {
		return nil, err
	}
	frames, err := RunFastFrames(ctx, p, m, in)
	if err != nil {
		return nil, err
	}
	if err := framesLikeEval(ctx, m, in, frames); err != nil {
		return nil, err
	}
	return ModelOutputs(ctx, m, s, frames)
}

// RunFastFrames runs the compiled layers on frames, on all processors.
func RunFastFrames(ctx context.Context, p *fast.Executable, m *dataflow.Model, in []Tensors) ([]Tensors, error) {
	return parts(ctx, p, len(in), func(w *fast.Worker, from, to int) ([]Tensors, error) {
		return checkedRun(w, m, from, in[from:to])
	})
}

// checkedRun checks frames and runs the compiled layers on them. first is the number of the first frame, for errors.
func checkedRun(w *fast.Worker, m *dataflow.Model, first int, in []Tensors) ([]Tensors, error) {
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
func predict(ctx context.Context, p *fast.Executable, e *fast.HostTables, m *dataflow.Model, s *samples.Runs) ([]Reals,
	error) {
	return parts(ctx, p, len(s.In), func(w *fast.Worker, from, to int) (list []Reals, err error) {
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
		list = make([]Reals, to-from)
		all := make(Reals, (to-from)*len(m.Out))
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

// CheckAgainstEval compares the outputs of the first sample with those of eval.
func CheckAgainstEval(ctx context.Context, m *dataflow.Model, s *samples.Runs, out []Reals) error {
	if len(out) == 0 {
		return nil
	}
	one := *s
	one.In = s.In[:1]
	want, err := NewSession(m).RunIntegers(ctx, &one)
	if err != nil {
		return err
	}
	return SameOutputs(m, "engine fast against eval", out[0], want[0])
}

// SameOutputs returns a MismatchError if out differs from want. between names the two engines for the message.
func SameOutputs(m *dataflow.Model, between string, out, want Reals) error {
	for k, t := range want {
		if !slices.Equal(t.Data, out[k].Data) {
			return &MismatchError{fmt.Sprintf("%s, output %q: %v, want %v", between, m.Out[k].Name, out[k].Data,
				t.Data)}
		}
	}
	return nil
}
