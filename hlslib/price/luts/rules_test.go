package luts

import (
	"maps"
	"math"
	"math/bits"
	"math/rand/v2"
	"testing"

	"hlsgen/hlslib/price/cost"
	"hlsgen/internal/circuit"
	"hlsgen/internal/num"
)

func unsigned(width int) num.Type { return num.Type{Kind: num.KindUInt, Width: width} }

// A made makes a value of a word.
type made = func(b *circuit.Builder, x circuit.Value) circuit.Value

// conditions returns bits of a word.
func conditions(x circuit.Value, first, end int) (list []circuit.Value) {
	for k := first; k < end; k++ {
		list = append(list, circuit.BitOf(x, k))
	}
	return list
}

// all tests whether the first n bits of a word are set.
func all(n int) made {
	return func(_ *circuit.Builder, x circuit.Value) circuit.Value {
		return circuit.LowBitsOf(circuit.AllHold(conditions(x, 0, n)...), 1)
	}
}

// operands returns the two numbers in a word.
func operands(x circuit.Value, width int) (a, b circuit.Value) {
	return circuit.ElementOf(x, 0, unsigned(width)), circuit.ElementOf(x, 1, unsigned(width))
}

// exceeds compares two numbers of a word.
func exceeds(width int) made {
	return func(_ *circuit.Builder, x circuit.Value) circuit.Value {
		a, b := operands(x, width)
		return circuit.LowBitsOf(circuit.IsGreater(a, b), 1)
	}
}

// exceedsConstant compares a number with a constant that is not a power of two.
func exceedsConstant(width int) made {
	return func(b *circuit.Builder, x circuit.Value) circuit.Value {
		return circuit.LowBitsOf(circuit.IsGreater(circuit.LowBitsAsType(x, unsigned(width)),
			b.ConstantNumber(1<<width/3)), 1)
	}
}

// below compares a number with a power of two.
func below(width int, power int64) made {
	return func(b *circuit.Builder, x circuit.Value) circuit.Value {
		return circuit.LowBitsOf(circuit.IsGreater(b.ConstantNumber(power), circuit.LowBitsAsType(x, unsigned(width))),
			1)
	}
}

// same tests whether two numbers in a word are equal.
func same(width int) made {
	return func(_ *circuit.Builder, x circuit.Value) circuit.Value {
		a, b := operands(x, width)
		return circuit.LowBitsOf(circuit.IsEqual(a, b), 1)
	}
}

// overlapping compares six bits of a word; both numbers contain two of them.
func overlapping(_ *circuit.Builder, x circuit.Value) circuit.Value {
	a, b := circuit.SliceBits(x, 0, 4), circuit.SliceBits(x, 2, 4)
	return circuit.LowBitsOf(circuit.IsEqual(circuit.LowBitsAsType(a, uint4), circuit.LowBitsAsType(b, uint4)), 1)
}

// gated adds a number whose bits are gates of two bits each.
func gated(_ *circuit.Builder, x circuit.Value) circuit.Value {
	var list []circuit.Value
	for k := range 4 {
		list = append(list, circuit.LowBitsOf(circuit.AllHold(circuit.BitOf(x, 4+k), circuit.BitOf(x, 8+k)), 1))
	}
	y := circuit.LowBitsAsType(circuit.ConcatenateWords(list...), uint4)
	return circuit.LowBitsOf(circuit.LowBitsAsType(circuit.SumOfTwo(circuit.ElementOf(x, 0, uint4), y), uint4), 4)
}

// shares lets two gates read a third one.
func shares(_ *circuit.Builder, x circuit.Value) circuit.Value {
	both := circuit.AllHold(circuit.BitOf(x, 0), circuit.BitOf(x, 1))
	return circuit.ConcatenateWords(circuit.LowBitsOf(circuit.AnyHolds(both, circuit.BitOf(x, 2)), 1),
		circuit.LowBitsOf(circuit.AnyHolds(both, circuit.BitOf(x, 3)), 1))
}

// takesIn lets only one gate read another one.
func takesIn(_ *circuit.Builder, x circuit.Value) circuit.Value {
	both := circuit.AllHold(circuit.BitOf(x, 0), circuit.BitOf(x, 1))
	return circuit.LowBitsOf(circuit.AnyHolds(both, circuit.BitOf(x, 2)), 1)
}

// fixed is a register of one bit that never changes.
func fixed(b *circuit.Builder) circuit.Value {
	r := b.AddRegister("fixed", 0, num.Range{Lo: 0, Hi: 1}).WithResetValue(0)
	r.SetNext(r.ValueBefore(), b.ConstantNumber(1))
	return r.ValueBefore()
}

// chosenByFixed selects one of two by a register that never changes.
func chosenByFixed(b *circuit.Builder, x circuit.Value) circuit.Value {
	c := fixed(b)
	return circuit.ConcatenateWords(circuit.LowBitsOf(circuit.MuxByCondition(c, circuit.BitOf(x, 0), circuit.BitOf(x,
		1)), 1),
		circuit.LowBitsOf(circuit.MuxByCondition(circuit.Not(c), circuit.BitOf(x, 2), circuit.BitOf(x, 3)), 1))
}

// twice delays two parts of a word that share two bits.
func twice(_ *circuit.Builder, x circuit.Value) circuit.Value {
	return circuit.ConcatenateWords(circuit.SliceBits(x, 0, 4).DelayedByClocks(1), circuit.SliceBits(x, 2,
		4).DelayedByClocks(1))
}

func delayed(clocks int) made {
	return func(_ *circuit.Builder, x circuit.Value) circuit.Value { return x.DelayedByClocks(clocks) }
}

// oneOf selects one of n bits by an index.
func oneOf(n int) made {
	return func(_ *circuit.Builder, x circuit.Value) circuit.Value {
		index := circuit.LowBitsAsType(circuit.SliceBits(x, n, bits.Len(uint(n-1))), unsigned(bits.Len(uint(n-1))))
		var list []circuit.Value
		for k := range n {
			list = append(list, circuit.SliceBits(x, k, 1))
		}
		return circuit.MuxByIndex(index, list...)
	}
}

// keepsOld lets a register take a number if a bit is set.
func keepsOld(b *circuit.Builder, x circuit.Value) circuit.Value {
	r := b.AddRegister("r", 0, num.Range{Lo: 0, Hi: 15}).WithResetValue(0)
	r.SetNext(circuit.MuxByCondition(circuit.BitOf(x, 4), circuit.ElementOf(x, 0, uint4), r.ValueBefore()),
		b.ConstantNumber(1))
	return circuit.LowBitsOf(r.ValueBefore(), 4)
}

// cleared sets a register between stages to zero if a bit is set.
func cleared(b *circuit.Builder, x circuit.Value) circuit.Value {
	v := circuit.MuxByCondition(circuit.BitOf(x, 4), circuit.ElementOf(x, 0, uint4), b.ConstantNumber(0))
	return circuit.LowBitsOf(v.DelayedByClocks(1), 4)
}

// randomRows makes a table of random rows, of which some columns are read.
func randomRows(style circuit.StorageStyle, rows, width, read int) made {
	return func(b *circuit.Builder, x circuit.Value) circuit.Value {
		r := rand.New(rand.NewPCG(uint64(rows), uint64(width)))
		t := b.AddTable("t", style, unsigned(1), width, rows, func() (list [][]int64) {
			for range rows {
				row := make([]int64, width)
				for i := range row {
					row[i] = r.Int64N(2)
				}
				list = append(list, row)
			}
			return list
		})
		return circuit.SliceBits(t.ReadRow(circuit.LowBitsAsType(x,
			num.NarrowestIntTypeFor(num.SingleValueRange(int64(rows-1))))), 0, read)
	}
}

// halves is a table of two columns, each of which is one of the same two functions of six bits, selected by three
// others.
func halves(b *circuit.Builder, x circuit.Value) circuit.Value {
	r := rand.New(rand.NewPCG(6, 3))
	f := [2]uint64{r.Uint64(), r.Uint64()}
	t := b.AddTable("t", circuit.DistributedRAMStyle, unsigned(1), 2, 512, func() (list [][]int64) {
		for i := range 512 {
			n := bits.OnesCount(uint(i >> 6))
			list = append(list, []int64{int64(f[n&1] >> (i % 64) & 1), int64(f[n>>1] >> (i % 64) & 1)})
		}
		return list
	})
	return t.ReadRow(circuit.LowBitsAsType(x, unsigned(9)))
}

// memory stores words, and reads at the written row, or at another row if apart is true.
func memory(style circuit.StorageStyle, rows, width int, apart bool) made {
	return func(b *circuit.Builder, x circuit.Value) circuit.Value {
		t := num.NarrowestIntTypeFor(num.SingleValueRange(int64(rows - 1)))
		at := circuit.LowBitsAsType(circuit.SliceBits(x, width, t.Width), t)
		from := at
		if apart {
			from = circuit.LowBitsAsType(circuit.SliceBits(x, width+t.Width, t.Width), t)
		}
		a := b.AddArray("a", style, rows, width)
		row := a.ReadRowBefore(from)
		a.WriteRow(at, circuit.SliceBits(x, 0, width), b.ConstantNumber(1))
		return row
	}
}

// unread multiplies two numbers and returns one of them.
func unread(_ *circuit.Builder, x circuit.Value) circuit.Value {
	a, b := operands(x, 8)
	circuit.MultiplyInDSP(a, b)
	return circuit.LowBitsOf(a, 8)
}

// product multiplies two numbers.
func product(width int) made {
	return func(_ *circuit.Builder, x circuit.Value) circuit.Value {
		a, b := operands(x, width)
		return circuit.LowBitsOf(circuit.MultiplyInDSP(a, b), 2*width)
	}
}

// called calls a function for both numbers in a word.
func called(l *circuit.FunctionLibrary) made {
	return func(b *circuit.Builder, x circuit.Value) circuit.Value {
		var list []circuit.Value
		for k := range 2 {
			list = append(list, b.CallFunction(l, "all", []circuit.Value{circuit.ElementOf(x, k, uint4)},
				func(_ *circuit.Builder, in []circuit.Value) []circuit.Value {
					return []circuit.Value{circuit.LowBitsOf(circuit.AllHold(conditions(circuit.LowBitsOf(in[0], 4), 0,
						4)...),
						1)}
				})...)
		}
		return circuit.ConcatenateWords(list...)
	}
}

// turned returns a bit and its inverse.
func turned(_ *circuit.Builder, x circuit.Value) circuit.Value {
	a := circuit.BitOf(x, 0)
	return circuit.ConcatenateWords(circuit.LowBitsOf(a, 1), circuit.LowBitsOf(circuit.Not(a), 1))
}

// loadedTable is a table that arriving words fill, in a circuit with loaded tables.
func loadedTable(b *circuit.Builder, x circuit.Value) circuit.Value {
	circuit.MakeTablesLoadable(b)
	return randomRows(circuit.BlockRAMStyle, 512, 36, 36)(b, x)
}

// high returns the highest bits of a sum of two numbers of eight bits.
func high(_ *circuit.Builder, x circuit.Value) circuit.Value {
	part := func(at int) circuit.Value {
		return circuit.LowBitsAsType(circuit.SliceBits(x, at, 8), num.Type{Kind: num.KindUInt, Width: 8})
	}
	return circuit.SliceBits(circuit.LowBitsOf(circuit.SumOfTwo(part(0), part(8)), 9), 6, 3)
}

// in returns the given number of lookup tables of a kind.
func in(k CellPurpose, luts float64) CellCountsByPurpose { return fill(k, CellCount{LUT: luts}) }

// fill returns counts of cells by kind.
func fill(list ...any) (c CellCountsByPurpose) {
	for i := 0; i < len(list); i += 2 {
		c[list[i].(CellPurpose)] = list[i+1].(CellCount)
	}
	return c
}

// TestRules checks all cells of a circuit, except the lookup table that starts iterations, against the rules of each
// family.
func TestRules(t *testing.T) {
	t.Parallel()
	amd, ice, ecp := cost.FabricSeries7, cost.FabricICE40, cost.FabricECP5
	for _, tt := range []struct {
		name  string
		of    cost.Fabric
		width int
		make  made
		want  CellCountsByPurpose
	}{
		{"a gate of six bits in a lookup table", amd, 6, all(6), in(purposeGate, 1)},
		{"a gate of seven in two", amd, 7, all(7), in(purposeGate, 2)},
		{"of eleven as well", amd, 11, all(11), in(purposeGate, 2)},
		{"of twelve in three", amd, 12, all(12), in(purposeGate, 3)},
		{"of four in one of four inputs", ice, 4, all(4), in(purposeGate, 1)},
		{"of five in two of these", ice, 5, all(5), in(purposeGate, 2)},
		{"a gate that two others read, once", amd, 4, shares, in(purposeGate, 3)},
		{"which of four inputs is in both", ice, 4, shares, in(purposeGate, 2)},
		{"a gate that one other reads, in that", amd, 4, takesIn, in(purposeGate, 1)},
		{"two numbers of three bits in one lookup table", amd, 6, exceeds(3), in(purposeComparator, 1)},
		{"of four in two", amd, 8, exceeds(4), in(purposeComparator, 2)},
		{"of six in five", amd, 12, exceeds(6), in(purposeComparator, 5)},
		{"of seven along a carry chain", amd, 14, exceeds(7), in(purposeComparator, 6)},
		{"of ten too", amd, 20, exceeds(10), in(purposeComparator, 8)},
		{"of six bits and a constant", amd, 6, exceedsConstant(6), in(purposeComparator, 1)},
		{"of twelve as logic", amd, 12, exceedsConstant(12), in(purposeComparator, 3)},
		{"of thirteen along a carry chain", amd, 13, exceedsConstant(13), in(purposeComparator, 6)},
		{"equal numbers of four bits, two in common", amd, 6, overlapping, in(purposeComparator, 1)},
		{"equal numbers of eight bits", amd, 16, same(8), in(purposeComparator, 3)},
		{"a number below eight, by its five high bits", ice, 8, below(8, 8), in(purposeComparator, 2)},
		{"a sum that takes in gates", amd, 12, gated, in(purposeAdder, 4)},
		{"a choice by what never changes", amd, 4, chosenByFixed, CellCountsByPurpose{}},
		{"the same of four inputs", ice, 4, chosenByFixed, CellCountsByPurpose{}},
		{"bits delayed in two words, once", amd, 6, twice, fill(purposePipelineRegister, CellCount{FF: 6 + 1})},
		{"two clocks in registers", amd, 8, delayed(2), fill(purposePipelineRegister, CellCount{FF: 2 * 9})},
		{"three in a shift register", amd, 8, delayed(3), fill(purposePipelineRegister, CellCount{Shift: 9})},
		{"32 as well", amd, 8, delayed(32), fill(purposePipelineRegister, CellCount{Shift: 9})},
		{"33 in two", amd, 8, delayed(33), fill(purposePipelineRegister, CellCount{Shift: 2 * 9})},
		{"one of four in one lookup table", amd, 6, oneOf(4), in(purposeSelector, 1)},
		{"one of five in two", amd, 8, oneOf(5), in(purposeSelector, 2)},
		{"one of eight in three", amd, 11, oneOf(8), in(purposeSelector, 3)},
		{"one of three in two of four inputs", ice, 5, oneOf(3), in(purposeSelector, 2)},
		{"one of five, by what each of four is chosen by", ice, 8, oneOf(5), in(purposeSelector, 6)},
		{"a register that may stay as it is", amd, 5, keepsOld, fill(purposeStateRegister, CellCount{FF: 4})},
		{"a register that may be zero", amd, 5, cleared, fill(purposePipelineRegister, CellCount{FF: 4 + 1})},
		{"a table of six bits", amd, 6, randomRows(circuit.DistributedRAMStyle, 64, 1, 1), in(purposeConstantTable, 1)},
		{"of seven, with a multiplexer beside", amd, 7, randomRows(circuit.DistributedRAMStyle, 128, 1, 1),
			in(purposeConstantTable,
				2)},
		{"of eight, with three", amd, 8, randomRows(circuit.DistributedRAMStyle, 256, 1, 1), in(purposeConstantTable,
			4)},
		{"of nine, in lookup tables behind others", amd, 9, randomRows(circuit.DistributedRAMStyle, 512, 1, 1),
			in(purposeConstantTable, 9*loose)},
		{"two columns of the same functions", amd, 9, halves, in(purposeConstantTable, (3+1)*loose)},
		{"512 rows of 36 bits in a block", amd, 9, randomRows(circuit.BlockRAMStyle, 512, 36, 36),
			fill(purposeMemory, CellCount{BRAM: 1}, purposePipelineRegister, CellCount{FF: 36 + 2})},
		{"of 37 in two", amd, 9, randomRows(circuit.BlockRAMStyle, 512, 37, 37),
			fill(purposeMemory, CellCount{BRAM: 2}, purposePipelineRegister, CellCount{FF: 37 + 2})},
		{"of which 36 are read, in one", amd, 9, randomRows(circuit.BlockRAMStyle, 512, 37, 36),
			fill(purposeMemory, CellCount{BRAM: 1}, purposePipelineRegister, CellCount{FF: 36 + 2})},
		{"4096 rows of 72 bits in UltraRAM", cost.FabricUltraScale, 12, randomRows(circuit.UltraRAMStyle, 4096, 72, 72),
			fill(purposeMemory, CellCount{URAM: 1}, purposePipelineRegister, CellCount{FF: 72 + 2})},
		{"words of 18 bits in a block", amd, 28, memory(circuit.BlockRAMStyle, 1024, 18, false),
			fill(purposeMemory, CellCount{BRAM: 1}, purposePipelineRegister, CellCount{FF: 18 + 2})},
		{"words of 16 in a smaller one", ice, 24, memory(circuit.BlockRAMStyle, 256, 16, false),
			fill(purposeMemory, CellCount{BRAM: 1}, purposePipelineRegister, CellCount{FF: 16 + 2, Alone: 16 + 2})},
		{"64 words of 8 bits in lookup tables", amd, 14, memory(circuit.DistributedRAMStyle, 64, 8, false),
			fill(purposeMemory, CellCount{RAM: 3 * 4})},
		{"65, in two banks", amd, 15, memory(circuit.DistributedRAMStyle, 65, 8, false),
			fill(purposeMemory, CellCount{RAM: 3*4 + 2*4, LUT: 2 + 8./2})},
		{"16 words of 8 bits, four in four of four inputs", ecp, 12, memory(circuit.DistributedRAMStyle, 16, 8, false),
			fill(purposeMemory, CellCount{RAM: 2 * 4, LUT: 2 * 2})},
		{"32, in two banks", ecp, 13, memory(circuit.DistributedRAMStyle, 32, 8, false),
			fill(purposeMemory, CellCount{RAM: 2 * 2 * 4, LUT: 2 * 2 * 2, Flat: 2 + 8})},
		{"8 words of 8 bits in registers", amd, 11, memory(circuit.RegisterArrayStyle, 8, 8, false),
			fill(purposeMemory, CellCount{FF: 64, LUT: 8 + 3*8})},
		{"numbers of eight bits along a chain, with its ends", ecp, 16, exceeds(8),
			fill(purposeComparator, CellCount{Flat: 8 + 4}, purposeInverter, CellCount{LUT: 1})},
		{"of nine, whose last carry but one is read", ecp, 18, exceeds(9),
			fill(purposeComparator, CellCount{Flat: 10 + 4 + 2 + 1})},
		{"a number and 85, which it exceeds if it is not below 43 without its lowest bit", ecp, 8, exceedsConstant(8),
			fill(purposeComparator, CellCount{Flat: 8 + 4 + 2 + 1})},
		{"a number below eight, by its five high bits, on an ECP5", ecp, 8, below(8, 8), in(purposeComparator, 2)},
		{"a product in a multiplier, and its registers", amd, 16, product(8),
			fill(purposeMultiplier, CellCount{DSP: 1}, purposePipelineRegister, CellCount{Shift: 1})},
		{"all its registers beside, those of signs too", ecp, 16, product(8),
			fill(purposeMultiplier, CellCount{DSP: 1, FF: 2*9 + 2*16}, purposePipelineRegister, CellCount{FF: 3})},
		{"a product of few bits, its last register beside", ice, 10, product(5),
			fill(purposeMultiplier, CellCount{DSP: 1, LUT: 1, FF: 11, Alone: 11}, purposePipelineRegister,
				CellCount{FF: 3, Alone: 3})},
		{"a product that nobody reads", amd, 16, unread, CellCountsByPurpose{}},
		{"a function that is called twice", amd, 8, called(new(circuit.FunctionLibrary)), in(purposeGate, 2)},
		{"a table that is filled, in two words of 32 bits a row", amd, 9, loadedTable,
			fill(purposeMemory, CellCount{BRAM: 1, FF: 2*32 + 4 + 9 + 1, LUT: 2*(9+1) + 6}, purposePipelineRegister,
				CellCount{FF: 36 +
					2})},
		{"words that go round a block, which is written a clock later", ice, 32, memory(circuit.BlockRAMStyle, 256, 16,
			true),
			fill(purposeMemory, CellCount{BRAM: 1, FF: 2*16 + 8 + 2, LUT: 10 + 16, Alone: 2*16 + 8},
				purposePipelineRegister, CellCount{FF: 16 + 2, Alone: 16 + 2})},
		{"2304 rows of 8 bits, one word of five banks", ice, 12, randomRows(circuit.BlockRAMStyle, 2304, 8, 8),
			fill(purposeMemory, CellCount{BRAM: 5, FF: 3, LUT: 8 * 3}, purposePipelineRegister, CellCount{FF: 8 + 2,
				Alone: 8 + 2})},
		{"a bit turned round", ice, 1, turned, in(purposeInverter, 1)},
		{"the highest two bits of a sum, and its carry: those below take none", ice, 16, high,
			fill(purposeAdder, CellCount{LUT: 2, Alone: 6})},
	} {
		got := count(tt.of, tt.width, tt.make)
		if starts := &got[purposeGate]; starts.Flat > 0 {
			starts.Flat--
		} else {
			starts.LUT--
		}
		for k := range got {
			if d := got[k].LUT - tt.want[k].LUT; d != 0 && math.Abs(d) < 1e-9 {
				got[k].LUT = tt.want[k].LUT
			}
			if got[k] != tt.want[k] {
				t.Errorf("%s: %s are %+v, want %+v", tt.name, names[k], got[k], tt.want[k])
			}
		}
	}
}

// TestFire checks the logic that starts an iteration, once its input words and room for its output words are there.
func TestFire(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		sometimes int // how many of three inputs are read only if a register says so
		want      float64
	}{{0, 1}, {1, 1 + 1}, {2, 2 + 2}, {3, 2 + 3}} {
		b := circuit.NewBuilder(circuit.TimingModel{Stage: 5000, LUT: 900, Carry: 30, Inputs: 6})
		always := b.ConstantNumber(1)
		r := b.AddRegister("r", 0, num.Range{Lo: 0, Hi: 1}).WithResetValue(0)
		var word []circuit.Value
		for k := range 3 {
			when := always
			if k < tt.sometimes {
				when = r.ValueBefore()
			}
			word = append(word, b.AddInputStream(1, when))
		}
		r.SetNext(circuit.BitOf(word[2], 0), always)
		b.AddOutputStream(circuit.ConcatenateWords(word...), always)
		d := SynthesisRulesOf(cost.FabricSeries7)
		d.Small = false
		if got := d.CountCells(b.FinishLayer())[purposeGate].LUT; got != tt.want {
			t.Errorf("%d of three inputs sometimes: %v lookup tables, want %v", tt.sometimes, got, tt.want)
		}
	}
}

// TestFIFO checks the cells of FIFOs of SystemVerilog: logic that passes and counts words, and their memory.
func TestFIFO(t *testing.T) {
	t.Parallel()
	type is = cost.Resources
	for _, tt := range []struct {
		fifo            FIFOSize
		of              cost.Fabric
		control, memory is
		alone           int
	}{
		{FIFOSize{2, 8, cost.StyleShiftRegister}, cost.FabricSeries7, is{LUT: 2*2 + 3, FF: 2*2 + 2 + 1}, is{LUT: 8,
			FF: 2 * 8}, 0},
		{FIFOSize{32, 8, cost.StyleShiftRegister}, cost.FabricSeries7, is{LUT: 2*6 + 3, FF: 2*6 + 2 + 5}, is{LUT: 8,
			LUTRAM: 8}, 0},
		{FIFOSize{33, 8, cost.StyleShiftRegister}, cost.FabricSeries7, is{LUT: 2*6 + 3, FF: 2*6 + 2 + 6}, is{LUT: 16,
			LUTRAM: 16}, 0},
		{FIFOSize{64, 8, cost.StyleDistributedRAM}, cost.FabricSeries7, is{LUT: 2*7 + 3 + 21, FF: 2*7 + 2 + 3*6},
			is{LUT: 12, LUTRAM: 12}, 0},
		{FIFOSize{512, 36, cost.StyleBlockRAM}, cost.FabricSeries7, is{LUT: 2*10 + 3 + 50, FF: 2*10 + 2 + 2*9 + 1},
			is{LUT: 36, FF: 36, BRAM: 1}, 0},
		{FIFOSize{4096, 72, cost.StyleUltraRAM}, cost.FabricUltraScale, is{LUT: 2*13 + 3 + 66, FF: 2*13 + 2 + 2*12 + 1},
			is{LUT: 72, FF: 72, URAM: 1}, 0},
		{FIFOSize{2, 8, cost.StyleShiftRegister}, cost.FabricICE40, is{LUT: 18, FF: 2*2 + 2 + 1}, is{FF: 2 * 8}, 8},
		{FIFOSize{16, 8, cost.StyleDistributedRAM}, cost.FabricECP5, is{LUT: 58 + 4*4, FF: 2*5 + 2 + 3*4},
			is{LUT: 8 + 4, LUTRAM: 8}, 0},
		{FIFOSize{256, 16, cost.StyleBlockRAM}, cost.FabricICE40, is{LUT: 169, FF: 2*9 + 2 + 2*8 + 1 + 16 + 8 + 2},
			is{FF: 16, BRAM: 1}, 16 + 8},
		{FIFOSize{1024, 18, cost.StyleBlockRAM}, cost.FabricECP5,
			is{LUT: 226 + 6*4, FF: 2*11 + 2 + 2*10 + 1 + 18 + 10 + 2}, is{FF: 18, BRAM: 1}, 0},
	} {
		parts := append(tt.fifo.CostOnFabric(tt.of), cost.CostPart{})
		if len(parts) < 3 || parts[0].Resources != tt.control || parts[1].Resources != tt.memory ||
			parts[2].Resources != (is{LUT: tt.alone}) {
			t.Errorf("%+v: %+v, want %+v, %+v and %d alone", tt.fifo, parts, tt.control, tt.memory, tt.alone)
		}
	}
}

// TestEnds checks the cells of the reset, and of a counter for each output's words.
func TestEnds(t *testing.T) {
	t.Parallel()
	want := cost.Resources{LUT: 8 + 6 + 4, FF: 8 + 6 + 4}
	got := ResetCost().Plus(OutputWordCounterCost(64).Resources).Plus(OutputWordCounterCost(10).Resources)
	if got != want {
		t.Errorf("%+v, want %+v", got, want)
	}
}

// TestOf checks that a device's numbers multiply logic, but no lookup tables that are memory or shift registers.
func TestOf(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		make  made
		width int
		want  map[string]cost.Resources
	}{
		{delayed(3), 8, map[string]cost.Resources{"gates": {LUT: 1}, "pipeline registers": {LUT: 9, LUTRAM: 9}}},
		{memory(circuit.DistributedRAMStyle, 65, 8, false), 15,
			map[string]cost.Resources{"gates": {LUT: 1}, "memories": {LUT: 2*6 + 20, LUTRAM: 20}}},
	} {
		got := map[string]cost.Resources{}
		for _, p := range EstimateCircuitCost(module(tt.width, tt.make), cost.FabricSeries7) {
			got[p.Name] = p.Resources
		}
		if !maps.Equal(got, tt.want) {
			t.Errorf("%+v, want %+v", got, tt.want)
		}
	}
}
