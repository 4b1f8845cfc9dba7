package deploy

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"slices"

	"hlsgen/frontend/onnxio/onnxpb"
)

// preprocessingONNX returns host.json's quantisers as an ONNX model. It maps the model's inputs to the codes of each
// stream into the accelerator, in the order of their transfer, as int64. All tensors have a leading axis of samples.
// But if nodes of the original model come first, the inputs are those of the original model, for one sample. Inputs
// outside of their range have arbitrary codes, because the model cannot refuse them.
func (h *HostFile) preprocessingONNX() ([]byte, error) {
	s, err := newSketch("pre", h.Inputs, h.before)
	if err != nil {
		return nil, err
	}
	if s.outside != nil {
		s.graft()
		s.graph.Input = s.outside.Input
	}
	rows := make([]string, len(h.Inputs)) // each input with its elements along one axis, behind the axis of steps
	for k, t := range h.Inputs {
		name := fmt.Sprintf("%sinput_%d", s.own, k)
		if s.outside != nil {
			rows[k] = s.node("Reshape", name+"_flat", []string{t.Name, vector(s, name+"_shape", []int64{1, -1})})
			continue
		}
		s.graph.Input = append(s.graph.Input, declared(t.Name, elementTypes[t.DType], t.axes()...))
		rows[k] = s.flat(name, t)
	}
	for k, send := range h.Send {
		name := fmt.Sprintf("%sstream_%d", s.own, k)
		index := make([]int64, len(send.Index))
		for i, at := range send.Index {
			index[i] = int64(at)
		}
		x := s.gather(name+"_elements", rows[send.Input], vector(s, name+"_index", index), -1)
		of := h.Inputs[send.Input]
		s.out(s.port(send.Port), s.codes(name, x, send, of.DType == "float64"), of.Time >= 0, len(index))
	}
	return s.file()
}

// postprocessingONNX returns host.json's results as an ONNX model. It maps the codes of each stream out of the
// accelerator, as int64 in the order of their transfer, to the outputs of the model. All tensors have a leading axis of
// samples. But if nodes of the original model come last, there is one sample, and the outputs are those of the original
// model.
func (h *HostFile) postprocessingONNX() ([]byte, error) {
	s, err := newSketch("post", h.Outputs, h.after)
	if err != nil {
		return nil, err
	}
	all := map[bool][]string{} // by whether the frames have steps
	for _, r := range h.Receive {
		axes := []any{"samples"}
		if r.Time {
			axes = append(axes, "steps")
		}
		port := s.port(r.Port)
		s.graph.Input = append(s.graph.Input, declared(port, onnxpb.TensorProto_INT64,
			append(axes, r.Words*r.PerWord)...))
		all[r.Time] = append(all[r.Time], port)
	}
	frames := map[bool]string{}
	for _, timed := range []bool{false, true} {
		if len(all[timed]) > 0 {
			frames[timed] = s.node("Concat", fmt.Sprintf("%sframes_%v", s.own, timed), all[timed], intAttr("axis", -1))
		}
	}
	for k, r := range h.Results {
		name, t := fmt.Sprintf("%soutput_%d", s.own, k), h.Outputs[k]
		index := make([]int64, len(r.Index))
		for i, at := range r.Index {
			index[i] = int64(at)
		}
		codes := s.gather(name+"_codes", frames[r.Time], vector(s, name+"_index", index), -1)
		x := s.cast(name+"_rounded", s.mean(name, codes, r), elementTypes[t.DType])
		if s.outside == nil {
			s.shaped(name, x, t)
			continue
		}
		shape := make([]int64, len(t.Shape))
		for i, n := range t.Shape {
			shape[i] = int64(n)
		}
		s.node("Reshape", t.Name, []string{x, vector(s, name+"_shape", shape)})
	}
	if s.outside != nil {
		s.graft()
		s.graph.Output = s.outside.Output
	}
	return s.file()
}

// sample returns the shape of one sample without an axis of samples, and the position of the axis of steps in it, or
// -1.
func (t HostTensor) sample() (shape []int, time int) {
	if t.Batch {
		return t.Shape[1:], max(t.Time-1, -1)
	}
	return t.Shape, t.Time
}

// axes returns the axes of the tensor for many samples, for declared: names for samples and steps, and numbers.
func (t HostTensor) axes() []any {
	list := []any{"samples"}
	shape, time := t.sample()
	for k, n := range shape {
		if k == time {
			list = append(list, "steps")
			continue
		}
		list = append(list, n)
	}
	return list
}

// timeFirst returns a permutation of the axes of many samples, in which steps come directly after samples. A sample has
// rank axes, the axis of steps being time.
func timeFirst(rank, time int) []int64 {
	order := []int64{0, int64(time) + 1}
	for k := range rank {
		if k != time {
			order = append(order, int64(k)+1)
		}
	}
	return order
}

// flat adds an input's reshaping to one axis of elements, and returns its name: [samples, elements], or [samples,
// steps, elements].
func (s sketch) flat(name string, t HostTensor) string {
	x := t.Name
	shape, time := t.sample()
	flat := []int64{0, -1}
	if time >= 0 {
		x = s.node("Transpose", name+"_steps", []string{x}, intsAttr("perm", timeFirst(len(shape), time)))
		flat = []int64{0, 0, -1}
	}
	return s.node("Reshape", name+"_flat", []string{x, vector(s, name+"_shape", flat)})
}

// shaped adds the output t to the graph, from the tensor x that has the shape that flat produces. name begins the names
// of new nodes.
func (s sketch) shaped(name, x string, t HostTensor) {
	shape, time := t.sample()
	to, rank := []int64{0}, len(shape)
	if time >= 0 {
		to = append(to, 0)
	}
	for k, n := range shape {
		if k != time {
			to = append(to, int64(n))
		}
	}
	x = s.node("Reshape", name+"_shaped", []string{x, vector(s, name+"_shape", to)})
	if time >= 0 {
		order := timeFirst(rank, time)
		back := make([]int64, len(order))
		for k, axis := range order {
			back[axis] = int64(k)
		}
		x = s.node("Transpose", name+"_back", []string{x}, intsAttr("perm", back))
	}
	s.node("Identity", t.Name, []string{x})
	s.graph.Output = append(s.graph.Output, declared(t.Name, elementTypes[t.DType], t.axes()...))
}

// out adds the tensor x of codes to the graph's outputs under a name. It has n codes per sample or, if timed is true,
// per step.
func (s sketch) out(name, x string, timed bool, n int) {
	s.node("Identity", name, []string{x})
	axes := []any{"samples"}
	if timed {
		axes = append(axes, "steps")
	}
	s.graph.Output = append(s.graph.Output, declared(name, onnxpb.TensorProto_INT64, append(axes, n)...))
}

// codes adds the computation of a stream's codes from its elements x, and returns their name. wide says that the input
// has the type float64.
func (s sketch) codes(name, x string, send InputStream, wide bool) string {
	quantisers := send.Quantise
	if in := send.Integers; in != nil {
		if in.Values == nil {
			return s.cast(name+"_codes", x, onnxpb.TensorProto_INT64)
		}
		quantisers = in.quantisers()
	}
	codes := make([][]int64, len(quantisers))
	for k, q := range quantisers {
		codes[k] = q.Codes
	}
	at, places := "", int64(0)
	if wide {
		x = s.cast(name+"_float64", x, onnxpb.TensorProto_DOUBLE)
		at, places = reached[float64](s, name, x, quantisers, send.Which)
	} else {
		x = s.cast(name+"_float32", x, onnxpb.TensorProto_FLOAT)
		at, places = reached[float32](s, name, x, quantisers, send.Which)
	}
	return pick(s, name+"_codes", at, padded(codes, places), places, send.Which)
}

// reached adds the count of a quantiser's thresholds that are at most x, a tensor of type T, and returns its name. It
// also returns the row length of a table of codes. which has the quantiser of each element.
func reached[T float32 | float64](s sketch, name, x string, quantisers []HostQuantiser, which []int32) (at string,
	places int64) {
	bounds := make([][]T, len(quantisers))
	for k, q := range quantisers {
		for _, t := range q.Thresholds {
			bounds[k] = append(bounds[k], T(t))
		}
	}
	table := sorted(bounds, T(math.Inf(1)))
	return search(s, name+"_at", x, table, which), table.places
}

// mean adds the computation of the values that codes stand for, in float64, and returns its name.
func (s sketch) mean(name, codes string, r OutputDequantisation) string {
	which := r.Which
	if which == nil {
		which = make([]int32, len(r.Index))
	}
	of := func(f func(HostDequantiser) float64) []float64 {
		list := make([]float64, len(which))
		for i, k := range which {
			list[i] = f(r.Mean[k])
		}
		return list
	}
	lists, formulas := false, false
	for _, m := range r.Mean {
		lists, formulas = lists || m.Values != nil, formulas || m.Values == nil
	}
	var listed, formula string
	if lists {
		listed = s.listed(name, codes, r.Mean, which)
	}
	if formulas {
		x := s.cast(name+"_float64", codes, onnxpb.TensorProto_DOUBLE)
		scale := vector(s, name+"_scale", of(func(m HostDequantiser) float64 { return m.Scale }))
		bias := vector(s, name+"_bias", of(func(m HostDequantiser) float64 { return m.Bias }))
		x = s.node("Add", name+"_moved", []string{s.node("Mul", name+"_scaled", []string{x, scale}), bias})
		formula = s.excepted(name, codes, x, r.Mean, which)
	}
	if !lists || !formulas {
		return cmp.Or(listed, formula)
	}
	choice := vector(s, name+"_kinds", of(func(m HostDequantiser) float64 {
		if m.Values != nil {
			return 1
		}
		return 0
	}))
	return s.node("Where", name+"_mean", []string{s.cast(name+"_is_listed", choice, onnxpb.TensorProto_BOOL), listed,
		formula})
}

// listed adds the lookup of codes in their lists of values, and returns its name. Codes with formulas instead of lists
// get an arbitrary entry.
func (s sketch) listed(name, codes string, means []HostDequantiser, which []int32) string {
	var places int64
	for _, m := range means {
		places = max(places, int64(len(m.Values)))
	}
	var table []float64
	lo, hi := make([]int64, len(which)), make([]int64, len(which))
	for i, k := range which {
		lo[i], hi[i] = means[k].Lo, max(int64(len(means[k].Values))-1, 0)
	}
	for _, m := range means {
		list := m.Values
		if list == nil {
			list = []float64{0}
		}
		table = append(table, padded([][]float64{list}, places)...)
	}
	at := s.node("Sub", name+"_above", []string{codes, vector(s, name+"_lo", lo)})
	at = s.node("Min", name+"_kept", []string{at, vector(s, name+"_hi", hi)})
	at = s.node("Max", name+"_from", []string{at, constant[int64](s, name+"_none", 0)})
	return pick(s, name+"_listed", at, table, places, which)
}

// excepted returns the name of x with the exceptions for single codes put in: x itself if there are none.
func (s sketch) excepted(name, codes, x string, means []HostDequantiser, which []int32) string {
	var bounds, tries [][]int64
	var values [][]float64
	any := false
	for _, m := range means {
		// Place 0 comes before the first exception and stands for none, by a code that does not occur there.
		row, of := slices.Sorted(maps.Keys(m.Except)), []float64{0}
		for _, code := range row {
			of = append(of, m.Except[code])
		}
		before := int64(math.MaxInt64)
		bounds, tries = append(bounds, row), append(tries, append([]int64{before}, row...))
		values, any = append(values, of), any || len(row) > 0
	}
	if !any {
		return x
	}
	table := sorted(bounds, math.MaxInt64)
	at := search(s, name+"_exception", codes, table, which)
	is := s.node("Equal", name+"_is_exception", []string{codes,
		pick(s, name+"_of_code", at, padded(tries, table.places), table.places, which)})
	instead := pick(s, name+"_instead", at, padded(values, table.places), table.places, which)
	return s.node("Where", name+"_formula", []string{is, instead, x})
}

// quantisers returns a quantiser for each channel, which maps a number to the integer that it stands for. The numbers
// must be listed, and rise.
func (in *InputIntegerRange) quantisers() (list []HostQuantiser) {
	for channel := range in.channels() {
		q, values := HostQuantiser{}, in.of(channel)
		for k, v := range values {
			q.Codes = append(q.Codes, in.Lo+int64(k))
			switch {
			case k > 0 && in.Within == nil:
				q.Thresholds = append(q.Thresholds, v)
			case k > 0:
				q.Thresholds = append(q.Thresholds, v-in.Within[channel])
			}
		}
		list = append(list, q)
	}
	return list
}
