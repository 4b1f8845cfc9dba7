package lower

import (
	"slices"

	"hlsgen/frontend/graph"
	"hlsgen/frontend/operators"
	"hlsgen/frontend/program"
	"hlsgen/frontend/real"
	"hlsgen/frontend/scaled"
	"hlsgen/internal/num"
)

func hostQuantiser(l *lowering, step *program.Step) (bool, error) {
	if !scaled.IsQuantiserStep(step) || l.Integers.IsFromIntegers(step.Node.Inputs[0]) {
		return false, nil
	}
	if !l.requantised(step) && !meetsReals(l, step.Output) {
		l.assume(step)
	}
	return true, nil
}

// meetsReals reports whether the host alone needs a quantiser's codes. They then only meet real numbers, such as in
// Where(x > 0, x, 1), before any layer or quantiser would read them.
func meetsReals(l *lowering, codes string) bool {
	meets, read := false, false
	var walk func(tensor string)
	walk = func(tensor string) {
		for _, r := range l.Uses.ReadingSteps(tensor) {
			switch {
			case r.Dot != nil || r.Recur != nil || scaled.IsQuantiserStep(r):
				read = true
			case slices.ContainsFunc(r.Node.Inputs, func(in string) bool { return in != tensor && isReal(l, in) }):
				meets = true
			default:
				walk(r.Output)
			}
		}
	}
	walk(codes)
	return meets && !read
}

// isReal reports whether a tensor depends on an input of the model by another way than through codes.
func isReal(l *lowering, tensor string) bool {
	if known, ok := l.reals[tensor]; ok {
		return known
	}
	step := l.ProducerOf(tensor)
	is := step == nil && tensor != "" && l.Known[tensor].Const == nil && !l.Integers.IsFromIntegers(tensor)
	if step != nil && !scaled.IsQuantiserStep(step) {
		is = slices.ContainsFunc(step.Node.Inputs, func(in string) bool { return isReal(l, in) })
	}
	l.reals[tensor] = is
	return is
}

// requantised reports whether a quantiser's codes only serve another quantiser, whose codes have no more bits, as many
// elements, and a layer as reader. The host then sends the second quantiser's codes.
func (l *lowering) requantised(step *program.Step) bool {
	tensor := step.Output
	for {
		readers := l.Uses.ReadingSteps(tensor)
		if len(readers) != 1 || !l.Uses.ReachesOutputsOnlyThrough(tensor, readers[0]) {
			return false
		}
		next := readers[0]
		if next.Dot != nil || next.Order != nil || next.Window != nil || next.Recur != nil ||
			slices.ContainsFunc(next.Node.Inputs, func(in string) bool {
				return in != "" && in != tensor && l.Known[in].Const == nil
			}) {
			return false
		}
		if tensor = next.Output; scaled.IsQuantiserStep(next) {
			first, _ := scaled.QuantiserCodeRange(step)
			second, _ := scaled.QuantiserCodeRange(next)
			return num.NarrowestIntTypeFor(second).Width <= num.NarrowestIntTypeFor(first).Width &&
				l.Uses.FeedsLayer(tensor) &&
				graph.ElementCount(next.Shape) == graph.ElementCount(step.Shape)
		}
	}
}

// assume makes the host send the codes of a quantiser.
func (l *lowering) assume(step *program.Step) {
	r, _ := scaled.QuantiserCodeRange(step)
	elem := num.NarrowestIntTypeFor(r)
	if operators.IsBipolarQuantiser(step.Node) {
		elem = num.Type{Kind: num.KindBipolar, Width: 1}
	}
	l.host.send(step.Output, elem, r, scaled.AffinesOfElements{Of: scaled.IdentityAffines})
}

func hostPrefix(l *lowering, step *program.Step) (bool, error) {
	for _, in := range step.Node.Inputs {
		if in != "" && l.Integers.IsFromIntegers(in) {
			return false, nil
		}
	}
	return true, nil
}

// declareInputs makes integer tensors of the inputs that arrive as integers, and returns their encodings by name. These
// are inputs that the user names, those of integer types of at most 16 bits, and indices of rows of tables.
func (l *lowering) declareInputs() map[string]*graph.IntegerInputEncoding {
	arrive := map[string]*graph.IntegerInputEncoding{}
	for _, in := range l.Graph.Inputs {
		a := l.Graph.Arrive[in.Name]
		if bits := in.DType.StreamIntegerType(); a == nil && bits.Width > 0 {
			a = graph.NewIdentityEncoding(bits)
		}
		if rows := l.LookupRowCount(in.Name); a == nil && rows > 0 && !in.DType.IsReal() {
			a = graph.NewIdentityEncoding(num.NarrowestIntTypeFor(num.Range{Lo: 0, Hi: int64(rows - 1)}))
		}
		if a == nil {
			continue
		}
		arrive[in.Name] = a
		values := scaled.AffinesOfElements{Of: a.Of}
		if len(a.Of) > 1 {
			shape := l.Known[in.Name].Shape
			values.Group = func(element int32) int32 { return int32(a.ChannelOfElement(shape, int(element))) }
		}
		l.host.send(in.Name, a.Type, a.Type.Range(), values)
	}
	return arrive
}

// ToStreamOrder returns the integers q of a tensor, which are in the order of its elements, in the order of the stream
// that carries them. It returns q itself if r.Place has no list for the tensor. Otherwise q must fill the stream.
func (r *LoweredProgram) ToStreamOrder(tensor string, q []int64) []int64 {
	at := r.Place[tensor]
	if at == nil {
		return q
	}
	out := make([]int64, len(q))
	for i, position := range at.All {
		out[position] = q[i]
	}
	return out
}

// FromStreamOrder returns the integers of a tensor in the order of its elements. q holds all integers of the stream
// that carries the tensor, in the stream's order. It returns q itself if r.Place has no list for the tensor.
func (r *LoweredProgram) FromStreamOrder(tensor string, q []int64) []int64 {
	at := r.Place[tensor]
	if at == nil {
		return q
	}
	out := make([]int64, at.Len()) // a stream may carry several tensors
	for i, position := range at.All {
		out[i] = q[position]
	}
	return out
}

// AffineOfSentInteger returns the function that maps the integer that the host sends for element i of a tensor to
// its real value.
func (r *LoweredProgram) AffineOfSentInteger(tensor string, i int) real.Affine {
	of := r.sent[tensor]
	return *of.AffineOf(int32(r.element(tensor, i)))
}

// AffineOfInteger returns the function that maps the integer of element i of an integer tensor to its real value.
func (r *LoweredProgram) AffineOfInteger(tensor string, i int) real.Affine {
	of, _ := r.Integer.AffineOfElement(tensor, r.element(tensor, i))
	return of
}

// IndicesInLongestSequence returns, for each of the n elements of a tensor, its index in the same tensor for the
// longest sequences, which r.Integer describes. ok is false if Integer has no such tensor.
func (r *LoweredProgram) IndicesInLongestSequence(tensor string, n int) (list []int32, ok bool) {
	if r.stretch != nil {
		if _, _, ok := r.stretch.StepLayoutsOf(tensor); !ok {
			return nil, false
		}
	}
	for i := range n {
		list = append(list, int32(r.element(tensor, i)))
	}
	return list, true
}

// element returns the index that element i of a tensor has in r.Integer. It differs from i only if r is for sequences
// shorter than the longest.
func (r *LoweredProgram) element(tensor string, i int) int {
	if r.stretch == nil {
		return i
	}
	long, short, _ := r.stretch.StepLayoutsOf(tensor)
	return long.IndexOfElement(short.StepAndElementOf(i))
}
