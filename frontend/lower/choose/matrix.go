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

// A Product is a matrix product in integers, or a sum over windows, whose layer may take the activation behind it.
type Product struct {
	Weights [][]int64
	In      dataflow.Type // type of the layer's input
	Plain   bool          // the layer takes no activation

	op func(weights [][]int64, steps []num.Step) dataflow.Op
}

// Op returns the layer without an activation.
func (p *Product) Op() dataflow.Op { return p.op(p.Weights, nil) }

// With returns the product with other weights.
func (p *Product) With(weights [][]int64) *Product {
	next := *p
	next.Weights = weights
	return &next
}

// Turned returns the product with the weights of the given rows negated.
func (p *Product) Turned(rows []bool) *Product {
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

// waits returns a layer for a product that may take an activation. plain returns one that does not.
func (m Matrix) waits(front Front, op func(weights [][]int64, steps []num.Step) dataflow.Op) (Choice, error) {
	return Choice{Front: front, Waits: &Product{Weights: m.Weights, op: op}}, nil
}

func (m Matrix) plain(front Front, op dataflow.Op) (Choice, error) {
	only := func([][]int64, []num.Step) dataflow.Op { return op }
	return Choice{Front: front, Waits: &Product{Weights: m.Weights, Plain: true, op: only}}, nil
}

// depthwise reports whether every channel has a window of its own.
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

func wholeSum(m Matrix) (Choice, error) {
	if !m.depthwise() || !m.adds() || !m.Window.Covers {
		return Choice{}, errOther
	}
	return m.plain(Front{}, globalpool.New(globalpool.Params{Op: "sum"}))
}

func windowSum(m Matrix) (Choice, error) {
	if !m.depthwise() || !m.adds() {
		return Choice{}, errOther
	}
	return m.plain(Front{Sliding, m.Window.Channels}, pool.New(pool.Params{Op: "sum"}))
}

func vectors(m Matrix) (Choice, error) {
	if !m.depthwise() {
		return Choice{}, errOther
	}
	return m.waits(Front{Sliding, m.Window.Channels}, func(w [][]int64, steps []num.Step) dataflow.Op {
		return vvau.New(vvau.Params{Weights: w, Steps: steps})
	})
}

func matrices(m Matrix) (Choice, error) {
	p := mvau.Params{Product: m.Product, Groups: m.Groups}
	var front Front
	switch w := m.Window; {
	case w == nil:
	case w.Positions() == 1: // a pixel is a window
		front = Front{Kind: Strided}
	default:
		front = Front{Sliding, w.Group}
	}
	return m.waits(front, func(w [][]int64, steps []num.Step) dataflow.Op {
		q := p
		q.Weights, q.Steps = w, steps
		return mvau.New(q)
	})
}

func wholeMaximum(m Maximum) (Choice, error) {
	if !m.Window.Covers {
		return Choice{}, errOther
	}
	return one(globalpool.New(globalpool.Params{Op: "max"})), nil
}

func windowMaximum(m Maximum) (Choice, error) {
	c := one(pool.New(pool.Params{Op: "max"}))
	c.Front = Front{Sliding, m.Window.Channels}
	return c, nil
}

func rows(r Rows) (Choice, error) { return one(lookup.New(lookup.Params{Table: r.Table})), nil }

func cells(r Recurrence) (Choice, error) { return one(rnn.New(r.Loop)), nil }

func labels(o Order) (Choice, error) {
	p := labelselect.Params{Labels: o.N, K: o.K, First: labelselect.Smallest, Ties: labelselect.LowerIndex}
	if o.Largest {
		p.First = labelselect.Largest
	}
	if o.LastOfEquals {
		p.Ties = labelselect.HigherIndex
	}
	return one(labelselect.New(p)), nil
}
