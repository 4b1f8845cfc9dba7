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

// probes is the number of elements with which an axis is tried.
const probes = 2

// Sequences returns options that know the inputs whose leading dynamic axis is time.
func WithSequences(o operators.Options, g *graph.Graph, file string) operators.Options {
	found := map[string]bool{}
	for _, in := range g.Inputs {
		if in.Known && len(in.Dims) > 0 && in.Dims[0].Size < 0 && isSequence(o, g, file, in) {
			found[in.Name] = true
		}
	}
	o.Sequences = found
	return o
}

// sequence reports whether an input's leading axis does not count samples.
func isSequence(o operators.Options, g *graph.Graph, file string, in graph.ValueInfo) bool {
	if !slices.ContainsFunc(g.Nodes, operators.IsRecurrent) { // without loops the axis counts samples
		return false
	}
	many, two := tried(o, g, file, in, probes, nil)
	one, single := tried(o, g, file, in, 1, many)
	return two && single && newContrast(probes, many, one).difference() != nil
}

// tried prepares a graph with n elements along an input's leading axis. kept, if not nil, is an earlier program whose
// results it reuses.
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
		return operators.PreparePartLike(kept, g, o)
	}
	return operators.PreparePart(g, file, o)
}
