package operators

import (
	"maps"

	"hlsgen/frontend/graph"
)

// blocked builds a quantiser in blocks (opset 21), in which each run of block_size elements along an axis has its own
// scale. If scales differ along at most one axis, it writes a quantiser per tensor or per axis; otherwise one with a
// scale for each element. It reports false if the node has no blocks.
func blocked(c *call, op string) bool {
	list := inBlocks(c.reading)
	if list == nil {
		return false
	}
	domain, attrs, inputs := "", maps.Clone(c.Attrs), make([]string, len(c.Inputs))
	delete(attrs, "block_size")
	inputs[0] = c.Inputs[0]
	at := varyAlong(list, c.x)
	switch {
	case at == each:
		domain = InternalDomain
		c.p.room(c.x)
	case at >= 0:
		attrs["axis"] = graph.NewIntAttr(at)
	}
	for _, b := range list {
		inputs[b.slot] = c.constant([]string{"", "scale", "zero"}[b.slot], b.spread(at, c.x))
	}
	c.last(domain, op, attrs, inputs...)
	return true
}

// These values stand for an axis: noAxis for parameters that are the same for all elements, each for parameters that
// differ along several axes.
const (
	noAxis = -1
	each   = -2
)

// varyAlong returns the axis of the data, whose shape is x, along which the parameters vary: an index, noAxis or each.
func varyAlong(list []*blocks, x []int) int {
	at := noAxis
	for _, b := range list {
		for a := range x {
			switch {
			case a == at || !b.varies(a):
			case at == noAxis:
				at = a
			default:
				return each
			}
		}
	}
	return at
}

// inBlocks returns the parameters of a quantiser in blocks, or nil if it has no blocks.
func inBlocks(c *reading) (list []*blocks) {
	size := c.IntAttrOr("block_size", 0)
	if size == 0 {
		return nil
	}
	along := axis(c.IntAttrOr("axis", 1), len(c.x))
	if size < 0 {
		invalid("blocks of %d elements", size)
	}
	for slot := 1; slot < len(c.in); slot++ {
		if !c.HasInput(slot) {
			continue
		}
		t := c.in[slot].Const
		if t == nil {
			badQuant(constantParameters, "parameter %d is not constant", slot)
		}
		b := &blocks{t: t, along: along, size: int(min(size, int64(max(1, c.x[along])))), slot: slot}
		b.check(c.x)
		list = append(list, b)
	}
	return list
}

// A blocks is one parameter of a quantiser in blocks, the scale or the zero point.
type blocks struct {
	t           *graph.ConstantTensor
	along, size int
	slot        int
}

// check refuses a parameter whose shape does not fit the data's shape x.
func (b *blocks) check(x []int) {
	fits := len(b.t.Shape) == len(x)
	for a := range x {
		want := x[a]
		if a == b.along {
			want = (x[a] + b.size - 1) / b.size
		}
		fits = fits && b.t.Shape[a] == want
	}
	if !fits {
		invalid("parameter %d has shape %v, the input %v, with blocks of %d along axis %d", b.slot, b.t.Shape, x,
			b.size, b.along)
	}
}

// varies reports whether the elements of the parameter differ along an axis.
func (b *blocks) varies(axis int) bool {
	step, n := graph.ElementCount(b.t.Shape[axis+1:]), b.t.Shape[axis]
	for i := range b.t.Len() {
		if b.t.FloatAt(i) != b.t.FloatAt(i-i/step%n*step) {
			return true
		}
	}
	return false
}

// spread returns the parameter in another shape. It has an element for each index of the given axis of the data, for
// each element of the data (each), or a single element (noAxis).
func (b *blocks) spread(axis int, x []int) *graph.ConstantTensor {
	v := &graph.ConstantTensor{DType: b.t.DType, Shape: []int{}}
	if axis == each {
		v.Shape = x
	} else if axis >= 0 {
		v.Shape = []int{x[axis]}
	}
	stride, inner := make([]int, len(x)), 1
	for a := len(x) - 1; a >= 0; a-- {
		stride[a], inner = inner, inner*b.t.Shape[a]
	}
	for i := range graph.ElementCount(v.Shape) {
		at := 0
		switch {
		case axis == each:
			for a := len(x) - 1; a >= 0; a-- {
				at += b.run(a, i%x[a]) * stride[a]
				i /= x[a]
			}
		case axis >= 0:
			at = b.run(axis, i) * stride[axis]
		}
		if b.t.DType.IsReal() {
			v.F = append(v.F, b.t.FloatAt(at))
		} else {
			v.I = append(v.I, b.t.IntAt(at))
		}
	}
	return v
}

// run returns the index along an axis of the parameter that belongs to index at of the data along that axis.
func (b *blocks) run(axis, at int) int {
	if axis == b.along {
		return at / b.size
	}
	return at
}
