package rtlsim

import (
	"context"
	"errors"
	"math"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"testing"

	"hlsgen/internal/dataflow"
	"hlsgen/internal/testsupport/tier"
)

func run(t testing.TB, d *dataflow.Design, frames [][]dataflow.Tensor, opt Options) *RunTrace {
	t.Helper()
	trace, err := RunFrames(t.Context(), d, frames, opt)
	if err != nil {
		t.Fatalf("%v in\n%s", err, d.Model.Graph)
	}
	return trace
}

// TestLoneLayer checks law 2: if the ends of a layer never stall, the simulation agrees with the layer's estimate.
func TestLoneLayer(t *testing.T) {
	t.Parallel()
	rng := rand.New(rand.NewPCG(3, 4))
	for range 500 {
		n := &net{t: t, perWord: 1}
		loop := randomLoop(rng)
		out := n.add("Any", loop, n.input(loop.WordsRead(0)))
		d := n.design(2+rng.IntN(3), out...)
		d.Target.Backend = backends[rng.IntN(2)]
		if d.Target.Backend.Stalls == dataflow.StallByCredit { // a place is taken until its word is read
			d.FIFO = dataflow.NewShiftRegisterFIFOs(1, loop.Latency+1)
		}
		const frames = 3
		trace := run(t, d, nil, Options{Frames: frames})
		interval := loop.IterationsPerFrame()
		in, end := d.Target.IOLatencyClocks()
		for f, got := range trace.Frames {
			begin := f*interval + end
			if want := (FrameOutputClocks{begin + loop.FirstWriteClock(0), begin +
				loop.LastWriteClock(0)}); got != want {
				t.Fatalf("frame %d of %+v comes out at %+v, want %+v", f, loop, got, want)
			}
		}
		if want := (NodeStateClocks{Name: "Any_0", Busy: frames * interval}); trace.Nodes[0] != want {
			t.Errorf("%+v: %+v, want %+v", loop, trace.Nodes[0], want)
		}
		if want := (frames-1)*interval + 1 + max(interval-1, loop.LastWriteClock(0)); trace.Cycles != want {
			t.Errorf("%+v: %d clocks, want %d", loop, trace.Cycles, want)
		}
		if once := run(t, d, nil, Options{Frames: 1}); once.IntervalClocks() != 0 || once.Frames[0] != trace.Frames[0] {
			t.Errorf("%+v: one frame has interval %v and comes out at %+v", loop, once.IntervalClocks(), once.Frames[0])
		}
		if trace.IntervalClocks() != float64(interval) ||
			trace.FirstFrameLatencyClocks() != in+loop.LastWriteClock(0)+end+1 {
			t.Errorf("%+v: interval %v and latency %d", loop, trace.IntervalClocks(), trace.FirstFrameLatencyClocks())
		}
	}
}

// randomLoop returns a loop that reads at least one word on one port and writes at least one word on another.
func randomLoop(rng *rand.Rand) dataflow.Loop {
	l := dataflow.LoopNest{Latency: 1 + rng.IntN(9), Read: make([]dataflow.PortMoveIndices, 1),
		Write: make([]dataflow.PortMoveIndices, 1)}
	for range rng.IntN(4) {
		n := 1 + rng.IntN(4)
		l.Trips = append(l.Trips, n)
		for _, a := range []*dataflow.PortMoveIndices{&l.Read[0], &l.Write[0]} {
			x := dataflow.IndexSet{Kind: dataflow.IndexSetKindEvery + dataflow.IndexSetKind(rng.IntN(4))}
			if x.Kind == dataflow.IndexSetKindPattern {
				p := []byte(strings.Repeat("0", n))
				for range n {
					p[rng.IntN(n)] = '1'
				}
				x.Pattern = string(p)
			}
			*a = append(*a, x)
		}
	}
	return l.AsLoop()
}

// TestRandomNetworks checks random networks. With or without data the clocks equal those of a plain walk. At any
// pace the data equal those of Eval. The order of layers makes no difference.
func TestRandomNetworks(t *testing.T) {
	t.Parallel()
	tier.NotQuick(t)
	var deadlocks, periods [2]int // by rule
	for seed := range uint64(300) {
		d, rng := randomNet(t, seed, 5)
		frames := randomFrames(d, 1+rng.IntN(12), rng)
		want := evaluate(t, d, frames)
		for i, opt := range []Options{
			{},
			{In: HostSlowdown{Every: 3}, Out: HostSlowdown{Stall: 40, Seed: seed}},
			{In: HostSlowdown{Stall: 70, Seed: seed}, Out: HostSlowdown{Every: 2, Stall: 10}},
			{},
			{In: HostSlowdown{Every: 2}, Out: HostSlowdown{Stall: 60, Seed: seed}},
		} {
			d.Target.Backend = backends[i/3]
			token := opt
			token.Frames = len(frames)
			bare, bareErr := RunFrames(t.Context(), d, nil, token)
			full, err := RunFrames(t.Context(), d, frames, opt)
			if !reflect.DeepEqual(err, bareErr) {
				t.Fatalf("seed %d: error %v with data, %v without", seed, err, bareErr)
			}
			plain, stuck := oracle(d, len(frames), opt, rng)
			var dead *Deadlock
			if errors.As(err, &dead) {
				deadlocks[d.Target.Backend.Stalls]++
				if !stuck || dead.Clock != plain.Cycles {
					t.Fatalf("seed %d: %v; the plain walk stops at %d, stuck %t", seed, err, plain.Cycles, stuck)
				}
				continue
			}
			if err != nil {
				t.Fatalf("seed %d: %v", seed, err)
			}
			if bare.Period != (SteadyState{}) {
				periods[d.Target.Backend.Stalls]++
			}
			plain.Period, plain.Steady, plain.Bottleneck = bare.Period, bare.Steady, bare.Bottleneck
			if stuck || !reflect.DeepEqual(bare, plain) {
				t.Fatalf("seed %d, %v: %+v\nthe plain walk: %+v, stuck %t\n%s", seed, d.Target.Backend.Stalls, bare,
					plain,
					stuck, d.Model.Graph)
			}
			alone, err := ComputeOutputs(t.Context(), d, frames, nil)
			if err = errors.Join(err, CompareOutputs(full.Outputs, want), CompareOutputs(alone, want)); err != nil {
				t.Fatalf("seed %d: %v", seed, err)
			}
			full.Outputs = nil
			if !reflect.DeepEqual(full, bare) {
				t.Fatalf("seed %d: with data %+v, without %+v", seed, full, bare)
			}
		}
	}
	for rule := range deadlocks {
		if d, p := deadlocks[rule], periods[rule]; d < 30 || d > 600 || p < 30 {
			t.Errorf("%v: %d runs deadlocked, %d came to a steady state: the networks test too little",
				dataflow.StallRule(rule), d, p)
		}
	}
}

// evaluate returns the outputs that Eval computes.
func evaluate(t *testing.T, d *dataflow.Design, frames [][]dataflow.Tensor) [][]dataflow.Tensor {
	var all [][]dataflow.Tensor
	for _, streams := range evaluateStreams(t, d, frames) {
		var out []dataflow.Tensor
		for _, s := range d.Model.Graph.Out {
			out = append(out, streams[s])
		}
		all = append(all, out)
	}
	return all
}

func evaluateStreams(t *testing.T, d *dataflow.Design, frames [][]dataflow.Tensor) (all [][]dataflow.Tensor) {
	for _, in := range frames {
		streams, err := d.Model.Graph.EvalFirstFrameByStream(t.Context(), in)
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, streams)
	}
	return all
}

// kept returns a function for Options.OnTensor that stores all tensors, per frame and stream.
func kept(streams *[][]dataflow.Tensor, d *dataflow.Design) func(frame, stream int, v dataflow.Tensor) error {
	return func(frame, stream int, v dataflow.Tensor) error {
		if frame == len(*streams) {
			*streams = append(*streams, make([]dataflow.Tensor, len(d.Model.Graph.Streams)))
		}
		(*streams)[frame][stream] = dataflow.Tensor{Shape: v.Shape, Data: slices.Clone(v.Data)}
		return nil
	}
}

// TestUnboundedNetworks checks that with unbounded FIFOs nothing deadlocks, that streams carry the results of Eval,
// and that the interval is at least that of the slowest layer.
func TestUnboundedNetworks(t *testing.T) {
	t.Parallel()
	for seed := range uint64(200) {
		d, rng := randomNet(t, seed, 6)
		for s := range d.FIFO {
			d.FIFO[s].Depth = math.MaxInt
		}
		frames := randomFrames(d, 6, rng)
		var streams [][]dataflow.Tensor
		trace := run(t, d, frames, Options{OnTensor: kept(&streams, d)})
		if err := CompareOutputs(streams, evaluateStreams(t, d, frames)); err != nil {
			t.Fatalf("seed %d, streams: %v", seed, err)
		}
		// An output that is late at first may hide a slower output for some frames.
		slowest, _ := d.BottleneckInterval()
		if got := run(t, d, nil, Options{Frames: 100}).IntervalClocks(); got < float64(slowest) {
			t.Errorf("seed %d: interval %v, the slowest layer needs %d", seed, got, slowest)
		}
		// FIFOs with the depths of the high-water marks are as good as unbounded FIFOs.
		d.FIFO = dataflow.NewShiftRegisterFIFOs(trace.High...)
		again := run(t, d, nil, Options{Frames: 6})
		if !reflect.DeepEqual(again.Frames, trace.Frames) {
			t.Errorf("seed %d: with depths %v %v, unbounded %v", seed, d.FIFODepthsWords(), again.Frames, trace.Frames)
		}
	}
}

// TestNodeOrder checks that the order of two parallel branches makes no difference.
func TestNodeOrder(t *testing.T) {
	t.Parallel()
	build := func(swap bool) map[string]NodeStateClocks {
		n := &net{t: t, perWord: 1}
		fork := n.add("Fork", pass(12, 1, 2, 2), n.input(12))
		var slow, fast []int
		if swap {
			fast = n.add("Fast", pass(12, 1, 1, 1), fork[1])
			slow = n.add("Slow", hold(12, 4), fork[0])
		} else {
			slow = n.add("Slow", hold(12, 4), fork[0])
			fast = n.add("Fast", pass(12, 1, 1, 1), fork[1])
		}
		d := n.design(8, n.add("Join", pass(12, 2, 1, 3), slow[0], fast[0])...)
		nodes := map[string]NodeStateClocks{}
		for _, c := range run(t, d, nil, Options{Frames: 5, Out: HostSlowdown{Stall: 30, Seed: 1}}).Nodes {
			nodes[c.Name] = c
		}
		return nodes
	}
	if a, b := build(false), build(true); !reflect.DeepEqual(a, b) {
		t.Errorf("%v in one order, %v in the other", a, b)
	}
}

// heldFork returns a design with a path round a layer that holds back its frame. The FIFO on the path has the given
// depth, and the fork the given latency.
func heldFork(t *testing.T, latency, depth int) *dataflow.Design {
	n := &net{t: t, perWord: 1}
	fork := n.add("Fork", pass(12, 1, 2, latency), n.input(12))
	held := n.add("Hold", hold(12, 4), fork[0])
	d := n.design(2, n.add("Join", pass(12, 2, 1, 3), held[0], fork[1])...)
	d.FIFO[fork[1]].Depth = depth
	return d
}

// TestDeadlock checks that the short path round a layer that holds back its frame needs a FIFO for the 12 words
// that the layer holds.
func TestDeadlock(t *testing.T) {
	t.Parallel()
	build := func(depth int) *dataflow.Design { return heldFork(t, 2, depth) }
	_, err := RunFrames(t.Context(), build(9), nil, Options{Frames: 2})
	var dead *Deadlock
	if !errors.As(err, &dead) {
		t.Fatalf("error %v, want a deadlock", err)
	}
	// Fork starts in clocks 0 to 9, and writes in the clock after each. Then its tenth word finds no room on s2.
	// This freezes the tenth word for Hold, which reads the others in clocks 2 to 10.
	want := "deadlock at clock 11: Fork_0 waits for room on s2 (depth 9) that Join_0 is to take, " +
		"Join_0 waits for a word on s3 that Hold_0 is to give, Hold_0 waits for a word on s1 that Fork_0 is to give; " +
		"a depth of 12 on s2 breaks this chain"
	if err.Error() != want {
		t.Errorf("got  %v\nwant %s", err, want)
	}
	var waits []string
	for _, w := range dead.Waits {
		waits = append(waits, w.String())
	}
	want = "the host waits for room on s0 (depth 2), Fork_0 waits for room on s2 (depth 9), Hold_0 waits for a word " +
		"on s1, " + "Join_0 waits for a word on s3, the host waits for a word on s4"
	if got := strings.Join(waits, ", "); got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
	run(t, build(12), nil, Options{Frames: 2})
}

// TestThroughput checks that a FIFO of two words carries one word per clock, and a FIFO of one word every other
// clock. A saturated chain runs at the pace of its outlet.
func TestThroughput(t *testing.T) {
	t.Parallel()
	chain := func(depth int) *dataflow.Design {
		n := &net{t: t, perWord: 1}
		s := n.input(10)
		for range 5 {
			s = n.add("Pass", pass(10, 1, 1, 1), s)[0]
		}
		return n.design(depth, s)
	}
	for _, c := range []struct {
		depth    int
		opt      Options
		interval float64
		latency  int
		outlet   NodeStateClocks
	}{
		{2, Options{Frames: 20}, 10, 5 + 10, NodeStateClocks{"Pass_4", 200, 4, 0}},
		{2, Options{Frames: 20, In: HostSlowdown{Every: 7}}, 70, 5 + 9*7 + 1, NodeStateClocks{"Pass_4", 200, 4 + 199*6,
			0}},
		{1, Options{Frames: 20}, 20, 5 + 9*2 + 1, NodeStateClocks{"Pass_4", 200, 4 + 199, 0}},
		{2, Options{Frames: 20, Out: HostSlowdown{Every: 3}}, 30, 5 + 9*3 + 1, NodeStateClocks{"Pass_4", 200, 4,
			2 * (199 - 2)}},
	} {
		d := chain(c.depth)
		trace := run(t, d, nil, c.opt)
		in, out := d.Target.IOLatencyClocks()
		latency := trace.FirstFrameLatencyClocks() - in - out
		if trace.IntervalClocks() != c.interval || latency != c.latency || trace.Nodes[4] != c.outlet {
			t.Errorf("%+v: interval %v, latency %d, %+v; want %v, %d, %+v", c.opt, trace.IntervalClocks(), latency,
				trace.Nodes[4], c.interval, c.latency, c.outlet)
		}
	}
}

func TestRunRefuses(t *testing.T) {
	t.Parallel()
	n := &net{t: t, perWord: 1}
	d := n.design(2, n.add("Pass", pass(4, 1, 1, 1), n.input(4))...)
	good := randomFrames(d, 2, rand.New(rand.NewPCG(1, 1)))
	wide := randomFrames(d, 2, rand.New(rand.NewPCG(1, 1)))
	wide[1][0].Data[2] = 256
	shallow := *d
	shallow.FIFO = dataflow.NewShiftRegisterFIFOs(2, 0)
	cancelled, cancel := context.WithCancel(t.Context())
	cancel()
	for _, c := range []struct {
		ctx    context.Context
		d      *dataflow.Design
		frames [][]dataflow.Tensor
		opt    Options
		want   string
	}{
		{t.Context(), d, nil, Options{}, "got data of 0 frames and a request for 0 frames without data"},
		{t.Context(), d, good, Options{Frames: 2}, "got data of 2 frames and a request for 2 frames without data"},
		{t.Context(), d, nil, Options{Frames: -1}, "a request for -1 frames"},
		{t.Context(), d, wide, Options{}, "frame 1: input 0: value 256 at index 2 is not UINT8 in [0,255]"},
		{t.Context(), &shallow, good, Options{}, "design: the FIFO of stream s1: depth 0"},
		{t.Context(), d, good, Options{In: HostSlowdown{Every: -1}}, "a pace of a word every -1 clocks"},
		{t.Context(), d, good, Options{Out: HostSlowdown{Stall: 100}}, "100 % of them stalled"},
		{t.Context(), d, good, Options{MaxCycles: -1}, "at most -1 clocks"},
		{t.Context(), d, good, Options{Layers: -1}, "in -1 frames"},
		{t.Context(), d, good, Options{MaxCycles: 8}, "no end after 8 clocks: 1 of 2 frames are out"},
		{t.Context(), d, good, Options{MaxCycles: 9}, ""},
		{cancelled, d, good, Options{}, "context canceled"},
	} {
		_, err := RunFrames(c.ctx, c.d, c.frames, c.opt)
		if (err == nil) != (c.want == "") || err != nil && !strings.Contains(err.Error(), c.want) {
			t.Errorf("error %v, want %q", err, c.want)
		}
	}
}

// TestNoLayers checks that a graph without streams ends at once.
func TestNoLayers(t *testing.T) {
	t.Parallel()
	d := &dataflow.Design{Model: &dataflow.Model{Graph: &dataflow.Graph{}}}
	if trace := run(t, d, nil, Options{Frames: 3}); trace.Cycles != 0 {
		t.Errorf("%+v", trace)
	}
	if proof, err := ProveDeadlockFree(t.Context(), d); err != nil {
		t.Errorf("%v, %v", proof, err)
	}
	size(t, d, FIFOSizingOptions{})
}

func TestMostPorts(t *testing.T) {
	t.Parallel()
	n := &net{t: t, perWord: 1}
	d := n.design(2, n.add("Fork", pass(4, 1, dataflow.MaxPortsPerSide, 1), n.input(4))...)
	if got := len(run(t, d, randomFrames(d, 2, rand.New(rand.NewPCG(1, 1))),
		Options{}).Outputs[1]); got != dataflow.MaxPortsPerSide {
		t.Errorf("%d outputs", got)
	}
}

// A wrong is a layer whose kernel breaks the contract.
type wrong struct {
	blender
	step func(i int) []dataflow.Word
}

func (w wrong) Bind(in []dataflow.StreamType) (dataflow.Op, []dataflow.StreamType, error) {
	_, out, err := w.blender.Bind(in)
	return w, out, err
}

func (w wrong) Kernel(dataflow.Fold, dataflow.Target) dataflow.Kernel { return w }

func (w wrong) Step(i int, _ []dataflow.Word) []dataflow.Word { return w.step(i) }

func TestKernelDefects(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		step func(i int) []dataflow.Word
		want string
	}{
		{func(int) []dataflow.Word { return nil }, "Wrong_0, iteration 0: words for 0 ports, want 1"},
		{func(i int) []dataflow.Word { return []dataflow.Word{{0}} },
			"Wrong_0, iteration 0, output 0: the loop says writes=false"},
		{func(i int) []dataflow.Word { return []dataflow.Word{nil} },
			"Wrong_0, iteration 3, output 0: the loop says writes=true"},
		{func(i int) []dataflow.Word { return []dataflow.Word{make(dataflow.Word, 2*(i/3))[: 2*(i/3) : 2]}[:1] }, ""},
		{lastOnly(dataflow.Word{1, 2}), "iteration 3, output 0: a word of 2 elements, want 1"},
		{lastOnly(dataflow.Word{256}), "iteration 3, output 0: element 0 is 256: no UINT8"},
	} {
		func() {
			defer func() {
				if r, _ := recover().(string); !strings.Contains(r, c.want) {
					t.Errorf("panic %q, want %q", r, c.want)
				}
			}()
			n := &net{t: t, perWord: 1}
			loop := dataflow.LoopNest{Trips: []int{4}, Read: accesses("e"), Write: accesses("l"), Latency: 1}.AsLoop()
			out, err := n.b.BindAndAddLayer(wrong{newBlender("Wrong", loop, 1), c.step}, []int{n.input(4)}, nil, nil)
			if err != nil {
				t.Fatal(err)
			}
			d := n.design(2, out...)
			run(t, d, randomFrames(d, 1, rand.New(rand.NewPCG(1, 1))), Options{})
		}()
	}
}

func lastOnly(w dataflow.Word) func(int) []dataflow.Word {
	return func(i int) []dataflow.Word {
		if i < 3 {
			return []dataflow.Word{nil}
		}
		return []dataflow.Word{w}
	}
}

func TestPace(t *testing.T) {
	t.Parallel()
	open := func(g gate, clock int) bool { return clock >= g.free && !g.stalled(clock) }
	for _, p := range []HostSlowdown{{}, {Every: 5}, {Stall: 99, Seed: 7}, {Every: 3, Stall: 50}} {
		g := p.gate(1, 1)
		passed := 0
		for clock := range 2000 {
			if next := g.next(clock); (next == clock) != open(g, clock) || next < clock || !open(g, next) {
				t.Fatalf("%+v: next of %d is %d", p, clock, next)
			}
			if open(g, clock) {
				g.pass(&engine{end: never}, clock)
				passed++
			}
		}
		if most := 2000 / max(1, p.Every); passed == 0 || passed > most || (p.Stall == 0) != (passed == most) {
			t.Errorf("%+v lets %d words through in 2000 clocks, at most %d", p, passed, most)
		}
	}
	if a, b := (HostSlowdown{Stall: 50}).gate(0, 1), (HostSlowdown{Stall: 50}).gate(1, 1); a.seed == b.seed {
		t.Error("two streams throw the same dice")
	}
}

// TestHighOfLongFrames checks that the high-water marks of deep FIFOs are exact to the last word if frames are
// long.
func TestHighOfLongFrames(t *testing.T) {
	t.Parallel()
	deep := 0
	for seed := range uint64(60) {
		d, rng := longNet(t, seed, 11, 8)
		for s := range d.FIFO {
			d.FIFO[s].Depth = 2 + rng.IntN(40)
		}
		opt := Options{Frames: 2, Out: HostSlowdown{Every: rng.IntN(4)}}
		got, err := RunFrames(t.Context(), d, nil, opt)
		if err != nil {
			continue // TestRandomNetworks has deadlocks
		}
		want, _ := oracle(d, opt.Frames, opt, rng)
		if !reflect.DeepEqual(got.High, want.High) {
			t.Errorf("seed %d: %v, by the plain walk %v\n%s", seed, got.High, want.High, d.Model.Graph)
		}
		if slices.Max(want.High) > 8 {
			deep++
		}
	}
	if deep < 20 {
		t.Errorf("%d networks have deep FIFOs: they test too little", deep)
	}
}

// TestShownInterval checks that a shortened run ends early only if the frames over which it takes the mean come
// evenly.
func TestShownInterval(t *testing.T) {
	t.Parallel()
	tier.NotQuick(t)
	ended := 0
	for seed := range uint64(2000) {
		rng := rand.New(rand.NewPCG(seed, 5))
		var d *dataflow.Design
		switch seed % 3 {
		case 0:
			d, _ = randomNet(t, seed, 19)
		case 1:
			d = randomForks(t, rng)
		default:
			d = unevenNet(t, rng)
		}
		for s := range d.FIFO {
			d.FIFO[s].Depth += rng.IntN(20)
		}
		opt := Options{Frames: 40, Words: 1, Layers: rng.IntN(12) * rng.IntN(2)}
		run := func(opt Options) *RunTrace {
			got, err := RunFrames(t.Context(), d, nil, opt)
			if err != nil && !errors.As(err, new(*Deadlock)) {
				t.Fatal(err)
			}
			return got
		}
		got := run(opt)
		if got == nil {
			continue
		}
		n := len(got.Frames)
		if opt.Layers > 0 && got.TraceOfFirstFrames(min(opt.Layers, n)) == nil || n < min(opt.Layers, opt.Frames) {
			t.Fatalf("seed %d: %d frames, and none of the %d that are drawn", seed, n, opt.Layers)
		}
		lone := run(Options{Frames: 1})
		most := 5 + lone.Cycles/fastest(newPlan(d), opt.In, opt.Out)
		if got.Period.Frames > 0 || n >= max(most, opt.Layers) {
			continue
		}
		ended++
		if last := got.Frames[n-1].Last - got.Frames[n-2].Last; got.IntervalClocks() != float64(last) {
			t.Fatalf("seed %d: %d frames, the last one after %d clocks, show %v", seed, n, last, got.IntervalClocks())
		}
	}
	if ended < 300 {
		t.Errorf("%d runs ended early: the networks test too little", ended)
	}
}
