package layer

import (
	"sync"

	"hlsgen/hlslib/price/cost"
	"hlsgen/hlslib/price/estimate"
	"hlsgen/hlslib/price/luts"
	"hlsgen/internal/circuit"
	"hlsgen/internal/dataflow"
	"hlsgen/internal/num"
)

// WithLatency returns the loop l with the latency that the target's back end achieves: for HLS the latency that l has
// already, for RTL that of the circuit.
func WithLatency(o CircuitedBase, f dataflow.Fold, t dataflow.Target, l dataflow.Loop) dataflow.Loop {
	if t.Stalls != dataflow.StallByCredit {
		return l
	}
	l.Latency = known(o, f, t).latency
	return l
}

// CircuitCost returns the cost of a layer's circuit. ok is false if the target does not price circuits: the back end is
// HLS, or FINN's formulas are requested.
func CircuitCost(o CircuitedBase, f dataflow.Fold, t dataflow.Target) (c dataflow.Cost, ok bool) {
	if !estimate.PricesCircuits(t) {
		return nil, false
	}
	return known(o, f, t).cost, true
}

// A fact holds the results about a circuit. The circuit itself is too large to be kept for every fold.
type fact struct {
	latency int
	cost    dataflow.Cost
}

// known returns the facts about a layer's circuit. It builds the circuit at the first call.
func known(o CircuitedBase, f dataflow.Fold, t dataflow.Target) fact {
	key := CircuitKeyOf(f, t)
	if k, ok := o.CircuitFacts().Load(key); ok {
		return k.(fact)
	}
	m := o.Circuit(f, t)
	k := fact{m.Latency, estimate.CostOfParts(luts.Estimate(m, estimate.CostModelOf(t).Fabric)...)}
	o.CircuitFacts().Store(key, k)
	return k
}

// CircuitedBase is a layer that has RTL. It embeds a Base, which implements CircuitFacts.
type CircuitedBase interface {
	dataflow.HasCircuit
	CircuitFacts() *sync.Map
}

// CircuitKey identifies the circuit of a layer.
type CircuitKey struct {
	Fold   dataflow.Fold
	Rate   circuit.TimingModel
	Fabric cost.Fabric
}

// CircuitKeyOf returns the CircuitKey of a layer in a fold.
func CircuitKeyOf(f dataflow.Fold, t dataflow.Target) CircuitKey {
	return CircuitKey{Fold: f, Rate: t.Rate(), Fabric: cost.FabricOf(t.Board)}
}

// Elements returns the elements of type t in a word.
func Elements(word circuit.Value, t num.Type) []circuit.Value {
	list := make([]circuit.Value, word.Width()/t.Width)
	for i := range list {
		list[i] = circuit.Element(word, i, t)
	}
	return list
}

// Recoded converts the elements of a word to another type, which must hold all values that occur.
func Recoded(word circuit.Value, from dataflow.StreamType, to num.Type) circuit.Value {
	if from.Elem == to {
		return word
	}
	elements := Elements(word, from.Elem)
	for i, e := range elements {
		elements[i] = circuit.AssumeRange(e, from.Union())
	}
	return circuit.Packed(to, elements...)
}

// StreamTurns says which of several streams has its turn in a circuit. The schedule is that of TurnsLoop.
type StreamTurns struct {
	b    *circuit.Builder
	word circuit.Value // number of the word in the vector
	from []int         // first word of each stream in the vector, and then the end
}

// NewStreamTurns adds the counter of the words in a vector of all streams.
func NewStreamTurns(b *circuit.Builder, streams []dataflow.StreamType, f dataflow.Fold) StreamTurns {
	t := StreamTurns{b: b, from: []int{0}}
	for k, s := range streams {
		_, words := VectorWords(s, f)
		t.from = append(t.from, t.from[k]+words)
	}
	t.word = b.Counter("word", t.from[len(streams)], b.Constant(1)).Index
	return t
}

// before reports whether a stream before number k has its turn.
func (t StreamTurns) before(k int) circuit.Value {
	return circuit.GreaterThan(t.b.Constant(int64(t.from[k])), t.word)
}

// HasTurn reports whether stream k has its turn.
func (t StreamTurns) HasTurn(k int) circuit.Value {
	return t.b.WithoutStageLimit(func() circuit.Value { return circuit.All(circuit.Not(t.before(k)), t.before(k+1)) })
}

// Choose returns the word of the stream that has its turn.
func (t StreamTurns) Choose(words []circuit.Value) circuit.Value { return t.choose(0, words) }

// choose selects among the words of the streams from number first on.
func (t StreamTurns) choose(first int, words []circuit.Value) circuit.Value {
	if len(words) == 1 {
		return words[0]
	}
	half := len(words) / 2
	return circuit.MuxByCondition(t.before(first+half), t.choose(first, words[:half]), t.choose(first+half,
		words[half:]))
}
