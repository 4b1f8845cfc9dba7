package luts

import (
	"encoding/binary"
	"math"
	"math/bits"
	"slices"
	"sync"

	"hlsgen/hlslib/price/cost"
	"hlsgen/internal/circuit"
)

// A column holds the values of a table of constants in one column, as a function of the address bits.
type column struct {
	same    int      // the earlier column that is equal or inverted; -1 if there is none
	always  bit      // its value, if it is constant
	support []int    // the address bits that it depends on
	truth   []uint64 // bit r is the value in row r
}

// A lookup is a table of constants that is made of LUTs, with its columns. Several circuits may share it.
type lookup struct {
	columns []column
	inputs  int
	once    sync.Once
	plans   []*function // per column: how LUTs make it; nil if it is constant or another column
	ordered sync.Once
	order   []int // see addresses
}

// looked is the most bits that a table may have for its contents to be examined.
const looked = 1 << 16

// open reports whether the contents of a memory are examined: it is a table of constants, and not too large.
func open(m *circuit.RowMemory) bool {
	return m.IsConstant() && m.Rows*m.Width <= looked
}

// contents returns the columns of the table with the number memory. An address beyond the last row has the values of
// the row that remains when the highest bits of the address are cleared.
func (w *walk) contents(memory int) *lookup {
	if t, ok := w.tables[memory]; ok {
		return t
	}
	type key struct{ of cost.Fabric }
	m := &w.m.Memories[memory]
	t := once(m, key{w.d.Fabric}, newLookup)
	w.tables[memory] = t
	return t
}

// once returns a fact about the rows of a table, which find finds out unless it is known by that key.
func once[T any](m *circuit.RowMemory, key any, find func(*circuit.RowMemory) T) T {
	if m.Known == nil {
		return find(m)
	}
	fact, ok := m.Known.Load(key)
	if !ok {
		fact, _ = m.Known.LoadOrStore(key, find(m))
	}
	return fact.(T)
}

func newLookup(m *circuit.RowMemory) *lookup {
	t := &lookup{columns: make([]column, m.Width), inputs: bits.Len(uint(m.Rows - 1))}
	for k := range t.columns {
		t.columns[k].truth = make([]uint64, max(1, 1<<t.inputs/64))
	}
	elem, rows := m.Data()
	for r := range 1 << t.inputs {
		row := r
		for half := 1 << (t.inputs - 1); row >= m.Rows; half >>= 1 {
			row &^= half
		}
		for i, v := range rows[row] {
			for code := elem.EncodeBits(v); code != 0; code &= code - 1 {
				t.columns[i*elem.Width+bits.TrailingZeros64(code)].truth[r/64] |= 1 << (r % 64)
			}
		}
	}
	known := map[string]int{}
	for k := range t.columns {
		c := &t.columns[k]
		c.same = -1
		if c.support = support(c.truth, t.inputs); c.support == nil {
			c.always = constant(int64(c.truth[0] & 1))
			continue
		}
		key := name(c.truth, t.inputs)
		if before, ok := known[key]; ok {
			c.same = before
			continue
		}
		known[key] = k
	}
	return t
}

// constants returns, by column of a table, the constant bit that the column always is. It returns the bit 0, which is
// no constant, for all other columns. For block RAM nothing else of the contents counts.
func constants(m *circuit.RowMemory) []bit {
	elem, rows := m.Data()
	list := make([]bit, m.Width)
	for i := range rows[0] {
		all, some := ^uint64(0), uint64(0)
		for _, row := range rows {
			code := elem.EncodeBits(row[i])
			all, some = all&code, some|code
		}
		for k := range elem.Width {
			at := &list[i*elem.Width+k]
			if *at = 0; all>>k&1 == some>>k&1 {
				*at = constant(int64(all >> k & 1))
			}
		}
	}
	return list
}

// name returns a key for the function with the values truth. Keys differ between functions, except that a function and
// its inverse have the same key.
func name(truth []uint64, inputs int) string {
	key := append(make([]byte, 0, 1+8*len(truth)), byte(inputs))
	turned := -(truth[0] & 1)
	if inputs < 6 {
		turned &= 1<<(1<<inputs) - 1
	}
	for _, t := range truth {
		key = binary.LittleEndian.AppendUint64(key, t^turned)
	}
	return string(key)
}

// low holds, for each of the first six inputs, the input's values over 64 rows as one word.
var low = [6]uint64{0xaaaaaaaaaaaaaaaa, 0xcccccccccccccccc, 0xf0f0f0f0f0f0f0f0, 0xff00ff00ff00ff00,
	0xffff0000ffff0000, 0xffffffff00000000}

// support returns the inputs on which the function with the values truth depends.
func support(truth []uint64, inputs int) (list []int) {
	for i := range inputs {
		depends := false
		for r, t := range truth {
			if i < 6 {
				mask := low[i]
				if inputs < 6 {
					mask &= 1<<(1<<inputs) - 1
				}
				depends = depends || (t&mask)>>(1<<i) != t&(mask>>(1<<i))
			} else if j := r ^ 1<<(i-6); j > r {
				depends = depends || t != truth[j]
			}
		}
		if depends {
			list = append(list, i)
		}
	}
	return list
}

// A function is a function of address bits. It also stands for its inverse.
type function struct {
	truth     []uint64
	inputs    int // the number of inputs; it depends on the last
	depends   int // the number of inputs that it depends on
	low, high *function
	halved    bool        // whether low and high are known
	parts     []*function // functions that its lookup table reads, in addition to address bits
	luts      float64     // lookup tables of it and its parts, if none are shared
}

// functions holds the functions of a table, by name. Constants are not among them.
type functions map[string]*function

// of returns the function with the given values, or nil if it is constant. It adds the function to the table's if it is
// new.
func (all functions) of(truth []uint64, inputs int) *function {
	for inputs > 0 {
		low, high := half(truth, inputs, 0), half(truth, inputs, 1)
		if !slices.Equal(low, high) {
			break
		}
		truth, inputs = low, inputs-1
	}
	if inputs == 0 {
		return nil
	}
	key := name(truth, inputs)
	f := all[key]
	if f == nil {
		f = &function{truth: truth, inputs: inputs, depends: len(support(truth, inputs)), luts: -1}
		all[key] = f
	}
	return f
}

// halves returns the function f with the last address bit that it depends on set to 0, and set to 1.
func (all functions) halves(f *function) (low, high *function) {
	if !f.halved {
		f.low, f.high = all.of(half(f.truth, f.inputs, 0), f.inputs-1), all.of(half(f.truth, f.inputs, 1), f.inputs-1)
		f.halved = true
	}
	return f.low, f.high
}

// joined is the most LUTs that the multiplexers of AMD's devices join into one function of more inputs.
const joined = 4

// plan returns the fewest LUTs of a function, if none are shared. Either one LUT reads the last address bits and, for
// each of their values, the rest of the function. Or several LUTs compute it from the address alone, joined by
// multiplexers beside them.
func (d *SynthesisRules) plan(all functions, f *function) float64 {
	if f.luts >= 0 {
		return f.luts
	}
	if f.depends <= 1 {
		f.luts = 0
		return 0
	}
	if f.luts = math.Inf(1); f.depends <= d.Inputs {
		f.luts = 1
	} else if n := 1 << (f.depends - d.Inputs); n <= joined {
		f.luts = float64(n)
	}
	if f.luts == 1 {
		return 1
	}
	parts := []*function{f}
	for reads := 1; reads < d.Inputs; reads++ {
		if parts = all.split(parts); parts == nil || len(parts) > d.Inputs {
			break
		}
		if reads+len(parts) > d.Inputs {
			continue
		}
		sum := 1.
		for _, p := range parts {
			sum += d.plan(all, p)
		}
		if sum < f.luts {
			f.luts, f.parts = sum, parts
		}
	}
	return f.luts
}

// split returns the functions, with those that depend on the last address bit replaced by their halves.
func (all functions) split(list []*function) (parts []*function) {
	last := 0
	for _, f := range list {
		last = max(last, f.inputs)
	}
	add := func(f *function) {
		if f != nil && !slices.Contains(parts, f) {
			parts = append(parts, f)
		}
	}
	for _, f := range list {
		if f.inputs < last {
			add(f)
			continue
		}
		low, high := all.halves(f)
		add(low)
		add(high)
	}
	return parts
}

// loose is the ratio of the LUTs that synthesis uses for a column made of parts to the fewest possible. Synthesis does
// not find the minimum.
const loose = 1.2

// planned returns how LUTs make the columns of a table. Only what unshared reads of a function is kept.
func (d *SynthesisRules) planned(t *lookup) []*function {
	t.once.Do(func() {
		all := functions{}
		t.plans = make([]*function, len(t.columns))
		for k := range t.columns {
			if c := &t.columns[k]; c.support != nil && c.same < 0 {
				t.plans[k] = all.of(c.truth, t.inputs)
				d.plan(all, t.plans[k])
			}
		}
		for _, f := range all {
			f.truth, f.low, f.high = nil, nil, nil
		}
	})
	return t.plans
}

// tabled returns the LUTs of column k of a memory's table, without those that it shares with earlier columns.
func tabled(w *walk, memory, k int) float64 {
	f := w.d.planned(w.contents(memory))[k]
	luts := unshared(w, memory, f)
	if f != nil && f.parts != nil {
		return loose * luts
	}
	return luts
}

// unshared returns the lookup tables of a function that no earlier function of the memory's table has.
func unshared(w *walk, memory int, f *function) float64 {
	if f == nil || w.counted[tableFunction{memory, f}] {
		return 0
	}
	if w.counted == nil {
		w.counted = map[tableFunction]bool{}
	}
	w.counted[tableFunction{memory, f}] = true
	if f.parts == nil {
		return f.luts
	}
	sum := 1.
	for _, p := range f.parts {
		sum += unshared(w, memory, p)
	}
	return sum
}

// A tableFunction is a function of a memory's table.
type tableFunction struct {
	memory int
	of     *function
}

// half returns the values of a function in the rows whose highest address bit equals high.
func half(truth []uint64, inputs, high int) []uint64 {
	if inputs > 6 {
		n := len(truth) / 2
		return truth[n*high : n*(high+1)]
	}
	n := 1 << (inputs - 1)
	return []uint64{truth[0] >> (n * high) & (1<<n - 1)}
}

// chosen returns the lookup tables of six inputs that select one of n, four at a time.
func (d *SynthesisRules) chosen(n int) (luts float64) { return float64((n + 1) / 3) }

// row finds the bits of a row of constants in LUTs that are constant, or equal another bit of the row or address. It
// calls set for each of them.
func (w *walk) row(n *circuit.Node, set func(int, bit), at bit) {
	if !open(&w.m.Memories[n.K]) {
		return
	}
	list := w.contents(n.K).columns
	for k := range n.Width {
		switch c := &list[k]; {
		case c.support == nil:
			set(k, c.always)
		case c.same >= 0:
			set(k, at+bit(c.same))
		case len(c.support) == 1:
			set(k, w.of(n.Args[0], c.support[0]))
		}
	}
}

// fetched finds the bits of a row of constants in block RAM that are constant, and calls set for each of them.
func (w *walk) fetched(n *circuit.Node, set func(int, bit)) {
	if !open(&w.m.Memories[n.K]) {
		return
	}
	type key struct{}
	list, ok := w.fixed[n.K]
	if !ok {
		list = once(&w.m.Memories[n.K], key{}, constants)
		w.fixed[n.K] = list
	}
	for k, b := range list {
		if b < 0 {
			set(k, b)
		}
	}
}

// selects returns the address bits on which bit k of a row depends.
func (w *walk) selects(n *circuit.Node, k int) (list []bit) {
	for _, i := range w.contents(n.K).columns[k].support {
		list = append(list, w.of(n.Args[0], i))
	}
	return list
}
