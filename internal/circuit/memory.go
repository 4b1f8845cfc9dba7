package circuit

import (
	"fmt"
	"math/bits"
	"slices"
	"sync"

	"hlsgen/internal/num"
)

// A Register is a state of a circuit: a value that an iteration leaves to later ones.
type Register struct {
	b     *Builder
	state int
}

// AddRegister adds a state that holds a number in range r. It is read and written at the given stage.
func (b *Builder) AddRegister(name string, stage int, r num.Range) Register {
	return AddWideRegister(b, name, stage, r.Wide())
}

// AddWideRegister does what AddRegister does, for a range of up to 128 bits.
func AddWideRegister(b *Builder, name string, stage int, r num.WideRange) Register {
	var n Node
	n.setRange(r)
	return state(b, StateRegister{Name: name, Stage: stage, Width: n.Width, Signed: n.Signed}, n)
}

// AddWordRegister adds a state that holds a word of width bits. It is read and written at the given stage.
func (b *Builder) AddWordRegister(name string, stage, width int) Register {
	return state(b, StateRegister{Name: name, Stage: stage, Width: width}, Node{Width: width, Word: true})
}

// state adds the state s and the node that reads it, which has the type of n.
func state(b *Builder, s StateRegister, n Node) Register {
	k := len(b.m.States)
	n.Op, n.K, n.Stage, n.Name = OpReadStateBefore, k, s.Stage, s.Name
	s.Node, s.Next, s.When = b.add(n).id, NoNode, NoNode
	b.m.States = append(b.m.States, s)
	return Register{b, k}
}

// WithResetValue gives the register the value v after a reset, and returns it. A register without one must be written
// before it is read.
func (r Register) WithResetValue(v int64) Register { return r.WithWideResetValue(num.WideOf(v)) }

// WithWideResetValue does what WithResetValue does, for a value of up to 128 bits.
func (r Register) WithWideResetValue(v num.Wide) Register {
	s := &r.b.m.States[r.state]
	s.Init, s.Reset = v, true
	return r
}

// ValueBefore returns the value that earlier iterations left, at the register's stage.
func (r Register) ValueBefore() Value { return Value{r.b, r.b.m.States[r.state].Node} }

// valueAfter returns the value that this iteration leaves, one stage later.
func (r Register) valueAfter() Value {
	s := &r.b.m.States[r.state]
	n := r.b.m.Nodes[s.Node]
	n.Op, n.Stage, n.Name, n.level = OpReadStateAfter, s.Stage+1, s.Name+"_after", 0
	return r.b.add(n)
}

// SetNext makes each iteration for which the condition when holds write next to the register. Both must be available at
// the register's stage, or earlier. A later call replaces this one. It panics if next may lie outside of the register's
// range.
func (r Register) SetNext(next, when Value) {
	s := &r.b.m.States[r.state]
	when = r.b.now(func() Value { return AllHold(r.b.iterationStarted(s.Stage), when.AtStage(s.Stage)) })
	s = &r.b.m.States[r.state]
	n := next.AtStage(s.Stage)
	if have := r.ValueBefore().node(); !have.Word && !n.WideRange().IsWithin(have.WideRange()) {
		panic(fmt.Sprintf("circuit: register %s of %v is set to %v", s.Name, have.WideRange(), n.WideRange()))
	}
	s.Next, s.When = n.id, when.id
}

// SetNextWhenAvailable does what SetNext does, at the first stage at which both values are available. It returns the
// number of iterations after which the new value can be read. Iterations in between may read the old value or the new
// one.
func (r Register) SetNextWhenAvailable(next, when Value) (iterations int) {
	s := &r.b.m.States[r.state]
	read := s.Stage
	s.Stage = max(read, FirstCommonStage(next, when))
	r.SetNext(next, when)
	return r.b.m.States[r.state].Stage - read + 1
}

// AddRunningSum returns the sum of a number over all iterations since the last one for which first holds, including
// that one. A register of type t holds the sum, which wraps to that type.
func (b *Builder) AddRunningSum(name string, t num.Type, first, v Value) Value {
	if first.is(1) {
		return LowBitsAsType(v, t)
	}
	logic := adder(b, t.Width)
	at, stage, _ := together(logic, first, v)
	stage = max(stage, 0)
	acc := AddWideRegister(b, name, stage, t.WideRange())
	next := b.now(func() Value {
		before := MuxByCondition(at[0].AtStage(stage), b.ConstantNumber(0), acc.ValueBefore())
		v := LowBitsAsType(at[1].AtStage(stage), t)
		r, ok := before.WideRange().Plus(v.WideRange())
		if _, narrow := r.Narrow(); !ok || !narrow {
			return wrappedSum(before, v, t)
		}
		return LowBitsAsType(SumOfTwo(before, v), t)
	})
	acc.SetNext(next, b.ConstantNumber(1))
	return acc.valueAfter()
}

// AddRunningMaximum returns the greatest number v among all iterations since the last one for which first holds,
// including that one.
func AddRunningMaximum(name string, first, v Value) Value {
	if first.is(1) {
		return v
	}
	b := v.b
	at, stage, _ := together(adder(b, v.Width())+b.rate.LUT, first, v)
	stage = max(stage, 0)
	peak := AddWideRegister(b, name, stage, v.WideRange())
	first, v = at[0].AtStage(stage), at[1].AtStage(stage)
	next := b.now(func() Value {
		return MuxByCondition(AnyHolds(first, IsGreater(v, peak.ValueBefore())), v, peak.ValueBefore())
	})
	peak.SetNext(next, b.ConstantNumber(1))
	return peak.valueAfter()
}

// A ConstantTable is a memory of a circuit whose rows are constants.
type ConstantTable struct {
	b      *Builder
	memory int // -1 if the table has one row
	row    Value
}

// AddTable adds a table of rows with the given number of elements of type elem each. It calls data for the rows when
// the table is written out, or at once if there is only one row.
func (b *Builder) AddTable(name string, style StorageStyle, elem num.Type, columns, rows int,
	data func() [][]int64) ConstantTable {
	return b.AddTableOfWidth(name, style, columns*elem.Width, rows, func() (num.Type, [][]int64) {
		return elem,
			data()
	})
}

// AddTableOfWidth adds a table with rows of the given width in bits. It calls data for the element type and the rows
// when the table is written out, or at once if there is only one row. The first element of a row is lowest. If tables
// can be loaded, a single row becomes a register and data is not called at once either.
func (b *Builder) AddTableOfWidth(name string, style StorageStyle, width, rows int, data func() (num.Type,
	[][]int64)) ConstantTable {
	if b.loaded {
		if rows == 1 {
			style = RegisterArrayStyle
		}
		k := written(b, name, style, rows, width)
		b.m.Memories[k].Data, b.m.Memories[k].Loaded = data, true
		return ConstantTable{b: b, memory: k}
	}
	if rows == 1 {
		elem, all := data()
		var words []Value
		for _, v := range all[0] {
			words = append(words, LowBitsOf(b.ConstantNumber(int64(elem.EncodeBits(v))), elem.Width))
		}
		return ConstantTable{b, -1, ConcatenateWords(words...)}
	}
	return ConstantTable{b: b, memory: b.memory(RowMemory{Name: name, Rows: rows, Width: width, Style: style,
		Data:    data,
		Address: NoNode, Word: NoNode, When: NoNode})}
}

// AddWideTable adds a table with the given number of columns and rows, whose elements are integers of type t, of up to
// 128 bits. It calls data as AddTable does.
func AddWideTable(b *Builder, name string, style StorageStyle, t num.Type, columns, rows int,
	data func() [][]num.Wide) ConstantTable {
	part := num.Type{Kind: num.KindUInt, Width: min(t.Width, num.MaxTypeBits-1)} // an element takes several
	for t.Width%part.Width != 0 {
		part.Width--
	}
	return b.AddTableOfWidth(name, style, columns*t.Width, rows, func() (num.Type, [][]int64) {
		var all [][]int64
		for _, row := range data() {
			var parts []int64
			for _, v := range row {
				for low := 0; low < t.Width; low += part.Width {
					parts = append(parts, int64(v.Shifted(-low).LowBits(part.Width, false).Lo))
				}
			}
			all = append(all, parts)
		}
		return part, all
	})
}

// KeepFacts makes users of the circuit keep the facts about the table's rows that they find out in known, which serves
// all circuits whose table has the same rows.
func (t ConstantTable) KeepFacts(known *sync.Map) {
	if t.memory >= 0 {
		t.b.m.Memories[t.memory].Known = known
	}
}

// memory adds a memory and returns its number. It appends a number to the name if another memory has the same name.
func (b *Builder) memory(m RowMemory) int {
	for name, n := m.Name, 2; slices.ContainsFunc(b.m.Memories,
		func(o RowMemory) bool { return o.Name == m.Name }); n++ {
		m.Name = fmt.Sprintf("%s_%d", name, n)
	}
	b.m.Memories = append(b.m.Memories, m)
	return len(b.m.Memories) - 1
}

// ReadRow returns the row at an address, at the first stage at which it is available.
func (t ConstantTable) ReadRow(address Value) Value {
	if t.memory < 0 {
		return t.row
	}
	if t.b.m.Memories[t.memory].Rows == 1 {
		address = t.b.ConstantNumber(0)
	}
	return row(t.b, t.memory, 0, address)
}

// BlockRAMLatencyClocks is the latency of a memory block from an address to its row, in clocks. The block needs a
// register at its output and one more behind it, because reading takes about as long as a stage.
const BlockRAMLatencyClocks = 2

// row returns the row of the memory with this number at an address, read at the given stage or later. A memory in LUTs
// gives it in the same clock, a block BlockRAMLatencyClocks later.
func row(b *Builder, memory, stage int, address Value) Value {
	m := &b.m.Memories[memory]
	n := Node{Args: []NodeID{address.id}, K: memory, Name: m.Name + "_row"}
	if m.Style == BlockRAMStyle || m.Style == UltraRAMStyle {
		at, stage, _ := from(max(address.Stage(), stage), 0, address)
		n.Op, n.Args, n.Stage = OpReadMemoryClocked, ids(at), stage+1
		return b.bits(n, m.Width).DelayedByClocks(BlockRAMLatencyClocks - 1)
	}
	logic := b.rate.LUT
	for n := bits.Len(uint(m.Rows - 1)); n > b.rate.Inputs; n -= 2 {
		logic += b.rate.LUT
	}
	at, stage, levels := from(max(address.Stage(), stage), logic, address)
	n.Op, n.Args, n.Stage, n.level = OpReadMemoryUnclocked, ids(at), stage, int32(levels)
	return b.bits(n, m.Width)
}

// A WrittenArray is a memory of a circuit that iterations write.
type WrittenArray struct {
	b      *Builder
	memory int
	one    Register // used if the array has one row
}

// AddArray adds an array with the given number of rows of width bits each. Each row must be written before it is read.
func (b *Builder) AddArray(name string, style StorageStyle, rows, width int) WrittenArray {
	if rows == 1 {
		return WrittenArray{b: b, memory: -1, one: b.AddWordRegister(name, 0, width)}
	}
	return WrittenArray{b: b, memory: written(b, name, style, rows, width)}
}

// written adds a memory that iterations write, and returns its number. If LUTs cannot be memory, it uses blocks or
// registers.
func written(b *Builder, name string, style StorageStyle, rows, width int) int {
	if style == DistributedRAMStyle && b.rate.BlockBits > 0 {
		style = RegisterArrayStyle
		if rows*width >= b.rate.BlockBits {
			style = BlockRAMStyle
		}
	}
	return b.memory(RowMemory{Name: name, Rows: rows, Width: width, Style: style, Address: NoNode, Word: NoNode,
		When: NoNode})
}

// ReadRowBefore returns the row at an address as earlier iterations left it. It must be read at the stage at which the
// array is written, or later. An array with one row is read and written at stage 0.
func (a WrittenArray) ReadRowBefore(address Value) Value {
	if a.memory < 0 {
		return a.one.ValueBefore()
	}
	return row(a.b, a.memory, 0, address)
}

// ReadRowAfter returns the row at an address as this iteration leaves it, one stage after the write that was set
// before. It needs no logic that chooses between a word being written and the stored word.
func (a WrittenArray) ReadRowAfter(address Value) Value {
	if a.memory < 0 {
		return a.one.valueAfter()
	}
	return row(a.b, a.memory, a.b.m.Memories[a.memory].Stage+1, address)
}

// WriteRow makes each iteration for which the condition when holds write the word, at the first stage at which all
// three values are available. The array has one such write: a later call replaces it.
func (a WrittenArray) WriteRow(address, word, when Value) {
	if a.memory < 0 {
		a.one.SetNext(word, when)
		return
	}
	stage := max(0, FirstCommonStage(address, word, when))
	m := &a.b.m.Memories[a.memory]
	m.Stage, m.Address, m.Word = stage, address.AtStage(stage).id, word.AtStage(stage).id
	now := a.b.now(func() Value { return AllHold(a.b.iterationStarted(stage), when.AtStage(stage)) })
	a.b.m.Memories[a.memory].When = now.id
}
