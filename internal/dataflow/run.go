package dataflow

import "context"

// KeepsState is implemented by layers that may keep a state from frame to frame. Frames may be sequences of different
// lengths.
type KeepsState interface {
	// Begin starts a run of the layer, as after a reset. Each call of the returned function computes the next frame;
	// the layer's Eval computes a first frame. Begin returns nil if the layer keeps no state.
	Begin() func(in []Tensor) []Tensor
	// Resume has a kernel of the layer take over the state of the kernel for frames of another length, which must be at
	// the end of a frame.
	Resume(kernel, before Kernel)
}

// begin returns a function that computes frames of a layer one after the other. keeps reports whether they depend on
// each other.
func begin(op Op) (frame func(in []Tensor) []Tensor, keeps bool) {
	if k, ok := op.(KeepsState); ok {
		if frame := k.Begin(); frame != nil {
			return frame, true
		}
	}
	return op.Eval, false
}

// KeepsStateBetweenFrames reports whether a frame of the graph depends on those before it.
func (g *Graph) KeepsStateBetweenFrames() bool {
	for _, n := range g.Nodes {
		if _, keeps := begin(n.Op); keeps {
			return true
		}
	}
	return false
}

// A GraphRun computes frames of a graph that follow each other, as after a reset.
type GraphRun struct {
	g     *Graph
	keeps []func(in []Tensor) []Tensor // per node; nil if a frame does not depend on those before
}

// BeginRun returns a run of the graph before its first frame.
func (g *Graph) BeginRun() *GraphRun {
	s := &GraphRun{g: g}
	for _, n := range g.Nodes {
		frame, keeps := begin(n.Op)
		if !keeps {
			frame = nil
		}
		s.keeps = append(s.keeps, frame)
	}
	return s
}

// EvalNextFrameByStream computes the next frame with every layer's Eval. It returns the frame on every stream, by
// stream ID. The error is that of Graph.CheckInputs, or the context's.
func (s *GraphRun) EvalNextFrameByStream(ctx context.Context, in []Tensor) ([]Tensor, error) {
	return s.EvalNextByStreamOnGraph(ctx, s.g, in)
}

// EvalNextByStreamOnGraph does what EvalNextFrameByStream does for a frame of another length. g is the graph for that
// length, from Graph.AtSequenceLength.
func (s *GraphRun) EvalNextByStreamOnGraph(ctx context.Context, g *Graph, in []Tensor) ([]Tensor, error) {
	if err := g.CheckInputs(in); err != nil {
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

// EvalFirstFrameByStream computes a frame as the first one of a new run, with every layer's Eval. It returns the frame
// on every stream, by stream ID. The error is that of Graph.CheckInputs, or the context's.
func (g *Graph) EvalFirstFrameByStream(ctx context.Context, in []Tensor) ([]Tensor, error) {
	return g.BeginRun().EvalNextFrameByStream(ctx, in)
}
