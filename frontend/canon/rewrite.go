package canon

import (
	"fmt"

	"hlsgen/frontend/graph"
	"hlsgen/internal/diag"
	"math"
)

// An editor replaces nodes one by one and makes fresh tensor names.
type editor struct {
	g     *graph.Graph
	names map[string]bool
}

func edit(g *graph.Graph) *editor {
	e := &editor{g, map[string]bool{}}
	for name := range g.Init {
		e.names[name] = true
	}
	for _, in := range g.Inputs {
		e.names[in.Name] = true
	}
	for _, n := range g.Nodes {
		for _, o := range n.Outputs {
			e.names[o] = true
		}
	}
	return e
}

// fresh is a tensor name that is not taken, close to the given one.
func (e *editor) fresh(base, suffix string) string {
	name := base + "." + suffix
	for i := 2; e.names[name]; i++ {
		name = fmt.Sprintf("%s.%s%d", base, suffix, i)
	}
	e.names[name] = true
	return name
}

// constant adds an initializer.
func (e *editor) constant(base, suffix string, t *graph.Tensor) string {
	name := e.fresh(base, suffix)
	e.g.Init[name] = t
	return name
}

// each replaces every node by what f returns; nil keeps it.
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

// from makes a node that stands for part of n.
func from(n *graph.Node, domain, op string, inputs []string, output string, attrs map[string]graph.Attr) *graph.Node {
	return &graph.Node{Index: n.Index, Name: n.Name, Was: n.FullOp(), Domain: domain, Op: op, Inputs: inputs, Outputs: []string{output}, Attrs: attrs}
}

func floatAttr(v float64) graph.Attr { return graph.Attr{Kind: graph.AttrFloat, F: v} }

func scalar(dt graph.DType, v float64) *graph.Tensor {
	return &graph.Tensor{DType: dt, F: []float64{v}}
}

func gemmToMatMul(m *Model, _ *diag.List) bool {
	e := edit(m.Graph)
	return e.each(func(n *graph.Node) []*graph.Node {
		if n.Domain != "" || n.Op != "Gemm" {
			return nil
		}
		out := n.Outputs[0]
		var nodes []*graph.Node
		operand := func(i int, trans string) string {
			if n.Int(trans, 0) == 0 {
				return n.Inputs[i]
			}
			t := e.fresh(n.Inputs[i], "transposed")
			nodes = append(nodes, from(n, "", "Transpose", []string{n.Inputs[i]}, t, nil))
			return t
		}
		// The chain's last node writes the Gemm's own output.
		chain := []*graph.Node{from(n, "", "MatMul", []string{operand(0, "transA"), operand(1, "transB")}, "", nil)}
		if alpha := n.Float("alpha", 1); alpha != 1 {
			chain = append(chain, from(n, "", "Mul", []string{"", e.constant(out, "alpha", scalar(graph.Float32, alpha))}, "", nil))
		}
		if c := n.In(2); c != "" {
			if beta := n.Float("beta", 1); beta != 1 {
				scaled := e.fresh(c, "scaled")
				nodes = append(nodes, from(n, "", "Mul", []string{c, e.constant(out, "beta", scalar(graph.Float32, beta))}, scaled, nil))
				c = scaled
			}
			chain = append(chain, from(n, "", "Add", []string{"", c}, "", nil))
		}
		return append(nodes, e.link(chain, out, "product")...)
	})
}

// link joins nodes into a chain: each one's first input is the output of the one before, the last writes out, what
// lies between is called out.suffix.
func (e *editor) link(chain []*graph.Node, out, suffix string) []*graph.Node {
	for i, n := range chain {
		if i > 0 {
			n.Inputs[0] = chain[i-1].Outputs[0]
		}
		n.Outputs[0] = out
		if i < len(chain)-1 {
			n.Outputs[0] = e.fresh(out, suffix)
		}
	}
	return chain
}

func quantToCode(m *Model, d *diag.List) bool {
	p := graph.Prepare(m.Graph, m.File, m.Options, d)
	if p == nil {
		return false
	}
	e := edit(m.Graph)
	return e.each(func(n *graph.Node) []*graph.Node {
		c := p.Coding(n)
		if c == nil {
			return nil
		}
		out := n.Outputs[0]
		operand := func(o graph.Operand) string {
			if o.Const != nil {
				return e.constant(out, "operand", o.Const)
			}
			return o.Name
		}
		c.Attrs["tensor"] = graph.Attr{Kind: graph.AttrString, S: out} // whose codes these are, in the model's own words
		var inputs []string
		for _, in := range c.Inputs {
			inputs = append(inputs, operand(in))
		}
		chain := []*graph.Node{from(n, graph.Internal, c.Op, inputs, "", c.Attrs)}
		for _, a := range c.Value {
			chain = append(chain, from(n, "", a.Op, []string{"", operand(a.By)}, "", nil))
		}
		return e.link(chain, out, "codes")
	})
}

func clipIntoCode(m *Model, _ *diag.List) bool {
	readers, by := map[string]int{}, map[string]*graph.Node{}
	for _, n := range m.Graph.Nodes {
		for _, in := range n.Inputs {
			readers[in]++
		}
		for _, o := range n.Outputs {
			by[o] = n
		}
	}
	for _, o := range m.Graph.Outputs {
		readers[o.Name]++
	}
	gone := map[*graph.Node]bool{}
	for _, n := range m.Graph.Nodes {
		if n.Domain != "" || n.Op != "Clip" {
			continue
		}
		code := by[n.Inputs[0]]
		if code == nil || code.Domain != graph.Internal || code.Op != "Code" || readers[n.Inputs[0]] != 1 {
			continue
		}
		lo, hi, ok := clipLimits(m.Graph, n, code.Float("lo", 0), code.Float("hi", 0))
		if len(n.Attrs) > 0 || !ok { // bounds as attributes belong to opsets before integer Clip
			continue
		}
		attrs := map[string]graph.Attr{}
		for k, v := range code.Attrs {
			attrs[k] = v
		}
		attrs["lo"], attrs["hi"] = floatAttr(lo), floatAttr(hi)
		attrs["tensor"] = graph.Attr{Kind: graph.AttrString, S: n.Outputs[0]}
		code.Attrs, code.Outputs = attrs, n.Outputs
		by[n.Outputs[0]] = code
		gone[n] = true
	}
	e := edit(m.Graph)
	return e.each(func(n *graph.Node) []*graph.Node {
		if gone[n] {
			return []*graph.Node{}
		}
		return nil
	})
}

// clipLimits narrows [lo, hi] by a Clip with constant whole bounds.
func clipLimits(g *graph.Graph, n *graph.Node, lo, hi float64) (float64, float64, bool) {
	for i, bound := range []*float64{&lo, &hi} {
		name := n.In(i + 1)
		if name == "" {
			continue
		}
		t := g.Init[name]
		if t == nil || t.Len() != 1 || t.At(0) != math.Trunc(t.At(0)) {
			return lo, hi, false
		}
		if i == 0 {
			*bound = max(*bound, t.At(0))
		} else {
			*bound = min(*bound, t.At(0))
		}
	}
	return lo, hi, lo <= hi
}
