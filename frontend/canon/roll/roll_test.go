package roll_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"hlsgen/frontend/canon/roll"
	"hlsgen/frontend/execution"
	"hlsgen/frontend/graph"
	"hlsgen/frontend/onnxio"
	"hlsgen/frontend/program"
	"hlsgen/internal/diag"
	"hlsgen/internal/testsupport/onnxtest"
)

const qonnx = "qonnx.custom_op.general"

// A cell is a plain recurrent network that is being written out, of two units over two features.
type cell struct {
	*onnxtest.Model
	names int
}

func newCell(steps int) *cell {
	c := &cell{Model: onnxtest.New(14).Opset(qonnx, 2)}
	c.Input("x", graph.DTypeFloat32, steps, 1, 2)
	c.Init("w", graph.DTypeFloat32, []int{2, 2}, 1, -0.5, 0.25, 2).Init("r", graph.DTypeFloat32, []int{2, 2}, 0.5, 1,
		-1, 0.25)
	c.Init("s", graph.DTypeFloat32, nil, 0.125).Init("z", graph.DTypeFloat32, nil, 0).Init("bits", graph.DTypeFloat32,
		nil, 4)
	c.Init("zeros", graph.DTypeFloat32, []int{1, 2}, 0, 0).Init("ones", graph.DTypeFloat32, []int{1, 2}, 1, 1)
	c.Init("axis", graph.DTypeInt64, []int{1}, 0)
	return c
}

func (c *cell) op(op string, inputs ...string) string { return c.node(c.Node(op, inputs...)) }

func (c *cell) node(n *onnxtest.Node) string {
	c.names++
	y := fmt.Sprint("t", c.names)
	n.Out(y)
	return y
}

// at is an element of a sequence.
func (c *cell) at(x string, t int) string {
	c.names++
	index := fmt.Sprint("i", c.names)
	c.Init(index, graph.DTypeInt64, nil, float64(t))
	return c.node(c.Node("Gather", x, index).Int("axis", 0))
}

func (c *cell) quant(x string) string {
	return c.node(c.Node("Quant", x, "s", "z", "bits").Domain(qonnx).Int("signed", 1).Str("rounding_mode", "ROUND"))
}

// step is h = Q(tanh(x*w + h*r)); without h the product with it is left out.
func (c *cell) step(x, h string) string {
	sum := c.op("MatMul", x, "w")
	if h != "" {
		sum = c.op("Add", sum, c.op("MatMul", h, "r"))
	}
	return c.quant(c.op("Tanh", sum))
}

// gated writes steps h = Q(tanh(x*w + x . quant(h*r))), and gives the last state.
func (c *cell) gated(steps int, quant func(string) string) {
	c.Init("i8", graph.DTypeInt8, nil, 0)
	h := "zeros"
	for i := range steps {
		x := c.at("x", i)
		reset := c.op("Mul", x, quant(c.op("MatMul", h, "r")))
		h = c.quant(c.op("Tanh", c.op("Add", c.op("MatMul", x, "w"), reset)))
	}
	c.gives(h)
}

// gives makes tensors the outputs of the model.
func (c *cell) gives(tensors ...string) {
	for i, t := range tensors {
		y := fmt.Sprint("y", i)
		c.Node("Identity", t).Out(y)
		c.Output(y, graph.DTypeFloat32)
		c.Proto.Graph.Output[i].Type.GetTensorType().Shape = nil
	}
}

// stack puts the states of all steps side by side.
func (c *cell) stack(list []string) string {
	var parts []string
	for _, h := range list {
		parts = append(parts, c.op("Unsqueeze", h, "axis"))
	}
	return c.node(c.Node("Concat", parts...).Int("axis", 0))
}

// TestUp checks that loops of the right number of steps replace recurrences that are written out. Nothing else may
// change: neither results nor models without recurrence.
func TestUp(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name  string
		steps int
		loops []int // their lengths
		write func(c *cell, steps int)
	}{
		{"from zeros", 6, []int{6}, func(c *cell, steps int) {
			h, all := "zeros", []string{}
			for i := range steps {
				h = c.step(c.at("x", i), h)
				all = append(all, h)
			}
			c.gives(c.stack(all), h)
		}},
		{"from constants", 5, []int{5}, func(c *cell, steps int) {
			h := "ones"
			for i := range steps {
				h = c.step(c.at("x", i), h)
			}
			c.gives(h)
		}},
		{"from data", 5, []int{5}, func(c *cell, steps int) {
			c.Input("h0", graph.DTypeFloat32, 1, 2)
			h := "h0"
			for i := range steps {
				h = c.step(c.at("x", i), h)
			}
			c.gives(h)
		}},
		{"the first step leaves zeros out", 5, []int{5}, func(c *cell, steps int) {
			h := ""
			for i := range steps {
				h = c.step(c.at("x", i), h)
			}
			c.gives(h)
		}},
		{"the first step is another one", 5, []int{4}, func(c *cell, steps int) {
			h := c.quant(c.op("Sigmoid", c.at("x", 0)))
			for i := 1; i < steps; i++ {
				h = c.step(c.at("x", i), h)
			}
			c.gives(h)
		}},
		{"a step in the middle is another one", 9, []int{5, 4}, func(c *cell, steps int) {
			h := "zeros"
			for i := range steps {
				if h = c.step(c.at("x", i), h); i == 4 {
					h = c.op("Neg", h)
				}
			}
			c.gives(h)
		}},
		{"both directions", 5, []int{5, 5}, func(c *cell, steps int) {
			h, back := "zeros", "ones"
			all, behind := make([]string, steps), make([]string, steps)
			for i := range steps {
				h, back = c.step(c.at("x", i), h), c.step(c.at("x", steps-1-i), back)
				all[i], behind[steps-1-i] = h, back
			}
			c.gives(c.stack(all), c.stack(behind))
		}},
		{"two layers, step by step", 5, []int{5, 5}, func(c *cell, steps int) {
			h, g := "zeros", "zeros"
			c.Init("v", graph.DTypeFloat32, []int{2, 2}, 0.75, 1, -0.5, 0.5)
			for i := range steps {
				h = c.step(c.at("x", i), h)
				g = c.quant(c.op("Tanh", c.op("Add", c.op("MatMul", h, "w"), c.op("MatMul", g, "v"))))
			}
			c.gives(g, h)
		}},
		{"codes of products, in one operator", 5, []int{5}, func(c *cell, steps int) {
			c.gated(steps, c.quant)
		}},
		{"codes of products, and their values", 5, []int{5}, func(c *cell, steps int) {
			c.gated(steps, func(x string) string {
				return c.op("DequantizeLinear", c.op("QuantizeLinear", x, "s", "i8"), "s", "i8")
			})
		}},
		{"codes of products, clipped, and their values", 5, []int{5}, func(c *cell, steps int) {
			c.Init("low", graph.DTypeInt8, nil, -7).Init("high", graph.DTypeInt8, nil, 7)
			c.gated(steps, func(x string) string {
				codes := c.op("Clip", c.op("QuantizeLinear", x, "s", "i8"), "low", "high")
				return c.op("DequantizeLinear", codes, "s", "i8")
			})
		}},
		{"codes of products, scaled by two operators", 5, []int{5}, func(c *cell, steps int) {
			c.Init("eight", graph.DTypeFloat32, nil, 8)
			c.gated(steps, func(x string) string {
				return c.op("Div", c.op("Round", c.op("Mul", x, "eight")), "eight")
			})
		}},
		{"two products of a step have equal weights", 5, []int{5}, func(c *cell, steps int) {
			h := "ones"
			for i := range steps {
				gate := c.quant(c.op("Sigmoid", c.op("Add", c.op("MatMul", c.at("x", i), "w"), c.op("MatMul", h, "r"))))
				h = c.quant(c.op("Tanh", c.op("MatMul", c.op("Mul", gate, h), "r")))
			}
			c.gives(h)
		}},
		{"every step has its own weights", 5, nil, func(c *cell, steps int) {
			h := "zeros"
			for i := range steps {
				own := fmt.Sprint("r", i)
				c.Init(own, graph.DTypeFloat32, []int{2, 2}, 0.5, 1, -1, 0.25*float64(i))
				h = c.quant(c.op("Add", c.op("MatMul", c.at("x", i), "w"), c.op("MatMul", h, own)))
			}
			c.gives(h)
		}},
		{"shared weights without recurrence", 5, nil, func(c *cell, steps int) {
			var all []string
			for i := range steps {
				all = append(all, c.quant(c.op("MatMul", c.at("x", i), "w")))
			}
			c.gives(c.stack(all))
		}},
		{"a recurrence without a sequence", 3, nil, func(c *cell, _ int) {
			h := c.at("x", 0)
			for range 4 {
				h = c.quant(c.op("MatMul", h, "r"))
			}
			c.gives(h)
		}},
		{"what the steps read depends on them", 6, nil, func(c *cell, steps int) {
			h := "zeros"
			for i := range steps {
				x := c.at("x", i)
				for range i { // by another way every time
					x = c.op("Add", x, c.op("Neg", h))
				}
				h = c.step(x, h)
			}
			c.gives(h)
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			m := newCell(c.steps)
			c.write(m, c.steps)
			var d diag.List
			g := onnxio.ParseGraph("model.onnx", m.Bytes(), &d)
			if g == nil {
				t.Fatal(d.Diags)
			}
			p := onnxtest.Prepare(t, g)
			up := g.ShallowCopy()
			changed := roll.RollUpInPlace(p, up, nil)
			if changed != (c.loops != nil) {
				t.Fatalf("changed: %t", changed)
			}
			if err := up.Verify(); err != nil {
				t.Fatal(err)
			}
			q := onnxtest.Prepare(t, up)
			if got := loops(q); !slices.Equal(got, c.loops) {
				t.Errorf("loops of %v steps, want %v", got, c.loops)
			}
			same(t, p, q)
		})
	}
}

func loops(p *program.Program) (lengths []int) {
	for _, n := range p.Graph.Nodes {
		if r := p.LoopOfNode(n); r != nil {
			lengths = append(lengths, r.Length)
		}
	}
	return lengths
}

// same checks that two programs compute the same.
func same(t *testing.T, p, q *program.Program) {
	t.Helper()
	r := rand.New(rand.NewPCG(1, 2))
	for range 3 {
		var in []*program.Reals
		for _, v := range p.Graph.Inputs {
			data := make([]float64, graph.ElementCount(p.Known[v.Name].Shape))
			for i := range data {
				data[i] = float64(r.IntN(33)-16) / 8
			}
			in = append(in, program.NewExactReals(p.Known[v.Name].Shape, data))
		}
		a, b := run(t, p, in), run(t, q, in)
		for k := range a {
			if !slices.Equal(a[k], b[k]) {
				t.Errorf("output %d is %v, want %v", k, b[k], a[k])
			}
		}
	}
}

func run(t *testing.T, p *program.Program, in []*program.Reals) (out [][]float64) {
	t.Helper()
	part, err := execution.NewProgramPart(p, graph.ValueNames(p.Graph.Inputs), graph.ValueNames(p.Graph.Outputs))
	if err != nil {
		t.Fatal(err)
	}
	_, all, err := part.Run(in)
	if err != nil {
		t.Fatal(err)
	}
	for _, o := range p.Graph.Outputs {
		v, err := part.RoundedOutput(o.Name, all)
		if err != nil {
			t.Fatal(err)
		}
		out = append(out, v)
	}
	return out
}
