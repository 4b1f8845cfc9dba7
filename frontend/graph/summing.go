package graph

import (
	"math/big"

	"hlsgen/frontend/real"
)

// A Summing takes the place of the sums of a step's products: accumulators that do not hold what the model means. It
// gives whole numbers.
type Summing struct {
	Sum  func(x *Reals) ([]int64, error) // of all outputs, of the whole input A
	Unit []*big.Rat                      // what a whole number stands for, by row
	Row  []int32                         // of each output
}

// With is a fork in which the sums of some steps, by output, are others. Steps in loops are not among them.
func (p *Part) With(sums map[string]*Summing) *Part {
	q := p.Fork()
	q.sums = sums
	return q
}

// sum runs a step whose sums are others. They stay exact for what is decided behind them.
func (r *runner) sum(s *Summing, in []*Reals, out *Reals, d *decider) error {
	whole, err := s.Sum(in[r.product.Dot.A])
	if err != nil {
		return err
	}
	unit := make([]real.Interval, len(s.Unit))
	for i, u := range s.Unit {
		unit[i] = Around(u)
	}
	for i, n := range whole {
		y := unit[s.Row[i]].Mul(real.Pt(float64(n)))
		out.Lo[i], out.Hi[i] = y.Lo, y.Hi
	}
	d.summed[r.product.Output] = whole
	return nil
}

// sumOf is sum i of a step's products where others take their place.
func (d *decider) sumOf(s *Step, i int) (n real.Num, ok bool) {
	whole, ok := d.summed[s.Output]
	if !ok {
		return n, false
	}
	of := d.sums[s.Output]
	y := new(big.Rat).SetInt64(whole[i])
	return real.Exactly(y.Mul(y, of.Unit[of.Row[i]])), true
}
