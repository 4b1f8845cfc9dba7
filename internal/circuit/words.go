package circuit

import (
	"fmt"
	"slices"

	"hlsgen/internal/num"
)

// SliceBits returns width bits of a word, or of the bits of a number, from bit low on. It panics if there are not as
// many.
func SliceBits(word Value, low, width int) Value {
	if low < 0 || width < 1 || low+width > word.Width() {
		panic(fmt.Sprintf("circuit: bits %d to %d of %d", low, low+width-1, word.Width()))
	}
	if c, ok := literal(word); ok {
		return LowBitsOf(WideConstant(word.b, c.Shifted(-low).LowBits(width, width >= num.MaxTypeBits)), width)
	}
	n := word.node()
	switch {
	case low == 0 && width == word.Width() && n.Word:
		return word
	case n.Op == OpSliceWord:
		return SliceBits(Value{word.b, n.Args[0]}, low+n.K, width)
	case n.Op == OpConcatenateWords:
		starts := starts(word.b, word.id)
		k, found := slices.BinarySearch(starts, low)
		if !found {
			k--
		}
		if w := (Value{word.b, n.Args[k]}); low-starts[k]+width <= w.Width() {
			return SliceBits(w, low-starts[k], width)
		}
	}
	return word.b.bits(Node{Op: OpSliceWord, Args: []NodeID{word.id}, K: low, Stage: n.Stage, level: n.level}, width)
}

// starts returns, for each word of a concatenation, the place of its lowest bit.
func starts(b *Builder, concatenation NodeID) []int {
	list, ok := b.parts[concatenation]
	if !ok {
		at := 0
		for _, id := range b.m.Nodes[concatenation].Args {
			list, at = append(list, at), at+b.m.Nodes[id].Width
		}
		if b.parts == nil {
			b.parts = map[NodeID][]int{}
		}
		b.parts[concatenation] = list
	}
	return list
}

// literal returns the bits of a value if it is constant; ok is false if it is not.
func literal(v Value) (bits num.Wide, ok bool) {
	n := v.node()
	switch {
	case n.Op == OpNumberToWord:
		bits, ok = literal(Value{v.b, n.Args[0]})
		return bits.LowBits(n.Width, false), ok && n.Width <= num.MaxTypeBits // a negative number has more bits
	case n.Op == OpConcatenateWords && n.Width < num.MaxTypeBits:
		at := 0
		for _, id := range n.Args {
			part, ok := literal(Value{v.b, id})
			if !ok {
				return num.Wide{}, false
			}
			bits.Lo |= part.Lo << at
			at += v.b.m.Nodes[id].Width
		}
		return bits, true
	}
	return v.wideConstant()
}

// BitOf returns bit i of a word or a number, as a condition.
func BitOf(word Value, i int) Value {
	return LowBitsAsType(SliceBits(word, i, 1), num.Type{Kind: num.KindUInt, Width: 1})
}

// ElementOf returns element i of a word. The word holds elements of type t.
func ElementOf(word Value, i int, t num.Type) Value {
	if t.Kind == num.KindBipolar {
		return MuxByCondition(BitOf(word, i), word.b.ConstantNumber(1), word.b.ConstantNumber(-1))
	}
	if t.IsMinifloat() {
		return OperandOfElement(word, i, t).operandValue(t.Range())
	}
	bits := SliceBits(word, i*t.Width, t.Width)
	if t == (num.Type{Kind: num.KindUInt, Width: num.MaxTypeBits}) {
		t.Width-- // elements are int64s
	}
	return LowBitsAsType(bits, t)
}

// DecodeElementByCoding returns the number that code i of a word stands for. The word holds codes of the coding c.
func DecodeElementByCoding(word Value, i int, c *num.Coding) Value {
	values := make([]Value, c.Value.Width)
	for k, table := range c.BitsAsFunctionsOfCode() {
		var of []Value
		for bit := range c.Code.Width {
			of = append(of, BitOf(word, i*c.Code.Width+bit))
		}
		for bit := len(of) - 1; bit >= 0 && len(of) > 1; bit-- { // remove bits on which the table does not depend
			if without := fixed(table, len(of), bit, 0); without == fixed(table, len(of), bit, 1) {
				table, of = without, slices.Delete(of, bit, bit+1)
			}
		}
		values[k] = LowBitsOf(lookup(table, of...), 1)
	}
	return LowBitsAsType(ConcatenateWords(values...), c.Value)
}

// bitOf returns bit i of a number. If the number is a concatenation of words, it takes the bit from the word itself.
func bitOf(v Value, i int) Value {
	if n := v.node(); n.Op == OpLowBitsAsNumber && v.b.m.Nodes[n.Args[0]].Op == OpConcatenateWords {
		return BitOf(Value{v.b, n.Args[0]}, i)
	}
	return BitOf(v, i)
}

// LowBitsOf returns the lowest width bits of a number as a word. A word must have that width already, and is returned
// as is; for another width LowBitsOf panics.
func LowBitsOf(v Value, width int) Value {
	if v.node().Word {
		if v.Width() != width {
			panic(fmt.Sprintf("circuit: a word of %d bits for %d", v.Width(), width))
		}
		return v
	}
	n := v.node()
	return v.b.bits(Node{Op: OpNumberToWord, Args: []NodeID{v.id}, Stage: n.Stage, level: n.level}, width)
}

// EncodeAsType returns a number as a word that is one element of type t. It panics unless the type holds both ends of
// the number's range. It also panics for a minifloat type, unless the number is constant.
func EncodeAsType(v Value, t num.Type) Value {
	r := v.Range()
	if !t.Holds(r.Lo) || !t.Holds(r.Hi) {
		panic(fmt.Sprintf("circuit: %v for elements of type %v", r, t))
	}
	switch c, known := v.constant(); {
	case t.Kind == num.KindBipolar:
		return LowBitsOf(Not(IsNegative(v)), 1)
	case t.IsMinifloat() && !known:
		panic("circuit: numbers become minifloats in step functions alone, which give codes")
	case t.IsMinifloat():
		v = v.b.ConstantNumber(t.CodeOfValue(c))
	}
	return LowBitsOf(v, t.Width)
}

// ConcatenateWords returns the concatenation of one or more words, the first one lowest. It panics for a number, except
// for a single one, which it returns.
func ConcatenateWords(words ...Value) Value {
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
	return words[0].b.bits(Node{Op: OpConcatenateWords, Args: ids(at), Stage: stage, level: int32(levels)}, width)
}

// PackIntoWord returns a word of numbers, each as an element of type t, the first one lowest.
func PackIntoWord(t num.Type, values ...Value) Value {
	words := make([]Value, len(values))
	for i, v := range values {
		words[i] = EncodeAsType(v, t)
	}
	return ConcatenateWords(words...)
}
