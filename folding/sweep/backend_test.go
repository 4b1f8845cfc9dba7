package sweep

import (
	"context"
	"path/filepath"
	"reflect"
	"testing"

	"hlsgen/internal/build"
	"hlsgen/internal/diag"
	"hlsgen/internal/options"
	"hlsgen/internal/testsupport/tier"
)

// TestBackends checks that a point is the design of a build with the same back end and accumulators. It also checks
// that designs of different back ends are kept apart.
func TestBackends(t *testing.T) {
	t.Parallel()
	tier.NotQuick(t)
	o := onPynq(t)
	o.FPS = []float64{3e6}
	type made struct {
		backend  options.Backend
		accPerPE bool
	}
	ids := map[string]made{}
	lut := map[made]int{}
	for _, m := range []made{{options.BackendHLS, false}, {options.BackendRTL, false}, {options.BackendHLS, true},
		{options.BackendRTL, true}} {
		if m.backend == options.BackendRTL && tier.Quick() {
			continue
		}
		o.Backend, o.AccPerPE = m.backend, m.accPerPE
		p := run(t, o).Points[0]
		if other, seen := ids[p.ID]; seen || p.Status != PointStatusFits {
			t.Errorf("%v: %s is %q, and of %v", m, p.ID, p.Status, other)
		}
		ids[p.ID], lut[m] = m, p.Resources.LUT
		one := o.importing(1)
		one.Board, one.FPS, one.NoCSim, one.Verify = o.Boards[0], o.FPS[0], true, 0
		one.Out = filepath.Join(t.TempDir(), "build")
		var d diag.List
		r, err := build.Run(context.Background(), one, &d)
		if err != nil || r == nil {
			t.Fatal(err, d.Diags)
		}
		latency, interval, takes := r.Design.Clocks.Latency, r.Design.Clocks.Interval, r.Design.Estimate.Total
		if p.Latency != latency || p.Interval != interval || p.Resources != takes {
			t.Errorf("%v: the sweep has %d, %v, %+v, a build %d, %v, %+v", m, p.Latency, p.Interval, p.Resources,
				latency, interval, takes)
		}
	}
	for m, n := range lut {
		if m.accPerPE && n >= lut[made{m.backend, false}] {
			t.Errorf("%s: %d LUT with accumulators for each PE, %d without", m.backend, n, lut[made{m.backend, false}])
		}
	}
}

// TestBackendSpec checks that an omitted back end, and C++ written beside SystemVerilog, do not change a search: both
// use the same entries of the journal.
func TestBackendSpec(t *testing.T) {
	t.Parallel()
	of := func(board string, backend options.Backend) spec {
		var d diag.List
		o := Options{Hardware: options.Hardware{Backend: backend}, Boards: []string{board}}
		specs := o.plan(&d)
		if len(specs) != 1 {
			t.Fatal(board, backend, specs, d.Diags)
		}
		return specs[0]
	}
	for _, c := range []struct {
		board string
		a, b  options.Backend
		equal bool
	}{
		{"pynq-z1", "", options.BackendHLS, true},
		{"pynq-z1", options.BackendRTL, options.BackendBoth, false}, // with both back ends, the limits of HLS apply
		{"pynq-z1", options.BackendHLS, options.BackendRTL, false},
		{"icebreaker", "", options.BackendRTL, true},
	} {
		a, b := of(c.board, c.a), of(c.board, c.b)
		if a, b := (&PointResult{}).identify(a, ""), (&PointResult{}).identify(b, ""); (a == b) != c.equal {
			t.Errorf("%+v: points are %s and %s", c, a, b)
		}
		if reflect.DeepEqual(a, b) != c.equal {
			t.Errorf("%+v: searches are\n%+v\n%+v", c, a, b)
		}
	}
}

// TestBlockName checks that points are shown with their devices' own name of block RAM.
func TestBlockName(t *testing.T) {
	t.Parallel()
	var all []PointResult
	for _, c := range []struct{ board, one, all string }{
		{"icebreaker", "EBR", "EBR"}, {"ulx3s", "EBR", "EBR"}, {"u250", "RAMB18", "EBR or RAMB18"},
		{"pynq-z1", "RAMB18", "EBR or RAMB18"},
	} {
		var d diag.List
		o := Options{Boards: []string{c.board}}
		p := o.plan(&d)[0].blank()
		p.Front = []string{"LUT", blocks}
		all = append(all, p)
		one, best := BlockRAMNameOfPoints([]PointResult{p}), p.FrontResourceNames()
		if one != c.one || best != "LUT "+c.one || BlockRAMNameOfPoints(all) != c.all || kinds[2].on(all) != c.all {
			t.Errorf("%s: %q, best in %q; with those before, %q", c.board, one, best, BlockRAMNameOfPoints(all))
		}
	}
	if got := kinds[0].on(all); got != "LUT" {
		t.Error(got)
	}
}

// TestBackendUnfit checks that HLS is refused for devices without Vitis HLS, and HLS synthesis without an HLS project.
func TestBackendUnfit(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		board      string
		backend    options.Backend
		synthesise bool
		refused    bool
	}{
		{"icebreaker", "", false, false},
		{"icebreaker", options.BackendHLS, false, true},
		{"icebreaker", "", true, true},
		{"pynq-z1", options.BackendRTL, false, false},
		{"pynq-z1", options.BackendRTL, true, true},
		{"pynq-z1", options.BackendBoth, true, false},
	} {
		var d diag.List
		o := Options{Hardware: options.Hardware{Backend: c.backend}, Boards: []string{c.board},
			Synthesise: c.synthesise}
		if specs := o.plan(&d); d.HasErrors() != c.refused || (len(specs) == 0) != c.refused {
			t.Errorf("%+v: %d searches, %v", c, len(specs), d.Diags)
		}
	}
}
