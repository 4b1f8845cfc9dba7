package graph

import (
	"maps"
	"slices"

	"hlsgen/internal/diag"
)

// A leading dynamic axis counts samples if the model treats these alike and separately. Otherwise it is time. Sequences
// finds out by preparing the model with two elements and with one.

// probes is the number of elements with which an axis is tried.
const probes = 2

// Sequences returns options that know the inputs whose leading dynamic axis is time.
func (o Options) Sequences(g *Graph, file string) Options {
	found := map[string]bool{}
	for _, in := range g.Inputs {
		if in.Known && len(in.Dims) > 0 && in.Dims[0].Size < 0 && o.sequence(g, file, in) {
			found[in.Name] = true
		}
	}
	o.sequences = found
	return o
}

// IsSequenceInput reports whether an input's leading axis is dynamic and time.
func (p *Program) IsSequenceInput(input string) bool { return p.options.sequences[input] }

// sequence reports whether an input's leading axis does not count samples.
func (o Options) sequence(g *Graph, file string, in ValueInfo) bool {
	if !slices.ContainsFunc(g.Nodes, (*Node).Recurrent) { // without loops the axis counts samples
		return false
	}
	many, two := o.tried(g, file, in, probes, nil)
	one, single := o.tried(g, file, in, 1, many)
	return two && single && newContrast(probes, many, one).difference() != nil
}

// tried prepares a graph with n elements along an input's leading axis. kept, if not nil, is an earlier program whose
// results it reuses.
func (o Options) tried(g *Graph, file string, in ValueInfo, n int, kept *Program) (p *Program, ok bool) {
	o.sequences, o.Dims, o.probed, o.probe = nil, maps.Clone(o.Dims), in.Name, n
	if name := in.Dims[0].Param; name != "" { // other inputs may have the same axis
		if o.Dims == nil {
			o.Dims = map[string]int{}
		}
		o.Dims[name] = n
	}
	return prepare(&Program{Graph: g, File: file, options: o, kept: kept}, new(diag.List))
}
