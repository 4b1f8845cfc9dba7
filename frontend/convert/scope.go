package convert

import (
	"fmt"
	"maps"
	"slices"

	"hlsgen/frontend/graph"
	"hlsgen/frontend/operators"
	"hlsgen/frontend/program"
)

// A scope is a graph that is being rewritten: that of the file, or the body of a loop in it.
type scope struct {
	*conversion
	g     *graph.Graph                   // graph in its new state
	known map[string]program.KnownTensor // facts about the original graph; nil if only its constants are known
	outer *scope
	taken graph.UsedTensorNames  // names in the whole file
	by    map[string]*graph.Node // by tensor: the node that writes it
	names map[string]string      // names of added constants, by their content
}

// stepwise returns a stage that runs the given steps one after the other. Each sees the whole graph. Composite
// operators are expanded before the first step.
func stepwise(steps ...func(*scope)) stage {
	return func(c *conversion, g *graph.Graph) (*graph.Graph, []graph.ValueInfo) {
		operators.DecomposeOperators(g)
		if c.program = c.prepare(g); c.program == nil {
			return nil, nil
		}
		s := &scope{conversion: c, g: g.ShallowCopy(), known: c.program.Known, taken: graph.UsedTensorNames{}}
		each(g, func(n *graph.Node) {
			for _, o := range n.Outputs {
				s.taken.MarkUsed(o)
			}
			for _, a := range n.Attrs {
				if a.G != nil {
					takeAll(s.taken, a.G)
				}
			}
		})
		takeAll(s.taken, g)
		s.g.Opsets = maps.Clone(g.Opsets)
		for _, step := range steps {
			if step(s); c.list.HasErrors() {
				return nil, nil
			}
		}
		s.domains()
		s.callApart(g.Nodes)
		return s.g, nil
	}
}

// callApart gives every node that is not in file a name that no other node has, as onnxruntime requires.
func (s *scope) callApart(file []*graph.Node) {
	names, old := graph.UsedTensorNames{}, map[*graph.Node]bool{}
	for _, n := range file {
		old[n] = true
		names.MarkUsed(n.Name)
	}
	gone := map[string]bool{}
	for _, n := range s.g.Nodes {
		gone[n.Name] = gone[n.Name] || old[n]
	}
	used := graph.UsedTensorNames{}
	for _, n := range s.g.Nodes {
		if n.Name == "" || old[n] || used.MarkUsed(n.Name) && !gone[n.Name] {
			continue
		}
		base := n.Name
		for k := 2; ; k++ {
			if n.Name = fmt.Sprintf("%s_%d", base, k); names.MarkUsed(n.Name) {
				break
			}
		}
	}
}

func takeAll(taken graph.UsedTensorNames, g *graph.Graph) {
	for _, in := range g.Inputs {
		taken.MarkUsed(in.Name)
	}
	for name := range g.Init {
		taken.MarkUsed(name)
	}
}

// apply applies the rules of a table to every node, in bodies first, and removes nodes that nothing reads any more.
func (s *scope) apply(rows []row) {
	dead := s.live()
	s.index()
	var nodes []*graph.Node
	for _, n := range s.g.Nodes {
		n = s.bodies(n, rows)
		with, why := s.row(rows, n)
		if why != nil {
			s.fail(n, why)
		}
		if with == nil {
			with = []*graph.Node{n}
		} else {
			s.rewritten++
		}
		nodes = append(nodes, with...)
	}
	s.g.Nodes = nodes
	s.sweep(dead)
}

// row applies the first rule for a node's operator. It returns the nodes that replace the node, or nil if it stays.
func (s *scope) row(rows []row, n *graph.Node) ([]*graph.Node, *refusal) {
	for _, r := range rows {
		if r.op == n.Op && (r.domain == n.Domain || r.domain == operators.QONNXDomain &&
			operators.IsQuantisationDomain(n.Domain)) {
			return r.write(s, n)
		}
	}
	return nil, nil
}

// bodies returns a node whose bodies, if it has any, are rewritten by the rules.
func (s *scope) bodies(n *graph.Node, rows []row) *graph.Node {
	for _, name := range slices.Sorted(maps.Keys(n.Attrs)) {
		body := n.Attrs[name].G
		if body == nil {
			continue
		}
		in := &scope{conversion: s.conversion, g: body.ShallowCopy(), outer: s, taken: s.taken}
		if loop := s.program.LoopOfNode(n); loop != nil && name == "body" && s.outer == nil {
			in.known = loop.Body.Known
		}
		in.apply(rows)
		with := *n
		with.Attrs = maps.Clone(n.Attrs)
		with.Attrs[name] = graph.NewGraphAttr(in.g)
		n = &with
	}
	return n
}

// index records which node writes which tensor.
func (s *scope) index() {
	s.by = map[string]*graph.Node{}
	if s.names == nil {
		s.names = map[string]string{}
	}
	for _, n := range s.g.Nodes {
		for _, o := range n.Outputs {
			s.by[o] = n
		}
	}
}

// live returns the names of the tensors on which the outputs depend, also through bodies that read them.
func (s *scope) live() map[string]bool {
	live := map[string]bool{}
	for _, o := range s.g.Outputs {
		live[o.Name] = true
	}
	for _, n := range slices.Backward(s.g.Nodes) {
		if !slices.ContainsFunc(n.Outputs, func(o string) bool { return live[o] }) {
			continue
		}
		for _, in := range n.TensorsRead() {
			live[in] = true
		}
	}
	return live
}

// sweep removes nodes and constants that were used before but no longer are. before is the set of tensors that were
// used. Nodes and constants that the file did not use stay.
func (s *scope) sweep(before map[string]bool) {
	now := s.live()
	gone := func(name string) bool { return !now[name] && (before[name] || !s.had(name)) }
	s.g.Nodes = slices.DeleteFunc(s.g.Nodes, func(n *graph.Node) bool {
		return !slices.ContainsFunc(n.Outputs, func(o string) bool { return o != "" && !gone(o) })
	})
	maps.DeleteFunc(s.g.Init, func(name string, _ *graph.ConstantTensor) bool { return gone(name) })
}

// had reports whether the file has a tensor with this name.
func (s *scope) had(name string) bool {
	_, ok := s.known[name]
	return ok || s.known == nil
}

// constant returns the value of a tensor that does not depend on the graph's inputs, or nil for other tensors.
func (s *scope) constant(name string) *graph.ConstantTensor {
	if t := s.g.Init[name]; t != nil {
		return t
	}
	if k, ok := s.known[name]; ok && k.Const != nil {
		return k.Const
	}
	if n := s.by[name]; n != nil && n.Op == "Constant" && n.Domain == "" {
		return n.Attrs["value"].T
	}
	if s.outer != nil && s.by[name] == nil {
		return s.outer.constant(name)
	}
	return nil
}

// shape returns the shape of a tensor, if known.
func (s *scope) shape(name string) (shape []int, ok bool) {
	if k, ok := s.known[name]; ok {
		return k.Shape, true
	}
	if t := s.constant(name); t != nil {
		return t.Shape, true
	}
	return nil, false
}

// put adds a constant and returns its name, made of base and suffix. If an equal constant was added before, it returns
// that one's name.
func (s *scope) put(base, suffix string, t *graph.ConstantTensor) string {
	key := ""
	if t.Len() <= 64 {
		key = fmt.Sprint(t.DType, t.Shape, t.Floats())
		if name := s.names[key]; name != "" {
			return name
		}
	}
	name := s.taken.TakeFreshName(base, suffix)
	s.g.Init[name] = t
	if key != "" {
		s.names[key] = name
	}
	return name
}

// whole adds a constant of integers, a scalar for one number and otherwise a vector, and returns its name, as put does.
func (s *scope) whole(base, suffix string, dt graph.DType, v ...float64) string {
	t := &graph.ConstantTensor{DType: dt, I: make([]int64, len(v))}
	for i, x := range v {
		t.I[i] = int64(x)
	}
	if len(v) != 1 {
		t.Shape = []int{len(v)}
	}
	return s.put(base, suffix, t)
}

// reals adds a constant of float32 numbers, a scalar for one number and otherwise a vector, and returns its name, as
// put does.
func (s *scope) reals(base, suffix string, v ...float64) string {
	t := &graph.ConstantTensor{DType: graph.DTypeFloat32, F: v}
	if len(v) != 1 {
		t.Shape = []int{len(v)}
	}
	return s.put(base, suffix, t)
}

// node returns a node that replaces part of n. If n has a name, the new node's name says which part.
func node(n *graph.Node, domain, op, output string, attrs graph.AttributesByName, inputs ...string) *graph.Node {
	name := n.Name
	if name != "" && output != n.Outputs[0] {
		name += "_" + op
	}
	for len(inputs) > 0 && inputs[len(inputs)-1] == "" {
		inputs = inputs[:len(inputs)-1]
	}
	return &graph.Node{Index: n.Index, Name: name, Domain: domain, Op: op, Inputs: inputs, Outputs: []string{output},
		Attrs: attrs}
}
