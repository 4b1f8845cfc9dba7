package rnn

import (
	"slices"

	"hlsgen/hlslib/layer"
	"hlsgen/internal/dataflow"
)

// A kernel is the state of the hardware. It has, by turn, the states at the beginning of a step, the values computed in
// the step, and the accumulators.
type kernel struct {
	o      *op
	f      dataflow.Fold
	at     timing
	states [][][]int64   // by turn, state and unit
	values [][][][]int64 // by turn, phase, unit and value
	vector []int64       // the vector that the current phase multiplies
	sums   []int64       // by PE and lane; a wrap at 64 bits leaves the accumulator's low bits right
}

func (o *op) Kernel(f dataflow.Fold, t dataflow.Target) dataflow.Kernel {
	k := &kernel{o: o, f: f, at: o.timing(f, t), sums: make([]int64, f.PE*max(1, o.dots))}
	for turn := range o.turns {
		k.states = append(k.states, o.cellOf(turn).start())
		var values [][][]int64
		for _, p := range o.phases {
			units := make([][]int64, p.units)
			for u := range units {
				units[u] = make([]int64, len(p.values))
			}
			values = append(values, units)
		}
		k.values = append(k.values, values)
	}
	return k
}

// Resume makes a kernel continue with the states of the kernel before, which computed frames of another length.
func (o *op) Resume(next, before dataflow.Kernel) { next.(*kernel).states = before.(*kernel).states }

// cellOf returns the cell that computes the turn with the given number: turns go through the directions of each
// sequence.
func (g *program) cellOf(turn int) Cell { return g.params.Cells[turn%len(g.params.Cells)] }

func (k *kernel) Step(iteration int, in []dataflow.Word) []dataflow.Word {
	o := k.o
	if iteration == 0 && !o.P.Keeps {
		for turn := range o.turns {
			k.states[turn] = o.cellOf(turn).start()
		}
	}
	for i, s := range o.P.Starts {
		if in[1+i] != nil {
			turn, first := iteration*k.f.PE/o.cell.units(s), iteration*k.f.PE%o.cell.units(s)
			copy(k.states[turn][s][first:], in[1+i])
		}
	}
	out := make([]dataflow.Word, len(o.out))
	iteration -= k.at.head + k.at.rest
	if iteration < 0 {
		return out
	}
	t, clock := iteration/k.at.step, iteration%k.at.step
	for i, p := range k.at.phases {
		if at := clock - p.start; at >= 0 && at < o.turns*p.turn {
			k.clock(i, at/p.turn, at%p.turn/p.sf, at%p.sf, in[0])
			if at%p.sf == p.sf-1 && (o.P.Sequence || t == o.length-1) {
				k.write(out, i, at/p.turn, at%p.turn/p.sf)
			}
		}
	}
	if clock == k.at.phases[len(k.at.phases)-1].end(o)-1 {
		k.next()
	}
	return out
}

// end returns the clock of a step that follows the phase's last clock.
func (s span) end(o *op) int { return s.start + o.turns*s.turn }

// next replaces every state by the value that the step computed for it.
func (k *kernel) next() {
	for turn, states := range k.states {
		for s, of := range k.o.cell.States {
			states[s] = column(k.values[turn][of.Next.Phase], of.Next.Value)
		}
	}
}

// clock computes clock sf of word n of a turn in phase i: it adds products. In a word's last clock it also computes the
// word's values. x is the input's word.
func (k *kernel) clock(i, turn, n, sf int, x dataflow.Word) {
	o, p := k.o, &k.o.phases[i]
	c := o.cellOf(turn)
	if len(p.dots) > 0 {
		k.accumulate(c, i, turn, n, sf)
	}
	if sf < k.at.phases[i].sf-1 {
		return
	}
	for pe := range k.f.PE {
		var lanes []int64
		if i == 0 {
			lanes = x[pe*o.lanes : (pe+1)*o.lanes]
		}
		k.unit(i, turn, n*k.f.PE+pe, lanes, k.sums[pe*len(p.dots):])
	}
}

// accumulate adds the products of clock sf of word n of a turn in phase i to the sums.
func (k *kernel) accumulate(c Cell, i, turn, n, sf int) {
	p, program := &k.o.phases[i], &c.Phases[i]
	switch {
	case n+sf > 0:
	case program.State != nil:
		k.vector = k.states[turn][*program.State]
	default:
		k.vector = column(k.values[turn][program.Of.Phase], program.Of.Value)
	}
	vector := k.vector[sf*k.f.SIMD : (sf+1)*k.f.SIMD]
	for pe := range k.f.PE {
		for lane, dot := range p.dots {
			d, sum := &program.Dots[dot], &k.sums[pe*len(p.dots)+lane]
			if sf == 0 {
				*sum = 0
			}
			for j, w := range d.Weights[n*k.f.PE+pe][sf*k.f.SIMD : (sf+1)*k.f.SIMD] {
				product := w * vector[j]
				if d.Product != nil {
					product = d.Product.Apply(product)
				}
				*sum += product
			}
		}
	}
}

// unit computes the built values of unit u from its lanes x of the input and its sums.
func (k *kernel) unit(i, turn, u int, x, sums []int64) {
	o, p, d := k.o, &k.o.phases[i], turn%len(k.o.P.Cells)
	values := k.values[turn][i][u]
	for n := range p.values {
		v := &p.values[n]
		if !v.built() {
			values[n] = v.all.Lo
			continue
		}
		var z int64
		switch v.Op {
		case OpInput:
			z = x[v.At]
		case OpDot:
			z = o.unit.Acc.DecodeBits(uint64(sums[slices.Index(p.dots, v.At)]))
		case OpState:
			z = k.states[turn][v.At][u]
		case OpEarlierPhaseValue:
			z = k.values[turn][v.Phase][u][v.At]
		case OpLinear:
			z = v.bias.of(d, u)
			for _, a := range o.terms(i, v) {
				z += v.factors[a].of(d, u) * values[v.Of[a]]
			}
		case OpProduct:
			z = values[v.Of[0]] * values[v.Of[1]]
		case OpStepFunction:
			z = v.steps.form(k.f.PE).ComputeCode(v.steps.function(d, u), values[v.Of[0]])
		case OpRequant:
			z = layer.ElementForChannel(v.requant, d).Apply(values[v.Of[0]])
		}
		values[n] = layer.WrapToType(v.elem, z)
	}
}

// write sets the output words that are complete after word n of a turn in phase i.
func (k *kernel) write(out []dataflow.Word, i, turn, n int) {
	for port, r := range k.o.P.Outputs {
		if r.Phase != i {
			continue
		}
		word := make(dataflow.Word, k.f.PE)
		for pe := range word {
			word[pe] = k.values[turn][i][n*k.f.PE+pe][r.Value]
		}
		out[port] = word
	}
}
