package graph

import (
	"fmt"
	"maps"
	"slices"

	"hlsgen/internal/diag"
)

// A Batch is a leading axis that the file fixes to more than one element, and what it counts.
type Batch struct {
	Size   int
	Inputs []string         // that have it
	Shapes map[string][]int // of the model's inputs and outputs as the file has them
	Sample *Graph           // the model for a single sample, where the axis counts samples; else nil
	Used   *Program         // of Sample, or, where that is nil, of the graph; nil where it is not understood

	// Where it counts no samples: the node that does not treat its elements alike and apart, nil where that is only how
	// the outputs lie; whether the node computes with several of them at a time; and whether weights were multiplied
	// with each of them alone before, or the axis is time.
	Node                 *Node
	Mixes, Vectors, Time bool
}

// Bound is a graph with the leading dynamic axes fixed that the options bind, as if the file had them so, and the
// options that are left; but time stays as it is.
func (o Options) Bound(g *Graph) (*Graph, Options) {
	fixed, before := g.Copy(), dynamicAxes(g)
	for i := range fixed.Inputs {
		in := &fixed.Inputs[i]
		if !in.Known || len(in.Dims) == 0 || in.Dims[0].Size >= 0 || o.sequences[in.Name] {
			continue
		}
		if n := o.Dims[in.Dims[0].Param]; n > 1 {
			in.Dims = slices.Clone(in.Dims)
			in.Dims[0] = Dim{Size: n}
		}
	}
	after := dynamicAxes(fixed)
	o.Dims = maps.Clone(o.Dims)
	maps.DeleteFunc(o.Dims, func(name string, _ int) bool {
		return slices.Contains(before, name) && !slices.Contains(after, name)
	})
	return fixed, o
}

// Batch finds a fixed leading axis of more than one element; nil where no input with several axes has one, or the graph
// cannot be prepared. Where inputs have such axes of different sizes, it is one that counts samples if there is one.
func (o Options) Batch(g *Graph, file string) (found *Batch) {
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
	if order == nil {
		return nil
	}
	many, ok := prepare(&Program{Graph: g, File: file, options: o}, new(diag.List))
	if !ok {
		return nil
	}
	shapes := map[string][]int{}
	for _, v := range slices.Concat(g.Inputs, g.Outputs) {
		shapes[v.Name] = many.Known[v.Name].Shape
	}
	for _, n := range order {
		s := &search{many: many, batch: &Batch{Size: n, Inputs: sizes[n], Shapes: shapes, Used: many}}
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

// A search looks for the graph of a single sample. Most operators take what arrives; a few have the number of samples
// in a constant: the shape of a Reshape, the first state of a loop. Where a node is the first that does not do for a
// sample what it does for n, the number is taken out of its constants, if one of them has it.
type search struct {
	many  *Program
	batch *Batch
}

func (s *search) run(g *Graph) {
	one := g.Copy()
	for i := range one.Inputs {
		if in := &one.Inputs[i]; slices.Contains(s.batch.Inputs, in.Name) {
			in.Dims = slices.Clone(in.Dims)
			in.Dims[0].Size = 1
		}
	}
	at, c := s.contrast(one)
	for at < len(s.many.Steps) {
		before := at
		for _, next := range s.changed(one, s.many.Origin(s.many.Steps[at].Node)) {
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
		if inner := c.inner[o.Name]; inner == 0 || inner*s.batch.Size != Size(s.many.Known[o.Name].Shape) {
			s.explain(c, at)
			return
		}
	}
	s.batch.Sample, s.batch.Used = one, nil
	if c.one.whole {
		s.batch.Used = c.one
	}
}

// contrast holds the program against that of a graph for one sample, and gives the number of the first step that
// differs.
func (s *search) contrast(one *Graph) (int, *contrast) {
	p, _ := prepare(s.many.next(one), new(diag.List))
	if p == nil {
		return 0, &contrast{n: s.batch.Size, many: s.many}
	}
	c := newContrast(s.batch.Size, s.many, p)
	if d := c.difference(); d != nil {
		return slices.Index(s.many.Steps, d), c
	}
	return len(s.many.Steps), c
}

// explain says why the axis counts no samples: because of a step, or, behind the last one, of the outputs.
func (s *search) explain(c *contrast, at int) {
	if at < len(s.many.Steps) {
		step := s.many.Steps[at]
		s.batch.Node, s.batch.Mixes = s.many.Origin(step.Node), step.Recur != nil || c.mixes(step)
		s.batch.Time = step.Recur != nil && scans(step, c)
	}
	for _, step := range s.many.Steps[:at] {
		s.batch.Vectors = s.batch.Vectors || c.inner[step.Output] > 0 && (step.Dot != nil || step.Recur != nil)
	}
}

// scans reports whether a loop walks along the samples.
func scans(s *Step, c *contrast) bool {
	t := c.one.by[s.Output]
	return t == nil || t.Recur == nil || t.Recur.Length != s.Recur.Length
}

// changed lists graphs in which a node's constants do without the number of samples.
func (s *search) changed(one *Graph, node *Node) (list []*Graph) {
	at := slices.Index(s.many.Graph.Nodes, node)
	if at < 0 {
		return nil
	}
	type change struct {
		slot int
		to   *Tensor
	}
	var shapes, firsts []change
	for slot, name := range node.Inputs {
		t := s.many.Known[name].Const
		if t == nil {
			continue
		}
		for i, v := range t.Ints() {
			if len(t.Shape) == 1 && v > 0 && v%int64(s.batch.Size) == 0 {
				shapes = append(shapes, change{slot, t.with(i, v/int64(s.batch.Size))})
			}
		}
		if to := t.first(s.batch.Size); to != nil {
			firsts = append(firsts, change{slot, to})
		}
	}
	with := func(changes ...change) {
		g, n := one.Copy(), *one.Nodes[at]
		n.Inputs, g.Nodes[at] = slices.Clone(n.Inputs), &n
		for _, c := range changes {
			name := fresh(g, node.Inputs[c.slot])
			g.Init[name], n.Inputs[c.slot] = c.to, name
		}
		list = append(list, g)
	}
	for _, c := range append(shapes, firsts...) {
		with(c)
	}
	if len(firsts) > 1 { // the states of a loop
		with(firsts...)
	}
	return list
}

// fresh is a tensor name that a graph does not have.
func fresh(g *Graph, base string) string {
	taken := g.Taken()
	for i := 1; ; i++ {
		if name := fmt.Sprintf("%s.sample%d", base, i); taken.Take(name) {
			return name
		}
	}
}

// with is a tensor of integers with another element i.
func (t *Tensor) with(i int, v int64) *Tensor {
	c := *t
	c.I, c.Codes, c.Values = slices.Clone(t.Ints()), nil, nil
	c.I[i] = v
	return &c
}

// first is a tensor without all but the first of n equal slices along an axis; nil where no axis has n equal ones.
func (t *Tensor) first(n int) *Tensor {
	for a, d := range t.Shape {
		if d != n {
			continue
		}
		inner := Size(t.Shape[a+1:])
		out := &Tensor{DType: t.DType, Shape: slices.Clone(t.Shape)}
		out.Shape[a] = 1
		equal := true
		for e := range t.Len() {
			at := e/(inner*n)*inner*n + e%inner // the same element of the first slice
			equal = equal && t.equal(t, e, at)
			switch {
			case e/inner%n > 0:
			case t.DType.Float():
				out.F = append(out.F, t.At(e))
			default:
				out.I = append(out.I, t.Int(e))
			}
		}
		if equal {
			return out
		}
	}
	return nil
}
