package requant

import (
	"hlsgen/internal/dataflow"
	"hlsgen/internal/num"
)

type kernel struct {
	o                  *op
	pe, folds          int
	multiplier, biases [][]int64
	limits             num.Range
}

func (o *op) Kernel(f dataflow.Fold) dataflow.Kernel {
	return &kernel{o, f.PE, o.channels / f.PE, rows(o.p.Multiplier, f.PE), rows(o.p.Bias, f.PE), o.out.Union()}
}

func (k *kernel) Step(iteration int, in []dataflow.Word) []dataflow.Word {
	y := make(dataflow.Word, k.pe)
	fold := iteration % k.folds
	for pe, x := range in[0] {
		sum := wrap(k.o.sum, of(of(k.multiplier, fold), pe)*x)
		sum = wrap(k.o.sum, sum+of(of(k.biases, fold), pe))
		code := k.o.p.code(sum)
		switch {
		case code < k.limits.Lo:
			code = k.limits.Lo
		case code > k.limits.Hi:
			code = k.limits.Hi
		}
		y[pe] = code
	}
	return []dataflow.Word{y}
}

// wrap keeps what t's bits hold of v.
func wrap(t num.Type, v int64) int64 { return t.Decode(uint64(v)) }
