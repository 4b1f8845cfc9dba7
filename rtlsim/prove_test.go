package rtlsim

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"hlsgen/internal/dataflow"
)

// relate gives a design of blenders other latencies.
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
	return &dataflow.Design{Model: &dataflow.Model{Graph: &g}, Folds: d.Folds, FIFO: d.FIFO}
}

// Random networks with FIFOs that are too short deadlock in the simulation exactly when the proof fails, whatever the
// host does; and what a proof counts on is just what it needs.
func TestProve(t *testing.T) {
	t.Parallel()
	dead, any, some := 0, 0, 0
	for seed := range uint64(1500) {
		d, rng := randomNet(t, seed, 9)
		if seed%2 > 0 {
			for s := range d.FIFO {
				d.FIFO[s].Depth = 1
			}
		}
		proof, err := Prove(t.Context(), d)
		var stuck *Deadlock
		if err != nil && !errors.As(err, &stuck) {
			t.Fatal(err)
		}
		runs := func(d *dataflow.Design) bool {
			_, err := Run(t.Context(), d, nil, Options{Frames: 3,
				In:  Pace{Stall: rng.IntN(60), Seed: seed, Every: rng.IntN(3)},
				Out: Pace{Stall: rng.IntN(60), Seed: seed}})
			return err == nil
		}
		for range 3 {
			if runs(d) != (stuck == nil) {
				t.Fatalf("seed %d: the proof says %v, %v in\n%s", seed, proof, err, d.Model.Graph)
			}
		}
		if stuck != nil {
			dead++
			checkDeadlock(t, d, stuck)
			continue
		}
		atLeast := func(room int) *dataflow.Design {
			return relate(d, func(l dataflow.Loop) int {
				return max(1, min(room, l.Latency)) +
					rng.IntN(4)*rng.IntN(2)
			})
		}
		if !runs(atLeast(proof.Room)) {
			t.Errorf("seed %d: %v, but deadlocks with other latencies", seed, proof)
		}
		if proof.Room == 0 {
			any++
		} else if some++; proof.Room > 1 && runs(relate(d, func(l dataflow.Loop) int {
			return min(proof.Room-1,
				l.Latency)
		})) {
			t.Errorf("seed %d: %v, but less does", seed, proof)
		}
	}
	if dead < 50 || any < 500 || some < 25 {
		t.Errorf("%d deadlocks, %d free of them at any latency, %d at some: the networks test too little", dead, any,
			some)
	}
}

// checkDeadlock checks that the chain is closed and that its FIFO breaks it at the depth it says, and only there.
func checkDeadlock(t *testing.T, d *dataflow.Design, dead *Deadlock) {
	t.Helper()
	g := d.Model.Graph
	for i, w := range dead.Cycle {
		end := g.Writer
		if w.Room {
			end = g.Reader
		}
		if n, _ := end(w.Stream); g.Nodes[n].Name != dead.Cycle[(i+1)%len(dead.Cycle)].Node {
			t.Errorf("%v: no chain", dead)
		}
	}
	with := func(depth int) *Deadlock {
		deeper := *d
		deeper.FIFO = slices.Clone(d.FIFO)
		deeper.FIFO[dead.Stream].Depth = depth
		_, err := Prove(t.Context(), &deeper)
		var stuck *Deadlock
		errors.As(err, &stuck)
		return stuck
	}
	holdsUp := func(stuck *Deadlock) bool {
		return stuck != nil && slices.ContainsFunc(stuck.Cycle,
			func(w Wait) bool { return w.Room && w.Stream == dead.Stream })
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
		{9, "free for any number of frames, any stalls and any kernel latencies of at least those estimated, or 3: " +
			"after 48 iterations"},
		{7, "deadlock: Fork_0 waits for room on s2 (depth 7) that Join_0 is to take"},
	} {
		proof, err := Prove(t.Context(), build(c.depth))
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
	if _, err := Prove(t.Context(), bad); err == nil || !strings.Contains(err.Error(), "depth 0") {
		t.Error(err)
	}
}
