package folding

import (
	"fmt"
	"math/rand/v2"
	"regexp"
	"slices"
	"strings"
	"testing"

	"hlsgen/internal/dataflow"
	"hlsgen/internal/diag"
	"hlsgen/internal/testsupport/tier"
)

// within makes a design within an envelope.
func within(t *testing.T, m *dataflow.Model, e dataflow.UnrollLimits, wanted Goal) (*Design, string) {
	t.Helper()
	var told diag.List
	target := dataflow.Target{Board: board("zcu104"), ClockMHz: 100, IO: dataflow.HostIOStream, Unroll: e}
	d := must(FindBestDesign(t.Context(), m, target, wanted, &told))
	return d, text(&told)
}

// file reads a folding file.
func file(t *testing.T, text string) *FoldingFile {
	t.Helper()
	var d diag.List
	f := ParseFoldingFile([]byte(text), &d)
	if f == nil {
		t.Fatal(d.Diags)
	}
	return f
}

// TestEnvelopeHints asks for folds beyond an envelope, and again with the --max-unroll of the hint.
func TestEnvelopeHints(t *testing.T) {
	t.Parallel()
	m := mlp(rand.New(rand.NewPCG(4, 4)), int8Type, 8, 2, 32, 16, 4)
	few := dataflow.UnrollLimits{Wide: 8, Few: 8, One: 8}
	p := newPainter()
	p.b.MarkOutput(p.depthwise(p.image(6, 6, 8), 1))
	windows := &dataflow.Model{Name: "depthwise", Graph: must(p.b.VerifiedGraph())}
	for _, tt := range []struct {
		name string
		m    *dataflow.Model
		goal Goal
		want []string
	}{
		{"an interval", m, Goal{Interval: 1}, []string{"error[fps-unreachable]", "--max-unroll 32,8,8",
			"MVAU_0 takes 4 clocks in its widest fold within --max-unroll 8"}},
		{"a folding file", m, Goal{Fixed: file(t, `{"MVAU_0": {"PE": 2, "SIMD": 16}}`)}, []string{
			"error[unroll-exceeded]", "MVAU_0 computes 32 products of 8 bits in a clock at PE 2, SIMD 16, and has " +
				"16 in each of 2 processes. --max-unroll allows 8", "--max-unroll 16,8,8, or a smaller PE or SIMD",
			"folding file, MVAU_0"}},
		{"defaults of a folding file", m, Goal{Fixed: file(t, `{"Defaults": {"SIMD": [16, ["MVAU"]]}}`)}, []string{
			"folding file, Defaults", "--max-unroll 16,8,8"}},
		{"a layer that is not split", windows, Goal{Fixed: file(t, `{"VVAU_0": {"PE": 4, "SIMD": 9}}`)}, []string{
			"VVAU_0 computes 36 products of 4 bits in a clock at PE 4, SIMD 9, and is not split",
			"--max-unroll 8,36,8"}},
	} {
		d, said := within(t, tt.m, few, tt.goal)
		for _, w := range tt.want {
			if d != nil || !strings.Contains(said, w) {
				t.Errorf("%s: %s, want %q", tt.name, said, w)
			}
		}
		hint := regexp.MustCompile(`hint: .*--max-unroll (\d+),(\d+),(\d+)`).FindStringSubmatch(said)
		if hint == nil {
			t.Errorf("%s: no hint in %s", tt.name, said)
			continue
		}
		e := must(ParseUnrollLimits(strings.Join(hint[1:], ",")))
		if d, said := within(t, tt.m, e, tt.goal); d == nil {
			t.Errorf("%s: --max-unroll %s does not do: %s", tt.name, e, said)
		}
	}
}

// TestEnvelopeCures applies cures of bottlenecks until a frame takes a clock or another cure is named: each wider
// envelope must give a shorter interval.
func TestEnvelopeCures(t *testing.T) {
	t.Parallel()
	tier.NotQuick(t)
	p := newPainter()
	p.b.MarkOutput(p.conv(p.depthwise(p.image(4, 4, 4), 1), 1, 1, 8))
	followed := map[string]int{}
	for _, m := range []*dataflow.Model{
		mlp(rand.New(rand.NewPCG(4, 4)), int8Type, 8, 2, 32, 16, 4),
		{Name: "convolutions", Graph: must(p.b.VerifiedGraph())},
	} {
		e := dataflow.UnrollLimits{Wide: 2, Few: 2, One: 2}
		d, said := within(t, m, e, Goal{Cure: true})
		for d != nil && d.Clocks.Interval > 1 {
			cure := regexp.MustCompile(`^--max-unroll (\S+) gives`).FindStringSubmatch(d.Bottleneck.Cure)
			if cure == nil {
				break
			}
			before := d.Clocks.Interval
			e = must(ParseUnrollLimits(cure[1]))
			if d, said = within(t, m, e, Goal{Cure: true}); d != nil && d.Clocks.Interval >= before {
				t.Fatalf("%s: --max-unroll %s does not make %v clocks fewer: %v, %s", m.Name, e, before,
					d.Clocks.Interval, d.Bottleneck.Cure)
			}
			followed[m.Name]++
		}
		if d == nil {
			t.Fatal(m.Name, e, said)
		}
		if followed[m.Name] < 2 {
			t.Errorf("%s: %d cures were followed as far as %v clocks: %s", m.Name, followed[m.Name], d.Clocks.Interval,
				d.Bottleneck.Cure)
		}
	}
}

// TestSplitFile reads the folding file of a split design, with and without depths, which must name no part.
func TestSplitFile(t *testing.T) {
	t.Parallel()
	m := mlp(rand.New(rand.NewPCG(4, 5)), int8Type, 4, 2, 24, 12, 6)
	e := dataflow.UnrollLimits{Wide: 40, Few: 40, One: 40}
	first, said := within(t, m, e, Goal{Interval: 2})
	if first == nil {
		t.Fatal(said)
	}
	split := 0
	for _, n := range first.Model.Graph.Nodes {
		if n.Whole != nil {
			split++
		}
	}
	if split == 0 || strings.Contains(strings.Join(first.Bottleneck.LimitingPartNames(), " "), "_0_") {
		t.Errorf("%d parts; the bottleneck is %v", split, first.Bottleneck.LimitingPartNames())
	}
	for _, depths := range []bool{false, true} {
		text := string(FormatFoldingFile(first.Design, depths))
		if strings.Contains(text, "_fork") || strings.Count(text, "MVAU_") != 2 {
			t.Errorf("the folding file names parts: %s", text)
		}
		d, said := within(t, m, e, Goal{Fixed: file(t, text), Interval: 2})
		if d == nil {
			t.Fatal(said)
		}
		if got := string(FormatFoldingFile(d.Design, true)); got != string(FormatFoldingFile(first.Design, true)) {
			t.Errorf("with depths %v: %s, want %s", depths, got, FormatFoldingFile(first.Design, true))
		}
		if d.Estimate.Total != first.Estimate.Total || d.Clocks.Interval != first.Clocks.Interval {
			t.Errorf("with depths %v: %+v, want %+v", depths, d.Estimate.Total, first.Estimate.Total)
		}
	}
}

// TestSplitLatency fixes every fold of a network, and checks that the latency of the search's paths is the simulated
// one, also through forks, parts and joins.
func TestSplitLatency(t *testing.T) {
	t.Parallel()
	m := mlp(rand.New(rand.NewPCG(4, 6)), int8Type, 4, 2, 12, 6)
	split := 0
	for f := range m.Graph.Nodes[0].Op.Folds() {
		if f.Memory != dataflow.MemoryLUTRAM || f.Compute != dataflow.MultiplierInLUTs {
			continue
		}
		fixed := file(t, fmt.Sprintf(`{"MVAU_0": {"PE": %d, "SIMD": %d, "ram_style": "distributed", "resType": "lut"}}`,
			f.PE, f.SIMD))
		d, said := within(t, m, dataflow.UnrollLimits{Wide: 12, Few: 12, One: 12}, Goal{Fixed: fixed, Latency: true})
		if d == nil {
			t.Fatal(said)
		}
		if len(d.Folds) > 1 {
			split++
		}
		if l := d.Certificate.Latency; l.Least != d.Clocks.Latency || l.Clocks != d.Clocks.Latency {
			t.Errorf("PE %d SIMD %d: %d clocks, said to be %+v", f.PE, f.SIMD, d.Clocks.Latency, *l)
		}
	}
	if split == 0 {
		t.Error("no fold is split")
	}
}

// TestSplitCredits splits layers for RTL. The FIFOs inside them are sized like all others: the network is as fast as
// its slowest layer, and they are no deeper than that takes. If the user gives FIFO depths, they have these.
func TestSplitCredits(t *testing.T) {
	t.Parallel()
	tier.NotQuick(t)
	three, jets, digits := []int{32, 16, 8, 4}, []int{16, 64, 32, 32, 5}, []int{64, 64, 64, 10}
	for _, tt := range []struct {
		sizes   []int
		most    int // --max-unroll
		goal    Goal
		deepest [2]int // the least and the most words of the FIFOs inside layers
	}{
		{three, 64, Goal{Fixed: file(t, `{"MVAU_0": {"PE": 16, "SIMD": 16}}`)}, [2]int{3, 32}},
		{three, 64, Goal{Interval: 2}, [2]int{2, 32}},
		{jets, 64, Goal{Interval: 1}, [2]int{3, 32}},
		{digits, 64, Goal{Interval: 2}, [2]int{2, 32}},
		{three, 64, Goal{Interval: 2, FIFO: FIFODepthPolicy{Words: 64}}, [2]int{64, 64}},
		{three, 16, Goal{Interval: 8, FIFO: FIFODepthPolicy{Words: 3}}, [2]int{3, 3}},
	} {
		if large := tt.sizes[0] > 32 || len(tt.sizes) > 4; large && !tier.Long() {
			continue
		}
		name := fmt.Sprintf("%v, --max-unroll %d, %+v", tt.sizes, tt.most, tt.goal)
		var told diag.List
		target := dataflow.Target{Board: board("alveo-u250"), ClockMHz: 100, IO: dataflow.HostIOStream,
			Backend: dataflow.BackendRTL, Unroll: dataflow.UnrollLimits{Wide: tt.most, Few: tt.most, One: tt.most}}
		d := must(FindBestDesign(t.Context(), mlp(rand.New(rand.NewPCG(4, 4)), int8Type, 4, 2, tt.sizes...), target,
			tt.goal,
			&told))
		if d == nil {
			t.Errorf("%s: %s", name, text(&told))
			continue
		}
		var depths []int
		g := d.Model.Graph
		for s := range g.Streams {
			w, _ := g.WriterOfStream(s)
			r, _ := g.ReaderOfStream(s)
			if w >= 0 && r >= 0 && g.Nodes[w].Whole != nil && g.Nodes[w].Whole == g.Nodes[r].Whole {
				depths = append(depths, d.FIFO[s].Depth)
			}
		}
		if len(depths) == 0 {
			t.Errorf("%s: no layer is split", name)
			continue
		}
		if most := slices.Max(depths); most < tt.deepest[0] || most > tt.deepest[1] {
			t.Errorf("%s: FIFOs within layers hold %d words", name, depths)
		}
		asked, _ := d.Design.BottleneckInterval()
		asked = max(asked, int(tt.goal.Interval))
		if d.Clocks.Interval > float64(asked) {
			t.Errorf("%s: interval %v, not %d", name, d.Clocks.Interval, asked)
		}
	}
}

// TestBuilt checks that SystemVerilog is not split for the limits of Vitis HLS: a frame may take one clock for every
// goal, and a design is as good as one whose processes may have any size.
func TestBuilt(t *testing.T) {
	t.Parallel()
	tier.NotQuick(t)
	m := mlp(rand.New(rand.NewPCG(4, 4)), int8Type, 4, 2, 64, 64, 40, 10)
	for _, wanted := range []Goal{{}, {Interval: 1}, {Latency: true}, {Interval: 1, Latency: true}} {
		target := dataflow.Target{Board: board("alveo-u250"), ClockMHz: 200, IO: dataflow.HostIOStream,
			Backend: dataflow.BackendRTL}
		d, told := designed(t, m, target, wanted)
		target.Unroll = dataflow.WidestUnrollLimits
		any, _ := designed(t, m, target, wanted)
		if d == nil || any == nil {
			t.Fatalf("%+v: %s", wanted, text(told))
		}
		if d.Clocks.Interval != 1 || d.Clocks.Latency > any.Clocks.Latency || d.Estimate.Total != any.Estimate.Total {
			t.Errorf("%+v: %v clocks, latency %d, %+v; of any size %d and %+v", wanted, d.Clocks.Interval,
				d.Clocks.Latency, d.Estimate.Total, any.Clocks.Latency, any.Estimate.Total)
		}
	}
}
