package onnxio

import (
	"encoding/binary"
	"maps"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"google.golang.org/protobuf/proto"

	"hlsgen/frontend/graph"
	"hlsgen/frontend/onnxio/onnxpb"
	"hlsgen/internal/diag"
	"hlsgen/internal/testsupport/onnxtest"
)

// constantModel returns a model that contains only one initializer.
func constantModel(t *onnxpb.TensorProto) []byte {
	m := onnxtest.New(13)
	t.Name = new("c")
	m.Proto.Graph.Initializer = []*onnxpb.TensorProto{t}
	return m.Output("c", graph.DTypeUndefined).Bytes()
}

// le encodes values as little-endian, in the size of T.
func le[T any](values ...T) []byte {
	b, err := binary.Append(nil, binary.LittleEndian, values)
	if err != nil {
		panic(err)
	}
	return b
}

func TestConstants(t *testing.T) {
	t.Parallel()
	inf, nan := math.Inf(1), math.NaN()
	negZero := math.Copysign(0, -1)
	raw := func(b []byte) *onnxpb.TensorProto { return &onnxpb.TensorProto{RawData: b} }
	typed := func(v ...int32) *onnxpb.TensorProto { return &onnxpb.TensorProto{Int32Data: v} }
	for _, c := range []struct {
		dtype graph.DType
		shape []int64
		data  *onnxpb.TensorProto
		want  any // []float64 or []int64
	}{
		{graph.DTypeFloat32, []int64{3}, raw(le[float32](1.5, -0.1, float32(inf))),
			[]float64{1.5, float64(float32(-0.1)), inf}},
		{graph.DTypeFloat32, []int64{3}, &onnxpb.TensorProto{FloatData: []float32{1.5, -0.1, float32(nan)}},
			[]float64{1.5, float64(float32(-0.1)), nan}},
		{graph.DTypeFloat32, nil, raw(le[float32](1e-45)), []float64{float64(float32(1e-45))}},
		{graph.DTypeFloat64, []int64{2}, raw(le(math.Pi, negZero)), []float64{math.Pi, negZero}},
		{graph.DTypeFloat64, []int64{2}, &onnxpb.TensorProto{DoubleData: []float64{math.Pi, negZero}},
			[]float64{math.Pi, negZero}},
		{graph.DTypeFloat16, []int64{2, 2}, raw(le[uint16](0x3c00, 0xc000, 0x0001, 0x7c00)), []float64{1, -2, 0x1p-24,
			inf}},
		{graph.DTypeFloat16, []int64{2}, typed(0x3c00, 0xc000), []float64{1, -2}},
		{graph.DTypeFloat16, []int64{1}, typed(-0x4000), []float64{-2}},
		{graph.DTypeBFloat16, []int64{2}, raw(le[uint16](0x3f80, 0xc040)), []float64{1, -3}},
		{graph.DTypeBFloat16, []int64{2}, typed(0x3f80, 0xc040), []float64{1, -3}},
		{graph.DTypeFloat8E4M3FN, []int64{3}, raw([]byte{0x38, 0x7e, 0xff}), []float64{1, 448, nan}},
		{graph.DTypeFloat8E4M3FN, []int64{2}, typed(0x38, 0xb8), []float64{1, -1}},
		{graph.DTypeFloat8E4M3FNUZ, []int64{2}, raw([]byte{0x40, 0x7f}), []float64{1, 240}},
		{graph.DTypeFloat8E5M2, []int64{3}, raw([]byte{0x3c, 0x7b, 0xfc}), []float64{1, 57344, -inf}},
		{graph.DTypeFloat8E5M2FNUZ, []int64{2}, raw([]byte{0x40, 0x80}), []float64{1, nan}},
		{graph.DTypeFloat8E8M0, []int64{3}, raw([]byte{0, 127, 254}), []float64{0x1p-127, 1, 0x1p127}},
		{graph.DTypeFloat4E2M1, []int64{3}, raw([]byte{0x7f, 0x01}), []float64{-6, 6, 0.5}},
		{graph.DTypeFloat4E2M1, []int64{3}, typed(0x7f, 0x01), []float64{-6, 6, 0.5}},
		{graph.DTypeBool, []int64{4}, raw([]byte{0, 1, 2, 255}), []int64{0, 1, 1, 1}},
		{graph.DTypeBool, []int64{2}, typed(1, 0), []int64{1, 0}},
		{graph.DTypeInt2, []int64{5}, raw([]byte{0b11_10_01_00, 0b10}), []int64{0, 1, -2, -1, -2}},
		{graph.DTypeUInt2, []int64{5}, raw([]byte{0b11_10_01_00, 0b10}), []int64{0, 1, 2, 3, 2}},
		{graph.DTypeInt4, []int64{3}, raw([]byte{0x87, 0x0f}), []int64{7, -8, -1}},
		{graph.DTypeInt4, []int64{3}, typed(0x87, 0x0f), []int64{7, -8, -1}},
		{graph.DTypeInt4, []int64{2}, typed(-0x79), []int64{7, -8}},
		{graph.DTypeUInt4, []int64{3}, raw([]byte{0x87, 0x0f}), []int64{7, 8, 15}},
		{graph.DTypeInt8, []int64{3}, raw([]byte{0x80, 0x7f, 0xff}), []int64{-128, 127, -1}},
		{graph.DTypeInt8, []int64{2}, typed(-128, 127), []int64{-128, 127}},
		{graph.DTypeUInt8, []int64{2}, raw([]byte{0x80, 0xff}), []int64{128, 255}},
		{graph.DTypeUInt8, []int64{2}, typed(128, 255), []int64{128, 255}},
		{graph.DTypeInt16, []int64{2}, raw(le[int16](-32768, 32767)), []int64{-32768, 32767}},
		{graph.DTypeInt16, []int64{2}, typed(-32768, 32767), []int64{-32768, 32767}},
		{graph.DTypeUInt16, []int64{2}, raw(le[uint16](1, 65535)), []int64{1, 65535}},
		{graph.DTypeUInt16, []int64{2}, typed(1, 65535), []int64{1, 65535}},
		{graph.DTypeInt32, []int64{2}, raw(le[int32](math.MinInt32, 7)), []int64{math.MinInt32, 7}},
		{graph.DTypeInt32, []int64{2}, typed(math.MinInt32, 7), []int64{math.MinInt32, 7}},
		{graph.DTypeUInt32, []int64{2}, raw(le[uint32](math.MaxUint32, 7)), []int64{math.MaxUint32, 7}},
		{graph.DTypeUInt32, []int64{2}, &onnxpb.TensorProto{Uint64Data: []uint64{math.MaxUint32, 7}},
			[]int64{math.MaxUint32, 7}},
		{graph.DTypeInt64, []int64{2}, raw(le[int64](math.MinInt64, math.MaxInt64)), []int64{math.MinInt64,
			math.MaxInt64}},
		{graph.DTypeInt64, []int64{2}, &onnxpb.TensorProto{Int64Data: []int64{math.MinInt64, math.MaxInt64}},
			[]int64{math.MinInt64, math.MaxInt64}},
		{graph.DTypeUInt64, []int64{1}, raw(le[uint64](math.MaxInt64)), []int64{math.MaxInt64}},
		{graph.DTypeUInt64, []int64{1}, &onnxpb.TensorProto{Uint64Data: []uint64{math.MaxInt64}},
			[]int64{math.MaxInt64}},
		{graph.DTypeFloat32, []int64{0}, raw([]byte{}), []float64{}},
		{graph.DTypeFloat32, []int64{2, 0, 3}, raw(nil), []float64{}},
		{graph.DTypeInt64, []int64{0}, typed(), []int64{}},
		{graph.DTypeBool, []int64{0}, raw(nil), []int64{}},
	} {
		c.data.Dims, c.data.DataType = c.shape, new(int32(c.dtype))
		var d diag.List
		g := ParseGraph("m.onnx", constantModel(c.data), &d)
		if g == nil {
			t.Errorf("%v: %v", c.dtype, d.Diags)
			continue
		}
		got := g.Init["c"]
		if got.DType != c.dtype || len(got.Shape) != len(c.shape) {
			t.Errorf("%v %v came out as %v %v", c.dtype, c.shape, got.DType, got.Shape)
		}
		for i, s := range c.shape {
			if got.Shape[i] != int(s) {
				t.Errorf("%v: shape %v, want %v", c.dtype, got.Shape, c.shape)
			}
		}
		switch want := c.want.(type) {
		case []float64:
			if got.I != nil || !sameBits(got.F, want) {
				t.Errorf("%v: %v, want %v", c.dtype, got, want)
			}
		case []int64:
			if got.F != nil || !slices.Equal(got.Ints(), want) {
				t.Errorf("%v: %v, want %v", c.dtype, got, want)
			}
		}
	}
}

// sameBits compares lists. It distinguishes -0 from 0 and treats all NaNs as equal.
func sameBits(a, b []float64) bool {
	if len(a) != len(b) {
		return false
	}
	for i := range a {
		if math.Float64bits(a[i]) != math.Float64bits(b[i]) && !(math.IsNaN(a[i]) && math.IsNaN(b[i])) {
			return false
		}
	}
	return true
}

func TestConstantFaults(t *testing.T) {
	t.Parallel()
	f32, i8 := new(int32(graph.DTypeFloat32)), new(int32(graph.DTypeInt8))
	for _, c := range []struct {
		name string
		t    *onnxpb.TensorProto
		want diag.Code
	}{
		{"too few bytes", &onnxpb.TensorProto{DataType: f32, Dims: []int64{2}, RawData: make([]byte, 7)},
			diag.ModelMalformed},
		{"too many bytes", &onnxpb.TensorProto{DataType: f32, Dims: []int64{2}, RawData: make([]byte, 9)},
			diag.ModelMalformed},
		{"scalar without data", &onnxpb.TensorProto{DataType: f32}, diag.ModelMalformed},
		{"data of an empty tensor", &onnxpb.TensorProto{DataType: f32, Dims: []int64{0}, RawData: make([]byte, 4)},
			diag.ModelMalformed},
		{"odd nibble missing", &onnxpb.TensorProto{DataType: new(int32(graph.DTypeInt4)), Dims: []int64{3},
			RawData: make([]byte, 1)}, diag.ModelMalformed},
		{"negative axis", &onnxpb.TensorProto{DataType: i8, Dims: []int64{-1, -4}, RawData: make([]byte, 4)},
			diag.ModelMalformed},
		{"huge shape", &onnxpb.TensorProto{DataType: i8, Dims: []int64{1 << 30, 1 << 20}, RawData: make([]byte, 4)},
			diag.ModelMalformed},
		{"product 2^64", &onnxpb.TensorProto{DataType: i8, Dims: []int64{1 << 32, 1 << 32}}, diag.ModelMalformed},
		{"bits 2^64", &onnxpb.TensorProto{DataType: f32, Dims: []int64{1 << 59}}, diag.ModelMalformed},
		{"huge empty shape", &onnxpb.TensorProto{DataType: i8, Dims: []int64{1 << 40, 0}}, diag.ModelTooLarge},
		{"rank 65", &onnxpb.TensorProto{DataType: i8, Dims: make([]int64, 65)}, diag.ModelTooLarge},
		{"typed and raw", &onnxpb.TensorProto{DataType: i8, Dims: []int64{1}, RawData: make([]byte, 1),
			Int32Data: []int32{1}}, diag.ModelMalformed},
		{"field of another type", &onnxpb.TensorProto{DataType: f32, Dims: []int64{1}, DoubleData: []float64{1}},
			diag.ModelMalformed},
		{"two typed fields", &onnxpb.TensorProto{DataType: f32, Dims: []int64{1}, FloatData: []float32{1},
			Int64Data: []int64{1}}, diag.ModelMalformed},
		{"int8 of 128", &onnxpb.TensorProto{DataType: i8, Dims: []int64{1}, Int32Data: []int32{128}},
			diag.ModelMalformed},
		{"uint8 of -1", &onnxpb.TensorProto{DataType: new(int32(graph.DTypeUInt8)), Dims: []int64{1},
			Int32Data: []int32{-1}}, diag.ModelMalformed},
		{"float16 of 17 bits", &onnxpb.TensorProto{DataType: new(int32(graph.DTypeFloat16)), Dims: []int64{1},
			Int32Data: []int32{1 << 16}}, diag.ModelMalformed},
		{"uint32 of 2^32", &onnxpb.TensorProto{DataType: new(int32(graph.DTypeUInt32)), Dims: []int64{1},
			Uint64Data: []uint64{1 << 32}}, diag.ModelMalformed},
		{"uint64 of 2^63", &onnxpb.TensorProto{DataType: new(int32(graph.DTypeUInt64)), Dims: []int64{1},
			RawData: le(uint64(1 << 63))}, diag.OpUnsupported},
		{"string", &onnxpb.TensorProto{DataType: new(int32(graph.DTypeString)), Dims: []int64{1},
			StringData: [][]byte{{'a'}}}, diag.OpUnsupported},
		{"complex", &onnxpb.TensorProto{DataType: new(int32(graph.DTypeComplex64)), Dims: []int64{1},
			RawData: make([]byte, 8)}, diag.OpUnsupported},
		{"no type", &onnxpb.TensorProto{Dims: []int64{1}, RawData: make([]byte, 8)}, diag.OpUnsupported},
		{"type 99", &onnxpb.TensorProto{DataType: new(int32(99)), Dims: []int64{1}, RawData: make([]byte, 8)},
			diag.OpUnsupported},
		{"type -1", &onnxpb.TensorProto{DataType: new(int32(-1)), Dims: []int64{1}, RawData: make([]byte, 8)},
			diag.OpUnsupported},
		{"segment", &onnxpb.TensorProto{DataType: i8, Dims: []int64{1}, RawData: make([]byte, 1),
			Segment: &onnxpb.TensorProto_Segment{}}, diag.OpUnsupported},
		{"external", &onnxpb.TensorProto{DataType: i8, Dims: []int64{1},
			DataLocation: onnxpb.TensorProto_EXTERNAL.Enum()}, diag.ExternalTensorUnreadable},
	} {
		m := proto.Clone(c.t).(*onnxpb.TensorProto)
		checkFault(t, c.name, constantModel(m), c.want)
		// The same tensor as an attribute.
		a := onnxtest.New(13).Output("c", graph.DTypeFloat32)
		n := a.Node("Constant").Out("c").Tensor("value", graph.DTypeFloat32, nil, 0)
		n.Proto.Attribute[0].T = c.t
		checkFault(t, c.name+" in an attribute", a.Bytes(), c.want)
	}
}

// checkFault reads b and expects one error.
func checkFault(t *testing.T, name string, b []byte, want diag.Code) {
	t.Helper()
	var d diag.List
	if g := ParseGraph("m.onnx", b, &d); g != nil {
		t.Errorf("%s: was read", name)
	}
	if len(d.Diags) != 1 || d.Diags[0].Severity != diag.SeverityError || d.Diags[0].Code != want {
		t.Errorf("%s: %v, want one %s", name, d.Diags, want)
	}
}

// TestMinifloat compares every code of the small floats with values from the formats' definitions.
func TestMinifloat(t *testing.T) {
	t.Parallel()
	for c, want := range []float64{0, 0.5, 1, 1.5, 2, 3, 4, 6} {
		if got := float4E2M1(uint64(c)); got != want {
			t.Errorf("e2m1 code %d: %v, want %v", c, got, want)
		}
		if got := float4E2M1(uint64(c) | 8); got != -want {
			t.Errorf("e2m1 code %d: %v, want %v", c|8, got, -want)
		}
	}
	// Between two anchors, the codes of one sign rise without gaps. Every step is the last step times a power of
	// two.
	for _, f := range []struct {
		name          string
		value         func(uint64) float64
		sign          uint64
		last          uint64 // the largest finite code
		first, finite float64
	}{
		{"float16", float16, 0x8000, 0x7bff, 0x1p-24, 65504},
		{"e4m3fn", float8E4M3FN, 0x80, 0x7e, 0x1p-9, 448},
		{"e4m3fnuz", float8E4M3FNUZ, 0x80, 0x7f, 0x1p-10, 240},
		{"e5m2", float8E5M2, 0x80, 0x7b, 0x1p-16, 57344},
		{"e5m2fnuz", float8E5M2FNUZ, 0x80, 0x7f, 0x1p-17, 57344},
	} {
		if f.value(0) != 0 || f.value(1) != f.first || f.value(f.last) != f.finite {
			t.Errorf("%s: %v %v %v, want 0 %v %v", f.name, f.value(0), f.value(1), f.value(f.last), f.first, f.finite)
		}
		step := f.first
		for c := uint64(1); c <= f.last; c++ {
			got := f.value(c) - f.value(c-1)
			if got != step && got != 2*step {
				t.Fatalf("%s: code %#x is %v after %v", f.name, c, f.value(c), f.value(c-1))
			}
			step = got
			if f.value(c|f.sign) != -f.value(c) {
				t.Fatalf("%s: code %#x is %v, want %v", f.name, c|f.sign, f.value(c|f.sign), -f.value(c))
			}
		}
	}
	for name, v := range map[string]float64{
		"float16": float16(0x7c01), "e4m3fn": float8E4M3FN(0x7f), "e4m3fnuz": float8E4M3FNUZ(0x80),
		"e5m2":     float8E5M2(0xfd),
		"e5m2fnuz": float8E5M2FNUZ(0x80), "e8m0": float8E8M0(0xff),
	} {
		if !math.IsNaN(v) {
			t.Errorf("%s: %v, want NaN", name, v)
		}
	}
	if float16(0xfc00) != math.Inf(-1) || float8E5M2(0x7c) != math.Inf(1) {
		t.Error("infinities are wrong")
	}
}

// TestCastConstants compares the results of Cast on constants with all values of a type. The nearest value is
// right, and in a tie the value with an even code.
func TestCastConstants(t *testing.T) {
	t.Parallel()
	for dt, most := range map[graph.DType]float64{graph.DTypeFloat32: 0, graph.DTypeFloat16: 0, graph.DTypeBFloat16: 0,
		graph.DTypeFloat8E4M3FN: 448, graph.DTypeFloat8E4M3FNUZ: 240, graph.DTypeFloat8E5M2: 57344,
		graph.DTypeFloat8E5M2FNUZ: 57344,
		graph.DTypeFloat4E2M1:     6} {
		e := encodings[dt]
		values := map[float64]uint64{} // codes of all finite values
		if e.bits <= 16 {
			for c := range uint64(1) << e.bits {
				if v := e.real(c); !math.IsInf(v, 0) && !math.IsNaN(v) && (v != 0 || c == 0) {
					values[v] = c
				}
			}
		}
		sorted := slices.Sorted(maps.Keys(values))
		nearest := func(x float64) float64 {
			if dt == graph.DTypeFloat32 {
				return float64(float32(x))
			}
			if most != 0 && math.Abs(x) > most {
				return math.Copysign(most, x)
			}
			i, _ := slices.BinarySearch(sorted, x)
			if i == len(sorted) {
				i--
			}
			below, above := sorted[max(i-1, 0)], sorted[i]
			if d := (x - below) - (above - x); d < 0 || d == 0 && values[below]%2 == 0 {
				return below
			}
			return above
		}
		rng := rand.New(rand.NewPCG(1, uint64(dt)))
		in := []float64{0.0999999999, 0, 1e-30, -1e-30, 448.5, -1e5 / 2}
		for range 300 {
			if x := (rng.Float64() - 0.5) * math.Exp2(float64(rng.IntN(30)-15)); math.Abs(x) < 60000 {
				in = append(in, x)
			}
			if len(sorted) > 0 { // and ties
				i := rng.IntN(len(sorted) - 1)
				in = append(in, sorted[i], sorted[i]/2+sorted[i+1]/2)
			}
		}
		m := onnxtest.New(21).Input("x", graph.DTypeFloat64, len(in)).Output("y", graph.DTypeFloat64, len(in))
		m.Init("c", graph.DTypeFloat64, []int{len(in)}, in...)
		m.Node("Cast", "c").Int("to", int64(dt)).Out("narrow")
		m.Node("Cast", "narrow").Int("to", int64(graph.DTypeFloat64)).Out("wide")
		m.Node("Add", "x", "wide").Out("y")
		p := onnxtest.Prepare(t, mustRead(t, m.Bytes()))
		got := p.Known["wide"].Const
		for i, x := range in {
			if want := nearest(x); got.FloatAt(i) != want {
				t.Errorf("%v as %s: %v, want %v", x, dt, got.FloatAt(i), want)
			}
		}
	}
}

// TestCastChains checks how Cast changes constants behind other Casts: integers, numbers that are no float64, and
// numbers outside the type.
func TestCastChains(t *testing.T) {
	t.Parallel()
	m := onnxtest.New(21).Input("x", graph.DTypeFloat32).Output("y", graph.DTypeFloat32)
	cast := func(from, to string, dt graph.DType, saturate int64) {
		m.Node("Cast", from).Int("to", int64(dt)).Int("saturate", saturate).Out(to)
	}
	m.Init("whole", graph.DTypeInt32, nil, 1<<24+1).Init("two", graph.DTypeFloat64, nil, 2).Init("much",
		graph.DTypeFloat32, nil, 1e6)
	m.Node("Sqrt", "two").Out("root")
	cast("whole", "a", graph.DTypeFloat32, 1)
	cast("root", "b", graph.DTypeFloat32, 1)
	cast("much", "c", graph.DTypeFloat16, 1)
	cast("much", "d", graph.DTypeFloat8E5M2, 0)
	cast("much", "e", graph.DTypeFloat8E5M2, 1)
	cast("much", "f", graph.DTypeFloat64, 1)
	m.Node("Identity", "x").Out("y")
	p := onnxtest.Prepare(t, mustRead(t, m.Bytes()))
	for name, want := range map[string]float64{"a": 1 << 24, "b": float64(float32(math.Sqrt2)), "c": math.Inf(1),
		"d": math.Inf(1), "e": 57344, "f": 1e6} {
		if k := p.Known[name].Const; k == nil || k.FloatAt(0) != want {
			t.Errorf("%s: %v, want %v", name, k, want)
		}
	}
}
