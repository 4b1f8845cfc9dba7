package operators

import (
	"cmp"
	"maps"
	"slices"

	"hlsgen/frontend/graph"
)

// ResolveBranches resolves branches: it replaces an If whose condition does not depend on data by the nodes of the
// chosen branch. In the bodies of loops the condition must be a constant in the file. If there was such an If, the
// nodes get new indices. bind returns the settings for what the file leaves open; if it is nil, only constants in the
// file count.
func ResolveBranches(g *graph.Graph, file string, bind func() Options) {
	if !branches(g) {
		return
	}
	b := &branching{taken: graph.UsedNames{}}
	takeAll(b.taken, g)
	found := false
	for more := true; more && branches(g); found = found || more {
		more = b.settle(g, nil, constantsOf(g, nil))
		if !more && bind != nil {
			more = b.settle(g, nil, known(g, file, bind()))
		}
	}
	if found {
		for i, n := range g.Nodes {
			n.Index = i
		}
	}
}

// known returns the constants of a graph, as far as it can be prepared.
func known(g *graph.Graph, file string, opt Options) map[string]*graph.Tensor {
	plain, opt := opt.Bound(g)
	Decompose(plain)
	constants := map[string]*graph.Tensor{}
	if p, _ := PreparePart(plain, file, opt); p != nil {
		for name, k := range p.Known {
			constants[name] = k.Const
		}
	}
	return constants
}

// constantsOf returns the constants that a graph contains, and those of the graph around it.
func constantsOf(g *graph.Graph, around map[string]*graph.Tensor) map[string]*graph.Tensor {
	constants := maps.Clone(around)
	if constants == nil {
		constants = map[string]*graph.Tensor{}
	}
	maps.Copy(constants, g.Init)
	for _, n := range g.Nodes {
		if n.Op == "Constant" && n.Domain == "" && len(n.Outputs) == 1 {
			constants[n.Outputs[0]] = n.Attrs["value"].T
		}
	}
	return constants
}

// branches reports whether a graph, or the body of a loop in it, has an If.
func branches(g *graph.Graph) bool {
	return slices.ContainsFunc(g.Nodes, func(n *graph.Node) bool {
		body := n.Attrs["body"].G
		return chooses(n) || body != nil && branches(body)
	})
}

func chooses(n *graph.Node) bool { return n.Op == OpIf && n.Domain == "" }

// takeAll marks the names of all tensors of a graph and of its subgraphs as used.
func takeAll(taken graph.UsedNames, g *graph.Graph) {
	for name := range g.UsedNames() {
		taken.Take(name)
	}
	for _, n := range g.Nodes {
		for _, a := range n.Attrs {
			if a.G != nil {
				takeAll(taken, a.G)
			}
		}
	}
}

// A branching resolves branches. taken holds the names used in the whole file.
type branching struct{ taken graph.UsedNames }

// settle resolves the branches of a graph with the given constants. outer holds the tensors of the graphs around it.
// settle reports whether there were any.
func (b *branching) settle(g *graph.Graph, outer graph.UsedNames, constants map[string]*graph.Tensor) (found bool) {
	used := g.UsedNames()
	maps.Copy(used, outer)
	var nodes []*graph.Node
	for _, n := range g.Nodes {
		if body := n.Attrs["body"].G; body != nil && branches(body) {
			found = b.settle(body, used, constantsOf(body, constants)) || found
		}
		if branch := branchOf(n, constants); branch != nil {
			nodes, found = append(nodes, b.write(g, n, branch, used)...), true
			continue
		}
		nodes = append(nodes, n)
	}
	g.Nodes = nodes
	return found
}

// branchOf returns the branch that a node chooses. It returns nil if the node is not an If, is not well formed, or its
// condition is not constant.
func branchOf(n *graph.Node, constants map[string]*graph.Tensor) *graph.Graph {
	if !chooses(n) || len(n.Inputs) != 1 {
		return nil
	}
	condition := constants[n.Inputs[0]]
	if condition == nil || condition.Len() != 1 {
		return nil
	}
	name := "then_branch"
	if condition.At(0) == 0 {
		name = "else_branch"
	}
	g := n.Attrs[name].G
	if g == nil || len(g.Inputs) > 0 || len(g.Outputs) != len(n.Outputs) {
		return nil
	}
	return g
}

// write returns the nodes of a branch, to replace node n. Tensors keep their names if these are unused.
func (b *branching) write(g *graph.Graph, n *graph.Node, branch *graph.Graph,
	used graph.UsedNames) (nodes []*graph.Node) {
	names, made := map[string]string{}, graph.NameSet(nil)
	for _, of := range branch.Nodes {
		for _, o := range of.Outputs {
			made[o] = true
		}
	}
	var through []*graph.Node // outputs that the branch names twice, or that come from outside it
	for i, out := range n.Outputs {
		from := branch.Outputs[i].Name
		if _, twice := names[from]; made[from] && !twice && out != "" {
			names[from] = out
		} else if out != "" {
			through = append(through, &graph.Node{Name: n.Name, Op: OpIdentity, Inputs: []string{from},
				Outputs: []string{out}})
		}
	}
	name := func(own string) string {
		if _, ok := names[own]; own != "" && !ok {
			if names[own] = own; used[own] > 0 {
				names[own] = b.taken.Fresh(cmp.Or(n.Name, n.Op), own)
			}
			used.Take(names[own])
		}
		return names[own]
	}
	for _, own := range slices.Sorted(maps.Keys(branch.Init)) {
		g.Init[name(own)] = branch.Init[own]
	}
	for _, of := range branch.Nodes {
		for _, o := range of.Outputs {
			name(o)
		}
	}
	for own, is := range branch.Annotations {
		g.Annotations[cmp.Or(names[own], own)] = is
	}
	for _, of := range slices.Concat(branch.Nodes, through) {
		nodes = append(nodes, renamedNode(of, names))
	}
	return nodes
}

// renamedNode returns a copy of a node with renamed tensors. Names that are not in the map stay.
func renamedNode(n *graph.Node, names map[string]string) *graph.Node {
	to := func(list []string) []string {
		with := slices.Clone(list)
		for i, name := range with {
			with[i] = cmp.Or(names[name], name)
		}
		return with
	}
	with := *n
	with.Inputs, with.Outputs, with.Attrs = to(n.Inputs), to(n.Outputs), maps.Clone(n.Attrs)
	for name, a := range with.Attrs {
		if a.G == nil {
			continue
		}
		outer := maps.Clone(names)
		for own := range a.G.UsedNames() {
			delete(outer, own)
		}
		body := a.G.Copy()
		for i, of := range body.Nodes {
			body.Nodes[i] = renamedNode(of, outer)
		}
		for i := range body.Outputs {
			body.Outputs[i].Name = cmp.Or(outer[body.Outputs[i].Name], body.Outputs[i].Name)
		}
		with.Attrs[name] = graph.GraphAttr(body)
	}
	return &with
}

func buildIf(c *call) {
	if c.in[0].Const == nil {
		unsupported("export the model with the branch resolved", "which branch it takes depends on data: the hardware "+
			"has one fixed schedule")
	}
	if c.in[0].Const.Len() != 1 {
		invalid("its condition has %d elements", c.in[0].Const.Len())
	}
	if branchOf(c.Node, map[string]*graph.Tensor{c.Inputs[0]: c.in[0].Const}) == nil {
		invalid("the chosen branch is missing, has inputs, or does not have the %d outputs of the node",
			len(c.Outputs))
	}
	unsupported("simplify the model before, for example with onnxsim", "its condition is computed: in the bodies of "+
		"loops, and where models are converted, only constants of the file choose a branch")
}
