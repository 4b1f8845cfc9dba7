package rtlsim

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"
	"sort"

	"hlsgen/internal/cost"
	"hlsgen/internal/dataflow"
)

// Least is the smallest FIFO: two words, which are two registers, as HLS makes them by default.
const Least = 2

// SizeOptions say what FIFOs are sized for. The zero value keeps the interval of unbounded FIFOs with a host at full
// speed.
type SizeOptions struct {
	Minimal bool // freedom from deadlock alone, at any speed
	In, Out Pace // of the host; without stalls
	// Effort is how many words may be moved in trials; 0 is 1e9, some ten seconds. FIFOs that are not reached then
	// keep their high-water marks. A part of it is for exact words where the memory is the same.
	Effort int
}

// A Sizing is depths for all streams of a design.
type Sizing struct {
	Interval int    // clocks per frame with unbounded FIFOs, which the depths keep; 0 where they are minimal
	Depth    []int  // per stream, for Design.Depth: those of FIFOs
	FIFOs    []FIFO // per stream
	Room     int    // as in Proof
	Kept     bool   // these depths were seen to do so; false where the effort did not suffice
	Exact    bool   // no FIFO alone could do with a word less; else with no smaller memory, as far as the effort went
	Trials   int
}

// A FIFO is one stream's part of a Sizing.
type FIFO struct {
	Stream, Width int // bits of a word
	High          int // most words in it with unbounded FIFOs and frames that come at the interval; 0 if minimal
	Words         int // that are needed with the others as they are
	Depth         int // of the memory that holds these
	Memory        cost.Memory
	Reason        string // why it is deep; empty up to one shift register
}

// Bits is the memory of all FIFOs, and what it would be if every FIFO held its high-water mark; 0 if minimal.
func (z *Sizing) Bits() (bits, high int) {
	for _, f := range z.FIFOs {
		bits += f.Depth * f.Width
		if z.Interval > 0 {
			high += cost.ImplementFIFO(f.High, f.Width).Depth * f.Width
		}
	}
	return bits, high
}

// Size finds depths such that no FIFO alone could be smaller, by simulation. Depths are those that memories have.
//
// With unbounded FIFOs nothing holds up a writer, so the interval is that of the slowest layer or end of the host: the
// frames that arrive at it, and those behind it, keep step. In trials the host gives one frame per interval: at full
// speed a FIFO in front of the slowest layer would fill without end. This loses nothing. The design keeps an
// interval if and only if the clocks of frame f stay within a bound of f times the interval, and whether they do depends
// on the loops of waits within the design (no such loop may take longer than the interval for every frame that goes
// round), not on when the first words come.
//
// A trial runs until a state recurs, so that what it accepts is exact. Clocks of later frames never come sooner than
// those of earlier ones by more than the interval, and deeper FIFOs only make clocks earlier. Hence:
//
//   - High-water marks of the unbounded design are depths enough.
//   - What a pair of layers needs in a world that never waits is a lower bound for the FIFO between them. Where all
//     FIFOs hold their bounds and the whole design passes, nothing can be smaller: so it is for most chains.
//   - What a FIFO needs with the others deep, it needs with them short. So one that was tried once in its turn is settled.
//
// Else, blocks (forks to joins) are settled each for itself, halving the FIFOs that are tried together, the widest last;
// if the blocks do not pass together, they are settled in the whole design.
//
// The depths are free from deadlock at any kernel latencies, or, if the high-water marks themselves are not, at those
// at which they are.
func Size(ctx context.Context, d *dataflow.Design, opt SizeOptions) (*Sizing, error) {
	if err := d.Verify(); err != nil {
		return nil, fmt.Errorf("design: %w", err)
	}
	for _, p := range []Pace{opt.In, opt.Out} {
		if err := p.verify(); err != nil {
			return nil, err
		}
		if p.Stall > 0 {
			return nil, fmt.Errorf("FIFOs are sized for a host that does not stall")
		}
	}
	z := &sizer{plan: newPlan(d), opt: opt, ctx: ctx, effort: cmp.Or(opt.Effort, 1e9)}
	z.blocks = z.split()
	if opt.Minimal {
		z.minimal()
	} else {
		z.throughput()
	}
	if z.err != nil {
		return nil, z.err
	}
	return z.sizing(), nil
}

type sizer struct {
	*plan
	opt      SizeOptions
	ctx      context.Context
	err      error // the context's, from which on nothing is accepted
	blocks   []block
	interval int
	high     []int // per stream
	low      []int // lower bounds
	depth    []int // the result
	room     int   // of pipelines that freedom from deadlock counts on
	kept     bool
	exact    bool
	trials   int
	effort   int // words that may be moved yet
}

// minimal sizes for freedom from deadlock. A frame's words in every FIFO are enough.
func (z *sizer) minimal() {
	z.low = slices.Repeat([]int{Least}, len(z.ports))
	z.depth = slices.Clone(z.low)
	for _, b := range z.blocks {
		if len(b.streams) == 1 {
			continue // no circle
		}
		for _, s := range b.streams {
			z.depth[s] = z.memory(s, z.ports[s].Words)
		}
		z.lower(b.streams, func() bool { return z.free(b.members) })
	}
	z.kept = true
	z.refine(func() bool { return z.free(nil) })
}

// memory is the depth of the memory for so many words of a stream.
func (z *sizer) memory(s, words int) int { return cost.ImplementFIFO(words, z.ports[s].Width()).Depth }

func (z *sizer) throughput() {
	z.interval = z.fastest()
	z.high = z.unbounded()
	z.low = make([]int, len(z.ports))
	shallow := true
	for s, h := range z.high {
		z.low[s] = Least
		shallow = shallow && h <= Least
	}
	z.depth = make([]int, len(z.ports))
	for s, h := range z.high {
		z.depth[s] = z.memory(s, h)
	}
	z.demand()
	high := slices.Clone(z.depth)
	whole := func() bool { return z.passes(nil) }
	copy(z.depth, z.low)
	if z.kept = whole(); z.kept || shallow {
		z.exact = z.kept
		return
	}
	copy(z.depth, high)
	z.blockwise(high, whole)
	z.refine(whole)
}

// blockwise lowers depths from those of the high-water marks block by block, and in the whole design if they do not pass together.
func (z *sizer) blockwise(high []int, whole func() bool) {
	for _, b := range z.blocks {
		for _, s := range b.streams {
			z.low[s] = z.memory(s, z.bound(s))
		}
		if len(b.streams) > 1 {
			z.lower(b.streams, func() bool { return z.passes(b.members) })
		} else {
			z.depth[b.streams[0]] = z.low[b.streams[0]]
		}
	}
	if z.kept = whole(); z.kept {
		z.lower(z.outer(), whole)
		return
	}
	// Blocks that hold up each other: what they found alone are lower bounds in the whole design.
	all := z.outer()
	for _, b := range z.blocks {
		for _, s := range b.streams {
			z.low[s] = z.depth[s]
			all = append(all, s)
		}
	}
	copy(z.depth, high)
	z.lower(all, whole)
	z.kept = whole()
}

// outer is the streams of the host.
func (z *sizer) outer() (list []int) {
	for s := range z.ports {
		if !z.inner(s) {
			list = append(list, s)
		}
	}
	return list
}

// fastest is the interval with unbounded FIFOs.
func (z *sizer) fastest() int {
	most := 0
	for _, l := range z.loops {
		most = max(most, l.Iterations())
	}
	for _, s := range z.design.Model.Graph.In {
		most = max(most, z.opt.In.Every*z.ports[s].Words)
	}
	for _, s := range z.design.Model.Graph.Out {
		most = max(most, z.opt.Out.Every*z.ports[s].Words)
	}
	return most
}

// A trial that keeps the interval settles within a few frames. One that falls behind by very little may take long to
// show it: it is given up after so many frames, or so many words.
const (
	settling      = 64
	settlingWords = 2e7
)

func (z *sizer) settling(members []bool) int {
	words := 1
	for s, p := range z.ports {
		if members == nil || z.inner(s) && members[z.writer[s]] && members[z.reader[s]] {
			words += p.Words
		}
	}
	return min(settling, max(8, settlingWords/words))
}

// unbounded is the high-water marks of unbounded FIFOs. A host at full speed has its word ready whenever there is room
// for it, and takes one whenever there is one: two words are enough for it.
func (z *sizer) unbounded() []int {
	depth := make([]int, len(z.ports))
	for s := range depth {
		depth[s] = math.MaxInt
		if z.writer[s] < 0 && z.opt.In.Every <= 1 || z.reader[s] < 0 && z.opt.Out.Every <= 1 {
			depth[s] = Least
		}
	}
	e := z.paced(depth, 4*z.settling(nil))
	for _, s := range e.sources {
		s.spread = true
	}
	z.settle(e)
	high := make([]int, len(depth))
	for _, s := range e.streams {
		high[s.id] = min(max(Least, s.high), depth[s.id])
	}
	return high
}

// paced is the whole design with a host that gives a frame per interval.
func (z *sizer) paced(depth []int, frames int) *engine {
	e := z.whole(depth, nil, Options{Frames: frames, In: z.opt.In, Out: z.opt.Out})
	e.every = true
	for _, s := range e.sources {
		s.pace = z.interval
	}
	return e
}

// settle runs until a state recurs, and reports whether frames then follow each other at the interval.
func (z *sizer) settle(e *engine) bool {
	z.trials++
	for e.goal < e.frames && z.err == nil && z.effort > 0 {
		through, err := e.pass(z.ctx)
		if err != nil {
			z.err = err
		}
		if !through {
			return false
		}
		for _, s := range e.streams {
			z.effort -= s.port.Words
		}
		if e.recur() {
			return e.trace.Period.Clocks == z.interval*e.trace.Period.Frames
		}
		if e.search.over {
			return false
		}
	}
	return false
}

// passes reports whether the members, or the whole design, keep the interval at the depths, and are free from deadlock.
func (z *sizer) passes(members []bool) bool {
	if members != nil {
		return z.free(members) && z.settle(z.part(members, z.depth, z.interval, z.settling(members)))
	}
	for _, b := range z.blocks {
		if len(b.streams) > 1 && !z.free(b.members) {
			return false
		}
	}
	return z.settle(z.paced(z.depth, z.settling(nil)))
}

func (z *sizer) free(members []bool) bool {
	if z.err != nil {
		return false
	}
	t := newTokens(z.plan, members)
	through, err := t.run(z.ctx, z.capacities(z.depth, z.room))
	z.err = cmp.Or(z.err, err)
	return through
}

// demand is freedom from deadlock at any latencies if the depths allow it, else at the latencies at which they do.
func (z *sizer) demand() {
	for _, b := range z.blocks {
		if len(b.streams) > 1 {
			room, _, err := newTokens(z.plan, b.members).room(z.ctx, z.depth)
			z.room = max(z.room, room)
			z.err = cmp.Or(z.err, err)
		}
	}
}

// bound is what the writer and the reader of a stream need if nothing else ever waits.
func (z *sizer) bound(s int) int {
	if z.high[s] <= Least {
		return Least
	}
	depth := slices.Repeat([]int{math.MaxInt}, len(z.ports))
	members := make([]bool, len(z.loops))
	members[z.writer[s]], members[z.reader[s]] = true, true
	keeps := func(words int) bool {
		depth[s] = words
		return z.settle(z.part(members, depth, z.interval, z.settling(members)))
	}
	low, high := Least-1, Least // too few, and tried next
	for high < z.high[s] && !keeps(high) {
		low, high = high, 2*high
	}
	high = min(high, z.high[s])
	return low + 1 + sort.Search(high-low-1, func(i int) bool { return keeps(low + 1 + i) })
}

// lower takes streams from the depths they have, which pass, to smaller ones of which none alone can be smaller.
func (z *sizer) lower(streams []int, passes func() bool) {
	var open []int
	for _, s := range streams {
		if z.depth[s] > z.low[s] {
			open = append(open, s)
		}
	}
	if len(open) == 0 || z.err != nil {
		return
	}
	if z.try(open, passes) {
		return
	}
	if len(open) == 1 {
		z.search(open[0], z.memories(open[0]), passes)
		return
	}
	saves := func(s int) int { return (z.depth[s] - z.low[s]) * z.ports[s].Width() }
	slices.SortStableFunc(open, func(a, b int) int { return cmp.Compare(saves(a), saves(b)) })
	half := len(open) / 2
	if saves(open[len(open)-1]) > 4*saves(open[len(open)-2]) {
		half = len(open) - 1 // most likely the one that has to be deep
	}
	z.lower(open[:half:half], passes)
	z.lower(open[half:], passes)
}

// memories is the depths of the memories for more words than the lower bound, up to the depth that passes.
func (z *sizer) memories(s int) (list []int) {
	for d := z.low[s]; d < z.depth[s]; {
		d = z.memory(s, d+1)
		list = append(list, d)
	}
	return list
}

// search settles a stream on the first depth of a list that passes; its last one does.
func (z *sizer) search(s int, depths []int, passes func() bool) {
	last := len(depths) - 1
	z.depth[s] = depths[sort.Search(last, func(i int) bool {
		z.depth[s] = depths[i]
		return passes()
	})]
}

// refine looks for the fewest words within each memory, the most bits first.
func (z *sizer) refine(passes func() bool) {
	if !z.kept {
		return
	}
	left := max(0, z.effort-z.effort/25)
	z.effort -= left
	order := make([]int, len(z.ports))
	for s := range order {
		order[s] = s
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(z.depth[b]*z.ports[b].Width(), z.depth[a]*z.ports[a].Width()) })
	for _, s := range order {
		var words []int
		for w := z.depth[s]; w >= Least && z.memory(s, w) == z.depth[s]; w-- {
			words = append(words, w)
		}
		slices.Reverse(words)
		z.search(s, words, passes)
	}
	z.exact = z.effort > 0
	z.effort += left
}

// try takes streams to their lower bounds if that passes.
func (z *sizer) try(streams []int, passes func() bool) bool {
	was := slices.Clone(z.depth)
	for _, s := range streams {
		z.depth[s] = z.low[s]
	}
	if passes() {
		return true
	}
	z.depth = was
	return false
}

func (z *sizer) sizing() *Sizing {
	r := &Sizing{Interval: z.interval, Room: z.room, Kept: z.kept, Exact: z.exact, Trials: z.trials}
	in := make(map[int]block)
	for _, b := range z.blocks {
		for _, s := range b.streams {
			in[s] = b
		}
	}
	for s, words := range z.depth {
		width := z.ports[s].Width()
		made := cost.ImplementFIFO(words, width)
		f := FIFO{Stream: s, Width: width, Words: words, Depth: made.Depth, Memory: made.Memory}
		if !z.opt.Minimal {
			f.High = z.high[s]
		}
		if words > cost.ShiftRegister {
			f.Reason = "the host is slow"
			if b, ok := in[s]; ok {
				f.Reason = z.reason(b, s)
			}
		}
		r.FIFOs = append(r.FIFOs, f)
		r.Depth = append(r.Depth, f.Depth)
	}
	return r
}
