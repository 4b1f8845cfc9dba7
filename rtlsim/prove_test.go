package rtlsim

import (
	"errors"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"hlsgen/internal/dataflow"
	"hlsgen/internal/testsupport/tier"
)

// relate returns the design of blenders with other latencies.
func relate(d *dataflow.Design, latency func(l dataflow.Loop) int) *dataflow.Design {
	g := *d.Model.Graph
	g.Nodes = nil
	for _, n := range d.Model.Graph.Nodes {
		b := n.Op.(blender)
		b.loop.Latency = latency(b.loop)
		m := *n
		m.Op = b
		g.Nodes = append(g.Nodes, &m)
	}
	return &dataflow.Design{Model: &dataflow.Model{Graph: &g}, Target: d.Target, Folds: d.Folds, FIFO: d.FIFO}
}

// TestProve checks that a proved design does not deadlock, with either rule of stalls, any latencies and any host.
// Any other design deadlocks if credits are counted. If pipelines freeze, it deadlocks at some latencies and
// stalls.
func TestProve(t *testing.T) {
	t.Parallel()
	tier.NotQuick(t)
	dead, free, spared := 0, 0, 0
	for seed := range uint64(1500) {
		d, rng := randomNet(t, seed, 9)
		if seed%2 > 0 {
			for s := range d.FIFO {
				d.FIFO[s].Depth = 1
			}
		}
		proof, err := ProveDeadlockFree(t.Context(), d)
		var stuck *Deadlock
		if err != nil && !errors.As(err, &stuck) {
			t.Fatal(err)
		}
		runs := func(backend dataflow.Backend) bool {
			other := relate(d, func(l dataflow.Loop) int { return max(1, l.Latency+rng.IntN(12)-2) })
			other.Target.Backend = backend
			_, err := RunFrames(t.Context(), other, nil, Options{Frames: 3,
				In:  HostSlowdown{Stall: rng.IntN(60) * rng.IntN(2), Seed: seed, Every: rng.IntN(3)},
				Out: HostSlowdown{Stall: rng.IntN(60) * rng.IntN(2), Seed: seed}})
			return err == nil
		}
		for range 3 {
			if runs(dataflow.BackendRTL) != (stuck == nil) {
				t.Fatalf("seed %d: the proof says %v, %v in\n%s", seed, proof, err, d.Model.Graph)
			}
			lives := runs(dataflow.BackendHLS)
			if !lives && stuck == nil {
				t.Fatalf("seed %d: %v, but deadlocks where pipelines freeze in\n%s", seed, proof, d.Model.Graph)
			}
			if lives && stuck != nil {
				spared++
			}
		}
		if free++; stuck != nil {
			free--
			dead++
			checkDeadlock(t, d, stuck)
		}
	}
	if dead < 50 || free < 500 || spared < 5 {
		t.Errorf("%d deadlocks, %d free of them, %d runs without that are not proved: the networks test too little",
			dead, free, spared)
	}
}

// TestPipelinesHoldNothingForSure checks that words in a pipeline do not count in a proof. How many words a
// pipeline holds depends on the pace, and the words of one iteration hold up each other. So a design that is not
// proved may deadlock or not, depending on the host. With credits that makes no difference. For two FIFOs behind a
// fork, both rules require the same depths.
func TestPipelinesHoldNothingForSure(t *testing.T) {
	t.Parallel()
	// A pipeline of 6 stages is on the path past a layer that holds a frame.
	past := func(depth, words int) *dataflow.Design {
		n := &net{t: t, perWord: 1}
		fork := n.add("Fork", pass(words, 1, 2, 1), n.input(words))
		held := n.add("Hold", hold(words, 4), fork[0])
		way := n.add("Pass", pass(words, 1, 1, 6), fork[1])
		d := n.design(2, n.add("Join", pass(words, 2, 1, 3), held[0], way[0])...)
		d.FIFO[fork[1]].Depth = depth
		return d
	}
	for _, c := range []struct {
		d                       *dataflow.Design
		proved                  bool
		frozen, slowly, credits bool // runs to the end
	}{
		{past(10, 12), true, true, true, true},
		{past(6, 12), false, true, false, false},
		{past(2, 12), false, false, false, false},
		{heldFork(t, 4, 12), true, true, true, true},
		{heldFork(t, 4, 11), false, false, false, false},
	} {
		_, err := ProveDeadlockFree(t.Context(), c.d)
		if proved := err == nil; proved != c.proved {
			t.Errorf("depths %d: proved %t", c.d.FIFODepthsWords(), proved)
		}
		for _, r := range []struct {
			backend dataflow.Backend
			every   int
			lives   bool
		}{{dataflow.BackendHLS, 1, c.frozen}, {dataflow.BackendHLS, 5, c.slowly},
			{dataflow.BackendRTL, 1, c.credits}} {
			c.d.Target.Backend = r.backend
			_, err := RunFrames(t.Context(), c.d, nil, Options{Frames: 3, In: HostSlowdown{Every: r.every}})
			if (err == nil) != r.lives {
				t.Errorf("depths %d, %s, a word every %d clocks: %v", c.d.FIFODepthsWords(), r.backend.Name, r.every,
					err)
			}
		}
	}
}

// checkDeadlock checks that the chain is closed, and that its FIFO breaks the chain at the stated depth but not at
// a smaller one.
func checkDeadlock(t *testing.T, d *dataflow.Design, dead *Deadlock) {
	t.Helper()
	g := d.Model.Graph
	for i, w := range dead.Cycle {
		end := g.WriterOfStream
		if w.Room {
			end = g.ReaderOfStream
		}
		if n, _ := end(w.Stream); g.Nodes[n].Name != dead.Cycle[(i+1)%len(dead.Cycle)].Node {
			t.Errorf("%v: no chain", dead)
		}
	}
	with := func(depth int) *Deadlock {
		deeper := *d
		deeper.FIFO = slices.Clone(d.FIFO)
		deeper.FIFO[dead.Stream].Depth = depth
		_, err := ProveDeadlockFree(t.Context(), &deeper)
		var stuck *Deadlock
		errors.As(err, &stuck)
		return stuck
	}
	holdsUp := func(stuck *Deadlock) bool {
		return stuck != nil && slices.ContainsFunc(stuck.Cycle,
			func(w NodeWait) bool { return w.Room && w.Stream == dead.Stream })
	}
	if holdsUp(with(dead.Depth)) {
		t.Errorf("%v: not so", dead)
	}
	if dead.Depth > d.FIFO[dead.Stream].Depth+1 && with(dead.Depth-1) == nil {
		t.Errorf("%v: a depth of %d does", dead, dead.Depth-1)
	}
}

func TestProof(t *testing.T) {
	t.Parallel()
	build := func(depth int) *dataflow.Design { return heldFork(t, 4, depth) }
	for _, c := range []struct {
		depth int
		want  string
	}{
		{12, "free for any number of frames, any stalls and any kernel latencies: after 48 iterations and 36 words " +
			"one frame is through, and all streams and loops are where they were before it"},
		{11, "deadlock: Fork_0 waits for room on s2 (depth 11) that Join_0 is to take"},
		{7, "deadlock: Fork_0 waits for room on s2 (depth 7) that Join_0 is to take"},
	} {
		proof, err := ProveDeadlockFree(t.Context(), build(c.depth))
		got := proof.String()
		if err != nil {
			got = err.Error()
		}
		if !strings.HasPrefix(got, c.want) {
			t.Errorf("depth %d: %s, want %s", c.depth, got, c.want)
		}
	}
	bad := build(1)
	bad.FIFO[0].Depth = 0
	if _, err := ProveDeadlockFree(t.Context(), bad); err == nil || !strings.Contains(err.Error(), "depth 0") {
		t.Error(err)
	}
}

// uneven returns a loop that reads n words at each of its inputs and writes n to each of its outputs, in any order.
func uneven(rng *rand.Rand, n, in, out int) dataflow.Loop {
	left := slices.Repeat([]int{n}, in+out)
	var runs []dataflow.LoopRun
	for {
		var open []int
		for port, words := range left {
			if words > 0 {
				open = append(open, port)
			}
		}
		if len(open) == 0 {
			return dataflow.Loop{Latency: 1 + rng.IntN(4), Body: dataflow.JoinLoopRuns(runs...)}
		}
		ports := []int{open[rng.IntN(len(open))], open[rng.IntN(len(open))]}
		if slices.Sort(ports); rng.IntN(2) == 0 {
			ports = ports[:1]
		}
		r := dataflow.LoopRun{Times: n}
		for _, port := range ports {
			if r.Times = min(r.Times, left[port]); port < in {
				r.Moves.Read |= 1 << port
			} else {
				r.Moves.Write |= 1 << (port - in)
			}
		}
		r.Times = 1 + rng.IntN(r.Times)
		for _, port := range slices.Compact(ports) {
			left[port] -= r.Times
		}
		if runs = append(runs, r); rng.IntN(3) == 0 {
			runs = append(runs, dataflow.LoopRun{Times: 1 + rng.IntN(4)})
		}
	}
}

// unevenNet returns a network of layers with uneven loops, with any forks and joins.
func unevenNet(t testing.TB, rng *rand.Rand) *dataflow.Design {
	n := &net{t: t, perWord: 1}
	words := 1 + rng.IntN(12)
	var ends []int
	for range 1 + rng.IntN(3) {
		ends = append(ends, n.add("Pass", pass(words, 1, 1, 1), n.input(words))...)
	}
	for range 3 + rng.IntN(9) {
		rng.Shuffle(len(ends), func(i, j int) { ends[i], ends[j] = ends[j], ends[i] })
		in := min(len(ends), 1+rng.IntN(3))
		made := n.add("Uneven", uneven(rng, words, in, 1+rng.IntN(3)), ends[:in]...)
		ends = append(made, ends[in:]...)
	}
	d := n.design(1, ends...)
	for s, most := range slices.Repeat([]int{1 + rng.IntN(words+2)}, len(d.FIFO)) {
		d.FIFO[s].Depth = 1 + rng.IntN(most)
	}
	return d
}

// TestProveByBlocks checks that a design is free from deadlock if each of its blocks is.
func TestProveByBlocks(t *testing.T) {
	t.Parallel()
	tier.NotQuick(t)
	dead, free := 0, 0
	for seed := range uint64(3000) {
		rng := rand.New(rand.NewPCG(seed, 21))
		var d *dataflow.Design
		switch seed % 3 {
		case 0:
			d, _ = randomNet(t, seed, 21)
		case 1:
			d = randomForks(t, rng)
			for s := range d.FIFO {
				d.FIFO[s].Depth = 1 + rng.IntN(12)
			}
		default:
			d = unevenNet(t, rng)
		}
		p := newPlan(d)
		through, err := newTokens(p, nil).run(t.Context(), d.FIFODepthsWords())
		if err != nil {
			t.Fatal(err)
		}
		if err := p.proved(t.Context()); (err == nil) != through {
			t.Fatalf("seed %d: a frame comes through: %t, by blocks: %v, depths %d in\n%s", seed, through, err,
				d.FIFODepthsWords(), d.Model.Graph)
		}
		if dead++; through {
			dead--
			free++
		}
	}
	if dead < 500 || free < 500 {
		t.Errorf("%d deadlocks, %d free of them: the networks test too little", dead, free)
	}
}
