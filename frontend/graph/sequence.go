package graph

import (
	"maps"

	"hlsgen/internal/diag"
)

// A leading dynamic axis counts samples, unless the model mixes along it: then it is time. What mixes is found out on
// two samples: where an element depends on both, the axis is a sequence.

// probes is how many elements an axis is tried with.
const probes = 2

// Sequences finds the inputs whose leading dynamic axis is time, and gives the options that know of them.
func (o Options) Sequences(g *Graph, file string) Options {
	found := map[string]bool{}
	for _, in := range g.Inputs {
		if in.Known && len(in.Dims) > 0 && in.Dims[0].Size < 0 && o.mixes(g, file, in) {
			found[in.Name] = true
		}
	}
	o.sequences = found
	return o
}

// Sequence reports whether an input's leading axis is dynamic and time.
func (p *Program) Sequence(input string) bool { return p.options.sequences[input] }

// mixes reports whether some element depends on both of two elements along an input's leading axis.
func (o Options) mixes(g *Graph, file string, in Value) bool {
	if !anyRecurrent(g) {
		return false
	}
	name := in.Dims[0].Param
	o.sequences, o.Dims, o.two = nil, maps.Clone(o.Dims), in.Name
	if name != "" { // other inputs may have the same axis
		if o.Dims == nil {
			o.Dims = map[string]int{}
		}
		o.Dims[name] = probes
	}
	p, ok := prepare(g, file, o, false, new(diag.List))
	if !ok {
		return false
	}
	from := map[string]sampleSet{}
	for _, v := range g.Inputs {
		set := make(sampleSet, Size(p.Known[v.Name].Shape))
		if v.Name == in.Name || name != "" && len(v.Dims) > 0 && v.Dims[0].Param == name {
			for i := range set {
				set[i] = 1 << (i / (len(set) / probes))
			}
		}
		from[v.Name] = set
	}
	return p.spread(from)
}

// anyRecurrent keeps the question from models that have nothing that runs along a sequence: theirs are samples.
func anyRecurrent(g *Graph) bool {
	for _, n := range g.Nodes {
		if n.Recurrent() {
			return true
		}
	}
	return false
}

// A sampleSet tells, for every element of a tensor, on which of two samples it depends: a bit for each.
type sampleSet []uint8

const both = 3

// spread follows the samples through the program; it reports whether they met.
func (p *Program) spread(sets map[string]sampleSet) (met bool) {
	of := func(name string) sampleSet {
		if sets[name] == nil {
			sets[name] = make(sampleSet, Size(p.Known[name].Shape)) // a constant
		}
		return sets[name]
	}
	for _, s := range p.Steps {
		in := make([]sampleSet, len(s.Node.Inputs))
		for i, name := range s.Node.Inputs {
			in[i] = of(name)
		}
		out := make(sampleSet, Size(s.Shape))
		if s.Recur != nil {
			if s.Recur.spread(p, s, in, out) {
				return true
			}
		} else {
			for i := range out {
				out[i] = s.samples(in, i)
			}
		}
		for _, v := range out {
			met = met || v == both
		}
		if sets[s.Output] = out; met {
			return true
		}
	}
	return false
}

// samples is what element i depends on.
func (s *Step) samples(in []sampleSet, i int) (v uint8) {
	elem := s.Elem
	switch {
	case s.Move != nil:
		slot, j := s.Move.From(i)
		return in[slot][j]
	case s.Order != nil:
		for k := range s.Order.N {
			v |= in[0][int(s.Order.Base[i])+k*s.Order.Stride]
		}
		return v
	case s.Dot != nil:
		d := s.Dot
		for k := range d.K {
			v |= in[d.A][int(d.ABase[i])+int(d.AOffset[k])] | in[d.B][int(d.BBase[i])+int(d.BOffset[k])]
		}
		elem = d.Then
	}
	if elem == nil {
		return v
	}
	for a, slot := range elem.Args {
		if s.Dot == nil || a > 0 {
			v |= in[slot][elem.At(a, i)]
		}
	}
	return v
}

// spread follows the samples through a loop: its runs, and, as states hand on what they depend on, all together.
func (r *Recur) spread(p *Program, s *Step, in []sampleSet, out sampleSet) (met bool) {
	g := r.Body.Graph
	state := in[:r.States]
	for t := range r.Length {
		sets := map[string]sampleSet{}
		for i, v := range g.Inputs {
			if i < r.States {
				sets[v.Name] = state[i]
				continue
			}
			scanned := r.Scanned[i-r.States]
			whole := p.Known[s.Node.Inputs[i]].Shape
			set := make(sampleSet, Size(r.Body.Known[v.Name].Shape))
			for k := range set {
				set[k] = in[i][scanned.element(whole, t, k)]
			}
			sets[v.Name] = set
		}
		if r.Body.spread(sets) {
			return true
		}
		next := make([]sampleSet, len(g.Outputs))
		for i, o := range g.Outputs {
			if next[i] = sets[o.Name]; next[i] == nil {
				next[i] = make(sampleSet, Size(r.Body.Known[o.Name].Shape))
			}
		}
		state = next[:r.States]
		if s.Result >= r.States {
			gathered := r.Gathered[s.Result-r.States]
			for k, v := range next[s.Result] {
				out[gathered.element(s.Shape, t, k)] = v
			}
		}
	}
	if s.Result < r.States {
		copy(out, state[s.Result])
	}
	return false
}
