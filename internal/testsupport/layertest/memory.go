package layertest

import (
	"fmt"
	"strings"
	"testing"

	"hlsgen/hlslib/price/estimate"
	"hlsgen/internal/dataflow"
	"hlsgen/templates"
)

// CheckMemories checks the memories of a generated design. Every memory of a layer or a stream that the estimate prices
// must be bound in the C++ to the memory of its price. No others may be bound.
func CheckMemories(t testing.TB, d *dataflow.Design, files templates.ProjectFiles) {
	t.Helper()
	for _, p := range memoryProblems(d, files) {
		t.Error(p)
	}
}

// memoryProblems returns a line for each memory of a design that its price or its C++ contradicts.
func memoryProblems(d *dataflow.Design, files templates.ProjectFiles) []string {
	target := d.Target
	target.Formula = dataflow.FittedCostFormula // FINN's formulas price other memories
	var problems []string
	storage := map[string][]dataflow.Storage{}
	for i, n := range d.Model.Graph.Nodes {
		storage[n.Name] = n.Op.Emit(d.Folds[i], target).Storage
		if err := CheckStorage(target, n.Op.Cost(d.Folds[i], target), storage[n.Name]); err != nil {
			problems = append(problems, fmt.Sprintf("%s: %v", n.Name, err))
		}
	}
	var fifos dataflow.Cost
	for s, f := range d.FIFO {
		fifos = fifos.AppendCost(estimate.FIFOCost(d.Target, f, d.PortOfStream(s)))
	}
	face, err := templates.IPInterfaceOf(d, templates.Options{})
	if err != nil {
		return append(problems, err.Error())
	}
	written := face.FIFOsByName(d)
	for name, f := range written {
		if strings.HasSuffix(name, "_ends") {
			fifos = fifos.AppendCost(estimate.FIFOCost(d.Target, f, d.Model.Lengths.SequenceEndPort()))
		}
	}
	if priced := estimate.EstimateDesignResources(d).FIFOs; priced.Total() != fifos.Total() {
		problems = append(problems, fmt.Sprintf("FIFOs are priced %+v, they take %+v", priced.Total(), fifos.Total()))
	}
	return append(append(problems, templates.LintMemories(files, storage)...), templates.LintFIFOs(files, written)...)
}

// CheckStorage compares a layer's cost with its memories. The part of each memory must cost what the memory takes by
// the fitted formula. No other part may have block RAM, UltraRAM or LUTs that are memory. The error names the
// difference.
func CheckStorage(t dataflow.Target, c dataflow.Cost, storage []dataflow.Storage) error {
	var all dataflow.Resources
	for _, p := range estimate.MemoryCostParts(estimate.CostModelOf(t), storage) {
		var priced dataflow.Resources
		for _, q := range c {
			if q.Name == p.Name {
				priced = q.Resources
			}
		}
		if want := dataflow.Resources(p.Resources); priced != want {
			return fmt.Errorf("part %s is priced %+v, its memories take %+v", p.Name, priced, want)
		}
		all = all.Plus(priced)
	}
	if total := c.Total(); total.BRAM != all.BRAM || total.URAM != all.URAM || total.LUTRAM != all.LUTRAM {
		return fmt.Errorf("%+v in all, of which memories are %+v: some is priced and bound nowhere", total, all)
	}
	return nil
}
