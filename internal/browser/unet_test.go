package browser

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"

	"hlsgen/frontend/graph"
	"hlsgen/internal/testsupport/onnxtest"
)

// A drawing writes a network of images in QONNX, with random weights.
type drawing struct {
	*onnxtest.Model
	r *rand.Rand
	n int // number of nodes
}

// unet writes a U-Net of 32 x 32 to a file, and returns its path: it halves the image twice and enlarges it again, and
// each size of the way down is joined to that of the way up.
func unet(t *testing.T) string {
	t.Helper()
	d := drawing{onnxtest.New(13).Opset("qonnx.custom_op.general", 2), rand.New(rand.NewPCG(32, 32)), 0}
	d.Input("x", graph.DTypeFloat32, 1, 3, 32, 32).Output("y", graph.DTypeFloat32, 1, 2, 32, 32)
	large := d.block(d.quantised("x", 8, 1./256, false), 3, 8)
	middle := d.block(d.halved(large), 8, 8)
	small := d.block(d.halved(middle), 8, 16)
	up := d.block(d.joined(d.doubled(small), middle), 24, 8)
	up = d.block(d.joined(d.doubled(up), large), 16, 8)
	d.convolved(up, 8, 2, 1).Out("y")
	return d.file(t)
}

// named writes a network whose layers and tensors have hostile names to a file, and returns its path.
func named(t *testing.T) string {
	t.Helper()
	d := drawing{onnxtest.New(13).Opset("qonnx.custom_op.general", 2), rand.New(rand.NewPCG(8, 8)), 0}
	d.Input("x", graph.DTypeFloat32, 1, 2, 8, 8).Output("y", graph.DTypeFloat32, 1, 2, 8, 8)
	last := d.quantised("x", 8, 1./256, false)
	for _, name := range hostileNames {
		d.convolved(last, 2, 2, 3).Name(name).Out(name + " sums")
		d.Node("Relu", name+" sums").Name(name + " bent").Out(name + " bent")
		last = d.quantised(name+" bent", 4, 1./4, false)
	}
	d.convolved(last, 2, 2, 1).Out("y")
	return d.file(t)
}

// file writes the network to a file, and returns its path.
func (d *drawing) file(t *testing.T) string {
	t.Helper()
	file := filepath.Join(t.TempDir(), "model.onnx")
	if err := os.WriteFile(file, d.Bytes(), 0o666); err != nil {
		t.Fatal(err)
	}
	return file
}

// next names the output of the next node.
func (d *drawing) next() string {
	d.n++
	return fmt.Sprintf("t%d", d.n)
}

// quantised quantises a tensor to bits.
func (d *drawing) quantised(of string, bits, scale float64, signed bool) string {
	out, sign := d.next(), int64(0)
	if signed {
		sign = 1
	}
	d.Init(out+"_s", graph.DTypeFloat32, nil, scale).Init(out+"_z", graph.DTypeFloat32, nil, 0)
	d.Init(out+"_b", graph.DTypeFloat32, nil, bits)
	d.Node("Quant", of, out+"_s", out+"_z", out+"_b").Domain("qonnx.custom_op.general").Int("signed", sign).
		Int("narrow", sign).Out(out)
	return out
}

// convolved convolves with weights of 4 bits. The size stays.
func (d *drawing) convolved(of string, from, to, kernel int) *onnxtest.Node {
	name, values := d.next(), make([]float64, to*from*kernel*kernel)
	for i := range values {
		values[i] = float64(d.r.IntN(15)-7) / 8
	}
	d.Init(name, graph.DTypeFloat32, []int{to, from, kernel, kernel}, values...)
	edge := int64(kernel / 2)
	return d.Node("Conv", of, d.quantised(name, 4, 1./8, true)).Ints("pads", edge, edge, edge, edge)
}

// block convolves by 3 x 3, and quantises what is positive to 4 bits.
func (d *drawing) block(of string, from, to int) string {
	c, r := d.next(), d.next()
	d.convolved(of, from, to, 3).Out(c)
	d.Node("Relu", c).Out(r)
	return d.quantised(r, 4, 1./4, false)
}

func (d *drawing) halved(of string) string {
	out := d.next()
	d.Node("MaxPool", of).Ints("kernel_shape", 2, 2).Ints("strides", 2, 2).Out(out)
	return out
}

func (d *drawing) doubled(of string) string {
	out := d.next()
	d.Init(out+"_f", graph.DTypeFloat32, []int{4}, 1, 1, 2, 2)
	d.Node("Resize", of, "", out+"_f").Str("mode", "nearest").
		Str("coordinate_transformation_mode", "asymmetric").Str("nearest_mode", "floor").Out(out)
	return out
}

func (d *drawing) joined(a, b string) string {
	out := d.next()
	d.Node("Concat", a, b).Int("axis", 1).Out(out)
	return out
}
