package rnntest

import (
	"math/big"
)

// A Matrix is a matrix of codes with one scale, or one scale per row.
type Matrix struct {
	Codes  [][]int64 // [unit][k]
	Scale  []float32
	Bits   int
	Linear bool // written as INT8 with a DequantizeLinear, otherwise as reals with a Quant
}

// times returns the exact product with a vector.
func (m Matrix) times(v []*big.Rat) []*big.Rat {
	out := make([]*big.Rat, len(m.Codes))
	for u, row := range m.Codes {
		sum := new(big.Rat)
		for k, w := range row {
			if w != 0 {
				sum.Add(sum, times(whole(w), v[k]))
			}
		}
		out[u] = sum.Mul(sum, real32(of(m.Scale, u)))
	}
	return out
}

// of returns entry i of a list, or the only entry of a list with one entry.
func of[T any](list []T, i int) T {
	if len(list) == 1 {
		return list[0]
	}
	return list[i]
}

// A Gate turns a sum of products into the gate's codes.
type Gate struct {
	Input      []Matrix // weights of each input
	Hidden     Matrix
	Bias       []float32 // may be nil
	HiddenBias []float32 // added to the product with the hidden state; may be nil
	Peephole   []float32 // factors of the cell's state; may be nil
	Clip       float32   // the sum is clipped to -Clip..Clip; 0 means no clipping
	Sum        *Quantiser
	Activation Activation
	Code       *Quantiser
}

// A Cell is the computation of one step. Quantisers that are nil are left out.
//
//	LSTM  i, f, g, o = gates of x and h
//	      c' = State(Keep(f*c) + Add(i*g)), h' = Output(o * Squashed(squash(c')))
//	      coupled: one of f and i is One(1) minus the other; projected: h' = Projected(Projection * h')
//	GRU   z, r = gates of x and h, n = gate of x and Reset(r*h),
//	      or, with ResetAfter, of Wx + b + Reset(r*ResetSum(Uh + hb))
//	      h' = Output(Add((1-z)*n) + Keep(z*h)), with Difference Output(n + Keep(z*(h-n)))
//	RNN   h' = gate of x and h
type Cell struct {
	Kind  string
	Units int
	Gates []Gate // LSTM: i, f, g, o; GRU: z, r, n; RNN: one

	Coupled    string // "forget": f is 1 - i; "input": i is 1 - f; "": neither
	One        *Quantiser
	Keep, Add  *Quantiser
	State      *Quantiser
	Squash     Activation
	Squashed   *Quantiser
	Output     *Quantiser // nil for an RNN, whose gate has Code
	Projection *Matrix
	Projected  *Quantiser

	ResetAfter, Difference bool
	Reset, ResetSum        *Quantiser
}

// The kinds of cells.
const (
	LSTM = "LSTM"
	GRU  = "GRU"
	RNN  = "RNN"
)

// Indices of the gates of an LSTM and of a GRU.
const (
	gateI, gateF, gateG, gateO = 0, 1, 2, 3
	gateZ, gateR, gateN        = 0, 1, 2
)

// Width returns the number of elements of h.
func (c *Cell) Width() int {
	if c.Projection != nil {
		return len(c.Projection.Codes)
	}
	return c.Units
}

// Hidden returns the quantiser that produces h.
func (c *Cell) Hidden() *Quantiser {
	switch {
	case c.Kind == RNN:
		return c.Gates[0].Code
	case c.Projection != nil:
		return c.Projected
	}
	return c.Output
}

// sums returns the gate's sum of products for each unit.
func (g *Gate) sums(x [][]*big.Rat, h, state []*big.Rat) []*big.Rat {
	out := g.inputs(x)
	for u, v := range g.Hidden.times(h) {
		out[u].Add(out[u], v)
		if g.HiddenBias != nil {
			out[u].Add(out[u], real32(of(g.HiddenBias, u)))
		}
		if g.Peephole != nil {
			out[u].Add(out[u], times(real32(of(g.Peephole, u)), state[u]))
		}
	}
	return out
}

// inputs returns the part of each sum that comes from the inputs and the bias.
func (g *Gate) inputs(x [][]*big.Rat) []*big.Rat {
	out := make([]*big.Rat, len(g.Hidden.Codes))
	for u := range out {
		out[u] = new(big.Rat)
		if g.Bias != nil {
			out[u].Set(real32(of(g.Bias, u)))
		}
	}
	for k, m := range g.Input {
		for u, v := range m.times(x[k]) {
			out[u].Add(out[u], v)
		}
	}
	return out
}

// codes returns the gate's result for each sum.
func (g *Gate) codes(sums []*big.Rat) []*big.Rat {
	out := make([]*big.Rat, len(sums))
	for u, s := range sums {
		out[u] = g.Code.of(g.Activation.of(g.Sum.quantised(g.clipped(s))))
	}
	return out
}

// clipped returns v, clipped as the gate's Clip says.
func (g *Gate) clipped(v *big.Rat) *big.Rat {
	if g.Clip == 0 {
		return v
	}
	return smaller(larger(v, real32(-g.Clip)), real32(g.Clip))
}

// Step computes one step. It returns the next h and, for an LSTM, the next state of the cell.
func (c *Cell) Step(x [][]*big.Rat, h, state []*big.Rat) (nextH, nextState []*big.Rat) {
	switch c.Kind {
	case LSTM:
		return c.lstm(x, h, state)
	case GRU:
		return c.gru(x, h), nil
	}
	return c.Gates[0].codes(c.Gates[0].sums(x, h, nil)), nil
}

// lstm computes one step of an LSTM.
func (c *Cell) lstm(x [][]*big.Rat, h, state []*big.Rat) (nextH, nextState []*big.Rat) {
	gate := func(k int, state []*big.Rat) []*big.Rat { return c.Gates[k].codes(c.Gates[k].sums(x, h, state)) }
	other := func(v []*big.Rat) []*big.Rat {
		out := make([]*big.Rat, len(v))
		for u := range v {
			out[u] = minus(c.One.quantised(whole(1)), v[u])
		}
		return out
	}
	var in, forget []*big.Rat
	switch c.Coupled {
	case "forget":
		in = gate(gateI, state)
		forget = other(in)
	case "input":
		forget = gate(gateF, state)
		in = other(forget)
	default:
		in, forget = gate(gateI, state), gate(gateF, state)
	}
	candidate := gate(gateG, state)
	for u := range c.Units {
		keep, add := c.Keep.quantised(times(forget[u], state[u])), c.Add.quantised(times(in[u], candidate[u]))
		nextState = append(nextState, c.State.quantised(plus(keep, add)))
	}
	out := gate(gateO, nextState)
	for u := range c.Units {
		nextH = append(nextH, c.Output.quantised(times(out[u], c.squashed(nextState[u]))))
	}
	if c.Projection != nil {
		nextH = c.Projection.times(nextH)
		for u := range nextH {
			nextH[u] = c.Projected.quantised(nextH[u])
		}
	}
	return nextH, nextState
}

// squashed returns the cell's state after its activation function and the quantiser behind it.
func (c *Cell) squashed(state *big.Rat) *big.Rat {
	v := c.Squash.of(c.Gates[0].clipped(state))
	if c.Squashed == nil {
		return v.exact
	}
	return c.Squashed.of(v)
}

// gru computes one step of a GRU.
func (c *Cell) gru(x [][]*big.Rat, h []*big.Rat) (next []*big.Rat) {
	gate := func(k int) []*big.Rat { return c.Gates[k].codes(c.Gates[k].sums(x, h, nil)) }
	z, r := gate(gateZ), gate(gateR)
	n := &c.Gates[gateN]
	sums := n.inputs(x)
	var hidden []*big.Rat
	if c.ResetAfter {
		hidden = n.Hidden.times(h)
	} else {
		reset := make([]*big.Rat, c.Units)
		for u := range reset {
			reset[u] = c.Reset.quantised(times(r[u], h[u]))
		}
		hidden = n.Hidden.times(reset)
	}
	for u := range sums {
		if n.HiddenBias != nil {
			hidden[u].Add(hidden[u], real32(of(n.HiddenBias, u)))
		}
		if c.ResetAfter {
			hidden[u] = c.Reset.quantised(times(r[u], c.ResetSum.quantised(hidden[u])))
		}
		sums[u].Add(sums[u], hidden[u])
	}
	candidate := n.codes(sums)
	for u := range c.Units {
		var sum *big.Rat
		if c.Difference {
			sum = plus(candidate[u], c.Keep.quantised(times(z[u], minus(h[u], candidate[u]))))
		} else {
			sum = plus(c.Add.quantised(times(minus(c.One.quantised(whole(1)), z[u]), candidate[u])),
				c.Keep.quantised(times(z[u], h[u])))
		}
		next = append(next, c.Output.quantised(sum))
	}
	return next
}
