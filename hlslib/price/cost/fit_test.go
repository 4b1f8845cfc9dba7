package cost

import (
	"cmp"
	"math"
	"slices"
	"testing"

	"gonum.org/v1/gonum/mat"
)

// A point is one measurement with its estimates.
type point struct {
	sweep    string // the group of measurements that a fit leaves out together
	design   string // the design that was measured; the same design in two sweeps is left out of fits for either
	measured float64
	estimate func(*values) float64 // the estimate, linear in the values
	finn     float64               // FINN's estimate, NaN if it has no formula
}

// A study fits some coefficients to points.
type study struct {
	name   string
	coefs  []int
	points []point
}

// fit returns v with the study's coefficients of the least mean relative error on points, none of them negative. Each
// round of least squares weighs a point by the error of the round before, so that the sum is one of magnitudes and not
// of squares. Half the points may be far off without moving it. Repeated designs count once.
func (s study) fit(points []point, v values) values {
	seen := map[string]bool{}
	points = slices.DeleteFunc(slices.Clone(points), func(p point) bool {
		twice := seen[p.design]
		seen[p.design] = true
		return twice
	})
	coefs := slices.DeleteFunc(slices.Clone(s.coefs), func(c int) bool { return !told(points, c, v) })
	for _, c := range coefs {
		v[c] = 0
	}
	for len(coefs) > 0 {
		x := s.least(points, coefs, v)
		least := slices.Index(x, slices.Min(x))
		if x[least] >= 0 {
			for i, c := range coefs {
				v[c] = x[i]
			}
			break
		}
		coefs = slices.Delete(coefs, least, least+1)
	}
	return v
}

// told reports whether some point depends on the coefficient. Otherwise the coefficient keeps its value.
func told(points []point, coefficient int, v values) bool {
	more := v
	more[coefficient]++
	return slices.ContainsFunc(points, func(p point) bool { return p.estimate(&more) != p.estimate(&v) })
}

// The rounds of least squares, and the relative error below which a point's weight no longer grows.
const (
	rounds = 40
	small  = .02
)

func (s study) least(points []point, coefs []int, v values) []float64 {
	rows := mat.NewDense(len(points), len(coefs), nil)
	want := mat.NewVecDense(len(points), nil)
	for i, p := range points {
		rest := p.estimate(&v)
		want.SetVec(i, (p.measured-rest)/p.measured)
		for j, c := range coefs {
			one := v
			one[c] = 1
			rows.Set(i, j, (p.estimate(&one)-rest)/p.measured)
		}
	}
	weight := make([]float64, len(points))
	for i := range weight {
		weight[i] = 1
	}
	x := mat.NewVecDense(len(coefs), nil)
	for range rounds {
		a, b := mat.DenseCopyOf(rows), mat.VecDenseCopyOf(want)
		for i, w := range weight {
			for j := range coefs {
				a.Set(i, j, w*a.At(i, j))
			}
			b.SetVec(i, w*b.AtVec(i))
		}
		if x.SolveVec(a, b) != nil {
			panic("the points do not tell the coefficients apart")
		}
		var left mat.VecDense
		left.MulVec(rows, x)
		for i := range weight {
			weight[i] = 1 / math.Sqrt(max(small, math.Abs(left.AtVec(i)-want.AtVec(i))))
		}
	}
	return x.RawVector().Data
}

// A trial is a point with the estimate of a fit that left out its sweep.
type trial struct {
	point
	estimated float64
}

func (t trial) error() float64 { return math.Abs(t.estimated/t.measured - 1) }

// trials leaves out one sweep after the other, and every point of another sweep with the same design.
func (s study) trials() []trial {
	var list []trial
	for _, sweep := range s.sweeps() {
		held := map[string]bool{}
		for _, p := range s.points {
			if p.sweep == sweep {
				held[p.design] = true
			}
		}
		var rest []point
		for _, p := range s.points {
			if !held[p.design] {
				rest = append(rest, p)
			}
		}
		v := s.fit(rest, fitted)
		for _, p := range s.points {
			if p.sweep == sweep {
				list = append(list, trial{p, p.estimate(&v)})
			}
		}
	}
	return list
}

func (s study) sweeps() []string {
	var list []string
	for _, p := range s.points {
		if !slices.Contains(list, p.sweep) {
			list = append(list, p.sweep)
		}
	}
	return list
}

// unique keeps one trial for each design and measurement.
func unique(trials []trial) []trial {
	type key struct {
		design   string
		measured float64
	}
	seen := map[key]bool{}
	var list []trial
	for _, t := range trials {
		if k := (key{t.design, t.measured}); !seen[k] {
			seen[k] = true
			list = append(list, t)
		}
	}
	return list
}

// median and worst return the median and the largest of relative errors; NaN if there are none.
func median(errors []float64) float64 {
	if len(errors) == 0 {
		return math.NaN()
	}
	sorted := slices.Sorted(slices.Values(errors))
	return (sorted[(len(sorted)-1)/2] + sorted[len(sorted)/2]) / 2
}

func worst(errors []float64) float64 {
	if len(errors) == 0 {
		return math.NaN()
	}
	return slices.MaxFunc(errors, cmp.Compare[float64])
}

func fittedErrors(trials []trial) []float64 {
	var list []float64
	for _, t := range trials {
		list = append(list, t.error())
	}
	return list
}

func finnErrors(trials []trial) []float64 {
	var list []float64
	for _, t := range trials {
		if !math.IsNaN(t.finn) {
			list = append(list, math.Abs(t.finn/t.measured-1))
		}
	}
	return list
}

// TestFit checks that a fit finds known coefficients, although a quarter of the points is far off.
func TestFit(t *testing.T) {
	t.Parallel()
	s := study{coefs: []int{mvauLUT, product}}
	for i := 1; i <= 20; i++ {
		m := MVAUShape{MW: 8 * i, MH: 4, PE: 1, SIMD: i, WeightBits: 4, InBits: 4, AccBits: 8, Memory: StyleBlockRAM}
		measured := 50 + .5*24*float64(i) + fitted[accumulateLUT]*8
		if i%4 == 0 {
			measured *= 3
		}
		s.points = append(s.points, point{
			design: string(rune('a' + i)), measured: measured,
			estimate: func(v *values) float64 { return sum(m.shares(v)).lut },
		})
	}
	v := s.fit(s.points, fitted)
	if math.Abs(v[mvauLUT]-50) > .1 || math.Abs(v[product]-.5) > .005 {
		t.Errorf("%g LUT and %g a bit, want 50 and 0.5", v[mvauLUT], v[product])
	}
	if v[popcount] != fitted[popcount] {
		t.Error("a coefficient that the study does not fit has changed")
	}
}
