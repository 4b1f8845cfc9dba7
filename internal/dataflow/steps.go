package dataflow

import "hlsgen/internal/num"

// StepTables gives the config fields and tables of step functions, as apply_steps of hlslib/core/compare.hpp takes them:
// for pe channels side by side, on values of type t, with thresholds and deltas in m where they have more than one row.
func StepTables(k num.Comparators, pe int, t num.Type, m Memory) ([]Field, []Table) {
	over, bases, deltas := k.Rows(pe)
	base, _ := k.Constant()
	if len(over) == 1 {
		m = NoMemory
	}
	config := []Field{
		{Name: "steps", Doc: "thresholds of a channel", Value: k.Steps()},
		{Name: "unit", Doc: "what each exceeded threshold adds, where there are no deltas", Value: int(k.Unit)},
		{Name: "base", Doc: "where the output starts, where there is no table of it", Value: int(base)},
		{Name: "shared", Doc: "one row serves all channels", Value: k.Shared()},
	}
	tables := []Table{{Name: "thresholds", Doc: "by fold: element pe*steps + i", Elem: t, Rows: over, Memory: m}}
	if bases != nil {
		tables = append(tables, Table{Name: "base", Doc: "by fold: element pe", Elem: num.Narrowest(bases...), Rows: bases})
	}
	if deltas != nil {
		tables = append(tables, Table{Name: "deltas", Doc: "what each threshold adds", Elem: num.Narrowest(deltas...), Rows: deltas, Memory: m})
	}
	return config, tables
}

// StepBits is what one channel takes of the widest row of its StepTables.
func StepBits(k num.Comparators, t num.Type) int {
	bits := k.Steps() * t.Width
	if k.Delta != nil {
		bits = max(bits, k.Steps()*num.Narrowest(k.Delta...).Width)
	}
	return bits
}
