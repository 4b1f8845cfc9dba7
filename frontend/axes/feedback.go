package axes

import (
	"fmt"
	"slices"

	"hlsgen/frontend/graph"
	"hlsgen/frontend/operators"
	"hlsgen/frontend/program"
)

// An origin is the element of a tensor from which an element of another tensor is copied, by moves and perhaps
// quantisers.
type origin struct {
	tensor  string
	element int
}

// comesFrom returns the origin of element i of a tensor. It follows the element back through moves to where its value
// is computed, or to an input. If through is set, it also goes back through quantisers.
func comesFrom(p *program.Program, tensor string, i int, through bool) origin {
	for {
		s := p.ProducerOf(tensor)
		switch {
		case s == nil:
			return origin{tensor, i}
		case s.Move != nil:
			input, at := s.Move.SourceOf(i)
			tensor, i = s.Node.Inputs[input], at
		case through && s.Elem != nil && ofQuantiser(operators.RoleOf(p.OriginOf(s.Node))):
			tensor, i = s.Node.Inputs[s.Elem.Args[0]], s.Elem.Index[0].ArgumentIndex(i)
		default:
			return origin{tensor, i}
		}
	}
}

// ofQuantiser reports whether r is the role of a quantiser or of one of the nodes of which quantisers consist.
func ofQuantiser(r operators.Role) bool {
	return r == operators.RoleFakeQuantise || r == operators.RoleQuantizeLinear ||
		r == operators.RoleDequantizeLinear || r == operators.RoleClip
}

// WhyNotStatePair returns the reason why recurrences cannot keep an input and an output as a state from run to run. It
// returns "" if they can: element by element, the two are the initial and final values of states.
func WhyNotStatePair(p *program.Program, input, output string) string {
	states := FindStateInputs(p)
	at := slices.IndexFunc(states, func(s *StateInput) bool { return s.Name == input })
	if at < 0 {
		return "the input is none that recurrences, and nothing else, begin with"
	}
	back := map[origin]int{} // from an element of a final state to the element of the output
	for i := range graph.ElementCount(p.Known[output].Shape) {
		back[comesFrom(p, output, i, false)] = i
	}
	met := 0
	for _, l := range states[at].loops {
		var begins, ends string
		for _, s := range p.Steps {
			if s.Recur == l.Recur && s.Result == l.k {
				begins, ends = s.Node.Inputs[l.k], s.Output
			}
		}
		if ends == "" {
			return "a recurrence begins with it, but the final state is not used"
		}
		chain := quantises(p, begins)
		if own := quantises(l.Body, l.Body.Graph.Outputs[l.k].Name); chain != nil &&
			!slices.EqualFunc(chain, own, quantising.equal) {
			return "its quantiser differs from that of the recurrence's state"
		}
		for i := range graph.ElementCount(p.Known[begins].Shape) {
			from := comesFrom(p, begins, i, true)
			if to, ok := back[origin{ends, i}]; from.tensor != input || !ok || to != from.element {
				return fmt.Sprintf("element %d of a recurrence's last state does not come back as what it begins with",
					i)
			}
			met++
		}
	}
	if met != len(back) {
		return "the output has elements that are no initial state of a recurrence"
	}
	return ""
}
