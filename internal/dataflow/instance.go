package dataflow

import "hlsgen/internal/num"

// An Instance is one layer's C++ as data: a config struct, tables, and a call
// Func<Config>(in..., out..., tables...). Templates spell it.
//
// A kernel whose arithmetic is a program of the layer's own (RNN) has it written out: Code is member functions of the
// config struct, which see its members and the kernel's header. Their text is made of names and numbers of the layer
// alone, never of a model's.
type Instance struct {
	Header string   // file in the kernel library: "mvau.hpp"
	Func   string   // the kernel: "mvau"
	Config []Field  // members of the config struct, in order
	Tables []Table  // constant arrays, in call order
	Code   []string // lines; none for most kernels
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
}
