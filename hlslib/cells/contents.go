package cells

import (
	"encoding/binary"
	"math/bits"

	"hlsgen/internal/circuit"
)

// A column is a function of the bits of an address: what a table of constants has at one place of its rows.
type column struct {
	same    int     // the column before it that is the same, or turned round; -1 where there is none
	always  bit     // where it is constant
	support []int   // the bits of the address that it depends on
	luts    float64 // that it takes
}

// looked is the bits up to which the contents of a table are looked at.
const looked = 1 << 16

// open reports whether the contents of a memory count: it is a table, not too large to look at.
func open(m *circuit.Memory) bool {
	return m.Data != nil && m.Rows*m.Width <= looked
}

// contents is the columns of a table. Rows that the table does not have are those below, half the rows before.
func (w *walk) contents(memory int) []column {
	if list, ok := w.tables[memory]; ok {
		return list
	}
	m := &w.m.Memories[memory]
	address := bits.Len(uint(m.Rows - 1))
	elem, rows := m.Data()
	list := make([]column, m.Width)
	known, shared := map[string]int{}, blocks{}
	for k := range list {
		truth := make([]uint64, max(1, 1<<address/64))
		for r := range 1 << address {
			row := r
			for half := 1 << (address - 1); row >= m.Rows; half >>= 1 {
				row &^= half
			}
			if elem.Encode(rows[row][k/elem.Width])>>(k%elem.Width)&1 != 0 {
				truth[r/64] |= 1 << (r % 64)
			}
		}
		list[k] = w.d.function(truth, address, shared)
		if list[k].support == nil {
			continue
		}
		key := name(truth, address)
		if before, ok := known[key]; ok {
			list[k].same = before
			continue
		}
		known[key] = k
	}
	w.tables[memory] = list
	return list
}

// name tells functions apart, but for those that are turned round.
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

// low are the values of an input over the rows that one word has.
var low = [6]uint64{0xaaaaaaaaaaaaaaaa, 0xcccccccccccccccc, 0xf0f0f0f0f0f0f0f0, 0xff00ff00ff00ff00,
	0xffff0000ffff0000, 0xffffffff00000000}

// function is a column of such values.
func (d *Device) function(truth []uint64, inputs int, known blocks) column {
	c := column{same: -1}
	if c.support = support(truth, inputs); len(c.support) == 0 {
		c.support = nil
		c.always = constant(int64(truth[0] & 1))
		return c
	}
	if len(c.support) > d.Inputs {
		c.luts = d.table(narrowed(truth, c.support), len(c.support), known)
	}
	return c
}

// support is the inputs that a function depends on.
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

// narrowed is a function of these inputs alone.
func narrowed(truth []uint64, inputs []int) []uint64 {
	rest := make([]uint64, max(1, 1<<len(inputs)/64))
	for r := range 1 << len(inputs) {
		row := 0
		for k, i := range inputs {
			row |= r >> k & 1 << i
		}
		if truth[row/64]>>(row%64)&1 != 0 {
			rest[r/64] |= 1 << (r % 64)
		}
	}
	return rest
}

// A blocks is the functions that lookup tables of a memory have, by what they are: columns share them.
type blocks map[string]bool

// table is the lookup tables of a function of more inputs than one has. Halves of its rows are functions again: those
// that fit a lookup table take one, and what chooses among halves takes a part of one. Where it does not pay to look
// for what is the same, multiplexers beside the lookup tables choose.
func (d *Device) table(truth []uint64, inputs int, known blocks) float64 {
	if inputs <= d.Inputs {
		return 1
	}
	all := 1 << (inputs - d.Inputs)
	return min(float64(all)+d.joined(all), d.halves(truth, inputs, known))
}

// halves is the lookup tables of a function by its halves.
func (d *Device) halves(truth []uint64, inputs int, known blocks) float64 {
	needs := support(truth, inputs)
	if len(needs) < 2 {
		return 0
	}
	key := name(truth, inputs)
	if known[key] {
		return 0
	}
	known[key] = true
	if len(needs) <= d.Inputs {
		return 1
	}
	if len(needs) < inputs {
		return d.halves(narrowed(truth, needs), len(needs), known)
	}
	low, high := half(truth, inputs, 0), half(truth, inputs, 1)
	return d.Half + d.halves(low, inputs-1, known) + d.halves(high, inputs-1, known)
}

// half is the rows whose highest bit is so.
func half(truth []uint64, inputs, high int) []uint64 {
	if inputs > 6 {
		n := len(truth) / 2
		return truth[n*high : n*(high+1)]
	}
	n := 1 << (inputs - 1)
	return []uint64{truth[0] >> (n * high) & (1<<n - 1)}
}

// joined is the lookup tables that choose among so many, each of which feeds nothing else: multiplexers beside the
// tables choose for free among the first.
func (d *Device) joined(n int) float64 { return d.chosen((n + d.Joined - 1) / d.Joined) }

// chosen is the lookup tables that choose among so many.
func (d *Device) chosen(n int) (luts float64) {
	if d.Inputs == 6 { // four at once
		return float64((n + 1) / 3)
	}
	return float64(n - 1)
}

// row finds bits of a row of constants in lookup tables that are constants, or others of the row.
func (w *walk) row(n *circuit.Node, set func(int, bit), at bit) {
	if !open(&w.m.Memories[n.K]) {
		return
	}
	list := w.contents(n.K)
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

// fetched finds bits of a row of constants in block RAM that are constant.
func (w *walk) fetched(n *circuit.Node, set func(int, bit)) {
	if !open(&w.m.Memories[n.K]) {
		return
	}
	for k, c := range w.contents(n.K) {
		if c.support == nil {
			set(k, c.always)
		}
	}
}

// selects is the bits of the address that a bit of such a row depends on.
func (w *walk) selects(n *circuit.Node, k int) (list []bit) {
	for _, i := range w.contents(n.K)[k].support {
		list = append(list, w.of(n.Args[0], i))
	}
	return list
}
