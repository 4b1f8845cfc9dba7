package mac

import (
	"math/bits"
	"sync"

	"hlsgen/internal/adders"
	"hlsgen/internal/circuit"
	"hlsgen/internal/dataflow"
	"hlsgen/internal/num"
)

// MaxSharedDigits is the most signed digits of weights of which a unit makes a graph of adders. A search looks at every
// fold that is fast enough, and to find what outputs share takes seconds where there are more.
const MaxSharedDigits = 2048

// A sharedAdders holds the graphs of a unit whose outputs share adders, once they have been made: for adders of two
// operands, and for those of three.
type sharedAdders [2]struct {
	once  sync.Once
	graph *adders.Graph
}

// sharesAdders reports whether shared adders can compute the outputs of a fold: all weights are constants, and all
// inputs arrive in one word.
func sharesAdders(u *Unit, f dataflow.Fold) bool {
	if tableRows(u, f) > 1 || u.room != nil || u.XNOR || u.Apart || u.requant != nil || floats(u) || u.External() {
		return false
	}
	digits := 0
	for _, row := range u.weights {
		for _, w := range row {
			digits += bits.OnesCount64(uint64(w) ^ uint64(3*w))
		}
	}
	return digits <= MaxSharedDigits
}

// of returns the graph for the unit's weights of adders of at most so many operands.
func (s *sharedAdders) of(u *Unit, operands int) *adders.Graph {
	made := &s[operands-2]
	made.once.Do(func() {
		inputs := make([]num.Range, len(u.weights[0]))
		for i := range inputs {
			inputs[i] = u.inputs
		}
		made.graph = adders.Product(u.weights, inputs, 0, operands)
	})
	return made.graph
}

// sharedSums returns the sums of all channels of a unit for the word x of inputs, by its graph of adders.
func sharedSums(b *circuit.Builder, u *Unit, x circuit.Value) []circuit.Value {
	g := u.shared.of(u, circuit.MostOperandsOfAdder(b))
	signals := make([]circuit.Value, len(g.Inputs)+len(g.Sums))
	for i, r := range g.Inputs {
		signals[i] = circuit.AssumeRange(circuit.ElementOf(x, i, u.in), r)
	}
	for _, a := range g.Adders(circuit.MostOperandsOfAdder(b)) {
		var terms []circuit.Addend
		for _, t := range g.Operands(a) {
			terms = append(terms, circuit.Addend{Value: signals[t.Signal], Shift: t.Shift, Minus: t.Minus})
		}
		first, r := terms[0].Value, g.RangeOf(a.Sum)
		if len(terms) == 3 {
			signals[a.Sum] = circuit.SumOfThree(first, terms[1], terms[2], r)
			continue
		}
		signals[a.Sum] = circuit.AssumeRange(circuit.SumWithShifted(first, terms[1].Value, terms[1].Shift,
			terms[1].Minus), r)
	}
	sums := make([]circuit.Value, len(g.Outputs))
	for i, o := range g.Outputs {
		if o.Signal == adders.NoSignal {
			sums[i] = b.ConstantNumber(0)
			continue
		}
		if sums[i] = circuit.ShiftByConstant(signals[o.Signal], o.Shift); o.Minus {
			sums[i] = circuit.Negate(sums[i])
		}
	}
	return circuit.AlignStages(sums...)
}
