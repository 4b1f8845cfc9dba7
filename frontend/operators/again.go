package operators

import (
	"slices"

	"hlsgen/frontend/graph"
	"hlsgen/frontend/program"
	"hlsgen/internal/diag"
)

// A program is kept up to date while passes replace nodes of its graph. The steps of a node depend only on the node, on
// what is known of its inputs, and on the names in use. So a node that stays, with unchanged inputs, keeps its steps.
// Therefore nodes of a prepared graph must not be changed.

// ReprepareProgram returns the program of g, a changed version of p's graph, as Prepare does, or nil after adding
// errors to d. It reuses the steps of nodes that both graphs share, which must not have been changed.
func ReprepareProgram(p *program.Program, g *graph.Graph, d *diag.List) *program.Program {
	q, ok := run(preparationOf(p).next(g), d)
	if !ok {
		return nil
	}
	return q
}

// define builds the steps of a node of the graph, or reuses those of the earlier program.
func (p *preparation) define(of *reading, def operator) {
	if p.keep(of) {
		return
	}
	first := len(p.Steps)
	p.now = &made{of: of}
	(&call{p: p, reading: of}).build(def)
	p.now.steps = slices.Clip(p.Steps[first:])
	p.record(of.Node, p.now)
}

// record keeps the results m for a node of the graph, for a later preparation of a changed graph.
func (p *preparation) record(n *graph.Node, m *made) {
	p.made[n] = m
	p.RecordStepsOf(n, m.steps)
}

// keep takes over the earlier results for a node, and returns false if that is impossible. Loops are prepared again,
// because their bodies reuse results on their own.
func (p *preparation) keep(of *reading) bool {
	if p.kept == nil || IsRecurrent(of.Node) {
		return false
	}
	m := p.kept.made[of.Node]
	if m == nil || !slices.EqualFunc(m.of.in, of.in, sameKnown) {
		return false
	}
	p.now = &made{of: of}
	for _, name := range m.names {
		if p.fresh(name.base, name.suffix) != name.name {
			for _, taken := range p.now.names {
				p.names.ReleaseName(taken.base, taken.suffix, taken.name)
			}
			return false
		}
	}
	for _, s := range m.counted {
		if refusal(func() { countStep(p, s) }) != nil {
			return false // building the node again would end in other names, too
		}
	}
	for _, n := range m.nodes {
		p.SetOriginOf(n, of.Node)
	}
	for _, name := range m.known {
		p.Known[name] = p.kept.Known[name]
		if v := p.kept.InexactConstant(name); v != nil {
			p.SetInexactConstant(name, v)
		}
		if p.Known[name].Const == nil {
			p.SetInfinitySigns(name, p.kept.InfinitySignsOf(name))
		}
	}
	for _, s := range m.steps {
		p.AddStep(s)
	}
	p.record(of.Node, m)
	return true
}

// sameKnown reports whether the same is known of two tensors: type, shape and constant. It compares constants by
// pointer, since they never change.
func sameKnown(k program.KnownTensor, l program.KnownTensor) bool {
	return k.Const == l.Const && k.DType == l.DType && slices.Equal(k.Shape, l.Shape)
}
