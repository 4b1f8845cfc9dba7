package circuit

import (
	"fmt"

	"hlsgen/internal/num"
)

// A LoopLevel is one level of a nest of loops in a circuit. It holds the iteration's index in that loop, and conditions
// for the first and the last index.
type LoopLevel struct{ Index, First, Last Value }

// LoopPosition adds the counters of a nest of loops with the given trips, the outermost first, and returns the position
// of an iteration. names begins their names. The nest repeats frame after frame. All values are at stage 0.
func (b *Builder) LoopPosition(names string, trips ...int) []LoopLevel {
	levels := make([]LoopLevel, len(trips))
	step := b.Constant(1)
	for i := len(trips) - 1; i >= 0; i-- {
		levels[i] = b.Counter(fmt.Sprint(names, i), trips[i], step)
		step = b.now(func() Value { return All(step, levels[i].Last) })
	}
	return levels
}

// Counter adds an index that counts from 0 to n-1 and begins again. It advances with each iteration for which the
// condition step, at stage 0, holds. All values are at stage 0.
func (b *Builder) Counter(name string, n int, step Value) LoopLevel {
	if n == 1 {
		return LoopLevel{b.Constant(0), b.Constant(1), b.Constant(1)}
	}
	r := num.Range{Hi: int64(n - 1)}
	index := b.Register(name, 0, r).WithInitial(0)
	at := index.Value()
	l := LoopLevel{Index: at}
	b.now(func() Value {
		l.First, l.Last = EqualTo(at, b.Constant(0)), EqualTo(at, b.Constant(r.Hi))
		index.Set(AssumeRange(MuxByCondition(l.Last, b.Constant(0), Sum(at, b.Constant(1))), r), step)
		return at
	})
	return l
}

// now returns what make returns, built without the limit on the logic in a stage: values are computed in the stage of
// their operands.
func (b *Builder) now(make func() Value) Value {
	stage := b.rate.Stage
	b.rate.Stage = 1 << 30
	v := make()
	b.rate.Stage = stage
	return v
}

// WithoutStageLimit returns what make returns, built without the limit on the logic in a stage. Conditions that decide
// which words move need this, because they must be known at stage 0.
func (b *Builder) WithoutStageLimit(make func() Value) Value { return b.now(make) }

// Started returns the condition that an iteration started that many stages before.
func (b *Builder) Started(stage int) Value { return Value{b, b.m.Fire}.At(stage) }

// Input adds an input stream with words of width bits, and returns the word at stage 0. An iteration takes one if the
// condition when, at stage 0, holds.
func (b *Builder) Input(width int, when Value) Value {
	b.inputs++
	return take(b, fmt.Sprintf("in%d", b.inputs-1), width, when)
}

// The names of the inputs that are not in0, in1 and so on.
const (
	WeightsPort = "weights" // of WeightStreamInput
	EndsPort    = "ends"    // of SequenceEndInput
)

// WeightStreamInput adds the stream of weights that come from memory, and returns its word at stage 0. Every iteration
// takes one.
func WeightStreamInput(b *Builder, width int) Value {
	return take(b, WeightsPort, width, b.Constant(1))
}

// SequenceEndInput adds the stream that marks the ends of sequences: one bit per time step, 1 at the last one. An
// iteration takes a bit if the condition when, at stage 0, holds. The result is the condition that it takes a bit that
// is 1, at stage 0.
func SequenceEndInput(when Value) Value {
	word := take(when.b, EndsPort, 1, when)
	return when.b.now(func() Value { return All(when, Bit(word, 0)) })
}

func take(b *Builder, name string, width int, when Value) Value {
	word := b.bits(Node{Op: OpReadInputStream, K: len(b.m.In), level: b.rate.LUT, Name: name}, width)
	b.m.In = append(b.m.In, StreamPort{Name: name, Width: width, When: moves(when), Word: word.id, Moves: NoNode})
	return word
}

// Output adds an output stream. An iteration writes the word to it if the condition when, at stage 0, holds.
func (b *Builder) Output(word, when Value) {
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
func moves(when Value) ID {
	if s := when.Stage(); s != 0 && s != ConstantStage {
		panic(fmt.Sprintf("circuit: what moves is known at stage %d", s))
	}
	return when.id
}

// Layer completes the circuit of a layer and returns it. All outputs are written at a common stage.
func (b *Builder) Layer() *Module {
	m := &b.m
	stage := 0
	for _, o := range m.Out {
		stage = max(stage, o.Stage)
	}
	for k := range m.Out {
		o := &m.Out[k]
		when := Value{b, o.When}
		o.Word, o.Stage = Value{b, o.Word}.At(stage).id, stage
		o.Moves = b.now(func() Value { return All(b.Started(0), when) }).At(stage).id
	}
	m.Latency = stage + 1
	m.prune()
	return m
}

// prune removes nodes that nothing needs, and panics if another one is malformed.
func (m *Module) prune() {
	needed := make([]bool, len(m.Nodes))
	var need func(id ID)
	var list []ID
	need = func(id ID) {
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
	for _, id := range append(append([]ID{m.Fire}, m.Pins...), m.Results...) {
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
		case OpReadState, OpReadNextState:
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
	to := make([]ID, len(m.Nodes))
	count, operands := 0, 0
	for i := range m.Nodes {
		if to[i] = NoNode; nodes[i] {
			to[i] = ID(count)
			count, operands = count+1, operands+len(m.Nodes[i].Args)
		}
	}
	kept, moved := make([]Node, 0, count), make([]ID, 0, operands)
	for i := range m.Nodes {
		if nodes[i] {
			kept = append(kept, m.Nodes[i])
		}
	}
	toState, toMemory, toCall := map[int]int{}, map[int]int{}, map[uint64]uint64{}
	id := func(p *ID) {
		if *p != NoNode {
			*p = to[*p]
		}
	}
	list := func(l []ID) []ID {
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
	var keptCalls []Call
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
		case OpReadState, OpReadNextState:
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
