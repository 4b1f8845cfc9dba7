package dataflow

import "hlsgen/internal/num"

// NewStepFunctionFieldsAndTables returns the fields and tables of the C++ for step functions in apply_steps of
// hlslib/core/compare.hpp. They are for pe channels side by side, on values of type t.
func NewStepFunctionFieldsAndTables(k num.ThresholdTable, pe int, t num.Type) ([]ConfigField, []Table) {
	over, bases, deltas := k.TablesForPE(pe, t)
	config := []ConfigField{
		{Name: "steps", Doc: "thresholds of a channel", Value: k.ThresholdsPerChannel()},
		{Name: "shared", Doc: "one row serves all channels", Value: k.HasSharedRow()},
	}
	tables := []Table{{Name: "thresholds", Doc: "by fold: element pe*steps + i", Elem: t, Rows: over}}
	if base, ok := k.ConstantBase(); ok && bases == nil {
		config = append(config, ConfigField{Name: "base", Doc: "where the output starts", Value: int(base)})
	}
	if deltas == nil {
		config = append(config, ConfigField{Name: "unit", Doc: "what each exceeded threshold adds", Value: int(k.Unit)})
	}
	if bases != nil {
		tables = append(tables, Table{Name: "base", Doc: "by fold: element pe",
			Elem: num.NarrowestTypeOfValues(bases...),
			Rows: bases})
	}
	if deltas != nil {
		elem := num.NarrowestTypeOfValues(deltas...)
		tables = append(tables, Table{Name: "deltas", Doc: "what each threshold adds", Elem: elem, Rows: deltas})
	}
	return config, tables
}

// NewStepTableStorage returns the memories of NewStepFunctionFieldsAndTables, with thresholds and deltas in m, or where
// they fit if m is NoMemory. It returns none if there are no step functions.
func NewStepTableStorage(k num.ThresholdTable, pe int, t num.Type, m Memory) []Storage {
	if k.ThresholdsPerChannel() == 0 {
		return nil
	}
	rows := 1
	if k.HasSharedRow() {
		pe = 1
	} else {
		rows = len(k.At) / pe
	}
	rom := func(name string, width int) Storage { return NewTableStorage(name, "threshold memory", rows, pe*width) }
	list := []Storage{rom("thresholds", k.ThresholdsPerChannel()*t.Width).MovedToMemory(m)}
	if _, ok := k.ConstantBase(); !ok {
		list = append(list, rom("base", num.NarrowestTypeOfValues(k.Base).Width))
	}
	if k.Delta != nil {
		list = append(list, rom("deltas",
			k.ThresholdsPerChannel()*num.NarrowestTypeOfValues(k.Delta...).Width).MovedToMemory(m))
	}
	return list
}

// StepTableBitsPerChannel returns the bits that one channel takes in the widest row of its
// NewStepFunctionFieldsAndTables.
func StepTableBitsPerChannel(k num.ThresholdTable, t num.Type) int {
	bits := k.ThresholdsPerChannel() * t.Width
	if k.Delta != nil {
		bits = max(bits, k.ThresholdsPerChannel()*num.NarrowestTypeOfValues(k.Delta...).Width)
	}
	return bits
}
