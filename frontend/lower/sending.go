package lower

import (
	"slices"

	"hlsgen/frontend/graph"
	"hlsgen/frontend/lower/find"
	"hlsgen/frontend/lower/place"
	"hlsgen/frontend/scaled"
	"hlsgen/internal/dataflow"
	"hlsgen/internal/num"
)

// A sending holds the integer tensors that the host sends, by name.
type sending struct {
	*find.AnalysedProgram
	sent map[string]sent
}

// A sent says where the integers of a tensor that the host sends are, and for which real values they stand. Layers may
// compute other integers of the same tensor.
type sent struct {
	at *place.TensorPlace
	of scaled.AffinesOfElements
}

// send makes the host send the integers of a tensor, which have type elem and range r. of maps them to the real values
// for which they stand.
func (s *sending) send(tensor string, elem num.Type, r num.Range, of scaled.AffinesOfElements) {
	at := s.place(tensor, elem, r)
	s.Places[tensor], s.sent[tensor] = at, sent{at, of}
	s.Integers.DeclareGroupedIntegers(tensor, of)
}

// maxLookahead is the largest number of tensors behind an input among which the first layer is searched.
const maxLookahead = 1 << 8

// place returns the place of integers that the host computes, in the order that the first layer behind them needs.
// Images that reach no window, and are not flattened, travel as pixels. place examines only the nearest tensors;
// otherwise it would examine all tensors for each of a thousand inputs.
func (s *sending) place(tensor string, elem num.Type, r num.Range) *place.TensorPlace {
	shape := s.Known[tensor].Shape
	p := &place.TensorPlace{WireStream: place.NewStreamFromHost(tensor, s.StreamNameOf(tensor),
		dataflow.StreamType{Shape: slices.Clone(shape), Range: []num.Range{r}, Elem: elem})}
	seen := map[string]bool{}
	next := []string{tensor}
	for len(next) > 0 && len(seen) < maxLookahead {
		tensor, next = next[0], next[1:]
		for _, reader := range s.ReadersOf(tensor) {
			switch {
			case reader.Window != nil:
				if len(shape) > 2 && len(s.Known[tensor].Shape) == len(shape) {
					p.Type.Shape, p.At = find.WindowLayoutOf(reader.Window, shape)
				}
				return p
			case reader.Dot != nil:
				if v, ok := p.Type.AsVectors(reader.Dot.K); ok {
					p.Type = v
					return p
				}
			case reader.Recur != nil:
				if slices.Index(reader.Node.Inputs, tensor) < reader.Recur.States {
					continue
				}
				if v, ok := p.Type.AsVectors(graph.ElementCount(shape) / reader.Recur.Length); ok {
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
		p.Type.Shape, p.At = place.ChannelsLastLayoutOf(shape, 1)
	}
	return p
}
