package dataflow

import (
	"math/rand/v2"
	"testing"
)

// A nest walked index by index is the plain meaning of Moves, Words, FirstWrite and LastWrite.
func TestLoopAgainstWalk(t *testing.T) {
	t.Parallel()
	rng := rand.New(rand.NewPCG(1, 2))
	for range 3000 {
		l, a := randomLoop(rng)
		iteration, words, first, last := 0, 0, -1, -1
		var walk func(level int, inside bool)
		walk = func(level int, inside bool) {
			if level == len(l.Trips) {
				if got := l.Moves(a, iteration); got != inside {
					t.Fatalf("%v by %v: iteration %d moves %v, want %v", l.Trips, a, iteration, got, inside)
				}
				if inside {
					if words == 0 {
						first = iteration
					}
					last = iteration
					words++
				}
				iteration++
				return
			}
			for j := range l.Trips[level] {
				walk(level+1, inside && member(a[level], j, l.Trips[level]))
			}
		}
		walk(0, true)
		if l.Iterations() != iteration || l.Words(a) != words {
			t.Fatalf("%v by %v: %d iterations and %d words, want %d and %d", l.Trips, a, l.Iterations(), l.Words(a), iteration, words)
		}
		if l.FirstWrite(a) != first+l.Latency || l.LastWrite(a) != last+l.Latency {
			t.Fatalf("%v by %v, latency %d: words arrive from %d to %d, want %d to %d", l.Trips, a, l.Latency, l.FirstWrite(a), l.LastWrite(a), first+l.Latency, last+l.Latency)
		}
	}
}

func member(x Index, j, n int) bool {
	switch x.Kind {
	case First:
		return j == 0
	case Last:
		return j == n-1
	case At:
		return x.Pattern[j] == '1'
	}
	return x.Kind == Each
}

// randomLoop gives a nest and an access that moves at least one word.
func randomLoop(rng *rand.Rand) (Loop, Access) {
	l := Loop{Latency: 1 + rng.IntN(5)}
	var a Access
	for range rng.IntN(5) {
		n := 1 + rng.IntN(4)
		l.Trips = append(l.Trips, n)
		x := Index{Kind: Each + IndexKind(rng.IntN(4))}
		if x.Kind == At {
			p := make([]byte, n)
			for j := range p {
				p[j] = '0' + byte(rng.IntN(2))
			}
			p[rng.IntN(n)] = '1'
			x.Pattern = string(p)
		}
		a = append(a, x)
	}
	return l, a
}

func TestMovesRefusesZeroIndex(t *testing.T) {
	t.Parallel()
	defer func() {
		if recover() == nil {
			t.Error("an index set without a kind was taken for one")
		}
	}()
	Loop{Trips: []int{2}}.Moves(Access{{}}, 0)
}
