package operators

import (
	"fmt"
	"math"

	"hlsgen/frontend/graph"
	"hlsgen/frontend/program"
	"hlsgen/internal/diag"
)

// A made holds the results of preparing one node of the graph, for reuse when the graph has changed.
type made struct {
	of      *reading
	names   []madeUp
	nodes   []*graph.Node   // internal nodes
	known   []string        // the tensors that became known
	counted []*program.Step // the counted steps, including those of constants
	steps   []*program.Step
}

// A madeUp is a name that was requested from TakeFreshName: the arguments and the result.
type madeUp struct{ base, suffix, name string }

// next returns a preparation of g that will reuse results of p.
func (p *preparation) next(g *graph.Graph) preparation {
	return preparation{Program: program.New(g, p.File), options: p.options, within: p.within, kept: p}
}

// countStep counts the resources of a step of the current node.
func countStep(p *preparation, s *program.Step) {
	p.now.counted = append(p.now.counted, s)
	p.step(s)
}

// know records the type, the shape and the constant of a tensor that a node computes.
func (p *preparation) know(name string, k program.KnownTensor) {
	p.Known[name] = k
	p.now.known = append(p.now.known, name)
}

// fresh returns a tensor name that neither the file nor the program uses.
func (p *preparation) fresh(base, suffix string) string {
	name := p.names.TakeFreshName(base, suffix)
	p.now.names = append(p.now.names, madeUp{base, suffix, name})
	return name
}

// A preparation is a program while it is prepared, and what ReprepareProgram reuses of it.
type preparation struct {
	*program.Program
	made  map[*graph.Node]*made // the results of preparing each node of the graph
	now   *made                 // the results for the node that is being prepared
	kept  *preparation          // an earlier preparation whose steps may be reused; nil when the program is done
	names graph.UsedTensorNames // names used by the graph and by internal tensors
	strides
	budget
	within  bool // the program is the body of a loop
	whole   bool // every node is supported
	options Options
	report  *diag.List // receives diagnostics
}

// preparationOf returns the preparation of a program.
func preparationOf(p *program.Program) *preparation { return p.Preparation.(*preparation) }

// PrepareOptionsOf returns the options with which a program was prepared.
func PrepareOptionsOf(p *program.Program) Options { return preparationOf(p).options }

// NodePositionText returns a text that says where a node is in a file, for a diagnostic.
func NodePositionText(file string, n *graph.Node) string {
	return fmt.Sprintf("%s, node %d", file, n.Index)
}

func opsetOf(g *graph.Graph, domain string) int64 {
	if domain == channelsLast { // QONNX executes these with ONNX' newest definitions
		return math.MaxInt64
	}
	if v, ok := g.Opsets[domain]; ok {
		return v
	}
	return 1
}
