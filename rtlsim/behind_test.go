package rtlsim

import (
	"math"
	"math/rand/v2"
	"testing"

	"hlsgen/internal/testsupport/tier"
)

// TestBehind checks windows that are seen to fall behind within few frames. They fall behind for ever: the last of
// many frames still come slower than the wanted interval.
func TestBehind(t *testing.T) {
	t.Parallel()
	tier.NotQuick(t)
	var found, after int
	for seed := range uint64(1500) {
		rng := rand.New(rand.NewPCG(seed, 31))
		d := randomForks(t, rng)
		switch seed % 4 {
		case 0:
			d = skips(t, 2+rng.IntN(3), 20+rng.IntN(20), 10+rng.IntN(10))
		case 1:
			d, _ = longNet(t, seed, 31, 5)
		}
		d.Target.Backend = backends[seed/4%2]
		p := newPlan(d)
		z := &trials{plan: p, ctx: t.Context(), left: math.MaxInt}
		z.interval = fastest(p, HostSlowdown{}, HostSlowdown{}) + rng.IntN(4)
		depth := make([]int, len(p.ports))
		for s := range depth {
			if depth[s] = MinFIFODepth; rng.IntN(3) == 0 {
				depth[s] = z.enough(s)
			}
		}
		members := p.window(rng.IntN(len(p.loops)), 1+rng.IntN(4))
		e := z.part(members, depth, z.interval, 64)
		if z.keepsInterval(e) || e.cut || !e.done() || e.goal > newLateness(z.interval, e.frames).settled {
			continue
		}
		const last, far = 50, 400
		long := z.part(members, depth, z.interval, far)
		long.drift.over = true
		clock := make([]int, 0, far)
		for range far {
			if through, err := long.pass(t.Context()); err != nil || !through {
				t.Fatalf("seed %d: frame %d: through %t, %v", seed, long.goal, through, err)
			}
			clock = append(clock, long.clock())
		}
		if took := clock[far-1] - clock[far-1-last]; took <= last*z.interval {
			t.Errorf("seed %d: behind after %d frames, but %d later ones take %d clocks for %d", seed, e.goal, last,
				took, last*z.interval)
		}
		found++
		after += e.goal
	}
	t.Logf("%d after %d frames", found, after)
	if found < 250 || after > 4*found {
		t.Errorf("%d after %d frames: too few, or too late", found, after)
	}
}
