package steps

import (
	"fmt"
	"math/bits"

	"hlsgen/hlslib/cost"
	"hlsgen/internal/dataflow"
	"hlsgen/internal/num"
)

// HasSerial reports whether there is a serial search: for more than a comparison, in tables of not too many rows. It
// makes no form.
func (f *Functions) HasSerial(p Site) bool {
	if f.compare.Steps() < 2 || f.of.Kind == num.Bipolar {
		return false
	}
	l := lanes{f, p, p.Memory}
	_, _, mostOfLanes := roomOf(f)
	return l.functions()<<bits.Len(uint(f.compare.Steps())) <= mostOfLanes/p.PE
}

// Serial is the functions as a search of radix 2 that one comparator for each lane does, a step after the other. A lane
// has the thresholds of all steps in one memory. There is one.
func (f *Functions) Serial(p Site) *Serial {
	f.bindList()
	f.mutex.Lock()
	defer f.mutex.Unlock()
	form := &Serial{searching{lanes{f, p, p.Memory}, balanced(bits.Len(uint(f.compare.Steps())), 1)}}
	if !f.equal(form) {
		panic("steps: a serial search differs from comparators")
	}
	return form
}

// A Serial search is at a place of its memory, which has the threshold for the value: place 1 at first, and from place
// p on 2p, or 2p + 1 where the threshold is exceeded. Behind the last step, its bits below the highest one are the
// count of thresholds that are exceeded.
type Serial struct{ searching }

// Name tells it from a search with a memory for each stage.
func (s *Serial) Name() string { return fmt.Sprintf("serial search of %d steps", s.Steps()) }

// Steps is how many comparisons a value takes, and the bits of a place in a function's memory.
func (s *Serial) Steps() int { return len(s.stages) }

// Clocks is one for a step, at the least.
func (s *Serial) Clocks() int { return s.Steps() }

// Rows is those of a lane's memory.
func (s *Serial) Rows() int { return s.functions() << s.Steps() }

// Bits is those of a threshold.
func (s *Serial) Bits() int { return s.f.of.Width }

// Coded reports whether codes are looked up by the count; else they are its multiples, from a base on.
func (s *Serial) Coded() bool { return s.f.compare.Delta != nil }

// Next is function n's place behind another one, for a value.
func (s *Serial) Next(n, place int, v int64) int {
	if v > s.limit(n, place) {
		return 2*place + 1
	}
	return 2 * place
}

// Code is function n's, behind the last step.
func (s *Serial) Code(n, place int) int64 { return s.code(n, place-1<<s.Steps()) }

// limit is the threshold at a place. Nothing is at place 0.
func (s *Serial) limit(n, place int) int64 {
	if place == 0 {
		return 0
	}
	step := bits.Len(uint(place)) - 1
	return s.threshold(n, step, place-1<<step, 0)
}

// Apply goes through all steps.
func (s *Serial) Apply(n int, v int64) int64 {
	place := 1
	for range s.Steps() {
		place = s.Next(n, place, v)
	}
	return s.Code(n, place)
}

// Fields are what threshold_serial of threshold.hpp takes.
func (s *Serial) Fields() []dataflow.Field {
	return []dataflow.Field{
		{Name: "functions", Doc: "step functions of a lane", Value: s.functions()},
		{Name: "search_steps", Doc: "comparisons of a value", Value: s.Steps()},
		unitField(s.f.compare.Unit), s.result(),
	}
}

// Tables are the memories of the search, and of the codes that counts do not give.
func (s *Serial) Tables() []dataflow.Table {
	places := s.table("places", "what a value is compared with", s.f.of, func(n int) (rows [][]int64) {
		for place := range 1 << s.Steps() {
			rows = append(rows, []int64{s.limit(n, place)})
		}
		return rows
	})
	places.Bare = true // elements are as wide as the value, and a row has one
	return append([]dataflow.Table{places}, s.outputs()...)
}

// Storage is that of the tables.
func (s *Serial) Storage() []dataflow.Storage {
	list := []dataflow.Storage{s.storage("places", 1<<s.Steps(), s.f.of.Width)}
	if rows := s.counts(); rows > 0 {
		list = append(list, s.storage("codes", rows, s.codes().Width))
	}
	return list
}

// Logic is a comparator for each lane, and the choice between what comes in and what is searched for.
func (s *Serial) Logic(m cost.Model) []cost.Part {
	lane := m.Multiplexer(2, s.f.of.Width+s.Steps())
	if m.Formula == cost.Fitted {
		lane.FF = s.f.of.Width // which is kept
	}
	if s.f.compare.Delta == nil {
		lane = lane.Plus(cost.Adder(s.f.out.Width))
	}
	return []cost.Part{
		m.Comparators(cost.Comparators{PE: s.at.PE, Steps: 1, Width: s.f.of.Width}),
		lane.Times(s.at.PE).As("step sums"),
	}
}
