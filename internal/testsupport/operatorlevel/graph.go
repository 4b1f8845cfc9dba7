// Package operatorlevel describes an iteration of a layer as operators, which a back end lowers. It is a trial: only
// tests use it. A product, a sum, a maximum, a comparison and a step function are one operator each, where a circuit
// has compressors, lanes and gates. docs/RATIONALE.md has what was found, and this package's tests make its figures.
//
// Values are arrays of rows and columns: a row for each of PE channels, and a column for each of SIMD elements of it.
// An operator with an operand of one row or one column uses it for all.
//
// In come bound layers of three kinds, out come their words, their latencies and their C++.
//
//	graph.go      Graph and Operator
//	layers.go     the graphs of MVAU, Thresholding and Pool
//	finn.go       the graph of FINN's MVAU, of which there are public reports
//	run.go        a graph, iteration by iteration
//	depth.go      the stages of a pipeline, by the delays of synthesis
//	gates.go      the same for a circuit of package circuit
//	spell.go      C++
//	lower.go      a circuit of package circuit
package operatorlevel

import (
	"hlsgen/internal/dataflow"
	"hlsgen/internal/num"
)

// A Graph is one iteration of a layer with one input and one output.
type Graph struct {
	// Trips are the extents of the nest of loops that an iteration stands in, the outermost first. The nest repeats
	// without end.
	Trips     []int
	In, Out   dataflow.Port
	Operators []Operator // operands come first
	Read      ID         // condition that the iteration reads a word
	Write     ID         // condition that it writes the word of Result
	Result    ID
	Bare      bool // reading and writing words takes no time
}

// An ID is the number of an operator in its graph.
type ID int

// An Operator computes an array of values from those of its operands.
type Operator struct {
	Kind       Kind
	Args       []ID
	Rows, Cols int
	Range      num.Range // of all values
	From, To   int       // levels of the nest; From alone for Index and State

	Column, Row int              // of Word: element Row*row + Column*column of the word
	Table       [][]int64        // of Row: the rows, of which one has the values in order
	Storage     dataflow.Storage // of Row and Keep: the memory
	Decoded     bool             // of Row: the memory holds codes of the values

	Factors   [2]num.Type             // of Product and Match: the types of both factors
	DSP       bool                    // of Product and Requantise: by a slice
	Requant   num.Requant             // of Requantise
	Functions []num.StepFunction      // of Steps: one for all channels, or one per channel
	Steps     dataflow.KernelInstance // of Steps: the form, as the instance's fields, tables and memories have it
	Memory    dataflow.Memory         // of Steps: for tables; NoMemory for the cheapest
	Bits      int                     // of Steps: the width of an operand
	Factor    int64                   // of Affine
	Offset    int64                   // of Affine: added to the multiple; of Constant: the number
}

// A Kind says what an operator computes.
type Kind int

// The operators.
const (
	Constant        Kind = iota // Offset
	Index                       // the index of the levels From to To together, the last one fastest
	First                       // whether the levels From to To are at their first index
	Last                        // whether they are at their last index
	Word                        // elements of the word that is read; 0 if none is
	Keep                        // operand 0 if condition 1 holds, else what was kept at index 2
	Row                         // a row of a table, at the index operand 0
	Product                     // of operands 0 and 1
	Match                       // whether both are equal
	Requantise                  // a product
	Sum                         // of all columns
	Greatest                    // of all columns
	RunningSum                  // operand 0 where condition 1 holds, else added to the result of the iteration before
	RunningGreatest             // the same with the greater one
	Steps                       // a step function of operand 0, whose channel follows from the word's number operand 1
	Affine                      // Factor times operand 0, plus Offset
)

// add adds an operator and returns its number.
func (g *Graph) add(o Operator) ID {
	o.Rows, o.Cols = max(1, o.Rows), max(1, o.Cols)
	g.Operators = append(g.Operators, o)
	return ID(len(g.Operators) - 1)
}

// at returns the operator with a number.
func (g *Graph) at(id ID) *Operator { return &g.Operators[id] }

// condition adds the condition that the levels from to to are at their first or their last index.
func (g *Graph) condition(kind Kind, from, to int) ID {
	return g.add(Operator{Kind: kind, From: from, To: to, Range: num.Range{Hi: 1}})
}

// index adds the index of the levels from to to together.
func (g *Graph) index(from, to int) ID {
	return g.add(Operator{Kind: Index, From: from, To: to, Range: num.Range{Hi: int64(g.count(from, to)) - 1}})
}

// count returns the number of indices of the levels from to to together.
func (g *Graph) count(from, to int) int {
	n := 1
	for _, t := range g.Trips[from : to+1] {
		n *= t
	}
	return n
}

// always adds a condition that holds.
func (g *Graph) always() ID {
	return g.add(Operator{Kind: Constant, Offset: 1, Range: num.SingleValueRange(1)})
}

// width returns the bits of an operator's values.
func (o *Operator) width() int { return num.NarrowestIntTypeFor(o.Range).Width }
