package graph

import (
	"slices"

	"hlsgen/internal/diag"
)

// A program is kept up to date while passes replace nodes of its graph. The steps of a node depend only on the node, on
// what is known of its inputs, and on the names in use. So a node that stays, with unchanged inputs, keeps its steps.
// Therefore nodes of a prepared graph must not be changed.

// A made holds the results of preparing one node of the graph.
type made struct {
	of      *reading
	names   []madeUp
	nodes   []*Node  // internal nodes
	known   []string // the tensors that became known
	counted []*Step  // the counted steps, including those of constants
	steps   []*Step
}

// A madeUp is a name that was requested from Fresh, and the result.
type madeUp struct{ base, suffix, name string }

// Reprepare prepares a changed version of a program's graph, as Prepare does, and reuses the steps of unchanged nodes.
func (p *Program) Reprepare(g *Graph, d *diag.List) *Program {
	q, ok := prepare(p.next(g), d)
	if !ok {
		return nil
	}
	return q
}

// next returns an unprepared program for g, which will reuse results of p.
func (p *Program) next(g *Graph) *Program {
	return &Program{Graph: g, File: p.File, options: p.options, within: p.within, kept: p}
}

// Loop returns the loop of a node, or nil if the node is not a loop.
func (p *Program) Loop(n *Node) *Recur {
	for _, o := range n.Outputs {
		if s := p.by[o]; s != nil {
			return s.Recur
		}
	}
	return nil
}

// StepsOf returns the steps of a node of a program's graph, including those of its internal nodes. Constants have no
// steps.
func StepsOf(p *Program, n *Node) []*Step {
	if m := p.made[n]; m != nil {
		return m.steps
	}
	return nil
}

// define builds the steps of a node of the graph, or reuses those of the earlier program.
func (p *Program) define(of *reading, def operator) {
	if p.keep(of) {
		return
	}
	first := len(p.Steps)
	p.now = &made{of: of}
	(&call{p: p, reading: of}).build(def)
	p.now.steps = slices.Clip(p.Steps[first:])
	p.made[of.Node] = p.now
}

// keep reuses the earlier results for a node, and reports whether it could. Loops are prepared again, because their
// bodies reuse results on their own.
func (p *Program) keep(of *reading) bool {
	if p.kept == nil || of.Node.Recurrent() {
		return false
	}
	m := p.kept.made[of.Node]
	if m == nil || !slices.EqualFunc(m.of.in, of.in, KnownTensor.same) {
		return false
	}
	p.now = &made{of: of}
	for _, name := range m.names {
		if p.fresh(name.base, name.suffix) != name.name {
			for _, taken := range p.now.names {
				p.names.free(taken.base, taken.suffix, taken.name)
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
		p.origin[n] = of.Node
	}
	for _, name := range m.known {
		p.Known[name] = p.kept.Known[name]
		if v := p.kept.inexact[name]; v != nil {
			p.inexact[name] = v
		}
		if e := p.kept.endless[name]; e != 0 {
			p.endless[name] = e
		}
	}
	for _, s := range m.steps {
		p.by[s.Output] = s
	}
	p.Steps = append(p.Steps, m.steps...)
	p.made[of.Node] = m
	return true
}

// same reports whether the same is known of two tensors. Constants are never changed, so pointers suffice.
func (k KnownTensor) same(l KnownTensor) bool {
	return k.Const == l.Const && k.DType == l.DType && slices.Equal(k.Shape, l.Shape)
}

// countStep counts the resources of a step of the current node.
func countStep(p *Program, s *Step) {
	p.now.counted = append(p.now.counted, s)
	p.step(s)
}

// know records what is known of a tensor that a node computes.
func (p *Program) know(name string, k KnownTensor) {
	p.Known[name] = k
	p.now.known = append(p.now.known, name)
}
