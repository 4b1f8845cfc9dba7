package sweep

import (
	"path/filepath"
	"slices"
	"testing"

	"hlsgen/folding"
	"hlsgen/internal/dataflow"
	"hlsgen/internal/testsupport/tier"
)

// TestBound checks that only points with a design are shown as fitting, chosen or proved. Points with bounds have no
// design, and their bounds hold for the designs of the same sweep.
func TestBound(t *testing.T) {
	t.Parallel()
	tier.NotQuick(t)
	dir := t.TempDir()
	o := small(dir)
	o.FPS, o.Least, o.Bound = []float64{1e4, 5e5, 1e12}, folding.ResourceMeasureLUT, true
	asked := run(t, o)
	rates := o.FPS
	o.FPS = nil
	fastest := run(t, o)
	if asked.Total != 24 || fastest.Total != 8 || fastest.Fresh != 8 {
		t.Fatalf("%d and %d searches", asked.Total, fastest.Total)
	}
	bounds := slices.Concat(asked.Points, fastest.Points)
	for _, p := range bounds {
		switch b := p.Bounds; {
		case p.FPSAsked == 1e12 && (p.Status != PointStatusUnreachable || p.Reason == "" || b != nil):
			t.Errorf("%+v", p)
		case p.FPSAsked == 1e12:
		case p.Status != PointStatusBoundsOnly || b == nil || b.Measure != "LUT" || b.Least <= 0 ||
			(b.Interval > 0) != (p.FPSAsked == 0) || (b.FPS > 0) != (p.FPSAsked == 0):
			t.Errorf("%+v: %+v", p, b)
		}
		if p.ID != "" || p.Interval != 0 || p.FPS != 0 || p.Latency != 0 || p.Resources != (dataflow.Resources{}) ||
			p.Proved || p.Chosen || p.Front != nil || p.Folding != nil {
			t.Errorf("a bound has a design: %+v", p)
		}
	}
	if fastest.ChosenPoint() != nil || !slices.Equal(fastest.Files, []string{"sweep.csv", "sweep.json", PageFileName}) {
		t.Errorf("chosen of bounds: %+v, files %v", fastest.ChosenPoint(), fastest.Files)
	}
	rows := spreadsheet(t, dir)
	for _, c := range []struct {
		column string
		filled bool
	}{{"id", false}, {"fps", false}, {"interval_clocks", false}, {"lut", false}, {"proved", false},
		{"fps_at_most", true}, {"interval_clocks_at_least", true}, {"measure_at_least", true}} {
		at := slices.Index(rows[0], c.column)
		for _, row := range rows[1:] {
			if at < 0 || (row[at] != "") != c.filled {
				t.Errorf("%s is %q", c.column, row)
				break
			}
		}
	}

	// The folder then takes designs; its bounds do not count as designs.
	o.Bound = false
	made := run(t, o)
	o.FPS = rates
	more := run(t, o)
	if made.Fresh != 8 || more.Fresh != 24 || made.ChosenPoint() == nil {
		t.Errorf("%d and %d designs were made", made.Fresh, more.Fresh)
	}
	for i, p := range slices.Concat(more.Points, made.Points) {
		b := bounds[i]
		switch {
		case b.Status == PointStatusUnreachable && p.Status != PointStatusUnreachable:
			t.Errorf("%+v, the bound says %s", p, b.Reason)
		case b.Status == PointStatusUnreachable:
		case p.Status != PointStatusFits || p.Interval < float64(b.Bounds.Interval) || b.Bounds.FPS > 0 &&
			p.FPS > b.Bounds.FPS:
			t.Errorf("%+v is beyond %+v", p, b.Bounds)
		case (p.FPSAsked > 0 || p.Interval == float64(b.Bounds.Interval)) && float64(p.Resources.LUT) < b.Bounds.Least:
			t.Errorf("%+v takes less than %+v", p, b.Bounds)
		}
	}
}

// TestGoals compares the designs for each goal of a sweep with the design without it.
func TestGoals(t *testing.T) {
	t.Parallel()
	tier.NotQuick(t)
	fastest := one(t, func(*Options) {})
	slow := one(t, func(o *Options) { o.Intervals = []float64{4096} })
	ids := map[string]string{fastest.ID: "the fastest"}
	if slow.Asked != 4096 || slow.Interval > 4096 || slow.Interval <= fastest.Interval ||
		slow.Resources.LUT >= fastest.Resources.LUT {
		t.Errorf("%+v; the fastest is %+v", slow, fastest)
	}
	ids[slow.ID] = "an interval"
	halfway := (fastest.Latency + slow.Latency) / 2
	// LUTs multiply the few bits of the example, so there are no DSP slices to save, unless LUTs are short.
	tight := func(o *Options) { o.Intervals, o.MaxUses = []float64{16}, []folding.MaxUseFractions{fewLUTs} }
	short := one(t, tight)
	ids[short.ID] = "few LUTs"
	for _, c := range []struct {
		name   string
		change func(*Options)
		better func(p *PointResult) bool // reports whether p is better than slow
	}{
		{"least bram", func(o *Options) { o.Intervals, o.Least = []float64{4096}, folding.ResourceMeasureBRAM },
			func(p *PointResult) bool { return p.Resources.BRAM < slow.Resources.BRAM }},
		{"least dsp", func(o *Options) { tight(o); o.Least = folding.ResourceMeasureDSP },
			func(p *PointResult) bool { return p.Resources.DSP > 0 && p.Resources.DSP < short.Resources.DSP }},
		{"latency", func(o *Options) { o.Latency = true }, func(p *PointResult) bool {
			return p.Latency < fastest.Latency &&
				p.Latency < slow.Latency
		}},
		{"max latency", func(o *Options) { o.MaxLatency = halfway }, func(p *PointResult) bool {
			return p.Latency <= halfway && p.Resources.LUT < fastest.Resources.LUT && !p.Proved
		}},
		{"io stream", func(o *Options) { o.Intervals, o.IO = []float64{4096}, dataflow.HostIOStream },
			func(p *PointResult) bool { return p.Resources.LUT < slow.Resources.LUT }},
		{"fifo of 4 words", func(o *Options) { o.FIFO = folding.FIFODepthPolicy{Words: 4} }, func(p *PointResult) bool {
			for _, f := range layers(t, p) {
				for _, words := range slices.Concat(f.In, f.Out) {
					if words != 4 {
						return false
					}
				}
			}
			return true
		}},
		{"fifo minimal", func(o *Options) { o.FIFO = folding.FIFODepthPolicy{Minimal: true} },
			func(p *PointResult) bool { return p.Interval >= fastest.Interval }},
	} {
		p := one(t, c.change)
		if !c.better(&p) {
			t.Errorf("%s: %+v", c.name, p)
		}
		if other := ids[p.ID]; other != "" && c.name != "fifo minimal" {
			t.Errorf("%s has the name of %s", c.name, other)
		}
		ids[p.ID] = c.name
	}
}

// TestAskedAgain checks that asking for the rate or the interval of any point of a front gives its design.
func TestAskedAgain(t *testing.T) {
	t.Parallel()
	tier.NotQuick(t)
	sweep := func(change func(*Options)) []PointResult {
		o := onPynq(t)
		o.Clocks = []float64{77}
		change(&o)
		return run(t, o).Points
	}
	front := sweep(func(o *Options) { o.FPS, o.Front = []float64{1000}, 6 })
	var fps []float64
	var clocks []float64
	for _, p := range front {
		fps, clocks = append(fps, p.FPS), append(clocks, p.Interval)
	}
	if len(front) != 6 {
		t.Errorf("%d points", len(front))
	}
	for name, again := range map[string][]PointResult{
		"rates":     sweep(func(o *Options) { o.FPS = fps }),
		"intervals": sweep(func(o *Options) { o.Intervals = clocks }),
	} {
		for i, p := range again {
			if p.ID != front[i].ID || p.FPS != front[i].FPS || p.Proved != front[i].Proved {
				t.Errorf("%s: asked for, %v clocks of %+v give %v", name, front[i].Interval, front[i].Resources, p)
			}
		}
	}
}

// TestProjects checks that the projects of a job array are the designs of the sweep, for all kinds of sweeps.
func TestProjects(t *testing.T) {
	t.Parallel()
	tier.NotQuick(t)
	for _, c := range []struct {
		name   string
		change func(*Options)
	}{
		{"rates and budgets", func(o *Options) {
			o.FPS, o.MaxUses = []float64{1e4}, []folding.MaxUseFractions{half,
				{LUT: 0.3, LUTRAM: 0.3, FF: 0.5, BRAM: 0.1, DSP: 1, Mean: 1}}
		}},
		{"the least DSP slices, in block RAM", func(o *Options) {
			o.Intervals, o.Least, o.Memories = []float64{4096}, folding.ResourceMeasureDSP,
				[]dataflow.Memory{dataflow.MemoryBRAM}
		}},
		{"latency", func(o *Options) { o.Latency = true }},
		{"FIFOs", func(o *Options) { o.FIFO, o.IO = folding.FIFODepthPolicy{Minimal: true}, dataflow.HostIOStream }},
		{"FINN's formulas", func(o *Options) { o.Formula = dataflow.FINNCostFormula }},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			o := onPynq(t)
			c.change(&o)
			r := run(t, o)
			projects(t, r, o)
			for _, p := range r.Points {
				var clocks struct {
					Latency  int     `json:"latency_clocks"`
					Interval float64 `json:"interval_clocks"`
				}
				var takes struct{ Total dataflow.Resources }
				dir := filepath.Join(r.Out, pointsFolder, p.ID)
				for name, to := range map[string]any{"report/cycle_simulation.json": &clocks,
					"report/resources.json": &takes} {
					decode(t, filepath.Join(dir, filepath.FromSlash(name)), to)
				}
				if clocks.Latency != p.Latency || clocks.Interval != p.Interval || takes.Total != p.Resources {
					t.Errorf("the project takes %+v and %+v, the sweep has %+v", clocks, takes.Total, p)
				}
			}
		})
	}
}

// TestClocks checks that the picture of the clocks marks the bottleneck of the design.
func TestClocks(t *testing.T) {
	t.Parallel()
	layers := []LayerClocksPerFrame{{"MVAU_0", 8}, {"MVAU_1", 2000}}
	for _, c := range []struct {
		interval   float64
		bottleneck string
		last       string // name of the last row, which has the longest bar
	}{
		{2000, "MVAU_1", "MVAU_1 2,000"},
		{3000, "host", "host 3,000"},
		{2000.5, "FIFOs", "FIFOs 2,000.5"},
	} {
		p := PointResult{Board: "b", ClockMHz: 100, Cycles: layers, Interval: c.interval, Bottleneck: c.bottleneck}
		rows := p.clocks("m").Rows
		if last := rows[len(rows)-1]; last.Name+" "+last.Text != c.last || last.Value != c.interval {
			t.Errorf("%v: %+v", c.interval, last)
		}
	}
}
