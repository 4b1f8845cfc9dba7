package rtlsim

import (
	"cmp"
	"slices"
)

// radius is how far windows reach at first, in layers, to either side.
const radius = 3

// short reports whether a window around one of some layers needs deeper FIFOs, so that the whole need not be tried.
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

// windows is the words of a frame in all windows around the slow ones of some layers.
func (z *sizer) windows(layers []int) (words int) {
	for _, l := range layers {
		if widest := z.window(l, radius); z.slow(l) && z.busy(widest) {
			words += z.words(widest)
		}
	}
	return words
}

// slow reports whether a layer works in more than half of the interval.
func (z *sizer) slow(l int) bool { return 2*z.loops[l].Iterations() > z.interval }

// busy reports whether layers take so many clocks together that none could wait for all the others.
func (z *trials) busy(members []bool) bool {
	clocks := 0
	for i, in := range members {
		if in {
			clocks += z.loops[i].Iterations()
		}
	}
	return clocks > z.interval
}

// around deepens the window around a layer, until it keeps the interval. Layers that take so few clocks together that
// one could wait for the other are left to the trial of the whole.
func (z *sizer) around(l, radius int) (deeper bool) {
	widest := z.window(l, radius)
	return z.busy(widest) && z.deepest(widest)
}

// deepest deepens a window until it keeps the interval, if it can, and reports whether it did not from the beginning.
func (z *sizer) deepest(members []bool) (deeper bool) {
	for ; z.err == nil && z.left > 0; deeper = true {
		if l := z.look(members, z.now); l.keeps || !(&mended{z, members}).deepen(l) {
			break
		}
	}
	return deeper
}

// cover deepens windows that reach so far, until they keep the interval: as many as it takes for each layer to be in
// one with all that is half as far. It reports whether any became deeper.
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

// local reports whether a stream's depth is needed by the window that it was deepened for, or by one that it lies in.
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

// A mended is a window that does not keep the interval, or the whole design where members is nil, whose FIFOs are made
// deeper.
type mended struct {
	*sizer
	members []bool
}

// deepen makes FIFOs of a window, or of the whole design where members is nil, deeper until it keeps the interval, or
// until the circle that holds it up does: the one that alone does it with the fewest bits, or where none does, several.
// It reports false where that cannot be.
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

// cured makes the FIFO of a window deeper that alone has it keep the interval with the fewest bits, and reports whether
// there is one: among some streams, or those that were full where these are nil.
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

// A cure is a FIFO that alone makes a window keep the interval, with so many words and bits more.
type cure struct{ stream, words, bits int }

// narrowest is the cure with the fewest bits among the full streams of a window, the first of equal ones; its stream is
// -1 where there is none. The next step of each is a bound of what it takes, which spares most trials. Where one does
// not help, only streams can that are in the circle which holds the window up then.
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

// together makes FIFOs deeper until all together do it, and takes back what is not needed: those at which a circle
// waits for room, and then the next one, or all.
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

// circles is the streams at which circles wait for room, one after the other, until none is left; nil where they are
// not found. Of each the narrow ones are made deeper, those that are much wider where that does not help.
func (m *mended) circles() (deeper []int) {
	const alike = 2 // times as wide
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
