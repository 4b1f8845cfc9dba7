package folding

import (
	"cmp"
	"fmt"

	"hlsgen/internal/dataflow"
)

// A Result is a design and the figures of it that the search knows.
type Result struct {
	Design     *dataflow.Design
	Interval   int     // clocks between frames: the slowest layer's
	FPS        float64 // clock over interval
	Latency    int     // clocks from the first word of a frame to its last at the outputs: EstimateLatency
	Bottleneck string  // the layer whose clocks are the interval
	Why        string  // the interval is no shorter
	Proof      Proof   // that nothing is better, or how much better something could be
	Costs      []dataflow.Cost
	Total      dataflow.Resources
	Shares     []Share // one per kind of resource that the board has
}

// A Share says how much of a kind of resource the design takes.
type Share struct {
	Name   string // LUT, FF, RAMB18, URAM, DSP
	Used   int
	Budget int // of Board, what may be taken
	Board  int
}

// Of is the share of the whole board, from 0.
func (s Share) Of() float64 { return float64(s.Used) / float64(s.Board) }

// Effort says what there was to choose from, for the report; Proof says what came of it.
func (r *Result) Effort() string { return r.Proof.effort() }

func (s *space) result(m *dataflow.Model, goal Goal, c *chosen) *Result {
	r := &Result{Design: s.design(m, goal, c.folding), Why: c.why, Proof: c.proof}
	for i, o := range c.options {
		l := &s.layers[i]
		if n := l.options[o].iterations; n > r.Interval {
			r.Interval, r.Bottleneck = n, l.node.Name
		}
	}
	if n, i := r.Design.Interval(); n > r.Interval {
		if r.Interval, r.Bottleneck = n, "the host's port"; i >= 0 {
			r.Bottleneck = r.Design.Model.Graph.Nodes[i].Name
		}
	}
	if r.FPS = frameRate(s.target, r.Interval); goal.Latency {
		r.Proof.Interval, r.Proof.Floor = r.Interval, r.Interval
	}
	r.Latency = EstimateLatency(r.Design)
	r.Costs, r.Total = r.Design.Cost()
	used, capacity := vectorOf(r.Total), vectorOf(Capacity(s.target.Board))
	for i, name := range names {
		if capacity[i] > 0 {
			r.Shares = append(r.Shares, Share{name, int(used[i]), int(s.budget[i]), int(capacity[i])})
		}
	}
	return r
}

// design puts width converters where the words of neighbours differ.
func (s *space) design(m *dataflow.Model, goal Goal, f *folding) *dataflow.Design {
	g := s.graph
	var b dataflow.Builder
	var folds []dataflow.Fold
	stream := make([]int, len(g.Streams)) // in the new graph, where the reader finds it
	at := make([]form, len(g.Streams))    // how it travels there, the zero form from the host
	for _, in := range g.In {
		stream[in] = b.Input(g.Streams[in].Name, g.Streams[in].Type)
	}
	for i := range s.layers {
		l := &s.layers[i]
		o := l.options[f.options[i]]
		var ins []int
		for p, id := range l.node.In {
			if want := l.shapes[o.shape].in[p]; at[id] != (form{}) && at[id] != want {
				stream[id] = place(&b, s.converter(at[id], want), []int{stream[id]}, nil, nil)[0]
				folds = append(folds, s.convert(id, at[id], want).fold)
			}
			ins = append(ins, stream[id])
		}
		var tensors []string
		for _, id := range l.node.Out {
			tensors = append(tensors, g.Streams[id].Name)
		}
		var types []dataflow.Type
		for _, id := range l.node.Out {
			types = append(types, g.Streams[id].Type)
		}
		for p, id := range b.Place(l.node.Op, ins, tensors, l.node.Origin, types) {
			stream[l.node.Out[p]], at[l.node.Out[p]] = id, l.shapes[o.shape].out[p]
		}
		folds = append(folds, o.fold)
	}
	for _, out := range g.Out {
		b.Output(stream[out])
	}
	built, err := b.Graph()
	if err != nil {
		panic(fmt.Sprintf("folding: the folded graph is malformed: %v", err))
	}
	folded := *m
	folded.Graph = built
	fifos := make([]dataflow.FIFO, len(built.Streams))
	for i := range fifos {
		fifos[i] = dataflow.FIFO{Depth: cmp.Or(goal.FIFO, DefaultFIFO), Memory: dataflow.SRL}
	}
	return &dataflow.Design{Model: &folded, Target: s.target, Folds: folds, FIFO: fifos}
}

// place adds a layer that has been bound to the same types before.
func place(b *dataflow.Builder, op dataflow.Op, in []int, tensors, origin []string) (out []int) {
	out, err := b.Add(op, in, tensors, origin)
	if err != nil {
		panic(fmt.Sprintf("folding: %s does not bind again: %v", op.Kind(), err))
	}
	return out
}
