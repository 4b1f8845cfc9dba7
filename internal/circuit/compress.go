package circuit

import (
	"encoding/binary"
	"slices"

	"hlsgen/internal/num"
)

// A BitHeap is a sum under construction, whose bits are added column by column, whatever numbers they come from. That
// takes fewer LUTs than adders, because a LUT counts up to six bits at once. The count of bits of one weight gives bits
// of the next weights. When at most two bits of each weight are left, an adder computes the sum.
type BitHeap struct {
	b        *Builder
	columns  [][]term // terms by weight: column w counts 2^w
	constant num.Wide // constant to add, modulo 2^128
}

// A term is a function of a few conditions. Bit n of its table is its value if the conditions are n in binary, the
// first one lowest.
type term struct {
	of    []Value
	table uint64
}

// The tables of common terms: a condition itself, both of two, and two that are equal.
const (
	itself = 0b10
	both   = 0b1000
	alike  = 0b1001
)

// NewBitHeap returns a heap without bits, whose sum is 0.
func (b *Builder) NewBitHeap() *BitHeap { return &BitHeap{b: b} }

// put adds a term to the sum, or subtracts it if negative is true: 2^weight times a function, 0 or 1, of the conditions
// of. Bit n of table is the function's value if they are n in binary. To subtract a bit x it uses -x = (1 - x) - 1.
func (h *BitHeap) put(weight int, negative bool, table uint64, of ...Value) {
	for i := 0; i < len(of); {
		if c, ok := of[i].constant(); ok {
			table, of = fixed(table, len(of), i, c), slices.Delete(slices.Clone(of), i, i+1)
		} else {
			i++
		}
	}
	all, one := uint64(1)<<(1<<len(of))-1, num.Wide{Lo: 1}.Shifted(weight)
	if negative {
		table, h.constant = ^table, h.constant.Minus(one)
	}
	switch table &= all; {
	case table == 0:
	case table == all:
		h.constant = h.constant.Plus(one)
	default:
		for len(h.columns) <= weight {
			h.columns = append(h.columns, nil)
		}
		h.columns[weight] = append(h.columns[weight], term{of, table})
	}
}

// AddShifted adds 2^weight times the number v to the sum.
func (h *BitHeap) AddShifted(v Value, weight int) {
	if c, ok := v.wideConstant(); ok {
		h.constant = h.constant.Plus(c.Shifted(weight))
		return
	}
	for i := range v.Width() {
		h.put(weight+i, v.node().Signed && i == v.Width()-1, itself, BitOf(v, i))
	}
}

// AddMultiple adds v * m to the sum, with as few terms as the digits of m allow.
func (h *BitHeap) AddMultiple(v Value, m int64) { h.AddWideMultiple(v, num.WideOf(m)) }

// AddWideMultiple does what AddMultiple does, for a factor of up to 128 bits.
func (h *BitHeap) AddWideMultiple(v Value, m num.Wide) {
	if c, ok := v.wideConstant(); ok {
		h.constant = h.constant.Plus(c.Times(m))
		return
	}
	for _, d := range num.SignedDigitsOfWide(m) {
		for i := range v.Width() {
			h.put(d.Weight+i, d.Negative != (v.node().Signed && i == v.Width()-1), itself, BitOf(v, i))
		}
	}
}

// AddProduct adds a * b to the sum.
func (h *BitHeap) AddProduct(a, b Value) {
	of := func(v Value) (list []Value, signed bool) {
		if c, ok := v.wideConstant(); ok {
			t := num.WideRange{Lo: c, Hi: c}.NarrowestIntType()
			for i := range t.Width {
				list = append(list, v.b.ConstantNumber(c.Bit(i)))
			}
			return list, t.IsSigned()
		}
		for i := range v.Width() {
			list = append(list, bitOf(v, i))
		}
		return list, v.node().Signed
	}
	x, xs := of(a)
	y, ys := of(b)
	for i := range x {
		for j := range y {
			negative := (xs && i == len(x)-1) != (ys && j == len(y)-1)
			h.put(i+j, negative, both, x[i], y[j])
		}
	}
}

// AddOrSubtract adds x to the sum if the condition plus holds, and -x otherwise. -x is x with all bits inverted, plus
// 1.
func (h *BitHeap) AddOrSubtract(plus, x Value) {
	if _, ok := x.wideConstant(); ok {
		x = MuxByCondition(plus, x, Negate(x))
		h.AddShifted(x, 0)
		return
	}
	for i := range x.Width() {
		h.put(i, x.node().Signed && i == x.Width()-1, alike, plus, BitOf(x, i))
	}
	h.extend(x, func(i int) { h.put(i, true, alike, plus, h.b.ConstantNumber(0)) })
	h.put(0, false, 0b01, plus)
}

// AddTernaryMultiple adds x times 0, 1 or -1 to the sum. The conditions one and negative are the two bits of that
// ternary number.
func (h *BitHeap) AddTernaryMultiple(one, negative, x Value) {
	if _, ok := x.wideConstant(); ok {
		h.AddProduct(x, MuxByCondition(one, MuxByCondition(negative, x.b.ConstantNumber(-1), x.b.ConstantNumber(1)),
			x.b.ConstantNumber(0)))
		return
	}
	const turned = 0b01100000 // one & (bit ^ negative)
	for i := range x.Width() {
		h.put(i, x.node().Signed && i == x.Width()-1, turned, BitOf(x, i), negative, one)
	}
	h.extend(x, func(i int) { h.put(i, true, turned, h.b.ConstantNumber(0), negative, one) })
	h.put(0, false, both, negative, one)
}

// extend calls put with the index of the bit above the highest bit of x, if x is unsigned. Such a number needs a sign
// bit there when it is inverted.
func (h *BitHeap) extend(x Value, put func(i int)) {
	if !x.node().Signed {
		put(x.Width())
	}
}

// AddOneIfEqual adds 1 to the sum if the two conditions are equal.
func (h *BitHeap) AddOneIfEqual(a, b Value) { h.put(0, false, alike, a, b) }

// Sum returns the sum of everything that was added, which the caller knows to lie in range r. It leaves the heap as it
// is.
func (h *BitHeap) Sum(r num.Range) Value { return h.SumInWideRange(r.Wide()) }

// SumInWideRange does what Sum does, for a range of up to 128 bits.
func (h *BitHeap) SumInWideRange(r num.WideRange) Value {
	t := r.NarrowestIntType()
	columns := make([][]term, t.Width) // higher bits do not matter
	copy(columns, h.columns)
	for i := range t.Width {
		if h.constant.Bit(i) != 0 {
			columns[i] = append(columns[i], term{nil, 1})
		}
	}
	rows := h.rows(columns)
	unsigned := num.Type{Kind: num.KindUInt, Width: t.Width}
	if t.Width == num.MaxTypeBits || t.Width == num.MaxNumberBits {
		unsigned = t
	}
	if len(rows) == 1 {
		return AssumeWideRange(LowBitsAsType(rows[0], t), r)
	}
	return AssumeWideRange(wrappedSum(LowBitsAsType(rows[0], unsigned), LowBitsAsType(rows[1], unsigned), t), r)
}

// ReduceToAddends returns three numbers whose sum, modulo 2^128, is that of the heap, so that the numbers of several
// heaps can be added together. The first two are the rows in front of the final adder, the third is a constant. It
// panics if the sum of all terms may not fit into 128 bits.
func (h *BitHeap) ReduceToAddends() []Value {
	var most num.WideRange
	for c, list := range h.columns {
		terms := num.Range{Hi: int64(len(list))}.Wide()
		most = checked(most.Plus(checked(terms.Shifted(c))))
	}
	addends := []Value{h.b.ConstantNumber(0), h.b.ConstantNumber(0), WideConstant(h.b, h.constant)}
	if most.Hi == (num.Wide{}) {
		return addends
	}
	columns := make([][]term, most.NarrowestIntType().Width) // the sum of all terms needs no more bits
	copy(columns, h.columns)
	for k, row := range h.rows(columns) {
		addends[k] = LowBitsAsType(row, num.Type{Kind: num.KindUInt, Width: len(columns)})
	}
	return addends
}

// rows returns one or two words whose sum is that of the terms by column, modulo 2^(number of columns).
func (h *BitHeap) rows(columns [][]term) []Value {
	for slices.ContainsFunc(columns, func(c []term) bool { return len(c) > 2 }) {
		columns = h.reduce(columns)
	}
	rows := make([]Value, 1, 2)
	if slices.ContainsFunc(columns, func(c []term) bool { return len(c) > 1 }) {
		rows = rows[:2]
	}
	zero := h.b.ConstantNumber(0)
	for k := range rows {
		var row []Value
		for _, c := range columns {
			bit := zero
			if k < len(c) {
				bit = h.count(c[k : k+1])[0]
			}
			row = append(row, LowBitsOf(bit, 1))
		}
		rows[k] = ConcatenateWords(row...)
	}
	return rows
}

// reduce returns columns with the same sum but fewer terms: it replaces terms of a column by the bits of their count.
// One LUT counts as many bits as it has inputs.
func (h *BitHeap) reduce(columns [][]term) [][]term {
	next := make([][]term, len(columns))
	for c, list := range columns {
		for len(list) > 0 {
			n, inputs := 0, 0
			for n < len(list) && inputs+len(list[n].of) <= h.b.rate.Inputs {
				inputs += len(list[n].of)
				n++
			}
			switch {
			case n < 3 || len(columns[c]) <= 2:
				n = 1
			case n == 4: // three bits of count, as for five and six terms
				n = 3
			}
			if n == 1 && len(list[0].of) == 1 {
				next[c] = append(next[c], list[0])
				list = list[1:]
				continue
			}
			for i, bit := range h.count(list[:n]) {
				if c+i < len(next) && !bit.is(0) {
					next[c+i] = append(next[c+i], term{[]Value{bit}, itself})
				}
			}
			list = list[n:]
		}
	}
	return next
}

// count returns the number of terms that are 1, as conditions: the bits of the number, the lowest first.
func (h *BitHeap) count(terms []term) (counted []Value) {
	var inputs []Value
	for _, t := range terms {
		inputs = append(inputs, t.of...)
	}
	for _, table := range h.b.counters(terms) {
		if len(inputs) == 0 {
			counted = append(counted, h.b.ConstantNumber(int64(table&1)))
			continue
		}
		counted = append(counted, lookup(table, inputs...))
	}
	return counted
}

// counters returns the function tables that count the terms, one for each bit of the count, the lowest first. Their
// operands are the conditions of all terms in order.
func (b *Builder) counters(terms []term) []uint64 {
	key := make([]byte, 0, 32)
	inputs := 0
	for _, t := range terms {
		key = binary.AppendUvarint(append(key, byte(len(t.of))), t.table)
		inputs += len(t.of)
	}
	if tables, ok := b.counts[string(key)]; ok {
		return tables
	}
	var tables []uint64
	for n := range 1 << inputs {
		sum, at := 0, 0
		for _, t := range terms {
			row := n >> at & (1<<len(t.of) - 1)
			sum += int(t.table >> row & 1)
			at += len(t.of)
		}
		for k := 0; sum>>k != 0; k++ {
			for len(tables) <= k {
				tables = append(tables, 0)
			}
			tables[k] |= uint64(sum>>k&1) << n
		}
	}
	if b.counts == nil {
		b.counts = map[string][]uint64{}
	}
	b.counts[string(key)] = tables
	return tables
}
