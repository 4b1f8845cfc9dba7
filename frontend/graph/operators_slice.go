package graph

import (
	"math"
	"slices"
)

// Operators that take parts of a tensor, repeat it, or make one up.

func buildSplit(c *call) {
	x := c.x
	a := axis(c.Int("axis", 0), len(x))
	sizes := c.list("split", 1, "the sizes")
	n := len(c.Outputs)
	if sizes == nil { // equal parts, the last one smaller
		part := (x[a] + n - 1) / n
		for i := range n {
			sizes = append(sizes, int64(max(0, min(part, x[a]-i*part))))
		}
	}
	if len(sizes) != n {
		invalid("%d sizes for %d outputs", len(sizes), n)
	}
	from, left := 0, int64(x[a])
	strides := rowMajor(x)
	for _, size := range sizes {
		if size < 0 || size > left {
			invalid("sizes %v of an axis with %d elements", sizes, x[a])
		}
		shape := slices.Clone(x)
		shape[a] = int(size)
		c.pick(shape, stridedFrom(from*strides[a], shape, strides))
		from, left = from+int(size), left-size
	}
	if left != 0 {
		invalid("sizes %v of an axis with %d elements", sizes, x[a])
	}
}

// A span is the elements start, start+step ... of an axis, n of them.
type span struct{ start, step, n int }

// cut reads one axis of a Slice: negative positions count from the end, and both ends are clamped.
func cut(size int, start, end, step int64) span {
	if step == 0 {
		invalid("a step of 0")
	}
	n := int64(size)
	place := func(v, lo, hi int64) int64 {
		if v < 0 {
			v += n
		}
		return max(lo, min(v, hi))
	}
	if step > 0 {
		s, e := place(start, 0, n), place(end, 0, n)
		step = min(step, n+1)
		return span{int(s), int(step), int(max(0, (e-s+step-1)/step))}
	}
	s, e := place(start, -1, n-1), place(end, -1, n-1)
	if end < -n { // place would count it from the end once more
		e = -1
	}
	step = max(step, -n-1)
	return span{int(s), int(step), int(max(0, (e-s+step+1)/step))}
}

func buildSlice(c *call) {
	x := c.x
	starts, ends, along := c.list("starts", 1, "starts"), c.list("ends", 2, "ends"), c.list("axes", 3, "axes")
	var steps []int64
	if c.has(4) {
		steps = c.constInts(4, "steps")
	}
	if along == nil {
		along = counted[int64](len(starts))
	}
	if len(starts) != len(ends) || len(starts) != len(along) || steps != nil && len(steps) != len(along) {
		invalid("%d starts, %d ends, %d axes, %d steps", len(starts), len(ends), len(along), len(steps))
	}
	at := axes(along, len(x))
	shape, strides, first := slices.Clone(x), rowMajor(x), 0
	for i, a := range at {
		step := int64(1)
		if steps != nil {
			step = steps[i]
		}
		s := cut(x[a], starts[i], ends[i], step)
		first += s.start * strides[a]
		shape[a], strides[a] = s.n, strides[a]*s.step
	}
	c.pick(shape, stridedFrom(first, shape, strides))
}

// shapeOf is a shape that an input asks for, of axes of at most so many elements.
func shapeOf(want []int64, most int64) []int {
	shape := make([]int, len(want))
	for i, d := range want {
		if d < 0 || d > most {
			invalid("shape %v", want)
		}
		shape[i] = int(d)
	}
	return shape
}

func buildExpand(c *call) {
	out := broadcastShape(c.x, shapeOf(c.constInts(1, "the shape"), maxElements))
	c.p.room(out)
	index := c.p.broadcast(out, c.x)
	if len(index) == 1 && Size(out) != 1 { // one element for all
		index = make([]int32, Size(out))
	}
	c.pick(out, index)
}

func buildConstantOfShape(c *call) {
	want := c.constInts(0, "the shape")
	t := &Tensor{DType: Float32, F: []float64{0}}
	if a := c.Attrs["value"]; a.Kind == AttrTensor && a.T != nil {
		t = a.T
	}
	if !t.DType.number() {
		unsupported("use a value that is a number", "a value of type %s", t.DType)
	}
	if t.Len() != 1 {
		invalid("a value of shape %v, wants one element", t.Shape)
	}
	shape := shapeOf(want, math.MaxInt32)
	checkSize(shape)
	c.p.elements(Size(shape))
	full := &Tensor{DType: t.DType, Shape: shape}
	for range Size(shape) {
		full.F, full.I = append(full.F, t.F...), append(full.I, t.I...)
	}
	c.value(full)
}

// buildDropout is the identity: models run in inference.
func buildDropout(c *call) {
	if c.output(1) != "" {
		unsupported("export the model in inference mode", "the mask is used")
	}
	buildIdentity(c)
}
