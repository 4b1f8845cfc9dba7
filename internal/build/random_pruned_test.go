package build

import (
	"context"
	"math/big"
	"math/rand/v2"
	"path/filepath"
	"testing"

	"hlsgen/frontend"
	"hlsgen/frontend/graph"
	"hlsgen/internal/dataflow"
	"hlsgen/internal/diag"
	"hlsgen/internal/engines"
	"hlsgen/internal/samples"
	"hlsgen/internal/testsupport/models"
	"hlsgen/internal/testsupport/onnxtest"
	"hlsgen/internal/testsupport/tier"
	"hlsgen/internal/verify"
)

// A sheet is a tensor of a pruned network, of shape [1, c, h, w], or [1, c] once it is flat.
type sheet struct {
	name    string
	c, h, w int
	flat    bool
	coded   bool       // scaled integers, which a product may take
	fixed   []*big.Rat // per channel: the value that it always has; nil where it depends on the data
	odd     []bool     // per channel: its scale is like no other's
}

// A pruned network has dead rows, columns, taps and layers wherever there are some, scales of both signs, and any scale
// at all where nothing is alive. It knows what it means.
type pruned struct {
	*network
	run []func(of map[string]*frame) // what each node does
}

func newPruned(seed uint64) *pruned {
	return &pruned{network: &network{Model: onnxtest.New(13).Opset("qonnx.custom_op.general", 2),
		rnd: rand.New(rand.NewPCG(seed, 21))}}
}

func (n *pruned) chance(in int) bool { return n.rnd.IntN(in) == 0 }

func exactly(v float64) *big.Rat { return new(big.Rat).SetFloat64(float64(float32(v))) }

func exact(v []float64) []*big.Rat {
	out := make([]*big.Rat, len(v))
	for i := range v {
		out[i] = exactly(v[i])
	}
	return out
}

// does says what the node that makes y does.
func (n *pruned) does(y string, f func(of map[string]*frame) *frame) {
	n.run = append(n.run, func(of map[string]*frame) { of[y] = f(of) })
}

// pointwise is x after a function of each element.
func (n *pruned) pointwise(x sheet, y string, f func(c int, v *big.Rat) *big.Rat) sheet {
	in := x.name
	n.does(y, func(of map[string]*frame) *frame { return of[in].each(f) })
	fixed := make([]*big.Rat, x.c)
	for c, v := range x.fixed {
		if v != nil {
			fixed[c] = f(c, v)
		}
	}
	x.name, x.fixed = y, fixed
	return x
}

// channels is a constant with a value per channel.
func (n *pruned) channels(x sheet, v []float64) string {
	name, shape := n.fresh("k"), []int{1, x.c, 1, 1}
	if x.flat {
		shape = shape[:2]
	}
	n.Init(name, graph.DTypeFloat32, shape, v...)
	return name
}

// factors draws a number per channel: of live ones, of both signs and a small ratio; of fixed ones anything.
func (n *pruned) factors(x sheet, zero bool) []float64 {
	v := make([]float64, x.c)
	unit := n.pick(0.125, 0.25, 0.5)
	for c := range v {
		v[c] = unit * n.pick(1, 1, 1, -1, 2)
		if x.fixed[c] != nil && n.chance(2) {
			v[c] = n.pick(1e30, 1e-30, -3e20, 0.7, -1e-38)
		}
		if zero && n.chance(6) {
			v[c] = 0
		}
	}
	return v
}

// code quantises; scales are one for all, or one per channel.
func (n *pruned) code(x sheet) sheet {
	y, scales := n.fresh("q"), make([]float64, x.c)
	perChannel := n.chance(2)
	first := n.pick(0.125, 0.25, 0.5, -0.25)
	scale := ""
	x.odd = make([]bool, x.c)
	for c := range scales {
		scales[c] = first
	}
	if perChannel {
		scales = n.factors(x, false)
		scale = n.channels(x, scales)
		for c := range scales {
			x.odd[c] = x.fixed[c] != nil
		}
	} else {
		scale = n.scalar(first)
	}
	x.coded = true
	s := exact(scales)
	if n.chance(4) && (!perChannel || x.flat == (x.h*x.w == 1)) {
		return n.linear(x, y, s, scales, perChannel)
	}
	bits, signed := 2+n.rnd.IntN(3), b2i(n.chance(2))
	mode := []string{"ROUND", "CEIL", "FLOOR", "UP", "DOWN", "HALF_UP", "HALF_DOWN"}[n.rnd.IntN(7)]
	n.Node("Quant", x.name, scale, n.scalar(0), n.scalar(float64(bits))).Domain("qonnx.custom_op.general").
		Int("signed", int64(signed)).Str("rounding_mode", mode).Out(y)
	lo, hi := big.NewRat(0, 1), big.NewRat(1<<bits-1, 1)
	if signed == 1 {
		lo, hi = big.NewRat(-1<<(bits-1), 1), big.NewRat(1<<(bits-1)-1, 1)
	}
	return n.pointwise(x, y, func(c int, v *big.Rat) *big.Rat {
		q := toInteger(between(new(big.Rat).Quo(v, s[c]), lo, hi), mode)
		return q.Mul(q, s[c])
	})
}

// linear is a QuantizeLinear and a DequantizeLinear.
func (n *pruned) linear(x sheet, y string, s []*big.Rat, scales []float64, perChannel bool) sheet {
	scale, zero := n.scalar(scales[0]), n.fresh("z")
	if perChannel {
		scale = n.fresh("s")
		n.Init(scale, graph.DTypeFloat32, []int{x.c}, scales...)
		n.Init(zero, graph.DTypeInt8, []int{x.c}, make([]float64, x.c)...)
	} else {
		n.Init(zero, graph.DTypeInt8, nil, 0)
	}
	n.Node("QuantizeLinear", x.name, scale, zero).Int("axis", 1).Out(y + "c")
	n.Node("DequantizeLinear", y+"c", scale, zero).Int("axis", 1).Out(y)
	return n.pointwise(x, y, func(c int, v *big.Rat) *big.Rat {
		q := toInteger(new(big.Rat).Quo(v, s[c]), "ROUND")
		return new(big.Rat).Mul(between(q, big.NewRat(-128, 1), big.NewRat(127, 1)), s[c])
	})
}

// weights draws a tensor of weights whose first axis is that of outputs: its name, its values, and which outputs are
// dead. In a matrix of MatMul outputs are the last axis.
func (n *pruned) weights(outputs, inputs int, shape []int, transposed bool) (name string, w []*big.Rat, dead []bool) {
	q, scales := make([]float64, outputs*inputs), make([]float64, outputs)
	dead = make([]bool, outputs)
	density := n.pick(0, 0.4, 0.8, 1, 1)
	gone := make([]bool, inputs)
	for i := range gone {
		gone[i] = n.chance(6)
	}
	unit := n.pick(0.25, 0.5, 1, 0.3)
	for o := range outputs {
		scales[o] = unit * n.pick(1, 1, -1, 2)
		dead[o] = true
		off := n.chance(5)
		for i := range inputs {
			if !off && !gone[i] && n.rnd.Float64() < density {
				q[o*inputs+i] = float64(n.rnd.IntN(15) - 7)
				dead[o] = dead[o] && q[o*inputs+i] == 0
			}
		}
		if dead[o] && n.chance(2) {
			scales[o] = n.pick(1e30, -1e30, 1e-30, 77)
		}
	}
	name, w = n.fresh("w"), make([]*big.Rat, len(q))
	at := func(o, i int) int {
		if transposed {
			return i*outputs + o
		}
		return o*inputs + i
	}
	codes, reals := make([]float64, len(q)), make([]float64, len(q))
	for o := range outputs {
		s := exactly(scales[o])
		for i := range inputs {
			v := q[o*inputs+i]
			codes[at(o, i)], reals[at(o, i)] = v, v*float64(float32(scales[o]))
			w[o*inputs+i] = s.Mul(exactly(scales[o]), new(big.Rat).SetFloat64(v))
			s = new(big.Rat)
		}
	}
	axis, each := 0, append([]int{outputs}, make([]int, len(shape)-1)...)
	for i := range each[1:] {
		each[i+1] = 1
	}
	if transposed {
		axis, each = 1, []int{1, outputs}
	}
	switch n.rnd.IntN(2) {
	case 0:
		s := n.fresh("s")
		n.Init(name+"i", graph.DTypeInt8, shape, codes...).Init(s, graph.DTypeFloat32, []int{outputs}, scales...)
		for o := range dead {
			if dead[o] && n.chance(3) { // a channel that was never used
				n.Proto.Graph.Initializer[len(n.Proto.Graph.Initializer)-1].RawData[4*o+3] = 0
				clear(n.Proto.Graph.Initializer[len(n.Proto.Graph.Initializer)-1].RawData[4*o : 4*o+4])
			}
		}
		n.Node("DequantizeLinear", name+"i", s).Int("axis", int64(axis)).Out(name)
	default:
		s := n.fresh("s")
		for i := range reals { // what a quantiser makes the codes of
			reals[i] = float64(float32(reals[i]))
		}
		n.Init(name+"r", graph.DTypeFloat32, shape, reals...).Init(s, graph.DTypeFloat32, each, scales...)
		n.Node("Quant", name+"r", s, n.scalar(0), n.scalar(4)).Domain("qonnx.custom_op.general").Int("signed", 1).
			Out(name)
	}
	return name, w, dead
}

// product is a sheet of a product's outputs.
func product(y string, outputs, h, w int, dead []bool) sheet {
	out := sheet{name: y, c: outputs, h: h, w: w, fixed: make([]*big.Rat, outputs), odd: make([]bool, outputs)}
	for o, d := range dead {
		if d {
			out.fixed[o] = new(big.Rat)
		}
	}
	return out
}

// padded reports whether zeros may stand around a sheet: a channel that is always something else has one scale for
// both.
func (x sheet) padded() bool {
	for c, odd := range x.odd {
		if odd && x.fixed[c].Sign() != 0 {
			return false
		}
	}
	return true
}

// drawnPruned has one or two inputs, some layers, and an end.
func drawnPruned(seed uint64) *pruned {
	n := newPruned(seed)
	flat := n.chance(4)
	c, h, w := 1+n.rnd.IntN(4), 1, 1
	if !flat {
		h, w = 2+n.rnd.IntN(4), 2+n.rnd.IntN(4)
	}
	x := n.input("x", c, h, w, flat)
	if n.chance(4) {
		x = n.joined(x, n.input("z", c, h, w, flat))
		if n.chance(2) {
			x = n.code(x)
		}
		if !flat && n.chance(2) {
			x = n.larger(x)
		}
	}
	for range n.rnd.IntN(3) {
		switch {
		case n.chance(3):
			x = n.code(n.joined(n.layer1(x), n.layer1(x)))
		case !x.flat && n.chance(4) && x.c*x.h*x.w <= 50:
			x = n.larger(x)
		default:
			x = n.layer(x, 1+n.rnd.IntN(4))
		}
	}
	x = n.dense(x, 1+n.rnd.IntN(5))
	for range n.rnd.IntN(3) {
		x = n.between(x)
	}
	if n.chance(3) {
		x = n.code(x)
	}
	n.end(x)
	return n
}

// layer1 keeps the extents.
func (n *pruned) layer1(x sheet) sheet {
	if x.flat {
		return n.code(n.dense(x, x.c))
	}
	name, w, dead := n.weights(x.c, x.c, []int{x.c, x.c, 1, 1}, false)
	y, in, c := n.fresh("y"), x.name, x.c
	n.Node("Conv", in, name).Out(y)
	n.does(y, func(of map[string]*frame) *frame { return of[in].convolve(w, c, 1, 1, 1) })
	out := product(y, c, x.h, x.w, dead)
	if n.chance(2) {
		out = n.between(out)
	}
	return n.code(out)
}

// end makes the output: the values, or their order behind a function that changes none of it.
func (n *pruned) end(x sheet) {
	in := x.name
	if n.chance(2) {
		n.Node("Identity", in).Out("y")
		n.does("y", func(of map[string]*frame) *frame { return of[in] })
		n.Output("y", graph.DTypeFloat32, 1, x.c)
		return
	}
	y, falls := in, false
	for range n.rnd.IntN(3) {
		z := n.fresh("o")
		ops := []string{"Sigmoid", "Tanh", "Softmax", "LogSoftmax", "Softplus", "Neg", "Softsign"}
		op := ops[n.rnd.IntN(len(ops))]
		falls = falls != (op == "Neg")
		n.Node(op, y).Out(z)
		y = z
	}
	largest, last := n.chance(2), n.chance(2)
	k := 1 + n.rnd.IntN(min(x.c, 3))
	if k == 1 {
		op := map[bool]string{true: "ArgMax", false: "ArgMin"}[largest]
		n.Node(op, y).Int("axis", 1).Int("select_last_index", int64(b2i(last))).Out("y")
	} else {
		last = false
		name := n.fresh("i")
		n.Init(name, graph.DTypeInt64, []int{1}, float64(k))
		n.Node("TopK", y, name).Int("largest", int64(b2i(largest))).Out("values", "y")
	}
	n.Output("y", graph.DTypeInt64, 1, k)
	n.does("y", func(of map[string]*frame) *frame {
		out := blank(k, 1, 1)
		for i, at := range of[in].order(largest != falls, last)[:k] {
			out.v[i].SetInt64(int64(at))
		}
		return out
	})
}

// means is the output for given inputs, rounded to float32 where it is real.
func (n *pruned) means(in map[string]dataflow.RealTensor) []float64 {
	of := map[string]*frame{}
	for name, x := range in {
		shape := [3]int{1, 1, 1}
		copy(shape[:], x.Shape[1:])
		p := &frame{c: shape[0], h: shape[1], w: shape[2]}
		for _, v := range x.Data {
			p.v = append(p.v, new(big.Rat).SetFloat64(v))
		}
		of[name] = p
	}
	for _, f := range n.run {
		f(of)
	}
	var out []float64
	for _, v := range of["y"].v {
		f, _ := v.Float32()
		out = append(out, float64(f))
	}
	return out
}

// TestRandomPruned draws pruned networks and folds. Each is imported: what is dead carries no scale, and signs are
// moved into weights and thresholds. What it means, the model as written, Eval, the simulated design and, for some, the
// compiled C++ agree.
func TestRandomPruned(t *testing.T) {
	t.Parallel()
	drawnAgree(t, 40, 3000, 3, 22, func(seed int) drawn {
		n := drawnPruned(uint64(seed))
		return drawn{onnx: n.Bytes(), folds: jointFolds, samples: 4, means: n.means}
	})
}

// TestPrunedModels makes parts of trained networks dead: what can be imported can be imported then, and its layers give
// what the model means.
func TestPrunedModels(t *testing.T) {
	t.Parallel()
	tier.NotQuick(t)
	seeds := uint64(1)
	if tier.Long() {
		seeds = 20
	}
	for _, m := range models.InRepository(t) {
		files, err := filepath.Glob(m.Path("*.onnx"))
		if err != nil {
			t.Fatal(err)
		}
		for _, path := range files {
			t.Run(m.Name+"/"+filepath.Base(path), func(t *testing.T) {
				t.Parallel()
				onnx := m.Read(t, filepath.Base(path))
				im, err := frontend.Import(path, onnx, frontend.Options{}, new(diag.List))
				if err != nil || im.Model == nil {
					return // it is refused as it is
				}
				for seed := range seeds {
					var d diag.List
					im, err := frontend.Import(path, prunedModel(onnx, seed), frontend.Options{}, &d)
					if err != nil || im.Model == nil {
						t.Fatalf("seed %d: %v %v", seed, err, d.Diags)
					}
					s := samples.MakeRandomRuns(im.Model, 2)
					_, got, err := engines.RunHostAndEvalKeepingStreams(context.Background(), im.Model, s)
					if err != nil {
						t.Fatal(err)
					}
					want, err := engines.RunReference(context.Background(), im.Model, s)
					if err != nil {
						t.Fatal(err)
					}
					if err := verify.CompareModelOutputs("the layers against the model", got, want); err != nil {
						t.Errorf("seed %d: %v", seed, err)
					}
				}
			})
		}
	}
}

// prunedModel is a file with dead parts.
func prunedModel(onnx []byte, seed uint64) []byte {
	m := onnxtest.Of(onnx)
	if m.Prune(rand.New(rand.NewPCG(seed, 3))) == 0 {
		m.Prune(rand.New(rand.NewPCG(seed, 4)))
	}
	return m.Bytes()
}
