package operators

// This file builds operators that move elements without changing them, and products of matrices.

import (
	"slices"

	"hlsgen/frontend/graph"
	"hlsgen/frontend/program"
	"hlsgen/frontend/real"
	"hlsgen/internal/diag"
)

func buildFlatten(c *call) {
	x := c.x
	a := c.IntAttrOr("axis", 1)
	if a < int64(-len(x)) || a > int64(len(x)) {
		invalid("axis %d of a tensor with %d axes", a, len(x))
	}
	if a < 0 {
		a += int64(len(x))
	}
	c.pick([]int{graph.ElementCount(x[:a]), graph.ElementCount(x[a:])}, nil)
}

func buildReshape(c *call) {
	x := c.x
	want := c.constInts(1, "the new shape")
	shape, open, n := make([]int, len(want)), -1, 1
	for i, d := range want {
		switch {
		case d == 0 && !c.IsFlagAttrSet("allowzero"):
			if i >= len(x) {
				invalid("shape %v copies axis %d of a tensor with %d axes", want, i, len(x))
			}
			shape[i] = x[i]
		case d == -1 && open < 0:
			open = i
			shape[i] = 1
		case d < 0 || d > maxElements:
			invalid("shape %v", want)
		default:
			shape[i] = int(d)
		}
		if shape[i] > 0 && n > maxElements/shape[i] {
			invalid("shape %v", want)
		}
		n *= shape[i]
	}
	if open >= 0 {
		if n == 0 {
			invalid("shape %v leaves axis %d open, which an empty tensor does not tell", want, open)
		}
		shape[open] = graph.ElementCount(x) / n
		n *= shape[open]
	}
	if n != graph.ElementCount(x) {
		refuse(diag.ShapeUnknown, contradiction, "%d elements of shape %v do not fit shape %v", graph.ElementCount(x),
			x, want)
	}
	c.pick(shape, nil)
}

// axesOf returns the axes in an attribute (before opset 13) or a constant input.
func (c *reading) axesOf(rank int) []int {
	return axes(c.list("axes", 1, "axes"), rank)
}

func buildSqueeze(c *call) {
	x := c.x
	axes := c.axesOf(len(x))
	shape := []int{}
	for i, d := range x {
		drop := slices.Contains(axes, i) || len(axes) == 0 && d == 1
		if drop && d != 1 {
			invalid("axis %d of shape %v is not 1", i, x)
		}
		if !drop {
			shape = append(shape, d)
		}
	}
	c.pick(shape, nil)
}

func buildUnsqueeze(c *call) {
	n, x := len(c.list("axes", 1, "axes")), c.x
	axes := c.axesOf(len(x) + n)
	shape := make([]int, 0, len(x)+n)
	for i := range len(x) + n {
		if slices.Contains(axes, i) {
			shape = append(shape, 1)
		} else {
			shape, x = append(shape, x[0]), x[1:]
		}
	}
	c.pick(shape, nil)
}

func buildTranspose(c *call) {
	x := c.x
	perm := c.IntsAttr("perm")
	if perm == nil {
		perm = program.NewCountingSlice[int64](len(x))
		slices.Reverse(perm)
	}
	if len(perm) != len(x) {
		invalid("perm %v for %d axes", perm, len(x))
	}
	from, seen := program.RowMajorStrides(x), map[int]bool{}
	shape, strides := make([]int, len(x)), make([]int, len(x))
	for i, p := range perm {
		a := axis(p, len(x))
		if seen[a] {
			invalid("perm %v is no permutation", perm)
		}
		seen[a] = true
		shape[i], strides[i] = x[a], from[a]
	}
	c.pick(shape, c.p.strided(shape, strides))
}

// maxJoined is the largest number of inputs from which one Move takes elements.
const maxJoined = 1 << 8

func buildConcat(c *call) {
	first := c.x
	a := axis(c.IntAttrOr("axis", 0), len(first))
	shape := slices.Clone(first)
	shape[a] = 0
	for i, k := range c.in {
		if !c.HasInput(i) || len(k.Shape) != len(first) {
			invalid("input %d has shape %v, the first %v", i, k.Shape, first)
		}
		if k.DType.IsReal() != c.dt.IsReal() {
			invalid("input %d is of type %s, the first of %s", i, k.DType, c.dt)
		}
		for j, d := range k.Shape {
			if j != a && d != first[j] {
				invalid("input %d has shape %v, the first %v", i, k.Shape, first)
			}
		}
		shape[a] += k.Shape[a]
	}
	if len(c.in) > maxJoined {
		var parts []string
		for some := range slices.Chunk(c.Inputs, maxJoined) {
			parts = append(parts, c.part("", OpConcat, "part", graph.AttributesByName{"axis": graph.NewIntAttr(a)},
				some...))
		}
		c.last("", OpConcat, graph.AttributesByName{"axis": graph.NewIntAttr(a)}, parts...)
		return
	}
	c.p.room(shape)
	m := &program.Move{Input: make([]uint8, 0, graph.ElementCount(shape)), Index: make([]int32, 0,
		graph.ElementCount(shape))}
	inner := graph.ElementCount(shape[a+1:])
	for o := range graph.ElementCount(shape[:a]) {
		for i, k := range c.in {
			run := k.Shape[a] * inner
			for e := range run {
				m.Input, m.Index = append(m.Input, uint8(i)), append(m.Index, int32(o*run+e))
			}
		}
	}
	c.move(shape, c.dt, m)
}

func buildGather(c *call) {
	x := c.x
	a := axis(c.IntAttrOr("axis", 0), len(x))
	if c.in[1].Const == nil {
		embed(c, a)
		return
	}
	index := c.constInts(1, "the index")
	shape := append(append(append([]int{}, x[:a]...), c.in[1].Shape...), x[a+1:]...)
	c.p.room(shape)
	inner := graph.ElementCount(x[a+1:])
	var from []int32
	for o := range graph.ElementCount(x[:a]) {
		for _, i := range index {
			j, ok := fromEnd(i, x[a])
			if !ok {
				invalid("index %d of an axis with %d elements", i, x[a])
			}
			for e := range inner {
				from = append(from, int32((o*x[a]+j)*inner+e))
			}
		}
	}
	if from == nil {
		from = []int32{}
	}
	c.pick(shape, from)
}

// maxClasses is the largest number of rows of a table from which data choose rows.
const maxClasses = 1 << 16

// embed builds a choice of rows of a constant table by indices in the data: each index becomes a row of zeros with a
// single one, which the table multiplies.
func embed(c *call, along int) {
	table, index := c.in[0], c.in[1]
	if table.Const == nil || along != 0 {
		unsupported("the index, or, for axis 0, the table must be constant", "the index depends on the data")
	}
	if index.DType.IsReal() {
		invalid("an index of type %s", index.DType)
	}
	n := table.Shape[0]
	if n < 1 || n > maxClasses {
		unsupported("embed at most 65,536 different values", "a table of %d rows", n)
	}
	values := &graph.ConstantTensor{DType: index.DType, Shape: []int{n}, I: program.NewCountingSlice[int64](n)}
	hot := c.part(InternalDomain, opOneHot, "onehot",
		graph.AttributesByName{"type": graph.NewIntAttr(int(table.DType))}, c.Inputs[1],
		c.constant("values", values))
	flat := append([]int{n}, graph.ElementCount(table.Shape[1:]))
	rows := c.reshaped(c.Inputs[0], flat)
	hot = c.reshaped(hot, []int{graph.ElementCount(index.Shape), n})
	y := c.part("", "MatMul", "rows", nil, hot, rows)
	c.last("", "Reshape", exactShape, y, c.shape(append(append([]int{}, index.Shape...), table.Shape[1:]...)))
}

// buildOneHot builds the internal operator OneHot. Its output is 1 where an index equals the position along the
// last axis. A negative index counts back from the end.
func buildOneHot(c *call) {
	x, values := c.x, c.in[1].Shape
	shape := append(slices.Clone(x), values[0])
	checkSize(shape)
	i, v, n := real.Var(0), real.Var(1), real.ConstantExprOfFloat(float64(values[0]))
	is := func(i *real.Expr) *real.Expr { return real.Mul(real.AtLeast(i, v), real.AtLeast(v, i)) }
	e := &program.Elem{Expr: is(i), Args: []int{0, 1}}
	if lo, _, _ := c.dt.IntegerLimits(); lo < 0 {
		e.Expr = real.Add(is(i), is(real.Add(i, n)))
	}
	strides := append(program.RowMajorStrides(x), 0)
	e.Index = []graph.ElementIndexMap{{Table: c.p.strided(shape, strides)}, c.p.broadcast(shape, values)}
	c.add(program.Step{Shape: shape, DType: graph.DType(c.IntAttrOr("type", 0)), Elem: e})
}

func buildMatMul(c *call) {
	a, b := c.x, c.in[1].Shape
	if len(a) == 0 || len(b) == 0 {
		invalid("a scalar operand")
	}
	oneA, oneB := len(a) == 1, len(b) == 1
	if oneA {
		a = []int{1, a[0]}
	}
	if oneB {
		b = []int{b[0], 1}
	}
	m, k, n := a[len(a)-2], a[len(a)-1], b[len(b)-1]
	if b[len(b)-2] != k {
		invalid("shapes %v and %v: %d columns against %d rows", c.x, c.in[1].Shape, k, b[len(b)-2])
	}
	batch := broadcastShape(a[:len(a)-2], b[:len(b)-2])
	full := append(slices.Clone(batch), m, n)
	checkSize(full)
	d := &program.Dot{A: 0, B: 1, K: k, AOffset: c.p.every(k, 1), BOffset: c.p.every(k, n)}
	d.ABase = c.p.list(full, matrixStrides(full, a, k, 0))
	d.BBase = c.p.list(full, matrixStrides(full, b, 0, 1))
	shape := slices.Clone(batch)
	if !oneA {
		shape = append(shape, m)
	}
	if !oneB {
		shape = append(shape, n)
	}
	c.add(program.Step{Shape: shape, DType: c.dt, Dot: d})
}

// matrixStrides returns the strides from which the first product of an output element follows in one operand: those of
// the batch axes, broadcast, and rowStep and colStep.
func matrixStrides(full, operand []int, rowStep, colStep int) []int {
	strides := program.BroadcastStrides(len(full), operand)
	strides[len(full)-2], strides[len(full)-1] = rowStep, colStep
	return strides
}

func buildGemm(c *call) {
	a, b := c.x, c.in[1].Shape
	if len(a) != 2 || len(b) != 2 {
		invalid("operands of shapes %v and %v, wants matrices", a, b)
	}
	d := &program.Dot{A: 0, B: 1, K: a[1]}
	strideA, strideB := 1, b[1]
	m, n := a[0], b[1]
	rowA, colB := a[1], 1
	if c.IsFlagAttrSet("transA") {
		m, d.K, rowA, strideA = a[1], a[0], 1, a[1]
	}
	kb := b[0]
	if c.IsFlagAttrSet("transB") {
		n, kb, colB, strideB = b[0], b[1], b[1], 1
	}
	if kb != d.K {
		invalid("shapes %v and %v do not multiply", a, b)
	}
	shape := []int{m, n}
	checkSize(shape)
	d.ABase, d.BBase = c.p.list(shape, []int{rowA, 0}), c.p.list(shape, []int{0, colB})
	d.AOffset, d.BOffset = c.p.every(d.K, strideA), c.p.every(d.K, strideB)
	y := real.Mul(real.ConstantExprOfFloat(c.FloatAttrOr("alpha", 1)), real.Var(0))
	d.Then = &program.Elem{Args: []int{0}, Index: []graph.ElementIndexMap{{}}}
	if c.HasInput(2) {
		if s, ok := broadcasts(shape, c.in[2].Shape); !ok || graph.ElementCount(s) != m*n {
			invalid("the addend's shape %v does not broadcast to %v", c.in[2].Shape, shape)
		}
		y = real.Add(y, real.Mul(real.ConstantExprOfFloat(c.FloatAttrOr("beta", 1)), real.Var(1)))
		d.Then.Args, d.Then.Index = append(d.Then.Args, 2), append(d.Then.Index, c.p.broadcast(shape, c.in[2].Shape))
	}
	d.Then.Expr = y
	c.add(program.Step{Shape: shape, DType: c.dt, Dot: d})
}
