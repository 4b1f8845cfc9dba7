package circuit

import (
	"fmt"

	"hlsgen/internal/num"
)

// A Machine runs the circuit of a layer iteration by iteration: it takes words and gives words. It knows no clocks. An
// iteration sees all that earlier iterations wrote to states and memories, as the hardware does at the distances that
// the layer's loop keeps.
//
// A word is a list of parts of 64 bits, the lowest first; bits beyond its width are 0. The place of a value is the
// index of its first part in values.
type Machine struct {
	m         *Module
	values    []uint64 // of all nodes, in their slots
	slots     []int32  // by node: the place of its value
	code      []step
	control   int     // steps that decide which words move; they come first
	lists     []int32 // operands of steps that have many
	spans     []num.WideRange
	rows      [][]uint64
	initial   []uint64   // values after a reset
	functions []*Machine // by call; calls of a function share its machine

	in, out []streamState
	states  []update
	next    []uint64 // of all states in turn, while they change
	arrays  []arrayWrite
	pending bool // the last iteration's writes are still to be done

	doubts []*step  // the steps of the iteration that failed, in order
	wrong  []uint64 // by part of values: the bits that depend on doubts
}

// A streamState holds the places of a stream's condition and of its word, which has limbs parts. word is -1 if the
// circuit does not use the word.
type streamState struct{ when, word, limbs int32 }

// An update is the change of a state: if the value at when is 1, limbs values at from replace those at state.
type update struct{ when, from, state, limbs int32 }

// An arrayWrite is the write to an array: if the value at when is 1, limbs values from word on replace a row of the
// memory. The row's number is the value at address; node computes it.
type arrayWrite struct {
	memory, when, address, word, limbs int32
	node                               NodeID
}

// A step computes a value from others, all given by their places. Its operands are at a, b and c, or in a list.
type step struct {
	do          action
	after       uint8 // what is done with a number
	shift       uint8 // 64 less the number's width
	to, a, b, c int32
	n, k        int32 // parameters of the action
	lo, hi      int64
	mask        uint64
	node        NodeID
}

// What is done with a number after it has been computed.
const (
	wrapsUnsigned = 1 << iota
	wrapsSigned
	compares     // with lo and hi
	comparesWide // with the range spans[lo]
)

// An action says what a step does. Those whose names begin with wide have operands or results of more than 64 bits.
type action uint8

// The actions. Places and parameters are in the fields of the step.
const (
	doAdd action = iota
	doSubtract
	doSumOfThree
	doMultiply
	doAnd
	doOr
	doXor
	doNot
	doTable
	doMux
	doPick
	doLess
	doEqual
	doShiftLeft
	doShiftRight
	doCopy
	doBits
	doSlice
	doSliceTwo // of bits in two neighbouring parts
	doConcatenate
	doRow
	doForwardedRow
	doCall
	wideArithmetic
	wideLess
	wideEqual
	wideMux
	widePick
	wideSlice
	wideConcatenate
	wideCopy
	wideRow
)

// limbs returns limbsOf for the node of the circuit with this number.
func (r *Machine) limbs(id NodeID) int { return limbsOf(&r.m.Nodes[id]) }

// limbsOf returns the number of 64-bit parts of a node's value. A number that does not fit into an int64 takes two.
func limbsOf(n *Node) int {
	if !n.Word && n.Width == 64 && !n.Signed {
		return 2
	}
	return LimbCount(n.Width)
}

// value returns the parts of a node's value.
func (r *Machine) value(id NodeID) []uint64 {
	return r.values[r.slots[id]:][:r.limbs(id)]
}

// beyond returns the error of an operation that reaches beyond a memory.
func (r *Machine) beyond(node NodeID, memory int, address uint64) error {
	a := &r.m.Memories[memory]
	return fmt.Errorf("%s takes row %d of memory %s, which has %d rows", r.describe(node), int64(address), a.Name,
		a.Rows)
}

// describe names a node in messages.
func (r *Machine) describe(node NodeID) string {
	n := &r.m.Nodes[node]
	text := fmt.Sprintf("node %d, operation %s at stage %d", node, n.Op, n.Stage)
	if n.Name != "" {
		text += ", " + n.Name
	}
	if r.m.Name != "" {
		text = r.m.Name + ", " + text
	}
	return text
}
