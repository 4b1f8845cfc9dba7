package convert

import (
	"math"
	"slices"
	"strings"

	"hlsgen/frontend/graph"
)

// A quantiser maps real numbers to codes in equal steps. The code of x is round(x/scale + zero point) or round(x/scale)
// + zero point, half to even, within limits.
type quantiser struct {
	scale, zero channels
	axis        int // axis of the channels; negative axes count from the end
	lo, hi      float64
}

// A channels holds one parameter for all channels, or one per channel.
type channels []float64

func (c channels) at(channel int) float64 {
	if len(c) == 1 {
		return c[0]
	}
	return c[channel]
}

// count returns the number of channels with parameters of their own, or 1 if all share them.
func (q *quantiser) count() int { return max(len(q.scale), len(q.zero)) }

// even gives the scale and the zero point the same number of channels.
func (q *quantiser) even() {
	for _, c := range []*channels{&q.scale, &q.zero} {
		if n := q.count(); len(*c) == 1 && n > 1 {
			one := (*c)[0]
			*c = make(channels, n)
			for i := range *c {
				(*c)[i] = one
			}
		}
	}
}

// shift adds a number to the limits and the zero points, so that the values of codes stay the same. It does nothing if
// codes would leave the range from 0 to 255.
func (q *quantiser) shift(by float64) {
	if q.lo+by < 0 || q.hi+by > 255 {
		return // these would need more than 8 bits
	}
	q.lo, q.hi = q.lo+by, q.hi+by
	q.zero = slices.Clone(q.zero)
	for i := range q.zero {
		q.zero[i] += by
	}
}

// sameValues reports whether equal codes stand for equal values in both quantisers.
func (q *quantiser) sameValues(o *quantiser) bool {
	n := max(q.count(), o.count())
	if q.count() != o.count() || n > 1 && q.axis != o.axis {
		return false
	}
	for c := range n {
		if q.scale.at(c) != o.scale.at(c) || q.zero.at(c) != o.zero.at(c) {
			return false
		}
	}
	return true
}

// readQuant returns the quantiser of a Quant node, with parameters in the form of QuantizeLinear.
func (s *scope) readQuant(n *graph.Node) (*quantiser, *refusal) {
	if mode := strings.ToUpper(n.StringAttrOr("rounding_mode", "ROUND")); mode != "ROUND" && mode != "HALF_EVEN" {
		return nil, refuse("train with rounding to the nearest, or keep the model in QONNX",
			"it rounds by %q: QuantizeLinear rounds to the nearest, ties to even", n.StringAttrOr("rounding_mode", ""))
	}
	params := [3]*graph.ConstantTensor{}
	for i, what := range []string{"scale", "zero point", "bit width"} {
		if params[i] = s.constant(n.InputName(i + 1)); params[i] == nil {
			return nil, refuse("export with constant quantiser parameters", "its %s is computed from data", what)
		}
	}
	if params[2].Len() != 1 {
		return nil, refuse("give the tensor one bit width", "it has a bit width per channel")
	}
	bits, signed := params[2].FloatAt(0), n.IntAttrOr("signed", 1) != 0
	if bits != math.Trunc(bits) || bits < 1 || bits > 32 || bits == 1 && signed {
		return nil, refuse("quantise to 2 bits with narrow_range, or keep the model in QONNX",
			"it has %v bits: with one signed bit its codes are -1 and +1, and QuantizeLinear has all integers of a "+
				"type", bits)
	}
	q := &quantiser{}
	q.lo, q.hi = limits(int(bits), signed, n.IntAttrOr("narrow", 0) != 0)
	shape, known := s.shape(n.InputName(0))
	for i, to := range []*channels{&q.scale, &q.zero} {
		axis, why := along(params[i], shape, known)
		if why != nil {
			return nil, why
		}
		if *to = params[i].Floats(); params[i].Len() > 1 {
			if q.count() > 1 && len(q.scale) > 1 && len(q.zero) > 1 && q.axis != axis {
				return nil, refuse("", "its scales and zero points belong to different axes")
			}
			q.axis = axis
		}
	}
	for _, v := range q.zero {
		if v != math.Trunc(v) {
			return nil, refuse("train with zero points that are integers (Brevitas' balanced 2-bit weights have "+
				"none), or keep the model in QONNX", "its zero point %v is no integer, as that of QuantizeLinear is", v)
		}
	}
	for _, v := range q.scale {
		if float64(float32(v)) != v {
			return nil, refuse("store the scale as a float32", "its scale %v is no float32", v)
		}
	}
	q.even()
	return q, nil
}

// along returns the axis along which parameter t broadcasts against data of the given shape. If the shape is not known,
// the axis counts from the end. The refusal says that the parameter varies along several axes.
func along(t *graph.ConstantTensor, shape []int, known bool) (int, *refusal) {
	if t.Len() == 1 {
		return 0, nil
	}
	at := -1
	for i, d := range t.Shape {
		if d > 1 && at >= 0 {
			return 0, refuse("quantise per tensor or per channel", "its parameters of shape %v belong to several axes",
				t.Shape)
		}
		if d > 1 {
			at = i
		}
	}
	axis := at - len(t.Shape) // counted from the end, where broadcasting aligns shapes
	if !known {
		return axis, nil
	}
	if axis += len(shape); axis < 0 || shape[axis] != t.Len() {
		return 0, refuse("give each parameter the shape of one channel axis",
			"its parameters of shape %v do not belong to one axis of its input of shape %v", t.Shape, shape)
	}
	return axis, nil
}

// limits returns the least and the greatest code with the given number of bits. If narrow is set, one code is left out:
// the least if signed is set, and otherwise the greatest.
func limits(bits int, signed, narrow bool) (lo, hi float64) {
	hi = math.Exp2(float64(bits)) - 1
	if signed {
		hi = math.Exp2(float64(bits-1)) - 1
		lo = -hi - 1
	}
	switch {
	case narrow && signed:
		lo++
	case narrow:
		hi--
	}
	return lo, hi
}

// widthOf returns the arguments for which limits returns exactly lo and hi. ok is false if there are none.
func widthOf(lo, hi float64) (bits int, signed, narrow, ok bool) {
	for _, form := range [][2]bool{{true, false}, {true, true}, {false, false}, {false, true}} {
		for bits := 1; bits <= 32; bits++ {
			if bits == 1 && (form[0] || form[1]) {
				continue // a sign, or no code at all
			}
			if l, h := limits(bits, form[0], form[1]); l == lo && h == hi {
				return bits, form[0], form[1], true
			}
		}
	}
	return 0, false, false, false
}

// storage returns the narrowest ONNX type of at least 8 bits that holds the codes and zero points of a quantiser, and
// its bits. Of up to 16 bits, the type is signed if and only if codes may be negative. It returns DTypeUndefined and 0
// if there is none.
func (q *quantiser) storage() (dt graph.DType, bits int) {
	lo, hi := q.lo, q.hi
	for _, z := range q.zero {
		lo, hi = min(lo, z), max(hi, z)
	}
	for _, t := range []struct {
		dt     graph.DType
		bits   int
		signed bool
	}{{graph.DTypeUInt8, 8, false}, {graph.DTypeInt8, 8, true}, {graph.DTypeUInt16, 16, false}, {graph.DTypeInt16, 16,
		true},
		{graph.DTypeInt32, 32, true}} {
		l, h := limits(t.bits, t.signed, false)
		if l <= lo && hi <= h && t.signed == (q.lo < 0) || t.bits == 32 && l <= lo && hi <= h {
			return t.dt, t.bits
		}
	}
	return graph.DTypeUndefined, 0
}

// typeLimits returns the least and the greatest integer of a type of codes. ok is false for other types.
func typeLimits(dt graph.DType) (lo, hi float64, ok bool) {
	if dt == graph.DTypeInt32 {
		lo, hi = limits(32, true, false)
		return lo, hi, true
	}
	t := dt.StreamIntegerType()
	if t.Width == 0 || dt == graph.DTypeBool {
		return 0, 0, false
	}
	lo, hi = limits(t.Width, t.IsSigned(), false)
	return lo, hi, true
}

// channelOf returns a function from the index of an element to its channel along an axis.
func channelOf(shape []int, axis int) func(i int) int {
	if axis < 0 {
		axis += len(shape)
	}
	run := graph.ElementCount(shape[axis+1:])
	return func(i int) int { return i / run % shape[axis] }
}

// codes returns the codes of the given values. ok is false if a value is not exactly that of a code.
func (q *quantiser) codes(values *graph.ConstantTensor) (codes []int64, ok bool) {
	channel := func(int) int { return 0 }
	if q.count() > 1 {
		channel = channelOf(values.Shape, q.axis)
	}
	codes = make([]int64, values.Len())
	for i := range codes {
		c := channel(i)
		v, scale, zero := values.FloatAt(i), q.scale.at(c), q.zero.at(c)
		code := math.RoundToEven(v/scale + zero)
		if (code-zero)*scale != v || code < q.lo || code > q.hi {
			return nil, false
		}
		codes[i] = int64(code)
	}
	return codes, true
}

// parameters adds the scale and the zero point of a quantiser whose codes have type dt. It returns their names, made
// from the tensor name out, and the attributes that QuantizeLinear and DequantizeLinear need.
func (s *scope) parameters(q *quantiser, out string, dt graph.DType) (scale, zero string,
	attrs graph.AttributesByName) {
	scale, zero = s.reals(out, "scale", q.scale...), s.whole(out, "zero_point", dt, q.zero...)
	if q.count() > 1 {
		attrs = graph.AttributesByName{"axis": graph.NewIntAttr(q.axis)}
	}
	return scale, zero, attrs
}

// clip returns the name of the tensor of codes within the quantiser's limits, and the Clip node that makes it. If type
// dt has these limits anyway, it returns codes and no node.
func (s *scope) clip(n *graph.Node, codes string, q *quantiser, dt graph.DType) (string, []*graph.Node) {
	if lo, hi, _ := typeLimits(dt); q.lo <= lo && q.hi >= hi {
		return codes, nil
	}
	out := n.Outputs[0]
	bounded := s.taken.TakeFreshName(out, "clipped")
	return bounded, []*graph.Node{node(n, "", "Clip", bounded, nil, codes, s.whole(out, "min", dt, q.lo),
		s.whole(out, "max", dt, q.hi))}
}
