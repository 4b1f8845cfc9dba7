package rtlsim

import "slices"

// radius is how far windows reach at first, in layers, to either side.
const radius = 3

// around deepens the windows around a layer, until the widest keeps the interval. Layers that take so few clocks
// together that one could wait for the other are left to the trial of the whole.
func (z *sizer) around(l, radius int) {
	widest := z.window(l, radius)
	clocks := 0
	for i, in := range widest {
		if in {
			clocks += z.loops[i].Iterations()
		}
	}
	for clocks > z.interval && z.err == nil && z.left > 0 && !z.passes(widest) {
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

// deepen makes FIFOs of a window, or of the whole design where members is nil, deeper until it keeps the interval: the one
// that alone does it with the fewest bits, or where none does, several. It reports false where that cannot be.
func (z *sizer) deepen(members []bool) bool {
	streams, failed := z.streamsOf(members), z.try(members, z.now)
	var full []int
	first := true // nothing has become deeper yet
	for i, s := range streams {
		if first = first && z.now[s] == z.low[s]; i < len(failed.full) && failed.full[i] {
			full = append(full, s)
		}
	}
	if first {
		z.need(members, full)
	}
	best, deep, bits := -1, 0, 0
	for i, s := range streams {
		if z.given(s) || i >= len(failed.full) || !failed.full[i] {
			continue
		}
		was := z.now[s]
		z.raise(s, z.enough(s))
		if t := z.try(members, z.now); t.keeps {
			high := max(z.step(t.high[i]), was)
			if b := (high - was) * z.ports[s].Width(); best < 0 || b < bits {
				best, deep, bits = s, high, b
			}
		}
		z.now[s] = was
	}
	if best < 0 {
		return z.together(members, streams)
	}
	was := z.now[best]
	z.now[best] = deep
	z.search(best, z.step(was+1), func() bool { return z.passes(members) })
	return true
}

// together makes FIFOs deeper until all together do it, and takes back what is not needed.
func (z *sizer) together(members []bool, streams []int) bool {
	was := slices.Clone(z.now)
	for _, s := range streams {
		z.raise(s, z.enough(s))
	}
	t := z.try(members, z.now)
	if !t.keeps {
		z.now = was
		return false
	}
	for i, s := range streams {
		z.trim(s, t.high[i], was)
	}
	low := z.low
	z.low = was
	z.lower(streams, func() bool { return z.passes(members) })
	z.low = low
	return true
}
