package folding

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"testing"

	"hlsgen/boards"
	"hlsgen/internal/dataflow"
	"hlsgen/internal/diag"
	"hlsgen/internal/num"
)

func run(t *testing.T, m *dataflow.Model, b boards.Board, goal Goal) (*Result, *diag.List) {
	t.Helper()
	var d diag.List
	r, err := Search(context.Background(), m, dataflow.Target{Board: b, ClockMHz: 100}, goal, &d)
	if err != nil {
		t.Fatal(err)
	}
	if (r == nil) != d.Failed() {
		t.Fatalf("result %v with %v", r, d.Diags)
	}
	if r != nil {
		if err := r.Design.Verify(); err != nil {
			t.Fatal(err)
		}
	}
	return r, &d
}

func tfc() *dataflow.Model { return mlp(rand.New(rand.NewPCG(1, 2)), uint2, 2, 2, 784, 64, 64, 64, 10) }

// What a result says of itself agrees with its design.
func TestResult(t *testing.T) {
	t.Parallel()
	m := tfc()
	m.Prefix.Nodes = []string{"/scale"}
	for _, goal := range []Goal{{}, {FPS: 10_000}, {FPS: 500_000, FIFO: 7}, {MaxCycles: 1000}} {
		for _, b := range boards.All() {
			r, _ := run(t, m, b, goal)
			interval, at := r.Design.Interval()
			if r.Interval != interval || r.Design.Model.Graph.Nodes[at].Name != r.Bottleneck || r.FPS != 1e8/float64(interval) {
				t.Errorf("%s %+v: %d clocks, %v fps at %s; the design has %d", b.Name, goal, r.Interval, r.FPS, r.Bottleneck, interval)
			}
			costs, total := r.Design.Cost()
			if r.Total != total || !reflect.DeepEqual(r.Costs, costs) {
				t.Errorf("%s %+v: costs differ from the design's", b.Name, goal)
			}
			if goal.MaxCycles == 0 && !total.Within(Budget(b, goal.MaxUse)) {
				t.Errorf("%s %+v: %+v does not fit", b.Name, goal, total)
			}
			if goal.FPS > r.FPS {
				t.Errorf("%s %+v: %v fps", b.Name, goal, r.FPS)
			}
			kinds := 4
			if b.URAM > 0 {
				kinds = 5
			}
			if len(r.Shares) != kinds || r.Shares[0].Name != "LUT" || r.Shares[0].Used != total.LUT {
				t.Errorf("%s %+v: shares %+v", b.Name, goal, r.Shares)
			}
			if of := r.Shares[0].Of(); of != float64(total.LUT)/float64(b.LUT) {
				t.Errorf("%s %+v: %v of the LUTs", b.Name, goal, of)
			}
			if n := r.Proof.Options - r.Proof.Unavailable; n < 1 || n > r.Proof.Options || !strings.Contains(r.Effort(), fmt.Sprint(r.Proof.Options)+" options") {
				t.Errorf("%s", r.Effort())
			}
			for _, depth := range r.Design.Depths() {
				if depth != max(goal.FIFO, 2) && goal.FIFO > 0 || goal.FIFO == 0 && depth != DefaultFIFO {
					t.Errorf("depths %v for --fifo %d", r.Design.Depths(), goal.FIFO)
				}
			}
			if !reflect.DeepEqual(r.Design.Model.Prefix.Nodes, m.Prefix.Nodes) || r.Design.Model.Name != m.Name {
				t.Error("the model's other parts are lost")
			}
			if !r.Proof.Exact() {
				t.Errorf("%s %+v: not exact", b.Name, goal)
			}
		}
	}
	if len(m.Graph.Nodes) != 4 {
		t.Error("the search changed the model's graph")
	}
}

// Layers keep their names and their streams' names; converters are counted; what they write has no name.
func TestDesignNames(t *testing.T) {
	t.Parallel()
	r, _ := searchFile(t, tfc(), `{"MVAU_0": {"PE": 4}, "MVAU_1": {"SIMD": 8, "PE": 8}, "MVAU_2": {"SIMD": 8, "PE": 2}, "MVAU_3": {"SIMD": 64}}`, Goal{})
	want := []string{
		"MVAU_0 [x] -> [y0] [/fc0/MatMul]",
		"StreamingDataWidthConverter_0 [y0] -> [] []",
		"MVAU_1 [] -> [y1] [/fc1/MatMul]",
		"MVAU_2 [y1] -> [y2] [/fc2/MatMul]",
		"StreamingDataWidthConverter_1 [y2] -> [] []",
		"MVAU_3 [] -> [y3] [/fc3/MatMul]",
	}
	g := r.Design.Model.Graph
	for i, n := range g.Nodes {
		if got := fmt.Sprintf("%s [%s] -> [%s] %v", n.Name, g.Streams[n.In[0]].Name, g.Streams[n.Out[0]].Name, n.Origin); i >= len(want) || got != want[i] {
			t.Errorf("node %d: %s", i, got)
		}
	}
}

// With more of any resource the interval is never longer; at a higher rate the load is never lower.
func TestMonotone(t *testing.T) {
	t.Parallel()
	m := mlp(rand.New(rand.NewPCG(2, 2)), uint2, 2, 2, 96, 24, 24, 10)
	last := 1 << 30
	for _, use := range []float64{0.05, 0.1, 0.2, 0.4, 0.8, 1} {
		r, _ := run(t, m, board("pynq-z1"), Goal{MaxUse: Use{use, use, use, use, use}})
		if r.Interval > last {
			t.Errorf("%v of the board: %d clocks, with less %d", use, r.Interval, last)
		}
		last = r.Interval
	}
	lowest := 0.0
	for fps := 1000.0; fps < 1e7; fps *= 2 {
		r, _ := run(t, m, board("zcu104"), Goal{FPS: fps})
		share, _ := load(vectorOf(r.Total), vectorOf(Budget(board("zcu104"), Use{})))
		if share < lowest {
			t.Errorf("%v fps: load %v, at half the rate %v", fps, share, lowest)
		}
		lowest = share
	}
}

// The same question has the same answer, to the last option.
func TestDeterministic(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(11, 11))
	for range 20 {
		m, b := randomNet(r, 1+r.IntN(5), 6), tight(r)
		first, d1 := run(t, m, b, Goal{})
		again, d2 := run(t, m, b, Goal{})
		if !reflect.DeepEqual(d1, d2) || (first == nil) != (again == nil) || first != nil && !slices.Equal(first.Design.Folds, again.Design.Folds) {
			t.Fatalf("%v %v\n%v %v", first, d1, again, d2)
		}
	}
}

// Of two foldings that differ in nothing else, the one without a width converter is chosen.
func TestPrefersNoConverter(t *testing.T) {
	t.Parallel()
	cost := dataflow.Resources{LUT: 100}
	var b dataflow.Builder
	s := b.Input("x", twelve)
	for range 2 {
		s = must(b.Add(&listed{ins: 1, outs: 1, rows: []row{
			{in: []int{2}, out: []int{3}, iterations: 12, cost: cost}, {in: []int{4}, out: []int{4}, iterations: 12, cost: cost}, {in: []int{2}, out: []int{2}, iterations: 12, cost: cost}}}, []int{s}, nil, nil))[0]
	}
	b.Output(s)
	r, _ := run(t, &dataflow.Model{Graph: must(b.Graph())}, board("zcu104"), Goal{})
	if n := len(r.Design.Model.Graph.Nodes); n != 2 || r.Total.LUT != 200 {
		t.Errorf("%d nodes, %d LUT", n, r.Total.LUT)
	}
}

// The simulation mode: no budget, no board, no layer above the limit where it can be kept.
func TestMaxCycles(t *testing.T) {
	t.Parallel()
	m := tfc()
	for _, c := range []struct {
		limit int
		why   string
	}{
		{100_000, "asked for: at most 100000 clocks per frame of every layer, without a budget"},
		{2000, "asked for: at most 2000 clocks per frame of every layer, without a budget"},
		{2, "asked for: at most 2 clocks per frame of every layer, without a budget"},
	} {
		r, _ := run(t, m, boards.Board{}, Goal{MaxCycles: c.limit})
		if r.Interval > c.limit || r.Why != c.why {
			t.Errorf("%d: %d clocks, %s", c.limit, r.Interval, r.Why)
		}
	}
	in := dataflow.Type{Shape: dataflow.Shape{9, 12}, Range: []num.Range{uint2.Range()}, Elem: uint2}
	var b dataflow.Builder
	s := b.Input("x", in)
	b.Output(must(b.Add(fc(12, 3), []int{s}, nil, nil))[0])
	r, _ := run(t, &dataflow.Model{Graph: must(b.Graph())}, boards.Board{}, Goal{MaxCycles: 5})
	if r.Interval != 9 || r.Why != "MVAU_0 takes 9 clocks in its widest fold" {
		t.Errorf("9 vectors: %d clocks, %s", r.Interval, r.Why)
	}
}

// twoLayers is a network whose costs do not change with the formulas: the faster, the dearer.
func twoLayers() *dataflow.Model {
	var b dataflow.Builder
	s := b.Input("x", twelve)
	add := func(origin string, rows ...row) {
		for i := range rows {
			rows[i].in, rows[i].out = []int{12}, []int{12}
		}
		s = must(b.Add(&listed{ins: 1, outs: 1, rows: rows}, []int{s}, nil, []string{origin}))[0]
	}
	add("/a/MatMul", row{iterations: 2, cost: dataflow.Resources{LUT: 900, DSP: 8}}, row{iterations: 5, cost: dataflow.Resources{LUT: 500, DSP: 4}},
		row{iterations: 20, cost: dataflow.Resources{LUT: 200, BRAM: 2}}, row{iterations: 20, cost: dataflow.Resources{LUT: 300}})
	add("/b/MatMul", row{iterations: 3, cost: dataflow.Resources{LUT: 700, DSP: 6}}, row{iterations: 30, cost: dataflow.Resources{LUT: 100, BRAM: 2}},
		row{iterations: 30, cost: dataflow.Resources{LUT: 150}})
	b.Output(s)
	return &dataflow.Model{Graph: must(b.Graph())}
}

// Trouble is told with what is missing and where.
func TestTrouble(t *testing.T) {
	t.Parallel()
	m := twoLayers()
	of := func(lut, bram, dsp int) boards.Board {
		return boards.Board{Name: "small", LUT: lut, FF: 1000, BRAM36: bram, DSP: dsp}
	}
	all := Use{1, 1, 1, 1, 1}
	for _, c := range []struct {
		name string
		b    boards.Board
		goal Goal
		want []string
	}{
		{"too fast for the clock", of(1300, 4, 20), Goal{FPS: 2e8, MaxUse: all}, []string{"error[fps-unreachable]", "200000000 frames per second at 100 MHz allow 0 clocks",
			"the best on small is 5 clocks, 20000000 frames per second", "hint: --fps 20000000,", "also: Listed_1 takes 3 clocks in its widest fold", "/b/MatMul",
			"also: an interval of 3 would take 1600 LUT of 1300"}},
		{"too fast for the board", of(1300, 4, 20), Goal{FPS: 25e6, MaxUse: all}, []string{"error[fps-unreachable]", "allow 4 clocks", "5 clocks", "also: an interval of 3 would take 1600 LUT of 1300"}},
		{"not enough LUT", of(500, 4, 20), Goal{MaxUse: Use{0.5, 1, 1, 1, 1}}, []string{"error[budget-exceeded]", "the smallest folding needs 300 LUT; the budget on small is 250 of 500",
			"also: the largest layer is Listed_0 with 200"}},
		{"not enough LUT at a rate", of(500, 4, 20), Goal{FPS: 1, MaxUse: Use{0.5, 1, 1, 1, 1}}, []string{"error[budget-exceeded]"}},
		{"not enough together", of(340, 1, 20), Goal{MaxUse: all}, []string{"error[budget-exceeded]", "no folding fits every budget at once; the least demanding one takes"}},
		{"a budget of nothing", of(460, 4, 20), Goal{MaxUse: Use{1, 1, 1, 1, 1e-9}}, nil},
		{"no BRAM, no DSP", of(460, 0, 0), Goal{}, []string{"error[budget-exceeded]", "the smallest folding needs 450 LUT; the budget on small is 368 of 460"}},
	} {
		_, d := run(t, m, c.b, c.goal)
		var text strings.Builder
		d.Write(&text)
		if c.want == nil && len(d.Diags) > 0 || c.want != nil && len(d.Diags) != 1 {
			t.Errorf("%s:\n%s", c.name, &text)
		}
		for _, w := range c.want {
			if !strings.Contains(text.String(), w) {
				t.Errorf("%s: want %q in\n%s", c.name, w, &text)
			}
		}
	}
}

// A rate that a message offers can be asked for.
func TestOfferedRate(t *testing.T) {
	t.Parallel()
	m := mlp(rand.New(rand.NewPCG(3, 3)), uint2, 2, 2, 30, 14, 9)
	best, _ := run(t, m, board("pynq-z1"), Goal{})
	if _, d := run(t, m, board("pynq-z1"), Goal{FPS: best.FPS * 1.01}); !d.Failed() {
		t.Fatal("a rate above the best is reached")
	}
	if r, _ := run(t, m, board("pynq-z1"), Goal{FPS: float64(int(best.FPS))}); r.Interval != best.Interval {
		t.Errorf("interval %d, want %d", r.Interval, best.Interval)
	}
}

// A folding file's word counts for more than the budget; the rest is made as small as it can be.
func TestFixedBeyondBudget(t *testing.T) {
	t.Parallel()
	m := tfc()
	for _, c := range []struct {
		text string
		goal Goal
		want []string
	}{
		{`{"MVAU_0": {"PE": 64, "SIMD": 392, "ram_style": "distributed", "resType": "lut"}}`, Goal{},
			[]string{"warning[budget-exceeded]", "the smallest folding needs ", " LUT; the budget on zcu104 is 184320 of 230400", "hint: built as the folding file asks", "the largest layer is MVAU_0"}},
		{`{"MVAU_0": {"PE": 64, "SIMD": 392, "ram_style": "distributed", "resType": "lut"}}`, Goal{FPS: 1e6}, []string{"warning[budget-exceeded]"}},
		{`{"MVAU_0": {"resType": "dsp"}, "MVAU_1": {"resType": "dsp"}}`, Goal{MaxUse: Use{0.8, 0.8, 0.8, 0.8, 0}},
			[]string{"warning[budget-exceeded]", "needs 2 DSP; the budget on zcu104 is 0 of 1728"}},
		{`{"MVAU_0": {"PE": 1, "SIMD": 4}}`, Goal{FPS: 1e6}, []string{"error[fps-unreachable]", "allow 200 clocks", "MVAU_0 takes 12544 clocks as the folding file sets it"}},
	} {
		r, d := searchFile(t, m, c.text, c.goal)
		var text strings.Builder
		d.Write(&text)
		for _, w := range c.want {
			if !strings.Contains(text.String(), w) {
				t.Errorf("%s: want %q in\n%s", c.text, w, &text)
			}
		}
		if (r == nil) != d.Failed() {
			t.Errorf("%s: result %v", c.text, r)
		}
		if r != nil && c.goal.FPS > r.FPS {
			t.Errorf("%s: %v fps", c.text, r.FPS)
		}
	}
}

// UltraRAM holds tables only where a bitstream can fill it.
func TestURAM(t *testing.T) {
	t.Parallel()
	m := tfc()
	goal := Goal{MaxUse: Use{1, 1, 0, 1, 1}, FPS: 1000}
	versal := boards.Board{Name: "versal", LUT: 3000, FF: 1000, BRAM36: 10, URAM: 400, DSP: 100, DSPType: "DSP58"}
	for _, c := range []struct {
		kind string
		uram bool
	}{{"DSP58", true}, {"DSP48E2", false}} {
		versal.DSPType = c.kind
		r, d := run(t, m, versal, goal)
		if got := r != nil && r.Total.URAM > 0; got != c.uram {
			t.Errorf("%s: result %v, %v", c.kind, r, d.Diags)
		}
	}
}

func TestSearchEnds(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	var d diag.List
	target := dataflow.Target{Board: board("pynq-z1"), ClockMHz: 100}
	if r, err := Search(ctx, tfc(), target, Goal{}, &d); r != nil || !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: %v, %v", r, err)
	}
	if r, err := Search(context.Background(), tfc(), target, Goal{FPS: -1}, &d); r != nil || err == nil {
		t.Errorf("bad goal: %v, %v", r, err)
	}
	empty := &dataflow.Model{Graph: &dataflow.Graph{}}
	if r, err := Search(context.Background(), empty, target, Goal{}, &d); r != nil || err != nil || codes(&d)[0] != "error nothing-quantised" {
		t.Errorf("no layers: %v, %v, %v", r, err, d.Diags)
	}
}

// Six forks side by side, whose branches all end in layers of their own: whatever the order of the layers, no table of
// the plan sees more than two of the streams.
func TestManyBranches(t *testing.T) {
	t.Parallel()
	var b dataflow.Builder
	s := b.Input("x", twelve)
	var branches []int
	divisors := []int{1, 2, 3, 4, 6, 12}
	for range 6 {
		fork := &listed{ins: 1, outs: 2}
		for i, per := range divisors {
			fork.rows = append(fork.rows, row{in: []int{1}, out: []int{per, 1}, iterations: 12, cost: dataflow.Resources{LUT: 10 + i, BRAM: i % 3}})
		}
		out := must(b.Add(fork, []int{s}, nil, nil))
		branches, s = append(branches, out[0]), out[1]
	}
	for _, branch := range branches {
		end := &listed{ins: 1, outs: 1}
		for i, per := range divisors {
			end.rows = append(end.rows, row{in: []int{per}, out: []int{per}, iterations: 12, cost: dataflow.Resources{LUT: 20 - i, DSP: i % 2}})
		}
		b.Output(must(b.Add(end, []int{branch}, nil, nil))[0])
	}
	b.Output(s)
	r, d := run(t, &dataflow.Model{Graph: must(b.Graph())}, board("zcu104"), Goal{})
	if r == nil || !r.Proof.Exact() || len(d.Diags) > 0 {
		t.Fatalf("%+v, %v", r, d.Diags)
	}
	// Without a converter each fork and its end take 30 LUT.
	if r.Total.LUT != 6*30 {
		t.Errorf("%d LUT", r.Total.LUT)
	}
}

// A deep network is beyond proof, not beyond reach.
func TestDeep(t *testing.T) {
	t.Parallel()
	m := deep(24)
	r, _ := run(t, m, board("zcu104"), Goal{})
	if r.Proof.Labels > 2*maxWork {
		t.Errorf("%d labels", r.Proof.Labels)
	}
	used, _ := load(vectorOf(r.Total), vectorOf(Budget(board("zcu104"), Use{})))
	if used < 0.5 {
		t.Errorf("%v of the budget used: %s", used, r.Why)
	}
}

func deep(layers int) *dataflow.Model {
	sizes := []int{480}
	for i := range layers {
		sizes = append(sizes, []int{64, 96, 128, 240}[i%4])
	}
	return mlp(rand.New(rand.NewPCG(60, 60)), uint2, 2, 2, sizes...)
}

func BenchmarkTFC(b *testing.B)    { benchmark(b, tfc()) }
func BenchmarkDeep60(b *testing.B) { benchmark(b, deep(60)) }

func benchmark(b *testing.B, m *dataflow.Model) {
	for b.Loop() {
		var d diag.List
		if r, err := Search(context.Background(), m, dataflow.Target{Board: board("zcu104"), ClockMHz: 200}, Goal{}, &d); r == nil || err != nil {
			b.Fatal(err, d.Diags)
		}
	}
}
