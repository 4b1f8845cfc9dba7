package engines

import (
	"context"
	"slices"

	"hlsgen/internal/dataflow"
	"hlsgen/internal/fast"
	"hlsgen/internal/samples"
	"hlsgen/rtlsim"
)

// A FastPredictor runs engine fast on parts of the samples, without conversions between their formats. Only one
// goroutine may use it.
type FastPredictor struct {
	model *dataflow.Model
	p     *fast.Executable
	Ends  *fast.HostTables // tables for the host's prefix and suffix; nil if the model has none
	codes *fast.HostTables // tables for inputs of integers; nil if the model has none
	w     *fast.Worker
	in    [][]float32 // inputs of the current part
	own   [][]float32 // inputs copied from tensors
	Out   [][]float64 // outputs of the current part, by output, one sample after the other
}

// NewFastPredictorMaker returns a function that makes predictors for the program p. Each goroutine needs a predictor of
// its own.
func NewFastPredictorMaker(m *dataflow.Model, p *fast.Executable) func() *FastPredictor {
	ends, _ := p.NewHostTables(m)
	codes, _ := p.NewIntegerHostTables(m)
	return func() *FastPredictor {
		return &FastPredictor{m, p, ends, codes, p.NewWorker(), make([][]float32, len(m.In)),
			make([][]float32, len(m.In)), make([][]float64, len(m.Out))}
	}
}

// RunStoredPart computes the outputs of a part of the samples in the form in which the file stores it. The outputs go
// to x.Out. ok is false if engine fast cannot take this form, or one of the values, such as NaN. RunSamples takes any
// form.
func (x *FastPredictor) RunStoredPart(s *samples.SampleSource, part *samples.StoredPart) (ok bool) {
	switch {
	case x.Ends != nil && s.HasInputFloats():
		return x.floats(part)
	case x.codes != nil && s.HasInputBytes():
		return x.integers(part, func(k int) ([]uint8, bool) { return part.InputBytes(k), true })
	case x.codes != nil && s.HasInputCodes():
		return x.integers(part, part.InputCodes)
	}
	return false
}

// integers computes the outputs of samples of 8-bit integers, which of returns for input k. ok is false if a sample is
// not such an integer.
func (x *FastPredictor) integers(part *samples.StoredPart, of func(k int) (codes []uint8, ok bool)) (ok bool) {
	in := make([][]uint8, len(x.in))
	for k := range in {
		if in[k], ok = of(k); !ok {
			return false
		}
	}
	inBatches(x, in, part.RunCount(), func(in [][]uint8, out [][]float64, n int) {
		x.w.PredictFromIntegers(x.codes, in, out, n)
	})
	return true
}

// floats computes the outputs of samples that the file stores as float32. ok is false if one of their elements is not
// finite.
func (x *FastPredictor) floats(part *samples.StoredPart) (ok bool) {
	for k := range x.in {
		if x.in[k] = part.InputFloats(k); !x.w.AreAllFloatsFinite(x.in[k]) {
			return false
		}
	}
	x.predict(x.in, part.RunCount())
	return true
}

// RunSamples returns the outputs of samples as tensors, which are valid until the next prediction. It uses the tables
// for the host's parts if there are any and the samples are finite, and else the host's own prefix and suffix.
func (x *FastPredictor) RunSamples(ctx context.Context, s *samples.RunInputs) ([]ModelTensors, error) {
	if x.Ends == nil || !finite(s) {
		return x.frames(ctx, s)
	}
	in := x.own
	for k := range in {
		in[k] = in[k][:0]
		for _, sample := range s.In {
			for _, v := range sample[k].Data {
				in[k] = append(in[k], float32(v))
			}
		}
	}
	x.predict(in, len(s.In))
	return x.LastPredictedOutputs(len(s.In)), nil
}

// predict computes n samples with the tables for the host's parts, and stores the outputs in x.Out.
func (x *FastPredictor) predict(in [][]float32, n int) {
	inBatches(x, in, n, func(in [][]float32, out [][]float64, n int) { x.w.PredictFromFloats(x.Ends, in, out, n) })
}

// inBatches calls predict for n samples, in batches of the program's size. The outputs go to x.Out.
func inBatches[T any](x *FastPredictor, in [][]T, n int, predict func(in [][]T, out [][]float64, n int)) {
	for k, o := range x.model.Out {
		size := n * dataflow.Shape(o.Shape).ElementCount()
		x.Out[k] = slices.Grow(x.Out[k][:0], size)[:size]
	}
	some, y := make([][]T, len(in)), make([][]float64, len(x.Out))
	for from := 0; from < n; from += x.p.Batch {
		to := min(n, from+x.p.Batch)
		for k := range in {
			each := len(in[k]) / n
			some[k] = in[k][from*each : to*each]
		}
		for k := range x.Out {
			each := len(x.Out[k]) / n
			y[k] = x.Out[k][from*each : to*each]
		}
		predict(some, y, to-from)
	}
}

// LastPredictedOutputs returns the n samples in x.Out as tensors. They are valid until the next prediction.
func (x *FastPredictor) LastPredictedOutputs(n int) []ModelTensors {
	list, all := make([]ModelTensors, n), make(ModelTensors, n*len(x.Out))
	for i := range list {
		list[i] = all[i*len(x.Out) : (i+1)*len(x.Out) : (i+1)*len(x.Out)]
		for k, o := range x.model.Out {
			size := len(x.Out[k]) / n
			list[i][k] = dataflow.RealTensor{Shape: o.Shape, Data: x.Out[k][i*size : (i+1)*size : (i+1)*size]}
		}
	}
	return list
}

// frames computes samples with the host's own prefix and suffix instead of tables. If s begins with sample 0, it
// compares the first frame with engine eval.
func (x *FastPredictor) frames(ctx context.Context, s *samples.RunInputs) ([]ModelTensors, error) {
	in, err := RunHostPrefix(ctx, x.model, s)
	if err != nil {
		return nil, err
	}
	var out []FrameTensors
	for some := range slices.Chunk(in, x.p.Batch) {
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		frames, err := checkedRun(x.w, x.model, s.First+len(out), some)
		if err != nil {
			return nil, err
		}
		out = append(out, frames...)
	}
	if s.First == 0 {
		if err := framesLikeEval(ctx, x.model, in, out); err != nil {
			return nil, err
		}
	}
	return RunHostSuffix(ctx, x.model, s, out)
}

// framesLikeEval returns a *MismatchError if the outputs of the first frame differ from those of engine eval, or that
// fails.
func framesLikeEval(ctx context.Context, m *dataflow.Model, in, out []FrameTensors) error {
	if len(in) == 0 {
		return nil
	}
	first, err := RunEval(ctx, m, in[:1])
	if err == nil {
		err = rtlsim.CompareOutputs(out[:1], SelectStreams(first, m.Graph.Out))
	}
	if err != nil {
		return &MismatchError{"engine fast against eval, output: " + err.Error()}
	}
	return nil
}
