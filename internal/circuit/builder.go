package circuit

import (
	"fmt"
	"math/bits"
	"slices"
	"strconv"
	"sync"

	"hlsgen/internal/num"
)

// A TimingModel holds the time in a clock and the delays of operations, all in picoseconds.
type TimingModel struct {
	Stage  int // time for the logic of a stage
	LUT    int // a lookup table with the wires to the next
	Carry  int // one bit of an adder
	Chain  int // the ends of an adder's carry chain, beside a LUT
	Inputs int // inputs of a lookup table: 4 or 6
	// the bits of a carry cell, 4 or 8, if a lookup table a bit adds three numbers (SumOfThree), else 0
	ThreeCarry int
	// If lookup tables cannot serve as memory, an array meant for them becomes a block with at least this many
	// bits, and registers with fewer. BlockBits is 0 if lookup tables can serve as memory.
	BlockBits int
	// Outlines states that functions may be outlines (KeepOutlines), for circuits whose cost alone counts.
	Outlines bool
	// Room, if not nil, has memory that circuits leave, and that the next ones take.
	Room *NodeRoom
}

// A Builder builds the circuit of one layer, or of a function, value by value.
type Builder struct {
	m         Module
	rate      TimingModel
	loaded    bool      // tables can be loaded
	outlines  bool      // functions may be outlines
	room      *NodeRoom // has memory for nodes; may be nil
	inputs    int
	known     nodeIndex // existing operations without state
	functions map[string]*Module
	counts    map[string][]uint64 // tables of compressors
	parts     map[NodeID][]int    // places of the words of concatenations
	scratch   []byte              // memory for the shape of a function
}

// NewBuilder returns a builder for the circuit of a layer, whose pipeline stages are as long as the model says.
func NewBuilder(rate TimingModel) *Builder {
	outlines, room := rate.Outlines, rate.Room
	rate.Outlines, rate.Room = false, nil
	b := newBuilder(rate, room)
	b.outlines = outlines
	b.m.Fire = b.add(Node{Op: OpIterationStart, Width: 1, Range: num.Range{Hi: 1}, Name: "fire",
		level: int32(2 * rate.LUT)}).id
	return b
}

// mostRoom is the most nodes that memory for reuse holds.
const mostRoom = 1 << 16

// A NodeRoom has memory that builders leave, and that the next ones take. The zero value has none. Several goroutines
// may use it at a time.
type NodeRoom struct {
	nodes sync.Pool // *[]Node without elements
}

// take returns a slice without elements. The room may be nil.
func (r *NodeRoom) take() []Node {
	if r != nil {
		if nodes, ok := r.nodes.Get().(*[]Node); ok {
			return *nodes
		}
	}
	return nil
}

// leave gives the memory of nodes back. They must not be used afterwards. The room may be nil.
func (r *NodeRoom) leave(nodes []Node) {
	if nodes = nodes[:0]; r != nil && cap(nodes) <= mostRoom {
		r.nodes.Put(&nodes)
	}
}

// newBuilder returns a builder of a circuit without nodes. Their memory is from the room, which may be nil.
func newBuilder(rate TimingModel, room *NodeRoom) *Builder {
	b := &Builder{rate: rate, room: room, known: newNodeIndex()}
	b.m.Nodes = room.take()
	return b
}

// MakeTablesLoadable makes the tables that are added to b from now on loadable: their rows can be replaced at run time.
// The circuit then does not depend on their initial content.
func MakeTablesLoadable(b *Builder) { b.loaded = true }

// A Value is a number or a word in a circuit that is being built, available at a pipeline stage.
type Value struct {
	b  *Builder
	id NodeID
}

// node returns the node that computes the value. The pointer is valid until another node is added.
func (v Value) node() *Node { return &v.b.m.Nodes[v.id] }

// Range returns the range in which a number lies. It panics for a number that may leave an int64, and for a word, which
// has no range.
func (v Value) Range() num.Range {
	n := v.node()
	if n.Word {
		panic("circuit: bits have no range")
	}
	if n.Wide != nil {
		panic("circuit: a number in " + fmt.Sprint(*n.Wide) + " has no range of int64s")
	}
	return n.Range
}

// WideRange returns the range in which a number of any width lies. It panics for a word, which has none.
func (v Value) WideRange() num.WideRange {
	n := v.node()
	if n.Word {
		panic("circuit: bits have no range")
	}
	return n.WideRange()
}

// Width returns the value's width in bits.
func (v Value) Width() int { return v.node().Width }

// Stage returns the clocks from the start of the iteration to the value, or ConstantStage for a constant.
func (v Value) Stage() int { return v.node().Stage }

// constant returns the value of a number if it is a constant int64; ok is false if it is not.
func (v Value) constant() (value int64, ok bool) {
	n := v.node()
	return n.Range.Lo, !n.Word && n.Wide == nil && n.Range.Lo == n.Range.Hi
}

// wideConstant returns the value of a number of any width if it is constant; ok is false if it is not.
func (v Value) wideConstant() (value num.Wide, ok bool) {
	n := v.node()
	if n.Word {
		return num.Wide{}, false
	}
	r := n.WideRange()
	return r.Lo, r.Lo == r.Hi
}

// is reports whether a number is constant and equal to value.
func (v Value) is(value int64) bool {
	c, ok := v.constant()
	return ok && c == value
}

// ConstantNumber returns the constant number v, which is available at all stages.
func (b *Builder) ConstantNumber(v int64) Value { return WideConstant(b, num.WideOf(v)) }

// WideConstant does what ConstantNumber does, for a number of up to 128 bits.
func WideConstant(b *Builder, v num.Wide) Value {
	return b.number(Node{Op: OpConstant, Stage: ConstantStage}, num.WideRange{Lo: v, Hi: v})
}

// ConstantInCircuitOf returns the constant number v in the circuit to which the value like belongs.
func ConstantInCircuitOf(like Value, v int64) Value { return like.b.ConstantNumber(v) }

// number adds a node whose result is a number in range r. It adds a constant if r holds only one number.
func (b *Builder) number(n Node, r num.WideRange) Value {
	if r.Lo == r.Hi {
		n = Node{Op: OpConstant, Stage: ConstantStage}
	}
	n.setRange(r)
	return b.add(n)
}

// setRange makes the result of n a number in range r.
func (n *Node) setRange(r num.WideRange) {
	t := r.NarrowestIntType()
	n.Width, n.Signed, n.Wide = t.Width, t.IsSigned(), nil
	var narrow bool
	if n.Range, narrow = r.Narrow(); !narrow {
		wide := r // r itself stays on the stack
		n.Wide = &wide
	}
}

// bits adds a node whose result is a word of the given width.
func (b *Builder) bits(n Node, width int) Value {
	n.Width, n.Word = width, true
	return b.add(n)
}

// add adds a node and returns its value. If the circuit already has an identical node, it returns that one.
func (b *Builder) add(n Node) Value {
	id := NodeID(len(b.m.Nodes))
	switch n.Op {
	case OpIterationStart, OpReadStateBefore, OpReadStateAfter, OpCallResult: // each of these is built only once
	default:
		if at := b.known.findOrAdd(&n, b.m.Nodes); at != NoNode {
			return Value{b, at}
		}
	}
	b.m.Nodes = append(b.m.Nodes, n)
	return Value{b, id}
}

// A nodeIndex finds the nodes of a circuit by their content: a hash table with open addressing, at most half full.
type nodeIndex struct {
	slots []nodeSlot
	used  int
}

// A nodeSlot holds a node and a part of its hash. The number is one more than the node's, so that a free slot is zero.
type nodeSlot struct {
	hash   uint32
	number int32
}

func newNodeIndex() nodeIndex { return nodeIndex{slots: make([]nodeSlot, 64)} }

// findOrAdd returns the node that is the same as n, or NoNode after it has added n as the next of the nodes.
func (x *nodeIndex) findOrAdd(n *Node, nodes []Node) NodeID {
	if 2*x.used >= len(x.slots) {
		old := x.slots
		x.slots = make([]nodeSlot, 2*len(old))
		for _, s := range old {
			if s.number != 0 {
				x.slots[x.free(s.hash)] = s
			}
		}
	}
	hash := uint32(n.hash() >> 32)
	mask := uint32(len(x.slots) - 1)
	at := hash & mask
	for ; x.slots[at].number != 0; at = (at + 1) & mask {
		if s := x.slots[at]; s.hash == hash && n.same(&nodes[s.number-1]) {
			return NodeID(s.number - 1)
		}
	}
	x.slots[at] = nodeSlot{hash, int32(len(nodes) + 1)}
	x.used++
	return NoNode
}

// free returns the first free slot for a hash.
func (x *nodeIndex) free(hash uint32) uint32 {
	mask := uint32(len(x.slots) - 1)
	at := hash & mask
	for x.slots[at].number != 0 {
		at = (at + 1) & mask
	}
	return at
}

// same reports whether both nodes are the same operation on the same operands at the same stage.
func (n *Node) same(o *Node) bool {
	return n.Op == o.Op && n.Width == o.Width && n.Signed == o.Signed && n.Word == o.Word && n.Range == o.Range &&
		n.Stage == o.Stage && n.K == o.K && n.Table == o.Table && slices.Equal(n.Args, o.Args) &&
		(n.Wide == nil && o.Wide == nil || n.WideRange() == o.WideRange())
}

// hash returns a hash that is equal for nodes that compute the same value.
func (n *Node) hash() uint64 {
	const odd = 0x9e3779b97f4a7c15
	h := uint64(n.Op)
	for _, v := range [...]uint64{uint64(n.Width), uint64(n.Range.Lo), uint64(n.Range.Hi), uint64(n.Stage), uint64(n.K),
		n.Table} {
		h = bits.RotateLeft64((h^v)*odd, 29)
	}
	for _, a := range n.Args {
		h = bits.RotateLeft64((h^uint64(a))*odd, 29)
	}
	return h
}

// DelayedByClocks returns the value delayed by the given number of clocks, in registers. A constant is not delayed.
func (v Value) DelayedByClocks(clocks int) Value {
	for ; clocks > 0 && v.Stage() != ConstantStage; clocks-- {
		n := *v.node()
		name := n.base
		if name == "" {
			name = n.Name
		}
		n.Op, n.Args, n.K, n.Table, n.Stage, n.level = OpDelayOneClock, []NodeID{v.id}, 0, 0, n.Stage+1, 0
		if n.base = name; name != "" {
			n.Name = name + "_at_" + strconv.Itoa(n.Stage)
		}
		v = v.b.add(n)
	}
	return v
}

// AtStage returns the value at the given stage, from registers if it is available earlier. It panics if it is computed
// later than that.
func (v Value) AtStage(stage int) Value {
	if s := v.Stage(); s > stage {
		panic(fmt.Sprintf("circuit: a value of stage %d at stage %d", s, stage))
	}
	return v.DelayedByClocks(stage - v.Stage())
}

// AlignInRegisters returns the values at a common stage, at which each of them comes from a register or is a constant.
func AlignInRegisters(values ...Value) []Value {
	at, stage, levels := together(0, values...)
	if levels > 0 {
		at, _, _ = from(stage+1, 0, values...)
	}
	return at
}

// level returns the delay in picoseconds from the last registers to the value, by the logic in its stage.
func (v Value) level() int { return int(v.node().level) }

// together returns operands at the first common stage in which logic of the given picoseconds fits behind them. levels
// is the delay in picoseconds from the last registers to the end of that logic. The stage is ConstantStage if all
// operands are constants.
func together(logic int, operands ...Value) (at []Value, stage, levels int) {
	stage = ConstantStage
	for _, v := range operands {
		stage = max(stage, v.Stage())
	}
	return from(stage, logic, operands...)
}

// AlignWithLUTSlack returns the values at a common stage in which a chain of the given number of LUTs fits behind them.
// Values that one iteration hands to the next need such room.
func AlignWithLUTSlack(tables int, values ...Value) []Value {
	b := values[0].b
	at, stage, _ := together(tables*b.rate.LUT, values...)
	if stage == ConstantStage {
		return values
	}
	return at
}

// from returns operands at the given stage, or at the next one if logic of the given picoseconds does not fit behind
// them. It also returns that stage and, as together does, levels.
func from(stage, logic int, operands ...Value) (at []Value, _, levels int) {
	at = make([]Value, len(operands))
	for again := false; ; again = true {
		levels = 0
		for i, v := range operands {
			if at[i] = v; v.Stage() != ConstantStage {
				at[i] = v.AtStage(stage)
				levels = max(levels, at[i].level())
			}
		}
		if stage == ConstantStage || again || levels == 0 || levels+logic <= operands[0].b.rate.Stage {
			return at, stage, levels + logic
		}
		stage++
	}
}

// ids returns the IDs of the nodes that compute the values.
func ids(values []Value) []NodeID {
	list := make([]NodeID, len(values))
	for i, v := range values {
		list[i] = v.id
	}
	return list
}

// operation adds a node with the given operands, at the first stage in which its logic of that many picoseconds fits. k
// is the node's constant K, and r the range of its result.
func operation(op Operation, k, logic int, r num.WideRange, operands ...Value) Value {
	at, stage, levels := together(logic, operands...)
	return operands[0].b.number(Node{Op: op, Args: ids(at), K: k, Stage: stage, level: int32(levels)}, r)
}

// FirstCommonStage returns the first stage at which all values are available, or 0 if all are constants.
func FirstCommonStage(values ...Value) int {
	stage := 0
	for _, v := range values {
		stage = max(stage, v.Stage())
	}
	return stage
}

// AlignStages returns the values at the first stage at which all of them are available. Constants stay constants. The
// result is a new slice.
func AlignStages(values ...Value) []Value {
	at := slices.Clone(values)
	for i, v := range at {
		if v.Stage() != ConstantStage {
			at[i] = v.AtStage(FirstCommonStage(values...))
		}
	}
	return at
}
