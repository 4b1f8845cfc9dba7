package rtlsim

import (
	"cmp"
	"context"
	"slices"
)

// Depths that are free from deadlock are found by one frame without clocks, in which a FIFO becomes deeper where it is
// stuck, and which then goes on (T. M. Parks, Bounded Scheduling of Process Networks, 1995). So a block of any size
// takes little more than one such run, whatever its streams have to hold.
//
// Where nothing can go on, layers wait for each other in circles, and each circle has to be broken at a stream at which
// it waits for room: at the narrowest. As long as no other one of these gets deeper, no depths elsewhere help: the
// layers of the circle wait for each other's words, in an order that no depth changes. So what a stream got last is
// needed if the others have what they had then, which is so of most. The rest are lowered, as far as a frame gets
// through.
//
// For example, a fork gives words to a layer that holds back 100 of them, and past it to a join. Stuck at two words,
// the fork waits for room past the layer, the join for the layer's word, and the layer for the fork's. Only one of
// these waits is for room: that stream gets 32, 64, 96 and then 128 words, and needs each of these steps.

// A growth is such a run of a block.
type growth struct {
	*tokens
	*depths
	last  []full // per stream: the circle for which it was made deeper last
	seen  []int  // per layer: the way by which it was come to; 0 for none
	ways  int
	chain []wait // the last way; to be used again
}

// A full is streams that have no room, and the words that they have.
type full struct{ streams, words []int }

// begin sets every stream to what is given, or to the least that is free from deadlock.
func (z *sizer) begin() {
	for _, b := range z.blocks {
		if len(b.streams) == 1 {
			continue // no circle
		}
		g := growth{tokens: newTokens(z.plan, b.members), depths: &z.depths, last: make([]full, len(z.ports)),
			seen: make([]int, len(z.loops))}
		was := slices.Clone(z.now)
		free, err := g.grow(z.ctx)
		if z.err = cmp.Or(z.err, err); free && slices.Equal(was, z.now) {
			continue
		}
		z.need(b.members, b.streams)
		if !free { // depths that are given are in the way
			for _, s := range b.streams {
				z.raise(s, z.ports[s].Words)
			}
			continue
		}
		z.loose = !z.lower(b, was, g.needed) || z.loose
	}
}

// grow takes a frame through, and reports whether it comes through.
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

// narrowest is the stream of some that takes the fewest bits to be deeper; of equal ones one that is deep already, and
// the last.
func (g *growth) narrowest(streams []int) int {
	return slices.MinFunc(streams, func(a, b int) int {
		return cmp.Or(g.depths.ports[a].Width()-g.depths.ports[b].Width(), g.now[b]-g.now[a], b-a)
	})
}

// fulls is some streams as they are now.
func (g *growth) fulls(streams []int) full {
	f := full{streams, make([]int, 0, len(streams))}
	for _, s := range streams {
		f.words = append(f.words, g.now[s])
	}
	return f
}

// needed reports whether a stream surely needs what it got last.
func (g *growth) needed(s int) bool {
	f := g.last[s]
	for i, other := range f.streams {
		if other != s && g.now[other] > f.words[i] {
			return false
		}
	}
	return true
}

// circles is the streams at which circles wait for room, circle by circle: of each stuck layer only the first wait is
// looked at, which is for a word where there is one. So they have no layer in common.
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
			continue // it leads to a circle that is known
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

// lower takes streams of a block that may not need what they have to the fewest words with which a frame gets through,
// those that hold the most bits first. It reports whether the effort was enough for all.
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
