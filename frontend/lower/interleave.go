package lower

import (
	"fmt"
	"maps"
	"slices"

	"hlsgen/frontend/lower/place"
	"hlsgen/hlslib/reorder"
	"hlsgen/hlslib/rnn"
	"hlsgen/internal/dataflow"
	"hlsgen/internal/diag"
)

// Samples take turns in recurrent layers: while a time step of one sample goes through the pipeline, time steps of
// other samples follow. A frame then holds several samples, each in a number of adjacent parts
// (dataflow.SampleInterleaving). turn.go determines into how many parts a layer divides samples. If the layers at both
// ends of a stream differ in that, a reordering comes between them.

// An interleaver turns a graph for a single sample into one for frames of several samples that take turns.
type interleaver struct {
	from   *dataflow.Graph
	turns  *dataflow.SampleInterleaving
	wants  []int // by stream of from: number of parts per sample that its reader needs; 0 for any
	parts  []int // by stream of from: number of parts per sample that it has
	become []int // by stream of from: the stream for all samples
	b      dataflow.GraphBuilder
	of     []*dataflow.Node // by node for all samples: the node for one sample; nil for an added reordering
	file   string
	d      *diag.List
}

// InterleaveSamples returns the result of lowering for frames of several samples that take turns, given low, the result
// for a single sample. It also returns how the samples take turns. It returns nil after adding errors to d.
func InterleaveSamples(low *LoweredProgram, samples int, file string, d *diag.List) (*LoweredProgram,
	*dataflow.SampleInterleaving) {
	g := low.Graph
	list := func() []int { return make([]int, len(g.Streams)) }
	t := &interleaver{from: g, turns: &dataflow.SampleInterleaving{Samples: samples}, wants: list(), parts: list(),
		become: list(),
		file:   file, d: d}
	turns, ok := t.read()
	if !ok || !t.build(turns) {
		return nil, nil
	}
	made, err := t.b.VerifiedGraph()
	if err != nil {
		panic(err) // cannot happen: it has the form of the graph for one sample
	}
	names := map[string]string{}
	for i, n := range t.of {
		if n != nil {
			names[n.Name] = made.Nodes[i].Name
		}
	}
	out := *low
	out.Graph, out.Layers, out.Carried = made, maps.Clone(low.Layers), slices.Clone(low.Carried)
	for i, name := range out.Layers {
		out.Layers[i] = names[name]
	}
	for i := range out.Carried {
		out.Carried[i].Stream = t.become[out.Carried[i].Stream]
	}
	return &out, t.turns
}

// read returns, for each layer, how it takes the samples. ok is false after adding errors.
func (t *interleaver) read() (turns []turn, ok bool) {
	g := t.from
	ok = slices.ContainsFunc(g.Nodes, func(n *dataflow.Node) bool { return n.Op.Kind() == rnn.KindName })
	if !ok {
		t.refuse(nil, "there is no recurrence whose latency could be hidden", "leave --interleave out")
	}
	turns = make([]turn, len(g.Nodes))
	for i, n := range slices.Backward(g.Nodes) {
		var reason string
		if turns[i], reason = t.turn(n); reason != "" {
			ok = false
			t.refuse(n, reason, "interleave recurrences that matrix layers and convolutions over time alone surround, "+
				"or leave --interleave out")
			continue
		}
		for k, s := range n.In {
			t.wants[s] = turns[i].wants(k, t.wanted(n))
		}
	}
	return turns, ok
}

// build binds the layers to frames of all samples. It returns false after adding errors.
func (t *interleaver) build(turns []turn) bool {
	g := t.from
	for _, s := range g.In {
		t.parts[s] = max(1, t.wants[s])
		one := g.Streams[s].Type
		one.Shape = t.turns.FrameShape(one.Shape, t.parts[s])
		t.become[s] = t.b.AddInput(g.Streams[s].Name, one)
		t.turns.Streams = append(t.turns.Streams, t.parts[s])
		t.turns.In = append(t.turns.In, t.parts[s])
	}
	for i, n := range g.Nodes {
		if err := t.layer(n, turns[i]); err != nil {
			t.refuse(n, "no layer takes the samples in turns: "+err.Error(), "ask for fewer, or leave --interleave out")
			return false
		}
	}
	for _, s := range g.Out {
		t.turns.Out = append(t.turns.Out, t.parts[s])
		t.b.MarkOutput(t.become[s])
	}
	return true
}

// layer adds layer n for frames of all samples, which it takes as the turn as says.
func (t *interleaver) layer(n *dataflow.Node, as turn) error {
	op, before, after := as.op, as.before, as.after
	switch p, moves := n.Op.Params().(reorder.Params); {
	case moves:
		to := t.shape(n.Out[0])
		before, after = []int{t.parts[n.In[0]]}, t.behind(n)
		op = t.reordering(n.In[0], before[0], after, t.turns.FrameShape(to, after), func(i int) int {
			block, chunk := i/(len(p.Order)*p.Chunk), i/p.Chunk%len(p.Order)
			return (block*p.Block+p.Order[chunk])*p.Chunk + i%p.Chunk
		})
	case as.vectors > 0:
		after = t.common(n, as.vectors)
		before = slices.Repeat([]int{after}, len(n.In))
	}
	in, names := make([]int, len(n.In)), make([]string, len(n.Out))
	for k, s := range n.In {
		var err error
		if in[k], err = t.arranged(s, before[k], as); err != nil {
			return err
		}
	}
	for k, s := range n.Out {
		names[k] = t.from.Streams[s].Name
	}
	made, err := t.add(n, op, in, names, after)
	for k, s := range made {
		t.become[n.Out[k]], t.parts[n.Out[k]] = s, after
	}
	return err
}

// arranged returns the stream that carries stream s of all samples, each divided into the given number of parts. It
// adds a reordering if need be.
func (t *interleaver) arranged(s, parts int, as turn) (int, error) {
	shape := as.InterleavedShape(t.turns, t.shape(s), parts)
	is := t.become[s]
	if t.parts[s] == parts && (!as.shaped || slices.Equal(t.b.TypeOfStream(is).Shape, shape)) {
		return is, nil
	}
	op := t.reordering(s, t.parts[s], parts, shape, func(i int) int { return i })
	made, err := t.add(nil, op, []int{is}, nil, parts)
	if err != nil {
		return 0, err
	}
	return made[0], nil
}

// reordering returns a layer that divides the samples on stream s into to parts instead of from parts. shape is the
// shape of its output; source returns the element that its output element i is.
func (t *interleaver) reordering(s, from, to int, shape dataflow.Shape, source func(i int) int) dataflow.Op {
	in, size := t.b.TypeOfStream(t.become[s]).Shape, shape.ElementCount()/t.turns.Samples
	at := make([]int32, shape.ElementCount())
	for i := range size {
		for sample := range t.turns.Samples {
			at[t.turns.IndexInFrame(size, to, sample, i)] = int32(t.turns.IndexInFrame(t.shape(s).ElementCount(), from,
				sample, source(i)))
		}
	}
	p, ok := place.FindReorderParams(in, shape, at)
	if !ok {
		panic("lower: elements within a frame do not move within it")
	}
	return reorder.New(p)
}

// add adds a layer behind streams. Its output has the given number of parts per sample. n is the node that the
// layer replaces, if any.
func (t *interleaver) add(n *dataflow.Node, op dataflow.Op, in []int, names []string, parts int) ([]int, error) {
	var origin []string
	if n != nil {
		origin = n.Origin
	}
	out, err := t.b.BindAndAddLayer(op, in, names, origin)
	if err != nil {
		return nil, err
	}
	t.of = append(t.of, n)
	t.turns.Streams = append(t.turns.Streams, slices.Repeat([]int{parts}, len(out))...)
	return out, nil
}

// shape returns the shape that stream s has for one sample.
func (t *interleaver) shape(s int) dataflow.Shape { return t.from.Streams[s].Type.Shape }

func (t *interleaver) refuse(n *dataflow.Node, msg, hint string) {
	d := diag.Diag{Severity: diag.SeverityError, Code: diag.SamplesNotInterleaved, Where: t.file, Msg: msg, Hint: hint}
	if n != nil {
		d.Node, d.Op = n.Name, n.Op.Kind()
		for _, o := range n.Origin[:min(4, len(n.Origin))] {
			d.Notes = append(d.Notes, fmt.Sprintf("it computes %q", o))
		}
	}
	t.d.Add(d)
}
