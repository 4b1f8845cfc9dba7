package rtlsim

import (
	"fmt"
	"math"
)

// A HostSlowdown slows down one end of the host. It moves at most one word every Every clocks; 0 and 1 mean the rate of
// its port to the processor's memory (dataflow.Target.HostClocksPerWord). It moves no word in a clock that a throw of
// dice stalls. The zero value is full speed.
type HostSlowdown struct {
	Every int
	Stall int    // share of stalled clocks on average, in percent, 0 to 99
	Seed  uint64 // seed of the dice; every stream has its own dice
}

func (p HostSlowdown) verify() error {
	if p.Every < 0 || p.Every > math.MaxInt32 || p.Stall < 0 || p.Stall > 99 {
		return fmt.Errorf("a pace of a word every %d clocks, %d %% of them stalled", p.Every, p.Stall)
	}
	return nil
}

// gate returns the gate for end i of the host. A word takes port clocks to pass the host's port.
func (p HostSlowdown) gate(i, port int) gate {
	return gate{every: max(p.Every, port), stall: uint64(p.Stall), seed: mix(p.Seed + uint64(i))}
}

// A gate decides in which clocks one stream of the host may move a word.
type gate struct {
	every       int
	stall, seed uint64
	free        int // the earliest clock after the last word
}

// next returns the first clock from the given one on in which the gate is open.
func (g *gate) next(from int) int {
	c := max(from, g.free)
	for g.stalled(c) {
		c++
	}
	return c
}

// pass moves a word through the gate in the next open clock from from on, and returns that clock. ok is false if it
// lies past the end of the run.
func (g *gate) pass(e *engine, from int) (clock int, ok bool) {
	if clock = g.next(from); clock >= e.end {
		e.late = true
		return clock, false
	}
	g.free = clock + g.every
	return clock, true
}

func (g *gate) stalled(clock int) bool {
	return g.stall > 0 && mix(g.seed^uint64(clock))%100 < g.stall
}

// mix returns a number that looks random for every x: the output function of SplitMix64 (Steele, Lea, Flood 2014). It
// needs no state, so a clock always gets the same throw of the dice.
func mix(x uint64) uint64 {
	x += 0x9e3779b97f4a7c15
	x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
	x = (x ^ x>>27) * 0x94d049bb133111eb
	return x ^ x>>31
}

// A source is the host at an input, seen behind the input's end. A word that is visible in the first FIFO left the
// host plan.in clocks earlier. The end and its register slice can hold further words while that FIFO is full. The
// simulation leaves these out, for they delay no word.
type source struct {
	stream *stream
	gate   gate
	pace   int // frame f starts no earlier than clock f*pace
	frame  int // frame of the next word
	word   int // number of the next word in its frame

	begins []int // per frame: clock of the first word
	turns  int   // number of frames that waited for their turn
}

// visit writes words of the host for as long as it is known when there is room for them.
func (s *source) visit(e *engine) {
	for left := visitWords; s.frame < e.goal; left-- {
		if left == 0 {
			e.agenda.wake(s.stream.writer)
			return
		}
		room, ok := s.stream.room()
		if !ok {
			s.stream.blocks = true
			return
		}
		if s.word == 0 && s.frame*s.pace > max(room, s.gate.free) {
			s.turns++
		}
		at := max(room, s.frame*s.pace)
		free := s.gate.free
		if at, ok = s.gate.pass(e, at); !ok {
			return
		}
		if room == at {
			s.stream.tight++
		}
		s.stream.held(&s.gate, free, at)
		s.stream.put(at)
		if s.word == 0 {
			s.begins = append(s.begins, at)
		}
		if s.word++; s.word == e.at(s.frame).ports[s.stream.id].Words {
			s.frame, s.word = s.frame+1, 0
		}
	}
}

// A sink is the host at an output, seen in front of the output's end. A word that leaves the last FIFO reaches the
// host plan.out clocks later.
type sink struct {
	stream *stream
	gate   gate
	frames []FrameOutputClocks // frames of the trace
	frame  int                 // frame of the next word
	word   int                 // number of the next word in its frame
	at     int                 // clock when the last word left the FIFO
}

// visit takes the words that have arrived.
func (k *sink) visit(e *engine) {
	for k.frame < e.goal {
		at, ok := k.stream.arrival()
		if !ok {
			k.stream.wants = true
			return
		}
		free := k.gate.free
		if at, ok = k.gate.pass(e, at); !ok {
			return
		}
		k.stream.held(&k.gate, free, at)
		k.stream.take(at)
		k.at = at
		f := &k.frames[k.frame]
		given := at + e.out
		if k.word == 0 && (f.First < 0 || given < f.First) {
			f.First = given
		}
		if k.word++; k.word == e.at(k.frame).ports[k.stream.id].Words {
			f.Last = max(f.Last, given)
			k.frame, k.word = k.frame+1, 0
		}
	}
}
