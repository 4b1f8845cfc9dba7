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

// CompileLayers compiles the model's integer layers. It returns nil for models that engine fast leaves to engine eval.
func CompileLayers(m *dataflow.Model) *fast.Executable {
	if m.Lengths != nil {
		return nil
	}
	p, _ := fast.CompileGraph(m.Graph)
	return p
}

// RunFast runs engine fast and returns the outputs of every sample. If the first sample differs in engine eval, it
// returns a *MismatchError. If p is nil, it runs engine eval: frames that depend on each other or differ in length have
// no program.
func RunFast(ctx context.Context, p *fast.Executable, m *dataflow.Model, s *samples.RunInputs) ([]ModelTensors, error) {
	if p == nil {
		return NewSession(m).RunHostAndEval(ctx, s)
	}
	if e, ok := p.NewHostTables(m); ok && finite(s) {
		out, err := predict(ctx, p, e, m, s)
		if err != nil {
			return nil, err
		}
		return out, CheckFirstSampleAgainstEval(ctx, m, s, out)
	}
	in, err := RunHostPrefix(ctx, m, s)
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
	return RunHostSuffix(ctx, m, s, frames)
}

// RunFastFrames runs the compiled layers on frames, on all processors. It returns the output frames, or an error if a
// frame does not fit the input types.
func RunFastFrames(ctx context.Context, p *fast.Executable, m *dataflow.Model, in []FrameTensors) ([]FrameTensors,
	error) {
	return parts(ctx, p, len(in), func(w *fast.Worker, from, to int) ([]FrameTensors, error) {
		return checkedRun(w, m, from, in[from:to])
	})
}

// checkedRun checks that the frames fit the input types, and runs the compiled layers on them. first is the number of
// the first frame, for errors.
func checkedRun(w *fast.Worker, m *dataflow.Model, first int, in []FrameTensors) ([]FrameTensors, error) {
	for i := range in {
		if err := m.Graph.CheckInputs(in[i]); err != nil {
			return nil, fmt.Errorf("sample %d: %w", first+i, err)
		}
	}
	return w.RunFrames(in), nil
}

// parts computes n samples in batches on all processors, and returns the results in order. f computes the samples in
// [from, to).
func parts[T any](ctx context.Context, p *fast.Executable, n int, f func(w *fast.Worker, from, to int) ([]T,
	error)) ([]T,
	error) {
	workers := make(chan *fast.Worker, n/p.Batch+1)
	of, err := each(ctx, (n+p.Batch-1)/p.Batch, func(i int) ([]T, error) {
		var w *fast.Worker
		select {
		case w = <-workers:
		default:
			w = p.NewWorker()
		}
		defer func() { workers <- w }()
		return f(w, i*p.Batch, min(n, (i+1)*p.Batch))
	})
	return slices.Concat(of...), err
}

// finite reports whether all elements of the samples are finite numbers, neither infinite nor NaN.
func finite(s *samples.RunInputs) bool {
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

// predict returns the outputs of the samples, which must be finite. The tables in e replace the parts of the model that
// the host runs.
func predict(ctx context.Context, p *fast.Executable, e *fast.HostTables, m *dataflow.Model,
	s *samples.RunInputs) ([]ModelTensors,
	error) {
	return parts(ctx, p, len(s.In), func(w *fast.Worker, from, to int) (list []ModelTensors, err error) {
		in := make([][]float32, len(m.In))
		for k, of := range m.In {
			in[k] = make([]float32, 0, (to-from)*dataflow.Shape(of.Shape).ElementCount())
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
			out[k] = make([]float64, (to-from)*dataflow.Shape(o.Shape).ElementCount())
		}
		w.PredictFromFloats(e, in, out, to-from)
		list = make([]ModelTensors, to-from)
		all := make(ModelTensors, (to-from)*len(m.Out))
		for i := range list {
			list[i] = all[i*len(m.Out) : (i+1)*len(m.Out) : (i+1)*len(m.Out)]
			for k, o := range m.Out {
				n := dataflow.Shape(o.Shape).ElementCount()
				list[i][k] = dataflow.RealTensor{Shape: o.Shape, Data: out[k][i*n : (i+1)*n : (i+1)*n]}
			}
		}
		return list, nil
	})
}

// CheckFirstSampleAgainstEval returns a *MismatchError if out[0], the outputs of the first sample of s, differs from
// those of engine eval. It returns nil if out is empty.
func CheckFirstSampleAgainstEval(ctx context.Context, m *dataflow.Model, s *samples.RunInputs,
	out []ModelTensors) error {
	if len(out) == 0 {
		return nil
	}
	one := *s
	one.In = s.In[:1]
	want, err := NewSession(m).RunHostAndEval(ctx, &one)
	if err != nil {
		return err
	}
	return CompareModelOutputs(m, "engine fast against eval", out[0], want[0])
}

// CompareModelOutputs returns a *MismatchError if the elements of out differ from those of want, and else nil. between
// names the two engines for the message.
func CompareModelOutputs(m *dataflow.Model, between string, out, want ModelTensors) error {
	for k, t := range want {
		if !slices.Equal(t.Data, out[k].Data) {
			return &MismatchError{fmt.Sprintf("%s, output %q: %v, want %v", between, m.Out[k].Name, out[k].Data,
				t.Data)}
		}
	}
	return nil
}
