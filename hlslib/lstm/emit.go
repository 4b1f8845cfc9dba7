package lstm

import (
	"slices"

	"hlsgen/internal/dataflow"
	"hlsgen/internal/num"
)

func (o *op) Emit(f dataflow.Fold, _ dataflow.Target) dataflow.Instance {
	c, word := o.clocks(f), o.word(f)
	lanes := f
	lanes.PE *= o.lanes()
	sums, weights := o.unit.EmitSums(lanes)
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
			{Name: "lanes", Doc: "gates of a unit: 3 with a coupled input gate", Value: o.lanes()},
			{Name: "step", Doc: "clocks of a step", Value: c.step},
			{Name: "idle", Doc: "of which nothing is done in", Value: c.idle},
			{Name: "sequence", Doc: "every step goes out, else the last one", Value: o.P.Sequence},
			{Name: "h_t", Doc: "state h", Value: o.h},
			{Name: "c_t", Doc: "state c", Value: o.c},
			{Name: "words", Doc: "words of a cell's h in memory", Value: o.units / word},
			{Name: "h_distance", Doc: "iterations from a write of h to the first read of it", Value: c.step - c.cell + 1 + c.sf - word/f.SIMD},
			{Name: "pre_t", Doc: "a gate before its steps", Value: o.pre},
		},
		Tables:  []dataflow.Table{weights, o.biasTable(f.PE), o.peepholeTable(f.PE), o.factorTable()},
		Storage: o.storage(f),
	}
	i.Tables = append(i.Tables, o.startTables(f)...)
	i.Config = append(i.Config, sums...)
	i.Config = append(i.Config, o.cellFields()...)
	for _, g := range []int{gateF, gateG, gateO, tanh, gateI} {
		if g < o.P.firstGate() {
			continue
		}
		fields, tables := o.stepTables(g, f.PE)
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
		dataflow.RequantField("forget", "requantiser of f times c", v.forget, list(func(c Cell) num.Requant { return c.Forget })...),
		dataflow.RequantField("input", "of i times g", v.input, list(func(c Cell) num.Requant { return c.Input })...),
		dataflow.RequantField("cell", "of their sum", v.sum, list(func(c Cell) num.Requant { return c.Cell })...),
		dataflow.RequantField("hidden", "of o times tanh", v.output, list(func(c Cell) num.Requant { return c.Hidden })...),
	}
}

// stepTables gives what lstm.hpp asks of a gate, or of tanh: rows of all cells, of each, or of the PE units of a word.
func (o *op) stepTables(g, pe int) ([]dataflow.Field, []dataflow.Table) {
	k, name, code := &o.compare[g], o.stepName(g), o.values.tanh
	if g < gates {
		code = o.values.code[g]
	}
	shared := o.perCell(g) || k.Shared()
	if shared {
		pe = 1
	}
	over, _, _ := k.Rows(pe)
	bases := make([][]int64, len(k.Over))
	for c := range bases {
		bases[c] = []int64{k.Base[min(c, len(k.Base)-1)]}
	}
	base := beside(bases, pe)
	fields := []dataflow.Field{
		{Name: name + "_steps", Doc: "thresholds of a unit", Value: k.Steps()},
		{Name: name + "_unit", Doc: "what each exceeded threshold adds", Value: int(k.Unit)},
		{Name: name + "_shared", Doc: "all units of a cell have the same", Value: shared},
	}
	if g != gateI {
		fields = append(fields, dataflow.Field{Name: name + "_t", Doc: "the code", Value: num.Smallest(code)})
	}
	return fields, []dataflow.Table{
		{Name: name + "_thresholds", Doc: "by cell and n: element pe*steps + i", Elem: o.compared(g), Rows: over},
		{Name: name + "_base", Doc: "likewise: element pe", Elem: num.Smallest(num.Hull(slices.Concat(base...))), Rows: base},
	}
}

// beside joins n rows at a time.
func beside(rows [][]int64, n int) [][]int64 {
	var joined [][]int64
	for side := range slices.Chunk(rows, n) {
		joined = append(joined, slices.Concat(side...))
	}
	return joined
}

// perLane is a value of every lane of every unit, as rows of pe units.
func (o *op) perLane(pe int, of func(Gate) []int64) [][]int64 {
	var units [][]int64
	for _, cell := range o.P.Cells {
		for u := range o.units {
			var lanes []int64
			for _, g := range cell.Gates[o.P.firstGate():] {
				lanes = append(lanes, at(of(g), u))
			}
			units = append(units, lanes)
		}
	}
	return beside(units, pe)
}

func (o *op) biasTable(pe int) dataflow.Table {
	return table("biases", "by cell and n: element pe*lanes + lane", o.perLane(pe, func(g Gate) []int64 { return g.Bias }))
}

func (o *op) peepholeTable(pe int) dataflow.Table {
	return table("peepholes", "by cell and n: element pe*lanes + lane", o.perLane(pe, func(g Gate) []int64 { return g.Peephole }))
}

// factorTable has what the parts of sums are multiplied with, and the constant of a coupled input gate.
func (o *op) factorTable() dataflow.Table {
	var rows [][]int64
	for _, cell := range o.P.Cells {
		var row []int64
		for _, g := range cell.Gates {
			row = append(row, g.Factors[:]...)
		}
		row = append(row, cell.CellFactors[:]...)
		if cell.CIFG != nil {
			row = append(row, *cell.CIFG)
		}
		rows = append(rows, row)
	}
	return table("factors", "by cell: element 2*gate of the input, 2*gate+1 of the products; two for c; the coupled gate's constant", rows)
}
