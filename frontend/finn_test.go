package frontend_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"hlsgen/frontend"
	"hlsgen/frontend/graph"
	"hlsgen/internal/dataflow"
	"hlsgen/internal/diag"
)

// A lowered convolution is one as FINN's streamlining writes it, on an image whose channels are the last axis.
type lowered struct {
	name                        string
	h, w, c, out                int // 0: 6 by 5 pixels of 3 channels, 3 outputs
	kernel, stride, dilations   [2]int
	pads                        [4]int // top, left, bottom, right
	fill                        int    // the value of padding
	depthwise, signs, patchRead bool   // signs: XnorPopcountMatMul; patchRead: a quantiser reads the Im2Col, too
	negative                    bool   // codes from -8 to 7 in the place of 0 to 3
	pooled                      bool   // greatest codes of 2 by 2 pixels, where there are so many, and their sum
}

var lowerings = []lowered{
	{name: "one pixel", kernel: [2]int{1, 1}},
	{name: "padded", kernel: [2]int{3, 3}, pads: [4]int{1, 1, 1, 1}},
	{name: "on one side", kernel: [2]int{3, 2}, stride: [2]int{2, 1}, pads: [4]int{2, 0, 0, 1}},
	{name: "with a value", kernel: [2]int{3, 3}, stride: [2]int{1, 2}, pads: [4]int{1, 1, 1, 1}, fill: 1},
	{name: "dilated", kernel: [2]int{2, 3}, dilations: [2]int{2, 1}},
	{name: "depthwise", kernel: [2]int{3, 3}, pads: [4]int{1, 1, 1, 1}, depthwise: true},
	{name: "ones and zeros", kernel: [2]int{3, 3}, signs: true},
	{name: "ones and zeros, padded", kernel: [2]int{3, 3}, stride: [2]int{2, 2}, pads: [4]int{1, 1, 1, 1}, signs: true},
	{name: "patches that are read", kernel: [2]int{2, 2}, stride: [2]int{2, 2}, patchRead: true},
}

// randomly is one at random.
func randomly(seed uint64) lowered {
	r := rand.New(rand.NewPCG(seed, 3))
	one := func(n int) int { return 1 + r.IntN(n) }
	l := lowered{name: fmt.Sprint(seed), h: 4 + r.IntN(4), w: 4 + r.IntN(4), c: one(3), out: one(4),
		kernel: [2]int{one(3), one(3)}, stride: [2]int{one(2), one(2)}, negative: true, pooled: true}
	if seed%3 == 0 {
		l.dilations = [2]int{1, 2}
		l.kernel[1] = one(2)
	}
	if seed%2 == 0 {
		l.pads = [4]int{1, r.IntN(2), r.IntN(2), 1}
	}
	if seed%4 == 3 {
		l.fill = r.IntN(2) * 2
	}
	return l
}

// settled has the sizes that are left open.
func (l lowered) settled() lowered {
	if l.h == 0 {
		l.h, l.w, l.c, l.out = 6, 5, 3, 3
	}
	for _, of := range []*[2]int{&l.stride, &l.dilations} {
		if of[0] == 0 {
			*of = [2]int{1, 1}
		}
	}
	return l
}

// size returns the rows and columns of the output.
func (l lowered) size() (rows, columns int) {
	return (l.h+l.pads[0]+l.pads[2]-l.dilations[0]*(l.kernel[0]-1)-1)/l.stride[0] + 1,
		(l.w+l.pads[1]+l.pads[3]-l.dilations[1]*(l.kernel[1]-1)-1)/l.stride[1] + 1
}

func (l lowered) terms() int { return l.kernel[0] * l.kernel[1] * l.c }

// weights returns a random matrix.
func (l lowered) weights(r *rand.Rand) v {
	weights := make(v, l.terms()*l.out)
	for k := range weights {
		if weights[k] = float64(r.IntN(7) - 3); l.signs {
			weights[k] = float64(r.IntN(2))
		}
		if l.depthwise && k/l.out%l.c != k%l.out {
			weights[k] = 0
		}
	}
	return weights
}

// thresholds returns the thresholds of the input's codes.
func (l lowered) thresholds() v {
	if l.signs {
		return v{0.25}
	}
	return v{-2, -0.5, 0.75}
}

// last has the thresholds of the outputs.
var last = v{-9.5, -4, 2.5, 9}

// write is the network.
func (l lowered) write(weights v) *net {
	n := newNet(11)
	n.Input("x", graph.DTypeFloat32, 1, l.h, l.w, l.c)
	counted := func(x, y, bits string, at v) {
		n.Node("MultiThreshold", x, n.c([]int{1, len(at)}, at...)).Domain(qonnx).Str("data_layout", "NHWC").
			Str("out_dtype", bits).Out(y)
	}
	if l.negative {
		n.quant("x", "q", n.s(1), 0, 4, 1)
	} else {
		counted("x", "q", "UINT2", l.thresholds())
	}
	n.Node("Im2Col", "q").Domain(qonnx).Ints("kernel_size", int64(l.kernel[0]), int64(l.kernel[1])).
		Ints("stride", int64(l.stride[0]), int64(l.stride[1])).
		Ints("dilations", int64(l.dilations[0]), int64(l.dilations[1])).
		Ints("pad_amount", int64(l.pads[0]), int64(l.pads[1]), int64(l.pads[2]), int64(l.pads[3])).
		Int("pad_value", int64(l.fill)).Int("depthwise", int64(asNumber(l.depthwise))).
		Str("input_shape", fmt.Sprintf("(1,%d,%d,%d)", l.h, l.w, l.c)).Out("p")
	if matrix := n.c([]int{l.terms(), l.out}, weights...); l.signs {
		n.Node("XnorPopcountMatMul", "p", matrix).Domain(qonnx).Out("s")
	} else {
		n.Node("MatMul", "p", matrix).Out("s")
	}
	rows, columns := l.size()
	if l.patchRead {
		counted("p", "z", "BINARY", v{1.5})
		n.Output("z", graph.DTypeFloat32, 1, rows, columns, l.terms())
	}
	if !l.pooled {
		counted("s", "y", "UINT3", last)
		return n.output(1, rows, columns, l.out)
	}
	counted("s", "codes", "UINT3", last)
	of := "codes"
	if rows > 1 && columns > 1 {
		n.Node("MaxPoolNHWC", "codes").Domain(qonnx).Ints("kernel_shape", 2, 2).Ints("strides", 1, 1).
			Ints("pads", 0, 0, 0, 0).Out("pooled")
		of, rows, columns = "pooled", rows-1, columns-1
	}
	return n.op("MatMul", "y", of, n.c([]int{l.out, 1}, slices.Repeat(v{1}, l.out)...)).output(1, rows, columns, 1)
}

// want returns the outputs, counted by hand.
func (l lowered) want(x, weights v) (want v) {
	rows, columns := l.size()
	var codes [][]float64 // by pixel
	for at := range rows * columns {
		pixel := make(v, l.out)
		for o := range l.out {
			sum := 0
			for k := range l.terms() {
				iy := at/columns*l.stride[0] + k/l.c/l.kernel[1]*l.dilations[0] - l.pads[0]
				ix := at%columns*l.stride[1] + k/l.c%l.kernel[1]*l.dilations[1] - l.pads[1]
				code := l.fill
				if iy >= 0 && iy < l.h && ix >= 0 && ix < l.w {
					if at := x[(iy*l.w+ix)*l.c+k%l.c]; l.negative {
						code = int(clip(math.RoundToEven(at), -8, 7))
					} else {
						code = reached(at, l.thresholds())
					}
				}
				if weight := int(weights[k*l.out+o]); !l.signs {
					sum += code * weight
				} else if code == weight {
					sum++
				}
			}
			pixel[o] = float64(reached(float64(sum), last))
		}
		codes = append(codes, pixel)
	}
	if !l.pooled {
		return slices.Concat(codes...)
	}
	side := 0
	if rows > 1 && columns > 1 {
		side, rows, columns = 1, rows-1, columns-1
	}
	for i := range rows * columns {
		total := 0.0
		for o := range l.out {
			most := 0.0
			for at := range (side + 1) * (side + 1) {
				row, column := i/columns+at/(side+1), i%columns+at%(side+1)
				most = max(most, codes[row*(columns+side)+column][o])
			}
			total += most
		}
		want = append(want, total)
	}
	return want
}

// TestLowered checks graphs as FINN's streamlining makes them, by hand and at random, with channels last: windows side
// by side, products with these, which become convolutions, and maxima. The model must give the results that the test
// computes, and the layers must agree.
func TestLowered(t *testing.T) {
	t.Parallel()
	all := slices.Clone(lowerings)
	for seed := range uint64(24) {
		all = append(all, randomly(seed))
	}
	for i, l := range all {
		l = l.settled()
		t.Run(l.name, func(t *testing.T) {
			t.Parallel()
			r := rand.New(rand.NewPCG(uint64(i), 7))
			weights := l.weights(r)
			im, found := imported(t, l.write(weights), frontend.Options{})
			if im.Model == nil {
				t.Fatal(found)
			}
			slides := l.kernel != [2]int{1, 1} && l.fill == 0 && !l.patchRead
			if k := kinds(im); slides && !strings.Contains(k, "ConvolutionInputGenerator") {
				t.Errorf("layers %s", k)
			}
			agree(t, im.Model, 20)
			x := make(v, l.h*l.w*l.c)
			for k := range x {
				x[k] = float64(float32(r.NormFloat64() * 2))
			}
			got, err := im.Model.Reference([]dataflow.RealTensor{{Shape: []int{1, l.h, l.w, l.c}, Data: x}})
			if err != nil {
				t.Fatal(err)
			}
			if want := l.want(x, weights); !slices.Equal(got[len(got)-1].Data, want) {
				t.Errorf("the model gives %v, want %v", got[len(got)-1].Data, want)
			}
		})
	}
}

func reached(x float64, thresholds v) (n int) {
	for _, at := range thresholds {
		n += asNumber(x >= at)
	}
	return n
}

func asNumber(b bool) int {
	if b {
		return 1
	}
	return 0
}

// TestCountedBits has products of bits count where these are the same, and means of codes drop low bits.
func TestCountedBits(t *testing.T) {
	t.Parallel()
	n := newNet(13).Input("x", graph.DTypeFloat32, 1, 4)
	n.Node("MultiThreshold", "x", n.c([]int{1, 1}, 0)).Domain(qonnx).Str("out_dtype", "BINARY").Out("bits")
	n.Node("XnorPopcountMatMul", "bits", n.c([]int{4, 2}, 1, 0, 0, 0, 1, 1, 1, 0)).Domain(qonnx).Out("y")
	im, d := imported(t, n.output(1, 2), frontend.Options{})
	if im.Model == nil {
		t.Fatal(d)
	}
	if got := outcome(t, im, []float64{1, -1, 2, -3}, 1, 4); !slices.Equal(got, []float64{3, 3}) {
		t.Errorf("counts %v", got)
	}
	n = newNet(13).Init("unit", graph.DTypeFloat32, nil, 1).Input("x", graph.DTypeFloat32, 1, 2, 2, 1).
		quant("x", "q", "unit", 0, 4, 0)
	n.Node("QuantAvgPool2d", "q").Domain(qonnx).Int("kernel", 2).Int("stride", 2).Int("ibits", 4).Int("obits", 4).
		Int("signed", 0).Str("data_layout", "NHWC").Out("m")
	n.op("MatMul", "y", "m", n.c([]int{1, 1}, 3)).output(1, 1, 1, 1)
	im, d = imported(t, n, frontend.Options{})
	if im.Model == nil {
		t.Fatal(d)
	}
	if got := outcome(t, im, []float64{15, 2, 3, 3}, 1, 2, 2, 1); !slices.Equal(got, []float64{15}) { // 23 >> 2 is 5
		t.Errorf("a mean of %v", got)
	}
}

// TestFINNSteps checks that files of FINN's later build steps are named, with the files to give instead.
func TestFINNSteps(t *testing.T) {
	t.Parallel()
	const domain = "finn.custom_op.fpgadataflow"
	for _, c := range []struct{ op, domain, attr, value, step string }{
		{"MVAU", domain, "", "", "step_convert_to_hw"},
		{"StreamingDataflowPartition", domain, "", "", "step_create_dataflow_partition"},
		{"MVAU_hls", domain + ".hls", "", "", "step_specialize_layers"},
		{"Thresholding_rtl", domain + ".rtl", "code_gen_dir_ipgen", "", "step_specialize_layers"},
		{"Thresholding_rtl", domain + ".rtl", "code_gen_dir_ipgen", "/tmp/code", "step_hw_codegen"},
		{"MVAU_hls", domain + ".hls", "ipgen_path", "/tmp/ip", "step_hw_ipgen"},
		{"StreamingFIFO_rtl", domain + ".rtl", "", "", "step_set_fifo_depths"},
	} {
		n := newNet(11)
		n.Input("x", graph.DTypeFloat32, 1, 4)
		n.Node("Identity", "x").Out("i")
		node := n.Node(c.op, "i").Domain(c.domain).Out("y")
		if c.attr != "" {
			node.Str(c.attr, c.value)
		}
		n.output(1, 4)
		_, found := imported(t, n, frontend.Options{})
		if len(found) == 0 || found[0].Code != diag.OpUnsupported ||
			!strings.Contains(found[0].Msg, "after "+c.step+",") ||
			!strings.Contains(found[0].Hint, "step_streamline") {
			t.Errorf("%s of %s: %v", c.op, c.step, found)
		}
	}
}
