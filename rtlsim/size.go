package rtlsim

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"sort"

	"hlsgen/internal/dataflow"
)

// Least is the smallest FIFO: two words, which are two registers, as HLS makes them by default.
const Least = 2

// memoryWords is what the smallest memory holds: a shift register, or the shallowest RAM in LUTs.
const memoryWords = 32

// Step is the words that are looked for where so many are needed: two, or a multiple of the smallest memory. What is in
// between takes no less hardware.
func Step(words int) int { return step(words, memoryWords) }

func step(words, each int) int {
	if words <= Least {
		return Least
	}
	return (words + each - 1) / each * each
}

// SizeOptions say what FIFOs are sized for. The zero value keeps the interval of unbounded FIFOs with a host at full
// speed.
type SizeOptions struct {
	Minimal  bool  // freedom from deadlock alone, at any speed
	Interval int   // clocks per frame to keep; 0 for those of unbounded FIFOs, than which it is no shorter
	From     []int // per stream: words that it has at least; nil for two
	In, Out  Pace  // of the host; without stalls
	Fixed    []int // per stream: the words that it has, 0 where they are looked for; nil for nowhere given
	// Effort is how many words may be moved in trials; 0 is 1e9, some ten seconds. Depths that it ends before are deeper
	// than they have to be (Exact). Few trials of the whole are made in any case.
	Effort int
	Known  *Known // what was found in other designs; may be nil

	each int // words of the smallest memory, where not 0: in tests, whose networks are small
}

// A Sizing is depths for all streams of a design, in words. They are steps (Step), but for those that were given.
type Sizing struct {
	Interval int      // clocks per frame that the depths keep; 0 where they are minimal
	Words    []int    // per stream
	Reason   []string // per stream: why it is deep; empty up to the smallest memory
	Kept     bool     // these depths were seen to do so; false where none can, or where that is not known (Cut)
	Cut      bool     // a trial of the whole was given up: it moves too many words
	Exact    bool     // no FIFO alone could do with a step less
	Needs    []Need   // what was seen to be too little at first; empty where SizeOptions.From does
	Trials   int
	Moved    int // words, in all trials
}

// A Need says that some layers, wherever they stand, do not keep the interval, or deadlock, as long as none of the streams
// between them holds more words than SizeOptions.From.
type Need struct{ Nodes, Streams []int }

// Size finds depths such that no FIFO alone could be smaller, by simulation.
//
// With unbounded FIFOs nothing holds up a writer, so the interval is that of the slowest layer or end of the host: the
// frames that arrive at it, and those behind it, keep step. In trials the host gives one frame per interval: at full
// speed a FIFO in front of the slowest layer would fill without end. This loses nothing. The design keeps an
// interval if and only if the clocks of frame f stay within a bound of f times the interval, and whether they do depends
// on the loops of waits within the design (no such loop may take longer than the interval for every frame that goes
// round), not on when the first words come. A trial runs until a state recurs, so that what it says is exact.
//
//  1. FIFOs begin with the least that is free from deadlock at any stalls and kernel latencies: two words but in blocks
//     (forks to joins), where they are halved together, the widest last, as long as a frame gets through.
//  2. Around each layer, the slowest first, a window of its neighbours has to keep the interval in a world that never
//     waits. What such a window needs is needed wherever it stands. Where one does not, the smallest around the layer
//     that does not gets the narrowest FIFO deeper that helps, or, where no single one does, several.
//  3. The same for every block. Then the whole design is tried. Where it does not pass, windows grow, and in the end the
//     whole is one.
//
// In the end no FIFO alone could do with less: what was needed beside short FIFOs and turns out not to be needed beside
// deeper ones is taken back.
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
	for _, list := range [][]int{opt.Fixed, opt.From} {
		if n := len(d.FIFO); list != nil && len(list) != n {
			return nil, fmt.Errorf("%d depths are given for %d streams", len(list), n)
		}
	}
	z := &sizer{plan: newPlan(d), opt: opt, ctx: ctx, effort: cmp.Or(opt.Effort, 1e9),
		each: cmp.Or(opt.each, memoryWords)}
	if z.opt.Known == nil {
		z.opt.Known = &Known{}
	}
	z.blocks = z.split()
	z.begin()
	if z.err != nil {
		return nil, z.err
	}
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
	low      []int // lower bounds: From, what is given
	depth    []int // the result
	needs    []Need
	kept     bool
	cut      bool
	exact    bool
	trials   int
	effort   int // words that may be moved yet
	each     int // words of a step
}

func (z *sizer) step(words int) int { return step(words, z.each) }

func (z *sizer) fixed(s int) bool { return z.opt.Fixed != nil && z.opt.Fixed[s] > 0 }

// begin sets every stream to what is given, or to the least that is free from deadlock: in blocks a frame's words are
// enough, and from there on depths are halved.
func (z *sizer) begin() {
	z.low = slices.Repeat([]int{Least}, len(z.ports))
	for s := range z.low {
		if z.opt.From != nil {
			z.low[s] = max(Least, z.opt.From[s])
		}
		if z.fixed(s) {
			z.low[s] = z.opt.Fixed[s]
		}
	}
	z.depth = slices.Clone(z.low)
	for _, b := range z.blocks {
		if len(b.streams) == 1 || z.free(b.members) {
			continue // no circle
		}
		z.need(b.members, b.streams)
		for _, s := range b.streams {
			if !z.fixed(s) {
				z.depth[s] = max(z.low[s], z.step(z.ports[s].Words))
			}
		}
		z.lower(b.streams, func() bool { return z.free(b.members) })
	}
}

func (z *sizer) minimal() {
	z.kept = z.free(nil)
	z.exact = true
}

// need notes that some layers need more than the lower bounds. Streams at which no writer misses room are of no use.
func (z *sizer) need(members []bool, streams []int) {
	n := Need{Streams: slices.DeleteFunc(slices.Clone(streams), z.fixed)}
	for i := range z.loops {
		if members == nil || members[i] {
			n.Nodes = append(n.Nodes, i)
		}
	}
	z.needs = append(z.needs, n)
}

func (z *sizer) throughput() {
	z.interval = max(z.opt.Interval, z.fastest())
	if z.kept = z.blocksFree() && z.surely().keeps; z.kept || z.cut {
		z.exact = z.kept
		return
	}
	roomy, words := z.roomy()
	if roomy == nil {
		return
	}
	const windows = 12 // what they take at least, in trials of the whole
	if windows*words > z.effort {
		z.depth, z.kept = z.capped(roomy), true
		return
	}
	order := make([]int, len(z.loops))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(z.loops[b].Iterations(), z.loops[a].Iterations()) })
	for r := radius; r < 2*len(order) && !z.kept && z.err == nil; r *= 2 {
		for _, l := range order {
			if 2*z.loops[l].Iterations() > z.interval {
				z.around(l, r)
			}
		}
		for _, b := range z.blocks {
			for len(b.streams) > 1 && !z.passes(b.members) && z.deepen(b.members) {
			}
		}
		z.kept = z.keeps()
	}
	z.kept = z.kept || z.deepen(nil) && z.keeps()
	z.exact = z.kept && z.shrink()
	if !z.kept && z.err == nil {
		z.depth, z.kept = roomy, true
	}
}

// roomy is depths that keep the interval, most of them deeper than they have to be: what FIFOs held that held up nobody, and
// the words that were moved to find out. It is nil where no depths do. This trial is made whatever the effort is: it is what
// a sizing without effort ends with.
func (z *sizer) roomy() (depth []int, words int) {
	was := z.depth
	z.depth = slices.Clone(was)
	for s := range z.depth {
		if !z.fixed(s) {
			z.depth[s] = z.most(s)
		}
	}
	t := z.surely()
	for s := range z.depth {
		if !z.fixed(s) && t.keeps {
			z.depth[s] = max(was[s], min(z.depth[s], z.step(t.high[s])))
		}
	}
	depth, z.depth = z.depth, was
	if !t.keeps {
		return nil, t.words
	}
	if len(z.needs) == 0 {
		z.need(nil, z.streamsOf(nil))
	}
	return depth, t.words
}

// surely tries the whole design, whatever effort is left.
func (z *sizer) surely() tried {
	const words = 4e8
	left := z.effort
	z.effort = max(left, words)
	before := z.effort
	t := z.try(nil)
	z.cut = z.cut || z.effort <= 0 && !t.keeps
	z.effort = left - (before - z.effort)
	return t
}

// capped is roomy depths of which none is deeper than the least power of four steps that keeps the interval: what few trials
// of the whole can tell, where the effort is not enough for windows.
func (z *sizer) capped(roomy []int) []int {
	least, deepest := z.depth, slices.Max(roomy)
	var most []int
	for words := z.each; words < deepest; words *= 4 {
		most = append(most, words)
	}
	under := func(i int) []int {
		depth := slices.Clone(roomy)
		for s := range depth {
			if i < len(most) && !z.fixed(s) {
				depth[s] = max(least[s], min(roomy[s], z.step(most[i])))
			}
		}
		return depth
	}
	i := sort.Search(len(most), func(i int) bool {
		z.depth = under(i)
		return z.surely().keeps
	})
	z.depth = least
	return under(i)
}

// keeps reports whether the design keeps the interval at the depths, and is free from deadlock.
func (z *sizer) keeps() bool {
	return z.err == nil && z.effort > 0 && z.blocksFree() && z.passes(nil)
}

// blocksFree reports whether no block deadlocks at the depths.
func (z *sizer) blocksFree() bool {
	for _, b := range z.blocks {
		if len(b.streams) > 1 && !z.free(b.members) {
			return false
		}
	}
	return true
}

// shrink takes back what turned out not to be needed, FIFO by FIFO, the most bits first. It reports whether it came to the
// end.
func (z *sizer) shrink() bool {
	order := make([]int, len(z.ports))
	for s := range order {
		order[s] = s
	}
	bits := func(s int) int { return z.depth[s] * z.ports[s].Width() }
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(bits(b), bits(a)) })
	for _, s := range order {
		if z.depth[s] == z.low[s] || z.fixed(s) {
			continue
		}
		was := z.depth[s]
		if z.depth[s] = max(z.low[s], z.step(was-z.each)); !z.local(s) && z.keeps() {
			z.search(s, z.keeps)
			continue
		}
		z.depth[s] = was
	}
	return z.effort > 0
}

// fastest is the interval with unbounded FIFOs.
func (z *sizer) fastest() int {
	most := 0
	for _, l := range z.loops {
		most = max(most, l.Iterations())
	}
	for s, port := range z.ports {
		if z.writer[s] < 0 {
			most = max(most, port.Words*max(z.opt.In.Every, z.every[s]))
		}
		if z.reader[s] < 0 {
			most = max(most, port.Words*max(z.opt.Out.Every, z.every[s]))
		}
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
		if members == nil || z.within(members, s) {
			words += p.Words
		}
	}
	return min(settling, max(8, settlingWords/words))
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

// keepsInterval runs until a state recurs, and reports whether frames then follow each other at the interval. A run that
// falls behind by the same clocks frame after frame is given up: it would not catch up but for a rare transient, which
// would cost a deeper FIFO and nothing else.
func (z *sizer) keepsInterval(e *engine) bool {
	const steady = 4 // frames
	late, more, same := 0, 0, 0
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
		now := e.clock() - e.goal*z.interval
		if now-late != more {
			same = 0
		}
		late, more, same = now, now-late, same+1
		if more > 0 && same >= steady {
			return false
		}
	}
	return false
}

func (z *sizer) free(members []bool) bool {
	if z.err != nil {
		return false
	}
	t := newTokens(z.plan, members)
	through, err := t.run(z.ctx, z.capacities(z.depth, 0))
	z.err = cmp.Or(z.err, err)
	return through
}

// lower takes streams from the depths they have, which pass, to smaller ones of which none alone can be smaller.
func (z *sizer) lower(streams []int, passes func() bool) {
	var open []int
	for _, s := range streams {
		if z.depth[s] > z.low[s] && !z.fixed(s) {
			open = append(open, s)
		}
	}
	if len(open) == 0 || z.err != nil {
		return
	}
	if z.drop(open, passes) {
		return
	}
	if len(open) == 1 {
		z.search(open[0], passes)
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

// search settles a stream on the first step from its lower bound on that passes; the depth that it has does.
func (z *sizer) search(s int, passes func() bool) {
	steps := []int{z.low[s]}
	for steps[len(steps)-1] < z.depth[s] {
		steps = append(steps, z.step(steps[len(steps)-1]+1))
	}
	last := len(steps) - 1
	// The lower bound was tried already, with others at theirs; alone it may do.
	z.depth[s] = steps[sort.Search(last, func(i int) bool {
		z.depth[s] = steps[i]
		return passes()
	})]
}

// drop takes streams to their lower bounds if that passes.
func (z *sizer) drop(streams []int, passes func() bool) bool {
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
	r := &Sizing{Interval: z.interval, Words: z.depth, Reason: make([]string, len(z.depth)), Kept: z.kept, Cut: z.cut && !z.kept, Exact: z.exact, Needs: z.needs, Trials: z.trials,
		Moved: cmp.Or(z.opt.Effort, 1e9) - z.effort}
	in := make(map[int]block)
	for _, b := range z.blocks {
		for _, s := range b.streams {
			in[s] = b
		}
	}
	for s, words := range z.depth {
		if words <= z.each || z.fixed(s) {
			continue
		}
		r.Reason[s] = "the host is slow"
		if b, ok := in[s]; ok {
			r.Reason[s] = z.reason(b, s)
		}
	}
	return r
}
