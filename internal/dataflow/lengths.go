package dataflow

import (
	"fmt"
	"slices"
)

// SequenceLengths says that a model takes sequences of different lengths, one after the other: any number of time
// steps from Min to Max. The model and its graph are those of the longest sequence.
type SequenceLengths struct {
	Axis     string // the axis's name in the ONNX model
	Min, Max int
	In       []int // per input of the graph: the axis of its shape that is time; -1 if it is no sequence
	Inputs   []int // the same per input and per output of the model
	Outputs  []int
	// Of returns the model for sequences of n time steps; Of(Max) is the model itself. Several goroutines may
	// call it.
	Of func(n int) (*Model, error)
	// Input is the model's input that says how many time steps of a sample count; empty if there is none. Behind then
	// returns the outputs for a sequence of Min time steps, in the shapes of the longest: all sequences have the same
	// values after their end.
	Input  string
	Behind func() ([]RealTensor, error)
}

// TakesSequenceEnds is implemented by layers that may need to be told where sequences end, because their kernels do not
// treat each time step as a frame. ReadsEnds reports whether this one does; longest is the length of the sequence that
// the layer is bound to. EmitSteps returns the instance that reads a bit per time step, 1 for the last one.
//
// Sequence returns the layer at, which is this layer bound to sequences of the given length, as one that takes any
// length up to longest. It has the circuit that reads the bit, which is the same for all lengths, and its loop has the
// clocks of that circuit. The receiver is bound to the longest sequence.
type TakesSequenceEnds interface {
	ReadsEnds(longest int) bool
	EmitSteps(f Fold, t Target, longest int) KernelInstance
	Sequence(at Op, steps, longest int) Op
}

// TakeAnySequenceLength changes the graph so that it takes sequences of different lengths: it replaces the layers that
// must be told where sequences end. The error names a layer that does not compute the same for every length.
func (g *Graph) TakeAnySequenceLength(l *SequenceLengths) error {
	at, err := g.AtSequenceLength(l, l.Min)
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

// sequence returns the layer at for sequences of any length up to most if it must be told where they end, else at
// itself. at is bound to sequences of steps time steps, and longest is the same layer bound to the longest.
func sequence(longest, at Op, steps, most int) Op {
	if NeedsSequenceEnds(longest, most) {
		return longest.(TakesSequenceEnds).Sequence(at, steps, most)
	}
	return at
}

// reads reports whether the node n of g reads time steps. at is the graph for sequences of another length.
func (g *Graph) reads(at *Graph, n *Node) bool {
	return slices.ContainsFunc(n.In, func(s int) bool { return g.StreamHasTimeSteps(at, s) })
}

// NeedsSequenceEnds reports whether the layer o must be told where sequences end. longest is the length to which it is
// bound.
func NeedsSequenceEnds(o Op, longest int) bool {
	s, ok := o.(TakesSequenceEnds)
	return ok && s.ReadsEnds(longest)
}

// StreamHasTimeSteps reports whether a stream of g carries time steps: its frames have another size in at, the graph
// for another length.
func (g *Graph) StreamHasTimeSteps(at *Graph, stream int) bool {
	return !slices.Equal(g.Streams[stream].Type.Shape, at.Streams[stream].Type.Shape)
}

// AtSequenceLength returns the graph for sequences of n time steps: the same layers, on streams of other shapes. Nodes
// and streams keep their numbers. For n = l.Max it returns g itself. The error names a layer that does not compute the
// same for sequences of every length.
func (g *Graph) AtSequenceLength(l *SequenceLengths, n int) (*Graph, error) {
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

// stretch returns the node's layer bound to the types of its inputs in at, the graph for to time steps instead of from.
// It sets the types of its outputs there. It returns an error if the layer does not compute the same for every length.
func (n *Node) stretch(from, to int, g, at *Graph) (Op, error) {
	op := n.Op
	if !g.reads(at, n) {
		return op, nil
	}
	if stretch := op.Describe().Stretch; stretch != nil {
		var err error
		if op, err = stretch(from, to); err != nil {
			return nil, err
		}
	}
	var in []StreamType
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

// AtSequenceLength returns a design for sequences of n time steps, with the same folds and FIFOs. The design must have
// Model.Lengths. The error is that of Graph.AtSequenceLength.
func (d *Design) AtSequenceLength(n int) (*Design, error) {
	m := *d.Model
	var err error
	if m.Graph, err = d.Model.Graph.AtSequenceLength(m.Lengths, n); err != nil {
		return nil, err
	}
	return &Design{Model: &m, Target: d.Target, Folds: d.Folds, FIFO: d.FIFO}, nil
}

// TimeStepsInFrame returns the number of time steps of the sequence in a frame. The error says why the inputs are no
// sequence of Min to Max time steps.
func (l *SequenceLengths) TimeStepsInFrame(in []Tensor) (steps int, err error) {
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

// MakeForFrameLengths returns, for every frame, the result of make for its number of time steps. It calls make once per
// length. If l is nil, all frames get the result for length 0.
func MakeForFrameLengths[T any](l *SequenceLengths, frames [][]Tensor, make func(steps int) (T, error)) (list []T,
	err error) {
	made := map[int]T{}
	for f, in := range frames {
		steps := 0
		if l != nil {
			if steps, err = l.TimeStepsInFrame(in); err != nil {
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
