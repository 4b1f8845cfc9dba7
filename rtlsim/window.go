package rtlsim

import (
	"cmp"
	"slices"
)

// radius is the number of layers to either side of its centre to which a window first extends. A window is the set of
// layers around one.
const radius = 3

// short reports whether FIFOs are too shallow in the neighbourhood of one of the given layers. If so, a trial of the
// whole design is pointless.
func (z *sizer) short(layers []int) bool {
	for _, l := range layers {
		if widest := z.window(l, radius); z.slow(l) && z.busy(widest) {
			if t := z.try(widest, z.now); !t.keeps && !t.cut {
				return z.err == nil && z.left > 0
			}
		}
	}
	return false
}

// windows returns the number of words per frame, in total, in the neighbourhoods of the slow ones among the given
// layers.
func (z *sizer) windows(layers []int) (words int) {
	for _, l := range layers {
		if widest := z.window(l, radius); z.slow(l) && z.busy(widest) {
			words += z.words(widest)
		}
	}
	return words
}

// slow reports whether layer l takes more than half of the interval for a frame.
func (z *sizer) slow(l int) bool { return 2*z.loops[l].IterationsPerFrame() > z.interval }

// busy reports whether the layers in members together take more clocks than the interval. Otherwise each layer could
// wait for all others and still keep the interval.
func (z *trials) busy(members []bool) bool {
	clocks := 0
	for i, in := range members {
		if in {
			clocks += z.loops[i].IterationsPerFrame()
		}
	}
	return clocks > z.interval
}

// around deepens FIFOs between the layers at most radius layers away from layer l, until these keep the interval, and
// returns whether any changed. It does nothing if they are not busy, for the trial of the whole design covers them.
func (z *sizer) around(l, radius int) (deeper bool) {
	widest := z.window(l, radius)
	return z.busy(widest) && z.deepest(widest)
}

// deepest deepens FIFOs between the layers in members until these layers keep the interval, or nothing helps. It
// returns whether it changed any FIFO.
func (z *sizer) deepest(members []bool) (deeper bool) {
	for ; z.err == nil && z.left > 0; deeper = true {
		if l := z.look(members, z.now); l.keeps || !(&mended{z, members}).deepen(l) {
			break
		}
	}
	return deeper
}

// cover deepens FIFOs in windows, the layers at most radius layers away from one, until these keep the interval. Each
// layer lies in one together with all layers within half the radius. It returns whether any FIFO became deeper.
func (z *sizer) cover(radius int) (deeper bool) {
	covered := make([]bool, len(z.loops))
	for l := range z.loops {
		if covered[l] {
			continue
		}
		for i, in := range z.window(l, radius/2) {
			covered[i] = covered[i] || in
		}
		deeper = z.around(l, radius) || deeper
	}
	return deeper
}

// local reports whether a small set of layers needs the depth of stream s. They are those for which it was deepened, or
// those around one of its ends.
func (z *sizer) local(s int) bool {
	if z.why[s] != nil && !z.passes(z.why[s]) {
		return true
	}
	if !z.inner(s) {
		return false
	}
	w, r := z.writer[s], z.reader[s]
	if !z.passes(z.window(w, radius)) || !z.passes(z.window(r, radius)) {
		return true
	}
	for far := 2 * radius; far < len(z.loops)/4; far *= 2 {
		if !z.passes(z.window(w, far)) {
			return true
		}
	}
	return false
}

// A mended is a window, a set of layers, that does not keep the interval, and whose FIFOs are being deepened. If
// members is nil, it is the whole design.
type mended struct {
	*sizer
	members []bool
}

// deepen deepens FIFOs of the window until it keeps the interval, or until the circle of waits in l that delays it
// does. It prefers the single FIFO that suffices with the fewest bits; if none suffices, it deepens several. It returns
// false if nothing helps.
func (m *mended) deepen(l look) bool {
	failed := l.tried
	if len(l.nodes) > 0 {
		circle := membersOf(m.plan, l.nodes)
		if t := m.try(circle, m.now); !t.keeps {
			m, failed = &mended{m.sizer, circle}, t
		}
	}
	return m.cured(failed, l.rooms) || m.together()
}

// cured deepens the single FIFO of the window that makes it keep the interval with the fewest bits. It returns false if
// there is none. It considers the streams in among or, if that is nil, those that were full in the trial that failed.
func (m *mended) cured(failed tried, among []int) bool {
	streams := m.streamsOf(m.members)
	var full []int
	first := true // nothing has become deeper yet
	for i, s := range streams {
		if first = first && m.now[s] == m.low[s]; i < len(failed.full) && failed.full[i] {
			full = append(full, s)
		}
	}
	if first {
		m.need(m.members, full)
	}
	if among == nil {
		among = full
	}
	best := m.narrowest(streams, among)
	if best.stream < 0 {
		return false
	}
	was := m.now[best.stream]
	m.now[best.stream] = best.words
	m.search(best.stream, m.step(best.stream, was+1), func() bool { return m.passes(m.members) })
	m.why[best.stream] = m.members
	return true
}

// A cure is a FIFO whose deepening alone makes a set of layers keep the interval. It has the FIFO's stream, its new
// depth in words, and the bits that this adds.
type cure struct{ stream, words, bits int }

// narrowest returns the cure with the fewest bits among full streams, or the first of equals. Its stream is -1 if there
// is none. The next depth of a stream is a lower bound of its cost, which spares most trials. If a depth does not help,
// only streams in the circle of waits that then delays the window can help.
func (m *mended) narrowest(streams, full []int) cure {
	deeper := func(s, words int) cure { return cure{s, words, (words - m.now[s]) * m.ports[s].Width()} }
	less := func(a, b cure) bool { return a.bits < b.bits || a.bits == b.bits && a.stream < b.stream }
	var open []cure
	for _, s := range full {
		if !m.given(s) {
			open = append(open, deeper(s, m.step(s, m.now[s]+1)))
		}
	}
	slices.SortFunc(open, func(a, b cure) int { return cmp.Or(a.bits-b.bits, a.stream-b.stream) })
	best := cure{stream: -1}
	for len(open) > 0 && (best.stream < 0 || less(open[0], best)) {
		s := open[0].stream
		open = open[1:]
		was := m.now[s]
		m.raise(s, m.enough(s))
		var l look
		if len(open) > 0 && best.stream < 0 {
			l = m.look(m.members, m.now)
		} else {
			l.tried = m.try(m.members, m.now)
		}
		m.now[s] = was
		if !l.keeps {
			if len(l.nodes) > 0 {
				open = slices.DeleteFunc(open, func(c cure) bool { return !slices.Contains(l.rooms, c.stream) })
			}
			continue
		}
		t := l.tried
		words := max(m.step(s, t.high[slices.Index(streams, s)]), was)
		if c := deeper(s, words); best.stream < 0 || less(c, best) {
			best = c
		}
	}
	return best
}

// together deepens FIFOs until all of them together make the window keep the interval, and returns whether they do. It
// deepens the streams at which circles of layers wait for room, circle after circle, or else all streams. Then it takes
// back the depths that are not needed.
func (m *mended) together() bool {
	was := slices.Clone(m.now)
	streams := m.circles()
	if streams == nil {
		streams = slices.DeleteFunc(m.streamsOf(m.members), m.given)
	}
	for _, s := range streams {
		m.raise(s, m.enough(s))
	}
	t := m.try(m.members, m.now)
	if !t.keeps {
		m.now = was
		return false
	}
	passes := func() bool { return m.passes(m.members) }
	high := map[int]int{}
	for i, s := range m.streamsOf(m.members) {
		high[s] = t.high[i]
	}
	by(streams, func(s int) int { return (was[s] - m.step(s, high[s])) * m.ports[s].Width() })
	m.without(streams, was, passes)
	t = m.try(m.members, m.now)
	for i, s := range m.streamsOf(m.members) {
		if t.keeps {
			m.trim(s, t.high[i], was)
		}
	}
	for _, s := range streams {
		if m.now[s] > was[s] {
			m.search(s, was[s], passes)
		}
	}
	for _, s := range streams {
		if m.now[s] > was[s] {
			m.why[s] = m.members
		}
	}
	return true
}

// circles returns the streams at which circles wait for room, circle after circle, until no circle is left. It
// returns nil if it finds no such set. Of each circle it deepens the narrow streams first, and much wider ones only
// if that does not help.
func (m *mended) circles() (deeper []int) {
	const alike = 2 // streams up to this many times as wide as the narrowest count as narrow
	was := slices.Clone(m.now)
	defer func() { m.now = was }()
	for {
		l := m.look(m.members, m.now)
		if l.keeps {
			return deeper
		}
		rooms := slices.DeleteFunc(l.rooms, func(s int) bool { return m.given(s) || slices.Contains(deeper, s) })
		if len(rooms) == 0 {
			return nil
		}
		by(rooms, func(s int) int { return m.ports[s].Width() })
		for _, s := range rooms {
			if m.ports[s].Width() <= alike*m.ports[rooms[0]].Width() {
				m.raise(s, m.enough(s))
				deeper = append(deeper, s)
			}
		}
	}
}
