package build_test

import (
	"context"
	"flag"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"hlsgen/frontend/graph"
	"hlsgen/internal/build"
	"hlsgen/internal/check"
	"hlsgen/internal/diag"
	"hlsgen/internal/options"
	"hlsgen/internal/testsupport/onnxtest"
	"hlsgen/internal/testsupport/tier"
)

var writeMobileNet = flag.String("mobilenet", "", "write the MobileNet-v1 of the benchmarks to this file")

// A mobileNet is a MobileNet-v1 in the making, as Brevitas exports one: convolutions with weights of 4 bits in steps of
// their channel's, batch normalisations, activations of 4 bits.
type mobileNet struct {
	*onnxtest.Model
	r     *rand.Rand
	names int
}

// newMobileNet is the network of a width for colour pictures of 224 by 224 pixels and 1000 classes. Its weights are
// drawn, its statistics are those that such weights have.
func newMobileNet(width float64) []byte {
	n := &mobileNet{Model: onnxtest.New(14).Opset("qonnx.custom_op.general", 2), r: rand.New(rand.NewPCG(18, 1))}
	channels := func(full int) int { return int(float64(full) * width) }
	n.Input("x", graph.DTypeFloat32, 1, 3, 224, 224)
	n.Init("zero", graph.DTypeFloat32, nil, 0).Init("bits", graph.DTypeFloat32, nil, 4).Init("byte",
		graph.DTypeFloat32, nil, 8)
	n.Init("pixel", graph.DTypeFloat32, nil, 1./127).Init("step", graph.DTypeFloat32, nil, 1./6)
	n.quant("x", "pixel", "byte", "codes", 1, 0)
	x := n.conv("codes", "byte", 3, channels(32), 3, 2, 1)
	in := channels(32)
	for _, block := range []struct{ channels, stride int }{
		{64, 1}, {128, 2}, {128, 1}, {256, 2}, {256, 1}, {512, 2}, {512, 1}, {512, 1}, {512, 1}, {512, 1}, {512, 1},
		{1024, 2}, {1024, 1},
	} {
		x = n.conv(x, "bits", in, in, 3, block.stride, in)
		out := channels(block.channels)
		x = n.conv(x, "bits", in, out, 1, 1, 1)
		in = out
	}
	n.Node("AveragePool", x).Out("mean").Ints("kernel_shape", 7, 7).Ints("strides", 1, 1)
	n.quant("mean", "step", "bits", "means", 0, 0)
	n.Node("Flatten", "means").Out("flat").Int("axis", 1)
	n.Node("Transpose", n.weights("bits", in, 1000, in)).Out("classifier").Ints("perm", 1, 0)
	n.Node("MatMul", "flat", "classifier").Out("y")
	n.Output("y", graph.DTypeFloat32, 1, 1000)
	return n.Bytes()
}

func (n *mobileNet) name() string {
	n.names++
	return fmt.Sprintf("t%d", n.names)
}

func (n *mobileNet) quant(x, scale, bits, y string, signed, narrow int64) {
	n.Node("Quant", x, scale, "zero", bits).Out(y).Domain("qonnx.custom_op.general").Int("signed", signed).
		Int("narrow", narrow).Str("rounding_mode", "ROUND")
}

// weights is quantised weights of a shape, whose first axis is channels; a sum is of so many products.
func (n *mobileNet) weights(bits string, products int, shape ...int) string {
	values, scales := make([]float64, graph.ElementCount(shape)), make([]float64, shape[0])
	each := len(values) / len(scales)
	largest := 7.
	if bits == "byte" {
		largest = 127
	}
	for c := range scales {
		for k := range each {
			v := n.r.NormFloat64() / math.Sqrt(float64(products))
			values[c*each+k] = v
			scales[c] = max(scales[c], math.Abs(v)/largest)
		}
	}
	w, s, q := n.name(), n.name(), n.name()
	n.Init(w, graph.DTypeFloat32, shape, values...)
	across := []int{shape[0]}
	for range shape[1:] {
		across = append(across, 1)
	}
	n.Init(s, graph.DTypeFloat32, across, scales...)
	n.quant(w, s, bits, q, 1, 1)
	return q
}

// conv is the codes of a convolution, its normalisation and a ReLU.
func (n *mobileNet) conv(x, bits string, in, out, kernel, stride, groups int) string {
	w := n.weights(bits, in/groups*kernel*kernel, out, in/groups, kernel, kernel)
	sum, normal, positive, codes := n.name(), n.name(), n.name(), n.name()
	k, s, pad := int64(kernel), int64(stride), int64(kernel/2)
	n.Node("Conv", x, w).Out(sum).Int("group", int64(groups)).Ints("dilations", 1, 1).Ints("kernel_shape", k, k).
		Ints("pads", pad, pad, pad, pad).Ints("strides", s, s)
	parts := []string{sum}
	for _, spread := range [][2]float64{{1, 0.1}, {0, 0.3}, {0.1, 0.2}, {0.5, 0.1}} { // scale, bias, mean, variance
		values := make([]float64, out)
		for c := range values {
			values[c] = spread[0] + spread[1]*(2*n.r.Float64()-1)
		}
		parts = append(parts, n.name())
		n.Init(parts[len(parts)-1], graph.DTypeFloat32, []int{out}, values...)
	}
	n.Node("BatchNormalization", parts...).Out(normal).Float("epsilon", 1e-5)
	n.Node("Relu", normal).Out(positive)
	n.quant(positive, "step", "bits", codes, 0, 0)
	return codes
}

// mobileNetFile is where the network of width 0.5 lies.
func mobileNetFile(t testing.TB) string {
	t.Helper()
	path := *writeMobileNet
	if path == "" {
		path = filepath.Join(t.TempDir(), "mobilenetv1-050-w4a4.onnx")
	}
	if err := os.WriteFile(path, newMobileNet(0.5), 0o666); err != nil {
		t.Fatal(err)
	}
	return path
}

// TestMobileNet checks MobileNet-v1 of width 0.5: every layer is one of the accelerator, and they multiply as often as
// such a network does.
func TestMobileNet(t *testing.T) {
	t.Parallel()
	tier.NotQuick(t)
	var d diag.List
	c, err := check.Run(context.Background(),
		check.Options{Source: options.Source{Model: mobileNetFile(t)}}, &d)
	if err != nil || d.HasErrors() || c.Imported.Model == nil {
		t.Fatal(err, d.Diags)
	}
	count := map[string]int{}
	for _, l := range c.Layers {
		kind, _, _ := strings.Cut(l.Name, "_")
		count[kind]++
	}
	// 14 of the layers are convolutions with windows, the others of single pixels.
	want := map[string]int{"ConvolutionInputGenerator": 14, "MVAU": 15, "VVAU": 13, "GlobalPool": 1, "Thresholding": 1}
	if fmt.Sprint(count) != fmt.Sprint(want) {
		t.Errorf("layers %v, want %v", count, want)
	}
	total := c.Imported.CountOperations(c.Imported).Total
	if want := int64(149_497_088); total.MACs != want {
		t.Errorf("%d products, want %d", total.MACs, want)
	}
}

// timed are the networks whose check and build are measured.
var timed = []struct {
	name string
	path func(testing.TB) string
}{
	{"cnv-w2a2", brevitas("cnv-w2a2")},
	{"mobilenetv1-025-w4a4", brevitas("mobilenetv1-025-w4a4")},
	{"mobilenetv1-050-w4a4", mobileNetFile},
}

func brevitas(name string) func(testing.TB) string {
	return func(t testing.TB) string {
		return filepath.Join(tier.NeedsShared(t), "models", "brevitas", name, "model.onnx")
	}
}

// processor is what the process has computed for, on all processors, which other processes do not add to.
func processor(b *testing.B) time.Duration {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		b.Fatal(err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// BenchmarkCheck is `hlsgen check`, without the process.
func BenchmarkCheck(b *testing.B) {
	for _, c := range timed {
		b.Run(c.name, func(b *testing.B) {
			o := build.Options{Source: options.Source{Model: c.path(b)}}
			from := processor(b)
			for b.Loop() {
				var d diag.List
				if _, err := check.Run(b.Context(), check.Options{Source: o.Source, AccBits: o.AccBits},
					&d); err != nil || d.HasErrors() {
					b.Fatal(err, d.Diags)
				}
			}
			b.ReportMetric((processor(b)-from).Seconds()/float64(b.N), "cpu-s/op")
		})
	}
}

// BenchmarkBuild is `hlsgen build --no-csim --verify 1 --board zcu104`, without the process.
func BenchmarkBuild(b *testing.B) {
	for _, c := range timed {
		b.Run(c.name, func(b *testing.B) {
			o := build.Options{Source: options.Source{Model: c.path(b)},
				Hardware: options.Hardware{Board: "zcu104"}, Verification: options.Verification{Verify: 1,
					NoCSim: true}, OutputFolder: options.OutputFolder{Force: true, Out: filepath.Join(b.TempDir(),
					"out")}}
			from := processor(b)
			for b.Loop() {
				var d diag.List
				if _, err := build.Run(b.Context(), o, &d); err != nil || d.HasErrors() {
					b.Fatal(err, d.Diags)
				}
			}
			b.ReportMetric((processor(b)-from).Seconds()/float64(b.N), "cpu-s/op")
		})
	}
}
