package graph

import "maps"

// blocked writes a quantiser in blocks (opset 21) out as one per tensor or along an axis, where it is that in effect:
// each run of block_size elements along its axis has a scale of its own, and these differ along one axis at most. It
// is false where the node has no blocks.
func blocked(c *call, op string) bool {
	size := c.Int("block_size", 0)
	if size == 0 {
		return false
	}
	x := c.x
	along := axis(c.Int("axis", 1), len(x))
	if size < 0 {
		invalid("blocks of %d elements", size)
	}
	var list []*blocks
	vary := map[int]bool{} // axes along which parameters do
	for slot := 1; slot < len(c.in); slot++ {
		if !c.has(slot) {
			continue
		}
		t := c.in[slot].Const
		if t == nil {
			badQuant(constantParameters, "parameter %d is not constant", slot)
		}
		b := &blocks{t: t, along: along, size: int(min(size, int64(max(1, x[along])))), slot: slot}
		b.check(x)
		for a := range x {
			if b.varies(a) {
				vary[a] = true
			}
		}
		list = append(list, b)
	}
	if len(vary) > 1 {
		badQuant("quantise per tensor or per channel: the codes of a sum of products want one scale",
			"blocks of %d elements along axis %d have scales of their own", size, along)
	}
	attrs, inputs := maps.Clone(c.Attrs), make([]string, len(c.Inputs))
	delete(attrs, "block_size")
	inputs[0] = c.Inputs[0]
	at := -1
	for a := range vary {
		at, attrs["axis"] = a, IntAttr(a)
	}
	for _, b := range list {
		inputs[b.slot] = c.constant([]string{"", "scale", "zero"}[b.slot], b.vector(at, x))
	}
	c.last("", op, attrs, inputs...)
	return true
}

// blocks is a parameter of a quantiser in blocks.
type blocks struct {
	t           *Tensor
	along, size int
	slot        int
}

// check holds the shape of the parameter against that of the data.
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

// varies reports whether elements differ along an axis.
func (b *blocks) varies(axis int) bool {
	step, n := Size(b.t.Shape[axis+1:]), b.t.Shape[axis]
	for i := range b.t.Len() {
		if b.t.At(i) != b.t.At(i-i/step%n*step) {
			return true
		}
	}
	return false
}

// vector is the parameter along an axis, an element for each of the data's; of axis -1, one element.
func (b *blocks) vector(axis int, x []int) *Tensor {
	v := &Tensor{DType: b.t.DType, Shape: []int{}}
	n, step, size := 1, 0, 1
	if axis >= 0 {
		n, step, v.Shape = x[axis], Size(b.t.Shape[axis+1:]), []int{x[axis]}
	}
	if axis == b.along {
		size = b.size
	}
	for i := range n {
		at := i / size * step
		if b.t.DType.Float() {
			v.F = append(v.F, b.t.At(at))
		} else {
			v.I = append(v.I, b.t.Int(at))
		}
	}
	return v
}
