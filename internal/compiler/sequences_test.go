package compiler

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"hlsgen/frontend"
	"hlsgen/internal/diag"
	"hlsgen/internal/outputdir"
	"hlsgen/internal/testsupport/rnntest"
)

// echoing draws a network that gives a vector for every step of one input sequence of 1 to so many steps.
func echoing(t *testing.T, steps int, forwards bool) *rnntest.Network {
	t.Helper()
	for seed := range uint64(1000) {
		n := rnntest.Draw(rnntest.Seeded(seed), rnntest.Axes{})
		turned := slices.ContainsFunc(n.Layers, func(l *rnntest.Layer) bool { return slices.Contains(l.Reverse, true) })
		sequence := slices.ContainsFunc(n.Outputs, func(o rnntest.Output) bool { return o.Of == "sequence" })
		if n.Front == nil && len(n.Inputs) == 1 && sequence && !(forwards && turned) {
			n.Lengths, n.Steps = true, steps
			return n
		}
	}
	t.Fatal("none is drawn")
	return nil
}

// stored is the shape of a number of samples of so many steps each.
func stored(n *rnntest.Network, samples, steps int) []int {
	switch f := n.Inputs[0].Features; n.Form {
	case "samples first":
		return []int{samples, 1, steps, f}
	case "flat":
		return []int{samples, steps, f}
	default:
		return []int{samples, steps, 1, f}
	}
}

// TestSequencesReport builds a network for sequences of different lengths. What reports say of the longest and the
// shortest is what the cycle engine shows of such data; the lengths stand in every file that they are looked for in.
func TestSequencesReport(t *testing.T) {
	t.Parallel()
	n := echoing(t, 5, false)
	dir := t.TempDir()
	model := filepath.Join(dir, "model.onnx")
	if err := os.WriteFile(model, n.ONNX(), 0o644); err != nil {
		t.Fatal(err)
	}
	o := Options{Source: Source{Model: model, ModelInputs: ModelInputs{Lengths: &frontend.AxisLengths{Axis: "T",
		Min: 1, Max: 5}}}, Hardware: Hardware{Board: "zcu104"}, Verification: Verification{Verify: 4, NoCSim: true},
		OutputFolder: OutputFolder{Out: filepath.Join(dir, "built")}}
	var d diag.List
	r, err := Build(t.Context(), o, &d)
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
		Interval  float64         `json:"interval_clocks"`
		Latency   int             `json:"latency_clocks"`
		Sequences SequencesReport `json:"sequences"`
	}
	if err := json.Unmarshal([]byte(text("report/cycle_simulation.json")), &cycles); err != nil {
		t.Fatal(err)
	}
	s := cycles.Sequences
	if s.Longest.Interval != cycles.Interval || s.Longest.Latency != cycles.Latency || s.Longest.Steps != 5 ||
		s.Shortest.Steps != 1 || s.Axis != "T" {
		t.Errorf("%+v of a design with an interval of %v and a latency of %d", s, cycles.Interval, cycles.Latency)
	}
	for _, want := range []SequenceTimingReport{s.Longest, s.Shortest} {
		const samples = 24
		sim := simulationOf(o, EngineCycle, data(t, noise(1, stored(n, samples, want.Steps)...)))
		sim.Folding = filepath.Join(o.Out, "final_hw_config.json")
		got, told := asked(t, sim)
		if got == nil {
			t.Fatal(told.Diags)
		}
		frames := got.Trace.Frames
		interval := float64(frames[samples-1].Last-frames[samples/2].Last) / float64(samples-1-samples/2)
		if interval != want.Interval || got.Trace.Latency() != want.Latency ||
			want.PerStep != rounded(interval/float64(want.Steps)) {
			t.Errorf("data have an interval of %v and a latency of %d clocks, said was %+v", interval,
				got.Trace.Latency(), want)
		}
	}
	for name, wants := range map[string][]string{
		"README.md": {"--dim T=1..5", "1 to 5 steps", s.Longest.String(), s.Shortest.String(), "TLAST",
			"a sequence of 5 steps every"},
		outputdir.ManifestName:    {`"dim": "T=1..5"`, `"steps": [`},
		"report/certificate.json": {`"min_steps": 1`, `"max_steps": 5`, "a sequence of 1 to 5 steps (axis T)"},
		"report/report.html":      {"1 to 5 steps", s.Longest.String(), s.Shortest.String(), "T=1..5"},
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
	same, err := Build(t.Context(), again, &d)
	if err != nil || same == nil || same.Design.Clocks.FramePace != r.Design.Clocks.FramePace {
		t.Errorf("made again: %v %v", err, d.Diags)
	}
}

// TestListed writes numbers.
func TestListed(t *testing.T) {
	t.Parallel()
	for want, numbers := range map[string][]int{"": nil, "1": {1}, "1 and 4": {1, 4}, "1, 4 and 8": {1, 4, 8}} {
		if got := JoinNumbers(numbers); got != want {
			t.Errorf("%v: %q, want %q", numbers, got, want)
		}
	}
}
