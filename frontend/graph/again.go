package graph

import (
	"slices"

	"hlsgen/internal/diag"
)

// A program is kept up to date while passes replace nodes of its graph. What became of a node depends on the node and
// on what is known of its inputs, and on nothing else but the names that are taken: so a node that stays, of inputs as
// they were, keeps its steps. Nobody may change a node of a prepared graph.

// made is what became of one node of the graph.
type made struct {
	of      *reading
	names   []madeUp
	nodes   []*Node  // made up
	known   []string // tensors
	counted []*Step  // also of what is constant
	steps   []*Step
}

// madeUp is a name that was asked for, and what it became.
type madeUp struct{ base, suffix, name string }

// Again prepares what has become of a program's graph, as Prepare does.
func (p *Program) Again(g *Graph, d *diag.List) *Program {
	q, ok := prepare(p.next(g), d)
	if !ok {
		return nil
	}
	return q
}

// next is a program to prepare that keeps what it can of this one.
func (p *Program) next(g *Graph) *Program {
	return &Program{Graph: g, File: p.File, options: p.options, within: p.within, kept: p}
}

// Loop is what runs along a sequence at a node; nil at nodes that do not.
func (p *Program) Loop(n *Node) *Recur {
	for _, o := range n.Outputs {
		if s := p.by[o]; s != nil {
			return s.Recur
		}
	}
	return nil
}

// Made lists the steps that a node of a program's graph became, those of nodes made up for it included. What is
// constant has none.
func Made(p *Program, n *Node) []*Step {
	if m := p.made[n]; m != nil {
		return m.steps
	}
	return nil
}

// define makes steps of a node of the graph, or keeps those that it has.
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

// keep takes over what became of a node before. Loops are read again, for their bodies, which keep what they can.
func (p *Program) keep(of *reading) bool {
	if p.kept == nil || of.Node.Recurrent() {
		return false
	}
	m := p.kept.made[of.Node]
	if m == nil || !slices.EqualFunc(m.of.in, of.in, Known.same) {
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
		if refusal(func() { asks(p, s) }) != nil {
			return false // nor would it come any further anew
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

// same reports whether two tensors are known alike: nobody changes a constant.
func (k Known) same(l Known) bool {
	return k.Const == l.Const && k.DType == l.DType && slices.Equal(k.Shape, l.Shape)
}

// asks counts what a step of the node that the program reads asks for.
func asks(p *Program, s *Step) {
	p.now.counted = append(p.now.counted, s)
	p.step(s)
}

// know notes what is known of a tensor that a node makes.
func (p *Program) know(name string, k Known) {
	p.Known[name] = k
	p.now.known = append(p.now.known, name)
}
