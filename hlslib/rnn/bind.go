package rnn

import (
	"fmt"
	"slices"
	"sync"

	"hlsgen/hlslib/layer"
	"hlsgen/hlslib/mac"
	"hlsgen/internal/circuit"
	"hlsgen/internal/dataflow"
	"hlsgen/internal/num"
)

type op struct {
	layer.Base[Params]
	program
	in, out  []dataflow.Type
	length   int       // T
	pe, simd []int     // divisors of all units, and of all vectors that dots multiply
	timings  *sync.Map // of circuits, by hardware
	sequence bool      // of any number of steps

	functions *circuit.Library // of sums and products of a unit
}

// A program is what is built of the parameters.
type program struct {
	params Params
	cell   Cell // the first: what all have in common
	turns  int  // S*D
	lanes  int  // X
	phases []phase
	states []state
	stores []store
	dots   int       // lanes of dots that a unit has: those of the phase with the most
	unit   *mac.Unit // the dots that are built; one that is always 0 where there are none
	vector num.Type  // an element of what dots multiply
}

// A phase is what is built of one.
type phase struct {
	units, length int
	dots          []int // in the order of their lanes: those that something depends on
	values        []value
}

// A value is what is built of one.
type value struct {
	Value
	name    string
	all     num.Range // over all units of all cells
	elem    num.Type
	of      num.Range // of the first argument
	needed  bool      // something depends on it that goes out
	steps   stepped   // of Steps
	factors []parameter
	bias    parameter
	requant []num.Requant // by cell
}

// constant reports whether there is nothing to compute.
func (v *value) constant() bool { return v.all.Lo == v.all.Hi }

// built reports whether there is hardware for it.
func (v *value) built() bool { return v.needed && !v.constant() }

// A state is what is kept of one from step to step.
type state struct {
	elem   num.Type
	needed bool
}

// bind takes the inputs of the package's comment.
func bind(base layer.Base[Params], in []dataflow.Type) (dataflow.Op, []dataflow.Type, error) {
	b := &op{Base: base, in: in, program: program{params: base.P, cell: base.P.Cells[0]},
		timings: new(sync.Map), functions: new(circuit.Library)}
	b.turns, b.lanes = b.P.sequences()*len(b.P.Cells), b.cell.Lanes()
	if err := b.bindShapes(); err != nil {
		return nil, nil, err
	}
	r, err := b.bindRanges(in)
	if err != nil {
		return nil, nil, err
	}
	if err := b.bindValues(r); err != nil {
		return nil, nil, err
	}
	if err := b.bindDots(r); err != nil {
		return nil, nil, err
	}
	b.pe, b.simd = divisors(b)
	b.bindStores()
	for _, o := range b.P.Outputs {
		t := dataflow.Type{Shape: b.shape(o, b.length), Elem: b.phases[o.Phase].values[o.Value].elem}
		for len(t.Range) < t.Shape.Channels() {
			for d := range b.P.Cells {
				t.Range = append(t.Range, r.of[d][o.Phase][o.Value]...)
			}
		}
		b.out = append(b.out, t)
	}
	return b, b.out, nil
}

// shape is that of an output in frames of so many steps.
func (o *op) shape(r Ref, length int) dataflow.Shape {
	n := o.turns * o.cell.Phases[r.Phase].Units
	switch apart := o.in[0].Shape.Size() > o.length*o.in[0].Shape.Channels(); {
	case apart && o.P.Sequence:
		return dataflow.Shape{length, o.P.sequences(), n / o.P.sequences()}
	case apart:
		return dataflow.Shape{o.P.sequences(), n / o.P.sequences()}
	case o.P.Sequence:
		return dataflow.Shape{length, n}
	}
	return dataflow.Shape{n}
}

// takes reports whether a shape is that of vectors of n elements, perhaps with an axis of sequences.
func (p Params) takes(shape dataflow.Shape, n int) bool {
	s, c := p.sequences(), shape.Channels()
	return c == n || s > 1 && c*s == n && shape[max(0, len(shape)-2)] == s
}

// bindShapes holds the inputs' shapes against the program.
func (o *op) bindShapes() error {
	if n := 1 + len(o.P.Starts); len(o.in) != n {
		return fmt.Errorf("%d inputs, want %d: the steps' and what states start with", len(o.in), n)
	}
	units := o.cell.Phases[0].Units
	want := o.turns * units * o.lanes
	if shape := o.in[0].Shape; !o.P.takes(shape, want) { // [1, steps, want] and, of one step, [want], too
		return fmt.Errorf("an input of shape %v for %d turns of %d units with %d lanes, want [steps, %d]", shape,
			o.turns, units, o.lanes, want)
	}
	o.length = o.in[0].Shape.Size() / want
	for i, s := range o.P.Starts {
		if shape, want := o.in[1+i].Shape, o.turns*o.cell.units(s); !o.P.takes(shape, want) || shape.Size() != want {
			return fmt.Errorf("input %d of shape %v for state %d, want [%d]", 1+i, shape, s, want)
		}
	}
	return nil
}

// bindValues says what is built, of what everything is in its unit.
func (g *program) bindValues(r *ranges) error {
	g.phases, g.states = make([]phase, len(g.cell.Phases)), make([]state, len(g.cell.States))
	for i, p := range g.cell.Phases {
		b := phase{units: p.Units, length: g.cell.length(p), values: make([]value, len(p.Values))}
		for k, v := range p.Values {
			all := r.union(i, k)
			b.values[k] = value{Value: v, name: fmt.Sprintf("v%d_%d", i, k), all: all, elem: num.Smallest(all)}
			if len(v.Of) > 0 {
				b.values[k].of = b.values[v.Of[0]].all
			}
			if w := b.values[k].elem.Width; w > maxBits {
				return fmt.Errorf("phase %d, value %d (%s): it needs %d bits for %v, at most %d are possible", i, k,
					v.Op, w, all, maxBits)
			}
		}
		g.phases[i] = b
	}
	for s := range g.states {
		all := r.state[0][s][0]
		for d := range r.state {
			for _, x := range r.state[d][s] {
				all = all.Union(x)
			}
		}
		if g.states[s].elem = num.Smallest(all); g.states[s].elem.Width > maxBits {
			return fmt.Errorf("state %d needs %d bits for %v, at most %d are possible", s, g.states[s].elem.Width, all,
				maxBits)
		}
	}
	for _, out := range g.params.Outputs {
		g.need(out)
	}
	for i := range g.phases {
		slices.Sort(g.phases[i].dots)
		for k := range g.phases[i].values {
			if err := g.bindNumbers(i, k, r); err != nil {
				return fmt.Errorf("phase %d, value %d (%s): %w", i, k, g.cell.Phases[i].Values[k].Op, err)
			}
		}
	}
	return nil
}

// need marks a value, and all that it depends on. What is always the same depends on nothing.
func (g *program) need(r Ref) {
	p, v := &g.phases[r.Phase], &g.phases[r.Phase].values[r.Value]
	if v.needed {
		return
	}
	if v.needed = true; v.constant() {
		return
	}
	for a, of := range v.Of {
		if v.Op != Linear || g.weighs(r, a) {
			g.need(Ref{r.Phase, of})
		}
	}
	switch v.Op {
	case Sum:
		if !slices.Contains(p.dots, v.At) {
			p.dots = append(p.dots, v.At)
		}
		if program := g.cell.Phases[r.Phase]; program.State != nil {
			g.needState(*program.State)
		} else {
			g.need(*program.Of)
		}
	case OfState:
		g.needState(v.At)
	case Earlier:
		g.need(Ref{v.Phase, v.At})
	}
}

// weighs reports whether an argument of a linear value has a factor other than 0 in some unit.
func (g *program) weighs(r Ref, a int) bool {
	return slices.ContainsFunc(g.params.Cells, func(c Cell) bool {
		factors := c.Phases[r.Phase].Values[r.Value].Factors[a]
		return slices.ContainsFunc(factors, func(f int64) bool { return f != 0 })
	})
}

func (g *program) needState(s int) {
	g.states[s].needed = true
	g.need(g.cell.States[s].Next)
}

// bindNumbers makes the parameters of a value that is built, and its comparators.
func (g *program) bindNumbers(i, k int, r *ranges) error {
	v := &g.phases[i].values[k]
	if !v.built() {
		return nil
	}
	each := func(of func(Value) []int64) (cells [][]int64) {
		for _, c := range g.params.Cells {
			cells = append(cells, of(c.Phases[i].Values[k]))
		}
		return cells
	}
	for a := range v.Of {
		if v.Op == Linear {
			name := fmt.Sprintf("%s_factor%d", v.name, a)
			v.factors = append(v.factors, newParameter(name, "of value "+fmt.Sprint(v.Of[a]), g.phases[i].units,
				each(func(w Value) []int64 { return w.Factors[a] })))
		}
	}
	switch v.Op {
	case Linear:
		v.bias = newParameter(v.name+"_bias", "added", g.phases[i].units,
			each(func(w Value) []int64 { return g.bias(i, w) }))
	case Requant:
		for _, c := range g.params.Cells {
			v.requant = append(v.requant, c.Phases[i].Values[k].Requant.Reduced())
		}
	case Steps:
		return g.bindSteps(i, k, r)
	}
	return nil
}

// bias is what a linear value adds in every unit of a cell, with what its arguments do that are always the same.
func (g *program) bias(i int, v Value) []int64 {
	list := make([]int64, g.phases[i].units)
	for u := range list {
		if len(v.Bias) > 0 {
			list[u] = layer.Of(v.Bias, u)
		}
		for a, of := range v.Of {
			if x := &g.phases[i].values[of]; x.constant() {
				list[u] += layer.Of(v.Factors[a], u) * x.all.Lo
			}
		}
	}
	return list
}

// bindDots makes the sums that are built.
func (g *program) bindDots(r *ranges) error {
	var weights [][]int64
	var inputs [][]num.Range
	all := num.Point(0)
	for i, p := range g.phases {
		g.dots = max(g.dots, len(p.dots))
		if len(p.dots) == 0 {
			continue
		}
		for d, c := range g.params.Cells {
			vector := r.vector(c, d, i)
			for _, x := range vector {
				all = all.Union(x)
			}
			for _, dot := range p.dots {
				for _, row := range c.Phases[i].Dots[dot].Weights {
					weights, inputs = append(weights, row), append(inputs, vector)
				}
			}
		}
	}
	if len(weights) == 0 {
		weights, inputs = [][]int64{{0}}, [][]num.Range{{all}}
	}
	g.vector = num.Smallest(all)
	var err error
	if g.unit, err = mac.Bind(weights, nil, g.cell.product(), g.vector,
		func(c int) []num.Range { return inputs[c] }); err != nil {
		return err
	}
	if g.padded() {
		mac.Pad(g.unit)
	}
	return nil
}

// divisors are those of the units of all phases, and of what dots multiply; 1 where there are no dots.
func divisors(o *op) (pe, simd []int) {
	units, lengths := 0, 0
	for _, p := range o.phases {
		if units = dataflow.GCD(units, p.units); len(p.dots) > 0 {
			lengths = dataflow.GCD(lengths, p.length)
		}
	}
	return dataflow.Divisors(units), dataflow.Divisors(max(1, lengths))
}

// padded reports whether a phase has fewer dots than another.
func (g *program) padded() bool {
	return slices.ContainsFunc(g.phases, func(p phase) bool { return len(p.dots) > 0 && len(p.dots) < g.dots })
}

// Accumulator tells the width of the sums of products by all rules.
func (o *op) Accumulator() dataflow.Bound { return o.unit.Accumulator() }

// Counts gives operations and parameters by FINN's names: the products of weights, and the thresholds of steps.
func (o *op) Counts() map[string]int64 {
	counts, weights := map[string]int64{}, int64(0)
	for _, p := range o.phases {
		weights += int64(len(o.P.Cells) * p.units * len(p.dots) * p.length)
		for _, v := range p.values {
			if v.built() && v.Op == Steps {
				k := v.steps.compare
				counts["param_threshold_"+v.steps.of.String()] += int64(len(k.At) * k.Steps())
			}
		}
	}
	counts[fmt.Sprintf("op_mac_%s_%s", o.vector, o.unit.Weight)] += weights * int64(o.P.sequences()*o.length)
	counts["param_weight_"+o.unit.Weight.String()] += weights
	return counts
}
