package build

import (
	"encoding/json"
	"fmt"
	"html"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"hlsgen/folding"
	"hlsgen/internal/examples"
	"hlsgen/internal/options"
	"hlsgen/internal/report"
	"hlsgen/internal/testsupport/samplefiles"
	"hlsgen/rtlsim"
)

// Every latency that a build reports has the clocks of the network's ends in it: it is what lies between the first FIFO
// and the last, as the record of a run has it, and the ends. Nothing else of the same design depends on them.
func TestEndsAreReported(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		board   string
		mhz     float64
		latency bool
		in, out int // an end is a stage that decides, a read and a write, in one stage or in two; an input has a slice
	}{
		{"pynq-z1", 100, false, 3, 2},
		{"pynq-z1", 120, false, 4, 3},
		{"zcu104", 200, true, 3, 2},
	} {
		t.Run(fmt.Sprint(c.board, c.mhz), func(t *testing.T) {
			t.Parallel()
			r := built(t, Options{Source: options.Source{Model: filepath.Join(samplefiles.Examples(t),
				examples.IrisName, "qcdq.onnx")},
				Hardware: options.Hardware{Board: c.board, ClockMHz: c.mhz}, Goal: options.Goal{Latency: c.latency},
				Verification: options.Verification{Verify: 1, NoCSim: true}})
			d := r.Design
			trace, err := rtlsim.RunFrames(t.Context(), d.Design, nil, rtlsim.Options{Frames: 1, Record: true})
			if err != nil {
				t.Fatal(err)
			}
			bare := 0
			for _, s := range d.Model.Graph.Out {
				bare = max(bare, slices.Max(trace.Record.Streams[s].Read)+1)
			}
			want := c.in + bare + c.out
			if ends := (folding.IOLatencyClocks{In: c.in, Out: c.out}); d.Clocks.Ends != ends ||
				d.Clocks.Latency != want {
				t.Errorf("%+v of %d clocks, want %+v of %d: between the FIFOs are %d", d.Clocks.Ends, d.Clocks.Latency,
					ends, want, bare)
			}
			if l := d.Certificate.Latency; c.latency && (l == nil || l.Clocks != want || l.Least != want) {
				t.Errorf("the certificate says %+v, want %d clocks, which is the least", l, want)
			}
			var cycle report.CycleSimulationReport
			var perf report.FINNPerformanceReport
			for path, into := range map[string]any{"cycle_simulation": &cycle, "estimate_network_performance": &perf} {
				if err := json.Unmarshal(readReport(t, r, "report/"+path+".json"), into); err != nil {
					t.Fatal(err)
				}
			}
			if cycle.Latency != want || cycle.At != d.Clocks.Ends || cycle.Series.First != want ||
				perf.Simulated != want {
				t.Errorf("%d, %+v, %d and %d in the reports, want %d", cycle.Latency, cycle.At, cycle.Series.First,
					perf.Simulated, want)
			}
			page := html.UnescapeString(string(readReport(t, r, "report/report.html")))
			for _, text := range []string{fmt.Sprintf("%d clocks, simulated", want), d.Clocks.Ends.String(),
				fmt.Sprintf("%d for the first", want)} {
				if !strings.Contains(page, text) {
					t.Errorf("the page has no %q", text)
				}
			}
		})
	}
}
