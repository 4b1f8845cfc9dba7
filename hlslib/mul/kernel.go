package mul

import (
	"slices"

	"hlsgen/internal/dataflow"
	"hlsgen/internal/num"
)

type kernel struct {
	o         *op
	pe, folds int
	kept      []dataflow.Word // of a gate, by fold
	requant   *num.Requant
}

func (o *op) Kernel(f dataflow.Fold) dataflow.Kernel {
	k := &kernel{o: o, pe: f.PE, folds: o.channels / f.PE}
	if o.gate {
		k.kept = make([]dataflow.Word, k.folds)
	}
	if o.p.Requant != nil {
		q := o.p.Requant.Reduced() // as it is built
		k.requant = &q
	}
	return k
}

func (k *kernel) Step(iteration int, in []dataflow.Word) []dataflow.Word {
	fold := iteration % k.folds
	b := in[1]
	if k.o.gate {
		if iteration < k.folds {
			k.kept[fold] = slices.Clone(b)
		}
		b = k.kept[fold]
	}
	y := make(dataflow.Word, k.pe)
	for pe := range y {
		y[pe] = wrap(k.o.product, (in[0][pe]+k.o.p.Offset[0])*(b[pe]+k.o.p.Offset[1]))
		switch {
		case k.requant != nil:
			y[pe] = k.requant.Apply(y[pe])
		case k.o.compare.Over != nil:
			y[pe] = k.o.compare.Apply(min(fold*k.pe+pe, len(k.o.compare.Over)-1), y[pe])
		}
	}
	return []dataflow.Word{y}
}

// wrap keeps what t's bits hold of v. A product of signs is one.
func wrap(t num.Type, v int64) int64 {
	if t.Kind == num.Bipolar {
		return v
	}
	return t.Decode(uint64(v))
}
