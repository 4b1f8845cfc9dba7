package onnxio

import (
	"encoding/binary"
	"math"

	"hlsgen/frontend/graph"
	"hlsgen/frontend/onnxio/onnxpb"
)

// A store names the field of TensorProto that holds elements, such as int32_data.
type store uint8

const (
	floats store = iota + 1
	doubles
	int32s
	int64s
	uint64s
)

// An encoding says how ONNX stores the elements of one type: in which field, in how many bits, and with which codes.
type encoding struct {
	bits   int // bits of an element in raw data; below 8, elements share bytes, the first in the lowest bits
	typed  store
	signed bool
	real   func(code uint64) float64 // value of a code; nil for integers
}

var encodings = map[graph.DType]encoding{
	graph.DTypeFloat32: {32, floats, false, func(c uint64) float64 { return float64(math.Float32frombits(uint32(c))) }},
	graph.DTypeFloat64: {64, doubles, false, math.Float64frombits},
	graph.DTypeFloat16: {16, int32s, false, float16},
	graph.DTypeBFloat16: {16, int32s, false,
		func(c uint64) float64 { return float64(math.Float32frombits(uint32(c) << 16)) }},

	graph.DTypeFloat8E4M3FN: {8, int32s, false, float8E4M3FN}, graph.DTypeFloat8E4M3FNUZ: {8, int32s, false,
		float8E4M3FNUZ},
	graph.DTypeFloat8E5M2: {8, int32s, false, float8E5M2}, graph.DTypeFloat8E5M2FNUZ: {8, int32s, false,
		float8E5M2FNUZ},
	graph.DTypeFloat8E8M0: {8, int32s, false, float8E8M0}, graph.DTypeFloat4E2M1: {4, int32s, false, float4E2M1},

	graph.DTypeBool: {8, int32s, false, nil},
	graph.DTypeInt2: {2, int32s, true, nil}, graph.DTypeUInt2: {2, int32s, false, nil},
	graph.DTypeInt4: {4, int32s, true, nil}, graph.DTypeUInt4: {4, int32s, false, nil},
	graph.DTypeInt8: {8, int32s, true, nil}, graph.DTypeUInt8: {8, int32s, false, nil},
	graph.DTypeInt16: {16, int32s, true, nil}, graph.DTypeUInt16: {16, int32s, false, nil},
	graph.DTypeInt32: {32, int32s, true, nil}, graph.DTypeUInt32: {32, uint64s, false, nil},
	graph.DTypeInt64: {64, int64s, true, nil}, graph.DTypeUInt64: {64, uint64s, false, nil},
}

// tensor decodes a constant. It allocates memory for the declared shape only after checking that the data have that
// size. It counts a tensor in another file but does not refuse it: the result is then nil without a fault.
func (r *reader) tensor(p *onnxpb.TensorProto) (*graph.ConstantTensor, *fault) {
	if p.GetDataLocation() == onnxpb.TensorProto_EXTERNAL {
		r.noteExternal(p)
		return nil, nil
	}
	dtype := graph.DType(p.GetDataType())
	e, ok := encodings[dtype]
	if !ok {
		return nil, unsupported("", "constants of type %s are not read", typeName(dtype))
	}
	if p.Segment != nil {
		return nil, unsupported("write each tensor whole", "a tensor in segments is not read")
	}
	shape, n, f := constantShape(p.GetDims())
	if f != nil {
		return nil, f
	}
	raw, f := rawData(p, dtype, e)
	if f != nil {
		return nil, f
	}
	// n is below 2^62, but n*bits may be larger.
	if n > uint64(len(raw))*8/uint64(e.bits) || (n*uint64(e.bits)+7)/8 != uint64(len(raw)) {
		return nil, damaged("the shape %v does not fit the data: %d elements of %d bits and %d bytes",
			shape, n, e.bits, len(raw))
	}
	if r.elements += int(n); r.elements > maxElements {
		return nil, tooLarge("the constants have more than %d elements together", maxElements)
	}
	return e.tensor(dtype, shape, int(n), raw)
}

// constantShape checks the axes of a constant, and returns them and the number of elements, which is below 2^62.
func constantShape(dims []int64) ([]int, uint64, *fault) {
	if len(dims) > maxRank {
		return nil, 0, tooLarge("a tensor of %d axes; at most %d are read", len(dims), maxRank)
	}
	const most = math.MaxInt64 / 2
	shape, n, empty := make([]int, len(dims)), int64(1), false
	for i, d := range dims {
		switch {
		case d < 0:
			return nil, 0, damaged("axis %d of a constant has the size %d", i, d)
		case d == 0:
			empty = true
		case n > most/d:
			return nil, 0, damaged("the axes %v multiply to more than any file holds", dims)
		default:
			n *= d
		}
		shape[i] = int(d)
	}
	if empty {
		// Limit n anyway, since strides of an empty shape are computed like any others.
		if n > maxElements {
			return nil, 0, tooLarge("the axes %v of an empty tensor", dims)
		}
		n = 0
	}
	return shape, uint64(n), nil
}

// rawData returns the elements of a tensor as raw_data would hold them, whichever field contains them.
func rawData(p *onnxpb.TensorProto, dtype graph.DType, e encoding) ([]byte, *fault) {
	sets := []int{len(p.GetFloatData()), len(p.GetDoubleData()), len(p.GetInt32Data()), len(p.GetInt64Data()),
		len(p.GetUint64Data())}
	used := 0
	for i, n := range sets {
		if n == 0 {
			continue
		}
		if used++; store(i+1) != e.typed {
			return nil, damaged("the elements of a %s tensor lie in a field of another type",
				typeName(dtype))
		}
	}
	if used == 0 {
		return p.GetRawData(), nil
	}
	if len(p.GetRawData()) > 0 {
		return nil, damaged("a tensor has both raw and typed data")
	}
	raw := make([]byte, 0, sets[e.typed-1]*e.bits/8)
	switch e.typed {
	case floats:
		for _, v := range p.GetFloatData() {
			raw = binary.LittleEndian.AppendUint32(raw, math.Float32bits(v))
		}
	case doubles:
		for _, v := range p.GetDoubleData() {
			raw = binary.LittleEndian.AppendUint64(raw, math.Float64bits(v))
		}
	case int64s:
		for _, v := range p.GetInt64Data() {
			raw = binary.LittleEndian.AppendUint64(raw, uint64(v))
		}
	case uint64s:
		return rawUint64s(p.GetUint64Data(), dtype, e)
	case int32s:
		return rawInt32s(p.GetInt32Data(), dtype, e)
	}
	return raw, nil
}

// rawUint64s returns the elements of uint64_data as raw_data would hold them.
func rawUint64s(data []uint64, dtype graph.DType, e encoding) ([]byte, *fault) {
	raw := make([]byte, 0, len(data)*e.bits/8)
	for _, v := range data {
		if e.bits == 64 {
			raw = binary.LittleEndian.AppendUint64(raw, v)
			continue
		}
		if v > math.MaxUint32 {
			return nil, damaged("%d is not a value of %s", v, typeName(dtype))
		}
		raw = binary.LittleEndian.AppendUint32(raw, uint32(v))
	}
	return raw, nil
}

// rawInt32s returns the elements of int32_data as raw_data would hold them. There, an element is an integer, the bit
// pattern of a float narrower than 32 bits, or a byte of packed elements. Tools write bit patterns as signed or as
// unsigned numbers.
func rawInt32s(data []int32, dtype graph.DType, e encoding) ([]byte, *fault) {
	width := max(e.bits, 8)
	lo, hi := int64(0), int64(1)<<width-1
	switch {
	case e.bits < 8 || e.real != nil:
		lo = -1 << (width - 1)
	case e.signed:
		lo, hi = -1<<(width-1), int64(1)<<(width-1)-1
	}
	raw := make([]byte, 0, len(data)*width/8)
	for _, v := range data {
		if int64(v) < lo || int64(v) > hi {
			return nil, damaged("%d is not a value of %s", v, typeName(dtype))
		}
		switch width {
		case 8:
			raw = append(raw, byte(v))
		case 16:
			raw = binary.LittleEndian.AppendUint16(raw, uint16(v))
		default:
			raw = binary.LittleEndian.AppendUint32(raw, uint32(v))
		}
	}
	return raw, nil
}

// tensor returns the constant of the given type and shape whose n elements raw contains.
func (e encoding) tensor(dtype graph.DType, shape []int, n int, raw []byte) (*graph.ConstantTensor, *fault) {
	t := &graph.ConstantTensor{DType: dtype, Shape: shape}
	if e.real != nil {
		if dtype == graph.DTypeFloat32 && n >= graph.MinElementsToCompress {
			t.Singles = make([]float32, n)
			for i := range t.Singles {
				t.Singles[i] = math.Float32frombits(binary.LittleEndian.Uint32(raw[4*i:]))
			}
			return t, nil
		}
		t.F = make([]float64, n)
		if dtype == graph.DTypeFloat32 {
			for i := range t.F {
				t.F[i] = float64(math.Float32frombits(binary.LittleEndian.Uint32(raw[4*i:])))
			}
			return t, nil
		}
		for i := range t.F {
			t.F[i] = e.real(element(raw, e.bits, i))
		}
		return t, nil
	}
	if e.bits <= 8 {
		t.Codes, t.Values = e.codes(dtype, n, raw)
		return t, nil
	}
	t.I = make([]int64, n)
	for i := range t.I {
		c := element(raw, e.bits, i)
		if !e.signed && c > math.MaxInt64 {
			return nil, unsupported("", "the value %d is above 2^63-1", c)
		}
		t.I[i] = e.integer(c)
	}
	return t, nil
}

// integer returns the integer for which a code of an integer type stands.
func (e encoding) integer(c uint64) int64 {
	if e.signed {
		return int64(c<<(64-e.bits)) >> (64 - e.bits)
	}
	return int64(c)
}

// codes returns integers of at most 8 bits as one byte each, and the values of these bytes. The bytes are the
// file's own if the file stores one byte per element.
func (e encoding) codes(dtype graph.DType, n int, raw []byte) (codes []uint8, values []float64) {
	values = make([]float64, 256)
	for c := range values {
		if values[c] = float64(e.integer(uint64(c))); dtype == graph.DTypeBool {
			values[c] = float64(min(c, 1))
		}
	}
	if e.bits == 8 {
		return raw[:n:n], values
	}
	codes = make([]uint8, n)
	for i := range codes {
		codes[i] = uint8(element(raw, e.bits, i))
	}
	return codes, values
}

// element returns the code of element i in raw data with the given number of bits per element. Codes are little-endian,
// and packed from the lowest bits of each byte.
func element(raw []byte, bits, i int) uint64 {
	switch bits {
	case 64:
		return binary.LittleEndian.Uint64(raw[8*i:])
	case 32:
		return uint64(binary.LittleEndian.Uint32(raw[4*i:]))
	case 16:
		return uint64(binary.LittleEndian.Uint16(raw[2*i:]))
	case 8:
		return uint64(raw[i])
	}
	per := 8 / bits
	return uint64(raw[i/per]>>(i%per*bits)) & (1<<bits - 1)
}
