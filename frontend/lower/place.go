package lower

import (
	"math/big"
	"slices"

	"hlsgen/frontend/graph"
	"hlsgen/frontend/lower/choose"
	"hlsgen/frontend/lower/place"
	"hlsgen/frontend/lower/unmapped"
	"hlsgen/frontend/real"
	"hlsgen/internal/dataflow"
	"hlsgen/internal/num"
)

// put says that an integer tensor is on a wire.
func (s *state) put(tensor string, wire int, at []int32) {
	s.places[tensor] = &place.Place{Stream: place.On(&s.net, wire), At: at}
}

// take gives the wire of an integer tensor.
func (s *state) take(tensor string) int { return s.places[tensor].Wire(&s.net, s.name(tensor)) }

// arrange brings an operand in the order of a frame of the shape. fill is the code of its constants.
func (s *state) arrange(o *operand, shape dataflow.Shape, fill int64) (int, *unmapped.Reason) {
	if len(o.wires) == 1 && o.value == nil {
		tensor := o.wires[0]
		s.places[tensor].Send(&o.Movement, shape, func() bool { return s.readers(tensor) <= 1 })
	}
	wires := make([]int, len(o.wires))
	for i, tensor := range o.wires {
		wires[i] = s.take(tensor)
	}
	return s.net.Move(wires, o.Movement, shape, fill, o.nodes)
}

// add joins the layers of a choice to wires; the last is called name. It gives the wire of the first output.
func (s *state) add(c *choose.Choice, in []int, name string, nodes []*graph.Node) (int, *unmapped.Reason) {
	w, rest := in[0], in[1:]
	for i, op := range c.Ops {
		ins, label := append([]int{w}, rest...), name
		if len(c.Ops) > 1 {
			ins = []int{w, rest[i]}
		}
		if i < len(c.Ops)-1 {
			label = ""
		}
		out, err := s.net.Add(op, ins, label, nodes)
		if err != nil {
			return 0, c.Refused(err)
		}
		w = out[0]
	}
	return w, nil
}

// readers counts the steps that read a tensor and that the model's outputs depend on.
func (s *state) readers(tensor string) (n int) {
	for _, r := range s.prog.Readers(tensor) {
		if s.used[r] {
			n++
		}
	}
	return n
}

// hostPlace is the place of integers that the host computes, in the order that the first layer wants that they reach.
func (s *state) hostPlace(tensor string, elem num.Type, r num.Range) *place.Place {
	shape := s.prog.Known[tensor].Shape
	p := &place.Place{Stream: place.FromHost(tensor, s.name(tensor), dataflow.Type{Shape: slices.Clone(shape), Range: []num.Range{r}, Elem: elem})}
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
					p.Type.Shape, p.At = place.ChannelsLast(shape, axis)
				}
				return p
			case reader.Dot != nil:
				if v, ok := p.Type.Vectors(reader.Dot.K); ok {
					p.Type = v
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
	return step.Node.Domain == graph.Internal && step.Node.Op == "OneHot"
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
