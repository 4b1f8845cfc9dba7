package folding

import (
	"context"
	"math"
	"slices"
	"sort"

	"hlsgen/folding/search"
	"hlsgen/internal/dataflow"
	"hlsgen/rtlsim"
)

// The latency of a design is a maximum over paths: from a word of the host, or the start of a layer, through words that
// layers wait for and clocks that they work, to the last word at an output. For any fold of the layers on it, a path that is
// named by elements, not by words, takes a sum of clocks, one summand per layer and one per width converter; FIFOs only add
// to it. So a path is one more kind of amount, and the least that a folding takes of the most demanding of several paths is
// a bound of every latency. The search for the shortest latency finds the folding with this least, simulates it, and adds
// the path that it really waits for, until bound and design meet (cutting planes).

// A path is what foldings take of one path, in clocks.
type path struct {
	layer   [][]int64 // per layer and class
	element []int     // per stream: the element that the path goes through, -1 where it does not
	key     string
}

// A hop is a place of a path: a word of a stream of a design.
type hop struct{ stream, word int }

// critical is the words that the last word of the first frame waits for, the last first, where FIFOs never do, and the clocks
// that it takes. The last hop may be a word of the host; else the layer that writes it waits for none.
func critical(ctx context.Context, d *dataflow.Design) (hops []hop, clocks int, err error) {
	g := d.Model.Graph
	arrives, cause := make([][]int, len(g.Streams)), make([][]hop, len(g.Streams))
	none := hop{-1, -1}
	for _, s := range g.In {
		p := d.Port(s)
		for k := range p.Words {
			arrives[s], cause[s] = append(arrives[s], k*d.Target.HostEvery(p)), append(cause[s], none)
		}
	}
	for i, n := range g.Nodes {
		if err := ctx.Err(); err != nil {
			return nil, 0, err
		}
		loop := d.Loop(i)
		walk := loop.Walk()
		read := make([]int, len(n.In))
		at, why := -1, none
		for range loop.Iterations() {
			at++
			m := walk.Moves()
			for p, s := range n.In {
				if m.Read>>p&1 != 0 {
					if t := arrives[s][read[p]]; t > at {
						at, why = t, hop{s, read[p]}
					}
					read[p]++
				}
			}
			for p, s := range n.Out {
				if m.Write>>p&1 != 0 {
					arrives[s], cause[s] = append(arrives[s], at+loop.Latency), append(cause[s], why)
				}
			}
			walk.Advance()
		}
	}
	var last hop
	for _, s := range g.Out {
		at, why := -1, none
		every := d.Target.HostEvery(d.Port(s))
		for k, t := range arrives[s] {
			if at += every; k == 0 || t > at {
				at, why = t, hop{s, k}
			}
		}
		if at+1 > clocks {
			clocks, last = at+1, why
		}
	}
	for h := last; h != none; h = cause[h.stream][h.word] {
		hops = append(hops, h)
	}
	return hops, clocks, nil
}

// path is the path of a design's hops. known is a latency that is had already: longer ones are of no interest.
func (s *space) path(b *built, hops []hop, known int) path {
	p := path{element: slices.Repeat([]int{-1}, len(s.streams)), layer: make([][]int64, len(s.layers))}
	for _, h := range hops { // the reader's end counts: it comes first
		id := b.sides[h.stream].stream
		if p.element[id] < 0 {
			p.element[id] = b.Port(h.stream).Last(s.streams[id].typ.Shape, h.word)
		}
	}
	at := make([]form, len(p.element))
	for id, e := range p.element {
		at[id].per = e
	}
	p.key = key(at)
	for i := range s.layers {
		l := &s.layers[i]
		for c := range l.classes {
			p.layer[i] = append(p.layer[i], s.clocksOn(&p, l, &l.classes[c], known))
		}
	}
	return p
}

// clocksOn is the clocks that a class takes of a path, from the word that it reads of it to the arrival of the one that it
// writes; from its first iteration on where the path begins there; and at the ends those of the host.
//
// A class may write its word before it reads the one in front of it. Then what lies behind it on the path still bounds the
// latency, but not together with what lies in front. Where that takes no more than the known latency, taking this away
// leaves no more than what lies behind; where it takes more, so does the whole.
func (s *space) clocksOn(p *path, l *layer, c *class, known int) int64 {
	in, out, on := -1, -1, false
	var from, to int
	clocks := int64(0)
	for k, id := range l.node.In {
		if e := p.element[id]; e >= 0 {
			port := s.streams[id].port(l.shapes[c.shape].in[k])
			word := port.Word(s.streams[id].typ.Shape, e)
			in, from, on = k, c.loop.ReadAt(k, word), true
			if s.streams[id].writer.layer < 0 {
				clocks += int64(word * s.target.HostEvery(port))
			}
		}
	}
	for k, id := range l.node.Out {
		if e := p.element[id]; e >= 0 {
			port := s.streams[id].port(l.shapes[c.shape].out[k])
			word := port.Word(s.streams[id].typ.Shape, e)
			out, to, on = k, c.loop.WriteAt(k, word), true
			if s.streams[id].reader.layer < 0 {
				clocks += int64((port.Words-1-word)*s.target.HostEvery(port) + 1)
			}
		}
	}
	switch {
	case !on || out < 0:
		return clocks // a path ends at an output: what does not write a word of it is not on it
	case in >= 0 && to < from:
		return int64(-known)
	}
	return clocks + int64(to-from+c.loop.Latency)
}

// converter is the clocks that a path takes through the width converter between two forms.
func (p *path) converter(s *space, id int, in, out form) int64 {
	e := p.element[id]
	if e < 0 || in == out {
		return 0
	}
	k := s.convert(id, in, out)
	shape := s.streams[id].typ.Shape
	from := k.loop.ReadAt(0, s.streams[id].port(in).Word(shape, e))
	to := k.loop.WriteAt(0, s.streams[id].port(out).Word(shape, e))
	return int64(max(0, to-from) + k.loop.Latency)
}

// What a search for the shortest latency does: how many paths it adds, and how many nodes the searches look at for the
// foldings that it begins with, and for each next one.
const (
	maxCuts    = 200
	chaseWork  = 2 * maxWork
	beginNodes = 10
	cutNodes   = 100
)

// shortest is the design of the shortest latency within the budget, of which no layer takes more clocks per frame; nil where
// none was found. What is found is looked for again with its own interval for the limit, until that stays: so asking for the
// rate of a design of the shortest latency gives this design, and the search has begun more than once.
func (s *space) shortest(ctx context.Context, q *question, limit int) (*found, error) {
	f, err := s.chased(ctx, q, limit)
	for err == nil && f != nil && !s.shallow() {
		b := s.build(f.folding).Design
		slowest, _ := b.Interval()
		clocks := max(slowest, s.memoryClocks(b))
		if clocks >= limit {
			break
		}
		q.effort.Done, q.effort.Cut = 0, false
		g, err := s.chased(ctx, q, clocks)
		if err != nil || g == nil {
			return f, err
		}
		g.latency.Least = min(f.latency.Least, g.latency.Clocks)
		f, limit = g, clocks
	}
	return f, err
}

// chased is what one search for the shortest latency finds.
func (s *space) chased(ctx context.Context, q *question, limit int) (*found, error) {
	list := s.intervals()
	limit = min(limit, list[len(list)-1])
	if q.effort.Deadline.IsZero() {
		q.effort.Limit = chaseWork
	}
	c := &chase{space: s, q: q, caps: s.capsAt(q, limit), load: LeastLoad.of(&q.yard), region: region{limit: limit}, seen: map[string]bool{}}
	if err := c.begin(ctx, list, limit); err != nil || len(c.region.paths) == 0 {
		return nil, err
	}
	for range maxCuts {
		more, err := c.cut(ctx)
		if err != nil {
			return nil, err
		}
		if !more || q.effort.Spent() {
			break
		}
	}
	if c.best == nil {
		return nil, nil
	}
	if c.bound == 0 {
		if b := c.tree(&c.region, q).Bound(search.Measure{Path: true}, c.caps); b < float64(c.clocks) {
			c.bound = int(math.Ceil(b))
		}
	}
	best, err := s.settled(ctx, q, c.best, limit, LeastLoad.order())
	return &found{folding: best, limit: limit, latency: &Latency{c.clocks, min(c.bound, c.clocks)}}, err
}

// A chase is a search for the shortest latency.
type chase struct {
	*space
	q      *question
	caps   search.Caps
	load   search.Measure
	region region
	best   *folding
	clocks int // of best, simulated
	bound  int // no latency is below
	seen   map[string]bool
}

// begin simulates what a search for little load finds at the shortest interval and at longer ones. Then it slows down one
// layer of the best of these after the other: the paths through each of them.
func (c *chase) begin(ctx context.Context, list []int, limit int) error {
	list = slices.DeleteFunc(slices.Clone(list), func(n int) bool { return n > limit })
	first := sort.Search(len(list), func(i int) bool {
		t := c.tree(&region{limit: list[i]}, c.q)
		return t.Possible() && !math.IsInf(t.Bound(c.load, c.caps), 1)
	})
	tried := 0
	for i, clocks := first, 0; i < len(list) && tried < 4; i++ {
		if list[i] < clocks {
			continue
		}
		at := region{limit: list[i]}
		least, err := c.tree(&at, c.q).Minimise(ctx, c.load, nil, c.caps, beginNodes)
		if err != nil {
			return err
		}
		if least.Best == nil {
			continue
		}
		if _, err := c.try(ctx, &at, c.folding(&at, least.Best)); err != nil {
			return err
		}
		tried, clocks = tried+1, 2*list[i]
	}
	if c.best == nil {
		if err := c.adopt(ctx, limit); c.best == nil {
			return err
		}
	}
	for i := range c.layers {
		if err := c.slow(ctx, i); err != nil {
			return err
		}
	}
	return nil
}

// adopt begins with the design of the least resources, where what begin tries does not fit with its FIFOs.
func (c *chase) adopt(ctx context.Context, limit int) error {
	f, err := c.at(ctx, c.q, limit, nil)
	if f == nil {
		return err
	}
	b := c.build(f.folding)
	hops, waits, err := critical(ctx, b.Design)
	if err != nil {
		return err
	}
	t, err := rtlsim.Run(ctx, b.Design, nil, rtlsim.Options{Frames: 1})
	if err != nil {
		return err
	}
	c.best, c.clocks = f.folding, t.Latency()
	c.admit(c.path(b, hops, max(c.clocks, waits)))
	return nil
}

// slow adds the path that the best folding would wait for if one layer took longer than all take together.
func (c *chase) slow(ctx context.Context, layer int) error {
	f := &folding{options: slices.Clone(c.best.options)}
	l := &c.layers[layer]
	at := -1
	for o := range l.options {
		n := l.clocks(o)
		if n <= c.region.limit && (at < 0 || n < l.clocks(at) && n > 2*c.clocks || l.clocks(at) < 2*c.clocks && n > l.clocks(at)) {
			at = o
		}
	}
	if at < 0 {
		return nil
	}
	f.options[layer] = int32(at)
	b := c.build(f)
	if b == nil {
		return nil
	}
	hops, waits, err := critical(ctx, b.Design)
	if err == nil {
		c.admit(c.path(b, hops, max(c.clocks, waits)))
	}
	return err
}

// cut finds the folding of which the longest path is the shortest, simulates it, and adds its own path. more is false where
// nothing better can be, or nothing new came.
func (c *chase) cut(ctx context.Context) (more bool, err error) {
	caps := c.caps
	if c.best != nil {
		caps.Path = int64(c.clocks) - 1
	}
	t := c.tree(&c.region, c.q)
	if b := t.Bound(search.Measure{Path: true}, caps); !math.IsInf(b, 1) {
		c.bound = max(c.bound, int(math.Ceil(b)))
	} else if c.best != nil {
		c.bound = c.clocks // nothing is shorter
		return false, nil
	}
	for _, f := range t.Mixture() {
		fresh, err := c.try(ctx, &c.region, c.folding(&c.region, f))
		if err != nil {
			return false, err
		}
		more = more || fresh
	}
	if more {
		return true, nil
	}
	least, err := t.Minimise(ctx, search.Measure{Path: true}, nil, caps, cutNodes)
	if err != nil {
		return false, err
	}
	if least.Best == nil {
		if least.Proved && c.best != nil {
			c.bound = c.clocks // nothing is shorter
		}
		return false, nil
	}
	c.bound = max(c.bound, int(math.Ceil(least.Bound)))
	return c.try(ctx, &c.region, c.folding(&c.region, least.Best))
}

// try simulates a folding, whole where it may be the best, and adds the path that it waits for. fresh is false where that was
// known.
func (c *chase) try(ctx context.Context, r *region, f *folding) (fresh bool, err error) {
	b := c.build(f)
	if b == nil {
		return false, nil
	}
	hops, waits, err := critical(ctx, b.Design)
	if err != nil {
		return false, err
	}
	fresh = c.admit(c.path(b, hops, max(c.clocks, waits)))
	if c.best != nil && waits >= c.clocks || !f.cost.Within(&c.caps.Vector) {
		return fresh, nil
	}
	slowest, _ := b.Interval()
	var whole *folding
	for _, clocks := range []int{slowest, r.limit} { // FIFOs as deep as they are of use, or else as asked
		if whole, err = c.whole(ctx, r, f, b, clocks); err != nil || whole != nil {
			break
		}
	}
	if err != nil || whole == nil {
		return fresh, err
	}
	t, err := rtlsim.Run(ctx, c.build(whole).Design, nil, rtlsim.Options{Frames: 1})
	if err != nil {
		return fresh, err
	}
	n := t.Latency()
	if c.best == nil || n < c.clocks || n == c.clocks && whole.measures(c.load) < c.best.measures(c.load) {
		fresh = fresh || n < c.clocks
		c.best, c.clocks = whole, n
	}
	return fresh, nil
}

// whole is the best design of a folding's classes whose FIFOs keep an interval; nil where none is within the caps.
func (c *chase) whole(ctx context.Context, r *region, f *folding, b *built, clocks int) (*folding, error) {
	z, err := c.size(ctx, c.q, b, clocks)
	if err != nil || z == nil {
		return nil, err
	}
	with := *r
	with.paths = nil
	for id, words := range z.Words {
		with = with.deeper(b.sides[id], words)
	}
	return c.assess(ctx, c.q, &with, c.class(f.options), nil, c.load, c.caps)
}

// admit adds a path; it reports false where it is known.
func (c *chase) admit(p path) bool {
	if c.seen[p.key] {
		return false
	}
	c.seen[p.key] = true
	c.region.paths = append(c.region.paths, p)
	return true
}
