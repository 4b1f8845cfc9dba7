package rtlsim

import (
	"fmt"
	"math/bits"
	"slices"

	"hlsgen/internal/dataflow"
)

// byFrame returns the plan of every frame: the same folds and FIFOs, for a sequence of the frame's length. The
// latencies of layers do not depend on the length.
func (p *plan) byFrame(frames [][]dataflow.Tensor) ([]*plan, error) {
	return dataflow.MakeForFrameLengths(p.design.Model.Lengths, frames, p.sized)
}

// sized returns the plan for sequences of the given number of time steps, or p itself if steps is 0.
func (p *plan) sized(steps int) (*plan, error) {
	if steps == 0 {
		return p, nil
	}
	d, err := p.design.AtSequenceLength(steps)
	if err == nil {
		err = d.Verify()
	}
	if err != nil {
		return nil, fmt.Errorf("sequences of %d steps: %w", steps, err)
	}
	at := newPlan(d)
	for i, l := range at.loops {
		if l.Latency != p.loops[i].Latency {
			return nil, fmt.Errorf("%s has a latency of %d clocks in sequences of %d steps, else %d", p.name(i),
				l.Latency, steps, p.loops[i].Latency)
		}
	}
	return at, nil
}

// shorter calls visit with the plan of each length below the longest that needs a check of its own. A length needs
// none if ends shows that it finishes whenever the longest does. No length needs a check if no layers can wait for
// each other in a circle (split).
func (p *plan) shorter(visit func(steps int, at *plan) error) error {
	l := p.design.Model.Lengths
	if l == nil || !slices.ContainsFunc(p.split(), func(b block) bool { return len(b.streams) > 1 }) {
		return nil
	}
	long := make([][]dataflow.LoopRun, len(p.loops))
	for i, loop := range p.loops {
		long[i] = busy(loop.Body)
	}
	for n := l.Min; n < l.Max; n++ {
		at, err := p.sized(n)
		if err != nil {
			return err
		}
		clear := true
		for i, loop := range at.loops {
			clear = clear && ends(busy(loop.Body), long[i])
		}
		if clear {
			continue
		}
		if err := visit(n, at); err != nil {
			return err
		}
	}
	return nil
}

// busy returns the runs of a loop without the runs whose iterations move nothing.
func busy(body []dataflow.LoopRun) (list []dataflow.LoopRun) {
	for _, r := range body {
		switch {
		case r.Body != nil:
			list = append(list, dataflow.RepeatLoopRuns(r.Times, busy(r.Body)...)...)
		case r.Moves != dataflow.PortMoves{}:
			list = append(list, r)
		}
	}
	return dataflow.JoinLoopRuns(list...)
}

// ends reports whether the loop short does the same as the end of the loop long. That means: the iterations of
// short can be matched, in order, with iterations of long. Matched iterations move words of the same ports, and
// these words are equally far from the port's last word. ends may return false although a match exists.
//
// If this holds for all layers, short finishes with any FIFOs with which long does. The proof looks at what must
// happen before what in a frame: an iteration before the next one of its layer, the writing of a word before its
// reading, and the reading of a word before the writing of the word that takes its place. short does not finish
// exactly if these constraints form a circle. Put each iteration of the circle in the place of its match in long.
// The next iteration of a layer does not come earlier there. Both ends of a stream leave out the same number of
// words at the beginning of long. So words keep their writers and readers, and two words keep their distance. Hence
// long has the circle, too.
//
// The code compares runs from the last one on. They must be the same, except that runs of long may have more
// repetitions. Then either the rest of short stands in front of these repetitions and moves other ports, or the
// rest lies within the last repetitions that short lacks. An example of the second case is a layer that reads a
// block while it writes the block before.
func ends(short, long []dataflow.LoopRun) bool {
	var moved dataflow.PortMoves // ports moved by those repetitions of later runs that short lacks
	for i := len(long) - 1; i >= 0; i-- {
		r := long[i]
		m := moves(r)
		times, at := 0, len(short)-len(r.Body)
		if last := len(short) - 1; last >= 0 && short[last].Times <= r.Times && sameBody(short[last], r) {
			times, short = short[last].Times, short[:last]
		} else if r.Body != nil && at >= 0 && slices.EqualFunc(short[at:], r.Body, alike) {
			times, short = 1, short[:at]
		}
		if times > 0 && both(m, moved) {
			return false
		}
		if len(short) == 0 {
			return true
		}
		if times == r.Times {
			continue
		}
		if r.Times -= times; !both(moves(short...), moved) && within(short, r) {
			return true
		}
		moved = union(moved, m)
	}
	return len(short) == 0 // short finishes if nothing is left of it
}

// alike reports whether two runs are the same. sameBody ignores how often they are repeated.
func alike(a, b dataflow.LoopRun) bool { return a.Times == b.Times && sameBody(a, b) }

func sameBody(a, b dataflow.LoopRun) bool {
	return a.Moves == b.Moves && slices.EqualFunc(a.Body, b.Body, alike)
}

// moves returns the ports that the given runs move.
func moves(runs ...dataflow.LoopRun) (m dataflow.PortMoves) {
	for _, r := range runs {
		m = union(union(m, r.Moves), moves(r.Body...))
	}
	return m
}

func union(a, b dataflow.PortMoves) dataflow.PortMoves {
	return dataflow.PortMoves{Read: a.Read | b.Read, Write: a.Write | b.Write}
}

// both reports whether a and b move a common port.
func both(a, b dataflow.PortMoves) bool { return a.Read&b.Read != 0 || a.Write&b.Write != 0 }

// within does what ends does for the last repetitions of the run r. It compares iteration by iteration.
func within(short []dataflow.LoopRun, r dataflow.LoopRun) bool {
	const most = 1 << 14 // iterations
	one := r
	one.Times = 1
	a, each := dataflow.Loop{Body: short}, dataflow.Loop{Body: []dataflow.LoopRun{one}}.IterationsPerFrame()
	r.Times = min(r.Times, a.IterationsPerFrame(), most/each)
	if r.Times == 0 {
		return false
	}
	b := dataflow.Loop{Body: []dataflow.LoopRun{r}}
	from, to := places(a), places(b)
	at := 0
	for i := range a.IterationsPerFrame() {
		place := -1
		for port, list := range from {
			k, moves := slices.BinarySearch(list, i)
			if !moves {
				continue
			}
			k += len(to[port]) - len(list)
			if k < 0 || to[port][k] < at || place >= 0 && to[port][k] != place {
				return false
			}
			place = to[port][k]
		}
		at = max(at, place)
	}
	return true
}

// places returns, per port, the iterations of a frame that move a word there. Ports that are read come before those
// written.
func places(l dataflow.Loop) (list [2 * dataflow.MaxPortsPerSide][]int) {
	walk := l.NewWalker()
	for i := range l.IterationsPerFrame() {
		m := walk.NextMoves()
		for _, side := range []struct {
			moved uint64
			first int
		}{{m.Read, 0}, {m.Write, dataflow.MaxPortsPerSide}} {
			for rest := side.moved; rest != 0; rest &= rest - 1 {
				port := side.first + bits.TrailingZeros64(rest)
				list[port] = append(list[port], i)
			}
		}
		walk.AdvanceIteration()
	}
	return list
}
