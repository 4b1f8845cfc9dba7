package lstm

import (
	"fmt"
	"slices"

	"hlsgen/hlslib/cost"
	"hlsgen/hlslib/layer"
	"hlsgen/hlslib/mac"
	"hlsgen/internal/dataflow"
	"hlsgen/internal/num"
)

// A stepped value is what becomes the code of a gate, or tanh of c', by step functions: how these are built.
type stepped struct {
	name         string   // in the C++
	of           num.Type // what is compared with the thresholds
	code         num.Type
	cells, units int
	perCell      bool            // one step function for all units of every cell
	compare      num.Comparators // for all units, or one per cell or per unit
}

// bindSteps makes those of the gates and of tanh, of what the units compute.
func (o *op) bindSteps(units []values) error {
	for g := o.P.firstGate(); g <= tanh; g++ {
		s := stepped{name: "tanh", of: o.c, code: num.Smallest(o.values.tanh), cells: len(o.P.Cells), units: o.units,
			perCell: true}
		what, in := "tanh", func(v values) num.Range { return v.c }
		if g < gates {
			s.name, s.of, s.code = gateName(g), o.pre, num.Smallest(o.values.code[g])
			what, in = "gate "+s.name, func(v values) num.Range { return v.pre[g] }
		}
		for _, cell := range o.P.Cells {
			s.perCell = s.perCell && len(cell.steps(g)) == 1
		}
		var steps []num.Step
		var ranges []num.Range
		for d, cell := range o.P.Cells {
			for u, v := range units[d*o.units : (d+1)*o.units] {
				if r := in(v); u > 0 && s.perCell {
					ranges[d] = ranges[d].Union(r)
				} else {
					steps, ranges = append(steps, layer.Of(cell.steps(g), u)), append(ranges, r)
				}
			}
		}
		if s.compare = num.Compare(steps, ranges, s.of, mac.MaxThresholds).Merged(); s.compare.Delta != nil {
			return fmt.Errorf("%s: the step function of a unit falls, or takes more than %d thresholds of one unit",
				what, mac.MaxThresholds)
		}
		o.steps[g] = s
	}
	return nil
}

// steps is the step functions of a gate, or of tanh.
func (c Cell) steps(g int) []num.Step {
	if g < gates {
		return c.Gates[g].Steps
	}
	return c.Tanh
}

// shared reports whether a row serves all units of a cell.
func (s *stepped) shared() bool { return s.perCell || s.compare.Shared() }

// beside is how many units a row of the tables is for, of so many that are computed side by side.
func (s *stepped) beside(pe int) int {
	if s.shared() {
		return 1
	}
	return pe
}

// apply is what comparators make of a value.
func (s *stepped) apply(d, unit int, v int64) int64 {
	switch len(s.compare.Over) {
	case 1:
		return s.compare.Apply(0, v)
	case s.cells:
		return s.compare.Apply(d, v)
	}
	return s.compare.Apply(d*s.units+unit, v)
}

// rowBits is the bits of the widest row of the tables.
func (s *stepped) rowBits(pe int) int {
	if len(s.compare.Over) <= s.cells {
		pe = 1
	}
	return pe * s.compare.Steps() * s.of.Width
}

// tables gives what lstm.hpp asks for: rows of all cells, of each, or of the PE units of a word.
func (s *stepped) tables(pe int) ([]dataflow.Field, []dataflow.Table) {
	pe = s.beside(pe)
	over, _, _ := s.compare.Rows(pe)
	bases := make([][]int64, len(s.compare.Over))
	for c := range bases {
		bases[c] = []int64{layer.Of(s.compare.Base, c)}
	}
	base := beside(bases, pe)
	fields := []dataflow.Field{
		{Name: s.name + "_steps", Doc: "thresholds of a unit", Value: s.compare.Steps()},
		{Name: s.name + "_unit", Doc: "what each exceeded threshold adds", Value: int(s.compare.Unit)},
		{Name: s.name + "_shared", Doc: "all units of a cell have the same", Value: s.shared()},
	}
	return fields, []dataflow.Table{
		{Name: s.name + "_thresholds", Doc: "by cell and n: element pe*steps + i", Elem: s.of, Rows: over},
		{Name: s.name + "_base", Doc: "likewise: element pe", Elem: num.Smallest(num.Hull(slices.Concat(base...))),
			Rows: base},
	}
}

// storage is that of the tables.
func (s *stepped) storage(pe int) []dataflow.Storage {
	pe = s.beside(pe)
	rom := func(table string, width int) dataflow.Storage {
		return dataflow.ROM(s.name+table, "threshold memory", len(s.compare.Over)/pe, pe*width)
	}
	return []dataflow.Storage{
		rom("_thresholds", s.compare.Steps()*s.of.Width),
		rom("_base", num.Smallest(num.Hull(s.compare.Base)).Width),
	}
}

// cost is what compares with the thresholds.
func (s *stepped) cost(m cost.Model, pe int) cost.Resources {
	return m.Comparators(pe, s.compare.Steps(), s.of.Width).Resources
}
