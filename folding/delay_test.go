package folding

import (
	"context"
	"math/rand/v2"
	"slices"
	"testing"

	"hlsgen/internal/dataflow"
	"hlsgen/rtlsim"
)

// randomRuns is a loop of one to three levels.
func randomRuns(r *rand.Rand, depth int) []dataflow.Run {
	var runs []dataflow.Run
	for range 1 + r.IntN(3) {
		if depth > 0 && r.IntN(2) == 0 {
			runs = append(runs, dataflow.Run{Times: 1 + r.IntN(4), Body: randomRuns(r, depth-1)})
			continue
		}
		runs = append(runs, dataflow.Run{Times: 1 + r.IntN(4), Moves: dataflow.Moves{Read: uint64(r.IntN(4)), Write: uint64(r.IntN(2))}})
	}
	return runs
}

// reads agrees with a walk through the iterations.
func TestReads(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(1, 6))
	for range 2000 {
		l := dataflow.Loop{Body: randomRuns(r, 2), Latency: 1}
		n := 1 + r.IntN(l.Iterations())
		for p := range 2 {
			words, first, last := 0, 0, n-1
			for i := range n {
				if l.At(i).Read>>p&1 != 0 {
					if words == 0 {
						first = i
					}
					words, last = words+1, i
				}
			}
			if w, f, g := reads(l.Body, p, n); w != words || f != first || g != last {
				t.Fatalf("%+v, first %d iterations, port %d: %d words from %d to %d, want %d from %d to %d", l.Body, n, p, w, f, g, words, first, last)
			}
		}
	}
}

// The estimate grows with the spans of the inputs, and a delay that is within another gives no later spans: what the
// search for the shortest latency rests on.
func TestDelayMonotone(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(9, 1))
	random := func() delay {
		for {
			l := dataflow.Loop{Body: randomRuns(r, 2), Latency: 1 + r.IntN(3)}
			if l.Reads(0) > 0 && l.Reads(1) > 0 && l.Writes(0) > 0 {
				return newDelay(l, 2, 1)
			}
		}
	}
	compared := 0
	for range 20000 {
		d, o := random(), random()
		early, late := make([]span, 2), make([]span, 2)
		for i := range early {
			early[i].first = r.IntN(20)
			early[i].last = early[i].first + d.words[i] - 1 + r.IntN(20)
			late[i].first = early[i].first + r.IntN(3)
			late[i].last = max(late[i].first+d.words[i]-1, early[i].last+r.IntN(3))
		}
		a, b := d.through(early)[0], d.through(late)[0]
		if a.first > b.first || a.last > b.last {
			t.Fatalf("%+v: %v gives %v, %v gives %v", d, early, a, late, b)
		}
		if !d.within(&o) {
			continue
		}
		compared++
		if b := o.through(early)[0]; a.first > b.first || a.last > b.last {
			t.Fatalf("%+v gives %v of %v, %+v gives %v", d, a, early, o, b)
		}
	}
	if compared < 100 {
		t.Errorf("%d comparable delays", compared)
	}
}

// On single layers the estimate is the simulated latency; on networks with deep FIFOs it is near.
func TestEstimateLatency(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(2, 7))
	for _, c := range []struct {
		name  string
		m     *dataflow.Model
		exact bool
	}{
		{"one layer", mlp(r, uint2, 2, 2, 24, 12), true},
		{"four layers", mlp(r, uint2, 2, 2, 48, 24, 16, 12, 10), false},
		{"resnet", resNet(2, 8), false},
		{"unet", uNet(1, 1, 4), false},
	} {
		for _, goal := range []Goal{{}, {FPS: 2000}, {Latency: true}} {
			res, _ := run(t, c.m, board("zcu104"), goal)
			d := *res.Design
			d.FIFO = slices.Repeat(dataflow.ShiftRegisters(1<<16), len(d.FIFO))
			trace, err := rtlsim.Run(context.Background(), &d, nil, rtlsim.Options{Frames: 1})
			if err != nil {
				t.Fatal(err)
			}
			got, want := res.Latency, trace.Latency()
			if c.exact && got != want || 10*got < 8*want || 10*got > 12*want {
				t.Errorf("%s, %+v: %d clocks, simulated %d", c.name, goal, got, want)
			}
		}
	}
}
