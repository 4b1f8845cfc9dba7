package rtlsim

import (
	"math"
	"slices"

	"hlsgen/internal/dataflow"
)

// A schedule holds the clock of each word of one frame, where all frames are alike and follow each other at
// the interval. It is one of many ways to keep the interval. FIFOs that are deep enough for the schedule
// also keep the interval where credits are counted: a real design does everything as soon as it can, so
// never later than the schedule.
//
// One layer, or the host, sets the pace. The layer that sets the pace works as soon as it can, and so do
// all layers that do not feed it. The layers that feed it work as late as possible. So the layers in front
// of it do not run ahead, and the layers behind it do not wait for words to gather. FIFOs then hold only
// bursts, and words that wait at a join for another path.
//
// For example, three layers take 10, 100 and 50 clocks for ten words each, and the second sets the pace.
// The first layer then writes a word every ten clocks, just when the second needs it, rather than ten in a
// row. The third layer reads a word every ten clocks. FIFOs of two words are enough everywhere.
type schedule struct {
	*plan
	interval int
	gives    []int   // per stream that the host writes: clocks from one word to the next
	takes    []int   // per stream that the host reads: clocks from one word to the next
	seen     [][]int // per stream: the clock from which each word is visible; nil while not known
	read     [][]int // per stream: the clock when each word is read; nil while not known
	needs    []int   // per stream: the most words that the FIFO holds
	latency  int     // clocks from the host's first word to its last word, if the host sets the pace
	spare    [][]int // lists of clocks to use again
	kept     [][]int // per stream: copy of seen, for the inputs of a layer that sets the pace of another schedule
}

// host stands for the host where the number of a layer is expected.
const host = -1

// eased returns the depths of the schedule, of a few, that needs the fewest bits. ok is false if a run with them does
// not keep the interval. Where pipelines freeze, an early word may delay others; then eased tries deeper FIFOs. If
// trust is true, depths are not tried. Given depths stay.
func (z *sizer) eased(slowest []int, trust bool) (depth []int, ok bool) {
	was := z.now
	defer func() { z.now = was }()
	needs, underWay := z.scheduled(slowest)
	if needs == nil {
		if needs = mostHeld(z); needs == nil {
			return nil, false
		}
		trust = false
	}
	const few = 16 // frames under way; with more of them a run takes longer than a trial
	trust = trust && (underWay <= few || !z.frozen)
	for _, times := range []int{1, 4, 0} {
		z.now = slices.Clone(was)
		for s := range needs {
			words := z.enough(s)
			if times > 0 {
				words = min(words, times*needs[s])
			}
			z.raise(s, words)
		}
		if trust || z.surely().keeps {
			z.untried = trust && z.frozen
			if len(z.needs) == 0 && !slices.Equal(z.now, was) {
				z.need(nil, z.streamsOf(nil))
			}
			return z.now, true
		}
		if z.err != nil {
			break
		}
	}
	return nil, false
}

// longestList is the most words of a stream whose clocks a schedule keeps.
const longestList = 1 << 25

// mostHeld returns, per stream, the most words that a FIFO holds if no FIFO ever fills and the host is
// paced. It returns nil if the run did not end.
func mostHeld(z *sizer) []int {
	was, hosts := z.now, z.hosts
	defer func() { z.now, z.hosts = was, hosts }()
	z.now, z.hosts = slices.Clone(was), pacedHost
	for s := range z.now {
		z.raise(s, z.enough(s))
	}
	if t := z.surely(); t.keeps {
		return t.high
	}
	return nil
}

// scheduled returns the words that each FIFO holds in the best schedule, and how many frames are under way at a time.
// It compares three schedules, whose pace the host, the first or the last of the slowest layers sets. The best one
// needs the fewest bits. It returns nil if a frame is too long for a schedule.
func (z *sizer) scheduled(slowest []int) (best []int, underWay int) {
	if slices.ContainsFunc(z.ports, func(p dataflow.Port) bool { return p.Words > longestList }) {
		return nil, 0
	}
	paces := []int{host}
	if len(slowest) > 0 {
		first, last := slowest[0], slowest[0]
		for _, i := range slowest {
			const part = 10
			if most := z.loops[slowest[0]].IterationsPerFrame(); z.loops[i].IterationsPerFrame() >= most-most/part {
				first, last = min(first, i), max(last, i)
			}
		}
		paces = append(paces, first)
		if last > first {
			paces = append(paces, last)
		}
	}
	var hosts *schedule
	for _, pace := range paces {
		z.left -= z.words(nil)
		s := z.pacedBy(pace, hosts, paces)
		if pace == host {
			hosts = s
			underWay = 1 + s.latency/max(1, z.interval)
		}
		if best == nil || z.bits(s.needs) < z.bits(best) {
			best = s.needs
		}
	}
	return best, underWay
}

// pacedBy returns the schedule whose pace the layer pace, or the host, sets. hosts is that of the host, which must be
// computed first. It keeps the clocks of the words that the layers in next read, which set the pace of later schedules.
// Layers that depend on the host alone work alike in all schedules.
func (z *trials) pacedBy(pace int, hosts *schedule, next []int) *schedule {
	s := newSchedule(z)
	if hosts != nil {
		s.spare, hosts.spare = hosts.spare, nil
		defer func() { s.spare, hosts.spare = nil, s.spare }()
	}
	before := s.before(pace)
	s.start(pace, hosts)
	alike := s.alike(pace, before)
	nodes := s.design.Model.Graph.Nodes
	for i := len(nodes) - 1; i >= 0; i-- {
		if before[i] {
			s.latest(i)
		}
		if before[i] || i == pace {
			s.hold(nodes[i].Out, nodes[i].In)
		}
	}
	for i, node := range nodes {
		if before[i] {
			continue
		}
		if alike[i] {
			s.copy(i, hosts)
			continue
		}
		if pace == host {
			s.give(i)
		}
		if i != pace {
			s.soonest(i)
			if pace == host && slices.Contains(next, i) {
				s.keep(node.In)
			}
			s.hold(node.In)
		}
		for _, id := range node.Out {
			if s.reader[id] < 0 {
				s.take(id)
			}
		}
		s.hold(node.Out)
	}
	return s
}

// hold sets the number of words held by each FIFO whose clocks are all known, and frees these lists of clocks. Words
// that the host writes are scheduled as late as possible.
func (s *schedule) hold(lists ...[]int) {
	for _, id := range slices.Concat(lists...) {
		if s.read[id] != nil && s.seen[id] == nil && s.writer[id] < 0 {
			s.giveLate(id)
		}
		if s.read[id] != nil && s.seen[id] != nil {
			s.needs[id] = s.held(id)
			s.drop(&s.seen[id])
			s.drop(&s.read[id])
		}
	}
}

// clocks returns a list with room for the clock of each word of the stream id.
func (s *schedule) clocks(id int) []int {
	n := s.ports[id].Words
	for i, list := range s.spare {
		if cap(list) >= n {
			s.spare = slices.Delete(s.spare, i, i+1)
			return list[:n]
		}
	}
	return make([]int, n)
}

// drop sets a list to nil, and keeps its memory for later use by the schedule.
func (s *schedule) drop(list *[]int) {
	if *list != nil {
		s.spare = append(s.spare, *list)
	}
	*list = nil
}

func newSchedule(z *trials) *schedule {
	n := len(z.ports)
	s := &schedule{plan: z.plan, interval: z.interval, gives: make([]int, n), takes: make([]int, n),
		seen: make([][]int, n), read: make([][]int, n), needs: make([]int, n), kept: make([][]int, n)}
	for id, every := range z.every {
		s.gives[id], s.takes[id] = max(1, z.in.Every, every), max(1, z.out.Every, every)
	}
	return s
}

// before returns the set of all layers that feed the layer node, directly or through other layers, by node.
func (s *schedule) before(node int) []bool {
	before := make([]bool, len(s.loops))
	if node == host {
		return before
	}
	nodes := s.design.Model.Graph.Nodes
	mark := func(i int) {
		for _, id := range nodes[i].In {
			if w := s.writer[id]; w >= 0 {
				before[w] = true
			}
		}
	}
	mark(node)
	for i := node - 1; i >= 0; i-- {
		if before[i] {
			mark(i)
		}
	}
	return before
}

// start schedules the layer pace, which sets the pace. It reads as soon as it could if no FIFO were ever full, which is
// when it reads in the host's schedule.
func (s *schedule) start(pace int, hosts *schedule) {
	if pace == host {
		return
	}
	in := s.design.Model.Graph.Nodes[pace].In
	for _, id := range in {
		s.seen[id], hosts.kept[id] = hosts.kept[id], nil
	}
	s.soonest(pace)
	for _, id := range in {
		s.drop(&s.seen[id])
	}
}

// keep keeps a copy of the clocks in which the words of the given streams are visible, for other schedules.
func (s *schedule) keep(streams []int) {
	for _, id := range streams {
		s.kept[id] = s.clocks(id)
		copy(s.kept[id], s.seen[id])
	}
}

// alike returns the set of layers behind the layer pace that work as in the host's schedule, and whose readers all do
// so too.
func (s *schedule) alike(pace int, before []bool) []bool {
	alike := make([]bool, len(s.loops))
	if pace == host {
		return alike
	}
	nodes := s.design.Model.Graph.Nodes
	alike[pace] = true
	for i, node := range nodes {
		if i != pace && !before[i] {
			alike[i] = len(node.In) > 0 && !slices.ContainsFunc(node.In, func(id int) bool {
				return s.writer[id] < 0 || !alike[s.writer[id]]
			})
		}
	}
	for i := len(nodes) - 1; i >= 0; i-- {
		if slices.ContainsFunc(nodes[i].Out, func(id int) bool { return s.reader[id] >= 0 && !alike[s.reader[id]] }) {
			alike[i] = false
		}
	}
	alike[pace] = false
	return alike
}

// copy takes over the words that the FIFOs at a layer hold in the host's schedule.
func (s *schedule) copy(layer int, hosts *schedule) {
	node := s.design.Model.Graph.Nodes[layer]
	for _, id := range slices.Concat(node.In, node.Out) {
		s.drop(&s.seen[id])
		s.needs[id] = hosts.needs[id]
	}
}

// give makes the host write the inputs of a layer as fast as it can.
func (s *schedule) give(layer int) {
	for _, id := range s.design.Model.Graph.Nodes[layer].In {
		if s.writer[id] >= 0 {
			continue
		}
		s.seen[id] = s.clocks(id)
		for k := range s.seen[id] {
			s.seen[id][k] = k * s.gives[id]
		}
	}
}

// giveLate makes the host write the input id as late as possible.
func (s *schedule) giveLate(id int) {
	read := s.read[id]
	list := s.clocks(id)
	at := math.MaxInt / 2
	for range 2 {
		for k := len(list) - 1; k >= 0; k-- {
			at = min(at-s.gives[id], read[k])
			list[k] = at
		}
		at += s.interval // before the next frame
	}
	s.seen[id] = list
}

// take makes the host read the output id as soon as it can.
func (s *schedule) take(id int) {
	seen := s.seen[id]
	list := s.clocks(id)
	at := math.MinInt / 2
	for range 2 {
		for k := range list {
			at = max(at+s.takes[id], seen[k])
			list[k] = at
		}
		at -= s.interval // after the frame before
	}
	s.read[id] = list
	s.latency = max(s.latency, at+s.interval)
}

// held returns the most words that the FIFO of the stream id holds.
func (s *schedule) held(id int) int {
	seen, read := s.seen[id], s.read[id]
	n, most := len(seen), MinFIFODepth
	gone := -1 // the last word that is read before word k takes a place
	at := func(k int) int {
		if k < 0 {
			frames := (n - 1 - k) / n
			return read[k+frames*n] - frames*s.interval
		}
		return read[k]
	}
	for k, clock := range seen {
		if clock -= s.delay[id]; k == 0 {
			for at(gone) >= clock {
				gone--
			}
		}
		for at(gone+1) < clock {
			gone++
		}
		most = max(most, k-gone)
	}
	return most
}

// soonest schedules layer i as early as possible: when the words that it reads are visible and its frame
// before is over.
func (s *schedule) soonest(i int) {
	t := s.tour(i)
	t.clock = math.MinInt / 2
	t.ahead(s.loops[i].Body)
	first, last := t.ends(s.loops[i])
	if t.clock < math.MinInt/4 {
		first, t.clock = math.MinInt, 0 // the layer waits for no word
	}
	if first <= last-s.interval {
		t.rewind(false)
		t.clock -= s.interval
		t.ahead(s.loops[i].Body)
	}
}

// latest schedules layer i as late as possible: its words are in time for their readers, and it is ready
// for its next frame.
func (s *schedule) latest(i int) {
	t := s.tour(i)
	t.rewind(true)
	t.clock = math.MaxInt / 2
	t.back(s.loops[i].Body)
	if first, last := t.ends(s.loops[i]); first <= last-s.interval {
		t.rewind(true)
		t.clock += s.interval
		t.back(s.loops[i].Body)
	}
}

// tour returns a tour through a frame of layer i that sets the clocks in which the layer reads and writes.
func (s *schedule) tour(i int) *tour {
	t := &tour{latency: s.loops[i].Latency}
	node := s.design.Model.Graph.Nodes[i]
	for _, id := range node.In {
		s.drop(&s.read[id])
		s.read[id] = s.clocks(id)
		t.in = append(t.in, &side{seen: s.seen[id], read: s.read[id]})
	}
	for _, id := range node.Out {
		s.drop(&s.seen[id])
		s.seen[id] = s.clocks(id)
		t.out = append(t.out, &side{seen: s.seen[id], read: s.read[id]})
	}
	return t
}
