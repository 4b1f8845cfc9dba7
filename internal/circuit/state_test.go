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
		case circuit.OpConstant, circuit.OpNumberBits, circuit.OpIterationStart, circuit.OpReadInputStream,
			circuit.OpDelayOneClock:
		default:
			list = append(list, n.Op)
		}
	}
	return list
}

// minus returns -n.
func minus(like value, n int64) value { return circuit.Negated(circuit.Constant(like, n)) }

// TestConstants checks that a value which never changes takes no hardware.
func TestConstants(t *testing.T) {
	t.Parallel()
	x := []num.Type{intN(4)}
	for name, tt := range map[string]struct {
		make func(b *circuit.Builder, x value) value
		want int64
	}{
		"sum": {func(b *circuit.Builder, x value) value { return circuit.Sum(b.Constant(3), minus(x, 8)) }, -5},
		"product": {func(b *circuit.Builder, _ value) value { return circuit.MultiplyByConstant(b.Constant(3), 7) },
			21},
		"zero times": {func(_ *circuit.Builder, x value) value { return circuit.MultiplyByConstant(x, 0) }, 0},
		"shifted":    {func(b *circuit.Builder, _ value) value { return circuit.Shifted(b.Constant(-9), -1) }, -5},
		"beyond":     {func(b *circuit.Builder, x value) value { return circuit.GreaterThan(x, b.Constant(7)) }, 0},
		"below":      {func(b *circuit.Builder, x value) value { return circuit.GreaterThan(x, b.Constant(-9)) }, 1},
		"apart":      {func(b *circuit.Builder, x value) value { return circuit.EqualTo(x, b.Constant(8)) }, 0},
		"none":       {func(b *circuit.Builder, x value) value { return b.All(circuit.Bit(x, 0), b.Constant(0)) }, 0},
		"any":        {func(b *circuit.Builder, x value) value { return b.Any(circuit.Bit(x, 0), b.Constant(1)) }, 1},
		"nothing":    {func(b *circuit.Builder, _ value) value { return b.All() }, 1},
		"chosen": {func(b *circuit.Builder, x value) value {
			return circuit.MuxByCondition(b.Constant(0), x, b.Constant(6))
		}, 6},
		"selected": {func(b *circuit.Builder, x value) value {
			return circuit.MuxByIndex(b.Constant(1), x, b.Constant(2), x)
		}, 2},
		"clipped": {func(_ *circuit.Builder, x value) value { return circuit.Clipped(x, num.SingleValue(3)) }, 3},
		"kept":    {func(_ *circuit.Builder, x value) value { return circuit.AssumeRange(x, num.SingleValue(-2)) }, -2},
		"heap": {func(b *circuit.Builder, x value) value {
			h := b.NewBitHeap()
			h.Add(b.Constant(5), 2)
			h.AddProduct(b.Constant(-3), b.Constant(4))
			h.AddProduct(x, b.Constant(0))
			h.AddIfEqual(b.Constant(1), b.Constant(1))
			return h.Sum(num.Range{Lo: -100, Hi: 100})
		}, 9},
		"element": {func(b *circuit.Builder, _ value) value {
			return circuit.Element(circuit.Packed(intN(3), b.Constant(-1), b.Constant(-4)), 1, intN(3))
		}, -4},
		"a row": {func(b *circuit.Builder, x value) value {
			t := b.Table("t", circuit.BlockRAM, intN(3), 2, 1, func() [][]int64 { return [][]int64{{3, -2}} })
			return circuit.Element(t.Row(x), 1, intN(3))
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
		b.Register("nobody", 0, num.Range{Hi: 7}).Set(b.Constant(3), b.Constant(1))
		b.Table("unread", circuit.BlockRAM, intN(4), 1, 4, func() [][]int64 { panic("it is read") })
		b.Counter("uncounted", 5, b.Constant(1))
		circuit.Product(x[0], x[1])
		return circuit.Total(circuit.Sum(x[0], x[1]), circuit.Sum(x[0], x[1]))
	})
	if len(m.States) > 0 || len(m.Memories) > 0 ||
		!slices.Equal(operations(m), []circuit.Operation{circuit.OpWrap, circuit.OpWrap, circuit.OpAdd,
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
			return circuit.Total(x...)
		})
		if m.Latency != tt.latency {
			t.Errorf("stages of %d ps: latency %d, want %d", tt.stage, m.Latency, tt.latency)
		}
	}
	b := circuit.New(rates[1])
	x := circuit.Element(b.Input(4, b.Constant(1)), 0, intN(4))
	at := circuit.Align(x, circuit.Sum(x, x).Delayed(2), b.Constant(3))
	if s := circuit.Stage(at...); at[0].Stage() != s || at[1].Stage() != s ||
		at[2].Stage() != circuit.ConstantStage || s < 2 {
		t.Errorf("stages %d, %d, %d", at[0].Stage(), at[1].Stage(), at[2].Stage())
	}
	if at := circuit.WithSlack(1, x); at[0].Stage() != 0 {
		t.Errorf("a lookup table fits behind a word, which is delayed to stage %d", at[0].Stage())
	}
	if at := circuit.WithSlack(9, x); at[0].Stage() != 1 {
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
				row = append(row, elem.Decode(w))
			}
		}
		out = append(out, row)
	}
	return out
}

func TestNest(t *testing.T) {
	t.Parallel()
	b := circuit.New(rates[1])
	levels := b.LoopPosition("at", 2, 1, 3)
	for _, l := range levels {
		b.Output(circuit.LowBits(l.Index, 4), b.Constant(1))
	}
	b.Output(circuit.LowBits(b.Constant(9), 4), levels[2].Last)
	got := run(t, b.Layer(), intN(4), make([][]uint64, 8))
	want := [][]int64{{0, 0, 0}, {0, 0, 1}, {0, 0, 2, -7}, {1, 0, 0}, {1, 0, 1}, {1, 0, 2, -7}, {0, 0, 0}, {0, 0, 1}}
	if fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("%v, want %v", got, want)
	}
}

// TestAccumulated checks sums of three words each, wrapped to four bits.
func TestAccumulated(t *testing.T) {
	t.Parallel()
	for _, rate := range rates {
		b := circuit.New(rate)
		place := b.Counter("word", 3, b.Constant(1))
		x := circuit.Element(b.Input(3, b.Constant(1)), 0, intN(3))
		b.Output(circuit.LowBits(b.RunningSum("sum", intN(4), place.First, circuit.MultiplyByConstant(x, 3)), 4),
			place.Last)
		got := run(t, b.Layer(), intN(4), [][]uint64{{1}, {2}, {7}, {3}, {3}, {3}})
		if want := "[[] [] [6] [] [] [-5]]"; fmt.Sprint(got) != want {
			t.Errorf("%v, want %v", got, want)
		}
	}
}

// TestWidestSums sums numbers and adds products whose intermediate results leave 64 bits.
func TestWidestSums(t *testing.T) {
	t.Parallel()
	most := num.Type{Kind: num.UInt, Width: 63}
	b := circuit.New(rates[0])
	place := b.Counter("word", 2, b.Constant(1))
	x := circuit.Element(b.Input(63, b.Constant(1)), 0, most)
	b.Output(circuit.LowBits(b.RunningSum("sum", most, place.First, x), 63), place.Last)
	h := b.NewBitHeap()
	h.Add(circuit.Product(x, circuit.Difference(b.Constant(1), place.Index)), 0)
	h.Add(circuit.Product(x, x), 0) // modulo 2^64
	b.Output(circuit.LowBits(h.Sum(num.Type{Kind: num.Int, Width: 64}.Range()), 64), b.Constant(1))
	m := b.Layer()
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
	for _, style := range []circuit.Style{circuit.DistributedRAM, circuit.BlockRAM, circuit.UltraRAM,
		circuit.RegisterArray} {
		b := circuit.New(rates[1])
		place := b.Counter("place", 4, b.Constant(1))
		odd := b.Table("squares", style, intN(6), 1, 4, func() [][]int64 { return [][]int64{{0}, {1}, {4}, {-9}} })
		b.Output(odd.Row(place.Index), b.Constant(1))
		x := b.Input(6, b.Constant(1))
		kept := b.Array("kept", style, 4, 6)
		kept.Write(place.Index, x, b.Constant(1))
		one := b.Array("one", style, 1, 6)
		one.Write(b.Constant(0), x, place.First)
		later := b.Register("filled", 0, num.Range{Hi: 1}).WithInitial(0)
		later.Set(b.Constant(1), place.Last)
		b.Output(kept.Row(place.Index), later.Value()) // word before this iteration's write
		b.Output(one.Row(b.Constant(0)), later.Value())
		m := b.Layer()
		got := run(t, m, intN(6), [][]uint64{{1}, {2}, {3}, {4}, {5}, {6}, {7}})
		if want := "[[0] [1] [4] [-9] [0 1 1] [1 2 5] [4 3 5]]"; fmt.Sprint(got) != want {
			t.Errorf("%s: %v, want %v", style, got, want)
		}
		latency := 1
		if style == circuit.BlockRAM || style == circuit.UltraRAM {
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
	for _, style := range []circuit.Style{circuit.DistributedRAM, circuit.BlockRAM, circuit.UltraRAM,
		circuit.RegisterArray} {
		for rows, want := range map[int]string{1: "[[1] [1] [1] [4] [4] [4]]", 2: "[[1] [2] [1] [2] [1] [2]]"} {
			b := circuit.New(rates[1])
			place := b.Counter("place", rows, b.Constant(1))
			first := b.Counter("round", 3, place.Last).First
			kept := b.Array("kept", style, rows, 6)
			kept.Write(place.Index, b.Input(6, b.Constant(1)), first)
			b.Output(kept.After(place.Index), b.Constant(1))
			if got := run(t, b.Layer(), intN(6), [][]uint64{{1}, {2}, {3}, {4}, {5}, {6}}); fmt.Sprint(got) != want {
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
		style       circuit.Style
		distance    int
	}{
		// The row becomes a number, is selected, increased and wrapped, with a stage each. Blocks take one more
		// stage.
		{1, 0, circuit.RegisterArray, 4}, {1, 5, circuit.RegisterArray, 4}, {4, 0, circuit.DistributedRAM, 4},
		{4, 2, circuit.BlockRAM, 5}, {4, 2, circuit.UltraRAM, 5},
	} {
		b := circuit.New(rates[2])
		row := b.Counter("row", tt.rows, b.Constant(1)).Index
		fresh := b.Register("fresh", 0, num.Range{Hi: 1}).WithInitial(1)
		fresh.Set(b.Constant(0), circuit.EqualTo(row, b.Constant(int64(tt.rows-1))))
		x := circuit.Element(b.Input(6, b.Constant(1)), 0, intN(6))
		kept := b.Store("kept", tt.style, tt.rows, 6)
		before := circuit.MuxByCondition(fresh.Value(), b.Constant(0), circuit.Element(kept.Row(row, tt.stage), 0,
			intN(6)))
		kept.Write(row, circuit.LowBits(circuit.Wrapped(circuit.Sum(before, x), intN(6)), 6), b.Constant(1))
		b.Output(circuit.LowBits(before, 6), b.Constant(1))
		late := b.Store("late", circuit.DistributedRAM, 4, 6)
		b.Output(late.Row(row, 9), circuit.Not(fresh.Value()))
		late.Write(row, circuit.LowBits(x, 6), b.Constant(1))
		m := b.Layer()
		var in [][]uint64
		for i := range 2*tt.rows + 1 {
			in = append(in, []uint64{uint64(3 * i)})
		}
		last := run(t, m, intN(6), in)[2*tt.rows]
		if want := fmt.Sprint([]int{3 * tt.rows, 3 * tt.rows}); fmt.Sprint(last) != want {
			t.Errorf("%+v: %v, want %v", tt, last, want)
		}
		if d, l := m.WriteReadDistance("kept"), m.WriteReadDistance("late"); d != tt.distance || l != 1 ||
			m.WriteReadDistance("none") != 0 {
			t.Errorf("%+v: distances %d and %d", tt, d, l)
		}
		if m.Depth() != 9 {
			t.Errorf("%+v: it ends at stage %d", tt, m.Depth())
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
			operands := some{x, circuit.Sum(x, b.Constant(1))}
			return b.Call(new(circuit.Library), "twice", operands, func(b *circuit.Builder, v some) some {
				made++
				return some{b.Constant(1), circuit.Total(v[0], v[1], v[1])}
			})[1]
		}
		m := pure(rate, types, func(b *circuit.Builder, x some) value {
			return circuit.Total(twice(b, x[0]), twice(b, x[1]), twice(b, x[2]), twice(b, b.Constant(4)))
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
		want            circuit.Style
	}{{0, 32, circuit.DistributedRAM}, {96, 32, circuit.BlockRAM}, {96, 4, circuit.RegisterArray}} {
		b := circuit.New(circuit.TimingModel{Stage: 10000, LUT: 600, Carry: 15, Inputs: 6, BlockBits: tt.blockBits})
		address := b.Counter("at", tt.rows, b.Constant(1)).Index
		word := b.Input(8, b.Constant(1))
		store := b.Store("store", circuit.DistributedRAM, tt.rows, 8)
		b.Output(store.Row(address, 0), b.Constant(1))
		store.Write(address, word, b.Constant(1))
		array := b.Array("array", circuit.DistributedRAM, tt.rows, 8)
		array.Write(address, word, b.Constant(1))
		for _, a := range b.Layer().Memories {
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
		return circuit.Clipped(x[0], num.Range{Lo: -159, Hi: 352})
	})
	compared := 0
	for _, n := range m.Nodes {
		if n.Op != circuit.OpLess {
			continue
		}
		compared++
		for _, a := range n.Args {
			for m.Nodes[a].Op == circuit.OpWrap || m.Nodes[a].Op == circuit.OpNumberBits {
				a = m.Nodes[a].Args[0]
			}
			if m.Nodes[a].Op == circuit.OpMux {
				t.Errorf("it compares what has been chosen: %+v", n)
			}
		}
	}
	if compared != 2 {
		t.Errorf("%d comparisons", compared)
	}
}
