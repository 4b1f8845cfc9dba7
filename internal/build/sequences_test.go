package build

import (
	"encoding/json"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"hlsgen/frontend"
	"hlsgen/internal/diag"
	"hlsgen/internal/engines"
	"hlsgen/internal/options"
	"hlsgen/internal/outputdir"
	"hlsgen/internal/report"
	"hlsgen/internal/testsupport/rnntest"
	"hlsgen/internal/testsupport/samplefiles"
	"hlsgen/internal/testsupport/simtest"
	"hlsgen/internal/testsupport/tier"
)

// TestSequencesReport builds a network for sequences of different lengths. What reports say of the longest and the
// shortest is what the cycle engine shows of such data; the lengths stand in every file that they are looked for in.
func TestSequencesReport(t *testing.T) {
	t.Parallel()
	tier.NotQuick(t)
	n := rnntest.Echoing(t, 5, false)
	dir := t.TempDir()
	model := filepath.Join(dir, "model.onnx")
	if err := os.WriteFile(model, n.ONNX(), 0o644); err != nil {
		t.Fatal(err)
	}
	o := Options{Source: options.Source{Model: model,
		ModelInputs: options.ModelInputs{Lengths: &frontend.AxisLengthRange{Axis: "T",
			Min: 1, Max: 5}}}, Hardware: options.Hardware{Board: "zcu104"},
		Verification: options.Verification{Verify: 4,
			NoCSim: true},
		OutputFolder: options.OutputFolder{Out: filepath.Join(dir, "built")}}
	var d diag.List
	r, err := Run(t.Context(), o, &d)
	if err != nil || r == nil {
		t.Fatal(err, d.Diags)
	}
	text := func(name string) string {
		b, err := os.ReadFile(filepath.Join(o.Out, filepath.FromSlash(name)))
		if err != nil {
			t.Fatal(err)
		}
		return string(b)
	}
	var cycles struct {
		Interval  float64                    `json:"interval_clocks"`
		Latency   int                        `json:"latency_clocks"`
		Sequences report.SequenceRatesReport `json:"sequences"`
	}
	if err := json.Unmarshal([]byte(text("report/cycle_simulation.json")), &cycles); err != nil {
		t.Fatal(err)
	}
	s := cycles.Sequences
	if s.Longest.Interval != cycles.Interval || s.Longest.Latency != cycles.Latency || s.Longest.Steps != 5 ||
		s.Shortest.Steps != 1 || s.Axis != "T" {
		t.Errorf("%+v of a design with an interval of %v and a latency of %d", s, cycles.Interval, cycles.Latency)
	}
	for _, want := range []report.SequenceTimingReport{s.Longest, s.Shortest} {
		const samples = 24
		sim := simulationOf(o, engines.EngineCycle, samplefiles.Write(t, samplefiles.Noise(1, rnntest.StoredShape(n,
			samples,
			want.Steps)...)))
		sim.Folding = filepath.Join(o.Out, "final_hw_config.json")
		got, told := simtest.Run(t, sim)
		if got == nil {
			t.Fatal(told.Diags)
		}
		frames := got.Trace.Frames
		interval := float64(frames[samples-1].Last-frames[samples/2].Last) / float64(samples-1-samples/2)
		if interval != want.Interval || got.Trace.FirstFrameLatencyClocks() != want.Latency ||
			want.PerStep != math.Round(1e4*interval/float64(want.Steps))/1e4 {
			t.Errorf("data have an interval of %v and a latency of %d clocks, said was %+v", interval,
				got.Trace.FirstFrameLatencyClocks(), want)
		}
	}
	for name, wants := range map[string][]string{
		"README.md": {"--dim T=1..5", "1 to 5 steps", s.Longest.String(), s.Shortest.String(), "TLAST",
			"a sequence of 5 steps every"},
		outputdir.ManifestFileName: {`"dim": "T=1..5"`, `"steps": [`},
		"report/certificate.json":  {`"min_steps": 1`, `"max_steps": 5`, "a sequence of 1 to 5 steps (axis T)"},
		"report/report.html":       {"1 to 5 steps", s.Longest.String(), s.Shortest.String(), "T=1..5"},
	} {
		for _, want := range wants {
			if !strings.Contains(text(name), want) {
				t.Errorf("%s has no %q", name, want)
			}
		}
	}
	if fmt.Sprint(r.Verified.Steps) != "[1 3 4 5]" {
		t.Errorf("samples of %v steps", r.Verified.Steps)
	}
	again := o
	again.Folding, again.Out = filepath.Join(o.Out, "folding.json"), filepath.Join(dir, "again")
	same, err := Run(t.Context(), again, &d)
	if err != nil || same == nil || same.Design.Clocks.IntervalAndLatency != r.Design.Clocks.IntervalAndLatency {
		t.Errorf("made again: %v %v", err, d.Diags)
	}
}
