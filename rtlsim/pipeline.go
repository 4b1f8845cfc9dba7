package rtlsim

import "math/bits"

// A pipeline models a layer's pipeline, which a blocked write freezes (dataflow.StallFreezesPipeline). It keeps only
// the iterations that write, called flights, from their start on. One that starts in clock t reaches the last stage in
// clock t + latency - 1, later by each clock of a freeze. There it waits until all FIFOs that it writes have room.
type pipeline struct {
	latency int
	ports   int
	port    int      // the only port that writes, in a worker with one output
	flights []flight // flight n stands at n & (len-1)
	from    []int    // per flight and port: the first clock with room for the word

	started, written, passed int // numbers of flights
	slip                     int // clocks that written flights have frozen the pipeline
	past                     int // clocks that passed flights have frozen the pipeline
	free                     int // no iteration starts before this clock; all passed flights have written by then
	calm                     int // clock when the next flight to pass reaches the last stage; no freeze starts earlier

	notes *holds // writes that froze the pipeline; nil if they are not recorded
}

// A flight is an iteration that writes at least one word.
type flight struct {
	ports uint64 // set of ports that the iteration writes
	move  int    // the move when it reaches the last stage
	to    int    // the clock when it writes, once it has written
}

// newPipeline returns an empty pipeline of the given latency, for a layer with that many outputs. Its ring holds as
// many iterations as can be under way at a time.
func newPipeline(latency, ports int) *pipeline {
	size := 1 << bits.Len(uint(latency))
	return &pipeline{latency: latency, ports: ports, flights: make([]flight, size), from: make([]int, size*ports),
		calm: never}
}

func (p *pipeline) at(n int) *flight { return &p.flights[n&(len(p.flights)-1)] }

// rooms returns, per output, the first clock in which there was room for the words of iteration n, which has written.
func (p *pipeline) rooms(n int) []int {
	i := n & (len(p.flights) - 1)
	return p.from[i*p.ports:][:p.ports]
}

// start records an iteration that starts in clock at and writes the given set of ports.
func (p *pipeline) start(at int, ports uint64) {
	f := p.at(p.started)
	f.ports, f.move = ports, at-p.past+p.latency-1
	if p.passed == p.started {
		p.calm = f.move + p.past
	}
	p.started++
}

// write makes the next iteration under way write its words. It returns false if the first clock with room is not known
// yet, because the reader has not read far enough.
func (p *pipeline) write(out []*stream) bool {
	f := p.at(p.written)
	if f.ports&(f.ports-1) == 0 { // the common case of one port, without a loop
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

// note records that the next iteration under way writes in the given clock because stream s was full. It could have
// written in the clock could. It does nothing if waits are not recorded.
func (p *pipeline) note(clock, could int, s *stream) {
	if p.notes != nil && clock > could {
		p.notes.add(clock, p.written, cause{s, true})
	}
}

// late records, per output, the first word of this frame that lack of room delays.
func (p *pipeline) late(out []*stream) {
	for _, s := range out {
		if s != nil && s.late < 0 {
			s.late = s.written
		}
	}
}

// writeLine does what writeAll does, for a layer that writes a single stream.
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

// passes does what moves does, for a layer that writes a single stream.
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

// writeAll makes iterations under way write until the room for the next one is not known.
func (p *pipeline) writeAll(out []*stream) {
	for p.written < p.started && p.write(out) {
	}
}

// moves returns the first clock, from from on, in which the pipeline is not frozen. ok is false if that clock is not
// known yet. The clocks of successive calls must not fall.
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

// full adds, per stream, the clocks from from on in which that stream froze the pipeline and so delayed a start. The
// last iteration that reached the last stage is to blame, for the next one does so after that start.
func (p *pipeline) full(from int, out []*stream) {
	n := p.passed - 1
	rooms := p.rooms(n)
	for m := p.at(n).ports; m != 0; m &= m - 1 {
		port := bits.TrailingZeros64(m)
		out[port].full += max(0, rooms[port]-from)
	}
}

// state appends to list everything that later clocks depend on, relative to the clock base. It is called while no frame
// is under way. It lists the freezes after the last start, and for each the clock until which each stream caused it.
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

// skip makes all clocks of the pipeline later by the given number of clocks.
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

// stuck returns the set of outputs of the next iteration that has not written yet, or 0 if there is none.
func (p *pipeline) stuck() uint64 {
	if p.written == p.started {
		return 0
	}
	return p.at(p.written).ports
}
