package operators_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"hlsgen/frontend/execution"
	"hlsgen/frontend/graph"
	"hlsgen/frontend/operators"
	"hlsgen/frontend/program"
	"hlsgen/internal/testsupport/graphtest"
	"hlsgen/internal/testsupport/onnxtest"
)

// A gruCase is an ONNX GRU or RNN with its parameters at random.
type gruCase struct {
	op                  string
	t, n, in, hidden    int
	used                int // steps of each sequence; 0: all
	direction           string
	layout, resetsSum   int
	clip                float64
	activations         []string
	alpha, beta         []float64
	bias, states, fixed bool // fixed: the initial state is constant
	formats             operators.CellFormats
}

func (c gruCase) dirs() int {
	if c.direction == "bidirectional" {
		return 2
	}
	return 1
}

// steps is how many steps a sequence has.
func (c gruCase) steps() int {
	if c.used > 0 {
		return c.used
	}
	return c.t
}

// q is a quantiser in float64, if the case has it.
func (c gruCase) q(name string, x float64) float64 {
	f, ok := c.formats[name]
	if !ok {
		return x
	}
	lo, hi := 0., math.Ldexp(1, f.Bits)-1
	if f.Signed {
		lo, hi = -math.Ldexp(1, f.Bits-1), math.Ldexp(1, f.Bits-1)-1
	}
	round := math.RoundToEven
	if f.Rounding == "FLOOR" {
		round = math.Floor
	}
	return f.Scale * round(max(lo, min(hi, x/f.Scale)))
}

// weights are the tensors of a case, as ONNX has them.
type gruWeights struct{ x, w, r, b, h0 []float64 }

// at is an element; 0 of a tensor that is not there.
func at(t []float64, i int) float64 {
	if t == nil {
		return 0
	}
	return t[i]
}

// step is ONNX' definition of one step of one direction in float64: h of the units, from x and h. f are the functions.
func (c gruCase) step(v gruWeights, f []func(float64) float64, d int, x, h []float64) []float64 {
	gates := map[string]int{"GRU": 3, "RNN": 1}[c.op]
	sum := func(t []float64, gate, u int, of []float64) (s float64) {
		for i, e := range of {
			s += t[((d*gates+gate)*c.hidden+u)*len(of)+i] * e
		}
		return s
	}
	wb := func(gate, u int) float64 { return at(v.b, d*2*gates*c.hidden+gate*c.hidden+u) }
	rb := func(gate, u int) float64 { return at(v.b, d*2*gates*c.hidden+(gates+gate)*c.hidden+u) }
	clip := func(y float64) float64 {
		if c.clip > 0 {
			return max(-c.clip, min(c.clip, y))
		}
		return y
	}
	next := make([]float64, c.hidden)
	if c.op == "RNN" {
		for u := range next {
			a := sum(v.w, 0, u, x) + sum(v.r, 0, u, h) + wb(0, u) + rb(0, u)
			next[u] = c.q("output", f[0](c.q("hidden_acc", clip(a))))
		}
		return next
	}
	z, r, rh := make([]float64, c.hidden), make([]float64, c.hidden), make([]float64, c.hidden)
	for u := range next {
		a := func(gate int) float64 {
			return clip(sum(v.w, gate, u, x) + sum(v.r, gate, u, h) + wb(gate, u) + rb(gate, u))
		}
		z[u] = c.q("update_sigmoid", f[0](c.q("update_acc", a(0))))
		r[u] = c.q("reset_sigmoid", f[0](c.q("reset_acc", a(1))))
		rh[u] = c.q("reset_product", r[u]*h[u])
	}
	for u := range next {
		a := sum(v.w, 2, u, x) + wb(2, u)
		if c.resetsSum == 1 {
			a += c.q("reset_product", r[u]*c.q("recurrent_acc", sum(v.r, 2, u, h)+rb(2, u)))
		} else {
			a += sum(v.r, 2, u, rh) + rb(2, u)
		}
		n := c.q("hidden_tanh", f[1](c.q("hidden_acc", clip(a))))
		next[u] = c.q("output", c.q("hidden_product", (1-z[u])*n)+c.q("update_product", z[u]*h[u]))
	}
	return next
}

// run is the sequence and the last h.
func (c gruCase) run(v gruWeights) (y, last []float64) {
	dirs, each := c.dirs(), map[string]int{"GRU": 2, "RNN": 1}[c.op]
	names := c.activations
	if names == nil {
		usual := map[string][]string{"GRU": {"Sigmoid", "Tanh"}, "RNN": {"Tanh"}}[c.op]
		names = append(append([]string{}, usual...), usual...)
	}
	y, last = make([]float64, c.t*dirs*c.n*c.hidden), make([]float64, dirs*c.n*c.hidden)
	alphas, betas := c.alpha, c.beta
	for d := range dirs {
		var f []func(float64) float64
		for _, name := range names[d*each : (d+1)*each] {
			var a, b float64
			switch name {
			case "HardSigmoid", "Affine", "ScaledTanh":
				a, b, alphas, betas = alphas[0], betas[0], alphas[1:], betas[1:]
			}
			f = append(f, functions(name, a, b))
		}
		for n := range c.n {
			state := (d*c.n + n) * c.hidden
			if c.layout == 1 {
				state = (n*dirs + d) * c.hidden
			}
			h := make([]float64, c.hidden)
			for u := range h {
				h[u] = c.q("output", at(v.h0, state+u))
			}
			for k := range c.steps() {
				t := k
				if d == 1 || c.direction == "reverse" {
					t = c.steps() - 1 - k
				}
				in, out := (t*c.n+n)*c.in, ((t*dirs+d)*c.n+n)*c.hidden
				if c.layout == 1 {
					in, out = (n*c.t+t)*c.in, ((n*c.t+t)*dirs+d)*c.hidden
				}
				h = c.step(v, f, d, v.x[in:in+c.in], h)
				copy(y[out:], h)
			}
			copy(last[state:], h)
		}
	}
	return y, last
}

// random is a graph of the case, and its tensors.
func (c gruCase) random(r *rand.Rand) (*graph.Graph, gruWeights) {
	d, gates := c.dirs(), map[string]int{"GRU": 3, "RNN": 1}[c.op]
	init := map[string]*graph.ConstantTensor{"W": graphtest.FilledWith(r, d, gates*c.hidden, c.in),
		"R": graphtest.FilledWith(r, d, gates*c.hidden, c.hidden)}
	v := gruWeights{x: graphtest.FilledWith(r, c.t, c.n, c.in).F, w: init["W"].F, r: init["R"].F}
	in := []string{"x", "W", "R", "", "", ""}
	if c.bias {
		init["B"], in[3] = graphtest.FilledWith(r, d, 2*gates*c.hidden), "B"
		v.b = init["B"].F
	}
	if c.used > 0 {
		init["lengths"] = graphtest.Ints(graph.DTypeInt32, []int{c.n}, slices.Repeat([]int64{int64(c.used)}, c.n)...)
		in[4] = "lengths"
	}
	shape, state := []int{c.t, c.n, c.in}, []int{d, c.n, c.hidden}
	if c.layout == 1 {
		shape, state = []int{c.n, c.t, c.in}, []int{c.n, d, c.hidden}
	}
	if c.states {
		h0 := graphtest.FilledWith(r, state...)
		v.h0, in[5] = h0.F, "h0"
		if c.fixed {
			init["h0"] = h0
		}
	}
	a := graphtest.Attrs{"hidden_size": c.hidden, "layout": c.layout}
	if c.op == "GRU" {
		a["linear_before_reset"] = c.resetsSum
	}
	if c.direction != "" {
		a["direction"] = c.direction
	}
	if c.clip > 0 {
		a["clip"] = c.clip
	}
	if c.alpha != nil {
		a["activation_alpha"], a["activation_beta"] = c.alpha, c.beta
	}
	if c.activations != nil {
		a["activations"] = graph.Attr{Kind: graph.AttrKindStrings, Strings: c.activations}
	}
	g := graphtest.Network(shape, init, &graph.Node{Name: "n", Op: c.op, Inputs: in, Outputs: []string{"Y", "H"},
		Attrs: a.Graph()})
	g.Outputs = []graph.ValueInfo{{Name: "Y"}, {Name: "H"}}
	if c.states && !c.fixed {
		in := graph.ValueInfo{Name: "h0", DType: graph.DTypeFloat32, Known: true}
		for _, d := range state {
			in.Dims = append(in.Dims, graph.Dim{Size: d})
		}
		g.Inputs = append(g.Inputs, in)
	}
	return g, v
}

// TestGRU compares ONNX' operators GRU and RNN with their definition, with and without formats.
func TestGRU(t *testing.T) {
	t.Parallel()
	few := gruFormats()
	all := gruFormats("update_acc", "reset_acc", "hidden_acc", "recurrent_acc", "reset_product", "update_product",
		"hidden_product")
	for i, c := range []gruCase{
		{op: "GRU", t: 3, n: 1, in: 2, hidden: 3},
		{op: "GRU", t: 3, n: 2, in: 2, hidden: 3, resetsSum: 1, bias: true},
		{op: "GRU", t: 4, n: 2, in: 3, hidden: 2, direction: "bidirectional", bias: true, states: true, fixed: true},
		{op: "GRU", t: 4, n: 2, in: 3, hidden: 2, direction: "bidirectional", bias: true, states: true, resetsSum: 1},
		{op: "GRU", t: 3, n: 2, in: 2, hidden: 2, direction: "bidirectional", layout: 1, bias: true, states: true},
		{op: "GRU", t: 3, n: 1, in: 2, hidden: 2, direction: "reverse", clip: 0.25, bias: true, resetsSum: 1},
		{op: "GRU", t: 3, n: 1, in: 2, hidden: 2, direction: "bidirectional",
			activations: []string{"HardSigmoid", "ScaledTanh", "Sigmoid", "Affine"},
			alpha:       []float64{0.5, 1.5, 0.75}, beta: []float64{0.25, 0.5, -0.125}},
		{op: "GRU", t: 5, n: 2, in: 2, hidden: 2, used: 3, direction: "bidirectional", bias: true, states: true},
		{op: "GRU", t: 5, n: 2, in: 2, hidden: 2, used: 5, layout: 1, direction: "reverse"},
		{op: "GRU", t: 5, n: 2, in: 2, hidden: 2, used: 2, layout: 1, direction: "reverse", formats: few},
		{op: "GRU", t: 4, n: 1, in: 2, hidden: 3, bias: true, states: true, formats: few},
		{op: "GRU", t: 4, n: 1, in: 2, hidden: 3, bias: true, states: true, resetsSum: 1, formats: few},
		{op: "GRU", t: 4, n: 2, in: 2, hidden: 3, bias: true, states: true, fixed: true, formats: all},
		{op: "GRU", t: 4, n: 2, in: 2, hidden: 3, bias: true, resetsSum: 1, direction: "bidirectional", formats: all},
		{op: "RNN", t: 3, n: 1, in: 2, hidden: 3},
		{op: "RNN", t: 3, n: 2, in: 2, hidden: 1, direction: "reverse", bias: true, activations: []string{"Relu"}},
		{op: "RNN", t: 4, n: 2, in: 3, hidden: 2, direction: "bidirectional", layout: 1, states: true, clip: 0.5},
		{op: "RNN", t: 4, n: 2, in: 3, hidden: 2, used: 1, bias: true, states: true, fixed: true},
		{op: "RNN", t: 4, n: 1, in: 3, hidden: 2, bias: true, states: true, formats: formatsOf("output")},
		{op: "RNN", t: 4, n: 1, in: 3, hidden: 2, direction: "bidirectional",
			formats: formatsOf("output", "hidden_acc")},
	} {
		t.Run(fmt.Sprint(i), func(t *testing.T) {
			t.Parallel()
			g, v := c.random(rand.New(rand.NewPCG(7, uint64(i))))
			options := operators.Options{}
			if c.formats != nil {
				options = given(c.op+":*", c.formats)
			}
			p := onnxtest.Prepare(t, g, options)
			in, names := []*program.Reals{program.NewExactReals(p.Known["x"].Shape, v.x)}, []string{"x"}
			if c.states && !c.fixed {
				in, names = append(in, program.NewExactReals(p.Known["h0"].Shape, v.h0)), append(names, "h0")
			}
			part, err := execution.NewProgramPart(p, names, []string{"Y", "H"})
			if err != nil {
				t.Fatal(err)
			}
			out, _, err := part.Run(in)
			if err != nil {
				t.Fatal(err)
			}
			shapes := [][]int{{c.t, c.dirs(), c.n, c.hidden}, {c.dirs(), c.n, c.hidden}}
			if c.layout == 1 {
				shapes = [][]int{{c.n, c.t, c.dirs(), c.hidden}, {c.n, c.dirs(), c.hidden}}
			}
			y, last := c.run(v)
			for k, want := range [][]float64{y, last} {
				if !slices.Equal(out[k].Shape, shapes[k]) || c.formats != nil && !out[k].IsExactInFloat64() {
					t.Errorf("output %d has shape %v, want %v; exact: %t", k, out[k].Shape, shapes[k],
						out[k].IsExactInFloat64())
				}
				for i, v := range want {
					if got := out[k].Lo[i]; !(math.Abs(got-v) < 1e-9) || out[k].Hi[i]-got > 1e-9 {
						t.Fatalf("output %d, element %d: %v, want %v", k, i, out[k].IntervalAt(i), v)
					}
				}
			}
		})
	}
}
