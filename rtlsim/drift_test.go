package rtlsim

import (
	"reflect"
	"slices"
	"testing"

	"hlsgen/internal/testsupport/tier"
)

// TestDrifts checks that frames that are copied with a shift equal frames that are run, and so does what they
// record. It uses random networks with FIFOs that take long to fill, with a host at full speed or a paced one, and
// windows of these networks.
func TestDrifts(t *testing.T) {
	t.Parallel()
	tier.NotQuick(t)
	const frames = 60
	moved := [4]int{} // runs by kind: both rules of stalls, a paced host, windows
	for seed := range uint64(301) {
		if seed == 300 {
			seed = 983 // a window whose first layer waits for its turn in the frame before the equal ones
		}
		d, rng := randomNet(t, seed, 11)
		p := newPlan(d)
		depth := d.FIFODepthsWords()
		for s := range depth {
			depth[s] = max(depth[s], p.ports[s].Words*rng.IntN(40))
		}
		slowest, _ := d.BottleneckInterval()
		members := p.window(rng.IntN(len(p.loops)), 1+rng.IntN(4))
		for kind := range moved {
			d.Target.Backend = backends[kind%2]
			p = newPlan(d)
			engineOf := func(every bool) *engine {
				if kind == 3 {
					e := p.part(members, depth, slowest, frames)
					e.drift.over = every
					return e
				}
				e := p.whole(depth, nil, Options{Frames: frames, Out: HostSlowdown{Every: int(seed % 3)}})
				e.drift.over = every
				e.keep(Options{Layers: 1 + int(seed)%80})
				if kind == 2 {
					e.sources[0].pace = slowest - slowest/8
				}
				return e
			}
			got, want := engineOf(false), engineOf(true)
			was := 0
			for f := range frames {
				left := got.drift.left
				through, err := got.pass(t.Context())
				also, wantErr := want.pass(t.Context())
				if through != also || err != nil || wantErr != nil {
					t.Fatalf("seed %d, %d: frame %d comes through %t, where every one is run %t", seed, kind, f,
						through, also)
				}
				if !through {
					break
				}
				if left > 0 && slices.ContainsFunc(got.streams, func(s *stream) bool {
					return got.drift.clocks[s.writer] != got.drift.clocks[s.reader]
				}) {
					was++
				}
				if a, b := got.snapshot(nil), want.snapshot(nil); !reflect.DeepEqual(a, b) {
					t.Fatalf("seed %d, %d, frame %d: %+v, where every one is run %+v\n%s", seed, kind, f, a, b,
						d.Model.Graph)
				}
			}
			if want.done() && !reflect.DeepEqual(got.finish(), want.finish()) {
				t.Fatalf("seed %d, %d: %+v, where every frame is run %+v\n%s", seed, kind, got.trace, want.trace,
					d.Model.Graph)
			}
			if was > 10 {
				moved[kind]++
			}
		}
	}
	if moved[0] < 60 || moved[1] < 60 || moved[2] < 40 || moved[3] < 4 {
		t.Errorf("%v runs of 300 each moved frames while a FIFO filled: the networks test too little", moved)
	}
}
