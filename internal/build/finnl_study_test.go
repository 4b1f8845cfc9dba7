package build

import (
	"flag"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"hlsgen/boards"
	"hlsgen/frontend"
	"hlsgen/hlslib/rnn"
	"hlsgen/internal/dataflow"
	"hlsgen/internal/diag"
	"hlsgen/internal/num"
	"hlsgen/internal/options"
	"hlsgen/internal/testsupport/tier"
)

// TestFINNLStudy holds the tables of docs/finn-l.md; -update writes them.
func TestFINNLStudy(t *testing.T) {
	t.Parallel()
	finnlModels(t)
	update := flag.Lookup("update").Value.String() == "true"
	if !update {
		tier.NeedsLong(t)
	}
	const file = "../../docs/finn-l.md"
	source, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	page := string(source)
	for _, block := range []struct {
		name string
		make func(*testing.T) string
	}{{"engine", engineTable}, {"networks", networkTable}} {
		marker := "<!-- " + block.name + " -->\n```text\n"
		before, rest, ok := strings.Cut(page, marker)
		_, after, closed := strings.Cut(rest, "```\n")
		if !ok || !closed {
			t.Fatalf("%s has no block for %q", file, block.name)
		}
		page = before + marker + block.make(t) + "```\n" + after
	}
	if update {
		if err := os.WriteFile(file, []byte(page), 0o666); err != nil {
			t.Fatal(err)
		}
	} else if page != string(source) {
		t.Errorf("%s shows other tables (-update writes them) than\n%s", file, page)
	}
}

// sequences is how many take turns.
var sequences = [3]int{1, 2, 4}

// engineTable has the recurrent layer by itself: clocks per time step of one sequence where one, two or four take
// turns, and what the layer for both directions takes.
func engineTable(t *testing.T) string {
	var b strings.Builder
	b.WriteString("network  PE  SIMD   T_c   L   clocks: S=1   S=2   S=4      LUT      FF  RAMB18\n")
	board, err := boards.FindBoard("pynq-z1")
	if err != nil {
		t.Fatal(err)
	}
	target := dataflow.Target{Board: board, ClockMHz: board.ClockMHz}
	for _, n := range finnls {
		p, in := n.engine(t)
		var two, three [3]dataflow.Op // by sequences: layers of two steps and of three
		for i, s := range sequences {
			two[i], three[i] = bound(t, p, in, s, 2), bound(t, p, in, s, 3)
		}
		for _, f := range [][2]int{{1, 4}, {1, 16}, {1, 64}, {1, 128}, {2, 128}, {4, 128}, {8, 128}, {16, 128}} {
			fold := dataflow.Fold{PE: f[0], SIMD: f[1], Memory: dataflow.MemoryBRAM, Compute: dataflow.MultiplierInLUTs}
			var clocks [3]float64
			for i, s := range sequences {
				clocks[i] = float64(three[i].Loop(fold, target).IterationsPerFrame()-two[i].Loop(fold,
					target).IterationsPerFrame()) / float64(s)
			}
			cost := two[1].Cost(fold, target).Total()
			fmt.Fprintf(&b, "%-7s %3d  %4d %5d %3d   %11.4g %5.4g %5.4g %8s %7s %7d\n", n.name, f[0], f[1],
				128/f[0]*(128/f[1]), two[1].Loop(fold, target).Latency,
				clocks[0], clocks[1], clocks[2], thousands(cost.LUT), thousands(cost.FF), cost.BRAM)
		}
	}
	return b.String()
}

// engine is the recurrent layer of a network, and the type of its input.
func (n finnl) engine(t *testing.T) (rnn.Params, dataflow.StreamType) {
	t.Helper()
	file, err := os.ReadFile(filepath.Join(finnlModels(t), n.name, "scan.onnx"))
	if err != nil {
		t.Fatal(err)
	}
	var d diag.List
	im, err := frontend.Import("scan.onnx", file, frontend.Options{Dims: map[string]int{"T": 4}}, &d)
	if err != nil || im.Model == nil {
		t.Fatal(err, d.Diags)
	}
	for _, node := range im.Model.Graph.Nodes {
		if p, ok := node.Op.Params().(rnn.Params); ok {
			return p, im.Model.Graph.Streams[node.In[0]].Type
		}
	}
	t.Fatal("no recurrence")
	return rnn.Params{}, dataflow.StreamType{}
}

// bound is the layer with so many turns: one direction, both, or both of several sequences.
func bound(t *testing.T, p rnn.Params, in dataflow.StreamType, turns, steps int) dataflow.Op {
	t.Helper()
	lanes := in.Shape[1] / len(p.Cells)
	p.Cells = p.Cells[:min(turns, len(p.Cells))]
	p.Sequences = turns / len(p.Cells)
	op, _, err := rnn.New(p).Bind([]dataflow.StreamType{{Shape: dataflow.Shape{steps, turns * lanes},
		Range: []num.Range{in.UnionOfRanges()}, Elem: in.Elem}})
	if err != nil {
		t.Fatal(err)
	}
	return op
}

// Lines are 520 columns long, as long as the one whose times FINN-L published, and take 2 * 520 steps of 128 units with
// 32 + 128 + 1 inputs and 3 more operations, and 82 outputs: so its authors count operations.
const (
	lineColumns = 520
	lineOps     = lineColumns * (2*(2*(32+128+1)*4*128+3*128) + 2*128*82)
)

// networkTable has whole networks: FINN-L's as published, and ours with its folding of the recurrent layer, on its
// board and at its clock; with the least resources for a rate, and as fast as it goes, on a larger board.
func networkTable(t *testing.T) string {
	var b strings.Builder
	const row = "%-7s %-22s %4v %9s %11s %8s %7s %9s %8s %7s %6v %5v\n"
	fmt.Fprintf(&b, row, "network", "design", "MHz", "PE x SIMD", "clocks/step", "lines/s", "GOP/s", "line, ms", "LUT",
		"FF", "RAMB36", "DSP")
	published := []struct {
		fold         string
		ms           float64
		lut, ff, dsp int
		bram         float64
	}{{"2 x 128", 1.294, 26423, 39703, 180, 119.5}, {"1 x 64", 2.958, 38260, 26618, 7, 103.5},
		{"1 x 16", 11.09, 41895, 41588, 7, 105}}
	for i, n := range finnls {
		p := published[i]
		fmt.Fprintf(&b, row, n.name, "FINN-L, PYNQ-Z1", 100, p.fold, figure1(p.ms*1e5/2/lineColumns),
			figure1(1000/p.ms), figure1(float64(lineOps)/p.ms/1e6), fmt.Sprintf("%.3f", p.ms),
			thousands(p.lut), thousands(p.ff), p.bram, p.dsp)
		for _, d := range []struct {
			name string
			make func() *Result
		}{
			{"its folding, pynq-z1", func() *Result { return n.folded(t, lineColumns, 0) }},
			{"1,000 lines/s, zcu104", func() *Result {
				return n.build(t, lineColumns,
					Options{Hardware: options.Hardware{Board: "zcu104"}, Goal: options.Goal{FPS: 1000},
						Verification: options.Verification{NoCSim: true}})
			}},
			{"fastest, zcu104", func() *Result {
				return n.build(t, lineColumns,
					Options{Hardware: options.Hardware{Board: "zcu104"},
						Verification: options.Verification{NoCSim: true}})
			}},
		} {
			r := d.make()
			t.Logf("%s, %s: %v clocks a line", n.name, d.name, r.Design.Clocks.Interval)
			fold := ""
			for i, node := range r.Design.Model.Graph.Nodes {
				if node.Op.Kind() == rnn.KindName {
					fold = fmt.Sprintf("%d x %d", r.Design.Folds[i].PE, r.Design.Folds[i].SIMD)
				}
			}
			c := r.Design.Estimate.Total
			fmt.Fprintf(&b, row, "", d.name, r.Design.ReachedClockMHz(), fold, figure1(stepClocks(r, lineColumns)),
				figure1(r.Design.SamplesPerSecond()), figure1(r.Design.SamplesPerSecond()*lineOps/1e9),
				fmt.Sprintf("%.3f", float64(r.Design.Clocks.Latency)/r.Design.ReachedClockMHz()/1000), thousands(c.LUT),
				thousands(c.FF), float64(c.BRAM)/2, c.DSP)
		}
	}
	return b.String()
}

// figure1 shows one digit behind the point, where there is one.
func figure1(x float64) string {
	if s := fmt.Sprintf("%.1f", x); math.Abs(x) < 1000 {
		return s
	}
	return thousands(int(math.Round(x)))
}

// thousands writes an integer with commas.
func thousands(n int) string {
	s := fmt.Sprint(n)
	for i := len(s) - 3; i > 0; i -= 3 {
		s = s[:i] + "," + s[i:]
	}
	return s
}
