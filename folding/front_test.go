package folding

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"hlsgen/internal/dataflow"
	"hlsgen/internal/diag"
	"hlsgen/internal/testsupport/tier"
)

// front checks the front against the enumeration: every point that no other beats, in order, and no other point.
func (r *rival) front(wanted Goal) (points int) {
	r.Helper()
	var d diag.List
	s := must(NewSpace(r.m, r.target, nil, FIFODepthPolicy{}, &d))
	if s == nil {
		return 0
	}
	got, whole, err := s.FindParetoFront(r.Context(), wanted, 0, &d, nil)
	if err != nil {
		r.Fatal(err)
	}
	budget := BudgetOfBoard(r.target.Board, wanted.MaxUse)
	value := func(p figures) float64 {
		v := measure(wanted.Least, &budget, p.cost)
		if p.few && wanted.Least == ResourceMeasureLoad {
			v += 100 // a load is a share
		}
		return v
	}
	list := r.allowed(wanted)
	slices.SortFunc(list, func(a, b figures) int {
		if a.interval != b.interval {
			return int(math.Ceil(a.interval - b.interval))
		}
		return int(math.Copysign(1, value(a)-value(b)))
	})
	var want, is []string
	for last := math.Inf(1); len(list) > 0; list = list[1:] {
		if v := value(list[0]); v < last-rounding {
			want, last = append(want, fmt.Sprintf("%v: %.4f", list[0].interval, v)), v
		}
	}
	for _, g := range got {
		is = append(is, fmt.Sprintf("%v: %.4f", g.Clocks.Interval, value(figures{cost: g.Estimate.Total,
			few: s.Few && !g.Certificate.Spares})))
		next := wanted
		next.FPS, next.Interval = 0, math.Ceil(g.Clocks.Interval)
		if again := r.make(next); !sameDesign(again, g) {
			r.Errorf("%s, %+v: %s, asked for %v with %+v", r.name, wanted, is[len(is)-1], again.Clocks.Interval,
				again.Estimate.Total)
		}
	}
	if !slices.Equal(is, want) || !whole && len(want) > 0 {
		r.Errorf("%s, %+v:\ngot  %v, whole %t\nwant %v", r.name, wanted, is, whole, want)
	}
	return len(is)
}

// TestFront checks on small networks that the front is that of all designs, and that asking for a point gives that
// point.
func TestFront(t *testing.T) {
	t.Parallel()
	tier.NotQuick(t)
	points := 0
	for _, seed := range seeds(40) {
		v, r := net(t, 5000+seed, FIFODepthPolicy{})
		points += v.front(Goal{MaxUse: all(0.9)})
		points += v.front(Goal{MaxUse: all(0.9), Interval: float64(1 + r.IntN(60)),
			Least: ResourceMeasureLoad + ResourceMeasure(r.IntN(6))})
	}
	if points < 20 {
		t.Errorf("%d points", points)
	}
}

// TestFrontMost checks that a thinned front keeps its ends, and that its other points are on the whole front.
func TestFrontMost(t *testing.T) {
	t.Parallel()
	m := mlp(rand.New(rand.NewPCG(2, 2)), uint2, 2, 2, 96, 24, 24, 10)
	target := dataflow.Target{Board: board("pynq-z1"), ClockMHz: 100}
	var d diag.List
	s := must(NewSpace(m, target, nil, FIFODepthPolicy{}, &d))
	full, all, err := s.FindParetoFront(t.Context(), Goal{}, 0, &d, nil)
	if err != nil || !all || len(full) < 10 {
		t.Fatal(len(full), all, err, d.Diags)
	}
	var told []int
	part, all, err := s.FindParetoFront(t.Context(), Goal{}, 6, &d, func(n int) { told = append(told, n) })
	if err != nil || all || len(part) != 6 || !slices.IsSorted(told) {
		t.Fatal(len(part), all, err, told, d.Diags)
	}
	if !sameDesign(part[0], full[0]) || !sameDesign(part[5], full[len(full)-1]) {
		t.Errorf("from %v to %v clocks, want %v to %v", part[0].Clocks.Interval, part[5].Clocks.Interval,
			full[0].Clocks.Interval, full[len(full)-1].Clocks.Interval)
	}
	for i, p := range full {
		if i > 0 && (p.Clocks.Interval <= full[i-1].Clocks.Interval ||
			p.Certificate.Bounds[0].Value >= full[i-1].Certificate.Bounds[0].Value) {
			t.Errorf("%v clocks after %v do not take less", p.Clocks.Interval, full[i-1].Clocks.Interval)
		}
	}
	for _, p := range part {
		if !slices.ContainsFunc(full, func(q *Design) bool { return sameDesign(p, q) }) {
			t.Errorf("%v clocks are not on the whole front", p.Clocks.Interval)
		}
	}
}

// TestBound checks that no design goes below a bound, and that a smaller budget gives no shorter interval.
func TestBound(t *testing.T) {
	t.Parallel()
	tier.NotQuick(t)
	reached, bounded := 0, 0
	for _, seed := range seeds(40) {
		v, r := net(t, 6000+seed, FIFODepthPolicy{})
		var d diag.List
		s := must(NewSpace(v.m, v.target, nil, FIFODepthPolicy{}, &d))
		if s == nil {
			continue
		}
		wanted := Goal{MaxUse: all(0.9), Least: ResourceMeasureLoad + ResourceMeasure(r.IntN(6))}
		budget := BudgetOfBoard(v.target.Board, wanted.MaxUse)
		for _, interval := range []int{0, 5, 12, 20, 48, 1000} {
			wanted.Interval = float64(interval)
			b, err := s.ComputeDesignBounds(t.Context(), wanted)
			if err != nil {
				t.Fatal(err)
			}
			for _, p := range v.allowed(wanted) {
				if b.Interval == 0 || interval == 0 && p.interval < float64(b.Interval) || interval > 0 &&
					measure(wanted.Least, &budget, p.cost) < b.Measure-rounding {
					t.Fatalf("%s, %+v: %+v, but there is %+v", v.name, wanted, b, p)
				}
			}
			if b.Interval == 0 {
				continue
			}
			if bounded++; b.FPS != SamplesPerSecondForInterval(100, float64(b.Interval), 1) || interval > 0 &&
				b.Interval != interval {
				t.Errorf("%s, %+v: %+v", v.name, wanted, b)
			}
			if d := v.make(wanted); d != nil && near(measure(wanted.Least, &budget, d.Estimate.Total), b.Measure) {
				reached++
			}
		}
		tighter := 0
		for _, use := range []float64{1, 0.8, 0.6, 0.4, 0.2} {
			b, err := s.ComputeDesignBounds(t.Context(), Goal{MaxUse: all(use)})
			if err != nil || b.Interval > 0 && b.Interval < tighter {
				t.Errorf("%s: %+v of %v, with more %d clocks, %v", v.name, b, use, tighter, err)
			}
			tighter = max(tighter, b.Interval)
			if b.Interval == 0 {
				tighter = math.MaxInt // nothing fits
			}
		}
	}
	if bounded < 40 || reached < bounded/4 {
		t.Errorf("%d bounds, %d are reached", bounded, reached)
	}
}
