package execution

import (
	"math/big"

	"hlsgen/frontend/graph"
	"hlsgen/frontend/program"
	"hlsgen/frontend/real"
)

// A SumReplacement holds a function that gives integers in place of the sums of a step's products, for example those of
// accumulators that overflow.
type SumReplacement struct {
	Sum  func(x *program.Reals) ([]int64, error) // returns all outputs, given the whole input A
	Unit []*big.Rat                              // by row: the real value of 1
	Row  []int32                                 // by output: its row
}

// WithReplacedSums returns a copy of the part that replaces the sums of some steps. sums holds the replacements by the
// name of the step's output. Steps in loops cannot be replaced.
func (p *ProgramPart) WithReplacedSums(sums map[string]*SumReplacement) *ProgramPart {
	q := p.Fork()
	q.sums = sums
	return q
}

// sum runs a step whose sums s replaces. It keeps the integers for exact decisions in later steps.
func (r *runner) sum(s *SumReplacement, in []*program.Reals, out *program.Reals, d *decider) error {
	whole, err := s.Sum(in[r.product.Dot.A])
	if err != nil {
		return err
	}
	unit := make([]real.Interval, len(s.Unit))
	for i, u := range s.Unit {
		unit[i] = graph.FloatIntervalOfRational(u)
	}
	for i, n := range whole {
		y := unit[s.Row[i]].Mul(real.NewPointInterval(float64(n)))
		out.Lo[i], out.Hi[i] = y.Lo, y.Hi
	}
	d.summed[r.product.Output] = whole
	return nil
}

// sumOf returns the integer that replaces the i-th sum of a step. ok is false if the step's sums are not replaced.
func (d *decider) sumOf(s *program.Step, i int) (n real.Num, ok bool) {
	whole, ok := d.summed[s.Output]
	if !ok {
		return n, false
	}
	of := d.sums[s.Output]
	y := new(big.Rat).SetInt64(whole[i])
	return real.NumberOfRational(y.Mul(y, of.Unit[of.Row[i]])), true
}
