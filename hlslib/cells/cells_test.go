package cells

import (
	"math/bits"
	"testing"

	"hlsgen/hlslib/cost"
	"hlsgen/internal/circuit"
	"hlsgen/internal/num"
)

var uint4 = num.Type{Kind: num.UInt, Width: 4}

// count is the cells of a layer that makes a word of one.
func count(f cost.Fabric, width int, make func(b *circuit.Builder, x circuit.Value) circuit.Value) Counts {
	b := circuit.New(circuit.Rate{Stage: 5000, LUT: 900, Carry: 30, Inputs: 6})
	always := b.Constant(1)
	b.Output(make(b, b.Input(width, always)), always)
	return DeviceOf(f).Count(b.Layer())
}

// table looks up a word of 6 bits.
func table(row func(i int) int64) func(b *circuit.Builder, x circuit.Value) circuit.Value {
	return func(b *circuit.Builder, x circuit.Value) circuit.Value {
		t := b.Table("t", circuit.Distributed, num.Type{Kind: num.UInt, Width: 7}, 1, 64, func() (rows [][]int64) {
			for i := range 64 {
				rows = append(rows, []int64{row(i)})
			}
			return rows
		})
		return t.Row(circuit.Wrapped(x, num.Type{Kind: num.UInt, Width: 6}))
	}
}

func TestCount(t *testing.T) {
	t.Parallel()
	delayed := func(_ *circuit.Builder, x circuit.Value) circuit.Value { return x.Delayed(5) }
	sum := func(_ *circuit.Builder, x circuit.Value) circuit.Value {
		return circuit.Raw(circuit.Sum(circuit.Element(x, 0, uint4), circuit.Element(x, 1, uint4)), 5)
	}
	for name, tt := range map[string]struct {
		counts Counts
		kind   Kind
		want   Count
	}{
		"words, and when, five clocks later":  {count(cost.Series7, 8, delayed), Pipeline, Count{Shift: 9}},
		"the same without shift registers":    {count(cost.ICE40, 8, delayed), Pipeline, Count{FF: 45}},
		"a sum, whose fifth bit is the carry": {count(cost.Series7, 8, sum), Adders, Count{LUT: 4}},
		"a table that is its address": {count(cost.Series7, 6, table(func(i int) int64 { return int64(i) })), Tables,
			Count{}},
		"a table with a column of its own, and the same turned round": {count(cost.Series7, 6, table(func(i int) int64 {
			odd := int64(bits.OnesCount(uint(i)) & 1)
			return odd | (1-odd)<<1
		})), Tables, Count{LUT: 1}},
	} {
		if got := tt.counts[tt.kind]; got != tt.want {
			t.Errorf("%s: %+v, want %+v", name, got, tt.want)
		}
	}
}
