package steps

import (
	"hlsgen/hlslib/price/cost"
	"hlsgen/internal/dataflow"
)

// parallel is the form that compares a value with all thresholds of its function at once.
type parallel struct {
	f  *StepFunctions
	at FormSite
}

// side returns how many functions have their thresholds side by side in a row of the tables.
func (p *parallel) side() int {
	if p.at.Alike {
		return 1
	}
	return p.at.PE
}

func (p *parallel) Name() string { return "comparators" }

func (p *parallel) LatencyClocks() int { return 1 }

func (p *parallel) LaneCount() int { return p.at.PE }

func (p *parallel) HasTablesPerLane() bool { return false }

func (p *parallel) ComputeCode(n int, v int64) int64 { return p.f.compare.Apply(n, v) }

func (p *parallel) ConfigFields() []dataflow.ConfigField {
	fields, _ := dataflow.NewStepFunctionFieldsAndTables(p.f.compare, p.side(), p.f.of)
	return append([]dataflow.ConfigField{formField(comparators)}, fields...)
}

func (p *parallel) Tables() []dataflow.Table {
	_, tables := dataflow.NewStepFunctionFieldsAndTables(p.f.compare, p.side(), p.f.of)
	return tables
}

func (p *parallel) Storage() []dataflow.Storage {
	return dataflow.NewStepTableStorage(p.f.compare, p.side(), p.f.of, p.at.Memory)
}

func (p *parallel) LogicCost(m cost.CostModel) []cost.CostPart {
	steps := p.f.compare.ThresholdsPerChannel()
	parts := []cost.CostPart{m.ThresholdComparatorCost(cost.ThresholdComparatorShape{PE: p.at.PE, Steps: steps,
		Width:    p.f.of.Width,
		Constant: !p.f.loaded && len(p.f.compare.At) == p.side()})}
	if p.f.compare.Delta != nil {
		parts = append(parts, cost.AdderCost(p.f.out.Width).Times(p.at.PE*steps).AsPart("step sums"))
	}
	return parts
}
