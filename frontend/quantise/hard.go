package quantise

import (
	"fmt"
	"math"
	"slices"
)

// hardBy is the ratio of a place's largest value to that at the places next to it from which the place is hard to
// quantise.
const hardBy = 10

// maxHard is the largest number of hard places that are named; further ones are only counted.
const maxHard = 5

// HardToQuantiseLayerNames returns a sentence, with its name, for each layer that is hard to quantise: its values are
// far larger than those at the places next to it. After maxHard sentences, one more counts the other layers. It looks
// at the values that CalibrationRunner.RunSample recorded.
func (n *QuantisableNetwork) HardToQuantiseLayerNames() (list []string) {
	next := map[*spot][]*spot{}
	for _, p := range n.spots {
		for _, q := range p.scope.sources(p.given) {
			next[p], next[q] = append(next[p], q), append(next[q], p)
		}
	}
	more := 0
	for _, p := range n.spots {
		around := 0.0
		for _, q := range next[p] {
			around = max(around, q.values.largest())
		}
		if around == 0 || p.values.largest() < hardBy*around || p.scope.raw[p.given] {
			continue
		}
		if len(list) == maxHard {
			more++
			continue
		}
		list = append(list, fmt.Sprintf("%q is hard to quantise: its values go up to %.3g, those next to it to %.3g",
			p.label, p.values.largest(), around))
	}
	if more > 0 {
		list = append(list, fmt.Sprintf("so are %d others", more))
	}
	return list
}

// largest returns the largest magnitude of the values that were recorded.
func (v *values) largest() float64 {
	if v.n == 0 {
		return 0
	}
	return math.Max(v.max, -v.min)
}

// sources returns the places from whose values a tensor follows, directly or through nodes without a place.
func (s *scope) sources(tensor string) (list []*spot) {
	by := map[string]*item{}
	for _, it := range s.items {
		if it.spot != nil {
			by[it.spot.to] = it
			continue
		}
		for _, o := range it.node.Outputs {
			by[o] = it
		}
	}
	seen := map[string]bool{}
	var visit func(tensor string)
	visit = func(tensor string) {
		it := by[tensor]
		switch {
		case it == nil || seen[tensor]:
			return
		case it.spot != nil:
			if !slices.Contains(list, it.spot) {
				list = append(list, it.spot)
			}
			return
		}
		seen[tensor] = true
		for _, in := range it.node.Inputs {
			visit(in)
		}
	}
	visit(tensor)
	return list
}
