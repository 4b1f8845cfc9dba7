package swg

import (
	"sort"

	"hlsgen/internal/dataflow"
)

// A schedule is the loop of one frame in slots, each of which is CF iterations that move the same.
type schedule struct {
	body  []dataflow.Run
	slots int
	ring  int // pixels that a ring holds
}

// What slots do.
var (
	reads  = dataflow.Moves{Read: 1}
	writes = dataflow.Moves{Write: 1}
	both   = dataflow.Moves{Read: 1, Write: 1}
)

func slots(n int, m dataflow.Moves) dataflow.Run { return dataflow.Run{Times: n, Moves: m} }

// iterations turns slots of runs into iterations.
func iterations(body []dataflow.Run, parts int) []dataflow.Run {
	if parts == 1 {
		return body
	}
	scaled := make([]dataflow.Run, len(body))
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

// rings gives the pixels of the smallest ring that holds every window, and of that which also holds what the next
// window needs.
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

// serial is the schedule with one kernel position a clock, and the smallest ring that makes it as short as an ample
// one: a larger ring never makes it longer.
func (g *geometry) serial() schedule {
	least, ample := g.rings()
	clocks := g.withRing(ample).slots
	ring := least + sort.Search(ample-least, func(more int) bool { return g.withRing(least+more).slots <= clocks })
	return g.withRing(ring)
}

// A row is all that the slots of one row of windows depend on, in pixels counted from the first one that it touches.
// Most rows of a frame are alike.
type row struct {
	last   int  // the first pixel of its last row of pixels
	slides bool // see geometry.slides
	got    int  // pixels that have been read
	end    int  // pixels of the frame, or more than the row can read
}

// withRing is the schedule with one kernel position a clock and a ring of so many pixels.
func (g *geometry) withRing(ring int) schedule {
	s := schedule{ring: ring}
	type done struct {
		body []dataflow.Run
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
			s.body = append(s.body, dataflow.Repeat(alike, known[before].body...)...)
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
	s.body = append(s.body, dataflow.Repeat(alike, known[before].body...)...)
	s.body = dataflow.Join(append(s.body, slots(g.pixels()-got, reads))...)
	s.slots = dataflow.Loop{Body: s.body}.Iterations()
	return s
}

// row gives the slots of a row of windows, and the pixels read after it.
func (g *geometry) row(r row, ring int) (body []dataflow.Run, got int) {
	k := g.kernel[0] * g.kernel[1]
	got = r.got
	type window struct{ wait, both int }
	var before window
	alike := 0
	flush := func() {
		body = append(body, dataflow.Repeat(alike, slots(before.wait, reads), slots(before.both, both),
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
	return dataflow.Join(body...), got
}

// parallel is the schedule with all kernel positions a clock.
func (g *geometry) parallel() schedule {
	var s schedule
	// A period is one row of windows and what follows it up to the next one.
	period := g.stride[0] * g.frame[1]
	first, last := g.due(0, 0), g.due(g.windows[0]-1, g.windows[1]-1)
	s.slots = max(g.pixels(), last+1)
	whole := min(g.windows[0]-1, max(0, (g.pixels()-first)/period)) // periods before the end of the frame
	s.body = g.shift(nil, 0, first, false)
	s.body = append(s.body, dataflow.Repeat(whole, g.period(first, period)...)...)
	for oy := whole; oy < g.windows[0]; oy++ {
		length := period
		if oy == g.windows[0]-1 {
			length = s.slots - g.due(oy, 0)
		}
		s.body = append(s.body, g.period(g.due(oy, 0), length)...)
	}
	s.body = dataflow.Join(s.body...)
	return s
}

// period is so many slots from pixel at on, where a row of windows begins. From window to window slots are alike, but
// for those around the end of the frame.
func (g *geometry) period(at, length int) []dataflow.Run {
	step, n := g.stride[1], g.windows[1]-1
	stride := func(ox int) []dataflow.Run {
		return g.shift(g.shift(nil, at+ox*step, 1, true), at+ox*step+1, step-1, false)
	}
	left := max(0, g.pixels()-at)
	// strides that end, and that begin, before the frame ends
	in, begun := min(n, left/step), min(n, (left+step-1)/step)
	var body []dataflow.Run
	body = append(body, dataflow.Repeat(in, stride(0)...)...)
	for ox := in; ox < begun; ox++ {
		body = append(body, stride(ox)...)
	}
	body = append(body, dataflow.Repeat(n-begun, stride(begun)...)...)
	body = g.shift(body, at+n*step, 1, true)
	return dataflow.Join(g.shift(body, at+n*step+1, length-n*step-1, false)...)
}

// shift adds n slots from pixel at on, all of which write or none. Pixels beyond the frame are not read.
func (g *geometry) shift(body []dataflow.Run, at, n int, write bool) []dataflow.Run {
	read := max(0, min(n, g.pixels()-at))
	m := dataflow.Moves{}
	if write {
		m = writes
	}
	return append(body, slots(read, dataflow.Moves{Read: 1, Write: m.Write}), slots(n-read, m))
}
