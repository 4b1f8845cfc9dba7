package layer

import (
	"math"
	"sync"

	"hlsgen/hlslib/price/cost"
	"hlsgen/hlslib/price/estimate"
	"hlsgen/hlslib/price/luts"
	"hlsgen/internal/circuit"
	"hlsgen/internal/dataflow"
	"hlsgen/internal/num"
)

// LoopWithBackEndLatency returns the loop l of the layer o with the latency in clocks that the target's back end
// achieves. For HLS it is the latency that l already has, for RTL that of the circuit. It builds no circuit for a
// target that asks for moves only.
func LoopWithBackEndLatency(o LayerWithCircuit, f dataflow.Fold, t dataflow.Target, l dataflow.Loop) dataflow.Loop {
	if t.Backend.Rate != dataflow.RateFromCircuit {
		return l
	}
	if l.Latency = 0; !t.MovesOnly {
		l.Latency = known(o, f, t).latency
	}
	return l
}

// CircuitCost returns the cost of the circuit of the layer o. ok is false if the target does not price circuits: the
// back end is HLS, or FINN's formulas are requested.
func CircuitCost(o LayerWithCircuit, f dataflow.Fold, t dataflow.Target) (c dataflow.Cost, ok bool) {
	if !estimate.UsesCircuitEstimates(t) {
		return nil, false
	}
	return known(o, f, t).cost, true
}

// A fact holds the latency and the cost of a circuit. The circuit itself is too large to be kept for every fold.
type fact struct {
	latency int
	cost    dataflow.Cost
}

// A slicesKey is the key of a fact that has the DSP slices of a circuit, and nothing else that it takes.
type slicesKey struct{ CircuitKey }

// known returns the latency and the cost of a layer's circuit. It builds the circuit at the first call for a fold and
// target. The cost may be incomplete where the target says so (dataflow.Target.MostDSPs).
func known(o LayerWithCircuit, f dataflow.Fold, t dataflow.Target) fact {
	key := CircuitKeyOf(f, t)
	if k, ok := o.CircuitFactsByKey().Load(key); ok {
		return k.(fact)
	}
	most, fabric := math.MaxInt, estimate.CostModelOf(t).Fabric
	if t.MostDSPs > 0 {
		most = t.MostDSPs
		if k, ok := o.CircuitFactsByKey().Load(slicesKey{key}); ok && k.(fact).cost.Total().DSP > most {
			return k.(fact)
		}
	}
	parts := partsIn(o.CircuitFactsByKey())
	m := o.Circuit(f, t.ForPrices())
	if !luts.KnowsOutlines(m, fabric) {
		m = o.Circuit(f, t)
	}
	list, all := parts.EstimateCostWithin(m, fabric, most)
	k := fact{m.Latency, estimate.CostOfParts(list...)}
	if all {
		luts.KeepOutlines(m, fabric)
		o.CircuitFactsByKey().Store(key, k)
	} else {
		o.CircuitFactsByKey().Store(slicesKey{key}, k)
	}
	return k
}

// A LayerWithCircuit is a layer that has RTL. CircuitFactsByKey returns a map from CircuitKey to the facts known of its
// circuits, and what is known of parts of all of them; a Base implements it.
type LayerWithCircuit interface {
	dataflow.HasCircuit
	CircuitFactsByKey() *sync.Map
}

// A CircuitKey holds everything about a fold and a target on which a layer's circuit and its cost depend.
type CircuitKey struct {
	Fold   dataflow.Fold
	Rate   circuit.TimingModel
	Fabric cost.Fabric
}

// CircuitKeyOf returns the key of a layer's circuit for a fold and a target.
func CircuitKeyOf(f dataflow.Fold, t dataflow.Target) CircuitKey {
	t.Outlines, t.Functions = false, nil
	return CircuitKey{Fold: f, Rate: t.CircuitTiming(), Fabric: cost.FabricOf(t.Board)}
}

// ElementsOfWord returns all elements of type t of a word, the lowest first.
func ElementsOfWord(word circuit.Value, t num.Type) []circuit.Value {
	list := make([]circuit.Value, word.Width()/t.Width)
	for i := range list {
		list[i] = circuit.ElementOf(word, i, t)
	}
	return list
}

// RecodeWord returns the word with its elements in the type to, which must hold all values that occur on the stream
// from.
func RecodeWord(word circuit.Value, from dataflow.StreamType, to num.Type) circuit.Value {
	if from.Elem == to {
		return word
	}
	elements := ElementsOfWord(word, from.Elem)
	for i, e := range elements {
		elements[i] = circuit.AssumeRange(e, from.UnionOfRanges())
	}
	return circuit.PackIntoWord(to, elements...)
}

// StreamTurns tells, in a circuit, which of several streams has its turn. All words of a vector of stream 0 come first,
// then those of stream 1, and so on, as in NewStreamTurnsLoop.
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
		_, words := CountVectorsAndWordsPerVector(s, f)
		t.from = append(t.from, t.from[k]+words)
	}
	t.word = b.AddCounter("word", t.from[len(streams)], b.ConstantNumber(1)).Index
	return t
}

// before returns a condition of the circuit: a stream before number k has its turn.
func (t StreamTurns) before(k int) circuit.Value {
	return circuit.IsGreater(t.b.ConstantNumber(int64(t.from[k])), t.word)
}

// TurnCondition returns a condition of the circuit: stream k has its turn.
func (t StreamTurns) TurnCondition(k int) circuit.Value {
	return t.b.BuildWithoutStageLimit(func() circuit.Value {
		return circuit.AllHold(circuit.Not(t.before(k)),
			t.before(k+1))
	})
}

// ChooseWord returns the word of the stream that has its turn, from the words of all streams.
func (t StreamTurns) ChooseWord(words []circuit.Value) circuit.Value { return t.choose(0, words) }

// choose returns the word of the stream that has its turn, where words are those of the streams from number first on.
func (t StreamTurns) choose(first int, words []circuit.Value) circuit.Value {
	if len(words) == 1 {
		return words[0]
	}
	half := len(words) / 2
	return circuit.MuxByCondition(t.before(first+half), t.choose(first, words[:half]), t.choose(first+half,
		words[half:]))
}
