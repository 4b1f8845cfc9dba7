package folding

import (
	"context"
	"fmt"
	"math"
	"math/big"
	"slices"
	"sort"
	"strings"

	"github.com/dustin/go-humanize"

	"hlsgen/folding/search"
	"hlsgen/internal/dataflow"
	"hlsgen/internal/diag"
)

// unreachable tells that the asked interval cannot be had within the budget, what can, and what budget would do.
func (s *space) unreachable(ctx context.Context, q *question, limit *big.Rat, f *found, d *diag.List) error {
	best, err := s.design(ctx, q, f.folding)
	if err != nil {
		return err
	}
	asked := fmt.Sprintf("%s frames per second at %s MHz allow %s per frame", exact(q.goal.FPS), plain(s.clock), clocks(floor(limit)))
	if floor(limit) < 1 {
		asked = fmt.Sprintf("%s frames per second are more than one in a clock of %s MHz", exact(q.goal.FPS), plain(s.clock))
	}
	if q.goal.Interval > 0 {
		asked = "asked for: " + clocks(q.goal.Interval) + " per frame"
	}
	hint := q.slower(best)
	dg := diag.Diag{Severity: diag.Error, Code: diag.FPSUnreachable,
		Msg: fmt.Sprintf("%s; the best on %s is %s, %s frames per second",
			asked, s.target.Board.Name, fractional(best.Clocks.Interval), exact(best.FPS()))}
	if i, most := s.slowest(); float64(most) > float(limit) {
		dg.Node = s.layers[i].origin()
		dg.Notes = append(dg.Notes, s.floorOf(i, most))
	}
	if port := s.portFloor(); float64(port) > float(limit) {
		hint += ", --io stream where the network is fed from inside the FPGA,"
		dg.Notes = append(dg.Notes, s.portText(port))
	}
	if len(dg.Notes) > 0 {
		dg.Hint = hint + " or a higher --clock"
		d.Add(dg)
		return nil
	}
	dg.Hint = hint + ", a higher --clock or a larger board"
	more, err := s.leastLoad(ctx, q, floor(limit))
	if err != nil {
		return err
	}
	if more != nil {
		whole, err := s.design(ctx, q, more.folding)
		if err != nil {
			return err
		}
		if use, ok := q.useFor(whole.Estimate.Total); ok {
			dg.Hint = fmt.Sprintf("%s, or --max-use %s", hint, use)
		}
		dg.Notes = []string{"at the asked rate: " + s.shortage(q, whole.Estimate.Total)}
	}
	d.Add(dg)
	return nil
}

// slower is the flag that asks for what a design has, instead of what was asked.
func (q *question) slower(d *Design) string {
	if q.goal.Interval > 0 {
		return fmt.Sprint("--interval ", int(math.Ceil(d.Clocks.Interval)))
	}
	return "--fps " + exact(d.FPS())
}

func float(r *big.Rat) float64 { f, _ := r.Float64(); return f }

// floorOf says why no interval is shorter than the slowest layer's.
func (s *space) floorOf(layer, most int) string {
	l := &s.layers[layer]
	text := fmt.Sprintf("%s takes %s ", l.node.Name, clocks(most))
	if l.fixed {
		return text + "as the folding file sets it"
	}
	return text + "in its widest fold"
}

// portFloor is the clocks that the host's port takes at least to move a frame; 0 where there is none.
func (s *space) portFloor() (clocks int) {
	if s.target.PortBits() == 0 {
		return 0
	}
	for i := range s.streams {
		clocks = max(clocks, s.streams[i].least())
	}
	return clocks
}

// portText says what the host's port takes for a frame.
func (s *space) portText(n int) string {
	return fmt.Sprintf("the host's port of %d bits takes %s to move a frame", s.target.PortBits(), clocks(n))
}

// leastLoad is the design that takes the least share of the budget at an interval, however much that is; nil where none was
// found. Of what the user wants none, it takes none, or else as little as can be.
func (s *space) leastLoad(ctx context.Context, q *question, limit int) (*found, error) {
	fresh := *q
	fresh.effort.Done, fresh.effort.Cut = 0, false
	loose, caps := search.Unlimited, search.Unlimited
	loose.Vector[traffic] = s.capsAt(q, limit).Vector[traffic]
	caps.Vector[traffic] = loose.Vector[traffic]
	for k, most := range q.caps.Vector[:traffic] {
		if most == 0 {
			caps.Vector[k], fresh.yard[k] = 0, 1
		}
	}
	f, _, err := s.leastAt(ctx, &fresh, limit, caps, LeastLoad.order())
	if f == nil && err == nil && caps != loose {
		f, _, err = s.leastAt(ctx, &fresh, limit, loose, LeastLoad.order())
	}
	return f, err
}

// leastLoadFrom is leastLoad at the shortest interval, from one on, that there is a design of.
func (s *space) leastLoadFrom(ctx context.Context, q *question, list []int, limit int) (*found, error) {
	at, exact := slices.BinarySearch(list, limit)
	if !exact {
		list = slices.Insert(slices.Clone(list), at, limit)
	}
	list = list[at:]
	at = sort.Search(len(list)-1, func(i int) bool {
		caps := search.Unlimited
		caps.Vector[traffic] = s.capsAt(q, list[i]).Vector[traffic]
		return !math.IsInf(s.tree(&region{limit: list[i]}, q).Bound(LeastLoad.of(&q.yard), caps), 1)
	})
	// The last interval is for depths that are given, where these allow nothing faster.
	for _, limit := range []int{list[at], list[len(list)-1]} {
		if f, err := s.leastLoad(ctx, q, limit); f != nil || err != nil {
			return f, err
		}
	}
	return nil, nil
}

// overBudget is the design that takes the least share of the budget at an interval, or at the shortest above it, where the
// goal allows that; else d says how large the budget has to be for it.
func (s *space) overBudget(ctx context.Context, q *question, list []int, limit int, d *diag.List) (*found, error) {
	f, err := s.leastLoadFrom(ctx, q, list, limit)
	if err != nil {
		return nil, err
	}
	if f == nil { // neighbours do join: that was looked at first
		d.Add(diag.Diag{Severity: diag.Error, Code: diag.BudgetExceeded,
			Msg:  "no design was found before the work that a search may do came to its end",
			Hint: "--search-time lets it go on; or set the folds of some layers in a folding file"})
		return nil, nil
	}
	whole, err := s.design(ctx, q, f.folding)
	if err != nil {
		return nil, err
	}
	reached := reaches(whole.Clocks.Interval, q.goal.limit(s.clock))
	if q.goal.OverBudget && reached {
		return f, nil
	}
	total := whole.Estimate.Total
	hint := "a larger board, or fewer bits or weights in the largest layers"
	if use, ok := q.useFor(total); ok {
		hint = fmt.Sprintf("--max-use %s, a larger board, or --over-budget to build it all the same", use)
	}
	if !reached {
		hint = q.slower(whole) + " and " + hint
	}
	kind := q.scarcest(total)
	at, most := 0, int64(-1)
	for i, o := range f.options {
		if n := s.layers[i].options[o].cost[kind]; n > most {
			at, most = i, n
		}
	}
	dg := s.layers[at].diag(diag.Error, diag.BudgetExceeded, "no design fits the budget; the least demanding one takes "+s.shortage(q, total), hint)
	if kind < mean {
		dg.Notes = []string{fmt.Sprintf("the largest layer is %s with %d %s", s.layers[at].node.Name, most, names[kind])}
		if host := amounts(whole.Estimate.Host.Total())[kind]; host > most {
			dg.Node = ""
			dg.Notes = append(dg.Notes, fmt.Sprintf("the host's port takes %d %s", host, names[kind]))
		}
	}
	if rest := q.budget.vector(total).Minus(q.host); rest.Within(&q.caps.Vector) {
		dg.Hint += "; or --io stream where the network is fed from inside the FPGA"
	}
	d.Add(dg)
	return nil, nil
}

// scarcest is the kind of which resources exceed the budget by the largest factor.
func (q *question) scarcest(r dataflow.Resources) int {
	v, at, worst := q.budget.vector(r), 0, 0.0
	for k := range traffic {
		if f := float64(v[k]) / max(float64(q.caps.Vector[k]), 0.5); v[k] > q.caps.Vector[k] && f > worst {
			at, worst = k, f
		}
	}
	return at
}

// shortage says what is missing: "23,100 LUT of 18,432".
func (s *space) shortage(q *question, r dataflow.Resources) string {
	kind := q.scarcest(r)
	if kind == mean {
		return fmt.Sprintf("%s %% as the %s; the budget is %s %%", plain(float64(int(1000*q.budget.MeanOf(r)+0.999))/10), names[mean], plain(100*q.budget.Mean))
	}
	v := q.budget.vector(r)
	return fmt.Sprintf("%d %s; the budget on %s is %d of %d", v[kind], names[kind], s.target.Board.Name, q.caps.Vector[kind], amounts(q.budget.capacity)[kind])
}

// useFor is the smallest budget that has room for resources, as --max-use takes it: one share for all where the user gave
// one, else those shares raised that are too small. ok is false where the board has too little.
func (q *question) useFor(r dataflow.Resources) (use string, ok bool) {
	u := q.goal.MaxUse
	if u == (Use{}) {
		u = DefaultMaxUse
	}
	have, need := amounts(q.budget.capacity), amounts(r)
	up := func(share *big.Rat) float64 { // to four decimals
		n := new(big.Int).Mul(share.Num(), big.NewInt(10_000))
		n.Add(n, new(big.Int).Sub(share.Denom(), big.NewInt(1)))
		f, _ := new(big.Rat).SetFrac(n.Quo(n, share.Denom()), big.NewInt(10_000)).Float64()
		return f
	}
	shares := [traffic]float64{}
	most := 0.0
	for k := range traffic {
		switch {
		case k == mean:
			shares[k] = up(big.NewRat(q.budget.vector(r)[mean], meanUnits))
		case have[k] > 0:
			shares[k] = up(big.NewRat(need[k], have[k]))
		}
		most = max(most, shares[k])
	}
	if most > 1 {
		return "", false
	}
	if all := u.LUT; u == (Use{all, all, all, all, all, all, all}) {
		return plain(max(all, most)), true
	}
	for k, share := range shares {
		f := u.field(k)
		*f = max(*f, share)
	}
	return u.String(), true
}

// unjoined tells that neighbours cannot be joined even at the longest interval.
func (s *space) unjoined(d *diag.List) {
	d.Add(diag.Diag{Severity: diag.Error, Code: diag.WordTooWide,
		Msg:  fmt.Sprintf("no width converter of at most %d bits joins the words of some neighbouring layers", dataflow.MaxWord),
		Hint: "leave PE and SIMD of these layers out of the folding file"})
}

// tell says what the user should know of a design that was made: a budget that it exceeds because that was asked for, a
// clock that some layer cannot follow, a rate that it therefore misses.
func (s *space) tell(q *question, d *Design, list *diag.List) {
	if d.Over && q.goal.MaxCycles == 0 {
		list.Add(diag.Diag{Severity: diag.Warning, Code: diag.BudgetExceeded, Msg: "over the budget, as --over-budget allows: it takes " + s.shortage(q, d.Estimate.Total),
			Hint: "fewer frames per second, a larger --max-use or a larger board"})
	}
	asked, most := d.Target.ClockMHz, d.ClockMHz()
	if most < asked {
		i, ns := d.Slowest()
		list.Add(diag.Diag{Severity: diag.Warning, Code: diag.ClockUnreachable, Node: d.Model.Graph.Nodes[i].Name,
			Msg: fmt.Sprintf("what it carries from one clock to the next takes %.2f ns by estimate, and %s MHz leave %.2f; rates are given for %s MHz",
				ns, plain(asked), 1000/asked, plain(most)),
			Hint: fmt.Sprintf("ask for --clock %s or less", plain(most))})
	}
}

// diag is a diagnostic about the layer.
func (l *layer) diag(severity diag.Severity, code diag.Code, msg, hint string) diag.Diag {
	return diag.Diag{Severity: severity, Code: code, Node: l.origin(), Msg: msg, Hint: hint}
}

// origin is the first ONNX node that the layer computes, empty where there is none.
func (l *layer) origin() string {
	if len(l.node.Origin) == 0 {
		return ""
	}
	return l.node.Origin[0]
}

// clocks counts clocks in words.
func clocks(n int) string {
	if n == 1 {
		return "1 clock"
	}
	return humanize.Comma(int64(n)) + " clocks"
}

func fractional(n float64) string {
	if n == 1 {
		return "1 clock"
	}
	return humanize.Commaf(n) + " clocks"
}

// doing names some things, and says that they do something.
func doing(names []string, one, many string) string {
	switch n := len(names); {
	case n == 1:
		return names[0] + " " + one
	case n > 4:
		return fmt.Sprintf("%s and %d more layers %s", strings.Join(names[:3], ", "), n-3, many)
	default:
		return strings.Join(names[:n-1], ", ") + " and " + names[n-1] + " " + many
	}
}
