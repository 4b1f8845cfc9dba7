package mul

import (
	"iter"

	"hlsgen/internal/dataflow"
)

// Folds yields, for every PE that divides the channels in increasing order, the memories and multipliers to choose from.
// There is no memory without tables, and a table of one row is wiring, in LUTRAM by convention.
func (o *op) Folds() iter.Seq[dataflow.Fold] {
	compute := []dataflow.Compute{dataflow.NoCompute}
	if o.multiplies() || o.rescales() {
		compute = []dataflow.Compute{dataflow.LUT, dataflow.DSP}
	}
	return func(yield func(dataflow.Fold) bool) {
		for _, pe := range o.pe {
			if !o.fits(pe) {
				continue
			}
			for _, m := range o.memories(pe) {
				for _, c := range compute {
					if !yield(dataflow.Fold{PE: pe, SIMD: 1, Memory: m, Compute: c}) {
						return
					}
				}
			}
		}
	}
}

func (o *op) memories(pe int) []dataflow.Memory {
	switch rows := len(o.compare.Over); {
	case rows > 1 && pe < o.channels:
		return []dataflow.Memory{dataflow.LUTRAM, dataflow.BRAM}
	case rows > 0:
		return []dataflow.Memory{dataflow.LUTRAM}
	}
	return []dataflow.Memory{dataflow.NoMemory}
}

// fits holds a fold against what Vitis HLS accepts.
func (o *op) fits(pe int) bool {
	row := o.stepBits
	if !o.compare.Shared() {
		row *= pe
	}
	return pe*max(o.in[0].Elem.Width, o.in[1].Elem.Width, o.out.Elem.Width) <= dataflow.MaxWord && row <= dataflow.MaxRow &&
		o.vectors <= dataflow.MaxIterations/(o.channels/pe)
}

func (o *op) Ports(f dataflow.Fold) (in, out []dataflow.Port) {
	port := func(t dataflow.Type) dataflow.Port {
		return dataflow.Port{Elem: t.Elem, PerWord: f.PE, Words: t.Shape.Size() / f.PE}
	}
	return []dataflow.Port{port(o.in[0]), port(o.in[1])}, []dataflow.Port{port(o.out)}
}

// Loop has a latency of one clock to multiply, and one each to add offsets, to fetch what is kept of a gate of several
// words, and to compare or to round and clip, which may have one more product before it.
func (o *op) Loop(f dataflow.Fold, _ dataflow.Target) dataflow.Loop {
	each, first := dataflow.Index{Kind: dataflow.Each}, dataflow.Index{Kind: dataflow.First}
	folds := o.channels / f.PE
	l := dataflow.Nest{
		Trips:   []int{o.vectors, folds},
		Read:    []dataflow.Access{{each, each}, {each, each}},
		Write:   []dataflow.Access{{each, each}},
		Latency: 1,
	}
	if o.gate {
		l.Read[1][0] = first
	}
	if o.p.Offset != [2]int64{} {
		l.Latency++
	}
	if o.gate && folds > 1 {
		l.Latency++
	}
	if o.rescales() {
		l.Latency++
	}
	if len(o.p.Steps) > 0 || o.p.Requant != nil {
		l.Latency++
	}
	return l.Loop()
}
