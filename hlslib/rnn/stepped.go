package rnn

import (
	"fmt"

	"hlsgen/hlslib/cost"
	"hlsgen/hlslib/layer"
	"hlsgen/hlslib/steps"
	"hlsgen/internal/dataflow"
	"hlsgen/internal/num"
)

// mostClocks is how many lie at most between a value and its code: every step of a sequence waits for them.
const mostClocks = 2

// A stepped value is what step functions make of another one: how they are built.
type stepped struct {
	name         string   // in the C++
	of, code     num.Type // what is compared with the thresholds, and what comes out
	cells, units int
	perCell      bool            // one step function for all units of every cell
	compare      num.Comparators // for all units, or one per cell or per unit
	built        *steps.Functions
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
	var list []num.Step
	var in []num.Range
	breaks := 0
	for d, c := range g.params.Cells {
		for u, x := range r.of[d][i][of] {
			if u > 0 && s.perCell {
				in[d] = in[d].Union(x)
				continue
			}
			list, in = append(list, layer.Of(c.Phases[i].Values[k].Steps, u)), append(in, x)
		}
	}
	for n := range list {
		breaks = max(breaks, len(list[n].Over(in[n]).At))
	}
	// A delta costs about as much as a threshold: units may write a function with twice its breakpoints.
	s.compare = num.Compare(list, in, s.of, 2*breaks).Merged()
	if n := s.compare.Steps(); n > layer.MaxThresholds {
		return fmt.Errorf("a unit has %d thresholds, at most %d are possible", n, layer.MaxThresholds)
	}
	s.built = steps.New(s.compare, in, s.of, s.code)
	v.steps = s
	return nil
}

// shared reports whether a row serves all units of a cell.
func (s *stepped) shared() bool { return s.perCell || s.compare.Shared() }

// form is how the step functions are built for so many units side by side.
func (s *stepped) form(pe int) steps.Form {
	return s.built.At(steps.Site{PE: pe, Alike: s.shared(), Clocks: mostClocks})
}

// function is the number of a unit's.
func (s *stepped) function(d, unit int) int {
	switch {
	case s.compare.Shared():
		return 0
	case s.perCell:
		return d
	}
	return d*s.units + unit
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

// beside is how many units a row of comparators' tables is for, of so many that are computed side by side.
func (s *stepped) beside(pe int) int {
	if s.shared() {
		return 1
	}
	return pe
}

// rowBits is the bits of the widest row that comparators have.
func (s *stepped) rowBits(pe int) int {
	return s.beside(pe) * dataflow.StepBits(s.compare, s.of)
}

// tables gives those that apply_steps of hlslib/core/compare.hpp asks for, under names of their own.
func (s *stepped) tables(pe int) []dataflow.Table {
	tables := s.form(pe).Tables()
	for i := range tables {
		tables[i].Name = s.name + "_" + tables[i].Name
	}
	return tables
}

// storage is that of the tables.
func (s *stepped) storage(pe int) []dataflow.Storage {
	list := s.form(pe).Storage()
	for i := range list {
		list[i].Name = s.name + "_" + list[i].Name
	}
	return list
}

// cost is what makes codes of values, for pe units.
func (s *stepped) cost(m cost.Model, pe int) (r cost.Resources) {
	for _, part := range s.form(pe).Logic(m) {
		r = r.Plus(part.Resources)
	}
	return r
}
