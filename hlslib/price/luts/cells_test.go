package luts

import (
	"math/bits"
	"testing"

	"hlsgen/hlslib/price/cost"
	"hlsgen/internal/circuit"
	"hlsgen/internal/num"
)

var uint4 = num.Type{Kind: num.UInt, Width: 4}

// count returns the cells of a layer that makes one word of one, by the rules for large circuits.
func count(f cost.Fabric, width int, make func(b *circuit.Builder, x circuit.Value) circuit.Value) CellCounts {
	d := SynthesisRulesOf(f)
	d.Small = false
	return d.Count(module(width, make))
}

// module returns the circuit of a layer that makes one word of one.
func module(width int, make func(b *circuit.Builder, x circuit.Value) circuit.Value) *circuit.Module {
	b := circuit.New(circuit.TimingModel{Stage: 5000, LUT: 900, Carry: 30, Inputs: 6})
	always := b.Constant(1)
	b.Output(make(b, b.Input(width, always)), always)
	return b.Layer()
}

// table looks up a word of 6 bits.
func table(row func(i int) int64) func(b *circuit.Builder, x circuit.Value) circuit.Value {
	return func(b *circuit.Builder, x circuit.Value) circuit.Value {
		t := b.Table("t", circuit.DistributedRAM, num.Type{Kind: num.UInt, Width: 7}, 1, 64, func() (rows [][]int64) {
			for i := range 64 {
				rows = append(rows, []int64{row(i)})
			}
			return rows
		})
		return t.Row(circuit.Wrapped(x, num.Type{Kind: num.UInt, Width: 6}))
	}
}

// step looks up whether a word is less than a bound.
func step(rows int, bound int64) func(b *circuit.Builder, x circuit.Value) circuit.Value {
	return func(b *circuit.Builder, x circuit.Value) circuit.Value {
		bit := num.Type{Kind: num.UInt, Width: 1}
		t := b.Table("t", circuit.DistributedRAM, bit, 1, rows, func() (list [][]int64) {
			for i := range rows {
				list = append(list, []int64{int64(min(1, int64(i)/bound))})
			}
			return list
		})
		return t.Row(circuit.Wrapped(x, num.NarrowestInt(num.SingleValue(int64(rows-1)))))
	}
}

// late looks up squares of a word from a register.
func late(b *circuit.Builder, x circuit.Value) circuit.Value {
	return table(func(i int) int64 { return int64(i*i) % 128 })(b, x.Delayed(1))
}

// counter counts in steps of four, in five bits.
func counter(b *circuit.Builder, x circuit.Value) circuit.Value {
	r := b.Register("r", 0, num.Range{Lo: 0, Hi: 31}).WithInitial(0)
	next := circuit.Wrapped(circuit.Sum(r.Value(), b.Constant(4)), num.Type{Kind: num.UInt, Width: 5})
	again := circuit.Bit(x, 0)
	r.Set(circuit.MuxByCondition(again, b.Constant(0), next), b.Constant(1))
	return circuit.LowBits(r.Value(), 5)
}

// addends adds two bytes and a constant.
func addends(b *circuit.Builder, x circuit.Value) circuit.Value {
	uint8 := num.Type{Kind: num.UInt, Width: 8}
	sum := circuit.Wrapped(circuit.Sum(circuit.Element(x, 0, uint8), circuit.Element(x, 1, uint8)), uint8)
	return circuit.LowBits(circuit.Wrapped(circuit.Sum(sum, b.Constant(16)), uint8), 8)
}

// bytes adds two bytes.
func bytes(_ *circuit.Builder, x circuit.Value) circuit.Value {
	uint8 := num.Type{Kind: num.UInt, Width: 8}
	return circuit.LowBits(circuit.Sum(circuit.Element(x, 0, uint8), circuit.Element(x, 1, uint8)), 9)
}

// oneOfFour selects one of four bits by two others.
func oneOfFour(_ *circuit.Builder, x circuit.Value) circuit.Value {
	c, d := circuit.Bit(x, 4), circuit.Bit(x, 5)
	return circuit.LowBits(circuit.MuxByCondition(d, circuit.MuxByCondition(c, circuit.Bit(x, 3), circuit.Bit(x, 2)),
		circuit.MuxByCondition(c, circuit.Bit(x, 1), circuit.Bit(x, 0))), 1)
}

// array keeps eight words, and reads the next one to be written.
func array(b *circuit.Builder, x circuit.Value) circuit.Value {
	at := b.Register("at", 0, num.Range{Lo: 0, Hi: 7}).WithInitial(0)
	at.Set(circuit.Wrapped(circuit.Sum(at.Value(), b.Constant(1)), num.Type{Kind: num.UInt, Width: 3}), b.Constant(1))
	a := b.Array("a", circuit.DistributedRAM, 8, 8)
	row := a.Row(at.Value())
	a.Write(at.Value(), x, b.Constant(1))
	return row
}

func TestCount(t *testing.T) {
	t.Parallel()
	delayed := func(_ *circuit.Builder, x circuit.Value) circuit.Value { return x.Delayed(5) }
	sum := func(_ *circuit.Builder, x circuit.Value) circuit.Value {
		return circuit.LowBits(circuit.Sum(circuit.Element(x, 0, uint4), circuit.Element(x, 1, uint4)), 5)
	}
	for name, tt := range map[string]struct {
		counts CellCounts
		kind   CellKind
		want   CellCount
	}{
		"words, and when, five clocks later":  {count(cost.Series7, 8, delayed), PipelineCells, CellCount{Shift: 9}},
		"the same without shift registers":    {count(cost.ICE40, 8, delayed), PipelineCells, CellCount{FF: 45}},
		"a sum, whose fifth bit is the carry": {count(cost.Series7, 8, sum), AdderCells, CellCount{LUT: 4}},
		"a table that is its address": {count(cost.Series7, 6, table(func(i int) int64 { return int64(i) })),
			TableCells,
			CellCount{}},
		"a table with a column of its own, and the same turned round": {count(cost.Series7, 6, table(func(i int) int64 {
			odd := int64(bits.OnesCount(uint(i)) & 1)
			return odd | (1-odd)<<1
		})), TableCells, CellCount{LUT: 1}},
		"a step function, whose halves are alike or constant": {count(cost.Series7, 12, step(1<<12, 1234)), TableCells,
			CellCount{LUT: 2 * loose}},
		"the same of nine bits, in tables of four inputs": {count(cost.ICE40, 9, step(1<<9, 200)), TableCells,
			CellCount{LUT: 2}},
		"a sum of bytes on a carry chain, whose highest bit is the carry": {count(cost.ICE40, 16, bytes), AdderCells,
			CellCount{LUT: 8}},
		"the same in pairs": {count(cost.ECP5, 16, bytes), AdderCells, CellCount{LUT: 10}},
		"one of four, in two tables of four inputs": {count(cost.ICE40, 6, oneOfFour), SelectorCells,
			CellCount{LUT: 2}},
		"the same in one of six, which is four": {count(cost.ECP5, 6, oneOfFour), SelectorCells, CellCount{LUT: 4}},
		"a counter in steps of four":            {count(cost.Series7, 1, counter), StateCells, CellCount{FF: 3}},
		"what it adds to": {count(cost.Series7, 1, counter), SelectorCells,
			CellCount{LUT: 3}},
		"a constant and two numbers, which are added at once": {count(cost.Series7, 16, addends), AdderCells,
			CellCount{LUT: 16}},
		"an array, read at an address in registers": {count(cost.Series7, 8, array), MemoryCells,
			CellCount{LUT: 3, FF: 3, RAM: 8}},
		"a table, whose row is in registers instead, but for a bit of the address": {count(cost.Series7, 6, late),
			MemoryCells, CellCount{FF: 5}},
	} {
		if got := tt.counts[tt.kind]; got != tt.want {
			t.Errorf("%s: %+v, want %+v", name, got, tt.want)
		}
	}
}

// TestMultiplier checks the cells of a multiplier against Yosys 0.23 on hlsgen_multiply, also for few bits.
func TestMultiplier(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		fabric       cost.Fabric
		a, b         int
		dsp, lut, ff int
	}{
		{cost.Series7, 4, 4, 1, 0, 0}, {cost.Series7, 9, 8, 1, 0, 0}, {cost.Series7, 27, 8, 2, 0, 0},
		{cost.ICE40, 4, 4, 1, 1, 11}, {cost.ICE40, 9, 8, 1, 1, 17}, {cost.ICE40, 27, 8, 2, 1, 35},
		{cost.ECP5, 4, 4, 1, 0, 34}, {cost.ECP5, 9, 8, 1, 0, 51}, {cost.ECP5, 27, 8, 2, 0, 105},
	} {
		signed := func(width int) num.Type { return num.Type{Kind: num.Int, Width: width} }
		c := count(tt.fabric, tt.a+tt.b, func(b *circuit.Builder, x circuit.Value) circuit.Value {
			first := circuit.Element(circuit.BitRange(x, 0, tt.a), 0, signed(tt.a))
			second := circuit.Element(circuit.BitRange(x, tt.a, tt.b), 0, signed(tt.b))
			return circuit.LowBits(circuit.Product(first, second), tt.a+tt.b)
		})
		want := CellCount{DSP: tt.dsp, LUT: float64(tt.lut), FF: float64(tt.ff)}
		if m := c[MultiplierCells]; m != want || c[CompressorCells].LUT > 0 {
			t.Errorf("%v, %d by %d bits: %+v, want %+v", tt.fabric, tt.a, tt.b, m, want)
		}
	}
}
