package build_test

import (
	"context"
	"flag"
	"fmt"
	"math"
	"math/bits"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"hlsgen/boards"
	"hlsgen/folding"
	"hlsgen/hlslib/mvau"
	"hlsgen/internal/dataflow"
	"hlsgen/internal/diag"
	"hlsgen/internal/num"
	"hlsgen/internal/testsupport/tier"
)

// compared are the models of docs/finn-comparison.md. A long one is searched for in the long tier, or to write the
// page.
var compared = []struct {
	name, model string
	long        bool
}{
	{"TFC w1a1", "zoo/TFC_1W1A", false},
	{"TFC w2a2", "zoo/TFC_2W2A", false},
	{"KWS MLP w3a3", "zoo/kwsmlp_w3a3", false},
	{"UNSW-NB15 MLP w2a2", "zoo/unsw_nb15_mlp_w2a2", false},
	{"jet tagging MLP", "zoo/qkeras_jettagging", false},
	{"digits CNN w4a4", "brevitas/digits-cnn-w4a4", false},
	{"digits residual w4a4", "brevitas/digits-resnet-w4a4", false},
	{"digits MobileNet w4a4", "brevitas/digits-mobilenet-w4a4", false},
	{"CNV w2a2", "brevitas/cnv-w2a2", true},
	{"ResNet8 w4a4", "brevitas/resnet8-w4a4", true},
	{"RadioML wise_lion_17", "zoo/radioml_wise_lion_17", true},
	{"MobileNet-v1 0.25 w4a4", "brevitas/mobilenetv1-025-w4a4", true},
}

// finnTarget is zcu104 at 200 MHz with FINN's formulas. FINN folds layers that are fed a word in every clock.
func finnTarget(t testing.TB) dataflow.Target {
	b, err := boards.FindBoard("zcu104")
	if err != nil {
		t.Fatal(err)
	}
	return dataflow.Target{Board: b, ClockMHz: 200, Formula: dataflow.FINNCostFormula, IO: dataflow.HostIOStream}
}

// exactly is the budget that is so much of a board and no more.
func exactly(b boards.Board, r dataflow.Resources) folding.MaxUseFractions {
	share := func(n, of int) float64 {
		if of == 0 {
			return 0
		}
		return min(1, (float64(n)+0.5)/float64(of))
	}
	c := folding.ResourcesOfBoard(b)
	return folding.MaxUseFractions{
		LUT: share(r.LUT, c.LUT), LUTRAM: share(r.LUTRAM, c.LUTRAM), FF: share(r.FF, c.FF), BRAM: share(r.BRAM, c.BRAM),
		URAM: share(r.URAM, c.URAM), DSP: share(r.DSP, c.DSP), Mean: 1,
	}
}

// searched makes the design for a goal.
func searched(t testing.TB, m *dataflow.Model, target dataflow.Target, wanted folding.Goal) *folding.Design {
	t.Helper()
	var d diag.List
	r, err := folding.FindBestDesign(context.Background(), m, target, wanted, &d)
	if err != nil || r == nil {
		t.Fatal(err, d.Diags)
	}
	return r
}

// listed is what a model may be on a target, for many searches.
func listed(t testing.TB, m *dataflow.Model, target dataflow.Target) *folding.Space {
	t.Helper()
	var d diag.List
	s, err := folding.NewSpace(m, target, nil, folding.FIFODepthPolicy{}, &d)
	if err != nil || s == nil {
		t.Fatal(err, d.Diags)
	}
	return s
}

// among is searched of a list.
func among(t testing.TB, s *folding.Space, wanted folding.Goal) *folding.Design {
	t.Helper()
	var d diag.List
	r, err := s.FindBestDesign(context.Background(), wanted, &d)
	if err != nil || r == nil {
		t.Fatal(err, d.Diags)
	}
	return r
}

// load is the largest share of the default budget that a design takes, in percent.
func load(r *folding.Design) (most float64) {
	budget := folding.BudgetOfBoard(r.Target.Board, folding.MaxUseFractions{})
	for _, s := range budget.ResourceSharesOf(r.Estimate.Total) {
		most = max(most, 100*float64(s.Used)/float64(s.Budget))
	}
	return most
}

// allowed is the goal of a design's interval.
func allowed(r *folding.Design) folding.Goal {
	return folding.Goal{Interval: math.Ceil(r.Clocks.Interval)}
}

// against folds a model by SetFolding for zcu104, and by our search within what that takes: for the shortest interval,
// and for the least LUTs at SetFolding's interval. FINN's formulas count LUTs, blocks and DSP slices; flip-flops, and
// LUTs that are memory, in some layers only, so that these are not compared.
func against(t testing.TB, m *dataflow.Model, s *folding.Space) (finn, fast, small *folding.Design) {
	t.Helper()
	target := s.Target
	finn = bySetFolding(t, m, target)
	use, wanted := exactly(target.Board, finn.Estimate.Total), allowed(finn)
	use.FF, use.LUTRAM = folding.DefaultMaxUseFractions.FF, folding.DefaultMaxUseFractions.LUTRAM
	fast = among(t, s, folding.Goal{MaxUse: use})
	wanted.MaxUse, wanted.Least = use, folding.ResourceMeasureLUT
	small = among(t, s, wanted)
	for _, r := range []*folding.Design{fast, small} {
		if r.Clocks.Interval > finn.Clocks.Interval || r.Over || !counted(r).IsWithin(counted(finn)) {
			t.Errorf("interval %v with %+v, SetFolding has %v with %+v",
				r.Clocks.Interval, counted(r), finn.Clocks.Interval, counted(finn))
		}
	}
	return finn, fast, small
}

// counted is the resources that FINN's formulas count.
func counted(r *folding.Design) dataflow.Resources {
	total := r.Estimate.Total
	return dataflow.Resources{LUT: total.LUT, BRAM: total.BRAM, URAM: total.URAM, DSP: total.DSP}
}

// gain is a search's clocks and its throughput against SetFolding's. A star says that the interval is not proved to be
// the shortest.
func gain(finn, ours *folding.Design) string {
	star := ""
	if float64(ours.Certificate.Floor) < ours.Clocks.Interval {
		star = " \\*"
	}
	return fmt.Sprintf("%v%s | %.2f x", ours.Clocks.Interval, star, finn.Clocks.Interval/ours.Clocks.Interval)
}

func ratio(a, b int) string {
	if b == 0 {
		return "-"
	}
	return fmt.Sprintf("%.2f", float64(a)/float64(b))
}

// TestFINNComparison folds models by FINN's SetFolding and by our search, and holds that docs/finn-comparison.md shows
// what comes of it. With -update it writes the page.
func TestFINNComparison(t *testing.T) {
	t.Parallel()
	tier.NotQuick(t)
	tier.NeedsShared(t)
	const file = "../../docs/finn-comparison.md"
	update := flag.Lookup("update").Value.String() == "true"
	page, err := os.ReadFile(file)
	if err != nil && !update {
		t.Fatal(err)
	}
	const begin = "<!-- table -->\n"
	before, old, ok := strings.Cut(string(page), begin)
	if !ok {
		t.Fatalf("%s has no line %s", file, begin)
	}
	var b strings.Builder
	b.WriteString("| model | SetFolding: clocks | LUT | RAMB18 | load | same resources: clocks | throughput | same " +
		"rate: LUT | RAMB18 | balanced: load | same budget: clocks | throughput |\n")
	b.WriteString("|---|--:|--:|--:|--:|--:|--:|--:|--:|--:|--:|--:|\n")
	for _, c := range compared {
		if c.long && !update && !tier.Long() {
			i := strings.Index(old, "| "+c.name+" |")
			if i < 0 {
				t.Fatalf("%s has no row for %s", file, c.name)
			}
			b.WriteString(old[i : i+strings.IndexByte(old[i:], '\n')+1])
			continue
		}
		m := sharedModel(t, c.model)
		s := listed(t, m, finnTarget(t))
		finn, fast, small := against(t, m, s)
		t.Logf("%s, SetFolding: %s", c.name, finn.Bottleneck.Reason)
		balanced, free := among(t, s, allowed(finn)), among(t, s, folding.Goal{})
		if load(balanced) > load(finn) || free.Clocks.Interval > finn.Clocks.Interval {
			t.Errorf("%s: load %.1f %%, interval %v; SetFolding's is within the same budget",
				c.name, load(balanced), free.Clocks.Interval)
		}
		theirs, least := finn.Estimate.Total, small.Estimate.Total
		row := fmt.Sprintf("| %s | %v | %d | %d | %.1f %% | %s | %s | %s | %.1f %% | %s |\n",
			c.name, finn.Clocks.Interval, theirs.LUT, theirs.BRAM, load(finn), gain(finn, fast),
			ratio(least.LUT, theirs.LUT), ratio(least.BRAM, theirs.BRAM), load(balanced), gain(finn, free))
		t.Log(row)
		b.WriteString(row)
	}
	if update {
		if err := os.WriteFile(file, []byte(before+begin+b.String()), 0o644); err != nil {
			t.Fatal(err)
		}
	} else if old != b.String() {
		t.Errorf("%s is not what the search gives (-update writes it):\n%s", file, b.String())
	}
}

// TestFINNExamples holds that our search at the resources of the foldings that finn-examples publishes needs no more
// clocks per frame than these, by FINN's formulas and by ours.
func TestFINNExamples(t *testing.T) {
	t.Parallel()
	tier.NotQuick(t)
	for _, c := range []struct {
		model, folding string
		cycles         []int // of the MVAUs
	}{
		{"zoo/TFC_2W2A", "TFC_2W2A", []int{64, 64, 64, 8}},
		{"zoo/kwsmlp_w3a3", "kwsmlp_w3a3", []int{392, 256, 256, 384}},
		{"brevitas/cnv-w2a2", "synthetic_CNV_2W2A", []int{64800, 112896, 82944, 115200, 82944, 73728, 65536, 65536,
			1024}},
	} {
		t.Run(c.folding, func(t *testing.T) {
			t.Parallel()
			if len(c.cycles) > 4 {
				tier.NotQuick(t)
			}
			m := sharedModel(t, c.model)
			text, err := os.ReadFile(filepath.Join(tier.NeedsShared(t), "reference/finn_estimates", c.folding,
				"folding_config.json"))
			if err != nil {
				t.Fatal(err)
			}
			for _, formula := range []dataflow.CostFormulaChoice{dataflow.FINNCostFormula, dataflow.FittedCostFormula} {
				target := finnTarget(t)
				target.Formula = formula
				var d diag.List
				file := folding.ParseFoldingFile(text, &d)
				theirs := searched(t, m, target, folding.Goal{Fixed: file, OverBudget: true})
				var clocks []int
				for i, n := range theirs.Model.Graph.Nodes {
					if n.Op.Kind() == "MVAU" {
						clocks = append(clocks, theirs.LoopOfNode(i).IterationsPerFrame())
					}
				}
				if !slices.Equal(clocks, c.cycles) || theirs.Clocks.Interval != float64(slices.Max(c.cycles)) {
					t.Errorf("%v: MVAUs take %v clocks, the interval is %v, want %v",
						formula, clocks, theirs.Clocks.Interval, c.cycles)
				}
				ours := searched(t, m, target, folding.Goal{MaxUse: exactly(target.Board, theirs.Estimate.Total)})
				told := fmt.Sprintf("%v: %v clocks with %+v, FINN's folding has %v with %+v",
					formula, ours.Clocks.Interval, ours.Estimate.Total, theirs.Clocks.Interval, theirs.Estimate.Total)
				t.Log(told)
				if ours.Clocks.Interval > theirs.Clocks.Interval ||
					!ours.Estimate.Total.IsWithin(theirs.Estimate.Total) {
					t.Error(told)
				}
			}
		})
	}
}

// finnAccumulator is the width that FINN gives a layer's accumulators (MinimizeAccumulatorWidth): of the range that the
// weights make of the input's data type, over all outputs; unsigned where nothing is negative.
func finnAccumulator(weights [][]int64, in num.Range) int {
	var all num.Range
	for _, row := range weights {
		var r num.Range
		for _, w := range row {
			r.Lo += min(w*in.Lo, w*in.Hi)
			r.Hi += max(w*in.Lo, w*in.Hi)
		}
		all = num.Range{Lo: min(all.Lo, r.Lo), Hi: max(all.Hi, r.Hi)}
	}
	if all.Lo >= 0 {
		return bits.Len64(uint64(all.Hi))
	}
	return bits.Len64(uint64(max(-all.Lo, all.Hi+1)-1)) + 1
}

// TestFINNAccumulators holds that no accumulator of CNV w2a2 is wider than FINN makes it.
func TestFINNAccumulators(t *testing.T) {
	t.Parallel()
	tier.NotQuick(t)
	m := sharedModel(t, "brevitas/cnv-w2a2")
	var ours, finns []int
	for _, n := range m.Graph.Nodes {
		p, ok := n.Op.Params().(mvau.Params)
		if !ok {
			continue
		}
		ours = append(ours, n.Op.Describe().Accumulators().Used)
		finns = append(finns, finnAccumulator(p.Weights, m.Graph.Streams[n.In[0]].Type.Elem.Range()))
	}
	t.Logf("accumulators of %v bits, FINN's of %v", ours, finns)
	if len(ours) != 9 {
		t.Fatalf("%d MVAUs, want 9", len(ours))
	}
	for i := range ours {
		if ours[i] > finns[i] {
			t.Errorf("MVAU_%d: %d bits, FINN has %d", i, ours[i], finns[i])
		}
	}
}

// TestFINNAccumulator holds the rule against hand-made cases and what FINN reports for its TFC (reference: 10, 8, 8,
// 8).
func TestFINNAccumulator(t *testing.T) {
	for _, c := range []struct {
		weights [][]int64
		in      num.Range
		want    int
	}{
		{[][]int64{{1, 1, 1}}, num.Range{Hi: 3}, 4},                // 0 to 9
		{[][]int64{{-1, 1}}, num.Range{Hi: 3}, 3},                  // -3 to 3
		{[][]int64{{-1, -1}, {1, 0}}, num.Range{Lo: -2, Hi: 1}, 4}, // -2 to 4: the other row is within
		{[][]int64{{-4}}, num.Range{Hi: 1}, 3},                     // -4 to 0
	} {
		if got := finnAccumulator(c.weights, c.in); got != c.want {
			t.Errorf("%v of %v: %d bits, want %d", c.weights, c.in, got, c.want)
		}
	}
}

// TestZCU104 folds for zcu104 within the default budget, and prints how long that takes: the highest rate, and, of CNV,
// a lower one beside it, which is quickly found. Large networks are searched in the long tier.
func TestZCU104(t *testing.T) {
	t.Parallel()
	tier.NotQuick(t)
	for _, c := range []struct {
		model    string
		interval int // asked for; 0: the shortest
		long     bool
	}{
		{"brevitas/digits-cnn-w4a4", 0, false},
		{"brevitas/cnv-w2a2", 12544, false},
		{"brevitas/cnv-w2a2", 0, true},
		{"brevitas/mobilenetv1-025-w4a4", 0, true},
		{"finnl/W2A2", 0, true},
	} {
		t.Run(fmt.Sprintf("%s/%d", c.model, c.interval), func(t *testing.T) {
			t.Parallel()
			if c.long {
				tier.NeedsLong(t)
			}
			m := sharedModel(t, c.model)
			target := finnTarget(t)
			target.Formula = dataflow.FittedCostFormula
			begin := time.Now()
			r := searched(t, m, target, folding.Goal{Interval: float64(c.interval)})
			t.Logf("%v, %v clocks, %+v\n%s", time.Since(begin).Round(time.Millisecond), r.Clocks.Interval,
				r.Estimate.Total, strings.Join(r.Certificate.DescribeInLines(), "\n"))
			if r.Over {
				t.Errorf("%+v is not within the budget", r.Estimate.Total)
			}
		})
	}
}
