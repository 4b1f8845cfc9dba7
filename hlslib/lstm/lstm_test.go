package lstm_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"hlsgen/hlslib/layertest"
	"hlsgen/hlslib/lstm"
	"hlsgen/internal/dataflow"
	"hlsgen/internal/num"
)

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

func TestContract(t *testing.T) {
	t.Parallel()
	var cases []layertest.Case
	add := func(name string, o recipe, steps, folds int) {
		r := rand.New(rand.NewPCG(uint64(len(cases)), 11))
		cases = append(cases, layertest.Case{Name: name, Op: lstm.New(o.layer(r)),
			In: []dataflow.Type{o.input(r, steps)}, Folds: folds,
			Loose: "the gates' codes depend on each other, and ranges are products of theirs"})
	}
	add("one unit, one step", recipe{cells: 1, units: 1}, 1, 0)
	add("plain", recipe{cells: 1, units: 4, sequence: true}, 5, 0)
	add("the last step of two cells", recipe{cells: 2, units: 4, states: true}, 3, 12)
	add("everything", recipe{2, 6, false, true, true, true, true, true, true, true, true, false}, 4, 16)
	add("everything, coupled", recipe{2, 6, true, true, true, true, true, true, true, true, true, true}, 4, 16)
	add("coupled alike", recipe{cells: 3, units: 4, cifg: true, sequence: true}, 3, 12)
	add("signs", recipe{cells: 1, units: 6, bipolar: true, sequence: true, states: true}, 4, 12)
	for i := range 24 {
		r := rand.New(rand.NewPCG(uint64(i), 12))
		b := func() bool { return r.IntN(2) == 0 }
		o := recipe{1 + r.IntN(2), 4 + r.IntN(5), b(), b(), b(), b(), b(), b(), b(), b(), b(), r.IntN(4) == 0}
		add(fmt.Sprintf("random %d: %+v", i, o), o, 1+r.IntN(5), 8)
	}
	layertest.Check(t, 48, cases...)
}
