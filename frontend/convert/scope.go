package convert

import (
	"fmt"
	"maps"
	"slices"

	"hlsgen/frontend/graph"
)

// A scope is a graph that is rewritten: that of the file, or the body of a loop.
type scope struct {
	*conversion
	g     *graph.Graph           // as it is becoming
	known map[string]graph.Known // of the graph as it was; nil where nothing is known beyond its constants
	outer *scope
	taken graph.Taken            // the names of the whole file
	by    map[string]*graph.Node // who writes a tensor
	names map[string]string      // of constants that were added, by what they hold
}

// stepwise is the stage that takes such steps, each of which sees the whole graph. Operators that say several things
// are written out before.
func stepwise(steps ...func(*scope)) stage {
	return func(c *conversion, g *graph.Graph) (*graph.Graph, []graph.Value) {
		graph.Decompose(g)
		if c.program = c.prepare(g); c.program == nil {
			return nil, nil
		}
		s := &scope{conversion: c, g: g.Copy(), known: c.program.Known, taken: graph.Taken{}}
		each(g, func(n *graph.Node) {
			for _, o := range n.Outputs {
				s.taken.Take(o)
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
			if step(s); c.list.Failed() {
				return nil, nil
			}
		}
		s.domains()
		s.callApart(g.Nodes)
		return s.g, nil
	}
}

// callApart gives nodes that are not of the file names that no other node has: onnxruntime asks for that.
func (s *scope) callApart(file []*graph.Node) {
	names, old := graph.Taken{}, map[*graph.Node]bool{}
	for _, n := range file {
		old[n] = true
		names.Take(n.Name)
	}
	gone := map[string]bool{}
	for _, n := range s.g.Nodes {
		gone[n.Name] = gone[n.Name] || old[n]
	}
	used := graph.Taken{}
	for _, n := range s.g.Nodes {
		if n.Name == "" || old[n] || used.Take(n.Name) && !gone[n.Name] {
			continue
		}
		base := n.Name
		for k := 2; ; k++ {
			if n.Name = fmt.Sprintf("%s_%d", base, k); names.Take(n.Name) {
				break
			}
		}
	}
}

func takeAll(taken graph.Taken, g *graph.Graph) {
	for _, in := range g.Inputs {
		taken.Take(in.Name)
	}
	for name := range g.Init {
		taken.Take(name)
	}
}

// apply runs the rows of a table on every node, in bodies first, and drops what nothing reads any more.
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

// row is what the first row makes of a node whose operator it has; nil where it stays.
func (s *scope) row(rows []row, n *graph.Node) ([]*graph.Node, *refusal) {
	for _, r := range rows {
		if r.op == n.Op && (r.domain == n.Domain || r.domain == graph.QONNX && graph.Dialect(n.Domain)) {
			return r.write(s, n)
		}
	}
	return nil, nil
}

// bodies is a node whose bodies are rewritten.
func (s *scope) bodies(n *graph.Node, rows []row) *graph.Node {
	for _, name := range slices.Sorted(maps.Keys(n.Attrs)) {
		body := n.Attrs[name].G
		if body == nil {
			continue
		}
		in := &scope{conversion: s.conversion, g: body.Copy(), outer: s, taken: s.taken}
		if loop := s.program.Loop(n); loop != nil && name == "body" && s.outer == nil {
			in.known = loop.Body.Known
		}
		in.apply(rows)
		with := *n
		with.Attrs = maps.Clone(n.Attrs)
		with.Attrs[name] = graph.GraphAttr(in.g)
		n = &with
	}
	return n
}

// index notes who writes what.
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

// live are the tensors that the outputs depend on, with what bodies read of the graph around them.
func (s *scope) live() map[string]bool {
	live := map[string]bool{}
	for _, o := range s.g.Outputs {
		live[o.Name] = true
	}
	for _, n := range slices.Backward(s.g.Nodes) {
		if !slices.ContainsFunc(n.Outputs, func(o string) bool { return live[o] }) {
			continue
		}
		for _, in := range n.Reads() {
			live[in] = true
		}
	}
	return live
}

// sweep drops what was read before and is not any more, and leaves what nothing read in the file as it was.
func (s *scope) sweep(before map[string]bool) {
	now := s.live()
	gone := func(name string) bool { return !now[name] && (before[name] || !s.had(name)) }
	s.g.Nodes = slices.DeleteFunc(s.g.Nodes, func(n *graph.Node) bool {
		return !slices.ContainsFunc(n.Outputs, func(o string) bool { return o != "" && !gone(o) })
	})
	maps.DeleteFunc(s.g.Init, func(name string, _ *graph.Tensor) bool { return gone(name) })
}

// had reports whether the file has a tensor.
func (s *scope) had(name string) bool {
	_, ok := s.known[name]
	return ok || s.known == nil
}

// constant is a tensor that does not depend on data; nil where it does.
func (s *scope) constant(name string) *graph.Tensor {
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

// shape is that of a tensor.
func (s *scope) shape(name string) (shape []int, ok bool) {
	if k, ok := s.known[name]; ok {
		return k.Shape, true
	}
	if t := s.constant(name); t != nil {
		return t.Shape, true
	}
	return nil, false
}

// put is the name of a constant: one that was added before where it holds the same.
func (s *scope) put(base, suffix string, t *graph.Tensor) string {
	key := ""
	if t.Len() <= 64 {
		key = fmt.Sprint(t.DType, t.Shape, t.Floats())
		if name := s.names[key]; name != "" {
			return name
		}
	}
	name := s.taken.Fresh(base, suffix)
	s.g.Init[name] = t
	if key != "" {
		s.names[key] = name
	}
	return name
}

// whole is a constant of integers: of rank 0 where it is one, else a vector.
func (s *scope) whole(base, suffix string, dt graph.DType, v ...float64) string {
	t := &graph.Tensor{DType: dt, I: make([]int64, len(v))}
	for i, x := range v {
		t.I[i] = int64(x)
	}
	if len(v) != 1 {
		t.Shape = []int{len(v)}
	}
	return s.put(base, suffix, t)
}

// reals is a constant of float32s, of rank 0 where it is one, else a vector.
func (s *scope) reals(base, suffix string, v ...float64) string {
	t := &graph.Tensor{DType: graph.Float32, F: v}
	if len(v) != 1 {
		t.Shape = []int{len(v)}
	}
	return s.put(base, suffix, t)
}

// node is one that stands for part of n. Its name says which, where n has one.
func node(n *graph.Node, domain, op, output string, attrs graph.Attrs, inputs ...string) *graph.Node {
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
