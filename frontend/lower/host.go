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

// meetsReals reports whether all that codes of the host become is a function of real numbers besides, before a layer or
// another quantiser reads it: then these codes are the host's own. Those of x > 0 are, in Where(x > 0, x, 1).
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

// isReal reports whether a tensor depends on a model's input otherwise than by codes.
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

// requantised reports whether a quantiser's codes only serve another quantiser whose codes a layer reads, with no
// more bits and as many elements. Then the host sends the second quantiser's codes.
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

// assume takes the codes of a quantiser as given by the host.
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

// declareInputs declares the inputs that arrive as integers: those for which the user says so, those whose type is
// an integer of at most 16 bits, and those that only select rows of tables.
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

// ToStreamOrder brings the integers of a tensor into the order of its stream.
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

// FromStreamOrder takes the integers of a tensor from its stream.
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

// SentRealValue returns the real value of element i of a tensor that the host sends, as a function of the integer sent.
func (r *Lowered) SentRealValue(tensor string, i int) real.Affine {
	of := r.sent[tensor]
	return *of.At(int32(r.element(tensor, i)))
}

// Real returns the real value of element i of an integer tensor, as a function of its integer.
func (r *Lowered) Real(tensor string, i int) real.Affine {
	of, _ := r.Integer.Integer(tensor, r.element(tensor, i))
	return of
}

// Elements returns the elements of a tensor of n elements as Integer numbers them. ok is false if Integer has no
// such tensor.
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

// element returns element i of a tensor as Integer numbers it.
func (r *Lowered) element(tensor string, i int) int {
	if r.stretch == nil {
		return i
	}
	long, short, _ := r.stretch.Steps(tensor)
	return long.Element(short.At(i))
}
