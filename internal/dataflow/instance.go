package dataflow

import "hlsgen/internal/num"

// An Instance is one layer's C++ as data: a config struct, tables, and a call
// Func<Config>(in..., out..., tables...). Templates spell it.
//
// A kernel whose arithmetic is a program of the layer's own (RNN) has it written out: Code is member functions of the
// config struct, which see its members and the kernel's header. Their text is made of names and numbers of the layer
// alone, never of a model's.
type Instance struct {
	Header string  // file in the kernel library: "mvau.hpp"
	Func   string  // the kernel: "mvau"
	Config []Field // members of the config struct, in order

	// Streams is what else of the config struct the kernel reads: X_t, X_width and X_per_word are an element of stream
	// X, the bits of a word and the elements in it. X is "in" or "out", of several of a side "in0" and so on.
	Streams []string

	Tables []Table  // constant arrays, in call order
	Code   []string // lines; none for most kernels
	Alike  bool     // the kernel reads C::alike, the config of the first layer of all that are configured alike
	Ends   bool     // in front of all other arguments stands a stream that tells after which step a sequence ends

	// Storage is the layer's memories: one of each table, and the arrays of its kernel. Of an array X the config struct
	// has X_rows (at least 1), X_width and X_memory, where it lies, for bind_memory of hlslib/core/memory.hpp.
	Storage []Storage
}

// A Field is a member of a config struct. Value is an int (a constant), a bool or a num.Type (a type alias), or has one
// of them per port: []int or []num.Type (type lists, hlsgen::counts and hlsgen::types). []int64 is constants of any
// size (hlsgen::numbers).
type Field struct {
	Name, Doc string
	Value     any
}

// A Table is a ROM: every row has the same number of elements and is read as one word.
type Table struct {
	Name, Doc string // Name within the layer: "weights", "thresholds"
	Elem      num.Type
	Rows      [][]int64
	Banks     int // arrays of as many rows each, one after the other in Rows, read side by side; 0 is one array

	// Bare: the config struct has no X_t and X_per_limb, an element and how many of them are in a word.
	Bare bool
}

// Limbs is the layout of a table's row of n elements of the given width: a row is an array of words of at most 64 bits
// and no element lies in two of them. Of the layouts with at most twice the fewest words it is the one with the fewest
// unused elements, and among those the one with the fewest words.
func Limbs(n, width int) (perLimb, count int) {
	widest := min(64/width, n)
	best := -1
	for k := widest; k >= (widest+1)/2; k-- {
		c := (n + k - 1) / k
		if unused := c*k - n; best < 0 || unused < best {
			best, perLimb, count = unused, k, c
		}
	}
	return perLimb, count
}
