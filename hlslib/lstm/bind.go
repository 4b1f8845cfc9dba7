package lstm

import (
	"fmt"

	"hlsgen/hlslib/layer"
	"hlsgen/hlslib/mac"
	"hlsgen/internal/dataflow"
	"hlsgen/internal/num"
)

// tanh is the place of the cells' output function behind the gates.
const tanh = gates

type op struct {
	layer.Base[Params]
	in            dataflow.Type
	out           []dataflow.Type
	length, units int // T and H
	unit          *mac.Unit
	values        values             // of all units
	pre           num.Type           // of a gate before its steps
	h, c          num.Type           // of the state
	steps         [gates + 1]stepped // by gate, and tanh; nothing of a coupled input gate
	divisors      []int              // of H
}

// values are the ranges of what one unit computes in a step, or of what all units do.
type values struct {
	pre                        [gates]num.Range // before the steps
	code                       [gates]num.Range
	forget, input, sum, output num.Range // f*c, i*g, the sum for c', o*tanh: before they are requantised
	kept, taken                num.Range // f*c and i*g after
	c, tanh, h                 num.Range
}

// all lists the ranges.
func (v *values) all() []*num.Range {
	list := []*num.Range{&v.forget, &v.input, &v.sum, &v.output, &v.kept, &v.taken, &v.c, &v.tanh, &v.h}
	for g := range gates {
		list = append(list, &v.pre[g], &v.code[g])
	}
	return list
}

// union is the values of both.
func (v values) union(o values) values {
	others := o.all()
	for i, r := range v.all() {
		*r = r.Union(*others[i])
	}
	return v
}

// shape is that of an output.
func (o *op) shape() dataflow.Shape {
	if o.P.Sequence {
		return dataflow.Shape{o.length, len(o.P.Cells) * o.units}
	}
	return dataflow.Shape{len(o.P.Cells) * o.units}
}

// bind takes one input of shape [T, D*4*H] and gives one output, or two, of shape [T, D*H] or [D*H].
func bind(base layer.Base[Params], in []dataflow.Type) (dataflow.Op, []dataflow.Type, error) {
	b := &op{Base: base, in: in[0], units: base.P.Cells[0].units()}
	if shape := in[0].Shape; len(shape) != 2 || shape[1] != len(b.P.Cells)*b.units*gates {
		return nil, nil, fmt.Errorf("an input of shape %v for %d cells of %d units, want [steps, %d]", shape,
			len(b.P.Cells), b.units, len(b.P.Cells)*b.units*gates)
	}
	b.length = in[0].Shape[0]
	b.divisors = dataflow.Divisors(b.units)
	units, state, err := b.bindValues()
	if err != nil {
		return nil, nil, err
	}
	first := b.P.Cells[0]
	lanes := gates - b.P.firstGate()
	b.unit, err = mac.Bind(b.P.weights(), nil, first.Product, b.h,
		func(row int) []num.Range { return state[row/lanes/b.units] })
	if err != nil {
		return nil, nil, err
	}
	if err := b.bindSteps(units); err != nil {
		return nil, nil, err
	}
	h := dataflow.Type{Shape: b.shape(), Elem: b.h, Range: make([]num.Range, len(units))}
	c := dataflow.Type{Shape: b.shape(), Elem: b.c, Range: make([]num.Range, len(units))}
	for i, v := range units {
		h.Range[i], c.Range[i] = v.h, v.c
	}
	if b.out = []dataflow.Type{h}; b.P.States {
		b.out = append(b.out, c)
	}
	return b, b.out, nil
}

// rounds is how often bindValues narrows the ranges. Every round holds by itself; the first one brings most.
const rounds = 3

// bindValues derives what every unit computes, cell by cell, and the types of the state. hidden is h by cell, its
// initial values included. At first h is what any code of its gate makes of any value of tanh, and c anything within
// its limits; what a step makes of these and the initial values is all that any step sees.
func (o *op) bindValues() (units []values, hidden [][]num.Range, err error) {
	var state [][]num.Range
	for _, cell := range o.P.Cells {
		h, c := make([]num.Range, o.units), make([]num.Range, o.units)
		for u := range o.units {
			var e exact
			h[u] = e.requant(cell.Hidden, e.product(num.Hull(layer.Of(cell.Gates[gateO].Steps, u).Value),
				num.Hull(layer.Of(cell.Tanh, u).Value)))
			if e.lost {
				return nil, nil, fmt.Errorf("unit %d: the output gate times tanh leaves 63 bits", u)
			}
			h[u], c[u] = h[u].Union(num.Point(at(cell.H0, u))),
				num.Range{Lo: cell.Cell.Lo, Hi: cell.Cell.Hi}.Union(num.Point(at(cell.C0, u)))
		}
		hidden, state = append(hidden, h), append(state, c)
	}
	for range rounds {
		units = units[:0]
		for d, cell := range o.P.Cells {
			for u := range o.units {
				v, ok := o.valuesOf(d, u, hidden[d], state[d][u])
				if !ok {
					return nil, nil, fmt.Errorf("cell %d, unit %d: with c in %v a value leaves 63 bits", d, u,
						state[d][u])
				}
				units = append(units, v)
			}
			for u, v := range units[d*o.units:] {
				hidden[d][u], state[d][u] = v.h.Union(num.Point(at(cell.H0, u))), v.c.Union(num.Point(at(cell.C0, u)))
			}
		}
	}
	o.values = units[0]
	h, c := hidden[0][0], state[0][0]
	for i, v := range units {
		o.values = o.values.union(v)
		h, c = h.Union(hidden[i/o.units][i%o.units]), c.Union(state[i/o.units][i%o.units])
	}
	pre := o.values.pre[gateF]
	for g := o.P.firstGate(); g < gates; g++ {
		pre = pre.Union(o.values.pre[g])
	}
	o.pre, o.h, o.c = num.Smallest(pre), num.Smallest(h), num.Smallest(c)
	if w := max(o.pre.Width, o.h.Width, o.c.Width, num.Smallest(o.values.sum).Width); w > maxBits {
		return nil, nil, fmt.Errorf("a value needs %d bits, at most %d are possible", w, maxBits)
	}
	return units, hidden, nil
}

const maxBits = 63

// valuesOf is what unit u of cell d computes of its inputs, of h in hidden and c in old. ok is false where something
// leaves 63 bits.
func (o *op) valuesOf(d, u int, hidden []num.Range, old num.Range) (v values, ok bool) {
	cell := o.P.Cells[d]
	var e exact
	gate := func(g int, seen num.Range) {
		p := cell.Gates[g]
		sum, ok := mac.Sum(cell.Recurrent[g][u], cell.Product, hidden)
		e.lost = e.lost || !ok
		z := e.plus(e.times(o.in.Channel((d*o.units+u)*gates+g), p.Factors[0]), e.times(sum, p.Factors[1]))
		z = e.plus(z, num.Point(at(p.Bias, u)))
		v.pre[g] = e.plus(z, e.times(seen, at(p.Peephole, u)))
		v.code[g] = layer.Of(p.Steps, u).Reach(v.pre[g])
	}
	gate(gateF, old)
	gate(gateG, num.Range{})
	if cell.CIFG != nil {
		v.code[gateI] = e.plus(num.Point(*cell.CIFG), e.times(v.code[gateF], -1))
	} else {
		gate(gateI, old)
	}
	v.forget, v.input = e.product(v.code[gateF], old), e.product(v.code[gateI], v.code[gateG])
	v.kept, v.taken = e.requant(cell.Forget, v.forget), e.requant(cell.Input, v.input)
	v.sum = e.plus(e.times(v.kept, cell.CellFactors[0]), e.times(v.taken, cell.CellFactors[1]))
	v.c = e.requant(cell.Cell, v.sum)
	gate(gateO, v.c)
	v.tanh = layer.Of(cell.Tanh, u).Reach(v.c)
	v.output = e.product(v.code[gateO], v.tanh)
	v.h = e.requant(cell.Hidden, v.output)
	return v, !e.lost
}

// exact is arithmetic on ranges that notes when one leaves 64 bits, or a requantiser's product 63.
type exact struct{ lost bool }

func (e *exact) keep(r num.Range, ok bool) num.Range {
	e.lost = e.lost || !ok
	return r
}

func (e *exact) times(r num.Range, w int64) num.Range         { return e.keep(r.Times(w)) }
func (e *exact) plus(a, b num.Range) num.Range                { return e.keep(a.Plus(b)) }
func (e *exact) requant(q num.Requant, r num.Range) num.Range { return e.keep(q.Range(r)) }
func (e *exact) product(a, b num.Range) num.Range             { return e.times(a, b.Lo).Union(e.times(a, b.Hi)) }

// Accumulator tells the width of the sums of products by all rules.
func (o *op) Accumulator() dataflow.Bound { return o.unit.Accumulator() }

// Counts gives operations and parameters by FINN's names: the products of weights, and the thresholds of gates and
// tanh.
func (o *op) Counts() map[string]int64 {
	counts := o.unit.Counts(o.length)
	for g := o.P.firstGate(); g <= tanh; g++ {
		k := o.steps[g].compare
		counts["param_threshold_"+o.steps[g].of.String()] += int64(len(k.Over) * k.Steps())
	}
	return counts
}
