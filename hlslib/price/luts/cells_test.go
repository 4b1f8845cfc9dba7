package luts

import (
	"math"
	"math/bits"
	"testing"

	"hlsgen/hlslib/price/cost"
	"hlsgen/internal/circuit"
	"hlsgen/internal/num"
)

var uint4 = num.Type{Kind: num.KindUInt, Width: 4}

// count returns the cells of a layer that makes one word of one, by the rules for large circuits.
func count(f cost.Fabric, width int, make func(b *circuit.Builder, x circuit.Value) circuit.Value) CellCountsByPurpose {
	d := SynthesisRulesOf(f)
	d.Small = false
	return d.CountCells(module(width, make))
}

// module returns the circuit of a layer that makes one word of one.
func module(width int, make func(b *circuit.Builder, x circuit.Value) circuit.Value) *circuit.Module {
	b := circuit.NewBuilder(circuit.TimingModel{Stage: 5000, LUT: 900, Carry: 30, Inputs: 6})
	always := b.ConstantNumber(1)
	b.AddOutputStream(make(b, b.AddInputStream(width, always)), always)
	return b.FinishLayer()
}

// table looks up a word of 6 bits.
func table(row func(i int) int64) func(b *circuit.Builder, x circuit.Value) circuit.Value {
	return func(b *circuit.Builder, x circuit.Value) circuit.Value {
		t := b.AddTable("t", circuit.DistributedRAMStyle, num.Type{Kind: num.KindUInt, Width: 7}, 1, 64,
			func() (rows [][]int64) {
				for i := range 64 {
					rows = append(rows, []int64{row(i)})
				}
				return rows
			})
		return t.ReadRow(circuit.LowBitsAsType(x, num.Type{Kind: num.KindUInt, Width: 6}))
	}
}

// step looks up whether a word is less than a bound.
func step(rows int, bound int64) func(b *circuit.Builder, x circuit.Value) circuit.Value {
	return func(b *circuit.Builder, x circuit.Value) circuit.Value {
		bit := num.Type{Kind: num.KindUInt, Width: 1}
		t := b.AddTable("t", circuit.DistributedRAMStyle, bit, 1, rows, func() (list [][]int64) {
			for i := range rows {
				list = append(list, []int64{int64(min(1, int64(i)/bound))})
			}
			return list
		})
		return t.ReadRow(circuit.LowBitsAsType(x, num.NarrowestIntTypeFor(num.SingleValueRange(int64(rows-1)))))
	}
}

// late looks up squares of a word from a register.
func late(b *circuit.Builder, x circuit.Value) circuit.Value {
	return table(func(i int) int64 { return int64(i*i) % 128 })(b, x.DelayedByClocks(1))
}

// counter counts in steps of four, in five bits.
func counter(b *circuit.Builder, x circuit.Value) circuit.Value {
	r := b.AddRegister("r", 0, num.Range{Lo: 0, Hi: 31}).WithResetValue(0)
	next := circuit.LowBitsAsType(circuit.SumOfTwo(r.ValueBefore(), b.ConstantNumber(4)), num.Type{Kind: num.KindUInt,
		Width: 5})
	again := circuit.BitOf(x, 0)
	r.SetNext(circuit.MuxByCondition(again, b.ConstantNumber(0), next), b.ConstantNumber(1))
	return circuit.LowBitsOf(r.ValueBefore(), 5)
}

// addends adds two bytes and a constant.
func addends(b *circuit.Builder, x circuit.Value) circuit.Value {
	uint8 := num.Type{Kind: num.KindUInt, Width: 8}
	sum := circuit.LowBitsAsType(circuit.SumOfTwo(circuit.ElementOf(x, 0, uint8), circuit.ElementOf(x, 1, uint8)),
		uint8)
	return circuit.LowBitsOf(circuit.LowBitsAsType(circuit.SumOfTwo(sum, b.ConstantNumber(16)), uint8), 8)
}

// bytes adds two bytes.
func bytes(_ *circuit.Builder, x circuit.Value) circuit.Value {
	uint8 := num.Type{Kind: num.KindUInt, Width: 8}
	return circuit.LowBitsOf(circuit.SumOfTwo(circuit.ElementOf(x, 0, uint8), circuit.ElementOf(x, 1, uint8)), 9)
}

// oneOfFour selects one of four bits by two others.
func oneOfFour(_ *circuit.Builder, x circuit.Value) circuit.Value {
	c, d := circuit.BitOf(x, 4), circuit.BitOf(x, 5)
	return circuit.LowBitsOf(circuit.MuxByCondition(d, circuit.MuxByCondition(c, circuit.BitOf(x, 3), circuit.BitOf(x,
		2)),
		circuit.MuxByCondition(c, circuit.BitOf(x, 1), circuit.BitOf(x, 0))), 1)
}

// array keeps eight words, and reads the next one to be written.
func array(b *circuit.Builder, x circuit.Value) circuit.Value {
	at := b.AddRegister("at", 0, num.Range{Lo: 0, Hi: 7}).WithResetValue(0)
	at.SetNext(circuit.LowBitsAsType(circuit.SumOfTwo(at.ValueBefore(), b.ConstantNumber(1)),
		num.Type{Kind: num.KindUInt, Width: 3}), b.ConstantNumber(1))
	a := b.AddArray("a", circuit.DistributedRAMStyle, 8, 8)
	row := a.ReadRowBefore(at.ValueBefore())
	a.WriteRow(at.ValueBefore(), x, b.ConstantNumber(1))
	return row
}

func TestCount(t *testing.T) {
	t.Parallel()
	delayed := func(_ *circuit.Builder, x circuit.Value) circuit.Value { return x.DelayedByClocks(5) }
	sum := func(_ *circuit.Builder, x circuit.Value) circuit.Value {
		return circuit.LowBitsOf(circuit.SumOfTwo(circuit.ElementOf(x, 0, uint4), circuit.ElementOf(x, 1, uint4)), 5)
	}
	short := func(_ *circuit.Builder, x circuit.Value) circuit.Value {
		uint3 := num.Type{Kind: num.KindUInt, Width: 3}
		return circuit.LowBitsOf(circuit.SumOfTwo(circuit.ElementOf(x, 0, uint3), circuit.ElementOf(x, 1, uint3)), 4)
	}
	for name, tt := range map[string]struct {
		counts CellCountsByPurpose
		kind   CellPurpose
		want   CellCount
	}{
		"words, and when, five clocks later": {count(cost.FabricSeries7, 8, delayed), purposePipelineRegister,
			CellCount{Shift: 9}},
		"the same without shift registers": {count(cost.FabricICE40, 8, delayed), purposePipelineRegister,
			CellCount{FF: 45, Alone: 45}},
		"a sum, whose fifth bit is the carry": {count(cost.FabricSeries7, 8, sum), purposeAdder, CellCount{LUT: 4}},
		"a short sum as gates, with what ABC9 adds to those of the higher bits": {count(cost.FabricECP5, 6, short),
			purposeCompressor, CellCount{Flat: 4 + 1, LUT: math.Pow(4, 6./7)}},
		"a table that is its address": {count(cost.FabricSeries7, 6, table(func(i int) int64 { return int64(i) })),
			purposeConstantTable,
			CellCount{}},
		"a table with a column of its own, and the same turned round": {count(cost.FabricSeries7, 6,
			table(func(i int) int64 {
				odd := int64(bits.OnesCount(uint(i)) & 1)
				return odd | (1-odd)<<1
			})), purposeConstantTable, CellCount{LUT: 1}},
		"a step function, whose halves are alike or constant": {count(cost.FabricSeries7, 12, step(1<<12, 1234)),
			purposeConstantTable,
			CellCount{LUT: 2 * loose}},
		"the same of nine bits, in tables of four inputs": {count(cost.FabricICE40, 9, step(1<<9, 200)),
			purposeConstantTable,
			CellCount{LUT: 2}},
		"a sum of bytes on a carry chain, whose highest bit is the carry": {count(cost.FabricICE40, 16, bytes),
			purposeAdder,
			CellCount{LUT: 8}},
		"the same in pairs, with the two ends of the chain": {count(cost.FabricECP5, 16, bytes), purposeAdder,
			CellCount{Flat: 10 + 4}},
		"one of four, in two tables of four inputs": {count(cost.FabricICE40, 6, oneOfFour), purposeSelector,
			CellCount{LUT: 2}},
		"the same in few tables of paths of any length": {count(cost.FabricECP5, 6, oneOfFour), purposeSelector,
			CellCount{LUT: 3}},
		"a counter in steps of four": {count(cost.FabricSeries7, 1, counter), purposeStateRegister,
			CellCount{FF: 3}},
		"what it adds to": {count(cost.FabricSeries7, 1, counter), purposeSelector,
			CellCount{LUT: 3}},
		"a constant and two numbers, which are added at once": {count(cost.FabricSeries7, 16, addends), purposeAdder,
			CellCount{LUT: 16}},
		"an array, read at an address in registers": {count(cost.FabricSeries7, 8, array), purposeMemory,
			CellCount{LUT: 3, FF: 3, RAM: 8}},
		"a table, whose row is in registers instead, but for a bit of the address": {count(cost.FabricSeries7, 6, late),
			purposeMemory, CellCount{FF: 5}},
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
		{cost.FabricSeries7, 4, 4, 1, 0, 0}, {cost.FabricSeries7, 9, 8, 1, 0, 0}, {cost.FabricSeries7, 27, 8, 2, 0, 0},
		{cost.FabricICE40, 4, 4, 1, 1, 11}, {cost.FabricICE40, 9, 8, 1, 1, 17}, {cost.FabricICE40, 27, 8, 2, 1, 35},
		{cost.FabricECP5, 4, 4, 1, 0, 34}, {cost.FabricECP5, 9, 8, 1, 0, 51}, {cost.FabricECP5, 27, 8, 2, 0, 105},
	} {
		signed := func(width int) num.Type { return num.Type{Kind: num.KindInt, Width: width} }
		c := count(tt.fabric, tt.a+tt.b, func(b *circuit.Builder, x circuit.Value) circuit.Value {
			first := circuit.ElementOf(circuit.SliceBits(x, 0, tt.a), 0, signed(tt.a))
			second := circuit.ElementOf(circuit.SliceBits(x, tt.a, tt.b), 0, signed(tt.b))
			return circuit.LowBitsOf(circuit.MultiplyInDSP(first, second), tt.a+tt.b)
		})
		want := CellCount{DSP: tt.dsp, LUT: float64(tt.lut), FF: float64(tt.ff)}
		if tt.fabric == cost.FabricICE40 { // no lookup table is in front of these registers
			want.Alone = want.FF
		}
		if m := c[purposeMultiplier]; m != want || c[purposeCompressor].LUT > 0 {
			t.Errorf("%v, %d by %d bits: %+v, want %+v", tt.fabric, tt.a, tt.b, m, want)
		}
	}
}
