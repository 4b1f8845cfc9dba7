package rtlsim

import (
	"bytes"
	"math/rand/v2"
	"reflect"
	"testing"

	"hlsgen/internal/dataflow"
	"hlsgen/internal/testsupport/tier"
)

// TestDriftsOfGaps checks frames that are copied with a shift, for a layer that reads its words with gaps of any
// length between them, behind a deep FIFO and a slightly faster host. They equal frames that are run.
func TestDriftsOfGaps(t *testing.T) {
	t.Parallel()
	tier.NotQuick(t)
	moved := 0
	for seed := range uint64(1500) {
		rng := rand.New(rand.NewPCG(seed, 14))
		words, every := 2+rng.IntN(40), 1+rng.IntN(4)
		n := words*every + 1 + rng.IntN(12)
		reads, writes := bytes.Repeat([]byte{'0'}, n), bytes.Repeat([]byte{'0'}, n)
		for left := words; left > 0; {
			at, run := rng.IntN(n), 1+rng.IntN(left)
			for i := at; i < n && run > 0; i++ {
				if reads[i] == '0' {
					reads[i] = '1'
					left, run = left-1, run-1
				}
			}
		}
		writes[n-1] = '1'
		in := func(pattern []byte) []dataflow.PortMoveIndices {
			return []dataflow.PortMoveIndices{{{Kind: dataflow.IndexSetKindPattern, Pattern: string(pattern)}}}
		}
		loop := dataflow.LoopNest{Trips: []int{n}, Read: in(reads), Write: in(writes), Latency: 1 +
			rng.IntN(5)}.AsLoop()
		b := &net{t: t, perWord: 1}
		d := b.design(1, b.add("Gaps", loop, b.input(words))[0])
		d.FIFO[0].Depth = words * (1 + rng.IntN(60))
		d.Target.Backend = backends[seed%2]
		n, through := runsAlike(t, seed, d, Options{Frames: 40, In: HostSlowdown{Every: every}})
		if moved += n; !through {
			t.Fatalf("seed %d: frames do not come through", seed)
		}
	}
	if moved < 10000 {
		t.Errorf("%d frames were moved: the layers test too little", moved)
	}
}

// runsAlike runs a design twice, once with copied frames and once with every frame run, and fails if the results
// differ. It returns the number of copied frames, and whether all frames came through.
func runsAlike(t *testing.T, seed uint64, d *dataflow.Design, opt Options) (moved int, through bool) {
	p := newPlan(d)
	got, want := p.whole(d.FIFODepthsWords(), nil, opt), p.whole(d.FIFODepthsWords(), nil, opt)
	want.drift.over = true
	for f := range opt.Frames {
		if got.drift.left > 0 {
			moved++
		}
		come, err := got.pass(t.Context())
		also, wantErr := want.pass(t.Context())
		if come != also || err != nil || wantErr != nil {
			t.Fatalf("seed %d: frame %d comes through %t, where every one is run %t", seed, f, come, also)
		}
		if !come {
			return moved, false
		}
		if a, b := got.snapshot(nil), want.snapshot(nil); !reflect.DeepEqual(a, b) {
			t.Fatalf("seed %d, frame %d: %+v, where every one is run %+v", seed, f, a, b)
		}
	}
	if want.done() && !reflect.DeepEqual(got.finish(), want.finish()) {
		t.Fatalf("seed %d: %+v, where every frame is run %+v", seed, got.trace, want.trace)
	}
	return moved, true
}
