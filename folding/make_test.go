package folding

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"hlsgen/boards"
	"hlsgen/folding/goal"
	"hlsgen/internal/dataflow"
	"hlsgen/internal/diag"
	"hlsgen/internal/num"
	"hlsgen/internal/testsupport/tier"
)

func tfc() *dataflow.Model {
	return mlp(rand.New(rand.NewPCG(1, 2)), uint2, 2, 2, 784, 64, 64, 64, 10)
}

// all returns the same share of everything.
func all(f float64) MaxUseFractions { return goal.NewUniformMaxUse(f) }

// chain joins listed layers in a row.
func chain(layers ...*listed) *dataflow.Model {
	var b dataflow.GraphBuilder
	s := b.AddInput("x", twelve)
	for i, l := range layers {
		l.ins, l.outs = 1, 1
		s = must(b.BindAndAddLayer(l, []int{s}, nil, []string{fmt.Sprintf("/%c/MatMul", 'a'+i)}))[0]
	}
	b.MarkOutput(s)
	return &dataflow.Model{Graph: must(b.VerifiedGraph())}
}

// plainRow returns a row of one input and one output.
func plainRow(in, out, iterations int, cost dataflow.Resources) row {
	return row{in: []int{in}, out: []int{out}, iterations: iterations, cost: cost}
}

// TestFewBits checks that DSP slices multiply few bits only if LUTs are short, or if the goal is the fewest LUTs.
func TestFewBits(t *testing.T) {
	t.Parallel()
	zcu104 := board("zcu104")
	least, _ := on(t, tfc(), zcu104, Goal{Interval: 100, Least: ResourceMeasureLUT})
	loose, _ := on(t, tfc(), zcu104, Goal{Interval: 100})
	if least.Estimate.Total.DSP == 0 || loose.Estimate.Total.DSP != 0 {
		t.Errorf("%+v with the fewest LUTs, %+v else", least.Estimate.Total, loose.Estimate.Total)
	}
	tight := zcu104
	tight.LUT = least.Estimate.Total.LUT + 100
	short, _ := on(t, tfc(), tight, Goal{Interval: 100, MaxUse: all(1)})
	if short.Estimate.Total.DSP == 0 || short.Estimate.Total.LUT > tight.LUT {
		t.Errorf("%+v where %d LUTs are all", short.Estimate.Total, tight.LUT)
	}
	wide, _ := on(t, mlp(rand.New(rand.NewPCG(1, 2)), num.Type{Kind: num.KindUInt, Width: 8}, 8, 8, 64, 64, 10), zcu104,
		Goal{Interval: 100})
	if wide.Estimate.Total.DSP == 0 {
		t.Errorf("%+v of 8 bits", wide.Estimate.Total)
	}
}

// TestMake checks the figures of designs on every board (consistent).
func TestMake(t *testing.T) {
	t.Parallel()
	tier.NotQuick(t)
	m := tfc()
	m.Prefix.Nodes = []string{"/scale"}
	for _, wanted := range []Goal{{}, {FPS: 10_000}, {FPS: 500_000, FIFO: FIFODepthPolicy{Words: 7}},
		{FIFO: FIFODepthPolicy{Minimal: true}},
		{MaxCycles: 1000}, {Latency: true}} {
		for _, b := range []boards.Board{board("pynq-z1"), board("zcu104"), board("vck190")} {
			d, _ := on(t, m, b, wanted)
			name := fmt.Sprintf("%s %+v", b.Name, wanted)
			if wanted.FPS > d.SamplesPerSecond() {
				t.Errorf("%s: %v frames per second", name, d.SamplesPerSecond())
			}
			kinds := []string{"LUT", "LUTRAM", "FF", "RAMB18", "DSP", goal.KindNames[goal.KindMeanHardBlockShare]}
			if b.URAM > 0 {
				kinds = slices.Insert(kinds, 4, "URAM")
			}
			var shares []string
			for _, s := range d.Shares {
				shares = append(shares, s.Name)
			}
			if !slices.Equal(shares, kinds) || d.Shares[0].Used != d.Estimate.Total.LUT ||
				d.Shares[0].UsedFractionOfBoard() != float64(d.Estimate.Total.LUT)/float64(b.LUT) {
				t.Errorf("%s: shares %+v", name, d.Shares)
			}
			if c := d.Certificate; c.Options <= c.Unavailable || !strings.Contains(c.DescribeOptionCounts(),
				fmt.Sprint(c.Options)+" options") {
				t.Errorf("%s: %s", name, c.DescribeOptionCounts())
			}
			if w := wanted.FIFO.Words; w > 0 && slices.ContainsFunc(d.FIFODepthsWords(),
				func(n int) bool { return n != w }) {
				t.Errorf("%s: depths %v", name, d.FIFODepthsWords())
			}
			if !slices.Equal(d.Model.Prefix.Nodes, m.Prefix.Nodes) || d.Model.Name != m.Name {
				t.Errorf("%s: the model's other parts are lost", name)
			}
			if !d.Certificate.IsProvedBest() && !wanted.Latency {
				t.Errorf("%s: %s", name, d.Certificate.DescribeInLines())
			}
		}
	}
	if len(m.Graph.Nodes) != 4 {
		t.Error("the search changed the model's graph")
	}
}

// TestBetweenFolds checks intervals that no layer has: a FIFO that does not fit, or the processor's memory,
// may hold a design up for any number of clocks. Asking for an interval gives what is found without asking.
func TestBetweenFolds(t *testing.T) {
	t.Parallel()
	var b dataflow.GraphBuilder
	x, z := b.AddInput("x", twelve), b.AddInput("z", twelve)
	fork := must(b.BindAndAddLayer(&listed{ins: 1, outs: 2, rows: []row{
		{in: []int{4}, out: []int{1, 2}, iterations: 48, cost: dataflow.Resources{BRAM: 2, DSP: 1}},
		{in: []int{1}, out: []int{1, 6}, iterations: 24, cost: dataflow.Resources{LUT: 40, FF: 22, BRAM: 3, DSP: 2}},
	}}, []int{x}, nil, nil))
	for _, s := range must(b.BindAndAddLayer(&listed{ins: 3, outs: 2, rows: []row{
		{in: []int{12, 1, 12}, out: []int{6, 6}, iterations: 12, cost: dataflow.Resources{LUT: 45, FF: 20, DSP: 1}},
	}}, []int{fork[1], fork[0], z}, nil, nil)) {
		b.MarkOutput(s)
	}
	forked := &dataflow.Model{Graph: must(b.VerifiedGraph())}
	slow := dataflow.Resources{LUT: 10}
	for _, c := range []struct {
		name string
		m    *dataflow.Model
		b    boards.Board
		want float64
	}{
		{"room for FIFOs", forked, boards.Board{Name: "small", LUT: 900, LUTRAM: 60, FF: 900, BRAM36: 4, URAM: 1,
			DSP: 14}, 24},
		{"no room", forked, boards.Board{Name: "small", LUT: 788, LUTRAM: 35, FF: 286, BRAM36: 2, URAM: 1, DSP: 14},
			27},
		{"24 bytes at 0.65 a clock", chain(&listed{rows: []row{plainRow(1, 1, 12, slow), plainRow(1, 1, 48, slow)}}),
			boards.Board{Name: "small", LUT: 50000, LUTRAM: 5000, FF: 50000, BRAM36: 40, DSP: 14, HostPortBits: 8,
				MemoryGBps: 0.065}, 37},
		{"slower than any fold", chain(&listed{rows: []row{plainRow(1, 1, 12, slow)}}),
			boards.Board{Name: "small", LUT: 50000, LUTRAM: 5000, FF: 50000, BRAM36: 40, DSP: 14, HostPortBits: 8,
				MemoryGBps: 0.065}, 37},
	} {
		d, told := on(t, c.m, c.b, Goal{MaxUse: all(0.9)})
		if d == nil || d.Clocks.Interval != c.want || !d.Certificate.IsProvedBest() ||
			float64(d.Certificate.Floor) != c.want {
			t.Errorf("%s: %+v, want %v clocks; %s", c.name, d, c.want, text(told))
			continue
		}
		if asked, _ := on(t, c.m, c.b, Goal{MaxUse: all(0.9), Interval: float64(int(c.want))}); !sameDesign(asked, d) {
			t.Errorf("%s: asked for, it is %v clocks with %+v", c.name, asked.Clocks.Interval, asked.Estimate.Total)
		}
		bound, err := must(NewSpace(c.m, d.Target, nil, FIFODepthPolicy{},
			&diag.List{})).ComputeDesignBounds(t.Context(),
			Goal{MaxUse: all(0.9)})
		if err != nil || float64(bound.Interval) > c.want {
			t.Errorf("%s: no design is said to take fewer than %+v, %v", c.name, bound, err)
		}
		wanted := Goal{MaxUse: all(0.9), Latency: true, Interval: float64(int(c.want))}
		if fast, _ := on(t, c.m, c.b, wanted); fast == nil {
			t.Errorf("%s: no shortest latency", c.name)
		}
	}
}

// TestDesignNames checks that layers and their streams keep their names, and that converters are counted and their
// outputs have no name.
func TestDesignNames(t *testing.T) {
	t.Parallel()
	d, _ := withFile(t, tfc(),
		`{"MVAU_0": {"PE": 4}, "MVAU_1": {"SIMD": 8, "PE": 8}, "MVAU_2": {"SIMD": 8, "PE": 2}, "MVAU_3": {"SIMD": 64}}`,
		Goal{})
	want := []string{
		"MVAU_0 [x] -> [y0] [/fc0/MatMul]",
		"StreamingDataWidthConverter_0 [y0] -> [] []",
		"MVAU_1 [] -> [y1] [/fc1/MatMul]",
		"MVAU_2 [y1] -> [y2] [/fc2/MatMul]",
		"StreamingDataWidthConverter_1 [y2] -> [] []",
		"MVAU_3 [] -> [y3] [/fc3/MatMul]",
	}
	g := d.Model.Graph
	for i, n := range g.Nodes {
		got := fmt.Sprintf("%s [%s] -> [%s] %v", n.Name, g.Streams[n.In[0]].Name, g.Streams[n.Out[0]].Name, n.Origin)
		if i >= len(want) || got != want[i] {
			t.Errorf("node %d: %s", i, got)
		}
	}
}

// TestMonotone checks that a larger budget gives no longer interval, and that a higher rate gives no lower load.
func TestMonotone(t *testing.T) {
	t.Parallel()
	tier.NotQuick(t)
	m := mlp(rand.New(rand.NewPCG(2, 2)), uint2, 2, 2, 96, 24, 24, 10)
	last := 1e9
	for _, use := range []float64{0.2, 0.22, 0.25, 0.3, 0.4, 0.8, 1} {
		d, _ := on(t, m, board("pynq-z1"), Goal{MaxUse: all(use)})
		if d == nil || d.Clocks.Interval > last {
			t.Errorf("%v of the board: %+v, with less %v clocks", use, d, last)
			continue
		}
		last = d.Clocks.Interval
	}
	lowest := 0.0
	for fps := 1000.0; fps < 1e7; fps *= 2 {
		d, _ := on(t, m, board("zcu104"), Goal{FPS: fps})
		share := measure(ResourceMeasureLoad, &d.Budget, d.Estimate.Total)
		if share < lowest {
			t.Errorf("%v frames per second: load %v, at half the rate %v", fps, share, lowest)
		}
		lowest = share
	}
}

// TestPrefersNoConverter checks that of two otherwise equal foldings the one without a width converter is chosen.
func TestPrefersNoConverter(t *testing.T) {
	t.Parallel()
	cost := dataflow.Resources{LUT: 100}
	l := listed{rows: []row{plainRow(2, 3, 12, cost), plainRow(4, 4, 12, cost), plainRow(2, 2, 12, cost)}}
	one, two := l, l
	d, _ := on(t, chain(&one, &two), board("zcu104"), Goal{})
	if costs, total := d.CostPerNode(); len(costs) != 2 || total.LUT != 200 {
		t.Errorf("%d nodes, %d LUT", len(costs), total.LUT)
	}
}

// TestMaxCycles checks that without a budget and a board no layer exceeds the limit if that is possible, whatever
// memory and words allow.
func TestMaxCycles(t *testing.T) {
	t.Parallel()
	vectors := dataflow.StreamType{Shape: dataflow.Shape{9, 12}, Range: twelve.Range, Elem: uint2}
	var b dataflow.GraphBuilder
	s := b.AddInput("x", vectors)
	b.MarkOutput(must(b.BindAndAddLayer(fc(12, 3), []int{s}, nil, nil))[0])
	nine := &dataflow.Model{Graph: must(b.VerifiedGraph())}
	cost := dataflow.Resources{LUT: 10}
	tiled := &listed{rows: []row{plainRow(2, 4, 12, cost), plainRow(6, 6, 48, cost)}}
	tiled.rows[0].tin, tiled.rows[0].tout = []int{0}, []int{2} // its reader does not take these
	slow := boards.Board{Name: "slow", LUT: 50000, LUTRAM: 5000, FF: 50000, BRAM36: 40, DSP: 14, HostPortBits: 8,
		MemoryGBps: 0.065}
	for _, c := range []struct {
		name  string
		m     *dataflow.Model
		b     boards.Board
		limit int
		want  int // the most clocks of the slowest layer
	}{
		{"loose", tfc(), boards.Board{}, 100_000, 100_000},
		{"middling", tfc(), boards.Board{}, 2000, 2000},
		{"a word of 784", tfc(), boards.Board{}, 2, 2},
		{"9 vectors", nine, boards.Board{}, 5, 9},
		{"tiles", chain(tiled, &listed{rows: []row{plainRow(6, 6, 12, cost)}}), slow, 13, 48},
		{"slow memory", chain(&listed{rows: []row{plainRow(1, 1, 12, cost), plainRow(1, 1, 48, cost)}}), slow, 14, 12},
	} {
		target := dataflow.Target{Board: c.b, ClockMHz: 100}
		if c.b.Name == "" {
			target.IO = dataflow.HostIOStream
		}
		d, _ := designed(t, c.m, target, Goal{MaxCycles: c.limit})
		if d == nil {
			t.Errorf("%s: no design", c.name)
			continue
		}
		most := 0
		for i := range d.Folds {
			most = max(most, d.LoopOfNode(i).IterationsPerFrame())
		}
		if most > c.want {
			t.Errorf("%s: %d clocks", c.name, most)
		}
	}
}

// TestURAM checks that UltraRAM holds tables only if the bitstream can fill it.
func TestURAM(t *testing.T) {
	t.Parallel()
	wanted := Goal{MaxUse: MaxUseFractions{LUT: 1, LUTRAM: 1, FF: 1, URAM: 1, DSP: 1, Mean: 1}, FPS: 1000}
	b := boards.Board{Name: "versal", LUT: 4200, LUTRAM: 600, FF: 8000, BRAM36: 10, URAM: 400, DSP: 100}
	for _, c := range []struct {
		dsp  string
		uram bool
	}{{"DSP58", true}, {"DSP48E2", false}} {
		b.DSPType = c.dsp
		d, told := on(t, tfc(), b, wanted)
		tables := d != nil && slices.ContainsFunc(d.Folds,
			func(f dataflow.Fold) bool { return f.Memory == dataflow.MemoryURAM })
		if tables != c.uram {
			t.Errorf("%s: %v, %s", c.dsp, d, text(told))
		}
	}
}

// TestFIFOsInURAM checks that UltraRAM holds FIFOs if the device has it and other memory is scarcer, and that they are
// priced there.
func TestFIFOsInURAM(t *testing.T) {
	t.Parallel()
	tier.NotQuick(t)
	roomy := boards.Board{Name: "roomy", LUT: 300_000, LUTRAM: 100_000, FF: 600_000, BRAM36: 400, URAM: 200, DSP: 900,
		DSPType: "DSP48E2"}
	scarce, none := roomy, roomy
	scarce.BRAM36, none.URAM = 2, 0
	for _, c := range []struct {
		name  string
		b     boards.Board
		least ResourceMeasure
		uram  bool
	}{
		{"fewest RAMB18", roomy, ResourceMeasureBRAM, true},
		{"fewest RAMB18 without UltraRAM", none, ResourceMeasureBRAM, false},
		{"fewest URAM", roomy, ResourceMeasureURAM, false},
		{"hardly a RAMB18", scarce, ResourceMeasureURAM, true},
	} {
		wanted := Goal{MaxUse: MaxUseFractions{LUT: 0.2, LUTRAM: 0.01, FF: 1, BRAM: 1, URAM: 1, DSP: 1, Mean: 1},
			Least: c.least,
			FPS:   1000, FIFO: FIFODepthPolicy{Words: 5000}}
		d, told := on(t, tfc(), c.b, wanted)
		if d == nil {
			t.Errorf("%s: %s", c.name, text(told))
			continue
		}
		blocks := 0
		for s, f := range d.FIFO {
			if f.Memory == dataflow.MemoryURAM {
				blocks += (d.PortOfStream(s).Width() + 71) / 72 * 2 // 5000 words are two blocks deep
			}
		}
		if got := d.Estimate.FIFOs.Total().URAM; got != blocks || c.uram != (blocks > 0) {
			t.Errorf("%s: %d URAM priced, %d bound, in %v", c.name, got, blocks, d.FIFO)
		}
	}
}

// TestBorder checks that the host's words are no wider than its port if possible, and that the layer's stay as they
// are.
func TestBorder(t *testing.T) {
	t.Parallel()
	tier.NotQuick(t)
	port := func(bits int) boards.Board {
		b := board("zcu104")
		b.HostPortBits = bits
		return b
	}
	for _, c := range []struct {
		b    boards.Board
		io   dataflow.HostIO
		want int // elements in a word of the host; 784 of 2 bits in words of 112 at the layer
	}{
		{port(256), dataflow.HostIOMemory, 112},
		{port(128), dataflow.HostIOMemory, 56},
		{port(64), dataflow.HostIOMemory, 28},
		{port(8), dataflow.HostIOMemory, 4},
		{port(64), dataflow.HostIOStream, 112},
		{port(0), dataflow.HostIOMemory, 112},
	} {
		wanted := Goal{Fixed: ParseFoldingFile([]byte(`{"MVAU_0": {"PE": 4, "SIMD": 112}}`), &diag.List{})}
		d, told := designed(t, tfc(), dataflow.Target{Board: c.b, ClockMHz: 200, IO: c.io}, wanted)
		if d == nil {
			t.Fatal(text(told))
		}
		g := d.Model.Graph
		at := slices.IndexFunc(g.Nodes, func(n *dataflow.Node) bool { return n.Name == "MVAU_0" })
		in := d.PortOfStream(g.In[0])
		if layer := d.PortOfStream(g.Nodes[at].In[0]); in.PerWord != c.want || layer.PerWord != 112 {
			t.Errorf("port of %d bits, %v: words of %d at the host, of %d at the layer; want %d and 112",
				c.b.HostPortBits, c.io, in.PerWord, layer.PerWord, c.want)
		}
		if d.Clocks.Interval < float64(in.Words) || !d.Certificate.IsProvedBest() {
			t.Errorf("port of %d bits: %v clocks, %+v", c.b.HostPortBits, d.Clocks.Interval, d.Certificate)
		}
	}
}

func TestMakeEnds(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	target := dataflow.Target{Board: board("pynq-z1"), ClockMHz: 100}
	for _, wanted := range []Goal{{}, {Latency: true}, {FPS: 1000}, {MaxCycles: 1000}} {
		var d diag.List
		if r, err := FindBestDesign(ctx, tfc(), target, wanted, &d); r != nil || !errors.Is(err, context.Canceled) {
			t.Errorf("cancelled, %+v: %v, %v", wanted, r, err)
		}
	}
	var d diag.List
	if r, err := FindBestDesign(context.Background(), tfc(), target, Goal{FPS: -1}, &d); r != nil || err == nil {
		t.Errorf("bad goal: %v, %v", r, err)
	}
	empty := &dataflow.Model{Graph: &dataflow.Graph{}}
	if r, err := FindBestDesign(context.Background(), empty, target, Goal{}, &d); r != nil || err != nil ||
		codes(&d)[0] != "error nothing-quantised" {
		t.Errorf("no layers: %v, %v, %v", r, err, d.Diags)
	}
}
