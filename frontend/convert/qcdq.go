package convert

import (
	"hlsgen/frontend/graph"
)

// quantToQCDQ writes a Quant as QuantizeLinear, Clip and DequantizeLinear with the same parameters. If the data are
// constants, it stores their codes and omits QuantizeLinear. It omits Clip if the codes use the full range of their
// type.
func quantToQCDQ(s *scope, n *graph.Node) ([]*graph.Node, *refusal) {
	q, why := s.readQuant(n)
	if why != nil {
		return nil, why
	}
	if k, ok := s.known[n.InputName(0)]; ok && k.DType != graph.DTypeFloat32 {
		return nil, refuse("store the data as float32",
			"its data are of type %s: QuantizeLinear takes float32", k.DType)
	}
	if s.unsigned && s.outer == nil && q.lo < 0 && (s.known[n.Outputs[0]].Const == nil ||
		s.constant(n.InputName(0)) == nil) {
		q.shift(128)
	}
	dt, bits := q.storage()
	if dt == graph.DTypeUndefined {
		return nil, refuse("train with 8 bits, or keep the model in QONNX",
			"no integer type holds its codes from %.0f to %.0f with its zero point", q.lo, q.hi)
	}
	out := n.Outputs[0]
	var nodes []*graph.Node
	if codes, stored := s.stored(n, q, &dt); stored {
		clipped, clip := s.clip(n, codes, q, dt)
		scale, zero, attrs := s.parameters(q, out, dt)
		if dt == graph.DTypeInt32 {
			zero = "" // the zero point is 0, which is omitted for 32-bit integers
		}
		return append(clip, node(n, "", "DequantizeLinear", out, attrs, clipped, scale, zero)), nil
	}
	if bits > 8 && (bits > 16 || s.g.Opsets[""] < 21) {
		return nil, refuse("raise the model to opset 21 first (onnx.version_converter), where there are 16 bits, or "+
			"keep it in QONNX",
			"its codes take %d bits: QuantizeLinear gives 8, and 16 from opset 21 on, which is %d here",
			bits, s.g.Opsets[""])
	}
	scale, zero, attrs := s.parameters(q, out, dt)
	codes := s.taken.TakeFreshName(out, "quantised")
	nodes = append(nodes, node(n, "", "QuantizeLinear", codes, attrs, n.InputName(0), scale, zero))
	clipped, clip := s.clip(n, codes, q, dt)
	nodes = append(nodes, clip...)
	return append(nodes, node(n, "", "DequantizeLinear", out, attrs, clipped, scale, zero)), nil
}

// stored adds the codes of the data that quantiser n reads, if these are constant, and returns the codes' name. Codes
// of more than 8 bits become 32-bit integers without a zero point, as in a bias; stored then sets dt. ok is false for
// other data, values that no code has, and 32-bit codes with a zero point.
func (s *scope) stored(n *graph.Node, q *quantiser, dt *graph.DType) (codes string, ok bool) {
	values := s.known[n.Outputs[0]].Const
	if values == nil || s.constant(n.InputName(0)) == nil {
		return "", false
	}
	list, exact := q.codes(values)
	if !exact {
		return "", false
	}
	if *dt != graph.DTypeInt8 && *dt != graph.DTypeUInt8 {
		*dt = graph.DTypeInt32
		for _, z := range q.zero {
			if z != 0 {
				return "", false
			}
		}
	}
	return s.put(n.Outputs[0], "codes", &graph.ConstantTensor{DType: *dt, Shape: values.Shape, I: list}), true
}
