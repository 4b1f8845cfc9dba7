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
	in, out  []dataflow.StreamType
	length   int       // T, the time steps of a frame
	pe, simd []int     // divisors of the units of every phase, and of the length of every vector
	timings  *sync.Map // timings of circuits, by hardware (layer.CircuitKeyOf)
	sequence bool      // frames are sequences of any length

	functions *circuit.FunctionLibrary // circuits of linear values and products, built once per layer
}

// A program is the part of the layer that bind derives from the parameters and the inputs' types, before a fold is
// chosen.
type program struct {
	params Params
	cell   Cell // the first cell: all cells have its structure
	turns  int  // S*D turns in a time step
	lanes  int  // X lanes of the input per unit of the first phase
	phases []phase
	states []state
	stores []store
	dots   int       // lanes of dots per unit: the largest number of dots in a phase
	unit   *mac.Unit // multipliers and accumulators of the dots; a single zero weight if there are none
	vector num.Type  // element type of the vectors that dots multiply
}

// A phase holds a CellPhase of the parameters with its hardware, for all cells.
type phase struct {
	units, length int
	dots          []int // by lane: the index of a dot that the outputs depend on
	values        []value
}

// A value holds a CellOperation of the parameters with its ranges, types and tables, for all cells.
type value struct {
	CellOperation
	name    string
	all     num.Range // its range over all units of all cells
	elem    num.Type
	of      num.Range // range of the first argument
	needed  bool      // an output depends on it
	steps   stepped   // step functions, if Op is Steps
	factors []parameter
	bias    parameter
	requant []num.Requant // by cell
}

// constant reports whether the value is the same for all inputs, units and cells.
func (v *value) constant() bool { return v.all.Lo == v.all.Hi }

// built reports whether the value needs hardware: an output depends on it, and it is not constant.
func (v *value) built() bool { return v.needed && !v.constant() }

// A state holds the element type of a StateDefinition of the parameters, and whether an output depends on it.
type state struct {
	elem   num.Type
	needed bool
}

// bind returns the layer for its inputs, and the types of its outputs, as the package comment describes them. It
// returns an error if the inputs' shapes do not suit the program, or if a value is too wide.
func bind(base layer.Base[Params], in []dataflow.StreamType) (dataflow.Op, []dataflow.StreamType, error) {
	b := &op{Base: base, in: in, program: program{params: base.P, cell: base.P.Cells[0]},
		timings: new(sync.Map), functions: new(circuit.FunctionLibrary)}
	b.turns, b.lanes = b.P.sequences()*len(b.P.Cells), b.cell.InputLanesPerUnit()
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
		t := dataflow.StreamType{Shape: b.shape(o, b.length), Elem: b.phases[o.Phase].values[o.Value].elem}
		for len(t.Range) < t.Shape.ChannelCount() {
			for d := range b.P.Cells {
				t.Range = append(t.Range, r.of[d][o.Phase][o.Value]...)
			}
		}
		b.out = append(b.out, t)
	}
	return b, b.out, nil
}

// shape returns the shape of the output that consists of the value r in each of length time steps. It has an axis of
// sequences if the input has one.
func (o *op) shape(r ValueRef, length int) dataflow.Shape {
	n := o.turns * o.cell.Phases[r.Phase].Units
	switch apart := o.in[0].Shape.ElementCount() > o.length*o.in[0].Shape.ChannelCount(); {
	case apart && o.P.Sequence:
		return dataflow.Shape{length, o.P.sequences(), n / o.P.sequences()}
	case apart:
		return dataflow.Shape{o.P.sequences(), n / o.P.sequences()}
	case o.P.Sequence:
		return dataflow.Shape{length, n}
	}
	return dataflow.Shape{n}
}

// takes reports whether a frame of this shape is vectors of n elements. The n elements may be split into several axes
// by an axis of sequences.
func (p Params) takes(shape dataflow.Shape, n int) bool {
	s, c := p.sequences(), shape.ChannelCount()
	return c == n || s > 1 && c*s == n && shape[max(0, len(shape)-2)] == s
}

// bindShapes sets o.length, the number of time steps. It returns an error if the inputs' shapes do not suit the
// program.
func (o *op) bindShapes() error {
	if n := 1 + len(o.P.Starts); len(o.in) != n {
		return fmt.Errorf("%d inputs, want %d: the steps' and what states start with", len(o.in), n)
	}
	units := o.cell.Phases[0].Units
	want := o.turns * units * o.lanes
	if shape := o.in[0].Shape; !o.P.takes(shape, want) { // [1, steps, want] is accepted, too, and [want] for one step
		return fmt.Errorf("an input of shape %v for %d turns of %d units with %d lanes, want [steps, %d]", shape,
			o.turns, units, o.lanes, want)
	}
	o.length = o.in[0].Shape.ElementCount() / want
	for i, s := range o.P.Starts {
		if shape, want := o.in[1+i].Shape, o.turns*o.cell.units(s); !o.P.takes(shape, want) ||
			shape.ElementCount() != want {
			return fmt.Errorf("input %d of shape %v for state %d, want [%d]", 1+i, shape, s, want)
		}
	}
	return nil
}

// bindValues sets the range and element type of every value and state, and marks those that the outputs depend on.
func (g *program) bindValues(r *ranges) error {
	g.phases, g.states = make([]phase, len(g.cell.Phases)), make([]state, len(g.cell.States))
	for i, p := range g.cell.Phases {
		b := phase{units: p.Units, length: g.cell.length(p), values: make([]value, len(p.Values))}
		for k, v := range p.Values {
			all := r.union(i, k)
			b.values[k] = value{CellOperation: v, name: fmt.Sprintf("v%d_%d", i, k), all: all,
				elem: num.NarrowestIntTypeFor(all)}
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
		if g.states[s].elem = num.NarrowestIntTypeFor(all); g.states[s].elem.Width > maxBits {
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

// need marks the value r as needed, and with it all values, dots and states on which it depends. A constant depends on
// nothing.
func (g *program) need(r ValueRef) {
	p, v := &g.phases[r.Phase], &g.phases[r.Phase].values[r.Value]
	if v.needed {
		return
	}
	if v.needed = true; v.constant() {
		return
	}
	for a, of := range v.Of {
		if v.Op != OpLinear || g.weighs(r, a) {
			g.need(ValueRef{r.Phase, of})
		}
	}
	switch v.Op {
	case OpDot:
		if !slices.Contains(p.dots, v.At) {
			p.dots = append(p.dots, v.At)
		}
		if program := g.cell.Phases[r.Phase]; program.State != nil {
			g.needState(*program.State)
		} else {
			g.need(*program.Of)
		}
	case OpState:
		g.needState(v.At)
	case OpEarlierPhaseValue:
		g.need(ValueRef{v.Phase, v.At})
	}
}

// weighs reports whether argument number a of the linear value r has a factor other than 0 in any unit of any cell.
func (g *program) weighs(r ValueRef, a int) bool {
	return slices.ContainsFunc(g.params.Cells, func(c Cell) bool {
		factors := c.Phases[r.Phase].Values[r.Value].Factors[a]
		return slices.ContainsFunc(factors, func(f int64) bool { return f != 0 })
	})
}

func (g *program) needState(s int) {
	g.states[s].needed = true
	g.need(g.cell.States[s].Next)
}

// bindNumbers sets the factors, biases, requantisers or step functions of value k in phase i, if it is built. It
// returns an error if these do not fit.
func (g *program) bindNumbers(i, k int, r *ranges) error {
	v := &g.phases[i].values[k]
	if !v.built() {
		return nil
	}
	each := func(of func(CellOperation) []int64) (cells [][]int64) {
		for _, c := range g.params.Cells {
			cells = append(cells, of(c.Phases[i].Values[k]))
		}
		return cells
	}
	for a := range v.Of {
		if v.Op == OpLinear {
			name := fmt.Sprintf("%s_factor%d", v.name, a)
			v.factors = append(v.factors, newParameter(name, "of value "+fmt.Sprint(v.Of[a]), g.phases[i].units,
				each(func(w CellOperation) []int64 { return w.Factors[a] })))
		}
	}
	switch v.Op {
	case OpLinear:
		v.bias = newParameter(v.name+"_bias", "added", g.phases[i].units,
			each(func(w CellOperation) []int64 { return g.bias(i, w) }))
	case OpRequant:
		for _, c := range g.params.Cells {
			v.requant = append(v.requant, c.Phases[i].Values[k].Requant.WithLeastShift())
		}
	case OpStepFunction:
		return g.bindSteps(i, k, r)
	}
	return nil
}

// bias returns, by unit, the bias of the linear value v in phase i. It includes the contribution of constant arguments.
func (g *program) bias(i int, v CellOperation) []int64 {
	list := make([]int64, g.phases[i].units)
	for u := range list {
		if len(v.Bias) > 0 {
			list[u] = layer.ElementForChannel(v.Bias, u)
		}
		for a, of := range v.Of {
			if x := &g.phases[i].values[of]; x.constant() {
				list[u] += layer.ElementForChannel(v.Factors[a], u) * x.all.Lo
			}
		}
	}
	return list
}

// bindDots sets the type of weights, products and accumulators of all needed dots. It returns an error if an
// accumulator is too wide.
func (g *program) bindDots(r *ranges) error {
	var weights [][]int64
	var inputs [][]num.Range
	all := num.SingleValueRange(0)
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
	g.vector = num.NarrowestIntTypeFor(all)
	var err error
	if g.unit, err = mac.BindUnit(weights, nil, g.cell.product(), g.vector,
		func(c int) []num.Range { return inputs[c] }); err != nil {
		return err
	}
	if g.padded() {
		mac.AllowZeroWeights(g.unit)
	}
	return nil
}

// divisors returns the possible PE and SIMD: the common divisors of all phases' units, and of the lengths of
// all vectors that dots multiply. simd is [1] if there are no dots.
func divisors(o *op) (pe, simd []int) {
	units, lengths := 0, 0
	for _, p := range o.phases {
		if units = dataflow.GCD(units, p.units); len(p.dots) > 0 {
			lengths = dataflow.GCD(lengths, p.length)
		}
	}
	return dataflow.Divisors(units), dataflow.Divisors(max(1, lengths))
}

// padded reports whether the phases have different numbers of dots. Then some lanes multiply with zeros in some phases.
func (g *program) padded() bool {
	return slices.ContainsFunc(g.phases, func(p phase) bool { return len(p.dots) > 0 && len(p.dots) < g.dots })
}

// counts returns the numbers of operations and parameters under FINN's names: the products of the dots, their
// weights, and the thresholds of step functions.
func (o *op) counts() map[string]int64 {
	counts, weights := map[string]int64{}, int64(0)
	for _, p := range o.phases {
		weights += int64(len(o.P.Cells) * p.units * len(p.dots) * p.length)
		for _, v := range p.values {
			if v.built() && v.Op == OpStepFunction {
				k := v.steps.compare
				counts["param_threshold_"+v.steps.of.String()] += int64(len(k.At) * k.ThresholdsPerChannel())
			}
		}
	}
	counts[fmt.Sprintf("op_mac_%s_%s", o.vector, o.unit.Weight)] += weights * int64(o.P.sequences()*o.length)
	counts["param_weight_"+o.unit.Weight.String()] += weights
	return counts
}
