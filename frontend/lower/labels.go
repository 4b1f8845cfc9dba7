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

// labels is the rule for steps that sort integers and of which only places are used. If no layer can do it, the host
// does, unless another layer needs the result.
func labels(l *lowering, step *program.Step) (bool, error) {
	if step.Order == nil {
		return false, nil
	}
	r, reject := l.RankingOf(step)
	if reject == nil {
		reject = l.selectLabels(step, r)
	}
	if reject != nil && !l.Uses.FeedsLayer(step.Output) {
		return true, nil
	}
	return true, reject
}

// selectLabels adds the layer that selects the first labels of a ranking. The error is the reason why it cannot.
func (l *lowering) selectLabels(step *program.Step, r *find.Ranking) error {
	if !l.Uses.ReachesOutputsOnlyThrough(r.Source, step) {
		return unmapped.NewReason(strconv.Quote(l.Name(r.Source))+", which it sorts, has another reader",
			"remove the other reader")
	}
	t, relevel := l.Places[r.Source].Type, func() {}
	falls, ok := r.Falls()
	if !ok {
		if t, falls, relevel, ok = l.level(r); !ok {
			return unmapped.NewReason("the values that it sorts have different scales or biases",
				"quantise the weights of the layer in front per tensor, and leave its bias out")
		}
	}
	c, reject := choose.Layer(choose.TopK{N: step.Order.N, K: r.K, Largest: step.Order.Largest != falls,
		LastOfEquals: step.Order.LastFirst})
	if reject != nil {
		return reject
	}
	if _, _, err := c.Ops[0].Bind([]dataflow.StreamType{t}); err != nil {
		return c.Refused(err)
	}
	relevel()
	w, reject := l.add(c, []int{l.take(r.Source)}, step.Output, append(r.Nodes, step.Node))
	if reject != nil {
		return reject
	}
	l.put(step.Output, w, nil)
	l.Integers.Declare(step.Output, scaled.IdentityAffine)
	return nil
}

// level finds new weights for the waiting product in front, such that its columns have one scale. t is the type of
// its integers then, and falls tells that real values fall where these rise. relevel gives the weights to the
// product.
func (l *lowering) level(r *find.Ranking) (t dataflow.StreamType, falls bool, relevel func(), ok bool) {
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
	next.FusibleProduct = old.With(weights)
	_, types, err := next.Op().Bind([]dataflow.StreamType{next.In})
	if err != nil {
		return t, false, nil, false
	}
	return types[0], falls, func() {
		at.Source, at.Type = &next, types[0]
		l.Integers.DeclareGroups(r.Source, affine)
	}, true
}
