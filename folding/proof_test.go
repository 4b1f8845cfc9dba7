package folding

import (
	"context"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"hlsgen/internal/dataflow"
	"hlsgen/internal/diag"
	"hlsgen/internal/tier"
)

// A proof says what became of every option.
func TestProof(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(17, 3))
	seen := map[string]bool{}
	for range 300 {
		m, b := randomNet(r, 1+r.IntN(5), 6), tight(r)
		res, _ := run(t, m, b, Goal{})
		if res == nil || res.Proof.Below == nil {
			continue
		}
		p := res.Proof
		n := p.Below.TooSlow + p.Below.Dominated + p.Below.Unjoined + p.Below.Together + p.Below.Compared
		for k, a := range p.Below.Alone {
			n += a
			if a > 0 {
				seen[names[k]] = true
			}
		}
		if n != p.Options-p.Unavailable || p.Below.Interval >= res.Interval {
			t.Errorf("%+v of %+v", p.Below, p)
		}
		for k, n := range map[string]int{"dominated": p.Below.Dominated, "together": p.Below.Together, "compared": p.Below.Compared, "without a width": p.Below.Unjoined} {
			if n > 0 {
				seen[k] = true
			}
			if strings.Contains(p.String(), k) != (n > 0) {
				t.Errorf("%+v: %s", p.Below, &p)
			}
		}
	}
	for _, k := range append(names[:], "dominated", "together", "compared") {
		if !seen[k] {
			t.Errorf("no option is %s", k)
		}
	}
}

func TestProofString(t *testing.T) {
	t.Parallel()
	b := board("pynq-z1")
	b.LUT, b.BRAM36, b.DSP = 1300, 4, 20
	all := Use{1, 1, 1, 1, 1}
	for _, c := range []struct {
		goal Goal
		want string
	}{
		{Goal{MaxUse: all}, `no folding of these layers within the budget takes fewer than 5 clocks per frame: at 3 clocks, of 7 options 5 too slow, 2 excluded by LUT
load 92.308 % of the budget, the least there is
1200 LUT, the least there is`},
		{Goal{MaxUse: all, FPS: 1e6, Least: LeastBRAM}, "0 RAMB18, the least there is\nload 34.615 % of the budget, the least there is\n450 LUT, the least there is"},
		{Goal{MaxUse: all, Latency: true}, "latency 3 clocks, the least there is"},
	} {
		res, d := run(t, twoLayers(), b, c.goal)
		if res == nil || res.Proof.String() != c.want {
			t.Errorf("%+v: got\n%s\nwant\n%s\n%v", c.goal, &res.Proof, c.want, d.Diags)
		}
	}
	p := Proof{Interval: 90, Floor: 60, Bounds: []Bound{{LeastLoad, 0.5, 0.4}, {LeastLUT, 110, 100}}, Latency: &Latency{300, 200}}
	want := `90 clocks per frame found, none below 60 possible
load 50.000 % of the budget, at most 25.00 % above the least there is (no less than 40.000 %)
110 LUT, at most 10.00 % above the least there is (no less than 100)
latency 300 clocks, at most 50.00 % above the least there is (no less than 200)`
	if p.Exact() || p.String() != want {
		t.Errorf("got\n%s\nwant\n%s", &p, want)
	}
}

// A search that is cut short ends soon, with a folding that fits and true bounds of the best one.
func TestSearchTime(t *testing.T) {
	t.Parallel()
	tier.NotQuick(t)
	m := uNet(3, 2, 8)
	target := dataflow.Target{Board: board("zcu104"), ClockMHz: 200}
	var d diag.List
	full := must(Search(context.Background(), m, target, Goal{}, &d))
	for _, allowed := range []time.Duration{time.Nanosecond, 50 * time.Millisecond} {
		got := must(Search(context.Background(), m, target, Goal{SearchTime: allowed}, &d))
		if got == nil || !got.Total.Within(Budget(target.Board, Use{})) {
			t.Fatalf("%v: %+v, %v", allowed, got, d.Diags)
		}
		if allowed == time.Nanosecond && (!got.Proof.Cut || got.Proof.Exact()) {
			t.Errorf("%v: %s", allowed, &got.Proof)
		}
		if got.Proof.Floor > full.Interval || got.Interval < full.Proof.Floor {
			t.Errorf("%v: %s, with more time %s", allowed, &got.Proof, &full.Proof)
		}
	}
	for _, goal := range []Goal{{SearchTime: -1}, {Least: LeastDSP + 1}} {
		if _, err := Search(context.Background(), m, target, goal, &d); err == nil {
			t.Errorf("%+v is taken", goal)
		}
	}
}

// A front may be thinned out: its ends stay, and what lies between is worth choosing.
func TestParetoMost(t *testing.T) {
	t.Parallel()
	m := mlp(rand.New(rand.NewPCG(2, 2)), uint2, 2, 2, 96, 24, 24, 10)
	target := dataflow.Target{Board: board("pynq-z1"), ClockMHz: 100}
	var d diag.List
	whole, all, err := Pareto(context.Background(), m, target, Goal{}, 0, &d)
	if err != nil || !all || len(whole) < 10 {
		t.Fatal(len(whole), all, err, d.Diags)
	}
	part, all, err := Pareto(context.Background(), m, target, Goal{}, 6, &d)
	if err != nil || all || len(part) != 6 {
		t.Fatal(len(part), all, err, d.Diags)
	}
	if part[0].Interval != whole[0].Interval || part[5].Interval != whole[len(whole)-1].Interval {
		t.Errorf("from %d to %d clocks, want %d to %d", part[0].Interval, part[5].Interval, whole[0].Interval, whole[len(whole)-1].Interval)
	}
	points := map[string]bool{}
	for i, r := range whole {
		points[fmt.Sprint(r.Interval, r.Total)] = true
		if i > 0 && (r.Interval <= whole[i-1].Interval || r.Proof.Bounds[0].Value >= whole[i-1].Proof.Bounds[0].Value) {
			t.Errorf("%d clocks for a load of %v after %d for %v", r.Interval, r.Proof.Bounds[0].Value, whole[i-1].Interval, whole[i-1].Proof.Bounds[0].Value)
		}
	}
	for _, r := range part {
		if !points[fmt.Sprint(r.Interval, r.Total)] {
			t.Errorf("%d clocks, %v is not on the front", r.Interval, r.Total)
		}
	}
	if _, _, err := Pareto(context.Background(), m, target, Goal{MaxCycles: 9}, 0, &d); err == nil {
		t.Error("a front without a budget")
	}
}
