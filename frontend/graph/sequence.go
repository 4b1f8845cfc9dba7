package graph

import (
	"maps"
	"slices"

	"hlsgen/internal/diag"
)

// A leading dynamic axis counts samples, unless the model does not treat them alike and apart: then it is time. It is
// tried with two elements and with one.

// probes is how many elements an axis is tried with.
const probes = 2

// Sequences finds the inputs whose leading dynamic axis is time, and gives the options that know of them.
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

// Sequence reports whether an input's leading axis is dynamic and time.
func (p *Program) Sequence(input string) bool { return p.options.sequences[input] }

// sequence reports whether an input's leading axis is no axis of samples.
func (o Options) sequence(g *Graph, file string, in Value) bool {
	if !slices.ContainsFunc(g.Nodes, (*Node).Recurrent) { // nothing runs along a sequence: these are samples
		return false
	}
	many, two := o.tried(g, file, in, probes, nil)
	one, single := o.tried(g, file, in, 1, many)
	return two && single && newContrast(probes, many, one).difference() != nil
}

// tried prepares a graph with so many elements along an input's leading axis; constants are those that were kept.
func (o Options) tried(g *Graph, file string, in Value, n int, kept *Program) (p *Program, ok bool) {
	o.sequences, o.Dims, o.probed, o.probe = nil, maps.Clone(o.Dims), in.Name, n
	if name := in.Dims[0].Param; name != "" { // other inputs may have the same axis
		if o.Dims == nil {
			o.Dims = map[string]int{}
		}
		o.Dims[name] = n
	}
	return prepare(&Program{Graph: g, File: file, options: o, kept: kept}, new(diag.List))
}
