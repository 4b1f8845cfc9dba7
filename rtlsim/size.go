package rtlsim

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"hlsgen/internal/dataflow"
)

// Least is the smallest FIFO: two words, which are two registers, as HLS makes them by default.
const Least = 2

// memoryWords is what the smallest memory holds: a shift register, or the shallowest RAM in LUTs.
const memoryWords = 32

// Step is the words that are looked for where so many are needed: two, or a multiple of the smallest memory. What is in
// between takes no less hardware.
func Step(words int) int { return step(words, memoryWords) }

// Deeper is the words that are looked for where a stream of a design needs more than it has. Of a FIFO that the host
// writes they leave room for what its hardware has besides.
func Deeper(d *dataflow.Design, s int) int {
	return stepAhead(d.FIFO[s].Depth+1, memoryWords, d.Places(s)-d.FIFO[s].Depth)
}

// stepAhead is step where the hardware has room for some words more.
func stepAhead(words, each, ahead int) int {
	if words <= Least {
		return Least
	}
	return step(words+ahead, each) - ahead
}

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
	// Shorter also makes sequences of every other length come through, of which Prove may tell that they do not with
	// what the longest needs.
	Shorter bool
	// Effort is how many words may be moved in trials; 0 is 1e9, some ten seconds. Depths that it ends before are
	// deeper than they have to be (Exact). Few trials of the whole are made in any case.
	Effort int
	Known  *Known // what was found in other designs; may be nil

	// Trust takes depths that hold a schedule without a trial, where the effort is not enough for windows: credits
	// prove that they keep the interval, else they are Untried. Whether less does is not looked into, but by a few
	// windows (Unsure), unless that may spare much.
	Trust bool

	each int // words of the smallest memory, where not 0: in tests, whose networks are small
}

// A Sizing is depths for all streams of a design, in words. They are steps (Step), but for those that were given.
type Sizing struct {
	Interval int    // clocks per frame that the depths keep; 0 where they are minimal
	Words    []int  // per stream
	Kept     bool   // these depths do so, or are Untried; false where none can, or where that is not known (Cut)
	Untried  bool   // these depths hold a schedule of pipelines that freeze (Trust), which proves nothing
	Unsure   bool   // whether less does, too, is not known: Needs are not proved
	Cut      bool   // whether any depths keep the interval is not known: a trial of the whole came to a limit
	Exact    bool   // no FIFO alone could do with a step less; where pipelines freeze, none could before others did
	Needs    []Need // what was seen to be too little at first; empty where SizeOptions.From does
	Trials   int
	Moved    int // words, in all trials
}

// A Need says that some layers, wherever they stand, do not keep the interval, or deadlock, as long as none of the
// streams between them holds more words than SizeOptions.From.
type Need struct{ Nodes, Streams []int }

// Size finds depths such that no FIFO alone could be smaller, by simulation.
//
// With unbounded FIFOs nothing holds up a writer, so the interval is that of the slowest layer or end of the host: the
// frames that arrive at it, and those behind it, keep step. In trials the host gives one frame per interval: at full
// speed a FIFO in front of the slowest layer would fill without end. This loses nothing. The design keeps an interval
// if and only if the clocks of frame f stay within a bound of f times the interval, and whether they do depends on the
// loops of waits within the design (no such loop may take longer than the interval for every frame that goes round),
// not on when the first words come. A trial runs until a state recurs, so that what it says is exact. Where pipelines
// freeze, a word that comes earlier may make others late; there the whole design is tried with a host at full speed,
// too.
//
//  1. FIFOs begin with the least that is free from deadlock at any stalls and kernel latencies: two words but in blocks
//     (forks to joins), where a FIFO gets deeper that a frame is stuck at (grow.go).
//  2. Around each layer, the slowest first, a window of its neighbours has to keep the interval in a world that never
//     waits. What such a window needs is needed wherever it stands. Where one does not, a circle of waits holds it up
//     (look): the layers of that get the narrowest FIFO deeper that helps, or, where no single one does, several.
//  3. The same for every block, for wider windows that together cover the design, and in the end for the whole. Wider
//     windows still are left out where the whole keeps the interval already.
//
// Before 2, the whole is tried as it is, unless a window tells that it is too shallow. Where the effort is not enough
// for windows, or they come to nothing, FIFOs hold what a schedule puts into them.
//
// For example, a fork gives 100 words of a frame to a layer that holds them all back, and to a join behind that by a
// stream past it. At 2 words everywhere the block of these three deadlocks: the stream past the layer, at which the
// fork waits for room, gets a step of 32 words after the other, until a frame gets through with 128. The windows, and
// then the whole, are run with these. They miss the interval where the join is slow to begin, say; then what is full
// there, a single FIFO of 32 words or several, is deepened.
//
// Minimising buffers under a throughput constraint is a question of synchronous dataflow (S. Stuijk, M. Geilen, T.
// Basten, Exploring trade-offs in buffer requirements and throughput constraints, DAC 2006), where it is answered by
// simulation, too.
//
// In the end no FIFO alone could do with less: what was needed beside short FIFOs and turns out not to be needed beside
// deeper ones is taken back. Of sequences of different lengths all this is the longest's (see SizeOptions.Shorter).
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
	known := opt.Known
	if known == nil {
		known = &Known{}
	}
	p := newPlan(d)
	z := &sizer{trials: &trials{plan: p, ctx: ctx, known: known, in: opt.In, out: opt.Out, left: cmp.Or(opt.Effort,
		1e9)},
		depths: newDepths(p, opt), blocks: p.split(), why: map[int][]bool{},
		trust: opt.Trust && !slices.ContainsFunc(opt.Fixed, func(words int) bool { return words > 0 })}
	z.begin()
	if opt.Minimal {
		z.kept = z.free(nil, z.now)
		z.exact = !z.loose
	} else if z.err == nil {
		z.interval = max(opt.Interval, fastest(p, z.in, z.out))
		z.throughput()
	}
	if opt.Shorter && z.kept && z.err == nil {
		z.lengthen()
	}
	if z.err != nil {
		return nil, z.err
	}
	return &Sizing{Interval: z.interval, Words: z.now, Kept: z.kept, Cut: z.cut && !z.kept,
		Exact: z.exact, Untried: z.untried, Unsure: z.unsure && len(z.needs) > 0,
		Needs: z.needs, Trials: z.count, Moved: cmp.Or(opt.Effort, 1e9) - z.left}, nil
}

// A sizer looks for depths.
type sizer struct {
	*trials
	depths
	blocks  []block
	needs   []Need
	why     map[int][]bool // by stream: the window that it was made deeper for; nil for the whole
	kept    bool
	cut     bool // the last trial that was to be made in any case came to a limit
	exact   bool
	untried bool
	unsure  bool
	trust   bool // as SizeOptions.Trust, where no depths are given
	loose   bool // some depths that were free from deadlock were not lowered as far as they may be
}

// lengthen makes depths such that sequences of every length come through, where these differ. More room never stops
// anything, so that the longest keep their interval.
func (z *sizer) lengthen() {
	err := z.shorter(func(_ int, at *plan) error {
		t := *z.trials
		t.plan = at
		short := &sizer{trials: &t, depths: z.depths, blocks: at.split(), why: map[int][]bool{}}
		short.low = slices.Clone(z.now)
		short.now = slices.Clone(z.now)
		short.begin()
		if len(short.needs) > 0 {
			z.now, z.needs, z.exact = short.now, append(z.needs, short.needs...), false
		}
		z.kept = z.kept && short.free(nil, z.now)
		return short.err
	})
	z.err = cmp.Or(z.err, err)
}

// need notes that some layers need more than the lower bounds. Streams at which no writer misses room are of no use.
func (z *sizer) need(members []bool, streams []int) {
	n := Need{Streams: slices.DeleteFunc(slices.Clone(streams), z.given)}
	for i := range z.loops {
		if members == nil || members[i] {
			n.Nodes = append(n.Nodes, i)
		}
	}
	z.needs = append(z.needs, n)
}

// throughput makes depths keep the interval.
func (z *sizer) throughput() {
	slowest := numbers(len(z.loops))
	by(slowest, func(i int) int { return -z.loops[i].Iterations() })
	dear := z.dear(slowest)
	trust := dear && z.trust
	looked := slowest
	if trust {
		const few = 8
		looked = slowest[:min(few, len(slowest))]
	}
	short := z.short(looked)
	if !short && !trust {
		if z.enoughAlready() {
			return
		}
		z.unsure = z.cut
	}
	if !dear && len(slowest) > 0 && z.tight(slowest) {
		return
	}
	needs := z.needs
	eased, ok := z.eased(slowest, trust)
	if !ok {
		return
	}
	if !short && trust {
		const worth = 20 // a trial is, where a schedule takes such a part of the bits more
		tried := z.bits(eased)-z.bits(z.now) > z.bits(z.now)/worth
		if tried && z.enoughAlready() {
			z.needs, z.untried = needs, false
			return
		}
		z.unsure = !tried || z.cut
	}
	z.now, z.kept = eased, true
}

// tight finds depths from windows on, and reports whether these keep the interval; else they are what they were.
func (z *sizer) tight(slowest []int) bool {
	was := slices.Clone(z.now)
	if len(z.needs) == 0 {
		z.need(nil, z.streamsOf(nil)) // the depths at hand do not keep it
	}
	if z.design.Target.Stalls == dataflow.Frozen {
		z.hosts = pacedHost
	}
	z.inWindows(slowest)
	if z.finish(); !z.kept {
		z.now = was
	}
	return z.kept
}

// enoughAlready reports whether the design keeps the interval at the depths that it begins with.
func (z *sizer) enoughAlready() bool {
	z.kept = z.blocksFree() && z.surely().keeps
	z.exact = z.kept && !z.loose
	return z.kept
}

// dear reports whether the effort is not enough for the windows around layers and for some trials of the whole.
func (z *sizer) dear(layers []int) bool {
	const windows, wholes = 20, 8 // frames that the trials take in all, more or less
	return windows*z.windows(layers)+wholes*z.words(nil) > z.left
}

// finish makes the whole design keep the interval, and takes back what is not needed. Where pipelines freeze, a host at
// full speed fills FIFOs for long: it is tried in the end, and with every trial only where it does not keep up then.
func (z *sizer) finish() {
	if z.hosts == pacedHost {
		z.kept = z.mend()
		z.exact = z.kept && z.shrink()
		if z.hosts = fullHost; z.kept && z.keeps() {
			return
		}
		z.hosts = anyHost
	}
	z.kept = z.mend()
	z.exact = z.kept && z.shrink()
}

// inWindows deepens windows around layers, those of blocks, and then wider ones, until these need nothing and the whole
// keeps the interval.
func (z *sizer) inWindows(slowest []int) {
	for _, l := range slowest {
		if z.slow(l) {
			z.around(l, radius)
		}
	}
	for _, b := range z.blocks {
		if len(b.streams) > 1 {
			z.deepest(b.members)
		}
	}
	for r := 2 * radius; r < len(slowest)/4; r *= 2 {
		if !z.cover(r) && r > 2*radius && z.keeps() {
			return
		}
	}
}

// surely tries the whole design, whatever effort is left. Where pipelines freeze, a host at full speed decides: it is
// asked alone.
func (z *sizer) surely() tried {
	const words = 4e8
	left, hosts := z.left, z.hosts
	z.left = max(left, words)
	before := z.left
	if z.design.Target.Stalls == dataflow.Frozen {
		z.hosts = fullHost
	}
	t := z.try(nil, z.now)
	if z.hosts = hosts; t.cut {
		t = z.try(nil, z.now)
	}
	z.cut = t.cut
	z.left = left - (before - z.left)
	return t
}

// mend makes the whole design deeper, circle by circle, until it keeps the interval, which it reports.
func (z *sizer) mend() bool {
	for !z.keeps() {
		if z.err != nil || z.left <= 0 || !(&mended{z, nil}).deepen(z.look(nil, z.now)) {
			return false
		}
	}
	return true
}

// passes reports whether a window keeps the interval at the depths, in a world that never waits.
func (z *sizer) passes(members []bool) bool { return z.try(members, z.now).keeps }

// keeps reports whether the design keeps the interval at the depths, and is free from deadlock.
func (z *sizer) keeps() bool {
	return z.err == nil && z.left > 0 && z.blocksFree() && z.passes(nil)
}

// blocksFree reports whether no block deadlocks at the depths.
func (z *sizer) blocksFree() bool {
	for _, b := range z.blocks {
		if len(b.streams) > 1 && !z.free(b.members, z.now) {
			return false
		}
	}
	return true
}

// shrink takes back what turned out not to be needed, FIFO by FIFO, the most bits first. It reports whether it came to
// the end.
func (z *sizer) shrink() bool {
	widest := numbers(len(z.ports))
	by(widest, func(s int) int { return -z.now[s] * z.ports[s].Width() })
	for _, s := range widest {
		was := z.now[s]
		if was == z.low[s] || z.given(s) {
			continue
		}
		if z.now[s] = max(z.low[s], z.step(s, was-z.each)); !z.local(s) && z.keeps() {
			z.search(s, z.low[s], func() bool { return !z.local(s) && z.keeps() })
		} else {
			z.now[s] = was
		}
	}
	return z.left > 0
}

// Reasons says, per stream, why words gather there: of FIFOs beyond the smallest memory; the others' are empty.
func Reasons(d *dataflow.Design) []string {
	p := newPlan(d)
	blocks := p.split()
	list := make([]string, len(d.FIFO))
	for s, words := range d.Depths() {
		if words <= memoryWords {
			continue
		}
		list[s] = "the host is slow"
		for _, b := range blocks {
			if slices.Contains(b.streams, s) {
				list[s] = p.reason(b, s)
			}
		}
	}
	return list
}
