package operators

import (
	"math"
	"math/big"
	"slices"

	"hlsgen/frontend/graph"
	"hlsgen/frontend/program"
	"hlsgen/internal/diag"
)

// This file builds operators that take parts of a tensor, repeat it, or create one.

func buildSplit(c *call) {
	x := c.x
	a := axis(c.IntAttrOr("axis", 0), len(x))
	sizes := c.list("split", 1, "the sizes")
	n := len(c.Outputs)
	if sizes == nil { // equal parts; the last one may be smaller
		part := (x[a] + n - 1) / n
		for i := range n {
			sizes = append(sizes, int64(max(0, min(part, x[a]-i*part))))
		}
	}
	if len(sizes) != n {
		invalid("%d sizes for %d outputs", len(sizes), n)
	}
	from, left := 0, int64(x[a])
	strides := program.RowMajorStrides(x)
	for _, size := range sizes {
		if size < 0 || size > left {
			invalid("sizes %v of an axis with %d elements", sizes, x[a])
		}
		shape := slices.Clone(x)
		shape[a] = int(size)
		c.pick(shape, program.NewStridedIndexTableFrom(from*strides[a], shape, strides))
		from, left = from+int(size), left-size
	}
	if left != 0 {
		invalid("sizes %v of an axis with %d elements", sizes, x[a])
	}
}

// A span selects the n elements start, start+step ... along an axis.
type span struct{ start, step, n int }

// cut returns the span of a Slice along one axis. Negative positions count from the end, and both ends are clamped.
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
	if c.HasInput(4) {
		steps = c.constInts(4, "steps")
	}
	if along == nil {
		along = program.NewCountingSlice[int64](len(starts))
	}
	if len(starts) != len(ends) || len(starts) != len(along) || steps != nil && len(steps) != len(along) {
		invalid("%d starts, %d ends, %d axes, %d steps", len(starts), len(ends), len(along), len(steps))
	}
	at := axes(along, len(x))
	shape, strides, first := slices.Clone(x), program.RowMajorStrides(x), 0
	for i, a := range at {
		step := int64(1)
		if steps != nil {
			step = steps[i]
		}
		s := cut(x[a], starts[i], ends[i], step)
		first += s.start * strides[a]
		shape[a], strides[a] = s.n, strides[a]*s.step
	}
	c.pick(shape, program.NewStridedIndexTableFrom(first, shape, strides))
}

// shapeOf returns the shape that an input asks for. It refuses axes of more than most elements.
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
	if graph.ElementCount(out) == graph.ElementCount(c.x) {
		c.pick(out, nil)
		return
	}
	c.pick(out, c.p.strided(out, program.BroadcastStrides(len(out), c.x)))
}

func buildConstantOfShape(c *call) {
	want := c.constInts(0, "the shape")
	t := &graph.ConstantTensor{DType: graph.DTypeFloat32, F: []float64{0}}
	if a := c.Attrs["value"]; a.Kind == graph.AttrKindTensor && a.T != nil {
		t = a.T
	}
	if !t.DType.IsComputableNumber() {
		unsupported("use a value that is a number", "a value of type %s", t.DType)
	}
	if t.Len() != 1 {
		invalid("a value of shape %v, wants one element", t.Shape)
	}
	shape := shapeOf(want, math.MaxInt32)
	checkSize(shape)
	c.p.elements(graph.ElementCount(shape))
	if v := t.FloatAt(0); math.Abs(v) < 1<<53 { // a larger integer may not be a float64
		c.value(graph.NewFilledTensor(t.DType, shape, v))
		return
	}
	c.value(t.GatherElements(shape, func(int) int { return 0 }))
}

// buildDropout builds the identity for Dropout, because models run in inference mode.
func buildDropout(c *call) {
	if c.OutputName(1) != "" {
		unsupported("export the model in inference mode", "the mask is used")
	}
	buildIdentity(c)
}

func buildSize(c *call) {
	c.value(&graph.ConstantTensor{DType: graph.DTypeInt64, Shape: []int{}, I: []int64{int64(graph.ElementCount(c.x))}})
}

// buildRange counts from a constant start in constant steps up to a limit, which is excluded.
func buildRange(c *call) {
	from, limit, step := c.constScalar(0, "the start"), c.constScalar(1, "the limit"), c.constScalar(2, "the step")
	if step == 0 {
		invalid("a step of 0")
	}
	n := max(0, math.Ceil((limit-from)/step))
	if !(n <= maxElements) {
		tooLarge("count less far", "%v elements", n)
	}
	t := &graph.ConstantTensor{DType: c.dt, Shape: []int{int(n)}}
	checkSize(t.Shape)
	for i := range int(n) {
		v, exact := counts(from, step, i)
		switch {
		case !exact:
			unsupported("count in steps that add up exactly", "%v + %d*%v is no float64", from, i, step)
		case c.dt.IsReal():
			t.F = append(t.F, v)
		default:
			t.I = append(t.I, int64(v))
		}
	}
	if t.F == nil && c.dt.IsReal() {
		t.F = []float64{}
	}
	c.value(t)
}

// counts returns from + i*step. exact reports whether that is a float64.
func counts(from, step float64, i int) (v float64, exact bool) {
	r := new(big.Rat).SetInt64(int64(i))
	r.Mul(r, new(big.Rat).SetFloat64(step))
	return r.Add(r, new(big.Rat).SetFloat64(from)).Float64()
}

// buildTile repeats a tensor along each axis.
func buildTile(c *call) {
	repeats := c.constInts(1, "the number of repeats")
	if len(repeats) != len(c.x) {
		invalid("%d repeats of a tensor with %d axes", len(repeats), len(c.x))
	}
	want := make([]int64, len(repeats))
	for i, n := range repeats {
		if n < 0 || n > maxElements {
			invalid("%d repeats", n)
		}
		want[i] = n * int64(c.x[i])
	}
	shape := shapeOf(want, maxElements)
	checkSize(shape)
	strides, index := program.RowMajorStrides(c.x), make([]int32, graph.ElementCount(shape))
	for i := range index {
		rest, at := i, 0
		for a := len(shape) - 1; a >= 0; a-- {
			at += rest % shape[a] % c.x[a] * strides[a]
			rest /= shape[a]
		}
		index[i] = int32(at)
	}
	c.pick(shape, index)
}

// buildNonZero lists the positions at which a constant is not zero: a row of indices for each axis.
func buildNonZero(c *call) {
	x := c.in[0].Const
	if x == nil {
		refuse(diag.ShapeUnknown, "export with fixed shapes, or bind dynamic axes with --dim",
			"the number of elements that are not zero depends on the data")
	}
	if len(c.x) == 0 {
		invalid("a single number has no indices")
	}
	strides := program.RowMajorStrides(c.x)
	t := &graph.ConstantTensor{DType: graph.DTypeInt64, I: []int64{}}
	for a, size := range c.x {
		n := 0
		for i := range x.Len() {
			if x.FloatAt(i) != 0 {
				t.I = append(t.I, int64(i/strides[a]%size))
				n++
			}
		}
		t.Shape = []int{len(c.x), n}
	}
	c.value(t)
}
