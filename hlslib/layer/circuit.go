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

// WithLatency returns the loop l of the layer o with the latency that the target's back end achieves. For HLS it is the
// latency that l has already, for RTL that of the circuit.
func WithLatency(o CircuitedBase, f dataflow.Fold, t dataflow.Target, l dataflow.Loop) dataflow.Loop {
	if t.Stalls != dataflow.StallByCredit {
		return l
	}
	l.Latency = known(o, f, t).latency
	return l
}

// CircuitCost returns the cost of the circuit of the layer o. ok is false if the target does not price circuits: the
// back end is HLS, or FINN's formulas are requested.
func CircuitCost(o CircuitedBase, f dataflow.Fold, t dataflow.Target) (c dataflow.Cost, ok bool) {
	if !estimate.PricesCircuits(t) {
		return nil, false
	}
	return known(o, f, t).cost, true
}

// A fact holds the latency and the cost of a circuit. The circuit itself is too large to be kept for every fold.
type fact struct {
	latency int
	cost    dataflow.Cost
}

// known returns the latency and the cost of a layer's circuit. It builds the circuit at the first call for a fold and
// target.
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

// A CircuitedBase is a layer that has RTL. CircuitFacts returns what is known of its circuits, by CircuitKey; a Base
// implements it.
type CircuitedBase interface {
	dataflow.HasCircuit
	CircuitFacts() *sync.Map
}

// A CircuitKey has everything about a fold and a target on which a layer's circuit and its cost depend.
type CircuitKey struct {
	Fold   dataflow.Fold
	Rate   circuit.TimingModel
	Fabric cost.Fabric
}

// CircuitKeyOf returns the key of a layer's circuit for a fold and a target.
func CircuitKeyOf(f dataflow.Fold, t dataflow.Target) CircuitKey {
	return CircuitKey{Fold: f, Rate: t.Rate(), Fabric: cost.FabricOf(t.Board)}
}

// Elements returns all elements of type t of a word, the lowest first.
func Elements(word circuit.Value, t num.Type) []circuit.Value {
	list := make([]circuit.Value, word.Width()/t.Width)
	for i := range list {
		list[i] = circuit.Element(word, i, t)
	}
	return list
}

// Recoded returns the word with its elements in the type to, which must hold all values that occur on the stream from.
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

// StreamTurns tells, in a circuit, which of several streams has its turn. All words of a vector of stream 0 come first,
// then those of stream 1, and so on, as in TurnsLoop.
type StreamTurns struct {
	b    *circuit.Builder
	word circuit.Value // number of the word in the vector
	from []int         // first word of each stream in the vector, and then the end
}

// NewStreamTurns adds to the circuit a counter of the words in a vector of all streams, and returns the turns that it
// gives.
func NewStreamTurns(b *circuit.Builder, streams []dataflow.StreamType, f dataflow.Fold) StreamTurns {
	t := StreamTurns{b: b, from: []int{0}}
	for k, s := range streams {
		_, words := VectorWords(s, f)
		t.from = append(t.from, t.from[k]+words)
	}
	t.word = b.Counter("word", t.from[len(streams)], b.Constant(1)).Index
	return t
}

// before returns a condition of the circuit: a stream before number k has its turn.
func (t StreamTurns) before(k int) circuit.Value {
	return circuit.GreaterThan(t.b.Constant(int64(t.from[k])), t.word)
}

// HasTurn returns a condition of the circuit: stream k has its turn.
func (t StreamTurns) HasTurn(k int) circuit.Value {
	return t.b.WithoutStageLimit(func() circuit.Value { return circuit.All(circuit.Not(t.before(k)), t.before(k+1)) })
}

// Choose returns the word of the stream that has its turn, from the words of all streams.
func (t StreamTurns) Choose(words []circuit.Value) circuit.Value { return t.choose(0, words) }

// choose returns the word of the stream that has its turn, where words are those of the streams from number first on.
func (t StreamTurns) choose(first int, words []circuit.Value) circuit.Value {
	if len(words) == 1 {
		return words[0]
	}
	half := len(words) / 2
	return circuit.MuxByCondition(t.before(first+half), t.choose(first, words[:half]), t.choose(first+half,
		words[half:]))
}
