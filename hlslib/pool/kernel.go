package pool

import "hlsgen/internal/dataflow"

// kernel keeps what has been made of the window so far.
type kernel struct {
	sum  bool
	sf   int // extent
	kept dataflow.Word
}

func (o *op) Kernel(f dataflow.Fold) dataflow.Kernel {
	return &kernel{sum: o.p.Op == Sum, sf: o.positions / f.SIMD, kept: make(dataflow.Word, f.PE)}
}

func (k *kernel) Step(iteration int, in []dataflow.Word) []dataflow.Word {
	sf, pe := iteration%k.sf, len(k.kept)
	for i, x := range in[0] {
		switch kept := &k.kept[i%pe]; {
		case sf == 0 && i < pe:
			*kept = x
		case k.sum:
			*kept += x
		case x > *kept:
			*kept = x
		}
	}
	if sf < k.sf-1 {
		return []dataflow.Word{nil}
	}
	return []dataflow.Word{append(dataflow.Word(nil), k.kept...)}
}
