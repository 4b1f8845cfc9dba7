package recur

import (
	"math"
	"math/big"
	"math/rand/v2"
	"strings"
	"testing"

	"hlsgen/frontend/graph"
	"hlsgen/frontend/program"
	"hlsgen/frontend/real"
	"hlsgen/hlslib/layer"
	"hlsgen/internal/num"
)

// compute returns the settled code of unit u, given the values of those arguments that are no codes.
func compute(v *value, u int, known map[*value]int64) int64 {
	if x, ok := known[v]; ok {
		return x
	}
	var sum int64
	for t, term := range v.made.terms {
		x := layer.ElementForChannel(v.made.factors[t], u)
		for _, a := range term {
			x *= compute(v.args[a], u, known)
		}
		sum += x
	}
	if len(v.made.bias) > 0 {
		sum += layer.ElementForChannel(v.made.bias, u)
	}
	switch {
	case v.made.requant != nil:
		return v.made.requant.Apply(sum)
	case v.made.steps != nil:
		return layer.ElementForChannel(v.made.steps, u).Apply(sum)
	}
	return sum
}

// far draws a scale of 48 bits, which lies up to the given number of bits above or below 1.
func far(r *rand.Rand, bits int) *big.Rat {
	s := new(big.Rat).SetFloat64(math.Ldexp(float64(float32(r.NormFloat64()))*float64(float32(r.NormFloat64())),
		r.IntN(2*bits+1)-bits))
	return s
}

// TestLimbs compares codes of sums whose factors have up to hundreds of bits with the real numbers, at the steps.
func TestLimbs(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(4, 4))
	most, changed := 0, 0
	for range 60 {
		n, bits := 1+r.IntN(4), []int{0, 10, 40, 150}[r.IntN(4)]
		v := &value{kind: code, units: 1 + r.IntN(2), step: &program.Step{}}
		var terms [][]int
		for i := range n {
			a := &value{kind: sum, units: v.units}
			for range v.units {
				lo := -r.Int64N(int64(1) << (1 + r.IntN(20)))
				a.ranges = append(a.ranges, num.Range{Lo: lo, Hi: lo + r.Int64N(int64(1)<<(1+r.IntN(20)))})
			}
			v.args, terms = append(v.args, a), append(terms, []int{i})
		}
		if n == 4 {
			terms[3] = []int{3, 0}
		}
		units := make([]polynomial, v.units)
		for u := range units {
			p := &units[u]
			for _, term := range terms {
				p.scale, p.ranges = append(p.scale, far(r, bits)), append(p.ranges, v.productRange(term, u))
			}
			_, reach := p.reach()
			x := real.Div(real.Var(0), real.ConstantExpr(reach.Mul(reach.Abs(reach),
				big.NewRat(1+r.Int64N(40), 60)).Add(reach,
				big.NewRat(1, 1<<40))))
			x = real.Mul(x, real.ConstantExprOfFloat(5))
			p.outer = real.Round(real.Min(real.Max(x, real.ConstantExprOfFloat(-4)), real.ConstantExprOfFloat(3)),
				real.RoundingModeHalfEven)
		}
		args := v.args
		more, err := v.limbs(terms, units)
		if err != nil {
			t.Fatal(err)
		}
		most = max(most, len(more))
		for range 60 {
			u := r.IntN(v.units)
			known, x := map[*value]int64{}, new(big.Rat)
			for _, a := range args {
				known[a] = a.ranges[u].Lo + r.Int64N(a.ranges[u].Hi-a.ranges[u].Lo+1)
				if r.IntN(4) == 0 { // beside a point where that term is 0
					known[a] = min(max(r.Int64N(3)-1, a.ranges[u].Lo), a.ranges[u].Hi)
				}
			}
			for k, term := range terms {
				p := big.NewInt(1)
				for _, i := range term {
					p.Mul(p, big.NewInt(known[args[i]]))
				}
				x.Add(x, new(big.Rat).Mul(units[u].scale[k], new(big.Rat).SetInt(p)))
			}
			f := real.Compile(units[u].outer.SubstituteVariables([]*real.Expr{real.ConstantExpr(x)}))
			want, err := f.StepFunctionOver(num.SingleValueRange(0), 1)
			if err != nil {
				t.Fatal(err)
			}
			if got := compute(v, u, known); got != want.Value[0] {
				t.Fatalf("scales %v: the code of %v is %d, want %d", units[u].scale, x, got, want.Value[0])
			}
			if want.Value[0] != 0 {
				changed++
			}
		}
	}
	if most < 12 || changed < 500 {
		t.Errorf("at most %d values, %d codes other than 0: too few to tell", most, changed)
	}
}

// TestLimbsTies compares exactly at the steps, for sums of two terms of which the smaller one decides.
func TestLimbsTies(t *testing.T) {
	t.Parallel()
	a := &value{kind: sum, units: 1, ranges: []num.Range{{Lo: -100, Hi: 100}}}
	b := &value{kind: sum, units: 1, ranges: []num.Range{{Lo: -1 << 20, Hi: 1 << 20}}}
	v := &value{kind: code, units: 1, step: &program.Step{}, args: []*value{a, b}}
	outer := real.Round(real.Min(real.Max(real.Var(0), real.ConstantExprOfFloat(-3)), real.ConstantExprOfFloat(3)),
		real.RoundingModeHalfEven)
	p := polynomial{scale: []*big.Rat{big.NewRat(1, 2), new(big.Rat).SetFloat64(0x1p-120)},
		ranges: []num.Range{a.ranges[0], b.ranges[0]}, outer: outer}
	if _, err := v.limbs([][]int{{0}, {1}}, []polynomial{p}); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct{ a, b, want int64 }{
		{1, 0, 0}, {1, 1, 1}, {1, -1, 0}, {3, 0, 2}, {3, -1, 1}, {3, 1, 2}, {-1, 0, 0}, {-1, -1, -1}, {-1, 1, 0},
		{5, 0, 2}, {5, 1, 3}, {-5, -1, -3}, {-5, 0, -2}, {100, -1 << 20, 3}, {0, 1 << 20, 0},
	} {
		if got := compute(v, 0, map[*value]int64{a: c.a, b: c.b}); got != c.want {
			t.Errorf("%d/2 + %d/2^120 is %d, want %d", c.a, c.b, got, c.want)
		}
	}
}

// TestLimbsRefuse checks that products which leave no bits for factors are refused, and too many steps.
func TestLimbsRefuse(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		span  int64
		outer *real.Expr
		want  string
	}{
		{1 << 60, real.Round(real.Min(real.Max(real.Var(0), real.ConstantExprOfFloat(0)), real.ConstantExprOfFloat(1)),
			real.RoundingModeTowardsNegativeInf),
			"59 bits"},
		{1 << 20, real.Round(real.Var(0), real.RoundingModeTowardsNegativeInf), "4096 steps"},
	} {
		v := &value{kind: code, units: 1, step: &program.Step{Node: &graph.Node{Name: "n", Op: "Quant"}},
			args: []*value{{kind: sum}}}
		p := polynomial{scale: []*big.Rat{big.NewRat(1, 1)}, ranges: []num.Range{{Hi: c.span}}, outer: c.outer}
		if _, err := v.limbs([][]int{{0}}, []polynomial{p}); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("sums up to %d: %v, want %q", c.span, err, c.want)
		}
	}
}
