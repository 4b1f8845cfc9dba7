package swg

import (
	"sort"

	"hlsgen/internal/dataflow"
)

// A schedule is the loop of a frame in slots. Each slot is as many iterations as a pixel has words, all with the same
// moves.
type schedule struct {
	body  []dataflow.LoopRun
	slots int
	ring  int // pixels of the ring
}

// The moves that the iterations of a slot may make.
var (
	reads  = dataflow.PortMoves{Read: 1}
	writes = dataflow.PortMoves{Write: 1}
	both   = dataflow.PortMoves{Read: 1, Write: 1}
)

func slots(n int, m dataflow.PortMoves) dataflow.LoopRun { return dataflow.LoopRun{Times: n, Moves: m} }

// iterations returns runs of slots as runs of iterations, parts iterations for each slot.
func iterations(body []dataflow.LoopRun, parts int) []dataflow.LoopRun {
	if parts == 1 {
		return body
	}
	scaled := make([]dataflow.LoopRun, len(body))
	for i, r := range body {
		scaled[i] = r
		if r.Body == nil {
			scaled[i].Times *= parts
		} else {
			scaled[i].Body = iterations(r.Body, parts)
		}
	}
	return scaled
}

// rings returns two sizes of rings in pixels. least is the smallest that holds every window, and ample the smallest
// that also holds the pixels that the next window needs.
func (g *geometry) rings() (least, ample int) {
	for oy := range g.windows[0] {
		for ox := range g.windows[1] {
			need, keep := g.need(oy, ox), g.keep(oy, ox)
			least = max(least, need-keep)
			if ox+1 < g.windows[1] {
				need = g.need(oy, ox+1)
			} else if oy+1 < g.windows[0] {
				need = g.need(oy+1, 0)
			}
			ample = max(ample, need-keep)
		}
	}
	return least, max(least, ample)
}

// serial returns the schedule for one kernel position per clock, with the smallest ring for which it is as short as
// with an ample ring. A larger ring never makes it longer.
func (g *geometry) serial() schedule {
	least, ample := g.rings()
	clocks := g.withRing(ample).slots
	ring := least + sort.Search(ample-least, func(more int) bool { return g.withRing(least+more).slots <= clocks })
	return g.withRing(ring)
}

// A row holds everything that determines the slots of a row of windows. It counts pixels from the first one that the
// row touches. Most rows of a frame are equal in this.
type row struct {
	last   int  // the first pixel of its last row of pixels
	slides bool // see geometry.slides
	got    int  // pixels read so far
	end    int  // pixels of the frame, but no more than the row can read
}

// withRing returns the schedule for one kernel position per clock, with a ring of the given pixels.
func (g *geometry) withRing(ring int) schedule {
	s := schedule{ring: ring}
	type done struct {
		body []dataflow.LoopRun
		got  int
	}
	known := map[row]done{}
	var before row
	got, alike := 0, 0
	for oy := range g.windows[0] {
		top := g.first(0, oy) * g.frame[1]
		r := row{
			last:   g.last(0, oy)*g.frame[1] - top,
			slides: g.slides(oy),
			got:    got - top,
			end:    min(g.pixels()-top, g.frame[1]+s.ring),
		}
		if alike > 0 && r != before {
			s.body = append(s.body, dataflow.RepeatLoopRuns(alike, known[before].body...)...)
			alike = 0
		}
		d, ok := known[r]
		if !ok {
			d.body, d.got = g.row(r, s.ring)
			known[r] = d
		}
		got = top + d.got
		before, alike = r, alike+1
	}
	s.body = append(s.body, dataflow.RepeatLoopRuns(alike, known[before].body...)...)
	s.body = dataflow.JoinLoopRuns(append(s.body, slots(g.pixels()-got, reads))...)
	s.slots = dataflow.Loop{Body: s.body}.IterationsPerFrame()
	return s
}

// row returns the slots of the row r of windows with a ring of the given pixels. The result got is the number of pixels
// that have been read after it.
func (g *geometry) row(r row, ring int) (body []dataflow.LoopRun, got int) {
	k := g.kernel[0] * g.kernel[1]
	got = r.got
	type window struct{ wait, both int }
	var before window
	alike := 0
	flush := func() {
		body = append(body, dataflow.RepeatLoopRuns(alike, slots(before.wait, reads), slots(before.both, both),
			slots(k-before.both, writes))...)
	}
	for ox := range g.windows[1] {
		limit := ring
		if r.slides {
			limit += g.first(1, ox)
		}
		var w window
		w.wait = max(0, r.last+g.last(1, ox)+1-got)
		w.both = max(0, min(k, min(limit, r.end)-got-w.wait))
		got += w.wait + w.both
		if alike > 0 && w != before {
			flush()
			alike = 0
		}
		before, alike = w, alike+1
	}
	flush()
	return dataflow.JoinLoopRuns(body...), got
}

// parallel returns the schedule for all kernel positions per clock.
func (g *geometry) parallel() schedule {
	var s schedule
	// A period is one row of windows and the slots up to the next row.
	period := g.stride[0] * g.frame[1]
	first, last := g.due(0, 0), g.due(g.windows[0]-1, g.windows[1]-1)
	s.slots = max(g.pixels(), last+1)
	whole := min(g.windows[0]-1, max(0, (g.pixels()-first)/period)) // periods before the end of the frame
	s.body = g.shift(nil, 0, first, false)
	s.body = append(s.body, dataflow.RepeatLoopRuns(whole, g.period(first, period)...)...)
	for oy := whole; oy < g.windows[0]; oy++ {
		length := period
		if oy == g.windows[0]-1 {
			length = s.slots - g.due(oy, 0)
		}
		s.body = append(s.body, g.period(g.due(oy, 0), length)...)
	}
	s.body = dataflow.JoinLoopRuns(s.body...)
	return s
}

// period returns the slots of one row of windows, of length pixels from pixel at on. The slots between two windows are
// the same for all windows, except near the end of the frame.
func (g *geometry) period(at, length int) []dataflow.LoopRun {
	step, n := g.stride[1], g.windows[1]-1
	stride := func(ox int) []dataflow.LoopRun {
		return g.shift(g.shift(nil, at+ox*step, 1, true), at+ox*step+1, step-1, false)
	}
	left := max(0, g.pixels()-at)
	// Strides that end before the end of the frame, and strides that begin before it.
	in, begun := min(n, left/step), min(n, (left+step-1)/step)
	var body []dataflow.LoopRun
	body = append(body, dataflow.RepeatLoopRuns(in, stride(0)...)...)
	for ox := in; ox < begun; ox++ {
		body = append(body, stride(ox)...)
	}
	body = append(body, dataflow.RepeatLoopRuns(n-begun, stride(begun)...)...)
	body = g.shift(body, at+n*step, 1, true)
	return dataflow.JoinLoopRuns(g.shift(body, at+n*step+1, length-n*step-1, false)...)
}

// shift appends n slots, in which pixels from at on arrive, to body. They all write if write is true. Pixels beyond the
// frame are not read.
func (g *geometry) shift(body []dataflow.LoopRun, at, n int, write bool) []dataflow.LoopRun {
	read := max(0, min(n, g.pixels()-at))
	m := dataflow.PortMoves{}
	if write {
		m = writes
	}
	return append(body, slots(read, dataflow.PortMoves{Read: 1, Write: m.Write}), slots(n-read, m))
}
