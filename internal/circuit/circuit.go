// Package circuit describes the hardware of a layer as data: what happens to the words of one iteration, operation
// by operation and clock by clock. A layer builds its circuit with a Builder. The templates write it in
// SystemVerilog, and its latency and its cost are computed from it.
//
// # Time
//
// An iteration starts, or fires, in the clock in which every word that it reads is visible and every stream that it
// writes has a place left. Its values are then computed in stages, one clock each, and nothing stops them. The
// stage of a value is the number of clocks since the start. All operands of an operation belong to one stage;
// earlier operands are delayed. If the logic of a stage would take longer than the TimingModel allows, all operands
// are registered first. So the registers of a circuit follow from the operations and the clock.
//
// States and memories carry values from one iteration to later ones. Their layer chooses the stages at which each
// is read and written, such that iterations can follow each other. A word that is written at stage s can be read
// s+1 clocks after the start, which is the latency.
//
// # Numbers
//
// A value is either a number in a known range, stored in as few bits as the range needs, or a word of bits: a word
// of a stream or a row of a table. Operations on numbers are exact: the ranges of results follow from the ranges of
// operands. Numbers have at most 128 bits, or 127 if they are unsigned. Those that leave an int64 are called wide.
//
// In come operations, out come Modules.
//
//	circuit.go   Module and Node, the data that describe a circuit
//	builder.go   Builder and Value: stages, registers and constants
//	arithmetic.go, logic.go, words.go: operations on numbers, on conditions, on words
//	control.go   the position of an iteration in its frame, and the streams
//	memory.go    states, tables and arrays
//	store.go     memories in a feedback loop
//	compress.go  sums of many bits; float.go minifloats as factors
//	function.go  circuits that are built once and used several times
//	wide.go      words as parts of 64 bits
//	steps.go, run.go   the data of a Machine, which runs a circuit, and its steps
//	doubt.go     steps that fail, and whether something depends on them
//	places.go, lower.go, flatten.go   the places of values, a node as steps, and all nodes in order
//	machine.go   what a Machine does: iterations, and loading
package circuit

import (
	"strconv"
	"sync"

	"hlsgen/internal/num"
)

// A Module is the circuit of a layer, with streams, or that of a function, with pins.
type Module struct {
	Name    string // for a function, an identifier; for a layer, the name of its node
	Nodes   []Node // operands come before their users, except for the values that states take
	In, Out []StreamPort
	Fire    NodeID // for a layer: the condition that an iteration starts

	States   []StateRegister
	Memories []RowMemory

	Pins    []NodeID // for a function: its arguments, all at stage 0
	Results []NodeID // for a function: its results, all at stage Stages
	Stages  int
	Calls   []FunctionCall
	Known   *sync.Map // for a function: facts that users have found out, by keys of theirs
	// IsOutline states that a function has nothing but Results, with nodes for these, Stages and Known.
	IsOutline bool
	replace   func(*Module) // for a function: puts another one into its place in the library

	Latency int // for a layer: clocks from an iteration's start until the last of its words can be read
}

// LastActiveStage returns the last stage at which an iteration still changes a state or writes a word.
func (m *Module) LastActiveStage() int {
	stage := m.Latency - 1
	for _, s := range m.States {
		stage = max(stage, s.Stage)
	}
	for _, a := range m.Memories {
		stage = max(stage, a.Stage)
	}
	return stage
}

// A NodeID is the index of a node in a Module.
type NodeID int32

// NoNode stands for no node where a NodeID is wanted.
const NoNode NodeID = -1

// A StreamPort is one end of a stream at a layer's circuit, with the condition under which an iteration moves a word.
type StreamPort struct {
	Name  string // in0, in1 and so on, ends or weights; out0 and so on
	Width int
	When  NodeID // condition at stage 0 that the iteration moves a word
	Word  NodeID // of an input, the word at stage 0; of an output, the word at its stage
	Stage int    // stage at which an output is written
	Moves NodeID // of an output: condition at its stage that a word is written
}

// A Node is one operation of a circuit, with its operands, its result's width and range, and its stage.
type Node struct {
	Op     Operation
	Signed bool
	Word   bool  // the result is a word of bits, not a number
	level  int32 // delay of the logic since the last register, in ps
	Args   []NodeID
	Width  int
	Range  num.Range // range of a number that fits into an int64
	Stage  int       // ConstantStage for constants
	K      int       // parameter of the operation
	Table  uint64    // of OpLogicTable: bit n is the result for operands that are n in binary, the first lowest
	Name   string    // name in the hardware; several nodes may share it
	base   string    // of OpDelayOneClock: name of the delayed value

	// Wide is the range of a number that does not fit into an int64, and otherwise nil. Range then ends at the nearest
	// int64s. A wide number without one may have every value of its width.
	Wide *num.WideRange
}

// Subtracts reports whether a sum of three subtracts operand i. It adds the first operand always.
func (n *Node) Subtracts(i int) bool { return n.K>>i&1 != 0 }

// TablesOfThree returns how many of the lowest bits of a sum of three need a lookup table. Above them all operands are
// 0. If one is subtracted, the first bit of these takes a table as well, an inverter.
func (m *Module) TablesOfThree(n *Node) int {
	most := 0
	for _, a := range n.Args {
		switch o := &m.Nodes[a]; {
		case o.Range.Lo < 0:
			return n.Width
		case o.Range.Hi > 0:
			most = max(most, o.Width)
		}
	}
	return min(most, n.Width)
}

// CarryCell returns the bits of a carry cell of the device that computes a sum of three.
func (n *Node) CarryCell() int { return n.K >> carryCellAt }

// carryCellAt is the bit of K from which on it has CarryCell.
const carryCellAt = 3

// WideRange returns the range of the number that the node computes.
func (n *Node) WideRange() num.WideRange {
	switch {
	case n.Wide != nil:
		return *n.Wide
	case n.Op == OpConstant || n.Width < 64 || n.Width == 64 && n.Signed:
		return n.Range.Wide()
	case n.Signed:
		return num.Type{Kind: num.KindInt, Width: n.Width}.WideRange()
	}
	return num.Type{Kind: num.KindUInt, Width: n.Width}.WideRange()
}

// ConstantStage stands for the stage of constants, which are available at all stages.
const ConstantStage = -1

// An Operation says what a node computes from its operands.
type Operation uint8

// The operations. Operands of arithmetic are numbers, and results are as wide as their range.
const (
	OpConstant         Operation = iota // the constant WideRange().Lo
	OpReadInputStream                   // the word of input stream K, at stage 0
	OpFunctionArgument                  // argument K of a function
	OpIterationStart                    // the iteration starts; 1 at stage 0
	OpAdd                               // a + b
	OpSubtract                          // a - b
	OpSumOfThree                        // a + b + c in one adder; K says what is subtracted, and the carry cells
	OpMultiply                          // a * b by a multiplier of the device: K clocks later
	OpAnd                               // a and b, conditions
	OpOr
	OpXor
	OpNot                 // not a
	OpLogicTable          // function of up to 6 conditions, given by Table
	OpMuxByCondition      // operand 1 if the condition (operand 0) holds, otherwise operand 2
	OpMuxByIndex          // operand 1+n, where n is the value of operand 0
	OpLess                // a < b
	OpEqual               // a == b
	OpSliceWord           // Width bits of a word, from bit K on
	OpConcatenateWords    // concatenation of words, the first one lowest
	OpShiftByConstant     // a * 2^K, or a / 2^-K rounded down
	OpLowBitsAsNumber     // lowest bits of a number or word, read as a number
	OpNumberToWord        // Width bits of a number
	OpDelayOneClock       // the value one clock later
	OpReadStateBefore     // state K before the iteration
	OpReadStateAfter      // state K after the iteration, a clock later
	OpReadMemoryClocked   // row of memory K at the address, a clock later
	OpReadMemoryUnclocked // row of memory K at the address, in the same clock
	OpCallResult          // result K of call Table
)

// operationNames gives each operation its name in messages.
var operationNames = [...]string{"constant", "input", "argument", "start", "add", "subtract", "sum of three",
	"multiply", "and", "or",
	"xor", "not", "table", "mux", "pick", "less", "equal", "slice", "concatenate", "shift", "wrap", "bits", "delay",
	"state", "next state", "clocked row", "row", "result"}

// String returns the name of the operation in messages.
func (o Operation) String() string {
	if int(o) >= len(operationNames) {
		return strconv.Itoa(int(o))
	}
	return operationNames[o]
}

// A StateRegister is a register that later iterations read. It takes the value Next at stage Stage in each iteration in
// which When holds. The node that reads it may be at an earlier stage.
type StateRegister struct {
	Name   string
	Stage  int
	Node   NodeID // the node OpReadStateBefore that reads it
	Next   NodeID
	When   NodeID // condition at stage Stage
	Init   num.Wide
	Reset  bool // it has Init after a reset; otherwise it must be written before it is read
	Width  int
	Signed bool
}

// A StorageStyle is the kind of hardware of which a memory is made.
type StorageStyle string

// The styles, with FINN's names.
const (
	DistributedRAMStyle StorageStyle = "distributed"
	BlockRAMStyle       StorageStyle = "block"
	UltraRAMStyle       StorageStyle = "ultra"
	RegisterArrayStyle  StorageStyle = "registers"
)

// A RowMemory is a memory of rows: a table of constants, or an array that iterations write.
type RowMemory struct {
	Name  string
	Rows  int
	Width int
	Style StorageStyle
	// Data returns the element type and the rows of a table, the first element of a row lowest. It is nil for an
	// array.
	Data func() (num.Type, [][]int64)
	// Loaded states that Data is only the initial content of a table. Other rows may be loaded while no iteration
	// is under way.
	Loaded bool
	Known  *sync.Map // of a table: facts that users have found out about the rows, by keys of theirs; nil to keep none

	// For an array: Word is written to Address at stage Stage if When holds.
	Stage               int
	Address, Word, When NodeID
}

// IsConstant reports whether the content of the memory never changes.
func (m *RowMemory) IsConstant() bool { return m.Data != nil && !m.Loaded }

// TableLoadWordBits is the width in bits of the words in which rows of tables are loaded. A row takes as many words as
// it needs, its lowest bits first.
const TableLoadWordBits = 32

// LoadableTables returns the tables that can be loaded, in the order in which their rows arrive.
func (m *Module) LoadableTables() (list []*RowMemory) {
	for k := range m.Memories {
		if m.Memories[k].Loaded {
			list = append(list, &m.Memories[k])
		}
	}
	return list
}

// A FunctionCall is a use of a function in a circuit. Its operands are at the call's Stage. Its results are as many
// stages later as Function.Stages says.
type FunctionCall struct {
	Function *Module
	Args     []NodeID
	Stage    int
}
