// Package rtlsim runs a Design clock by clock: layers with pipelines, FIFOs of finite depth, back-pressure, several
// frames in flight. It interprets dataflow.Loop and knows no layer by name.
//
// One clock has three phases, and each decides on the state that the phase before left:
//
//  1. Arrival. Per stream, the oldest word of its writer's delay line whose Latency has passed enters the FIFO if the
//     FIFO has room; the host's next word enters an input's FIFO likewise. Words in a FIFO are visible.
//  2. Start. A layer starts its next iteration if every word it reads is visible and every word it writes has room,
//     else nothing of it happens. A stream has room while its FIFO and delay line hold fewer than depth + Latency
//     words.
//  3. Output. The host takes one visible word from every output.
//
// All layers decide on the same state: a place that a reader frees in a clock has room in the next one, and a word
// written in clock c is visible from clock c + Latency on. So the result does not depend on the order of nodes, and a
// FIFO of one word already carries one word per clock.
//
// Clock 0 is the one in which the first input word is visible. A layer alone, whose ends never stall, hence starts
// iteration i in clock i, and the host takes its first and last output word in the clocks Loop.FirstWrite and
// Loop.LastWrite.
package rtlsim

import (
	"context"
	"fmt"
	"math"

	"hlsgen/internal/dataflow"
)

// Options say how to run. The zero value runs given frames at full speed.
type Options struct {
	Frames    int  // number of frames of a run without data; 0 where frames are given
	Keep      bool // keep what every stream carried in Trace.Streams
	In, Out   Pace // of the host on every input and every output
	MaxCycles int  // give up at this clock; 0 for never
}

// Run runs the design over frames (one tensor per Graph.In each), or over opt.Frames frames without data: the clocks
// are the same. An error is a *Deadlock, a design or frame that is not well formed, the end of opt.MaxCycles, or the
// context's.
func Run(ctx context.Context, d *dataflow.Design, frames [][]dataflow.Tensor, opt Options) (*Trace, error) {
	s, err := assemble(d, frames, opt)
	if err != nil {
		return nil, err
	}
	for rounds := 0; ; rounds++ {
		if rounds%256 == 0 && ctx.Err() != nil {
			return nil, ctx.Err()
		}
		if opt.MaxCycles > 0 && s.clock >= opt.MaxCycles {
			return nil, fmt.Errorf("no end after %d clocks: %d of %d frames are out", opt.MaxCycles, s.framesOut(), s.frames)
		}
		moved, open := s.step()
		if moved {
			s.trace.Cycles = s.clock + 1
		}
		switch {
		case !open:
			return s.finish(d), nil
		case moved:
			s.clock++
		default:
			next := s.nextArrival()
			if next == never {
				return nil, s.deadlock()
			}
			s.skip(next)
		}
	}
}

// never is the clock of what cannot happen.
const never = math.MaxInt

// A state is everything that changes from clock to clock.
type state struct {
	clock   int
	frames  int
	layers  []*layer // in topological order
	streams []*fifo
	sources []*source
	sinks   []*sink
	trace   *Trace
}

// assemble checks the arguments and puts the design at rest before clock 0.
func assemble(d *dataflow.Design, frames [][]dataflow.Tensor, opt Options) (*state, error) {
	if err := d.Verify(); err != nil {
		return nil, fmt.Errorf("design: %w", err)
	}
	if err := opt.verify(len(frames)); err != nil {
		return nil, err
	}
	g := d.Model.Graph
	for f, in := range frames {
		if err := g.Check(in); err != nil {
			return nil, fmt.Errorf("frame %d: %w", f, err)
		}
	}
	data := len(frames) > 0
	s := &state{frames: max(len(frames), opt.Frames)}
	s.trace = newTrace(g, s.frames)
	for i, stream := range g.Streams {
		f := newFIFO(i, d.Port(i), d.Depth[i])
		if data && opt.Keep {
			f.kept = make([]int64, 0, s.frames*stream.Type.Shape.Size())
		}
		s.streams = append(s.streams, f)
	}
	for i, n := range g.Nodes {
		l := newLayer(n, d.Loop(i), s.streams, s.frames)
		l.count = &s.trace.Nodes[i]
		if data {
			l.kernel = n.Op.Kernel(d.Folds[i])
		}
		s.layers = append(s.layers, l)
	}
	for i, id := range g.In {
		src := &source{fifo: s.streams[id], gate: opt.In.gate(i), left: s.frames * s.streams[id].port.Words}
		for _, in := range frames {
			src.data = append(src.data, src.fifo.port.Send(in[i]))
		}
		s.sources = append(s.sources, src)
	}
	for i, id := range g.Out {
		s.sinks = append(s.sinks, &sink{fifo: s.streams[id], gate: opt.Out.gate(len(g.In) + i), frames: s.trace.Frames, data: data})
	}
	return s, nil
}

func (o Options) verify(given int) error {
	switch {
	case o.Frames < 0 || o.Frames > 0 && given > 0 || o.Frames == 0 && given == 0:
		return fmt.Errorf("%d frames given and %d asked without data: want one of the two", given, o.Frames)
	case o.MaxCycles < 0:
		return fmt.Errorf("at most %d clocks", o.MaxCycles)
	}
	for _, p := range []Pace{o.In, o.Out} {
		if err := p.verify(); err != nil {
			return err
		}
	}
	return nil
}

// step runs the three phases of a clock. moved tells whether an iteration started or the host took a word; open
// whether something is still to be done.
func (s *state) step() (moved, open bool) {
	for _, f := range s.streams {
		f.arrive(s.clock)
	}
	for _, src := range s.sources {
		src.offer(s.clock)
	}
	// Writers stand before readers, so a writer looks for room before its reader can free any; what a writer adds
	// arrives in a later clock. Hence one pass decides on one state.
	for _, l := range s.layers {
		if l.left == 0 {
			continue
		}
		if l.wait = l.mayStart(); l.wait == waitsForNothing {
			l.start(s.clock)
			moved = true
		}
		l.tally(1)
		open = open || l.left > 0
	}
	for _, k := range s.sinks {
		moved = k.take(s.clock) || moved
		open = open || !k.done()
	}
	return moved, open
}

// nextArrival is the next clock in which a word can arrive or the host can take one, after a clock in which nothing
// moved: until then, nothing else can happen.
func (s *state) nextArrival() int {
	next := never
	for _, f := range s.streams {
		next = min(next, f.nextArrival(s.clock))
	}
	for _, src := range s.sources {
		next = min(next, src.nextOffer(s.clock))
	}
	for _, k := range s.sinks {
		next = min(next, k.nextTake(s.clock))
	}
	return next
}

// skip goes to clock next; in the clocks between, every layer waits as in this one.
func (s *state) skip(next int) {
	for _, l := range s.layers {
		if l.left > 0 {
			l.tally(next - s.clock - 1)
		}
	}
	s.clock = next
}

func (s *state) framesOut() int {
	n := s.frames
	for _, k := range s.sinks {
		n = min(n, k.frame)
	}
	return n
}
