package dataflow

import "hlsgen/internal/num"

// StepTables returns the fields and tables of the C++ for step functions in apply_steps of hlslib/core/compare.hpp.
// They are for pe channels side by side, on values of type t.
func StepTables(k num.ThresholdTable, pe int, t num.Type) ([]Field, []Table) {
	over, bases, deltas := k.Rows(pe, t)
	config := []Field{
		{Name: "steps", Doc: "thresholds of a channel", Value: k.Steps()},
		{Name: "shared", Doc: "one row serves all channels", Value: k.Shared()},
	}
	tables := []Table{{Name: "thresholds", Doc: "by fold: element pe*steps + i", Elem: t, Rows: over}}
	if base, ok := k.Constant(); ok && bases == nil {
		config = append(config, Field{Name: "base", Doc: "where the output starts", Value: int(base)})
	}
	if deltas == nil {
		config = append(config, Field{Name: "unit", Doc: "what each exceeded threshold adds", Value: int(k.Unit)})
	}
	if bases != nil {
		tables = append(tables, Table{Name: "base", Doc: "by fold: element pe", Elem: num.Narrowest(bases...),
			Rows: bases})
	}
	if deltas != nil {
		elem := num.Narrowest(deltas...)
		tables = append(tables, Table{Name: "deltas", Doc: "what each threshold adds", Elem: elem, Rows: deltas})
	}
	return config, tables
}

// StepStorage returns the memories of StepTables, with thresholds and deltas in m, or where they fit if m is NoMemory.
// It returns none if there are no step functions.
func StepStorage(k num.ThresholdTable, pe int, t num.Type, m Memory) []Storage {
	if k.Steps() == 0 {
		return nil
	}
	rows := 1
	if k.Shared() {
		pe = 1
	} else {
		rows = len(k.At) / pe
	}
	rom := func(name string, width int) Storage { return ROMStorage(name, "threshold memory", rows, pe*width) }
	list := []Storage{rom("thresholds", k.Steps()*t.Width).At(m)}
	if _, ok := k.Constant(); !ok {
		list = append(list, rom("base", num.Narrowest(k.Base).Width))
	}
	if k.Delta != nil {
		list = append(list, rom("deltas", k.Steps()*num.Narrowest(k.Delta...).Width).At(m))
	}
	return list
}

// StepBits returns the bits that one channel takes in the widest row of its StepTables.
func StepBits(k num.ThresholdTable, t num.Type) int {
	bits := k.Steps() * t.Width
	if k.Delta != nil {
		bits = max(bits, k.Steps()*num.Narrowest(k.Delta...).Width)
	}
	return bits
}
