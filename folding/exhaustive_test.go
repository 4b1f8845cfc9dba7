package folding

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"hlsgen/boards"
	"hlsgen/hlslib/dwc"
	"hlsgen/internal/dataflow"
	"hlsgen/internal/diag"
	"hlsgen/internal/tier"
)

// A plan is one complete folding as the enumeration sees it.
type plan struct {
	interval, latency int
	cost              dataflow.Resources
}

// An enumeration visits all foldings of a graph: any fold of any layer, with a converter wherever words differ.
type enumeration struct {
	g          *dataflow.Graph
	t          dataflow.Target
	folds      [][]dataflow.Fold
	ports      []dataflow.Port // per stream, of its writer
	spans      []span
	converters map[string]dataflow.Op
	plans      []plan
}

func enumerate(g *dataflow.Graph, t dataflow.Target) []plan {
	e := &enumeration{g: g, t: t, folds: make([][]dataflow.Fold, len(g.Nodes)), ports: make([]dataflow.Port, len(g.Streams)),
		spans: make([]span, len(g.Streams)), converters: map[string]dataflow.Op{}}
	for i, n := range g.Nodes {
		for f := range n.Op.Folds() {
			if f.Memory != dataflow.URAM || t.Board.InitialisesURAM() {
				e.folds[i] = append(e.folds[i], f)
			}
		}
	}
	e.layer(0, plan{})
	return e.plans
}

func (e *enumeration) layer(i int, p plan) {
	if i == len(e.g.Nodes) {
		e.plans = append(e.plans, p)
		return
	}
	for _, f := range e.folds[i] {
		e.fold(i, f, p)
	}
}

// fold continues a plan with a fold of layer i, where its ends allow it.
func (e *enumeration) fold(i int, f dataflow.Fold, p plan) {
	n := e.g.Nodes[i]
	loop := n.Op.Loop(f, e.t)
	p.interval, p.cost = max(p.interval, loop.Iterations()), p.cost.Plus(n.Op.Cost(f, e.t).Total())
	in, out := n.Op.Ports(f)
	spans := make([]span, len(in))
	for k, s := range n.In {
		from := e.ports[s]
		switch {
		case slices.Contains(e.g.In, s) && in[k].Tile != 0, !slices.Contains(e.g.In, s) && from.Tile != in[k].Tile:
			return
		case slices.Contains(e.g.In, s):
			spans[k] = span{0, in[k].Words - 1}
		case from.PerWord == in[k].PerWord:
			spans[k] = e.spans[s]
		default:
			c := e.converter(s, from, in[k])
			fold := onlyFold(c)
			loop := c.Loop(fold, e.t)
			p.interval, p.cost = max(p.interval, loop.Iterations()), p.cost.Plus(c.Cost(fold, e.t).Total())
			d := newDelay(loop, 1, 1)
			spans[k] = d.through([]span{e.spans[s]})[0]
		}
	}
	d := newDelay(loop, len(in), len(out))
	for k, s := range d.through(spans) {
		id := n.Out[k]
		if slices.Contains(e.g.Out, id) {
			if out[k].Tile != 0 {
				return
			}
			p.latency = max(p.latency, s.last+1)
		}
		e.ports[id], e.spans[id] = out[k], s
	}
	e.layer(i+1, p)
}

func (e *enumeration) converter(s int, from, to dataflow.Port) dataflow.Op {
	k := fmt.Sprint(s, from, to)
	if e.converters[k] == nil {
		op, _, err := dwc.New(dwc.Params{In: from.PerWord, Out: to.PerWord, Tile: to.Tile}).Bind([]dataflow.Type{e.g.Streams[s].Type})
		if err != nil {
			panic(err)
		}
		e.converters[k] = op
	}
	return e.converters[k]
}

// within keeps the plans that fit the budget, and have at most so many clocks per frame.
func within(plans []plan, budget vector, limit int) (fit []plan) {
	for _, p := range plans {
		if p.interval <= limit && vectorOf(p.cost).within(budget) {
			fit = append(fit, p)
		}
	}
	return fit
}

// measures is what a plan takes by a measure and those that break ties.
func (p plan) measures(m Measure, yard vector) []float64 {
	share, _ := load(vectorOf(p.cost), yard)
	list := []float64{share, float64(p.cost.LUT)}
	if m != LeastLoad {
		list = append([]float64{float64(vectorOf(p.cost)[m.kind()])}, list...)
	}
	return list
}

// least is the plan with the least measures.
func least(plans []plan, m Measure, yard vector) plan {
	return slices.MinFunc(plans, func(a, b plan) int { return slices.Compare(a.measures(m, yard), b.measures(m, yard)) })
}

// tight is a board on which few of a random net's foldings fit.
func tight(r *rand.Rand) boards.Board {
	return boards.Board{Name: "tight", LUT: 60 + r.IntN(600), FF: 60 + r.IntN(600), BRAM36: 1 + r.IntN(6), URAM: r.IntN(6), DSP: 1 + r.IntN(14), DSPType: "DSP58"}
}

// A rival compares searches with the enumeration of one network.
type rival struct {
	*testing.T
	m      *dataflow.Model
	target dataflow.Target
	plans  []plan
}

func (r *rival) budget(goal Goal) vector { return vectorOf(Budget(r.target.Board, goal.MaxUse)) }

// search compares a search with the best of all plans. It reports whether anything fits.
func (r *rival) search(goal Goal) bool {
	r.Helper()
	var d diag.List
	got, err := Search(context.Background(), r.m, r.target, goal, &d)
	if err != nil {
		r.Fatal(err)
	}
	limit := mostClocks
	if goal.FPS > 0 {
		limit = ClocksPerFrame(r.target.ClockMHz, goal.FPS)
	}
	fit := within(r.plans, r.budget(goal), limit)
	if len(fit) == 0 {
		if got != nil || !d.Failed() {
			r.Fatalf("%+v on %+v: nothing fits, got %+v", goal, r.target.Board, got)
		}
		return false
	}
	if got == nil {
		r.Fatalf("%+v on %+v: %d foldings fit, got %v", goal, r.target.Board, len(fit), d.Diags)
	}
	if err := got.Design.Verify(); err != nil {
		r.Fatalf("design: %v", err)
	}
	if !got.Proof.Exact() || got.Latency != EstimateLatency(got.Design) {
		r.Fatalf("%+v: %+v", goal, got.Proof)
	}
	r.compare(goal, got, fit, limit)
	return true
}

// compare holds a result against the plans that fit the goal.
func (r *rival) compare(goal Goal, got *Result, fit []plan, limit int) {
	r.Helper()
	yard := r.budget(goal)
	is := plan{got.Interval, got.Latency, got.Total}
	if goal.Latency {
		best := slices.MinFunc(fit, func(a, b plan) int { return a.latency - b.latency })
		if got.Latency != best.latency || *got.Proof.Latency != (Latency{best.latency, best.latency}) || !slices.Contains(fit, is) {
			r.Fatalf("%+v on %+v: latency %d, want %d", goal, r.target.Board, got.Latency, best.latency)
		}
		var d diag.List
		h := must(prepare(r.m, r.target, goal, widthConverter, &d)).newLatencySearch(limit, yard)
		if b := h.bound(best.latency + 1000); b > best.latency {
			r.Fatalf("%+v on %+v: no latency below %d, but there is %d", goal, r.target.Board, b, best.latency)
		}
		return
	}
	if goal.FPS == 0 {
		limit = slices.MinFunc(fit, func(a, b plan) int { return a.interval - b.interval }).interval
		if got.Interval != limit {
			r.Fatalf("%+v on %+v: interval %d, want %d", goal, r.target.Board, got.Interval, limit)
		}
	}
	want := least(within(fit, yard, limit), goal.Least, yard).measures(goal.Least, yard)
	if got.Interval > limit || !slices.Equal(is.measures(goal.Least, yard), want) {
		r.Fatalf("%+v on %+v:\ngot  interval %d, %v\nwant interval %d, %v", goal, r.target.Board, got.Interval, is.measures(goal.Least, yard), limit, want)
	}
}

// front compares the front of intervals and measures.
func (r *rival) front(goal Goal) {
	r.Helper()
	var d diag.List
	got, whole, err := Pareto(context.Background(), r.m, r.target, goal, 0, &d)
	if err != nil {
		r.Fatal(err)
	}
	yard := r.budget(goal)
	limit := mostClocks
	if goal.FPS > 0 {
		limit = ClocksPerFrame(r.target.ClockMHz, goal.FPS)
	}
	fit := within(r.plans, yard, limit)
	value := func(p plan) float64 { return p.measures(goal.Least, yard)[0] }
	slices.SortFunc(fit, func(a, b plan) int {
		if a.interval != b.interval {
			return a.interval - b.interval
		}
		return slices.Compare(a.measures(goal.Least, yard), b.measures(goal.Least, yard))
	})
	var want, is []string
	last := 0.0
	for _, p := range fit {
		if v := value(p); len(want) == 0 || v < last {
			want, last = append(want, fmt.Sprintf("%d: %v", p.interval, v)), v
		}
	}
	for _, g := range got {
		is = append(is, fmt.Sprintf("%d: %v", g.Interval, value(plan{cost: g.Total})))
	}
	if !slices.Equal(is, want) || whole != (len(fit) > 0) {
		r.Fatalf("%+v on %+v:\ngot  %v\nwant %v", goal, r.target.Board, is, want)
	}
}

// On small networks every search finds what an enumeration of all foldings finds, and proves it: the shortest interval,
// the least of each measure at a rate, the shortest latency, the front.
func TestExhaustive(t *testing.T) {
	t.Parallel()
	nets := 200
	if tier.Long() {
		nets = 3000
	}
	r := rand.New(rand.NewPCG(22, 7))
	fitted := 0
	for range nets {
		v := rival{T: t, m: randomNet(r, 1+r.IntN(5), 5), target: dataflow.Target{Board: tight(r), ClockMHz: 100}}
		v.plans = enumerate(v.m.Graph, v.target)
		most, loose := Use{0.9, 0.9, 0.9, 0.9, 0.9}, Use{1, 0.8, 0.5, 1, 0.7}
		if v.search(Goal{MaxUse: most}) {
			fitted++
		}
		fps := 1e8 / float64(1+r.IntN(60))
		for m := LeastLoad; m <= LeastDSP; m++ {
			v.search(Goal{FPS: fps, MaxUse: loose, Least: m})
		}
		v.search(Goal{MaxUse: most, Latency: true})
		v.search(Goal{FPS: fps, MaxUse: most, Latency: true})
		v.front(Goal{MaxUse: most})
		v.front(Goal{MaxUse: loose, FPS: fps, Least: LeastLoad + Measure(r.IntN(6))})
	}
	if fitted < nets/4 || fitted > nets*9/10 {
		t.Errorf("%d of %d networks fit: the boards are not tight", fitted, nets)
	}
}

// The same with real layers.
func TestExhaustiveLayers(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(4, 4))
	for range 8 {
		m := mlp(r, uint2, 1+r.IntN(3), 2, 6, 4, 3)
		if r.IntN(3) == 0 {
			m = withThresholds(r, 12, 6)
		}
		b := board("pynq-z1")
		b.LUT, b.BRAM36, b.DSP = 900+r.IntN(1500), 1+r.IntN(4), 1+r.IntN(20)
		v := rival{T: t, m: m, target: dataflow.Target{Board: b, ClockMHz: 100}}
		v.plans = enumerate(m.Graph, v.target)
		v.search(Goal{})
		v.search(Goal{FPS: 1e8 / float64(1+r.IntN(30)), Least: LeastLoad + Measure(r.IntN(6))})
		v.search(Goal{Latency: true})
		v.front(Goal{})
	}
}

// The same with layers whose streams travel in tiles: a depthwise convolution, alone, and joined with its input.
func TestExhaustiveConvolutions(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(7, 7))
	for i := range 4 {
		p := newPainter()
		s := p.image(4, 4, 4)
		if i%2 == 1 {
			f := p.fork(s, 2)
			s = p.join(f[1], p.pool(f[0], 1))
		} else {
			s = p.depthwise(s, 1)
		}
		b := board("pynq-z1")
		b.LUT, b.BRAM36, b.DSP = 600+r.IntN(2000), 1+r.IntN(4), 1+r.IntN(20)
		v := rival{T: t, m: p.model("tiles", s), target: dataflow.Target{Board: b, ClockMHz: 100}}
		v.plans = enumerate(v.m.Graph, v.target)
		v.search(Goal{})
		v.search(Goal{FPS: 1e8 / float64(16+r.IntN(600)), Least: LeastLoad + Measure(r.IntN(6))})
		v.search(Goal{Latency: true})
		v.front(Goal{})
	}
}

// Where a plan has to leave streams out, what is found is a folding, what is proved is true, and both are bounds of the
// best.
func TestWide(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(8, 8))
	wide, found, proved := 0, 0, 0
	for range 400 {
		b := tight(r)
		b.LUT, b.FF, b.BRAM36, b.URAM, b.DSP = 2*b.LUT, 2*b.FF, 2*b.BRAM36, 2*b.URAM+1, 2*b.DSP
		m, target := randomNet(r, 3+r.IntN(3), 5), dataflow.Target{Board: b, ClockMHz: 100}
		plans := enumerate(m.Graph, target)
		var d diag.List
		s := must(prepare(m, target, Goal{}, widthConverter, &d))
		if s == nil {
			continue
		}
		s.rows = 5
		s.makePlan()
		fit := within(plans, s.budget, mostClocks)
		if len(s.wide) == 0 || len(fit) == 0 {
			continue
		}
		wide++
		got := must(s.search(context.Background(), m, Goal{}, &d))
		if got == nil {
			continue
		}
		found++
		if err := got.Design.Verify(); err != nil {
			t.Fatal(err)
		}
		best := slices.MinFunc(fit, func(a, b plan) int { return a.interval - b.interval }).interval
		if got.Proof.Floor > best || got.Interval < best {
			t.Fatalf("interval %d, none below %d; the best is %d", got.Interval, got.Proof.Floor, best)
		}
		if got.Proof.Floor == got.Interval {
			proved++
		}
		at := least(within(fit, s.budget, got.Interval), LeastLoad, s.yard).measures(LeastLoad, s.yard)[0]
		if b := got.Proof.Bounds[0]; b.Least > at || b.Value < at {
			t.Fatalf("%+v, the least is %v", b, at)
		}
	}
	if wide < 30 || found < wide/4 || proved < found/4 {
		t.Errorf("%d nets are too wide, %d folded, %d proved", wide, found, proved)
	}
}
