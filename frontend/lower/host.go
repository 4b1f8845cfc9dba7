package lower

import (
	"slices"

	"hlsgen/frontend/graph"
	"hlsgen/frontend/lower/find"
	"hlsgen/frontend/lower/place"
	"hlsgen/frontend/real"
	"hlsgen/frontend/scaled"
	"hlsgen/internal/dataflow"
	"hlsgen/internal/num"
)

func hostQuantiser(l *lowering, step *graph.Step) (bool, error) {
	if !scaled.IsCode(step) || l.Integers.Derived(step.Node.Inputs[0]) {
		return false, nil
	}
	l.assume(step)
	return true, nil
}

// assume takes the codes of a quantiser as given, by the host.
func (l *lowering) assume(step *graph.Step) {
	r, _ := scaled.Codes(step)
	elem := num.Smallest(r)
	if step.Node.Bipolar() {
		elem = num.Type{Kind: num.Bipolar, Width: 1}
	}
	l.Places[step.Output] = l.hostPlace(step.Output, elem, r)
	l.Integers.Declare(step.Output, scaled.Unit)
}

func hostPrefix(l *lowering, step *graph.Step) (bool, error) {
	for _, in := range step.Node.Inputs {
		if in != "" && l.Integers.Derived(in) {
			return false, nil
		}
	}
	return true, nil
}

// maxLookahead is how many tensors behind an input are looked at for its first layer.
const maxLookahead = 1 << 8

// hostPlace is the place of integers that the host computes, in the order that the first layer wants that they reach:
// images that meet no window, and are not flattened as they are, travel as pixels. Tensors beyond the nearest few are
// not looked at: one of a thousand inputs would look at those of all.
func (l *lowering) hostPlace(tensor string, elem num.Type, r num.Range) *place.Place {
	shape := l.Known[tensor].Shape
	p := &place.Place{Stream: place.FromHost(tensor, l.Name(tensor),
		dataflow.Type{Shape: slices.Clone(shape), Range: []num.Range{r}, Elem: elem})}
	seen := map[string]bool{}
	next := []string{tensor}
	for len(next) > 0 && len(seen) < maxLookahead {
		tensor, next = next[0], next[1:]
		for _, reader := range l.Readers(tensor) {
			switch {
			case reader.Window != nil:
				if len(shape) > 2 && len(l.Known[tensor].Shape) == len(shape) {
					p.Type.Shape, p.At = find.Layout(reader.Window, shape)
				}
				return p
			case reader.Dot != nil:
				if v, ok := p.Type.Vectors(reader.Dot.K); ok {
					p.Type = v
					return p
				}
			case reader.Recur != nil:
				if slices.Index(reader.Node.Inputs, tensor) < reader.Recur.States {
					continue
				}
				if v, ok := p.Type.Vectors(graph.Size(shape) / reader.Recur.Length); ok {
					p.Type = v
				}
				return p
			case !seen[reader.Output]:
				seen[reader.Output] = true
				next = append(next, reader.Output)
			}
		}
	}
	if len(shape) == 4 {
		p.Type.Shape, p.At = place.ChannelsLast(shape, 1)
	}
	return p
}

// declareInputs makes integer tensors of the inputs that arrive as integers: those of which the user says so, else
// those whose own type is an integer of at most 16 bits, or that do nothing but look up rows of tables.
func (l *lowering) declareInputs() map[string]*graph.Arrival {
	arrive := map[string]*graph.Arrival{}
	for _, in := range l.Graph.Inputs {
		a := l.Graph.Arrive[in.Name]
		if bits := in.DType.Integer(); a == nil && bits.Width > 0 {
			a = graph.Units(bits)
		}
		if rows := l.LooksUp(in.Name); a == nil && rows > 0 && !in.DType.Float() {
			a = graph.Units(num.Smallest(num.Range{Lo: 0, Hi: int64(rows - 1)}))
		}
		if a == nil {
			continue
		}
		arrive[in.Name] = a
		l.Places[in.Name] = l.hostPlace(in.Name, a.Type, a.Type.Range())
		values := scaled.Values{Of: a.Of}
		if len(a.Of) > 1 {
			shape := l.Known[in.Name].Shape
			values.Group = func(element int32) int32 { return int32(a.Channel(shape, int(element))) }
		}
		l.Integers.DeclareGroups(in.Name, values)
	}
	return arrive
}

// Send puts the integers of a tensor in the order of its stream.
func (r *Result) Send(tensor string, q []int64) []int64 {
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

// Receive takes the integers of a tensor off its stream.
func (r *Result) Receive(tensor string, q []int64) []int64 {
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

// Real is the real value of element i of an integer tensor, as a function of its integer.
func (r *Result) Real(tensor string, i int) real.Affine {
	of, _ := r.Integer.Integer(tensor, r.element(tensor, i))
	return of
}

// Elements are those of a tensor of n elements, as Integer counts them. ok is false where it has no such tensor.
func (r *Result) Elements(tensor string, n int) (list []int32, ok bool) {
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

// element is element i of a tensor, as Integer counts them.
func (r *Result) element(tensor string, i int) int {
	if r.stretch == nil {
		return i
	}
	long, short, _ := r.stretch.Steps(tensor)
	return long.Element(short.At(i))
}
