package execution_test

import (
	"errors"
	"fmt"
	"math"
	"math/big"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"testing"

	"hlsgen/frontend/execution"
	"hlsgen/frontend/graph"
	"hlsgen/frontend/program"
	"hlsgen/frontend/real"
	"hlsgen/internal/testsupport/graphtest"
	"hlsgen/internal/testsupport/onnxtest"
)

// TestExactTies has x/scale exactly halfway between codes, and one float64 beside it, with scales that are powers of
// two and with one tenth as float32 has it.
func TestExactTies(t *testing.T) {
	t.Parallel()
	for _, scale := range []float64{0.5, 1, 0x1p-20, float64(float32(0.1)), float64(float32(1.0 / 3)),
		float64(float32(0.0034898300655186176))} {
		for mode, at := range map[string][]float64{ // code of -2.5, -1.5, -0.5, 0.5, 1.5, 2.5
			"ROUND": {-2, -2, 0, 0, 2, 2}, "HALF_EVEN": {-2, -2, 0, 0, 2, 2}, "HALF_UP": {-3, -2, -1, 1, 2, 3},
			"HALF_DOWN": {-2, -1, 0, 0, 1, 2},
			"UP":        {-3, -2, -1, 1, 2, 3}, "DOWN": {-2, -1, 0, 0, 1, 2}, "FLOOR": {-3, -2, -1, 0, 1, 2},
			"CEIL": {-2, -1, 0, 1, 2, 3},
		} {
			g := graphtest.Network([]int{6}, map[string]*graph.ConstantTensor{"s": graphtest.Scalar(scale),
				"z": graphtest.Scalar(0), "b": graphtest.Scalar(8)},
				graphtest.Node("Quant", graphtest.Attrs{"rounding_mode": mode}, "y", "x", "s", "z", "b"))
			p := graphtest.Prepare(t, g)
			var x, below, above, wantBelow, wantAbove, want []float64
			for i, c := range at {
				v := (float64(i) - 2.5) * scale // exact: two bits times 24
				x, below, above = append(x, v), append(below, math.Nextafter(v, -9)),
					append(above, math.Nextafter(v, 9))
				want = append(want, c*scale)
				half := strings.HasPrefix(mode, "HALF") || mode == "ROUND"
				if half {
					wantBelow, wantAbove = append(wantBelow, float64(i-3)*scale), append(wantAbove, float64(i-2)*scale)
				}
			}
			check := func(x, want []float64) {
				if got, err := graphtest.Execute(p, x); err != nil || !slices.Equal(got, want) {
					t.Errorf("%s with scale %v of %v = %v %v, want %v", mode, scale, x, got, err, want)
				}
			}
			check(x, want)
			if wantBelow != nil {
				check(below, wantBelow)
				check(above, wantAbove)
			}
		}
	}
}

// TestOpenRoundingsAreDecided brings values so near a boundary that float64 intervals do not tell: the exact path must.
func TestOpenRoundingsAreDecided(t *testing.T) {
	t.Parallel()
	for _, variance := range []float64{2, 3, 5, 7.25, 0.1} {
		for _, code := range []float64{-3, 0, 1, 6} {
			tie := code + 0.5
			root := math.Sqrt(variance)
			beta := tie - 1/root // 1/root + beta is the tie up to the rounding of beta
			double := func(v float64) *graph.ConstantTensor {
				return &graph.ConstantTensor{DType: graph.DTypeFloat64, Shape: []int{1}, F: []float64{v}}
			}
			g := graphtest.Network([]int{1, 1}, map[string]*graph.ConstantTensor{"g": double(1), "b": double(beta),
				"m": double(0),
				"v": double(variance), "s": graphtest.Scalar(1), "z": graphtest.Scalar(0), "w": graphtest.Scalar(8)},
				graphtest.Node("BatchNormalization", graphtest.Attrs{"epsilon": 0.0}, "n", "x", "g", "b", "m", "v"),
				graphtest.Node("Quant", nil, "y", "n", "s", "z", "w"))
			truth := new(big.Float).SetPrec(600).Quo(big.NewFloat(1).SetPrec(600),
				new(big.Float).SetPrec(600).Sqrt(big.NewFloat(variance)))
			truth.Add(truth, new(big.Float).SetFloat64(beta))
			want := code
			if truth.Cmp(big.NewFloat(tie)) > 0 {
				want = code + 1
			}
			if got, err := graphtest.Execute(graphtest.Prepare(t, g), []float64{1}); err != nil || got[0] != want {
				t.Errorf("1/sqrt(%v)%+v rounds to %v %v, want %v", variance, beta, got, err, want)
			}
		}
	}
	// A quotient that float64 does not hold, multiplied back: the tie is real.
	g := graphtest.Network([]int{3}, map[string]*graph.ConstantTensor{"three": graphtest.Scalar(3),
		"s": graphtest.Scalar(2),
		"z": graphtest.Scalar(0), "w": graphtest.Scalar(8)},
		graphtest.Node("Div", nil, "d", "x", "three"), graphtest.Node("Mul", nil, "m", "d", "three"),
		graphtest.Node("Quant", nil, "y", "m", "s", "z", "w"))
	if got, err := graphtest.Execute(graphtest.Prepare(t, g), []float64{1, 3, 5}); err != nil || !slices.Equal(got,
		[]float64{0, 4, 4}) {
		t.Errorf("ties by way of thirds: %v %v, want 0 4 4", got, err)
	}
}

func TestUndecidable(t *testing.T) {
	t.Parallel()
	init := func() map[string]*graph.ConstantTensor {
		return map[string]*graph.ConstantTensor{"h": graphtest.Scalar(0.5), "two": graphtest.Scalar(2),
			"s": graphtest.Scalar(1), "z": graphtest.Scalar(0),
			"w": graphtest.Scalar(8)}
	}
	quant := func() *graph.Node { return graphtest.Node("Quant", nil, "y", "v", "s", "z", "w") }
	for _, c := range []struct {
		name  string
		nodes []*graph.Node
		x     float64
		want  error
		at    string // the node that is named
	}{
		// sqrt(x)*sqrt(x)/4 = 0.5 for x = 2: a tie that no precision shows.
		{"an irrational tie", []*graph.Node{graphtest.Node("Pow", nil, "r", "x", "h"), graphtest.Node("Mul", nil, "q",
			"r", "r"),
			graphtest.Node("Mul", nil, "u", "q", "h"), graphtest.Node("Mul", nil, "v", "u", "h"), quant()}, 2,
			real.ErrInsufficientPrecision, "y"},
		{"division by zero", []*graph.Node{graphtest.Node("Div", nil, "v", "two", "x"), quant()}, 0,
			real.ErrDivisionByZero,
			"y"},
		{"root of a negative", []*graph.Node{graphtest.Node("Pow", nil, "v", "x", "h"), quant()}, -1,
			real.ErrRootOfNegative,
			"y"},
	} {
		p := graphtest.Prepare(t, graphtest.Network([]int{1}, init(), c.nodes...))
		_, err := graphtest.Execute(p, []float64{c.x})
		var at *execution.NodeExecutionError
		if !errors.Is(err, c.want) || !errors.As(err, &at) || at.Node.Name != c.at ||
			!strings.Contains(err.Error(), c.at) {
			t.Errorf("%s: %v, want %v at %q", c.name, err, c.want, c.at)
		}
	}
	// Without a quantiser, the output itself cannot be rounded.
	p := graphtest.Prepare(t, graphtest.Network([]int{1}, init(), graphtest.Node("Div", nil, "y", "two", "x")))
	if got, err := graphtest.Execute(p, []float64{0}); !errors.Is(err, real.ErrDivisionByZero) {
		t.Errorf("2/0 = %v, %v", got, err)
	}
}

// TestRoundedOutputs compares outputs with a computation in 400 bits, among them halfway cases between two float32s.
func TestRoundedOutputs(t *testing.T) {
	t.Parallel()
	bits := func(v float64) *big.Float { return new(big.Float).SetPrec(400).SetFloat64(v) }
	init := func() map[string]*graph.ConstantTensor {
		return map[string]*graph.ConstantTensor{"c": graphtest.Scalar(3), "d": graphtest.Scalar(float64(float32(0.7))),
			"h": graphtest.Scalar(0.5)}
	}
	narrow := func(g *graph.Graph) *graph.Graph {
		g.Inputs[0].DType = graph.DTypeFloat32
		return g
	}
	for _, c := range []struct {
		name  string
		nodes []*graph.Node
		want  func(x *big.Float) *big.Float
	}{
		{"x/3", []*graph.Node{graphtest.Node("Div", nil, "y", "x", "c")},
			func(x *big.Float) *big.Float { return x.Quo(x, bits(3)) }},
		{"x/3*3", []*graph.Node{graphtest.Node("Div", nil, "q", "x", "c"), graphtest.Node("Mul", nil, "y", "q", "c")},
			func(x *big.Float) *big.Float { return x }},
		{"sqrt(x)+0.7", []*graph.Node{graphtest.Node("Pow", nil, "r", "x", "h"), graphtest.Node("Add", nil, "y", "r",
			"d")},
			func(x *big.Float) *big.Float { return x.Add(x.Sqrt(x), bits(float64(float32(0.7)))) }},
		{"(x-3)*0.7", []*graph.Node{graphtest.Node("Sub", nil, "s", "x", "c"), graphtest.Node("Mul", nil, "y", "s",
			"d")},
			func(x *big.Float) *big.Float {
				return x.Mul(x.Sub(x, bits(3)), bits(float64(float32(0.7))))
			}},
	} {
		r := rand.New(rand.NewPCG(1, 2))
		var x []float64
		for range 300 {
			v := math.Ldexp(1+float64(r.IntN(1<<24))/(1<<24), r.IntN(20)-10)
			x = append(x, v, float64(float32(v)))
		}
		x = append(x, 1+0x1p-24, 1+0x1p-23+0x1p-24, math.MaxFloat32, 0x1p-149, 0x1p-126)
		g := graphtest.Network([]int{len(x)}, init(), c.nodes...)
		for _, dt := range []graph.DType{graph.DTypeFloat32, graph.DTypeFloat64} {
			if g.Inputs[0].DType = dt; dt == graph.DTypeFloat32 {
				narrow(g)
			}
			got, err := graphtest.Execute(graphtest.Prepare(t, g), x)
			if err != nil {
				t.Fatal(err)
			}
			for i, v := range x {
				w := c.want(bits(v))
				f32, _ := w.Float32()
				want := float64(f32)
				if dt == graph.DTypeFloat64 {
					want, _ = w.Float64()
				}
				if got[i] != want {
					t.Errorf("%s at %v as %s = %v, want %v", c.name, v, dt, got[i], want)
				}
			}
		}
	}
}

// truth is a sum of products as a rational.
func truth(a, b []float64) *big.Rat {
	sum := new(big.Rat)
	for i := range a {
		p := new(big.Rat).SetFloat64(a[i])
		sum.Add(sum, p.Mul(p, new(big.Rat).SetFloat64(b[i])))
	}
	return sum
}

// TestDotHoldsTheTruth runs sums of products at random and with all that cancels, overflows and underflows.
func TestDotHoldsTheTruth(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(3, 4))
	vectors := [][2][]float64{
		{{0x1p53, 1, -0x1p53}, {1, 1, 1}},
		{{1e16, 1, -1e16, 1}, {1, 1e-16, 1, 1}},
		{{0x1p600, 1, 0x1p600}, {0x1p400, 1, -0x1p400}},
		{{0x1p600, 1, 0x1p600}, {0x1p500, 1, -0x1p500}},
		{{math.MaxFloat64, math.MaxFloat64, -math.MaxFloat64}, {1, 1, 1}},
		{{0x1p-600, 0x1p-600, 1}, {0x1p-600, -0x1p-600, 0x1p-1074}},
		{{0x1p-540, 0x1p-1074}, {0x1p-540, 0.5}},
		{{0x1p-1074, 0x1p-1074}, {0.5, 0.5}},
		{{0, 0, 0}, {1, 2, 3}},
		{{0.1, 0.2, -0.3}, {1, 1, 1}},
	}
	for range 300 {
		n := 1 + r.IntN(40)
		a, b := make([]float64, n), make([]float64, n)
		for i := range n {
			a[i], b[i] = math.Ldexp(r.NormFloat64(), r.IntN(60)-30), float64(float32(r.NormFloat64()))
			if i > 0 && r.IntN(3) == 0 { // take the last term back, but for its end
				a[i], b[i] = -a[i-1], math.Nextafter(b[i-1], 9)
			}
		}
		vectors = append(vectors, [2][]float64{a, b})
	}
	for _, v := range vectors {
		a, b := v[0], v[1]
		weights := &graph.ConstantTensor{DType: graph.DTypeFloat64, Shape: []int{len(b), 1}, F: b}
		// As written, and with operands that are intervals: divided by 3 and multiplied by it.
		for _, points := range []bool{true, false} {
			init := map[string]*graph.ConstantTensor{"w": weights, "c": {DType: graph.DTypeFloat64, F: []float64{3}}}
			nodes := []*graph.Node{graphtest.Node("MatMul", nil, "y", "x", "w")}
			if !points {
				nodes = []*graph.Node{graphtest.Node("Div", nil, "q", "x", "c"), graphtest.Node("Mul", nil, "p", "q",
					"c"),
					graphtest.Node("MatMul", nil, "y", "p", "w")}
			}
			p := graphtest.Prepare(t, graphtest.Network([]int{1, len(a)}, init, nodes...))
			part, err := execution.NewProgramPart(p, []string{"x"}, []string{"y"})
			if err != nil {
				t.Fatal(err)
			}
			out, all, err := part.Run([]*program.Reals{program.NewExactReals([]int{1, len(a)}, a)})
			if err != nil {
				t.Fatal(err)
			}
			want := truth(a, b)
			lo, hi := big.NewFloat(out[0].Lo[0]), big.NewFloat(out[0].Hi[0])
			exact := new(big.Float).SetPrec(5000).SetRat(want)
			if lo.Cmp(exact) > 0 || hi.Cmp(exact) < 0 {
				t.Errorf("%v . %v = [%v, %v] does not hold %v", a, b, lo, hi, exact)
			}
			if f, err := part.RoundedOutput("y", all); err != nil {
				t.Errorf("%v . %v: %v", a, b, err)
			} else if w, _ := want.Float64(); f[0] != w {
				t.Errorf("%v . %v = %v, want %v", a, b, f[0], w)
			}
		}
	}
}

// TestIntegerDotsArePoints keeps sums of integers exact without the exact path.
func TestIntegerDotsArePoints(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(5, 6))
	const n = 500
	a, b := make([]float64, n), make([]float64, n)
	for i := range n {
		a[i], b[i] = math.Ldexp(float64(r.IntN(256)), -9), math.Ldexp(float64(r.IntN(255)-127), -12)
	}
	p := graphtest.Prepare(t, graphtest.Network([]int{1, n},
		map[string]*graph.ConstantTensor{"w": {DType: graph.DTypeFloat32,
			Shape: []int{n, 1},
			F:     b}}, graphtest.Node("MatMul", nil, "y", "x", "w")))
	part, err := execution.NewProgramPart(p, []string{"x"}, []string{"y"})
	if err != nil {
		t.Fatal(err)
	}
	out, _, err := part.Run([]*program.Reals{program.NewExactReals([]int{1, n}, a)})
	if w, _ := truth(a, b).Float64(); err != nil || out[0].IntervalAt(0) != real.NewPointInterval(w) {
		t.Errorf("%v %v, want the point %v", out[0].IntervalAt(0), err, w)
	}
}

// TestParts cuts a program in two and runs the halves: the result is that of the whole.
func TestParts(t *testing.T) {
	t.Parallel()
	init := map[string]*graph.ConstantTensor{"c": graphtest.Scalar(3), "w": graphtest.Reals([]int{2, 2}, 1, 2, -3, 4),
		"s": graphtest.Scalar(float64(float32(0.3))), "z": graphtest.Scalar(0), "b": graphtest.Scalar(4),
		"k": graphtest.Scalar(7)}
	p := graphtest.Prepare(t, graphtest.Network([]int{1, 2}, init,
		graphtest.Node("Div", nil, "d", "x", "c"), graphtest.Node("Quant", nil, "q", "d", "s", "z", "b"),
		graphtest.Node("MatMul", nil, "m", "q", "w"), graphtest.Node("Relu", nil, "unused", "m"), graphtest.Node("Add",
			nil, "y", "m", "k")))
	names := func(part *execution.ProgramPart) (out []string) {
		for _, n := range part.Nodes() {
			out = append(out, n.Name)
		}
		return out
	}
	cut := func(from, to string) *execution.ProgramPart {
		part, err := execution.NewProgramPart(p, []string{from}, []string{to})
		if err != nil {
			t.Fatal(err)
		}
		return part
	}
	whole, front, back := cut("x", "y"), cut("x", "q"), cut("q", "y")
	for _, c := range []struct {
		part *execution.ProgramPart
		want []string
	}{{whole, []string{"d", "q", "m", "y"}}, {front, []string{"d", "q"}}, {back, []string{"m", "y"}},
		{cut("x", "x"), nil}} {
		if got := names(c.part); !slices.Equal(got, c.want) {
			t.Errorf("nodes %v, want %v", got, c.want)
		}
	}
	x := []*program.Reals{program.NewExactReals([]int{1, 2}, []float64{1, -2})}
	_, all, err := whole.Run(x)
	if err != nil {
		t.Fatal(err)
	}
	want, err := whole.RoundedOutput("y", all)
	if err != nil {
		t.Fatal(err)
	}
	mid, _, err := front.Run(x)
	if err != nil {
		t.Fatal(err)
	}
	_, rest, err := back.Run(mid)
	if err != nil {
		t.Fatal(err)
	}
	if got, err := back.RoundedOutput("y", rest); err != nil || !slices.Equal(got, want) {
		t.Errorf("in two parts %v %v, whole %v", got, err, want)
	}
	part, err := execution.NewProgramPart(p, nil, []string{"y"})
	if err == nil || !strings.Contains(err.Error(), `"x"`) {
		t.Errorf("a part without its input: %v, %v", part, err)
	}
	if _, _, err := whole.Run([]*program.Reals{program.NewExactReals([]int{3}, []float64{1, 2, 3})}); err == nil {
		t.Error("an input of another shape runs")
	}
}

// TestTruth starts from values that are no float64: a third is a third.
func TestTruth(t *testing.T) {
	t.Parallel()
	p := graphtest.Prepare(t, graphtest.Network([]int{2, 1},
		map[string]*graph.ConstantTensor{"c": graphtest.Scalar(1.5),
			"s": graphtest.Scalar(1), "z": graphtest.Scalar(0),
			"b": graphtest.Scalar(4)}, graphtest.Node("Transpose", nil, "r", "x"), graphtest.Node("Mul", nil, "m", "r",
			"c"),
		graphtest.Node("Quant", nil, "y", "m", "s", "z", "b")))
	part, err := execution.NewProgramPart(p, []string{"x"}, []string{"y"})
	if err != nil {
		t.Fatal(err)
	}
	v := &program.Reals{Shape: []int{2, 1}, Lo: make([]float64, 2), Hi: make([]float64, 2)}
	v.Truth = func(i int) *big.Rat { return big.NewRat(int64(2*i+1), 3) } // 1/3, 1: times 1.5 both are ties
	for i := range v.Lo {
		y := graph.FloatIntervalOfRational(v.Truth(i))
		v.Lo[i], v.Hi[i] = y.Lo, y.Hi
	}
	_, all, err := part.Run([]*program.Reals{v})
	if err != nil {
		t.Fatal(err)
	}
	if got, err := part.RoundedOutput("y", all); err != nil || !slices.Equal(got, []float64{0, 2}) {
		t.Errorf("ties of thirds: %v %v, want 0 2", got, err)
	}
}

// TestForksRunAtOnce runs one part in several goroutines; the race detector sees shared scratch space.
func TestForksRunAtOnce(t *testing.T) {
	t.Parallel()
	p := graphtest.Prepare(t, graphtest.Network([]int{1, 4}, map[string]*graph.ConstantTensor{"c": graphtest.Scalar(3),
		"s": graphtest.Scalar(0.5), "z": graphtest.Scalar(0),
		"b": graphtest.Scalar(8)}, graphtest.Node("Div", nil, "d", "x", "c"), graphtest.Node("Quant", nil, "q", "d",
		"s", "z", "b"),
		graphtest.Node("Mul", nil, "y", "q", "c")))
	part, err := execution.NewProgramPart(p, []string{"x"}, []string{"y"})
	if err != nil {
		t.Fatal(err)
	}
	var wait sync.WaitGroup
	for k := range 8 {
		wait.Go(func() {
			mine := part.Fork()
			x := []float64{float64(k), 1.5 * float64(k), -3 * float64(k), 0.75}
			_, all, err := mine.Run([]*program.Reals{program.NewExactReals([]int{1, 4}, x)})
			if err != nil {
				t.Error(err)
				return
			}
			got, err := mine.RoundedOutput("y", all)
			for i, v := range x {
				want := math.RoundToEven(v/3*2) * 0.5 * 3
				if err != nil || got[i] != want {
					t.Errorf("%v gives %v %v, want %v", v, got[i], err, want)
				}
			}
		})
	}
	wait.Wait()
}

// TestFloat32WithinBounds: whatever order a float32 executor sums in, its values lie within the bounds for its codes.
func TestFloat32WithinBounds(t *testing.T) {
	t.Parallel()
	for seed := range uint64(20) {
		r := rand.New(rand.NewPCG(seed, 1))
		vector := func(n int, f func() float64) *graph.ConstantTensor {
			v := make([]float64, n)
			for i := range v {
				v[i] = float64(float32(f()))
			}
			return graphtest.Reals([]int{n}, v...)
		}
		const in, out = 33, 8
		weights := vector(in*out, r.NormFloat64)
		weights.Shape = []int{in, out}
		onnxtest.ZeroRandomRowsAndColumns(r, weights.F, out)
		init := map[string]*graph.ConstantTensor{"w": weights, "g": vector(out, r.NormFloat64), "b": vector(out,
			r.NormFloat64),
			"m": vector(out, r.NormFloat64), "v": vector(out, r.Float64),
			"s": graphtest.Scalar(float64(float32(0.1 + r.Float64()))), "z": graphtest.Scalar(0)}
		code := graphtest.Attrs{"lo": -8.0, "hi": 7.0, "mode": 1, "zero_first": 1}
		p := graphtest.Prepare(t, graphtest.Network([]int{1, in}, init, graphtest.Node("MatMul", nil, "d", "x", "w"),
			graphtest.Node("BatchNormalization", nil, "n", "d", "g", "b", "m", "v"), graphtest.Node("Relu", nil, "r",
				"n"),
			graphtest.Node("Code", code, "c", "r", "s", "z"), graphtest.Node("Mul", nil, "y", "c", "s")))
		part, err := execution.NewProgramPart(p, []string{"x"}, []string{"y"})
		if err != nil {
			t.Fatal(err)
		}
		x := []*program.Reals{program.NewExactReals([]int{1, in}, vector(in, r.NormFloat64).F)}
		_, exact, err := part.Run(x)
		if err != nil {
			t.Fatal(err)
		}
		if codes := part.QuantiserTensorNames(); !slices.Equal(codes, []string{"c"}) {
			t.Fatalf("codes %v", codes)
		}
		bounds, open := part.BoundFloat32Values(x, exact)
		for name, b := range bounds {
			for i := range b.Lo {
				if e := exact[name].IntervalAt(i); e.Lo < b.Lo[i] || e.Hi > b.Hi[i] {
					t.Errorf("seed %d: %s[%d] = %v lies outside %v", seed, name, i, e, b.IntervalAt(i))
				}
			}
		}
		for _, v := range execution.Float32Variants {
			run := part.RunFloat32(x, v)
			theirs, _ := part.BoundFloat32Values(x, run)
			for _, name := range []string{"d", "n", "r", "y"} {
				for i, f := range run[name].Lo {
					if f != float64(float32(f)) || f < theirs[name].Lo[i] || f > theirs[name].Hi[i] {
						t.Errorf("seed %d, %v: %s[%d] = %v lies outside %v", seed, v, name, i, f,
							theirs[name].IntervalAt(i))
					}
				}
			}
			for i, c := range run["c"].Lo {
				if c != exact["c"].Lo[i] && !open["c"][i] {
					t.Errorf("seed %d, %v: code %d parts from the exact one away from a boundary", seed, v, i)
				}
			}
		}
	}
}

func TestFormat(t *testing.T) {
	t.Parallel()
	long := make([]float64, 20)
	g := graphtest.Network([]int{1, 2}, map[string]*graph.ConstantTensor{"w": graphtest.Reals([]int{20}, long...),
		"b": graphtest.Int64s(3, -4)},
		graphtest.Node("Gemm", graphtest.Attrs{"alpha": 0.5, "transB": 1, "name": "a\nb", "list": []int64{1, 2},
			"reals":  []float64{0.5},
			"tensor": graphtest.Scalar(1)}, "y", "x", "", "w"))
	g.Inputs[0].Dims[0] = graph.Dim{Size: -1, Param: "N"}
	var a, b strings.Builder
	if err := errors.Join(graph.WriteGraphText(&a, g), graph.WriteGraphText(&b, g.ShallowCopy())); err != nil ||
		a.String() != b.String() {
		t.Fatalf("%v\n%s\n%s", err, a.String(), b.String())
	}
	want := `input  "x" float64 ["N" 2]
const  "b" int64 [2] 3 -4
const  "w" float32 [20] 0 0 0 0 0 0 0 0 ... fnv64a %s
node   0 "y" Gemm("x", "", "w") -> "y" alpha=0.5 list=[1 2] name="a\nb" reals=[0.5] tensor=float32[](1) transB=1
output "y" undefined ?
`
	hash := a.String()[strings.Index(a.String(), "fnv64a ")+7:][:16]
	if want = fmt.Sprintf(want, hash); a.String() != want {
		t.Errorf("got:\n%swant:\n%s", a.String(), want)
	}
	long[19] = 1
	var c strings.Builder
	if err := graph.WriteGraphText(&c, g); err != nil || c.String() == a.String() {
		t.Errorf("a change of the last value does not show: %v", err)
	}
}

func TestCopy(t *testing.T) {
	t.Parallel()
	g := graphtest.Network([]int{1}, map[string]*graph.ConstantTensor{"c": graphtest.Scalar(3)}, graphtest.Node("Mul",
		nil,
		"y", "x", "c"))
	n, c := g.Nodes[0], g.ShallowCopy()
	c.Nodes[0], c.Init["d"], c.Inputs[0].Name, c.Outputs[0].Name = graphtest.Node("Add", nil, "y", "x", "c"),
		graphtest.Scalar(1), "a", "b"
	if g.Nodes[0] != n || g.Init["d"] != nil || g.Inputs[0].Name != "x" || g.Outputs[0].Name != "y" {
		t.Errorf("a change of the copy changes %v", g)
	}
}
