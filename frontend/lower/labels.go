package lower

import (
	"strconv"

	"hlsgen/frontend/lower/choose"
	"hlsgen/frontend/lower/find"
	"hlsgen/frontend/lower/unmapped"
	"hlsgen/frontend/program"
	"hlsgen/frontend/scaled"
	"hlsgen/internal/dataflow"
)

// labels is the rule for steps that sort integers if only the places in the order are used. If no layer can do it, the
// host does, unless another layer needs the result.
func labels(l *lowering, step *program.Step) (bool, error) {
	if step.Order == nil {
		return false, nil
	}
	r, reject := l.RowsToSortOf(step)
	if reject == nil {
		reject = l.selectLabels(step, r)
	}
	if reject != nil && !l.Uses.FeedsLayer(step.Output) {
		return true, nil
	}
	return true, reject
}

// selectLabels adds the layer that selects the first labels of each sorted row. The error is the reason why no layer
// can.
func (l *lowering) selectLabels(step *program.Step, r *find.RowsToSort) error {
	if !l.Uses.ReachesOutputsOnlyThrough(r.Source, step) {
		return unmapped.NewReason(strconv.Quote(l.StreamNameOf(r.Source))+", which it sorts, has another reader",
			"remove the other reader")
	}
	t, relevel := l.Places[r.Source].Type, func() {}
	falls, ok := r.IsOrderReversed()
	if !ok {
		if t, falls, relevel, ok = l.level(r); !ok {
			return unmapped.NewReason("the values that it sorts have different scales or biases",
				"quantise the weights of the layer in front per tensor, and leave its bias out")
		}
	}
	c, reject := choose.ChooseLayersForFunction(choose.TopKIndices{N: step.Order.N, K: r.K,
		Largest:      step.Order.Largest != falls,
		LastOfEquals: step.Order.LastFirst})
	if reject != nil {
		return reject
	}
	if _, _, err := c.Ops[0].Bind([]dataflow.StreamType{t}); err != nil {
		return c.RefusalReason(err)
	}
	relevel()
	w, reject := l.add(c, []int{l.take(r.Source)}, step.Output, append(r.Nodes, step.Node))
	if reject != nil {
		return reject
	}
	l.put(step.Output, w, nil)
	l.Integers.DeclareIntegerTensor(step.Output, scaled.IdentityAffines)
	return nil
}

// level finds new weights for the waiting product that computes the rows to be sorted, such that its columns have one
// scale. t is the type of the product's integers with these weights, and falls reports whether real values fall where
// the integers rise. relevel gives the weights to the product. ok is false if there are no such weights.
func (l *lowering) level(r *find.RowsToSort) (t dataflow.StreamType, falls bool, relevel func(), ok bool) {
	at := l.Places[r.Source]
	old, ok := waiting(at.WireStream)
	if !ok || old.Plain {
		return t, false, nil, false
	}
	weights, affine, falls, ok := l.EqualiseColumnScales(r, old.Weights)
	if !ok {
		return t, false, nil, false
	}
	next := *old
	next.ProductBeforeActivation = old.WithWeights(weights)
	_, types, err := next.OpWithoutActivation().Bind([]dataflow.StreamType{next.In})
	if err != nil {
		return t, false, nil, false
	}
	return types[0], falls, func() {
		at.Source, at.Type = &next, types[0]
		l.Integers.DeclareGroupedIntegers(r.Source, affine)
	}, true
}
