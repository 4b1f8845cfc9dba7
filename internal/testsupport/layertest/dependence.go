package layertest

import (
	"fmt"
	"math/rand/v2"
	"slices"

	"hlsgen/internal/dataflow"
	"hlsgen/internal/num"
)

// checkDependence compares the layer's Dependence with Eval: for changed frames, for frames with permuted parts, and
// for several frames side by side.
func (b *bound) checkDependence(r *rand.Rand) error {
	d := dataflow.DependenceOf(b.op)
	if d.Form == dataflow.DependenceFormMixed {
		if d.Why == "" {
			return fmt.Errorf("mixed, and nothing says why")
		}
		return nil
	}
	if len(d.In) != len(b.In) {
		return fmt.Errorf("parts of %d inputs, there are %d", len(d.In), len(b.In))
	}
	for k, t := range b.In {
		if d.In[k] < 1 || t.Shape.ElementCount()%d.In[k] != 0 {
			return fmt.Errorf("input %d of shape %v falls into %d parts", k, t.Shape, d.In[k])
		}
	}
	for k, t := range b.out {
		if d.Out < 1 || t.Shape.ElementCount()%d.Out != 0 {
			return fmt.Errorf("output %d of shape %v falls into %d parts", k, t.Shape, d.Out)
		}
	}
	if d.Form == dataflow.DependenceFormCopy {
		return b.checkMoved()
	}
	for k := range b.In {
		if err := b.checkChanges(d, k, r); err != nil {
			return err
		}
	}
	if d.Form == dataflow.DependenceFormSeparate {
		if err := b.checkPlaces(d, r); err != nil {
			return err
		}
	}
	return b.checkBeside(d, r)
}

// checkMoved checks that an element's way to the outputs does not depend on its value.
func (b *bound) checkMoved() error {
	numbered := func(factor int64) []dataflow.Tensor {
		x, n := clone(b.frames[0]), int64(0)
		for _, t := range x {
			for i := range t.Data {
				n++
				t.Data[i] = factor * n
			}
		}
		return x
	}
	one, other := b.op.Eval(numbered(1)), b.op.Eval(numbered(-3))
	for k, y := range one {
		for i, v := range y.Data {
			if v < 1 || other[k].Data[i] != -3*v {
				return fmt.Errorf("output %d, element %d is %d, and %d of inputs times -3", k, i, v, other[k].Data[i])
			}
		}
	}
	return nil
}

// checkChanges changes parts of an input, and checks that only those parts of the outputs change that may.
func (b *bound) checkChanges(d dataflow.Dependence, input int, r *rand.Rand) error {
	before, drawn := frame(r, b.In, frames), frame(r, b.In, frames)
	was := b.op.Eval(before)
	for _, part := range slices.Compact([]int{0, r.IntN(d.In[input]), d.In[input] - 1}) {
		after := clone(before)
		copy(chunk(after[input], d.In[input], part), chunk(drawn[input], d.In[input], part))
		for k, y := range b.op.Eval(after) {
			for i := range d.Out {
				mayChange := d.Form == dataflow.DependenceFormWindow || d.Form == dataflow.DependenceFormSeparate &&
					i == part ||
					d.Form == dataflow.DependenceFormRecurrent && (input > 0 || d.Out == 1 || i >= part)
				if !mayChange && !slices.Equal(chunk(y, d.Out, i), chunk(was[k], d.Out, i)) {
					return fmt.Errorf("%s, but part %d of output %d changes with part %d of input %d", d.Form, i, k,
						part, input)
				}
			}
		}
	}
	return nil
}

// checkPlaces permutes the parts of frames, and checks that the parts of the outputs follow.
func (b *bound) checkPlaces(d dataflow.Dependence, r *rand.Rand) error {
	places := r.Perm(d.Out)
	place := func(list []dataflow.Tensor) []dataflow.Tensor {
		moved := clone(list)
		for k, t := range list {
			for to, from := range places {
				copy(chunk(moved[k], d.Out, to), chunk(t, d.Out, from))
			}
		}
		return moved
	}
	x := frame(r, b.In, frames)
	got, want := b.op.Eval(place(x)), place(b.op.Eval(x))
	for k := range want {
		if !slices.Equal(got[k].Data, want[k].Data) {
			return fmt.Errorf("parts in the order %v give %v at output %d, want %v", places, got[k].Data, k,
				want[k].Data)
		}
	}
	return nil
}

// checkBeside computes frames side by side, and checks that each gives what it gives alone.
func (b *bound) checkBeside(d dataflow.Dependence, r *rand.Rand) error {
	const n = 3
	turns := &dataflow.SampleInterleaving{Samples: n, In: d.In, Out: slices.Repeat([]int{d.Out}, len(b.out))}
	op, in := b.Op, slices.Clone(b.In)
	if d.Beside != nil {
		op = d.Beside(n)
	}
	for k := range in {
		in[k].Shape = d.InterleavedShape(turns, in[k].Shape, d.In[k])
		if c := in[k].Shape.ChannelCount(); len(in[k].Range) > 1 && len(in[k].Range) != c {
			in[k].Range = []num.Range{b.In[k].UnionOfRanges()} // each part is an element
		}
	}
	bound, _, err := op.Bind(in)
	if err != nil {
		return fmt.Errorf("%d frames side by side: %w", n, err)
	}
	var samples, want [][]dataflow.Tensor
	for range n {
		x := frame(r, b.In, frames)
		samples, want = append(samples, x), append(want, b.op.Eval(x))
	}
	y := bound.Eval(turns.MakeFrames(samples)[0])
	got := turns.ExtractSamples(func(t *dataflow.SampleInterleaving) []int { return t.Out }, [][]dataflow.Tensor{y}, n)
	for s := range n {
		for k := range want[s] {
			if !slices.Equal(got[s][k].Data, want[s][k].Data) {
				return fmt.Errorf("of %d frames side by side, frame %d gives %v at output %d, alone %v", n, s,
					got[s][k].Data, k, want[s][k].Data)
			}
		}
	}
	return nil
}

// chunk returns part i of the equal parts of a tensor.
func chunk(t dataflow.Tensor, parts, i int) []int64 {
	n := len(t.Data) / parts
	return t.Data[i*n : (i+1)*n]
}
