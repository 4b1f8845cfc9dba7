package folding

import (
	"fmt"
	"math/rand/v2"
	"sync"
	"testing"
	"time"

	"hlsgen/folding/fit"
	"hlsgen/internal/dataflow"
	"hlsgen/internal/diag"
	"hlsgen/internal/testsupport/tier"
)

// questions lists goals that share a space.
var questions = []Goal{
	{}, {Interval: 40}, {Interval: 40, Least: ResourceMeasureFF}, {FPS: 2e6}, {Latency: true}, {MaxUse: all(0.6)},
	{MaxCycles: 30}, {Interval: 25, Latency: true},
	{MaxUse: all(0.01)}, {Interval: 1}, {Interval: 60, Least: ResourceMeasureBRAM},
}

// TestOneSpace checks that an answer depends on the question alone, not on earlier or concurrent ones in the space.
func TestOneSpace(t *testing.T) {
	t.Parallel()
	tier.NotQuick(t)
	r := rand.New(rand.NewPCG(11, 11))
	models := []*dataflow.Model{tfc()}
	for range 8 {
		models = append(models, randomNet(r, 1+r.IntN(5), 6))
	}
	for i, m := range models {
		target := dataflow.Target{Board: board("pynq-z1"), ClockMHz: 100}
		if i > 0 {
			target.Board = tight(r, m.Graph)
		}
		write := func(d *Design, told *diag.List, err error) string {
			if d == nil {
				return text(told) + fmt.Sprint(err)
			}
			return fmt.Sprint(d.Folds, d.FIFO, d.Clocks.Interval, d.Clocks.Latency, d.Estimate.Total,
				d.Certificate.DescribeInLines(), d.Bottleneck, d.Reasons, text(told))
		}
		alone := map[int]string{}
		for q, wanted := range questions {
			var told diag.List
			d, err := FindBestDesign(t.Context(), m, target, wanted, &told)
			alone[q] = write(d, &told, err)
		}
		for range 2 {
			var listed diag.List
			s := must(NewSpace(m, target, nil, FIFODepthPolicy{}, &listed))
			if s == nil {
				continue
			}
			var group sync.WaitGroup
			for _, q := range r.Perm(len(questions)) {
				group.Go(func() {
					var told diag.List
					d, err := s.FindBestDesign(t.Context(), questions[q], &told)
					if got := write(d, &told, err); got != alone[q] {
						t.Errorf("model %d, %+v:\ngot  %s\nwant %s", i, questions[q], got, alone[q])
					}
				})
				group.Go(func() {
					if _, err := s.ComputeDesignBounds(t.Context(), questions[q]); err != nil {
						t.Error(err)
					}
				})
			}
			group.Wait()
		}
	}
}

// TestWide checks that a plan that drops ends finds designs, and that its proofs and bounds hold.
func TestWide(t *testing.T) {
	tier.NotQuick(t)
	t.Parallel()
	wide, found, proved := 0, 0, 0
	for _, seed := range seeds(40) {
		v, _ := bare(t, 8000+seed)
		var d diag.List
		s := must(NewSpace(v.m, v.target, nil, FIFODepthPolicy{}, &d))
		wanted := Goal{MaxUse: all(1)}
		if s == nil {
			continue
		}
		s.MakeSearchTables(3)
		if len(s.Wide) == 0 {
			continue
		}
		v.designs = enumerate(v.m.Graph, v.target, FIFODepthPolicy{})
		if len(v.allowed(wanted)) == 0 {
			continue
		}
		wide++
		q := &inquiry{report: report{fit.NewDesignSearch(s.FoldingSpace, wanted)}, made: &memory{}, told: &d}
		q.Effort.Limit = 20_000
		got, err := q.answer(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if got == nil {
			continue
		}
		found++
		consistent(t, got, wanted)
		if got.Certificate.IsProvedBest() {
			proved++
			v.least(wanted, got, v.allowed(wanted))
		}
		for _, p := range v.allowed(wanted) {
			if float64(got.Certificate.Floor) > p.interval {
				t.Fatalf("%s: none below %d, but there is %v", v.name, got.Certificate.Floor, p.interval)
			}
		}
	}
	if wide < 5 || found < wide/2 || proved < found/4 {
		t.Errorf("%d nets are too wide, %d have a design, %d a proof", wide, found, proved)
	}
}

// deep returns a chain of fully connected layers.
func deep(layers int) *dataflow.Model {
	sizes := []int{480}
	for i := range layers {
		sizes = append(sizes, []int{64, 96, 128, 240}[i%4])
	}
	return mlp(rand.New(rand.NewPCG(60, 60)), uint2, 2, 2, sizes...)
}

// TestLarge checks that searches of networks of real size end within the work of one design, with a design that fits
// and a stated gap.
func TestLarge(t *testing.T) {
	t.Parallel()
	tier.NotQuick(t)
	for _, c := range []struct {
		name  string
		m     func() *dataflow.Model
		goals []Goal
		gap   float64 // the largest gap of the first measure
		long  bool
	}{
		{"deep", func() *dataflow.Model { return deep(24) }, []Goal{{}}, 0.05, false},
		{"deep", func() *dataflow.Model { return deep(50) }, []Goal{{FPS: 1000}}, 0.05, false},
		{"deep", func() *dataflow.Model { return deep(110) }, []Goal{{}, {FPS: 1000}}, 0.15, true},
		{"unet", func() *dataflow.Model { return uNet(1, 1, 4) }, []Goal{{}}, 0.15, true},
		{"inception", func() *dataflow.Model { return inception(1) }, []Goal{{}}, 0.15, true},
		{"mobilenet", mobileNet, []Goal{{}}, 0.14, true}, // from deep FIFOs, which the bound does not know
		{"resnet8", func() *dataflow.Model { return resNet(3, 16) }, []Goal{{}}, 0.05, true},
	} {
		if c.long && !tier.Long() {
			continue
		}
		m := c.m()
		for _, wanted := range c.goals {
			begin := time.Now()
			d, told := designed(t, m, dataflow.Target{Board: board("zcu104"), ClockMHz: 200}, wanted)
			if d == nil {
				t.Errorf("%s, %+v: %s", c.name, wanted, text(told))
				continue
			}
			t.Logf("%s, %+v: %d layers, %v: %v", c.name, wanted, len(m.Graph.Nodes),
				time.Since(begin).Round(time.Millisecond), d.Certificate.DescribeInLines())
			for _, b := range d.Certificate.Bounds[:min(1, len(d.Certificate.Bounds))] {
				if b.RelativeGap() > c.gap {
					t.Errorf("%s, %+v: %v", c.name, wanted, b)
				}
			}
		}
	}
}

// TestSearchTime checks that a search whose time ends has a design that fits, and true bounds.
func TestSearchTime(t *testing.T) {
	t.Parallel()
	m := tfc()
	target := dataflow.Target{Board: board("pynq-z1"), ClockMHz: 100}
	full, _ := designed(t, m, target, Goal{})
	for _, allowed := range []time.Duration{time.Nanosecond, 50 * time.Millisecond} {
		var d diag.List
		got, err := FindBestDesign(t.Context(), m, target, Goal{SearchTime: allowed}, &d)
		if err != nil || got == nil && !d.HasErrors() {
			t.Fatalf("%v: %v, %v", allowed, got, err)
		}
		if got == nil {
			continue
		}
		consistent(t, got, Goal{})
		if float64(got.Certificate.Floor) > full.Clocks.Interval ||
			got.Clocks.Interval < float64(full.Certificate.Floor) {
			t.Errorf("%v: %v, with more time %v", allowed, got.Certificate.DescribeInLines(),
				full.Certificate.DescribeInLines())
		}
	}
}

// TestAskedBefore checks that what is known of the shortest interval does not change the answer to a goal with that
// interval.
func TestAskedBefore(t *testing.T) {
	t.Parallel()
	var d diag.List
	target := dataflow.Target{Board: board("pynq-z1"), ClockMHz: 100}
	s := must(NewSpace(tfc(), target, nil, FIFODepthPolicy{}, &d))
	fastest := must(s.FindBestDesign(t.Context(), Goal{}, &d))
	wanted := Goal{Interval: float64(int(fastest.Clocks.Interval))}
	alone := must(FindBestDesign(t.Context(), tfc(), target, wanted, &d))
	after := must(s.FindBestDesign(t.Context(), wanted, &d))
	got, want := fmt.Sprint(after.Certificate.DescribeInLines()), fmt.Sprint(alone.Certificate.DescribeInLines())
	if got != want || fastest.Certificate.Floor == 0 || after.Certificate.Floor != 0 {
		t.Errorf("after another question\n%s, alone\n%s", got, want)
	}
}
