package lstm

import (
	"hlsgen/hlslib/layer"
	"hlsgen/internal/dataflow"
)

// kernel is the hardware's state: two buffers of h by cell, of which one is read and the other written, c by cell, and
// a sum per lane.
type kernel struct {
	o    *op
	f    dataflow.Fold
	at   clocks
	h    [2][][]int64
	c    [][]int64
	sums []int64 // by PE and lane; they wrap around at 64 bits, which changes none of the accumulator's
}

func (o *op) Kernel(f dataflow.Fold) dataflow.Kernel {
	k := &kernel{o: o, f: f, at: o.clocks(f), sums: make([]int64, f.PE*o.P.lanes())}
	for range o.P.Cells {
		for b := range k.h {
			k.h[b] = append(k.h[b], make([]int64, o.units))
		}
		k.c = append(k.c, make([]int64, o.units))
	}
	return k
}

func (k *kernel) Step(iteration int, in []dataflow.Word) []dataflow.Word {
	out := make([]dataflow.Word, len(k.o.out))
	t, clock := iteration/k.at.step, iteration%k.at.step
	if clock >= k.at.work {
		return out
	}
	if iteration == 0 {
		k.start()
	}
	d, n, sf := clock/k.at.cell, clock%k.at.cell/k.at.sf, clock%k.at.sf
	k.accumulate(k.h[t%2][d][sf*k.f.SIMD:(sf+1)*k.f.SIMD], d, n, sf)
	if sf < k.at.sf-1 {
		return out
	}
	first := n * k.f.PE
	h, c := k.h[1-t%2][d][first:first+k.f.PE], k.c[d][first:first+k.f.PE]
	for pe := range h {
		h[pe], c[pe] = k.unit(d, first+pe, in[0][pe*gates:(pe+1)*gates], k.sums[pe*k.o.P.lanes():(pe+1)*k.o.P.lanes()],
			c[pe])
	}
	if k.o.P.Sequence || t == k.o.length-1 {
		out[0] = append(dataflow.Word(nil), h...)
		if k.o.P.States {
			out[1] = append(dataflow.Word(nil), c...)
		}
	}
	return out
}

// start sets the state that every frame begins with.
func (k *kernel) start() {
	for d, cell := range k.o.P.Cells {
		for u := range k.o.units {
			k.h[0][d][u], k.c[d][u] = at(cell.H0, u), at(cell.C0, u)
		}
	}
}

// accumulate adds the products of one clock.
func (k *kernel) accumulate(h []int64, d, n, sf int) {
	lanes, product := k.o.P.lanes(), k.o.P.Cells[d].Product
	for i := range k.sums {
		g, unit := k.o.P.firstGate()+i%lanes, n*k.f.PE+i/lanes
		if sf == 0 {
			k.sums[i] = 0
		}
		for j, u := range k.o.P.Cells[d].Recurrent[g][unit][sf*k.f.SIMD : (sf+1)*k.f.SIMD] {
			p := u * h[j]
			if product != nil {
				p = product.Apply(p)
			}
			k.sums[i] += p
		}
	}
}

// unit is the new state of one unit, of its inputs and its sums by lane.
func (k *kernel) unit(d, unit int, x, sums []int64, old int64) (h, c int64) {
	o, cell := k.o, &k.o.P.Cells[d]
	before := func(g int, seen int64) int64 {
		p := &cell.Gates[g]
		sum := o.unit.Acc.Decode(uint64(sums[g-o.P.firstGate()]))
		return layer.Wrap(o.pre, p.Factors[0]*x[g]+p.Factors[1]*sum+at(p.Bias, unit)+at(p.Peephole, unit)*seen)
	}
	f := o.steps[gateF].apply(d, unit, before(gateF, old))
	var i int64
	if cell.CIFG != nil {
		i = *cell.CIFG - f
	} else {
		i = o.steps[gateI].apply(d, unit, before(gateI, old))
	}
	g := o.steps[gateG].apply(d, unit, before(gateG, 0))
	c = cell.Cell.Apply(cell.CellFactors[0]*cell.Forget.Apply(f*old) + cell.CellFactors[1]*cell.Input.Apply(i*g))
	return cell.Hidden.Apply(o.steps[gateO].apply(d, unit, before(gateO, c)) * o.steps[tanh].apply(d, unit, c)), c
}
