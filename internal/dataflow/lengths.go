package dataflow

import (
	"fmt"
	"slices"
)

// Lengths say that a model takes sequences of different lengths, one after the other: any number of steps from Min to
// Max. The model and its graph are those of the longest.
type Lengths struct {
	Axis     string // of the ONNX model
	Min, Max int
	In       []int // per input of the graph: the axis of its shape that is time, -1 where it is no sequence
	Inputs   []int // the same per input of the model, and per output
	Outputs  []int
	// Of is the model for sequences of n steps; Of(Max) is the model itself. It may be called by several goroutines.
	Of func(n int) (*Model, error)
	// Input is the input of the model that says how many steps of a sample count; empty for none. Behind is then what a
	// sequence of Min steps gives, in the shapes of the longest: all sequences have the same behind their ends.
	Input  string
	Behind func() ([]RealTensor, error)
}

// Stretching is implemented by layers whose parameters depend on how long a sequence is. Stretch is the layer for
// sequences of another length; the error says why there is none.
type Stretching interface {
	Stretch(from, to int) (Op, error)
}

// Stepped is implemented by layers that do not take every step as a frame of its own: their kernels have to be told
// where sequences end. ReadsEnds is false where they take steps so nevertheless; longest is the steps of the sequence
// that the layer is bound to. EmitSteps is the instance that reads a bit per step, 1 at the last one.
//
// Sequence is at, the same layer bound to sequences of so many steps, as one that takes any number of steps up to
// longest: it has the circuit that reads such a bit, which is the same whatever the steps, and the loop has its clocks.
// The layer itself is bound to the longest sequence.
type Stepped interface {
	ReadsEnds(longest int) bool
	EmitSteps(f Fold, t Target, longest int) Instance
	Sequence(at Op, steps, longest int) Op
}

// Sequences makes the graph one for sequences of different lengths: layers that have to be told where these end, are.
// The error names the layer that does not do the same with sequences of every length.
func (g *Graph) Sequences(l *Lengths) error {
	at, err := g.At(l, l.Min)
	if err != nil {
		return err
	}
	for _, n := range g.Nodes {
		if g.reads(at, n) {
			n.Op = sequence(n.Op, n.Op, l.Max, l.Max)
		}
	}
	return nil
}

// sequence is a layer that is bound to sequences of so many steps, as one of several lengths, where it is told which.
func sequence(longest, at Op, steps, most int) Op {
	if ReadsEnds(longest, most) {
		return longest.(Stepped).Sequence(at, steps, most)
	}
	return at
}

// reads reports whether a layer reads steps, where at is the graph for sequences of another length.
func (g *Graph) reads(at *Graph, n *Node) bool {
	return slices.ContainsFunc(n.In, func(s int) bool { return g.Timed(at, s) })
}

// ReadsEnds reports whether a layer's kernel is told where sequences of at most so many steps end.
func ReadsEnds(o Op, longest int) bool {
	s, ok := o.(Stepped)
	return ok && s.ReadsEnds(longest)
}

// Timed reports whether a stream carries steps of a sequence, where at is the graph for sequences of another length.
func (g *Graph) Timed(at *Graph, stream int) bool {
	return !slices.Equal(g.Streams[stream].Type.Shape, at.Streams[stream].Type.Shape)
}

// At is the graph for sequences of n steps: the same layers, on streams of other shapes. Nodes and streams keep their
// numbers. The error names the layer that does not do the same with sequences of every length.
func (g *Graph) At(l *Lengths, n int) (*Graph, error) {
	if n == l.Max {
		return g, nil
	}
	at := &Graph{In: g.In, Out: g.Out}
	for _, s := range g.Streams {
		c := *s
		at.Streams = append(at.Streams, &c)
	}
	for k, s := range g.In {
		if axis := l.In[k]; axis >= 0 {
			t := &at.Streams[s].Type
			t.Shape = slices.Clone(t.Shape)
			t.Shape[axis] = n
		}
	}
	for _, node := range g.Nodes {
		op, err := node.stretch(l.Max, n, g, at)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", node.Name, err)
		}
		c := *node
		c.Op = op
		at.Nodes = append(at.Nodes, &c)
	}
	return at, at.Verify()
}

// stretch binds a node's layer to the types that its inputs have in another graph, and sets those of its outputs there.
func (n *Node) stretch(from, to int, g, at *Graph) (Op, error) {
	op := n.Op
	if !g.reads(at, n) {
		return op, nil
	}
	if s, ok := op.(Stretching); ok {
		var err error
		if op, err = s.Stretch(from, to); err != nil {
			return nil, err
		}
	}
	var in []Type
	for _, s := range n.In {
		in = append(in, at.Streams[s].Type)
	}
	bound, out, err := op.Bind(in)
	if err != nil {
		return nil, err
	}
	for k, s := range n.Out {
		if was := g.Streams[s].Type; out[k].Elem != was.Elem || !slices.Equal(out[k].Range, was.Range) {
			return nil, fmt.Errorf("its outputs are %v in sequences of %d steps and %v in those of %d", was.Elem, from,
				out[k].Elem, to)
		}
		at.Streams[s].Type = out[k]
	}
	return sequence(n.Op, bound, to, from), nil
}

// At is the design for sequences of n steps: the same folds and FIFOs.
func (d *Design) At(n int) (*Design, error) {
	m := *d.Model
	var err error
	if m.Graph, err = d.Model.Graph.At(m.Lengths, n); err != nil {
		return nil, err
	}
	return &Design{Model: &m, Target: d.Target, Folds: d.Folds, FIFO: d.FIFO}, nil
}

// Steps is how long the sequence of a frame is. The error says how its inputs are no sequence.
func (l *Lengths) Steps(in []Tensor) (steps int, err error) {
	if len(in) != len(l.In) {
		return 0, fmt.Errorf("%d inputs, want %d", len(in), len(l.In))
	}
	for k, axis := range l.In {
		switch {
		case axis < 0:
		case axis >= len(in[k].Shape):
			return 0, fmt.Errorf("input %d of shape %v is no sequence", k, in[k].Shape)
		case steps != 0 && steps != in[k].Shape[axis]:
			return 0, fmt.Errorf("input %d has %d steps, others have %d", k, in[k].Shape[axis], steps)
		default:
			steps = in[k].Shape[axis]
		}
	}
	if steps < l.Min || steps > l.Max {
		return 0, fmt.Errorf("a sequence of %d steps, want %d to %d", steps, l.Min, l.Max)
	}
	return steps, nil
}

// Sized gives, for every frame, what make gives for its length, once for each. All frames have the same where l is nil:
// that for length 0.
func Sized[T any](l *Lengths, frames [][]Tensor, make func(steps int) (T, error)) (list []T, err error) {
	made := map[int]T{}
	for f, in := range frames {
		steps := 0
		if l != nil {
			if steps, err = l.Steps(in); err != nil {
				return nil, fmt.Errorf("frame %d: %w", f, err)
			}
		}
		x, ok := made[steps]
		if !ok {
			if x, err = make(steps); err != nil {
				return nil, err
			}
			made[steps] = x
		}
		list = append(list, x)
	}
	return list, nil
}
