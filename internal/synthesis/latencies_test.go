package synthesis_test

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"hlsgen/hlslib/price/delay"
	"hlsgen/internal/diag"
	"hlsgen/internal/synthesis"
)

// xmlReport is a csynth.xml with a loop, as Vitis HLS 2022.2 writes it, and a pipelined function.
const xmlReport = `<profile>
<ReportVersion><Version>2022.2</Version></ReportVersion>
<UserAssignments><ProductFamily>FAMILY</ProductFamily><Part>xc-1</Part><TopModelName>top</TopModelName>
<TargetClockPeriod>5.00</TargetClockPeriod><ClockUncertainty>0.50</ClockUncertainty></UserAssignments>
<ModuleInformation>
<Module><Name>MVAU_0_Pipeline_VITIS_LOOP_1</Name><PerformanceEstimates>
<SummaryOfOverallLatency><Worst-caseLatency>120</Worst-caseLatency>
<PipelineType>no</PipelineType></SummaryOfOverallLatency>
<SummaryOfLoopLatency><VITIS_LOOP_1><Name>VITIS_LOOP_1</Name><TripCount>100</TripCount><PipelineII>1</PipelineII>
<PipelineDepth>9</PipelineDepth><PipelineType>yes(flp)</PipelineType></VITIS_LOOP_1></SummaryOfLoopLatency>
</PerformanceEstimates></Module>
<Module><Name>Thresholding_0</Name><PerformanceEstimates><SummaryOfOverallLatency>
<Worst-caseLatency>2</Worst-caseLatency><PipelineInitiationInterval>1</PipelineInitiationInterval>
<PipelineType>yes</PipelineType></SummaryOfOverallLatency></PerformanceEstimates></Module>
</ModuleInformation></profile>`

// folderOf writes files, given by name, into a folder.
func folderOf(t *testing.T, files map[string]string) string {
	t.Helper()
	dir := t.TempDir()
	for name, text := range files {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// TestCalibrateDelays checks the delays of operations read from a schedule: of operations that chains have, alone
// in one state.
func TestCalibrateDelays(t *testing.T) {
	t.Parallel()
	var d diag.List
	c, err := synthesis.CalibrateDelays("testdata/reports", &d)
	if err != nil || d.HasErrors() {
		t.Fatal(err, d.WithStrictApplied())
	}
	var want []delay.ReportedDelay
	for _, r := range []struct {
		op   delay.PipelineOp
		bits int
		ns   float64
	}{{delay.OpAdd, 2, 1.56}, {delay.OpAdd, 18, 2.13}, {delay.OpCompare, 18, 2.43}, {delay.OpLogicGate, 1, 0.97},
		{delay.OpMultiplyInLUTs, 11, 4.17}, {delay.OpStreamRead, 1, 3.63}, {delay.OpSelect, 32, 0.69}} {
		want = append(want, delay.ReportedDelay{Op: r.op.String(), Bits: r.bits, NS: r.ns, Reports: 1})
	}
	if !slices.Equal(c.Delays, want) {
		t.Errorf("%+v, want %+v", c.Delays, want)
	}
	if c.Family != delay.FamilySeries7 || c.Part != "xc7z020-clg400-1" || c.Tool != "2022.2" || c.Uncertainty != 0.27 ||
		c.Stages != 1 {
		t.Errorf("%+v", c)
	}
	if want := []delay.ReportedPipelineDepth{{Name: "Matrix_Vector_Activate_Stream_Batch", Depth: 8,
		Interval: 1}}; !slices.Equal(
		c.Processes, want) {
		t.Errorf("%+v, want %+v", c.Processes, want)
	}
	if at := delay.NewStageDelayModel(delay.FamilySeries7, 100, c, delay.DelayRangeMax); at.OpDelayNS(delay.OpAdd,
		10) != (1.56+2.13)/2 {
		t.Errorf("an adder of 10 bits takes %v ns", at.OpDelayNS(delay.OpAdd, 10))
	}
}

// TestCalibrateDepths compares calibrated depths with the depths that builds expect.
func TestCalibrateDepths(t *testing.T) {
	t.Parallel()
	var d diag.List
	c, err := synthesis.CalibrateDelays(folderOf(t, map[string]string{
		"hls/proj/csynth.xml": strings.Replace(xmlReport, "FAMILY", "zynquplus", 1),
		"report/layers.json": `[{"name":"MVAU_0","pipeline_latency_clocks":6},
			{"name":"Thresholding_0","pipeline_latency_clocks":9,"table_latency_clocks":2}]`,
		"hls/other.rpt": "nothing of HLS",
	}), &d)
	if err != nil || d.HasErrors() {
		t.Fatal(err, d.WithStrictApplied())
	}
	want := []delay.ReportedPipelineDepth{{Name: "MVAU_0", Depth: 9, Interval: 1, Ours: 6},
		{Name: "Thresholding_0", Depth: 3, Interval: 1, Ours: 2}}
	if !slices.Equal(c.Processes, want) || c.Stages != 1.5 || c.Uncertainty != 0.1 ||
		c.Family != delay.FamilyUltraScale {
		t.Errorf("%+v", c)
	}
	p := delay.NewStageDelayModel(delay.FamilyUltraScale, 100, c, delay.DelayRangeExpected).NewCursor()
	for p.BeginNextStage(); p.LatencyClocks() != 3; {
		t.Fatalf("two stages are %d clocks", p.LatencyClocks())
	}
}

// TestCalibrateVersions checks that versions of tools whose reports have another form are named, and that what can be
// read of them is.
func TestCalibrateVersions(t *testing.T) {
	t.Parallel()
	text := "================================================================\n== Vivado HLS Report for 'MVAU_0'\n" +
		"================================================================\n" +
		"* Date:           Fri Mar  6 2020\n\n* Version:        VERSION (Build 2552052)\n* Project:        p\n" +
		"* Product family: zynq\n* Target device:  xc7z020-clg400-1\n"
	of := func(version string) string { return strings.Replace(text, "VERSION", version, 1) }
	files := map[string]string{
		"a/csynth.xml":               strings.Replace(xmlReport, "FAMILY", "zynq", 1),
		"a/MVAU_0_csynth.rpt":        of("2019.1"),
		"a/MVAU_0.verbose.sched.rpt": of("2019.1"),
		"b/MVAU_0_csynth.rpt":        of("2018.2"),
		"c/csynth.xml":               "<profile><ReportVersion><Version>2031.1</Version></ReportVersion></profile>",
	}
	var d diag.List
	c, err := synthesis.CalibrateDelays(folderOf(t, files), &d)
	if err != nil || c == nil || len(c.Processes) != 2 {
		t.Fatal(c, err, d.Diags)
	}
	var said []string
	for _, w := range d.Diags {
		said = append(said, w.Msg)
	}
	want := []string{"csynth.xml of version 2031.1: 1 of another form, which is not read",
		"schedules and text of Vivado HLS 2018.2: 1 of another form, which is not read",
		"schedules and text of Vivado HLS 2019.1: 2 of another form, which is not read"}
	if !slices.Equal(said, want) {
		t.Errorf("got %q, want %q", said, want)
	}
}

func TestCalibrateRefuses(t *testing.T) {
	t.Parallel()
	of := func(family string) string { return strings.Replace(xmlReport, "FAMILY", family, 1) }
	for _, tt := range []struct {
		name  string
		files map[string]string
		want  string
	}{
		{"nothing", nil, "no report of HLS"},
		{"a family", map[string]string{"csynth.xml": of("stratix")}, "unknown family"},
		{"two parts", map[string]string{"a/csynth.xml": of("zynq"), "b/csynth.xml": of("versal")}, "reports of"},
		{"no XML", map[string]string{"csynth.xml": "<profile"}, "no report of HLS"},
		{"no process", map[string]string{"csynth.xml": "<profile><UserAssignments><ProductFamily>zynq</ProductFamily>" +
			"</UserAssignments></profile>"}, "neither delays nor processes"},
	} {
		var d diag.List
		if c, err := synthesis.CalibrateDelays(folderOf(t, tt.files), &d); c != nil || err != nil || !d.HasErrors() {
			t.Errorf("%s: %+v, %v", tt.name, c, err)
			continue
		}
		if text := d.WithStrictApplied()[len(d.WithStrictApplied())-1].Msg; !strings.Contains(text, tt.want) {
			t.Errorf("%s: %q, want %q", tt.name, text, tt.want)
		}
	}
}
