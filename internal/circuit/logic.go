package circuit

import "hlsgen/internal/num"

// condition is the range of a condition, which is 1 if it holds and otherwise 0.
var condition = num.Range{Hi: 1}

// test adds a node with the given operands, whose result is a condition, as operation does.
func test(op Operation, logic int, operands ...Value) Value {
	return operation(op, 0, logic, condition.Wide(), operands...)
}

// AllHold returns the condition that all of the conditions hold, which is true if there are none.
func (b *Builder) AllHold(conditions ...Value) Value { return gate(b, OpAnd, 0, conditions) }

// AnyHolds returns the condition that at least one of the conditions holds, which is false if there are none.
func (b *Builder) AnyHolds(conditions ...Value) Value { return gate(b, OpOr, 1, conditions) }

// AllHold returns the condition that all of the conditions hold. There must be at least one.
func AllHold(conditions ...Value) Value { return conditions[0].b.AllHold(conditions...) }

// AnyHolds returns the condition that at least one of the conditions holds. There must be at least one.
func AnyHolds(conditions ...Value) Value { return conditions[0].b.AnyHolds(conditions...) }

// gate returns the conditions joined by a tree of gates of the operation op, OpAnd or OpOr. A condition with the value
// decides alone determines the result.
func gate(b *Builder, op Operation, decides int64, conditions []Value) Value {
	var list []Value
	for _, c := range conditions {
		if c.is(decides) {
			return c
		}
		if _, ok := c.constant(); !ok {
			list = append(list, c)
		}
	}
	if len(list) == 0 {
		return b.ConstantNumber(1 - decides)
	}
	for len(list) > 1 {
		var next []Value
		for n := b.rate.Inputs; len(list) > 0; list = list[min(n, len(list)):] {
			some := list[:min(n, len(list))]
			if len(some) == 1 {
				next = append(next, some[0])
				continue
			}
			next = append(next, test(op, b.rate.LUT, some...))
		}
		list = next
	}
	return list[0]
}

// Not returns the negation of a condition.
func Not(a Value) Value {
	if c, ok := a.constant(); ok {
		return a.b.ConstantNumber(1 - c)
	}
	if n := a.node(); n.Op == OpNot {
		return Value{a.b, n.Args[0]}
	}
	return test(OpNot, 0, a)
}

// ExclusiveOr returns the condition that exactly one of two conditions holds.
func ExclusiveOr(a, b Value) Value {
	switch {
	case a.is(0):
		return b
	case b.is(0):
		return a
	case a.is(1):
		return Not(b)
	case b.is(1):
		return Not(a)
	}
	return test(OpXor, a.b.rate.LUT, a, b)
}

// MuxByCondition returns a if the condition c holds, otherwise b. Both are numbers, or words of the same width.
func MuxByCondition(c, a, b Value) Value {
	if v, ok := c.constant(); ok {
		if v == 1 {
			return a
		}
		return b
	}
	if a.id == b.id {
		return a
	}
	if a.node().Word {
		at, stage, levels := together(c.b.rate.LUT, c, a, b)
		return c.b.bits(Node{Op: OpMuxByCondition, Args: ids(at), Stage: stage, level: int32(levels)}, a.Width())
	}
	if a.is(1) && b.is(0) {
		return c
	}
	if a.is(0) && b.is(1) {
		return Not(c)
	}
	return operation(OpMuxByCondition, 0, c.b.rate.LUT, a.WideRange().Union(b.WideRange()), c, a, b)
}

// MuxByIndex returns the value with the given index. The values are numbers, or words of the same width. The index
// must be less than their number.
func MuxByIndex(index Value, values ...Value) Value {
	if i, ok := index.constant(); ok {
		return values[i]
	}
	values = values[:min(len(values), int(index.Range().Hi)+1)]
	if len(values) == 1 {
		return values[0]
	}
	logic := index.b.rate.LUT
	for n := 4; n < len(values); n *= 4 {
		logic += index.b.rate.LUT
	}
	operands := append([]Value{index}, values...)
	if values[0].node().Word {
		at, stage, levels := together(logic, operands...)
		n := Node{Op: OpMuxByIndex, Args: ids(at), Stage: stage, level: int32(levels)}
		return index.b.bits(n, values[0].Width())
	}
	r := values[0].WideRange()
	for _, v := range values[1:] {
		r = r.Union(v.WideRange())
	}
	return operation(OpMuxByIndex, 0, logic, r, operands...)
}

// lookup returns a function, given by a table, of up to 6 conditions. Bit n of the table is the result if the operands,
// the first one lowest, are n in binary.
func lookup(table uint64, operands ...Value) Value {
	// Constant operands are merged into the table.
	for i := 0; i < len(operands); {
		c, ok := operands[i].constant()
		if !ok {
			i++
			continue
		}
		table = fixed(table, len(operands), i, c)
		if len(operands) == 1 {
			return operands[i].b.ConstantNumber(int64(table & 1))
		}
		operands = append(append([]Value{}, operands[:i]...), operands[i+1:]...)
	}
	all := uint64(1)<<(1<<len(operands)) - 1 // all 64 bits for 6 operands
	switch b := operands[0].b; {
	case table&all == 0:
		return b.ConstantNumber(0)
	case table&all == all:
		return b.ConstantNumber(1)
	case len(operands) == 1 && table&all == 2:
		return operands[0]
	case len(operands) == 1:
		return Not(operands[0])
	}
	at, stage, levels := together(operands[0].b.rate.LUT, operands...)
	n := Node{Op: OpLogicTable, Args: ids(at), Table: table & all, Stage: stage, level: int32(levels)}
	return operands[0].b.number(n, condition.Wide())
}

// fixed returns the table of a function whose condition number i always has the value c, as a function of the others.
// conditions is their number with that one.
func fixed(table uint64, conditions, i int, c int64) (rest uint64) {
	for n := range 1 << (conditions - 1) {
		low := n & (1<<i - 1)
		rest |= table >> ((n-low)<<1 | int(c)<<i | low) & 1 << n
	}
	return rest
}
