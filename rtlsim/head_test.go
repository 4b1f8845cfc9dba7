package rtlsim

import (
	"bytes"
	"errors"
	"math/rand/v2"
	"reflect"
	"slices"
	"testing"

	"hlsgen/internal/dataflow"
	"hlsgen/internal/testsupport/tier"
)

// TestHeads compares the recorded first frames of a run with a plain walk over them, clock by clock. They are equal
// whether frames are run, copied while a FIFO fills, or skipped in rows or periods, and wherever the record ends.
func TestHeads(t *testing.T) {
	t.Parallel()
	tier.NotQuick(t)
	heads, several, moved := 0, 0, 0
	for seed := range uint64(200) {
		d, rng := filling(t, seed)
		opt := Options{Frames: 1 + rng.IntN(40), In: HostSlowdown{Every: rng.IntN(4)},
			Out: HostSlowdown{Every: rng.IntN(3)}}
		opt.Layers = 1 + rng.IntN(opt.Frames+8)
		trace, err := RunFrames(t.Context(), d, nil, opt)
		if err != nil {
			continue // TestRandomNetworks has deadlocks
		}
		n := min(opt.Layers, opt.Frames)
		for _, k := range []int{1 + rng.IntN(n), n} {
			got := trace.TraceOfFirstFrames(k)
			want, _ := oracle(d, k, opt, rng)
			if got == nil || got.Start != want.Start || got.Cycles != want.Cycles ||
				!reflect.DeepEqual(got.Frames, want.Frames) ||
				!slices.EqualFunc(got.Record.Layers, want.Record.Layers, sameSpans) {
				t.Fatalf("seed %d, %d of %d frames: %+v; the plain walk: %+v\n%s", seed, k, n, got, want,
					d.Model.Graph)
			}
			var a, b bytes.Buffer
			if err := errors.Join(WriteTimelineSVG(&a, d, got), WriteTimelineSVG(&b, d, want)); err != nil ||
				!bytes.Equal(a.Bytes(), b.Bytes()) {
				t.Fatalf("seed %d, %d frames: error %v, or other pictures", seed, k, err)
			}
			heads++
		}
		for _, k := range []int{-1, 0, n + 1} {
			if trace.TraceOfFirstFrames(k) != nil {
				t.Fatalf("seed %d: a record of %d frames shows %d", seed, n, k)
			}
		}
		if trace.Period.Frames > 1 {
			several++
		}
		opt.Record = true
		if opt.Frames = n; run(t, d, nil, opt).TraceOfFirstFrames(1) != nil {
			t.Fatalf("seed %d: a record of streams has heads", seed)
		}
		if alike, _ := runsAlike(t, seed, d, opt); alike > 0 {
			moved++
		}
	}
	if heads < 200 || several < 3 || moved < 50 {
		t.Errorf("%d heads, %d periods of several frames, %d runs with moved frames: too little is tested", heads,
			several, moved)
	}
}

// filling returns a network with either rule of stalls: a random network with short FIFOs, a network with long
// frames, or a chain of layers with gaps, in which some FIFOs take long to fill.
func filling(t testing.TB, seed uint64) (*dataflow.Design, *rand.Rand) {
	kind := seed % 4
	if kind < 2 {
		return randomNet(t, seed, 8)
	}
	d, rng := longNet(t, seed, 16, 1+int(seed%12))
	if kind == 2 {
		n := &net{t: t, perWord: 1}
		words := 1 + rng.IntN(12)
		s := n.input(words)
		for range 1 + rng.IntN(5) {
			in := words
			words = 1 + rng.IntN(12)
			loop := gapped(rng, max(in, words)+rng.IntN(14), 1+rng.IntN(9), []int{in}, []int{words})
			s = n.add("Gaps", loop, s)[0]
		}
		d = n.design(1, s)
	}
	for s := range d.FIFO {
		if rng.IntN(3) > 0 {
			d.FIFO[s].Depth = max(d.FIFO[s].Depth, d.PortOfStream(s).Words*rng.IntN(40))
		}
	}
	d.Target.Backend = backends[rng.IntN(2)]
	return d, rng
}
