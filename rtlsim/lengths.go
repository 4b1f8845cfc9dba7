package rtlsim

import (
	"fmt"
	"math/bits"
	"slices"

	"hlsgen/internal/dataflow"
)

// byFrame is the plan of every frame: the same folds and FIFOs, for sequences of its length. Latencies of layers do not
// depend on that.
func (p *plan) byFrame(frames [][]dataflow.Tensor) ([]*plan, error) {
	return dataflow.Sized(p.design.Model.Lengths, frames, p.sized)
}

// sized is the plan for sequences of so many steps; 0 where there are none.
func (p *plan) sized(steps int) (*plan, error) {
	if steps == 0 {
		return p, nil
	}
	d, err := p.design.At(steps)
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

// shorter gives the plans of the lengths that have to be looked at: those below the longest of which it is not clear
// that they come through where the longest does (ends). There are none where no layers can wait for each other in a
// circle (split).
func (p *plan) shorter(visit func(steps int, at *plan) error) error {
	l := p.design.Model.Lengths
	if l == nil || !slices.ContainsFunc(p.split(), func(b block) bool { return len(b.streams) > 1 }) {
		return nil
	}
	long := make([][]dataflow.Run, len(p.loops))
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

// busy is a loop without iterations that move nothing.
func busy(body []dataflow.Run) (list []dataflow.Run) {
	for _, r := range body {
		switch {
		case r.Body != nil:
			list = append(list, dataflow.Repeat(r.Times, busy(r.Body)...)...)
		case r.Moves != dataflow.Moves{}:
			list = append(list, r)
		}
	}
	return dataflow.Join(list...)
}

// ends reports whether a loop does what another one does at its end: there is a way to find the iterations of the short
// one, in their order, among those of the long one, such that each moves the words of the same ports there, which are
// as far from the port's last one. It may say no where there is one.
//
// Where this holds of all layers, short comes through with FIFOs with which long does. Take what has to happen before
// what in a frame: an iteration before the next one of its layer, the writing of a word before its reading, and the
// reading of a word before the writing of the one that takes its room. Short has no end where these go round in a
// circle. Put each iteration of the circle in the place of the one that it is in long. The next one of its layer does
// not come earlier there; and as both ends of a stream leave out as many words of long at its beginning, words keep
// their writers and readers, and two words their distance. So long has the circle, too.
//
// Runs are compared from the last one on. They have to be the same, but that some of long have more repetitions: what
// is left of short then stands in front of these, and moves other ports; or it lies within the last repetitions
// that short does not have, as the first block of a layer does that reads a block while it writes the one before.
func ends(short, long []dataflow.Run) bool {
	var moved dataflow.Moves // by repetitions of runs behind that short does not have
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
	return len(short) == 0 // where nothing is moved
}

// alike reports whether two runs are the same, sameBody whether they are but for how often they are repeated.
func alike(a, b dataflow.Run) bool { return a.Times == b.Times && sameBody(a, b) }

func sameBody(a, b dataflow.Run) bool {
	return a.Moves == b.Moves && slices.EqualFunc(a.Body, b.Body, alike)
}

// moves is the ports that runs move.
func moves(runs ...dataflow.Run) (m dataflow.Moves) {
	for _, r := range runs {
		m = union(union(m, r.Moves), moves(r.Body...))
	}
	return m
}

func union(a, b dataflow.Moves) dataflow.Moves {
	return dataflow.Moves{Read: a.Read | b.Read, Write: a.Write | b.Write}
}

// both reports whether a port is moved by both.
func both(a, b dataflow.Moves) bool { return a.Read&b.Read != 0 || a.Write&b.Write != 0 }

// within is ends for the last repetitions of a run, as many as may do, iteration by iteration.
func within(short []dataflow.Run, r dataflow.Run) bool {
	const most = 1 << 14 // iterations
	one := r
	one.Times = 1
	a, each := dataflow.Loop{Body: short}, dataflow.Loop{Body: []dataflow.Run{one}}.Iterations()
	r.Times = min(r.Times, a.Iterations(), most/each)
	if r.Times == 0 {
		return false
	}
	b := dataflow.Loop{Body: []dataflow.Run{r}}
	from, to := places(a), places(b)
	at := 0
	for i := range a.Iterations() {
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

// places is the iterations in which ports move words: of the ports that are read, and then of those that are written.
func places(l dataflow.Loop) (list [2 * dataflow.MaxPorts][]int) {
	walk := l.Walk()
	for i := range l.Iterations() {
		m := walk.Moves()
		for _, side := range []struct {
			moved uint64
			first int
		}{{m.Read, 0}, {m.Write, dataflow.MaxPorts}} {
			for rest := side.moved; rest != 0; rest &= rest - 1 {
				port := side.first + bits.TrailingZeros64(rest)
				list[port] = append(list[port], i)
			}
		}
		walk.Advance()
	}
	return list
}
