package lower

import (
	"fmt"

	"hlsgen/frontend/lower/place"
	"hlsgen/hlslib/reorder"
	"hlsgen/hlslib/rnn"
	"hlsgen/internal/dataflow"
	"hlsgen/internal/diag"
)

// Samples take turns in recurrent layers: while one sample's step is on its way through the pipeline, the others' steps
// follow. A frame then holds several samples, whose steps lie side by side. Layers that compute each vector apart take
// the vectors of all samples as they come; no other layer has a form for them.

// An interleaver makes a graph for several samples of one for a single one.
type interleaver struct {
	from  *dataflow.Graph
	turns *dataflow.Turns
	same  []int       // union-find over streams: those whose samples lie alike
	steps map[int]int // by representative: parts of a sample, where a recurrent layer says so
	file  string
	d     *diag.List
}

// Interleave gives the graph in which so many samples take turns; nil after errors were added to d.
func Interleave(g *dataflow.Graph, samples int, file string, d *diag.List) (*dataflow.Graph, *dataflow.Turns) {
	t := &interleaver{from: g, turns: &dataflow.Turns{Samples: samples}, steps: map[int]int{}, file: file, d: d}
	for s := range g.Streams {
		t.same = append(t.same, s)
	}
	recurrent, before := 0, len(d.Diags)
	for _, n := range g.Nodes {
		switch p := n.Op.Params().(type) {
		case rnn.Params:
			recurrent++
		case reorder.Params: // samples may lie in one way in front of it, and in another behind
		default:
			if apart(n.Op) {
				for _, s := range append(n.In[1:], n.Out...) {
					t.same[t.find(s)] = t.find(n.In[0])
				}
				continue
			}
			t.refuse(n, fmt.Sprintf("it computes with several vectors of a sample at a time (%T)", p),
				"interleave recurrences that matrix layers alone surround, or leave --interleave out")
		}
	}
	if recurrent == 0 {
		t.refuse(nil, "there is no recurrence whose latency could be hidden", "leave --interleave out")
	}
	for _, n := range g.Nodes {
		if p, ok := n.Op.Params().(rnn.Params); ok {
			t.recurrence(n, p)
		}
	}
	for _, n := range g.Nodes {
		for _, s := range n.In {
			if g.Streams[s].Type.Shape.Vectors()%t.stepsOf(s) != 0 {
				t.refuse(n, fmt.Sprintf("its input of shape %v does not lie in %d steps", g.Streams[s].Type.Shape,
					t.stepsOf(s)), "leave --interleave out")
			}
		}
	}
	if len(d.Diags) > before {
		return nil, nil
	}
	return t.build()
}

func (t *interleaver) refuse(n *dataflow.Node, msg, hint string) {
	d := diag.Diag{Severity: diag.Error, Code: diag.NotInterleaved, Where: t.file, Msg: msg, Hint: hint}
	if n != nil {
		d.Node, d.Op = n.Name, n.Op.Kind()
		for i, o := range n.Origin {
			d.Notes = append(d.Notes, fmt.Sprintf("it computes %q", o))
			if i == 3 {
				break
			}
		}
	}
	t.d.Add(d)
}

func (t *interleaver) find(s int) int {
	for t.same[s] != s {
		s = t.same[s]
	}
	return s
}

// recurrence says how samples lie on the streams of a recurrent layer: step by step where it has steps.
func (t *interleaver) recurrence(n *dataflow.Node, p rnn.Params) {
	length := t.from.Streams[n.In[0]].Type.Shape.Vectors()
	say := func(stream, steps int) {
		at := t.find(stream)
		if was, known := t.steps[at]; known && was != steps {
			t.refuse(n, fmt.Sprintf("its samples would have to lie in %d parts, those of another layer at the same "+
				"stream in %d", steps, was), "leave --interleave out")
		}
		t.steps[at] = steps
	}
	say(n.In[0], length)
	for _, s := range n.In[1:] {
		say(s, 1)
	}
	for _, s := range n.Out {
		if p.Sequence {
			say(s, length)
		} else {
			say(s, 1)
		}
	}
}

// reordered is a reordering of the elements of all samples.
func (t *interleaver) reordered(n *dataflow.Node, p reorder.Params) dataflow.Op {
	in, out := n.In[0], n.Out[0]
	from, to := t.from.Streams[in].Type.Shape, t.from.Streams[out].Type.Shape
	at := make([]int32, to.Size()*t.turns.Samples)
	for i := range to.Size() {
		block, chunk := i/(len(p.Order)*p.Chunk), i/p.Chunk%len(p.Order)
		source := (block*p.Block+p.Order[chunk])*p.Chunk + i%p.Chunk
		for s := range t.turns.Samples {
			at[t.turns.At(to.Size(), t.stepsOf(out), s, i)] = int32(t.turns.At(from.Size(), t.stepsOf(in), s, source))
		}
	}
	made, ok := place.Blocks(t.turns.Shape(from, t.stepsOf(in)), t.turns.Shape(to, t.stepsOf(out)), at)
	if !ok {
		panic("lower: elements within a frame do not move within it")
	}
	return reorder.New(made)
}

// stepsOf is how many parts a sample has on a stream.
func (t *interleaver) stepsOf(stream int) int { return max(1, t.steps[t.find(stream)]) }

// typ is the type of a stream of frames.
func (t *interleaver) typ(stream int) dataflow.Type {
	one := t.from.Streams[stream].Type
	one.Shape = t.turns.Shape(one.Shape, t.stepsOf(stream))
	return one
}

// build binds the layers to frames of all samples. Streams keep their numbers.
func (t *interleaver) build() (*dataflow.Graph, *dataflow.Turns) {
	var b dataflow.Builder
	g := t.from
	for s := range g.Streams {
		t.turns.Streams = append(t.turns.Streams, t.stepsOf(s))
	}
	for _, s := range g.In {
		t.turns.In = append(t.turns.In, t.stepsOf(s))
		b.Input(g.Streams[s].Name, t.typ(s))
	}
	for _, n := range g.Nodes {
		op := n.Op
		switch p := op.Params().(type) {
		case rnn.Params:
			p.Sequences = t.turns.Samples
			op = rnn.New(p)
		case reorder.Params:
			op = t.reordered(n, p)
		}
		var names []string
		for _, s := range n.Out {
			names = append(names, g.Streams[s].Name)
		}
		if _, err := b.Add(op, n.In, names, n.Origin); err != nil {
			t.refuse(n, "no layer takes the samples in turns: "+err.Error(), "ask for fewer, or leave --interleave out")
			return nil, nil
		}
	}
	for _, s := range g.Out {
		t.turns.Out = append(t.turns.Out, t.stepsOf(s))
		b.Output(s)
	}
	made, err := b.Graph()
	if err != nil {
		panic(err) // it has the form of the graph for one
	}
	return made, t.turns
}
