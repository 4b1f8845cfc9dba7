// Package convert writes a model in another dialect of quantisation, or simplified.
//
// In come the bytes of an ONNX file and the dialect that is wanted; out come the bytes of another, with what was proved
// of it, or diagnostics that name the nodes which the dialect cannot express.
//
//   - convert.go runs the conversion; dialects.go has the tables of rules: a row per operator that a dialect lacks
//   - scope.go edits a graph, or the body of a loop: constants, names, nodes; quantiser.go reads quantisers
//   - qcdq.go, qonnx.go and qoperator.go have the rules of the rows; product.go writes products of integers,
//     reachable.go finds the sums that occur, fused.go merges all that follows a sum into a scale and a bias
//   - same.go proves that two files mean the same
//   - clean.go folds constants and infers shapes; opset.go raises the version of ONNX's operators
package convert

import (
	"fmt"
	"maps"

	"slices"

	"hlsgen/frontend/graph"
	"hlsgen/frontend/onnxio"
	"hlsgen/frontend/operators"
	"hlsgen/frontend/program"
	"hlsgen/internal/diag"
)

// A Dialect is a way to express quantisers in ONNX models.
type Dialect string

// These are the dialects: QONNX and QCDQ of arXiv 2206.07527, and ONNX's own quantised operators.
const (
	DialectQONNX     Dialect = "qonnx"     // Quant nodes, which return real numbers
	DialectQCDQ      Dialect = "qcdq"      // QuantizeLinear, Clip, DequantizeLinear
	DialectQOperator Dialect = "qoperator" // operators on integers, with Clip
)

// DialectNames lists the names of the dialects.
var DialectNames = []string{string(DialectQONNX), string(DialectQCDQ), string(DialectQOperator)}

// Options select what to write.
type Options struct {
	To     Dialect                    // empty: the dialect of the file
	Clean  bool                       // fold constants, remove unused nodes, and write every shape
	Dims   map[string]int             // sizes of named dynamic axes, used for comparing the two models
	Shapes operators.GivenInputShapes // shapes of inputs, also used for comparing
}

// An OperatorCount holds the number of nodes that have an operator.
type OperatorCount struct {
	Op    string `json:"op"`
	Nodes int    `json:"nodes"`
}

// A ConvertedModel is a converted file, with what was changed and the proof that it means the same.
type ConvertedModel struct {
	ONNX          []byte
	Before, After []OperatorCount // operators of the original and of the new file, by name
	Quantisers    int             // number of quantisers that were rewritten
	Proof         ConversionProof
}

// ConvertModel returns a model converted as o says. name is the file's base name, for diagnostics. It returns nil after
// adding the reason to d.
//
// The conversion runs in stages. Each stage reads the file that the stage before wrote, and its result is proved
// against that file.
func ConvertModel(name string, onnx []byte, o Options, d *diag.List) *ConvertedModel {
	g := onnxio.ParseGraph(name, onnx, d)
	if g == nil {
		return nil
	}
	r := &ConvertedModel{ONNX: onnx, Before: counts(g), Proof: ConversionProofSameProgram}
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

// A stage makes a new graph from another. It also returns the declarations of inner tensors to write with the graph.
// The graph is nil after errors.
type stage func(c *conversion, g *graph.Graph) (*graph.Graph, []graph.ValueInfo)

// read returns the graph of a file, with branches on constant conditions resolved. It returns nil after adding errors
// to d.
func (c *conversion) read(onnx []byte, d *diag.List) *graph.Graph {
	g := onnxio.ParseGraph(c.file, onnx, d)
	if g != nil {
		operators.ResolveBranches(g, c.file, nil)
	}
	return g
}

// run replaces the file in r by the result of a stage, and records the proof. It returns false after adding errors.
func (c *conversion) run(r *ConvertedModel, s stage) bool {
	c.source = r.ONNX
	file := c.read(c.source, c.list)
	if !c.oneVersion(file) {
		return false
	}
	g, values := s(c, file)
	if g == nil {
		return false
	}
	after, err := onnxio.EncodeGraph(g, values)
	if err != nil {
		c.fail(nil, &refusal{err.Error(), "such constants have no place in the file: store others"})
		return false
	}
	proof := c.prove(r.ONNX, after)
	if proof == ConversionProofSameNetwork {
		r.Proof = proof
	}
	r.ONNX, r.After = after, counts(g)
	r.Quantisers = max(r.Quantisers, c.rewritten)
	return proof != ""
}

// A conversion is the state of one stage of ConvertModel: the options, and where it reports errors.
type conversion struct {
	file      string
	source    []byte
	list      *diag.List
	to        Dialect
	dims      map[string]int
	shapes    operators.GivenInputShapes
	size      int              // size of the dynamic axes with which files are compared
	program   *program.Program // program of the file, with composite operators expanded
	unsigned  bool             // store codes of data as unsigned: operators on integers need one type
	rewritten int              // number of quantisers
}

// sizes lists the sizes that are tried, one after the other, for dynamic axes that the user has not bound, until the
// model is valid. For example, a convolution along time needs as many time steps as its kernel spans.
var sizes = []int{2, 16, 128}

// prepare returns the program of a graph with every dynamic axis bound, and sets c.size. It returns nil after adding
// errors.
func (c *conversion) prepare(g *graph.Graph) *program.Program {
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
	c.list.AddMissing(first.Diags)
	return nil
}

// sized returns the program of a graph in which each dynamic axis that the user has not bound has the given size. It
// returns nil after adding errors to d.
func (c *conversion) sized(g *graph.Graph, size int, d *diag.List) *program.Program {
	own := g.ShallowCopy()
	if !c.shapes.SetInGraph(own, c.file, d) {
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
		operators.MakeAxisDynamic(own, name)
		dims[name] = c.dims[name]
	}
	return operators.Prepare(own, c.file, operators.Options{Dims: dims}, d)
}

// dynamic reports whether an input of a graph has an axis of open size.
func dynamic(g *graph.Graph) bool {
	return slices.ContainsFunc(g.Inputs, func(in graph.ValueInfo) bool {
		return slices.ContainsFunc(in.Dims, func(a graph.Dim) bool { return a.Size < 0 })
	})
}

// A refusal is the reason why a node cannot be converted, with a hint.
type refusal struct{ msg, hint string }

func (r *refusal) Error() string { return r.msg }

func refuse(hint, format string, args ...any) *refusal {
	return &refusal{fmt.Sprintf(format, args...), hint}
}

// fail adds an error that says why node n cannot be converted. A nil n stands for the whole file.
func (c *conversion) fail(n *graph.Node, r *refusal) {
	c.list.Add(c.about(diag.SeverityError, n, r))
}

func (c *conversion) about(s diag.Severity, n *graph.Node, r *refusal) diag.Diag {
	x := diag.Diag{Severity: s, Code: diag.NodeNotConvertible, Where: c.file, Msg: r.msg, Hint: r.hint}
	if n != nil {
		x.Node, x.Op, x.Where = n.Label(), n.QualifiedOpName(), operators.NodePositionText(c.file, n)
	}
	return x
}

// counts returns how many nodes of a graph and its bodies have each operator, sorted.
func counts(g *graph.Graph) (list []OperatorCount) {
	of := map[string]int{}
	each(g, func(n *graph.Node) { of[operator(n)]++ })
	for _, op := range slices.Sorted(maps.Keys(of)) {
		list = append(list, OperatorCount{op, of[op]})
	}
	return list
}

// operator returns the name of a node's operator for reports: as in the written file, with its domain if that is not
// ONNX's own.
func operator(n *graph.Node) string {
	own := *n
	own.Was = ""
	return own.QualifiedOpName()
}

// each calls visit for all nodes of a graph and of the bodies in it.
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
