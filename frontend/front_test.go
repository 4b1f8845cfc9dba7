package frontend_test

import (
	"fmt"
	"testing"

	"hlsgen/frontend"
	"hlsgen/frontend/graph"
	"hlsgen/internal/testsupport/tier"
)

// A blend is a network in which tensors of several kinds are joined and moved, and then quantised.
type blend struct{ *net }

// conv is a convolution of 1 by 1 of c channels, of so many codes.
func (b blend) conv(y, x string, c int) string {
	w := make(v, c*c)
	for i := range w {
		w[i] = float64((i*7+len(y)+3*len(x))%7 - 3)
	}
	b.quant(b.c([]int{c, c, 1, 1}, w...), y+".w", b.s(1), 0, 4, 1)
	b.op("Conv", y, x, y+".w")
	return y
}

// kinds of tensors of 2 channels of 4 by 4 pixels: y is made of codes q of steps of 1/4.
var blended = []struct {
	name string
	make func(b blend, y string)
}{
	{"codes", func(b blend, y string) { b.quant("q", y, b.s(0.5), 0, 3, 1) }},
	{"products", func(b blend, y string) { b.conv(y, "q", 2) }},
	{"normalised", func(b blend, y string) {
		b.op("BatchNormalization", y, b.conv(y+".c", "q", 2), b.c([]int{2}, 0.5, 1.25), b.c([]int{2}, 0.25, -1),
			b.c([]int{2}, 0.125, 3), b.c([]int{2}, 1, 2))
	}},
	{"codes of two scales, added", func(b blend, y string) {
		b.quant(b.conv(y+".c", "q", 2), y+".d", b.s(0.75), 0, 4, 1).quant("q", y+".e", b.s(0.3), 0, 3, 1)
		b.op("Add", y, y+".d", y+".e")
	}},
	{"codes, multiplied", func(b blend, y string) {
		b.quant(b.conv(y+".c", "q", 2), y+".d", b.s(0.75), 0, 4, 1).op("Mul", y, y+".d", "q")
	}},
	{"codes, excited", func(b blend, y string) {
		b.quant(b.conv(y+".c", "q", 2), y+".d", b.s(0.75), 0, 4, 1)
		b.op("GlobalAveragePool", y+".m", y+".d").quant(y+".m", y+".f", b.s(0.25), 0, 4, 1)
		b.op("HardSigmoid", y+".h", b.conv(y+".g", y+".f", 2)).quant(y+".h", y+".k", b.s(1.0/8), 0, 4, 0)
		b.op("Mul", y+".p", y+".d", y+".k").quant(y+".p", y+".r", b.s(0.6), 0, 4, 1)
		b.op("Add", y, y+".d", y+".r")
	}},
	{"greatest", func(b blend, y string) {
		b.quant(b.conv(y+".c", "q", 2), y+".d", b.s(0.75), 0, 4, 1)
		b.op("MaxPool", y, y+".d").Ints("kernel_shape", 3, 3).Ints("pads", 1, 1, 1, 1)
	}},
	{"doubled", func(b blend, y string) {
		b.quant("q", y+".a", b.s(0.5), 0, 4, 1).op("MaxPool", y+".b", y+".a").Ints("kernel_shape", 2, 2).
			Ints("strides", 2, 2)
		b.op("Add", y+".c", b.conv(y+".d", y+".b", 2), y+".b")
		b.double(y, y+".c")
	}},
}

func (n *net) double(y, x string) *net {
	n.op("Resize", y, x, "", n.c([]int{4}, 1, 1, 2, 2))
	n.last.Str("mode", "nearest").Str("coordinate_transformation_mode", "asymmetric").Str("nearest_mode", "floor")
	return n
}

// joinings move and join three tensors a, b and c.
var joinings = []struct {
	name string
	make func(b blend) (y string, channels int)
}{
	{"joined", func(b blend) (string, int) { return b.join("a", "b", "c"), 6 }},
	{"nested", func(b blend) (string, int) {
		b.op("Concat", "bc", "b", "c").Int("axis", 1)
		return b.join("a", "bc", "a"), 8
	}},
	{"doubled", func(b blend) (string, int) {
		b.double("j2", b.join("a", "b", "c"))
		return "j2", 6
	}},
	{"activated", func(b blend) (string, int) {
		b.op("Relu", "r", b.join("a", "b", "c"))
		return "r", 6
	}},
	{"normalised by channel", func(b blend) (string, int) {
		b.op("BatchNormalization", "n", b.join("a", "b", "c"), b.c([]int{6}, 1, 0.5, -1, 0.25, 1, 2),
			b.c([]int{6}, 1, 0.5, 0, -1, 1, 2), b.c([]int{6}, 0, 0, 1, 1, 2, 2), b.c([]int{6}, 1, 2, 3, 1, 2, 3))
		b.op("Relu", "r", "n")
		return "r", 6
	}},
	{"multiplied by channel, nested", func(b blend) (string, int) {
		b.op("Concat", "bc", "b", "c").Int("axis", 1)
		b.op("Mul", "m", b.join("a", "bc"), b.c([]int{6, 1, 1}, 1, 0.5, -1, 0.25, 1, 2))
		b.double("m2", "m").op("Add", "s", "m2", b.c([]int{1, 6, 1, 1}, 1, 2, 3, -1, -2, -3))
		return "s", 6
	}},
	{"with a switch", func(b blend) (string, int) {
		j := b.join("a", "b", "c")
		b.op("Add", "j3", j, b.s(3)).op("Clip", "j6", "j3", b.s(0), b.s(6)).op("Mul", "sw", j, "j6")
		b.op("Mul", "sx", "sw", b.s(1.0/8))
		return "sx", 6
	}},
	{"padded", func(b blend) (string, int) {
		b.op("Pad", "p", b.join("a", "b", "c"), b.i(0, 0, 1, 0, 0, 0, 0, 1))
		return "p", 6
	}},
	{"cut", func(b blend) (string, int) {
		b.op("Slice", "s", b.join("a", "b", "c"), b.i(1), b.i(5), b.i(1))
		return "s", 4
	}},
	{"shuffled", func(b blend) (string, int) {
		b.op("Reshape", "s1", b.join("a", "b", "c"), b.i(1, 2, 3, 4, 4))
		b.op("Transpose", "s2", "s1").Ints("perm", 0, 2, 1, 3, 4).op("Reshape", "s3", "s2", b.i(1, 6, 4, 4))
		return "s3", 6
	}},
}

func (b blend) join(parts ...string) string {
	b.op("Concat", "j", parts...).Int("axis", 1)
	return "j"
}

// TestQuantiserBehindJoining puts a quantiser behind a Concat of tensors that are different functions of integers, and
// behind nodes that move the elements further. The network must map, and its layers must give what the model means.
func TestQuantiserBehindJoining(t *testing.T) {
	t.Parallel()
	tier.NotQuick(t)
	for i, first := range blended {
		for j, second := range blended {
			for k, joining := range joinings {
				if !tier.Long() && (i+3*j+k)%len(blended) != 0 {
					continue
				}
				b := blend{newNet(13)}
				b.Input("x", graph.DTypeFloat32, 1, 2, 4, 4).quant("x", "q", b.s(0.25), 0, 4, 1)
				first.make(b, "a")
				second.make(b, "b")
				blended[(i+j+k)%len(blended)].make(b, "c")
				y, channels := joining.make(b)
				b.quant(y, "z", b.s(0.7), 0, 4, 1)
				b.conv("y", "z", channels)
				b.Output("y", graph.DTypeFloat32)
				b.mapped(t, fmt.Sprintf("%s, %s, %s", first.name, second.name, joining.name), 3)
			}
		}
	}
}

// TestSwitchOfSums puts a quantiser behind a function that reads joined parts twice, one of which is a sum. The parts
// must become one tensor, and the codes must be those of the function.
func TestSwitchOfSums(t *testing.T) {
	t.Parallel()
	b := blend{newNet(13)}
	b.Input("x", graph.DTypeFloat32, 1, 2, 4, 4).quant("x", "q", b.s(0.25), 0, 4, 1)
	b.quant(b.conv("d", "q", 2), "e", b.s(0.75), 0, 4, 1).quant("q", "f", b.s(0.3), 0, 3, 1)
	b.op("Add", "s", "e", "f").op("Concat", "j", "s", "e").Int("axis", 1)
	b.op("Add", "j3", "j", b.s(3)).op("Clip", "j6", "j3", b.s(0), b.s(6)).op("Mul", "m", "j", "j6")
	b.quant("m", "z", b.s(0.7), 0, 4, 1)
	b.conv("y", "z", 4)
	b.Output("y", graph.DTypeFloat32)
	b.mapped(t, "a switch", 20)
}

// TestQuantiserStays checks that a quantiser stays behind nodes that move its elements if a layer makes its codes
// there.
func TestQuantiserStays(t *testing.T) {
	t.Parallel()
	b := blend{newNet(13)}
	b.Input("x", graph.DTypeFloat32, 1, 2, 4, 4).quant("x", "q", b.s(0.25), 0, 4, 1)
	b.conv("a", "q", 2)
	b.conv("b", "q", 2)
	b.op("Concat", "j", "a", "b").Int("axis", 1).quant("j", "z", b.s(0.7), 0, 4, 1)
	b.conv("y", "z", 4)
	b.Output("y", graph.DTypeFloat32)
	im, found := imported(t, b.net, frontend.Options{})
	if im.Model == nil {
		t.Fatal(found)
	}
	if got := kinds(im); got != "DuplicateStreams MVAU MVAU StreamingConcat MVAU" {
		t.Errorf("layers %s", got)
	}
}
