package rtlsim

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"hlsgen/internal/dataflow"
)

// MinFIFODepth is the depth of the smallest FIFO in words. HLS makes such a FIFO of two registers by default.
const MinFIFODepth = 2

// memoryWords is the depth of the smallest memory in words: a shift register, or the shallowest RAM in LUTs.
const memoryWords = 32

// RoundUpFIFODepth returns the least depth of at least words that FindFIFODepths considers: two, or a multiple of the
// smallest memory. A depth in between takes no less hardware.
func RoundUpFIFODepth(words int) int { return step(words, memoryWords) }

// NextFIFODepth returns the next depth that FindFIFODepths considers for stream s of a design. For a FIFO that the host
// writes, it allows for the words that the hardware holds in addition.
func NextFIFODepth(d *dataflow.Design, s int) int {
	return stepAhead(d.FIFO[s].Depth+1, memoryWords, d.FIFOCapacityWords(s)-d.FIFO[s].Depth)
}

// stepAhead returns the least depth of at least words that FindFIFODepths considers. Memories hold multiples of each
// words, and the hardware has room for ahead further words.
func stepAhead(words, each, ahead int) int {
	if words <= MinFIFODepth {
		return MinFIFODepth
	}
	return step(words+ahead, each) - ahead
}

func step(words, each int) int {
	if words <= MinFIFODepth {
		return MinFIFODepth
	}
	return (words + each - 1) / each * each
}

// FIFOSizingOptions tell FindFIFODepths what to aim for. The zero value keeps the interval of unbounded FIFOs with a
// host at full speed.
type FIFOSizingOptions struct {
	Minimal  bool         // aim for freedom from deadlock alone, at any speed
	Interval int          // clocks per frame to keep; at least the interval of unbounded FIFOs, which 0 means
	From     []int        // per stream: least depth in words; nil for two
	In, Out  HostSlowdown // pace of the host, which must not stall
	Fixed    []int        // per stream: given depth in words, 0 if it is to be found; nil if none is given
	// AllLengths also makes shorter sequences come through, for every length. They may not do so with the depths for
	// the longest.
	AllLengths bool
	// Effort limits the words that trials may move; 0 means 1e9, which takes some ten seconds. If the effort runs
	// out, depths are larger than necessary (see Exact). A few trials of the whole design are made in any case.
	Effort int
	Cache  *RunCache // results found in other designs; may be nil

	// TrustSchedule accepts depths that hold a schedule without a trial, if the effort is too small for windows. With
	// credits these depths are proved to keep the interval; otherwise they are Unsimulated. Whether smaller depths
	// suffice is examined only in a few windows (NotProved), unless the saving may be large.
	TrustSchedule bool

	each int // words of the smallest memory, if not 0; for tests, whose networks are small
}

// A FIFOSizing holds the depths that FindFIFODepths found for all streams of a design. They are as RoundUpFIFODepth
// returns them, except for given depths.
type FIFOSizing struct {
	Interval int   // clocks per frame that the depths keep; 0 if they only avoid deadlock
	Words    []int // per stream: depth in words
	// the depths keep the interval or are Unsimulated; false if no depths do, or if unknown (HitLimit)
	Feasible bool
	// the depths hold a schedule of pipelines that freeze (TrustSchedule), which proves nothing
	Unsimulated bool
	NotProved   bool // it is not known whether smaller depths suffice, so Needs are not proved
	// a trial of the whole design hit a limit, so it is not known whether any depths keep the interval
	HitLimit bool
	// no FIFO alone could be a step smaller; if pipelines freeze, that held before other FIFOs shrank
	Exact  bool
	Needs  []TooShallowPart // parts that were too shallow at first; empty if FIFOSizingOptions.From suffices
	Trials int
	Moved  int // words moved in all trials
}

// A TooShallowPart states that some layers, in any design, do not keep the interval, or deadlock. This holds as long as
// no stream between them holds more words than FIFOSizingOptions.From.
type TooShallowPart struct{ Nodes, Streams []int }

// FindFIFODepths finds depths by simulation, such that no FIFO alone could be smaller.
//
// With unbounded FIFOs nothing delays a writer. So the interval is that of the slowest layer or end of the host, and
// all layers behind it keep step. In trials the host gives one frame per interval; at full speed, a FIFO in front of
// the slowest layer would fill without end. This loses nothing. The design keeps an interval if and only if the clocks
// of frame f stay within a bound of f times the interval. Whether they do depends on the loops of waits within the
// design: no loop may take longer than the interval for every frame that goes round. It does not depend on when the
// first words come. A trial runs until a state recurs, so its result is exact. Where pipelines freeze, a word that
// comes earlier may delay others; there FindFIFODepths also tries the whole design with a host at full speed.
//
//  1. FIFOs begin with the least depths that avoid deadlock at any stalls and kernel latencies. These are two
//     words, except in blocks (forks to joins), where a FIFO becomes deeper if a frame is stuck at it (grow.go).
//  2. Around each layer, the slowest first, a window of its neighbours must keep the interval while the rest of the
//     design never waits. A depth that such a window needs is needed wherever the window stands. If it does not
//     keep the interval, a circle of waits delays it (look). The narrowest FIFO of the circle that helps becomes
//     deeper or, if no single FIFO helps, several do.
//  3. The same follows for every block, for wider windows that together cover the design, and finally for the whole
//     design. Still wider windows are left out if the whole design keeps the interval already.
//
// Before step 2 the whole design is tried as it is, unless a window shows that it is too shallow. If the effort is
// too small for windows, or if they fail, the depths come from a schedule.
//
// For example, a fork sends 100 words of a frame to a layer that holds them all back, and past this layer to a join
// behind it. With two words everywhere, the block of these three deadlocks. The fork waits for room on the stream
// past the layer, which gets 32 words more, again and again, until a frame gets through with 128. The windows, and
// then the whole design, run with these depths. They may miss the interval, for example because the join starts
// late; then the full FIFOs become deeper, a single one of 32 words or several.
//
// Minimising buffers under a throughput constraint is a known problem for synchronous dataflow (S. Stuijk, M.
// Geilen, T. Basten, Exploring trade-offs in buffer requirements and throughput constraints, DAC 2006). There, too,
// simulation solves it.
//
// In the end no FIFO alone could be smaller: FindFIFODepths takes back each depth that was needed only as long as other
// FIFOs were shallow. If sequences have different lengths, all this holds for the longest (see
// FIFOSizingOptions.AllLengths).
func FindFIFODepths(ctx context.Context, d *dataflow.Design, opt FIFOSizingOptions) (*FIFOSizing, error) {
	if err := d.Verify(); err != nil {
		return nil, fmt.Errorf("design: %w", err)
	}
	for _, p := range []HostSlowdown{opt.In, opt.Out} {
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
	known := opt.Cache
	if known == nil {
		known = &RunCache{}
	}
	p := newPlan(d)
	z := &sizer{trials: &trials{plan: p, ctx: ctx, known: known, in: opt.In, out: opt.Out, left: cmp.Or(opt.Effort,
		1e9)},
		depths: newDepths(p, opt), blocks: p.split(), why: map[int][]bool{},
		trust: opt.TrustSchedule && !slices.ContainsFunc(opt.Fixed, func(words int) bool { return words > 0 })}
	z.begin()
	if opt.Minimal {
		z.kept = z.free(nil, z.now)
		z.exact = !z.loose
	} else if z.err == nil {
		z.interval = max(opt.Interval, fastest(p, z.in, z.out))
		z.throughput()
	}
	if opt.AllLengths && z.kept && z.err == nil {
		z.lengthen()
	}
	if z.err != nil {
		return nil, z.err
	}
	return &FIFOSizing{Interval: z.interval, Words: z.now, Feasible: z.kept, HitLimit: z.cut && !z.kept,
		Exact: z.exact, Unsimulated: z.untried, NotProved: z.unsure && len(z.needs) > 0,
		Needs: z.needs, Trials: z.count, Moved: cmp.Or(opt.Effort, 1e9) - z.left}, nil
}

// A sizer looks for the depths that FindFIFODepths returns.
type sizer struct {
	*trials
	depths
	blocks  []block
	needs   []TooShallowPart
	why     map[int][]bool // by stream: the window for which it became deeper; nil for the whole design
	kept    bool
	cut     bool // the last trial that had to be made hit a limit
	exact   bool
	untried bool
	unsure  bool
	trust   bool // FIFOSizingOptions.TrustSchedule, if no depths are given
	loose   bool // some depths that avoid deadlock may still be larger than necessary
}

// lengthen deepens FIFOs until sequences of every length come through, where lengths differ. More room never stops
// anything, so the longest sequences still keep their interval.
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

// need records in the result that the layers in members need more than the least depths. The streams should be those at
// which a writer lacked room, for deepening others does not help.
func (z *sizer) need(members []bool, streams []int) {
	n := TooShallowPart{Streams: slices.DeleteFunc(slices.Clone(streams), z.given)}
	for i := range z.loops {
		if members == nil || members[i] {
			n.Nodes = append(n.Nodes, i)
		}
	}
	z.needs = append(z.needs, n)
}

// throughput sets depths with which the design keeps the interval, if any do.
func (z *sizer) throughput() {
	slowest := numbers(len(z.loops))
	by(slowest, func(i int) int { return -z.loops[i].IterationsPerFrame() })
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
		const worth = 20 // a trial is worth its time if the schedule adds more than this fraction of bits
		tried := z.bits(eased)-z.bits(z.now) > z.bits(z.now)/worth
		if tried && z.enoughAlready() {
			z.needs, z.untried = needs, false
			return
		}
		z.unsure = !tried || z.cut
	}
	z.now, z.kept = eased, true
}

// tight sets depths by windows around layers, and returns whether they keep the interval. If not, it restores the
// depths. slowest are the layers, the slowest first.
func (z *sizer) tight(slowest []int) bool {
	was := slices.Clone(z.now)
	if len(z.needs) == 0 {
		z.need(nil, z.streamsOf(nil)) // the depths at hand do not keep the interval
	}
	if z.frozen {
		z.hosts = pacedHost
	}
	z.inWindows(slowest)
	if z.finish(); !z.kept {
		z.now = was
	}
	return z.kept
}

// enoughAlready reports whether the design keeps the interval at its current depths.
func (z *sizer) enoughAlready() bool {
	z.kept = z.blocksFree() && z.surely().keeps
	z.exact = z.kept && !z.loose
	return z.kept
}

// dear reports whether the effort that is left is too small for the windows around layers and a few trials of the whole
// design.
func (z *sizer) dear(layers []int) bool {
	const windows, wholes = 20, 8 // frames that the trials take in all, roughly
	return windows*z.windows(layers)+wholes*z.words(nil) > z.left
}

// finish makes the whole design keep the interval, and takes back depths that are not needed. Where pipelines freeze, a
// host at full speed takes long to fill FIFOs. So it tries such a host once at the end. Only if the design fails then
// does it use this host in every trial.
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

// inWindows deepens FIFOs in windows around layers, the slowest first, in blocks, and then in wider windows. It stops
// when windows need nothing more and the whole design keeps the interval.
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

// surely returns the result of a trial of the whole design, made even if no effort is left. Where pipelines freeze, it
// uses only a host at full speed, which decides.
func (z *sizer) surely() tried {
	const words = 4e8
	left, hosts := z.left, z.hosts
	z.left = max(left, words)
	before := z.left
	if z.frozen {
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

// mend deepens FIFOs of the whole design, circle by circle of waits, and returns whether it keeps the interval in the
// end.
func (z *sizer) mend() bool {
	for !z.keeps() {
		if z.err != nil || z.left <= 0 || !(&mended{z, nil}).deepen(z.look(nil, z.now)) {
			return false
		}
	}
	return true
}

// passes reports whether the layers in members keep the interval at the current depths while the rest never waits.
func (z *sizer) passes(members []bool) bool { return z.try(members, z.now).keeps }

// keeps reports whether the design keeps the interval at the current depths, and is free from deadlock.
func (z *sizer) keeps() bool {
	return z.err == nil && z.left > 0 && z.blocksFree() && z.passes(nil)
}

// blocksFree reports whether no block deadlocks at the current depths.
func (z *sizer) blocksFree() bool {
	for _, b := range z.blocks {
		if len(b.streams) > 1 && !z.free(b.members, z.now) {
			return false
		}
	}
	return true
}

// shrink takes back depths that are not needed, FIFO by FIFO, beginning with the most bits. It returns false if the
// effort did not suffice for all FIFOs.
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

// FIFODepthReasons returns, per stream, a sentence that explains why words gather there. It is empty for FIFOs no
// deeper than the smallest memory.
func FIFODepthReasons(d *dataflow.Design) []string {
	p := newPlan(d)
	blocks := p.split()
	list := make([]string, len(d.FIFO))
	for s, words := range d.FIFODepthsWords() {
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
