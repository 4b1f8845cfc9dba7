// Package circuit is the hardware of a layer as data: what becomes of the words of one iteration, operation by
// operation and clock by clock. A layer says its circuit with a Builder; the templates spell it in SystemVerilog, and
// its latency and its cost are read off it.
//
// # Time
//
// An iteration starts in the clock in which every word that it reads is visible and every stream that it writes has a
// place left: it fires. Its values are then computed in stages, a clock each, and nothing stops them. A value's stage
// is the clocks since the start. An operation takes operands of one stage; those that are earlier are delayed, and
// where the logic of a stage would become longer than the Rate allows, all of them are registered first. So the
// registers of a circuit follow from the operations and the clock.
//
// What one iteration hands on to later ones are states and memories: each is read and written at stages that its layer
// chooses such that iterations follow each other. A word that is written at stage s can be read s+1 clocks after the
// start: that is the latency.
//
// # Numbers
//
// A value is a number of a known range, and has the bits that hold it; or it is bits, a word of a stream or a row of a
// table. Operations on numbers are exact: ranges follow from ranges.
//
// In come operations, out come Modules. It sees internal/num.
//
//	circuit.go   Module, Node: what a circuit is
//	builder.go   Builder, Value: stages, registers, what is known of constants
//	arithmetic.go, logic.go, words.go: operations on numbers, on conditions, on words
//	control.go   where an iteration stands in its frame, and the streams
//	memory.go    states, tables and arrays
//	store.go     memories on the way round a loop
//	compress.go  sums of many bits; float.go minifloats as factors
//	function.go  circuits that are built once and used several times
package circuit

import (
	"sync"

	"hlsgen/internal/num"
)

// A Module is a circuit: of a layer, with streams, or a function, with pins.
type Module struct {
	Name    string // of a function, an identifier; that of a layer is its node's
	Nodes   []Node // in an order in which operands come first, but for what states take
	In, Out []Stream
	Fire    ID // of a layer: this iteration starts

	States   []State
	Memories []Memory

	Pins    []ID // of a function: its arguments, all at stage 0
	Results []ID // and what it gives, all at stage Stages
	Stages  int
	Calls   []Call
	Known   *sync.Map // of a function: what others have found out about it, by keys of theirs

	Latency int // of a layer: clocks from the start to where the last of the words it writes can be read
}

// Depth is how many clocks after its start an iteration still changes something, or gives a word.
func (m *Module) Depth() int {
	stage := m.Latency - 1
	for _, s := range m.States {
		stage = max(stage, s.Stage)
	}
	for _, a := range m.Memories {
		stage = max(stage, a.Stage)
	}
	return stage
}

// An ID is a node, by its place in a Module.
type ID int32

// None is no node.
const None ID = -1

// A Stream is a port of a layer.
type Stream struct {
	Name  string // in0, in1 and so on, ends, weights; out0 and so on
	Width int
	When  ID // at stage 0: the iteration moves a word
	Word  ID // of an input the word at stage 0; of an output what is written at its stage
	Stage int
	Moves ID // of an output: at that stage, a word is written
}

// A Node is an operation.
type Node struct {
	Op     Op
	Args   []ID
	Width  int
	Signed bool
	Range  num.Range // of a number
	Word   bool      // it is bits, not a number
	Stage  int       // Always for constants
	K      int       // what the operation has beside its operands
	Table  uint64    // of Look: bit n is the result for operands that are n, the first one the lowest bit
	Name   string    // what it is called; several may have the same
	base   string    // of a Delay: the name of what is delayed
	level  int       // ps of logic since the last register
}

// Always is the stage of constants.
const Always = -1

// An Op is what a node computes.
type Op uint8

// The operations. Operands of arithmetic are numbers, and results as wide as their range.
const (
	Const    Op = iota // Range.Lo
	Take               // the word of input stream K, at stage 0
	Pin                // argument K of a function
	Fire               // the iteration starts; 1 at stage 0
	Add                // a + b
	Sub                // a - b
	Multiply           // a * b by a multiplier of the device: K clocks later
	And                // of conditions
	Or
	Xor
	Invert // not a
	Look   // of up to 6 conditions, by Table
	Mux    // a where the condition, the first operand, holds, else b
	Pick   // operand 1 + the value of the first one
	Less   // a < b
	Equal  // a == b
	Slice  // Width bits of a word from bit K on
	Join   // words one behind the other, the first one lowest
	Shift  // a * 2^K, or a / 2^-K rounded down
	Wrap   // the lowest bits of a number or word, read as a number
	Bits   // the bits of a number, Width of them
	Delay  // one clock later
	Read   // state K before the iteration
	After  // state K after it, a clock later
	Fetch  // of memory K, at the address: a clock later
	Peek   // of memory K, at the address: at once
	Result // K of call Table
)

// A State is a register that later iterations read. It takes Next at stage Stage where When holds, of iterations alone.
// Its Read may be at an earlier stage.
type State struct {
	Name   string
	Stage  int
	Node   ID // its Read
	Next   ID
	When   ID // None: always
	Init   int64
	Reset  bool // it has Init after a reset; else it must not be read before it is written
	Width  int
	Signed bool
}

// A Style is where a memory lies.
type Style string

// The styles, with the names that FINN has for them.
const (
	Distributed Style = "distributed"
	Block       Style = "block"
	Ultra       Style = "ultra"
	Registers   Style = "registers"
)

// A Memory is a table, or an array that iterations write.
type Memory struct {
	Name  string
	Rows  int
	Width int
	Style Style
	// Data gives a table's rows, and the type of their elements, the first one lowest. It is nil of an array.
	Data func() (num.Type, [][]int64)
	// Loaded tells of a table that Data is what it begins with: other rows may be loaded while nothing is on its way.
	Loaded bool

	// Of an array: at stage Stage, Word is written to Address where When holds.
	Stage               int
	Address, Word, When ID
}

// Constant reports whether what a memory has at its places is known.
func (m *Memory) Constant() bool { return m.Data != nil && !m.Loaded }

// LoadBits is the bits of a word in which rows are loaded: a row takes as many as it needs, its lowest bits first.
const LoadBits = 32

// Loads lists the tables that are loaded, in the order in which their rows come.
func (m *Module) Loads() (list []*Memory) {
	for k := range m.Memories {
		if m.Memories[k].Loaded {
			list = append(list, &m.Memories[k])
		}
	}
	return list
}

// A Call uses a function. Operands are at stage Stage, results at Stage + the function's Stages.
type Call struct {
	Function *Module
	Args     []ID
	Stage    int
}
