package circuit

import (
	"math/bits"

	"hlsgen/internal/num"
)

// LimbCount returns the number of 64-bit parts that a word of the given width has.
func LimbCount(width int) int { return (width + 63) / 64 }

// AppendPackedElements appends to list the parts of a word of elements of type elem, the first one lowest.
func AppendPackedElements(list []uint64, elem num.Type, elements []int64) []uint64 {
	at := len(list)
	for range LimbCount(elem.Width * len(elements)) {
		list = append(list, 0)
	}
	word := list[at:]
	for i, v := range elements {
		put(word, i*elem.Width, elem.EncodeBits(v), elem.Width)
	}
	return list
}

// AppendUnpackedElements appends the elements of a word to list. The word holds n elements of type elem, the first one
// lowest.
func AppendUnpackedElements(list []int64, elem num.Type, n int, word []uint64) []int64 {
	for i := range n {
		list = append(list, elem.DecodeBits(get(word, i*elem.Width, elem.Width)))
	}
	return list
}

// fits reports whether a word has no bits beyond a width.
func fits(word []uint64, width int) bool {
	return width%64 == 0 || bits.Len64(word[len(word)-1]) <= width%64
}

// put writes the number v of width bits, at most 64, to a word from bit low on. The word must be 0 there.
func put(word []uint64, low int, v uint64, width int) {
	k, shift := low/64, low%64
	word[k] |= v << shift
	if shift+width > 64 {
		word[k+1] |= v >> (64 - shift)
	}
}

// get returns width bits, at most 64, of a word from bit low on.
func get(word []uint64, low, width int) uint64 {
	k, shift := low/64, low%64
	v := word[k] >> shift
	if shift+width > 64 {
		v |= word[k+1] << (64 - shift)
	}
	return v & ones(width)
}

// ones returns a mask of the lowest width bits.
func ones(width int) uint64 {
	if width >= 64 {
		return ^uint64(0)
	}
	return 1<<width - 1
}

// hasBits reports whether some bit is 1.
func hasBits(bits []uint64) bool {
	for _, v := range bits {
		if v != 0 {
			return true
		}
	}
	return false
}

// finish makes a value of the given width canonical: beyond its width are copies of the sign if it is signed, and
// zeros otherwise.
func finish(value []uint64, width int, signed bool) {
	k := (width - 1) / 64
	shift := 64 - (width - k*64)
	if signed {
		value[k] = uint64(int64(value[k]<<shift) >> shift)
	} else {
		value[k] = value[k] << shift >> shift
	}
	for i := k + 1; i < len(value); i++ {
		if value[i] = 0; signed && int64(value[k]) < 0 {
			value[i] = ^uint64(0)
		}
	}
}

// extend copies a value to a longer or shorter one. If signed holds, the copy is extended by the sign.
func extend(to, from []uint64, signed bool) {
	n := copy(to, from)
	fill := uint64(0)
	if signed && int64(from[len(from)-1]) < 0 {
		fill = ^uint64(0)
	}
	for i := n; i < len(to); i++ {
		to[i] = fill
	}
}

// truth returns 1 for true and 0 for false.
func truth(holds bool) uint64 {
	if holds {
		return 1
	}
	return 0
}
