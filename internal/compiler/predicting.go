package compiler

import (
	"context"
	"slices"

	"hlsgen/internal/compiler/samples"
	"hlsgen/internal/dataflow"
	"hlsgen/internal/fast"
	"hlsgen/rtlsim"
)

// A predictor runs engine fast on parts of the samples. It serves one goroutine.
type predictor struct {
	model *dataflow.Model
	p     *fast.Executable
	ends  *fast.HostTables // tables for the host's prefix and suffix; nil if the model has none
	codes *fast.HostTables // tables for inputs of integers; nil if the model has none
	w     *fast.Worker
	in    [][]float32 // inputs of the current part
	own   [][]float32 // inputs copied from tensors
	out   [][]float64 // outputs of the current part, by output, one sample after the other
}

// predictors returns a function that makes predictors of a program. Each goroutine needs its own.
func predictors(m *dataflow.Model, p *fast.Executable) func() *predictor {
	ends, _ := p.HostTables(m)
	codes, _ := p.IntegerHostTables(m)
	return func() *predictor {
		return &predictor{m, p, ends, codes, p.Worker(), make([][]float32, len(m.In)),
			make([][]float32, len(m.In)), make([][]float64, len(m.Out))}
	}
}

// direct computes the outputs of a part in the form in which the file stores it. ok is false if engine fast
// cannot take this form.
func (x *predictor) direct(s *samples.SampleSource, part *samples.SamplePart) (ok bool) {
	switch {
	case x.ends != nil && s.HasFloats():
		return x.floats(part)
	case x.codes != nil && s.HasBytes():
		return x.integers(part, func(k int) ([]uint8, bool) { return part.Bytes(k), true })
	case x.codes != nil && s.HasCodes():
		return x.integers(part, part.Codes)
	}
	return false
}

// integers computes the outputs of samples of 8-bit integers. ok is false if a sample is not such an integer.
func (x *predictor) integers(part *samples.SamplePart, of func(k int) (codes []uint8, ok bool)) (ok bool) {
	in := make([][]uint8, len(x.in))
	for k := range in {
		if in[k], ok = of(k); !ok {
			return false
		}
	}
	inBatches(x, in, part.Len(), func(in [][]uint8, out [][]float64, n int) {
		x.w.PredictIntegers(x.codes, in, out, n)
	})
	return true
}

// floats computes the outputs of samples that the file stores as float32. ok is false if one is not finite.
func (x *predictor) floats(part *samples.SamplePart) (ok bool) {
	for k := range x.in {
		if x.in[k] = part.Floats(k); !x.w.Finite(x.in[k]) {
			return false
		}
	}
	x.predict(x.in, part.Len())
	return true
}

// runs computes the outputs of samples as tensors. It uses the tables if the samples are finite and the model has
// tables.
func (x *predictor) runs(ctx context.Context, s *samples.Runs) ([]reals, error) {
	if x.ends == nil || !finite(s) {
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
	return x.reals(len(s.In)), nil
}

// predict computes n samples with the tables, and stores the outputs in x.out.
func (x *predictor) predict(in [][]float32, n int) {
	inBatches(x, in, n, func(in [][]float32, out [][]float64, n int) { x.w.Predict(x.ends, in, out, n) })
}

// inBatches calls predict for n samples, in batches of the program's size. The outputs go to x.out.
func inBatches[T any](x *predictor, in [][]T, n int, predict func(in [][]T, out [][]float64, n int)) {
	for k, o := range x.model.Out {
		size := n * dataflow.Shape(o.Shape).Size()
		x.out[k] = slices.Grow(x.out[k][:0], size)[:size]
	}
	some, y := make([][]T, len(in)), make([][]float64, len(x.out))
	for from := 0; from < n; from += x.p.Batch {
		to := min(n, from+x.p.Batch)
		for k := range in {
			each := len(in[k]) / n
			some[k] = in[k][from*each : to*each]
		}
		for k := range x.out {
			each := len(x.out[k]) / n
			y[k] = x.out[k][from*each : to*each]
		}
		predict(some, y, to-from)
	}
}

// reals returns x.out as tensors. They are valid until the next prediction.
func (x *predictor) reals(n int) []reals {
	list, all := make([]reals, n), make(reals, n*len(x.out))
	for i := range list {
		list[i] = all[i*len(x.out) : (i+1)*len(x.out) : (i+1)*len(x.out)]
		for k, o := range x.model.Out {
			size := len(x.out[k]) / n
			list[i][k] = dataflow.RealTensor{Shape: o.Shape, Data: x.out[k][i*size : (i+1)*size : (i+1)*size]}
		}
	}
	return list
}

// frames computes samples with the host's prefix and suffix instead of tables. It compares the first frame with eval.
func (x *predictor) frames(ctx context.Context, s *samples.Runs) ([]reals, error) {
	in, err := codes(ctx, x.model, s)
	if err != nil {
		return nil, err
	}
	var out []tensors
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
	return results(ctx, x.model, s, out)
}

// framesLikeEval compares the outputs of the first frame with those of eval.
func framesLikeEval(ctx context.Context, m *dataflow.Model, in, out []tensors) error {
	if len(in) == 0 {
		return nil
	}
	first, err := eval(ctx, m, in[:1])
	if err == nil {
		err = rtlsim.Compare(out[:1], pick(first, m.Graph.Out))
	}
	if err != nil {
		return &MismatchError{"engine fast against eval, output: " + err.Error()}
	}
	return nil
}
