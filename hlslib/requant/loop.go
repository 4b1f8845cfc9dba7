package requant

import (
	"iter"

	"hlsgen/internal/dataflow"
)

// Folds yields, for every PE that divides the channels in increasing order, the memories and multipliers to choose from.
// There is no memory where nothing differs between channels, and a table of one row is wiring, in LUTRAM by convention.
func (o *op) Folds() iter.Seq[dataflow.Fold] {
	compute := []dataflow.Compute{dataflow.NoCompute}
	if o.p.multiplies() {
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
	switch {
	case o.shared():
		return []dataflow.Memory{dataflow.NoMemory}
	case pe == o.channels:
		return []dataflow.Memory{dataflow.LUTRAM}
	}
	return []dataflow.Memory{dataflow.LUTRAM, dataflow.BRAM}
}

// shared reports whether nothing differs between channels.
func (o *op) shared() bool { return common(o.p.Multiplier) && common(o.p.Bias) }

// common reports whether all values are the same.
func common(values []int64) bool {
	for _, v := range values {
		if v != values[0] {
			return false
		}
	}
	return true
}

// multiplies reports whether there is anything to multiply: 0 and a power of two common to all channels are wiring, and
// -1, 0 and 1 a choice of sign.
func (p Params) multiplies() bool {
	m := p.Multiplier[0]
	if common(p.Multiplier) {
		m = max(m, -m) // the least int64 stays: a power of two as well
		return m&(m-1) != 0
	}
	for _, m := range p.Multiplier {
		if m < -1 || m > 1 {
			return true
		}
	}
	return false
}

// fits holds a fold against what Vitis HLS accepts.
func (o *op) fits(pe int) bool {
	row := 0
	if !common(o.p.Multiplier) {
		row = pe * o.multiplier.Width
	}
	if !common(o.p.Bias) {
		row = max(row, pe*o.bias.Width)
	}
	return pe*max(o.in.Elem.Width, o.out.Elem.Width) <= dataflow.MaxWord && row <= dataflow.MaxRow &&
		o.vectors <= dataflow.MaxIterations/(o.channels/pe)
}

func (o *op) Ports(f dataflow.Fold) (in, out []dataflow.Port) {
	words := o.vectors * o.channels / f.PE
	return []dataflow.Port{{Elem: o.in.Elem, PerWord: f.PE, Words: words}}, []dataflow.Port{{Elem: o.out.Elem, PerWord: f.PE, Words: words}}
}

// Loop has a latency of one clock to add and one to round and clip, one to multiply where there is a product, and one to
// fetch the parameters where there are several rows of them.
func (o *op) Loop(f dataflow.Fold, _ dataflow.Target) dataflow.Loop {
	each := dataflow.Index{Kind: dataflow.Each}
	l := dataflow.Nest{
		Trips:   []int{o.vectors, o.channels / f.PE},
		Read:    []dataflow.Access{{each, each}},
		Write:   []dataflow.Access{{each, each}},
		Latency: 2,
	}
	if o.p.multiplies() {
		l.Latency++
	}
	if !o.shared() && f.PE < o.channels {
		l.Latency++
	}
	return l.Loop()
}
