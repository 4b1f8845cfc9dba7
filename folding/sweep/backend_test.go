package sweep

import (
	"context"
	"path/filepath"
	"testing"

	"hlsgen/internal/compiler"
	"hlsgen/internal/diag"
)

// TestBackends holds that a point is what a build makes with the same back end, and that neither back end's design is
// taken for the other's.
func TestBackends(t *testing.T) {
	t.Parallel()
	o := onPynq(t)
	o.FPS = []float64{1e4}
	ids := map[string]compiler.Backend{}
	for _, backend := range []compiler.Backend{compiler.BackendHLS, compiler.BackendRTL} {
		o.Backend = backend
		p := run(t, o).Points[0]
		if other, seen := ids[p.ID]; seen || p.Status != Fits {
			t.Errorf("%s: %s is %q, and of %q", backend, p.ID, p.Status, other)
		}
		ids[p.ID] = backend
		one := o.importing(1)
		one.Board, one.FPS, one.NoCSim, one.Verify = o.Boards[0], o.FPS[0], true, 0
		one.Out = filepath.Join(t.TempDir(), "build")
		var d diag.List
		r, err := compiler.Run(context.Background(), one, &d)
		if err != nil || r == nil {
			t.Fatal(err, d.Diags)
		}
		latency, interval, takes := r.Design.Clocks.Latency, r.Design.Clocks.Interval, r.Design.Estimate.Total
		if p.Latency != latency || p.Interval != interval || p.Resources != takes {
			t.Errorf("%s: the sweep has %d, %v, %+v, a build %d, %v, %+v", backend, p.Latency, p.Interval, p.Resources,
				latency, interval, takes)
		}
	}
}

// TestBackendUnfit refuses HLS where no Vitis HLS knows the device, and its synthesis where no HLS is made.
func TestBackendUnfit(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		board      string
		backend    compiler.Backend
		synthesise bool
		refused    bool
	}{
		{"icebreaker", "", false, false},
		{"icebreaker", compiler.BackendHLS, false, true},
		{"icebreaker", "", true, true},
		{"pynq-z1", compiler.BackendRTL, false, false},
		{"pynq-z1", compiler.BackendRTL, true, true},
		{"pynq-z1", compiler.BackendBoth, true, false},
	} {
		var d diag.List
		o := Options{Options: compiler.Options{Backend: c.backend}, Boards: []string{c.board}, Synthesise: c.synthesise}
		if specs := o.plan(&d); d.Failed() != c.refused || (len(specs) == 0) != c.refused {
			t.Errorf("%+v: %d searches, %v", c, len(specs), d.Diags)
		}
	}
}
