package frontend

import (
	"slices"

	"hlsgen/frontend/canon"
	"hlsgen/frontend/execution"
	"hlsgen/frontend/graph"
	"hlsgen/frontend/lower"
	"hlsgen/frontend/operators"
	"hlsgen/frontend/pass"
	"hlsgen/frontend/program"
	"hlsgen/internal/diag"
)

// These are the fates of nodes that no layer computes: the host computes them before or after the layers, they are
// constants, or they could not be mapped.
const (
	NodeFateHostPrefix = "host prefix"
	NodeFateHostSuffix = "host suffix"
	constantFate       = "constant"
	unmappedFate       = "not mapped"
	unusedFate         = "unused"
	undecidedFate      = "undecided"   // it depends on nodes that could not be mapped
	unreachedFate      = "not reached" // its graph could not be prepared
)

// A FatePlace says where a node is computed.
type FatePlace uint8

// The places of nodes. A node that is computed partly in a layer and partly on the host is in a layer.
const (
	FatePlaceLayer FatePlace = iota
	FatePlaceHost
	FatePlaceUnmapped
	FatePlaceNowhere // it is constant or unused
)

// Place returns where the node is computed.
func (f *NodeFate) Place() FatePlace {
	switch f.Fate {
	case NodeFateHostPrefix, NodeFateHostSuffix:
		return FatePlaceHost
	case unmappedFate, undecidedFate, unreachedFate:
		return FatePlaceUnmapped
	case constantFate, unusedFate:
		return FatePlaceNowhere
	}
	return FatePlaceLayer
}

// fates returns the fate of every node of the file.
func fates(written, program *program.Program, low *lower.LoweredProgram) []NodeFate {
	computed := map[int]bool{} // by node index: it computes something from data
	for _, s := range written.Steps {
		computed[s.Node.Index] = computed[s.Node.Index] || !written.IsInexactConstant(s.Output)
	}
	alive := map[int]bool{}
	if part, err := execution.NewProgramPart(program, inputNames(program), outputNames(program)); err == nil {
		for _, n := range part.Nodes() {
			for _, index := range n.FileNodeIndices() {
				alive[index] = true
			}
		}
	}
	host := map[int]string{}
	if low.Graph != nil {
		note := func(part *execution.ProgramPart, what string) {
			for _, n := range part.Nodes() {
				for _, index := range n.FileNodeIndices() {
					host[index] = what
				}
			}
		}
		note(mustPart(program, append(inputNames(program), low.Out...), outputNames(program)), NodeFateHostSuffix)
		note(mustPart(program, inputNames(program), low.In), NodeFateHostPrefix)
	}
	var out []NodeFate
	for i, n := range written.Graph.Nodes {
		if partOf(written.Graph.Nodes[:i], n) {
			out[len(out)-1].joins(n)
			continue
		}
		f := NodeFate{Index: n.Index, Node: n.Label(), Op: n.QualifiedOpName(), Module: n.ModuleName()}
		f.joins(n)
		layer := low.Layers[n.Index]
		switch {
		case !computed[n.Index]:
			f.Fate = constantFate
		case host[n.Index] == NodeFateHostSuffix && layer != "":
			// such as a Gemm: its product is in the layer, its bias on the host
			f.Fate = layer + ", " + NodeFateHostSuffix
		case host[n.Index] == NodeFateHostPrefix && layer != "" && written.LoopOfNode(n) != nil:
			f.Fate = layer + ", " + NodeFateHostPrefix // a loop whose input quantiser runs on the host
		case host[n.Index] != "":
			f.Fate = host[n.Index]
		case layer != "":
			f.Fate = layer
		case !alive[n.Index]:
			f.Fate = unusedFate
		case low.Graph == nil && !low.Rejected[n.Index]:
			f.Fate = undecidedFate
		default:
			f.Fate = unmappedFate
		}
		out = append(out, f)
	}
	return out
}

// restFates returns the fates of the nodes of a graph that contains unknown operators. The nodes before those are
// lowered as far as possible, and errors of mapping them are reported, too.
func restFates(g *graph.Graph, file string, opt Options, d *diag.List) []NodeFate {
	out := unknownFates(g)
	bind := opt.bind(g, file, new(diag.List))
	rest := operators.GraphBeforeUnsupportedNodes(g, file, bind)
	if rest == nil {
		return out
	}
	var quiet diag.List // for errors that concern the whole graph, which is incomplete
	written, _ := sample(rest, file, &bind, &quiet)
	if written == nil {
		return out
	}
	program, err := canon.NormaliseGraph(&canon.PassState{Program: written}, pass.Options[*canon.PassState]{}, &quiet)
	if program == nil || err != nil {
		return out
	}
	low := lower.Lower(program, lower.Options{}, &quiet)
	for _, x := range quiet.Diags {
		if x.Node != "" {
			d.Add(x)
		}
	}
	known := map[int]string{}
	for _, f := range fates(written, program, low) {
		known[f.Index] = f.Fate
	}
	for i := range out {
		if f := known[out[i].Index]; f != "" && f != unusedFate {
			out[i].Fate = f
		}
	}
	return out
}

// unknownFates returns the fates of the nodes of a graph that cannot be prepared, of which nothing is known.
func unknownFates(g *graph.Graph) (out []NodeFate) {
	for i, n := range g.Nodes {
		if partOf(g.Nodes[:i], n) {
			out[len(out)-1].joins(n)
			continue
		}
		fate := unmappedFate
		if operators.IsSupportedOperator(n.Domain, n.Op) {
			fate = unreachedFate
		}
		f := NodeFate{Index: n.Index, Node: n.Label(), Op: n.QualifiedOpName(), Fate: fate, Module: n.ModuleName()}
		f.joins(n)
		out = append(out, f)
	}
	return out
}

// joins adds what a node of the graph reads and writes to the node of the file for which it stands.
func (f *NodeFate) joins(n *graph.Node) {
	for _, name := range n.Inputs {
		if name != "" && !slices.Contains(f.Reads, name) {
			f.Reads = append(f.Reads, name)
		}
	}
	for _, name := range n.Outputs {
		if name != "" {
			f.Writes = append(f.Writes, name)
		}
	}
}

// partOf reports whether n and the last node of before stand for the same node of the file.
func partOf(before []*graph.Node, n *graph.Node) bool {
	return n.Index >= 0 && len(before) > 0 && before[len(before)-1].Index == n.Index
}

// NewNodeModulesFunc returns a function that maps names of nodes to the network's modules to which they belong, each
// module once and in order. The function returns nil if the exporter names no modules.
func (im *ImportedModel) NewNodeModulesFunc() func(nodes []string) []string {
	of := map[string]string{}
	if im != nil {
		for _, f := range im.Fates {
			if f.Module != "" {
				of[f.Node] = f.Module
			}
		}
	}
	return func(nodes []string) (list []string) {
		for _, n := range nodes {
			if m := of[n]; m != "" && !slices.Contains(list, m) {
				list = append(list, m)
			}
		}
		return list
	}
}
