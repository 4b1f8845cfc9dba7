package build

import (
	"bytes"
	"encoding/json"
	"encoding/xml"
	"io"
	"os"
	"path/filepath"
	"testing"

	"hlsgen/folding"
	"hlsgen/internal/engines"
	"hlsgen/internal/examples"
	"hlsgen/internal/options"
	"hlsgen/internal/report"
	"hlsgen/internal/simulate"
	"hlsgen/internal/testsupport/samplefiles"
	"hlsgen/internal/testsupport/simtest"
)

// Each policy for FIFOs builds; sized ones keep the interval of the slowest layer, and the report says what was found.
func TestFIFOs(t *testing.T) {
	t.Parallel()
	model := filepath.Join(samplefiles.Examples(t), examples.IrisName, "qcdq.onnx")
	for _, f := range []folding.FIFODepthPolicy{{}, {Minimal: true}, {Words: 5}} {
		r := built(t, Options{Source: options.Source{Model: model}, Hardware: options.Hardware{Board: "pynq-z1"},
			Goal:         options.Goal{FIFO: f},
			Verification: options.Verification{Verify: 1, NoCSim: true}})
		var said report.CycleSimulationReport
		b := readReport(t, r, "report/cycle_simulation.json")
		if err := json.Unmarshal(b, &said); err != nil {
			t.Fatal(err)
		}
		c := r.Design.Clocks
		if said.Latency != c.Latency || said.Interval != c.Interval || said.Throughput != r.Design.SamplesPerSecond() ||
			!said.Deadlock.Free || said.Deadlock.Frames != 1 || said.Bottleneck.Reason == "" ||
			len(said.FIFOs) != len(r.Design.FIFO) {
			t.Errorf("%v: %s", f, b)
		}
		if f == (folding.FIFODepthPolicy{}) && c.Interval != float64(c.Slowest) {
			t.Errorf("interval %v, the slowest layer's is %d", c.Interval, c.Slowest)
		}
		for i, got := range said.FIFOs {
			if f.Words > 0 && got.Depth != f.Words || got.Depth != r.Design.FIFO[i].Depth || got.Depth < got.Used {
				t.Errorf("%v: %+v", f, got)
			}
		}
		want := map[folding.FIFODepthPolicy]string{{Minimal: true}: "minimal", {Words: 5}: "5"}[f]
		if given := (Options{Goal: options.Goal{FIFO: f}}).given()["fifo"]; given != want {
			t.Errorf("%v is %q in the manifest", f, given)
		}
	}
}

func TestDraw(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(samplefiles.Examples(t), examples.IrisName)
	o := simulate.Options{Source: options.Source{Model: filepath.Join(dir, "qcdq.onnx"),
		SampleFiles: options.SampleFiles{Data: filepath.Join(dir, "inputs.npy")}}, Engine: engines.EngineCycle,
		OutputFileOptions: simulate.OutputFileOptions{VCD: filepath.Join(t.TempDir(), "run.vcd"),
			Timeline: filepath.Join(t.TempDir(),
				"run.svg")}}
	simtest.RunClean(t, o)
	vcd, err := os.ReadFile(o.VCD)
	if err != nil || !bytes.HasPrefix(vcd, []byte("$timescale 1 ps $end\n")) ||
		!bytes.Contains(vcd, []byte("$scope module MVAU_0 $end")) {
		t.Errorf("%v: %.200s", err, vcd)
	}
	svg, err := os.Open(o.Timeline)
	if err != nil {
		t.Fatal(err)
	}
	defer svg.Close()
	for dec := xml.NewDecoder(svg); ; {
		if _, err := dec.Token(); err == io.EOF {
			break
		} else if err != nil {
			t.Fatal(err)
		}
	}
}
