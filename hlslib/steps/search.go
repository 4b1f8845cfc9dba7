package steps

import (
	"fmt"
	"math/bits"

	"hlsgen/hlslib/price/cost"
	"hlsgen/internal/dataflow"
	"hlsgen/internal/num"
)

// mostRadix is the most bits of the count that a stage finds. Four bits take 15 comparators.
const mostRadix = 4

// searched returns the forms that search with a radix from 2 to 16. The first stage finds the bits that the other
// stages leave.
func (l lanes) searched() (forms []StepFunctionHardware) {
	steps := l.f.compare.ThresholdsPerChannel()
	if steps < 2 {
		return nil
	}
	all := bits.Len(uint(steps))
	_, most, mostOfLanes := roomOf(l.f)
	for radix := 1; radix <= min(mostRadix, all); radix++ {
		s := &searching{l, balanced(all, radix)}
		rows := l.functions() << (all - s.stages[len(s.stages)-1])
		if l.f.compare.Delta != nil {
			rows = l.functions() << all
		}
		if rows <= most && rows*l.at.PE <= mostOfLanes && s.width(len(s.stages)-1) <= widestRecord {
			forms = append(forms, s)
		}
	}
	return forms
}

// balanced returns how many of all bits each stage finds: radix bits, and in the first stage the rest.
func balanced(all, radix int) []int {
	list := []int{(all-1)%radix + 1}
	for all -= list[0]; all > 0; all -= radix {
		list = append(list, radix)
	}
	return list
}

// A searching is the form that finds the number of thresholds that a value exceeds. Each stage finds some bits of the
// number, the highest ones first. It compares the value with the thresholds that divide the remaining ones into equal
// parts.
type searching struct {
	lanes
	stages []int // bits of each
}

// before returns the number of bits of the count that the stages before the given one find.
func (s *searching) before(stage int) (n int) {
	for _, b := range s.stages[:stage] {
		n += b
	}
	return n
}

// width returns the width in bits of a row in a stage's table.
func (s *searching) width(stage int) int { return (1<<s.stages[stage] - 1) * s.f.of.Width }

func (s *searching) Name() string { return fmt.Sprintf("search by %d bits", s.stages) }

// LatencyClocks returns the clocks from a value to its code, one per stage. A memory other than LUTs takes another
// clock per stage except the first, whose row does not depend on the value. If thresholds add different amounts, a
// table maps the count to the code in one more clock.
func (s *searching) LatencyClocks() int {
	n := len(s.stages)
	if s.memory != dataflow.MemoryLUTRAM {
		n = 2*n - 1
	}
	if s.f.compare.Delta != nil {
		n++
	}
	return n
}

// threshold returns threshold i of a stage's row for function n. found is the number whose bits the stages before have
// found. Beyond the last threshold it returns a number that no value exceeds.
func (s *searching) threshold(n, stage, found, i int) int64 {
	all := s.before(len(s.stages))
	rest := all - s.before(stage)
	at := found<<rest + (i+1)<<(rest-s.stages[stage]) - 1
	return s.f.compare.Threshold(n, at, s.f.of)
}

func (s *searching) ComputeCode(n int, v int64) int64 {
	found, rest := 0, s.before(len(s.stages))
	list := s.f.compare.At[n]
	for _, b := range s.stages {
		count, below := 0, found<<rest // number of the first remaining threshold
		rest -= b
		for i := range 1<<b - 1 {
			if at := below + (i+1)<<rest - 1; at < len(list) && v >= list[at] {
				count++
			}
		}
		found = found<<b + count
	}
	return s.code(n, found)
}

// code returns the code of function n for a value that exceeds the given number of thresholds.
func (s *searching) code(n, exceeded int) int64 {
	k := &s.f.compare
	base := k.Base[min(n, len(k.Base)-1)]
	if k.Delta == nil {
		return base + int64(min(exceeded, k.ThresholdsPerChannel()))*k.Unit
	}
	return s.f.totals()[n][min(exceeded, k.ThresholdsPerChannel())]
}

// name returns the name of a stage's table.
func name(stage int) string { return "stage" + string(rune('a'+stage)) }

func (s *searching) ConfigFields() []dataflow.ConfigField {
	var perLimb []int
	for _, b := range s.stages {
		per, _ := dataflow.ChooseLimbLayout(1<<b-1, s.f.of.Width)
		perLimb = append(perLimb, per)
	}
	return s.fields(search, unitField(s.f.compare.Unit),
		dataflow.ConfigField{Name: "stages", Doc: "stages of the search; bits that each stage finds:",
			Value: len(s.stages)},
		dataflow.ConfigField{Name: "stage_bits", Value: s.stages},
		dataflow.ConfigField{Name: "stage_per_limb", Value: perLimb}, s.result())
}

// result returns the field of the C++ that says how the count of exceeded thresholds becomes a code.
func (s *searching) result() dataflow.ConfigField {
	if s.counts() > 0 {
		return dataflow.ConfigField{Name: "coded", Value: s.f.compare.Delta != nil,
			Doc: "the table of codes has a row for every count, else only for count 0"}
	}
	base, _ := s.f.compare.ConstantBase()
	return dataflow.ConfigField{Name: "base", Doc: "the output if no threshold is exceeded", Value: int(base)}
}

func (s *searching) Tables() (tables []dataflow.Table) {
	for stage, b := range s.stages {
		doc := "what a value is compared with"
		t := s.table(name(stage), doc, s.f.of, func(n int) (rows [][]int64) {
			for found := range 1 << s.before(stage) {
				row := make([]int64, 0, 1<<b-1)
				for i := range 1<<b - 1 {
					row = append(row, s.threshold(n, stage, found, i))
				}
				rows = append(rows, row)
			}
			return rows
		})
		t.Bare = true // elements have the value's width, and stage_per_limb lists the limbs
		tables = append(tables, t)
	}
	return append(tables, s.outputs()...)
}

// outputs returns the table of codes as a list of one, or nil if codes are computed from counts alone.
func (s *searching) outputs() []dataflow.Table {
	if s.counts() == 0 {
		return nil
	}
	return []dataflow.Table{s.table("codes", "the output", s.codes(), func(n int) (rows [][]int64) {
		for i := range s.counts() {
			rows = append(rows, []int64{s.code(n, i)})
		}
		return rows
	})}
}

// counts returns the rows per function in the table of codes. There is one per count, or one for the base code, or 0
// without a table.
func (s *searching) counts() int {
	if s.f.compare.Delta != nil {
		return 1 << s.before(len(s.stages))
	}
	if _, constant := s.f.compare.ConstantBase(); constant {
		return 0
	}
	return 1
}

// codes returns the element type of the table of codes.
func (s *searching) codes() num.Type {
	if s.f.compare.Delta != nil {
		return s.f.out
	}
	return num.NarrowestTypeOfValues(s.f.compare.Base)
}

func (s *searching) Storage() (list []dataflow.Storage) {
	for stage := range s.stages {
		list = append(list, s.storage(name(stage), 1<<s.before(stage), s.width(stage)))
	}
	if rows := s.counts(); rows > 0 {
		list = append(list, s.storage("codes", rows, s.codes().Width))
	}
	return list
}

func (s *searching) LogicCost(m cost.CostModel) []cost.CostPart {
	var compared cost.Resources
	registers := 0
	for stage, b := range s.stages {
		k := cost.ThresholdComparatorShape{PE: s.at.PE, Steps: 1<<b - 1, Width: s.f.of.Width}
		compared = compared.Plus(m.ThresholdComparatorCost(k).Resources)
		if stage > 0 {
			registers += s.f.of.Width + s.before(stage)
		}
	}
	var lane cost.Resources
	if s.f.compare.Delta == nil {
		lane = cost.AdderCost(s.f.out.Width)
	}
	if m.Formula == cost.FormulaFitted {
		lane.FF = registers
	}
	return []cost.CostPart{compared.AsPart("comparators"), lane.Times(s.at.PE).AsPart("step sums")}
}
