package folding

import (
	"fmt"
	"math/rand/v2"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/dustin/go-humanize"

	"hlsgen/folding/goal"
	"hlsgen/internal/dataflow"
	"hlsgen/internal/testsupport/tier"
)

// TestCures applies the cures of bottlenecks, for random networks and goals of all kinds. The new design must have the
// rate that the cure names. Flags that were tried in vain must give no faster design.
func TestCures(t *testing.T) {
	t.Parallel()
	tier.NotQuick(t)
	nets := 24
	if tier.Long() {
		nets = 500
	}
	said := map[string]int{}
	for seed := range uint64(nets) {
		r := rand.New(rand.NewPCG(seed, 3613))
		m := randomNet(r, 2+r.IntN(5), 4)
		if seed%2 == 0 {
			m = mlp(r, int8Type, 1+r.IntN(8), 1+r.IntN(8), 4+r.IntN(28), 3+r.IntN(13), 2+r.IntN(10), 1+r.IntN(10))
		}
		target := dataflow.Target{Board: board("zcu104"), ClockMHz: 100 + 50*float64(r.IntN(3)),
			IO:      dataflow.HostIO(r.IntN(2)),
			Backend: []dataflow.Backend{dataflow.BackendHLS, dataflow.BackendRTL}[seed/2%2]}
		wanted := []Goal{{}, {Interval: float64(1 + r.IntN(500))}, {FPS: float64(1000 * (1 + r.IntN(500)))},
			{Latency: true}, {FIFO: FIFODepthPolicy{Words: 1 + r.IntN(3)}},
			{MaxUse: goal.NewUniformMaxUse(.04)}}[seed%6]
		if r.IntN(3) == 0 {
			target.Unroll = dataflow.UnrollLimits{Wide: 4, Few: 4, One: 4}
		}
		cured := wanted
		cured.Cure = true
		d, _ := designed(t, m, target, cured)
		if d == nil {
			continue
		}
		b := d.Bottleneck
		flags, rate, found := strings.Cut(b.Cure, " gives ")
		if found {
			b.Tried = append(b.Tried, flags)
			number, _, _ := strings.Cut(rate, " ")
			rate = number
		}
		for _, flags := range b.Tried {
			target, wanted := flagged(t, target, wanted, flags)
			for flag := range strings.FieldsSeq(flags) {
				said[flag]++
			}
			other, told := designed(t, m, target, wanted)
			how := fmt.Sprintf("seed %d, %v frames/s; %s", seed, d.SamplesPerSecond(), b.DescribeInOneLine())
			switch {
			case found && flags == b.Tried[len(b.Tried)-1]:
				if other == nil || humanize.Commaf(other.SamplesPerSecond()) != rate ||
					other.SamplesPerSecond() <= d.SamplesPerSecond() {
					t.Errorf("%s: %s comes to %v, %s", how, flags, other, text(told))
				}
			case other != nil && other.SamplesPerSecond() > d.SamplesPerSecond():
				t.Errorf("%s: %s is faster: %v", how, flags, other.SamplesPerSecond())
			}
		}
	}
	t.Log(said)
	for _, flag := range []string{"--interval", "--io", "--max-unroll", "--max-use", "--clock", "--latency", "--fifo"} {
		if said[flag] == 0 {
			t.Errorf("%s is in no cure", flag)
		}
	}
}

// flagged returns a target and a goal with the flags of a cure applied.
func flagged(t *testing.T, target dataflow.Target, wanted Goal, flags string) (dataflow.Target, Goal) {
	t.Helper()
	for flag := range strings.SplitSeq(regexp.MustCompile(` *(instead of|without) `).ReplaceAllString(flags, " !"),
		" -") {
		for flag := range strings.SplitSeq(flag, " !") {
			name, value, _ := strings.Cut(strings.TrimLeft(flag, "-!"), " ")
			switch name {
			case "":
			case "interval":
				wanted.FPS, wanted.Interval = 0, must(strconv.ParseFloat(value, 64))
			case "fps": // the interval stands for it
			case "latency":
				wanted.Latency = false
			case "io":
				target.IO = dataflow.HostIOStream
			case "max-unroll":
				target.Unroll = must(ParseUnrollLimits(value))
			case "max-use":
				wanted.MaxUse = must(ParseMaxUseFractions(value))
			case "clock":
				target.ClockMHz = must(strconv.ParseFloat(value, 64))
			case "fifo":
				wanted.FIFO = FIFODepthPolicy{}
			default:
				t.Fatalf("the cure %q has %q", flags, flag)
			}
		}
	}
	return target, wanted
}
