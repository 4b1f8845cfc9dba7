package dataflow

import "hlsgen/internal/num"

// A KernelInstance is one layer's C++ as data: a config struct, tables, and a call Func<Config>(in..., out...,
// tables...). Package templates writes it.
//
// For a kernel whose arithmetic is a program of the layer's own (RNN), Code is that program: member functions of the
// config struct, which can use its members and the kernel's header. Their text has names and numbers of the layer only,
// never of a model.
type KernelInstance struct {
	Header string        // the file in the kernel library: "mvau.hpp"
	Func   string        // the kernel function: "mvau"
	Config []ConfigField // the members of the config struct, in order

	// Streams names further members of the config struct that the kernel reads. X_t, X_width and X_per_word are an
	// element of stream X, the bits of a word, and the elements in it. X is "in" or "out", or "in0" and so on if a side
	// has several.
	Streams []string

	Tables []Table  // the constant arrays, in the order of the call
	Code   []string // lines of code; none for most kernels
	Alike  bool     // whether the kernel reads C::alike, the config of the first of all layers with the same config
	Ends   bool     // whether the first argument is a stream that tells after which time step a sequence ends

	// Storage lists the layer's memories: one per table, and the arrays of its kernel. For an array X, the config
	// struct has X_rows (at least 1), X_width and X_memory, its memory, for bind_memory of hlslib/core/memory.hpp.
	Storage []Storage
}

// A ConfigField is a member of a config struct. Value is an int (a constant), a bool, or a num.Type (a type alias). Or
// it is a list with one of them per port: []int or []num.Type (type lists, hlsgen::counts and hlsgen::types). []int64
// holds constants of any size (hlsgen::numbers).
type ConfigField struct {
	Name, Doc string
	Value     any
}

// A Table is a ROM: every row has the same number of elements and is read as one word.
type Table struct {
	Name, Doc string // Name is unique within the layer: "weights", "thresholds"
	Elem      num.Type
	Rows      [][]int64
	// the number of equal arrays, one after the other in Rows, that are read side by side; 0 means one array
	Banks int

	// Bare reports that the config struct has no X_t and X_per_limb, the element type and the elements per word.
	Bare bool
}

// ChooseLimbLayout returns the layout of a table's row of n elements of the given width. A row is an array of words of
// at most 64 bits, and no element lies in two of them. Among the layouts with at most twice the fewest words,
// ChooseLimbLayout chooses the one with the fewest unused elements, and among those the one with the fewest words.
func ChooseLimbLayout(n, width int) (perLimb, count int) {
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
