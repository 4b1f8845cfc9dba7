package rtlsim

import "math/bits"

// A pipeline is that of a worker that a blocked write freezes (dataflow.Frozen): the iterations that write, from their
// start on. Of those that do not, nothing is left to know once they have started.
//
// An iteration that starts in clock t is at the last stage in clock t + latency - 1, and one clock later for every
// clock in between in which the pipeline was frozen. There it waits until all its FIFOs have room, in which clocks
// nothing moves and nothing starts. So when a later iteration starts depends on the earlier ones that are at the last
// stage by then, and on none of the others: of these alone the clocks have to be known.
//
// In the order in which they started, flights have started, written and passed: they were at the last stage by the
// clock of the last start. Clocks without those in which the pipeline was frozen are called moves: a flight that is at
// the last stage in move m, and writes in clock c, has it frozen for c - m clocks in all.
type pipeline struct {
	latency int
	ports   int
	port    int      // the only one, of a line
	flights []flight // of number n at n & (len-1)
	from    []int    // per flight and port: the first clock in which there was room

	started, written, passed int // how many
	slip                     int // clocks in which those written have frozen it
	past                     int // and those passed
	free                     int // no iteration starts before: those passed are written then
	calm                     int // clock in which the next flight to pass is at the last stage; nothing freezes before

	notes *holds // of writes that froze it; nil where these are not noted
}

// A flight is an iteration that writes.
type flight struct {
	ports uint64 // that it writes
	move  int    // in which it is at the last stage
	to    int    // clock in which it writes, where it has
}

// newPipeline has as many flights as can be under way.
func newPipeline(latency, ports int) *pipeline {
	size := 1 << bits.Len(uint(latency))
	return &pipeline{latency: latency, ports: ports, flights: make([]flight, size), from: make([]int, size*ports),
		calm: never}
}

func (p *pipeline) at(n int) *flight { return &p.flights[n&(len(p.flights)-1)] }

// rooms is, per port, the first clock in which there was room for a written flight's word.
func (p *pipeline) rooms(n int) []int {
	i := n & (len(p.flights) - 1)
	return p.from[i*p.ports:][:p.ports]
}

// start begins an iteration that writes.
func (p *pipeline) start(at int, ports uint64) {
	f := p.at(p.started)
	f.ports, f.move = ports, at-p.past+p.latency-1
	if p.passed == p.started {
		p.calm = f.move + p.past
	}
	p.started++
}

// write lets the next flight write; it reports false while the room for it is not known.
func (p *pipeline) write(out []*stream) bool {
	f := p.at(p.written)
	if f.ports&(f.ports-1) == 0 { // the same for one port, as most have
		port := bits.TrailingZeros64(f.ports)
		s := out[port]
		from, ok := s.room()
		if !ok {
			s.blocks = true
			return false
		}
		p.rooms(p.written)[port] = from
		if f.to = f.move + p.slip; from >= f.to {
			p.note(from, f.to, s)
			f.to = from
			p.late(out)
			s.tight++
		}
		p.slip = f.to - f.move
		p.written++
		s.put(f.to)
		return true
	}
	rooms := p.rooms(p.written)
	to, known := f.move+p.slip, true
	for m := f.ports; m != 0; m &= m - 1 {
		port := bits.TrailingZeros64(m)
		from, ok := out[port].room()
		if !ok {
			out[port].blocks, known = true, false
			continue
		}
		rooms[port] = from
		to = max(to, from)
	}
	if !known {
		return false
	}
	could := f.move + p.slip
	for m := f.ports; m != 0; m &= m - 1 {
		if rooms[bits.TrailingZeros64(m)] == to {
			p.late(out)
		}
	}
	f.to = to
	p.slip = to - f.move
	for m := f.ports; m != 0; m &= m - 1 {
		port := bits.TrailingZeros64(m)
		if rooms[port] == to {
			p.note(to, could, out[port])
			out[port].tight++
		}
		out[port].put(to)
	}
	p.written++
	return true
}

// note notes that the next flight writes in a clock, later than it could have for want of room.
func (p *pipeline) note(clock, could int, s *stream) {
	if p.notes != nil && clock > could {
		p.notes.add(clock, p.written, cause{s, true})
	}
}

// late notes the words of the next flight, and those behind them, as ones that want of room holds up in this frame.
func (p *pipeline) late(out []*stream) {
	for _, s := range out {
		if s != nil && s.late < 0 {
			s.late = s.written
		}
	}
}

// writeLine is writeAll where one stream is written.
func (p *pipeline) writeLine(s *stream) {
	mask := len(p.flights) - 1
	for p.written < p.started {
		from, ok := s.room()
		if !ok {
			s.blocks = true
			return
		}
		i := p.written & mask
		p.from[i*p.ports+p.port] = from
		f := &p.flights[i]
		to := f.move + p.slip
		if from >= to {
			p.note(from, to, s)
			to = from
			if s.tight++; s.late < 0 {
				s.late = s.written
			}
		}
		f.to = to
		p.slip = to - f.move
		p.written++
		s.put(to)
	}
}

// passes is moves where one stream is written.
func (p *pipeline) passes(from int, s *stream) (at int, ok bool) {
	at = max(from, p.free)
	mask := len(p.flights) - 1
	for p.calm <= at {
		if p.passed == p.written {
			if p.writeLine(s); p.passed == p.written {
				return 0, false
			}
		}
		f := &p.flights[p.passed&mask]
		p.past = f.to - f.move
		p.free = f.to
		at = max(at, f.to)
		p.passed++
		if p.calm = never; p.passed < p.started {
			p.calm = p.flights[p.passed&mask].move + p.past
		}
	}
	return at, true
}

// writeAll lets flights write as far as the room for them is known.
func (p *pipeline) writeAll(out []*stream) {
	for p.written < p.started && p.write(out) {
	}
}

// moves is the first clock from one on in which the pipeline is not frozen; ok is false while that is not known. Clocks
// that are asked for do not fall.
func (p *pipeline) moves(from int, out []*stream) (at int, ok bool) {
	at = max(from, p.free)
	for p.calm <= at {
		if p.passed == p.written && !p.write(out) {
			return 0, false
		}
		f := p.at(p.passed)
		p.past = f.to - f.move
		p.free = f.to
		at = max(at, p.free)
		p.passed++
		if p.calm = never; p.passed < p.started {
			p.calm = p.at(p.passed).move + p.past
		}
	}
	return at, true
}

// full counts, per stream, the clocks from one on in which it froze the pipeline up to a start that it held up. This is
// the doing of the last flight that passed: the next one is at the last stage after that start.
func (p *pipeline) full(from int, out []*stream) {
	n := p.passed - 1
	rooms := p.rooms(n)
	for m := p.at(n).ports; m != 0; m &= m - 1 {
		port := bits.TrailingZeros64(m)
		out[port].full += max(0, rooms[port]-from)
	}
}

// state is what matters to later clocks, relative to one, where nothing is under way: what froze the pipeline after the
// last start, and up to which clock each of the streams did.
func (p *pipeline) state(list []int, base int) []int {
	slip := p.past
	for n := p.passed; n < p.written; n++ {
		f := p.at(n)
		if last := f.move + slip; f.to > last {
			list = append(list, last-base, f.to-base)
			for m := f.ports; m != 0; m &= m - 1 {
				list = append(list, max(p.rooms(n)[bits.TrailingZeros64(m)], last)-base)
			}
		}
		slip = f.to - f.move
	}
	return append(list, never)
}

// skip moves all that by so many clocks.
func (p *pipeline) skip(clocks int) {
	p.free += clocks
	if p.calm != never {
		p.calm += clocks
	}
	for n := p.passed; n < p.started; n++ {
		f := p.at(n)
		f.move, f.to = f.move+clocks, f.to+clocks
		for port := range p.rooms(n) {
			p.rooms(n)[port] += clocks
		}
	}
}

// stuck is the ports that the next flight to write writes; 0 where there is none.
func (p *pipeline) stuck() uint64 {
	if p.written == p.started {
		return 0
	}
	return p.at(p.written).ports
}
