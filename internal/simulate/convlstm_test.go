package simulate_test

import (
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"hlsgen/frontend/graph"
	"hlsgen/internal/check"
	"hlsgen/internal/diag"
	"hlsgen/internal/npy"
	"hlsgen/internal/options"
	"hlsgen/internal/simulate"
	"hlsgen/internal/testsupport/onnxtest"
	"hlsgen/internal/testsupport/samplefiles"
	"hlsgen/internal/testsupport/simtest"
	"hlsgen/internal/testsupport/tier"
)

// A convLSTM is a Scan whose gates are convolutions of the step's image and of the hidden one, zeros beyond the edges:
//
//	z = Wx * x + Wh * h + b        i, f, o = q(sigmoid(z)), g = q(tanh(z)), of a quarter of z's channels each
//	c = q(f*c + i*g), h = q(o * q(tanh(c)))
//
// Weights are in eighths, images and gates in sixteenths.
type convLSTM struct {
	steps, height, width int
	in, hidden           int // channels
	kernel, dilation     int // of the product with the hidden image; that with the input has 3 x 3
	groups               int // of the same product
	seed                 uint64
}

// The codes of images, gates and states: 5 bits, signed.
const convCode = 1. / 16

func convQuant(v float64) int {
	return int(min(max(math.RoundToEven(v/convCode), -16), 15))
}

// A kernel4 is the weights of a convolution [output][input][row][column], in eighths.
type kernel4 struct {
	codes                      []int
	out, in, size, dilation, g int
}

func (m *convLSTM) kernels() (x, h kernel4, bias []int) {
	r := rand.New(rand.NewPCG(m.seed, 5))
	fill := func(k kernel4) kernel4 {
		for range k.out * k.in * k.size * k.size {
			k.codes = append(k.codes, r.IntN(9)-4)
		}
		onnxtest.ZeroRandomRowsAndColumns(r, k.codes, k.in*k.size*k.size)
		return k
	}
	x = fill(kernel4{out: 4 * m.hidden, in: m.in, size: 3, dilation: 1, g: 1})
	h = fill(kernel4{out: 4 * m.hidden, in: m.hidden / m.groups, size: m.kernel, dilation: m.dilation, g: m.groups})
	for range 4 * m.hidden {
		bias = append(bias, r.IntN(17)-8)
	}
	return x, h, bias
}

func (k *kernel4) pad() int { return k.dilation * (k.size - 1) / 2 }

// at is the sum of an image at a place, in products of eighths and sixteenths.
func (k *kernel4) at(image []int, height, width, channel, row, column int) (sum int) {
	first := channel / (k.out / k.g) * k.in
	for c := range k.in {
		for i := range k.size * k.size {
			y, x := row+k.dilation*(i/k.size)-k.pad(), column+k.dilation*(i%k.size)-k.pad()
			if y >= 0 && y < height && x >= 0 && x < width {
				sum += k.codes[(channel*k.in+c)*k.size*k.size+i] * image[((first+c)*height+y)*width+x]
			}
		}
	}
	return sum
}

// run is the hidden images, as numbers, of a sequence of images of codes.
func (m *convLSTM) run(images [][]int) (out []float64) {
	wx, wh, bias := m.kernels()
	n := m.height * m.width
	h, c := make([]int, m.hidden*n), make([]int, m.hidden*n)
	for _, image := range images {
		before := slices.Clone(h)
		for unit := range h {
			channel, row, column := unit/n, unit%n/m.width, unit%m.width
			gate := func(k int) float64 {
				at := k*m.hidden + channel
				return (float64(wx.at(image, m.height, m.width, at, row, column)+
					wh.at(before, m.height, m.width, at, row, column))*convCode + float64(bias[at])) / 8
			}
			logistic := func(v float64) int { return convQuant(1 / (1 + math.Exp(-v))) }
			i, f, o, g := logistic(gate(0)), logistic(gate(1)), logistic(gate(2)), convQuant(math.Tanh(gate(3)))
			c[unit] = convQuant(float64(f*c[unit]+i*g) * convCode * convCode)
			h[unit] = convQuant(float64(o*convQuant(math.Tanh(float64(c[unit])*convCode))) * convCode * convCode)
		}
		for _, v := range h {
			out = append(out, float64(v)*convCode)
		}
	}
	return out
}

// convScales are what quantisers have.
func convScales(o *onnxtest.Model) {
	o.Init("scale", graph.DTypeFloat32, nil, convCode).Init("zero", graph.DTypeFloat32, nil, 0)
	o.Init("bits", graph.DTypeFloat32, nil, 5)
}

// write gives the path of the model.
func (m *convLSTM) write(t *testing.T) string {
	t.Helper()
	wx, wh, bias := m.kernels()
	eighths := func(codes []int) (v []float64) {
		for _, q := range codes {
			v = append(v, float64(q)/8)
		}
		return v
	}
	quant := func(o *onnxtest.Model, x, y string) {
		o.Node("Quant", x, "scale", "zero", "bits").Domain("qonnx.custom_op.general").Name(y).Out(y)
	}
	image := []any{1, m.hidden, m.height, m.width}
	body := onnxtest.New(14).Opset("qonnx.custom_op.general", 2)
	body.Input("h", graph.DTypeFloat32, image...).Input("c", graph.DTypeFloat32, image...)
	body.Input("x", graph.DTypeFloat32, 1, m.in, m.height, m.width)
	for name, k := range map[string]*kernel4{"x": &wx, "h": &wh} {
		body.Init("W"+name, graph.DTypeFloat32, []int{k.out, k.in, k.size, k.size}, eighths(k.codes)...)
		pad, dilation := int64(k.pad()), int64(k.dilation)
		body.Node("Conv", name, "W"+name).Ints("pads", pad, pad, pad, pad).Ints("dilations", dilation, dilation).
			Int("group", int64(k.g)).Name("conv_" + name).Out("z" + name)
	}
	body.Init("b", graph.DTypeFloat32, []int{1, len(bias), 1, 1}, eighths(bias)...)
	convScales(body)
	body.Node("Add", "zx", "zh").Out("zz")
	body.Node("Add", "zz", "b").Out("z")
	body.Node("Split", "z").Int("axis", 1).Out("zi", "zf", "zo", "zg")
	for _, gate := range []string{"i", "f", "o"} {
		body.Node("Sigmoid", "z"+gate).Out("real_" + gate)
		quant(body, "real_"+gate, gate)
	}
	body.Node("Tanh", "zg").Out("real_g")
	quant(body, "real_g", "g")
	body.Node("Mul", "f", "c").Out("fc")
	body.Node("Mul", "i", "g").Out("ig")
	body.Node("Add", "fc", "ig").Out("sum")
	quant(body, "sum", "c_next")
	body.Node("Tanh", "c_next").Out("tanh_c")
	quant(body, "tanh_c", "shown")
	body.Node("Mul", "o", "shown").Out("product")
	quant(body, "product", "h_next")
	body.Node("Identity", "h_next").Out("y")
	for _, name := range []string{"h_next", "c_next", "y"} {
		body.Output(name, graph.DTypeFloat32, image...)
	}
	o := onnxtest.New(14).Opset("qonnx.custom_op.general", 2)
	o.Input("images", graph.DTypeFloat32, m.steps, 1, m.in, m.height, m.width)
	convScales(o)
	quant(o, "images", "q")
	o.Init("start", graph.DTypeFloat32, []int{1, m.hidden, m.height, m.width}, make([]float64,
		m.hidden*m.height*m.width)...)
	o.Node("Scan", "start", "start", "q").Name("cells").Int("num_scan_inputs", 1).Graph("body", body).Out("", "", "Y")
	o.Output("Y", graph.DTypeFloat32)
	path := filepath.Join(t.TempDir(), "model.onnx")
	if err := os.WriteFile(path, o.Bytes(), 0o644); err != nil {
		t.Fatal(err)
	}
	return path
}

// TestConvLSTM holds every engine against the plain evaluation above.
func TestConvLSTM(t *testing.T) {
	t.Parallel()
	tier.NotQuick(t)
	for name, m := range map[string]convLSTM{
		"3 x 3":        {5, 3, 4, 2, 2, 3, 1, 1, 1},
		"1 x 1":        {4, 4, 2, 1, 3, 1, 1, 1, 2},
		"dilated":      {3, 5, 5, 1, 1, 3, 2, 1, 3},
		"grouped":      {4, 3, 3, 2, 2, 3, 1, 2, 4},
		"a single row": {6, 1, 6, 2, 1, 3, 1, 1, 5},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			const samples = 3
			r := rand.New(rand.NewPCG(m.seed, 6))
			x := &npy.Array{DType: "float32", Shape: []int{samples, m.steps, 1, m.in, m.height, m.width}}
			var want []float64
			for range samples {
				images := make([][]int, m.steps)
				for step := range images {
					for range m.in * m.height * m.width {
						code := r.IntN(32) - 16
						images[step] = append(images[step], code)
						x.Data = append(x.Data, float64(code)*convCode)
					}
				}
				want = append(want, m.run(images)...)
			}
			if !slices.ContainsFunc(want, func(v float64) bool { return v != 0 }) {
				t.Fatal("all is zero: nothing is compared")
			}
			o := simulate.Options{Source: options.Source{SampleFiles: options.SampleFiles{Data: samplefiles.Write(t,
				x)}, Model: m.write(t)}}
			simtest.Agree(t, simtest.QuickEngines(t), o, []*npy.Array{{Data: want}})
		})
	}
}

// TestLargeConvLSTM is refused with what it takes, and maps where the hint is followed.
func TestLargeConvLSTM(t *testing.T) {
	t.Parallel()
	m := convLSTM{100, 48, 48, 1, 1, 3, 1, 1, 1}
	var d diag.List
	if _, err := check.Run(t.Context(), check.Options{Source: options.Source{Model: m.write(t)}}, &d); err != nil {
		t.Fatal(err)
	}
	// Each convolution makes 4 * 48 * 48 values of 3 * 3 products; the two states have 48 * 48 values of 5 bits.
	const msg = "is a matrix of 21233664 weights, at most 16777216 are read. As it is written, a step takes 165888 " +
		"multiplications with 72 weights, and 23040 bits of states"
	if !slices.ContainsFunc(d.Diags, func(x diag.Diag) bool {
		return x.Code == diag.NodeNotMapped && strings.Contains(x.Msg, msg) &&
			strings.HasPrefix(x.Hint, "use 2 times fewer")
	}) {
		t.Errorf("%v, want one that %s", d.Diags, msg)
	}
	tier.NotQuick(t)
	m.width /= 2
	c, err := check.Run(t.Context(), check.Options{Source: options.Source{Model: m.write(t)}}, &diag.List{})
	if err != nil || c.Imported.Model == nil {
		t.Errorf("with half of the pixels: %v", err)
	}
}
