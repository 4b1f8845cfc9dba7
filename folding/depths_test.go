package folding

import (
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"hlsgen/folding/ask"
	"hlsgen/internal/dataflow"
	"hlsgen/internal/diag"
)

// FIFOs are as deep as a file says, in FINN's words; 0 and what it leaves out is sized.
func TestDepths(t *testing.T) {
	t.Parallel()
	m := mlp(rand.New(rand.NewPCG(5, 1)), uint2, 2, 2, 12, 6, 4)
	const folds = `"MVAU_0": {"PE": 2, "SIMD": 3%s}, "MVAU_1": {"PE": 1, "SIMD": 3%s}`
	for _, c := range []struct {
		name, first, second, around string
		// of x, behind MVAU_0, behind the width converter, behind MVAU_1; 0 of what is sized
		want  []int
		codes []string
	}{
		{"nothing", ``, ``, ``, []int{0, 0, 0, 0}, nil},
		{"FINN's lists", `, "inFIFODepths": [17], "outFIFODepths": [5]`, `, "inFIFODepths": [9], "outFIFODepths": [3]`,
			``, []int{17, 5, 9, 3}, nil},
		{"one side", `, "outFIFODepths": [5]`, ``, ``, []int{0, 5, 0, 0}, nil},
		{"left to hlsgen", `, "inFIFODepths": [0], "outFIFODepths": [5]`, `, "outFIFODepths": [0]`, ``, []int{0, 5, 0,
			0}, nil},
		{"FINN's older numbers", `, "inFIFODepth": 17, "outFIFODepth": 5`, ``, ``, []int{17, 5, 0, 0}, nil},
		{"nodes of FINN's", ``, ``, `FIFOs`, []int{17, 6, 9, 3}, []string{"note folding-invalid"}},
		{"layers before nodes", `, "outFIFODepths": [5]`, ``, `FIFOs`, []int{17, 5, 9, 3},
			[]string{"note folding-invalid"}},
		{"one for each", `, "inFIFODepths": [4, 4]`, ``, ``, nil,
			[]string{"error folding-invalid MVAU_0.inFIFODepths"}},
		{"too deep", `, "inFIFODepths": [1048577]`, ``, ``, nil, []string{"error folding-invalid MVAU_0.inFIFODepths"}},
	} {
		layers := strings.Replace(strings.Replace(folds, "%s", c.first, 1), "%s", c.second, 1)
		file := "{" + layers + "}"
		if c.around != "" {
			first, second, _ := strings.Cut(layers, `, "MVAU_1"`)
			file = `{"StreamingFIFO_rtl_0": {"depth": 17, "impl_style": "rtl"}, ` + first + `, "StreamingFIFO_rtl_1": {"depth": 6},
				"StreamingDataWidthConverter_rtl_0": {}, "StreamingFIFO_rtl_2": {"depth": 9}, "MVAU_1"` + second + `, "StreamingFIFO_rtl_3": {"depth": 3}}`
		}
		var told diag.List
		fixed := ReadFile([]byte(file), &told)
		var d *Design
		if fixed != nil {
			var more *diag.List
			d, more = on(t, m, board("pynq-z1"), Goal{Fixed: fixed})
			told.Diags = append(told.Diags, more.Diags...)
		}
		if !slices.Equal(codes(&told), c.codes) || (d == nil) != (c.want == nil) {
			t.Errorf("%s: %s", c.name, text(&told))
			continue
		}
		if d == nil {
			continue
		}
		for s, want := range c.want {
			if want > 0 && d.FIFO[s].Depth != want || d.Given[s] != want {
				t.Errorf("%s: depths %v, given %v, want %v", c.name, d.Depths(), d.Given, c.want)
				break
			}
		}
	}
}

// A FIFO between layers that are no neighbours has no effect, and the user is told.
func TestNoNeighbours(t *testing.T) {
	t.Parallel()
	m := mlp(rand.New(rand.NewPCG(5, 1)), uint2, 2, 2, 12, 6, 4, 3)
	d, told := withFile(t, m, `{"MVAU_0": {}, "StreamingFIFO_0": {"depth": 9}, "MVAU_2": {}, "MVAU_1": {}}`, Goal{})
	if want := []string{"warning folding-invalid StreamingFIFO_0"}; d == nil || !slices.Equal(codes(told), want) {
		t.Errorf("%s", text(told))
	}
}

// Depths that deadlock are told as that, whatever is asked; those that are slow have the interval that they have, which
// can be
// asked for.
func TestShallow(t *testing.T) {
	t.Parallel()
	target := dataflow.Target{Board: board("zcu104"), ClockMHz: 100}
	slow, dead, full := 0, 0, 0
	for seed := range uint64(160) {
		r := rand.New(rand.NewPCG(seed, 12))
		m := randomNet(r, 2+r.IntN(4), 3)
		first := Goal{MaxUse: ask.Even(1), FIFO: FIFO{Words: 1 + int(seed%2)}}
		if whole, _ := designed(t, m, target, Goal{MaxUse: ask.Even(1)}); whole == nil {
			continue // tiles that do not join
		}
		var told diag.List
		d, err := Make(t.Context(), m, target, first, &told)
		switch {
		case err != nil:
			for _, goal := range []Goal{{Interval: 1000}, {Latency: true}, {Least: LeastFF}, {MaxCycles: 1000}} {
				goal.FIFO = first.FIFO
				deadlocked(t, m, target, goal)
			}
			dead++
		case d == nil:
			t.Errorf("seed %d: %s", seed, text(&told))
		case d.Clocks.Interval > float64(d.Clocks.Slowest):
			slow++
			consistent(t, d, first)
			asked, _ := designed(t, m, target, Goal{MaxUse: ask.Even(1), FIFO: first.FIFO, FPS: d.FPS()})
			if asked == nil || asked.Clocks.Interval != d.Clocks.Interval {
				t.Errorf("seed %d: %v clocks, asked for %v", seed, d.Clocks.Interval, asked)
			}
			faster, told := designed(t, m, target, Goal{MaxUse: ask.Even(1), FIFO: first.FIFO,
				Interval: int(d.Clocks.Interval) - 1})
			if faster != nil || told.Diags[0].Code != diag.FPSUnreachable && told.Diags[0].Code != diag.BudgetExceeded {
				t.Errorf("seed %d: fewer than %v clocks: %v, %s", seed, d.Clocks.Interval, faster, text(told))
			}
		default:
			full++
		}
	}
	if slow < 5 || dead < 1 || full < 20 {
		t.Errorf("%d are slow, %d deadlock, %d are as fast as can be", slow, dead, full)
	}
}

// Minimal FIFOs are no deeper than the others, and free from deadlock all the same.
func TestMinimal(t *testing.T) {
	t.Parallel()
	for seed := range uint64(60) {
		r := rand.New(rand.NewPCG(seed, 12))
		m := randomNet(r, 2+r.IntN(4), 1)
		target := dataflow.Target{Board: board("zcu104"), ClockMHz: 100}
		var told diag.List
		fast := must(Make(t.Context(), m, target, Goal{MaxUse: ask.Even(1), Least: LeastFF}, &told))
		if fast == nil {
			continue
		}
		least, _ := designed(t, m, target, Goal{MaxUse: ask.Even(1), Least: LeastFF, FIFO: FIFO{Minimal: true}})
		if least == nil || least.Estimate.Total.FF > fast.Estimate.Total.FF || least.Clocks.Proof.Room > 0 {
			t.Errorf("seed %d: %v, for throughput %v", seed, least, fast.FIFO)
		}
	}
}
