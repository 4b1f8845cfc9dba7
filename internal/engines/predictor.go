package engines

import (
	"context"
	"slices"

	"hlsgen/internal/dataflow"
	"hlsgen/internal/fast"
	"hlsgen/internal/samples"
	"hlsgen/rtlsim"
)

// A Predictor runs engine fast on parts of the samples. It serves one goroutine.
type Predictor struct {
	model *dataflow.Model
	p     *fast.Executable
	Ends  *fast.HostTables // tables for the host's prefix and suffix; nil if the model has none
	codes *fast.HostTables // tables for inputs of integers; nil if the model has none
	w     *fast.Worker
	in    [][]float32 // inputs of the current part
	own   [][]float32 // inputs copied from tensors
	Out   [][]float64 // outputs of the current part, by output, one sample after the other
}

// NewPredictors returns a function that makes predictors of a program. Each goroutine needs its own.
func NewPredictors(m *dataflow.Model, p *fast.Executable) func() *Predictor {
	ends, _ := p.HostTables(m)
	codes, _ := p.IntegerHostTables(m)
	return func() *Predictor {
		return &Predictor{m, p, ends, codes, p.Worker(), make([][]float32, len(m.In)),
			make([][]float32, len(m.In)), make([][]float64, len(m.Out))}
	}
}

// ReadDirectly computes the outputs of a part in the form in which the file stores it. ok is false if engine fast
// cannot take this form.
func (x *Predictor) ReadDirectly(s *samples.SampleSource, part *samples.SamplePart) (ok bool) {
	switch {
	case x.Ends != nil && s.HasFloats():
		return x.floats(part)
	case x.codes != nil && s.HasBytes():
		return x.integers(part, func(k int) ([]uint8, bool) { return part.Bytes(k), true })
	case x.codes != nil && s.HasCodes():
		return x.integers(part, part.Codes)
	}
	return false
}

// integers computes the outputs of samples of 8-bit integers. ok is false if a sample is not such an integer.
func (x *Predictor) integers(part *samples.SamplePart, of func(k int) (codes []uint8, ok bool)) (ok bool) {
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
func (x *Predictor) floats(part *samples.SamplePart) (ok bool) {
	for k := range x.in {
		if x.in[k] = part.Floats(k); !x.w.Finite(x.in[k]) {
			return false
		}
	}
	x.predict(x.in, part.Len())
	return true
}

// RunSamples computes the outputs of samples as tensors. It uses the tables if the samples are finite and the model has
// tables.
func (x *Predictor) RunSamples(ctx context.Context, s *samples.Runs) ([]Reals, error) {
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
	return x.Outputs(len(s.In)), nil
}

// predict computes n samples with the tables, and stores the outputs in x.out.
func (x *Predictor) predict(in [][]float32, n int) {
	inBatches(x, in, n, func(in [][]float32, out [][]float64, n int) { x.w.Predict(x.Ends, in, out, n) })
}

// inBatches calls predict for n samples, in batches of the program's size. The outputs go to x.out.
func inBatches[T any](x *Predictor, in [][]T, n int, predict func(in [][]T, out [][]float64, n int)) {
	for k, o := range x.model.Out {
		size := n * dataflow.Shape(o.Shape).Size()
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

// Outputs returns x.out as tensors. They are valid until the next prediction.
func (x *Predictor) Outputs(n int) []Reals {
	list, all := make([]Reals, n), make(Reals, n*len(x.Out))
	for i := range list {
		list[i] = all[i*len(x.Out) : (i+1)*len(x.Out) : (i+1)*len(x.Out)]
		for k, o := range x.model.Out {
			size := len(x.Out[k]) / n
			list[i][k] = dataflow.RealTensor{Shape: o.Shape, Data: x.Out[k][i*size : (i+1)*size : (i+1)*size]}
		}
	}
	return list
}

// frames computes samples with the host's prefix and suffix instead of tables. It compares the first frame with eval.
func (x *Predictor) frames(ctx context.Context, s *samples.Runs) ([]Reals, error) {
	in, err := InputCodes(ctx, x.model, s)
	if err != nil {
		return nil, err
	}
	var out []Tensors
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
	return ModelOutputs(ctx, x.model, s, out)
}

// framesLikeEval compares the outputs of the first frame with those of eval.
func framesLikeEval(ctx context.Context, m *dataflow.Model, in, out []Tensors) error {
	if len(in) == 0 {
		return nil
	}
	first, err := RunEval(ctx, m, in[:1])
	if err == nil {
		err = rtlsim.Compare(out[:1], SelectStreams(first, m.Graph.Out))
	}
	if err != nil {
		return &MismatchError{"engine fast against eval, output: " + err.Error()}
	}
	return nil
}
