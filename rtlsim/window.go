package rtlsim

import (
	"fmt"
	"slices"
	"sort"
	"strconv"
	"sync"
)

// radius is how far windows reach at first, in layers, to either side.
const radius = 3

// Known remembers which windows keep which intervals at which depths. It may be shared by the sizing of any designs, also
// between goroutines. The zero value knows nothing.
type Known struct{ windows sync.Map }

// around settles the windows around a layer, the widest of which then keeps the interval. Layers that take so few clocks
// together that one could wait for the other are left to the trial of the whole.
func (z *sizer) around(l, radius int) {
	widest := z.window(l, radius)
	clocks := 0
	for i, in := range widest {
		if in {
			clocks += z.loops[i].Iterations()
		}
	}
	for clocks > z.interval && z.err == nil && z.effort > 0 && !z.passes(widest) {
		narrow := 1
		for narrow < radius && z.passes(z.window(l, narrow)) {
			narrow++
		}
		if !z.deepen(z.window(l, narrow)) {
			return
		}
	}
}

// local reports whether the widest windows that a stream lies in need its depth.
func (z *sizer) local(s int) bool {
	return z.inner(s) && (!z.passes(z.window(z.writer[s], radius)) || !z.passes(z.window(z.reader[s], radius)))
}

// window is the layers around one, up to so many to either side.
func (z *sizer) window(l, radius int) []bool {
	members := make([]bool, len(z.loops))
	members[l] = true
	for range radius {
		before := slices.Clone(members)
		for s := range z.ports {
			if z.inner(s) && (before[z.writer[s]] || before[z.reader[s]]) {
				members[z.writer[s]], members[z.reader[s]] = true, true
			}
		}
	}
	return members
}

// within reports whether both ends of a stream are members.
func (z *sizer) within(members []bool, s int) bool {
	return z.inner(s) && members[z.writer[s]] && members[z.reader[s]]
}

// passes reports whether a window keeps the interval at the depths, in a world that never waits.
func (z *sizer) passes(members []bool) bool { return z.try(members).keeps }

// tried is what came of a window. Streams are numbered within it.
type tried struct {
	keeps bool
	full  []bool // the writer missed room: that other FIFOs are deeper changes nothing where it does not pass
	high  []int  // most words that were in the FIFO
	words int    // that were moved to find out
}

// try runs a window, or the whole design where members is nil.
func (z *sizer) try(members []bool) tried {
	if z.err != nil || z.effort <= 0 {
		return tried{}
	}
	z.trials++
	key, before := z.key(members), z.effort
	if v, ok := z.opt.Known.windows.Load(key); ok {
		t := v.(tried)
		z.effort -= t.words // as if it had been tried here: results do not depend on what is known
		t.keeps = t.keeps && z.effort > 0
		return t
	}
	var e *engine
	if members == nil {
		e = z.paced(z.depth, z.settling(nil))
	} else {
		e = z.part(members, z.depth, z.interval, z.settling(members))
	}
	t := tried{keeps: z.keepsInterval(e)}
	for _, s := range e.streams {
		t.full, t.high = append(t.full, s.full > 0), append(t.high, s.high)
	}
	if t.words = before - z.effort; z.err == nil && z.effort > 0 {
		z.opt.Known.windows.Store(key, t)
	}
	return t
}

// streamsOf is the streams of a window, in the order in which they are numbered.
func (z *sizer) streamsOf(members []bool) (list []int) {
	for s := range z.ports {
		if members == nil || z.within(members, s) {
			list = append(list, s)
		}
	}
	return list
}

// key is all that decides whether a window passes, as text: loops, streams with their depths, the interval, the host.
func (z *sizer) key(members []bool) string {
	b := strconv.AppendInt(nil, int64(z.interval), 10)
	if members == nil {
		b = fmt.Append(b, " whole ", z.opt.In.Every, " ", z.opt.Out.Every)
	}
	place := make([]int, len(z.loops))
	n := 0
	for i, l := range z.loops {
		if members == nil || members[i] {
			place[i] = n
			n++
			b = append(append(b, '\n'), l.Key()...)
		}
	}
	nodes := z.design.Model.Graph.Nodes
	for s := range z.ports {
		if members != nil && !z.within(members, s) {
			continue
		}
		b = append(b, '\n')
		if w := z.writer[s]; w >= 0 {
			b = fmt.Append(b, place[w], ".", slices.Index(nodes[w].Out, s))
		}
		if r := z.reader[s]; r >= 0 {
			b = fmt.Append(b, " ", place[r], ".", slices.Index(nodes[r].In, s))
		}
		b = fmt.Append(b, " ", z.depth[s], " ", z.every[s])
	}
	return string(b)
}

// deepen makes FIFOs of a window, or of the whole design where members is nil, deeper until it keeps the interval: the one
// that alone does it with the fewest bits, or where none does, several. It reports false where that cannot be.
func (z *sizer) deepen(members []bool) bool {
	streams, failed := z.streamsOf(members), z.try(members)
	var full []int
	first := true // nothing has become deeper yet
	for i, s := range streams {
		if first = first && z.depth[s] == z.low[s]; i < len(failed.full) && failed.full[i] {
			full = append(full, s)
		}
	}
	if first {
		z.need(members, full)
	}
	best, deep, bits := -1, 0, 0
	for i, s := range streams {
		if z.fixed(s) || i >= len(failed.full) || !failed.full[i] {
			continue
		}
		was := z.depth[s]
		z.depth[s] = z.most(s)
		if t := z.try(members); t.keeps {
			high := max(z.step(t.high[i]), was)
			if b := (high - was) * z.ports[s].Width(); best < 0 || b < bits {
				best, deep, bits = s, high, b
			}
		}
		z.depth[s] = was
	}
	if best < 0 {
		return z.together(members, streams)
	}
	was := z.depth[best]
	z.depth[best] = deep
	z.least(best, was, func() bool { return z.passes(members) })
	return true
}

// together makes FIFOs deeper until all together do it, and takes back what is not needed.
func (z *sizer) together(members []bool, streams []int) bool {
	was := slices.Clone(z.depth)
	streams = slices.DeleteFunc(slices.Clone(streams), z.fixed)
	for _, s := range streams {
		z.depth[s] = z.most(s)
	}
	t := z.try(members)
	if !t.keeps {
		z.depth = was
		return false
	}
	for i, s := range z.streamsOf(members) {
		if !z.fixed(s) {
			z.depth[s] = max(was[s], min(z.depth[s], z.step(t.high[i])))
		}
	}
	low := z.low
	z.low = was
	z.lower(streams, func() bool { return z.passes(members) })
	z.low = low
	return true
}

// most is words that are enough for a stream whatever else is too little: those of every frame that can be under way at a
// time. A frame is no longer under way than its iterations and latencies take one after the other.
func (z *sizer) most(s int) int {
	clocks, latency := 0, 0
	for _, l := range z.loops {
		clocks, latency = clocks+l.Iterations()+l.Latency, latency+l.Latency
	}
	frames := 2 + clocks/max(1, z.interval)
	return max(z.depth[s], z.step(frames*z.ports[s].Words+latency))
}

// least settles a stream on the first step above some words that passes; the depth that it has does.
func (z *sizer) least(s, above int, passes func() bool) {
	steps := []int{z.step(above + 1)}
	for steps[len(steps)-1] < z.depth[s] {
		steps = append(steps, z.step(steps[len(steps)-1]+1))
	}
	last := len(steps) - 1
	z.depth[s] = steps[sort.Search(last, func(i int) bool {
		z.depth[s] = steps[i]
		return passes()
	})]
}
