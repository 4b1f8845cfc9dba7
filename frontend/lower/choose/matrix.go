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

// A FusibleProduct is a matrix product of integers, or a sum over windows. Unless Plain is set, its layer may also
// compute the activation behind it.
type FusibleProduct struct {
	Weights [][]int64
	In      dataflow.StreamType // type of the layer's input
	Plain   bool                // the layer takes no activation

	op func(weights [][]int64, steps []num.StepFunction) dataflow.Op
}

// Op returns the layer of the product alone, without an activation.
func (p *FusibleProduct) Op() dataflow.Op { return p.op(p.Weights, nil) }

// With returns a copy of the product with other weights.
func (p *FusibleProduct) With(weights [][]int64) *FusibleProduct {
	next := *p
	next.Weights = weights
	return &next
}

// WithNegatedRows returns a copy of the product in which the weights of each row c with rows[c] set are negated.
func (p *FusibleProduct) WithNegatedRows(rows []bool) *FusibleProduct {
	weights := make([][]int64, len(p.Weights))
	for c, row := range p.Weights {
		if weights[c] = row; rows[c] {
			weights[c] = negative(row)
		}
	}
	return p.With(weights)
}

func negative(row []int64) []int64 {
	out := make([]int64, len(row))
	for k, v := range row {
		out[k] = -v
	}
	return out
}

// waits returns a choice whose product waits for an activation. op makes the layer from weights and steps, which are
// nil for none; front arranges its input.
func (m Matrix) waits(front Arranger, op func(weights [][]int64,
	steps []num.StepFunction) dataflow.Op) (FunctionChoice, error) {
	return FunctionChoice{Front: front, Waits: &FusibleProduct{Weights: m.Weights, op: op}}, nil
}

func (m Matrix) plain(front Arranger, op dataflow.Op) (FunctionChoice, error) {
	only := func([][]int64, []num.StepFunction) dataflow.Op { return op }
	return FunctionChoice{Front: front, Waits: &FusibleProduct{Weights: m.Weights, Plain: true, op: only}}, nil
}

// depthwise reports whether there is a window, and every channel of the image has its own sum over it.
func (m Matrix) depthwise() bool {
	w := m.Window
	return w != nil && w.Group == w.Channels && len(m.Weights) == w.Channels && (w.Channels > 1 || m.adds())
}

// adds reports whether all weights are 1.
func (m Matrix) adds() bool {
	for _, row := range m.Weights {
		for _, w := range row {
			if w != 1 {
				return false
			}
		}
	}
	return true
}

func wholeSum(m Matrix) (FunctionChoice, error) {
	if !m.depthwise() || !m.adds() || !m.Window.Covers {
		return FunctionChoice{}, errOther
	}
	return m.plain(Arranger{}, globalpool.New(globalpool.Params{Op: "sum"}))
}

func windowSum(m Matrix) (FunctionChoice, error) {
	if !m.depthwise() || !m.adds() {
		return FunctionChoice{}, errOther
	}
	return m.plain(Arranger{ArrangeSliding, m.Window.Channels}, pool.New(pool.Params{Op: "sum"}))
}

func vectors(m Matrix) (FunctionChoice, error) {
	if !m.depthwise() {
		return FunctionChoice{}, errOther
	}
	return m.waits(Arranger{ArrangeSliding, m.Window.Channels}, func(w [][]int64,
		steps []num.StepFunction) dataflow.Op {
		return vvau.New(vvau.Params{Weights: w, Steps: steps})
	})
}

func matrices(m Matrix) (FunctionChoice, error) {
	p := mvau.Params{Product: m.Product, Groups: m.Groups}
	var front Arranger
	switch w := m.Window; {
	case w == nil:
	case w.Positions() == 1: // a pixel is a window
		front = Arranger{Kind: ArrangeStrided}
	default:
		front = Arranger{ArrangeSliding, w.Group}
	}
	return m.waits(front, func(w [][]int64, steps []num.StepFunction) dataflow.Op {
		q := p
		q.Weights, q.Steps = w, steps
		return mvau.New(q)
	})
}

func wholeMaximum(m Maximum) (FunctionChoice, error) {
	if !m.Window.Covers {
		return FunctionChoice{}, errOther
	}
	return one(globalpool.New(globalpool.Params{Op: "max"})), nil
}

func windowMaximum(m Maximum) (FunctionChoice, error) {
	c := one(pool.New(pool.Params{Op: "max"}))
	c.Front = Arranger{ArrangeSliding, m.Window.Channels}
	return c, nil
}

func rows(r Lookup) (FunctionChoice, error) {
	return one(lookup.New(lookup.Params{Table: r.Table})), nil
}

func cells(r CellSequence) (FunctionChoice, error) { return one(rnn.New(r.Loop)), nil }

func labels(o TopK) (FunctionChoice, error) {
	p := labelselect.Params{Labels: o.N, K: o.K, First: labelselect.SmallestFirst, Ties: labelselect.LowerIndexWins}
	if o.Largest {
		p.First = labelselect.LargestFirst
	}
	if o.LastOfEquals {
		p.Ties = labelselect.HigherIndexWins
	}
	return one(labelselect.New(p)), nil
}
