package simulate_test

import (
	"fmt"
	"math"
	"math/big"
	"math/rand/v2"
	"os"
	"path/filepath"
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

// A prefixStage is a part of a prefix, from a row of real numbers to another as long: how a model has it, and what it
// gives.
type prefixStage struct {
	name   string
	write  func(m *onnxtest.Model, x, y string)
	digits func(x []*big.Float) []*big.Float
}

// numbersOf are random float32 numbers between two; where they are dyadic, quarters.
func numbersOf(r *rand.Rand, n int, lo, hi float64, dyadic bool) (list []float64) {
	for range n {
		v := float64(float32(lo + r.Float64()*(hi-lo)))
		if dyadic {
			v = math.Round(4*v) / 4
		}
		list = append(list, v)
	}
	return list
}

// byElement applies a function to every number.
func byElement(f func(x *big.Float, i int) *big.Float) func(x []*big.Float) []*big.Float {
	return func(x []*big.Float) (y []*big.Float) {
		for i, v := range x {
			y = append(y, f(v, i))
		}
		return y
	}
}

// timesMatrix is the row x times a matrix of n columns.
func timesMatrix(x []*big.Float, w []float64, n int) (y []*big.Float) {
	for j := range n {
		sum := numOf(0)
		for i, v := range x {
			sum = plus(sum, times(v, numOf(w[i*n+j])))
		}
		y = append(y, sum)
	}
	return y
}

// affine has a constant per number added, subtracted, multiplied or divided by.
func affine(r *rand.Rand, n int, dyadic bool) prefixStage {
	ops := []struct {
		name string
		of   func(x, y *big.Float) *big.Float
	}{{"Add", plus}, {"Sub", minus}, {"Mul", times}, {"Div", over}}
	op := ops[r.IntN(len(ops))]
	c := numbersOf(r, n, 0.5, 2, dyadic)
	return prefixStage{op.name, func(m *onnxtest.Model, x, y string) {
		m.Init(y+".c", graph.DTypeFloat32, []int{n}, c...).Node(op.name, x, y+".c").Out(y)
	}, byElement(func(x *big.Float, i int) *big.Float { return op.of(x, numOf(c[i])) })}
}

func matrix(r *rand.Rand, n int, dyadic bool) prefixStage {
	w := numbersOf(r, n*n, -1, 1, dyadic)
	return prefixStage{"MatMul", func(m *onnxtest.Model, x, y string) {
		m.Init(y+".w", graph.DTypeFloat32, []int{n, n}, w...).Node("MatMul", x, y+".w").Out(y)
	}, func(x []*big.Float) []*big.Float { return timesMatrix(x, w, n) }}
}

// convolution is one of three taps over the row.
func convolution(r *rand.Rand, n int, dyadic bool) prefixStage {
	w, b := numbersOf(r, 3, -1, 1, dyadic), numbersOf(r, 1, -1, 1, dyadic)
	return prefixStage{"Conv", func(m *onnxtest.Model, x, y string) {
		m.Init(y+".w", graph.DTypeFloat32, []int{1, 1, 3}, w...).Init(y+".b", graph.DTypeFloat32, []int{1}, b...).
			Init(y+".in", graph.DTypeInt64, []int{3}, 1, 1, float64(n)).Init(y+".out", graph.DTypeInt64, []int{2}, 1,
			float64(n))
		m.Node("Reshape", x, y+".in").Out(y + ".0")
		m.Node("Conv", y+".0", y+".w", y+".b").Ints("pads", 1, 1).Out(y + ".1")
		m.Node("Reshape", y+".1", y+".out").Out(y)
	}, func(x []*big.Float) (y []*big.Float) {
		for i := range x {
			sum := numOf(b[0])
			for k := range w {
				if at := i + k - 1; at >= 0 && at < len(x) {
					sum = plus(sum, times(x[at], numOf(w[k])))
				}
			}
			y = append(y, sum)
		}
		return y
	}}
}

// quotient is each number times a sigmoid of another one, or divided by one and its exponential.
func quotient(r *rand.Rand, n int, dyadic bool) prefixStage {
	w := numbersOf(r, n*n, -1, 1, dyadic)
	divides := r.IntN(2) == 0
	return prefixStage{fmt.Sprint("product or quotient: ", divides), func(m *onnxtest.Model, x, y string) {
		m.Init(y+".w", graph.DTypeFloat32, []int{n, n}, w...).Init(y+".one", graph.DTypeFloat32, nil, 1)
		m.Node("MatMul", x, y+".w").Out(y + ".0")
		if !divides {
			m.Node("Sigmoid", y+".0").Out(y + ".1")
			m.Node("Mul", x, y+".1").Out(y)
			return
		}
		m.Node("Exp", y+".0").Out(y + ".1")
		m.Node("Add", y+".1", y+".one").Out(y + ".2")
		m.Node("Div", x, y+".2").Out(y)
	}, func(x []*big.Float) []*big.Float {
		by := timesMatrix(x, w, n)
		return byElement(func(x *big.Float, i int) *big.Float {
			if divides {
				return over(x, plus(numOf(1), expDigits(by[i])))
			}
			return times(x, sigmoidDigits(by[i]))
		})(x)
	}}
}

// curved is a function of each number that is defined for all, and gives no codes.
func curved(r *rand.Rand, _ int, _ bool) prefixStage {
	for {
		if f := curves[r.IntN(len(curves))]; f.ends == [2]float64{} && f.name != "Sign" && f.name != "Round" {
			return prefixStage{f.name, f.write, byElement(func(x *big.Float, _ int) *big.Float { return f.digits(x) })}
		}
	}
}

// recurrent is an LSTM over two steps of half the row.
func recurrent(r *rand.Rand, n int, dyadic bool) prefixStage {
	h := n / 2
	w, u := numbersOf(r, 4*h*h, -1, 1, dyadic), numbersOf(r, 4*h*h, -1, 1, dyadic)
	b := numbersOf(r, 8*h, -1, 1, dyadic)
	return prefixStage{"LSTM", func(m *onnxtest.Model, x, y string) {
		m.Init(y+".w", graph.DTypeFloat32, []int{1, 4 * h, h}, w...).Init(y+".u", graph.DTypeFloat32, []int{1, 4 * h,
			h}, u...).
			Init(y+".b", graph.DTypeFloat32, []int{1, 8 * h}, b...).
			Init(y+".in", graph.DTypeInt64, []int{3}, 2, 1, float64(h)).Init(y+".out", graph.DTypeInt64, []int{2}, 1,
			float64(n))
		m.Node("Reshape", x, y+".in").Out(y + ".0")
		m.Node("LSTM", y+".0", y+".w", y+".u", y+".b").Int("hidden_size", int64(h)).Out(y + ".1")
		m.Node("Reshape", y+".1", y+".out").Out(y)
	}, func(x []*big.Float) (y []*big.Float) {
		state, cell := byElement(func(*big.Float, int) *big.Float { return numOf(0) })(x[:h]), make([]*big.Float, h)
		for i := range cell {
			cell[i] = numOf(0)
		}
		for t := range 2 {
			gate := func(k, i int) *big.Float {
				row := k*h + i
				sum := plus(numOf(b[row]), numOf(b[4*h+row]))
				for j := range h {
					sum = plus(sum, times(x[t*h+j], numOf(w[row*h+j])))
					sum = plus(sum, times(state[j], numOf(u[row*h+j])))
				}
				return sum
			}
			next := make([]*big.Float, h)
			for i := range h { // gates come as input, output, forget, cell
				cell[i] = plus(times(sigmoidDigits(gate(2, i)), cell[i]),
					times(sigmoidDigits(gate(0, i)), tanhDigits(gate(3, i))))
				next[i] = times(sigmoidDigits(gate(1, i)), tanhDigits(cell[i]))
			}
			state = next
			y = append(y, state...)
		}
		return y
	}}
}

// A prefix is a model of stages in front of a quantiser.
type prefix struct {
	stages []prefixStage
	to     grid
	n      int
}

// drawnPrefix is a random prefix of rows of n numbers.
func drawnPrefix(r *rand.Rand, n int) *prefix {
	kinds := []func(r *rand.Rand, n int, dyadic bool) prefixStage{affine, matrix, convolution, quotient, curved,
		recurrent}
	p, dyadic := &prefix{n: n}, r.IntN(2) == 0
	for range 1 + r.IntN(3) {
		p.stages = append(p.stages, kinds[r.IntN(len(kinds))](r, n, dyadic))
	}
	p.to = gridOver(r, 2+r.IntN(7), n, -2, 2, false)
	if dyadic {
		for c := range p.to.scale {
			p.to.scale[c] = math.Exp2(math.Round(math.Log2(p.to.scale[c])))
		}
	}
	return p
}

func (p *prefix) codes(x []float64) (codes []int64) {
	row := make([]*big.Float, p.n)
	for i, v := range x {
		row[i] = numOf(v)
	}
	for _, s := range p.stages {
		row = s.digits(row)
	}
	for c, v := range row {
		codes = append(codes, p.to.code(v, c))
	}
	return codes
}

// write saves the model: the codes come out as what they stand for, by way of a layer.
func (p *prefix) write(t *testing.T) string {
	m := onnxtest.New(24).Opset("qonnx.custom_op.general", 2).Input("x0", graph.DTypeFloat32, 1, p.n)
	for i, s := range p.stages {
		s.write(m, fmt.Sprint("x", i), fmt.Sprint("x", i+1))
	}
	w := make([]float64, p.n*p.n)
	for c := range p.n {
		w[c*p.n+c] = 1
	}
	p.to.write(m, fmt.Sprint("x", len(p.stages)), "q")
	m.Init("w", graph.DTypeFloat32, []int{p.n, p.n}, w...).Node("MatMul", "q", "w").Out("y")
	m.Output("y", graph.DTypeFloat32, 1, p.n)
	model := filepath.Join(t.TempDir(), "model.onnx")
	if err := os.WriteFile(model, m.Bytes(), 0o644); err != nil {
		t.Fatal(err)
	}
	return model
}

// key orders the float32 numbers as integers.
func key(v float64) int64 {
	bits := int64(math.Float32bits(float32(v)))
	if bits >= 1<<31 {
		return 1<<31 - bits
	}
	return bits
}

// ofKey is the number of a key.
func ofKey(k int64) float64 {
	if k < 0 {
		k = 1<<31 - k
	}
	return float64(math.Float32frombits(uint32(k)))
}

// boundary moves number i of x to where codes change, between two numbers next to each other, and returns these with
// their neighbours. Where they do not change, x comes back alone.
func (p *prefix) boundary(x []float64, i int, far float64) (rows [][]float64) {
	at := func(k int64) []float64 {
		y := append([]float64(nil), x...)
		y[i] = ofKey(k)
		return y
	}
	lo, hi := key(x[i]), key(far)
	start := fmt.Sprint(p.codes(x))
	if fmt.Sprint(p.codes(at(hi))) == start {
		return [][]float64{x}
	}
	for hi-lo > 1 || lo-hi > 1 {
		if mid := (lo + hi) / 2; fmt.Sprint(p.codes(at(mid))) == start {
			lo = mid
		} else {
			hi = mid
		}
	}
	for k := min(lo, hi) - 1; k <= max(lo, hi)+1; k++ {
		rows = append(rows, at(k))
	}
	return rows
}

// TestPrefixes draws what the host computes in real numbers in front of the first quantiser. Every engine gives the
// codes that an evaluation with hundreds of bits gives, at the boundaries of codes and at the float32 numbers beside
// them, too.
func TestPrefixes(t *testing.T) {
	t.Parallel()
	tier.NotQuick(t)
	draws, tries := 24, 3
	if tier.Long() {
		draws, tries = 400, 8
	}
	for seed := range uint64(draws) {
		r := rand.New(rand.NewPCG(seed, 39))
		p := drawnPrefix(r, 4)
		name := fmt.Sprint(seed)
		for _, s := range p.stages {
			name += " " + s.name
		}
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var rows [][]float64
			for i := range tries {
				x := numbersOf(r, p.n, -3, 3, i == 0)
				rows = append(rows, p.boundary(x, r.IntN(p.n), numbersOf(r, 1, -3, 3, false)[0])...)
			}
			rows = append(rows, make([]float64, p.n))
			in, want := &npy.Array{DType: "float32", Shape: []int{len(rows), p.n}}, []float64{}
			for _, x := range rows {
				in.Data = append(in.Data, x...)
				for c, code := range p.codes(x) {
					v, _ := p.to.value(code, c).Float32()
					want = append(want, float64(v))
				}
			}
			input, model := samplefiles.WriteZip(t, map[string]*npy.Array{"x0": in}), p.write(t)
			for _, e := range []engines.EngineName{engines.EngineReference, engines.EngineFast, engines.EngineEval,
				engines.EngineCycle} {
				o := simulate.Options{Source: options.Source{Model: model,
					SampleFiles: options.SampleFiles{Data: input}},
					Hardware: options.Hardware{Board: "zcu104"}, Engine: e}
				got := simtest.RunOK(t, o)
				differ(t, "engine "+string(e), got.Outputs[0].Data, want)
			}
		})
	}
}
