package circuit_test

import (
	"fmt"
	"slices"
	"testing"

	"hlsgen/internal/circuit"
	"hlsgen/internal/num"
)

// operations lists the operations of a circuit that compute something.
func operations(m *circuit.Module) (list []circuit.Operation) {
	for _, n := range m.Nodes {
		switch n.Op {
		case circuit.OpConstant, circuit.OpNumberToWord, circuit.OpIterationStart, circuit.OpReadInputStream,
			circuit.OpDelayOneClock:
		default:
			list = append(list, n.Op)
		}
	}
	return list
}

// minus returns -n.
func minus(like value, n int64) value { return circuit.Negate(circuit.ConstantInCircuitOf(like, n)) }

// TestConstants checks that a value which never changes takes no hardware.
func TestConstants(t *testing.T) {
	t.Parallel()
	x := []num.Type{intN(4)}
	for name, tt := range map[string]struct {
		make func(b *circuit.Builder, x value) value
		want int64
	}{
		"sum": {func(b *circuit.Builder, x value) value { return circuit.SumOfTwo(b.ConstantNumber(3), minus(x, 8)) },
			-5},
		"product": {func(b *circuit.Builder, _ value) value {
			return circuit.MultiplyByConstant(b.ConstantNumber(3),
				7)
		},
			21},
		"zero times": {func(_ *circuit.Builder, x value) value { return circuit.MultiplyByConstant(x, 0) }, 0},
		"shifted": {func(b *circuit.Builder, _ value) value {
			return circuit.ShiftByConstant(b.ConstantNumber(-9),
				-1)
		}, -5},
		"beyond": {func(b *circuit.Builder, x value) value { return circuit.IsGreater(x, b.ConstantNumber(7)) }, 0},
		"below": {func(b *circuit.Builder, x value) value { return circuit.IsGreater(x, b.ConstantNumber(-9)) },
			1},
		"apart": {func(b *circuit.Builder, x value) value { return circuit.IsEqual(x, b.ConstantNumber(8)) }, 0},
		"none": {func(b *circuit.Builder, x value) value {
			return b.AllHold(circuit.BitOf(x, 0),
				b.ConstantNumber(0))
		}, 0},
		"any": {func(b *circuit.Builder, x value) value {
			return b.AnyHolds(circuit.BitOf(x, 0),
				b.ConstantNumber(1))
		}, 1},
		"nothing": {func(b *circuit.Builder, _ value) value { return b.AllHold() }, 1},
		"chosen": {func(b *circuit.Builder, x value) value {
			return circuit.MuxByCondition(b.ConstantNumber(0), x, b.ConstantNumber(6))
		}, 6},
		"selected": {func(b *circuit.Builder, x value) value {
			return circuit.MuxByIndex(b.ConstantNumber(1), x, b.ConstantNumber(2), x)
		}, 2},
		"clipped": {func(_ *circuit.Builder, x value) value { return circuit.ClipToRange(x, num.SingleValueRange(3)) },
			3},
		"kept": {func(_ *circuit.Builder, x value) value {
			return circuit.AssumeRange(x,
				num.SingleValueRange(-2))
		}, -2},
		"heap": {func(b *circuit.Builder, x value) value {
			h := b.NewBitHeap()
			h.AddShifted(b.ConstantNumber(5), 2)
			h.AddProduct(b.ConstantNumber(-3), b.ConstantNumber(4))
			h.AddProduct(x, b.ConstantNumber(0))
			h.AddOneIfEqual(b.ConstantNumber(1), b.ConstantNumber(1))
			return h.Sum(num.Range{Lo: -100, Hi: 100})
		}, 9},
		"element": {func(b *circuit.Builder, _ value) value {
			return circuit.ElementOf(circuit.PackIntoWord(intN(3), b.ConstantNumber(-1), b.ConstantNumber(-4)), 1,
				intN(3))
		}, -4},
		"a row": {func(b *circuit.Builder, x value) value {
			t := b.AddTable("t", circuit.BlockRAMStyle, intN(3), 2, 1, func() [][]int64 { return [][]int64{{3, -2}} })
			return circuit.ElementOf(t.ReadRow(x), 1, intN(3))
		}, -2},
	} {
		m := pure(rates[1], x, func(b *circuit.Builder, x some) value { return tt.make(b, x[0]) })
		if ops := operations(m); len(ops) > 0 || len(m.Memories) > 0 || m.Latency != 1 {
			t.Errorf("%s: operations %v, latency %d", name, ops, m.Latency)
		}
		agree(t, name, m, x, []int64{-3}, tt.want)
	}
}

// TestOnce checks that equal values share hardware, and that unused values have none.
func TestOnce(t *testing.T) {
	t.Parallel()
	types := []num.Type{intN(4), intN(4)}
	m := pure(rates[0], types, func(b *circuit.Builder, x some) value {
		b.AddRegister("nobody", 0, num.Range{Hi: 7}).SetNext(b.ConstantNumber(3), b.ConstantNumber(1))
		b.AddTable("unread", circuit.BlockRAMStyle, intN(4), 1, 4, func() [][]int64 { panic("it is read") })
		b.AddCounter("uncounted", 5, b.ConstantNumber(1))
		circuit.MultiplyInDSP(x[0], x[1])
		return circuit.SumAsTree(circuit.SumOfTwo(x[0], x[1]), circuit.SumOfTwo(x[0], x[1]))
	})
	if len(m.States) > 0 || len(m.Memories) > 0 ||
		!slices.Equal(operations(m), []circuit.Operation{circuit.OpLowBitsAsNumber, circuit.OpLowBitsAsNumber,
			circuit.OpAdd,
			circuit.OpAdd}) {
		t.Errorf("%v, %v, %v", operations(m), m.States, m.Memories)
	}
}

// TestStages checks that logic which does not fit into a stage gets registers in front of it.
func TestStages(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ stage, latency int }{{1 << 20, 1}, {2000, 2}, {1300, 3}, {1, 4}} {
		rate := circuit.TimingModel{Stage: tt.stage, LUT: 600, Carry: 15, Inputs: 6} // adders of 675, 690, 705 ps
		m := pure(rate, slices.Repeat([]num.Type{intN(4)}, 8), func(_ *circuit.Builder, x some) value {
			return circuit.SumAsTree(x...)
		})
		if m.Latency != tt.latency {
			t.Errorf("stages of %d ps: latency %d, want %d", tt.stage, m.Latency, tt.latency)
		}
	}
	b := circuit.NewBuilder(rates[1])
	x := circuit.ElementOf(b.AddInputStream(4, b.ConstantNumber(1)), 0, intN(4))
	at := circuit.AlignStages(x, circuit.SumOfTwo(x, x).DelayedByClocks(2), b.ConstantNumber(3))
	if s := circuit.FirstCommonStage(at...); at[0].Stage() != s || at[1].Stage() != s ||
		at[2].Stage() != circuit.ConstantStage || s < 2 {
		t.Errorf("stages %d, %d, %d", at[0].Stage(), at[1].Stage(), at[2].Stage())
	}
	if at := circuit.AlignWithLUTSlack(1, x); at[0].Stage() != 0 {
		t.Errorf("a lookup table fits behind a word, which is delayed to stage %d", at[0].Stage())
	}
	if at := circuit.AlignWithLUTSlack(9, x); at[0].Stage() != 1 {
		t.Errorf("nine lookup tables do not fit behind a word, which is at stage %d", at[0].Stage())
	}
}

// run runs a circuit and returns, per iteration, the numbers that it writes to its outputs.
func run(t *testing.T, m *circuit.Module, elem num.Type, in [][]uint64) (out [][]int64) {
	t.Helper()
	if err := timed(m); err != nil {
		t.Error(err)
	}
	r := newMachine(t, m)
	for _, words := range in {
		written, moves, err := iterate(r, m, words...)
		if err != nil {
			t.Fatal(err)
		}
		var row []int64
		for k, w := range written {
			if moves[k] {
				row = append(row, elem.DecodeBits(w))
			}
		}
		out = append(out, row)
	}
	return out
}

func TestNest(t *testing.T) {
	t.Parallel()
	b := circuit.NewBuilder(rates[1])
	levels := b.AddLoopCounters("at", 2, 1, 3)
	for _, l := range levels {
		b.AddOutputStream(circuit.LowBitsOf(l.Index, 4), b.ConstantNumber(1))
	}
	b.AddOutputStream(circuit.LowBitsOf(b.ConstantNumber(9), 4), levels[2].Last)
	got := run(t, b.FinishLayer(), intN(4), make([][]uint64, 8))
	want := [][]int64{{0, 0, 0}, {0, 0, 1}, {0, 0, 2, -7}, {1, 0, 0}, {1, 0, 1}, {1, 0, 2, -7}, {0, 0, 0}, {0, 0, 1}}
	if fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("%v, want %v", got, want)
	}
}

// TestAccumulated checks sums of three words each, wrapped to four bits.
func TestAccumulated(t *testing.T) {
	t.Parallel()
	for _, rate := range rates {
		b := circuit.NewBuilder(rate)
		place := b.AddCounter("word", 3, b.ConstantNumber(1))
		x := circuit.ElementOf(b.AddInputStream(3, b.ConstantNumber(1)), 0, intN(3))
		b.AddOutputStream(circuit.LowBitsOf(b.AddRunningSum("sum", intN(4), place.First, circuit.MultiplyByConstant(x,
			3)), 4),
			place.Last)
		got := run(t, b.FinishLayer(), intN(4), [][]uint64{{1}, {2}, {7}, {3}, {3}, {3}})
		if want := "[[] [] [6] [] [] [-5]]"; fmt.Sprint(got) != want {
			t.Errorf("%v, want %v", got, want)
		}
	}
}

// TestWidestSums sums numbers and adds products whose intermediate results leave 64 bits.
func TestWidestSums(t *testing.T) {
	t.Parallel()
	most := num.Type{Kind: num.KindUInt, Width: 63}
	b := circuit.NewBuilder(rates[0])
	place := b.AddCounter("word", 2, b.ConstantNumber(1))
	x := circuit.ElementOf(b.AddInputStream(63, b.ConstantNumber(1)), 0, most)
	b.AddOutputStream(circuit.LowBitsOf(b.AddRunningSum("sum", most, place.First, x), 63), place.Last)
	h := b.NewBitHeap()
	h.AddShifted(circuit.MultiplyInDSP(x, circuit.Subtract(b.ConstantNumber(1), place.Index)), 0)
	h.AddShifted(circuit.MultiplyInDSP(x, x), 0) // modulo 2^64
	b.AddOutputStream(circuit.LowBitsOf(h.Sum(num.Type{Kind: num.KindInt, Width: 64}.Range()), 64), b.ConstantNumber(1))
	m := b.FinishLayer()
	r := newMachine(t, m)
	for _, v := range []uint64{1<<62 - 5, 1 << 61} {
		out, moves, err := iterate(r, m, v)
		if err != nil {
			t.Fatal(err)
		}
		if want := uint64(1<<62 - 5 + 1<<61); moves[1] && moves[0] && out[0] != want {
			t.Errorf("the sum is %d, want %d", out[0], want)
		}
		if want := v*truthOf(!moves[0]).Uint64() + v*v; out[1] != want {
			t.Errorf("the products are %d, want %d", out[1], want)
		}
	}
}

// TestMemories checks, in arrays of every style, a table that is read by address and a word that is kept for four
// iterations.
func TestMemories(t *testing.T) {
	t.Parallel()
	for _, style := range []circuit.StorageStyle{circuit.DistributedRAMStyle, circuit.BlockRAMStyle,
		circuit.UltraRAMStyle,
		circuit.RegisterArrayStyle} {
		b := circuit.NewBuilder(rates[1])
		place := b.AddCounter("place", 4, b.ConstantNumber(1))
		odd := b.AddTable("squares", style, intN(6), 1, 4, func() [][]int64 { return [][]int64{{0}, {1}, {4}, {-9}} })
		b.AddOutputStream(odd.ReadRow(place.Index), b.ConstantNumber(1))
		x := b.AddInputStream(6, b.ConstantNumber(1))
		kept := b.AddArray("kept", style, 4, 6)
		kept.WriteRow(place.Index, x, b.ConstantNumber(1))
		one := b.AddArray("one", style, 1, 6)
		one.WriteRow(b.ConstantNumber(0), x, place.First)
		later := b.AddRegister("filled", 0, num.Range{Hi: 1}).WithResetValue(0)
		later.SetNext(b.ConstantNumber(1), place.Last)
		b.AddOutputStream(kept.ReadRowBefore(place.Index), later.ValueBefore()) // word before this iteration's write
		b.AddOutputStream(one.ReadRowBefore(b.ConstantNumber(0)), later.ValueBefore())
		m := b.FinishLayer()
		got := run(t, m, intN(6), [][]uint64{{1}, {2}, {3}, {4}, {5}, {6}, {7}})
		if want := "[[0] [1] [4] [-9] [0 1 1] [1 2 5] [4 3 5]]"; fmt.Sprint(got) != want {
			t.Errorf("%s: %v, want %v", style, got, want)
		}
		latency := 1
		if style == circuit.BlockRAMStyle || style == circuit.UltraRAMStyle {
			latency = 3
		}
		if m.Latency != latency {
			t.Errorf("%s: latency %d, want %d", style, m.Latency, latency)
		}
	}
}

// TestAfter checks words that one iteration of three writes, and that every iteration reads as it leaves them.
func TestAfter(t *testing.T) {
	t.Parallel()
	for _, style := range []circuit.StorageStyle{circuit.DistributedRAMStyle, circuit.BlockRAMStyle,
		circuit.UltraRAMStyle,
		circuit.RegisterArrayStyle} {
		for rows, want := range map[int]string{1: "[[1] [1] [1] [4] [4] [4]]", 2: "[[1] [2] [1] [2] [1] [2]]"} {
			b := circuit.NewBuilder(rates[1])
			place := b.AddCounter("place", rows, b.ConstantNumber(1))
			first := b.AddCounter("round", 3, place.Last).First
			kept := b.AddArray("kept", style, rows, 6)
			kept.WriteRow(place.Index, b.AddInputStream(6, b.ConstantNumber(1)), first)
			b.AddOutputStream(kept.ReadRowAfter(place.Index), b.ConstantNumber(1))
			if got := run(t, b.FinishLayer(), intN(6), [][]uint64{{1}, {2}, {3}, {4}, {5},
				{6}}); fmt.Sprint(got) != want {
				t.Errorf("%s, %d rows: %v, want %s", style, rows, got, want)
			}
		}
	}
}

// TestStore checks sums that return through a memory. There are as many iterations between writing and reading as
// stages. A row that is read at a late stage is written after that.
func TestStore(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		rows, stage int
		style       circuit.StorageStyle
		distance    int
	}{
		// The row becomes a number, is selected, increased and wrapped, with a stage each. Blocks take one more
		// stage.
		{1, 0, circuit.RegisterArrayStyle, 4}, {1, 5, circuit.RegisterArrayStyle, 4}, {4, 0,
			circuit.DistributedRAMStyle, 4},
		{4, 2, circuit.BlockRAMStyle, 5}, {4, 2, circuit.UltraRAMStyle, 5},
	} {
		b := circuit.NewBuilder(rates[2])
		row := b.AddCounter("row", tt.rows, b.ConstantNumber(1)).Index
		fresh := b.AddRegister("fresh", 0, num.Range{Hi: 1}).WithResetValue(1)
		fresh.SetNext(b.ConstantNumber(0), circuit.IsEqual(row, b.ConstantNumber(int64(tt.rows-1))))
		x := circuit.ElementOf(b.AddInputStream(6, b.ConstantNumber(1)), 0, intN(6))
		kept := b.AddLoopMemory("kept", tt.style, tt.rows, 6)
		before := circuit.MuxByCondition(fresh.ValueBefore(), b.ConstantNumber(0), circuit.ElementOf(kept.ReadRow(row,
			tt.stage), 0,
			intN(6)))
		kept.WriteRow(row, circuit.LowBitsOf(circuit.LowBitsAsType(circuit.SumOfTwo(before, x), intN(6)), 6),
			b.ConstantNumber(1))
		b.AddOutputStream(circuit.LowBitsOf(before, 6), b.ConstantNumber(1))
		late := b.AddLoopMemory("late", circuit.DistributedRAMStyle, 4, 6)
		b.AddOutputStream(late.ReadRow(row, 9), circuit.Not(fresh.ValueBefore()))
		late.WriteRow(row, circuit.LowBitsOf(x, 6), b.ConstantNumber(1))
		m := b.FinishLayer()
		var in [][]uint64
		for i := range 2*tt.rows + 1 {
			in = append(in, []uint64{uint64(3 * i)})
		}
		last := run(t, m, intN(6), in)[2*tt.rows]
		if want := fmt.Sprint([]int{3 * tt.rows, 3 * tt.rows}); fmt.Sprint(last) != want {
			t.Errorf("%+v: %v, want %v", tt, last, want)
		}
		if d, l := m.WriteToReadIterations("kept"), m.WriteToReadIterations("late"); d != tt.distance || l != 1 ||
			m.WriteToReadIterations("none") != 0 {
			t.Errorf("%+v: distances %d and %d", tt, d, l)
		}
		if m.LastActiveStage() != 9 {
			t.Errorf("%+v: it ends at stage %d", tt, m.LastActiveStage())
		}
	}
}

// TestCall checks that a function is built once for operands of the same kind, and in place if the operands are
// constant.
func TestCall(t *testing.T) {
	t.Parallel()
	for _, rate := range rates {
		types := []num.Type{intN(4), intN(4), uintN(3)}
		made := 0
		twice := func(b *circuit.Builder, x value) value {
			operands := some{x, circuit.SumOfTwo(x, b.ConstantNumber(1))}
			return b.CallFunction(new(circuit.FunctionLibrary), "twice", operands, func(b *circuit.Builder,
				v some) some {
				made++
				return some{b.ConstantNumber(1), circuit.SumAsTree(v[0], v[1], v[1])}
			})[1]
		}
		m := pure(rate, types, func(b *circuit.Builder, x some) value {
			return circuit.SumAsTree(twice(b, x[0]), twice(b, x[1]), twice(b, x[2]), twice(b, b.ConstantNumber(4)))
		})
		if err := timed(m); err != nil {
			t.Error(err)
		}
		if len(m.Calls) != 3 || m.Calls[0].Function != m.Calls[1].Function || made != 3 ||
			m.Calls[1].Function == m.Calls[2].Function {
			t.Errorf("%d calls of functions made %d times", len(m.Calls), made)
		}
		for v := range int64(8) {
			agree(t, "calls", m, types, []int64{v - 8, 7 - v, v}, 3*(v-8+7-v+v+4)+8)
		}
	}
}

// TestWritten checks that stores, like arrays, become blocks or registers if lookup tables cannot serve as memory.
func TestWritten(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		blockBits, rows int
		want            circuit.StorageStyle
	}{{0, 32, circuit.DistributedRAMStyle}, {96, 32, circuit.BlockRAMStyle}, {96, 4, circuit.RegisterArrayStyle}} {
		b := circuit.NewBuilder(circuit.TimingModel{Stage: 10000, LUT: 600, Carry: 15, Inputs: 6,
			BlockBits: tt.blockBits})
		address := b.AddCounter("at", tt.rows, b.ConstantNumber(1)).Index
		word := b.AddInputStream(8, b.ConstantNumber(1))
		store := b.AddLoopMemory("store", circuit.DistributedRAMStyle, tt.rows, 8)
		b.AddOutputStream(store.ReadRow(address, 0), b.ConstantNumber(1))
		store.WriteRow(address, word, b.ConstantNumber(1))
		array := b.AddArray("array", circuit.DistributedRAMStyle, tt.rows, 8)
		array.WriteRow(address, word, b.ConstantNumber(1))
		for _, a := range b.FinishLayer().Memories {
			if a.Style != tt.want {
				t.Errorf("%d rows, blocks from %d bits on: %s is %v, want %v", tt.rows, tt.blockBits, a.Name, a.Style,
					tt.want)
			}
		}
	}
}

// TestClippedAtOnce checks that a number is compared with both ends of a range at the same time.
func TestClippedAtOnce(t *testing.T) {
	t.Parallel()
	m := pure(rates[0], []num.Type{intN(10)}, func(_ *circuit.Builder, x some) value {
		return circuit.ClipToRange(x[0], num.Range{Lo: -159, Hi: 352})
	})
	compared := 0
	for _, n := range m.Nodes {
		if n.Op != circuit.OpLess {
			continue
		}
		compared++
		for _, a := range n.Args {
			for m.Nodes[a].Op == circuit.OpLowBitsAsNumber || m.Nodes[a].Op == circuit.OpNumberToWord {
				a = m.Nodes[a].Args[0]
			}
			if m.Nodes[a].Op == circuit.OpMuxByCondition {
				t.Errorf("it compares what has been chosen: %+v", n)
			}
		}
	}
	if compared != 2 {
		t.Errorf("%d comparisons", compared)
	}
}
