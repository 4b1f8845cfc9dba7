package build_test

import (
	"bytes"
	"path/filepath"
	"testing"

	"hlsgen/frontend/graph"
	"hlsgen/internal/diag"
	"hlsgen/internal/testsupport/golden"
	"hlsgen/internal/testsupport/onnxtest"
	"hlsgen/internal/testsupport/tier"
)

// An imageNet is a convolutional model in the making: a chain from the input x.
type imageNet struct {
	*network
	channels int
}

// imageOf starts a model at a quantised image, or whatever else the shape is.
func imageOf(shape ...any) *imageNet {
	m := onnxtest.New(13).Opset("qonnx.custom_op.general", 2).Opset("com.microsoft", 1)
	m.Input("x", graph.DTypeFloat32, shape...)
	n := &imageNet{&network{m, 1, "x"}, shape[1].(int)}
	n.quant("in", 4, 1, 0.5)
	return n
}

// conv adds a convolution of three by three with weights of -1, 0 and 1.
func (n *imageNet) conv(name string, channels int, pad int64) *imageNet {
	w := make([]float64, channels*n.channels*9)
	for i := range w {
		w[i] = float64(i%3 - 1)
	}
	n.Init(name+".weight", graph.DTypeFloat32, []int{channels, n.channels, 3, 3}, w...)
	n.Node("Conv", n.last, name+".weight").Ints("pads", pad, pad, pad, pad).Name(name).Out(name + ".out")
	n.last, n.channels = name+".out", channels
	return n
}

// then adds any node of the last tensor, with constants behind it.
func (n *imageNet) then(op, name string, constants ...string) *onnxtest.Node {
	node := n.Node(op, append([]string{n.last}, constants...)...).Name(name).Out(name + ".out")
	n.last = name + ".out"
	return node
}

// constant adds an initializer.
func (n *imageNet) constant(name string, shape []int, v ...float64) string {
	n.Init(name, graph.DTypeFloat32, shape, v...)
	return name
}

// scaled is a quantiser whose scale has a shape.
func (n *imageNet) scaled(name string, shape []int, scale ...float64) *imageNet {
	n.constant(name+".s", shape, scale...)
	n.constant(name+".z", nil, 0)
	n.constant(name+".b", nil, 4)
	n.then("Quant", name, name+".s", name+".z", name+".b").Domain("qonnx.custom_op.general").Int("signed", 1)
	return n
}

// finish makes the last tensor the output.
func (n *imageNet) finish() []byte {
	n.Output(n.last, graph.DTypeFloat32)
	return n.Bytes()
}

// farOut pads an activation of values around 100000.1, which have no small unit in common with 0.
func farOut() []byte {
	n := imageOf(1, 2, 5, 5).conv("first", 2, 0)
	n.constant("act.s", nil, 0.001)
	n.constant("act.z", nil, 0)
	n.constant("act.b", nil, 4)
	n.then("Quant", "act", "act.s", "act.z", "act.b").Domain("qonnx.custom_op.general").Int("signed", 1)
	n.constant("far", nil, 100000.1)
	n.then("Add", "moved", "far")
	return n.conv("conv", 2, 1).finish()
}

// unmapped is what convolutional networks do that no hardware is made of.
var unmapped = []struct {
	name  string
	code  diag.Code
	model func() []byte
}{
	{"scale-per-channel", diag.ScalePerInputChannel, func() []byte {
		return imageOf(1, 9, 6, 6).scaled("act", []int{1, 9, 1, 1}, 0.1, 0.07, 0.3, 0.2, 0.5, 0.6, 0.7, 0.9,
			1.1).conv("conv", 2, 0).finish()
	}},
	{"scale-per-pixel", diag.NodeNotMapped, func() []byte {
		n := imageOf(1, 1, 3, 3)
		n.then("Relu", "relu")
		return n.scaled("act", []int{1, 1, 1, 3}, 0.1, 0.07, 0.3).conv("conv", 2, 0).finish()
	}},
	{"padding-between-two-codes", diag.PaddingNotMultipleOfScale, farOut},
	{"padding-with-another-value", diag.PaddingNotMultipleOfScale, func() []byte {
		n := imageOf(1, 2, 5, 5)
		n.then("Pad", "pad", "pads", "value")
		n.Init("pads", graph.DTypeInt64, []int{8}, 0, 0, 1, 1, 0, 0, 1, 1).Init("value", graph.DTypeFloat32, nil, 0.3)
		return n.conv("conv", 2, 0).finish()
	}},
	{"three-dimensions", diag.OpUnsupported, func() []byte {
		n := imageOf(1, 1, 4, 4, 4)
		n.constant("w", []int{1, 1, 3, 3, 3}, make([]float64, 27)...)
		n.then("Conv", "conv3d", "w")
		return n.finish()
	}},
	{"resize-linear", diag.OpUnsupported, func() []byte {
		n := imageOf(1, 1, 4, 4)
		n.constant("factors", []int{4}, 1, 1, 2, 2)
		n.then("Resize", "resize", "", "factors").Str("mode", "linear")
		return n.conv("conv", 2, 0).finish()
	}},
	{"batch", diag.NodeNotMapped, func() []byte {
		n := imageOf(2, 1, 5, 5).conv("conv", 2, 0)
		n.then("ReduceMean", "mean").Ints("axes", 0)
		return n.finish()
	}},
	{"pool-without-padding", diag.NodeNotMapped, func() []byte {
		n := imageOf(1, 1, 260, 260) // more functions than tables are made of
		n.then("AveragePool", "mean").Ints("kernel_shape", 3, 3).Ints("pads", 1, 1, 1, 1)
		return n.scaled("act", nil, 0.25).conv("conv", 2, 0).finish()
	}},
	{"weights-from-data", diag.NodeNotMapped, func() []byte {
		n := imageOf(1, 1, 3, 3)
		n.then("Conv", "correlation", "in.out")
		return n.finish()
	}},
	{"weights-of-floats", diag.WeightsNotInteger, func() []byte {
		n := imageOf(1, 1, 3, 3)
		n.constant("w", []int{1, 1, 1, 3}, 0.1, 0.7000001, 1e-5)
		n.then("Conv", "conv", "w")
		return n.finish()
	}},
	{"not-quantised", diag.NodeNotMapped, func() []byte {
		n := imageOf(1, 1, 7, 7).conv("first", 2, 0)
		n.then("Sigmoid", "sigmoid")
		return n.conv("second", 2, 0).finish()
	}},
	{"scales-in-one-channel", diag.NodeNotMapped, func() []byte {
		n := imageOf(1, 4, 3, 3).scaled("act", []int{1, 4, 1, 1}, 0.1, 0.07, 0.3, 0.9)
		n.then("DepthToSpace", "shuffle").Int("blocksize", 2)
		n.channels = 1
		return n.conv("conv", 1, 0).finish()
	}},
	{"softmax-inside", diag.NodeNotMapped, func() []byte {
		n := imageOf(1, 3, 5, 5).conv("first", 3, 0)
		n.then("Softmax", "attention").Int("axis", 1)
		return n.scaled("act", nil, 0.0625).conv("second", 2, 0).finish()
	}},
	{"unknown-operators", diag.OpUnsupported, func() []byte {
		n := imageOf(1, 2, 5, 5)
		n.then("LRN", "normalise").Int("size", 3)
		n.constant("one", []int{2}, 1, 1)
		n.then("InstanceNormalization", "instance", "one", "one")
		return n.conv("conv", 2, 0).finish()
	}},
	{"maxima-of-channels", diag.NodeNotMapped, func() []byte {
		n := imageOf(1, 2, 5, 5)
		n.then("ReduceMax", "most").Ints("axes", 1).Int("keepdims", 1)
		n.channels = 1
		return n.conv("conv", 2, 0).finish()
	}},
	{"indices-of-maxima", diag.OpUnsupported, func() []byte {
		n := imageOf(1, 1, 6, 6)
		n.then("MaxPool", "pool").Ints("kernel_shape", 2, 2).Out("pool.out", "where")
		return n.conv("conv", 2, 0).finish()
	}},
	{"groups-that-do-not-divide", diag.OpInvalid, func() []byte {
		n := imageOf(1, 3, 5, 5)
		n.constant("w", []int{2, 1, 3, 3}, make([]float64, 18)...)
		n.then("Conv", "conv", "w").Int("group", 2)
		return n.finish()
	}},
	{"window-beyond-the-image", diag.OpInvalid, func() []byte {
		return imageOf(1, 1, 2, 2).conv("conv", 2,
			0).finish()
	}},
	{"size-unknown", diag.ShapeUnknown, func() []byte { return imageOf(1, 1, "H", "W").conv("conv", 2, 0).finish() }},
	{"activation-of-many-steps", diag.ActivationRangeTooWide, func() []byte {
		n := imageOf(1, 2, 5, 5)
		for _, t := range n.Proto.Graph.Initializer { // inputs of 16 bits
			switch t.GetName() {
			case "in.bits":
				t.RawData = onnxtest.Tensor(graph.DTypeFloat32, nil, 16).RawData
			case "in.scale":
				t.RawData = onnxtest.Tensor(graph.DTypeFloat32, nil, 1.0/65536).RawData
			}
		}
		n.conv("first", 2, 0)
		n.then("Tanh", "tanh")
		n.constant("s", nil, 1.0/32768)
		n.constant("z", nil, 0)
		n.constant("b", nil, 16)
		n.then("Quant", "act", "s", "z", "b").Domain("qonnx.custom_op.general").Int("signed", 1)
		return n.conv("second", 2, 0).finish()
	}},
}

// TestUnmapped shows what is said of convolutional networks that cannot be built: the node, the reason and what to do.
func TestUnmapped(t *testing.T) {
	tier.NotQuick(t)
	dir, err := filepath.Abs("testdata/unmapped")
	if err != nil {
		t.Fatal(err)
	}
	cases := golden.Dir(t, dir)
	for _, u := range unmapped {
		t.Run(u.name, func(t *testing.T) {
			c := cases.Case(t, u.name)
			t.Chdir(t.TempDir())
			var d diag.List
			if checked(t, file(t, u.model()), &d) {
				t.Fatal("it is mapped")
			}
			found := false
			for _, x := range d.Diags {
				found = found || x.Code == u.code
				if x.Severity == diag.SeverityError && (x.Where == "" || x.Hint == "" || x.Node == "" &&
					x.Code != diag.ShapeUnknown) {
					t.Errorf("it does not say where, or what to do: %v", x)
				}
			}
			if !found {
				t.Errorf("it is not called %s", u.code)
			}
			var b bytes.Buffer
			d.Write(&b)
			c.Want("printed", b.Bytes())
		})
	}
}
