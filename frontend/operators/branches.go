package operators

import (
	"cmp"
	"maps"
	"slices"

	"hlsgen/frontend/graph"
)

// ResolveBranches replaces, in place, each If whose condition does not depend on data by the nodes of the chosen
// branch. In the bodies of loops the condition must be a constant in the file. If there was such an If, the nodes get
// new indices. bind returns the settings for everything that the file leaves open; if it is nil, only constants in the
// file count.
func ResolveBranches(g *graph.Graph, file string, bind func() Options) {
	if !branches(g) {
		return
	}
	b := &branching{taken: graph.UsedTensorNames{}}
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

// known returns the constants of a graph by name, as far as the graph can be prepared.
func known(g *graph.Graph, file string, opt Options) map[string]*graph.ConstantTensor {
	plain, opt := opt.BindLeadingAxes(g)
	DecomposeOperators(plain)
	constants := map[string]*graph.ConstantTensor{}
	if p, _ := PrepareSupportedNodes(plain, file, opt); p != nil {
		for name, k := range p.Known {
			constants[name] = k.Const
		}
	}
	return constants
}

// constantsOf returns the constants that a graph contains, and those of the graph around it.
func constantsOf(g *graph.Graph, around map[string]*graph.ConstantTensor) map[string]*graph.ConstantTensor {
	constants := maps.Clone(around)
	if constants == nil {
		constants = map[string]*graph.ConstantTensor{}
	}
	maps.Copy(constants, g.Init)
	for _, n := range g.Nodes {
		if n.Op == "Constant" && n.Domain == "" && len(n.Outputs) == 1 {
			constants[n.Outputs[0]] = n.Attrs["value"].T
		}
	}
	return constants
}

// branches reports whether a graph, or the body of a loop in it, contains an If.
func branches(g *graph.Graph) bool {
	return slices.ContainsFunc(g.Nodes, func(n *graph.Node) bool {
		body := n.Attrs["body"].G
		return chooses(n) || body != nil && branches(body)
	})
}

func chooses(n *graph.Node) bool { return n.Op == OpIf && n.Domain == "" }

// takeAll marks the names of all tensors of a graph and of its subgraphs as used.
func takeAll(taken graph.UsedTensorNames, g *graph.Graph) {
	for name := range g.UsedTensorNames() {
		taken.MarkUsed(name)
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
type branching struct{ taken graph.UsedTensorNames }

// settle resolves the branches of a graph with the given constants, and reports whether there were any. outer holds the
// names of the tensors of the graphs around it.
func (b *branching) settle(g *graph.Graph, outer graph.UsedTensorNames,
	constants map[string]*graph.ConstantTensor) (found bool) {
	used := g.UsedTensorNames()
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
func branchOf(n *graph.Node, constants map[string]*graph.ConstantTensor) *graph.Graph {
	if !chooses(n) || len(n.Inputs) != 1 {
		return nil
	}
	condition := constants[n.Inputs[0]]
	if condition == nil || condition.Len() != 1 {
		return nil
	}
	name := "then_branch"
	if condition.FloatAt(0) == 0 {
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
	used graph.UsedTensorNames) (nodes []*graph.Node) {
	names, made := map[string]string{}, graph.NewNameSet(nil)
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
				names[own] = b.taken.TakeFreshName(cmp.Or(n.Name, n.Op), own)
			}
			used.MarkUsed(names[own])
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
		for own := range a.G.UsedTensorNames() {
			delete(outer, own)
		}
		body := a.G.ShallowCopy()
		for i, of := range body.Nodes {
			body.Nodes[i] = renamedNode(of, outer)
		}
		for i := range body.Outputs {
			body.Outputs[i].Name = cmp.Or(outer[body.Outputs[i].Name], body.Outputs[i].Name)
		}
		with.Attrs[name] = graph.NewGraphAttr(body)
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
	if branchOf(c.Node, map[string]*graph.ConstantTensor{c.Inputs[0]: c.in[0].Const}) == nil {
		invalid("the chosen branch is missing, has inputs, or does not have the %d outputs of the node",
			len(c.Outputs))
	}
	unsupported("simplify the model before, for example with onnxsim", "its condition is computed: in the bodies of "+
		"loops, and where models are converted, only constants of the file choose a branch")
}
