package build

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"hlsgen/frontend/graph"
	"hlsgen/internal/check"
	"hlsgen/internal/diag"
	"hlsgen/internal/engines"
	"hlsgen/internal/fast"
	"hlsgen/internal/npy"
	"hlsgen/internal/options"
	"hlsgen/internal/samples"
	"hlsgen/internal/testsupport/onnxtest"
	"hlsgen/internal/testsupport/samplefiles"
	"hlsgen/internal/testsupport/tier"
)

// A floatNet is a network of real numbers, of random weights, in the making.
type floatNet struct {
	*onnxtest.Model
	rnd    *rand.Rand
	names  int
	silu   bool           // activations are x * sigmoid(x), else ReLU
	widths map[string]int // channels by tensor
}

func newFloatNet(silu bool, size int) *floatNet {
	n := &floatNet{Model: onnxtest.New(13), rnd: rand.New(rand.NewPCG(5, 6)), silu: silu,
		widths: map[string]int{"x": 3}}
	n.Input("x", graph.DTypeFloat32, 1, 3, size, size)
	return n
}

// op adds a node of so many channels.
func (n *floatNet) op(c int, op string, in ...string) (*onnxtest.Node, string) {
	n.names++
	y := fmt.Sprintf("%s_%d", strings.ToLower(op), n.names)
	n.widths[y] = c
	return n.Node(op, in...).Name(y).Out(y), y
}

func (n *floatNet) ints(v ...float64) string {
	n.names++
	name := fmt.Sprintf("k%d", n.names)
	n.Init(name, graph.DTypeInt64, []int{len(v)}, v...)
	return name
}

// product is a convolution, with a bias.
func (n *floatNet) product(x string, to, k, stride int) string {
	from := n.widths[x]
	w, b := make([]float64, to*from*k*k), make([]float64, to)
	for i := range w {
		w[i] = n.rnd.NormFloat64() * math.Sqrt(2/float64(from*k*k))
	}
	for i := range b {
		b[i] = n.rnd.NormFloat64() / 8
	}
	node, y := n.op(to, "Conv", x, fmt.Sprintf("w%d", n.names), fmt.Sprintf("b%d", n.names))
	n.Init(fmt.Sprintf("w%d", n.names-1), graph.DTypeFloat32, []int{to, from, k, k}, w...)
	n.Init(fmt.Sprintf("b%d", n.names-1), graph.DTypeFloat32, []int{to}, b...)
	pad := int64(k / 2)
	node.Ints("strides", int64(stride), int64(stride)).Ints("pads", pad, pad, pad, pad)
	return y
}

func (n *floatNet) act(x string) string {
	c := n.widths[x]
	if !n.silu {
		_, y := n.op(c, "Relu", x)
		return y
	}
	_, s := n.op(c, "Sigmoid", x)
	_, y := n.op(c, "Mul", x, s)
	return y
}

func (n *floatNet) conv(x string, to, k, stride int) string {
	return n.act(n.product(x, to, k, stride))
}

func (n *floatNet) join(axis int64, parts ...string) string {
	c := 0
	for _, p := range parts {
		c += n.widths[p]
	}
	node, y := n.op(c, "Concat", parts...)
	node.Int("axis", axis)
	return y
}

func (n *floatNet) add(a, b string) string {
	_, y := n.op(n.widths[a], "Add", a, b)
	return y
}

func (n *floatNet) pool(x string, k, stride int64) string {
	node, y := n.op(n.widths[x], "MaxPool", x)
	node.Ints("kernel_shape", k, k).Ints("strides", stride, stride).Ints("pads", k/2, k/2, k/2, k/2)
	return y
}

// block is a C2f: channels are split, a half goes through pairs of convolutions, and all is joined.
func (n *floatNet) block(x string, to, pairs int, adds bool) string {
	c := to / 2
	in := n.conv(x, to, 1, 1)
	n.names++
	a, b := fmt.Sprintf("split_%da", n.names), fmt.Sprintf("split_%db", n.names)
	n.widths[a], n.widths[b] = c, c
	n.Node("Split", in, n.ints(float64(c), float64(c))).Name(a).Int("axis", 1).Out(a, b)
	parts, last := []string{a, b}, b
	for range pairs {
		made := n.conv(n.conv(last, c, 3, 1), c, 3, 1)
		if adds {
			made = n.add(last, made)
		}
		parts, last = append(parts, made), made
	}
	return n.conv(n.join(1, parts...), to, 1, 1)
}

func (n *floatNet) up(x string) string {
	n.names++
	scales := fmt.Sprintf("scales%d", n.names)
	n.Init(scales, graph.DTypeFloat32, []int{4}, 1, 1, 2, 2)
	node, y := n.op(n.widths[x], "Resize", x, "", scales)
	node.Str("mode", "nearest").Str("coordinate_transformation_mode", "asymmetric").Str("nearest_mode", "floor")
	return y
}

// yolo is a network of the shape of YOLOv8n (G. Jocher et al., Ultralytics, 2023), whose narrowest layer has so many
// channels, of which YOLOv8n has 16. heads are the maps in front of what makes boxes of them by a softmax (X. Li et
// al., Generalized focal loss, 2020).
func yolo(size, c int) (n *floatNet, heads []string) {
	n = newFloatNet(true, size)
	a := n.block(n.conv(n.conv("x", c, 3, 2), 2*c, 3, 2), 2*c, 1, true)
	p3 := n.block(n.conv(a, 4*c, 3, 2), 4*c, 2, true)
	p4 := n.block(n.conv(p3, 8*c, 3, 2), 8*c, 2, true)
	p5 := n.conv(n.block(n.conv(p4, 16*c, 3, 2), 16*c, 1, true), 8*c, 1, 1)
	pooled := []string{p5}
	for i := range 3 {
		pooled = append(pooled, n.pool(pooled[i], 5, 1))
	}
	p5 = n.conv(n.join(1, pooled...), 16*c, 1, 1)
	y := n.block(n.join(1, n.up(p5), p4), 8*c, 1, false)
	scales := []string{n.block(n.join(1, n.up(y), p3), 4*c, 1, false)}
	scales = append(scales, n.block(n.join(1, n.conv(scales[0], 4*c, 3, 2), y), 8*c, 1, false))
	scales = append(scales, n.block(n.join(1, n.conv(scales[1], 8*c, 3, 2), p5), 16*c, 1, false))
	var flat []string
	cells := 0
	for i, s := range scales {
		box := n.product(n.conv(n.conv(s, 4*c, 3, 1), 4*c, 3, 1), 64, 1, 1)
		class := n.product(n.conv(n.conv(s, 5*c, 3, 1), 5*c, 3, 1), 80, 1, 1)
		heads = append(heads, n.join(1, box, class))
		side := size >> (3 + i)
		cells += side * side
		_, f := n.op(144, "Reshape", heads[i], n.ints(1, 144, float64(side*side)))
		flat = append(flat, f)
	}
	all := n.join(2, flat...)
	n.Node("Split", all, n.ints(64, 80)).Name("heads").Int("axis", 1).Out("boxes", "classes")
	_, r := n.op(4, "Reshape", "boxes", n.ints(1, 4, 16, float64(cells)))
	t, y := n.op(16, "Transpose", r)
	t.Ints("perm", 0, 2, 1, 3)
	soft, y := n.op(16, "Softmax", y)
	soft.Int("axis", 1)
	bins := make([]float64, 16)
	for i := range bins {
		bins[i] = float64(i)
	}
	n.Init("bins", graph.DTypeFloat32, []int{1, 16, 1, 1}, bins...)
	n.Node("Conv", y, "bins").Name("dfl").Out("distances")
	n.Node("Sigmoid", "classes").Name("scores").Out("scores")
	n.Output("distances", graph.DTypeFloat32, 1, 1, 4, cells).Output("scores", graph.DTypeFloat32, 1, 80, cells)
	return n, heads
}

// resnet18 is the network of K. He and others (Deep residual learning, 2015), whose narrowest layer has so many
// channels, of which theirs has 64, and whose batch normalisations are folded.
func resnet18(size, c int) *floatNet {
	n := newFloatNet(false, size)
	x := n.pool(n.conv("x", c, 7, 2), 3, 2)
	for i := range 4 {
		for k := range 2 {
			to, stride := c<<i, 1
			if i > 0 && k == 0 {
				stride = 2
			}
			short := x
			if stride == 2 {
				short = n.product(x, to, 1, 2)
			}
			x = n.act(n.add(n.product(n.conv(x, to, 3, stride), to, 3, 1), short))
		}
	}
	_, x = n.op(8*c, "GlobalAveragePool", x)
	_, x = n.op(8*c, "Flatten", x)
	w := make([]float64, 8*c*1000)
	for i := range w {
		w[i] = n.rnd.NormFloat64() / math.Sqrt(float64(8*c))
	}
	n.Init("classifier", graph.DTypeFloat32, []int{8 * c, 1000}, w...)
	n.Node("MatMul", x, "classifier").Name("classifier").Out("y")
	n.Output("y", graph.DTypeFloat32, 1, 1000)
	return n
}

// scenes are pictures: noise with some structure.
func scenes(n, size int) *npy.Array {
	rnd := rand.New(rand.NewPCG(7, 8))
	a := &npy.Array{DType: "float32", Shape: []int{n, 3, size, size}}
	for range n {
		for range 3 {
			u, v, level := rnd.Float64()/4, rnd.Float64()/4, rnd.NormFloat64()/2
			for i := range size {
				for j := range size {
					wave := float64((int(u*float64(i)*16)+int(v*float64(j)*16))%16)/8 - 1
					a.Data = append(a.Data, float64(float32(level+wave+rnd.NormFloat64()/4)))
				}
			}
		}
	}
	return a
}

// TestCalibratedDetector has a detector whose branches are joined, doubled and added as in YOLOv8n become layers, cut
// in front of the softmax of its boxes, which is named where it is not cut. The layers give what the quantised model
// means.
func TestCalibratedDetector(t *testing.T) {
	tier.NotQuick(t)
	t.Parallel()
	c, size := 2, 32
	if tier.Long() {
		c, size = 16, 64
	}
	n, heads := yolo(size, c)
	o := Options{Source: options.Source{Model: samplefiles.WriteFile(t, "yolo.onnx", n.Bytes()),
		Quantisation: options.Quantisation{Calibrate: samplefiles.Write(t,
			scenes(4, size))}}}
	var d diag.List
	whole, err := check.Run(context.Background(), check.Options{Source: o.Source, AccBits: o.AccBits}, &d)
	if err != nil || whole == nil {
		t.Fatal(err, d.Diags)
	}
	if !d.HasErrors() || !strings.Contains(fmt.Sprint(d.Diags), "softmax") {
		t.Errorf("the whole network is told %v", d.Diags)
	}
	o.Outputs, d = heads, diag.List{}
	cut, err := check.Run(context.Background(), check.Options{Source: o.Source, AccBits: o.AccBits}, &d)
	if err != nil || cut == nil || cut.Imported.Model == nil || d.HasErrors() {
		t.Fatal(err, d.Diags)
	}
	m := cut.Imported.Model
	runs := samples.MakeRandomRuns(m, 2)
	want, err := engines.RunReference(context.Background(), m, runs)
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range []*fast.Executable{nil, engines.CompileLayers(m)} {
		got, err := engines.RunFast(context.Background(), p, m, runs)
		if err != nil {
			t.Fatal(err)
		}
		for i := range want {
			if err := engines.CompareModelOutputs(m, "layers against the model", got[i], want[i]); err != nil {
				t.Error(err)
			}
		}
	}
}

// TestCalibratedResNet has a residual network of the shape of ResNet-18 become layers.
func TestCalibratedResNet(t *testing.T) {
	t.Parallel()
	tier.NotQuick(t)
	c, size, n := 4, 32, 8
	if tier.Long() {
		c, size, n = 64, 224, 32
	}
	note := noteOf(t, Options{Source: options.Source{Model: samplefiles.WriteFile(t, "resnet.onnx", resnet18(size,
		c).Bytes()),
		Quantisation: options.Quantisation{Calibrate: samplefiles.Write(t, scenes(n, size))}}})
	if !strings.Contains(note, "same class as the float network in ") || strings.Contains(note, "differs by 0 (mean)") {
		t.Errorf("it is told %q", note)
	}
}
