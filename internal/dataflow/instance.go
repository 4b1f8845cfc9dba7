package dataflow

import "hlsgen/internal/num"

// An Instance is one layer's C++ as data: a config struct, tables, and a call
// Func<Config>(in..., out..., tables...). Templates spell it.
type Instance struct {
	Header string  // file in the kernel library: "mvau.hpp"
	Func   string  // the kernel: "mvau"
	Config []Field // members of the config struct, in order
	Tables []Table // constant arrays, in call order
}

// A Field is a member of a config struct. Value is an int (a constant), a bool or a num.Type (a type alias).
type Field struct {
	Name, Doc string
	Value     any
}

// A Table is a ROM: Rows words of Width bits, each packed low element first into 64-bit limbs.
type Table struct {
	Name, Doc string
	Width     int
	Rows      [][]uint64
	Memory    Memory
}

// Pack appends elements of type t to a row of limbs, low bits first.
func Pack(t num.Type, values []int64) []uint64 {
	row := make([]uint64, (len(values)*t.Width+63)/64)
	for i, v := range values {
		put(row, i*t.Width, t.Width, t.Encode(v))
	}
	return row
}

// Unpack reads n elements of type t from a row of limbs.
func Unpack(t num.Type, row []uint64, n int) []int64 {
	out := make([]int64, n)
	for i := range out {
		b := i * t.Width
		v := row[b/64] >> (b % 64)
		if b%64+t.Width > 64 {
			v |= row[b/64+1] << (64 - b%64)
		}
		out[i] = t.Decode(v)
	}
	return out
}

func put(row []uint64, bit, width int, v uint64) {
	row[bit/64] |= v << (bit % 64)
	if bit%64+width > 64 {
		row[bit/64+1] |= v >> (64 - bit%64)
	}
}
