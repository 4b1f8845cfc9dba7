package canon

import (
	"slices"

	"hlsgen/frontend/graph"
	"hlsgen/frontend/operators"
)

// hoistCodes moves the quantisers of scanned tensors out of the bodies of loops, in front of the loops. It reports
// whether it moved any. Quantising the whole tensor gives the same codes as quantising each element in the body.
func hoistCodes(m *PassState) bool {
	e := edit(m.Graph)
	return e.each(func(n *graph.Node) (out []*graph.Node) {
		loop := m.Program.LoopOfNode(n)
		if loop == nil {
			return nil
		}
		with := withBody(n, n.Attrs["body"].G.ShallowCopy())
		with.Inputs = slices.Clone(n.Inputs)
		for k := loop.States; k < len(n.Inputs); k++ {
			if code := e.hoist(with, k); code != nil {
				out = append(out, code)
			}
		}
		if out == nil {
			return nil
		}
		return append(out, with)
	})
}

// hoist removes the quantiser of scanned input k from the body of loop n. It returns a node that quantises the whole
// tensor in front of the loop. It returns nil, and changes nothing, unless all readers are quantisers with the same
// constant parameters.
func (e *editor) hoist(n *graph.Node, k int) *graph.Node {
	body := n.Attrs["body"].G
	x := body.Inputs[k].Name
	var code *graph.Node
	for _, r := range body.Nodes {
		if !slices.Contains(r.Inputs, x) {
			continue
		}
		if !operators.HasTrait(r, operators.TraitUniformCodes) || code != nil && !sameCode(body, code, r) {
			return nil
		}
		code = r
	}
	if code == nil || slices.ContainsFunc(body.Outputs, func(v graph.ValueInfo) bool { return v.Name == x }) {
		return nil
	}
	inputs := []string{n.Inputs[k]}
	for _, p := range code.Inputs[1:] {
		t := body.Init[p]
		if t == nil || t.Len() != 1 {
			return nil
		}
		inputs = append(inputs, e.constant(n.Inputs[k], "parameter", t))
	}
	outer := from(code, operators.InternalDomain, operators.OpQuantiserCode, inputs, e.taken.TakeFreshName(n.Inputs[k],
		"codes"),
		code.Attrs)
	outer.Index = n.Index
	n.Inputs[k] = outer.Outputs[0]
	body.Inputs[k].DType = graph.DTypeInt64
	made := map[string]bool{}
	edit(body).each(func(r *graph.Node) []*graph.Node {
		if slices.Contains(r.Inputs, x) {
			made[r.Outputs[0]] = true
			return []*graph.Node{}
		}
		if !slices.ContainsFunc(r.Inputs, func(in string) bool { return made[in] }) {
			return nil
		}
		with := *r
		with.Inputs = slices.Clone(r.Inputs)
		for i, in := range r.Inputs {
			if made[in] {
				with.Inputs[i] = x
			}
		}
		return []*graph.Node{&with}
	})
	return outer
}

// sameCode reports whether two quantisers of a body have the same parameters.
func sameCode(body *graph.Graph, a, b *graph.Node) bool {
	for i := 1; i < len(a.Inputs); i++ {
		x, y := body.Init[a.Inputs[i]], body.Init[b.Inputs[i]]
		if x == nil || y == nil || x.Len() != 1 || y.Len() != 1 || x.FloatAt(0) != y.FloatAt(0) {
			return false
		}
	}
	for _, name := range []string{"lo", "hi", "mode", "zero_first", "sign"} {
		p, q := a.Attrs[name], b.Attrs[name]
		if p.F != q.F || p.I != q.I {
			return false
		}
	}
	return len(a.Inputs) == len(b.Inputs)
}
