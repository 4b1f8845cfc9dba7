package frontend_test

import (
	"fmt"
	"math/rand/v2"
	"reflect"
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
	kernel, stride, dilations   [2]int
	pads                        [4]int // top, left, bottom, right
	fill                        int    // the value of padding
	depthwise, signs, patchRead bool   // signs: XnorPopcountMatMul; patchRead: a quantiser reads the Im2Col, too
}

var lowerings = []lowered{
	{name: "one pixel", kernel: [2]int{1, 1}, stride: [2]int{1, 1}, dilations: [2]int{1, 1}},
	{name: "padded", kernel: [2]int{3, 3}, stride: [2]int{1, 1}, dilations: [2]int{1, 1},
		pads: [4]int{1, 1, 1, 1}},
	{name: "on one side", kernel: [2]int{3, 2}, stride: [2]int{2, 1}, dilations: [2]int{1, 1},
		pads: [4]int{2, 0, 0, 1}},
	{name: "with a value", kernel: [2]int{3, 3}, stride: [2]int{1, 2}, dilations: [2]int{1, 1},
		pads: [4]int{1, 1, 1, 1}, fill: 1},
	{name: "dilated", kernel: [2]int{2, 3}, stride: [2]int{1, 1}, dilations: [2]int{2, 1}},
	{name: "depthwise", kernel: [2]int{3, 3}, stride: [2]int{1, 1}, dilations: [2]int{1, 1},
		pads: [4]int{1, 1, 1, 1}, depthwise: true},
	{name: "ones and zeros", kernel: [2]int{3, 3}, stride: [2]int{1, 1}, dilations: [2]int{1, 1}, signs: true},
	{name: "ones and zeros, padded", kernel: [2]int{3, 3}, stride: [2]int{2, 2}, dilations: [2]int{1, 1},
		pads: [4]int{1, 1, 1, 1}, signs: true},
	{name: "patches that are read", kernel: [2]int{2, 2}, stride: [2]int{2, 2}, dilations: [2]int{1, 1},
		patchRead: true},
}

// What FINN's streamlining makes gives what is counted by hand, and layers that agree.
func TestLoweredConvolutions(t *testing.T) {
	t.Parallel()
	const h, w, c, outputs = 6, 5, 3, 3
	for i, l := range lowerings {
		t.Run(l.name, func(t *testing.T) {
			t.Parallel()
			r := rand.New(rand.NewPCG(uint64(i), 7))
			terms := l.kernel[0] * l.kernel[1] * c
			weights := make(v, terms*outputs)
			for k := range weights {
				if weights[k] = float64(r.IntN(7) - 3); l.signs {
					weights[k] = float64(r.IntN(2))
				}
				if l.depthwise && k/outputs%c != k%outputs {
					weights[k] = 0
				}
			}
			n := newNet(11)
			n.Input("x", graph.Float32, 1, h, w, c)
			thresholds, most := v{-2, -0.5, 0.75}, 3
			if l.signs {
				thresholds, most = v{0.25}, 1
			}
			n.Node("MultiThreshold", "x", n.c([]int{1, len(thresholds)}, thresholds...)).Domain(qonnx).
				Str("data_layout", "NHWC").Str("out_dtype", "UINT2").Out("q")
			n.Node("Im2Col", "q").Domain(qonnx).Ints("kernel_size", int64(l.kernel[0]), int64(l.kernel[1])).
				Ints("stride", int64(l.stride[0]), int64(l.stride[1])).
				Ints("dilations", int64(l.dilations[0]), int64(l.dilations[1])).
				Ints("pad_amount", int64(l.pads[0]), int64(l.pads[1]), int64(l.pads[2]), int64(l.pads[3])).
				Int("pad_value", int64(l.fill)).Int("depthwise", int64(asNumber(l.depthwise))).
				Str("input_shape", fmt.Sprintf("(1,%d,%d,%d)", h, w, c)).Out("p")
			if matrix := n.c([]int{terms, outputs}, weights...); l.signs {
				n.Node("XnorPopcountMatMul", "p", matrix).Domain(qonnx).Out("s")
			} else {
				n.Node("MatMul", "p", matrix).Out("s")
			}
			oh := (h+l.pads[0]+l.pads[2]-l.dilations[0]*(l.kernel[0]-1)-1)/l.stride[0] + 1
			ow := (w+l.pads[1]+l.pads[3]-l.dilations[1]*(l.kernel[1]-1)-1)/l.stride[1] + 1
			n.Node("MultiThreshold", "s", n.c([]int{1, 3}, -4, 2.5, 9)).Domain(qonnx).
				Str("data_layout", "NHWC").Str("out_dtype", "UINT2").Out("y")
			n.output(1, oh, ow, outputs)
			if l.patchRead {
				n.Node("MultiThreshold", "p", n.c([]int{1, 1}, 1.5)).Domain(qonnx).
					Str("data_layout", "NHWC").Str("out_dtype", "BINARY").Out("z")
				n.Output("z", graph.Float32, 1, oh, ow, terms)
			}
			im, found := imported(t, n, frontend.Options{})
			if im.Model == nil {
				t.Fatal(found)
			}
			agree(t, im.Model, 20)
			x := make(v, h*w*c)
			for k := range x {
				x[k] = float64(float32(r.NormFloat64() * 2))
			}
			got, err := im.Model.Reference([]dataflow.RealTensor{{Shape: []int{1, h, w, c}, Data: x}})
			if err != nil {
				t.Fatal(err)
			}
			want := make(v, 0, oh*ow*outputs)
			for oy := range oh {
				for ox := range ow {
					for o := range outputs {
						sum := 0
						for k := range terms {
							iy := oy*l.stride[0] + k/c/l.kernel[1]*l.dilations[0] - l.pads[0]
							ix := ox*l.stride[1] + k/c%l.kernel[1]*l.dilations[1] - l.pads[1]
							code := l.fill
							if iy >= 0 && iy < h && ix >= 0 && ix < w {
								code = reached(x[(iy*w+ix)*c+k%c], thresholds[:most])
							}
							if weight := int(weights[k*outputs+o]); !l.signs {
								sum += code * weight
							} else if code == weight {
								sum++
							}
						}
						want = append(want, float64(reached(float64(sum), v{-4, 2.5, 9})))
					}
				}
			}
			if !reflect.DeepEqual(got[0].Data, want) {
				t.Errorf("the model gives %v, want %v", got[0].Data, want)
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

// The later steps of FINN's build are named, with those to give instead.
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
		n.Input("x", graph.Float32, 1, 4)
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
