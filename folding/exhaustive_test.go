package folding

import (
	"context"
	"errors"
	"math"
	"math/big"
	"math/rand/v2"
	"slices"
	"strconv"
	"testing"

	"hlsgen/folding/goal"
	"hlsgen/internal/dataflow"
	"hlsgen/internal/diag"
	"hlsgen/internal/testsupport/tier"
	"hlsgen/rtlsim"
)

// A rival compares the answers of Make with the enumeration of one network.
type rival struct {
	*testing.T
	name    string
	m       *dataflow.Model
	target  dataflow.Target
	designs []figures
	asked   int
	fitted  int
	proved  int
}

// make calls Make; it returns nil if nothing fits, or if everything deadlocks.
func (r *rival) make(wanted Goal) *Design {
	r.Helper()
	var d diag.List
	got, err := FindBestDesign(context.Background(), r.m, r.target, wanted, &d)
	if dead := new(rtlsim.Deadlock); errors.As(err, &dead) {
		return nil
	}
	if err != nil || (got == nil) != d.HasErrors() {
		r.Errorf("%s, %+v: %v, %v, %v", r.name, wanted, got, err, d.Diags)
	}
	if got != nil {
		consistent(r, got, wanted)
	}
	return got
}

// allowed returns the designs that are as fast as asked and within the budget.
func (r *rival) allowed(wanted Goal) (list []figures) {
	limit := wanted.MaxIntervalClocks(r.target.ClockMHz, 1)
	if wanted.MaxCycles > 0 && len(r.designs) > 0 { // or the fewest possible
		least := slices.MinFunc(r.designs, func(a, b figures) int { return a.slowest - b.slowest }).slowest
		limit = big.NewRat(int64(max(wanted.MaxCycles, least)), 1)
	}
	budget := BudgetOfBoard(r.target.Board, wanted.MaxUse)
	defer func() {
		if slices.ContainsFunc(list, func(p figures) bool { return !p.blocks }) {
			list = slices.DeleteFunc(list, func(p figures) bool { return p.blocks })
		}
	}()
	for _, p := range r.designs {
		switch {
		case wanted.MaxCycles > 0:
			if goal.IntervalMeetsLimit(p.simulated, limit) {
				list = append(list, p)
			}
		case goal.IntervalMeetsLimit(p.interval, limit) && budget.AllowsResources(p.cost):
			list = append(list, p)
		}
	}
	return list
}

// measure returns the measure of a cost. A load is a share of the budget.
func measure(m ResourceMeasure, budget *Budget, r dataflow.Resources) float64 {
	v := budget.AmountVectorOf(r)
	if m != ResourceMeasureLoad {
		return float64(v[m.SearchObjective(nil).Kind])
	}
	share, caps := 0.0, budget.SearchCaps()
	for k := range goal.KindMemoryBytesPerFrame {
		if caps.AmountVector[k] > 0 {
			share = max(share, float64(v[k])/float64(caps.AmountVector[k]))
		}
	}
	return share
}

// search compares a design with the best of all that fit.
func (r *rival) search(wanted Goal) {
	r.Helper()
	r.asked++
	got, list := r.make(wanted), r.allowed(wanted)
	if len(list) == 0 {
		if got != nil {
			r.Errorf("%s, %+v: nothing fits, got %v clocks with %+v", r.name, wanted, got.Clocks.Interval,
				got.Estimate.Total)
		}
		return
	}
	if got == nil {
		r.Errorf("%s, %+v on %+v: %d designs fit, none was found", r.name, wanted, r.target.Board, len(list))
		return
	}
	r.fitted++
	if got.Certificate.IsProvedBest() {
		r.proved++
	}
	if wanted.Latency {
		r.latency(wanted, got, list)
		return
	}
	r.least(wanted, got, list)
}

// least compares the interval, and then each measure.
func (r *rival) least(wanted Goal, got *Design, list []figures) {
	r.Helper()
	c := &got.Certificate
	if wanted.MaxIntervalClocks(r.target.ClockMHz, 1) == nil {
		best := slices.MinFunc(list, func(a, b figures) int { return int(math.Ceil(a.interval - b.interval)) }).interval
		if got.Clocks.Interval != best {
			r.Errorf("%s, %+v: %v clocks, the best is %v", r.name, wanted, got.Clocks.Interval, best)
		}
		if float64(c.Floor) > best {
			r.Errorf("%s, %+v: no design takes fewer than %d clocks, but one takes %v", r.name, wanted, c.Floor, best)
		}
		list = slices.DeleteFunc(list, func(p figures) bool { return p.interval > got.Clocks.Interval })
	}
	if wanted.Least == ResourceMeasureLoad && slices.ContainsFunc(list, func(p figures) bool { return !p.few }) {
		list = slices.DeleteFunc(list, func(p figures) bool { return p.few }) // LUTs are enough
	}
	budget := got.Budget
	for i, m := range wanted.Least.MinimisationOrder() {
		least := math.Inf(1)
		for _, p := range list {
			least = min(least, measure(m, &budget, p.cost))
		}
		if v := measure(m, &budget, got.Estimate.Total); !near(v, least) || c.Bounds[i].Least > least+rounding {
			r.Errorf("%s, %+v: %v of %s, %+v; the least is %v", r.name, wanted, v, m, c.Bounds[i], least)
			return
		}
		list = slices.DeleteFunc(list, func(p figures) bool { return !near(measure(m, &budget, p.cost), least) })
	}
}

// rounding is the most by which the mean share may be off: it is counted in ten millionths, part by part.
const rounding = 1e-5

func near(a, b float64) bool { return math.Abs(a-b) < rounding }

// latency compares the latency.
func (r *rival) latency(wanted Goal, got *Design, list []figures) {
	r.Helper()
	best := slices.MinFunc(list, func(a, b figures) int { return a.latency - b.latency }).latency
	l := got.Certificate.Latency
	if l.Least > best || got.Clocks.Latency < best {
		r.Errorf("%s, %+v: %+v, the best is %d", r.name, wanted, l, best)
	}
	if got.Clocks.Latency > best {
		r.Errorf("%s, %+v: latency %d, the best is %d", r.name, wanted, got.Clocks.Latency, best)
	}
}

// net returns a random network on a small board, with all its designs.
func net(t *testing.T, seed uint64, fifo FIFODepthPolicy) (*rival, *rand.Rand) {
	v, r := bare(t, seed)
	v.designs = enumerate(v.m.Graph, v.target, fifo)
	return v, r
}

// bare returns the network of net without its designs, whose enumeration takes most of the time.
func bare(t *testing.T, seed uint64) (*rival, *rand.Rand) {
	r := rand.New(rand.NewPCG(seed, 7))
	m := randomNet(r, 1+r.IntN(3), 4)
	return &rival{T: t, name: "seed " + strconv.FormatUint(seed, 10), m: m,
		target: dataflow.Target{Board: tight(r, m.Graph), ClockMHz: 100}}, r
}

// seeds returns the seeds of the networks to try.
func seeds(first int) (list []uint64) {
	if tier.Long() {
		first *= 75
	}
	for i := range uint64(first) {
		list = append(list, i)
	}
	return list
}

// TestExhaustive checks on small networks that every answer is the best of an enumeration of all designs, and that
// proofs are right.
func TestExhaustive(t *testing.T) {
	tier.NotQuick(t)
	t.Parallel()
	total := rival{}
	first := 20
	if tier.Long() {
		first = 30
	}
	for _, seed := range seeds(first) {
		v, r := net(t, 30+seed, FIFODepthPolicy{})
		most, loose := all(0.9), MaxUseFractions{LUT: 1, LUTRAM: 0.9, FF: 0.8, BRAM: 0.5, URAM: 1, DSP: 0.7, Mean: 0.6}
		v.search(Goal{MaxUse: most})
		v.search(Goal{})
		for _, share := range []float64{0.72, 1} { // a fifth below the limit of one kind, and above it
			use := most
			*use.FractionPointerOf(r.IntN(goal.KindMemoryBytesPerFrame)) = share
			v.search(Goal{MaxUse: use})
		}
		interval := 1 + r.IntN(60)
		for m := ResourceMeasureLoad; m <= ResourceMeasureDSP; m++ {
			v.search(Goal{Interval: float64(interval), MaxUse: loose, Least: m})
		}
		v.search(Goal{MaxUse: most, Latency: true})
		v.search(Goal{FPS: 1e8 / (float64(interval) + 0.3), MaxUse: most, Latency: true})
		v.search(Goal{MaxCycles: interval})
		total.add(v)
	}
	total.enough(t)
}

// TestExhaustiveDepths does the same for FIFO depths that the user gives. Some of these deadlock.
func TestExhaustiveDepths(t *testing.T) {
	t.Parallel()
	total := rival{}
	for _, seed := range seeds(20) {
		fifo := FIFODepthPolicy{Words: []int{2, 3, 5, 20, 40}[seed%5]}
		v, r := net(t, 1000+seed, fifo)
		most := all(0.9)
		v.search(Goal{MaxUse: most, FIFO: fifo})
		interval := 1 + r.IntN(60)
		v.search(Goal{Interval: float64(interval), MaxUse: most, Least: ResourceMeasureLoad +
			ResourceMeasure(r.IntN(6)),
			FIFO: fifo})
		v.search(Goal{MaxUse: most, Latency: true, FIFO: fifo})
		total.add(v)
	}
	total.enough(t)
}

func (r *rival) add(v *rival) {
	r.asked, r.fitted, r.proved = r.asked+v.asked, r.fitted+v.fitted, r.proved+v.proved
}

// enough checks how many of the questions had an answer, and how many of these a proof.
func (r *rival) enough(t *testing.T) {
	if r.fitted < r.asked/5 || r.fitted > r.asked*9/10 || r.proved < r.fitted*9/10 {
		t.Errorf("of %d questions %d have an answer, %d a proof", r.asked, r.fitted, r.proved)
	}
	t.Logf("of %d questions %d have an answer, %d a proof", r.asked, r.fitted, r.proved)
}
