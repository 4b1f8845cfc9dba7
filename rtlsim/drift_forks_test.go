package rtlsim

import (
	"math/rand/v2"
	"slices"
	"testing"

	"hlsgen/internal/dataflow"
)

// gapped returns a loop with the given number of iterations. It moves the words of each port in runs, with gaps of
// any length between.
func gapped(rng *rand.Rand, iterations, latency int, reads, writes []int) dataflow.Loop {
	n := max(iterations, slices.Max(reads), slices.Max(writes))
	runs := slices.Repeat([]dataflow.LoopRun{{Times: 1}}, n)
	moves := func(words int, of func(m *dataflow.PortMoves) *uint64, port int) {
		for words > 0 {
			for i, end := rng.IntN(n), words-rng.IntN(words); i < n && words >= end; i++ {
				if mask := of(&runs[i].Moves); *mask>>port&1 == 0 {
					*mask |= 1 << port
					words--
				}
			}
		}
	}
	for p, words := range reads {
		moves(words, func(m *dataflow.PortMoves) *uint64 { return &m.Read }, p)
	}
	for p, words := range writes {
		moves(words, func(m *dataflow.PortMoves) *uint64 { return &m.Write }, p)
	}
	return dataflow.Loop{Body: dataflow.JoinLoopRuns(runs...), Latency: latency}
}

// TestDriftsOfForks checks frames that are copied with a shift, behind a fork. One output of the fork fills while
// the other holds it up, or fills as well until it holds up the fork. The copied frames equal frames that are run.
func TestDriftsOfForks(t *testing.T) {
	t.Parallel()
	moved := 0
	seeds := append(numbers(200),
		668,  // the output that fills holds the most words in the last frame that is copied
		1692) // the first equal frames have the same cause of the fork's last delay, but not the same duration
	for _, i := range seeds {
		seed := uint64(i)
		rng := rand.New(rand.NewPCG(seed, 15))
		n := &net{t: t, perWord: 1}
		words, a, b := 1+rng.IntN(12), 1+rng.IntN(12), 1+rng.IntN(12)
		full := 1 + 7*rng.IntN(2)
		busy := max(words, a, b) + rng.IntN(6)
		fork := n.add("Fork", gapped(rng, busy, 1+rng.IntN(12), []int{words}, []int{a, b}), n.input(words))
		busy += rng.IntN(10)
		slow := n.add("Slow", gapped(rng, busy, 1+rng.IntN(9), []int{b}, []int{words}), fork[1])[0]
		join := gapped(rng, busy+1+rng.IntN(12), 2, []int{words, a}, []int{1})
		d := n.design(1, n.add("Join", join, slow, fork[0])...)
		for i, most := range []int{2 * words, 30 * a, full * b, 60 * words, 4} {
			d.FIFO[i].Depth = 1 + rng.IntN(most)
		}
		d.Target.Backend = backends[seed%2]
		alike, _ := runsAlike(t, seed, d, Options{Frames: 40})
		moved += alike
	}
	if moved < 2000 {
		t.Errorf("%d frames were moved: the forks test too little", moved)
	}
}
