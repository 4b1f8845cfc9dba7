package frontend

import (
	"slices"

	"hlsgen/frontend/program"
	"hlsgen/frontend/stats"
	"hlsgen/internal/dataflow"
	"hlsgen/internal/num"
)

// CountOperations counts the operations of the model as written, for one sample; if lengths vary, for the longest
// sequence. built is the same model imported for hardware, as far as that succeeds. It provides the fate of each node,
// and the types of tensors for which the model states none.
func (im *ImportedModel) CountOperations(built *ImportedModel) *stats.ModelStats {
	n := stats.ModelStatsOfProgram(im.written, built.streamed())
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

// streamed returns the types of the tensors of the model that streams of the hardware carry, by name, or nil without
// layers.
func (im *ImportedModel) streamed() map[string]num.Type {
	if im.Model == nil || im.lowered == nil {
		return nil
	}
	types := map[string]num.Type{}
	for _, c := range im.lowered.Carried {
		types[c.Name] = im.lowered.Graph.Streams[c.Stream].Type.Elem
	}
	return types
}

// NewObservedRunner returns a function that runs samples, in order, through the model as written and shows their
// tensors to an observer. It runs in float64 if the model neither rounds to integers nor sorts.
func (im *ImportedModel) NewObservedRunner(o *stats.NeuronStateObserver) func(in []dataflow.RealTensor) error {
	run := im.NewAllTensorsRunner
	if im.Model.Float != nil {
		run = im.NewFloatAllTensorsRunner
	}
	return observed(run(), o)
}

// observed returns a function that runs a sample and shows its tensors to an observer.
func observed(run func(in []dataflow.RealTensor) (map[string]dataflow.RealTensor, error),
	o *stats.NeuronStateObserver) func(in []dataflow.RealTensor) error {
	return func(in []dataflow.RealTensor) error {
		all, err := run(in)
		if err != nil {
			return err
		}
		o.CollectSample(func(tensor string) ([]int, []float64) { return all[tensor].Shape, all[tensor].Data })
		return nil
	}
}

// HasHostProducts reports whether the host alone computes a node with a sum of products. im must come from Import.
func (im *ImportedModel) HasHostProducts() bool {
	host := map[int]bool{}
	for _, f := range im.Fates {
		host[f.Index] = f.Fate == NodeFateHostPrefix || f.Fate == NodeFateHostSuffix
	}
	return slices.ContainsFunc(im.written.Steps, func(s *program.Step) bool {
		return s.Dot != nil &&
			host[s.Node.Index]
	})
}
