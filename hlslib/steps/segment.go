package steps

import (
	"fmt"
	"math/bits"

	"hlsgen/hlslib/price/cost"
	"hlsgen/internal/dataflow"
	"hlsgen/internal/num"
)

// MaxComparedThresholds is the most thresholds that may be compared at once. Functions with more are looked up by at
// most MaxTableAddressBits bits, and take at most MaxTableRows rows together.
const (
	MaxComparedThresholds = 1 << 12
	MaxTableAddressBits   = 16
	MaxTableRows          = 1 << 20
)

// The limits of forms by segments.
const (
	mostInside   = 3       // most thresholds inside a segment
	widestRecord = 1 << 10 // bits of a row
	widestValue  = 62      // bits of a value that is divided into segments
)

// roomOf returns the limits of tables: the bits of a function's address, the rows of a lane's table, and the rows of
// all lanes. They are larger if there are more thresholds than can be compared at once, because then only tables are
// possible.
func roomOf(f *StepFunctions) (address, rows, lanes int) {
	if f.compare.ThresholdsPerChannel() > MaxComparedThresholds {
		return MaxTableAddressBits, MaxTableRows, MaxTableRows
	}
	return 12, 1 << 12, 1 << 15
}

// CanUseLookupTableAt reports whether a table with a row for every value is small enough at the site p. It builds no
// form.
func CanUseLookupTableAt(f *StepFunctions, p FormSite) bool {
	_, _, most := roomOf(f)
	l := lanes{f, p, p.Memory}
	return f.of.Kind != num.KindBipolar && f.of.Width <= MaxTableAddressBits && l.functions()<<f.of.Width <= most/p.PE
}

// A segmentation divides values into segments of 2^low values, each with at most inside breakpoints. A breakpoint at
// the first value of a segment does not count, because the segment starts with its code. The segments cover all
// values of the type, or a window of 2^span values from first on, if the breakpoints lie close together. A value
// outside the window has the code of the window's nearest value.
type segmentation struct {
	low, inside int
	span        int // bits of the values that are divided
	window      bool
	first       int64
	live        int // blocks whose rows differ, over all functions
}

// block is the number of rows of a table of which one LUT stores a bit.
const block = 64

// bindSegments sets the segmentations with few enough rows and breakpoints: of all values, and of the window in which
// the breakpoints lie.
func (f *StepFunctions) bindSegments() {
	if f.of.Kind == num.KindBipolar || f.of.Width > widestValue {
		return
	}
	f.cut(segmentation{span: f.of.Width})
	least, most := f.of.Range().Hi, f.of.Range().Lo
	for _, s := range f.list {
		if n := len(s.At); n > 0 {
			least, most = min(least, s.At[0]), max(most, s.At[n-1])
		}
	}
	if least > most || least-1 != int64(int32(least-1)) {
		return
	}
	if span := bits.Len64(uint64(most - (least - 1))); span < f.of.Width {
		f.cut(segmentation{span: span, window: true, first: least - 1})
	}
}

// cut appends, to those of f, the useful segmentations with the span and window of g.
func (f *StepFunctions) cut(g segmentation) {
	root := f.root()
	root.share.mutex.Lock()
	defer root.share.mutex.Unlock()
	start := len(f.segments)
	address, _, _ := roomOf(f)
	for g.low = max(0, g.span-address); g.low < g.span; g.low++ {
		g.inside, g.live = 0, 0
		known := root.share.crossings(g, len(root.compare.At))
		for n := range f.list {
			var c cross
			if own := f.origin[n]; known == nil || own < 0 {
				c = crossing(&f.list[n], &g)
			} else {
				if !known[own].known {
					known[own] = crossing(&f.list[n], &g)
				}
				c = known[own]
			}
			if g.inside = max(g.inside, c.inside); g.inside > mostInside {
				return // larger segments have at least as many
			}
			g.live += c.live
		}
		if n := len(f.segments); n > start && f.segments[n-1].inside == g.inside {
			f.segments = f.segments[:n-1] // half the rows suffice
		}
		if g.low+6 >= g.span {
			g.live = 0
		}
		f.segments = append(f.segments, g)
	}
}

// crossing counts the breakpoints of s inside the segments of g, and inside blocks of its rows.
func crossing(s *num.StepFunction, g *segmentation) cross {
	c, wide := cross{known: true}, g.low+6
	count, segment := 0, int64(0) // breakpoints inside a segment, and its number
	block, inside := int64(0), false
	for _, at := range s.At {
		at -= g.first
		if at&(1<<g.low-1) != 0 {
			if count == 0 || at>>g.low != segment {
				count, segment = 0, at>>g.low
			}
			count++
			c.inside = max(c.inside, count)
		}
		before, last := block, inside
		if block, inside = at>>wide, at&(1<<wide-1) != 0; inside && (!last || block != before) {
			c.live++
		}
	}
	return c
}

// segmented returns the forms that look up segments, among them plain tables.
func (l lanes) segmented() (forms []StepFunctionHardware) {
	_, most, mostOfLanes := roomOf(l.f)
	for _, s := range l.f.segments {
		rows := l.functions() << (s.span - s.low)
		form := &segment{lanes: l, segmentation: s}
		if rows > most || rows*l.at.PE > mostOfLanes || s.inside*max(s.low, form.delta().Width) > widestRecord {
			continue
		}
		forms = append(forms, form)
	}
	return forms
}

// A segment is the form that looks up a row by a value's upper bits. It compares the lower bits with the thresholds of
// the row. Without breakpoints inside segments it is a plain table.
type segment struct {
	lanes
	segmentation
}

// delta returns the type that holds the jumps of all functions at breakpoints.
func (s *segment) delta() num.Type { return num.NarrowestIntTypeFor(s.f.jumps) }

func (s *segment) Name() string {
	name := fmt.Sprintf("2^%d segments", s.span-s.low)
	if s.inside == 0 {
		name = fmt.Sprintf("table of 2^%d rows", s.span-s.low)
	}
	if s.window {
		name += fmt.Sprintf(" of 2^%d values", s.span)
	}
	return name
}

func (s *segment) LatencyClocks() int {
	n := 1
	if s.inside > 0 {
		n++
	}
	if s.window {
		n++
	}
	return n
}

// grain returns the number of values that share a row of the table.
func (s *segment) grain() int64 { return 1 << s.low }

// cut returns the range of values that are divided into segments: the window, or all values of the type.
func (s *segment) cut() num.Range {
	if !s.window {
		return s.f.of.Range()
	}
	return num.Range{Lo: s.first, Hi: s.first + 1<<s.span - 1}
}

// begin returns the first value of the segment that contains v.
func (s *segment) begin(v int64) int64 { return s.first + (v-s.first)&^(s.grain()-1) }

// A record holds the contents of a segment: its first code, the thresholds, and the jump at each.
type record struct {
	base        int64
	over, delta []int64
}

// record returns the contents of the segment with v in it, for function n. Unused thresholds are the segment's last
// value, which is never exceeded. over and delta are buffers that the record uses if they are large enough.
func (s *segment) record(n int, v int64, over, delta []int64) record {
	first := s.begin(v)
	return s.recordAt(n, first, s.f.list[n].FirstBreakpointIndexAbove(first), over, delta)
}

// recordAt returns the record of the segment that starts at first, where above is the number of breakpoints up to
// first.
func (s *segment) recordAt(n int, first int64, above int, over, delta []int64) record {
	step := &s.f.list[n]
	r := record{step.Value[above], over[:0], delta[:0]}
	for i := above; i < len(step.At) && step.At[i] <= first+(s.grain()-1); i++ {
		r.over = append(r.over, step.At[i]-first-1)
		r.delta = append(r.delta, step.Value[i+1]-step.Value[i])
	}
	for len(r.over) < s.inside {
		r.over, r.delta = append(r.over, s.grain()-1), append(r.delta, 0)
	}
	return r
}

func (s *segment) ComputeCode(n int, v int64) int64 {
	v = s.kept(v)
	var over, delta [4]int64 // buffers for the usual case
	r := s.record(n, v, over[:], delta[:])
	return s.code(&r, v)
}

// kept returns v limited to the window of values that is divided into segments.
func (s *segment) kept(v int64) int64 {
	if s.window {
		v = max(s.first, min(v, s.first+1<<s.span-1))
	}
	return v
}

// code returns the code of v, where r is the contents of its segment.
func (s *segment) code(r *record, v int64) int64 {
	code, rest := r.base, (v-s.first)&(s.grain()-1)
	for i, over := range r.over {
		switch {
		case rest <= over:
		case s.f.uniform():
			code += s.f.jumps.Lo
		default:
			code += r.delta[i]
		}
	}
	return code
}

// rows returns the table rows of function n in the order of addresses. of appends a row made from the record of a
// segment. An address is an unsigned number, so negative values come last.
func (s *segment) rows(n int, of func(row []int64, r record) []int64) [][]int64 {
	count := 1 << (s.span - s.low)
	rows, all := make([][]int64, count), make([]int64, 0, count*max(1, s.inside))
	over, delta := make([]int64, s.inside), make([]int64, s.inside)
	for address := range rows {
		v := s.first + int64(address)<<s.low
		if !s.window {
			v = s.f.of.DecodeBits(uint64(v))
		}
		from := len(all)
		all = of(all, s.record(n, v, over, delta))
		rows[address] = all[from:len(all):len(all)]
	}
	return rows
}

func (s *segment) ConfigFields() []dataflow.ConfigField {
	low := []dataflow.ConfigField{
		{Name: "low", Doc: "bits of a value below those of the address", Value: s.low},
		{Name: "span", Doc: "bits of a value, or of its place in the window", Value: s.span},
		{Name: "window", Doc: "values are clipped to a window", Value: s.window},
		{Name: "first", Doc: "first value of the window", Value: int(s.first)},
	}
	if s.inside == 0 {
		return s.fields(table, low...)
	}
	low = append(low, dataflow.ConfigField{Name: "steps", Doc: "thresholds of a segment", Value: s.inside})
	if s.f.uniform() {
		low = append(low, unitField(s.f.jumps.Lo))
	}
	return s.fields(segments, low...)
}

func (s *segment) Tables() []dataflow.Table {
	of := func(name, doc string, elem num.Type, part func([]int64, record) []int64) dataflow.Table {
		return s.table(name, doc, elem, func(n int) [][]int64 { return s.rows(n, part) })
	}
	tables := []dataflow.Table{
		of("codes", "the output, of a segment's first value", s.f.out,
			func(row []int64, r record) []int64 { return append(row, r.base) }),
	}
	if s.inside == 0 {
		return tables
	}
	tables = append(tables,
		of("thresholds", "what the lower bits are compared with", s.rest(),
			func(row []int64, r record) []int64 { return append(row, r.over...) }))
	if !s.f.uniform() {
		tables = append(tables,
			of("deltas", "what each threshold adds", s.padded(),
				func(row []int64, r record) []int64 { return append(row, r.delta...) }))
	}
	return tables
}

// rest returns the type of a value's position in its segment: the lower bits.
func (s *segment) rest() num.Type { return num.Type{Kind: num.KindUInt, Width: s.low} }

// padded returns the type of jumps in the table. It holds 0, which unused entries have.
func (s *segment) padded() num.Type {
	return num.NarrowestIntTypeFor(s.f.jumps.Union(num.SingleValueRange(0)))
}

func (s *segment) Storage() []dataflow.Storage {
	rows := 1 << (s.span - s.low)
	list := append(make([]dataflow.Storage, 0, 3), s.storage("codes", rows, s.f.out.Width))
	if s.inside > 0 {
		list = append(list, s.storage("thresholds", rows, s.inside*s.low))
		if !s.f.uniform() {
			list = append(list, s.storage("deltas", rows, s.inside*s.padded().Width))
		}
	}
	for i := range list {
		list[i].Same = s.same()
	}
	return list
}

// same returns how many rows of a lane's tables lie in blocks of equal rows. It is 0 unless the tables are in LUTs.
func (s *segment) same() int {
	if s.memory != dataflow.MemoryLUTRAM || s.span-s.low <= 6 {
		return 0
	}
	functions := s.functions()
	live := (s.live*functions + len(s.f.list) - 1) / len(s.f.list) // per lane, on average
	return functions<<(s.span-s.low) - live*block
}

func (s *segment) LogicCost(m cost.CostModel) []cost.CostPart {
	var lane cost.Resources
	if s.window {
		// The difference's upper bits tell whether a value lies outside the window, and then replace its lower bits.
		lane = cost.AdderCost(s.f.of.Width + 1).Plus(cost.Resources{LUT: s.span + (s.f.of.Width+1-s.span+5)/6})
		if m.Formula == cost.FormulaFitted {
			lane.FF += s.span
		}
	}
	if s.same() > 0 {
		lane.LUT += s.functions() * ((s.span - s.low - 6 + 4) / 5) // logic that selects the blocks with different rows
	}
	if s.inside > 0 {
		sums := 1
		if !s.f.uniform() {
			sums = s.inside
		}
		lane = lane.Plus(cost.AdderCost(s.f.out.Width).Times(sums))
		if m.Formula == cost.FormulaFitted {
			lane.FF += s.low // registers: the lower bits wait for the table
		}
	}
	return []cost.CostPart{
		m.ThresholdComparatorCost(cost.ThresholdComparatorShape{PE: s.at.PE, Steps: s.inside, Width: s.low}),
		lane.Times(s.at.PE).AsPart("step sums"),
	}
}
