package layer

import (
	"hlsgen/internal/circuit"
	"hlsgen/internal/dataflow"
	"hlsgen/internal/num"
)

// Timed is a layer's loop with the latency that the target's back end makes of it: HLS that of the loop, as chains of
// operations have it, RTL that of the circuit.
func Timed(o dataflow.Circuited, f dataflow.Fold, t dataflow.Target, l dataflow.Loop) dataflow.Loop {
	if t.Stalls == dataflow.Credit {
		l.Latency = o.Circuit(f, t).Latency
	}
	return l
}

// Elements are the elements of a type in a word.
func Elements(word circuit.Value, t num.Type) []circuit.Value {
	list := make([]circuit.Value, word.Width()/t.Width)
	for i := range list {
		list[i] = circuit.Element(word, i, t)
	}
	return list
}
