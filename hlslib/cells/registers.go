package cells

import (
	"math/bits"

	"hlsgen/hlslib/cost"
	"hlsgen/internal/circuit"
)

// registers counts them. Delays one behind the other that nothing else reads are a shift register.
func registers(w *walk) {
	length := make([]int32, len(w.wire)) // of a bit that is delayed: the delays up to it
	for i := range w.m.Nodes {
		n := &w.m.Nodes[i]
		for k := range n.Width {
			b := w.first[i] + bit(k)
			if !w.live[b] || w.wire[b] != b {
				continue
			}
			switch n.Op {
			case circuit.Read:
				w.counts[States].FF++
			case circuit.Delay:
				from := w.of(n.Args[0], k)
				if length[b] = 1; w.reads[from] == 1 {
					length[b] += length[from]
				}
				if w.reads[b] != 1 || w.line[b] != 1 {
					chain(w, int(length[b]))
				}
			}
		}
	}
}

// chain is so many registers one behind the other.
func chain(w *walk, n int) {
	if !w.d.Shifts || n < 3 {
		w.counts[Pipeline].FF += float64(n)
		return
	}
	w.counts[Pipeline].Shift += float64((n + 31) / 32)
}

// styles are where memories lie.
var styles = map[circuit.Style]cost.Memory{circuit.Block: cost.Block, circuit.Ultra: cost.Ultra,
	circuit.Distributed: cost.Distributed, circuit.Registers: cost.Registers}

// memories counts those that are no lookup tables by their contents, and multipliers.
func memories(w *walk) {
	for k := range w.m.Memories {
		m := &w.m.Memories[k]
		in := styles[m.Style]
		if in == cost.Distributed {
			ahead(w, k)
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
		switch c := &w.counts[Memories]; {
		case in == cost.Registers:
			c.FF += float64(m.Rows * width)
			c.LUT += float64(m.Rows) + w.d.chosen(m.Rows)*float64(width)
		case in == cost.Distributed && m.Data != nil: // too large to look at
			w.counts[Tables].LUT += float64(w.d.Fabric.Table(width, m.Rows, in).LUT)
		case m.Data != nil:
			r := w.d.Fabric.Table(width, m.Rows, in)
			c.BRAM += r.BRAM
			c.URAM += r.URAM
		default:
			r := w.d.Fabric.RAM(width, m.Rows, in)
			c.RAM += float64(r.LUTRAM)
			c.LUT += float64(r.LUT - r.LUTRAM)
			c.BRAM += r.BRAM
			c.URAM += r.URAM
		}
	}
	for i := range w.m.Nodes {
		if n := &w.m.Nodes[i]; n.Op == circuit.Multiply && w.met[i] {
			w.counts[Multipliers].DSP++
		}
	}
}

// ahead is what a memory takes that is read at an address in registers: Yosys reads with the address that comes next,
// and has a copy of these registers.
func ahead(w *walk, memory int) {
	if rows := w.m.Memories[memory].Rows; rows&(rows-1) != 0 {
		return
	}
	for i := range w.m.Nodes {
		n := &w.m.Nodes[i]
		if n.Op != circuit.Peek || n.K != memory || !w.met[i] {
			continue
		}
		registers := 0
		for k := range bits.Len(uint(w.m.Memories[memory].Rows - 1)) {
			b := w.of(n.Args[0], k)
			if b < 0 {
				continue
			}
			if op := w.m.Nodes[w.owner[b]].Op; op != circuit.Read && op != circuit.Delay {
				return
			}
			registers++
		}
		w.counts[Memories].FF += float64(registers)
		w.counts[Memories].LUT += w.d.Ahead * float64(registers)
	}
}
