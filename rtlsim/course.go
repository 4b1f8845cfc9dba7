package rtlsim

import "fmt"

// The host of a trial gives a frame per interval. Where a run with a host at full speed is never ready for a frame
// sooner, both are one and the same run, and so it is where the paced host never had to wait for its turn. A run with a
// host at full speed is also made where a design is made, for its clocks. So each leaves its course, and a trial that
// another run has gone through is not run again. It is counted as if it was.

// A course is a run with a host at full speed, frame by frame, up to the one after which a state recurs.
type course struct {
	clocks []int   // after each frame
	begins [][]int // per source and frame: clock of the first word
	frees  [][]int // per source and frame: when the next word could come
	period Period
	full   []bool // as those of tried
	high   []int
}

// courseKey is all that decides a course, as text.
func courseKey(p *plan, in, out Pace, depth []int) string {
	return string(p.key(fmt.Append(nil, "course ", in.Every, " ", out.Every), nil, depth))
}

// went notes a frame that is through.
func (c *course) went(e *engine) {
	c.clocks = append(c.clocks, e.clock())
	for i, s := range e.sources {
		if len(c.frees) <= i {
			c.frees = append(c.frees, nil)
		}
		c.frees[i] = append(c.frees[i], s.gate.free)
	}
}

// recurs is the course of a run up to the frame after which a state recurs for a host at full speed.
func (c *course) recurs(e *engine) *course {
	frames := e.search.bare
	r := &course{clocks: c.clocks[:frames], period: e.search.period}
	for i, s := range e.sources {
		r.begins = append(r.begins, s.begins[:frames])
		r.frees = append(r.frees, c.frees[i][:frames])
	}
	for _, s := range e.streams {
		r.full, r.high = append(r.full, s.full > 0), append(r.high, s.high)
	}
	return r
}

// waits reports whether a host that gives a frame per interval goes another course: where it waits for the turn of a
// frame, or would of the next one by other clocks than a period ago.
func (c *course) waits(interval int) bool {
	last := len(c.clocks) - 1
	wait := func(source, frame int) int { return max(0, (frame+1)*interval-c.frees[source][frame]) }
	for i, begins := range c.begins {
		for f, at := range begins {
			if at < f*interval {
				return true
			}
		}
		if wait(i, last) != wait(i, last-c.period.Frames) {
			return true
		}
	}
	return false
}

// follow is keepsInterval of a run whose course is known; ok is false where that would end before a state recurs.
func (z *trials) follow(c *course, frames int) (keeps, ok bool) {
	if len(c.clocks) > frames {
		return false, false
	}
	words, left, l := 0, z.left, newLateness(z.interval, frames)
	for _, port := range z.ports {
		words += port.Words
	}
	for i, clock := range c.clocks {
		if left <= 0 {
			return false, false
		}
		left -= words
		if i < len(c.clocks)-1 && l.grows(clock, false) {
			return false, false
		}
	}
	z.left = left
	return c.period.Clocks <= z.interval*c.period.Frames, true
}
