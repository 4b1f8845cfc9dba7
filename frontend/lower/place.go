package lower

import (
	"fmt"
	"math/big"
	"slices"

	"hlsgen/frontend/graph"
	"hlsgen/frontend/real"
	"hlsgen/internal/dataflow"
	"hlsgen/internal/num"
)

// A place is where an integer tensor is: on which stream, and at which position of it each of its elements; at is nil
// where element i is at i. Tensors that are the same integers share a stream.
type place struct {
	*stream
	at []int32
}

// A stream is on a wire, or will be as soon as a layer asks for it: it is the host's, or that of a product that waits for its
// activation.
type stream struct {
	typ     dataflow.Type
	wire    int      // -1 as long as there is none
	product *product // that waits
	tensor  string   // the host's, where it writes the wire
	engine  *engine  // of a recurrence that has no layer yet
}

// position is where element i is on the wire.
func (p *place) position(i int32) int32 {
	if p.at == nil {
		return i
	}
	return p.at[i]
}

// onHost reports whether the host has the integers.
func (p *stream) onHost() bool { return p.tensor != "" }

// put says that an integer tensor is on a wire.
func (s *state) put(tensor string, wire int, at []int32) {
	s.places[tensor] = &place{&stream{typ: s.net.wires[wire].typ, wire: wire}, at}
}

// take gives the wire of an integer tensor.
func (s *state) take(tensor string) int { return s.open(s.places[tensor].stream, tensor) }

// open gives the wire of a stream; tensor names it.
func (s *state) open(p *stream, tensor string) int {
	switch {
	case p.engine != nil && !p.engine.built:
		panic("lower: a recurrence is read before it is built")
	case p.wire >= 0:
	case p.product != nil:
		out, err := s.net.add(p.product.op(nil), []int{p.product.in}, s.name(tensor), p.product.all())
		if err != nil {
			panic(fmt.Sprintf("lower: %s: %v", tensor, err)) // the rule for products has bound it before
		}
		p.wire, p.product = out[0], nil
	default:
		p.wire = s.net.input(s.name(p.tensor), p.typ)
		s.in, s.inWires = append(s.in, p.tensor), append(s.inWires, p.wire)
	}
	return p.wire
}

// hostPlace is the place of integers that the host computes, in the order that the first layer wants that they reach.
func (s *state) hostPlace(tensor string, elem num.Type, r num.Range) *place {
	shape := s.prog.Known[tensor].Shape
	p := &place{stream: &stream{wire: -1, tensor: tensor, typ: dataflow.Type{Shape: slices.Clone(shape), Range: []num.Range{r}, Elem: elem}}}
	seen := map[string]bool{}
	next := []string{tensor}
	for len(next) > 0 {
		tensor, next = next[0], next[1:]
		for _, reader := range s.prog.Readers(tensor) {
			switch {
			case reader.Window != nil:
				axis := len(shape) - 1
				if !reader.Window.ChannelsLast {
					axis = 1
				}
				if len(shape) > 2 && len(s.prog.Known[tensor].Shape) == len(shape) {
					p.typ.Shape, p.at = channelsLast(shape, axis)
				}
				return p
			case reader.Dot != nil:
				if v, ok := p.typ.Vectors(reader.Dot.K); ok {
					p.typ = v
				}
				return p
			case !seen[reader.Output]:
				seen[reader.Output] = true
				next = append(next, reader.Output)
			}
		}
	}
	return p
}

// channelsLast is the stream shape [H, W, C] of a tensor of shape [1, ...] with one axis of channels and one or two more,
// and the positions of its elements. Tensors of other ranks keep their axes but for the channels, which go last.
func channelsLast(shape []int, axis int) (dataflow.Shape, []int32) {
	strides := make([]int, len(shape))
	n := shape[axis]
	var out dataflow.Shape
	for i, d := range slices.Backward(shape) {
		if i != axis {
			strides[i] = n
			n *= d
		}
	}
	strides[axis] = 1
	for i, d := range shape {
		if i != axis && (i > 0 || d > 1) {
			out = append(out, d)
		}
	}
	for len(shape) > 2 && len(out) < 2 {
		out = append(dataflow.Shape{1}, out...)
	}
	out = append(out, shape[axis])
	if axis == len(shape)-1 {
		return out, nil
	}
	at := make([]int32, graph.Size(shape))
	index := make([]int, len(shape))
	pos := 0
	for i := range at {
		at[i] = int32(pos)
		for k := len(shape) - 1; k >= 0; k-- {
			index[k]++
			pos += strides[k]
			if index[k] < shape[k] {
				break
			}
			pos -= strides[k] * shape[k]
			index[k] = 0
		}
	}
	return out, at
}

// inverse lists the element at each position.
func inverse(at []int32, n int) []int32 {
	out := make([]int32, n)
	for i := range out {
		if at == nil {
			out[i] = int32(i)
		} else {
			out[at[i]] = int32(i)
		}
	}
	return out
}

// declareInputs makes integer tensors of the inputs that arrive as integers: all of them where the user says so, else
// those whose own type is an integer of at most 16 bits, or that do nothing but look up rows of tables.
func (s *state) declareInputs(asked *InputType) map[string]*InputType {
	arrive := map[string]*InputType{}
	for _, in := range s.prog.Graph.Inputs {
		t := asked
		if bits := in.DType.Integer(); t == nil && bits.Width > 0 {
			t = &InputType{bits, big.NewRat(1, 1)}
		}
		if rows := s.looksUp(in.Name); t == nil && rows > 0 && !in.DType.Float() {
			t = &InputType{num.Smallest(num.Range{Lo: 0, Hi: int64(rows - 1)}), big.NewRat(1, 1)}
		}
		if t == nil {
			continue
		}
		arrive[in.Name] = t
		s.places[in.Name] = s.hostPlace(in.Name, t.Type, t.Type.Range())
		if t.linear() {
			s.a.Declare(in.Name, []real.Affine{{Scale: t.Scale, Bias: new(big.Rat)}})
		} else {
			s.a.DeclareSingle(in.Name, t.Scale)
		}
	}
	return arrive
}

// looksUp is the number of rows of the tables that a tensor's elements are the row numbers of; 0 where they are anything else.
func (s *state) looksUp(tensor string) (rows int) {
	for _, r := range s.prog.Readers(tensor) {
		n := 0
		switch {
		case isOneHot(r):
			n = r.Shape[len(r.Shape)-1]
		case r.Move != nil:
			n = s.looksUp(r.Output)
		}
		if n == 0 {
			return 0
		}
		rows = max(rows, n)
	}
	return rows
}

func isOneHot(step *graph.Step) bool {
	return step.Node.Is(graph.OneHot)
}

// Send puts the integers of a tensor in the order of its stream.
func (r *Result) Send(tensor string, q []int64) []int64 {
	at := r.Place[tensor]
	if at == nil {
		return q
	}
	out := make([]int64, len(q))
	for i, v := range q {
		out[at[i]] = v
	}
	return out
}

// Receive takes the integers of a tensor off its stream.
func (r *Result) Receive(tensor string, q []int64) []int64 {
	at := r.Place[tensor]
	if at == nil {
		return q
	}
	out := make([]int64, len(at)) // a stream may carry several tensors
	for i := range out {
		out[i] = q[at[i]]
	}
	return out
}
