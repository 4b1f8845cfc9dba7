package operators

import (
	"slices"

	"hlsgen/frontend/graph"
	"hlsgen/frontend/program"
	"hlsgen/frontend/real"
)

// The functions below act on each element. Each is an expression, so it can be executed, and merged into a quantiser's
// step function, without further code.

var (
	zero = real.ConstantExprOfFloat(0)
	one  = real.ConstantExprOfFloat(1)
)

func sigmoid(x *real.Expr) *real.Expr { return real.Div(one, real.Add(one, real.Exp(real.Neg(x)))) }

func tanh(x *real.Expr) *real.Expr {
	two := real.ConstantExprOfFloat(2)
	return real.Sub(one, real.Div(two, real.Add(real.Exp(real.Mul(two, x)), one)))
}

func sign(x *real.Expr) *real.Expr {
	return real.Sub(real.AtLeast(x, zero), real.AtLeast(real.Neg(x), zero))
}

func softplus(x *real.Expr) *real.Expr { return real.Log(real.Add(one, real.Exp(x))) }

func softsign(x *real.Expr) *real.Expr { return real.Div(x, real.Add(one, real.Abs(x))) }

func rounded(mode real.RoundingMode) func(*real.Expr) *real.Expr {
	return func(x *real.Expr) *real.Expr { return real.Round(x, mode) }
}

// attr32 returns the value of a float attribute as an expression. The default is rounded to float32, because the
// operator definitions give it in decimal, and files hold rounded values.
func (c *reading) attr32(name string, def float64) *real.Expr {
	return real.ConstantExprOfFloat(c.FloatAttrOr(name, float64(float32(def))))
}

// negative returns a*f(min(x, 0)) + max(x, 0), the form of leaky ReLUs.
func negative(x, a *real.Expr, f func(*real.Expr) *real.Expr) *real.Expr {
	return real.Add(real.Max(x, zero), real.Mul(a, f(real.Min(x, zero))))
}

func expMinusOne(x *real.Expr) *real.Expr { return real.Sub(real.Exp(x), one) }

func same(x *real.Expr) *real.Expr { return x }

func buildLeakyRelu(c *call) {
	c.elementwise(c.dt, negative(real.Var(0), c.attr32("alpha", 0.01), same), 0)
}

func buildElu(c *call) {
	c.elementwise(c.dt, negative(real.Var(0), c.attr32("alpha", 1), expMinusOne), 0)
}

func buildSelu(c *call) {
	y := negative(real.Var(0), c.attr32("alpha", 1.67326319217681884765625), expMinusOne)
	c.elementwise(c.dt, real.Mul(c.attr32("gamma", 1.05070102214813232421875), y), 0)
}

func buildHardSigmoid(c *call) {
	y := real.Add(real.Mul(c.attr32("alpha", 0.2), real.Var(0)), c.attr32("beta", 0.5))
	c.elementwise(c.dt, real.Max(zero, real.Min(one, y)), 0)
}

// buildPRelu builds PRelu. The slope broadcasts to the input's shape and may not extend it.
func buildPRelu(c *call) {
	slope := c.in[1].Shape
	if s, ok := broadcasts(c.x, slope); !ok || graph.ElementCount(s) != graph.ElementCount(c.x) {
		invalid("a slope of shape %v for an input of shape %v", slope, c.x)
	}
	c.elementwise(c.dt, negative(real.Var(0), real.Var(1), same), 0, 1)
}

// buildWhere builds Where, whose condition is 0 or 1.
func buildWhere(c *call) {
	if c.dt != graph.DTypeBool {
		invalid("the condition is of type %s, not bool", c.dt)
	}
	v := real.Var
	y := real.Add(chosen(v(0), v(1), endsOf(c.reading, 1)), chosen(real.Sub(one, v(0)), v(2), endsOf(c.reading, 2)))
	c.elementwise(c.in[1].DType, y, 0, 1, 2)
}

// fold returns the definition of an operator on any number of inputs, to which f is applied one after the other.
func fold(f joining) definition {
	return func(c *call) {
		y, args := real.Var(0), []int{0}
		for i := 1; i < len(c.in); i++ {
			if !c.HasInput(i) {
				invalid("input %d is missing", i)
			}
			y, args = f(y, real.Var(i)), append(args, i)
		}
		c.elementwise(c.dt, y, args...)
	}
}

// extreme returns the definition of a maximum or a minimum of inputs, as f computes it for two. It leaves out constants
// that are all infinities with the sign none, because these do not limit the result.
func extreme(f joining, none int) definition {
	return func(c *call) {
		var y *real.Expr
		var args []int
		var shape, left []int // the broadcast shapes of all inputs and of the remaining ones
		for i, k := range c.in {
			if !c.HasInput(i) {
				invalid("input %d is missing", i)
			}
			shape = broadcastShape(shape, k.Shape)
			if k.Const != nil && k.Const.IsAllInfinite(none) {
				continue
			}
			left = broadcastShape(left, k.Shape)
			v := real.Var(len(args))
			if args = append(args, i); y == nil {
				y = v
			} else {
				y = f(y, v)
			}
		}
		if y == nil || !slices.Equal(left, shape) { // omitted inputs may still extend the shape
			fold(f)(c)
			return
		}
		c.elementwise(c.dt, y, args...)
	}
}

// maxRows is the largest row length of a softmax that becomes one expression, with a variable for each element of the
// row.
const maxRows = 1 << 12

// softmax returns the definition of a softmax, or with logarithm that of its logarithm. Each element is 1 / sum of
// exp(x_j - x_i) over its row.
func softmax(logarithm bool) definition {
	return func(c *call) {
		x := c.x
		rows := c.rows()
		if rows.n > maxRows || rows.n*graph.ElementCount(x) > maxElements || endsOf(c.reading, 0) != 0 {
			longSoftmax(c, rows, logarithm)
			return
		}
		e := &program.Elem{Args: make([]int, rows.n+1), Index: make([]graph.ElementIndexMap, rows.n+1)}
		var sum *real.Expr
		for j := range rows.n {
			c.p.table((j + 1) * graph.ElementCount(x))
			table := make([]int32, graph.ElementCount(x))
			for i := range table {
				table[i] = int32(rows.base(i) + j*rows.stride)
			}
			e.Index[j].Table = table
			term := real.Exp(real.Sub(real.Var(j), real.Var(rows.n)))
			if sum == nil {
				sum = term
			} else {
				sum = real.Add(sum, term)
			}
		}
		if e.Expr = real.Div(one, sum); logarithm {
			e.Expr = real.Neg(real.Log(sum))
		}
		c.add(program.Step{Shape: x, DType: c.dt, Elem: e})
	}
}

// maximaOf is the largest number of elements of which one step of a long softmax takes the maximum.
const maximaOf = 1 << 9

// longSoftmax builds a softmax over long rows from several nodes: exp(x - m) divided by its sum, where m is the maximum
// of the row. A log-softmax is x - m minus the logarithm of the sum.
func longSoftmax(c *call, rows rowSet, logarithm bool) {
	inner := rows.stride
	outer := graph.ElementCount(c.x) / (rows.n * inner)
	one := []int{outer, 1, inner}
	x := c.reshaped(c.Inputs[0], []int{outer, rows.n, inner})
	most, n := x, rows.n
	for n > 1 { // maxima of parts of a row; repeats of the last element fill the last part
		of := min(n, maximaOf)
		parts := (n + of - 1) / of
		at := program.NewCountingSlice[int64](parts * of)
		for i := range at {
			at[i] = min(at[i], int64(n-1))
		}
		most = c.part("", OpGather, "filled", graph.AttributesByName{"axis": graph.NewIntAttr(1)}, most,
			c.constant("at", &graph.ConstantTensor{DType: graph.DTypeInt64, Shape: []int{len(at)}, I: at}))
		most = c.reshaped(most, []int{outer, parts, of, inner})
		most, n = c.part(InternalDomain, "Max", "maxima", graph.AttributesByName{"axes": intsAttr(2)}, most), parts
	}
	c.p.SetInfinitySigns(most, 0) // a row of infinities alone has no softmax, so the maximum is finite
	shifted := c.part("", "Sub", "shifted", nil, x, c.reshaped(most, one))
	terms := c.part("", "Exp", "terms", nil, shifted)
	sum := c.part(InternalDomain, "Sum", "sum", graph.AttributesByName{"axes": intsAttr(1)}, terms,
		c.constant("ones", graph.NewFilledTensor(c.dt, []int{rows.n}, 1)))
	sum = c.reshaped(sum, one)
	y := ""
	if logarithm {
		y = c.part("", "Sub", "logarithms", nil, shifted, c.part("", "Log", "logarithm", nil, sum))
	} else {
		y = c.part("", "Div", "shares", nil, terms, sum)
	}
	c.last("", "Reshape", exactShape, y, c.shape(c.x))
}

// A rowSet cuts a tensor into rows along an axis. Each row has n elements with a distance of stride.
type rowSet struct{ n, stride int }

// base returns the index of the first element of the row that holds element i.
func (r rowSet) base(i int) int { return i/(r.n*r.stride)*(r.n*r.stride) + i%r.stride }

// rows returns the rows into which the attribute axis cuts the first input. Before opset 13 a softmax joins all axes
// from there on to one.
func (c *reading) rows() rowSet {
	x := c.x
	if len(x) == 0 {
		return rowSet{1, 1}
	}
	def := int64(-1)
	if c.opset < 13 {
		def = 1
	}
	a := axis(c.IntAttrOr("axis", def), len(x))
	if c.opset < 13 {
		return rowSet{graph.ElementCount(x[a:]), 1}
	}
	return rowSet{x[a], graph.ElementCount(x[a+1:])}
}
