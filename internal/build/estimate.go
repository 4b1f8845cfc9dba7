package build

import (
	"context"
	"fmt"
	"math"
	"slices"

	"hlsgen/folding"
	"hlsgen/internal/dataflow"
	"hlsgen/internal/diag"
	"hlsgen/internal/estimate"
)

// maxSearches bounds how often a folding is searched for.
const maxSearches = 8

// fold searches for a folding, sizes its FIFOs, and counts the whole. How deep FIFOs are is known only then. Where the
// design with its FIFOs and the host's port leaves the budget, the search is repeated with that much less of it. The
// result has the folding; d says why there is none.
func (r *Result) fold(ctx context.Context, o Options, m *dataflow.Model, t dataflow.Target, goal folding.Goal, d *diag.List) error {
	budget := folding.Budget(t.Board, goal.MaxUse)
	left := budget // for what the search counts
	var told diag.List
	for n := 0; n < maxSearches && left.LUT > 0 && left.FF > 0; n++ {
		var now diag.List
		found, err := folding.Search(ctx, m, t, goal, &now)
		switch {
		case err != nil:
			return err
		case now.Failed() && n == 0:
			d.Diags = append(d.Diags, now.Diags...)
			return nil
		case n > 0 && (now.Failed() || exceeds(now)): // nothing is as small as that: what was found before stays
			n = maxSearches
			continue
		}
		r.Folding, r.Design, r.Cycles = found, found.Design, Cycles{}
		if err := r.clock(ctx, o, &now); err != nil {
			return err
		}
		r.count(budget)
		told = now
		over := r.Estimate.Total.Beyond(budget)
		if over == (dataflow.Resources{}) || exceeds(told) {
			break
		}
		for range n + 1 { // another folding has other FIFOs: every time, more is left for them
			left = left.Beyond(over)
		}
		goal.MaxUse = shares(left, folding.Capacity(t.Board))
	}
	d.Diags = append(d.Diags, told.Diags...)
	if !exceeds(told) {
		r.checkBudget(d)
	}
	return nil
}

// exceeds reports whether the search itself has said that the design leaves the budget, as a folding file may want it to.
func exceeds(told diag.List) bool {
	return slices.ContainsFunc(told.Diags, func(x diag.Diag) bool { return x.Code == diag.BudgetExceeded })
}

// shares is what so much of a board's capacity is.
func shares(part, of dataflow.Resources) folding.Use {
	share := func(a, b int) float64 { return float64(a) / float64(max(1, b)) }
	return folding.Use{LUT: share(part.LUT, of.LUT), FF: share(part.FF, of.FF), BRAM: share(part.BRAM, of.BRAM),
		URAM: share(part.URAM, of.URAM), DSP: share(part.DSP, of.DSP)}
}

// count estimates the design with its FIFOs as deep as they have become.
func (r *Result) count(budget dataflow.Resources) {
	r.Estimate = estimate.Whole(r.Design)
	f, total := *r.Folding, r.Estimate.Total
	f.Costs, f.Total, f.Shares = r.Estimate.Layers, total, slices.Clone(f.Shares)
	used := map[string][2]int{"LUT": {total.LUT, budget.LUT}, "FF": {total.FF, budget.FF}, "RAMB18": {total.BRAM, budget.BRAM},
		"URAM": {total.URAM, budget.URAM}, "DSP": {total.DSP, budget.DSP}}
	for i := range f.Shares {
		s := &f.Shares[i]
		s.Used, s.Budget = used[s.Name][0], used[s.Name][1]
	}
	r.Folding = &f
}

// checkBudget says where no folding was found that leaves room for its FIFOs and the host's port: a warning, or an error
// where the whole board has less.
func (r *Result) checkBudget(d *diag.List) {
	var over []string
	severity, hint := diag.Warning, "fewer frames per second, a larger --max-use or a larger board"
	for _, s := range r.Folding.Shares {
		if s.Used > s.Budget {
			over = append(over, fmt.Sprintf("%d %s; the budget is %d of %d", s.Used, s.Name, s.Budget, s.Board))
		}
		if s.Used > s.Board {
			severity, hint = diag.Error, "fewer frames per second or a larger board"
		}
	}
	if over != nil {
		d.Add(diag.Diag{Severity: severity, Code: diag.BudgetExceeded,
			Msg: "with its FIFOs and the host's port the design takes " + over[0], Hint: hint, Notes: over[1:]})
	}
}

// ClockMHz is the clock at which rates are given: the one asked for, or what the layers allow, in whole MHz, if that is
// less.
func (r *Result) ClockMHz() float64 {
	asked := r.Design.Target.ClockMHz
	if most := r.Design.Fmax(); asked > most {
		return math.Floor(most)
	}
	return asked
}

// checkClock warns of a clock that some layer cannot follow, however many pipeline stages HLS gives it.
func (r *Result) checkClock(d *diag.List) {
	asked := r.Design.Target.ClockMHz
	most := r.ClockMHz()
	if most == asked {
		return
	}
	i, ns := r.Design.Slowest()
	n := r.Design.Model.Graph.Nodes[i]
	d.Add(diag.Diag{Severity: diag.Warning, Code: diag.ClockUnreachable, Node: n.Name,
		Msg: fmt.Sprintf("what it carries from one clock to the next takes %.2f ns by estimate, and %s MHz leave %.2f; rates are given for %s MHz",
			ns, plain(asked), 1000/asked, plain(most)),
		Hint: fmt.Sprintf("ask for --clock %s or less", plain(most))})
}

// A resourceReport is report/resources.json: the layers of report/layers.json in sum, and what is beside them.
type resourceReport struct {
	Cost   string             `json:"formula"`
	Layers dataflow.Resources `json:"layers"`
	FIFOs  []dataflow.Part    `json:"fifos"`
	Host   []dataflow.Part    `json:"host"`
	Total  dataflow.Resources `json:"total"`
}

func (r *Result) resources() resourceReport {
	e := r.Estimate
	out := resourceReport{Cost: r.Design.Target.Formula.String(), FIFOs: append([]dataflow.Part{}, e.FIFOs...), Host: append([]dataflow.Part{}, e.Host...), Total: e.Total}
	for _, c := range e.Layers {
		out.Layers = out.Layers.Plus(c.Total())
	}
	return out
}
