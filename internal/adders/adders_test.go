package adders

import (
	"math/rand/v2"
	"slices"
	"testing"

	"hlsgen/internal/num"
	"hlsgen/internal/testsupport/circuittest"
	"hlsgen/internal/testsupport/tier"
)

// TestProduct compares the outputs of graphs of random matrices with the products, and their levels with the limit.
func TestProduct(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(1, 45))
	for range tier.CasesToRun(1000) {
		matrix, inputs := circuittest.DrawMatrix(r)
		extra := []int{0, 1, AnyLevels}[r.IntN(3)]
		g := Product(matrix, inputs, extra, 2+r.IntN(2))
		rows, _ := different(matrix)
		if most := leastLevels(rows) + extra; g.Levels() > most {
			t.Errorf("a path of %d adders for %v, want at most %d", g.Levels(), matrix, most)
		}
		check(t, r, g, matrix)
	}
}

// check compares the outputs of a graph with the products of its matrix and random vectors, and the extremes of
// its outputs among them.
func check(t *testing.T, r *rand.Rand, g *Graph, matrix [][]int64) {
	t.Helper()
	for range 50 {
		x := make([]int64, len(g.Inputs))
		for i, in := range g.Inputs {
			switch r.IntN(3) {
			case 0:
				x[i] = in.Lo
			case 1:
				x[i] = in.Hi
			default:
				x[i] = in.Lo + r.Int64N(in.ValueCount())
			}
		}
		want := make([]int64, len(matrix))
		for i, row := range matrix {
			for k, w := range row {
				want[i] += w * x[k]
			}
		}
		if got := g.Values(x); !slices.Equal(got, want) {
			t.Fatalf("%v times %v is %v, want %v", matrix, x, got, want)
		}
	}
}

// TestRangeOf compares the range of every signal with the values that it has for all inputs.
func TestRangeOf(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(2, 45))
	for range 40 {
		matrix, _ := circuittest.DrawMatrix(r)
		columns := min(4, len(matrix[0]))
		inputs := make([]num.Range, columns)
		for i := range inputs {
			lo := r.Int64N(9) - 4
			inputs[i] = num.Range{Lo: lo, Hi: lo + r.Int64N(5)}
		}
		for i := range matrix {
			matrix[i] = matrix[i][:columns]
		}
		g := Product(matrix, inputs, 1, 3)
		var found []num.Range
		x := make([]int64, columns)
		for i, in := range inputs {
			x[i] = in.Lo
		}
		for more := true; more; {
			for s, v := range g.signals(x) {
				if s == len(found) {
					found = append(found, num.SingleValueRange(v))
				}
				found[s] = found[s].Union(num.SingleValueRange(v))
			}
			more = false
			for i := range x {
				if x[i]++; x[i] <= inputs[i].Hi {
					more = true
					break
				}
				x[i] = inputs[i].Lo
			}
		}
		for s, want := range found {
			if got := g.RangeOf(Signal(s)); got != want {
				t.Errorf("signal %d of %v has the range %v, want %v", s, matrix, got, want)
			}
		}
	}
}

// TestAdders checks that adders of three operands make every sum once, operands first, with no more bits, and that the
// operands of each add up to its sum.
func TestAdders(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(3, 45))
	joined := 0
	for range 60 {
		matrix, inputs := circuittest.DrawMatrix(r)
		g := Product(matrix, inputs, 0, 3)
		x := make([]int64, len(inputs))
		for i, in := range inputs {
			x[i] = in.Lo + r.Int64N(in.ValueCount())
		}
		v := g.signals(x)
		made := make([]int, len(v))
		for i := range inputs {
			made[i] = 1
		}
		for _, a := range g.Adders(3) {
			sum := int64(0)
			for _, o := range g.Operands(a) {
				if made[o.Signal] == 0 || o.Signal == a.Joined {
					t.Fatalf("signal %d is read before it is made", o.Signal)
				}
				if term := v[o.Signal] << o.Shift; o.Minus {
					sum -= term
				} else {
					sum += term
				}
			}
			if sum != v[a.Sum] {
				t.Errorf("the operands of signal %d are %d together, want %d", a.Sum, sum, v[a.Sum])
			}
			if made[a.Sum]++; a.Joined != NoSignal {
				made[a.Joined]++
				joined++
			}
		}
		for s, n := range made {
			if n != 1 {
				t.Errorf("signal %d is made %d times", s, n)
			}
		}
		if two, three := g.Bits(2), g.Bits(3); three > two {
			t.Errorf("%d bits of adders with up to three operands, %d with two", three, two)
		}
	}
	if joined == 0 {
		t.Error("no adder has three operands")
	}
}
