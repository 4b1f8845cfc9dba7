package sweep

import (
	"errors"
	"os"
	"path/filepath"
	"testing"

	"hlsgen/internal/diag"
)

// profile returns a csynth.xml.
func profile(resources, interval string) string {
	return `<?xml version="1.0"?><profile><PerformanceEstimates><SummaryOfTimingAnalysis>
<EstimatedClockPeriod>3.5</EstimatedClockPeriod></SummaryOfTimingAnalysis><SummaryOfOverallLatency>
<Worst-caseLatency>120</Worst-caseLatency><Interval-max>` + interval + `</Interval-max>
</SummaryOfOverallLatency></PerformanceEstimates><AreaEstimates><Resources>` + resources + `</Resources>
<AvailableResources><LUT>99</LUT><FF>99</FF></AvailableResources></AreaEstimates></profile>`
}

// TestCollect checks folders that differ from what a job array leaves.
func TestCollect(t *testing.T) {
	t.Parallel()
	sheet := `{"model":"m","points":[{"id":"0123abcd","status":"fits","fps":5,"interval_clocks":8,"clock_mhz":100,"clock_reached_mhz":100,"clocks":[{"layer":"MVAU_0","clocks":8}]},{"id":"../..","status":"fits","interval_clocks":8}]}`
	good := profile("<LUT>60</LUT><FF>50</FF>", "64")
	for _, c := range []struct {
		name  string
		files map[string]string
		code  diag.Code // code of the first diagnostic; empty for none
		found bool
	}{
		{"no folder", nil, diag.FileUnreadable, false},
		{"no JSON", map[string]string{"sweep.json": "{"}, diag.FileUnreadable, false},
		{"no points", map[string]string{"sweep.json": "{}"}, diag.FileUnreadable, false},
		{"no reports", map[string]string{"sweep.json": sheet}, diag.FileUnreadable, false},
		{"one", map[string]string{"sweep.json": sheet, "points/0123abcd/hls/top/solution1/syn/report/csynth.xml": good},
			"", true},
		{"one, and one that is torn", map[string]string{"sweep.json": sheet, "points/0123abcd/csynth.xml": good,
			"points/0123abcd/utilization.rpt": "Utilization Design Information\n| CLB"}, diag.FileUnreadable, true},
		{"one, and other reports", map[string]string{"sweep.json": sheet, "points/0123abcd/csynth.xml": good,
			"points/0123abcd/drc.rpt": "Report DRC"}, "", true},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			for name, text := range c.files {
				path := filepath.Join(dir, filepath.FromSlash(name))
				if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
					t.Fatal(err)
				}
				if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
					t.Fatal(err)
				}
			}
			var d diag.List
			if sheet, ok := c.files["sweep.json"]; ok { // the sweep.json of a sweep
				err := errors.Join(os.Remove(filepath.Join(dir, "sweep.json")),
					(&SweepReport{Out: dir}).put([]file{{"sweep.json", []byte(sheet)}}, &d))
				if err != nil {
					t.Fatal(err)
				}
			}
			r, err := CollectToolReports(dir, &d)
			if err != nil || (r != nil) != c.found || len(d.Diags) > 0 != (c.code != "") {
				t.Fatal(err, r, d.Diags)
			}
			if c.code != "" && d.Diags[0].Code != c.code {
				t.Errorf("%v", d.Diags)
			}
			if c.found && (r.Collected != 1 || r.Points[0].Report.HLS.Resources.LUT != 60 ||
				r.Points[1].Report != nil) {
				t.Errorf("%+v", r.Points)
			}
		})
	}
}
