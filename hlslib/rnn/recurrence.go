package rnn

import (
	"fmt"
	"slices"

	"hlsgen/hlslib/layer"
	"hlsgen/internal/dataflow"
)

// Recurrences returns a recurrence for every state that is read. It is the longest path of operations to the state's
// new value, from a state or from a value of an earlier phase.
func (o *op) Recurrences(f dataflow.Fold, target dataflow.Target) (list []dataflow.Recurrence) {
	t := o.timing(f, target)
	work := 0
	for _, p := range t.phases {
		work += o.turns * p.turn
	}
	for s := range o.cell.States {
		of := slices.IndexFunc(o.stores, func(x store) bool { return x.state == s })
		if of < 0 {
			continue // no phase reads it
		}
		next := o.stores[of].writer
		at := chains(o, next.Phase, f, target)
		clocks := max(1, at[next.Value].Write()) + 1
		if target.Stalls == dataflow.StallByCredit {
			clocks = t.waits[of]
		}
		r := dataflow.Recurrence{Path: append(path(o, next, at), stateName(s)), Work: work, Step: t.step,
			Clocks: t.phases[next.Phase].start + clocks,
			Beside: max(1, o.P.Sequences) * ((t.step + work - 1) / work)}
		if next.Phase > 0 {
			r.Path = slices.Insert(r.Path, 0, looksAt(&o.cell.Phases[0])) // the phase waits for the phases in between
		}
		list = append(list, r)
	}
	return list
}

func stateName(s int) string { return fmt.Sprintf("state %d", s) }

func phaseName(p int) string { return fmt.Sprintf("phase %d", p) }

// path returns the name of the start of the longest path to the value to. The operations on the path within the value's
// phase follow.
func path(o *op, to Ref, at []layer.Chain) (names []string) {
	values := o.phases[to.Phase].values
	for k := to.Value; k >= 0; {
		v := &values[k]
		switch v.Op {
		case OpState:
			names = append(names, stateName(v.At))
		case OpEarlierValue:
			names = append(names, phaseName(v.Phase))
		case OpDot:
			names = append(names, string(v.Op), looksAt(&o.cell.Phases[to.Phase]))
		default:
			names = append(names, string(v.Op))
		}
		from := -1
		for _, a := range v.Of {
			if values[a].built() && (from < 0 || later(at[a], at[from])) {
				from = a
			}
		}
		k = from
	}
	slices.Reverse(names)
	return names
}

// looksAt returns a text that names the vector which the phase's dots multiply.
func looksAt(p *Phase) string {
	if p.State != nil {
		return stateName(*p.State)
	}
	if p.Of != nil {
		return phaseName(p.Of.Phase)
	}
	return "nothing"
}

// later reports whether the result of chain a is available later than that of b.
func later(a, b layer.Chain) bool {
	both := b
	both.Join(a)
	return both != b
}
