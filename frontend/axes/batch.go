// Package axes finds the meaning of a graph's axes: which count samples, which are time, and which inputs hold states
// or lengths. It compares programs that are prepared for different sizes.
//
//	alike, alike_loop   comparison of programs for n samples and for one
//	stateinput          inputs that are initial states of recurrences
//	feedback            pairs of inputs and outputs that are one state
//	lengthinput         the input with the number of valid steps of a sequence
//	stretch             comparison of programs for sequences of different lengths
//	sequence, batch     which leading axes are time, which are samples
package axes

import (
	"fmt"
	"maps"
	"slices"

	"hlsgen/frontend/graph"
	"hlsgen/frontend/operators"
	"hlsgen/frontend/program"
)

// A BatchAxisCandidate describes an axis of a model's inputs that has a fixed size of more than one, and says whether
// it counts samples. It is the leading axis, or the axis of samples whose sequences have individual lengths.
type BatchAxisCandidate struct {
	Size   int
	Inputs []string         // the inputs that have the axis
	Axes   map[string]int   // for inputs and outputs whose axis is not the leading one
	Apart  bool             // the samples have individual lengths
	Shapes map[string][]int // the shapes of the model's inputs and outputs in the file
	Sample *graph.Graph     // the model for a single sample; nil if the axis does not count samples
	Used   *program.Program // the program of Sample or, if that is nil, of the graph; nil if it is not supported

	// These fields say why the axis does not count samples. Node does not treat the elements alike and separately; it
	// is nil if only the layout of the outputs is the reason. Mixes: the node combines several elements. Vectors:
	// weights multiplied each element separately before. Time: the axis is time.
	Node                 *graph.Node
	Mixes, Vectors, Time bool
}

// samplesApart returns the axis of samples with individual lengths (graph.Sides). It returns nil if the graph has one
// such sample or none.
func samplesApart(g *graph.Graph) *BatchAxisCandidate {
	b := &BatchAxisCandidate{Axes: map[string]int{}, Apart: true}
	for _, in := range g.Inputs {
		axis, ok := g.Sides[in.Name]
		if !ok || !in.Known || axis >= len(in.Dims) {
			continue
		}
		b.Size = max(b.Size, in.Dims[axis].Size)
		b.Inputs, b.Axes[in.Name] = append(b.Inputs, in.Name), axis
	}
	if b.Size < 2 {
		return nil
	}
	return b
}

// FindBatchAxisCandidate returns a fixed leading axis of more than one element, preferably one that counts samples. It
// returns nil if no input of several axes has such an axis, or the graph cannot be prepared. An axis of samples with
// individual lengths takes precedence.
func FindBatchAxisCandidate(o operators.Options, g *graph.Graph, file string) (found *BatchAxisCandidate) {
	sizes := map[int][]string{}
	var order []int
	for _, in := range g.Inputs {
		if !in.Known || len(in.Dims) < 2 || in.Dims[0].Size < 2 {
			continue
		}
		n := in.Dims[0].Size
		if sizes[n] == nil {
			order = append(order, n)
		}
		sizes[n] = append(sizes[n], in.Name)
	}
	sides := samplesApart(g)
	if order == nil && sides == nil {
		return nil
	}
	many, ok := operators.PrepareSupportedNodes(g, file, o)
	if !ok {
		return nil
	}
	shapes := map[string][]int{}
	for _, v := range slices.Concat(g.Inputs, g.Outputs) {
		shapes[v.Name] = many.Known[v.Name].Shape
	}
	if sides != nil {
		sides.Shapes, sides.Used = shapes, many
		(&search{many: many, batch: sides}).run(g)
		return sides
	}
	for _, n := range order {
		s := &search{many: many, batch: &BatchAxisCandidate{Size: n, Inputs: sizes[n], Axes: map[string]int{},
			Shapes: shapes,
			Used:   many}}
		s.run(g)
		if found == nil || s.batch.Sample != nil {
			found = s.batch
		}
		if found.Sample != nil {
			break
		}
	}
	return found
}

// A search looks for the graph of a single sample. Most operators adapt to the size of their inputs. A few have the
// number of samples in a constant, such as the shape of a Reshape or the initial state of a loop. If the first node
// that does not treat a sample as it treats n has the number in a constant, the search replaces that constant.
type search struct {
	many  *program.Program
	batch *BatchAxisCandidate
}

func (s *search) run(g *graph.Graph) {
	one := g.ShallowCopy()
	for i := range one.Inputs {
		if in := &one.Inputs[i]; slices.Contains(s.batch.Inputs, in.Name) {
			in.Dims = slices.Clone(in.Dims)
			in.Dims[s.batch.Axes[in.Name]] = graph.Dim{Size: 1}
		}
	}
	at, c := s.contrast(one)
	for at < len(s.many.Steps) {
		before := at
		for _, next := range s.changed(one, s.many.OriginOf(s.many.Steps[at].Node)) {
			if k, d := s.contrast(next); k > at {
				one, at, c = next, k, d
				break
			}
		}
		if at == before {
			s.explain(c, at)
			return
		}
	}
	for _, o := range g.Outputs {
		axis, ok := s.axis(c, o.Name)
		if !ok {
			s.explain(c, at)
			return
		}
		if axis > 0 {
			s.batch.Axes[o.Name] = axis
		}
	}
	s.batch.Sample, s.batch.Used = one, nil
	if c.whole {
		s.batch.Used = c.one
	}
}

// axis returns the axis of a tensor that counts samples: the leading one or, for samples with individual lengths, any.
// ok is false if no axis does.
func (s *search) axis(c *contrast, tensor string) (axis int, ok bool) {
	many, one, inner := s.many.Known[tensor].Shape, c.one.Known[tensor].Shape, c.inner[tensor]
	if inner == 0 || inner*s.batch.Size != graph.ElementCount(many) && !s.batch.Apart {
		return 0, false
	}
	for axis < len(one) && many[axis] == one[axis] {
		axis++
	}
	return axis, inner == graph.ElementCount(one[axis:])
}

// contrast compares the program with that of one, a graph for a single sample. It returns the index of the first step
// that differs, and the comparison. The index is 0 if one cannot be prepared, and the number of steps if none differs.
func (s *search) contrast(one *graph.Graph) (int, *contrast) {
	p, whole := operators.ReprepareSupportedNodes(s.many, one, operators.PrepareOptionsOf(s.many))
	if p == nil {
		return 0, &contrast{n: s.batch.Size, many: s.many}
	}
	c := newContrast(s.batch.Size, s.many, p)
	c.whole = whole
	if d := c.difference(); d != nil {
		return slices.Index(s.many.Steps, d), c
	}
	return len(s.many.Steps), c
}

// explain records in the BatchAxisCandidate why the axis does not count samples. at is the index of the first step that
// differs; behind the last step, the outputs differ.
func (s *search) explain(c *contrast, at int) {
	if at < len(s.many.Steps) {
		step := s.many.Steps[at]
		s.batch.Node, s.batch.Mixes = s.many.OriginOf(step.Node), step.Recur != nil || c.mixes(step)
		s.batch.Time = step.Recur != nil && scans(step, c)
	}
	for _, step := range s.many.Steps[:at] {
		s.batch.Vectors = s.batch.Vectors || c.inner[step.Output] > 0 && (step.Dot != nil || step.Recur != nil)
	}
}

// scans reports whether step s is a loop that runs along the samples, with one or several samples in each run.
func scans(s *program.Step, c *contrast) bool {
	t := c.one.ProducerOf(s.Output)
	return t == nil || t.Recur == nil || t.Recur.Length != s.Recur.Length
}

// changed returns variants of graph one. In each, one constant of the node is changed from the number of samples to 1;
// in some, all initial states of a loop are.
func (s *search) changed(one *graph.Graph, node *graph.Node) (list []*graph.Graph) {
	at := slices.Index(s.many.Graph.Nodes, node)
	if at < 0 {
		return nil
	}
	type change struct {
		slot int
		to   *graph.ConstantTensor
	}
	var shapes []change
	firsts := map[int][]change{} // by axis
	for slot, name := range node.Inputs {
		t := s.many.Known[name].Const
		if t == nil {
			continue
		}
		for i, v := range t.Ints() {
			if len(t.Shape) == 1 && v > 0 && v%int64(s.batch.Size) == 0 {
				shapes = append(shapes, change{slot, withElement(t, i, v/int64(s.batch.Size))})
			}
		}
		for axis := range t.Shape {
			if to := firstSlice(t, axis, s.batch.Size); to != nil {
				firsts[axis] = append(firsts[axis], change{slot, to})
			}
		}
	}
	with := func(changes ...change) {
		g, n := one.ShallowCopy(), *one.Nodes[at]
		n.Inputs, g.Nodes[at] = slices.Clone(n.Inputs), &n
		for _, c := range changes {
			name := fresh(g, node.Inputs[c.slot])
			g.Init[name], n.Inputs[c.slot] = c.to, name
		}
		list = append(list, g)
	}
	for _, c := range shapes {
		with(c)
	}
	for _, axis := range slices.Sorted(maps.Keys(firsts)) {
		for _, c := range firsts[axis] {
			with(c)
		}
		if len(firsts[axis]) > 1 { // the initial states of a loop
			with(firsts[axis]...)
		}
	}
	return list
}

// fresh returns a name made of base that no tensor of the graph has.
func fresh(g *graph.Graph, base string) string {
	taken := g.UsedTensorNames()
	for i := 1; ; i++ {
		if name := fmt.Sprintf("%s.sample%d", base, i); taken.MarkUsed(name) {
			return name
		}
	}
}

// withElement returns a copy of a tensor of integers in which element i is v.
func withElement(t *graph.ConstantTensor, i int, v int64) *graph.ConstantTensor {
	c := *t
	c.I, c.Codes, c.Values = slices.Clone(t.Ints()), nil, nil
	c.I[i] = v
	return &c
}

// firstSlice returns the first of the n slices of a tensor along an axis. It returns nil if the size of the axis is not
// n, or if the slices differ.
func firstSlice(t *graph.ConstantTensor, axis, n int) *graph.ConstantTensor {
	if t.Shape[axis] != n {
		return nil
	}
	inner := graph.ElementCount(t.Shape[axis+1:])
	out := &graph.ConstantTensor{DType: t.DType, Shape: slices.Clone(t.Shape)}
	out.Shape[axis] = 1
	for e := range t.Len() {
		at := e/(inner*n)*inner*n + e%inner // the same element in the first slice
		switch {
		case !t.IsElementEqualTo(t, e, at):
			return nil
		case e/inner%n > 0:
		case t.DType.IsReal():
			out.F = append(out.F, t.FloatAt(e))
		default:
			out.I = append(out.I, t.IntAt(e))
		}
	}
	return out
}
