package rtlsim

import (
	"reflect"
	"testing"

	"hlsgen/internal/dataflow"
	"hlsgen/internal/testsupport/tier"
)

// TestRepeats checks that skipping repetitions within a frame changes nothing. It compares long frames with runs
// that move every word.
func TestRepeats(t *testing.T) {
	t.Parallel()
	tier.NotQuick(t)
	short := 0
	for seed := range uint64(150) {
		d, _ := longNet(t, seed, 9, 40)
		for i, opt := range []Options{{}, {In: HostSlowdown{Every: 3}}, {Out: HostSlowdown{Every: 2}}, {}} {
			d.Target.Backend = backends[i/3]
			opt.Frames = 2
			got, sweeps, err := throughAll(t, d, opt, false)
			want, all, wantErr := throughAll(t, d, opt, true)
			if !reflect.DeepEqual(err, wantErr) || !reflect.DeepEqual(got, want) {
				t.Fatalf("seed %d, %+v: %+v, %v; where every word is moved %+v, %v\n%s", seed, opt, got, err, want,
					wantErr, d.Model.Graph)
			}
			if err == nil && sweeps < all/8 {
				short++
			}
		}
	}
	if short < 150 {
		t.Errorf("%d of 600 runs took few sweeps: the networks test too little", short)
	}
}

// throughAll runs frames without looking for a steady state. It returns the number of sweeps, too.
func throughAll(t *testing.T, d *dataflow.Design, opt Options, every bool) (trace *RunTrace, sweeps int, err error) {
	e := newPlan(d).whole(d.FIFODepthsWords(), nil, opt)
	for e.goal < e.frames {
		e.goal++
		e.stretch.begin(e)
		err := e.agenda.run(t.Context(), e.tasks, visitor(e), func() {
			if sweeps++; !every {
				e.repeat()
			}
		})
		if err != nil {
			t.Fatal(err)
		}
		if !e.done() {
			return nil, 0, e.deadlock(t.Context())
		}
	}
	return e.finish(), sweeps, nil
}

// TestWindowsRepeat checks the same for windows, whose first layers are paced.
func TestWindowsRepeat(t *testing.T) {
	t.Parallel()
	for seed := range uint64(150) {
		d, rng := longNet(t, seed, 10, 30)
		d.Target.Backend = backends[seed%2]
		p := newPlan(d)
		depth := d.FIFODepthsWords()
		for s := range depth {
			if rng.IntN(4) == 0 {
				depth[s] = 1 << rng.IntN(12)
			}
		}
		slowest, _ := d.BottleneckInterval()
		members := p.window(rng.IntN(len(p.loops)), 1+rng.IntN(4))
		const frames = 4
		got, want := p.part(members, depth, slowest, frames), p.part(members, depth, slowest, frames)
		want.stretch.over = true
		for f := range frames {
			through, err := got.pass(t.Context())
			also, wantErr := want.pass(t.Context())
			if through != also || err != nil || wantErr != nil {
				t.Fatalf("seed %d: frame %d comes through %t, where every word is moved %t", seed, f, through, also)
			}
			if !through {
				break
			}
			if !reflect.DeepEqual(got.snapshot(nil), want.snapshot(nil)) {
				t.Fatalf("seed %d, frame %d: %+v, where every word is moved %+v\n%s", seed, f, got.snapshot(nil),
					want.snapshot(nil), d.Model.Graph)
			}
		}
		for i, s := range want.streams {
			if high := got.streams[i].high; high != s.high {
				t.Errorf("seed %d: stream %d holds %d words, where every word is moved %d", seed, s.id, high, s.high)
			}
		}
	}
}
