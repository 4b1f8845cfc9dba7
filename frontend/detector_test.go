package frontend_test

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"hlsgen/frontend"
	"hlsgen/frontend/graph"
	"hlsgen/internal/testsupport/tier"
)

// A detector writes a network of the shape of YOLOv8n (G. Jocher et al., Ultralytics, 2023) with ReLUs: blocks that
// split, add and concatenate, three poolings behind each other, two up-samplings, three heads of two branches each.
type detector struct {
	*net
	r       *rand.Rand
	weights int
}

// conv is a convolution with a ReLU and a quantiser.
func (n *detector) conv(x, y string, from, to, k, stride int) string {
	n.product(x, y+".c", from, to, k, stride)
	n.op("Relu", y+".r", y+".c").quant(y+".r", y, n.s(0.05), 0, 8, 0)
	return y
}

func (n *detector) product(x, y string, from, to, k, stride int) {
	w := make(v, to*from*k*k)
	for i := range w {
		w[i] = float64(n.r.IntN(255)-127) / 64
	}
	n.weights += len(w)
	pad := int64(k / 2)
	n.quant(n.c([]int{to, from, k, k}, w...), y+".w", n.s(1.0/64), 0, 8, 1)
	n.op("Conv", y, x, y+".w").Ints("strides", int64(stride), int64(stride)).Ints("pads", pad, pad, pad, pad)
}

func (n *detector) join(y string, parts ...string) string {
	n.op("Concat", y, parts...).Int("axis", 1)
	return y
}

// block splits its channels and passes one half through the given number of pairs of convolutions. It joins all
// results.
func (n *detector) block(x, y string, from, to, pairs int, adds bool) string {
	c := to / 2
	n.conv(x, y+".in", from, to, 1, 1)
	n.Node("Split", y+".in", n.i(float64(c), float64(c))).Int("axis", 1).Out(y+".0", y+".1")
	parts, last := []string{y + ".0", y + ".1"}, y+".1"
	for i := range pairs {
		at := fmt.Sprintf("%s.%d", y, i+2)
		made := n.conv(n.conv(last, at+".a", c, c, 3, 1), at+".b", c, c, 3, 1)
		if adds {
			n.op("Add", at+".s", last, made).quant(at+".s", at, n.s(0.05), 0, 8, 0)
			made = at
		}
		parts, last = append(parts, made), made
	}
	return n.conv(n.join(y+".cat", parts...), y, (2+pairs)*c, to, 1, 1)
}

func (n *detector) up(x string) string {
	n.op("Resize", x+".up", x, "", n.c([]int{4}, 1, 1, 2, 2))
	n.last.Str("mode", "nearest").Str("coordinate_transformation_mode", "asymmetric").Str("nearest_mode", "floor")
	return x + ".up"
}

// TestDetector checks that a detector of three million weights for pictures of 640 by 640 maps. docs/performance.md has
// the time.
func TestDetector(t *testing.T) {
	tier.NotQuick(t)
	t.Parallel()
	n := &detector{net: newNet(13), r: rand.New(rand.NewPCG(1, 2))}
	n.Input("x", graph.DTypeFloat32, 1, 3, 640, 640).quant("x", "q", n.s(1.0/256), 0, 8, 0)
	a := n.block(n.conv(n.conv("q", "l0", 3, 16, 3, 2), "l1", 16, 32, 3, 2), "l2", 32, 32, 1, true)
	p3 := n.block(n.conv(a, "l3", 32, 64, 3, 2), "l4", 64, 64, 2, true)
	p4 := n.block(n.conv(p3, "l5", 64, 128, 3, 2), "l6", 128, 128, 2, true)
	p5 := n.conv(n.block(n.conv(p4, "l7", 128, 256, 3, 2), "l8", 256, 256, 1, true), "l9", 256, 128, 1, 1)
	pooled := []string{p5}
	for i := range 3 {
		at := fmt.Sprintf("l9.p%d", i)
		n.op("MaxPool", at, pooled[i]).Ints("kernel_shape", 5, 5).Ints("pads", 2, 2, 2, 2)
		pooled = append(pooled, at)
	}
	p5 = n.conv(n.join("l9.cat", pooled...), "l9.out", 512, 256, 1, 1)
	y := n.block(n.join("l11", n.up(p5), p4), "l12", 384, 128, 1, false)
	heads := []string{n.block(n.join("l14", n.up(y), p3), "l15", 192, 64, 1, false)}
	heads = append(heads, n.block(n.join("l17", n.conv(heads[0], "l16", 64, 64, 3, 2), y), "l18", 192, 128, 1, false))
	heads = append(heads, n.block(n.join("l20", n.conv(heads[1], "l19", 128, 128, 3, 2), p5), "l21", 384, 256, 1,
		false))
	for i, h := range heads {
		for j, channels := range []int{64, 80} {
			at := fmt.Sprintf("y%d%d", i, j)
			last := n.conv(n.conv(h, at+".a", 64<<i, channels, 3, 1), at+".b", channels, channels, 3, 1)
			n.product(last, at, channels, channels, 1, 1)
			n.Output(at, graph.DTypeFloat32, 1, channels, 80>>i, 80>>i)
		}
	}
	im, found := imported(t, n.net, frontend.Options{})
	if im.Model == nil {
		t.Fatal(found)
	}
	if n.weights < 2_500_000 {
		t.Errorf("%d weights", n.weights)
	}
}
