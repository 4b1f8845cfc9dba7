package luts

import (
	"testing"

	"hlsgen/hlslib/price/cost"
	"hlsgen/internal/circuit"
	"hlsgen/internal/num"
	"hlsgen/internal/testsupport/circuittest"
)

// TestWideNumbers checks the cells of operations on numbers of more than 64 bits.
func TestWideNumbers(t *testing.T) {
	t.Parallel()
	const width = 100
	unsigned := num.Type{Kind: num.KindUInt, Width: width}
	signed := num.Type{Kind: num.KindInt, Width: 64}
	power := num.Wide{Lo: 1}.Shifted(70)
	pair := func(x circuit.Value) (a, b circuit.Value) {
		return circuit.ElementOf(x, 0, unsigned), circuit.ElementOf(x, 1, unsigned)
	}
	for name, tt := range map[string]struct {
		width int
		make  func(b *circuit.Builder, x circuit.Value) circuit.Value
		kind  CellPurpose
		want  CellCount
	}{
		"a sum": {2 * width, func(_ *circuit.Builder, x circuit.Value) circuit.Value {
			a, b := pair(x)
			return circuit.LowBitsOf(circuit.SumOfTwo(a, b), width+1)
		}, purposeAdder, CellCount{LUT: width}},
		"a comparison with 2^70, three bits a cell": {width, func(b *circuit.Builder, x circuit.Value) circuit.Value {
			a := circuit.LowBitsAsType(x, unsigned)
			return circuit.LowBitsOf(circuit.IsGreater(circuit.WideConstant(b, power), a), 1)
		}, purposeComparator, CellCount{LUT: 34}},
		"a register that begins as 2^70": {width, func(b *circuit.Builder, x circuit.Value) circuit.Value {
			r := circuit.AddWideRegister(b, "r", 0, unsigned.WideRange()).WithWideResetValue(power)
			r.SetNext(circuit.LowBitsAsType(x, unsigned), b.ConstantNumber(1))
			return circuit.LowBitsOf(r.ValueBefore(), width)
		}, purposeStateRegister, CellCount{FF: width}},
		"a register that stays 2^70": {1, func(b *circuit.Builder, x circuit.Value) circuit.Value {
			r := circuit.AddWideRegister(b, "r", 0, unsigned.WideRange()).WithWideResetValue(power)
			r.SetNext(circuit.MuxByCondition(circuit.BitOf(x, 0), circuit.WideConstant(b, power), r.ValueBefore()),
				b.ConstantNumber(1))
			return circuit.LowBitsOf(r.ValueBefore(), width)
		}, purposeStateRegister, CellCount{}},
		"a product, of tiles of 25 by 18 bits": {2 * signed.Width, func(_ *circuit.Builder,
			x circuit.Value) circuit.Value {
			return circuit.LowBitsOf(circuit.MultiplyInDSP(circuit.ElementOf(x, 0, signed),
				circuit.ElementOf(x, 1, signed)), 2*signed.Width)
		}, purposeMultiplier, CellCount{DSP: 3 * 4}},
	} {
		if got := count(cost.FabricSeries7, tt.width, tt.make)[tt.kind]; got != tt.want {
			t.Errorf("%s: %+v, want %+v", name, got, tt.want)
		}
	}
}

// TestWideConstants checks the bits of constants and of registers that stay as they are.
func TestWideConstants(t *testing.T) {
	t.Parallel()
	v, ones := num.Wide{Hi: -5, Lo: 1 << 63}, num.Wide{Hi: 1<<62 - 1, Lo: ^uint64(0)}
	m := module(1, func(b *circuit.Builder, x circuit.Value) circuit.Value {
		c := circuit.WideConstant(b, v)
		r := circuit.AddWideRegister(b, "r", 0, num.WideRange{Lo: v, Hi: ones}).WithWideResetValue(v)
		r.SetNext(circuit.MuxByCondition(circuit.BitOf(x, 0), c, r.ValueBefore()), b.ConstantNumber(1))
		y := circuit.Subtract(circuit.WideConstant(b, ones), r.ValueBefore().DelayedByClocks(1))
		return circuit.LowBitsOf(y, 128)
	})
	w := newWalk(m, SynthesisRulesOf(cost.FabricSeries7))
	w.find()
	for i, n := range m.Nodes {
		of := v
		switch {
		case n.Op == circuit.OpConstant && n.Width > 100 && n.Range.Lo > 0:
			of = ones
		case n.Width < 60 || n.Op == circuit.OpSubtract || n.Word:
			continue
		}
		for k := range n.Width {
			if got, want := w.of(circuit.NodeID(i), k), constant(int64(of.Shifted(-k).Lo&1)); got != want {
				t.Errorf("node %d, %v: bit %d is %d, want %d", i, n.Op, k, got, want)
			}
		}
	}
}

// TestDrawings counts the cells of random circuits of numbers of up to 128 bits on every family's rules.
func TestDrawings(t *testing.T) {
	t.Parallel()
	for seed := range uint64(3) {
		m := circuittest.Draw(seed).Module
		for _, f := range []cost.Fabric{cost.FabricSeries7, cost.FabricICE40, cost.FabricECP5} {
			all := SynthesisRulesOf(f).CountCells(m)
			sums := all[purposeAdder].LUT + all[purposeAdder].Flat
			if sums == 0 || all[purposeMultiplier].DSP == 0 || all[purposeStateRegister].FF == 0 {
				t.Errorf("seed %d, %v: %+v", seed, f, all)
			}
		}
	}
}
