package rnn

import (
	"fmt"
	"slices"

	"hlsgen/hlslib/layer"
	"hlsgen/internal/dataflow"
)

// recurrences returns a recurrence for every state that is read. It is the longest path of operations to the state's
// new value, from a state or from a value of an earlier phase.
func (o *op) recurrences(f dataflow.Fold, target dataflow.Target) (list []dataflow.RecurrenceTiming) {
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
		clocks := max(1, at[next.Value].DoStreamWrite()) + 1
		if target.Backend.Rate == dataflow.RateFromCircuit {
			clocks = t.waits[of]
		}
		r := dataflow.RecurrenceTiming{Path: append(path(o, next, at), stateName(s)), Work: work, Step: t.step,
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

// path returns the names along the longest path of operations to the value to. The first is that of the path's start;
// the operations within the value's phase follow. at has the times of the phase's values.
func path(o *op, to ValueRef, at []layer.PipelineChain) (names []string) {
	values := o.phases[to.Phase].values
	for k := to.Value; k >= 0; {
		v := &values[k]
		switch v.Op {
		case OpState:
			names = append(names, stateName(v.At))
		case OpEarlierPhaseValue:
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

// looksAt returns a text that names the vector which the dots of phase p multiply.
func looksAt(p *CellPhase) string {
	if p.State != nil {
		return stateName(*p.State)
	}
	if p.Of != nil {
		return phaseName(p.Of.Phase)
	}
	return "nothing"
}

// later reports whether the result of chain a is available later than that of b.
func later(a, b layer.PipelineChain) bool {
	both := b
	both.WaitForChain(a)
	return both != b
}
