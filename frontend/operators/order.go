package operators

import (
	"slices"

	"hlsgen/frontend/graph"
	"hlsgen/frontend/program"
)

// This file builds operators that sort the elements of a row, or find the largest.

func buildArg(largest bool) definition {
	return func(c *call) {
		x := c.x
		a := axis(c.IntAttrOr("axis", 0), len(x))
		if x[a] == 0 {
			invalid("axis %d of shape %v has no elements", a, x)
		}
		shape := slices.Clone(x)
		shape[a] = 1
		o := c.order(a, shape)
		o.Largest, o.Index, o.LastFirst = largest, true, c.IsFlagAttrSet("select_last_index")
		if c.IntAttrOr("keepdims", 1) == 0 {
			shape = append(shape[:a], shape[a+1:]...)
		}
		c.add(program.Step{Shape: shape, DType: graph.DTypeInt64, Order: o})
	}
}

func buildTopK(c *call) {
	x := c.x
	a := axis(c.IntAttrOr("axis", -1), len(x))
	k := []int64{c.IntAttrOr("k", 1)}
	if c.HasInput(1) {
		k = c.constInts(1, "k")
	}
	if len(k) != 1 || k[0] < 1 || k[0] > int64(x[a]) {
		invalid("k is %v, the axis has %d elements", k, x[a])
	}
	shape := slices.Clone(x)
	shape[a] = int(k[0])
	for out, dt := range []graph.DType{c.dt, graph.DTypeInt64} {
		o := c.order(a, shape)
		o.Largest, o.Index = c.IntAttrOr("largest", 1) != 0, out == 1
		c.add(program.Step{Shape: shape, DType: dt, Order: o})
	}
}

// order returns an Order that sorts the rows of the first input along axis a, with an output of the given shape. The
// shape must have as many axes as the input.
func (c *reading) order(a int, shape []int) *program.Order {
	x := c.x
	o := &program.Order{N: x[a], Stride: graph.ElementCount(x[a+1:])}
	strides := program.RowMajorStrides(x)
	ranks := make([]int, len(shape))
	ranks[a], strides[a] = 1, 0
	o.Base, o.Rank = program.NewStridedIndexTable(shape, strides), program.NewStridedIndexTable(shape, ranks)
	return o
}
