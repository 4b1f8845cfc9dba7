// Package convert writes a model in another dialect of quantisation, and simplified.
//
// In come the bytes of an ONNX file and the dialect that is wanted; out come the bytes of another, with what was proved
// of it, or diagnostics that name the nodes which the dialect cannot express. It sees frontend, canon, pass, onnxio,
// graph and real, and dataflow, num and diag.
//
//   - convert.go is the short story; dialects.go the tables: a row per operator that a dialect has not
//   - scope.go edits a graph, or the body of a loop: constants, names, nodes; quantiser.go reads quantisers
//   - qcdq.go, qonnx.go and qoperator.go are what the rows do; product.go writes products of integers, reachable.go
//     finds the sums that they reach, fused.go puts all that follows a sum into a scale and a bias
//   - same.go proves that two files mean the same
//   - clean.go folds constants and infers shapes; opset.go raises the version of ONNX' operators
package convert

import (
	"fmt"
	"maps"

	"slices"

	"hlsgen/frontend/graph"
	"hlsgen/frontend/onnxio"
	"hlsgen/internal/diag"
)

// A Dialect is a way to write quantised models in ONNX.
type Dialect string

// The dialects. Those of arXiv 2206.07527, and ONNX's own quantised operators.
const (
	QONNX     Dialect = "qonnx"     // Quant, which gives real numbers
	QCDQ      Dialect = "qcdq"      // QuantizeLinear, Clip, DequantizeLinear
	QOperator Dialect = "qoperator" // operators on integers, with Clip
)

// Dialects lists them.
var Dialects = []string{string(QONNX), string(QCDQ), string(QOperator)}

// Options say what to write.
type Options struct {
	To     Dialect        // empty: that of the file
	Clean  bool           // fold constants, drop what nothing reads, and write every shape
	Dims   map[string]int // sizes of named dynamic axes with which the two models are compared
	Shapes graph.Shapes   // of inputs, likewise
}

// A Count is how many nodes have an operator.
type Count struct {
	Op    string `json:"op"`
	Nodes int    `json:"nodes"`
}

// A Result is a converted file.
type Result struct {
	ONNX          []byte
	Before, After []Count // the operators of either file, by name
	Quantisers    int     // that were rewritten
	Proof         Proof
}

// Run converts a model. name is the file's base name, for diagnostics. The result is nil where d says why.
//
// It goes from file to file: each stage reads the one before, and is proved against it.
func Run(name string, onnx []byte, o Options, d *diag.List) *Result {
	g := onnxio.Read(name, onnx, d)
	if g == nil {
		return nil
	}
	r := &Result{ONNX: onnx, Before: counts(g), Proof: SameProgram}
	stages := dialects[o.To]
	if o.Clean {
		stages = append(slices.Clone(stages), (*conversion).clean)
	}
	for _, stage := range stages {
		c := &conversion{file: name, list: d, to: o.To, dims: o.Dims, shapes: o.Shapes}
		if !c.run(r, stage) {
			return nil
		}
	}
	return r
}

// A stage makes another graph of one, and declares the values within it that are to be told. The graph is nil after
// errors were added.
type stage func(c *conversion, g *graph.Graph) (*graph.Graph, []graph.Value)

// read is the graph of a file, with the branches that its constants choose.
func (c *conversion) read(onnx []byte, d *diag.List) *graph.Graph {
	g := onnxio.Read(c.file, onnx, d)
	if g != nil {
		graph.Settle(g, c.file, nil)
	}
	return g
}

// run takes the result to the next file; it is false after errors were added.
func (c *conversion) run(r *Result, s stage) bool {
	c.source = r.ONNX
	file := c.read(c.source, c.list)
	if !c.oneVersion(file) {
		return false
	}
	g, values := s(c, file)
	if g == nil {
		return false
	}
	after, err := onnxio.Write(g, values)
	if err != nil {
		c.fail(nil, &refusal{err.Error(), "such constants have no place in the file: store others"})
		return false
	}
	proof := c.prove(r.ONNX, after)
	if proof == SameNetwork {
		r.Proof = proof
	}
	r.ONNX, r.After = after, counts(g)
	r.Quantisers = max(r.Quantisers, c.rewritten)
	return proof != ""
}

// A conversion is the state of one Run.
type conversion struct {
	file      string
	source    []byte
	list      *diag.List
	to        Dialect
	dims      map[string]int
	shapes    graph.Shapes
	size      int            // of dynamic axes with which files are compared
	program   *graph.Program // of the file, with composite operators written out
	unsigned  bool           // codes of data are stored as such: operators on integers want one type
	rewritten int            // quantisers
}

// sizes are tried for dynamic axes that the user has not bound, until the model makes sense: a convolution along time
// wants as many steps as its kernel spans.
var sizes = []int{2, 16, 128}

// prepare is the program of a graph, with every dynamic axis bound. It is nil after errors were added.
func (c *conversion) prepare(g *graph.Graph) *graph.Program {
	var first diag.List
	for i, size := range sizes {
		var d diag.List
		if p := c.sized(g, size, &d); p != nil {
			c.size = size
			return p
		}
		if i == 0 {
			first = d
		}
		if !dynamic(g) {
			break
		}
	}
	c.list.Merge(first.Diags)
	return nil
}

// sized is the program of a graph whose dynamic axes have so many elements, but those that the user has bound.
func (c *conversion) sized(g *graph.Graph, size int, d *diag.List) *graph.Program {
	own := g.Copy()
	if !c.shapes.Bind(own, c.file, d) {
		return nil
	}
	dims := map[string]int{}
	for i := range own.Inputs {
		in := &own.Inputs[i]
		in.Dims = slices.Clone(in.Dims)
		for k, a := range in.Dims {
			if a.Size < 0 && a.Param == "" {
				in.Dims[k].Param = fmt.Sprintf("%s:%d", in.Name, k)
			}
			if a.Size < 0 {
				dims[in.Dims[k].Param] = size
			}
		}
	}
	for _, name := range slices.Sorted(maps.Keys(c.dims)) {
		own.Open(name)
		dims[name] = c.dims[name]
	}
	return graph.Prepare(own, c.file, graph.Options{Dims: dims}, d)
}

// dynamic reports whether a graph has inputs of open sizes.
func dynamic(g *graph.Graph) bool {
	return slices.ContainsFunc(g.Inputs, func(in graph.Value) bool {
		return slices.ContainsFunc(in.Dims, func(a graph.Dim) bool { return a.Size < 0 })
	})
}

// A refusal is why a node stays as it is.
type refusal struct{ msg, hint string }

func (r *refusal) Error() string { return r.msg }

func refuse(hint, format string, args ...any) *refusal {
	return &refusal{fmt.Sprintf(format, args...), hint}
}

// fail adds the error of a node; nil stands for the file.
func (c *conversion) fail(n *graph.Node, r *refusal) {
	c.list.Add(c.about(diag.Error, n, r))
}

func (c *conversion) about(s diag.Severity, n *graph.Node, r *refusal) diag.Diag {
	x := diag.Diag{Severity: s, Code: diag.NotConvertible, Where: c.file, Msg: r.msg, Hint: r.hint}
	if n != nil {
		x.Node, x.Op, x.Where = n.Label(), n.FullOp(), graph.Where(c.file, n)
	}
	return x
}

// counts lists the operators of a graph, those of bodies included.
func counts(g *graph.Graph) (list []Count) {
	of := map[string]int{}
	each(g, func(n *graph.Node) { of[operator(n)]++ })
	for _, op := range slices.Sorted(maps.Keys(of)) {
		list = append(list, Count{op, of[op]})
	}
	return list
}

// operator is a node's operator as the written file has it.
func operator(n *graph.Node) string {
	own := *n
	own.Was = ""
	return own.FullOp()
}

// each visits all nodes, those of bodies too.
func each(g *graph.Graph, visit func(*graph.Node)) {
	for _, n := range g.Nodes {
		visit(n)
		for _, name := range slices.Sorted(maps.Keys(n.Attrs)) {
			if body := n.Attrs[name].G; body != nil {
				each(body, visit)
			}
		}
	}
}
