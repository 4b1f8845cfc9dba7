package rtlsim

import (
	"slices"
	"sort"

	"hlsgen/internal/dataflow"
)

// Where the effort is not enough to deepen windows, few trials of the whole have to do. The first is one of FIFOs that
// never fill: where it does not keep the interval no depths do, and else no FIFO needs more than it held. Then none is
// deeper than a cap, the least of a few that keeps the interval. All this is tried with a paced host, which takes two
// frames most often, and where pipelines freeze only what comes of it with one at full speed, too.

// A roomy is depths that keep the interval with a paced host, most of them deeper than they have to be.
type roomy struct {
	*sizer
	least  []int // what was there before
	enough []int // nothing ever fills up
	high   []int // most words that were in the FIFO then
}

// roomy is nil where no depths keep the interval. This trial is made whatever the effort is: it is what a sizing
// without effort ends with.
func (z *sizer) roomy() *roomy {
	r := &roomy{sizer: z, least: z.now, enough: slices.Clone(z.now)}
	z.now = r.enough
	for s := range z.now {
		z.raise(s, z.enough(s))
	}
	t := z.surely(pacedHost)
	z.now = r.least
	if len(z.needs) == 0 && t.keeps {
		z.need(nil, z.streamsOf(nil))
	}
	if r.high = t.high; !t.keeps {
		return nil
	}
	return r
}

// under sets depths that hold so many times what was held, and no more than a cap.
func (r *roomy) under(times, most int) {
	r.now = slices.Clone(r.enough)
	for s := range r.now {
		r.trim(s, min(times*r.high[s], most), r.least)
	}
}

// trimmed takes back what FIFOs did not hold with a paced host. Where pipelines freeze, a host at full speed may need
// more: then as little is taken back as it takes.
func (r *roomy) trimmed() {
	for times := 1; !r.kept && r.err == nil; times *= 2 {
		r.under(times, slices.Max(r.enough))
		r.kept = slices.Equal(r.now, r.enough) || r.pressedKeeps()
	}
}

// pressedKeeps reports whether depths that keep the interval with a paced host do so with one at full speed.
func (z *sizer) pressedKeeps() bool {
	return z.design.Target.Stalls == dataflow.Credit || z.surely(fullHost).keeps
}

// capped sets depths of which none is deeper than the least cap that keeps the interval.
func (r *roomy) capped(layers []int) {
	const few = 4 // windows of the slowest layers tell most often where a cap is too low
	caps := r.caps()
	keeps := func(i int) bool {
		r.under(1, caps[i])
		return !r.short(layers[:min(few, len(layers))]) && r.surely(pacedHost).keeps
	}
	for i := sort.Search(len(caps), keeps); i < len(caps) && r.err == nil; i++ {
		if r.kept = keeps(i) && r.pressedKeeps(); r.kept {
			return
		}
	}
	r.trimmed()
}

// caps are powers of four steps, the least first. Each spares some of the bits that the next one takes.
func (r *roomy) caps() (list []int) {
	const part = 200
	r.under(1, slices.Max(r.enough))
	bits, most := r.bits(r.now), r.each
	for 4*most < slices.Max(r.now) {
		most *= 4
	}
	for ; most >= r.each; most /= 4 {
		if r.under(1, most); r.bits(r.now) < bits-bits/part {
			bits, list = r.bits(r.now), append(list, most)
		}
	}
	slices.Reverse(list)
	return list
}

// surely tries the whole design with a host, whatever effort is left.
func (z *sizer) surely(h hosts) tried {
	const words = 4e8
	left, was := z.left, z.hosts
	z.left, z.hosts = max(left, words), h
	before := z.left
	t := z.try(nil, z.now)
	z.cut = z.cut || z.left <= 0 && !t.keeps
	z.left, z.hosts = left-(before-z.left), was
	return t
}
