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

// sharedAdders holds the graph of a unit whose outputs share adders, once it has been made.
type sharedAdders struct {
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

// of returns the graph of adders for the unit's weights.
func (s *sharedAdders) of(u *Unit) *adders.Graph {
	s.once.Do(func() {
		inputs := make([]num.Range, len(u.weights[0]))
		for i := range inputs {
			inputs[i] = u.inputs
		}
		s.graph = adders.Product(u.weights, inputs, 0)
	})
	return s.graph
}

// sharedSums returns the sums of all channels of a unit for the word x of inputs, by its graph of adders.
func sharedSums(b *circuit.Builder, u *Unit, x circuit.Value) []circuit.Value {
	g := u.shared.of(u)
	signals := make([]circuit.Value, len(g.Inputs), len(g.Inputs)+len(g.Sums))
	for i, r := range g.Inputs {
		signals[i] = circuit.AssumeRange(circuit.ElementOf(x, i, u.in), r)
	}
	for _, s := range g.Sums {
		sum := circuit.SumWithShifted(signals[s.A], signals[s.B], s.Shift, s.Minus)
		signals = append(signals, circuit.AssumeRange(sum, g.RangeOf(adders.Signal(len(signals)))))
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
