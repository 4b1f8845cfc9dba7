package frontend

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"sync"

	"hlsgen/frontend/canon"
	"hlsgen/frontend/graph"
	"hlsgen/frontend/lower"
	"hlsgen/frontend/pass"
	"hlsgen/internal/dataflow"
	"hlsgen/internal/diag"
)

// Lengths are those that a dynamic axis may have from sequence to sequence. A sequence of n steps means what the file
// says with n bound to the axis.
type Lengths struct {
	Axis     string
	Min, Max int
}

// lengths are models for sequences of different lengths, as they are asked for.
type lengths struct {
	Lengths
	make func(n int) (*Imported, error)

	mutex sync.Mutex
	made  map[int]*Imported
}

// At is the model as imported for sequences of n steps; the model itself where all have one length.
func (im *Imported) At(n int) (*Imported, error) {
	l := im.lengths
	if l == nil {
		return im, nil
	}
	l.mutex.Lock()
	defer l.mutex.Unlock()
	if at := l.made[n]; at != nil {
		return at, nil
	}
	if n < l.Min || n > l.Max {
		return nil, fmt.Errorf("a sequence of %d steps, want %d to %d", n, l.Min, l.Max)
	}
	at, err := l.make(n)
	if err == nil {
		l.made[n] = at
	}
	return at, err
}

// fixed are the options for sequences of n steps.
func (o Options) fixed(n int) Options {
	bound := map[string]int{o.Lengths.Axis: n}
	for name, size := range o.Dims {
		if name != o.Lengths.Axis {
			bound[name] = size
		}
	}
	o.Dims, o.Data, o.Lengths, o.Pass = bound, nil, nil, pass.Options[*canon.Model]{}
	return o
}

// importLengths imports for the longest sequences, and holds that the same layers serve others.
func (o Options) importLengths(name string, onnx []byte, d *diag.List) (*Imported, error) {
	if o.alone(name, d); d.Failed() {
		return &Imported{}, nil
	}
	longest := o.fixed(o.Lengths.Max)
	longest.Pass, longest.timed = o.Pass, true
	im, err := Import(name, onnx, longest, d)
	if err != nil || im.Model == nil {
		return im, err
	}
	l := &dataflow.Lengths{Axis: o.Lengths.Axis, Min: o.Lengths.Min, Max: o.Lengths.Max}
	im.vary(*o.Lengths, l, func(n int) (*Imported, error) {
		var quiet diag.List
		at := &Imported{}
		if err := at.read(name, onnx, o.fixed(n), &quiet); err != nil || at.program == nil {
			return nil, cmp.Or(err, fmt.Errorf("sequences of %d steps: %s", n, why(quiet)))
		}
		return at, im.shorter(at, l, n)
	})
	if err := im.axes(l); err != nil {
		x := diag.Diag{Severity: diag.Error, Code: diag.LengthFixed, Where: name, Msg: err.Error(),
			Hint: fmt.Sprintf("bind one length: --dim %s=%d", l.Axis, l.Max)}
		if of := new(crossing); errors.As(err, &of) && of.node != nil {
			x.Node, x.Op = of.node.Name, of.node.Op.Kind()
		}
		d.Add(x)
		im.Model = nil
	}
	return im, nil
}

// referenceLengths is importLengths for executing the model as written.
func (o Options) referenceLengths(name string, onnx []byte, d *diag.List) *Imported {
	if o.alone(name, d); d.Failed() {
		return &Imported{}
	}
	im := ImportReference(name, onnx, o.fixed(o.Lengths.Max), d)
	if im.Model == nil {
		return im
	}
	l := &dataflow.Lengths{Axis: o.Lengths.Axis, Min: o.Lengths.Min, Max: o.Lengths.Max}
	im.vary(*o.Lengths, l, func(n int) (*Imported, error) {
		var quiet diag.List
		at := ImportReference(name, onnx, o.fixed(n), &quiet)
		if at.Model == nil {
			return nil, fmt.Errorf("sequences of %d steps: %s", n, why(quiet))
		}
		return at, nil
	})
	if err := im.axes(l); err != nil {
		d.Add(diag.Diag{Severity: diag.Error, Code: diag.LengthFixed, Where: name, Msg: err.Error(),
			Hint: fmt.Sprintf("bind one length: --dim %s=%d", l.Axis, l.Max)})
		im.Model = nil
	}
	return im
}

// alone refuses what does not go together with different lengths.
func (o Options) alone(name string, d *diag.List) {
	if o.Samples > 1 {
		d.Add(diag.Diag{Severity: diag.Error, Code: diag.LengthFixed, Where: name,
			Msg: "with --interleave, samples take turns step by step, so that all end with the same one",
			Hint: fmt.Sprintf("bind one length: --dim %s=%d; or leave --interleave out", o.Lengths.Axis,
				o.Lengths.Max)})
	}
}

// vary lets a model have other lengths.
func (im *Imported) vary(of Lengths, l *dataflow.Lengths, make func(n int) (*Imported, error)) {
	im.lengths = &lengths{Lengths: of, make: make, made: map[int]*Imported{of.Max: im}}
	im.Model.Lengths = l
	l.Of = func(n int) (*dataflow.Model, error) {
		at, err := im.At(n)
		if err != nil {
			return nil, err
		}
		return at.Model, nil
	}
}

// A relay executes samples, one after the other, each with the model for its length. Where they are pieces of one
// stream, each goes on where the one before has ended.
type relay struct {
	im     *Imported
	parts  map[int]*graph.Part // by length; 0 where there is one
	before *graph.Part
}

func (im *Imported) relay() *relay { return &relay{im: im, parts: map[int]*graph.Part{}} }

// next is what executes the next sample.
func (r *relay) next(in []dataflow.RealTensor) (at *Imported, part *graph.Part, err error) {
	if err := checkFinite(in); err != nil {
		return nil, nil, err
	}
	steps := 0
	if l := r.im.Model.Lengths; l != nil {
		for k, axis := range l.Inputs {
			if axis >= 0 {
				steps = in[k].Shape[axis]
			}
		}
	}
	if at = r.im; steps > 0 {
		if at, err = r.im.At(steps); err != nil {
			return nil, nil, err
		}
	}
	if part = r.parts[steps]; part == nil {
		part = mustPart(at.written, inputNames(at.written), outputNames(at.written))
		if r.im.stream {
			part = part.Stream()
		}
		r.parts[steps] = part
	}
	if r.im.stream && r.before != nil && part != r.before {
		part.Follow(r.before)
	}
	r.before = part
	return at, part, nil
}

// pieces is the reference for samples that are pieces of one stream, in order.
func (im *Imported) pieces() dataflow.Reference {
	r := im.relay()
	return func(in []dataflow.RealTensor) ([]dataflow.RealTensor, error) {
		at, part, err := r.next(in)
		if err != nil {
			return nil, err
		}
		return results(at.written, part, reals(in))
	}
}

// why is the first error of a list.
func why(d diag.List) string {
	for _, x := range d.Diags {
		if x.Severity == diag.Error {
			return x.Msg
		}
	}
	return "it cannot be imported"
}

// A crossing is a layer that does not do the same with sequences of every length.
type crossing struct {
	node *dataflow.Node
	error
}

// shorter makes a model for sequences of n steps of the layers of the longest ones.
func (im *Imported) shorter(at *Imported, l *dataflow.Lengths, n int) error {
	if l.In == nil {
		if err := im.lowered.Sequences(im.program, at.program, l); err != nil {
			return err
		}
		if node, err := lower.Stepwise(im.Model.Graph, l); err != nil {
			return &crossing{node, err}
		}
	}
	low, err := im.lowered.At(im.program, at.program, l, n)
	if err != nil {
		return fmt.Errorf("sequences of %d steps: %w", n, err)
	}
	at.lower(low)
	return nil
}

// axes finds the axes of the model's inputs and outputs that are time.
func (im *Imported) axes(l *dataflow.Lengths) error {
	if l.Min == l.Max {
		return fmt.Errorf("there is one length, %d", l.Max)
	}
	at, err := im.At(l.Min)
	if err != nil {
		return err
	}
	for _, side := range []struct {
		axes     *[]int
		all, one []dataflow.Real
	}{{&l.Inputs, im.Model.In, at.Model.In}, {&l.Outputs, im.Model.Out, at.Model.Out}} {
		for k := range side.all {
			axis, err := axisOf(side.all[k].Shape, side.one[k].Shape, l.Max, l.Min)
			if err != nil {
				return fmt.Errorf("%q: %w", side.all[k].Name, err)
			}
			*side.axes = append(*side.axes, axis)
		}
	}
	if !slices.ContainsFunc(l.Inputs, func(axis int) bool { return axis >= 0 }) {
		return fmt.Errorf("no input has axis %q", l.Axis)
	}
	return nil
}

// axisOf is the axis in which two shapes differ, which are those of sequences of so many steps; -1 for none.
func axisOf(long, short []int, max, min int) (int, error) {
	axis := -1
	if len(long) != len(short) {
		return 0, fmt.Errorf("the shape is %v with %d steps and %v with %d", long, max, short, min)
	}
	for i := range long {
		if long[i] == short[i] {
			continue
		}
		if axis >= 0 || long[i] != max || short[i] != min {
			return 0, fmt.Errorf("the shape is %v with %d steps and %v with %d: want one axis of so many", long, max,
				short, min)
		}
		axis = i
	}
	return axis, nil
}
