package operators

import (
	"hlsgen/frontend/graph"
	"hlsgen/frontend/program"
	"hlsgen/internal/diag"
)

// Prepare returns the program of a graph. If it does not support some nodes or inputs, it adds an error for each to d
// and returns nil. It does so, too, for a graph that contradicts itself and for options that do not fit. file is the
// model's base name, for diagnostics.
func Prepare(g *graph.Graph, file string, opt Options, d *diag.List) *program.Program {
	if p, ok := run(preparation{Program: program.New(g, file), options: opt}, d); ok {
		return p
	}
	return nil
}

// GraphBeforeUnsupportedNodes returns the part of a graph that can be prepared: the supported nodes before the first
// unsupported ones. Its outputs are the tensors computed from data that unsupported nodes read, and such outputs of the
// graph. It returns nil if there are none, or if the graph contradicts itself.
func GraphBeforeUnsupportedNodes(g *graph.Graph, file string, opt Options) *graph.Graph {
	p, _ := PrepareSupportedNodes(g, file, opt)
	if p == nil {
		return nil
	}
	sub := *g
	sub.Nodes, sub.Outputs = nil, nil
	wanted := graph.NewNameSet(graph.ValueNames(g.Outputs))
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
			sub.Outputs = append(sub.Outputs, graph.ValueInfo{Name: s.Output, DType: s.DType})
		}
	}
	if len(sub.Outputs) == 0 {
		return nil
	}
	return &sub
}

// PrepareSupportedNodes returns a program with the supported nodes of a graph. It has no steps for the other nodes, and
// knows nothing of their outputs. whole reports whether all nodes are supported. The program is nil if the graph
// contradicts itself.
func PrepareSupportedNodes(g *graph.Graph, file string, opt Options) (p *program.Program, whole bool) {
	return run(preparation{Program: program.New(g, file), options: opt}, new(diag.List))
}

// ReprepareSupportedNodes returns what PrepareSupportedNodes returns for g, a changed version of p's graph, and reuses
// the steps of unchanged nodes. The options may differ from those of p in the sizes of axes.
func ReprepareSupportedNodes(p *program.Program, g *graph.Graph, opt Options) (q *program.Program, whole bool) {
	next := preparationOf(p).next(g)
	next.options = opt
	return run(next, new(diag.List))
}

// run runs a preparation, and returns its program. If it fails, ok is false and the program holds the part that
// succeeded.
func run(p preparation, d *diag.List) (_ *program.Program, ok bool) {
	g, file, opt := p.Graph, p.File, p.options
	if err := g.Verify(); err != nil {
		d.Add(diag.Diag{Severity: diag.SeverityError, Code: diag.ModelMalformed, Where: file, Msg: err.Error(),
			Hint: "the graph contradicts itself: export the model again"})
		return nil, false
	}
	p.Sequences, p.Preparation = opt.Sequences, &p
	p.names, p.made, p.counted, p.report = g.UsedTensorNames(), map[*graph.Node]*made{}, map[any]bool{}, d
	p.strides = strides{map[string][]int32{}, map[string]*program.IndexList{}, &p.budget}
	if p.kept != nil {
		p.strides.known, p.strides.lists = p.kept.strides.known, p.kept.strides.lists
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
		x := diag.Diag{Severity: diag.SeverityError, Code: r.code, Node: node, Op: op, Where: where, Msg: r.msg,
			Hint: r.hint}
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
		try(n.Label(), n.QualifiedOpName(), NodePositionText(file, n), func() {
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
	p.RecordReaders()
	return p.Program, ok
}
