package rtlsim

import (
	"math"
	"slices"

	"hlsgen/internal/dataflow"
)

// A schedule is the clocks of the words of one frame, where all frames are alike, an interval after each other. It is
// one of the ways to keep the interval. FIFOs that hold what it puts into them keep it as well where credits are
// counted: a design at work does everything as soon as it can, and so no later than the schedule does.
//
// One layer, or the host, gives the pace. It and what its words do not come from work as soon as they can. What its
// words do come from works as late as it may. So the layers before it do not run ahead, and those behind it do not wait
// for words to gather: FIFOs hold bursts, and what waits at joins for another way.
//
// For example, of three layers that take 10, 100 and 50 clocks for ten words each, the second gives the pace. The first
// writes a word every ten clocks, just when the second needs it, rather than ten in a row, and the third reads one
// every ten clocks. Two words are enough everywhere.
type schedule struct {
	*plan
	interval int
	gives    []int   // per stream: clocks from one word of the host to the next, where it writes them
	takes    []int   // the same where it reads them
	seen     [][]int // per stream: clocks in which the words are visible; nil where that is open
	read     [][]int // per stream: clocks in which they are read; nil where that is open
	needs    []int   // per stream: words that the FIFO holds at most
	latency  int     // clocks from the host's first word to its last one, where it gives the pace
	spare    [][]int // reused
	kept     [][]int // per stream: seen, of what a layer reads that gives the pace of another schedule
}

// host stands for the host in the place of a layer.
const host = -1

// eased is depths that hold what the narrowest of a few schedules puts into FIFOs, and that were seen to keep the
// interval; ok is false where they were not. Where pipelines freeze, a word that comes sooner than in the schedule may
// make others late: then FIFOs become deeper. Depths that are trusted are not tried. What is given is left as it is.
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
	const few = 16 // frames: where more are under way, a run takes longer than a trial
	trust = trust && (underWay <= few || z.design.Target.Stalls == dataflow.Credit)
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
			z.untried = trust && z.design.Target.Stalls == dataflow.Frozen
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

// longestList is the most words of a stream whose clocks are listed.
const longestList = 1 << 25

// mostHeld is the most words that FIFOs which never fill hold with a paced host; nil where that was not run to its end.
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

// scheduled is the words that FIFOs hold in the schedule, of a few, in which they hold the fewest bits: the host gives
// the pace, or the first or the last of the layers that are almost as slow as the slowest one; and how many frames are
// under way at a time. It is nil where a frame is too long for a schedule.
func (z *sizer) scheduled(slowest []int) (best []int, underWay int) {
	if slices.ContainsFunc(z.ports, func(p dataflow.Port) bool { return p.Words > longestList }) {
		return nil, 0
	}
	paces := []int{host}
	if len(slowest) > 0 {
		first, last := slowest[0], slowest[0]
		for _, i := range slowest {
			const part = 10
			if most := z.loops[slowest[0]].Iterations(); z.loops[i].Iterations() >= most-most/part {
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

// pacedBy is the schedule to which a layer, or the host, gives the pace. That of the host comes first: it keeps when
// the words are visible that the layers read that give the pace next. These work as they do there, and so does all that
// has no words but theirs.
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

// hold notes what FIFOs hold whose words have all their clocks, which are not needed any more. What the host writes
// comes as late as it may.
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

// clocks is room for those of the words of a stream.
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

// drop forgets clocks.
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

// before is the layers that the words of one come from.
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

// start has the layer that gives the pace read as soon as it could if no FIFO ever were full: when it does where the
// host gives it.
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

// keep keeps when words of some streams are visible.
func (s *schedule) keep(streams []int) {
	for _, id := range streams {
		s.kept[id] = s.clocks(id)
		copy(s.kept[id], s.seen[id])
	}
}

// alike is the layers, behind the one that gives the pace, that work as they do where the host gives it, and whose
// words go to none that does not.
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

// copy takes what the FIFOs at a layer hold from the host's schedule.
func (s *schedule) copy(layer int, hosts *schedule) {
	node := s.design.Model.Graph.Nodes[layer]
	for _, id := range slices.Concat(node.In, node.Out) {
		s.drop(&s.seen[id])
		s.needs[id] = hosts.needs[id]
	}
}

// give has the host write the inputs of a layer as fast as it can.
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

// giveLate has the host write an input as late as it may.
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

// take has the host read an output as soon as it can.
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

// held is the words that a FIFO holds at most.
func (s *schedule) held(id int) int {
	seen, read := s.seen[id], s.read[id]
	n, most := len(seen), Least
	gone := -1 // the last word that is read before word k takes its place
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

// soonest has a layer work as soon as the words that it reads, and the frame before, let it.
func (s *schedule) soonest(i int) {
	t := s.tour(i)
	t.clock = math.MinInt / 2
	t.ahead(s.loops[i].Body)
	first, last := t.ends(s.loops[i])
	if t.clock < math.MinInt/4 {
		first, t.clock = math.MinInt, 0 // it waits for nothing
	}
	if first <= last-s.interval {
		t.rewind(false)
		t.clock -= s.interval
		t.ahead(s.loops[i].Body)
	}
}

// latest has a layer work as late as those that read its words, and the next frame, let it.
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

// tour is one of a layer, which sets when it reads and writes.
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
