package convert

import (
	"math"
	"math/big"

	"hlsgen/frontend/graph"
	"hlsgen/frontend/operators"
	"hlsgen/frontend/real"
	"hlsgen/internal/num"
)

// An activation is the computation between a product's sums and the quantiser behind them.
type activation struct {
	*product
	chain []*graph.Node // elementwise nodes with constants
	last  *graph.Node   // the QuantizeLinear
	q     *quantiser    // quantiser of last, within the limits of the Clip behind it
}

// activation follows the product's sums to the quantiser that alone reads them. It returns nil if there is none, or if
// the nodes in between are no function of each sum alone. It also returns nil for a quantiser per channel or with more
// than 256 codes.
func (p *product) activation() *activation {
	f := &activation{product: p}
	for at := p.n.Outputs[0]; ; {
		n := p.only(at)
		if n == nil || n.Domain != "" || len(n.Outputs) == 0 {
			return nil
		}
		if n.Op == "QuantizeLinear" {
			q, why := p.readLinear(n)
			if why != nil || n.InputName(0) != at || q.count() > 1 || q.hi-q.lo > 255 {
				return nil
			}
			f.last, f.q = n, p.bounded(n.Outputs[0], q)
			return f
		}
		if _, ok := f.apply(n, at, 0, nil); !ok {
			return nil
		}
		f.chain = append(f.chain, n)
		at = n.Outputs[0]
	}
}

// A value is a real number computed from a sum: exactly, and approximately as scale*sum + bias without clipping.
type value struct {
	exact       *real.Expr
	scale, bias float64
}

// apply returns the value of a channel behind node n, whose input x has the value v. ok is false if the node is not
// supported. With a nil v, apply computes no value and only returns ok.
func (f *activation) apply(n *graph.Node, x string, channel int, v *value) (_ *value, ok bool) {
	if v == nil {
		v = &value{exact: real.Var(0), scale: 1}
	}
	operand := func(i int) (float64, bool) { return f.operand(n.InputName(i), channel) }
	switch n.Op {
	case "Relu":
		return &value{real.Max(v.exact, real.ConstantExprOfFloat(0)), v.scale, v.bias}, true
	case operators.OpIdentity:
		return v, true
	case "Clip":
		e := v.exact
		if lo, ok := operand(1); ok {
			e = real.Max(e, real.ConstantExprOfFloat(lo))
		} else if n.InputName(1) != "" {
			return nil, false
		}
		if hi, ok := operand(2); ok {
			e = real.Min(e, real.ConstantExprOfFloat(hi))
		} else if n.InputName(2) != "" {
			return nil, false
		}
		return &value{e, v.scale, v.bias}, true
	case "BatchNormalization":
		return f.batchNorm(n, channel, v)
	}
	other := 1
	if n.InputName(1) == x {
		other = 0
	}
	by, ok := operand(other)
	if !ok || len(n.Inputs) != 2 || n.InputName(0) == n.InputName(1) {
		return nil, false
	}
	c := real.ConstantExprOfFloat(by)
	switch {
	case n.Op == operators.OpAdd:
		return &value{real.Add(v.exact, c), v.scale, v.bias + by}, true
	case n.Op == operators.OpSub && other == 1:
		return &value{real.Sub(v.exact, c), v.scale, v.bias - by}, true
	case n.Op == operators.OpMul:
		return &value{real.Mul(v.exact, c), v.scale * by, v.bias * by}, true
	case n.Op == "Div" && other == 1 && by != 0:
		return &value{real.Div(v.exact, c), v.scale / by, v.bias / by}, true
	}
	return nil, false
}

func (f *activation) batchNorm(n *graph.Node, channel int, v *value) (*value, bool) {
	var k [4]float64 // gamma, beta, mean, variance
	for i := range k {
		var ok bool
		if k[i], ok = f.vector(n.InputName(i+1), channel); !ok || f.axis != 1 {
			return nil, false
		}
	}
	eps := n.FloatAttrOr("epsilon", float64(float32(1e-5)))
	root := real.Sqrt(real.Add(real.ConstantExprOfFloat(k[3]), real.ConstantExprOfFloat(eps)))
	e := real.Add(real.Mul(real.Div(real.Sub(v.exact, real.ConstantExprOfFloat(k[2])), root),
		real.ConstantExprOfFloat(k[0])), real.ConstantExprOfFloat(k[1]))
	g := k[0] / math.Sqrt(k[3]+eps)
	return &value{e, v.scale * g, (v.bias-k[2])*g + k[1]}, true
}

// operand returns the number that an element-wise operator reads from constant name for a channel. ok is false if the
// tensor is not constant or does not hold one number per channel.
func (f *activation) operand(name string, channel int) (float64, bool) {
	t := f.constant(name)
	if t == nil || t.Len() == 0 {
		return 0, false
	}
	if t.Len() == 1 {
		return t.FloatAt(0), true
	}
	shape, known := f.shape(f.n.Outputs[0])
	axis, why := along(t, shape, known)
	if why != nil || !known || axis != f.axis {
		return 0, false
	}
	return t.FloatAt(channel), true
}

// vector returns the element for a channel of a constant with one element per channel. ok is false for other tensors.
func (f *activation) vector(name string, channel int) (float64, bool) {
	t := f.constant(name)
	if t == nil || t.Len() != len(f.weights) {
		return 0, false
	}
	return t.FloatAt(channel), true
}

// of returns a channel's value as a function of its sum. It returns false if the bias or a node behind the product is
// not supported.
func (f *activation) of(channel int) (*value, bool) {
	scale := new(big.Rat).SetFloat64(f.a.q.scale[0])
	scale.Mul(scale, new(big.Rat).SetFloat64(f.scale[channel]))
	approximate, _ := scale.Float64()
	v := &value{exact: real.Mul(real.Var(0), real.ConstantExpr(scale)), scale: approximate}
	if f.bias != "" {
		b, ok := f.vector(f.bias, channel)
		if !ok {
			return nil, false
		}
		v = &value{real.Add(v.exact, real.ConstantExprOfFloat(b)), v.scale, b}
	}
	at := f.n.Outputs[0]
	for _, n := range f.chain {
		var ok bool
		if v, ok = f.apply(n, at, channel, v); !ok {
			return nil, false
		}
		at = n.Outputs[0]
	}
	return v, true
}

// steps returns the exact codes for the sums in r, as a step function, of a channel with value v. The error is that of
// the search for steps.
func (f *activation) steps(v *value, r num.Range) (num.StepFunction, error) {
	code := real.Add(real.Round(real.Div(v.exact, real.ConstantExprOfFloat(f.q.scale[0])), real.RoundingModeHalfEven),
		real.ConstantExprOfFloat(f.q.zero[0]))
	code = real.Min(real.Max(code, real.ConstantExprOfFloat(f.q.lo)), real.ConstantExprOfFloat(f.q.hi))
	return real.Compile(code).StepFunctionOver(r, 1<<10)
}

// differing returns the number of integers in r for which two step functions differ.
func differing(a, b num.StepFunction, r num.Range) (n int64) {
	for at := r.Lo; at <= r.Hi; {
		end := r.Hi
		for _, s := range []num.StepFunction{a, b} {
			if i := s.FirstBreakpointIndexAbove(at); i < len(s.At) {
				end = min(end, s.At[i]-1)
			}
		}
		if a.Apply(at) != b.Apply(at) {
			n += end - at + 1
		}
		at = end + 1
	}
	return n
}
