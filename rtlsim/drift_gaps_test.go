package rtlsim

import (
	"bytes"
	"math/rand/v2"
	"reflect"
	"testing"

	"hlsgen/internal/dataflow"
)

// Moved frames of a layer that reads its words with gaps of any length between them, behind a deep FIFO and a host that
// is a bit faster, are those that would be run.
func TestDriftsOfGaps(t *testing.T) {
	t.Parallel()
	const frames = 40
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
		in := func(pattern []byte) []dataflow.Access {
			return []dataflow.Access{{{Kind: dataflow.At, Pattern: string(pattern)}}}
		}
		loop := dataflow.Nest{Trips: []int{n}, Read: in(reads), Write: in(writes), Latency: 1 + rng.IntN(5)}.Loop()
		b := &net{t: t, perWord: 1}
		d := b.design(1, b.add("Gaps", loop, b.input(words))[0])
		d.FIFO[0].Depth = words * (1 + rng.IntN(60))
		d.Target.Stalls = dataflow.Stalls(seed % 2)
		p := newPlan(d)
		opt := Options{Frames: frames, In: Pace{Every: every}}
		got, want := p.whole(d.Depths(), nil, opt), p.whole(d.Depths(), nil, opt)
		want.drift.over = true
		for f := range frames {
			if got.drift.left > 0 {
				moved++
			}
			through, err := got.pass(t.Context())
			also, wantErr := want.pass(t.Context())
			if !through || !also || err != nil || wantErr != nil {
				t.Fatalf("seed %d: frame %d comes through %t, where every one is run %t", seed, f, through, also)
			}
			if a, b := got.snapshot(nil), want.snapshot(nil); !reflect.DeepEqual(a, b) {
				t.Fatalf("seed %d, frame %d: %+v, where every one is run %+v", seed, f, a, b)
			}
		}
		if !reflect.DeepEqual(got.finish(), want.finish()) {
			t.Fatalf("seed %d: %+v, where every frame is run %+v", seed, got.trace, want.trace)
		}
	}
	if moved < 10000 {
		t.Errorf("%d frames were moved: the layers test too little", moved)
	}
}
