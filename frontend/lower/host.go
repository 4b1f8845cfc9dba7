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
	if !scaled.IsCode(step) || l.Integers.Derived(step.Node.Inputs[0]) {
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
		for _, r := range l.Uses.Readers(tensor) {
			switch {
			case r.Dot != nil || r.Recur != nil || scaled.IsCode(r):
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
	step := l.Producer(tensor)
	is := step == nil && tensor != "" && l.Known[tensor].Const == nil && !l.Integers.Derived(tensor)
	if step != nil && !scaled.IsCode(step) {
		is = slices.ContainsFunc(step.Node.Inputs, func(in string) bool { return isReal(l, in) })
	}
	l.reals[tensor] = is
	return is
}

// requantised reports whether a quantiser's codes only serve another quantiser, whose codes have no more bits, as many
// elements, and a layer as reader. Then the host sends the second quantiser's codes.
func (l *lowering) requantised(step *program.Step) bool {
	tensor := step.Output
	for {
		readers := l.Uses.Readers(tensor)
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
		if tensor = next.Output; scaled.IsCode(next) {
			first, _ := scaled.Codes(step)
			second, _ := scaled.Codes(next)
			return num.NarrowestInt(second).Width <= num.NarrowestInt(first).Width && l.Uses.FeedsLayer(tensor) &&
				graph.Size(next.Shape) == graph.Size(step.Shape)
		}
	}
}

// assume makes the host send the codes of a quantiser.
func (l *lowering) assume(step *program.Step) {
	r, _ := scaled.Codes(step)
	elem := num.NarrowestInt(r)
	if operators.IsBipolar(step.Node) {
		elem = num.Type{Kind: num.Bipolar, Width: 1}
	}
	l.host.send(step.Output, elem, r, scaled.Values{Of: scaled.IdentityAffine})
}

func hostPrefix(l *lowering, step *program.Step) (bool, error) {
	for _, in := range step.Node.Inputs {
		if in != "" && l.Integers.Derived(in) {
			return false, nil
		}
	}
	return true, nil
}

// declareInputs makes integer tensors of the inputs that arrive as integers, and returns their encodings. These are
// inputs that the user names, those of integer types of at most 16 bits, and indices of rows of tables.
func (l *lowering) declareInputs() map[string]*graph.InputEncoding {
	arrive := map[string]*graph.InputEncoding{}
	for _, in := range l.Graph.Inputs {
		a := l.Graph.Arrive[in.Name]
		if bits := in.DType.Integer(); a == nil && bits.Width > 0 {
			a = graph.NewIdentityEncoding(bits)
		}
		if rows := l.LookupRowCount(in.Name); a == nil && rows > 0 && !in.DType.Float() {
			a = graph.NewIdentityEncoding(num.NarrowestInt(num.Range{Lo: 0, Hi: int64(rows - 1)}))
		}
		if a == nil {
			continue
		}
		arrive[in.Name] = a
		values := scaled.Values{Of: a.Of}
		if len(a.Of) > 1 {
			shape := l.Known[in.Name].Shape
			values.Group = func(element int32) int32 { return int32(a.Channel(shape, int(element))) }
		}
		l.host.send(in.Name, a.Type, a.Type.Range(), values)
	}
	return arrive
}

// ToStreamOrder returns the integers of a tensor, given in the order of its elements, in the order of the stream that
// carries it.
func (r *Lowered) ToStreamOrder(tensor string, q []int64) []int64 {
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

// FromStreamOrder returns the integers of a tensor in the order of its elements, given all those of the stream that
// carries it.
func (r *Lowered) FromStreamOrder(tensor string, q []int64) []int64 {
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

// SentRealValue returns the function from the integer that the host sends for element i of a tensor to its real value.
func (r *Lowered) SentRealValue(tensor string, i int) real.Affine {
	of := r.sent[tensor]
	return *of.At(int32(r.element(tensor, i)))
}

// Real returns the function from the integer of element i of an integer tensor to its real value.
func (r *Lowered) Real(tensor string, i int) real.Affine {
	of, _ := r.Integer.Integer(tensor, r.element(tensor, i))
	return of
}

// Elements returns the numbers that the n elements of a tensor have in Integer, which describes the longest sequences.
// ok is false if Integer has no such tensor.
func (r *Lowered) Elements(tensor string, n int) (list []int32, ok bool) {
	if r.stretch != nil {
		if _, _, ok := r.stretch.Steps(tensor); !ok {
			return nil, false
		}
	}
	for i := range n {
		list = append(list, int32(r.element(tensor, i)))
	}
	return list, true
}

// element returns the number that element i of a tensor has in Integer. It differs only if r is for shorter sequences
// than the longest.
func (r *Lowered) element(tensor string, i int) int {
	if r.stretch == nil {
		return i
	}
	long, short, _ := r.stretch.Steps(tensor)
	return long.Element(short.At(i))
}
