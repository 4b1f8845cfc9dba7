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

// An lstmCase is an ONNX LSTM with its parameters at random.
type lstmCase struct {
	name                string
	t, n, in, hidden    int
	direction           string
	layout, coupled     int
	clip                float64
	activations         []string
	alpha, beta         []float64
	bias, states, peeps bool
}

// functions are the activations in float64.
func functions(name string, alpha, beta float64) func(float64) float64 {
	switch name {
	case "Sigmoid":
		return func(x float64) float64 { return 1 / (1 + math.Exp(-x)) }
	case "Tanh":
		return math.Tanh
	case "Relu":
		return func(x float64) float64 { return max(x, 0) }
	case "HardSigmoid":
		return func(x float64) float64 { return max(0, min(1, alpha*x+beta)) }
	case "Affine":
		return func(x float64) float64 { return alpha*x + beta }
	case "ScaledTanh":
		return func(x float64) float64 { return alpha * math.Tanh(beta*x) }
	case "LeakyRelu":
		return func(x float64) float64 { return max(x, alpha*x) }
	case "Elu":
		return func(x float64) float64 {
			if x < 0 {
				return alpha * math.Expm1(x)
			}
			return x
		}
	case "Softsign":
		return func(x float64) float64 { return x / (1 + math.Abs(x)) }
	case "Softplus":
		return func(x float64) float64 { return math.Log1p(math.Exp(x)) }
	}
	panic(name)
}

// plainLSTM is ONNX' definition in float64: the sequence, the last h and the last c.
func plainLSTM(c lstmCase, x, w, r, b, h0, c0, p []float64) (y, lastH, lastC []float64) {
	dirs := 1
	if c.direction == "bidirectional" {
		dirs = 2
	}
	y, lastH, lastC = make([]float64, c.t*dirs*c.n*c.hidden), make([]float64, dirs*c.n*c.hidden),
		make([]float64, dirs*c.n*c.hidden)
	at := func(t []float64, i int) float64 {
		if t == nil {
			return 0
		}
		return t[i]
	}
	alphas, betas := c.alpha, c.beta
	for d := range dirs {
		var f [3]func(float64) float64
		for k := range f {
			name := c.activations[3*d+k]
			var a, be float64
			switch name {
			case "HardSigmoid", "Affine", "ScaledTanh":
				a, be, alphas, betas = alphas[0], betas[0], alphas[1:], betas[1:]
			case "LeakyRelu", "Elu":
				a, alphas = alphas[0], alphas[1:]
			}
			f[k] = functions(name, a, be)
		}
		clip := func(v float64) float64 {
			if c.clip > 0 {
				return max(-c.clip, min(c.clip, v))
			}
			return v
		}
		for n := range c.n {
			h, cell := make([]float64, c.hidden), make([]float64, c.hidden)
			state := func(dir, n int) int { return (dir*c.n + n) * c.hidden }
			if c.layout == 1 {
				state = func(dir, n int) int { return (n*dirs + dir) * c.hidden }
			}
			for u := range c.hidden {
				h[u], cell[u] = at(h0, state(d, n)+u), at(c0, state(d, n)+u)
			}
			for k := range c.t {
				t := k
				if d == 1 || c.direction == "reverse" {
					t = c.t - 1 - k
				}
				next := make([]float64, c.hidden)
				for u := range c.hidden {
					sum := func(gate int) float64 { // in the order i, o, f, c
						row := (d*4+gate)*c.hidden + u
						v := at(b, d*8*c.hidden+gate*c.hidden+u) + at(b, d*8*c.hidden+(4+gate)*c.hidden+u)
						for i := range c.in {
							place := (t*c.n+n)*c.in + i
							if c.layout == 1 {
								place = (n*c.t+t)*c.in + i
							}
							v += w[row*c.in+i] * x[place]
						}
						for i := range c.hidden {
							v += r[row*c.hidden+i] * h[i]
						}
						return v
					}
					peep := func(gate int) float64 { return at(p, d*3*c.hidden+gate*c.hidden+u) }
					i := f[0](clip(sum(0) + peep(0)*cell[u]))
					forget := f[0](clip(sum(2) + peep(2)*cell[u]))
					if c.coupled == 1 {
						forget = 1 - i
					}
					cell[u] = forget*cell[u] + i*f[1](clip(sum(3)))
					next[u] = f[0](clip(sum(1)+peep(1)*cell[u])) * f[2](clip(cell[u]))
				}
				h = next
				for u, v := range h {
					place := ((t*dirs+d)*c.n+n)*c.hidden + u
					if c.layout == 1 {
						place = ((n*c.t+t)*dirs+d)*c.hidden + u
					}
					y[place] = v
				}
			}
			copy(lastH[state(d, n):], h)
			copy(lastC[state(d, n):], cell)
		}
	}
	return y, lastH, lastC
}

func lstmGraph(c lstmCase, init map[string]*graph.ConstantTensor) *graph.Graph {
	a := graphtest.Attrs{"hidden_size": c.hidden, "layout": c.layout, "input_forget": c.coupled}
	if c.direction != "forward" {
		a["direction"] = c.direction
	}
	if c.clip > 0 {
		a["clip"] = c.clip
	}
	if c.alpha != nil || c.beta != nil {
		a["activation_alpha"], a["activation_beta"] = c.alpha, c.beta
	}
	if c.activations != nil {
		a["activations"] = graph.Attr{Kind: graph.AttrKindStrings, Strings: c.activations}
	}
	in := []string{"x", "W", "R", "", "", "", "", ""}
	for i, name := range []string{"B", "lengths", "h0", "c0", "P"} {
		if init[name] != nil {
			in[3+i] = name
		}
	}
	shape := []int{c.t, c.n, c.in}
	if c.layout == 1 {
		shape = []int{c.n, c.t, c.in}
	}
	n := &graph.Node{Name: "lstm", Op: "LSTM", Inputs: in, Outputs: []string{"Y", "H", "C"}, Attrs: a.Graph()}
	g := graphtest.Network(shape, init, n)
	g.Outputs = []graph.ValueInfo{{Name: "Y"}, {Name: "H"}, {Name: "C"}}
	return g
}

// TestLSTM compares ONNX' operator with its definition.
func TestLSTM(t *testing.T) {
	t.Parallel()
	usual := []string{"Sigmoid", "Tanh", "Tanh"}
	for _, c := range []lstmCase{
		{name: "plain", t: 3, n: 1, in: 2, hidden: 3, direction: "forward"},
		{name: "reverse", t: 3, n: 2, in: 2, hidden: 1, direction: "reverse", bias: true},
		{name: "both", t: 4, n: 2, in: 3, hidden: 2, direction: "bidirectional", bias: true, states: true, peeps: true},
		{name: "samples first", t: 3, n: 2, in: 2, hidden: 2, direction: "bidirectional", layout: 1, bias: true,
			states: true},
		{name: "coupled", t: 3, n: 1, in: 2, hidden: 2, direction: "forward", coupled: 1, states: true, peeps: true},
		{name: "clipped", t: 3, n: 1, in: 2, hidden: 2, direction: "forward", clip: 0.25, bias: true},
		{name: "with parameters", t: 3, n: 1, in: 2, hidden: 2, direction: "bidirectional",
			activations: []string{"HardSigmoid", "ScaledTanh", "LeakyRelu", "Affine", "Relu", "Elu"},
			alpha:       []float64{0.5, 1.5, 0.25, 0.75, 2}, beta: []float64{0.25, 0.5, -0.125}},
		{name: "soft", t: 2, n: 1, in: 1, hidden: 2, direction: "forward",
			activations: []string{"Softplus", "Softsign", "Sigmoid"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := rand.New(rand.NewPCG(3, 4))
			dirs := 1
			if c.direction == "bidirectional" {
				dirs = 2
			}
			init := map[string]*graph.ConstantTensor{"W": graphtest.FilledWith(r, dirs, 4*c.hidden, c.in),
				"R":       graphtest.FilledWith(r, dirs, 4*c.hidden, c.hidden),
				"lengths": graphtest.Ints(graph.DTypeInt32, []int{c.n}, slices.Repeat([]int64{int64(c.t)}, c.n)...)}
			value := func(name string) []float64 {
				if init[name] == nil {
					return nil
				}
				return init[name].F
			}
			if c.bias {
				init["B"] = graphtest.FilledWith(r, dirs, 8*c.hidden)
			}
			if c.peeps {
				init["P"] = graphtest.FilledWith(r, dirs, 3*c.hidden)
			}
			if c.states {
				shape := []int{dirs, c.n, c.hidden}
				if c.layout == 1 {
					shape = []int{c.n, dirs, c.hidden}
				}
				init["h0"], init["c0"] = graphtest.FilledWith(r, shape...), graphtest.FilledWith(r, shape...)
			}
			x := graphtest.FilledWith(r, c.t, c.n, c.in).F
			plain := c
			if plain.activations == nil {
				plain.activations = append(append([]string{}, usual...), usual...)
			}
			y, h, cell := plainLSTM(plain, x, init["W"].F, init["R"].F, value("B"), value("h0"), value("c0"),
				value("P"))
			p := graphtest.Prepare(t, lstmGraph(c, init))
			part, err := execution.NewProgramPart(p, []string{"x"}, []string{"Y", "H", "C"})
			if err != nil {
				t.Fatal(err)
			}
			out, _, err := part.Run([]*program.Reals{program.NewExactReals(p.Known["x"].Shape, x)})
			if err != nil {
				t.Fatal(err)
			}
			shapes := [][]int{{c.t, dirs, c.n, c.hidden}, {dirs, c.n, c.hidden}, {dirs, c.n, c.hidden}}
			if c.layout == 1 {
				shapes = [][]int{{c.n, c.t, dirs, c.hidden}, {c.n, dirs, c.hidden}, {c.n, dirs, c.hidden}}
			}
			for k, want := range [][]float64{y, h, cell} {
				if !slices.Equal(out[k].Shape, shapes[k]) {
					t.Errorf("output %d has shape %v, want %v", k, out[k].Shape, shapes[k])
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

// TestLSTMOutputs uses each output alone.
func TestLSTMOutputs(t *testing.T) {
	t.Parallel()
	for k, direction := range []string{"forward", "bidirectional"} {
		dirs := k + 1
		init := map[string]*graph.ConstantTensor{"W": graphtest.FilledWith(rand.New(rand.NewPCG(1, 2)), dirs, 4, 2),
			"R": graphtest.FilledWith(rand.New(rand.NewPCG(3, 2)), dirs, 4, 1)}
		c := lstmCase{t: 3, n: 1, in: 2, hidden: 1, direction: direction}
		var whole [3][]float64
		for alone := -1; alone < 3; alone++ {
			g := lstmGraph(c, init)
			for i, name := range []string{"Y", "H", "C"} {
				if alone >= 0 && i != alone {
					g.Nodes[0].Outputs[i] = ""
				} else if alone >= 0 {
					g.Outputs = []graph.ValueInfo{{Name: name}}
				}
			}
			p := graphtest.Prepare(t, g)
			for i, name := range []string{"Y", "H", "C"} {
				if alone >= 0 && i != alone {
					continue
				}
				part, err := execution.NewProgramPart(p, []string{"x"}, []string{name})
				if err != nil {
					t.Fatal(err)
				}
				out, _, err := part.Run([]*program.Reals{program.NewExactReals([]int{3, 1, 2}, graphtest.Count(6))})
				if err != nil {
					t.Fatal(err)
				}
				if alone < 0 {
					whole[i] = out[0].Lo
				} else if !slices.Equal(out[0].Lo, whole[i]) {
					t.Errorf("%s, output %d alone: %v, want %v", direction, i, out[0].Lo, whole[i])
				}
			}
		}
	}
}

// TestQuantisedCells compares Brevitas' operator with ONNX' with the same formats: two ways to write one cell.
func TestQuantisedCells(t *testing.T) {
	t.Parallel()
	const steps, n, in, hidden = 4, 2, 3, 2
	for _, reverse := range []int{0, 1} {
		for _, coupled := range []int{0, 1} {
			for _, first := range []int{0, 1} {
				r := rand.New(rand.NewPCG(5, 6))
				c := lstmCase{t: steps, n: n, in: in, hidden: hidden,
					direction: []string{"forward", "reverse"}[reverse], coupled: coupled, layout: first}
				init := map[string]*graph.ConstantTensor{"W": graphtest.FilledWith(r, 1, 4*hidden, in),
					"R": graphtest.FilledWith(r, 1, 4*hidden, hidden), "B": graphtest.FilledWith(r, 1, 8*hidden)}
				for i := 4 * hidden; i < 8*hidden; i++ {
					init["B"].F[i] = 0
				}
				formats := someFormats()
				p := onnxtest.Prepare(t, lstmGraph(c, init),
					given("*", formats))
				brevitas := graphtest.Prepare(t, quantCell(c, init, formats))
				x := graphtest.FilledWith(r, steps*n*in).F
				var got [2][][]float64
				for k, p := range []*program.Program{p, brevitas} {
					for _, name := range []string{"Y", "H", "C"} {
						part, err := execution.NewProgramPart(p, []string{"x"}, []string{name})
						if err != nil {
							t.Fatal(err)
						}
						out, _, err := part.Run([]*program.Reals{program.NewExactReals(p.Known["x"].Shape, x)})
						if err != nil {
							t.Fatal(err)
						}
						if !out[0].IsExactInFloat64() {
							t.Errorf("%s is not quantised", name)
						}
						got[k] = append(got[k], out[0].Lo)
					}
				}
				if fmt.Sprint(got[0]) != fmt.Sprint(got[1]) {
					t.Errorf("reverse %d, coupled %d, samples first %d:\n%v\n%v", reverse, coupled, first, got[0],
						got[1])
				}
			}
		}
	}
}

// quantCell is a QuantLSTMCell with the weights of an LSTM.
func quantCell(c lstmCase, of map[string]*graph.ConstantTensor, formats operators.CellFormats) *graph.Graph {
	init := map[string]*graph.ConstantTensor{"zero": graphtest.Reals([]int{c.n, c.hidden}, make([]float64,
		c.n*c.hidden)...)}
	a := graphtest.Attrs{"batch_first": c.layout, "cifg": c.coupled, "reverse_input": 0}
	if c.direction == "reverse" {
		a["reverse_input"] = 1
	}
	in := []string{"x", "zero", "zero"}
	for k, from := range []string{"W", "R", "B"} {
		for _, gate := range []int{0, 2, 3, 1} { // i, f, c, o of i, o, f, c
			size := c.hidden * []int{c.in, c.hidden, 1}[k]
			shape := []int{c.hidden, size / c.hidden}[:2-k/2]
			name := fmt.Sprint(from, gate)
			init[name] = graphtest.Reals(shape, of[from].F[gate*size:(gate+1)*size]...)
			in = append(in, name)
		}
	}
	flag := map[bool]int{true: 1}
	for _, name := range operators.LSTMCellQuantiserNames {
		f := formats[name]
		init[name+".s"], init[name+".z"], init[name+".b"] = graphtest.Scalar(f.Scale), graphtest.Scalar(f.Zero),
			graphtest.Scalar(float64(f.Bits))
		in = append(in, name+".s", name+".z", name+".b")
		a[name+"_signed"], a[name+"_rounding_mode"] = flag[f.Signed], f.Rounding
		if name == "output_sigmoid" {
			a[name+"_narrow_range"] = flag[f.Narrow]
		} else {
			a[name+"_narrow"] = flag[f.Narrow]
		}
	}
	shape := []int{c.t, c.n, c.in}
	if c.layout == 1 {
		shape = []int{c.n, c.t, c.in}
	}
	n := &graph.Node{Name: "cell", Domain: "onnx.brevitas", Op: "QuantLSTMCell", Inputs: in,
		Outputs: []string{"Y", "H", "C"}, Attrs: a.Graph()}
	g := graphtest.Network(shape, init, n)
	g.Outputs = []graph.ValueInfo{{Name: "Y"}, {Name: "H"}, {Name: "C"}}
	return g
}
