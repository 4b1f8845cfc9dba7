package rtlsim

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"hlsgen/internal/testsupport/tier"
)

// TestSettled checks that frames which are known to have settled really are copies for ever. Without this shortcut,
// the same state comes back in the end, at the same pace, and the FIFOs hold as many words.
func TestSettled(t *testing.T) {
	t.Parallel()
	tier.NotQuick(t)
	early, frames := 0, 0
	for seed := range uint64(120) {
		rng := rand.New(rand.NewPCG(seed, 30))
		d := skips(t, 6+rng.IntN(5), 80+rng.IntN(40), 40+rng.IntN(40))
		if seed%3 == 0 {
			d = randomForks(t, rng)
		}
		d.Target.Backend = backends[seed/3%2]
		p := newPlan(d)
		z := &trials{plan: p, ctx: t.Context(), left: math.MaxInt}
		z.interval = fastest(z.plan, HostSlowdown{}, HostSlowdown{})
		depth := make([]int, len(p.ports))
		for s := range depth {
			// Some depths just suffice, and some do not.
			if depth[s] = z.enough(s); rng.IntN(60) == 0 {
				depth[s] = 2 + rng.IntN(2*p.ports[s].Words)
			}
		}
		with := z.paced(depth, 500)
		with.drift.over = seed%2 == 0
		keeps := z.keepsInterval(with)
		if with.trace.Period.Frames > 0 || !keeps {
			continue
		}
		if with.cut {
			t.Errorf("seed %d: cut", seed)
		}
		early++
		e := z.paced(depth, 500)
		for {
			if through, err := e.pass(z.ctx); err != nil || !through || e.goal == e.frames {
				t.Fatalf("seed %d: frame %d: through %t, %v", seed, e.goal, through, err)
			}
			if e.recur() {
				break
			}
		}
		frames += e.goal - with.goal
		if want := (SteadyState{1, with.drift.clocks[0]}); e.trace.Period != want {
			t.Errorf("seed %d: %v, want %v", seed, e.trace.Period, want)
		}
		high := func(e *engine) []int { return ran(e, true).high }
		if got, want := high(with), high(e); !slices.Equal(got, want) {
			t.Errorf("seed %d: FIFOs hold %v, want %v", seed, got, want)
		}
	}
	if t.Logf("%d settled, %d frames sooner", early, frames); early < 30 || frames < early {
		t.Errorf("%d settled, %d frames sooner than a state comes back: too few", early, frames)
	}
}

// TestCut checks that a trial which ends at a limit is told apart from a trial which falls behind or deadlocks.
func TestCut(t *testing.T) {
	t.Parallel()
	d := skips(t, 8, 100, 60)
	z := &trials{plan: newPlan(d), ctx: t.Context(), known: &RunCache{}, left: math.MaxInt}
	z.interval = fastest(z.plan, HostSlowdown{}, HostSlowdown{})
	roomy := make([]int, len(z.ports))
	for s := range roomy {
		roomy[s] = z.enough(s)
	}
	least := size(t, d, FIFOSizingOptions{Minimal: true}).Words
	for _, c := range []struct {
		name       string
		depth      []int
		frames     int
		left       int
		keeps, cut bool
	}{
		{"long enough", roomy, 20, math.MaxInt, true, false},
		{"too few frames", roomy, 2, math.MaxInt, false, true},
		{"too few words", roomy, 20, 1, false, true},
		{"behind", least, 20, math.MaxInt, false, false},
		{"stuck", slices.Repeat([]int{MinFIFODepth}, len(roomy)), 20, math.MaxInt, false, false},
	} {
		z.left = c.left
		e := z.paced(c.depth, c.frames)
		if got := ran(e, z.keepsInterval(e)); got.keeps != c.keeps || got.cut != c.cut {
			t.Errorf("%s: keeps %t, cut %t", c.name, got.keeps, got.cut)
		}
	}
}
