package rnntest

import (
	"slices"
	"testing"
)

// Echoing draws a network with one input sequence of 1 to the given number of steps, which returns a vector for every
// step. forwards excludes networks with a reverse direction.
func Echoing(t *testing.T, steps int, forwards bool) *Network {
	t.Helper()
	for seed := range uint64(1000) {
		n := Draw(Seeded(seed), Axes{})
		turned := slices.ContainsFunc(n.Layers, func(l *Layer) bool { return slices.Contains(l.Reverse, true) })
		sequence := slices.ContainsFunc(n.Outputs, func(o Output) bool { return o.Of == "sequence" })
		if n.Front == nil && len(n.Inputs) == 1 && sequence && !(forwards && turned) {
			n.Lengths, n.Steps = true, steps
			return n
		}
	}
	t.Fatal("none is drawn")
	return nil
}

// StoredShape returns the shape of an array with that many samples of that many steps each.
func StoredShape(n *Network, samples, steps int) []int {
	switch f := n.Inputs[0].Features; n.Form {
	case "samples first":
		return []int{samples, 1, steps, f}
	case "flat":
		return []int{samples, steps, f}
	default:
		return []int{samples, steps, 1, f}
	}
}
