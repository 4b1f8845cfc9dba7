package graph

import (
	"fmt"
	"math"
	"slices"
	"sync"

	"hlsgen/frontend/real"
	"hlsgen/internal/diag"
)

// A Program is a graph whose shapes are known and whose operators are reduced to four forms, whatever they are called:
// elements moved, elements computed from elements, sums of products, rows put in order. The executor and the lowering
// read the same four.
type Program struct {
	Graph *Graph
	File  string           // for diagnostics
	Known map[string]Known // every tensor
	Steps []*Step          // topological order; nodes with constant outputs have none

	made   map[*Node]*made // by node of the graph
	now    *made           // of the node that is being prepared
	kept   *Program        // whose steps may stay; while preparing
	origin map[*Node]*Node // of made-up nodes
	names  Taken           // by the graph, and made up
	strides
	by      map[string]*Step   // by output
	inexact map[string]*Reals  // outputs of steps that depend on no data, and are no float64s
	endless map[string]endless // tensors that may hold infinities
	readers map[string][]*Step // by input
	budget
	laidOut sync.Map // *Reals by *Tensor: of constants that runs read
	within  bool     // the body of a loop
	whole   bool     // every node is understood
	options Options
	report  *diag.List // while preparing
}

// Known is what is known of a tensor before any data: Const is set where it is a constant.
type Known struct {
	Shape []int
	DType DType
	Const *Tensor
}

// A Step is one output of one node. Exactly one of Move, Elem, Dot, Order and Recur is set.
type Step struct {
	Node   *Node
	Output string
	Shape  []int
	DType  DType
	Move   *Move
	Elem   *Elem
	Dot    *Dot
	Order  *Order
	Recur  *Recur  // the steps of one node share it
	Result int     // of Recur: index among the node's outputs
	Window *Window // set where Dot or Elem reads windows of a signal or an image
}

// An Elem computes element i as Expr, whose variable v is element At(v, i) of input Args[v].
type Elem struct {
	Expr   *real.Expr
	Args   []int
	Index  []Pick  // per variable
	Offset []int32 // per variable, added to Index: many variables may share a table; nil is 0 for all
}

// At is the element of variable v that output element i uses.
func (e *Elem) At(v, i int) int {
	if e.Offset == nil {
		return e.Index[v].At(i)
	}
	return e.shifted(v, i)
}

func (e *Elem) shifted(v, i int) int { return e.Index[v].At(i) + int(e.Offset[v]) }

// A Pick says which element of an argument belongs to element i of the output: Table[i], or the only one of a table for
// all of them; without a table the element of its run, where Count runs of Run elements follow each other again and
// again, as a vector's along an axis; and element i itself where there is neither.
type Pick struct {
	Table      []int32
	Run, Count int
}

// At is the element of the argument that belongs to element i.
func (p *Pick) At(i int) int {
	switch {
	case len(p.Table) == 1:
		return int(p.Table[0])
	case p.Table != nil:
		return int(p.Table[i])
	case p.Count == 0:
		return i
	}
	return int(uint32(i) / uint32(p.Run) % uint32(p.Count))
}

// Still reports whether element i is i.
func (p *Pick) Still() bool { return p.Table == nil && p.Count == 0 }

// sameRuns reports whether two picks without tables are the same.
func (p *Pick) sameRuns(o *Pick) bool { return p.Run == o.Run && p.Count == o.Count }

// Equal reports whether two picks are written alike.
func (p *Pick) Equal(o *Pick) bool {
	if !p.sameRuns(o) || len(p.Table) != len(o.Table) {
		return false
	}
	return len(p.Table) == 0 || &p.Table[0] == &o.Table[0] || slices.Equal(p.Table, o.Table)
}

// One reports whether one element stands for all.
func (p *Pick) One() bool { return len(p.Table) == 1 }

// A Dot computes element i as sum over k < K of A[ABase[i]+AOffset[k]] * B[BBase[i]+BOffset[k]], where A and B are
// inputs of the node; Then, if set, computes on from that sum (variable 0) and other inputs (variables 1...).
type Dot struct {
	A, B             int
	K                int
	ABase, BBase     *List
	AOffset, BOffset []int32 // K entries each
	Then             *Elem   // Args[0] and Index[0] are unused
}

// Prepare derives every shape and constant. It reports all nodes it does not understand in one run and returns nil
// where there were any.
func Prepare(g *Graph, file string, opt Options, d *diag.List) *Program {
	if p, ok := prepare(&Program{Graph: g, File: file, options: opt}, d); ok {
		return p
	}
	return nil
}

// Understood is the part of a graph that can be prepared: the nodes that are known, up to the first ones that are not.
// Its outputs are what those would have read, and the graph's own. It is nil where nothing is left.
func Understood(g *Graph, file string, opt Options) *Graph {
	p, _ := prepare(&Program{Graph: g, File: file, options: opt}, new(diag.List))
	if p == nil {
		return nil
	}
	sub := *g
	sub.Nodes, sub.Outputs = nil, nil
	wanted := setOf(Names(g.Outputs))
	for _, n := range g.Nodes {
		known := true
		for _, o := range n.Outputs {
			_, ok := p.Known[o]
			known = known && (ok || o == "")
		}
		if known {
			sub.Nodes = append(sub.Nodes, n)
			continue
		}
		for _, in := range n.Inputs {
			wanted[in] = true
		}
	}
	for _, s := range p.Steps {
		if wanted[s.Output] {
			wanted[s.Output] = false
			sub.Outputs = append(sub.Outputs, Value{Name: s.Output, DType: s.DType})
		}
	}
	if len(sub.Outputs) == 0 {
		return nil
	}
	return &sub
}

// prepare is Prepare for a program with its graph, and what it has of it where that fails.
func prepare(p *Program, d *diag.List) (_ *Program, ok bool) {
	g, file, opt := p.Graph, p.File, p.options
	if err := g.Verify(); err != nil {
		d.Add(diag.Diag{Severity: diag.Error, Code: diag.ModelMalformed, Where: file, Msg: err.Error(),
			Hint: "the graph contradicts itself: export the model again"})
		return nil, false
	}
	n := len(g.Nodes)
	p.Known, p.by = make(map[string]Known, n+len(g.Init)), make(map[string]*Step, n)
	p.readers, p.origin = map[string][]*Step{}, map[*Node]*Node{}
	p.names, p.inexact, p.endless = g.Taken(), map[string]*Reals{}, map[string]endless{}
	p.made, p.counted, p.strides, p.report = map[*Node]*made{}, map[any]bool{},
		strides{map[string][]int32{}, map[string]*List{}, &p.budget}, d
	if p.kept != nil {
		p.strides.known, p.strides.lists = p.kept.strides.known, p.kept.strides.lists
	}
	for name, t := range g.Init {
		p.Known[name] = Known{t.Shape, t.DType, t}
	}
	ok = true
	shared := causes{}
	defer shared.tell(d)
	try := func(node, op, where string, f func()) {
		r := refusal(f)
		ok = ok && r == nil
		if r == nil || r == reported {
			return
		}
		x := diag.Diag{Severity: diag.Error, Code: r.code, Node: node, Op: op, Where: where, Msg: r.msg, Hint: r.hint}
		if r.cause != "" {
			shared.add(r.cause, x, d)
			return
		}
		d.Add(x)
	}
	for _, in := range g.Inputs {
		try(in.Name, "input", file, func() { p.Known[in.Name] = opt.input(in) })
	}
	if ok {
		try("", "", file, func() { opt.checkDims(g) })
	}
	for _, n := range g.Nodes {
		try(n.Label(), n.FullOp(), Where(file, n), func() {
			def, found := lookup(n.Domain, n.Op)
			read, known := p.read(n)
			if !found {
				unknown(n, known, g)
			}
			if !known {
				panic(reported) // an input is unknown: at its own node
			}
			p.define(read, def)
		})
	}
	p.kept, p.whole = nil, ok
	for _, s := range p.Steps {
		seen := map[string]bool{}
		for _, in := range s.Node.Inputs {
			if !seen[in] {
				seen[in] = true
				p.readers[in] = append(p.readers[in], s)
			}
		}
	}
	return p, ok
}

// Where is a node's place for a diagnostic.
func Where(file string, n *Node) string { return fmt.Sprintf("%s, node %d", file, n.Index) }

func (g *Graph) opset(domain string) int64 {
	if domain == channelsLast { // QONNX executes these as the newest of ONNX's own
		return math.MaxInt64
	}
	if v, ok := g.Opsets[domain]; ok {
		return v
	}
	return 1
}

// Fixed reports whether a tensor depends on no data, though its elements are no float64s: a constant has no step.
func (p *Program) Fixed(tensor string) bool { return p.inexact[tensor] != nil }

// Producer is the step that computes a tensor; nil for inputs and constants.
func (p *Program) Producer(tensor string) *Step { return p.by[tensor] }

// Readers lists the steps that read a tensor, each once.
func (p *Program) Readers(tensor string) []*Step { return p.readers[tensor] }
