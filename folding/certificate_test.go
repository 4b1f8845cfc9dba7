package folding

import (
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"hlsgen/boards"
	"hlsgen/internal/dataflow"
	"hlsgen/internal/diag"
	"hlsgen/internal/testsupport/tier"
)

func TestCertificateLines(t *testing.T) {
	t.Parallel()
	small := boards.Board{Name: "small", LUT: 1384, LUTRAM: 100, FF: 1000, BRAM36: 4, DSP: 20}
	const (
		without = " without FIFOs in block RAM that save logic"
		covers  = "this covers designs"
		inLUTs  = "FIFOs of few words lie in LUTs where possible; block RAM would save logic"
	)
	for _, c := range []struct {
		goal Goal
		want []string
	}{
		{Goal{MaxUse: all(1)},
			[]string{"no design of these layers within the budget" + without + " takes fewer than 5 clocks per frame" +
				": at 4 clocks, of 7 options 5 too slow, 2 excluded by LUT", "load 92.775 % of the budget, the least " +
				"there is", "1284 LUT, the least there is", covers + without, inLUTs}},
		{Goal{MaxUse: all(1), FPS: 1e6, Least: ResourceMeasureBRAM}, []string{"0 RAMB18, the least there is",
			"load 38.584 % of the budget, the least there is", "534 LUT, the least there is", covers + without,
			inLUTs}},
		{Goal{MaxUse: all(1), Latency: true}, []string{inLUTs, "latency 8 clocks, the least there is" + without}},
	} {
		d, told := on(t, twoLayers(), small, c.goal)
		if d == nil || !slices.Equal(d.Certificate.DescribeInLines(), c.want) {
			t.Errorf("%+v: got\n%s\nwant\n%s\n%s", c.goal, strings.Join(d.Certificate.DescribeInLines(), "\n"),
				strings.Join(c.want, "\n"), text(told))
		}
	}
	open := OptimalityCertificate{Interval: 90, Floor: 60, Bounds: []MeasureWithBound{{Measure: ResourceMeasureLoad,
		Value: 0.5,
		Least: 0.4},
		{Measure: ResourceMeasureLUT, Value: 110, Least: 100}},
		Latency: &LatencyWithBound{Clocks: 300, Least: 200}, Gap: "left open"}
	want := []string{"90 clocks per frame found, none below 60 possible",
		"load 50.000 % of the budget, at most 25.00 % above the least there is (no less than 40.000 %)",
		"110 LUT, at most 10.00 % above the least there is (no less than 100)",
		"latency 300 clocks, at most 50.00 % above the least there is (no less than 200 clocks)", "left open"}
	if open.IsProvedBest() || !slices.Equal(open.DescribeInLines(), want) {
		t.Errorf("got\n%s\nwant\n%s", strings.Join(open.DescribeInLines(), "\n"), strings.Join(want, "\n"))
	}
	ebr := OptimalityCertificate{On: boards.Board{Family: boards.FamilyECP5},
		Bounds: []MeasureWithBound{{Measure: ResourceMeasureBRAM, Value: 2,
			Least: 2}}}
	if got := ebr.DescribeInLines(); !slices.Equal(got, []string{"2 EBR, the least there is"}) {
		t.Errorf("%q", got)
	}
	open.Dear = 3 // then the proofs exclude these
	const dear = " without serial step functions dear in block RAM"
	want[0] += dear
	want[3] += dear
	want = slices.Insert(want, 3, covers+dear, "3 folds with serial step functions were left out: their share of "+
		"block RAM is more than 2 times the share of LUTs that they save; a folding file may ask for them")
	if open.IsProvedBest() || !slices.Equal(open.DescribeInLines(), want) {
		t.Errorf("got\n%s\nwant\n%s", strings.Join(open.DescribeInLines(), "\n"), strings.Join(want, "\n"))
	}
	open.InLUTs, open.Spares = true, true
	if got, want := open.BoundsConditionText(),
		" with factors of 3 bits or fewer in LUTs and without serial step functions dear in "+
			"block RAM or FIFOs in block RAM that save logic"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
}

// TestExcluded checks that a certificate accounts for every option.
func TestExcluded(t *testing.T) {
	t.Parallel()
	tier.NotQuick(t)
	seen := map[string]bool{}
	for seed := range uint64(400) {
		r := rand.New(rand.NewPCG(seed+10, 17))
		m := randomNet(r, 1+r.IntN(5), 6)
		var told diag.List
		d := must(FindBestDesign(t.Context(), m, dataflow.Target{Board: tight(r, m.Graph), ClockMHz: 100},
			Goal{MaxUse: all(1)},
			&told))
		if d == nil || d.Certificate.Below == nil {
			continue
		}
		c, e := &d.Certificate, d.Certificate.Below
		n := e.TooSlow + e.Dominated + e.Unjoined + e.Together + e.Compared
		said := e.String()
		for k, a := range e.Alone {
			n += a
			seen[k] = seen[k] || a > 0
		}
		if n != c.Options-c.Unavailable || float64(e.Interval) >= d.Clocks.Interval {
			t.Errorf("seed %d: %+v of %+v", seed, e, c)
		}
		for k, n := range map[string]int{"dominated": e.Dominated, "together": e.Together, "compared": e.Compared,
			"without a width": e.Unjoined} {
			seen[k] = seen[k] || n > 0
			if strings.Contains(said, k) != (n > 0) {
				t.Errorf("seed %d: %+v: %s", seed, e, said)
			}
		}
	}
	for _, k := range []string{"LUT", "FF", "RAMB18", "URAM", "DSP", "dominated", "together", "compared"} {
		if !seen[k] {
			t.Errorf("no option is %s", k)
		}
	}
}

// TestProved checks that IsProvedBest needs every part of the proof.
func TestProved(t *testing.T) {
	t.Parallel()
	met, loose := MeasureWithBound{Measure: ResourceMeasureLUT, Value: 5, Least: 5},
		MeasureWithBound{Measure: ResourceMeasureLUT,
			Value: 5, Least: 4}
	for _, c := range []struct {
		c    OptimalityCertificate
		want bool
	}{
		{OptimalityCertificate{Interval: 7}, true},
		{OptimalityCertificate{Interval: 7, Floor: 7, Bounds: []MeasureWithBound{met, met}}, true},
		{OptimalityCertificate{Interval: 7, Floor: 6, Bounds: []MeasureWithBound{met}}, false},
		{OptimalityCertificate{Interval: 7, Floor: 7, Bounds: []MeasureWithBound{met, loose}}, false},
		{OptimalityCertificate{Interval: 7, Latency: &LatencyWithBound{Clocks: 9, Least: 9}}, true},
		{OptimalityCertificate{Interval: 7, Latency: &LatencyWithBound{Clocks: 9, Least: 8}}, false},
		{OptimalityCertificate{Interval: 7.5, Floor: 7}, false},
	} {
		if c.c.IsProvedBest() != c.want {
			t.Errorf("%+v: proved %t", c.c, c.c.IsProvedBest())
		}
	}
}
