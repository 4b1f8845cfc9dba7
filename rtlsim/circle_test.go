package rtlsim

import (
	"math/rand/v2"
	"reflect"
	"slices"
	"testing"

	"hlsgen/internal/dataflow"
	"hlsgen/internal/testsupport/tier"
)

// TestLook compares look with a plain trial. They agree on whether the interval is kept. Where credits are counted,
// they agree on which FIFOs are full, too, so that no FIFO is deepened without need.
func TestLook(t *testing.T) {
	t.Parallel()
	tier.NotQuick(t)
	found, spared, missed := 0, 0, 0
	for seed := range uint64(300) {
		d := randomForks(t, rand.New(rand.NewPCG(seed, 5)))
		d.Target.Backend = backends[seed%2]
		z := sizerOf(t, d)
		l := z.look(nil, z.now)
		if again := z.try(nil, z.now); again.keeps != l.keeps || !slices.Equal(again.full, l.full) &&
			d.Target.Backend.Stalls == dataflow.StallByCredit {
			t.Fatalf("seed %d: looked at %+v, tried %+v", seed, l.tried, again)
		}
		if l.keeps {
			continue
		}
		if len(l.nodes) == 0 {
			missed++
			continue
		}
		found++
		if z.passes(membersOf(z.plan, l.nodes)) && d.Target.Backend.Stalls == dataflow.StallByCredit {
			t.Errorf("seed %d: %v alone keep the interval", seed, l.nodes)
		}
		for s := range d.FIFO {
			if slices.Contains(l.rooms, s) {
				continue
			}
			deeper := slices.Clone(z.now)
			deeper[s] = z.enough(s)
			if spared++; d.Target.Backend.Stalls == dataflow.StallByCredit && z.try(nil, deeper).keeps {
				t.Errorf("seed %d: s%d helps, of %v", seed, s, l.rooms)
			}
		}
	}
	if found < 60 || spared < 300 || missed > found/10 {
		t.Errorf("%d circles found, %d not, %d FIFOs spared: the networks test too little", found, missed, spared)
	}
}

// sizerOf returns a sizer that begins with the least depths that avoid deadlock.
func sizerOf(t *testing.T, d *dataflow.Design) *sizer {
	p := newPlan(d)
	z := &sizer{trials: &trials{plan: p, ctx: t.Context(), known: &RunCache{}, left: 1e9}, depths: newDepths(p,
		FIFOSizingOptions{each: 1}), blocks: p.split(), why: map[int][]bool{}}
	z.begin()
	z.interval = fastest(p, HostSlowdown{}, HostSlowdown{})
	return z
}

// TestSizeKnown checks that results remembered from other designs, or from the same one, change nothing but the
// time that sizing takes.
func TestSizeKnown(t *testing.T) {
	t.Parallel()
	tier.NotQuick(t)
	known := &RunCache{}
	for seed := range uint64(80) {
		d := randomForks(t, rand.New(rand.NewPCG(seed/4, 6)))
		d.Target.Backend = backends[seed%2]
		opt := FIFOSizingOptions{each: 4, Effort: 40000}
		alone := size(t, d, opt)
		opt.Cache = known
		if shared := size(t, d, opt); !reflect.DeepEqual(alone, shared) {
			t.Fatalf("seed %d: %+v, and %+v beside others", seed, alone, shared)
		}
	}
}

// TestLateness checks that a run is given up if it falls behind again and again, once in a certain number of
// frames. A run that ends up late by a constant is not given up.
func TestLateness(t *testing.T) {
	t.Parallel()
	for cycle := 1; cycle <= cycleMost; cycle++ {
		behind, settles := newLateness(100, 8), newLateness(100, 8)
		at := 0
		for f := 1; ; f++ {
			if behind.grows(100*f+7*(f/cycle), false) {
				at = f
				break
			}
			if f > 100 {
				break
			}
		}
		if at == 0 || at > 4*cycle+5 {
			t.Errorf("a cycle of %d frames is seen after %d", cycle, at)
		}
		for f := 1; f < 100; f++ {
			if settles.grows(100*f+7*min(f, 4), false) {
				t.Errorf("lateness that settles grows after %d frames", f)
				break
			}
		}
	}
}
