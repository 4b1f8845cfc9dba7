package folding

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"hlsgen/folding/goal"
	"hlsgen/internal/dataflow"
	"hlsgen/internal/testsupport/tier"
)

// TestPrintedIsMet asks for the printed interval and rate of a design, and for both with the shortest latency: the new
// design must be as fast. If frames come at uneven distances, intervals are fractions.
func TestPrintedIsMet(t *testing.T) {
	t.Parallel()
	tier.NotQuick(t)
	nets := 14
	if tier.Long() {
		nets = 500
	}
	fractions := 0
	const first = 10 // some of the next networks have frames at uneven distances
	for seed := uint64(first); seed < first+uint64(nets); seed++ {
		r := rand.New(rand.NewPCG(seed, 3612))
		m := randomNet(r, 2+r.IntN(5), 4)
		var fifo FIFODepthPolicy
		if seed%2 == 0 {
			m = mlp(r, int8Type, 1+r.IntN(8), 1+r.IntN(8), 4+r.IntN(28), 3+r.IntN(13), 2+r.IntN(10), 1+r.IntN(10))
			fifo.Words = 1 + r.IntN(4) // too few for a word in every clock
		}
		target := dataflow.Target{Board: board("zcu104"), ClockMHz: 100 + 50*float64(r.IntN(5)),
			IO:      dataflow.HostIO(r.IntN(2)),
			Backend: []dataflow.Backend{dataflow.BackendHLS, dataflow.BackendRTL}[seed/2%2]}
		d, _ := designed(t, m, target, Goal{FIFO: fifo})
		if d == nil {
			continue
		}
		if d.Clocks.Interval != math.Trunc(d.Clocks.Interval) {
			fractions++
		}
		for _, wanted := range []Goal{{Interval: d.Clocks.Interval}, {FPS: d.SamplesPerSecond()},
			{Interval: d.Clocks.Interval, Latency: true}, {FPS: d.SamplesPerSecond(), Latency: true}} {
			wanted.FIFO = fifo
			other, told := designed(t, m, target, wanted)
			how := fmt.Sprintf("seed %d, %v clocks, asked for as %v clocks, %v a second, latency %v", seed,
				d.Clocks.Interval, wanted.Interval, wanted.FPS, wanted.Latency)
			if other == nil {
				t.Errorf("%s: %s", how, text(told))
				continue
			}
			if !goal.IntervalMeetsLimit(other.Clocks.Interval, wanted.MaxIntervalClocks(target.ClockMHz, 1)) {
				t.Errorf("%s: %v clocks", how, other.Clocks.Interval)
			}
		}
	}
	if t.Logf("%d of %d intervals are fractions", fractions, nets); fractions == 0 {
		t.Error("no interval is a fraction")
	}
}
