// Package program holds what a graph computes, reduced to steps of five forms: moves of elements, functions of
// elements, sums of products, orders of rows, and loops. Package operators makes programs, package execution runs them,
// and the lowering reads them.
//
//	list         lists of indices, in compact forms, too
//	reals        values as intervals
//	move         moves of elements
//	steps        the five forms
//	tables       index tables
//	program      programs: what is known of tensors, and their steps
//	infinities   tensors that may hold infinities
package program

import (
	"maps"
	"slices"
	"sync"

	"hlsgen/frontend/graph"
)

// A Program is a graph with known shapes whose operators are reduced to five forms of steps: moves of elements,
// functions of elements, sums of products, orders of rows, and loops. The executor and the lowering only deal with
// these forms.
type Program struct {
	Graph *graph.Graph
	File  string                 // for diagnostics
	Known map[string]KnownTensor // shapes, types and constants of all tensors
	Steps []*Step                // in topological order; nodes with constant outputs have none

	// Sequences holds the inputs whose leading axis is dynamic and time.
	Sequences map[string]bool
	// Preparation is the state that package operators keeps, to prepare a changed graph with little work.
	Preparation any

	origin  map[*graph.Node]*graph.Node // the node of the graph to which an internal node belongs
	of      map[*graph.Node][]*Step     // the steps of each node of the graph, including those of its internal nodes
	by      map[string]*Step            // by output
	inexact map[string]*Reals           // outputs of steps that do not depend on data, and are not float64s
	endless map[string]InfinitySigns
	readers map[string][]*Step // by input
	laidOut sync.Map           // from *Tensor to *Reals: constants in the form that runs read
}

// New returns a program of a graph, without steps. file is the model's file name for diagnostics.
func New(g *graph.Graph, file string) *Program {
	n := len(g.Nodes)
	p := &Program{Graph: g, File: file, Known: make(map[string]KnownTensor, n+len(g.Init)),
		origin: map[*graph.Node]*graph.Node{}, of: make(map[*graph.Node][]*Step, n), by: make(map[string]*Step, n),
		inexact: map[string]*Reals{}, endless: map[string]InfinitySigns{}, readers: map[string][]*Step{}}
	for name, t := range g.Init {
		p.Known[name] = KnownTensor{t.Shape, t.DType, t}
	}
	return p
}

// AddStep adds a step behind all others. Known must already hold the step's inputs.
func (p *Program) AddStep(s *Step) {
	p.Steps = append(p.Steps, s)
	p.by[s.Output] = s
}

// RecordStepsOf records the list that StepsOf returns for a node of the graph. It does not add the steps to the
// program.
func (p *Program) RecordStepsOf(n *graph.Node, steps []*Step) { p.of[n] = steps }

// StepsOf returns the steps of a node of the graph, including those of its internal nodes. Constants have no steps.
func (p *Program) StepsOf(n *graph.Node) []*Step { return p.of[n] }

// SetOriginOf records that an internal node belongs to node n of the graph.
func (p *Program) SetOriginOf(internal, n *graph.Node) { p.origin[internal] = n }

// SetInexactConstant records the value of a step's output that does not depend on data, and whose elements are not all
// float64s.
func (p *Program) SetInexactConstant(tensor string, v *Reals) { p.inexact[tensor] = v }

// InexactConstant returns the value of a tensor that does not depend on data although its elements are not all
// float64s. It returns nil for other tensors.
func (p *Program) InexactConstant(tensor string) *Reals { return p.inexact[tensor] }

// SetInfinitySigns records which infinities a tensor that is not constant may hold. The empty set deletes an earlier
// record.
func (p *Program) SetInfinitySigns(tensor string, e InfinitySigns) {
	if e == 0 {
		delete(p.endless, tensor)
		return
	}
	p.endless[tensor] = e
}

// InfinitySignsOf returns the infinities that a tensor may hold, or a constant does hold.
func (p *Program) InfinitySignsOf(tensor string) InfinitySigns {
	if c := p.Known[tensor].Const; c != nil {
		return InfinitySignsOfConstant(c)
	}
	return p.endless[tensor]
}

// RecordReaders records which steps read each tensor, after all steps were added. Only then may ReadersOf be called.
func (p *Program) RecordReaders() {
	for _, s := range p.Steps {
		seen := map[string]bool{}
		for _, in := range s.Node.Inputs {
			if !seen[in] {
				seen[in] = true
				p.readers[in] = append(p.readers[in], s)
			}
		}
	}
}

// A KnownTensor holds what is known of a tensor before a run: its type and shape, and its elements if it is constant
// (Const).
type KnownTensor struct {
	Shape []int
	DType graph.DType
	Const *graph.ConstantTensor
}

// IsInexactConstant reports whether a step computes a tensor that does not depend on data, because its elements are not
// all float64s.
func (p *Program) IsInexactConstant(tensor string) bool { return p.inexact[tensor] != nil }

// ProducerOf returns the step that computes a tensor, or nil for inputs and constants.
func (p *Program) ProducerOf(tensor string) *Step { return p.by[tensor] }

// ReadersOf returns the steps that read a tensor, each once, or nil if none does. RecordReaders must have been called.
// The caller must not change the list.
func (p *Program) ReadersOf(tensor string) []*Step { return p.readers[tensor] }

// LoopOfNode returns the loop that a node of the graph runs, or nil if the node is not a loop.
func (p *Program) LoopOfNode(n *graph.Node) *Recur {
	for _, o := range n.Outputs {
		if s := p.by[o]; s != nil {
			return s.Recur
		}
	}
	return nil
}

// StepsBetween returns, in order, the steps that compute the tensors to from the tensors from. read is the set of the
// tensors to and of all tensors that these steps read, without those in from.
func (p *Program) StepsBetween(from, to []string) (steps []*Step, read map[string]bool) {
	given, read := graph.NewNameSet(from), graph.NewNameSet(to)
	for _, s := range slices.Backward(p.Steps) {
		if !read[s.Output] || given[s.Output] {
			continue
		}
		steps = append(steps, s)
		for _, in := range s.Node.Inputs {
			read[in] = true
		}
	}
	slices.Reverse(steps)
	maps.DeleteFunc(read, func(name string, _ bool) bool { return given[name] })
	return steps, read
}

// OriginOf returns the node of the graph to which an internal node belongs. It returns a node of the graph itself
// unchanged.
func (p *Program) OriginOf(n *graph.Node) *graph.Node {
	if o := p.origin[n]; o != nil {
		return o
	}
	return n
}

// IsSequenceInput reports whether an input's leading axis has an open size and counts time steps, not samples.
func (p *Program) IsSequenceInput(input string) bool { return p.Sequences[input] }
