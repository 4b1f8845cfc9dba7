// Package steps builds step functions in hardware: the exact functions from a sum to a quantiser's code that stand at
// the end of many layers. Its C++ is hlslib/core/compare.hpp.
//
// There are several forms, all exact:
//
//   - comparators: the value is compared with all thresholds at once
//   - table: the value's upper bits are the address of a code; no breakpoint lies between values that share an address
//   - segments: the upper bits are the address of a code and of the one to three thresholds that lie in that segment,
//     and the lower bits are compared with these
//   - search: a stage compares with some thresholds, which a memory of its own has for the outcome of the stages before
//   - serial search: a step after the other, by one comparator and one memory
//   - multiplier: the value times a sum of few powers of two, plus a bias, is shifted, rounded and clipped
//
// Tables and segments are of all values of a type, or of a window of them, to which values are kept first.
//
// PE lanes are computed side by side. Comparators have the thresholds of all lanes in a row of a table, and multipliers
// their biases. All other forms look up at an address that depends on the value, so that each lane has tables of its
// own.
//
// A form is chosen by what it takes, in LUTs and memories, within as many clocks as the layer has for it; nothing but
// the lanes and the memory enters. A serial search is not among these: where a value takes several clocks, the fold
// says so (dataflow.Serial). Cost, tables, latency and simulation are those of the Form that At gives.
//
// In come comparators (num), types and lanes; out come tables, fields, clocks, costs and circuits. It sees estimate,
// cost, circuit, dataflow and num.
//
//   - steps.go   Functions, Site, Form: what a form is, and which one is taken
//   - compare.go comparators
//   - segment.go segments and tables
//   - search.go  search
//   - serial.go  serial search
//   - scale.go   multipliers; ramp.go what is known of these
//   - share.go   what functions that are some of others find known of them
//   - alike.go   which forms take the same
//   - differs.go whether a form gives what the functions give
//   - circuit.go all of them in RTL
package steps

import (
	"cmp"
	"math"
	"slices"
	"sync"

	"hlsgen/hlslib/cost"
	"hlsgen/hlslib/estimate"
	"hlsgen/internal/circuit"
	"hlsgen/internal/dataflow"
	"hlsgen/internal/num"
)

// Functions are step functions of one type of value: one for all channels, or one per channel.
type Functions struct {
	of, out num.Type
	in      []num.Range // that occur, of each function
	compare num.Comparators
	loaded  bool // thresholds may become others

	whole    *Functions // of which these are some; nil where they are none
	channels []int      // of it
	origin   []int      // of each function: which of the whole's it is, -1 where it is none
	share    share

	lanes circuit.Library // of comparators

	// Forms are made when they are asked for: a check of a model asks for few.
	listed   sync.Once
	list     []num.Step // what the comparators make of every value of the type, by channel
	summed   sync.Once
	codes    [][]int64
	once     sync.Once
	jumps    num.Range // at all breakpoints
	segments []segmentation
	lines    lines
	common   *scaling // nil where there is none
	owned    sync.Once
	own      *scaling // with a multiplier for each function, nil where there is none of fewer digits
	mutex    sync.Mutex
	chosen   map[Site]Form
	proved   map[string]bool // by form: whether it gives what the functions give
}

// New has the functions that comparators make of values of one type; the codes are of another. The values that occur
// are in one range for all functions, or one for each channel.
func New(k num.Comparators, in []num.Range, of, out num.Type) *Functions {
	f := &Functions{of: of, out: out, compare: k, in: in, chosen: map[Site]Form{}, proved: map[string]bool{}}
	if len(k.At) == 1 {
		all := in[0]
		for _, r := range in {
			all = all.Union(r)
		}
		f.in = []num.Range{all}
	}
	return f
}

// Loaded has functions that are loaded: forms are those of any others with as many thresholds, of the same codes.
func Loaded(k num.Comparators, in []num.Range, of, out num.Type) *Functions {
	f := New(k, in, of, out)
	f.loaded = true
	return f
}

// bind finds what forms are made of.
func (f *Functions) bind() {
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

// bindList finds the functions that forms have to give.
func (f *Functions) bindList() {
	f.listed.Do(func() {
		f.origin = origins(f)
		if f.whole != nil {
			f.whole.bindList()
		}
		f.list = make([]num.Step, len(f.compare.At))
		for n, at := range f.origin {
			s := &f.list[n]
			if f.whole != nil && at >= 0 {
				*s = f.whole.list[at]
				continue
			}
			*s = f.compare.Step(n, f.of)
		}
		num.Share(f.list)
	})
}

// totals is each function's code by the thresholds that are exceeded, where these add deltas of their own.
func (f *Functions) totals() [][]int64 {
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

// bindJumps finds the least and the greatest jump.
func (f *Functions) bindJumps() {
	first := true
	for _, s := range f.list {
		for i := range s.At {
			d := num.Point(s.Value[i+1] - s.Value[i])
			if first {
				f.jumps, first = d, false
			}
			f.jumps = f.jumps.Union(d)
		}
	}
}

// uniform reports whether all jumps are the same, and fit the int of C++.
func (f *Functions) uniform() bool {
	return f.jumps.Lo == f.jumps.Hi && f.jumps.Within(num.Range{Lo: math.MinInt32, Hi: math.MaxInt32})
}

// A Site is where functions are built.
type Site struct {
	PE     int             // lanes
	Alike  bool            // all lanes have one function at a time, else lane i of row r that of channel r*PE+i
	Memory dataflow.Memory // of tables, NoMemory where they take least
	Clocks int             // at most so many from a value to its code; 0 is any number
}

// A Form is the functions as they are built at a site.
type Form interface {
	// Name tells the forms of the same functions apart, wherever they are.
	Name() string
	// Clocks is how many lie between a value and its code. What does not depend on the value is fetched before.
	Clocks() int
	// Apart reports whether lanes have tables of their own; else those of all lanes lie in a row.
	Apart() bool
	// Lanes is how many are built.
	Lanes() int
	// Apply is function n's code for a value, as the tables have it.
	Apply(n int, v int64) int64
	// Fields and Tables are what apply_steps of core/compare.hpp takes.
	Fields() []dataflow.Field
	Tables() []dataflow.Table
	// Storage is that of the tables, in part "threshold memory".
	Storage() []dataflow.Storage
	// Logic is what compares and adds, for all lanes.
	Logic(cost.Model) []cost.Part
	// Circuit is the codes of the lanes' values, in RTL. The row, at stage 0, is that of the tables, as apply_steps has
	// it.
	Circuit(b *circuit.Builder, row circuit.Value, values []circuit.Value) []circuit.Value
}

// The numbers of forms in core/compare.hpp.
const (
	none = iota
	comparators
	table
	segments
	search
	scaled
)

// formField tells the C++ which form it is.
func formField(n int) dataflow.Field {
	return dataflow.Field{Name: "form",
		Doc: "how step functions are built: 0 none, 1 comparators, 2 table, 3 segments, 4 search, " +
			"5 multiplier", Value: n}
}

// None is the config fields of a layer that gives unit times its value, plus base, and of which no steps are asked.
func None(value string, unit, base int) []dataflow.Field {
	return []dataflow.Field{
		formField(none),
		{Name: "unit", Doc: "what each count of the " + value + " adds", Value: unit},
		{Name: "base", Doc: "where the output starts", Value: base},
		{Name: "shared", Doc: "one row serves all channels", Value: true},
	}
}

// At is the form for a site; nil where there are no thresholds.
func (f *Functions) At(p Site) Form {
	if f.compare.Steps() == 0 {
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

// blockLUTs is how many LUTs weigh as much as a RAMB18 when forms are compared, flipFlops how many flip-flops. Guesses:
// boards have between 100 and 400 LUTs, and two flip-flops per LUT that mostly stay free. laneLUTs is what every lane
// with tables of its own has to save: where thresholds are few and the same for all channels, synthesis makes of
// comparators what it makes of a table.
const (
	blockLUTs = 250
	flipFlops = 8
	laneLUTs  = 8
)

// PriceOf is what a form takes, on the fabric that the formulas are fitted on.
func PriceOf(form Form) float64 {
	m := cost.Model{Formula: cost.Fitted}
	var all cost.Resources
	for _, s := range form.Storage() {
		all = all.Plus(estimate.Stored(m, s))
	}
	for _, p := range form.Logic(m) {
		all = all.Plus(p.Resources)
	}
	p := price(all)
	if form.Apart() {
		p += float64(laneLUTs * form.Lanes())
	}
	return p
}

// Price is what parts take, in LUTs.
func Price(parts []cost.Part) float64 {
	var all cost.Resources
	for _, p := range parts {
		all = all.Plus(p.Resources)
	}
	return price(all)
}

func price(all cost.Resources) float64 {
	return float64(all.LUT) + float64(all.FF)/flipFlops + blockLUTs*float64(all.BRAM) + 8*blockLUTs*float64(all.URAM)
}

// choose takes the form of the least price, and of those the one with the fewest clocks. Comparators are always
// possible; every other form has to show that it gives the same.
func (f *Functions) choose(p Site) Form {
	forms := slices.DeleteFunc(f.all(p), func(form Form) bool {
		return p.Clocks > 0 && form.Clocks() > p.Clocks
	})
	return f.least(forms)
}

// All is every form for a site, whatever the clocks, the comparators first.
func (f *Functions) All(p Site) []Form {
	f.bind()
	return f.all(p)
}

func (f *Functions) all(p Site) []Form {
	forms := []Form{&parallel{f, p}}
	if f.of.Kind == num.Bipolar {
		return forms
	}
	if f.compare.Steps() > MaxCompared && HasTable(f, p) {
		forms = nil
	}
	if !f.loaded {
		forms = append(forms, f.scaled(p)...)
	}
	tables := []dataflow.Memory{p.Memory}
	if p.Memory == dataflow.NoMemory {
		tables = []dataflow.Memory{dataflow.LUTRAM, dataflow.BRAM}
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

// least is the first of the forms by price, then clocks, that gives what the functions give. What is proved of a form
// is so at all sites.
func (f *Functions) least(forms []Form) Form {
	type offer struct {
		Form
		price  float64
		clocks int
	}
	offers := make([]offer, len(forms))
	for i, form := range forms {
		offers[i] = offer{form, PriceOf(form), form.Clocks()}
	}
	slices.SortStableFunc(offers, func(a, b offer) int {
		return cmp.Or(cmp.Compare(a.price, b.price), cmp.Compare(a.clocks, b.clocks))
	})
	for _, o := range offers {
		if f.equal(o.Form) {
			return o.Form
		}
	}
	panic("steps: comparators differ from themselves")
}

// equal reports whether a form gives what the functions give.
func (f *Functions) equal(form Form) bool {
	name := form.Name()
	equal, known := f.proved[name]
	if !known {
		equal = f.differs(form) == nil
		f.proved[name] = equal
	}
	return equal
}

// lanes is what all forms but comparators share: each lane has tables of its own, in a memory.
type lanes struct {
	f      *Functions
	at     Site
	memory dataflow.Memory
}

// Apart is true.
func (l *lanes) Apart() bool { return true }

// Lanes is PE.
func (l *lanes) Lanes() int { return l.at.PE }

// functions is how many a lane has.
func (l *lanes) functions() int {
	n := len(l.f.compare.At)
	if !l.at.Alike && n > 1 {
		return n / l.at.PE
	}
	return n
}

// function is that of a lane's row.
func (l *lanes) function(row, lane int) int {
	if l.at.Alike || len(l.f.list) == 1 {
		return row
	}
	return row*l.at.PE + lane
}

// table is one of the lanes' tables: so many rows of each function.
func (l *lanes) table(name, doc string, elem num.Type, rows func(function int) [][]int64) dataflow.Table {
	t := dataflow.Table{Name: name, Doc: "by lane, fold and address: " + doc, Elem: elem, Banks: l.at.PE}
	for lane := range l.at.PE {
		for row := range l.functions() {
			t.Rows = append(t.Rows, rows(l.function(row, lane))...)
		}
	}
	return t
}

// storage is that of such a table, with rows of width bits.
func (l *lanes) storage(name string, rows, width int) dataflow.Storage {
	s := dataflow.ROM(name, "threshold memory", l.functions()*rows, width).At(l.memory)
	s.Banks = l.at.PE
	return s
}

// fields are the config fields of all forms that look up.
func (l *lanes) fields(form int, more ...dataflow.Field) []dataflow.Field {
	return append([]dataflow.Field{
		formField(form),
		{Name: "functions", Doc: "step functions of a lane", Value: l.functions()},
		{Name: "shared", Doc: "one row serves all channels", Value: false},
	}, more...)
}

// unitField is that of outputs that are as far apart everywhere.
func unitField(unit int64) dataflow.Field {
	return dataflow.Field{Name: "unit", Doc: "what each exceeded threshold adds", Value: int(unit)}
}
