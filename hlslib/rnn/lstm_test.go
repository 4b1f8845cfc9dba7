package rnn_test

import (
	"math"
	"math/rand/v2"
	"reflect"
	"slices"
	"testing"

	"hlsgen/hlslib/layertest"
	"hlsgen/hlslib/lstm"
	"hlsgen/hlslib/rnn"
	"hlsgen/internal/dataflow"
	"hlsgen/internal/num"
)

// program collects the values of a phase.
type program struct{ values []rnn.Value }

func (p *program) add(v rnn.Value) int {
	p.values = append(p.values, v)
	return len(p.values) - 1
}

func (p *program) linear(bias []int64, of []int, factors ...[]int64) int {
	return p.add(rnn.Value{Op: rnn.Linear, Of: of, Factors: factors, Bias: bias})
}

func (p *program) requant(q num.Requant, of int) int {
	return p.add(rnn.Value{Op: rnn.Requant, Of: []int{of}, Requant: &q})
}

func (p *program) steps(s []num.Step, of int) int {
	return p.add(rnn.Value{Op: rnn.Steps, Of: []int{of}, Steps: s})
}

func (p *program) product(a, b int) int { return p.add(rnn.Value{Op: rnn.Product, Of: []int{a, b}}) }

// fromLSTM is an LSTM as a program.
func fromLSTM(l lstm.Params) rnn.Params {
	p := rnn.Params{Sequence: l.Sequence}
	for _, c := range l.Cells {
		var cell rnn.Cell
		zero := 0
		phase := rnn.Phase{Units: len(c.Recurrent[1]), State: &zero}
		var b program
		old := b.add(rnn.Value{Op: rnn.OfState, At: 1})
		gate := func(g, seen int) int {
			q := c.Gates[g]
			of, factors := []int{b.add(rnn.Value{Op: rnn.Input, At: g}),
				b.add(rnn.Value{Op: rnn.Sum, At: len(phase.Dots)})}, [][]int64{{q.Factors[0]}, {q.Factors[1]}}
			phase.Dots = append(phase.Dots, rnn.Dot{Weights: c.Recurrent[g], Product: c.Product})
			if len(q.Peephole) > 0 {
				of, factors = append(of, seen), append(factors, q.Peephole)
			}
			return b.steps(q.Steps, b.linear(q.Bias, of, factors...))
		}
		f, g := gate(1, old), gate(2, old)
		var i int
		if c.CIFG != nil {
			i = b.linear([]int64{*c.CIFG}, []int{f}, []int64{-1})
		} else {
			i = gate(0, old)
		}
		now := b.requant(c.Cell, b.linear(nil, []int{b.requant(c.Forget, b.product(f, old)),
			b.requant(c.Input, b.product(i, g))}, c.CellFactors[:1], c.CellFactors[1:]))
		h := b.requant(c.Hidden, b.product(gate(3, now), b.steps(c.Tanh, now)))
		phase.Values = b.values
		cell.Phases = []rnn.Phase{phase}
		cell.States = []rnn.State{{Next: rnn.Ref{Value: h}, Start: c.H0}, {Next: rnn.Ref{Value: now}, Start: c.C0}}
		p.Cells = append(p.Cells, cell)
		p.Outputs = []rnn.Ref{{Value: h}}
		if l.States {
			p.Outputs = append(p.Outputs, rnn.Ref{Value: now})
		}
	}
	return p
}

// sigmoid and tanh are step functions of n levels, of values that reach them around the scale.
func smooth(f func(float64) float64, scale, lo, hi int64) num.Step {
	var s num.Step
	for x := -8 * scale; x <= 8*scale; x++ {
		y := max(lo, min(hi, int64(math.Round(f(float64(x)/float64(scale))*float64(hi)))))
		if n := len(s.Value); n == 0 {
			s.Value = []int64{y}
		} else if y != s.Value[n-1] {
			s.At, s.Value = append(s.At, x), append(s.Value, y)
		}
	}
	return s
}

func sigmoid(x float64) float64 { return 1 / (1 + math.Exp(-x)) }

// A recipe says which of the options a random layer has.
type recipe struct {
	cells, units                               int
	cifg, peepholes, product, perUnit, differ  bool // differ: cells have constants of their own
	sequence, states, started, scaled, bipolar bool
}

// layer makes a random layer, whose c saturates.
func (o recipe) layer(r *rand.Rand) lstm.Params {
	p := lstm.Params{Sequence: o.sequence, States: o.states}
	common := o.common(r)
	for range o.cells {
		c := common
		if o.differ {
			c = o.common(r)
		}
		p.Cells = append(p.Cells, o.weights(r, c))
	}
	if o.cifg && o.differ {
		k := int64(19)
		p.Cells[len(p.Cells)-1].CIFG = &k
	}
	return p
}

// common is what cells share: formats and functions.
func (o recipe) common(r *rand.Rand) lstm.Cell {
	mode := num.Roundings[r.IntN(len(num.Roundings))]
	c := lstm.Cell{
		Forget:      num.Requant{Multiplier: 1, Shift: 4, Mode: mode, Lo: -64, Hi: 63},
		Input:       num.Requant{Multiplier: 1 + r.Int64N(3), Shift: 3, Mode: num.HalfEven, Lo: -64, Hi: 63},
		CellFactors: [2]int64{1, 1},
		Cell:        num.Requant{Multiplier: 1, Mode: num.Floor, Lo: -48, Hi: 47},
		Tanh:        []num.Step{smooth(math.Tanh, 12, -7, 7)},
		Hidden:      num.Requant{Multiplier: 1 + r.Int64N(40), Shift: 8, Mode: num.HalfAway, Lo: -8, Hi: 7},
	}
	for g := range c.Gates {
		c.Gates[g] = lstm.Gate{Factors: [2]int64{1, 1}, Steps: []num.Step{smooth(sigmoid, 4, 0, 16)}}
	}
	c.Gates[2].Steps[0] = smooth(math.Tanh, 5, -16, 16)
	if o.scaled {
		c.CellFactors = [2]int64{1 + r.Int64N(3), -2}
		c.Cell.Multiplier, c.Cell.Shift = 5, 3
		for g := range c.Gates {
			c.Gates[g].Factors = [2]int64{r.Int64N(7) - 3, 1 + r.Int64N(3)}
		}
	}
	if o.product {
		c.Product = &num.Requant{Multiplier: 1, Shift: 2, Mode: num.HalfTowardZero, Lo: math.MinInt64,
			Hi: math.MaxInt64}
	}
	return c
}

// weights makes a cell of its own: weights, biases, peepholes, functions per unit, a start.
func (o recipe) weights(r *rand.Rand, c lstm.Cell) lstm.Cell {
	perUnit := func(most int64) (list []int64) {
		for range o.units {
			list = append(list, r.Int64N(2*most+1)-most)
		}
		return list
	}
	shifted := func(s num.Step) (steps []num.Step) {
		for range o.units {
			by := num.Step{At: slices.Clone(s.At), Value: s.Value}
			for i := range by.At {
				by.At[i] += int64(len(steps)) - 2
			}
			steps = append(steps, by)
		}
		return steps
	}
	for g := range c.Gates {
		c.Recurrent[g] = nil
		for range o.units {
			row := perUnit(3)
			for k, w := range row {
				if o.bipolar {
					row[k] = 1 - 2*(w&1)
				}
			}
			c.Recurrent[g] = append(c.Recurrent[g], row)
		}
		c.Gates[g].Bias = perUnit(6)
		if o.peepholes && g != 2 {
			c.Gates[g].Peephole = perUnit(2)
		}
		if o.perUnit {
			c.Gates[g].Steps = shifted(c.Gates[g].Steps[0])
		}
	}
	if o.perUnit {
		c.Tanh = shifted(c.Tanh[0])
	}
	if o.cifg {
		k := int64(16)
		c.CIFG, c.Recurrent[0], c.Gates[0] = &k, nil, lstm.Gate{}
	}
	if o.started {
		c.H0, c.C0 = perUnit(9), perUnit(60)
	}
	return c
}

// input is a type of so many steps, with which gates and c saturate.
func (o recipe) input(r *rand.Rand, steps int) dataflow.Type {
	return layertest.Type(r, dataflow.Shape{steps, o.cells * o.units * 4}, 7)
}

// TestAsLSTM holds programs of LSTMs against the engine that knows nothing else: results, types, clocks and costs.
func TestAsLSTM(t *testing.T) {
	t.Parallel()
	for i := range 60 {
		r := rand.New(rand.NewPCG(uint64(i), 12))
		b := func() bool { return r.IntN(2) == 0 }
		o := recipe{1 + r.IntN(2), 1 + r.IntN(8), b(), b(), b(), b(), b(), b(), b(), b(), b(), r.IntN(4) == 0}
		l := o.layer(r)
		in := []dataflow.Type{o.input(r, 1+r.IntN(5))}
		was, out, err := lstm.New(l).Bind(in)
		if err != nil {
			t.Fatal(err)
		}
		now, types, err := rnn.New(fromLSTM(l)).Bind(in)
		if err != nil {
			t.Errorf("%+v: %v", o, err)
			continue
		}
		for n := range out {
			if !slices.EqualFunc(types[n].Range, out[n].Range, num.Range.Within) ||
				types[n].Elem.Width > out[n].Elem.Width {
				t.Errorf("%+v: %v, was %v", o, types, out)
			}
		}
		x := dataflow.Tensor{Shape: in[0].Shape}
		for k := range in[0].Shape.Size() {
			v := layertest.Between(r, in[0].Channel(k%in[0].Shape.Channels()))
			if !in[0].Elem.Holds(v) {
				v = 1
			}
			x.Data = append(x.Data, v)
		}
		if a, b := was.Eval([]dataflow.Tensor{x}), now.Eval([]dataflow.Tensor{x}); !reflect.DeepEqual(a, b) {
			t.Errorf("%+v: %v, was %v", o, b, a)
		}
		for f := range was.Folds() {
			a, b := was.Loop(f, dataflow.Target{}), now.Loop(f, dataflow.Target{})
			x, y := was.Cost(f, dataflow.Target{}), now.Cost(f, dataflow.Target{})
			if b.Latency > a.Latency || b.Iterations() > a.Iterations() || dearer(x.Total(), y.Total()) {
				t.Errorf("%+v, %+v: latency %d, was %d, iterations %d, was %d, %+v, was %+v", o, f, b.Latency,
					a.Latency, b.Iterations(), a.Iterations(), y.Total(), x.Total())
			}
		}
	}
}

// dearer reports whether a layer takes more than another one, by more than a fiftieth of its LUTs or a twentieth of its
// flip-flops.
func dearer(was, now dataflow.Resources) bool {
	return now.LUT > was.LUT+was.LUT/50 || now.FF > was.FF+was.FF/20 || now.BRAM > was.BRAM || now.URAM > was.URAM ||
		now.DSP > was.DSP
}
