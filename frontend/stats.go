package frontend

import (
	"hlsgen/frontend/stats"
	"hlsgen/internal/dataflow"
)

// Stats counts the model as written, for one sample; where sequences have different lengths, for the longest. What
// becomes of each node is in fates, if they are known.
func (im *Imported) Stats(fates []NodeFate) *stats.Network {
	n := stats.Of(im.written)
	becomes := map[int]string{}
	for _, f := range fates {
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

// Observe gives a function that runs samples, one after the other, through the model as written and shows each to an
// observer of what Stats has counted.
func (im *Imported) Observe(o *stats.Observer) func(in []dataflow.RealTensor) error {
	run := im.Tensors()
	return func(in []dataflow.RealTensor) error {
		all, err := run(in)
		if err != nil {
			return err
		}
		o.Sample(func(tensor string) ([]int, []float64) { return all[tensor].Shape, all[tensor].Data })
		return nil
	}
}
