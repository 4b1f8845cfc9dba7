package frontend

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"sync"

	"hlsgen/frontend/axes"
	"hlsgen/frontend/canon"
	"hlsgen/frontend/execution"
	"hlsgen/frontend/graph"
	"hlsgen/frontend/lower"
	"hlsgen/frontend/operators"
	"hlsgen/frontend/pass"
	"hlsgen/internal/dataflow"
	"hlsgen/internal/diag"
)

// AxisLengthRange holds the range of lengths that a dynamic axis may have. A sequence of n steps is executed by the
// model with that axis bound to n.
type AxisLengthRange struct {
	Axis     string // empty if the axis has no name and the length arrives on an input
	Min, Max int

	input string // the model's input that holds the number of steps (sequence_lens); "" for none
}

// lengthsOf returns the lengths that sequences may have, or nil if there is only one. These are the lengths that the
// options ask for. If the length arrives on an input of the graph, they are all lengths up to the number of steps of
// the other inputs.
func (o Options) lengthsOf(g *graph.Graph) *AxisLengthRange {
	if g == nil {
		return nil
	}
	in := axes.FindSequenceLengthInput(g)
	if in == nil {
		return o.Lengths
	}
	if o.Lengths != nil {
		return &AxisLengthRange{o.Lengths.Axis, o.Lengths.Min, o.Lengths.Max, in.Name}
	}
	if steps, axis := in.StepsAndAxisName(g, operators.Options{Dims: o.Dims, Data: o.Data}); steps > 1 {
		return &AxisLengthRange{axis, 1, steps, in.Name}
	}
	return nil
}

// one returns a hint that tells the user how to fix a single length.
func (l *AxisLengthRange) one() string {
	if l.input != "" {
		return "export the model without the input " + strconv.Quote(l.input) + " for sequence_lens"
	}
	return fmt.Sprintf("bind one length: --dim %s=%d", l.Axis, l.Max)
}

// A lengths caches the models for sequences of different lengths, by length.
type lengths struct {
	AxisLengthRange
	make func(n int) (*ImportedModel, error)

	mutex sync.Mutex
	made  map[int]*ImportedModel
}

// ForSequenceLength returns the model imported for sequences of n steps, which it makes once. It returns im itself if
// all sequences have one length. It returns an error if n is out of range or the model cannot be imported for that
// length.
func (im *ImportedModel) ForSequenceLength(n int) (*ImportedModel, error) {
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

// fixed returns the options for sequences of n steps.
func (o Options) fixed(n int) Options {
	l := o.Lengths
	bound := maps.Clone(o.Dims)
	if bound == nil {
		bound = map[string]int{}
	}
	if l.Axis != "" {
		bound[l.Axis] = n
	}
	if o.Dims, o.Lengths, o.Pass = bound, nil, (pass.Options[*canon.PassState]{}); l.input != "" {
		o.steps = n
	}
	return o
}

// importLengths imports the model for the longest sequences and prepares the use of the same layers for others.
func (o Options) importLengths(name string, onnx []byte, d *diag.List) (*ImportedModel, error) {
	if o.alone(name, d); d.HasErrors() {
		return &ImportedModel{}, nil
	}
	longest := o.fixed(o.Lengths.Max)
	longest.Pass, longest.timed = o.Pass, true
	im, err := longest.fixedImport(read(name, onnx, longest, d), name, d)
	if im != nil {
		im.asked = o.Lengths
	}
	if err != nil || im.Model == nil {
		return im, err
	}
	im.vary(o, name, onnx, func(n int) (*ImportedModel, error) {
		var quiet diag.List
		at, opt := &ImportedModel{}, o.fixed(n)
		err := at.prepare(read(name, onnx, opt, &quiet), name, opt, &quiet)
		if err != nil || at.program == nil {
			return nil, cmp.Or(err, fmt.Errorf("sequences of %d steps: %s", n, why(quiet)))
		}
		return at, im.shorter(at, n)
	}, d)
	return im, nil
}

// referenceLengths does the same as importLengths for a model that is executed as written.
func (o Options) referenceLengths(name string, onnx []byte, d *diag.List) *ImportedModel {
	if o.alone(name, d); d.HasErrors() {
		return &ImportedModel{}
	}
	longest := o.fixed(o.Lengths.Max)
	im := longest.fixedReference(read(name, onnx, longest, d), name, d)
	if im.Model != nil {
		o.varyReference(im, name, onnx, d)
	}
	return im
}

// varyReference lets a model that is executed as written have other lengths.
func (o Options) varyReference(im *ImportedModel, name string, onnx []byte, d *diag.List) {
	im.vary(o, name, onnx, func(n int) (*ImportedModel, error) {
		var quiet diag.List
		opt := o.fixed(n)
		at := opt.fixedReference(read(name, onnx, opt, &quiet), name, &quiet)
		if at.Model == nil {
			return nil, fmt.Errorf("sequences of %d steps: %s", n, why(quiet))
		}
		return at, im.pads(at, n)
	}, d)
}

// alone adds errors to d for options that exclude different lengths.
func (o Options) alone(name string, d *diag.List) {
	if o.Samples > 1 {
		d.Add(diag.Diag{Severity: diag.SeverityError, Code: diag.SequenceLengthsUnfit, Where: name,
			Msg:  "with --interleave, samples take turns step by step, so that all end with the same one",
			Hint: o.Lengths.one() + "; or leave --interleave out"})
	}
}

// vary prepares a model for sequences of other lengths. make returns the model for a length, or an error. If other
// lengths do not fit, vary adds an error to d and sets im.Model to nil.
func (im *ImportedModel) vary(o Options, name string, onnx []byte, make func(n int) (*ImportedModel, error),
	d *diag.List) {
	of := *o.Lengths
	im.lengths = &lengths{AxisLengthRange: of, make: make, made: map[int]*ImportedModel{of.Max: im}}
	l := &dataflow.SequenceLengths{Axis: of.Axis, Min: of.Min, Max: of.Max, Input: of.input}
	l.Of = func(n int) (*dataflow.Model, error) {
		at, err := im.ForSequenceLength(n)
		if err != nil {
			return nil, err
		}
		return at.Model, nil
	}
	if of.input != "" {
		l.Behind = sync.OnceValues(func() ([]dataflow.RealTensor, error) { return im.behind(name, of.Min) })
	}
	im.Model.Lengths = l
	err := im.axes(l)
	if g := im.Model.Graph; err == nil && g != nil {
		err = g.TakeAnySequenceLength(l)
	}
	if err != nil {
		x := diag.Diag{Severity: diag.SeverityError, Code: diag.SequenceLengthsUnfit, Where: name, Msg: err.Error(),
			Hint: of.one()}
		if of := new(crossing); errors.As(err, &of) && of.node != nil {
			x.Node, x.Op = of.node.Name, of.node.Op.Kind()
		}
		d.Add(x)
		im.Model = nil
	}
}

// behind returns the outputs of a sequence with the given number of steps, padded to the longest length. After the
// sequence's end they do not depend on data.
func (im *ImportedModel) behind(name string, steps int) ([]dataflow.RealTensor, error) {
	var quiet diag.List
	p := prepared(axes.GraphWithValidSteps(im.written.Graph, steps), name, im.options, &quiet)
	if p == nil {
		return nil, fmt.Errorf("sequences of %d steps among %d: %s", steps, im.lengths.Max, why(quiet))
	}
	var in []dataflow.RealTensor
	for _, v := range im.Model.In {
		in = append(in, dataflow.RealTensor{Shape: v.Shape, Data: slices.Repeat([]float64{0},
			dataflow.Shape(v.Shape).ElementCount())})
	}
	return reference(p)(in)
}

// pads returns an error if elements after the end of a sequence affect an output. It also returns an error if anything
// but the loops depends on the position of the end. It applies to models whose sequence length arrives on an input.
func (im *ImportedModel) pads(at *ImportedModel, n int) error {
	if im.lengths.input == "" {
		return nil
	}
	in, out := inputNames(im.written), outputNames(im.written)
	x := &axes.SequenceLengthComparison{Long: im.written, Short: at.written, From: im.lengths.Max, To: n, Padded: true}
	if err := x.CompareTensors(in, out); err != nil {
		return fmt.Errorf("a sequence is followed by zeros: %w", err)
	}
	var timed []string
	for _, name := range out {
		if long, _, _ := x.StepLayoutsOf(name); long.Inner > 0 {
			timed = append(timed, name)
		}
	}
	if name := x.FindOutputBypassingLoops(in, timed); name != "" {
		return fmt.Errorf("%q has steps after the end of a sequence that do not come from a recurrence", name)
	}
	return nil
}

// A relay executes samples in order, each with the model for its length. If the samples are pieces of one stream, each
// continues where the sample before has ended.
type relay struct {
	im     *ImportedModel
	parts  map[int]*execution.ProgramPart // by length; 0 if there is only one length
	before *execution.ProgramPart
}

func (im *ImportedModel) relay() *relay {
	return &relay{im: im, parts: map[int]*execution.ProgramPart{}}
}

// next returns the model and the part of a program that execute the next sample.
func (r *relay) next(in []dataflow.RealTensor) (at *ImportedModel, part *execution.ProgramPart, err error) {
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
		if at, err = r.im.ForSequenceLength(steps); err != nil {
			return nil, nil, err
		}
	}
	if part = r.parts[steps]; part == nil {
		part = mustPart(at.written, inputNames(at.written), outputNames(at.written))
		if r.im.stream {
			part = part.NewCopyKeepingLoopStates()
		}
		r.parts[steps] = part
	}
	if r.im.stream && r.before != nil && part != r.before {
		part.TakeLoopStatesFrom(r.before)
	}
	r.before = part
	return at, part, nil
}

// pieces returns the reference for samples that are pieces of one stream, in order.
func (im *ImportedModel) pieces() dataflow.ReferenceFunc {
	r := im.relay()
	return func(in []dataflow.RealTensor) ([]dataflow.RealTensor, error) {
		at, part, err := r.next(in)
		if err != nil {
			return nil, err
		}
		return results(at.written, part, reals(in))
	}
}

// why returns the message of the first error in a list, or a general one if it has none.
func why(d diag.List) string {
	for _, x := range d.Diags {
		if x.Severity == diag.SeverityError {
			return x.Msg
		}
	}
	return "it cannot be imported"
}

// A crossing is the error that a layer does not treat sequences of every length alike.
type crossing struct {
	node *dataflow.Node
	error
}

// shorter gives at, the model for sequences of n steps, the layers of im, which is for the longest sequences. The error
// says why these layers do not compute it.
func (im *ImportedModel) shorter(at *ImportedModel, n int) error {
	l := im.Model.Lengths
	if err := im.pads(at, n); err != nil {
		return err
	}
	if l.In == nil {
		if err := im.lowered.RecordSequenceInputs(im.program, at.program, l); err != nil {
			return err
		}
		if node, err := lower.CheckVariableLengthSupport(im.Model.Graph, l); err != nil {
			return &crossing{node, err}
		}
	}
	low, err := im.lowered.ForSequenceLength(im.program, at.program, l, n)
	if err != nil {
		return fmt.Errorf("sequences of %d steps: %w", n, err)
	}
	at.lower(low)
	return nil
}

// axes sets the time axes of the model's inputs and outputs.
func (im *ImportedModel) axes(l *dataflow.SequenceLengths) error {
	if l.Min == l.Max {
		return fmt.Errorf("there is one length, %d", l.Max)
	}
	at, err := im.ForSequenceLength(l.Min)
	if err != nil {
		return err
	}
	for _, side := range []struct {
		axes     *[]int
		all, one []dataflow.RealTensorInfo
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
		return fmt.Errorf("no sample of an input has more or less steps along axis %q", l.Axis)
	}
	return nil
}

// axisOf returns the axis in which the shapes for max and for min steps differ, or -1 if they are equal. The error says
// that they differ in another way.
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
