package luts

import (
	"math/bits"

	"hlsgen/hlslib/price/cost"
	"hlsgen/internal/circuit"
)

// registers counts the registers of the circuit. Delays in a row that nothing else reads are a shift register.
func registers(w *walk) {
	w.length = zeroed(w.length, len(w.wire))
	for i := range w.m.Nodes {
		n := &w.m.Nodes[i]
		for k := range n.Width {
			b := w.first[i] + bit(k)
			if !w.live[b] || w.wire[b] != b {
				continue
			}
			switch n.Op {
			case circuit.OpReadStateBefore:
				w.counts[purposeStateRegister].FF++
				if s := &w.m.States[n.K]; s.Next == circuit.NoNode || !feeds(w, next(w, s, k)) {
					w.counts[purposeStateRegister].Alone++
				}
			case circuit.OpDelayOneClock:
				from := w.of(n.Args[0], k)
				if !feeds(w, from) {
					w.counts[purposePipelineRegister].Alone++
				}
				if w.length[b] = 1; w.reads[from] == 1 {
					w.length[b] += w.length[from]
				}
				if w.reads[b] != 1 || w.line[b] != 1 {
					chain(w, int(w.length[b]))
				}
			}
		}
	}
}

// feeds reports whether a lookup table computes the bit b for a single reader. If this is a register, both are one
// cell.
func feeds(w *walk, b bit) bool {
	if b < 0 || w.reads[b] != 1 {
		return false
	}
	n := &w.m.Nodes[w.owner[b]]
	switch n.Op {
	case circuit.OpReadMemoryUnclocked:
		return w.m.Memories[n.K].Style != circuit.BlockRAMStyle
	case circuit.OpIterationStart:
		return true
	}
	_, logic := kindOf[n.Op]
	return logic
}

// next returns the bit that bit k of a state takes where it changes. Selections of its own value are its enable.
func next(w *walk, s *circuit.StateRegister, k int) bit {
	b, now := w.of(s.Next, k), w.of(s.Node, k)
	for b >= 0 && w.reads[b] == 1 {
		o := &w.m.Nodes[w.owner[b]]
		if o.Op != circuit.OpMuxByCondition {
			break
		}
		i := int(b - w.first[w.owner[b]])
		switch x, y := w.of(o.Args[1], i), w.of(o.Args[2], i); now {
		case x:
			b = y
		case y:
			b = x
		default:
			return b
		}
	}
	return b
}

// chain counts n registers in a row, as registers or as a shift register.
func chain(w *walk, n int) {
	if !w.d.Shifts || n < 3 {
		w.counts[purposePipelineRegister].FF += float64(n)
		return
	}
	w.counts[purposePipelineRegister].Shift += float64((n + 31) / 32)
}

// styles maps the memory styles of circuits to those of the cost formulas.
var styles = map[circuit.StorageStyle]cost.MemoryStyle{circuit.BlockRAMStyle: cost.StyleBlockRAM,
	circuit.UltraRAMStyle:       cost.StyleUltraRAM,
	circuit.DistributedRAMStyle: cost.StyleDistributedRAM, circuit.RegisterArrayStyle: cost.StyleRegisters}

// memories counts the cells of memories and of multipliers. Tables in LUTs whose contents are examined are counted
// elsewhere.
func memories(w *walk) {
	rows := make([][]circuit.NodeID, len(w.m.Memories)) // per memory: the nodes that read it unclocked
	for i := range w.m.Nodes {
		switch n := &w.m.Nodes[i]; {
		case !w.met[i]:
		case n.Op == circuit.OpReadMemoryUnclocked:
			rows[n.K] = append(rows[n.K], circuit.NodeID(i))
		case n.Op == circuit.OpMultiply:
			multiplier(w, circuit.NodeID(i))
		}
	}
	for k := range w.m.Memories {
		m := &w.m.Memories[k]
		in := styles[m.Style]
		if in == cost.StyleDistributedRAM {
			for _, id := range rows[k] {
				ahead(w, id)
			}
		}
		width := 0
		for _, live := range w.columns[k] {
			if live {
				width++
			}
		}
		if width == 0 {
			continue
		}
		if m.Loaded {
			loader(w, m)
		}
		switch c := &w.counts[purposeMemory]; {
		case in == cost.StyleRegisters:
			c.FF += float64(m.Rows * width)
			c.Alone += float64(m.Rows * width)
			if w.d.Maps {
				continue
			}
			c.LUT += float64(m.Rows) + w.d.chosen(m.Rows)*float64(width)
		case in == cost.StyleDistributedRAM && m.IsConstant(): // its contents are too large to examine
			w.counts[purposeConstantTable].LUT += float64(w.d.Fabric.TableCost(width, m.Rows, in).LUT)
		case m.IsConstant():
			r := w.d.Fabric.TableCost(width, m.Rows, in)
			c.BRAM += r.BRAM
			c.URAM += r.URAM
			c.FF += float64(bits.Len(uint(sides(w, k) - 1)))
		default:
			r := w.d.Fabric.ReadWriteMemoryCost(width, m.Rows, in)
			c.RAM += float64(r.LUTRAM)
			if r.BRAM > 0 && passes(w, k) {
				n := float64(2*width + held(w, m.Address, bits.Len(uint(m.Rows-1))))
				c.FF += n + 2
				c.Alone += n
			}
			if w.d.banked(m) { // the rest is in the netlist
				c.LUT += float64(cost.WritePortLUTs(r.LUTRAM))
			} else {
				c.LUT += float64(r.LUT - r.LUTRAM)
			}
			c.BRAM += r.BRAM
			c.URAM += r.URAM
			c.FF += float64(bits.Len(uint(sides(w, k) - 1)))
		}
	}
}

// sides returns the number of banks of a memory in block RAM; logic selects among their words.
func sides(w *walk, memory int) int {
	m := &w.m.Memories[memory]
	in, width := styles[m.Style], 0
	for _, live := range w.columns[memory] {
		if live {
			width++
		}
	}
	if !w.d.Maps || width == 0 || m.IsConstant() && in != cost.StyleBlockRAM ||
		!m.IsConstant() && w.d.Fabric.ReadWriteMemoryCost(width, m.Rows, in).BRAM == 0 {
		return 1
	}
	return w.d.Fabric.BankedLayout(m.Rows, width, m.IsConstant()).Banks
}

// banked reports whether a memory that iterations write lies in LUTs of four inputs, each with some of the rows.
func (d *SynthesisRules) banked(m *circuit.RowMemory) bool {
	return d.Banks && m.Style == circuit.DistributedRAMStyle && !m.IsConstant() && !m.Loaded
}

// loader counts the logic that fills a table from arriving words and passes other words on (hlsgen_load). It counts the
// word, the partial row, the two positions, and the signal whether there is room.
func loader(w *walk, m *circuit.RowMemory) {
	parts := (m.Width + circuit.TableLoadWordBits - 1) / circuit.TableLoadWordBits
	places := float64(bits.Len(uint(m.Rows-1)) + bits.Len(uint(parts-1)))
	c := &w.counts[purposeMemory]
	c.FF += float64(circuit.TableLoadWordBits+4+(parts-1)*circuit.TableLoadWordBits) + places
	c.LUT += 2*places + 6
}

// passes reports whether a written word must bypass an array in block memory that is read and written at once. A read
// in the clock of a write must give the old word, so Yosys writes a clock later and compares the addresses.
func passes(w *walk, memory int) bool {
	m := &w.m.Memories[memory]
	in := styles[m.Style]
	return w.d.Around && !m.IsConstant() && in != cost.StyleRegisters &&
		w.d.Fabric.ReadWriteMemoryCost(m.Width, m.Rows, in).BRAM > 0 && apart(w, memory)
}

// held returns the number of registers that keep n bits of a value for a clock. Bits that a register keeps anyway need
// none.
func held(w *walk, id circuit.NodeID, n int) (registers int) {
	for k := range n {
		if id == circuit.NoNode || w.of(id, k) >= 0 && w.line[w.of(id, k)] == 0 {
			registers++
		}
	}
	return registers
}

// apart reports whether a memory is read at another address than it is written at.
func apart(w *walk, memory int) bool {
	m := &w.m.Memories[memory]
	if m.Loaded {
		return true
	}
	for i := range w.m.Nodes {
		n := &w.m.Nodes[i]
		if n.Op != circuit.OpReadMemoryClocked || n.K != memory {
			continue
		}
		for k := range bits.Len(uint(m.Rows - 1)) {
			if w.of(n.Args[0], k) != w.of(m.Address, k) {
				return true
			}
		}
	}
	return false
}

// multiplier counts a multiplier of the device. AMD's DSP slice contains all its registers; other families say
// which registers they need beside one.
func multiplier(w *walk, id circuit.NodeID) {
	c := &w.counts[purposeMultiplier]
	factors, whole := w.m.MultiplierWidthsOfProduct(&w.m.Nodes[id])
	c.DSP += w.d.Fabric.DSPsPerProduct(factors[0], factors[1])
	m := &w.d.Multiplier
	c.LUT += float64(m.LUTs)
	registers := float64(m.FactorRegisters*(factors[0]+factors[1]) + m.ProductRegisters*whole)
	c.FF += registers
	c.Alone += registers
}

// ahead counts the cost of a node that reads a memory at an address in registers: Yosys reads at the next address
// instead. For a memory that iterations write, it duplicates these registers; for a table, it keeps the row in
// registers. If the row goes into registers anyway, these become the memory's, and nothing changes.
func ahead(w *walk, id circuit.NodeID) {
	n := &w.m.Nodes[id]
	m := &w.m.Memories[n.K]
	var address []bit
	for k := range bits.Len(uint(m.Rows - 1)) {
		if b := w.of(n.Args[0], k); b >= 0 {
			address = append(address, b)
		}
	}
	row := 0
	kept := true
	for k := range n.Width {
		if b := w.first[id] + bit(k); w.live[b] && w.wire[b] == b {
			row++
			kept = kept && w.reads[b] == 1 && w.line[b] == 1
		}
	}
	switch {
	case kept || !alike(w, address):
	case m.IsConstant():
		w.counts[purposeMemory].FF += float64(row)
		w.counts[purposeMemory].Alone += float64(row)
	default:
		w.counts[purposeMemory].FF += float64(len(address))
		w.counts[purposeMemory].LUT += w.d.Ahead * float64(len(address))
	}
}

// alike reports whether all bits of the list come from registers that are written in the same clocks.
func alike(w *walk, list []bit) bool {
	when := func(b bit) (id circuit.NodeID, reset, ok bool) {
		switch n := &w.m.Nodes[w.owner[b]]; n.Op {
		case circuit.OpDelayOneClock:
			return circuit.NoNode, false, true
		case circuit.OpReadStateBefore:
			s := &w.m.States[n.K]
			return s.When, s.Reset, true
		}
		return circuit.NoNode, false, false
	}
	for _, b := range list {
		id, reset, ok := when(b)
		if first, same, _ := when(list[0]); !ok || id != first || reset != same {
			return false
		}
	}
	return true
}
