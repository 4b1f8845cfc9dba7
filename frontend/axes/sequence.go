package axes

import (
	"maps"
	"slices"

	"hlsgen/frontend/graph"
	"hlsgen/frontend/operators"
	"hlsgen/frontend/program"
)

// A leading dynamic axis counts samples if the model treats these alike and separately. Otherwise it is time. Sequences
// finds out by preparing the model with two elements and with one.

// probes is the number of samples with which an axis is tested. If the axis counts samples, a model treats each of them
// like a single one.
const probes = 2

// OptionsWithSequenceInputs returns the options o with Sequences set to the inputs of g whose leading axis has an open
// size and counts time steps.
func OptionsWithSequenceInputs(o operators.Options, g *graph.Graph, file string) operators.Options {
	found := map[string]bool{}
	for _, in := range g.Inputs {
		if in.Known && len(in.Dims) > 0 && in.Dims[0].Size < 0 && isSequence(o, g, file, in) {
			found[in.Name] = true
		}
	}
	o.Sequences = found
	return o
}

// isSequence reports whether an input's leading axis counts time steps, not samples. That can only be if the graph has
// recurrent nodes. It returns false if the graph is not supported with one or with two elements along the axis.
func isSequence(o operators.Options, g *graph.Graph, file string, in graph.ValueInfo) bool {
	if !slices.ContainsFunc(g.Nodes, operators.IsRecurrent) { // without loops the axis counts samples
		return false
	}
	many, two := tried(o, g, file, in, probes, nil)
	one, single := tried(o, g, file, in, 1, many)
	return two && single && newContrast(probes, many, one).difference() != nil
}

// tried returns the program of a graph with n elements along an input's leading axis. If kept is not nil, it is an
// earlier program whose results tried reuses. ok is false if some node is not supported.
func tried(o operators.Options, g *graph.Graph, file string, in graph.ValueInfo, n int,
	kept *program.Program) (p *program.Program, ok bool) {
	o.Sequences, o.Dims, o.Probed, o.Probe = nil, maps.Clone(o.Dims), in.Name, n
	if name := in.Dims[0].Param; name != "" { // other inputs may have the same axis
		if o.Dims == nil {
			o.Dims = map[string]int{}
		}
		o.Dims[name] = n
	}
	if kept != nil {
		return operators.ReprepareSupportedNodes(kept, g, o)
	}
	return operators.PrepareSupportedNodes(g, file, o)
}
