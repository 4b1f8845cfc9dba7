package folding

import (
	"cmp"
	"context"
	"slices"
)

// maxOpenings bounds the labels of one step of the search for the shortest latency.
const maxOpenings = 4000

// shorten replaces the chosen folding by one of the shortest latency (EstimateLatency) within its caps and its interval.
// Improving one layer at a time gives a folding; labels then prove it the best or find a better one, unless there are too
// many.
func (s *space) shorten(ctx context.Context, c *chosen) error {
	s.again()
	h := s.newLatencySearch(c.limit, c.caps)
	var best *timed
	for _, start := range s.starts(c) {
		if err := ctx.Err(); err != nil {
			return err
		}
		if f := h.improve(ctx, start); best == nil || h.compare(f, best) < 0 {
			best = f
		}
	}
	least := h.bound(best.clocks)
	found, exact, err := h.label(ctx, best)
	if err != nil {
		return err
	}
	if found != nil {
		best = found
	}
	if exact {
		least = best.clocks
	}
	c.folding = best.folding
	c.proof.Latency = &Latency{best.clocks, least}
	c.proof.Labels, c.proof.Cut = c.proof.Labels+s.labels, s.cut
	return nil
}

// starts are foldings to improve: the chosen one, and what turns up within the caps at longer and at shorter intervals.
func (s *space) starts(c *chosen) []*folding {
	list := []*folding{c.folding}
	intervals := s.intervals()
	add := func(interval int) bool {
		i, _ := slices.BinarySearch(intervals, interval)
		if i >= len(intervals) || intervals[i] > c.limit {
			return false
		}
		t := s.at(intervals[i])
		if !t.possible() || t.excluder(c.caps) != nil {
			return false
		}
		t.relax(c.caps)
		f := t.leastOf(c.caps, lut)
		if f != nil {
			list = append(list, f)
		}
		return f != nil
	}
	for n := 2; n <= 32 && add(c.interval*n); n *= 4 {
	}
	for n := min(c.interval, intervals[len(intervals)-1]) / 2; n >= intervals[0] && add(n); n /= 2 {
	}
	return list
}

// A timed is a folding with its latency.
type timed struct {
	*folding
	clocks int
}

// compare orders by latency, then as foldings are.
func (h *latencySearch) compare(a, b *timed) int {
	la, _ := load(a.cost, h.yard)
	lb, _ := load(b.cost, h.yard)
	return cmp.Or(cmp.Compare(a.clocks, b.clocks), cmp.Compare(la, lb), h.space.compare(a.folding, b.folding, lut))
}

// A latencySearch is the search for the shortest latency.
type latencySearch struct {
	*space
	caps    vector
	options [][]timedOption // per layer
	delays  map[conversion]*delay
	rest    rests
}

// A timedOption is an option with its delay.
type timedOption struct {
	option int32
	delay  *delay
}

func (s *space) newLatencySearch(limit int, caps vector) *latencySearch {
	h := &latencySearch{space: s, caps: caps, delays: map[conversion]*delay{}}
	for i := range s.layers {
		l := &s.layers[i]
		known := map[[2]int]*delay{} // memory and multipliers are not seen in most delays; equal ones are shared
		var list []timedOption
		for k, o := range l.options {
			if o.iterations > limit {
				continue
			}
			d := newDelay(l.node.Op.Loop(o.fold, s.target), len(l.node.In), len(l.node.Out))
			if twin := known[[2]int{o.fold.PE, o.fold.SIMD}]; twin != nil && twin.equal(&d) {
				d = *twin
			}
			known[[2]int{o.fold.PE, o.fold.SIMD}] = &d
			list = append(list, timedOption{int32(k), &d})
		}
		h.options = append(h.options, l.unbeaten(list))
	}
	h.rest = h.newRests()
	return h
}

// unbeaten leaves out the options that another one of the same shape equals or beats in delay and in every resource.
func (l *layer) unbeaten(list []timedOption) []timedOption {
	var kept []timedOption
	beats := func(a, b timedOption) bool {
		x, y := &l.options[a.option], &l.options[b.option]
		return x.shape == y.shape && x.cost.within(y.cost) && a.delay.within(b.delay) &&
			(x.cost != y.cost || !b.delay.within(a.delay) || a.option < b.option)
	}
	for _, b := range list {
		if !slices.ContainsFunc(list, func(a timedOption) bool { return a.option != b.option && beats(a, b) }) {
			kept = append(kept, b)
		}
	}
	return kept
}

func (d *delay) equal(o *delay) bool { return d.within(o) && o.within(d) }

// within reports whether d surely gives no later spans than o.
func (d *delay) within(o *delay) bool {
	for i := range d.start {
		if d.start[i] < o.start[i] {
			return false
		}
	}
	for k := range d.out {
		a, b := &d.out[k], &o.out[k]
		if a.first > b.first || a.last > b.last {
			return false
		}
		for i := range d.start {
			// The share of the words that must have arrived: (read-1)/(words-1).
			x, y := (a.read[i]-1)*max(1, o.words[i]-1), (b.read[i]-1)*max(1, d.words[i]-1)
			if x > y || a.fill[i] > b.fill[i] || a.tail[i] > b.tail[i] {
				return false
			}
		}
	}
	return true
}

// conversionDelay is the delay of a width converter.
func (h *latencySearch) conversionDelay(id int, in, out form) *delay {
	c := conversion{h.streams[id].class, in, out}
	d, ok := h.delays[c]
	if !ok {
		op := rebind(h.converter(in, out), h.graph.Streams[id].Type)
		n := newDelay(op.Loop(onlyFold(op), h.target), 1, 1)
		d, h.delays[c] = &n, &n
	}
	return d
}

// arrive gives the span of a stream at its reader, which wants the form; ok is false where no converter gives it.
func (h *latencySearch) arrive(id int, from form, s span, want form) (at span, k converted) {
	k = h.convert(id, from, want)
	if !k.ok || from == want {
		return s, k
	}
	return h.conversionDelay(id, from, want).through([]span{s})[0], k
}

// source is when the words of an input of the network arrive: one per clock.
func (h *latencySearch) source(id int, f form) span {
	return span{0, h.graph.Streams[id].Type.Shape.Size()/f.per - 1}
}

// layer runs a layer's option. spans and forms are those of the open streams, by stream.
func (h *latencySearch) layer(i int, o timedOption, spans []span, at []form) (out []span, cost vector, converters int64, ok bool) {
	l := &h.layers[i]
	opt := &l.options[o.option]
	sh := &l.shapes[opt.shape]
	cost = opt.cost
	in := make([]span, len(l.node.In))
	for p, id := range l.node.In {
		if h.streams[id].writer.layer < 0 {
			in[p] = h.source(id, sh.in[p])
			continue
		}
		var k converted
		if in[p], k = h.arrive(id, at[id], spans[id], sh.in[p]); !k.ok {
			return nil, cost, 0, false
		}
		if at[id] != sh.in[p] {
			converters++
		}
		cost = cost.plus(k.cost)
	}
	return o.delay.through(in), cost, converters, true
}

// A track is a folding with what it does to every stream and what every layer of it takes.
type track struct {
	options []timedOption
	spans   []span // per stream, at its writer
	forms   []form
	costs   []vector // per layer, with the converters in front of it
	extra   []int64  // of these, converters
	timed
}

func (h *latencySearch) newTrack() *track {
	n, m := len(h.layers), len(h.streams)
	return &track{make([]timedOption, n), make([]span, m), make([]form, m), make([]vector, n), make([]int64, n), timed{&folding{options: make([]int32, n)}, 0}}
}

// run follows a track from a layer on, whose options have changed. It reports false where converters are missing.
func (h *latencySearch) run(t *track, from int) bool {
	for i := from; i < len(t.options); i++ {
		o, l := t.options[i], &h.layers[i]
		out, cost, converters, ok := h.layer(i, o, t.spans, t.forms)
		if !ok {
			return false
		}
		t.folding.options[i], t.costs[i], t.extra[i] = o.option, cost, converters
		for p, id := range l.node.Out {
			t.spans[id], t.forms[id] = out[p], l.shapes[l.options[o.option].shape].out[p]
		}
	}
	t.cost, t.converters, t.clocks = vector{}, 0, 0
	for i := range t.costs {
		t.cost, t.converters = t.cost.plus(t.costs[i]), t.converters+t.extra[i]
	}
	for _, id := range h.graph.Out {
		t.clocks = max(t.clocks, t.spans[id].last+1)
	}
	h.labels += len(t.options) - from
	return true
}

// fits reports whether the track stays within the caps if one layer took another option: only the converters around it
// change.
func (h *latencySearch) fits(t *track, i int, o timedOption) bool {
	cost := t.cost
	swap := func(layer int, now vector) {
		for k := range cost {
			cost[k] += now[k] - t.costs[layer][k]
		}
	}
	sh := h.shapeAt(i, o)
	now := h.layers[i].options[o.option].cost
	for p, id := range h.layers[i].node.In {
		if h.streams[id].writer.layer >= 0 {
			now = now.plus(h.convert(id, t.forms[id], sh.in[p]).cost)
		}
	}
	swap(i, now)
	for p, id := range h.layers[i].node.Out {
		r := h.streams[id].reader
		if r.layer < 0 {
			continue
		}
		want := h.shapeAt(r.layer, t.options[r.layer]).in[r.port]
		before, after := h.convert(id, t.forms[id], want), h.convert(id, sh.out[p], want)
		if !after.ok {
			return false
		}
		for k := range cost {
			cost[k] += after.cost[k] - before.cost[k]
		}
	}
	h.labels++
	return cost.within(h.caps)
}

func (h *latencySearch) shapeAt(layer int, o timedOption) *shape {
	l := &h.layers[layer]
	return &l.shapes[l.options[o.option].shape]
}

// improve changes one layer at a time as long as that shortens the latency within the caps.
func (h *latencySearch) improve(ctx context.Context, f *folding) *timed {
	best, try := h.newTrack(), h.newTrack()
	for i, o := range f.options {
		l := &h.layers[i]
		d := newDelay(l.node.Op.Loop(l.options[o].fold, h.target), len(l.node.In), len(l.node.Out))
		best.options[i] = timedOption{o, &d}
	}
	h.run(best, 0)
	for better := true; better && !h.spent(); {
		better = false
		for i := range best.options {
			for _, o := range h.options[i] {
				if ctx.Err() != nil {
					return &best.timed
				}
				if !h.fits(best, i, o) {
					continue
				}
				try.copy(best)
				if try.options[i] = o; h.run(try, i) && h.compare(&try.timed, &best.timed) < 0 {
					best, try, better = try, best, true
				}
			}
		}
	}
	return &best.timed
}

func (t *track) copy(o *track) {
	copy(t.options, o.options)
	copy(t.spans, o.spans)
	copy(t.forms, o.forms)
	copy(t.costs, o.costs)
	copy(t.extra, o.extra)
	copy(t.folding.options, o.folding.options)
}
