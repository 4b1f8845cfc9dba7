package folding

import (
	"cmp"
	"context"
	"slices"
)

// maxHasty bounds the labels of one step of the search for the shortest latency.
const maxHasty = 4000

// shorten replaces the chosen folding by one of the shortest latency (EstimateLatency) within its caps and its interval.
// Improving one layer at a time gives a folding; labels then prove it the best or find a better one, unless there are too
// many.
func (s *space) shorten(ctx context.Context, c *chosen) error {
	h := s.newHaste(c.limit, c.caps)
	var best *hasty
	for _, start := range s.starts(c) {
		if err := ctx.Err(); err != nil {
			return err
		}
		if f := h.improve(ctx, start); best == nil || h.compare(f, best) < 0 {
			best = f
		}
	}
	least := h.rest.everything
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
	c.proof.Bounds = nil // what was least before the latency was
	return nil
}

// starts are foldings to improve: the chosen one, and what turned up within the caps at longer intervals.
func (s *space) starts(c *chosen) []*folding {
	list := []*folding{c.folding}
	intervals := s.intervals()
	for n, i := 2, 0; n <= 64 && i < len(intervals); n *= 2 {
		i, _ = slices.BinarySearch(intervals, c.interval*n)
		if i >= len(intervals) || intervals[i] > c.limit {
			break
		}
		t := s.at(intervals[i])
		t.relax(c.caps)
		if f := t.leastOf(c.caps, lut); f != nil {
			list = append(list, f)
		}
	}
	return list
}

// A hasty is a folding and its latency.
type hasty struct {
	*folding
	clocks int
}

// compare orders by latency, then as foldings are.
func (h *haste) compare(a, b *hasty) int {
	la, _ := load(a.cost, h.yard)
	lb, _ := load(b.cost, h.yard)
	return cmp.Or(cmp.Compare(a.clocks, b.clocks), cmp.Compare(la, lb), h.space.compare(a.folding, b.folding, lut))
}

// A haste is a search for the shortest latency.
type haste struct {
	*space
	caps    vector
	options [][]swift // per layer
	delays  map[conversion]*delay
	rest    rests
}

// A swift is an option with its delay.
type swift struct {
	option int32
	delay  *delay
}

func (s *space) newHaste(limit int, caps vector) *haste {
	h := &haste{space: s, caps: caps, delays: map[conversion]*delay{}}
	for i := range s.layers {
		l := &s.layers[i]
		known := map[[2]int]*delay{} // memory and multipliers are not seen in most delays; equal ones are shared
		var list []swift
		for k, o := range l.options {
			if o.iterations > limit {
				continue
			}
			d := newDelay(l.node.Op.Loop(o.fold, s.target), len(l.node.In), len(l.node.Out))
			if twin := known[[2]int{o.fold.PE, o.fold.SIMD}]; twin != nil && twin.equal(&d) {
				d = *twin
			}
			known[[2]int{o.fold.PE, o.fold.SIMD}] = &d
			list = append(list, swift{int32(k), &d})
		}
		h.options = append(h.options, l.unbeaten(list))
	}
	h.rest = h.newRests()
	return h
}

// unbeaten leaves out the options that another one of the same shape equals or beats in delay and in every resource.
func (l *layer) unbeaten(list []swift) []swift {
	var kept []swift
	beats := func(a, b swift) bool {
		x, y := &l.options[a.option], &l.options[b.option]
		return x.shape == y.shape && x.cost.within(y.cost) && a.delay.within(b.delay) &&
			(x.cost != y.cost || !b.delay.within(a.delay) || a.option < b.option)
	}
	for _, b := range list {
		if !slices.ContainsFunc(list, func(a swift) bool { return a.option != b.option && beats(a, b) }) {
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
func (h *haste) conversionDelay(id int, in, out form) *delay {
	c := conversion{h.streams[id].class, in, out}
	d, ok := h.delays[c]
	if !ok {
		op := place1(h.converter(in, out), h.graph.Streams[id].Type)
		n := newDelay(op.Loop(onlyFold(op), h.target), 1, 1)
		d, h.delays[c] = &n, &n
	}
	return d
}

// arrive gives the span of a stream at its reader, which wants the form; ok is false where no converter gives it.
func (h *haste) arrive(id int, from form, s span, want form) (at span, k converted) {
	k = h.convert(id, from, want)
	if !k.ok || from == want {
		return s, k
	}
	return h.conversionDelay(id, from, want).through([]span{s})[0], k
}

// layer runs a layer's option. spans and forms are those of the open streams, by stream.
func (h *haste) layer(i int, o swift, spans []span, at []form) (out []span, cost vector, converters int64, ok bool) {
	l := &h.layers[i]
	opt := &l.options[o.option]
	sh := &l.shapes[opt.shape]
	cost = opt.cost
	in := make([]span, len(l.node.In))
	for p, id := range l.node.In {
		if h.streams[id].writer.layer < 0 {
			in[p] = span{0, h.graph.Streams[id].Type.Shape.Size()/sh.in[p].per - 1}
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

// run gives a folding's latency; nil where converters are missing.
func (h *haste) run(options []swift) *hasty {
	f := &hasty{folding: &folding{}}
	spans, at := make([]span, len(h.streams)), make([]form, len(h.streams))
	for i, o := range options {
		out, cost, converters, ok := h.layer(i, o, spans, at)
		if !ok {
			return nil
		}
		f.options = append(f.options, o.option)
		f.cost, f.converters = f.cost.plus(cost), f.converters+converters
		l := &h.layers[i]
		for p, id := range l.node.Out {
			spans[id], at[id] = out[p], l.shapes[l.options[o.option].shape].out[p]
			if h.streams[id].reader.layer < 0 {
				f.clocks = max(f.clocks, out[p].last+1)
			}
		}
	}
	h.labels += len(options) / 4
	return f
}

// improve changes one layer at a time as long as that shortens the latency within the caps.
func (h *haste) improve(ctx context.Context, f *folding) *hasty {
	now := make([]swift, len(h.layers))
	for i, o := range f.options {
		l := &h.layers[i]
		d := newDelay(l.node.Op.Loop(l.options[o].fold, h.target), len(l.node.In), len(l.node.Out))
		now[i] = swift{o, &d}
	}
	best := h.run(now)
	for better := true; better && !h.spent(); {
		better = false
		for i := range now {
			kept := now[i]
			for _, o := range h.options[i] {
				if ctx.Err() != nil {
					return best
				}
				now[i] = o
				if try := h.run(now); try != nil && try.cost.within(h.caps) && h.compare(try, best) < 0 {
					best, kept, better = try, o, true
				}
			}
			now[i] = kept
		}
	}
	return best
}
