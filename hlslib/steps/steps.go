// Package steps implements step functions in hardware: the exact functions from a sum to a quantiser's code that end
// many layers. The C++ is hlslib/core/compare.hpp.
//
// There are several forms, which all yield the exact codes:
//
//   - comparators: the value is compared with all thresholds at once
//   - table: the value's upper bits address a code; no breakpoint lies between values that share an address
//   - segments: the upper bits address a code and the one to three thresholds inside the segment, with which the lower
//     bits are compared
//   - search: each stage compares with some thresholds, read from its own memory at the bits that earlier stages found
//   - serial search: one comparator and one memory make one step after the other
//   - multiplier: the value times a sum of few powers of two, plus a bias, is shifted, rounded and clipped
//
// Tables and segments cover all values of a type, or a window, to which values are clipped first.
//
// PE lanes are computed side by side. A row of the comparators' tables holds the thresholds of all lanes; the
// multipliers' biases are stored alike. All other forms use addresses that depend on the value, so each lane has its
// own tables.
//
// CheapestFormAt chooses the cheapest form in LUTs and memories, among those with at most as many clocks as the layer
// allows. The choice depends only on the functions, the lanes and the memory. A serial search is never chosen so: it
// takes several clocks per value, and the fold asks for it (dataflow.SerialStepEvaluation). Cost, tables, latency and
// simulation all follow the StepFunctionHardware that CheapestFormAt returns.
//
// In come comparators (num), types and lanes; out come tables, fields, clocks, costs and circuits.
//
//   - steps.go   StepFunctions, FormSite, StepFunctionHardware, and the choice of a form
//   - compare.go comparators
//   - segment.go segments and tables
//   - search.go  search
//   - serial.go  serial search
//   - scale.go   multipliers; ramp.go remembers the lines of a function
//   - share.go   results shared by functions that are selected from others
//   - alike.go   whether two forms have the same cost
//   - differs.go whether a form equals its functions
//   - circuit.go all forms in RTL
package steps

import (
	"cmp"
	"math"
	"slices"
	"sync"

	"hlsgen/hlslib/price/cost"
	"hlsgen/hlslib/price/estimate"
	"hlsgen/internal/circuit"
	"hlsgen/internal/dataflow"
	"hlsgen/internal/num"
)

// StepFunctions are the step functions of one layer, all with the same types: one for all channels, or one per channel.
type StepFunctions struct {
	of, out num.Type
	in      []num.Range // the values that occur, by function
	compare num.ThresholdTable
	loaded  bool // thresholds are loaded at run time

	whole    *StepFunctions // the functions from which these are selected, or nil
	channels []int          // their channels in whole
	origin   []int          // by function: its index in whole, or -1 if it differs there
	share    share

	lanes  circuit.FunctionLibrary // circuits of comparators
	tables sync.Map                // from tableOfForm to *sync.Map: facts about the rows

	// The rest is computed when it is first needed, because a check of a model needs only little of it.
	listed   sync.Once
	list     []num.StepFunction // by channel: the function that the comparators compute, over all values of the type
	summed   sync.Once
	codes    [][]int64
	once     sync.Once
	jumps    num.Range // range over all breakpoints
	segments []segmentation
	lines    lines
	common   *scaling // one multiplier for all functions, or nil
	owned    sync.Once
	own      *scaling // one multiplier per function, or nil if they have no fewer digits
	mutex    sync.Mutex
	chosen   map[FormSite]StepFunctionHardware
	proved   map[string]bool // by form's name: whether the form equals the functions
}

// New returns the step functions that the comparators k compute, from values of type of to codes of type out. in holds
// the ranges of the values that occur: one for all functions, or one per channel.
func New(k num.ThresholdTable, in []num.Range, of, out num.Type) *StepFunctions {
	f := &StepFunctions{of: of, out: out, compare: k, in: in, chosen: map[FormSite]StepFunctionHardware{},
		proved: map[string]bool{}}
	if len(k.At) == 1 {
		all := in[0]
		for _, r := range in {
			all = all.Union(r)
		}
		f.in = []num.Range{all}
	}
	return f
}

// NewLoadableStepFunctions returns what New does for functions whose thresholds are loaded at run time. Their forms
// work for any thresholds of the same number and any functions with the same codes.
func NewLoadableStepFunctions(k num.ThresholdTable, in []num.Range, of, out num.Type) *StepFunctions {
	f := New(k, in, of, out)
	f.loaded = true
	return f
}

// bind computes the data from which forms of hardware are built. It is called when a form is first needed.
func (f *StepFunctions) bind() {
	f.bindList()
	f.once.Do(func() {
		if f.loaded {
			return
		}
		f.bindJumps()
		f.bindSegments()
		f.bindScalings()
	})
}

// bindList sets f.list, the functions that every form must equal.
func (f *StepFunctions) bindList() {
	f.listed.Do(func() {
		f.origin = origins(f)
		if f.whole != nil {
			f.whole.bindList()
		}
		f.list = make([]num.StepFunction, len(f.compare.At))
		for n, at := range f.origin {
			s := &f.list[n]
			if f.whole != nil && at >= 0 {
				*s = f.whole.list[at]
				continue
			}
			*s = f.compare.StepFunctionOf(n, f.of)
		}
		num.ShareStepValues(f.list)
	})
}

// totals returns each function's code by the number of exceeded thresholds. It returns nil if thresholds have no
// deltas.
func (f *StepFunctions) totals() [][]int64 {
	f.summed.Do(func() {
		for n, deltas := range f.compare.Delta {
			codes := append(make([]int64, 0, len(deltas)+1), f.compare.Base[min(n, len(f.compare.Base)-1)])
			for i, d := range deltas {
				codes = append(codes, codes[i]+d)
			}
			f.codes = append(f.codes, codes)
		}
	})
	return f.codes
}

// bindJumps sets f.jumps, the range of the jumps at all breakpoints.
func (f *StepFunctions) bindJumps() {
	first := true
	for _, s := range f.list {
		for i := range s.At {
			d := num.SingleValueRange(s.Value[i+1] - s.Value[i])
			if first {
				f.jumps, first = d, false
			}
			f.jumps = f.jumps.Union(d)
		}
	}
}

// uniform reports whether the jumps at all breakpoints are equal and fit an int of C++.
func (f *StepFunctions) uniform() bool {
	return f.jumps.Lo == f.jumps.Hi && f.jumps.IsWithin(num.Range{Lo: math.MinInt32, Hi: math.MaxInt32})
}

// A FormSite says where in a layer the functions are computed: how many side by side, whether all channels share one,
// and in which memory.
type FormSite struct {
	PE     int             // lanes
	Alike  bool            // all lanes use one function at a time; else lane i uses that of channel r*PE+i in row r
	Memory dataflow.Memory // for the tables; NoMemory chooses the cheapest
	Clocks int             // most clocks from a value to its code; 0 means any number
}

// A StepFunctionHardware is one way to build the functions at a site.
type StepFunctionHardware interface {
	// Name returns a name that distinguishes the forms of the same functions, whatever the site.
	Name() string
	// LatencyClocks returns the clocks from a value to its code. Data that does not depend on the value is fetched
	// before.
	LatencyClocks() int
	// HasTablesPerLane reports whether each lane has its own tables; else one row holds the data of all lanes.
	HasTablesPerLane() bool
	// LaneCount returns the number of values that are computed side by side.
	LaneCount() int
	// ComputeCode returns function n's code for v, computed from the form's tables.
	ComputeCode(n int, v int64) int64
	// ConfigFields and Tables return the arguments of apply_steps in core/compare.hpp, which computes the form in C++.
	ConfigFields() []dataflow.ConfigField
	Tables() []dataflow.Table
	// Storage returns the memories of the tables, in the part "threshold memory".
	Storage() []dataflow.Storage
	// LogicCost returns the cost of the comparators and adders of all lanes.
	LogicCost(cost.CostModel) []cost.CostPart
	// BuildCircuit returns the codes of the lanes' values in RTL. row is the address of the tables' row, at stage 0, as
	// for apply_steps.
	BuildCircuit(b *circuit.Builder, row circuit.Value, values []circuit.Value) []circuit.Value
}

// The numbers that core/compare.hpp has for the forms.
const (
	none = iota
	comparators
	table
	segments
	search
	scaled
)

// formField returns the field of the C++ that selects the form with the number n.
func formField(n int) dataflow.ConfigField {
	return dataflow.ConfigField{Name: "form",
		Doc: "how step functions are built: 0 none, 1 comparators, 2 table, 3 segments, 4 search, " +
			"5 multiplier", Value: n}
}

// ConfigFieldsWithoutThresholds returns the fields of the C++ for a layer without thresholds: its output is unit times
// its value, plus base. value names the value.
func ConfigFieldsWithoutThresholds(value string, unit, base int) []dataflow.ConfigField {
	return []dataflow.ConfigField{
		formField(none),
		{Name: "unit", Doc: "added to the output by each count of the " + value, Value: unit},
		{Name: "base", Doc: "the output at count 0", Value: base},
		{Name: "shared", Doc: "one row serves all channels", Value: true},
	}
}

// CheapestFormAt returns the cheapest form for a site, or nil if there are no thresholds.
func (f *StepFunctions) CheapestFormAt(p FormSite) StepFunctionHardware {
	if f.compare.ThresholdsPerChannel() == 0 {
		return nil
	}
	f.bind()
	f.mutex.Lock()
	defer f.mutex.Unlock()
	form, ok := f.chosen[p]
	if !ok {
		form = f.choose(p)
		f.chosen[p] = form
	}
	return form
}

// Weights for the comparison of forms: blockLUTs is the number of LUTs that cost as much as a RAMB18, flipFlops the
// number of flip-flops that cost as much as a LUT. Both are guesses: boards have between 100 and 400 LUTs per RAMB18,
// and two flip-flops per LUT, of which most stay free. A form with tables per lane must save at least laneLUTs for
// every lane: with few thresholds, equal for all channels, synthesis turns comparators into a table by itself.
const (
	blockLUTs = 250
	flipFlops = 8
	laneLUTs  = 8
)

// FormPriceInLUTs returns the price of a form in LUTs, for the devices to which the cost formulas are fitted.
func FormPriceInLUTs(form StepFunctionHardware) float64 {
	m := cost.CostModel{Formula: cost.FormulaFitted}
	var all cost.Resources
	for _, s := range form.Storage() {
		all = all.Plus(estimate.MemoryCost(m, s))
	}
	for _, p := range form.LogicCost(m) {
		all = all.Plus(p.Resources)
	}
	p := price(all)
	if form.HasTablesPerLane() {
		p += float64(laneLUTs * form.LaneCount())
	}
	return p
}

// PriceOfCostPartsInLUTs returns the price in LUTs of the parts of a cost together. Flip-flops, block RAM and UltraRAM
// are converted to LUTs; DSP slices count nothing.
func PriceOfCostPartsInLUTs(parts []cost.CostPart) float64 {
	var all cost.Resources
	for _, p := range parts {
		all = all.Plus(p.Resources)
	}
	return price(all)
}

func price(all cost.Resources) float64 {
	return float64(all.LUT) + float64(all.FF)/flipFlops + blockLUTs*float64(all.BRAM) + 8*blockLUTs*float64(all.URAM)
}

// choose returns the form for a site with the least price and, among equals, the fewest clocks. Comparators are always
// possible; any other form must be proved equal to the functions.
func (f *StepFunctions) choose(p FormSite) StepFunctionHardware {
	forms := slices.DeleteFunc(f.all(p), func(form StepFunctionHardware) bool {
		return p.Clocks > 0 && form.LatencyClocks() > p.Clocks
	})
	return f.least(forms)
}

// AllFormsAt returns the forms for a site, whatever their clocks, not yet compared with the functions. The comparators
// come first. They are left out if there are more than MaxComparedThresholds thresholds and a table is possible.
func (f *StepFunctions) AllFormsAt(p FormSite) []StepFunctionHardware {
	f.bind()
	return f.all(p)
}

func (f *StepFunctions) all(p FormSite) []StepFunctionHardware {
	forms := []StepFunctionHardware{&parallel{f, p}}
	if f.of.Kind == num.KindBipolar {
		return forms
	}
	if f.compare.ThresholdsPerChannel() > MaxComparedThresholds && CanUseLookupTableAt(f, p) {
		forms = nil
	}
	if !f.loaded {
		forms = append(forms, f.scaled(p)...)
	}
	tables := []dataflow.Memory{p.Memory}
	if p.Memory == dataflow.NoMemory {
		tables = []dataflow.Memory{dataflow.MemoryLUTRAM, dataflow.MemoryBRAM}
	}
	for _, m := range tables {
		l := lanes{f, p, m}
		if !f.loaded {
			forms = append(forms, l.segmented()...)
		}
		forms = append(forms, l.searched()...)
	}
	return forms
}

// least returns the first of the forms, by price and then by clocks, that is proved equal to the functions. It panics
// if there is none. A proof for one site holds for all sites.
func (f *StepFunctions) least(forms []StepFunctionHardware) StepFunctionHardware {
	type offer struct {
		StepFunctionHardware
		price  float64
		clocks int
	}
	offers := make([]offer, len(forms))
	for i, form := range forms {
		offers[i] = offer{form, FormPriceInLUTs(form), form.LatencyClocks()}
	}
	slices.SortStableFunc(offers, func(a, b offer) int {
		return cmp.Or(cmp.Compare(a.price, b.price), cmp.Compare(a.clocks, b.clocks))
	})
	for _, o := range offers {
		if f.equal(o.StepFunctionHardware) {
			return o.StepFunctionHardware
		}
	}
	panic("steps: comparators differ from themselves")
}

// equal reports whether a form yields the functions' codes for all values.
func (f *StepFunctions) equal(form StepFunctionHardware) bool {
	name := form.Name()
	equal, known := f.proved[name]
	if !known {
		equal = f.differs(form) == nil
		f.proved[name] = equal
	}
	return equal
}

// A lanes is the common part of all forms but comparators and multipliers: each lane has its own tables, in a memory.
type lanes struct {
	f      *StepFunctions
	at     FormSite
	memory dataflow.Memory
}

// HasTablesPerLane returns true: each lane has tables of its own.
func (l *lanes) HasTablesPerLane() bool { return true }

// LaneCount returns the number of values that are computed side by side.
func (l *lanes) LaneCount() int { return l.at.PE }

// functions returns the number of functions in the tables of a lane.
func (l *lanes) functions() int {
	n := len(l.f.compare.At)
	if !l.at.Alike && n > 1 {
		return n / l.at.PE
	}
	return n
}

// function returns the index of the function that a lane uses in a row.
func (l *lanes) function(row, lane int) int {
	if l.at.Alike || len(l.f.list) == 1 {
		return row
	}
	return row*l.at.PE + lane
}

// table returns a table of all lanes, one lane after the other. It has the rows that rows returns for each function.
func (l *lanes) table(name, doc string, elem num.Type, rows func(function int) [][]int64) dataflow.Table {
	t := dataflow.Table{Name: name, Doc: "by lane, fold and address: " + doc, Elem: elem, Banks: l.at.PE}
	for lane := range l.at.PE {
		for row := range l.functions() {
			t.Rows = append(t.Rows, rows(l.function(row, lane))...)
		}
	}
	return t
}

// storage returns the memory of a lane's table, with the given rows per function of width bits each.
func (l *lanes) storage(name string, rows, width int) dataflow.Storage {
	s := dataflow.NewTableStorage(name, "threshold memory", l.functions()*rows, width).MovedToMemory(l.memory)
	s.Banks = l.at.PE
	return s
}

// fields returns the fields of the C++ for a form with tables per lane, whose number is form, followed by more.
func (l *lanes) fields(form int, more ...dataflow.ConfigField) []dataflow.ConfigField {
	return append([]dataflow.ConfigField{
		formField(form),
		{Name: "functions", Doc: "step functions of a lane", Value: l.functions()},
		{Name: "shared", Doc: "one row serves all channels", Value: false},
	}, more...)
}

// unitField returns the field of the C++ with the jump that all thresholds share.
func unitField(unit int64) dataflow.ConfigField {
	return dataflow.ConfigField{Name: "unit", Doc: "what each exceeded threshold adds", Value: int(unit)}
}
