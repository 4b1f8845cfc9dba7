package operators

import (
	"fmt"
	"maps"
	"slices"

	"hlsgen/frontend/graph"
	"hlsgen/frontend/program"
)

// maxRuns is the largest number of runs of a loop, which is the length of the longest sequence.
const maxRuns = 1 << 20

// A scan holds the contents of a Scan node while the loop is built from it.
type scan struct {
	*call
	body  *graph.Graph
	recur *program.Recur
}

func buildScan(c *call) {
	s := &scan{call: c, body: c.Attrs["body"].G, recur: &program.Recur{RealGates: c.Attrs[realGates].Strings}}
	switch {
	case c.Domain == "" && c.opset < 9:
		unsupported("convert the model to opset 9 or later",
			"the old form of Scan, with an axis of samples in front")
	case s.body == nil:
		invalid("it has no body")
	case c.p.within:
		unsupported("one loop around one cell becomes a layer: unroll the inner one",
			"a loop inside the body of another")
	}
	scanned := c.IntAttrOr("num_scan_inputs", 0)
	if scanned < 1 || scanned > int64(len(c.in)) {
		invalid("num_scan_inputs is %d, the node has %d inputs", scanned, len(c.in))
	}
	s.recur.States = len(c.in) - int(scanned)
	if len(s.body.Inputs) != len(c.in) || len(s.body.Outputs) < s.recur.States || len(c.Outputs) > len(s.body.Outputs) {
		invalid("the body has %d inputs and %d outputs, the node %d and %d, of which %d are states",
			len(s.body.Inputs), len(s.body.Outputs), len(c.in), len(c.Outputs), s.recur.States)
	}
	for i := range c.in {
		if !c.HasInput(i) {
			invalid("input %d is missing", i)
		}
	}
	s.sequences()
	s.prepare(s.close())
	s.outputs()
}

// sequences records how the inputs are scanned, and the number of runs.
func (s *scan) sequences() {
	n := len(s.in) - s.recur.States
	scanned := s.directions("scan_input_axes", "scan_input_directions", n)
	for k := range scanned {
		x := s.in[s.recur.States+k].Shape
		scanned[k].Axis = axis(int64(scanned[k].Axis), len(x))
		length := x[scanned[k].Axis]
		if k == 0 {
			s.recur.Length = length
		}
		if length != s.recur.Length {
			invalid("input %d has %d elements to scan, input %d has %d", s.recur.States, s.recur.Length,
				s.recur.States+k, length)
		}
	}
	s.recur.Scanned = scanned
	switch {
	case s.recur.Length < 1:
		unsupported("give it a sequence of at least one element", "an empty sequence")
	case s.recur.Length > maxRuns:
		tooLarge(fmt.Sprintf("at most %d are accepted: cut it into parts", maxRuns), "a sequence of %d elements",
			s.recur.Length)
	}
}

// directions reads a list of axes, which may be negative, and a list of directions.
func (s *scan) directions(axes, directions string, n int) []program.ScanAxis {
	list := make([]program.ScanAxis, n)
	a, d := s.IntsAttr(axes), s.IntsAttr(directions)
	if a != nil && len(a) != n || d != nil && len(d) != n {
		invalid("%s and %s have %d and %d entries for %d tensors", axes, directions, len(a), len(d), n)
	}
	for k := range list {
		if a != nil {
			if a[k] < -maxRank || a[k] >= maxRank {
				invalid("%s holds %d", axes, a[k])
			}
			list[k].Axis = int(a[k])
		}
		if d != nil {
			if d[k] != 0 && d[k] != 1 {
				invalid("%s holds %d", directions, d[k])
			}
			list[k].Reverse = d[k] == 1
		}
	}
	return list
}

// close returns the body as an independent graph: its inputs have their actual shapes, and it has its own copies of the
// outer constants that it reads.
func (s *scan) close() *graph.Graph {
	g := s.body.ShallowCopy()
	known := map[string]bool{"": true}
	for name := range g.Init {
		known[name] = true
	}
	for i := range g.Inputs {
		k := s.in[i]
		shape := k.Shape
		if i >= s.recur.States {
			a := s.recur.Scanned[i-s.recur.States].Axis
			shape = slices.Delete(slices.Clone(shape), a, a+1)
		}
		if declared := g.Inputs[i].DType; declared != graph.DTypeUndefined && declared.IsReal() != k.DType.IsReal() {
			invalid("input %d is of type %s, the body takes %s", i, k.DType, declared)
		}
		g.Inputs[i] = fixedValue(g.Inputs[i].Name, k.DType, shape)
		known[g.Inputs[i].Name] = true
	}
	read := func(name string) {
		if known[name] {
			return
		}
		k, ok := s.p.Known[name]
		if !ok {
			return // nothing computes it, which the check of the body reports
		}
		if k.Const == nil {
			unsupported("pass it to the loop as a state that stays as it is, or scan it",
				"the body reads %q, which the model computes from data outside of it", name)
		}
		g.Init[name], known[name] = k.Const, true
	}
	for _, n := range g.Nodes {
		for _, in := range n.Inputs {
			read(in)
		}
		for _, out := range n.Outputs {
			known[out] = true
		}
	}
	for _, out := range g.Outputs {
		read(out.Name)
	}
	return g
}

func fixedValue(name string, dt graph.DType, shape []int) graph.ValueInfo {
	v := graph.ValueInfo{Name: name, DType: dt, Known: true}
	for _, d := range shape {
		v.Dims = append(v.Dims, graph.Dim{Size: d})
	}
	return v
}

// prepare prepares the body g of the loop as a program of its own. Errors in the body are reported for the body's
// nodes.
func (s *scan) prepare(g *graph.Graph) {
	before := len(s.p.report.Diags)
	file := s.file()
	body := preparation{Program: program.New(g, fmt.Sprintf("%s, body of node %d", s.p.File, file.Index)), within: true}
	if s.p.kept != nil {
		if was := s.p.kept.LoopOfNode(s.Node); was != nil {
			body.kept = preparationOf(was.Body)
		}
	}
	p, ok := run(body, s.p.report)
	if !ok {
		if len(s.p.report.Diags) == before {
			invalid("the body is not supported")
		}
		panic(reported)
	}
	r := s.recur
	for i := range r.States {
		in, out := p.Known[g.Inputs[i].Name], p.Known[g.Outputs[i].Name]
		if fmt.Sprint(in.Shape) != fmt.Sprint(out.Shape) || in.DType.IsReal() != out.DType.IsReal() {
			invalid("state %d is of type %s and shape %v, the body makes %s and %v of it", i, in.DType, in.Shape,
				out.DType, out.Shape)
		}
	}
	r.Body = p
	s.p.loop(r)
}

// outputs adds a step for each output.
func (s *scan) outputs() {
	r := s.recur
	g := r.Body.Graph
	gathered := s.directions("scan_output_axes", "scan_output_directions", len(g.Outputs)-r.States)
	for i, out := range g.Outputs {
		k := r.Body.Known[out.Name]
		shape := k.Shape
		if i >= r.States {
			a := axis(int64(gathered[i-r.States].Axis), len(shape)+1)
			gathered[i-r.States].Axis = a
			shape = slices.Insert(slices.Clone(shape), a, r.Length)
			checkSize(shape)
		}
		s.add(program.Step{Shape: shape, DType: k.DType, Recur: r, Result: i})
	}
	r.Gathered = gathered
}

// ExpandNode returns copies of a node as the program executes it, or of the internal nodes that replace it, with their
// constants by name. The bodies of loops include their constants and the shapes of their inputs. A node whose outputs
// are constant gives none.
func ExpandNode(p *program.Program, n *graph.Node) (nodes []*graph.Node, constants map[string]*graph.ConstantTensor) {
	produced := map[string]bool{}
	for _, m := range p.Graph.Nodes {
		for _, o := range m.Outputs {
			produced[o] = true
		}
	}
	constants, nodes = map[string]*graph.ConstantTensor{}, []*graph.Node{}
	var last *graph.Node
	for _, s := range p.Steps {
		if s.Node == last || p.OriginOf(s.Node) != n {
			continue
		}
		last = s.Node
		m := *last
		if s.Recur != nil {
			m.Attrs = maps.Clone(m.Attrs)
			m.Attrs["body"] = graph.NewGraphAttr(s.Recur.Body.Graph)
		}
		nodes = append(nodes, &m)
		for _, in := range m.Inputs {
			if t := p.Known[in].Const; t != nil && !produced[in] && p.Graph.Init[in] == nil {
				constants[in] = t
			}
		}
	}
	return nodes, constants
}
