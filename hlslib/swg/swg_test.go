package swg_test

import (
	"fmt"
	"math"
	"reflect"
	"slices"
	"testing"

	"hlsgen/hlslib/swg"
	"hlsgen/internal/dataflow"
	"hlsgen/internal/num"
	"hlsgen/internal/testsupport/layertest"
)

// A geometry is a row of the acceptance table.
type geometry struct {
	frame, kernel, stride, dilation, before, after [2]int
	channels, groups                               int
}

func (g geometry) params(pad int64) swg.Params {
	return swg.Params{Kernel: g.kernel, Stride: g.stride, Dilation: g.dilation, Before: g.before, After: g.after,
		Pad: pad, Groups: g.groups}
}

func (g geometry) shape() []int { return []int{g.frame[0], g.frame[1], g.channels} }

// square has the same kernel, stride, dilation and padding along both axes.
func square(height, width, kernel, stride, dilation, padding, channels, groups int) geometry {
	twice := func(n int) [2]int { return [2]int{n, n} }
	return geometry{[2]int{height, width}, twice(kernel), twice(stride), twice(dilation), twice(padding),
		twice(padding), channels, groups}
}

// line is a signal of one line.
func line(length, kernel, stride, dilation, before, after, channels, groups int) geometry {
	return geometry{[2]int{1, length}, [2]int{1, kernel}, [2]int{1, stride}, [2]int{1, dilation}, [2]int{0, before},
		[2]int{0, after}, channels, groups}
}

// geometries is the acceptance table.
var geometries = []geometry{
	// Kernels of every size, with and without the padding that keeps the frame's size.
	square(4, 5, 1, 1, 1, 0, 4, 1),
	square(5, 4, 2, 1, 1, 0, 2, 1),
	square(5, 6, 3, 1, 1, 0, 4, 1),
	square(5, 6, 3, 1, 1, 1, 4, 1),
	square(6, 5, 4, 1, 1, 0, 2, 1),
	square(7, 6, 5, 1, 1, 2, 2, 1),
	square(7, 8, 6, 1, 1, 0, 1, 1),
	square(8, 7, 7, 1, 1, 3, 2, 1),
	// Strides, with rows and columns left over and without.
	square(6, 6, 1, 2, 1, 0, 4, 1),
	square(7, 7, 1, 3, 1, 0, 3, 1),
	square(6, 6, 2, 2, 1, 0, 4, 1),
	square(7, 7, 2, 2, 1, 0, 2, 1),
	square(6, 8, 3, 2, 1, 1, 4, 1),
	square(9, 7, 3, 2, 1, 1, 2, 1),
	square(8, 9, 3, 3, 1, 0, 2, 1),
	square(9, 9, 2, 3, 1, 1, 2, 1),
	square(9, 11, 7, 2, 1, 3, 3, 1),
	{[2]int{6, 9}, [2]int{3, 3}, [2]int{2, 1}, [2]int{1, 1}, [2]int{1, 1}, [2]int{1, 1}, 2, 1},
	{[2]int{9, 6}, [2]int{3, 3}, [2]int{1, 2}, [2]int{1, 1}, [2]int{1, 1}, [2]int{1, 1}, 2, 1},
	{[2]int{9, 10}, [2]int{1, 3}, [2]int{3, 2}, [2]int{1, 1}, [2]int{0, 1}, [2]int{0, 0}, 2, 1},
	// Dilations.
	square(7, 7, 3, 1, 2, 0, 2, 1),
	square(7, 7, 3, 1, 2, 2, 2, 1),
	square(8, 9, 3, 1, 3, 3, 2, 1),
	square(9, 8, 3, 2, 2, 1, 2, 1),
	square(9, 10, 2, 2, 3, 2, 2, 1),
	{[2]int{7, 8}, [2]int{3, 2}, [2]int{1, 2}, [2]int{1, 3}, [2]int{1, 2}, [2]int{1, 0}, 2, 1},
	{[2]int{3, 4}, [2]int{3, 2}, [2]int{1, 1}, [2]int{2, 3}, [2]int{3, 2}, [2]int{2, 3}, 1, 1},
	// Padding that differs from side to side.
	{[2]int{6, 5}, [2]int{3, 3}, [2]int{1, 1}, [2]int{1, 1}, [2]int{0, 1}, [2]int{1, 0}, 2, 1},
	{[2]int{6, 6}, [2]int{3, 3}, [2]int{2, 2}, [2]int{1, 1}, [2]int{0, 0}, [2]int{1, 1}, 4, 1},
	{[2]int{5, 6}, [2]int{4, 3}, [2]int{1, 1}, [2]int{1, 1}, [2]int{3, 2}, [2]int{0, 2}, 2, 1},
	{[2]int{2, 2}, [2]int{5, 5}, [2]int{1, 1}, [2]int{1, 1}, [2]int{4, 4}, [2]int{4, 4}, 2, 1},
	// Frames and windows of one row, one column, one pixel.
	{[2]int{6, 1}, [2]int{3, 1}, [2]int{1, 1}, [2]int{1, 1}, [2]int{1, 0}, [2]int{1, 0}, 4, 1},
	{[2]int{1, 7}, [2]int{3, 3}, [2]int{1, 1}, [2]int{1, 1}, [2]int{1, 1}, [2]int{1, 1}, 2, 1},
	square(1, 1, 3, 1, 1, 1, 2, 1),
	square(4, 4, 4, 3, 1, 0, 2, 1),
	// Signals.
	line(12, 3, 1, 1, 1, 1, 4, 1),
	line(13, 7, 2, 1, 3, 3, 2, 1),
	line(12, 3, 3, 1, 0, 0, 2, 1),
	line(16, 4, 1, 3, 9, 0, 2, 1), // causal
	line(11, 2, 3, 2, 0, 1, 3, 1),
	line(12, 5, 1, 1, 2, 2, 4, 4),
	line(14, 3, 2, 2, 2, 1, 6, 3),
	// Depthwise, and in groups.
	square(5, 6, 3, 1, 1, 1, 4, 4),
	square(6, 6, 3, 2, 1, 1, 4, 4),
	square(7, 6, 5, 1, 1, 2, 2, 2),
	square(6, 7, 3, 1, 2, 2, 6, 6),
	square(6, 5, 2, 2, 1, 0, 3, 3),
	square(4, 4, 1, 1, 1, 0, 4, 4),
	square(5, 6, 3, 1, 1, 1, 8, 2),
	square(6, 6, 3, 2, 1, 1, 6, 3),
	square(6, 5, 1, 2, 1, 0, 8, 4),
	{[2]int{5, 12}, [2]int{2, 3}, [2]int{1, 1}, [2]int{2, 2}, [2]int{1, 2}, [2]int{1, 2}, 40, 40}, // delays in memories
}

func TestContract(t *testing.T) {
	t.Parallel()
	elems := []num.Type{uintN(4), intN(3), bipolar, uintN(1), intN(8)}
	pads := []int64{0, 3, -1, -5}
	var cases []layertest.Case
	for i, g := range geometries {
		op, in := swg.New(g.params(pads[i%len(pads)])), typ(elems[i%len(elems)], g.shape()...)
		cases = append(cases, layertest.Case{Name: fmt.Sprintf("%+v", g), Op: op, In: []dataflow.StreamType{in}})
	}
	signed := num.Type{Kind: num.KindFloat, Width: 6, Mantissa: 2}
	unsigned := num.Type{Kind: num.KindUFloat, Width: 5, Mantissa: 2}
	for _, c := range []struct {
		elem num.Type
		pad  int64
	}{{signed, 0}, {signed, -24}, {signed, 1}, {unsigned, 0}, {unsigned, -1}, // -1 is none of its values
		{intN(33), -7 << 29}, {uintN(4), 1 << 40}} { // beyond an int: that of a maximum over E5M2, and one that widens
		op, in := swg.New(geometries[3].params(c.pad)), typ(c.elem, geometries[3].shape()...)
		cases = append(cases, layertest.Case{Name: fmt.Sprintf("%v padded with %d", c.elem, c.pad), Op: op,
			In: []dataflow.StreamType{in}})
	}
	layertest.Check(t, cases...)
}

// TestTypes checks padding that the input's type holds, and padding that it does not.
func TestTypes(t *testing.T) {
	t.Parallel()
	small := dataflow.StreamType{Range: []num.Range{{Lo: 2, Hi: 3}, {Lo: 0, Hi: 1}}, Elem: uintN(8)}
	signs := dataflow.StreamType{Range: []num.Range{{Lo: -1, Hi: 1}}, Elem: bipolar}
	for _, tt := range []struct {
		in      dataflow.StreamType
		padding int
		pad     int64
		elem    string
		ranges  []num.Range
	}{
		{small, 0, -9, "UINT8", small.Range},
		{small, 1, 0, "UINT8", []num.Range{{Lo: 0, Hi: 3}, {Lo: 0, Hi: 1}}},
		{small, 1, 255, "UINT8", []num.Range{{Lo: 2, Hi: 255}, {Lo: 0, Hi: 255}}},
		{small, 1, 256, "UINT9", []num.Range{{Lo: 2, Hi: 256}, {Lo: 0, Hi: 256}}},
		{small, 1, -1, "INT3", []num.Range{{Lo: -1, Hi: 3}, {Lo: -1, Hi: 1}}},
		{signs, 0, 0, "BIPOLAR", signs.Range},
		{signs, 1, -1, "BIPOLAR", signs.Range},
		{signs, 1, 0, "INT2", []num.Range{{Lo: -1, Hi: 1}}},
		{signs, 1, 3, "INT3", []num.Range{{Lo: -1, Hi: 3}}},
		{small, 1, math.MinInt32, "INT32", []num.Range{{Lo: math.MinInt32, Hi: 3}, {Lo: math.MinInt32, Hi: 1}}},
	} {
		g := square(4, 4, 3, 1, 1, tt.padding, 2, 1)
		tt.in.Shape = g.shape()
		_, out, err := swg.New(g.params(tt.pad)).Bind([]dataflow.StreamType{tt.in})
		if err != nil {
			t.Fatal(err)
		}
		if out[0].Elem.String() != tt.elem || !reflect.DeepEqual(out[0].Range, tt.ranges) {
			t.Errorf("%+v padded with %d: %v in %v, want %s in %v", tt.in, tt.pad, out[0].Elem, out[0].Range, tt.elem,
				tt.ranges)
		}
	}
}

// TestRecodes pads with values that the input cannot hold, with ranges among them that do not fill their type.
func TestRecodes(t *testing.T) {
	t.Parallel()
	ranges := func(elem num.Type, r ...num.Range) []dataflow.StreamType {
		return []dataflow.StreamType{{Shape: dataflow.Shape{4, 5, 2}, Range: r, Elem: elem}}
	}
	p := func(pad int64, groups int) dataflow.Op {
		return swg.New(square(4, 5, 3, 1, 1, 1, 2, groups).params(pad))
	}
	layertest.Check(t,
		layertest.Case{Name: "bipolar with 0", Op: p(0, 1), In: ranges(bipolar, num.Range{Lo: -1, Hi: 1})},
		layertest.Case{Name: "bipolar with 1", Op: p(1, 2), In: ranges(bipolar, num.Range{Lo: -1, Hi: 1})},
		layertest.Case{Name: "wider to narrower", Op: p(-1, 2),
			In: ranges(uintN(8), num.Range{Lo: 0, Hi: 3}, num.Range{Lo: 1, Hi: 1})},
		layertest.Case{Name: "narrower to wider", Op: p(math.MaxInt32, 1),
			In: ranges(intN(4), num.Range{Lo: -8, Hi: 7})},
		layertest.Case{Name: "wide", Op: p(-1, 2), In: ranges(uintN(63), num.Range{Lo: 0, Hi: math.MaxInt64})},
	)
}

// TestSmallFrames has windows that reach far beyond the frame.
func TestSmallFrames(t *testing.T) {
	t.Parallel()
	var cases []layertest.Case
	for _, g := range []geometry{
		{[2]int{1, 3}, [2]int{3, 4}, [2]int{3, 4}, [2]int{2, 3}, [2]int{3, 4}, [2]int{3, 8}, 1, 1},
		{[2]int{1, 4}, [2]int{2, 1}, [2]int{1, 1}, [2]int{3, 1}, [2]int{3, 0}, [2]int{3, 0}, 2, 2},
		{[2]int{3, 1}, [2]int{2, 2}, [2]int{2, 1}, [2]int{2, 3}, [2]int{2, 3}, [2]int{1, 3}, 1, 1},
		{[2]int{2, 2}, [2]int{4, 4}, [2]int{1, 2}, [2]int{2, 2}, [2]int{6, 6}, [2]int{6, 4}, 1, 1},
		square(1, 1, 5, 1, 3, 6, 2, 2),
	} {
		cases = append(cases, layertest.Case{Name: fmt.Sprintf("%+v", g), Op: swg.New(g.params(2)),
			In: []dataflow.StreamType{typ(intN(2), g.shape()...)}})
	}
	layertest.Check(t, cases...)
}

func TestBindRefuses(t *testing.T) {
	t.Parallel()
	ok := square(6, 6, 3, 1, 1, 1, 4, 1).params(0)
	with := func(change func(*swg.Params)) swg.Params {
		p := ok
		change(&p)
		return p
	}
	in := typ(uintN(4), 6, 6, 4)
	huge := typ(uintN(1), 1<<15, 1<<15, 1)
	for _, tt := range []struct {
		p    swg.Params
		in   []dataflow.StreamType
		want string
	}{
		{ok, []dataflow.StreamType{in}, ""},
		{swg.Params{}, []dataflow.StreamType{in}, "a kernel of 0"},
		{with(func(p *swg.Params) { p.Kernel[1] = -1 }), []dataflow.StreamType{in}, "a kernel of -1"},
		{with(func(p *swg.Params) { p.Kernel[1] = 1 << 40 }), []dataflow.StreamType{in}, "want 1 to 1048576"},
		{with(func(p *swg.Params) { p.Stride[0] = 0 }), []dataflow.StreamType{in}, "a stride of 0"},
		{with(func(p *swg.Params) { p.Dilation[0] = 1 << 21 }), []dataflow.StreamType{in}, "a dilation of 2097152"},
		{with(func(p *swg.Params) { p.Before[0] = 3 }), []dataflow.StreamType{in},
			"padding by 3 for a kernel that reaches over 3, want 0 to 2"},
		{with(func(p *swg.Params) { p.After[1] = -1 }), []dataflow.StreamType{in}, "padding by -1"},
		{with(func(p *swg.Params) { p.Pad = 1 << 31 }), []dataflow.StreamType{in}, ""},
		{with(func(p *swg.Params) { p.Groups = 0 }), []dataflow.StreamType{in}, "0 groups"},
		{with(func(p *swg.Params) { p.Groups = 3 }), []dataflow.StreamType{in}, "3 groups of 4 channels"},
		{with(func(p *swg.Params) { p.Groups = 8 }), []dataflow.StreamType{in}, "8 groups of 4 channels"},
		{ok, nil, "0 inputs, want 1"},
		{ok, []dataflow.StreamType{in, in}, "2 inputs, want 1"},
		{ok, []dataflow.StreamType{typ(uintN(4), 6, 4)}, "shape [6 4], want rows, columns and channels"},
		{with(func(p *swg.Params) { p.Kernel[0], p.Before[0] = 9, 0 }), []dataflow.StreamType{in},
			"reaches over 9 by 3 for a frame of shape [6 6 4] padded to 7 by 8: no window fits"},
		{with(func(p *swg.Params) { p.Dilation[1], p.Kernel[1] = 1<<20, 1<<20 }), []dataflow.StreamType{in},
			"no window fits"},
		{ok, []dataflow.StreamType{huge}, "has more than 268435456 elements"},
		{ok, []dataflow.StreamType{typ(uintN(1), 1<<13, 1<<13, 1)}, "8192 by 8192 windows, at most 33554432"},
		{square(300, 300, 100, 1, 1, 50, 2, 1).params(0), []dataflow.StreamType{typ(uintN(1), 300, 300, 2)},
			"301 by 301 windows of 100 by 100 pixels have more than"},
		{square(100, 100, 100, 1, 1, 99, 1, 1).params(0), []dataflow.StreamType{typ(uintN(4), 100, 100, 1)}, ""},
	} {
		layertest.CheckRefused(t, swg.New(tt.p), tt.in, tt.want)
	}
}

func TestDecodeRefuses(t *testing.T) {
	t.Parallel()
	layertest.CheckTextRefused(t, swg.LayerKind, ``, `null`, `{}`, `[]`, `{"kernel":[3,3]}`,
		`{"kernel":[3,3],"stride":[1,1],"dilation":[1,1]}`, `{"kernel":3,"stride":[1,1],"dilation":[1,1],"groups":1}`,
		`{"kernel":[3,3],"stride":[1,1],"dilation":[1,1],"groups":1,"pad":1e99}`,
		`{"kernel":[3],"stride":[1,1],"dilation":[1,1],"groups":1}`)
}

// TestFolds checks the words of every form, and which frames are too wide for a form.
func TestFolds(t *testing.T) {
	t.Parallel()
	type words struct{ pe, simd, tile int }
	for _, tt := range []struct {
		g    geometry
		elem num.Type
		want []words
	}{
		{square(5, 5, 3, 1, 1, 1, 4, 1), uintN(4), []words{{1, 1, 0}, {1, 2, 0}, {1, 4, 0}, {9, 4, 0}}},
		{square(5, 5, 3, 1, 1, 1, 4, 2), uintN(4), []words{{1, 1, 2}, {1, 2, 2}, {9, 2, 2}}},
		{square(5, 5, 3, 1, 1, 1, 4, 4), uintN(4), []words{{1, 1, 1}, {1, 2, 2}, {1, 4, 0}, {9, 1, 1}, {9, 2, 2},
			{9, 4, 0}}},
		{square(5, 5, 1, 1, 1, 0, 4, 4), uintN(4), []words{{1, 1, 0}, {1, 2, 0}, {1, 4, 0}}},
		{square(5, 5, 1, 2, 1, 0, 4, 2), uintN(4), []words{{1, 1, 0}, {1, 2, 0}}},
		{square(4, 4, 3, 1, 1, 2, 2, 1), uintN(4), []words{{1, 1, 0}, {1, 2, 0}}}, // windows out of raster order
		{square(5, 5, 3, 1, 1, 1, 64, 64), uintN(16), []words{{1, 1, 1}, {1, 2, 2}, {1, 4, 4}, {1, 8, 8}, {1, 16, 16},
			{1, 32, 32}, {1, 64, 0}, {9, 1, 1}, {9, 2, 2}, {9, 4, 4}, {9, 8, 8}, {9, 16, 16}}},
		{square(3, 3, 2, 1, 1, 0, 2048, 1024), uintN(8), []words{{1, 1, 2}, {1, 2, 2}, {4, 2, 2}}},
	} {
		op, out, err := swg.New(tt.g.params(0)).Bind([]dataflow.StreamType{typ(tt.elem, tt.g.shape()...)})
		if err != nil {
			t.Fatal(err)
		}
		var got []words
		for f := range op.Folds() {
			in, ports := op.Ports(f)
			if in[0].PerWord != f.SIMD || in[0].Tile != 0 || ports[0].PerWord != f.PE*f.SIMD ||
				ports[0].Words*f.PE*f.SIMD != out[0].Shape.ElementCount() {
				t.Errorf("%+v, %+v: ports %+v, %+v", tt.g, f, in, ports)
			}
			got = append(got, words{f.PE, f.SIMD, ports[0].Tile})
		}
		if got = slices.Compact(got); !slices.Equal(got, tt.want) { // memories come next to each other
			t.Errorf("%+v: %v, want %v", tt.g, got, tt.want)
		}
	}
}

func TestCost(t *testing.T) {
	t.Parallel()
	part := func(op dataflow.Op, f dataflow.Fold, name string) dataflow.Resources {
		for _, p := range op.Cost(f, dataflow.Target{Formula: dataflow.FINNCostFormula}) {
			if p.Name == name {
				return p.Resources
			}
		}
		return dataflow.Resources{}
	}
	op := layertest.Bind(t, swg.New(square(56, 56, 3, 1, 1, 1, 64, 64).params(0)), typ(uintN(4), 56, 56, 64))
	for _, tt := range []struct {
		f    dataflow.Fold
		part string
		want dataflow.Resources
	}{
		// A ring of 115 pixels, 2 rows and 3 pixels; 16 words of 4 elements each.
		{dataflow.Fold{PE: 1, SIMD: 4, Memory: dataflow.MemoryBRAM}, "window buffer", dataflow.Resources{BRAM: 2}},
		{dataflow.Fold{PE: 1, SIMD: 4, Memory: dataflow.MemoryLUTRAM}, "window buffer",
			dataflow.Resources{LUT: 16 * 49, LUTRAM: 16 * 49}},
		{dataflow.Fold{PE: 1, SIMD: 4, Memory: dataflow.MemoryURAM}, "window buffer", dataflow.Resources{URAM: 1}},
		{dataflow.Fold{PE: 1, SIMD: 4, Memory: dataflow.MemoryBRAM}, "padding", dataflow.Resources{LUT: 16}},
		// Two lines of 56*16 words; 2 columns of 3 taps, 16 words apart.
		{dataflow.Fold{PE: 9, SIMD: 4, Memory: dataflow.MemoryBRAM}, "window buffer", dataflow.Resources{BRAM: 2}},
		{dataflow.Fold{PE: 9, SIMD: 4, Memory: dataflow.MemoryBRAM}, "window registers",
			dataflow.Resources{LUT: 96, LUTRAM: 96, FF: 96}},
		{dataflow.Fold{PE: 9, SIMD: 1, Memory: dataflow.MemoryBRAM}, "window registers",
			dataflow.Resources{LUT: 24 * 2, LUTRAM: 24 * 2}},
		{dataflow.Fold{PE: 9, SIMD: 64, Memory: dataflow.MemoryBRAM}, "window registers",
			dataflow.Resources{FF: 2 * 3 * 256}},
		{dataflow.Fold{PE: 9, SIMD: 64, Memory: dataflow.MemoryBRAM}, "output register",
			dataflow.Resources{FF: 9 * 256}},
	} {
		if got := part(op, tt.f, tt.part); got != tt.want {
			t.Errorf("%+v: %s %+v, want %+v", tt.f, tt.part, got, tt.want)
		}
	}
}

// What types are called above.
var typ, uintN, intN, bipolar = layertest.FullType, layertest.UInt, layertest.Int, layertest.Bipolar
