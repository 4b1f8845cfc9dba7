package add

import (
	"hlsgen/internal/dataflow"
	"hlsgen/internal/num"
)

type kernel struct {
	o         *op
	pe, folds int
}

func (o *op) Kernel(f dataflow.Fold) dataflow.Kernel {
	return &kernel{o, f.PE, o.channels / f.PE}
}

func (k *kernel) Step(iteration int, in []dataflow.Word) []dataflow.Word {
	y := make(dataflow.Word, k.pe)
	for pe := range y {
		c := iteration%k.folds*k.pe + pe
		product := wrap(k.o.sum, k.o.p.factor(0, c)*in[0][pe])
		y[pe] = wrap(k.o.sum, product+k.o.p.factor(1, c)*in[1][pe])
		if k.o.compare.Over != nil {
			y[pe] = k.o.compare.Apply(min(c, len(k.o.compare.Over)-1), y[pe])
		}
	}
	return []dataflow.Word{y}
}

// wrap keeps what t's bits hold of v.
func wrap(t num.Type, v int64) int64 { return t.Decode(uint64(v)) }
