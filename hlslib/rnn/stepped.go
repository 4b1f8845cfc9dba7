package rnn

import (
	"fmt"

	"hlsgen/hlslib/layer"
	"hlsgen/hlslib/price/cost"
	"hlsgen/hlslib/steps"
	"hlsgen/internal/dataflow"
	"hlsgen/internal/num"
)

// mostClocks limits the latency of a step function in clocks. It is small because every time step waits for it.
const mostClocks = 2

// A stepped value holds the step functions of a value, for all units and cells, and the hardware for them.
type stepped struct {
	name         string   // the value's name in the generated C++
	of, code     num.Type // types of the argument and of the result
	cells, units int
	perCell      bool               // all units of a cell share one step function
	compare      num.ThresholdTable // for all units, or one per cell or per unit
	built        *steps.StepFunctions
}

// bindSteps sets the step functions of value k in phase i and their hardware. It returns an error for too many
// thresholds.
func (g *program) bindSteps(i, k int, r *ranges) error {
	v := &g.phases[i].values[k]
	of := v.Of[0]
	s := stepped{name: v.name, of: g.phases[i].values[of].elem, code: v.elem, cells: len(g.params.Cells),
		units: g.phases[i].units, perCell: true}
	for _, c := range g.params.Cells {
		s.perCell = s.perCell && len(c.Phases[i].Values[k].Steps) == 1
	}
	var list []num.StepFunction
	var in []num.Range
	breaks := 0
	for d, c := range g.params.Cells {
		for u, x := range r.of[d][i][of] {
			if u > 0 && s.perCell {
				in[d] = in[d].Union(x)
				continue
			}
			list, in = append(list, layer.ElementForChannel(c.Phases[i].Values[k].Steps, u)), append(in, x)
		}
	}
	for n := range list {
		breaks = max(breaks, len(list[n].RestrictedTo(in[n]).At))
	}
	// A delta costs about as much as a threshold, so units may share a function with up to twice the breakpoints.
	s.compare = num.NewThresholdTable(list, in, s.of, 2*breaks).WithSharedRow()
	if n := s.compare.ThresholdsPerChannel(); n > layer.MaxThresholdsPerChannel {
		return fmt.Errorf("a unit has %d thresholds, at most %d are possible", n, layer.MaxThresholdsPerChannel)
	}
	s.built = steps.New(s.compare, in, s.of, s.code)
	v.steps = s
	return nil
}

// shared reports whether all units of a cell use the same row of the tables.
func (s *stepped) shared() bool { return s.perCell || s.compare.HasSharedRow() }

// form returns the form of hardware in which the step functions of pe units are computed side by side.
func (s *stepped) form(pe int) steps.StepFunctionHardware {
	return s.built.CheapestFormAt(steps.FormSite{PE: pe, Alike: s.shared(), Clocks: mostClocks})
}

// function returns the index, among the step functions that are built, of that of a unit of cell d.
func (s *stepped) function(d, unit int) int {
	switch {
	case s.compare.HasSharedRow():
		return 0
	case s.perCell:
		return d
	}
	return d*s.units + unit
}

// row returns the rule by which a unit selects its row of the tables.
func (s *stepped) row() row {
	switch {
	case s.compare.HasSharedRow():
		return always
	case s.perCell:
		return byCell
	}
	return byWord
}

// beside returns how many units have their thresholds side by side in a row of the comparators' tables, for pe units
// side by side.
func (s *stepped) beside(pe int) int {
	if s.shared() {
		return 1
	}
	return pe
}

// rowBits returns the width of the comparators' widest row in bits.
func (s *stepped) rowBits(pe int) int {
	return s.beside(pe) * dataflow.StepTableBitsPerChannel(s.compare, s.of)
}

// tables returns the tables for apply_steps in hlslib/core/compare.hpp, for pe units side by side. Their names begin
// with the value's name.
func (s *stepped) tables(pe int) []dataflow.Table {
	tables := s.form(pe).Tables()
	for i := range tables {
		tables[i].Name = s.name + "_" + tables[i].Name
	}
	return tables
}

// storage returns the memories of the step functions' tables, for pe units side by side.
func (s *stepped) storage(pe int) []dataflow.Storage {
	list := s.form(pe).Storage()
	for i := range list {
		list[i].Name = s.name + "_" + list[i].Name
	}
	return list
}

// cost returns the resources of the step functions for pe units.
func (s *stepped) cost(m cost.CostModel, pe int) (r cost.Resources) {
	for _, part := range s.form(pe).LogicCost(m) {
		r = r.Plus(part.Resources)
	}
	return r
}
