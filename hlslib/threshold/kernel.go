package threshold

import "hlsgen/internal/dataflow"

type kernel struct {
	o         *op
	pe, folds int
}

func (o *op) Kernel(f dataflow.Fold) dataflow.Kernel {
	return &kernel{o, f.PE, o.channels / f.PE}
}

func (k *kernel) Step(iteration int, in []dataflow.Word) []dataflow.Word {
	y := make(dataflow.Word, k.pe)
	for pe, x := range in[0] {
		c := 0
		if !k.o.compare.Shared() {
			c = iteration%k.folds*k.pe + pe
		}
		y[pe] = k.o.compare.Apply(c, x)
	}
	return []dataflow.Word{y}
}
