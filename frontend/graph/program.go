package graph

import (
	"fmt"
	"math"
	"slices"
	"sync"

	"hlsgen/frontend/real"
	"hlsgen/internal/diag"
)

// A Program is a graph with known shapes whose operators are reduced to five forms of steps: moves of elements,
// functions of elements, sums of products, orders of rows, and loops. The executor and the lowering only deal with
// these forms.
type Program struct {
	Graph *Graph
	File  string                 // for diagnostics
	Known map[string]KnownTensor // shapes, types and constants of all tensors
	Steps []*Step                // in topological order; nodes with constant outputs have none

	made   map[*Node]*made // the results of preparing each node of the graph
	now    *made           // the results for the node that is being prepared
	kept   *Program        // while preparing: an earlier program whose steps may be reused
	origin map[*Node]*Node // the node of the graph to which an internal node belongs
	names  UsedNames       // names used by the graph and by internal tensors
	strides
	by      map[string]*Step   // by output
	inexact map[string]*Reals  // outputs of steps that do not depend on data, and are not float64s
	endless map[string]endless // tensors that may hold infinities
	readers map[string][]*Step // by input
	budget
	laidOut sync.Map // from *Tensor to *Reals: constants in the form that runs read
	within  bool     // the program is the body of a loop
	whole   bool     // every node is supported
	options Options
	report  *diag.List // while preparing: receives diagnostics
}

// A KnownTensor holds what is known of a tensor before a run. Const is nil unless the tensor is constant.
type KnownTensor struct {
	Shape []int
	DType DType
	Const *Tensor
}

// A Step computes one output of one node. Exactly one of Move, Elem, Dot, Order and Recur is not nil.
type Step struct {
	Node   *Node
	Output string
	Shape  []int
	DType  DType
	Move   *Move
	Elem   *Elem
	Dot    *Dot
	Order  *Order
	Recur  *Recur  // shared by the steps of one node
	Result int     // with Recur: the index among the node's outputs
	Window *Window // not nil if Dot or Elem reads windows of a signal or an image
}

// An Elem computes element i as Expr. Variable v of Expr is element At(v, i) of input Args[v].
type Elem struct {
	Expr   *real.Expr
	Args   []int
	Index  []ElementPick // by variable
	Offset []int32       // by variable, added to Index, so that variables can share a table; nil for zeros
}

// At returns the index of the element that variable v reads for output element i.
func (e *Elem) At(v, i int) int {
	if e.Offset == nil {
		return e.Index[v].At(i)
	}
	return e.shifted(v, i)
}

func (e *Elem) shifted(v, i int) int { return e.Index[v].At(i) + int(e.Offset[v]) }

// An ElementPick maps element i of the output to an element of an argument. With a Table, that is Table[i], or Table[0]
// for all i if the table has one entry. With Count > 0, the output consists of runs of Run elements; element i reads
// the index of its run, modulo Count. A vector along an axis is read this way. Otherwise element i reads element i.
type ElementPick struct {
	Table      []int32
	Run, Count int
}

// At returns the index of the argument's element that belongs to output element i.
func (p *ElementPick) At(i int) int {
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

// IsIdentity reports whether the pick is the identity.
func (p *ElementPick) IsIdentity() bool { return p.Table == nil && p.Count == 0 }

// sameRuns reports whether two picks have the same runs.
func (p *ElementPick) sameRuns(o *ElementPick) bool { return p.Run == o.Run && p.Count == o.Count }

// Equal reports whether two picks have equal tables and runs.
func (p *ElementPick) Equal(o *ElementPick) bool {
	if !p.sameRuns(o) || len(p.Table) != len(o.Table) {
		return false
	}
	return len(p.Table) == 0 || &p.Table[0] == &o.Table[0] || slices.Equal(p.Table, o.Table)
}

// IsSingleElement reports whether all output elements read the same element.
func (p *ElementPick) IsSingleElement() bool { return len(p.Table) == 1 }

// A Dot computes element i as the sum over k < K of A[ABase[i]+AOffset[k]] * B[BBase[i]+BOffset[k]]. A and B are inputs
// of the node. Then, if not nil, is applied to that sum (variable 0) and to other inputs (variables 1...).
type Dot struct {
	A, B             int
	K                int
	ABase, BBase     *IndexList
	AOffset, BOffset []int32 // K entries each
	Then             *Elem   // Args[0] and Index[0] are unused
}

// Prepare returns the program of a graph. If it does not support some nodes, it adds an error for each to d and returns
// nil.
func Prepare(g *Graph, file string, opt Options, d *diag.List) *Program {
	if p, ok := prepare(&Program{Graph: g, File: file, options: opt}, d); ok {
		return p
	}
	return nil
}

// SupportedPart returns the part of a graph that can be prepared: the supported nodes before the first unsupported
// ones. Its outputs are the tensors that unsupported nodes read, and the outputs of the graph. It returns nil if the
// part is empty.
func SupportedPart(g *Graph, file string, opt Options) *Graph {
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
			sub.Outputs = append(sub.Outputs, ValueInfo{Name: s.Output, DType: s.DType})
		}
	}
	if len(sub.Outputs) == 0 {
		return nil
	}
	return &sub
}

// prepare prepares p.Graph. If it fails, ok is false and the result holds the part that succeeded.
func prepare(p *Program, d *diag.List) (_ *Program, ok bool) {
	g, file, opt := p.Graph, p.File, p.options
	if err := g.Verify(); err != nil {
		d.Add(diag.Diag{Severity: diag.Error, Code: diag.ModelMalformed, Where: file, Msg: err.Error(),
			Hint: "the graph contradicts itself: export the model again"})
		return nil, false
	}
	n := len(g.Nodes)
	p.Known, p.by = make(map[string]KnownTensor, n+len(g.Init)), make(map[string]*Step, n)
	p.readers, p.origin = map[string][]*Step{}, map[*Node]*Node{}
	p.names, p.inexact, p.endless = g.UsedNames(), map[string]*Reals{}, map[string]endless{}
	p.made, p.counted, p.strides, p.report = map[*Node]*made{}, map[any]bool{},
		strides{map[string][]int32{}, map[string]*IndexList{}, &p.budget}, d
	if p.kept != nil {
		p.strides.known, p.strides.lists = p.kept.strides.known, p.kept.strides.lists
	}
	for name, t := range g.Init {
		p.Known[name] = KnownTensor{t.Shape, t.DType, t}
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
				panic(reported) // the error was reported at the node that computes the input
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

// Where returns the position of a node for a diagnostic.
func Where(file string, n *Node) string { return fmt.Sprintf("%s, node %d", file, n.Index) }

func (g *Graph) opset(domain string) int64 {
	if domain == channelsLast { // QONNX executes these with ONNX' newest definitions
		return math.MaxInt64
	}
	if v, ok := g.Opsets[domain]; ok {
		return v
	}
	return 1
}

// IsInexactConstant reports whether a tensor does not depend on data although it has a step, because its elements are
// not float64s.
func (p *Program) IsInexactConstant(tensor string) bool { return p.inexact[tensor] != nil }

// Producer returns the step that computes a tensor, or nil for inputs and constants.
func (p *Program) Producer(tensor string) *Step { return p.by[tensor] }

// Readers returns the steps that read a tensor, each once.
func (p *Program) Readers(tensor string) []*Step { return p.readers[tensor] }
