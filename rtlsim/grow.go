package rtlsim

import (
	"cmp"
	"context"
	"slices"
)

// A single frame without clocks finds depths that are free from deadlock. When the frame is stuck, a FIFO becomes
// deeper, and the frame goes on (T. M. Parks, Bounded Scheduling of Process Networks, 1995). So a block of any size
// takes little more time than one such run, however much its streams have to hold.
//
// A stuck frame means that layers wait for each other in circles. Each circle must be broken at a stream at which
// it waits for room: the narrowest of these. As long as the other streams of the circle keep their depths, depths
// elsewhere do not help: the layers of the circle wait for each other's words in an order that no depth changes. So
// the last deepening of a stream was needed if the other streams still have the depths that they had then. This is
// so for most streams. The remaining ones are lowered as far as a frame still gets through.
//
// For example, a fork sends words to a layer that holds back 100 of them, and past this layer to a join. With two
// words everywhere, the fork waits for room past the layer, the join waits for a word of the layer, and the layer
// waits for a word of the fork. Only the first wait is for room. That stream gets 32, 64, 96 and then 128 words,
// and needs each of these steps.

// A growth looks for depths with which a block of the graph has no deadlock.
type growth struct {
	*tokens
	*depths
	last  []full // per stream: the circle that caused its last deepening
	seen  []int  // per layer: number of the chain that last reached it; 0 for none
	ways  int    // number of chains so far
	chain []wait // the last chain; memory to use again
}

// A full lists streams that had no room, with their depths at that time.
type full struct{ streams, words []int }

// begin sets every stream to its given depth, or to the least depth with which the design has no deadlock.
func (z *sizer) begin() {
	for _, b := range z.blocks {
		if len(b.streams) == 1 {
			continue // a single stream forms no circle
		}
		g := growth{tokens: newTokens(z.plan, b.members), depths: &z.depths, last: make([]full, len(z.ports)),
			seen: make([]int, len(z.loops))}
		was := slices.Clone(z.now)
		free, err := g.grow(z.ctx)
		if z.err = cmp.Or(z.err, err); free && slices.Equal(was, z.now) {
			continue
		}
		z.need(b.members, b.streams)
		if !free { // given depths are in the way
			for _, s := range b.streams {
				z.raise(s, z.ports[s].Words)
			}
			continue
		}
		z.loose = !z.lower(b, was, g.needed) || z.loose
	}
}

// grow runs a frame, deepens FIFOs whenever it is stuck, and returns whether it comes through in the end.
func (g *growth) grow(ctx context.Context) (through bool, err error) {
	through, err = g.run(ctx, g.now)
	for err == nil && !through {
		for _, c := range g.circles() {
			rooms := slices.DeleteFunc(c, func(s int) bool { return g.given(s) })
			if len(rooms) == 0 {
				return false, nil
			}
			s := g.narrowest(rooms)
			g.last[s] = g.fulls(rooms)
			g.raise(s, g.now[s]+1)
			g.agenda.wake(task(g.writer[s]))
		}
		through, err = g.goOn(ctx)
	}
	return through, err
}

// narrowest returns the stream whose deepening takes the fewest bits. Among equals it prefers a stream that is deep
// already, and then the last.
func (g *growth) narrowest(streams []int) int {
	return slices.MinFunc(streams, func(a, b int) int {
		return cmp.Or(g.depths.ports[a].Width()-g.depths.ports[b].Width(), g.now[b]-g.now[a], b-a)
	})
}

// fulls returns the given streams with their depths now.
func (g *growth) fulls(streams []int) full {
	f := full{streams, make([]int, 0, len(streams))}
	for _, s := range streams {
		f.words = append(f.words, g.now[s])
	}
	return f
}

// needed reports whether a stream certainly needs its last deepening.
func (g *growth) needed(s int) bool {
	f := g.last[s]
	for i, other := range f.streams {
		if other != s && g.now[other] > f.words[i] {
			return false
		}
	}
	return true
}

// circles returns, for each circle of layers that wait for each other, the streams at which it waits for room. It
// follows only the first wait of each stuck layer, which is for a word if there is such a wait. So no two circles share
// a layer.
func (g *growth) circles() (list [][]int) {
	from := g.ways + 1
	for i := range g.workers {
		if g.workers[i].done || g.seen[i] >= from {
			continue
		}
		g.ways++
		chain := g.chain[:0]
		at := i
		for g.seen[at] < from {
			g.seen[at] = g.ways
			chain = append(chain, g.wait(at))
			at = chain[len(chain)-1].other
		}
		if g.chain = chain; g.seen[at] < g.ways {
			continue // the chain leads to a known circle
		}
		var rooms []int
		for _, w := range chain[slices.IndexFunc(chain, func(w wait) bool { return w.layer == at }):] {
			if w.room {
				rooms = append(rooms, w.stream)
			}
		}
		list = append(list, rooms)
	}
	return list
}

// lower lowers streams of block b that may be too deep to the fewest words with which a frame gets through, but not
// below least. needed tells which streams need not be tried. Streams that hold the most bits come first. It returns
// false if the effort was not enough for all streams.
func (z *sizer) lower(b block, least []int, needed func(s int) bool) bool {
	open := slices.DeleteFunc(slices.Clone(b.streams), func(s int) bool { return z.now[s] == least[s] || needed(s) })
	by(open, func(s int) int { return (least[s] - z.now[s]) * z.ports[s].Width() })
	words := 0
	for _, s := range b.streams {
		words += z.ports[s].Words
	}
	free := func() bool {
		if z.left <= 0 {
			return false
		}
		z.left -= words
		return z.free(b.members, z.now)
	}
	for _, s := range open {
		z.search(s, least[s], free)
	}
	return len(open) == 0 || z.left > 0
}
