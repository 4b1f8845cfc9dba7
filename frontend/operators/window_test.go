package operators_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"hlsgen/frontend/graph"
	"hlsgen/frontend/program"
	"hlsgen/internal/testsupport/graphtest"
	"hlsgen/internal/testsupport/onnxtest"
)

const channelsLast = "qonnx.custom_op.channels_last"

// whole draws a tensor of small whole numbers.
func whole(r *rand.Rand, shape ...int) *graph.ConstantTensor {
	v := make([]float64, graph.ElementCount(shape))
	for i := range v {
		v[i] = float64(r.IntN(15) - 7)
	}
	return graphtest.Reals(shape, v...)
}

// pruned is whole of weights, of which outputs and taps may be dead.
func pruned(r *rand.Rand, shape ...int) *graph.ConstantTensor {
	w := whole(r, shape...)
	onnxtest.ZeroRandomRowsAndColumns(r, w.F, graph.ElementCount(shape[1:]))
	return w
}

// permuted is a transposed tensor.
func permuted(t *graph.ConstantTensor, perm ...int) *graph.ConstantTensor {
	shape := make([]int, len(perm))
	for i, p := range perm {
		shape[i] = t.Shape[p]
	}
	out := graphtest.Reals(shape)
	for i := range t.Len() {
		at := make([]int, len(perm)) // of the output
		for rest, k := i, len(perm)-1; k >= 0; k-- {
			at[k], rest = rest%shape[k], rest/shape[k]
		}
		from := 0
		for a, d := range t.Shape {
			from = from*d + at[slices.Index(perm, a)]
		}
		out.F = append(out.F, t.F[from])
	}
	return out
}

// toLast and toFirst move the axis of channels.
func toLast(t *graph.ConstantTensor) *graph.ConstantTensor {
	if len(t.Shape) == 3 {
		return permuted(t, 0, 2, 1)
	}
	return permuted(t, 0, 2, 3, 1)
}

// A conv is a convolution of images, in the plainest words.
type conv struct {
	stride, dilation       [2]int
	top, left, down, right int
	group                  int
}

func (c conv) attrs(oneD bool) graphtest.Attrs {
	pair := func(v [2]int) []int64 { return []int64{int64(v[0]), int64(v[1])} }
	pads := []int64{int64(c.top), int64(c.left), int64(c.down), int64(c.right)}
	if oneD {
		return graphtest.Attrs{"strides": pair(c.stride)[1:], "dilations": pair(c.dilation)[1:],
			"pads": []int64{int64(c.left), int64(c.right)}, "group": c.group}
	}
	return graphtest.Attrs{"strides": pair(c.stride), "dilations": pair(c.dilation), "pads": pads, "group": c.group}
}

func (c conv) out(in, kernel, a, pads int) int {
	return (in+pads-(kernel-1)*c.dilation[a]-1)/c.stride[a] + 1
}

// run convolves x [N, C, H, W] with w [M, C/group, KH, KW].
func (c conv) run(x, w *graph.ConstantTensor, bias []float64) *graph.ConstantTensor {
	n, ch, h, wd := x.Shape[0], x.Shape[1], x.Shape[2], x.Shape[3]
	m, depth, kh, kw := w.Shape[0], w.Shape[1], w.Shape[2], w.Shape[3]
	oh, ow := c.out(h, kh, 0, c.top+c.down), c.out(wd, kw, 1, c.left+c.right)
	y := graphtest.Reals([]int{n, m, oh, ow})
	for i := range n * m * oh * ow {
		b, o, r, s := i/(m*oh*ow), i/(oh*ow)%m, i/ow%oh, i%ow
		sum := 0.0
		if bias != nil {
			sum = bias[o]
		}
		for k := range depth * kh * kw {
			d, u, v := k/(kh*kw), k/kw%kh, k%kw
			row, col := r*c.stride[0]-c.top+u*c.dilation[0], s*c.stride[1]-c.left+v*c.dilation[1]
			if row >= 0 && row < h && col >= 0 && col < wd {
				channel := o/(m/c.group)*depth + d
				sum += x.F[((b*ch+channel)*h+row)*wd+col] * w.F[((o*depth+d)*kh+u)*kw+v]
			}
		}
		y.F = append(y.F, sum)
	}
	return y
}

// flat drops the axis of height.
func flat(t *graph.ConstantTensor) *graph.ConstantTensor {
	return graphtest.Reals([]int{t.Shape[0], t.Shape[1], t.Shape[3]}, t.F...)
}

func TestConv(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(1, 1))
	for i := range 60 {
		group := 1 + r.IntN(3)
		depth, each := 1+r.IntN(3), 1+r.IntN(2)
		c := conv{stride: [2]int{1 + r.IntN(3), 1 + r.IntN(3)}, dilation: [2]int{1 + r.IntN(2), 1 + r.IntN(2)},
			top: r.IntN(3), left: r.IntN(3), down: r.IntN(3), right: r.IntN(3), group: group}
		if i%5 == 0 {
			c.top, c.left, c.down, c.right = 0, 0, 0, 0
		}
		kh, kw := 1+r.IntN(3), 1+r.IntN(3)
		oneD := i%3 == 0
		h := 5 + r.IntN(3)
		if oneD {
			h, kh, c.stride[0], c.dilation[0], c.top, c.down = 1, 1, 1, 1, 0, 0
		}
		x, w := whole(r, 1+r.IntN(2), group*depth, h, 5+r.IntN(3)), pruned(r, group*each, depth, kh, kw)
		args := []*graph.ConstantTensor{x, w, whole(r, group*each)}
		var bias []float64
		if i%2 == 0 {
			bias = args[2].F
		} else {
			args = args[:2]
		}
		y := c.run(x, w, bias)
		if oneD {
			args[0], args[1], y = flat(x), flat(w), flat(y)
		}
		opCase{name: fmt.Sprintf("conv %d: %+v of %v with %v", i, c, args[0].Shape, args[1].Shape), op: "Conv",
			attrs: c.attrs(oneD), args: args, shape: y.Shape, want: y.F}.check(t)
		args[0], args[1], y = toLast(args[0]), toLast(args[1]), toLast(y)
		opCase{name: fmt.Sprintf("conv %d, channels last: %+v", i, c), domain: channelsLast, op: "Conv", opset: 1,
			attrs: c.attrs(oneD), args: args, shape: y.Shape, want: y.F}.check(t)
	}
}

// TestAutoPad: of 6 elements a kernel of 3 with stride 2 makes 3, for which 1 is missing; of 5 a kernel of 2 with
// stride 1 makes 5.
func TestAutoPad(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(2, 1))
	x, w := whole(r, 1, 2, 6, 5), whole(r, 3, 2, 3, 2)
	for mode, c := range map[string]conv{
		"SAME_UPPER": {down: 1, right: 1},
		"SAME_LOWER": {top: 1, left: 1},
		"VALID":      {},
	} {
		c.stride, c.dilation, c.group = [2]int{2, 1}, [2]int{1, 1}, 1
		y := c.run(x, w, nil)
		opCase{name: mode, op: "Conv", attrs: graphtest.Attrs{"auto_pad": mode, "strides": []int64{2, 1},
			"kernel_shape": []int64{3, 2}}, args: []*graph.ConstantTensor{x, w}, shape: y.Shape, want: y.F}.check(t)
	}
}

// TestConvTranspose compares with what the operator says: every element of the data adds a kernel to the output.
func TestConvTranspose(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(3, 1))
	for i := range 40 {
		group, depth, each := 1+r.IntN(2), 1+r.IntN(2), 1+r.IntN(3)
		stride, dilation, kernel := [2]int{1 + r.IntN(3), 1 + r.IntN(3)}, [2]int{1 + r.IntN(2), 1 + r.IntN(2)},
			[2]int{1 + r.IntN(3), 1 + r.IntN(3)}
		oneD := i%4 == 0
		h := 2 + r.IntN(3)
		if oneD {
			h, kernel[0], stride[0], dilation[0] = 1, 1, 1, 1
		}
		x, w := whole(r, 1+r.IntN(2), group*depth, h, 2+r.IntN(3)), pruned(r, group*depth, each, kernel[0], kernel[1])
		var before, after, extra, out [2]int
		for a := range out {
			full := (x.Shape[2+a]-1)*stride[a] + (kernel[a]-1)*dilation[a] + 1
			if a == 0 && oneD {
				out[a] = full
				continue
			}
			before[a], after[a], extra[a] = r.IntN(min(3, full)), 0, r.IntN(2)
			after[a] = r.IntN(min(3, full-before[a]))
			out[a] = full + extra[a] - before[a] - after[a]
		}
		m := group * each
		bias := whole(r, m)
		y := graphtest.Reals([]int{x.Shape[0], m, out[0], out[1]}, make([]float64, x.Shape[0]*m*out[0]*out[1])...)
		for k := range y.F {
			y.F[k] = bias.F[k/(out[0]*out[1])%m]
		}
		for k, v := range x.F {
			n, c, row, col := k/(group*depth*h*x.Shape[3]), k/(h*x.Shape[3])%(group*depth), k/x.Shape[3]%h, k%x.Shape[3]
			for q := range each * kernel[0] * kernel[1] {
				e, u, s := q/(kernel[0]*kernel[1]), q/kernel[1]%kernel[0], q%kernel[1]
				o, p := row*stride[0]+u*dilation[0]-before[0], col*stride[1]+s*dilation[1]-before[1]
				if o >= 0 && o < out[0] && p >= 0 && p < out[1] {
					y.F[((n*m+c/depth*each+e)*out[0]+o)*out[1]+p] += v * w.F[((c*each+e)*kernel[0]+u)*kernel[1]+s]
				}
			}
		}
		c := conv{stride, dilation, before[0], before[1], after[0], after[1], group}
		a, args := c.attrs(oneD), []*graph.ConstantTensor{x, w, bias}
		a["output_padding"] = []int64{int64(extra[0]), int64(extra[1])}
		if oneD {
			args[0], args[1], y = flat(x), flat(w), flat(y)
			a["output_padding"] = []int64{int64(extra[1])}
		}
		opCase{name: fmt.Sprintf("transposed %d: %v of %v with %v", i, a, args[0].Shape, args[1].Shape),
			op: "ConvTranspose", attrs: a, args: args, shape: y.Shape, want: y.F}.check(t)
	}
}

// A pool goes over images in the plainest words; counts tells how many elements a mean is of.
type pool struct {
	conv
	kernel      [2]int
	ceil, count bool
}

func (p pool) run(x *graph.ConstantTensor, mean bool) *graph.ConstantTensor {
	n, ch := x.Shape[0], x.Shape[1]
	size, before, after := x.Shape[2:], [2]int{p.top, p.left}, [2]int{p.down, p.right}
	var out [2]int
	for a := range out {
		span := (p.kernel[a]-1)*p.dilation[a] + 1
		// The windows that start in the data or the padding before, as far as they end in the padding behind, or, with
		// ceil, start in front of it.
		for o := 0; ; o++ {
			start := o*p.stride[a] - before[a]
			fits := start+span <= size[a]+after[a]
			// ceil_mode adds one window at most.
			over := p.ceil && start < size[a] && (o-1)*p.stride[a]-before[a]+span < size[a]+after[a]
			if !fits && !over {
				break
			}
			out[a]++
		}
	}
	y := graphtest.Reals([]int{n, ch, out[0], out[1]})
	for i := range n * ch * out[0] * out[1] {
		var in []float64
		count := 0
		for u := range p.kernel[0] {
			for v := range p.kernel[1] {
				row, col := i/out[1]%out[0]*p.stride[0]-p.top+u*p.dilation[0],
					i%out[1]*p.stride[1]-p.left+v*p.dilation[1]
				if row < size[0]+p.down && col < size[1]+p.right {
					count++
				}
				if row >= 0 && row < size[0] && col >= 0 && col < size[1] {
					in = append(in, x.F[(i/(out[0]*out[1])*size[0]+row)*size[1]+col])
				}
			}
		}
		if !mean {
			y.F = append(y.F, slices.Max(in))
			continue
		}
		if !p.count {
			count = len(in)
		}
		sum := 0.0
		for _, v := range in {
			sum += v
		}
		y.F = append(y.F, float64(float32(sum/float64(count))))
	}
	return y
}

func TestPools(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(4, 1))
	for i := range 120 {
		p := pool{kernel: [2]int{1 + r.IntN(3), 1 + r.IntN(3)}, ceil: r.IntN(2) == 0, count: r.IntN(2) == 0}
		p.conv = conv{stride: [2]int{1 + r.IntN(3), 1 + r.IntN(3)}, dilation: [2]int{1 + r.IntN(2), 1 + r.IntN(2)}}
		h, w := 5+r.IntN(3), 5+r.IntN(3)
		oneD := i%4 == 0
		if oneD {
			h, p.kernel[0], p.stride[0], p.dilation[0] = 1, 1, 1, 1
		}
		// No window may lie in the padding: ONNX wants less padding than kernel.
		for _, side := range []*int{&p.top, &p.down} {
			*side = r.IntN(p.kernel[0])
		}
		for _, side := range []*int{&p.left, &p.right} {
			*side = r.IntN(p.kernel[1])
		}
		x := whole(r, 1+r.IntN(2), 1+r.IntN(3), h, w)
		a := p.attrs(oneD)
		delete(a, "group")
		a["kernel_shape"] = []int64{int64(p.kernel[0]), int64(p.kernel[1])}
		if oneD {
			a["kernel_shape"] = []int64{int64(p.kernel[1])}
		}
		if p.ceil {
			a["ceil_mode"] = 1
		}
		for _, mean := range []bool{false, true} {
			y, x, op := p.run(x, mean), x, "MaxPool"
			if mean {
				op = "AveragePool"
				if p.count {
					a["count_include_pad"] = 1
				}
			}
			if oneD {
				x, y = flat(x), flat(y)
			}
			opCase{name: fmt.Sprintf("%s %d %v of %v", op, i, a, x.Shape), op: op, attrs: a,
				args:  []*graph.ConstantTensor{x},
				shape: y.Shape, want: y.F}.check(t)
			x, y = toLast(x), toLast(y)
			opCase{name: fmt.Sprintf("%s %d %v, channels last", op, i, a), domain: channelsLast, op: op, attrs: a,
				args: []*graph.ConstantTensor{x}, shape: y.Shape, want: y.F}.check(t)
		}
	}
}

// checkWindows holds every window of a program against the steps that it describes.
func checkWindows(t *testing.T, name string, p *program.Program) {
	t.Helper()
	for _, s := range p.Steps {
		w := s.Window
		if w == nil {
			continue
		}
		in := p.Known[s.Node.Inputs[0]].Shape
		size, out := slices.Clone(in[2:]), slices.Clone(s.Shape[2:])
		channels := in[1]
		if w.ChannelsLast {
			size, out, channels = slices.Clone(in[1:len(in)-1]), slices.Clone(s.Shape[1:len(in)-1]), in[len(in)-1]
		}
		if len(size) == 1 {
			size, out = []int{1, size[0]}, []int{1, out[0]}
		}
		for a := range 2 {
			if span := (w.Kernel[a]-1)*w.Dilation[a] + 1 +
				(out[a]-1)*w.Stride[a]; span > size[a]+w.Before[a]+w.After[a] {
				t.Errorf("%s: windows span %d of %d elements, with %d before and %d after", name, span, size[a],
					w.Before[a], w.After[a])
			}
		}
		place := func(row, col, c int) int {
			if w.ChannelsLast {
				return (row*size[1]+col)*channels + c
			}
			return (c*size[0]+row)*size[1] + col
		}
		terms := w.KernelPositionCount()
		if s.Dot != nil {
			terms = s.Dot.K
			if w.Depth*w.KernelPositionCount() != terms || w.Depth*w.Group != channels || w.Before != [2]int{} ||
				w.After != [2]int{} {
				t.Errorf("%s: %+v for sums of %d terms over %d channels", name, *w, terms, channels)
			}
		}
		for k := range terms {
			kh, kw, c := w.KernelTapOfTerm(k)
			if at := place(kh*w.Dilation[0], kw*w.Dilation[1], c); s.Dot != nil && int(s.Dot.AOffset[k]) != at {
				t.Errorf("%s: term %d is at %d, want %d", name, k, s.Dot.AOffset[k], at)
			}
			if s.Elem == nil {
				continue
			}
			for o := range out[0] * out[1] { // the first channel
				row, col := o/out[1]*w.Stride[0]-w.Before[0]+kh*w.Dilation[0],
					o%out[1]*w.Stride[1]-w.Before[1]+kw*w.Dilation[1]
				i := o
				if w.ChannelsLast {
					i = o * channels
				}
				if inside := row >= 0 && row < size[0] && col >= 0 && col < size[1]; inside &&
					s.Elem.ArgumentIndex(k, i) != place(row, col, 0) {
					t.Errorf("%s: variable %d of output %d is element %d, want %d", name, k, o, s.Elem.ArgumentIndex(k,
						i),
						place(row, col, 0))
				}
			}
		}
	}
}
