package steps

import (
	"fmt"
	"math/bits"

	"hlsgen/hlslib/price/cost"
	"hlsgen/internal/dataflow"
	"hlsgen/internal/num"
)

// CanSearchSerially reports whether a serial search is possible at the site p: it needs at least two thresholds, and
// tables of limited size. It builds no form.
func (f *StepFunctions) CanSearchSerially(p FormSite) bool {
	if f.compare.ThresholdsPerChannel() < 2 || f.of.Kind == num.KindBipolar {
		return false
	}
	l := lanes{f, p, p.Memory}
	_, _, mostOfLanes := roomOf(f)
	return l.functions()<<bits.Len(uint(f.compare.ThresholdsPerChannel())) <= mostOfLanes/p.PE
}

// SerialSearchAt returns the serial search at the site p, for which CanSearchSerially must report true. Each lane has
// one comparator and makes one step at a time; all steps' thresholds lie in one memory.
func (f *StepFunctions) SerialSearchAt(p FormSite) *SerialSearch {
	f.bindList()
	f.mutex.Lock()
	defer f.mutex.Unlock()
	form := &SerialSearch{searching{lanes{f, p, p.Memory}, balanced(bits.Len(uint(f.compare.ThresholdsPerChannel())),
		1)}}
	if !f.equal(form) {
		panic("steps: a serial search differs from comparators")
	}
	return form
}

// A SerialSearch visits places of its memory, each with a threshold to compare. It starts at place 1. From place p it
// goes to 2p + 1 if the value exceeds the threshold, else to 2p. After the last step, the bits of the place below the
// highest one are the number of exceeded thresholds.
type SerialSearch struct{ searching }

// Name returns a name with the number of steps. It differs from the name of any search with a memory per stage.
func (s *SerialSearch) Name() string {
	return fmt.Sprintf("serial search of %d steps", s.ComparisonsPerValue())
}

// ComparisonsPerValue returns the comparisons per value, which is also the number of bits of a place.
func (s *SerialSearch) ComparisonsPerValue() int { return len(s.stages) }

// LatencyClocks returns the least latency: one clock per step.
func (s *SerialSearch) LatencyClocks() int { return s.ComparisonsPerValue() }

// RowsPerLane returns the number of rows of a lane's memory, those of all its functions.
func (s *SerialSearch) RowsPerLane() int { return s.functions() << s.ComparisonsPerValue() }

// ThresholdBits returns the width of a threshold in bits.
func (s *SerialSearch) ThresholdBits() int { return s.f.of.Width }

// HasCodeTable reports whether a table maps the count of exceeded thresholds to a code. Otherwise the code is a base
// plus a multiple of the count.
func (s *SerialSearch) HasCodeTable() bool { return s.f.compare.Delta != nil }

// NextPlace returns the place after one step of the search for v in function n.
func (s *SerialSearch) NextPlace(n, place int, v int64) int {
	if v > s.limit(n, place) {
		return 2*place + 1
	}
	return 2 * place
}

// CodeAtFinalPlace returns the code of function n, from the place after the last step.
func (s *SerialSearch) CodeAtFinalPlace(n, place int) int64 {
	return s.code(n, place-1<<s.ComparisonsPerValue())
}

// limit returns the threshold with which function n's search compares at a place. Place 0 is unused.
func (s *SerialSearch) limit(n, place int) int64 {
	if place == 0 {
		return 0
	}
	step := bits.Len(uint(place)) - 1
	return s.threshold(n, step, place-1<<step, 0)
}

// ComputeCode returns function n's code for v, by all steps of the search.
func (s *SerialSearch) ComputeCode(n int, v int64) int64 {
	place := 1
	for range s.ComparisonsPerValue() {
		place = s.NextPlace(n, place, v)
	}
	return s.CodeAtFinalPlace(n, place)
}

// ConfigFields returns the fields of the C++ that threshold_serial of threshold.hpp reads.
func (s *SerialSearch) ConfigFields() []dataflow.ConfigField {
	return []dataflow.ConfigField{
		{Name: "functions", Doc: "step functions of a lane", Value: s.functions()},
		{Name: "search_steps", Doc: "comparisons of a value", Value: s.ComparisonsPerValue()},
		unitField(s.f.compare.Unit), s.result(),
	}
}

// Tables returns the thresholds by place, and the table of codes if the code is not computed from the count.
func (s *SerialSearch) Tables() []dataflow.Table {
	places := s.table("places", "what a value is compared with", s.f.of, func(n int) (rows [][]int64) {
		for place := range 1 << s.ComparisonsPerValue() {
			rows = append(rows, []int64{s.limit(n, place)})
		}
		return rows
	})
	places.Bare = true // elements have the value's width, one per row
	return append([]dataflow.Table{places}, s.outputs()...)
}

// Storage returns the memories of the thresholds and, if there is one, of the table of codes.
func (s *SerialSearch) Storage() []dataflow.Storage {
	list := []dataflow.Storage{s.storage("places", 1<<s.ComparisonsPerValue(), s.f.of.Width)}
	if rows := s.counts(); rows > 0 {
		list = append(list, s.storage("codes", rows, s.codes().Width))
	}
	return list
}

// LogicCost returns the cost of a comparator for each lane, and of the choice between a new value and the one that is
// searched for.
func (s *SerialSearch) LogicCost(m cost.CostModel) []cost.CostPart {
	lane := m.MultiplexerCost(2, s.f.of.Width+s.ComparisonsPerValue())
	if m.Formula == cost.FormulaFitted {
		lane.FF = s.f.of.Width // a register for the value
	}
	if s.f.compare.Delta == nil {
		lane = lane.Plus(cost.AdderCost(s.f.out.Width))
	}
	return []cost.CostPart{
		m.ThresholdComparatorCost(cost.ThresholdComparatorShape{PE: s.at.PE, Steps: 1, Width: s.f.of.Width}),
		lane.Times(s.at.PE).AsPart("step sums"),
	}
}
