package operators

import (
	"strings"

	"hlsgen/frontend/graph"
	"hlsgen/frontend/program"
	"hlsgen/frontend/real"
)

// This file builds pools. A mean is a sum, the convolution of each channel with ones, divided by the number of
// elements.

// kernel returns the size of a pool's kernel along each axis, from the attribute.
func (c *windows) kernel() []int {
	list := c.IntsAttr("kernel_shape")
	if len(list) != len(c.l.axes) {
		invalid("kernel_shape %v for %d axes", list, len(c.l.axes))
	}
	var kernel []int
	for _, v := range list {
		if v < 1 || v > maxSide {
			invalid("kernel_shape %v", list)
		}
		kernel = append(kernel, int(v))
	}
	return kernel
}

// pool returns the windows of a pool, read from the node's attributes.
func (c *call) pool() *windows {
	w := c.windows()
	w.slide(w.kernel())
	w.s.place(c.StringAttrOr("auto_pad", "NOTSET"), c.IsFlagAttrSet("ceil_mode"))
	return w
}

func buildMaxPool(c *call) {
	if c.OutputName(1) != "" {
		unsupported("pool without return_indices", "the indices of the maxima are used")
	}
	c.pool().maxima()
}

// maxVariables is the largest number of elements of which one step takes the maximum.
const maxVariables = 1 << 12

// maxima adds the output of a max pool. A window that reaches beyond the data has fewer elements. A kernel position
// beyond the data then takes the window's nearest element along that axis, which does not change the maximum.
func (c *windows) maxima() {
	l, s := &c.l, &c.s
	shape := l.with(l.n, l.channels, s.out[2-s.axes:])
	checkSize(shape)
	w := s.window(l.channels, 1, l.last)
	if w.KernelPositionCount() > maxVariables || s.kernel[0] > maxVariables {
		unsupported("pool in two stages", "a maximum of %d by %d elements", s.kernel[0], s.kernel[1])
	}
	w.Before = s.before
	for a := range s.in {
		w.After[a] = max(0, (s.out[a]-1)*s.stride[a]+s.reach(a)-s.before[a]-s.in[a])
	}
	e := &program.Elem{Expr: maximum(w.KernelPositionCount()), Args: make([]int, w.KernelPositionCount())}
	if s.padded() {
		c.borderTables(e)
	} else {
		c.innerTables(e)
	}
	c.add(program.Step{Shape: shape, DType: c.dt, Elem: e, Window: w})
}

// maximum returns the greatest of the first n variables.
func maximum(n int) *real.Expr {
	var all []*real.Expr
	for v := range n {
		all = append(all, real.Var(v))
	}
	return pairwise(all, real.Max)
}

// pairwise returns the combination of expressions by f, in a tree of logarithmic depth.
func pairwise(all []*real.Expr, f joining) *real.Expr {
	for len(all) > 1 {
		for i := range len(all) / 2 {
			all[i] = f(all[2*i], all[2*i+1])
		}
		if half := len(all) / 2; len(all)%2 == 1 {
			all[half] = all[len(all)-1]
			all = all[:half+1]
		} else {
			all = all[:half]
		}
	}
	return all[0]
}

// innerTables sets the indices of windows that lie within the data: one table serves all kernel positions.
func (c *windows) innerTables(e *program.Elem) {
	l, s := &c.l, &c.s
	n, channel, h, w := l.strides()
	full, steps := l.with(l.n, l.channels, s.out[:]), l.with(n, channel, []int{s.stride[0] * h, s.stride[1] * w})
	base := c.p.strided(full, steps)
	for kh := range s.kernel[0] {
		for kw := range s.kernel[1] {
			e.Index = append(e.Index, graph.ElementIndexMap{Table: base})
			e.Offset = append(e.Offset, int32(kh*s.dilation[0]*h+kw*s.dilation[1]*w))
		}
	}
}

// borderTables sets the indices of windows of which some reach beyond the data: each kernel position has its own table.
func (c *windows) borderTables(e *program.Elem) {
	l, s := &c.l, &c.s
	entries := l.n * l.channels * s.out[0] * s.out[1]
	if entries > (maxTables-c.p.indices)/len(e.Args) {
		tooLarge("pool in two stages", "windows of %d elements for each of %d maxima", len(e.Args), entries)
	}
	n, channel, h, w := l.strides()
	var taps [2][][]int // per axis: by kernel position and output
	for a := range s.in {
		for k := range s.kernel[a] {
			row := make([]int, s.out[a])
			for o := range row {
				if row[o] = s.tap(a, o, k); row[o] < 0 {
					invalid("a window without data: it lies in the padding")
				}
			}
			taps[a] = append(taps[a], row)
		}
	}
	times := func(list []int, stride int) (out []int32) {
		for _, v := range list {
			out = append(out, int32(v*stride))
		}
		return out
	}
	for kh := range s.kernel[0] {
		for kw := range s.kernel[1] {
			rows, columns := times(taps[0][kh], h), times(taps[1][kw], w)
			from := [][]int32{c.p.every(l.n, n), c.p.every(l.channels, channel), rows, columns}
			if l.last {
				from = [][]int32{from[0], rows, columns, from[1]}
			}
			e.Index = append(e.Index, graph.ElementIndexMap{Table: program.SumsOfAxisIndices(from)})
		}
	}
}

// tap returns the index along an axis of the element that kernel position k of output o takes, or -1 if the whole
// window lies outside.
func (s *sliding) tap(a, o, k int) int {
	first := o*s.stride[a] - s.before[a]
	at := first + k*s.dilation[a]
	if at < 0 {
		at = first + (-first+s.dilation[a]-1)/s.dilation[a]*s.dilation[a]
	}
	if at >= s.in[a] {
		at = first + floorDiv(s.in[a]-1-first, s.dilation[a])*s.dilation[a]
	}
	if at < max(0, first) || at >= s.in[a] || at > first+s.reach(a)-1 {
		return -1
	}
	return at
}

func buildAveragePool(c *call) {
	w := c.pool()
	w.mean(c.IsFlagAttrSet("count_include_pad"))
}

// mean writes the mean over windows. If padding is set, elements of the padding count. Elements beyond the padding,
// which ceil_mode may add, never count.
func (c *windows) mean(padding bool) {
	if !c.dt.IsReal() {
		unsupported("cast to float before", "a mean of elements of type %s", c.dt)
	}
	counts := c.s.counts(padding)
	x := c.pad()
	sums := c.channelSums(x)
	t := graph.NewFilledTensor(c.dt, nil, counts[0])
	for _, v := range counts {
		if v != counts[0] {
			t = &graph.ConstantTensor{DType: c.dt, Shape: c.l.with(1, 1, c.s.out[2-c.s.axes:]), F: counts}
		}
	}
	c.last("", "Div", nil, sums, c.constant("counts", t))
}

// channelSums writes the sums over windows of padded data, as a convolution of every channel with ones.
func (c *windows) channelSums(x string) string {
	l, s := &c.l, &c.s
	shape := l.with(l.channels, 1, s.kernel[2-s.axes:])
	checkSize(shape)
	return c.part(c.Domain, "Conv", "sums", s.attrs(l.channels), x, c.constant("ones", graph.NewFilledTensor(c.dt,
		shape,
		1)))
}

// counts returns the number of elements of each window.
func (s *sliding) counts(padding bool) []float64 {
	if s.out[0] > maxElements/s.out[1] {
		checkSize([]int{s.out[0], s.out[1]})
		return nil
	}
	var along [2][]float64
	for a := range s.in {
		lo, hi := 0, s.in[a]
		if padding {
			lo, hi = -s.before[a], s.in[a]+s.after[a]
		}
		for o := range s.out[a] {
			n, first := 0, o*s.stride[a]-s.before[a]
			// Count the positions first + k*dilation with lo <= position < hi, for k < kernel.
			from := max(0, -floorDiv(first-lo, s.dilation[a]))
			to := min(s.kernel[a], floorDiv(hi-1-first, s.dilation[a])+1)
			if n = to - from; n <= 0 {
				invalid("a window without data: it lies in the padding")
			}
			along[a] = append(along[a], float64(n))
		}
	}
	var all []float64
	for _, h := range along[0] {
		for _, w := range along[1] {
			all = append(all, h*w)
		}
	}
	return all
}

func buildGlobalAveragePool(c *call) {
	w := c.windows()
	w.span()
	w.mean(false)
}

// maxAtOnce is the largest number of elements of a global maximum that one step takes. Larger maxima first take the
// maxima of rows.
const maxAtOnce = 1 << 8

func buildGlobalMaxPool(c *call) {
	w := c.windows()
	x, kernel := c.Inputs[0], w.l.extents()
	if len(kernel) == 2 && kernel[1] > 1 && kernel[0] > maxAtOnce/kernel[1] {
		x = c.part(c.Domain, "MaxPool", "rows", graph.AttributesByName{"kernel_shape": intsAttr(1, kernel[1])}, x)
		kernel[1] = 1
	}
	c.last(c.Domain, "MaxPool", graph.AttributesByName{"kernel_shape": intsAttr(kernel...)}, x)
}

// IsAveragePool reports whether a node is an average pool, or stands for one.
func IsAveragePool(n *graph.Node) bool { return strings.HasSuffix(n.QualifiedOpName(), "AveragePool") }
