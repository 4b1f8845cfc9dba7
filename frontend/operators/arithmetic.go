package operators

import (
	"math"

	"hlsgen/frontend/graph"
	"hlsgen/frontend/program"
	"hlsgen/frontend/real"
)

// This file has arithmetic on elements, and nodes whose value depends on the file alone.

func binary(f joining) definition {
	return func(c *call) {
		if _, ok := c.Attrs["axis"]; ok && c.opset < 7 {
			unsupported("convert the model to opset 7 or later", "the old form of broadcasting, along an axis")
		}
		c.elementwise(c.promoted(), f(real.Var(0), real.Var(1)), 0, 1)
	}
}

// promoted returns the type of the result of an operation on two inputs. ONNX requires equal types; package canon also
// combines integer codes with real scales and zero points.
func (c *reading) promoted() graph.DType {
	if !c.dt.IsReal() {
		return c.in[1].DType
	}
	return c.dt
}

func unary(f func(x *real.Expr) *real.Expr) definition {
	return func(c *call) {
		c.elementwise(c.dt, f(real.Var(0)), 0)
	}
}

// divisible refuses a node whose divisor, input 1, is a constant that contains a zero.
func divisible(c *call) {
	if t := c.in[1].Const; t != nil {
		for i := range t.Len() {
			if t.FloatAt(i) == 0 {
				invalid("division by the constant zero (element %d)", i)
			}
		}
	}
}

func buildDiv(c *call) {
	divisible(c)
	by := real.Div
	if !c.promoted().IsReal() { // ONNX rounds integer quotients towards zero
		by = func(x, y *real.Expr) *real.Expr { return real.Round(real.Div(x, y), real.RoundingModeTowardsZero) }
	}
	binary(by)(c)
}

func buildPow(c *call) {
	if t := c.in[1].Const; t != nil && t.Len() > 1 {
		buildPowers(c, t)
		return
	}
	e := c.constScalar(1, "the exponent")
	x, y := real.Var(0), real.ConstantExprOfFloat(1)
	root := e != math.Trunc(e)
	if root {
		if 2*e != math.Trunc(2*e) {
			realPower(c)
			return
		}
	}
	if !c.dt.IsReal() && (root || e < 0) {
		unsupported("cast to float before", "exponent %g of an integer", e)
	}
	n := math.Trunc(math.Abs(e))
	if n > maxPower {
		unsupported("exponents up to 64", "exponent %g", e)
	}
	for range int(n) {
		y = real.Mul(y, x)
	}
	if root {
		y = real.Mul(y, real.Sqrt(x))
	}
	if e < 0 {
		y = real.Div(real.ConstantExprOfFloat(1), y)
	}
	c.elementwise(c.dt, y, 0)
}

// realPower builds x^e as exp(e ln x). It has no value if x is not positive.
func realPower(c *call) {
	if !c.dt.IsReal() {
		unsupported("cast to float before", "real exponents of integers")
	}
	c.elementwise(c.dt, real.Exp(real.Mul(real.Var(1), real.Log(real.Var(0)))), 0, 1)
}

// buildPowers builds a power with several constant exponents. Integer exponents give the sum, over each power n that
// occurs, of x^n where the exponent is n, and 0 elsewhere.
func buildPowers(c *call, exponents *graph.ConstantTensor) {
	occurs := map[int]bool{}
	most := 0
	for i := range exponents.Len() {
		e := exponents.FloatAt(i)
		if e < 0 || e > maxPower || e != math.Trunc(e) {
			realPower(c)
			return
		}
		occurs[int(e)] = true
		most = max(most, int(e))
	}
	sum, power := zero, one
	for n := 0; n <= most; n++ {
		if occurs[n] {
			at := real.ConstantExprOfFloat(float64(n))
			is := real.Mul(real.AtLeast(real.Var(1), at), real.AtLeast(at, real.Var(1)))
			sum = real.Add(sum, real.Mul(is, power))
		}
		power = real.Mul(power, real.Var(0))
	}
	c.elementwise(c.dt, sum, 0, 1)
}

// maxPower is the largest integer exponent for which powers are computed by multiplications, of which x^n takes n.
const maxPower = 64

func buildClip(c *call) {
	x, args := real.Var(0), []int{0}
	sides := []struct {
		attr  string
		bound joining
		none  int // the sign of the infinity that means no limit
	}{{"min", real.Max, -1}, {"max", real.Min, 1}}
	if c.opset < 11 && len(c.in) > 1 {
		invalid("bounds are attributes before opset 11")
	}
	for i, side := range sides {
		v, fixed := 0.0, false
		switch slot := i + 1; {
		case c.opset < 11:
			a := c.Attrs[side.attr]
			if v, fixed = a.F, a.Kind == graph.AttrKindFloat; !fixed {
				continue
			}
		case !c.HasInput(slot):
			continue
		case graph.ElementCount(c.in[slot].Shape) != 1:
			invalid("a bound of shape %v, wants a scalar", c.in[slot].Shape)
		case c.in[slot].Const != nil:
			v = c.in[slot].Const.FloatAt(0)
		}
		switch {
		case math.IsInf(v, side.none):
		case math.IsInf(v, 0) && fixed:
			invalid("the %s is %v", side.attr, v)
		case fixed:
			x = side.bound(x, real.ConstantExprOfFloat(v))
		default:
			x = side.bound(x, real.Var(len(args)))
			args = append(args, i+1)
		}
	}
	c.elementwise(c.dt, x, args...)
	c.steps[0].Shape = c.x // a limit of shape (1,) adds no axis
}

func buildCast(c *call) {
	to := c.dtypeAttr("to")
	if t := castConstant(c, to); t != nil {
		c.value(t)
		return
	}
	switch {
	case !to.IsComputableNumber():
		unsupported("cast to a real or an integer type", "cast to type %d (%s)", c.IntAttrOr("to", 0), to)
	case to == graph.DTypeBool && c.dt != graph.DTypeBool:
		c.elementwise(to, not(equal(real.Var(0), zero)), 0)
		return
	case to.IsReal() || !c.dt.IsReal():
		c.elementwise(to, real.Var(0), 0)
		return
	}
	c.elementwise(to, real.Round(real.Var(0), real.RoundingModeTowardsZero), 0)
}

// castConstant returns a constant of reals, rounded to another real type, because a file stores the result of such a
// Cast. Casts of data do not round: data are real numbers whatever their type. It returns nil if no number changes and
// models compute with the type. It also returns nil if a rounded value is unknown or the input is no constant of reals.
func castConstant(c *call, to graph.DType) *graph.ConstantTensor {
	known, within := c.in[0].Const, c.p.InexactConstant(c.Inputs[0])
	if !to.IsReal() || to == c.dt || known == nil && within == nil || to == graph.DTypeFloat8E8M0 {
		return nil
	}
	if within == nil {
		within = program.RealsOfConstant(known)
	}
	saturates := to == graph.DTypeFloat4E2M1 || to.IsMinifloat() && c.IntAttrOr("saturate", 1) != 0
	t, same := &graph.ConstantTensor{DType: to, Shape: within.Shape, F: make([]float64, len(within.Lo))},
		known != nil &&
			to.IsComputableNumber()
	for i, v := range within.Lo {
		y := to.RoundToType(v, saturates)
		if y != to.RoundToType(within.Hi[i], saturates) {
			return nil
		}
		t.F[i], same = y, same && y == v
	}
	if same {
		return nil
	}
	return t.CompressedToCodes()
}

// castTo returns the attributes of a Cast.
func castTo(dt graph.DType) graph.AttributesByName {
	return graph.AttributesByName{"to": graph.NewIntAttr(int(dt))}
}

func buildIdentity(c *call) { c.pick(c.x, nil) }

func buildBatchNorm(c *call) {
	x := c.x
	if c.IsFlagAttrSet("training_mode") {
		unsupported("export the model in inference mode", "training_mode is set")
	}
	if len(x) < 2 {
		invalid("input of shape %v has no channel axis", x)
	}
	channel := 1
	if c.Domain == channelsLast {
		channel = len(x) - 1
	}
	for i, k := range c.in[1:] {
		if len(k.Shape) != 1 || k.Shape[0] != x[channel] {
			invalid("parameter %d has shape %v for %d channels", i+1, k.Shape, x[channel])
		}
	}
	if c.opset < 9 && c.IntAttrOr("spatial", 1) == 0 || c.opset < 7 && !c.IsFlagAttrSet("is_test") {
		unsupported("export the model in inference mode with opset 9 or later",
			"statistics of the batch at hand, or per element")
	}
	eps := c.FloatAttrOr("epsilon", float64(float32(1e-5)))
	if variance := c.in[4].Const; variance != nil {
		for i := range variance.Len() {
			if !(variance.FloatAt(i)+eps > 0) {
				invalid("the variance %g plus epsilon %g is not positive (channel %d)", variance.FloatAt(i), eps, i)
			}
		}
	}
	v := real.Var
	y := real.Div(real.Sub(v(0), v(3)), real.Sqrt(real.Add(v(4), real.ConstantExprOfFloat(eps))))
	e := &program.Elem{Expr: real.Add(real.Mul(y, v(1)), v(2)), Args: []int{0, 1, 2, 3, 4},
		Index: make([]graph.ElementIndexMap, 5)}
	for i := 1; i < 5; i++ {
		e.Index[i] = program.NewAxisCoordinateMap(x, channel)
	}
	c.add(program.Step{Shape: x, DType: c.dt, Elem: e})
}

func buildConstant(c *call) {
	t := constantValue(c.reading.Node)
	if t == nil || !t.DType.IsComputableNumber() && !t.DType.IsMinifloat() {
		unsupported("use a dense tensor of numbers",
			"the constant's value is missing, sparse or of another type")
	}
	c.value(t)
}

// constantValue returns the value that a Constant node gives. It returns nil for other nodes, and for values that are
// neither a tensor nor numbers.
func constantValue(n *graph.Node) *graph.ConstantTensor {
	a := func(name string) graph.Attr { return n.Attrs[name] }
	switch {
	case n.Op != "Constant" || n.Domain != "":
	case a("value").Kind == graph.AttrKindTensor:
		return a("value").T
	case a("value_float").Kind == graph.AttrKindFloat:
		return &graph.ConstantTensor{DType: graph.DTypeFloat32, F: []float64{a("value_float").F}}
	case a("value_int").Kind == graph.AttrKindInt:
		return &graph.ConstantTensor{DType: graph.DTypeInt64, I: []int64{a("value_int").I}}
	case a("value_floats").Kind == graph.AttrKindFloats:
		return &graph.ConstantTensor{DType: graph.DTypeFloat32, Shape: []int{len(a("value_floats").Floats)},
			F: a("value_floats").Floats}
	case a("value_ints").Kind == graph.AttrKindInts:
		return &graph.ConstantTensor{DType: graph.DTypeInt64, Shape: []int{len(a("value_ints").Ints)},
			I: a("value_ints").Ints}
	}
	return nil
}

func buildShape(c *call) {
	shape := c.x
	lo, hi := c.IntAttrOr("start", 0), c.IntAttrOr("end", int64(len(shape)))
	clamp := func(v int64) int {
		if v < 0 {
			v += int64(len(shape))
		}
		return int(max(0, min(v, int64(len(shape)))))
	}
	t := &graph.ConstantTensor{DType: graph.DTypeInt64}
	for i := clamp(lo); i < clamp(hi); i++ {
		t.I = append(t.I, int64(shape[i]))
	}
	t.Shape = []int{len(t.I)}
	c.value(t)
}
