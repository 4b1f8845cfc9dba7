package operators

import (
	"slices"

	"hlsgen/frontend/graph"
	"hlsgen/frontend/program"
	"hlsgen/frontend/real"
)

// This file builds reductions over axes. Reductions over the axes of an image become global pools. Others become sums
// of products with ones, or maxima.

// reduced returns the axes that a reduction reduces, as a truth value for each, and the shape of its output.
func (c *reading) reduced() (axes []bool, shape []int) {
	x := c.x
	over := c.axesOf(len(x))
	axes = make([]bool, len(x))
	all := len(over) == 0 && !c.IsFlagAttrSet("noop_with_empty_axes")
	for a, d := range x {
		axes[a] = slices.Contains(over, a) || all
		switch {
		case !axes[a]:
			shape = append(shape, d)
		case d == 0:
			invalid("axis %d of shape %v has no elements", a, x)
		case c.IntAttrOr("keepdims", 1) != 0:
			shape = append(shape, 1)
		}
	}
	return axes, shape
}

// images returns the domain of the image operators whose H and W are exactly the given axes: "" for channels first,
// channelsLast for channels last. ok is false if there is none.
func images(axes []bool) (domain string, ok bool) {
	switch n := len(axes); {
	case n != 3 && n != 4 || axes[0]:
	case !axes[1] && axes[2] && axes[n-1]:
		return "", true
	case axes[1] && axes[n-2] && !axes[n-1]:
		return channelsLast, true
	}
	return "", false
}

// reduction returns the definition of an operator that reduces axes: by the global pool if there is one for these axes,
// and otherwise by the internal operator op.
func reduction(pool, op string) definition {
	return func(c *call) {
		axes, shape := c.reduced()
		x, mean := c.Inputs[0], pool == "GlobalAveragePool"
		if mean && !c.dt.IsReal() {
			unsupported("cast to float before", "a mean of elements of type %s", c.dt)
		}
		domain, image := images(axes)
		image = image && pool != ""
		if n := slices.Index(axes, false); pool == "GlobalMaxPool" && n > 0 && !slices.Contains(axes[n:], true) {
			// A maximum over the first axes, such as the steps of a sequence, is a pool over a one-dimensional signal.
			x = c.reshaped(x, []int{1, graph.ElementCount(c.x[:n]), graph.ElementCount(c.x[n:])})
			x = c.part(channelsLast, pool, "reduced", nil, x)
			c.last("", "Reshape", exactShape, x, c.shape(shape))
			return
		}
		if image && len(shape) == len(axes) {
			c.last(domain, pool, nil, x)
			return
		}
		if image {
			x = c.part(domain, pool, "reduced", nil, x)
		} else {
			x = over(c, op, axes, x, mean)
		}
		c.last("", "Reshape", exactShape, x, c.shape(shape))
	}
}

// over writes a sum, maximum or product over axes, and returns its output's name. The output lacks the reduced axes. If
// mean is set, the result is divided by the number of elements.
func over(c *call, op string, axes []bool, x string, mean bool) string {
	n := 1
	for a, d := range c.x {
		if axes[a] {
			n *= d
		}
	}
	inputs := []string{x}
	if op == "Sum" {
		inputs = append(inputs, c.constant("ones", graph.NewFilledTensor(c.dt, []int{n}, 1)))
	}
	if op != "Sum" && n > maxVariables {
		unsupported("reduce one axis after the other", "a reduction over %d elements", n)
	}
	var list []int
	for a, yes := range axes {
		if yes {
			list = append(list, a)
		}
	}
	y := c.part(InternalDomain, op, "reduced", graph.AttributesByName{"axes": intsAttr(list...)}, inputs...)
	if mean {
		y = c.part("", "Div", "mean", nil, y, c.number("count", c.dt, float64(n)))
	}
	return y
}

// minimumOver builds a minimum as the negated maximum of negated data, because there is a pool for maxima only.
func minimumOver(c *call) {
	x, dt := c.Inputs[0], c.dt
	if !dt.IsReal() { // a type that holds the negated values
		x = c.part("", "Cast", "wide", castTo(graph.DTypeInt64), x)
	}
	x = c.part("", "Neg", "negated", nil, x)
	inputs := append([]string{x}, c.Inputs[1:]...)
	x = c.part("", "ReduceMax", "most", c.Attrs, inputs...)
	if dt.IsReal() {
		c.last("", "Neg", nil, x)
		return
	}
	x = c.part("", "Neg", "least", nil, x)
	c.last("", "Cast", castTo(dt), x)
}

// sumOf returns the definition of a sum over functions of the elements, and a function of that sum. before and after
// name the operators that compute these functions.
func sumOf(after string, before ...string) definition {
	return func(c *call) {
		x := c.Inputs[0]
		for _, op := range before {
			inputs := []string{x}
			if op == "Mul" {
				inputs = append(inputs, x)
			}
			x = c.part("", op, "term", nil, inputs...)
		}
		inputs := append([]string{x}, c.Inputs[1:]...)
		if after == "" {
			c.last("", "ReduceSum", c.Attrs, inputs...)
			return
		}
		sum := c.part("", "ReduceSum", "sum", c.Attrs, inputs...)
		c.last("", after, nil, sum)
	}
}

// reducedRows returns the shape that a reduction leaves, without the reduced axes. base holds the first element of each
// row, offset the distances of the row's elements from it.
func reducedRows(c *call) (shape []int, base *program.IndexList, offset []int32) {
	x, strides := c.x, program.RowMajorStrides(c.x)
	over := c.IntsAttr("axes")
	var along, alongStrides, leftStrides []int
	for a, d := range x {
		if slices.Contains(over, int64(a)) {
			along, alongStrides = append(along, d), append(alongStrides, strides[a])
		} else {
			shape, leftStrides = append(shape, d), append(leftStrides, strides[a])
		}
	}
	return shape, c.p.list(shape, leftStrides), c.p.strided(along, alongStrides)
}

// buildSum builds the internal operator for sums over axes. Its input 1 holds ones, by which the elements are
// multiplied.
func buildSum(c *call) {
	shape, base, offset := reducedRows(c)
	d := &program.Dot{A: 0, B: 1, K: len(offset), ABase: base, AOffset: offset, BOffset: c.p.every(len(offset), 1)}
	d.BBase = c.p.list(shape, make([]int, len(shape)))
	c.add(program.Step{Shape: shape, DType: c.dt, Dot: d})
}

// buildOver returns the definition of the internal operator that combines elements over axes by f, such as a maximum or
// a product.
func buildOver(f joining) definition {
	return func(c *call) {
		shape, base, offset := reducedRows(c)
		e := &program.Elem{Args: make([]int, len(offset)), Offset: offset}
		var vars []*real.Expr
		table := base.ToSlice()
		for v := range offset {
			e.Index, vars = append(e.Index, graph.ElementIndexMap{Table: table}), append(vars, real.Var(v))
		}
		e.Expr = pairwise(vars, f)
		c.add(program.Step{Shape: shape, DType: c.dt, Elem: e})
	}
}
