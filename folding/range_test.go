package folding

import (
	"math/rand/v2"
	"testing"

	"hlsgen/internal/dataflow"
	"hlsgen/internal/testsupport/tier"
)

// TestRange checks that the figures of a design lie in the ranges printed with them, lower ends first, at any interval.
func TestRange(t *testing.T) {
	t.Parallel()
	tier.NotQuick(t)
	builds := 60
	if tier.Long() {
		builds = 600
	}
	r := rand.New(rand.NewPCG(36, 11))
	made, moved := 0, 0
	for made < builds && !t.Failed() {
		m := randomLarge(r, 3+r.IntN(4))
		target := dataflow.Target{Board: board("zcu104"), ClockMHz: 200}
		for range 4 {
			wanted := Goal{MaxCycles: 64 << r.IntN(8)}
			wanted.MaxCycles += r.IntN(wanted.MaxCycles)
			d, _ := designed(t, m, target, wanted)
			if d == nil {
				continue
			}
			if err := d.SimulateAndStoreLatencyRange(t.Context()); err != nil {
				t.Fatal(err)
			}
			made++
			c := d.Clocks
			if c.Least == nil {
				t.Fatal("no range")
			}
			if c.Least.Interval > c.Interval || c.Interval > c.Most.Interval && c.Most.Interval > 0 ||
				c.Least.Latency > c.Latency || c.Latency > c.Most.Latency {
				t.Errorf("%+v is not between %+v and %+v", c.IntervalAndLatency, *c.Least, *c.Most)
			}
			if c.Least.Interval != c.Most.Interval {
				moved++
			}
		}
	}
	t.Logf("%d builds, %d with a range of intervals", made, moved)
}
