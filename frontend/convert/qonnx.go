package convert

import (
	"maps"
	"math"
	"slices"

	"hlsgen/frontend/graph"
	"hlsgen/frontend/operators"
)

// dequantToQuant writes a DequantizeLinear as a Quant, if its integers come from a QuantizeLinear or are constants.
// A Clip in between limits the Quant's range. A node in between that moves integers then moves real numbers.
func dequantToQuant(s *scope, n *graph.Node) ([]*graph.Node, *refusal) {
	q, why := s.readLinear(n)
	if why != nil {
		return nil, why
	}
	d := &dequantising{scope: s, n: n, q: q}
	real, why := d.real(n.InputName(0), n.Outputs[0], q.lo, q.hi)
	if why != nil {
		return nil, why
	}
	if real != n.Outputs[0] {
		d.nodes = append(d.nodes, node(n, "", operators.OpIdentity, n.Outputs[0], nil, real))
	}
	return d.nodes, nil
}

// readLinear returns the quantiser of a QuantizeLinear or a DequantizeLinear, with the limits of its integers' type.
func (s *scope) readLinear(n *graph.Node) (*quantiser, *refusal) {
	scale := s.constant(n.InputName(1))
	if scale == nil {
		return nil, refuse("export with constant quantiser parameters", "its scale is computed from data")
	}
	q := &quantiser{scale: scale.Floats(), zero: channels{0}, axis: int(n.IntAttrOr("axis", 1))}
	dt := graph.DTypeUInt8
	if n.Op == "DequantizeLinear" {
		dt = graph.DTypeInt32
		if t := s.constant(n.InputName(0)); t != nil {
			dt = t.DType
		} else if k, ok := s.known[n.InputName(0)]; ok {
			dt = k.DType
		}
	}
	if name := n.InputName(2); name != "" {
		zero := s.constant(name)
		if zero == nil {
			return nil, refuse("export with constant quantiser parameters", "its zero point is computed from data")
		}
		q.zero, dt = zero.Floats(), zero.DType
	} else if v := n.IntAttrOr("output_dtype", 0); v != 0 {
		dt = graph.DType(v)
	}
	if n.IntAttrOr("block_size", 0) != 0 || len(scale.Shape) > 1 {
		return nil, refuse("quantise per tensor or per channel", "it quantises in blocks")
	}
	for _, v := range q.scale {
		if v == 0 {
			return nil, refuse("leave such channels out", "it has a channel of scale 0, which Quant cannot divide by")
		}
	}
	var ok bool
	if q.lo, q.hi, ok = typeLimits(dt); !ok {
		return nil, refuse("quantise to 8 bits", "its integers are of type %s", dt)
	}
	q.even()
	if shape, known := s.shape(n.InputName(0)); known && q.axis < 0 {
		q.axis += len(shape)
	}
	return q, nil
}

// A dequantising holds a DequantizeLinear for which a Quant is being written, and the nodes written so far.
type dequantising struct {
	*scope
	n     *graph.Node
	q     *quantiser
	nodes []*graph.Node
}

// real writes the real numbers for which codes, clipped to lo and hi, stand, and returns the name of their tensor. If
// they have to be computed, the name is as.
func (d *dequantising) real(codes, as string, lo, hi float64) (string, *refusal) {
	if t := d.constant(codes); t != nil {
		return as, d.constants(t, as, lo, hi)
	}
	n := d.by[codes]
	switch {
	case n == nil:
		return "", refuse("the integers must come from a QuantizeLinear", "it reads integers that arrive from outside")
	case n.Op == "Clip" && n.Domain == "":
		low, high, ok := d.bounds(n)
		if !ok {
			return "", refuse("", "it reads Clip %q, whose bounds depend on data", n.Label())
		}
		return d.real(n.InputName(0), as, max(lo, low), min(hi, high))
	case n.Op == "QuantizeLinear" && n.Domain == "":
		made, why := d.readLinear(n)
		if why != nil {
			return "", why
		}
		if !made.sameValues(d.q) {
			return "", refuse("use one scale and zero point",
				"its scale or zero point differs from that of QuantizeLinear %q, "+
					"which computes its integers, but a Quant has only one", n.Label())
		}
		return as, d.quant(n.InputName(0), as, max(lo, made.lo), min(hi, made.hi))
	case moves[n.Op] && n.Domain == "" && d.q.count() == 1 && len(n.Outputs) == 1:
		if n.Op == "MaxPool" && d.q.scale[0] < 0 {
			break
		}
		with := *n
		with.Attrs, with.Inputs, with.Outputs = maps.Clone(n.Attrs), slices.Clone(n.Inputs), []string{as}
		from, why := d.real(n.InputName(0), d.taken.TakeFreshName(as, "real"), lo, hi)
		if why != nil {
			return "", why
		}
		with.Inputs[0] = from
		d.nodes = append(d.nodes, &with)
		return as, nil
	}
	return "", refuse("the integers must come from a QuantizeLinear, bounded by a Clip at most",
		"it reads integers that %s %q computes", n.QualifiedOpName(), n.Label())
}

// moves lists operators that move the elements of their first input or choose the greatest, on integers or on real
// values alike.
var moves = map[string]bool{
	"Flatten": true, "Identity": true, "MaxPool": true, "Reshape": true, "Squeeze": true, "Transpose": true,
	"Unsqueeze": true,
}

// bounds returns the bounds of a Clip of integers; a bound that it omits is that of 32-bit integers. ok is false if one
// is not constant.
func (s *scope) bounds(n *graph.Node) (lo, hi float64, ok bool) {
	lo, hi = limits(32, true, false)
	for i, to := range []*float64{&lo, &hi} {
		if n.InputName(i+1) == "" {
			continue
		}
		t := s.constant(n.InputName(i + 1))
		if t == nil || t.Len() != 1 {
			return 0, 0, false
		}
		*to = t.FloatAt(0)
	}
	return lo, hi, true
}

// constants writes the Quant of constant codes, whose output is as. It reads the real numbers for which the codes
// stand, and changes none.
func (d *dequantising) constants(codes *graph.ConstantTensor, as string, lo, hi float64) *refusal {
	values := &graph.ConstantTensor{DType: graph.DTypeFloat32, Shape: codes.Shape, F: make([]float64, codes.Len())}
	channel := func(int) int { return 0 }
	if d.q.count() > 1 {
		channel = channelOf(codes.Shape, d.q.axis)
	}
	for i := range values.F {
		c := channel(i)
		values.F[i] = float64(float32((max(lo, min(hi, codes.FloatAt(i))) - d.q.zero.at(c)) * d.q.scale.at(c)))
	}
	return d.quant(d.put(as, "values", values), as, lo, hi)
}

// quant writes the Quant node with input x, output as and limits lo and hi.
func (d *dequantising) quant(x, as string, lo, hi float64) *refusal {
	q := *d.q
	bits, signed, narrow, ok := widthOf(lo, hi)
	if !ok && uniform(q.zero) && math.Mod(q.zero[0], 2) == 0 { // codes centred on the zero point, as signed codes
		by := q.zero[0]
		if bits, signed, narrow, ok = widthOf(lo-by, hi-by); ok {
			q.zero = channels{0}
		}
	}
	if !ok {
		return refuse("bound codes by the limits of a bit width",
			"its integers lie from %.0f to %.0f, which no bit width "+
				"of a Quant has as its limits", lo, hi)
	}
	scale, why := d.broadcast(q.scale, x, as, "scale")
	if why != nil {
		return why
	}
	zero, why := d.broadcast(q.zero, x, as, "zero_point")
	if why != nil {
		return why
	}
	attrs := graph.AttributesByName{"signed": graph.NewFlagAttr(signed), "narrow": graph.NewFlagAttr(narrow),
		"rounding_mode": graph.NewStringAttr("ROUND")}
	n := node(d.n, operators.QONNXDomain, operators.OpQuant, as, attrs, x, scale, zero, d.reals(as, "bit_width",
		float64(bits)))
	d.nodes = append(d.nodes, n)
	return nil
}

// broadcast adds the parameter v in a shape that broadcasts against tensor x, and returns its name, made of as and
// suffix.
func (d *dequantising) broadcast(v channels, x, as, suffix string) (string, *refusal) {
	if len(v) == 1 || uniform(v) {
		return d.reals(as, suffix, v[0]), nil
	}
	shape, known := d.shape(x)
	rank := len(shape)
	if !known {
		if shape, known = d.shape(d.n.InputName(0)); !known {
			return "", refuse("", "the rank of its input is not known")
		}
		rank = len(shape)
	}
	t := &graph.ConstantTensor{DType: graph.DTypeFloat32, Shape: slices.Repeat([]int{1}, rank), F: v}
	t.Shape[d.q.axis] = len(v)
	return d.put(as, suffix, t), nil
}

// uniform reports whether the parameter is the same for all channels.
func uniform(v channels) bool {
	return !slices.ContainsFunc(v, func(x float64) bool { return x != v[0] })
}

// nothingLeft refuses nodes with ONNX's quantisers that remain after the conversion. Something other than a
// DequantizeLinear reads their integers.
func (s *scope) nothingLeft() {
	each(s.g, func(n *graph.Node) {
		if n.Domain == "" && (n.Op == "QuantizeLinear" || n.Op == "DequantizeLinear") {
			s.fail(n, refuse("read the integers with a DequantizeLinear alone",
				"an operator other than DequantizeLinear reads its integers, but a Quant returns real numbers"))
		}
	})
}
