package frontend

import (
	"slices"

	"hlsgen/frontend/graph"
	"hlsgen/frontend/stats"
	"hlsgen/internal/dataflow"
	"hlsgen/internal/num"
)

// Stats counts the model as written, for one sample; where sequences have different lengths, for the longest. What
// becomes of each node, and the types of tensors that the model says nothing of, are those of built, the same model
// imported for hardware, as far as that goes.
func (im *Imported) Stats(built *Imported) *stats.Network {
	n := stats.Of(im.written, built.streamed())
	becomes := map[int]string{}
	for _, f := range built.Fates {
		becomes[f.Index] = f.Fate
	}
	for _, l := range n.Layers {
		l.Becomes = becomes[l.Index]
	}
	for _, o := range n.Others {
		o.Becomes = becomes[o.Index]
	}
	return n
}

// streamed is the types of the tensors that streams carry.
func (im *Imported) streamed() map[string]num.Type {
	if im.Model == nil || im.lowered == nil {
		return nil
	}
	types := map[string]num.Type{}
	for _, c := range im.lowered.Carried {
		types[c.Name] = im.lowered.Graph.Streams[c.Stream].Type.Elem
	}
	return types
}

// Observe gives a function that runs samples, one after the other, through the model as written and shows each to an
// observer of what Stats has counted: in float64 where nothing is rounded to integers or put in order.
func (im *Imported) Observe(o *stats.Observer) func(in []dataflow.RealTensor) error {
	run := im.Tensors
	if im.Model.Float != nil {
		run = im.FloatTensors
	}
	return observed(run(), o)
}

// observed shows what each sample has to an observer.
func observed(run func(in []dataflow.RealTensor) (map[string]dataflow.RealTensor, error),
	o *stats.Observer) func(in []dataflow.RealTensor) error {
	return func(in []dataflow.RealTensor) error {
		all, err := run(in)
		if err != nil {
			return err
		}
		o.Sample(func(tensor string) ([]int, []float64) { return all[tensor].Shape, all[tensor].Data })
		return nil
	}
}

// HostProducts reports whether the host computes a sum of products.
func (im *Imported) HostProducts() bool {
	host := map[int]bool{}
	for _, f := range im.Fates {
		host[f.Index] = f.Fate == HostPrefix || f.Fate == HostSuffix
	}
	return slices.ContainsFunc(im.written.Steps, func(s *graph.Step) bool { return s.Dot != nil && host[s.Node.Index] })
}
