package choose

import (
	"hlsgen/hlslib/globalpool"
	"hlsgen/hlslib/labelselect"
	"hlsgen/hlslib/lookup"
	"hlsgen/hlslib/mvau"
	"hlsgen/hlslib/pool"
	"hlsgen/hlslib/rnn"
	"hlsgen/hlslib/vvau"
	"hlsgen/internal/dataflow"
	"hlsgen/internal/num"
)

// A ProductBeforeActivation is a matrix product of integers, or a sum over windows. Unless Plain is set, its layer may
// also compute the activation behind it.
type ProductBeforeActivation struct {
	Weights [][]int64
	In      dataflow.StreamType // type of the layer's input
	Plain   bool                // the layer takes no activation

	op func(weights [][]int64, steps []num.StepFunction) dataflow.Op
}

// OpWithoutActivation returns the layer of the product alone, without an activation.
func (p *ProductBeforeActivation) OpWithoutActivation() dataflow.Op { return p.op(p.Weights, nil) }

// WithWeights returns a copy of the product with other weights. The layer of a Plain product does not depend on them.
func (p *ProductBeforeActivation) WithWeights(weights [][]int64) *ProductBeforeActivation {
	next := *p
	next.Weights = weights
	return &next
}

// WithNegatedRows returns a copy of the product in which the weights of each row c with rows[c] set are negated.
func (p *ProductBeforeActivation) WithNegatedRows(rows []bool) *ProductBeforeActivation {
	weights := make([][]int64, len(p.Weights))
	for c, row := range p.Weights {
		if weights[c] = row; rows[c] {
			weights[c] = negative(row)
		}
	}
	return p.WithWeights(weights)
}

func negative(row []int64) []int64 {
	out := make([]int64, len(row))
	for k, v := range row {
		out[k] = -v
	}
	return out
}

// waits returns a choice whose product waits for an activation. op makes the layer from weights and step functions,
// which are nil for none. front arranges the layer's input.
func (m MatrixProduct) waits(front InputArranger, op func(weights [][]int64,
	steps []num.StepFunction) dataflow.Op) (LayerChoice, error) {
	return LayerChoice{Front: front, Waits: &ProductBeforeActivation{Weights: m.Weights, op: op}}, nil
}

func (m MatrixProduct) plain(front InputArranger, op dataflow.Op) (LayerChoice, error) {
	only := func([][]int64, []num.StepFunction) dataflow.Op { return op }
	return LayerChoice{Front: front, Waits: &ProductBeforeActivation{Weights: m.Weights, Plain: true, op: only}}, nil
}

// depthwise reports whether the product is over a window and every channel of the image has its own sum. For an image
// of one channel it also requires that all weights are 1.
func (m MatrixProduct) depthwise() bool {
	w := m.Window
	return w != nil && w.Group == w.Channels && len(m.Weights) == w.Channels && (w.Channels > 1 || m.adds())
}

// adds reports whether all weights are 1.
func (m MatrixProduct) adds() bool {
	for _, row := range m.Weights {
		for _, w := range row {
			if w != 1 {
				return false
			}
		}
	}
	return true
}

func wholeSum(m MatrixProduct) (LayerChoice, error) {
	if !m.depthwise() || !m.adds() || !m.Window.Covers {
		return LayerChoice{}, errOther
	}
	return m.plain(InputArranger{}, globalpool.New(globalpool.Params{Op: "sum"}))
}

func windowSum(m MatrixProduct) (LayerChoice, error) {
	if !m.depthwise() || !m.adds() {
		return LayerChoice{}, errOther
	}
	return m.plain(InputArranger{ArrangerKindSliding, m.Window.Channels}, pool.New(pool.Params{Op: "sum"}))
}

func vectors(m MatrixProduct) (LayerChoice, error) {
	if !m.depthwise() {
		return LayerChoice{}, errOther
	}
	return m.waits(InputArranger{ArrangerKindSliding, m.Window.Channels}, func(w [][]int64,
		steps []num.StepFunction) dataflow.Op {
		return vvau.New(vvau.Params{Weights: w, Steps: steps})
	})
}

func matrices(m MatrixProduct) (LayerChoice, error) {
	p := mvau.Params{Product: m.Product, Groups: m.Groups}
	var front InputArranger
	switch w := m.Window; {
	case w == nil:
	case w.KernelPositionCount() == 1: // a pixel is a window
		front = InputArranger{Kind: ArrangerKindStrided}
	default:
		front = InputArranger{ArrangerKindSliding, w.Group}
	}
	return m.waits(front, func(w [][]int64, steps []num.StepFunction) dataflow.Op {
		q := p
		q.Weights, q.Steps = w, steps
		return mvau.New(q)
	})
}

func wholeMaximum(m WindowMaximum) (LayerChoice, error) {
	if !m.Window.Covers {
		return LayerChoice{}, errOther
	}
	return one(globalpool.New(globalpool.Params{Op: "max"})), nil
}

func windowMaximum(m WindowMaximum) (LayerChoice, error) {
	c := one(pool.New(pool.Params{Op: "max"}))
	c.Front = InputArranger{ArrangerKindSliding, m.Window.Channels}
	return c, nil
}

func rows(r LookupTable) (LayerChoice, error) {
	return one(lookup.New(lookup.Params{Table: r.Table})), nil
}

func cells(r RecurrentCellSequence) (LayerChoice, error) { return one(rnn.New(r.Loop)), nil }

func labels(o TopKIndices) (LayerChoice, error) {
	p := labelselect.Params{Labels: o.N, K: o.K, First: labelselect.RankOrderSmallestFirst,
		Ties: labelselect.TieBreakLowerIndexWins}
	if o.Largest {
		p.First = labelselect.RankOrderLargestFirst
	}
	if o.LastOfEquals {
		p.Ties = labelselect.TieBreakHigherIndexWins
	}
	return one(labelselect.New(p)), nil
}
