package rnn

import (
	"fmt"

	"hlsgen/hlslib/cost"
	"hlsgen/hlslib/layer"
	"hlsgen/internal/dataflow"
	"hlsgen/internal/num"
)

// A stepped value is what step functions make of another one: how they are built.
type stepped struct {
	name         string   // in the C++
	of, code     num.Type // what is compared with the thresholds, and what comes out
	cells, units int
	perCell      bool            // one step function for all units of every cell
	compare      num.Comparators // for all units, or one per cell or per unit
}

// bindSteps makes the comparators of value k in phase i.
func (g *program) bindSteps(i, k int, r *ranges) error {
	v := &g.phases[i].values[k]
	of := v.Of[0]
	s := stepped{name: v.name, of: g.phases[i].values[of].elem, code: v.elem, cells: len(g.params.Cells),
		units: g.phases[i].units, perCell: true}
	for _, c := range g.params.Cells {
		s.perCell = s.perCell && len(c.Phases[i].Values[k].Steps) == 1
	}
	var steps []num.Step
	var in []num.Range
	breaks := 0
	for d, c := range g.params.Cells {
		for u, x := range r.of[d][i][of] {
			if u > 0 && s.perCell {
				in[d] = in[d].Union(x)
				continue
			}
			steps, in = append(steps, layer.Of(c.Phases[i].Values[k].Steps, u)), append(in, x)
		}
	}
	for n := range steps {
		breaks = max(breaks, len(steps[n].Over(in[n]).At))
	}
	// A delta costs about as much as a threshold: units may write a function with twice its breakpoints.
	s.compare = num.Compare(steps, in, s.of, 2*breaks).Merged()
	if n := s.compare.Steps(); n > layer.MaxThresholds {
		return fmt.Errorf("a unit has %d thresholds, at most %d are possible", n, layer.MaxThresholds)
	}
	v.steps = s
	return nil
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
	switch {
	case s.compare.Shared():
		return s.compare.Apply(0, v)
	case s.perCell:
		return s.compare.Apply(d, v)
	}
	return s.compare.Apply(d*s.units+unit, v)
}

// row says which row of the tables a unit has.
func (s *stepped) row() row {
	switch {
	case s.compare.Shared():
		return always
	case s.perCell:
		return byCell
	}
	return byWord
}

// rowBits is the bits of the widest row of the tables.
func (s *stepped) rowBits(pe int) int { return s.beside(pe) * dataflow.StepBits(s.compare, s.of) }

// tables gives what apply_steps of hlslib/core/compare.hpp asks for, under names of its own.
func (s *stepped) tables(pe int) []dataflow.Table {
	_, tables := dataflow.StepTables(s.compare, s.beside(pe), s.of)
	for i := range tables {
		tables[i].Name = s.name + "_" + tables[i].Name
	}
	return tables
}

// storage is that of the tables.
func (s *stepped) storage(pe int) []dataflow.Storage {
	list := dataflow.StepStorage(s.compare, s.beside(pe), s.of, dataflow.NoMemory)
	for i := range list {
		list[i].Name = s.name + "_" + list[i].Name
	}
	return list
}

// cost is what compares with the thresholds, and what adds the deltas.
func (s *stepped) cost(m cost.Model, pe int) cost.Resources {
	r := m.Comparators(pe, s.compare.Steps(), s.of.Width).Resources
	if s.compare.Delta != nil {
		r = r.Plus(cost.Adder(s.code.Width).Times(pe * s.compare.Steps()))
	}
	return r
}
