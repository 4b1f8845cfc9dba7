package circuit

import (
	"fmt"
	"math/bits"
	"slices"
	"strconv"

	"hlsgen/internal/num"
)

// A Rate is what a stage of the clock holds, and what operations take of it, all in ps.
type Rate struct {
	Stage  int
	LUT    int // a lookup table, and the wires to the next
	Carry  int // a bit of an adder
	Inputs int // of a lookup table: 4 or 6
	// Where lookup tables are no memory, arrays that are to lie in them are blocks if they have so many bits, else
	// registers; 0 where they are.
	BlockBits int
}

// A Builder makes one circuit.
type Builder struct {
	m         Module
	rate      Rate
	loaded    bool // tables are
	inputs    int
	known     map[uint64]ID // operations without a state that are there, by a hash of what they are
	functions map[string]*Module
	counts    map[string][]uint64 // tables of compressors
}

// New begins the circuit of a layer.
func New(rate Rate) *Builder {
	b := &Builder{rate: rate, known: map[uint64]ID{}}
	b.m.Fire = b.add(Node{Op: Fire, Width: 1, Range: num.Range{Hi: 1}, Name: "fire", level: 2 * rate.LUT}).id
	return b
}

// Loaded has all tables of a circuit that follow be memories that can be loaded, so that nothing depends on what they
// begin with.
func Loaded(b *Builder) { b.loaded = true }

// A Value is a node of a circuit that is being made.
type Value struct {
	b  *Builder
	id ID
}

func (v Value) node() *Node { return &v.b.m.Nodes[v.id] }

// Range is that of a number.
func (v Value) Range() num.Range {
	if v.node().Word {
		panic("circuit: bits have no range")
	}
	return v.node().Range
}

// Width is the bits that hold it.
func (v Value) Width() int { return v.node().Width }

// Stage is the clocks since the start of the iteration, Always for constants.
func (v Value) Stage() int { return v.node().Stage }

// Named is the value with a name for whoever reads the hardware: an identifier. A name that it has stays.
func (v Value) Named(name string) Value {
	if n := v.node(); n.Name == "" && n.Op != Const {
		n.Name = name
	}
	return v
}

// constant is what a number always is.
func (v Value) constant() (value int64, ok bool) {
	n := v.node()
	return n.Range.Lo, !n.Word && n.Range.Lo == n.Range.Hi
}

// is reports whether a number always is this one.
func (v Value) is(value int64) bool {
	c, ok := v.constant()
	return ok && c == value
}

// Constant is a number that is always the same.
func (b *Builder) Constant(v int64) Value {
	return b.number(Node{Op: Const, Stage: Always}, num.Point(v))
}

// Constant is a number that is always the same, in the circuit of another value.
func Constant(like Value, v int64) Value { return like.b.Constant(v) }

// number is a node whose result is a number of a range: a constant where that is one value.
func (b *Builder) number(n Node, r num.Range) Value {
	if r.Lo == r.Hi {
		n = Node{Op: Const, Stage: Always}
	}
	t := num.Smallest(r)
	n.Range, n.Width, n.Signed = r, t.Width, t.Signed()
	return b.add(n)
}

// bits is a node whose result is so many bits.
func (b *Builder) bits(n Node, width int) Value {
	n.Width, n.Word = width, true
	return b.add(n)
}

// add is a node, or the one that is there already.
func (b *Builder) add(n Node) Value {
	id := ID(len(b.m.Nodes))
	switch n.Op {
	case Fire, Read, After, Result: // what they read is made once
	default:
		h := n.hash()
		for ; ; h++ {
			at, ok := b.known[h]
			if !ok {
				break
			}
			if n.same(&b.m.Nodes[at]) {
				return Value{b, at}
			}
		}
		b.known[h] = id
	}
	b.m.Nodes = append(b.m.Nodes, n)
	return Value{b, id}
}

// same reports whether another node computes the same at the same stage.
func (n *Node) same(o *Node) bool {
	return n.Op == o.Op && n.Width == o.Width && n.Signed == o.Signed && n.Word == o.Word && n.Range == o.Range &&
		n.Stage == o.Stage && n.K == o.K && n.Table == o.Table && slices.Equal(n.Args, o.Args)
}

// hash is the same of nodes that are the same.
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

// Delayed is the value so many clocks later.
func (v Value) Delayed(clocks int) Value {
	for ; clocks > 0 && v.Stage() != Always; clocks-- {
		n := *v.node()
		name := n.base
		if name == "" {
			name = n.Name
		}
		n.Op, n.Args, n.K, n.Table, n.Stage, n.level = Delay, []ID{v.id}, 0, 0, n.Stage+1, 0
		if n.base = name; name != "" {
			n.Name = name + "_at_" + strconv.Itoa(n.Stage)
		}
		v = v.b.add(n)
	}
	return v
}

// At is the value at a stage that is not earlier than its own.
func (v Value) At(stage int) Value {
	if s := v.Stage(); s > stage {
		panic(fmt.Sprintf("circuit: a value of stage %d at stage %d", s, stage))
	}
	return v.Delayed(stage - v.Stage())
}

// Registered is values at one stage, all of which registers or constants give.
func Registered(values ...Value) []Value {
	at, stage, levels := together(0, values...)
	if levels > 0 {
		at, _, _ = from(stage+1, 0, values...)
	}
	return at
}

// level is the logic in front of it in its stage, in ps.
func (v Value) level() int { return v.node().level }

// together is operands at one stage, behind which so many ps more fit into it. The stage is Always where they are
// constants.
func together(logic int, operands ...Value) (at []Value, stage, levels int) {
	stage = Always
	for _, v := range operands {
		stage = max(stage, v.Stage())
	}
	return from(stage, logic, operands...)
}

// Room is values at one stage, in which logic of so many lookup tables more fits behind them: what an iteration hands
// on to the next has to.
func Room(tables int, values ...Value) []Value {
	b := values[0].b
	at, stage, _ := together(tables*b.rate.LUT, values...)
	if stage == Always {
		return values
	}
	return at
}

// from is operands at a stage, or the one behind it where the logic does not fit.
func from(stage, logic int, operands ...Value) (at []Value, _, levels int) {
	at = make([]Value, len(operands))
	for again := false; ; again = true {
		levels = 0
		for i, v := range operands {
			if at[i] = v; v.Stage() != Always {
				at[i] = v.At(stage)
				levels = max(levels, at[i].level())
			}
		}
		if stage == Always || again || levels == 0 || levels+logic <= operands[0].b.rate.Stage {
			return at, stage, levels + logic
		}
		stage++
	}
}

// ids are the nodes of values.
func ids(values []Value) []ID {
	list := make([]ID, len(values))
	for i, v := range values {
		list[i] = v.id
	}
	return list
}

// operation is a node of operands, at the stage where its logic fits.
func operation(op Op, k, logic int, r num.Range, operands ...Value) Value {
	at, stage, levels := together(logic, operands...)
	return operands[0].b.number(Node{Op: op, Args: ids(at), K: k, Stage: stage, level: levels}, r)
}

// Stage is the first stage at which all of the values are there.
func Stage(values ...Value) int {
	stage := 0
	for _, v := range values {
		stage = max(stage, v.Stage())
	}
	return stage
}

// Align is the values at one stage.
func Align(values ...Value) []Value {
	at := slices.Clone(values)
	for i, v := range at {
		if v.Stage() != Always {
			at[i] = v.At(Stage(values...))
		}
	}
	return at
}
