package lstm

import (
	"hlsgen/internal/dataflow"
	"hlsgen/internal/num"
)

func (o *op) Emit(f dataflow.Fold, _ dataflow.Target) dataflow.Instance {
	c, word := o.clocks(f), o.word(f)
	lanes := f
	lanes.PE *= o.P.lanes()
	sums, weights := o.unit.SumFields(lanes), o.unit.WeightTable(lanes)
	weights.Doc = "by cell, n and sf: element (pe*lanes + lane)*simd + i"
	i := dataflow.Instance{
		Header: "lstm.hpp",
		Func:   "lstm",
		Config: []dataflow.Field{
			{Name: "length", Doc: "time steps in a frame", Value: o.length},
			{Name: "cells", Doc: "cells that take turns in a step", Value: len(o.P.Cells)},
			{Name: "nf", Doc: "output words of a cell", Value: c.nf},
			{Name: "sf", Doc: "clocks of an output word", Value: c.sf},
			{Name: "pe", Doc: "units computed side by side", Value: f.PE},
			{Name: "simd", Doc: "elements of h that each gate consumes a clock", Value: f.SIMD},
			{Name: "lanes", Doc: "gates of a unit: 3 with a coupled input gate", Value: o.P.lanes()},
			{Name: "step", Doc: "clocks of a step", Value: c.step},
			{Name: "idle", Doc: "of which nothing is done in", Value: c.idle},
			{Name: "sequence", Doc: "every step goes out, else the last one", Value: o.P.Sequence},
			{Name: "h_t", Doc: "state h", Value: o.h},
			{Name: "c_t", Doc: "state c", Value: o.c},
			{Name: "words", Doc: "words of a cell's h in memory", Value: o.units / word},
			{Name: "h_distance", Doc: "iterations from a write of h to the first read of it",
				Value: c.step - c.cell + 1 + c.sf - word/f.SIMD},
			{Name: "pre_t", Doc: "a gate before its steps", Value: o.pre},
		},
		Tables:  []dataflow.Table{weights, o.P.biases(f.PE), o.P.peepholes(f.PE), o.P.factors()},
		Storage: o.storage(f),
	}
	i.Tables = append(i.Tables, o.P.starts(o.word(f), f.PE)...)
	i.Config = append(i.Config, sums...)
	i.Config = append(i.Config, o.cellFields()...)
	for _, g := range []int{gateF, gateG, gateO, tanh, gateI} {
		if g < o.P.firstGate() {
			continue
		}
		fields, tables := o.steps[g].tables(f.PE)
		if g != gateI {
			fields = append(fields, dataflow.Field{Name: o.steps[g].name + "_t", Doc: "the code",
				Value: o.steps[g].code})
		}
		i.Config, i.Tables = append(i.Config, fields...), append(i.Tables, tables...)
	}
	for _, t := range i.Tables[1:] {
		i.Config = append(i.Config, dataflow.Field{Name: t.Name + "_rows", Value: len(t.Rows)})
	}
	if o.P.States {
		i.Func = "lstm_states"
	}
	return i
}

// cellFields is what happens between the gates.
func (o *op) cellFields() []dataflow.Field {
	v := o.values
	list := func(of func(Cell) num.Requant) (q []num.Requant) {
		for _, c := range o.P.Cells {
			q = append(q, of(c))
		}
		return q
	}
	return []dataflow.Field{
		{Name: "i_t", Doc: "gate i", Value: num.Smallest(v.code[gateI])},
		{Name: "kept_t", Doc: "f times c, requantised", Value: num.Smallest(v.kept)},
		{Name: "taken_t", Doc: "i times g, requantised", Value: num.Smallest(v.taken)},
		dataflow.RequantField("forget", "requantiser of f times c", v.forget,
			list(func(c Cell) num.Requant { return c.Forget })...),
		dataflow.RequantField("input", "of i times g", v.input, list(func(c Cell) num.Requant { return c.Input })...),
		dataflow.RequantField("cell", "of their sum", v.sum, list(func(c Cell) num.Requant { return c.Cell })...),
		dataflow.RequantField("hidden", "of o times tanh", v.output,
			list(func(c Cell) num.Requant { return c.Hidden })...),
	}
}
