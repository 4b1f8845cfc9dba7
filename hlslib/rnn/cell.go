package rnn

import (
	"fmt"
	"slices"

	"hlsgen/internal/circuit"
	"hlsgen/internal/dataflow"
	"hlsgen/internal/num"
)

// phase adds all values of phase i to the circuit, and their outputs.
func (w *wiring) phase(i int) {
	p := &w.o.phases[i]
	values := make([][]circuit.Value, len(p.values))
	w.values = append(w.values, values)
	for k := range p.values {
		v := &p.values[k]
		if !v.built() || v.Op == OpState || v.Op == OpEarlierPhaseValue {
			continue // w.of reads these from memory
		}
		values[k] = w.value(i, v)
		for pe, x := range values[k] {
			values[k][pe] = circuit.AssumeRange(x, v.all)
		}
	}
}

// of returns value k of phase i for each of the PE units. A stored value is read so that it is available at the given
// stage; other values come at the stage that computes them.
func (w *wiring) of(i, k, stage int) []circuit.Value {
	v := &w.o.phases[i].values[k]
	switch {
	case v.constant():
		return slices.Repeat([]circuit.Value{w.b.ConstantNumber(v.all.Lo)}, w.f.PE)
	case !v.built():
		return nil
	case v.Op == OpState || v.Op == OpEarlierPhaseValue:
		units := w.units(w.o.kept(v), stage)
		for pe, x := range units {
			units[pe] = circuit.AssumeRange(x, v.all)
		}
		return units
	}
	return w.values[i][k]
}

// kept returns the index of the store from which the value v reads a state or an earlier value.
func (g *program) kept(v *value) int {
	return slices.IndexFunc(g.stores, func(s store) bool {
		switch {
		case s.vector:
			return false
		case v.Op == OpState:
			return s.state == v.At
		}
		return s.state < 0 && s.writer == ValueRef{v.Phase, v.At}
	})
}

// arguments returns the values of phase i with the numbers in of, by argument and unit. Stored values are read so that
// they arrive together with the latest of the computed ones.
func (w *wiring) arguments(i int, of []int) [][]circuit.Value {
	stage := 0
	for _, k := range of {
		stage = max(stage, circuit.FirstCommonStage(w.values[i][k]...))
	}
	list := make([][]circuit.Value, len(of))
	for a, k := range of {
		list[a] = w.of(i, k, stage)
	}
	return list
}

// value adds the value v of phase i, which must be built, to the circuit, and returns it for each of the PE units.
func (w *wiring) value(i int, v *value) []circuit.Value {
	list := make([]circuit.Value, w.f.PE)
	args := w.arguments(i, v.Of)
	switch v.Op {
	case OpInput:
		for pe := range list {
			list[pe] = circuit.ElementOf(w.in[0], pe*w.o.lanes+v.At, w.o.in[0].Elem)
		}
	case OpDot:
		for pe := range list {
			list[pe] = w.sums[pe*w.o.dots+w.o.lane(i, v.At)]
		}
	case OpLinear:
		for pe := range list {
			list[pe] = w.linear(i, v, args, pe)
		}
	case OpProduct:
		for pe := range list {
			list[pe] = w.product(v, args[0][pe], args[1][pe])
		}
	case OpStepFunction:
		return v.steps.form(w.f.PE).BuildCircuit(w.b, w.row(i, v.steps.row(), circuit.FirstCommonStage(args[0]...)),
			args[0])
	case OpRequant:
		for pe := range list {
			list[pe] = w.requantised(i, v, args[0][pe])
		}
	}
	return list
}

// fetching is the number of pipeline stages from a table's address to its row: two, as block RAM takes.
const fetching = 2

// row returns the address of a table in phase i, where r says how it is selected. It comes early enough for the row to
// arrive at the given stage.
func (w *wiring) row(i int, r row, stage int) circuit.Value {
	at := w.at.phases[i]
	index := w.b.ConstantNumber(0)
	switch r {
	case byCell:
		index = at.cell
	case byWord:
		index = at.word
	}
	return index.AtStage(max(0, stage-fetching))
}

// linear returns the linear value v of unit pe in phase i, from its arguments. Intermediate sums may wrap around at the
// value's width; the total fits in it.
func (w *wiring) linear(i int, v *value, args [][]circuit.Value, pe int) circuit.Value {
	terms := w.o.terms(i, v)
	if !w.o.adds(i, v) {
		return args[terms[0]][pe]
	}
	stage := 0
	for _, a := range terms {
		stage = max(stage, args[a][pe].Stage())
	}
	operands := []circuit.Value{w.parameter(i, &v.bias, pe, stage)}
	for _, a := range terms {
		x := args[a][pe]
		operands = append(operands, x, w.parameter(i, &v.factors[a], pe, x.Stage()))
	}
	dsp := make([]bool, len(terms))
	for k, a := range terms {
		dsp[k] = w.f.Compute == dataflow.MultiplierInDSPs && v.factors[a].multiplies && !v.factors[a].same
	}
	sum := func(b *circuit.Builder, o []circuit.Value) []circuit.Value {
		h := b.NewBitHeap()
		h.AddShifted(o[0], 0)
		for k := range terms {
			multiply(h, o[1+2*k], o[2+2*k], dsp[k])
		}
		return []circuit.Value{h.Sum(v.all)}
	}
	return w.b.CallFunction(w.o.functions, fmt.Sprint("linear ", v.all, dsp), operands, sum)[0]
}

// product returns the product v of x and y.
func (w *wiring) product(v *value, x, y circuit.Value) circuit.Value {
	dsp := w.f.Compute == dataflow.MultiplierInDSPs
	of := func(b *circuit.Builder, o []circuit.Value) []circuit.Value {
		h := b.NewBitHeap()
		multiply(h, o[0], o[1], dsp)
		return []circuit.Value{h.Sum(v.all)}
	}
	return w.b.CallFunction(w.o.functions, fmt.Sprint("product ", v.all, dsp), []circuit.Value{x, y}, of)[0]
}

// multiply adds x*y to the heap. It uses a DSP multiplier if dsp is set and the product fits in 64 bits.
func multiply(h *circuit.BitHeap, x, y circuit.Value, dsp bool) {
	_, ok1 := x.Range().TimesConstant(y.Range().Lo)
	_, ok2 := x.Range().TimesConstant(y.Range().Hi)
	if dsp && ok1 && ok2 {
		h.AddShifted(circuit.MultiplyInDSP(x, y), 0)
		return
	}
	h.AddProduct(x, y)
}

// parameter returns the number that the parameter p has for unit pe in phase i, available at the given stage.
func (w *wiring) parameter(i int, p *parameter, pe, stage int) circuit.Value {
	if p.same {
		return w.b.ConstantNumber(p.value)
	}
	if p.row() == byCell {
		pe = 0
	}
	t := w.table(p.name, func() dataflow.Table { return p.table(w.f.PE) })
	return circuit.ElementOf(t.ReadRow(w.row(i, p.row(), stage)), pe, p.elem)
}

// requantised returns x after the requantiser that the value v of phase i has in the current cell.
func (w *wiring) requantised(i int, v *value, x circuit.Value) circuit.Value {
	var cells []circuit.Value
	for _, q := range v.requant {
		of := x
		if _, ok := q.ProductRange(x.Range()); !ok { // in this cell the product fits in 63 bits
			most := (int64(1)<<62 - 1) / max(q.Multiplier, -q.Multiplier)
			of = circuit.AssumeRange(x, num.Range{Lo: -most, Hi: most})
		}
		cells = append(cells, circuit.Requantise(of, q))
	}
	if !slices.ContainsFunc(v.requant, func(q num.Requant) bool { return q != v.requant[0] }) {
		return cells[0]
	}
	return circuit.MuxByIndex(w.at.phases[i].cell, cells...)
}
