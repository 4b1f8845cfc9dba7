package canon

import (
	"maps"
	"math"

	"hlsgen/frontend/graph"
	"hlsgen/frontend/operators"
)

// An editor replaces nodes of a graph and makes unused tensor names.
type editor struct {
	g     *graph.Graph
	taken graph.UsedTensorNames
}

func edit(g *graph.Graph) *editor { return &editor{g, g.UsedTensorNames()} }

// constant adds a tensor as an initializer, under an unused name made of base and suffix, and returns the name.
func (e *editor) constant(base, suffix string, t *graph.ConstantTensor) string {
	name := e.taken.TakeFreshName(base, suffix)
	e.g.Init[name] = t
	return name
}

// each replaces every node by the nodes that f returns for it, and reports whether it replaced any. If f returns nil,
// the node stays; an empty list removes it.
func (e *editor) each(f func(n *graph.Node) []*graph.Node) (changed bool) {
	var nodes []*graph.Node
	for _, n := range e.g.Nodes {
		if with := f(n); with != nil {
			nodes, changed = append(nodes, with...), true
		} else {
			nodes = append(nodes, n)
		}
	}
	e.g.Nodes = nodes
	return changed
}

// from returns a new node that computes part of what n computes, with n's name and index.
func from(n *graph.Node, domain, op string, inputs []string, output string, attrs graph.AttributesByName) *graph.Node {
	return &graph.Node{Index: n.Index, Name: n.Name, Was: n.QualifiedOpName(), Domain: domain, Op: op, Inputs: inputs,
		Outputs: []string{output}, Attrs: attrs}
}

func scalar(dt graph.DType, v float64) *graph.ConstantTensor {
	return &graph.ConstantTensor{DType: dt, F: []float64{v}}
}

func gemmToMatMul(m *PassState) bool {
	e := edit(m.Graph)
	return e.each(func(n *graph.Node) []*graph.Node {
		s := m.Program.ProducerOf(n.Outputs[0])
		if s == nil || s.Dot == nil || s.Dot.Then == nil {
			return nil
		}
		out := n.Outputs[0]
		var nodes []*graph.Node
		operand := func(i int, trans string) string {
			if n.IntAttrOr(trans, 0) == 0 {
				return n.Inputs[i]
			}
			t := e.taken.TakeFreshName(n.Inputs[i], "transposed")
			nodes = append(nodes, from(n, "", operators.OpTranspose, []string{n.Inputs[i]}, t, nil))
			return t
		}
		factor := func(name string, v float64) string { return e.constant(out, name, scalar(graph.DTypeFloat32, v)) }
		// The chain's last node writes the Gemm's own output.
		chain := []*graph.Node{from(n, "", operators.OpMatMul, []string{operand(0, "transA"), operand(1, "transB")}, "",
			nil)}
		if alpha := n.FloatAttrOr("alpha", 1); alpha != 1 {
			chain = append(chain, from(n, "", operators.OpMul, []string{"", factor("alpha", alpha)}, "", nil))
		}
		if c := n.InputName(2); c != "" {
			if beta := n.FloatAttrOr("beta", 1); beta != 1 {
				scaled := e.taken.TakeFreshName(c, "scaled")
				nodes = append(nodes, from(n, "", operators.OpMul, []string{c, factor("beta", beta)}, scaled, nil))
				c = scaled
			}
			chain = append(chain, from(n, "", operators.OpAdd, []string{"", c}, "", nil))
		}
		return append(nodes, e.link(chain, out, "product")...)
	})
}

// link connects nodes to a chain and returns them. The first input of each node becomes the output of the node before;
// the last node writes out. Tensors in between get unused names made of out and suffix.
func (e *editor) link(chain []*graph.Node, out, suffix string) []*graph.Node {
	for i, n := range chain {
		if i > 0 {
			n.Inputs[0] = chain[i-1].Outputs[0]
		}
		n.Outputs[0] = out
		if i < len(chain)-1 {
			n.Outputs[0] = e.taken.TakeFreshName(out, suffix)
		}
	}
	return chain
}

func quantToCode(m *PassState) bool {
	e := edit(m.Graph)
	return e.each(func(n *graph.Node) []*graph.Node {
		c := operators.SplitQuantiser(m.Program, n)
		if c == nil {
			return nil
		}
		out := n.Outputs[0]
		operand := func(o operators.TensorOperand) string {
			if o.Const != nil {
				return e.constant(out, "operand", o.Const)
			}
			return o.Name
		}
		c.Attrs["tensor"] = graph.NewStringAttr(out) // the model's name of the tensor that holds these codes
		var inputs []string
		for _, in := range c.Inputs {
			inputs = append(inputs, operand(in))
		}
		chain := []*graph.Node{from(n, operators.InternalDomain, c.Op, inputs, "", c.Attrs)}
		for _, a := range c.Value {
			chain = append(chain, from(n, "", a.Op, []string{"", operand(a.By)}, "", nil))
		}
		return e.link(chain, out, "codes")
	})
}

func clipIntoCode(m *PassState) bool {
	readers, codes := map[string]int{}, map[string]*graph.Node{} // by the name of the codes' tensor or of a Clip of it
	for _, n := range m.Graph.Nodes {
		for _, in := range n.Inputs {
			readers[in]++
		}
		if operators.HasTrait(n, operators.TraitUniformCodes) {
			codes[n.Outputs[0]] = n
		}
	}
	for _, o := range m.Graph.Outputs {
		readers[o.Name]++
	}
	narrowed, gone := map[*graph.Node]*graph.Node{}, map[*graph.Node]bool{}
	for _, n := range m.Graph.Nodes {
		if !operators.HasTrait(n, operators.TraitClip) {
			continue
		}
		code := codes[n.Inputs[0]]
		if code == nil || readers[n.Inputs[0]] != 1 {
			continue
		}
		now := code
		if narrowed[code] != nil {
			now = narrowed[code]
		}
		lo, hi, ok := clipLimits(m.Graph, n, now.FloatAttrOr("lo", 0), now.FloatAttrOr("hi", 0))
		if len(n.Attrs) > 0 || !ok { // bounds as attributes belong to opsets without an integer Clip
			continue
		}
		with := *now
		with.Attrs, with.Outputs = maps.Clone(now.Attrs), n.Outputs
		with.Attrs["lo"], with.Attrs["hi"] = graph.NewFloatAttr(lo), graph.NewFloatAttr(hi)
		with.Attrs["tensor"] = graph.NewStringAttr(n.Outputs[0])
		codes[n.Outputs[0]], narrowed[code], gone[n] = code, &with, true
	}
	return edit(m.Graph).each(func(n *graph.Node) []*graph.Node {
		switch {
		case gone[n]:
			return []*graph.Node{}
		case narrowed[n] != nil:
			return []*graph.Node{narrowed[n]}
		}
		return nil
	})
}

// clipLimits returns the limits lo and hi, narrowed by the bounds of the Clip n of graph g. ok is false if a bound is
// not a constant integer, or no integer is within the limits.
func clipLimits(g *graph.Graph, n *graph.Node, lo, hi float64) (float64, float64, bool) {
	for i, bound := range []*float64{&lo, &hi} {
		name := n.InputName(i + 1)
		if name == "" {
			continue
		}
		t := g.Init[name]
		if t == nil || t.Len() != 1 || t.FloatAt(0) != math.Trunc(t.FloatAt(0)) {
			return lo, hi, false
		}
		if i == 0 {
			*bound = max(*bound, t.FloatAt(0))
		} else {
			*bound = min(*bound, t.FloatAt(0))
		}
	}
	return lo, hi, lo <= hi
}
