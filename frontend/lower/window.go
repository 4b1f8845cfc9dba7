package lower

import (
	"fmt"
	"math/big"
	"slices"

	"hlsgen/frontend/graph"
	"hlsgen/frontend/lower/choose"
	"hlsgen/frontend/lower/place"
	"hlsgen/frontend/lower/unmapped"
	"hlsgen/frontend/lower/whole"
	"hlsgen/frontend/real"
	"hlsgen/frontend/scaled"
	"hlsgen/hlslib/crop"
	"hlsgen/hlslib/pad"
	"hlsgen/hlslib/swg"
	"hlsgen/internal/dataflow"
)

// An image is the input of a sliding window: pixels on a wire, and the padding around them.
type image struct {
	wire          int
	h, w, c       int // padding left out
	before, after [2]int
	fill          int64
	affine        []real.Affine // per channel
	constants     []*big.Rat    // per channel of the tensor: its constant, where it is left out; nil where none is
	nodes         []*graph.Node
}

// axisOf is the axis of channels of a window's data.
func axisOf(w *graph.Window, shape []int) int {
	if w.ChannelsLast {
		return len(shape) - 1
	}
	return 1
}

// frame lists the elements of a window's input in the order of its stream.
func frame(w *graph.Window, shape []int) (dataflow.Shape, []int32, *unmapped.Reason) {
	if len(shape) < 3 || shape[0] != 1 {
		return nil, nil, unmapped.Because(fmt.Sprintf("its input has shape %v: the first axis is no single sample", shape), "export the model for one sample at a time")
	}
	to, at := place.ChannelsLast(shape, axisOf(w, shape))
	return to, place.Inverse(at, graph.Size(shape)), nil
}

// image finds the pixels that a window slides over, and makes padding of constants around them.
func (s *state) image(step *graph.Step, tensor string) (*image, *unmapped.Reason) {
	win := step.Window
	shape, elements, reject := frame(win, s.prog.Known[tensor].Shape)
	if reject != nil {
		return nil, reject
	}
	o, reject := s.operand(tensor, elements)
	if reject != nil {
		return nil, reject
	}
	im := &image{nodes: o.nodes}
	ok := true
	if o.value != nil && win.Group == 1 {
		var kept []int
		if o, kept, im.constants, ok = o.withoutConstants(shape.Channels()); !ok {
			return nil, unmapped.Because("its input does not depend on the data", "remove the constant part of the tensor")
		}
		shape = append(slices.Clone(shape[:len(shape)-1]), len(kept))
	}
	im.h, im.w, im.c = place.Pixels(shape)
	if im.affine, ok = o.affine(im.c); !ok || slices.ContainsFunc(im.affine, func(f real.Affine) bool { return f.Scale == nil }) {
		return nil, unmapped.Because("pixels of its input are scaled differently", "quantise activations per tensor or per channel")
	}
	if o.value == nil {
		im.wire, reject = s.arrange(o, shape, 0)
		return im, reject
	}
	if im.fill, reject = o.fill(im.affine); reject != nil {
		return nil, reject
	}
	b, ok := place.Inside(im.h, im.w, im.c, o.From)
	extent := func(axis int) int { return (win.Kernel[axis]-1)*win.Dilation[axis] + 1 }
	if ok && b.DY == 1 && b.DX == 1 {
		im.before, im.after = [2]int{b.Y0, b.X0}, [2]int{im.h - 1 - b.Y1, im.w - 1 - b.X1}
	}
	if !ok || b.DY > 1 || b.DX > 1 || max(im.before[0], im.after[0]) >= extent(0) || max(im.before[1], im.after[1]) >= extent(1) {
		im.before, im.after = [2]int{}, [2]int{} // a layer of its own pads
		im.wire, reject = s.arrange(o, shape, im.fill)
		return im, reject
	}
	inner := *o
	inner.Movement = o.Cut(b, im.w, im.c)
	im.h, im.w = b.Rows(), b.Cols()
	im.wire, reject = s.arrange(&inner, dataflow.Shape{im.h, im.w, im.c}, 0)
	return im, reject
}

// slide puts a sliding window behind an image.
func (s *state) slide(im *image, win *graph.Window, groups int) (int, *unmapped.Reason) {
	op := swg.New(swg.Params{Kernel: win.Kernel, Stride: win.Stride, Dilation: win.Dilation, Before: im.before, After: im.after, Pad: im.fill, Groups: groups})
	w, err := s.net.AddMover(op, []int{im.wire}, im.nodes)
	if err != nil {
		return 0, unmapped.Because("no layer slides this window: "+err.Error(), "use a smaller kernel or padding")
	}
	return w, nil
}

// channel is the constant of a channel of the tensor that was left out, or else its number among those that were not.
func (im *image) channel(c int) (constant *big.Rat, kept int) {
	if im.constants == nil {
		return nil, c
	}
	if v := im.constants[c]; v != nil {
		return new(big.Rat).Set(v), 0
	}
	for _, v := range im.constants[:c] {
		if v == nil {
			kept++
		}
	}
	return nil, kept
}

// covers reports whether a window is the whole image.
func (im *image) covers(win *graph.Window) bool {
	return im.before == [2]int{} && im.after == [2]int{} && win.Kernel == [2]int{im.h, im.w} && win.Dilation == [2]int{1, 1}
}

// convolution makes a sliding window and a product behind it: an MVAU, a VVAU where every channel has its own window, a Pool
// where that only adds up.
func (s *state) convolution(step *graph.Step, w *graph.Tensor) *unmapped.Reason {
	d, win := step.Dot, step.Window
	im, reject := s.image(step, step.Node.Inputs[d.A])
	if reject != nil {
		return reject
	}
	shape := step.Shape
	axis := axisOf(win, shape)
	channels, stride := shape[axis], 1
	for _, n := range shape[axis+1:] {
		stride *= n
	}
	p := &product{step: step, nodes: im.nodes}
	m := choose.Matrix{Groups: win.Group, Window: &choose.Window{Window: win, Channels: im.c, Covers: im.covers(win)}}
	var affine []real.Affine
	for c := range channels {
		column, in := make([]*big.Rat, 0, d.K), make([]real.Affine, 0, d.K)
		base, bias := int(d.BBase[c*stride]), new(big.Rat)
		first := c / (channels / win.Group) * win.Depth
		for k := range d.K {
			_, _, at := win.Tap(k)
			weight := new(big.Rat).SetFloat64(w.At(base + int(d.BOffset[k])))
			if v, kept := im.channel(first + at); v != nil {
				bias.Add(bias, v.Mul(v, weight))
			} else {
				column, in = append(column, weight), append(in, im.affine[kept])
			}
		}
		row, f, reject := whole.Column(column, in)
		if reject != nil {
			return reject
		}
		f.Bias = bias.Add(bias, f.Bias)
		m.Weights, affine = append(m.Weights, row), append(affine, f)
	}
	c, reject := choose.Layer(m)
	if reject != nil {
		return reject
	}
	if p.in, reject = s.windowed(im, win, c.Front); reject != nil {
		return reject
	}
	_, at := place.ChannelsLast(shape, axis)
	return s.waitFor(p, c, at, scaled.Spread(affine, graph.Size(shape), func(i int) int { return i / stride % channels }))
}

// windowed makes what stands between an image and a layer.
func (s *state) windowed(im *image, win *graph.Window, front choose.Front) (int, *unmapped.Reason) {
	switch front.Kind {
	case choose.Sliding:
		return s.slide(im, win, front.Groups)
	case choose.Strided:
		return s.everySo(im, win.Stride)
	}
	return im.wire, nil
}

// everySo takes one pixel in so many.
func (s *state) everySo(im *image, stride [2]int) (int, *unmapped.Reason) {
	if stride == [2]int{1, 1} {
		return im.wire, nil
	}
	return s.net.Crop(im.wire, crop.Params{Stop: [2]int{im.h, im.w}, Step: stride}, im.nodes)
}

// maximum deals with a max pool. Where a quantiser behind it is all that needs it, it waits.
func maximum(s *state, step *graph.Step) (bool, *unmapped.Reason) {
	if step.Window == nil || step.Elem == nil {
		return false, nil
	}
	if !s.a.Derived(step.Node.Inputs[0]) {
		return false, nil
	}
	if s.waits(step) && s.quantisedNext(step.Output) != nil {
		s.putOff(step)
		return true, nil
	}
	reject := s.poolNow(step)
	if reject != nil && !s.feedsLayer(step.Output) {
		return true, nil // the host goes on from what is before it
	}
	return true, reject
}

// waits reports whether a max pool's input is a product without a layer, or no scaled integer.
func (s *state) waits(step *graph.Step) bool {
	tensor := step.Node.Inputs[0]
	forms, err := s.a.Forms(tensor, scaled.All(graph.Size(s.prog.Known[tensor].Shape)))
	if err != nil {
		return false
	}
	for i := range forms.Of {
		leaves := forms.Of[i].Leaves()
		if len(leaves) != 1 {
			return false
		}
		p := s.places[leaves[0].Tensor]
		if p == nil {
			return false
		}
		if waiting(p.Stream) == nil {
			if _, ok := s.plainScale(forms, i, p); ok {
				return false
			}
		}
	}
	return true
}

// plainScale is the scale of a form of integers at hand, where it is one.
func (s *state) plainScale(forms *scaled.Forms, i int, p *place.Place) (real.Affine, bool) {
	for k := 0; ; k++ {
		if forms.Which(k) == i {
			e, _ := forms.Of[i].Numbers(k)
			f, ok := e.Within([]real.Interval{whole.Interval(p.Type.Union())}).Affine()
			return f, ok && f.Scale.Sign() > 0
		}
	}
}

// quantisedNext is the quantiser that alone depends on a tensor, with nothing but single-argument steps between; nil where
// there is none.
func (s *state) quantisedNext(tensor string) *graph.Step {
	for {
		var next *graph.Step
		for _, r := range s.prog.Readers(tensor) {
			if s.used[r] {
				if next != nil {
					return nil
				}
				next = r
			}
		}
		for _, o := range s.prog.Graph.Outputs {
			if o.Name == tensor {
				return nil
			}
		}
		switch {
		case next == nil, next.Dot != nil, next.Order != nil, next.Window != nil:
			return nil
		case scaled.IsCode(next):
			return next
		}
		tensor = next.Output
	}
}

// poolNow makes a Pool of scaled integers.
func (s *state) poolNow(step *graph.Step) *unmapped.Reason {
	im, reject := s.image(step, step.Node.Inputs[0])
	if reject != nil {
		return reject
	}
	for _, f := range im.affine {
		if f.Scale.Sign() < 0 {
			return unmapped.Because("the greatest value of its input is not the greatest integer: a scale is negative", "quantise before this max pool")
		}
	}
	if reject := s.enclose(im); reject != nil {
		return reject
	}
	wire, at, reject := s.pooled(step, im, s.name(step.Output))
	if reject != nil {
		return reject
	}
	s.put(step.Output, wire, at)
	axis := axisOf(step.Window, step.Shape)
	stride := 1
	for _, n := range step.Shape[axis+1:] {
		stride *= n
	}
	s.a.Declare(step.Output, scaled.Spread(im.affine, graph.Size(step.Shape), func(i int) int { return i / stride % im.c }))
	return nil
}

// enclose makes an image's padding pixels like the others: a maximum takes its values into account, and has padding of its
// own.
func (s *state) enclose(im *image) (reject *unmapped.Reason) {
	if im.before == [2]int{} && im.after == [2]int{} {
		return nil
	}
	if im.wire, reject = s.net.Pad(im.wire, pad.Params{Before: im.before, After: im.after, Code: im.fill}, im.nodes); reject != nil {
		return reject
	}
	im.h, im.w = im.h+im.before[0]+im.after[0], im.w+im.before[1]+im.after[1]
	return nil
}

// pooled puts a maximum over windows behind an image. Padding never wins: it is the least integer there is.
func (s *state) pooled(step *graph.Step, im *image, name string) (wire int, at []int32, reject *unmapped.Reason) {
	win := step.Window
	_, at = place.ChannelsLast(step.Shape, axisOf(win, step.Shape))
	im.before, im.after = win.Before, win.After
	im.fill = s.net.Type(im.wire).Union().Lo
	c, reject := choose.Layer(choose.Maximum{Window: choose.Window{Window: win, Channels: im.c, Covers: im.covers(win)}})
	if reject != nil {
		return 0, nil, reject
	}
	if wire, reject = s.windowed(im, win, c.Front); reject != nil {
		return 0, nil, reject
	}
	wire, reject = s.add(c, []int{wire}, name, append([]*graph.Node{step.Node}, im.nodes...))
	return wire, at, reject
}

// lookup makes a table's rows, of which each index chooses one, a Lookup.
func (s *state) lookup(step, one *graph.Step, w *graph.Tensor) *unmapped.Reason {
	d := step.Dot
	index := one.Node.Inputs[one.Elem.Args[0]]
	n, ok := rows(d)
	if !ok {
		return unmapped.Because(fmt.Sprintf("a table of shape %v", w.Shape), "look up rows of one matrix")
	}
	o, reject := s.operand(index, scaled.All(graph.Size(s.prog.Known[index].Shape)))
	if reject != nil {
		return reject
	}
	f, ok := o.affine(1)
	if !ok || o.value != nil || len(o.wires) != 1 {
		return unmapped.Because("its indices are not those of one quantiser", "compute all indices alike")
	}
	var table [][]*big.Rat
	r := s.places[o.wires[0]].Type.Union()
	if r.Lo < 0 || r.Hi >= maxRows {
		return unmapped.Because(fmt.Sprintf("its indices lie in %v", r), fmt.Sprintf("use indices from 0 to %d", maxRows-1))
	}
	for q := r.Lo; q <= r.Hi; q++ {
		v := new(big.Rat).Mul(f[0].Scale, new(big.Rat).SetInt64(q))
		v.Add(v, f[0].Bias)
		row := make([]*big.Rat, n)
		for c := range row {
			row[c] = new(big.Rat)
			if v.IsInt() && v.Sign() >= 0 && v.Num().IsInt64() && v.Num().Int64() < int64(d.K) {
				row[c].SetFloat64(w.At(int(d.BBase[c] + d.BOffset[v.Num().Int64()])))
			}
		}
		table = append(table, row)
	}
	values, affine, reject := tableOf(table, n)
	if reject != nil {
		return reject
	}
	wire, reject := s.arrange(o, dataflow.Shape{len(o.At)}, 0)
	if reject != nil {
		return reject
	}
	c, reject := choose.Layer(choose.Rows{Table: values})
	if reject != nil {
		return reject
	}
	if wire, reject = s.add(c, []int{wire}, s.name(step.Output), append([]*graph.Node{step.Node}, o.nodes...)); reject != nil {
		return reject
	}
	s.put(step.Output, wire, nil)
	s.a.Declare(step.Output, scaled.Spread(affine, len(d.ABase), func(i int) int { return i % n }))
	return nil
}

// maxRows bounds the tables that are looked up.
const maxRows = 1 << 16

// tableOf makes integers of a table, column by column.
func tableOf(table [][]*big.Rat, n int) (values [][]int64, affine []real.Affine, reject *unmapped.Reason) {
	values = make([][]int64, len(table))
	same := make([]real.Affine, len(table))
	for i := range same {
		same[i] = scaled.Unit[0]
	}
	for c := range n {
		column := make([]*big.Rat, len(table))
		for i, row := range table {
			column[i] = row[c]
		}
		q, f, reject := whole.Column(column, same)
		if reject != nil {
			return nil, nil, reject
		}
		for i, v := range q {
			values[i] = append(values[i], v)
		}
		affine = append(affine, f)
	}
	return values, affine, nil
}
