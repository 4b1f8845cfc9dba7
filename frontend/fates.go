package frontend

import (
	"hlsgen/frontend/graph"
	"hlsgen/frontend/lower"
)

const suffixFate = "host suffix"

// fates says what becomes of every node of the file.
func fates(written, program *graph.Program, low *lower.Result) []NodeFate {
	computed := map[int]bool{} // nodes that compute something from data
	for _, s := range written.Steps {
		computed[s.Node.Index] = true
	}
	alive := map[int]bool{}
	if part, err := program.Part(inputNames(program), outputNames(program)); err == nil {
		for _, n := range part.Nodes() {
			alive[n.Index] = true
		}
	}
	host := map[int]string{}
	if low != nil {
		note := func(part *graph.Part, what string) {
			for _, n := range part.Nodes() {
				host[n.Index] = what
			}
		}
		note(mustPart(program, append(inputNames(program), low.Out...), outputNames(program)), suffixFate)
		note(mustPart(program, inputNames(program), low.In), "host prefix")
	}
	var out []NodeFate
	for _, n := range written.Graph.Nodes {
		f := NodeFate{Index: n.Index, Node: n.Label(), Op: n.FullOp()}
		layer := ""
		if low != nil {
			layer = low.Layers[n.Index]
		}
		switch {
		case !computed[n.Index]:
			f.Fate = "constant"
		case host[n.Index] == suffixFate && layer != "":
			f.Fate = layer + ", " + suffixFate // the product of a Gemm is in the layer, its bias is not
		case host[n.Index] != "":
			f.Fate = host[n.Index]
		case layer != "":
			f.Fate = layer
		case !alive[n.Index]:
			f.Fate = "unused"
		default:
			f.Fate = "not mapped"
		}
		out = append(out, f)
	}
	return out
}

// unknownFates lists the nodes of a graph that could not be prepared.
func unknownFates(g *graph.Graph) (out []NodeFate) {
	for _, n := range g.Nodes {
		fate := "not mapped"
		if graph.KnownOperator(n.Domain, n.Op) {
			fate = "not reached"
		}
		out = append(out, NodeFate{n.Index, n.Label(), n.FullOp(), fate})
	}
	return out
}
