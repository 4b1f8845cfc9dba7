package dataflow

import "context"

// Keeping is implemented by layers that may keep a state from frame to frame. Begin is a run of such a layer, as after
// a reset: calls of what it gives are frames that follow each other, of which the layer's Eval is the first. Where
// frames are sequences of different lengths, each may have another number of steps. Begin is nil where the layer keeps
// nothing, so that every frame is a first one.
type Keeping interface {
	Begin() func(in []Tensor) []Tensor
}

// Resuming is implemented by kernels of layers that keep a state: Resume goes on with that of the kernel for frames of
// another length, which has ended a frame.
type Resuming interface {
	Resume(before Kernel)
}

// begin is a run of a layer, and whether its frames depend on each other.
func begin(op Op) (frame func(in []Tensor) []Tensor, keeps bool) {
	if k, ok := op.(Keeping); ok {
		if frame := k.Begin(); frame != nil {
			return frame, true
		}
	}
	return op.Eval, false
}

// Keeps reports whether a frame of the graph depends on those before it.
func (g *Graph) Keeps() bool {
	for _, n := range g.Nodes {
		if _, keeps := begin(n.Op); keeps {
			return true
		}
	}
	return false
}

// A Sequel is a run of a graph, as after a reset: frames that follow each other.
type Sequel struct {
	g     *Graph
	keeps []func(in []Tensor) []Tensor // by node; nil where a frame does not depend on those before
}

// Begin is a run of the graph.
func (g *Graph) Begin() *Sequel {
	s := &Sequel{g: g}
	for _, n := range g.Nodes {
		frame, keeps := begin(n.Op)
		if !keeps {
			frame = nil
		}
		s.keeps = append(s.keeps, frame)
	}
	return s
}

// Eval runs the next frame through every layer's Eval. It returns the frame on every stream, by stream id. The error is
// that of Check, or the context's.
func (s *Sequel) Eval(ctx context.Context, in []Tensor) ([]Tensor, error) {
	return s.EvalAs(ctx, s.g, in)
}

// EvalAs is Eval for a frame of another length: g is the graph for that (Graph.At).
func (s *Sequel) EvalAs(ctx context.Context, g *Graph, in []Tensor) ([]Tensor, error) {
	if err := g.Check(in); err != nil {
		return nil, err
	}
	streams := make([]Tensor, len(g.Streams))
	for i, id := range g.In {
		streams[id] = in[i]
	}
	for i, n := range g.Nodes {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		args := make([]Tensor, len(n.In))
		for k, id := range n.In {
			args[k] = streams[id]
		}
		frame := n.Op.Eval
		if s.keeps[i] != nil {
			frame = s.keeps[i]
		}
		for k, t := range frame(args) {
			streams[n.Out[k]] = t
		}
	}
	return streams, nil
}

// Eval is the first frame of a run.
func (g *Graph) Eval(ctx context.Context, in []Tensor) ([]Tensor, error) {
	return g.Begin().Eval(ctx, in)
}
