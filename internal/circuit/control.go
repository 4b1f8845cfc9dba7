package circuit

import (
	"fmt"

	"hlsgen/internal/num"
)

// A LoopLevel is one level of a nest of loops in a circuit. It holds the iteration's index in that loop, and conditions
// for the first and the last index.
type LoopLevel struct{ Index, First, Last Value }

// AddLoopCounters adds the counters of a nest of loops and returns the position of an iteration in it. trips gives the
// number of passes of each loop, the outermost first. The counters' names begin with names. The nest repeats frame
// after frame. All values are at stage 0.
func (b *Builder) AddLoopCounters(names string, trips ...int) []LoopLevel {
	levels := make([]LoopLevel, len(trips))
	step := b.ConstantNumber(1)
	for i := len(trips) - 1; i >= 0; i-- {
		levels[i] = b.AddCounter(fmt.Sprint(names, i), trips[i], step)
		step = b.now(func() Value { return AllHold(step, levels[i].Last) })
	}
	return levels
}

// AddCounter adds an index that counts from 0 to n-1 and begins again. It advances with each iteration for which the
// condition step, at stage 0, holds. All values are at stage 0.
func (b *Builder) AddCounter(name string, n int, step Value) LoopLevel {
	if n == 1 {
		return LoopLevel{b.ConstantNumber(0), b.ConstantNumber(1), b.ConstantNumber(1)}
	}
	r := num.Range{Hi: int64(n - 1)}
	index := b.AddRegister(name, 0, r).WithResetValue(0)
	at := index.ValueBefore()
	l := LoopLevel{Index: at}
	b.now(func() Value {
		l.First, l.Last = IsEqual(at, b.ConstantNumber(0)), IsEqual(at, b.ConstantNumber(r.Hi))
		index.SetNext(AssumeRange(MuxByCondition(l.Last, b.ConstantNumber(0), SumOfTwo(at, b.ConstantNumber(1))), r),
			step)
		return at
	})
	return l
}

// now returns the result of make, and lifts the limit on the logic in a stage while make builds it. So values are
// computed in the stage of their operands.
func (b *Builder) now(make func() Value) Value {
	stage := b.rate.Stage
	b.rate.Stage = 1 << 30
	v := make()
	b.rate.Stage = stage
	return v
}

// BuildWithoutStageLimit returns the result of make, and lifts the limit on the logic in a stage while make builds it.
// Conditions that decide which words move need this, because they must be known at stage 0.
func (b *Builder) BuildWithoutStageLimit(make func() Value) Value { return b.now(make) }

// iterationStarted returns, at the given stage, the condition that an iteration started that many clocks before.
func (b *Builder) iterationStarted(stage int) Value { return Value{b, b.m.Fire}.AtStage(stage) }

// AddInputStream adds an input stream with words of width bits, and returns the word at stage 0. An iteration takes one
// if the condition when, at stage 0, holds.
func (b *Builder) AddInputStream(width int, when Value) Value {
	b.inputs++
	return take(b, fmt.Sprintf("in%d", b.inputs-1), width, when)
}

// The names of the inputs that are not in0, in1 and so on.
const (
	WeightsPortName      = "weights" // of AddWeightStreamInput
	SequenceEndsPortName = "ends"    // of AddSequenceEndInput
)

// AddWeightStreamInput adds the stream of weights that come from memory, and returns its word at stage 0. Every
// iteration takes one.
func AddWeightStreamInput(b *Builder, width int) Value {
	return take(b, WeightsPortName, width, b.ConstantNumber(1))
}

// AddSequenceEndInput adds the stream that marks the ends of sequences: one bit per time step, 1 at the last one. An
// iteration takes a bit if the condition when, at stage 0, holds. The result is the condition that it takes a bit that
// is 1, at stage 0.
func AddSequenceEndInput(when Value) Value {
	word := take(when.b, SequenceEndsPortName, 1, when)
	return when.b.now(func() Value { return AllHold(when, BitOf(word, 0)) })
}

// take adds an input stream with the given name, from which an iteration takes a word if the condition when holds. It
// returns the word at stage 0.
func take(b *Builder, name string, width int, when Value) Value {
	word := b.bits(Node{Op: OpReadInputStream, K: len(b.m.In), level: int32(b.rate.LUT), Name: name}, width)
	b.m.In = append(b.m.In, StreamPort{Name: name, Width: width, When: moves(when), Word: word.id, Moves: NoNode})
	return word
}

// AddOutputStream adds an output stream. An iteration writes the word to it if the condition when, at stage 0, holds.
// It panics if word is a number, or if the condition comes later.
func (b *Builder) AddOutputStream(word, when Value) {
	if !word.node().Word {
		panic("circuit: a number on a stream; it has to be encoded")
	}
	if word.Stage() == ConstantStage {
		n := *word.node() // a constant is available at stage 0
		n.Stage = 0
		word = b.add(n)
	}
	b.m.Out = append(b.m.Out, StreamPort{Name: fmt.Sprintf("out%d", len(b.m.Out)), Width: word.Width(),
		When: moves(when),
		Word: word.id, Stage: word.Stage()})
}

// moves returns the node of a condition that decides whether a word moves. It panics if the condition is not at stage
// 0.
func moves(when Value) NodeID {
	if s := when.Stage(); s != 0 && s != ConstantStage {
		panic(fmt.Sprintf("circuit: what moves is known at stage %d", s))
	}
	return when.id
}

// FinishLayer completes the circuit of a layer and returns it, without the parts on which nothing depends. All outputs
// are written at a common stage. The builder must not be used afterwards.
func (b *Builder) FinishLayer() *Module {
	m := &b.m
	stage := 0
	for _, o := range m.Out {
		stage = max(stage, o.Stage)
	}
	for k := range m.Out {
		o := &m.Out[k]
		when := Value{b, o.When}
		o.Word, o.Stage = Value{b, o.Word}.AtStage(stage).id, stage
		o.Moves = b.now(func() Value { return AllHold(b.iterationStarted(0), when) }).AtStage(stage).id
	}
	m.Latency = stage + 1
	return finished(b)
}

// finished returns the circuit without what nothing depends on. It keeps nothing of the builder, which is much larger,
// and whose nodes the next builder takes. The builder must not be used afterwards.
func finished(b *Builder) *Module {
	m := b.m
	m.prune()
	b.room.leave(b.m.Nodes)
	b.m.Nodes = nil
	return &m
}

// prune removes the nodes, states, memories and calls on which no stream, argument or result depends.
func (m *Module) prune() {
	needed := make([]bool, len(m.Nodes))
	var need func(id NodeID)
	var list []NodeID
	need = func(id NodeID) {
		if id != NoNode && !needed[id] {
			needed[id] = true
			list = append(list, id)
		}
	}
	for _, s := range m.In {
		need(s.When)
		need(s.Word)
	}
	for _, s := range m.Out {
		need(s.When)
		need(s.Word)
		need(s.Moves)
	}
	for _, id := range append(append([]NodeID{m.Fire}, m.Pins...), m.Results...) {
		need(id)
	}
	states, memories, calls := make([]bool, len(m.States)), make([]bool, len(m.Memories)), make([]bool, len(m.Calls))
	for len(list) > 0 {
		n := &m.Nodes[list[len(list)-1]]
		list = list[:len(list)-1]
		for _, a := range n.Args {
			need(a)
		}
		switch n.Op {
		case OpReadStateBefore, OpReadStateAfter:
			if s := &m.States[n.K]; !states[n.K] {
				states[n.K] = true
				need(s.Node)
				need(s.Next)
				need(s.When)
			}
		case OpReadMemoryClocked, OpReadMemoryUnclocked:
			if a := &m.Memories[n.K]; !memories[n.K] {
				memories[n.K] = true
				need(a.Address)
				need(a.Word)
				need(a.When)
			}
		case OpCallResult:
			if !calls[n.Table] {
				calls[n.Table] = true
				for _, a := range m.Calls[n.Table].Args {
					need(a)
				}
			}
		}
	}
	m.renumber(needed, states, memories, calls)
}

// renumber removes all nodes, states, memories and calls that are not marked, and numbers the rest anew.
func (m *Module) renumber(nodes, states, memories, calls []bool) {
	to := make([]NodeID, len(m.Nodes))
	count, operands := 0, 0
	for i := range m.Nodes {
		if to[i] = NoNode; nodes[i] {
			to[i] = NodeID(count)
			count, operands = count+1, operands+len(m.Nodes[i].Args)
		}
	}
	kept, moved := make([]Node, 0, count), make([]NodeID, 0, operands)
	for i := range m.Nodes {
		if nodes[i] {
			kept = append(kept, m.Nodes[i])
		}
	}
	toState, toMemory, toCall := map[int]int{}, map[int]int{}, map[uint64]uint64{}
	id := func(p *NodeID) {
		if *p != NoNode {
			*p = to[*p]
		}
	}
	list := func(l []NodeID) []NodeID {
		from := len(moved)
		for _, a := range l {
			moved = append(moved, to[a])
		}
		return moved[from:len(moved):len(moved)]
	}
	var keptStates []StateRegister
	for i, s := range m.States {
		if states[i] {
			toState[i] = len(keptStates)
			id(&s.Node)
			id(&s.Next)
			id(&s.When)
			keptStates = append(keptStates, s)
		}
	}
	var keptMemories []RowMemory
	for i, a := range m.Memories {
		if memories[i] {
			toMemory[i] = len(keptMemories)
			id(&a.Address)
			id(&a.Word)
			id(&a.When)
			keptMemories = append(keptMemories, a)
		}
	}
	var keptCalls []FunctionCall
	for i, c := range m.Calls {
		if calls[i] {
			toCall[uint64(i)] = uint64(len(keptCalls))
			c.Args = list(c.Args)
			keptCalls = append(keptCalls, c)
		}
	}
	for i := range kept {
		n := &kept[i]
		n.Args = list(n.Args)
		switch n.Op {
		case OpReadStateBefore, OpReadStateAfter:
			n.K = toState[n.K]
		case OpReadMemoryClocked, OpReadMemoryUnclocked:
			n.K = toMemory[n.K]
		case OpCallResult:
			n.Table = toCall[n.Table]
		}
	}
	for _, streams := range [][]StreamPort{m.In, m.Out} {
		for i := range streams {
			id(&streams[i].When)
			id(&streams[i].Word)
			id(&streams[i].Moves)
		}
	}
	id(&m.Fire)
	m.Pins, m.Results = list(m.Pins), list(m.Results)
	m.Nodes, m.States, m.Memories, m.Calls = kept, keptStates, keptMemories, keptCalls
}
