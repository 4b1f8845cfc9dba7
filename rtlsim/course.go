package rtlsim

import "fmt"

// In a trial the paced host gives one frame per interval. A host at full speed gives frames as soon as it can. If
// the full-speed host is never ready for a frame before its turn, both hosts behave alike; so they do if the paced
// host never waits for its turn. Every finished design is also run with a host at full speed, to learn its clocks.
// So each run leaves a course behind, and a trial that would repeat a known course does not run. The trial is
// counted as if it had run.

// A course records a run with a host at full speed, frame by frame, up to the frame after which a state recurs.
type course struct {
	clocks []int   // clock after each frame
	begins [][]int // per source and frame: clock of the first word
	frees  [][]int // per source and frame: clock from which the next word may come
	period SteadyState
	full   []bool // as in tried
	high   []int  // as in tried
}

// courseKey returns a map key that is equal for runs that have the same course.
func courseKey(p *plan, in, out HostSlowdown, depth []int) string {
	return string(p.key(fmt.Append(nil, "course ", in.Every, " ", out.Every), nil, depth))
}

// went records the clocks of the frame that has just left the design.
func (c *course) went(e *engine) {
	c.clocks = append(c.clocks, e.clock())
	for i, s := range e.sources {
		if len(c.frees) <= i {
			c.frees = append(c.frees, nil)
		}
		c.frees[i] = append(c.frees[i], s.gate.free)
	}
}

// recurs returns the course that the run e recorded with a host at full speed, cut after the frame after which a state
// recurs.
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

// waits reports whether a paced host, which gives one frame per interval, departs from this course. It does so if it
// waits for the turn of a frame. It also does so if its wait before the next frame differs from the wait a period ago.
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

// follow returns what keepsInterval would for a run of at most the given frames whose course c is known. ok is false if
// the run would end before a state recurs.
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
