package add

import (
	"iter"

	"hlsgen/internal/dataflow"
)

// Folds yields, for every PE that divides the channels in increasing order, the memories and multipliers to choose from.
// There is no memory without tables, and a table of one row is wiring, in LUTRAM by convention; factors of -1, 0 and 1
// need no multiplier.
func (o *op) Folds() iter.Seq[dataflow.Fold] {
	compute := []dataflow.Compute{dataflow.NoCompute}
	if o.multiplies(0) || o.multiplies(1) {
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
	switch perChannel := o.table() || len(o.compare.Over) > 1; {
	case perChannel && pe < o.channels:
		return []dataflow.Memory{dataflow.LUTRAM, dataflow.BRAM}
	case perChannel || len(o.compare.Over) > 0:
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
	if o.table() {
		row = max(row, 2*pe*o.tableElem().Width)
	}
	return pe*max(o.in[0].Elem.Width, o.in[1].Elem.Width, o.out.Elem.Width) <= dataflow.MaxWord && row <= dataflow.MaxRow &&
		o.vectors <= dataflow.MaxIterations/(o.channels/pe)
}

func (o *op) Ports(f dataflow.Fold) (in, out []dataflow.Port) {
	port := func(t dataflow.Type) dataflow.Port {
		return dataflow.Port{Elem: t.Elem, PerWord: f.PE, Words: o.vectors * o.channels / f.PE}
	}
	return []dataflow.Port{port(o.in[0]), port(o.in[1])}, []dataflow.Port{port(o.out)}
}

// Loop has a latency of one clock to add, and one each to multiply and to compare.
func (o *op) Loop(f dataflow.Fold, _ dataflow.Target) dataflow.Loop {
	each := dataflow.Index{Kind: dataflow.Each}
	l := dataflow.Nest{
		Trips:   []int{o.vectors, o.channels / f.PE},
		Read:    []dataflow.Access{{each, each}, {each, each}},
		Write:   []dataflow.Access{{each, each}},
		Latency: 1,
	}
	if o.multiplies(0) || o.multiplies(1) {
		l.Latency++
	}
	if len(o.p.Steps) > 0 {
		l.Latency++
	}
	return l.Loop()
}
