package luts

import (
	"math/bits"

	"hlsgen/hlslib/price/cost"
)

// A ringLogic is the number of LUTs of a FIFO: those of each bit of its words, and the others.
type ringLogic struct{ bit, others float64 }

// logic returns the number of LUTs of a FIFO whose words are not in shift registers of the device, mapped gate by gate
// after templates/rtl/shared/hlsgen_stream.sv. It does not count LUTs that are memory.
func (q FIFOSize) logic(d *SynthesisRules) float64 {
	l := q.mapped(d)
	return l.others + l.bit*float64(q.Width)
}

// mapped returns the LUTs of the FIFO's logic.
func (q FIFOSize) mapped(d *SynthesisRules) (l ringLogic) {
	n := newNetlist(&walk{d: d})
	n.now = purposeGate
	claim, read, write := n.gates.leaf(), n.gates.leaf(), n.gates.leaf()
	count, place := bits.Len(uint(q.Places)), max(1, bits.Len(uint(q.Places-1)))
	number := func(v, width int) (list []signal) {
		for k := range width {
			list = append(list, never.when(v>>k&1 != 0))
		}
		return list
	}
	registers := func(width int) (list []signal) {
		n.now = purposeGate
		for range width {
			list = append(list, n.gates.leaf())
		}
		return list
	}
	same := func(a, b []signal) signal {
		n.now = purposeGate
		var alike []signal
		for k := range a {
			alike = append(alike, n.xor(a[k], b[k]).not())
		}
		return n.all(alike)
	}
	one := number(1, count)
	when := func(s signal) {
		if d.Resets {
			s = n.or(s, n.rst)
		}
		n.end(s)
	}
	counter := func(up, down signal) (next []signal) {
		now := registers(count)
		more, less := n.added(now, one, false, purposeAdder), n.added(now, one, true, purposeAdder)
		n.now = purposeGate
		inc, dec := n.and(up, down.not()), n.and(down, up.not())
		for k := range now {
			s := n.mux(dec, less[k], n.mux(inc, more[k], now[k]))
			n.end(s)
			next = append(next, s)
		}
		when(n.or(inc, dec))
		return next
	}
	taken, stored := counter(claim, read), counter(write, read)
	n.end(same(taken, number(q.Places, count)).not())
	n.end(n.any(stored))
	if q.In == cost.StyleShiftRegister {
		for _, s := range n.added(stored, one, true, purposeAdder)[:place] {
			n.end(s)
		}
		n.end(n.or(n.rst, n.any(stored).not()))
		oldest := registers(place)
		list := registers(1 << place)
		n.end(n.at(list, oldest))
	} else {
		n.ring(q, place, read, write, registers, number, same, when)
	}
	n.divided().count(0)
	for k, c := range n.w.counts {
		if CellPurpose(k) == purposeMemory {
			l.bit = c.LUT + c.Flat
		} else {
			l.others += c.LUT + c.Flat
		}
	}
	return l
}

// ring adds the addresses of the FIFO's memory to the logic, with the gates that advance them.
func (n *netlist) ring(q FIFOSize, place int, read, write signal, registers func(int) []signal,
	number func(v, width int) []signal, same func(a, b []signal) signal, when func(signal)) {
	next := func() (now, next []signal) {
		now = registers(place)
		more := n.added(now, number(1, place), false, purposeAdder)
		last := same(now, number(q.Places-1, place))
		n.now = purposeGate
		for _, s := range more {
			next = append(next, n.and(last.not(), s))
		}
		return now, next
	}
	head, ahead := next()
	tail, behind := next()
	for k := range tail {
		n.end(behind[k])
		n.end(ahead[k])
	}
	when(read)
	when(write)
	if q.In == cost.StyleDistributedRAM {
		low := min(place, bits.Len(bankRows-1))
		for r := range banks(q.Places) {
			is := []signal{write}
			for i, s := range tail[low:] {
				is = append(is, s.when(r>>i&1 == 0))
			}
			n.now = purposeGate
			n.end(n.all(is))
		}
		n.end(fromBanks(n, q.Places, head))
		return
	}
	var from []signal
	n.now = purposeGate
	for k := range head {
		from = append(from, n.mux(read, ahead[k], head[k]))
		n.end(from[k])
	}
	n.end(n.and(write, same(tail, from)))
	around, passed, word := n.gates.leaf(), n.gates.leaf(), n.gates.leaf()
	if n.w.d.Around {
		before := registers(place)
		n.end(n.and(n.gates.leaf(), same(before, from)))
		n.now = purposeMemory
		word = n.mux(n.gates.leaf(), n.gates.leaf(), word)
	}
	n.now = purposeMemory
	n.end(n.mux(around, passed, word))
}
