package folding

import (
	"math/rand/v2"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"hlsgen/boards"
	"hlsgen/internal/dataflow"
	"hlsgen/internal/diag"
	"hlsgen/internal/testsupport/tier"
)

// twoLayers returns a network whose faster folds cost more.
func twoLayers() *dataflow.Model {
	r := func(iterations int, cost dataflow.Resources) row { return plainRow(12, 12, iterations, cost) }
	return chain(
		&listed{rows: []row{r(2, dataflow.Resources{LUT: 900, DSP: 8}), r(5, dataflow.Resources{LUT: 500, DSP: 4}),
			r(20, dataflow.Resources{LUT: 200, BRAM: 2}), r(20, dataflow.Resources{LUT: 300})}},
		&listed{rows: []row{r(3, dataflow.Resources{LUT: 700, DSP: 6}), r(30, dataflow.Resources{LUT: 100, BRAM: 2}),
			r(30, dataflow.Resources{LUT: 150})}})
}

// TestTrouble checks that diagnostics say what is missing and where. Three FIFOs take 3 x 28 LUT and 3 x 50 FF.
func TestTrouble(t *testing.T) {
	t.Parallel()
	of := func(lut, bram, dsp int) boards.Board {
		return boards.Board{Name: "small", LUT: lut, LUTRAM: 100, FF: 1000, BRAM36: bram, DSP: dsp}
	}
	half := all(1)
	half.LUT = 0.5
	for _, c := range []struct {
		name string
		b    boards.Board
		goal Goal
		want []string
	}{
		{"too fast for the clock", of(1384, 4, 20), Goal{FPS: 2e8, MaxUse: all(1)}, []string{"error[fps-unreachable]",
			"200000000 frames per second are more than one in a clock of 100 MHz",
			"the best on small is 5 clocks, 20000000 frames per second", "hint: --fps 20000000 or a higher --clock",
			"Listed_1 takes 3 clocks in its widest fold", "/b/MatMul"}},
		{"too few clocks", of(1384, 4, 20), Goal{Interval: 2, MaxUse: all(1)}, []string{"error[fps-unreachable]",
			"asked for: 2 clocks per frame", "hint: --interval 5\n"}},
		{"too fast for the board", of(1384, 4, 20), Goal{FPS: 25e6, MaxUse: all(1)}, []string{"error[fps-unreachable]",
			"allow 4 clocks", "5 clocks",
			"at the asked rate: 1684 LUT; the budget on small is 1384 of 1384"}},
		{"too fast for the budget", of(2000, 4, 20), Goal{Interval: 4, MaxUse: half}, []string{"error[fps-unreachable]",
			"the best on small is 20 clocks", "--max-use 1,lut=0.842"}},
		{"not enough LUT", of(500, 4, 20), Goal{MaxUse: half}, []string{"error[budget-exceeded]",
			"the least demanding one takes 384 LUT; the budget on small is 250 of 500",
			"the largest layer is Listed_0 with 200 LUT",
			"hint: --max-use 1,lut=0.768, a larger board, or --over-budget"}},
		{"not enough LUT at a rate", of(500, 4, 20), Goal{FPS: 1, MaxUse: half}, []string{"error[budget-exceeded]",
			"--max-use 1,lut=0.768"}},
		{"not enough on the board", of(300, 4, 20), Goal{MaxUse: all(1)}, []string{"error[budget-exceeded]",
			"hint: a larger board, or fewer bits or weights"}},
		{"no DSP wanted", of(460, 4, 20), Goal{MaxUse: MaxUseFractions{LUT: 1, LUTRAM: 1, FF: 1, BRAM: 1, Mean: 1}},
			nil},
		{"over the mean", of(2000, 2, 20), Goal{Interval: 3,
			MaxUse: MaxUseFractions{LUT: 1, LUTRAM: 1, FF: 1, BRAM: 1, URAM: 1, DSP: 1, Mean: 0.3}},
			[]string{"error[fps-unreachable]", "--max-use 1,mean=0.35",
				"at the asked rate: 35 % as the mean of RAMB18, URAM, DSP; the budget is 30 %"}},
		{"a device without", of(460, 0, 0), Goal{}, []string{"error[budget-exceeded]",
			"the least demanding one takes 534 LUT before any FIFO is deep; the budget on small is 322 of 460"}},
	} {
		_, d := on(t, twoLayers(), c.b, c.goal)
		if c.want == nil && len(d.Diags) > 0 || c.want != nil && len(d.Diags) != 1 {
			t.Errorf("%s:\n%s", c.name, text(d))
		}
		for _, w := range c.want {
			if !strings.Contains(text(d), w) {
				t.Errorf("%s: want %q in\n%s", c.name, w, text(d))
			}
		}
	}
}

// hints matches the figures that a message offers.
var hints = regexp.MustCompile(`--(fps|interval|max-use|clock) ([^ ,]+(?:,[a-z]+=[0-9.]+)*)( and)?`)

// follow asks for each offer of a hint, and returns their number.
func follow(t *testing.T, m *dataflow.Model, b boards.Board, wanted Goal, told *diag.List) (followed int) {
	t.Helper()
	for _, g := range told.Diags {
		next, with := wanted, false
		for _, h := range hints.FindAllStringSubmatch(g.Hint, -1) {
			if !with {
				next = wanted
			}
			switch h[1] {
			case "fps":
				next.FPS = must(strconv.ParseFloat(h[2], 64))
			case "interval":
				next.Interval = float64(must(strconv.Atoi(h[2])))
			case "max-use":
				next.MaxUse = must(ParseMaxUseFractions(h[2]))
			default:
				continue
			}
			if with = h[3] != ""; with { // together with the next flag
				continue
			}
			followed++
			d, more := on(t, m, b, next)
			if d == nil || len(more.Diags) > 0 {
				t.Errorf("%+v on %+v:\n%s%s followed gives\n%s", wanted, b, text(told), h[0], text(more))
			}
		}
	}
	return followed
}

// TestHints checks that each offer of a message can be asked for, and is met.
func TestHints(t *testing.T) {
	t.Parallel()
	tier.NotQuick(t)
	kinds := map[diag.Code]int{}
	for seed := range seeds(300) {
		r := rand.New(rand.NewPCG(uint64(seed), 31))
		m := randomNet(r, 1+r.IntN(4), 5)
		b := tight(r, m.Graph)
		wanted := Goal{MaxUse: []MaxUseFractions{{}, all(0.5), all(0.9), {LUT: 0.9, LUTRAM: 0.5, FF: 0.9, BRAM: 0.7,
			URAM: 0.8,
			Mean: 0.4}}[r.IntN(4)], Least: ResourceMeasureLoad + ResourceMeasure(r.IntN(6))}
		switch r.IntN(4) {
		case 0:
			wanted.Interval = float64(1 + r.IntN(40))
		case 1:
			wanted.FPS = 1e8 / (1 + 40*r.Float64())
		case 2:
			wanted.FPS, wanted.Latency = 1e8/(1+40*r.Float64()), true
		}
		if d, told := on(t, m, b, wanted); d == nil && follow(t, m, b, wanted, told) > 0 {
			kinds[told.Diags[0].Code]++
		}
	}
	if kinds[diag.FPSUnreachable] < 10 || kinds[diag.BudgetExceeded] < 10 {
		t.Errorf("followed %v", kinds)
	}
}

// TestSmallestBudget checks on a real board that the budget in a message is the smallest that suffices.
func TestSmallestBudget(t *testing.T) {
	t.Parallel()
	tier.NotQuick(t)
	m := tfc()
	for _, wanted := range []Goal{{MaxUse: all(0.01)}, {MaxUse: all(1e-9)}, {MaxUse: all(0.2), FPS: 3e6}} {
		_, told := on(t, m, board("pynq-z1"), wanted)
		h := regexp.MustCompile(`--max-use ([0-9.]+)`).FindStringSubmatch(text(told))
		if h == nil {
			t.Fatalf("%+v: %s", wanted, text(told))
		}
		use := must(strconv.ParseFloat(h[1], 64))
		for _, c := range []struct {
			use  float64
			fits bool
		}{{use, true}, {use - 0.0003, false}} {
			wanted.MaxUse = all(c.use)
			if d, _ := on(t, m, board("pynq-z1"), wanted); (d != nil) != c.fits {
				t.Errorf("%+v, offered %v: design %v", wanted, use, d)
			}
		}
	}
}

// TestOverBudget checks that a design exceeds the budget only if the user allows that, with a warning and the least
// load.
func TestOverBudget(t *testing.T) {
	t.Parallel()
	small := boards.Board{Name: "small", LUT: 500, LUTRAM: 100, FF: 1000, BRAM36: 4, DSP: 20}
	wanted := Goal{MaxUse: all(0.5)}
	if d, _ := on(t, twoLayers(), small, wanted); d != nil {
		t.Fatalf("%+v fits", d.Estimate.Total)
	}
	wanted.OverBudget = true
	d, told := on(t, twoLayers(), small, wanted)
	if want := []string{"warning budget-exceeded"}; !d.Over || len(told.Diags) != 1 || codes(told)[0] != want[0] {
		t.Errorf("over %t, %s", d.Over, text(told))
	}
	if d.Estimate.Total.LUT != 384 {
		t.Errorf("%+v", d.Estimate.Total)
	}
	// The rate is reached, or there is an error.
	for interval, lut := range map[int]int{30: 384, 20: 984, 3: 1684, 2: 0} {
		wanted.Interval = float64(interval)
		if d, _ := on(t, twoLayers(), small, wanted); (d == nil) != (lut == 0) || d != nil &&
			d.Estimate.Total.LUT != lut {
			t.Errorf("%d clocks: %v", interval, d)
		}
	}
	wanted.Interval = 0
	// Designs that fit do not change.
	wanted.MaxUse = all(1)
	fits, told := on(t, twoLayers(), small, wanted)
	wanted.OverBudget = false
	if same, _ := on(t, twoLayers(), small, wanted); fits.Over || len(told.Diags) > 0 || !sameDesign(fits, same) {
		t.Errorf("%+v, %s", fits, text(told))
	}
}

// TestFixedBeyondBudget checks that the budget also holds for the design of a folding file.
func TestFixedBeyondBudget(t *testing.T) {
	t.Parallel()
	tier.NotQuick(t)
	for _, c := range []struct {
		text string
		goal Goal
		want []string
	}{
		{`{"MVAU_0": {"PE": 64, "SIMD": 392, "ram_style": "distributed", "resType": "lut"}}`, Goal{MaxUse: all(0.1)},
			[]string{"error[budget-exceeded]", " LUT before any FIFO is deep; the budget on zcu104 is 23040 of 230400",
				"the largest layer is MVAU_0"}},
		{`{"MVAU_0": {"resType": "dsp"}, "MVAU_1": {"resType": "dsp"}}`,
			Goal{MaxUse: MaxUseFractions{LUT: 0.8, LUTRAM: 0.8, FF: 0.8, BRAM: 0.8, URAM: 0.8, Mean: 0.8}},
			[]string{"error[budget-exceeded]", "takes 2 DSP; the budget on zcu104 is 0 of 1728",
				"--max-use 0.8,dsp=0.0012"}},
		{`{"MVAU_0": {"PE": 1, "SIMD": 4}}`, Goal{FPS: 1e6}, []string{"error[fps-unreachable]", "allow 200 clocks",
			"MVAU_0 takes 12,544 clocks as the folding file sets it"}},
	} {
		d, told := withFile(t, tfc(), c.text, c.goal)
		for _, w := range c.want {
			if d != nil || !strings.Contains(text(told), w) {
				t.Errorf("%s: want %q in\n%s", c.text, w, text(told))
			}
		}
	}
}
