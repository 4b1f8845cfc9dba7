package rnn

import "hlsgen/internal/dataflow"

// A StoreOf is a memory as tests see it.
type StoreOf struct {
	Name                   string
	State, Arrives, Vector bool
	Writer                 int   // phase
	Reads                  []int // phases
	Units, Word, Halves    int
	Latency, Distance      int
}

// StoresOf returns the vectors that a bound layer stores between its phases, with their sizes and timing in the fold.
func StoresOf(layer dataflow.Op, f dataflow.Fold, target dataflow.Target) (list []StoreOf) {
	o := layer.(*op)
	t := o.timing(f, target)
	for i := range o.stores {
		s := &o.stores[i]
		list = append(list, StoreOf{Name: s.name, State: s.state >= 0, Arrives: o.arrives(s), Vector: s.vector,
			Writer: s.writer.Phase, Reads: s.reads, Units: o.elements(s), Word: s.word(f), Halves: s.halves,
			Latency: t.waits[i] - 1, Distance: t.distance(o, s, f)})
	}
	return list
}
