package rtlsim

import (
	"fmt"
	"math"

	"hlsgen/internal/dataflow"
)

// A Pace holds back one end of the host: a word at most every Every clocks (0 and 1: in every clock), and none in a
// clock that the dice stall, whether or not a word waits. The zero value is full speed.
type Pace struct {
	Every int
	Stall int    // stalled clocks in a hundred on average, 0 to 99
	Seed  uint64 // of the dice; every stream has its own
}

func (p Pace) verify() error {
	if p.Every < 0 || p.Every > math.MaxInt32 || p.Stall < 0 || p.Stall > 99 {
		return fmt.Errorf("a pace of a word every %d clocks, %d %% of them stalled", p.Every, p.Stall)
	}
	return nil
}

// gate is the pace at stream i of the host.
func (p Pace) gate(i int) gate {
	return gate{every: max(p.Every, 1), stall: uint64(p.Stall), seed: mix(p.Seed + uint64(i))}
}

// A gate says in which clocks one stream of the host may move a word.
type gate struct {
	every       int
	stall, seed uint64
	free        int // earliest clock after the last word
}

// next is the first clock from the given one on in which the gate is open.
func (g *gate) next(from int) int {
	c := max(from, g.free)
	for g.stalled(c) {
		c++
	}
	return c
}

func (g *gate) open(clock int) bool { return clock >= g.free && !g.stalled(clock) }

func (g *gate) stalled(clock int) bool {
	return g.stall > 0 && mix(g.seed^uint64(clock))%100 < g.stall
}

func (g *gate) passed(clock int) { g.free = clock + g.every }

// mix is the output function of SplitMix64 (Steele, Lea, Flood 2014): dice that need no state, so that a clock's throw
// is the same however often it is asked for.
func mix(x uint64) uint64 {
	x += 0x9e3779b97f4a7c15
	x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
	x = (x ^ x>>27) * 0x94d049bb133111eb
	return x ^ x>>31
}

// A source is the host at an input.
type source struct {
	fifo  *fifo
	gate  gate
	left  int // words not yet given
	data  [][]int64
	frame int // of the next word
	at    int // its first element
}

// offer puts the next word into the FIFO, where it is visible at once.
func (s *source) offer(clock int) {
	if s.left == 0 || s.fifo.visible >= s.fifo.depth || !s.gate.open(clock) {
		return
	}
	s.gate.passed(clock)
	s.left--
	s.fifo.enter()
	if s.data == nil {
		return
	}
	frame := s.data[s.frame]
	end := s.at + s.fifo.port.PerWord
	if err := s.fifo.push(frame[s.at:end:end]); err != nil {
		panic("rtlsim: an input that was checked: " + err.Error())
	}
	if s.at = end; end == len(frame) {
		s.frame, s.at = s.frame+1, 0
	}
}

func (s *source) nextOffer(clock int) int {
	if s.left == 0 || s.fifo.visible >= s.fifo.depth {
		return never
	}
	return s.gate.next(clock + 1)
}

// A sink is the host at an output.
type sink struct {
	fifo   *fifo
	gate   gate
	frames []Frame // of the trace
	frame  int     // of the next word
	word   int     // the next word's number in it
	data   bool
	taken  []int64
}

func (k *sink) done() bool { return k.frame == len(k.frames) }

// take takes a word if one is visible and the gate is open.
func (k *sink) take(clock int) bool {
	if k.fifo.visible == 0 || !k.gate.open(clock) {
		return false
	}
	k.gate.passed(clock)
	k.fifo.visible--
	if k.data {
		k.taken = append(k.taken, k.fifo.pop()...)
	}
	f := &k.frames[k.frame]
	if k.word == 0 && (f.First < 0 || clock < f.First) {
		f.First = clock
	}
	if k.word++; k.word == k.fifo.port.Words {
		f.Last = max(f.Last, clock)
		k.frame, k.word = k.frame+1, 0
	}
	return true
}

func (k *sink) nextTake(clock int) int {
	if k.done() || k.fifo.visible == 0 {
		return never
	}
	return k.gate.next(clock + 1)
}

// cut splits values into frames of the shape.
func cut(values []int64, p dataflow.Port, shape dataflow.Shape) []dataflow.Tensor {
	var frames []dataflow.Tensor
	for n := shape.Size(); len(values) >= n; values = values[n:] {
		frames = append(frames, p.Receive(shape, values[:n:n]))
	}
	return frames
}
