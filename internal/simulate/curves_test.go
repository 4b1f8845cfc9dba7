package simulate_test

import (
	"fmt"
	"math"
	"math/big"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"hlsgen/frontend/graph"
	"hlsgen/internal/engines"
	"hlsgen/internal/npy"
	"hlsgen/internal/options"
	"hlsgen/internal/simulate"
	"hlsgen/internal/testsupport/onnxtest"
	"hlsgen/internal/testsupport/samplefiles"
	"hlsgen/internal/testsupport/simtest"
	"hlsgen/internal/testsupport/tier"
)

// A curve is a function of one element: how a model has it, and what it gives.
type curve struct {
	name   string
	ends   [2]float64 // of what it is asked for; none for -5 to 5
	write  func(m *onnxtest.Model, x, y string)
	digits func(x *big.Float) *big.Float
}

// one writes a node of an operator.
func one(op string, attrs ...any) func(m *onnxtest.Model, x, y string) {
	return func(m *onnxtest.Model, x, y string) {
		n := m.Node(op, x).Out(y)
		for i := 0; i < len(attrs); i += 2 {
			switch v := attrs[i+1].(type) {
			case string:
				n.Str(attrs[i].(string), v)
			case float64:
				n.Float(attrs[i].(string), float32(v))
			}
		}
	}
}

// part32 is a number as float32 has it.
func part32(v float64) *big.Float { return numOf(float64(float32(v))) }

// below is f for negative x, and x for others.
func below(f func(x *big.Float) *big.Float) func(x *big.Float) *big.Float {
	return func(x *big.Float) *big.Float {
		if x.Sign() < 0 {
			return f(x)
		}
		return x
	}
}

func sigmoidDigits(x *big.Float) *big.Float {
	return over(numOf(1), plus(numOf(1), expDigits(num0().Neg(x))))
}

func phiDigits(x *big.Float) *big.Float {
	return times(numOf(0.5), plus(numOf(1), erfDigits(over(x, rootDigits(numOf(2))))))
}

func powDigits(n int) func(x *big.Float) *big.Float {
	return func(x *big.Float) *big.Float {
		y := numOf(1)
		for range n {
			y = times(y, x)
		}
		return y
	}
}

func absDigits(x *big.Float) *big.Float { return num0().Abs(x) }

var curves = []curve{
	{name: "Gelu", write: one("Gelu"), digits: func(x *big.Float) *big.Float { return times(x, phiDigits(x)) }},
	{name: "Gelu of tanh", write: one("Gelu", "approximate", "tanh"), digits: func(x *big.Float) *big.Float {
		cubic := plus(x, times(over(numOf(44715), numOf(1e6)), powDigits(3)(x)))
		u := times(rootDigits(over(numOf(2), piDigits())), cubic)
		return times(times(numOf(0.5), x), plus(numOf(1), tanhDigits(u)))
	}},
	{name: "Gelu in nodes", write: func(m *onnxtest.Model, x, y string) {
		m.Init(y+".root", graph.DTypeFloat32, nil, math.Sqrt2).Init(y+".one", graph.DTypeFloat32, nil, 1).
			Init(y+".half", graph.DTypeFloat32, nil, 0.5)
		m.Node("Div", x, y+".root").Out(y + ".0")
		m.Node("Erf", y+".0").Out(y + ".1")
		m.Node("Add", y+".1", y+".one").Out(y + ".2")
		m.Node("Mul", x, y+".2").Out(y + ".3")
		m.Node("Mul", y+".3", y+".half").Out(y)
	}, digits: func(x *big.Float) *big.Float {
		return times(times(x, plus(erfDigits(over(x, part32(math.Sqrt2))), numOf(1))), numOf(0.5))
	}},
	{name: "SiLU in nodes", write: func(m *onnxtest.Model, x, y string) {
		m.Node("Sigmoid", x).Out(y + ".0")
		m.Node("Mul", x, y+".0").Out(y)
	}, digits: func(x *big.Float) *big.Float { return times(x, sigmoidDigits(x)) }},
	{name: "Swish", write: one("Swish", "alpha", 1.3), digits: func(x *big.Float) *big.Float {
		return times(x, sigmoidDigits(times(part32(1.3), x)))
	}},
	{name: "Mish", write: one("Mish"), digits: func(x *big.Float) *big.Float {
		return times(x, tanhDigits(logDigits(plus(numOf(1), expDigits(x)))))
	}},
	{name: "HardSwish", write: one("HardSwish"), digits: func(x *big.Float) *big.Float {
		return over(times(x, lesserOf(greaterOf(plus(x, numOf(3)), numOf(0)), numOf(6))), numOf(6))
	}},
	{name: "HardSwish in nodes", write: func(m *onnxtest.Model, x, y string) {
		m.Node("HardSigmoid", x).Float("alpha", 1.0/6).Out(y + ".0")
		m.Node("Mul", x, y+".0").Out(y)
	}, digits: func(x *big.Float) *big.Float {
		line := plus(times(part32(1.0/6), x), numOf(0.5))
		return times(x, lesserOf(greaterOf(line, numOf(0)), numOf(1)))
	}},
	{name: "HardSigmoid", write: one("HardSigmoid"), digits: func(x *big.Float) *big.Float {
		return lesserOf(greaterOf(plus(times(part32(0.2), x), numOf(0.5)), numOf(0)), numOf(1))
	}},
	{name: "Celu", write: one("Celu", "alpha", 0.7), digits: below(func(x *big.Float) *big.Float {
		return times(part32(0.7), minus(expDigits(over(x, part32(0.7))), numOf(1)))
	})},
	{name: "Elu", write: one("Elu", "alpha", 1.2), digits: below(func(x *big.Float) *big.Float {
		return times(part32(1.2), minus(expDigits(x), numOf(1)))
	})},
	{name: "Selu", write: one("Selu"), digits: func(x *big.Float) *big.Float {
		f := below(func(x *big.Float) *big.Float {
			return times(part32(1.67326319217681884765625), minus(expDigits(x), numOf(1)))
		})
		return times(part32(1.05070102214813232421875), f(x))
	}},
	{name: "Softplus", write: one("Softplus"), digits: func(x *big.Float) *big.Float {
		return logDigits(plus(numOf(1), expDigits(x)))
	}},
	{name: "Softsign", write: one("Softsign"), digits: func(x *big.Float) *big.Float {
		return over(x, plus(numOf(1), absDigits(x)))
	}},
	{name: "ThresholdedRelu", write: one("ThresholdedRelu", "alpha", 0.8), digits: func(x *big.Float) *big.Float {
		if x.Cmp(part32(0.8)) > 0 {
			return x
		}
		return numOf(0)
	}},
	{name: "Shrink", write: one("Shrink", "lambd", 1.5, "bias", 0.25), digits: func(x *big.Float) *big.Float {
		switch {
		case x.Cmp(numOf(-1.5)) < 0:
			return plus(x, numOf(0.25))
		case x.Cmp(numOf(1.5)) > 0:
			return minus(x, numOf(0.25))
		}
		return numOf(0)
	}},
	{name: "Sign", write: one("Sign"), digits: func(x *big.Float) *big.Float { return numOf(float64(x.Sign())) }},
	{name: "Round", write: one("Round"), digits: func(x *big.Float) *big.Float {
		return num0().SetInt(wholeDigits(x))
	}},
	{name: "Sigmoid", write: one("Sigmoid"), digits: sigmoidDigits},
	{name: "Tanh", write: one("Tanh"), digits: tanhDigits},
	{name: "LeakyRelu", write: one("LeakyRelu"), digits: below(func(x *big.Float) *big.Float {
		return times(part32(0.01), x)
	})},
	{name: "Erf", write: one("Erf"), digits: erfDigits},
	{name: "Exp", write: one("Exp"), digits: expDigits},
	{name: "Sin", write: one("Sin"), digits: func(x *big.Float) *big.Float { s, _ := sinCos(x); return s }},
	{name: "Cos", write: one("Cos"), digits: func(x *big.Float) *big.Float { _, c := sinCos(x); return c }},
	{name: "Atan", write: one("Atan"), digits: atanDigits},
	{name: "Sinh", write: one("Sinh"), digits: func(x *big.Float) *big.Float {
		return times(numOf(0.5), minus(expDigits(x), expDigits(num0().Neg(x))))
	}},
	{name: "Asinh", write: one("Asinh"), digits: func(x *big.Float) *big.Float {
		return logDigits(plus(x, rootDigits(plus(times(x, x), numOf(1)))))
	}},
	{name: "Tan", ends: [2]float64{-1.2, 1.2}, write: one("Tan"), digits: func(x *big.Float) *big.Float {
		s, c := sinCos(x)
		return over(s, c)
	}},
	{name: "Asin", ends: [2]float64{-1, 1}, write: one("Asin"), digits: func(x *big.Float) *big.Float {
		return atanDigits(over(x, rootDigits(minus(numOf(1), times(x, x)))))
	}},
	{name: "Acos", ends: [2]float64{-1, 1}, write: one("Acos"), digits: func(x *big.Float) *big.Float {
		return minus(over(piDigits(), numOf(2)), atanDigits(over(x, rootDigits(minus(numOf(1), times(x, x))))))
	}},
	{name: "Atanh", ends: [2]float64{-1, 1}, write: one("Atanh"), digits: func(x *big.Float) *big.Float {
		return times(numOf(0.5), logDigits(over(plus(numOf(1), x), minus(numOf(1), x))))
	}},
	{name: "Acosh", ends: [2]float64{1.01, 9}, write: one("Acosh"), digits: func(x *big.Float) *big.Float {
		return logDigits(plus(x, rootDigits(minus(times(x, x), numOf(1)))))
	}},
	{name: "Reciprocal", ends: [2]float64{0.05, 8}, write: one("Reciprocal"), digits: func(x *big.Float) *big.Float {
		return over(numOf(1), x)
	}},
	{name: "Sqrt", ends: [2]float64{0.05, 8}, write: one("Sqrt"), digits: rootDigits},
	{name: "Log", ends: [2]float64{0.05, 8}, write: one("Log"), digits: logDigits},
	{name: "Pow of 3", write: power(3), digits: powDigits(3)},
	{name: "Pow of 1.5", ends: [2]float64{0.05, 8}, write: power(1.5), digits: func(x *big.Float) *big.Float {
		return times(x, rootDigits(x))
	}},
	{name: "Pow of 0.3", ends: [2]float64{0.05, 8}, write: power(0.3), digits: func(x *big.Float) *big.Float {
		return expDigits(times(part32(0.3), logDigits(x)))
	}},
	{name: "Pow of -2", ends: [2]float64{0.25, 8}, write: power(-2), digits: func(x *big.Float) *big.Float {
		return over(numOf(1), times(x, x))
	}},
}

func power(e float64) func(m *onnxtest.Model, x, y string) {
	return func(m *onnxtest.Model, x, y string) {
		m.Init(y+".e", graph.DTypeFloat32, nil, e).Node("Pow", x, y+".e").Out(y)
	}
}

// A grid is a quantiser of codes 0 to 2^bits-1: scale and zero point of each channel.
type grid struct {
	bits        int
	scale, zero []float64
}

// gridOver has a scale of each channel such that its codes reach about from lo to hi; where it is strict, not beyond.
func gridOver(r *rand.Rand, bits, channels int, lo, hi float64, strict bool) grid {
	g := grid{bits: bits}
	for range channels {
		steps, wide := math.Exp2(float64(bits))-1, (hi-lo)*(0.4+r.Float64())
		if strict {
			steps, wide = steps+2, (hi-lo)*(0.7+0.3*r.Float64())
		}
		scale := float64(float32(wide / steps))
		zero := math.Round(-lo / scale)
		if strict { // the least code is above lo
			zero = math.Ceil(-lo/scale) - 1
			if lo >= 0 {
				zero = -math.Ceil(lo / scale)
			}
		}
		g.scale, g.zero = append(g.scale, scale), append(g.zero, zero)
	}
	return g
}

// write quantises x to y.
func (g *grid) write(m *onnxtest.Model, x, y string) {
	shape := []int{len(g.scale)}
	m.Init(y+".scale", graph.DTypeFloat32, shape, g.scale...).Init(y+".zero", graph.DTypeFloat32, shape, g.zero...).
		Init(y+".bits", graph.DTypeFloat32, nil, float64(g.bits))
	m.Node("Quant", x, y+".scale", y+".zero", y+".bits").Domain("qonnx.custom_op.general").Int("signed", 0).
		Int("narrow", 0).Str("rounding_mode", "ROUND").Out(y)
}

// value is what a code of a channel stands for.
func (g *grid) value(code int64, c int) *big.Float {
	return times(minus(num0().SetInt64(code), numOf(g.zero[c])), numOf(g.scale[c]))
}

// code is that of a value.
func (g *grid) code(x *big.Float, c int) int64 {
	x = plus(over(x, numOf(g.scale[c])), numOf(g.zero[c]))
	x = lesserOf(greaterOf(x, numOf(0)), numOf(math.Exp2(float64(g.bits))-1))
	return wholeDigits(x).Int64()
}

// A bench is a model of curves side by side: each is between a quantiser of its own and quantisers of several widths,
// in front of products by ones and twos.
type bench struct {
	of       []curve
	in       int   // bits
	out      []int // bits
	channels int
}

// write gives the model, an input of all codes, and what comes out, by curve and width.
func (b *bench) write(t *testing.T, r *rand.Rand) (model, input string, want []*npy.Array) {
	t.Helper()
	m := onnxtest.New(24).Opset("qonnx.custom_op.general", 2)
	inputs, shape := map[string]*npy.Array{}, []int{1, 1 << b.in, b.channels}
	w := make([]float64, b.channels*b.channels)
	for c := range b.channels {
		w[c*b.channels+c] = float64(1 + c%2)
	}
	m.Init("w", graph.DTypeFloat32, []int{b.channels, b.channels}, w...)
	for k, f := range b.of {
		strict := f.ends != [2]float64{}
		if !strict {
			f.ends = [2]float64{-5, 5}
		}
		from := gridOver(r, b.in, b.channels, f.ends[0], f.ends[1], strict)
		lo, hi := math.Inf(1), math.Inf(-1)
		x, values := &npy.Array{DType: "float32", Shape: shape}, []*big.Float{}
		for i := range b.channels << b.in {
			at := from.value(int64(i/b.channels), i%b.channels)
			v, _ := at.Float64()
			x.Data, values = append(x.Data, float64(float32(v))), append(values, f.digits(at))
			v, _ = values[i].Float64()
			lo, hi = min(lo, v), max(hi, v)
		}
		name := func(s string) string { return fmt.Sprintf("%s%d", s, k) }
		m.Input(name("x"), graph.DTypeFloat32, shape[0], shape[1], shape[2])
		inputs[name("x")] = x
		from.write(m, name("x"), name("q"))
		f.write(m, name("q"), name("f"))
		for _, bits := range b.out {
			to := gridOver(r, bits, b.channels, lo-1e-3, hi+1e-3, false)
			codes, y := fmt.Sprintf("c%d_%d", k, bits), fmt.Sprintf("y%d_%d", k, bits)
			to.write(m, name("f"), codes)
			m.Node("MatMul", codes, "w").Out(y)
			m.Output(y, graph.DTypeFloat32, shape[0], shape[1], shape[2])
			out := &npy.Array{DType: "float32", Shape: shape}
			for i, v := range values {
				c := i % b.channels
				got, _ := times(to.value(to.code(v, c), c), numOf(w[c*b.channels+c])).Float32()
				out.Data = append(out.Data, float64(got))
			}
			want = append(want, out)
		}
	}
	model = filepath.Join(t.TempDir(), "model.onnx")
	if err := os.WriteFile(model, m.Bytes(), 0o644); err != nil {
		t.Fatal(err)
	}
	return model, samplefiles.WriteZip(t, inputs), want
}

// TestCurves has every engine give each code of every curve, rising or not, between quantisers of 2 to 16 bits with
// random scales and zero points, one for all channels or one for each, as an evaluation with hundreds of bits has it.
func TestCurves(t *testing.T) {
	t.Parallel()
	tier.NotQuick(t)
	benches := []bench{{curves, 4, []int{4}, 1}, {curves, 2, []int{8}, 3}, {curves, 8, []int{8}, 1},
		{curves[6:7], 16, []int{16}, 1}}
	list := []engines.EngineName{engines.EngineReference, engines.EngineFast, engines.EngineEval, engines.EngineCycle}
	if tier.Long() {
		benches = nil
		for _, in := range []int{2, 4, 8, 16} {
			for _, channels := range []int{1, 2} {
				for some := range slices.Chunk(curves, 5) {
					benches = append(benches, bench{some, in, []int{2, 4, 8, 16}, channels})
				}
			}
		}
		list = append(list, engines.EngineCSim)
		tier.Needs(t, "g++")
	}
	for i, b := range benches {
		t.Run(fmt.Sprint(i, b.in, b.out, b.channels), func(t *testing.T) {
			t.Parallel()
			model, input, want := b.write(t, rand.New(rand.NewPCG(uint64(i), 24)))
			for _, e := range list {
				o := simulate.Options{Source: options.Source{Model: model,
					SampleFiles: options.SampleFiles{Data: input}},
					Hardware: options.Hardware{Board: "alveo-u250"}, Engine: e}
				got := simtest.RunOK(t, o)
				for k, y := range want {
					what := fmt.Sprintf("%s, engine %s", b.of[k/len(b.out)].name, e)
					differ(t, what, got.Outputs[k].Data, y.Data)
				}
			}
		})
	}
}

// differ tells how many of the numbers got are not those that are wanted.
func differ(t *testing.T, what string, got, want []float64) {
	t.Helper()
	wrong, first := 0, 0
	for i := range want {
		if got[i] != want[i] {
			if wrong++; wrong == 1 {
				first = i
			}
		}
	}
	if wrong > 0 {
		t.Errorf("%s: %d of %d differ, the first is element %d: %v, want %v", what, wrong, len(want), first, got[first],
			want[first])
	}
}
