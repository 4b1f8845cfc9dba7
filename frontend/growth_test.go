package frontend_test

import (
	"fmt"
	"maps"
	"math"
	"runtime"
	"slices"
	"strings"
	"testing"

	"hlsgen/frontend"
	"hlsgen/frontend/graph"
	"hlsgen/internal/diag"
	"hlsgen/internal/testsupport/onnxtest"
	"hlsgen/internal/testsupport/tier"
)

// A growing is a model that can be made of any size.
type growing struct{ *onnxtest.Model }

func newGrowing() growing {
	m := growing{onnxtest.New(13).Opset("qonnx.custom_op.general", 1)}
	m.Input("x", graph.DTypeFloat32, 1, 8)
	m.number("step", 0.25).number("zero", 0).number("bits", 4).number("lo", -1).number("hi", 1)
	return m
}

func (m growing) number(name string, v float64) growing {
	m.Init(name, graph.DTypeFloat32, nil, v)
	return m
}

func (m growing) quant(in, out string) {
	m.Node("Quant", in, "step", "zero", "bits").Domain("qonnx.custom_op.general").Int("signed", 1).Out(out)
}

// product puts a matrix of quantised weights behind the quantised input.
func (m growing) product(out string) {
	values := make([]float64, 64)
	for i := range values {
		values[i] = float64(i%7-3) / 4
	}
	m.Init("w", graph.DTypeFloat32, []int{8, 8}, values...)
	m.quant("x", "q")
	m.quant("w", "wq")
	m.Node("MatMul", "q", "wq").Out(out)
}

func (m growing) output(name string, size int) { m.Output(name, graph.DTypeFloat32, 1, size) }

// links are the nodes of a chain between a product and a quantiser. Those with w have a product each.
var links = map[string]func(m growing, in, out string){
	"Add":       func(m growing, in, out string) { m.Node("Add", in, "step").Out(out) },
	"Add twice": func(m growing, in, out string) { m.Node("Add", in, in).Out(out) },
	"Add data":  func(m growing, in, out string) { m.Node("Add", in, "q").Out(out) },
	"Mul":       func(m growing, in, out string) { m.Node("Mul", in, "step").Out(out) },
	"Square":    func(m growing, in, out string) { m.Node("Mul", in, in).Out(out) },
	"Div":       func(m growing, in, out string) { m.Node("Div", in, "bits").Out(out) },
	"Relu":      func(m growing, in, out string) { m.Node("Relu", in).Out(out) },
	"Sigmoid":   func(m growing, in, out string) { m.Node("Sigmoid", in).Out(out) },
	"Clip":      func(m growing, in, out string) { m.Node("Clip", in, "lo", "hi").Out(out) },
	"Softmax":   func(m growing, in, out string) { m.Node("Softmax", in).Out(out) },
	"Identity":  func(m growing, in, out string) { m.Node("Identity", in).Out(out) },
	"Transpose": func(m growing, in, out string) { m.Node("Transpose", in).Ints("perm", 0, 1).Out(out) },
	"Reshape": func(m growing, in, out string) {
		m.Node("Shape", in).Out(out + "shape")
		m.Node("Reshape", in, out+"shape").Out(out)
	},
	"Split, Concat": func(m growing, in, out string) {
		m.Node("Split", in).Int("axis", 1).Out(out+"a", out+"b")
		m.Node("Concat", out+"b", out+"a").Int("axis", 1).Out(out)
	},
	"Pad, Slice": func(m growing, in, out string) {
		m.Node("Pad", in, "pads", "zero").Out(out + "wide")
		m.Node("Slice", out+"wide", "from", "to").Out(out)
	},
	"Concat, Slice": func(m growing, in, out string) {
		m.Node("Concat", in, "q").Int("axis", 1).Out(out + "wide")
		m.Node("Slice", out+"wide", "from", "to").Out(out)
	},
	"BatchNormalization": func(m growing, in, out string) {
		m.Node("BatchNormalization", in, "scales", "biases", "biases", "scales").Out(out)
	},
	"Conv, Quant": func(m growing, in, out string) {
		m.Node("Reshape", in, "image").Out(out + "image")
		m.Node("Conv", out+"image", "kernels").Ints("kernel_shape", 3, 3).Ints("pads", 1, 1, 1, 1).Out(out + "conv")
		m.Node("Reshape", out+"conv", "row").Out(out + "sum")
		m.quant(out+"sum", out)
	},
	"Conv": func(m growing, in, out string) {
		m.Node("Reshape", in, "image").Out(out + "image")
		m.Node("Conv", out+"image", "kernels").Ints("kernel_shape", 3, 3).Ints("pads", 1, 1, 1, 1).Out(out + "conv")
		m.Node("Reshape", out+"conv", "row").Out(out)
	},
	"MaxPool": func(m growing, in, out string) {
		m.Node("Reshape", in, "image").Out(out + "image")
		m.Node("MaxPool", out+"image").Ints("kernel_shape", 3, 3).Ints("pads", 1, 1, 1, 1).Out(out + "pool")
		m.Node("Reshape", out+"pool", "row").Out(out)
	},
	"Constant": func(m growing, in, out string) {
		m.Node("Constant").Tensor("value", graph.DTypeFloat32, nil, 0.5).Out(out + "c")
		m.Node("Sqrt", out+"c").Out(out + "root")
		m.Node("Add", in, out+"root").Out(out)
	},
	"Quant": func(m growing, in, out string) { m.quant(in, out) },
	"Relu, Quant": func(m growing, in, out string) {
		m.Node("Relu", in).Out(out + "relu")
		m.quant(out+"relu", out)
	},
	"QuantizeLinear": func(m growing, in, out string) {
		m.Node("QuantizeLinear", in, "step", "code0").Out(out + "codes")
		m.Node("DequantizeLinear", out+"codes", "step", "code0").Out(out)
	},
	"MatMul, Quant": func(m growing, in, out string) {
		m.Node("MatMul", in, "wq").Out(out + "sum")
		m.quant(out+"sum", out)
	},
	"Gemm of one bias": func(m growing, in, out string) {
		m.Node("Gemm", in, "wq", "lo").Float("beta", 0.5).Out(out + "sum")
		m.quant(out+"sum", out)
	},
	"residual": func(m growing, in, out string) {
		m.Node("MatMul", in, "wq").Out(out + "sum")
		m.quant(out+"sum", out+"q")
		m.Node("Add", in, out+"q").Out(out + "both")
		m.quant(out+"both", out)
	},
}

// fans are models whose tensors have many readers, or whose nodes many inputs.
var fans = map[string]func(m growing, n int){
	"outputs of a quantiser": func(m growing, n int) {
		m.quant("x", "q")
		for i := range n {
			y := fmt.Sprint("y", i)
			m.number(y+"c", float64(i%50)/10)
			m.Node("Add", "q", y+"c").Out(y + "sum")
			m.quant(y+"sum", y)
			m.output(y, 8)
		}
	},
	"sums of products": func(m growing, n int) {
		m.product("t")
		m.quant("t", "y0")
		for i := range n {
			y := fmt.Sprint("y", i)
			m.Node("MatMul", "q", "wq").Out(y + "sum")
			m.Node("Add", y+"sum", y).Out(y + "both")
			m.quant(y+"both", fmt.Sprint("y", i+1))
		}
		m.output(fmt.Sprint("y", n), 8)
	},
	"one sum": func(m growing, n int) {
		m.product("t0")
		for i := range n {
			x := fmt.Sprint("x", i)
			m.Input(x, graph.DTypeFloat32, 1, 8)
			m.quant(x, x+"q")
			m.Node("Add", fmt.Sprint("t", i), x+"q").Out(fmt.Sprint("t", i+1))
		}
		m.quant(fmt.Sprint("t", n), "y")
		m.output("y", 8)
	},
	"inputs": func(m growing, n int) {
		m.quant("x", "q")
		m.output("q", 8)
		for i := range n {
			x := fmt.Sprint("x", i)
			m.Input(x, graph.DTypeFloat32, 1, 8)
			m.quant(x, x+"q")
			m.output(x+"q", 8)
		}
	},
	"initialisers": func(m growing, n int) {
		m.product("t")
		m.quant("t", "y")
		m.output("y", 8)
		for i := range 10 * n {
			m.number(fmt.Sprint("unused", i), 1)
		}
	},
	"attributes": func(m growing, n int) {
		m.product("t")
		m.quant("t", "q1")
		m.Node("Transpose", "q1").Ints("perm", 0, 1).Ints("of_no_use", make([]int64, 100*n)...).Out("y")
		m.output("y", 8)
	},
	"doubling": func(m growing, n int) { // log2(n) nodes, n elements
		m.product("t0")
		last, size := "t0", 8
		for i := 1; size < 8*n; i++ {
			next := fmt.Sprint("t", i)
			m.Node("Concat", last, last).Int("axis", 1).Out(next)
			last, size = next, 2*size
		}
		m.quant(last, "y")
		m.output("y", size)
	},
	"pieces": func(m growing, n int) { // of pieces of one tensor, joined again in the opposite order
		const groups = 20
		var whole []string
		split := func(in string, pieces, size int) (parts []string) {
			for i := range pieces {
				parts = append(parts, fmt.Sprint(in, "_", i))
			}
			sizes := slices.Repeat([]int64{int64(size)}, pieces)
			m.Node("Split", in).Int("axis", 1).Ints("split", sizes...).Out(parts...)
			return parts
		}
		join := func(parts []string, out string) {
			slices.Reverse(parts)
			m.Node("Concat", parts...).Int("axis", 1).Out(out)
		}
		m.Input("long", graph.DTypeFloat32, 1, 4*n)
		m.quant("long", "t")
		for _, group := range split("t", groups, 4*n/groups) {
			join(split(group, n/groups, 4), group+"back")
			whole = append(whole, group+"back")
		}
		join(whole, "back")
		m.Node("Relu", "back").Out("relu")
		m.quant("relu", "y")
		m.output("y", 4*n)
	},
	"weights": func(m growing, n int) { // n rows of 64 weights
		values := make([]float64, 64*n)
		for i := range values {
			values[i] = float64(i*7919%255 - 127)
		}
		m.Init("w8", graph.DTypeInt8, []int{8, 8 * n}, values...)
		m.quant("x", "q")
		m.Node("DequantizeLinear", "w8", "step", "code0").Out("w")
		m.Node("MatMul", "q", "w").Out("t")
		m.quant("t", "y")
		m.output("y", 8*n)
	},
}

// grown is a model of size n.
func grown(kind string, n int) []byte {
	m := newGrowing()
	m.Init("code0", graph.DTypeInt8, nil, 0)
	m.Init("pads", graph.DTypeInt64, []int{4}, 0, 1, 0, 1).Init("from", graph.DTypeInt64, []int{2}, 0, 1)
	m.Init("to", graph.DTypeInt64, []int{2}, 1, 9)
	m.Init("scales", graph.DTypeFloat32, []int{8}, 1, 2, 1, 2, 1, 2, 1, 4)
	m.Init("biases", graph.DTypeFloat32, []int{8}, 0, 1, 2, 0, 1, 2, 0, 1)
	m.Init("image", graph.DTypeInt64, []int{4}, 1, 2, 2, 2).Init("row", graph.DTypeInt64, []int{2}, 1, 8)
	kernels := make([]float64, 36)
	for i := range kernels {
		kernels[i] = float64(i%3 - 1)
	}
	m.Init("kernels", graph.DTypeFloat32, []int{2, 2, 3, 3}, kernels...)
	if fan := fans[kind]; fan != nil {
		fan(m, n)
		return m.Bytes()
	}
	m.product("t0")
	for i := range n {
		links[kind](m, fmt.Sprint("t", i), fmt.Sprint("t", i+1))
	}
	m.quant(fmt.Sprint("t", n), "y")
	m.output("y", 8)
	return m.Bytes()
}

// allocated returns the allocations of an import: bytes, and the number of pieces. Code that walks the graph allocates,
// so this measures work, whatever else the machine does.
func allocated(t *testing.T, onnx []byte) [2]float64 {
	t.Helper()
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	var d diag.List
	if _, err := frontend.Import("model.onnx", onnx, frontend.Options{}, &d); err != nil {
		t.Fatal(err)
	}
	runtime.ReadMemStats(&after)
	return [2]float64{float64(after.TotalAlloc - before.TotalAlloc), float64(after.Mallocs - before.Mallocs)}
}

// shortest is the length from which on a chain of these nodes shows work that grows with its square. Chains of other
// nodes show it earlier.
var shortest = map[string]int{"Add": 800, "Identity": 800}

// TestGrowth checks that the work for a model grows like the model. Four times as many nodes take about four times the
// work, and never six times, which is the exponent 1.25. The test counts allocations of the process, so it runs alone.
func TestGrowth(t *testing.T) {
	tier.NotQuick(t)
	usual := 100
	if tier.Long() {
		usual = 800
	}
	for i, kind := range slices.Concat(slices.Sorted(maps.Keys(links)), slices.Sorted(maps.Keys(fans))) {
		if tier.Quick() && i%3 > 0 {
			continue
		}
		t.Run(kind, func(t *testing.T) {
			n := max(usual, shortest[kind])
			small, large := allocated(t, grown(kind, n)), allocated(t, grown(kind, 4*n))
			for i, what := range []string{"bytes", "pieces of memory"} {
				if e := math.Log(large[i]/small[i]) / math.Log(4); e > 1.25 {
					t.Errorf("%d links take %.0f %s, %d take %.0f: the exponent is %.2f", n, small[i], what, 4*n,
						large[i], e)
				}
			}
		})
	}
}

// TestWeightBytes checks the memory for a weight that the file has as an integer of 8 bits with a scale, or with one
// scale per output: the file's byte, as the reader copies it, eight bytes of the layer, and little else.
func TestWeightBytes(t *testing.T) {
	const rows, columns, most = 1000, 400, 12
	model := func(rows int, scale string) []byte {
		m := newGrowing()
		values := make([]float64, rows*columns)
		for i := range values {
			values[i] = float64(i*7919%255 - 127)
		}
		scales := make([]float64, columns)
		for i := range scales {
			scales[i] = 1 / float64(1+i)
		}
		m.Input("long", graph.DTypeFloat32, 1, rows)
		m.Init("w8", graph.DTypeInt8, []int{rows, columns}, values...).Init("code0", graph.DTypeInt8, nil, 0)
		m.Init("scales", graph.DTypeFloat32, []int{columns}, scales...)
		m.quant("long", "q")
		m.Node("DequantizeLinear", "w8", scale).Int("axis", 1).Out("w")
		m.Node("MatMul", "q", "w").Out("t")
		m.quant("t", "y")
		m.output("y", columns)
		return m.Bytes()
	}
	for _, scale := range []string{"step", "scales"} {
		small, large := allocated(t, model(rows, scale)), allocated(t, model(5*rows, scale))
		if each := (large[0] - small[0]) / (4 * rows * columns); each > most {
			t.Errorf("%s: a weight takes %.1f bytes, at most %d", scale, each, most)
		}
	}
}

// TestTooLarge checks that a model that doubles its size in each node is refused before it takes the memory. The
// numbers in the message must be true: 8 elements doubled 24 times, and those before, with the inputs that they come
// from.
func TestTooLarge(t *testing.T) {
	tier.NotQuick(t) // it takes half a gigabyte
	const most = 1 << 30
	onnx := grown("doubling", 1<<25)
	var d diag.List
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	im, err := frontend.Import("model.onnx", onnx, frontend.Options{}, &d)
	runtime.ReadMemStats(&after)
	if err != nil || im.Model != nil || len(d.Diags) != 1 {
		t.Fatal(im.Model, err, d.Diags)
	}
	if got := d.Diags[0]; got.Code != diag.ModelTooLarge || got.Node != "t23" ||
		!strings.Contains(got.Msg, "move and pair 167772176 elements; at most 134217728") {
		t.Errorf("%v", got)
	}
	if n := after.TotalAlloc - before.TotalAlloc; n > most {
		t.Errorf("%d bytes were allocated, of at most %d", n, most)
	}
}
