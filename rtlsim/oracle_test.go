package rtlsim

import (
	"math/rand/v2"

	"hlsgen/internal/dataflow"
)

// oracle is the clock of the package comment in the plainest code: every clock is walked, all decisions of a clock are
// taken on a copy of the state, and layers are visited in random order. It returns the trace, and whether the design
// deadlocked.
func oracle(d *dataflow.Design, frames int, opt Options, rng *rand.Rand) (*Trace, bool) {
	g := d.Model.Graph
	type stream struct {
		visible, high int
		due           []int
	}
	streams := make([]stream, len(g.Streams))
	next := make([]int, len(g.Nodes)) // iteration, over all frames
	t := newTrace(g, frames)
	t.High, t.Empty, t.Full = make([]int, len(streams)), make([]int, len(streams)), make([]int, len(streams))
	given, taken := make([]int, len(g.In)), make([]int, len(g.Out))
	free := make([]int, len(g.In)+len(g.Out))
	open := func(p Pace, i, clock int) bool {
		gate := p.gate(i, 1)
		return clock >= free[i] && !gate.stalled(clock)
	}
	for clock, quiet := 0, 0; quiet < 1000; clock++ {
		quiet++
		for s := range streams {
			st := &streams[s]
			for len(st.due) > 0 && st.due[0] <= clock && st.visible < d.FIFO[s].Depth {
				st.due, st.visible = st.due[1:], st.visible+1
			}
		}
		for i, s := range g.In {
			if given[i] < frames*d.Port(s).Words && streams[s].visible < d.FIFO[s].Depth && open(opt.In, i, clock) {
				streams[s].visible++
				given[i]++
				free[i] = clock + max(1, opt.In.Every)
			}
		}
		was := make([]stream, len(streams))
		for s := range streams {
			streams[s].high = max(streams[s].high, streams[s].visible)
			was[s] = streams[s]
		}
		done := true
		for _, i := range rng.Perm(len(g.Nodes)) {
			n, l := g.Nodes[i], d.Loop(i)
			m := l.At(next[i] % l.Iterations())
			if next[i] == frames*l.Iterations() {
				continue
			}
			word, room := true, true
			for p, s := range n.In {
				word = word && (m.Read>>p&1 == 0 || was[s].visible > 0)
			}
			for p, s := range n.Out {
				room = room && (m.Write>>p&1 == 0 || was[s].visible+len(was[s].due) < d.FIFO[s].Depth+l.Latency)
			}
			switch c := &t.Nodes[i]; {
			case !word:
				c.Starved++
				for p, s := range n.In {
					if m.Read>>p&1 != 0 && was[s].visible == 0 {
						t.Empty[s]++
					}
				}
			case !room:
				c.Blocked++
				for p, s := range n.Out {
					if m.Write>>p&1 != 0 && was[s].visible+len(was[s].due) >= d.FIFO[s].Depth+l.Latency {
						t.Full[s]++
					}
				}
			default:
				c.Busy++
				next[i]++
				quiet = 0
				for p, s := range n.In {
					if m.Read>>p&1 != 0 {
						streams[s].visible--
					}
				}
				for p, s := range n.Out {
					if m.Write>>p&1 != 0 {
						streams[s].due = append(streams[s].due, clock+l.Latency)
					}
				}
			}
			done = done && next[i] == frames*l.Iterations()
		}
		for i, s := range g.Out {
			words := d.Port(s).Words
			if was[s].visible > 0 && open(opt.Out, len(g.In)+i, clock) {
				f := &t.Frames[taken[i]/words]
				if taken[i]%words == 0 && (f.First < 0 || clock < f.First) {
					f.First = clock
				}
				if taken[i]%words == words-1 {
					f.Last = max(f.Last, clock)
				}
				streams[s].visible--
				taken[i]++
				free[len(g.In)+i] = clock + max(1, opt.Out.Every)
				quiet = 0
			}
			done = done && taken[i] == frames*words
		}
		if quiet == 0 {
			t.Cycles = clock + 1
		}
		if done {
			for s := range streams {
				t.High[s] = streams[s].high
			}
			return t, false
		}
	}
	return t, true
}
