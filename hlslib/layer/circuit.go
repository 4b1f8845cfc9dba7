package layer

import (
	"sync"

	"hlsgen/hlslib/cells"
	"hlsgen/hlslib/cost"
	"hlsgen/hlslib/estimate"
	"hlsgen/internal/circuit"
	"hlsgen/internal/dataflow"
	"hlsgen/internal/num"
)

// Timed is a layer's loop with the latency that the target's back end makes of it: HLS that of the loop, as chains of
// operations have it, RTL that of the circuit.
func Timed(o Circuited, f dataflow.Fold, t dataflow.Target, l dataflow.Loop) dataflow.Loop {
	if t.Stalls != dataflow.Credit {
		return l
	}
	l.Latency = known(o, f, t).latency
	return l
}

// Priced is what a layer's circuit takes; ok is false where circuits are not what is priced: the back end is HLS, or
// FINN's formulas are asked for.
func Priced(o Circuited, f dataflow.Fold, t dataflow.Target) (c dataflow.Cost, ok bool) {
	if !estimate.Circuits(t) {
		return nil, false
	}
	return known(o, f, t).cost, true
}

// A fact is what is known of a circuit, which itself is too large to be kept for every fold.
type fact struct {
	latency int
	cost    dataflow.Cost
}

// known is what is known of a layer's circuit, which is made once.
func known(o Circuited, f dataflow.Fold, t dataflow.Target) fact {
	key := HardwareOf(f, t)
	if k, ok := o.Facts().Load(key); ok {
		return k.(fact)
	}
	m := o.Circuit(f, t)
	k := fact{m.Latency, estimate.Parts(cells.Of(m, estimate.Model(t).Fabric)...)}
	o.Facts().Store(key, k)
	return k
}

// Circuited is a layer that has RTL. It embeds a Base.
type Circuited interface {
	dataflow.Circuited
	Facts() *sync.Map
}

// Hardware is what the circuit of a layer depends on.
type Hardware struct {
	Fold   dataflow.Fold
	Rate   circuit.Rate
	Fabric cost.Fabric
}

// HardwareOf is what the circuit of a layer in a fold depends on.
func HardwareOf(f dataflow.Fold, t dataflow.Target) Hardware {
	return Hardware{Fold: f, Rate: t.Rate(), Fabric: cost.FabricOf(t.Board)}
}

// Elements are the elements of a type in a word.
func Elements(word circuit.Value, t num.Type) []circuit.Value {
	list := make([]circuit.Value, word.Width()/t.Width)
	for i := range list {
		list[i] = circuit.Element(word, i, t)
	}
	return list
}

// Recoded is a word of elements of one type as elements of another, which holds what occurs of them.
func Recoded(word circuit.Value, from dataflow.Type, to num.Type) circuit.Value {
	if from.Elem == to {
		return word
	}
	elements := Elements(word, from.Elem)
	for i, e := range elements {
		elements[i] = circuit.Kept(e, from.Union())
	}
	return circuit.Packed(to, elements...)
}

// Turning is streams that take turns, as Turns has them, in a circuit.
type Turning struct {
	b    *circuit.Builder
	word circuit.Value // of the vector
	from []int         // each stream's first word in it, and then the end
}

// TurnsOf counts the words of a vector of all streams.
func TurnsOf(b *circuit.Builder, streams []dataflow.Type, f dataflow.Fold) Turning {
	t := Turning{b: b, from: []int{0}}
	for k, s := range streams {
		_, words := Words(s, f)
		t.from = append(t.from, t.from[k]+words)
	}
	t.word = b.Counter("word", t.from[len(streams)], b.Constant(1)).Index
	return t
}

// before is whether it is the turn of a stream before number k.
func (t Turning) before(k int) circuit.Value {
	return circuit.Exceeds(t.b.Constant(int64(t.from[k])), t.word)
}

// Of is whether it is the turn of stream k.
func (t Turning) Of(k int) circuit.Value {
	return t.b.Now(func() circuit.Value { return circuit.All(circuit.Not(t.before(k)), t.before(k+1)) })
}

// Choose is the word of the stream whose turn it is.
func (t Turning) Choose(words []circuit.Value) circuit.Value { return t.choose(0, words) }

// choose is that of a stream among those from number first on.
func (t Turning) choose(first int, words []circuit.Value) circuit.Value {
	if len(words) == 1 {
		return words[0]
	}
	half := len(words) / 2
	return circuit.Choice(t.before(first+half), t.choose(first, words[:half]), t.choose(first+half, words[half:]))
}
