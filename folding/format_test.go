package folding

import (
	"bytes"
	"math/rand/v2"
	"slices"
	"testing"

	"hlsgen/folding/ask"
	"hlsgen/internal/dataflow"
	"hlsgen/internal/diag"
)

// A written file reads back to the same folds, depths and clocks, and names no width converter.
func TestFormatRoundTrip(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(8, 8))
	p := newPainter()
	s := p.image(6, 6, 4)
	f := p.fork(s, 2)
	forked := p.model("forked", p.conv(p.join(f[1], p.pool(f[0], 1)), 3, 1, 2))
	for _, m := range []*dataflow.Model{
		mlp(r, uint2, 2, 2, 784, 64, 64, 64, 10), mlp(r, uint2, 1, 1, 12, 5, 3), mlp(r, uint2, 2, 2, 1, 7, 1),
		withThresholds(r, 24, 6), forked,
	} {
		for _, goal := range []Goal{{}, {FPS: 250_000}, {Interval: 4000, Least: LeastFF}, {Latency: true},
			{FIFO: FIFO{Words: 40}}} {
			roundTrip(t, m, dataflow.Target{Board: board("zcu104"), ClockMHz: 200}, goal)
		}
	}
	for seed := range uint64(60) {
		r := rand.New(rand.NewPCG(seed, 4))
		m := randomNet(r, 1+r.IntN(5), 5)
		roundTrip(t, m, dataflow.Target{Board: tight(r, m.Graph), ClockMHz: 100}, Goal{MaxUse: ask.Even(0.9),
			Least: LeastLoad + Measure(r.IntN(6))})
	}
}

func roundTrip(t *testing.T, m *dataflow.Model, target dataflow.Target, goal Goal) {
	t.Helper()
	var d diag.List
	first := must(Make(t.Context(), m, target, goal, &d))
	if first == nil {
		return
	}
	written := Format(first.Design, true)
	if bytes.Contains(written, []byte("WidthConverter")) || !bytes.Contains(written, []byte(`"Defaults": {}`)) {
		t.Errorf("file:\n%s", written)
	}
	next := Goal{Fixed: ReadFile(written, &d), Least: goal.Least, MaxUse: goal.MaxUse}
	same, told := designed(t, m, target, next)
	if same == nil || len(told.Diags) > 0 || len(d.Diags) > 0 {
		t.Errorf("%s, %+v\n%s\n%s", m.Name, goal, written, text(told))
		return
	}
	if !slices.Equal(same.Folds, first.Folds) || !slices.Equal(same.Depths(), first.Depths()) ||
		same.Clocks.Interval != first.Clocks.Interval ||
		same.Clocks.Latency != first.Clocks.Latency {
		t.Errorf("%s, %+v\n%s\ngot  %v %v, %v clocks\nwant %v %v, %v clocks", m.Name, goal, written, same.Folds,
			same.FIFO, same.Clocks.Interval,
			first.Folds, first.FIFO, first.Clocks.Interval)
	}
	// Where the words of a FIFO are given, its memory is still chosen by cost: it is no worse.
	if is, was := measure(goal.Least, &first.Budget, same.Estimate.Total), measure(goal.Least, &first.Budget,
		first.Estimate.Total); is > was+rounding {
		t.Errorf("%s, %+v: %v of %s, read back %v", m.Name, goal, was, goal.Least, is)
	}
	if again := Format(same.Design, true); !bytes.Equal(again, written) {
		t.Errorf("%s\nis written as\n%s", written, again)
	}
}

func TestFormat(t *testing.T) {
	t.Parallel()
	m := withThresholds(rand.New(rand.NewPCG(9, 9)), 24, 6)
	d := &dataflow.Design{Model: m, Folds: []dataflow.Fold{
		{PE: 4, SIMD: 1, Memory: dataflow.BRAM}, {PE: 3, SIMD: 1, Memory: dataflow.LUTRAM, Compute: dataflow.DSP}}}
	want := `{
  "Defaults": {},
  "Thresholding_0": {
    "PE": 4,
    "ram_style": "block"
  },
  "MVAU_0": {
    "PE": 3,
    "SIMD": 1,
    "ram_style": "distributed",
    "resType": "dsp"
  }
}
`
	if got := string(Format(d, false)); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}
