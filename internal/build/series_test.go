package build

import (
	"encoding/json"
	"html"
	"math/big"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"strings"
	"testing"

	"hlsgen/internal/dataflow"
	"hlsgen/internal/examples"
	"hlsgen/internal/options"
	"hlsgen/internal/report"
	"hlsgen/internal/testsupport/samplefiles"
	"hlsgen/internal/testsupport/synthtest"
	"hlsgen/internal/testsupport/tier"
	"hlsgen/rtlsim"
	"hlsgen/templates"
)

// FINN's build custom_2 of TFC-W1A1: what hardware does over many frames stands in the report, in numbers and words,
// and is what the simulator shows of as many. A sister build of FINN's takes 20 clocks a frame where the formula has
// 14: its kernels are loops over a frame (docs/clock.md).
func TestSeriesOfFINNBuild(t *testing.T) {
	t.Parallel()
	shared := tier.NeedsShared(t)
	r, _ := told(t, Options{Source: options.Source{Model: filepath.Join(shared, "models", "zoo", "labs_tfc_w1a1",
		"model.onnx"), ModelInputs: options.ModelInputs{InputType: byteInput(big.NewRat(1, 1))}},
		Hardware: options.Hardware{Board: "pynq-z1", IO: dataflow.HostIOStream},
		Goal: options.Goal{Folding: filepath.Join(shared,
			"reference/finn_builds/tfc_w1a1_custom_2/final_hw_config.json")},
		Verification: options.Verification{NoCSim: true,
			Verify: 1}})
	s := r.Design.Series
	trace, err := rtlsim.RunFrames(t.Context(), r.Design.Design, nil, rtlsim.Options{Frames: s.Frames})
	if err != nil || trace.ClocksFromFirstInputUntil(trace.Frames[s.Frames-1].Last) != s.Clocks || s.Frames != 1000 {
		t.Errorf("%+v, simulated %+v, %v", s, trace.Frames[s.Frames-1], err)
	}
	if s.Each != 14 || s.Works != 14 || s.Waits != 0 || s.Slowest != "MVAU_0" || s.AsLoops < 20 || s.AsLoops > 22 {
		t.Errorf("%+v: FINN's formula has 14 clocks a frame, its loop of a frame 20", s)
	}
	var said report.CycleSimulationReport
	if err := json.Unmarshal(readReport(t, r, "report/cycle_simulation.json"), &said); err != nil {
		t.Fatal(err)
	}
	if want := report.NewFrameSeriesReport(r.Design); !reflect.DeepEqual(said.Series.Text, want.Text) ||
		said.Series.Clocks != s.Clocks {
		t.Errorf("%+v, want %+v", said.Series, want)
	}
	page := string(readReport(t, r, "report/report.html"))
	doc, err := os.ReadFile("../../docs/clock.md")
	if err != nil || !strings.Contains(string(doc), "\n"+strings.Join(s.DescribeInLines(), "\n")+"\n```\n") {
		t.Errorf("docs/clock.md, %v, has another text than\n%s", err, strings.Join(s.DescribeInLines(), "\n"))
	}
	for _, line := range s.DescribeInLines() {
		if !strings.Contains(page, html.EscapeString(line)) {
			t.Errorf("the page has no %q", line)
		}
	}
}

// A design that takes a frame in every clock has no loop in any process, whose pipeline pragma a loop of one trip would
// lose: each is a function that the tool pipelines.
func TestIntervalOfOne(t *testing.T) {
	t.Parallel()
	r := built(t, Options{Source: options.Source{Model: filepath.Join(samplefiles.Examples(t),
		examples.IrisName, "qcdq.onnx")}, Hardware: options.Hardware{Board: "zcu104", IO: dataflow.HostIOStream},
		Verification: options.Verification{Verify: 1, NoCSim: true}})
	if s := r.Design.Series; s.Each != 1 || s.AsLoops < 4 {
		t.Fatalf("%+v, want a frame in every clock", s)
	}
	files, err := templates.GenerateHLSProject(r.Design.Design, templates.TestVectors{}, templates.Options{})
	if err != nil {
		t.Fatal(err)
	}
	promises := synthtest.Promises(files)
	const pragma = "#pragma HLS PIPELINE II=1 style=flp"
	for name, trips := range promises {
		body := regexp.MustCompile(`(?ms)^void ` + name + `\(.*?^}`).FindString(
			string(files.ContentsOf("hls/layers/" + name + ".cpp")))
		if len(trips) > 0 || strings.Count(body, pragma) != 1 {
			t.Errorf("%s keeps loops of %v trips:\n%s", name, trips, body)
		}
	}
	if len(promises) < len(r.Design.Model.Graph.Nodes) {
		t.Errorf("%d processes of %d layers", len(promises), len(r.Design.Model.Graph.Nodes))
	}
	synthtest.Check(t, files, promises)
}
