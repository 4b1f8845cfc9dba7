package circuit

import (
	"fmt"
	"slices"

	"hlsgen/internal/num"
)

// BitRange returns width bits of a word, or of the bits of a number, from bit low on.
func BitRange(word Value, low, width int) Value {
	if low < 0 || width < 1 || low+width > word.Width() {
		panic(fmt.Sprintf("circuit: bits %d to %d of %d", low, low+width-1, word.Width()))
	}
	if c, ok := literal(word); ok {
		return LowBits(word.b.Constant(int64(c>>low&(1<<width-1))), width)
	}
	n := word.node()
	switch {
	case low == 0 && width == word.Width() && n.Word:
		return word
	case n.Op == OpSliceWord:
		return BitRange(Value{word.b, n.Args[0]}, low+n.K, width)
	case n.Op == OpConcatenate:
		from := low
		for _, id := range n.Args {
			w := Value{word.b, id}
			if from >= 0 && from+width <= w.Width() {
				return BitRange(w, from, width)
			}
			from -= w.Width()
		}
	}
	return word.b.bits(Node{Op: OpSliceWord, Args: []ID{word.id}, K: low, Stage: n.Stage, level: n.level}, width)
}

// literal returns the bits of a value if it is constant; ok is false if it is not.
func literal(v Value) (bits uint64, ok bool) {
	n := v.node()
	switch {
	case n.Op == OpNumberBits:
		bits, ok = literal(Value{v.b, n.Args[0]})
		return bits & (1<<n.Width - 1), ok && n.Width <= num.MaxWidth // a negative number has more bits
	case n.Op == OpConcatenate && n.Width < num.MaxWidth:
		at := 0
		for _, id := range n.Args {
			part, ok := literal(Value{v.b, id})
			if !ok {
				return 0, false
			}
			bits |= part << at
			at += v.b.m.Nodes[id].Width
		}
		return bits, true
	}
	c, ok := v.constant()
	return uint64(c), ok
}

// Bit returns bit i of a word or a number, as a condition.
func Bit(word Value, i int) Value {
	return Wrapped(BitRange(word, i, 1), num.Type{Kind: num.UInt, Width: 1})
}

// Element returns element i of a word. The word holds elements of type t.
func Element(word Value, i int, t num.Type) Value {
	if t.Kind == num.Bipolar {
		return MuxByCondition(Bit(word, i), word.b.Constant(1), word.b.Constant(-1))
	}
	if t.IsFloat() {
		return FactorOf(word, i, t).Number(t.Range())
	}
	return Wrapped(BitRange(word, i*t.Width, t.Width), t)
}

// Decoded returns the number that code i in a word stands for, by the coding c.
func Decoded(word Value, i int, c *num.Coding) Value {
	values := make([]Value, c.Value.Width)
	for k, table := range c.Bits() {
		var of []Value
		for bit := range c.Code.Width {
			of = append(of, Bit(word, i*c.Code.Width+bit))
		}
		for bit := len(of) - 1; bit >= 0 && len(of) > 1; bit-- { // remove bits on which the table does not depend
			if without := fixed(table, len(of), bit, 0); without == fixed(table, len(of), bit, 1) {
				table, of = without, slices.Delete(of, bit, bit+1)
			}
		}
		values[k] = LowBits(lookup(table, of...), 1)
	}
	return Wrapped(Joined(values...), c.Value)
}

// bitOf returns bit i of a number. If the number is a joined word, it is the bit that was joined.
func bitOf(v Value, i int) Value {
	if n := v.node(); n.Op == OpWrap && v.b.m.Nodes[n.Args[0]].Op == OpConcatenate {
		return Bit(Value{v.b, n.Args[0]}, i)
	}
	return Bit(v, i)
}

// LowBits returns the lowest width bits of a number as a word. A word must have that width already, and is returned as
// is.
func LowBits(v Value, width int) Value {
	if v.node().Word {
		if v.Width() != width {
			panic(fmt.Sprintf("circuit: a word of %d bits for %d", v.Width(), width))
		}
		return v
	}
	n := v.node()
	return v.b.bits(Node{Op: OpNumberBits, Args: []ID{v.id}, Stage: n.Stage, level: n.level}, width)
}

// Encoded returns a number as an element of type t, which must hold its range.
func Encoded(v Value, t num.Type) Value {
	r := v.Range()
	if !t.Holds(r.Lo) || !t.Holds(r.Hi) {
		panic(fmt.Sprintf("circuit: %v for elements of type %v", r, t))
	}
	switch c, known := v.constant(); {
	case t.Kind == num.Bipolar:
		return LowBits(Not(IsNegative(v)), 1)
	case t.IsFloat() && !known:
		panic("circuit: numbers become minifloats in step functions alone, which give codes")
	case t.IsFloat():
		v = v.b.Constant(t.Code(c))
	}
	return LowBits(v, t.Width)
}

// Joined returns the concatenation of one or more words, the first one lowest.
func Joined(words ...Value) Value {
	if len(words) == 1 {
		return words[0]
	}
	at, stage, levels := together(0, words...)
	width := 0
	for _, w := range words {
		if !w.node().Word {
			panic("circuit: a number in a word; it has to be encoded")
		}
		width += w.Width()
	}
	return words[0].b.bits(Node{Op: OpConcatenate, Args: ids(at), Stage: stage, level: levels}, width)
}

// Packed returns a word of numbers, each as an element of type t.
func Packed(t num.Type, values ...Value) Value {
	words := make([]Value, len(values))
	for i, v := range values {
		words[i] = Encoded(v, t)
	}
	return Joined(words...)
}
