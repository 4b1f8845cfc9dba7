package graph

import "slices"

// Operators that order the elements of a row: which are the largest, and where.

// An Order cuts input 0 into rows and sorts each: element i of the output stands at place Rank[i] of the row that
// starts at Base[i]. Largest says from which end; among equal values the one with the lower index comes first, or, with
// LastFirst, the one with the higher. The output is its index, or its value.
type Order struct {
	N, Stride          int // of a row
	Base, Rank         []int32
	Largest, LastFirst bool
	Index              bool
}

func buildArg(largest bool) definition {
	return func(c *call) {
		x := c.x
		a := axis(c.Int("axis", 0), len(x))
		if x[a] == 0 {
			invalid("axis %d of shape %v has no elements", a, x)
		}
		shape := slices.Clone(x)
		shape[a] = 1
		o := c.order(a, shape)
		o.Largest, o.Index, o.LastFirst = largest, true, c.flag("select_last_index")
		if c.Int("keepdims", 1) == 0 {
			shape = append(shape[:a], shape[a+1:]...)
		}
		c.add(Step{Shape: shape, DType: Int64, Order: o})
	}
}

func buildTopK(c *call) {
	x := c.x
	a := axis(c.Int("axis", -1), len(x))
	k := []int64{c.Int("k", 1)}
	if c.has(1) {
		k = c.constInts(1, "k")
	}
	if len(k) != 1 || k[0] < 1 || k[0] > int64(x[a]) {
		invalid("k is %v, the axis has %d elements", k, x[a])
	}
	shape := slices.Clone(x)
	shape[a] = int(k[0])
	for out, dt := range []DType{c.dt, Int64} {
		o := c.order(a, shape)
		o.Largest, o.Index = c.Int("largest", 1) != 0, out == 1
		c.add(Step{Shape: shape, DType: dt, Order: o})
	}
}

// order cuts the first input into rows along an axis; shape is the output's, as many axes.
func (c *reading) order(a int, shape []int) *Order {
	x := c.x
	o := &Order{N: x[a], Stride: Size(x[a+1:])}
	strides := rowMajor(x)
	ranks := make([]int, len(shape))
	ranks[a], strides[a] = 1, 0
	o.Base, o.Rank = Strided(shape, strides), Strided(shape, ranks)
	return o
}
