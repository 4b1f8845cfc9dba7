package rnn

import (
	"fmt"
	"slices"

	"hlsgen/hlslib/layer"
	"hlsgen/internal/dataflow"
)

// Recurrences is every state that a step replaces, with the longest path to what it becomes.
func (o *op) Recurrences(f dataflow.Fold, target dataflow.Target) (list []dataflow.Recurrence) {
	t := o.timing(f, target)
	work := 0
	for _, p := range t.phases {
		work += o.turns * p.turn
	}
	for s := range o.cell.States {
		of := slices.IndexFunc(o.stores, func(x store) bool { return x.state == s })
		if of < 0 {
			continue // nothing reads it
		}
		next := o.stores[of].writer
		phase := t.phases[next.Phase]
		name := fmt.Sprintf("state %d", s)
		r := dataflow.Recurrence{Path: []string{name}, Clocks: phase.start + phase.latency + 1, Work: work,
			Step: t.step, Beside: max(1, o.P.Sequences) * ((t.step + work - 1) / work)}
		if len(o.phases) > 1 && next.Phase > 0 {
			r.Path = append(r.Path, fmt.Sprintf("%d phases before", next.Phase))
		}
		r.Path = append(append(r.Path, path(o, next, f, target)...), name)
		list = append(list, r)
	}
	return list
}

// path is the operations of the value's phase on the longest path to it.
func path(o *op, to Ref, f dataflow.Fold, target dataflow.Target) (names []string) {
	values := o.phases[to.Phase].values
	at := chains(o, to.Phase, f, target)
	for k := to.Value; ; {
		v := &values[k]
		switch v.Op {
		case OfState, Earlier:
			slices.Reverse(names)
			return names
		}
		names = append(names, string(v.Op))
		from := -1
		for _, a := range v.Of {
			if values[a].built() && (from < 0 || later(at[a], at[from])) {
				from = a
			}
		}
		if from < 0 {
			slices.Reverse(names)
			return names
		}
		k = from
	}
}

// later reports whether a is there after b.
func later(a, b layer.Chain) bool {
	both := b
	both.Join(a)
	return both != b
}
