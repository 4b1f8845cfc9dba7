package synthesis

import (
	"reflect"
	"strings"
	"testing"

	"hlsgen/internal/dataflow"
)

// profile returns a csynth.xml with some resources and an interval.
func profile(resources, interval string) string {
	return `<?xml version="1.0"?><profile><PerformanceEstimates><SummaryOfTimingAnalysis>
<EstimatedClockPeriod>3.5</EstimatedClockPeriod></SummaryOfTimingAnalysis><SummaryOfOverallLatency>
<Worst-caseLatency>120</Worst-caseLatency><Interval-max>` + interval + `</Interval-max>
</SummaryOfOverallLatency></PerformanceEstimates><AreaEstimates><Resources>` + resources + `</Resources>
<AvailableResources><LUT>99</LUT><FF>99</FF></AvailableResources></AreaEstimates></profile>`
}

func TestCSynth(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name, text string
		want       VendorReport
		err        string // must be in the error
	}{
		{"Vitis HLS", profile("<BRAM_18K>3</BRAM_18K><DSP>4</DSP><FF>50</FF><LUT>60</LUT><URAM>1</URAM>", "64"),
			VendorReport{HLS: &ResourcesAndPeriod{dataflow.Resources{LUT: 60, FF: 50, BRAM: 3, URAM: 1, DSP: 4}, 3.5},
				Interval: 64,
				Latency:  120}, ""},
		{"Vivado HLS 2019, no URAM", profile("<BRAM_18K>3</BRAM_18K><DSP48E>4</DSP48E><FF>50</FF><LUT>60</LUT>",
			"undef"), VendorReport{HLS: &ResourcesAndPeriod{dataflow.Resources{LUT: 60, FF: 50, BRAM: 3, DSP: 4}, 3.5},
			Latency: 120},
			""},
		{"no XML", "LUT 5", VendorReport{}, "not a report of HLS"},
		{"other XML", "<html></html>", VendorReport{}, "not a report of HLS"},
		{"empty", profile("", "1"), VendorReport{}, "without resources"},
		{"negative", profile("<LUT>-5</LUT><FF>1</FF>", "1"), VendorReport{}, `"-5"`},
		{"text", profile("<LUT>many</LUT><FF>1</FF>", "1"), VendorReport{}, `"many"`},
	} {
		var got VendorReport
		err := got.csynth([]byte(c.text))
		if c.err == "" && (err != nil || !reflect.DeepEqual(got, c.want)) {
			t.Errorf("%s: %+v, %v", c.name, got.HLS, err)
		}
		if c.err != "" && (err == nil || !strings.Contains(err.Error(), c.err) || got.HLS != nil) {
			t.Errorf("%s: %v", c.name, err)
		}
	}
}

func TestUtilised(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name, text string
		want       dataflow.Resources
		err        string
	}{
		{"UltraScale+, placed", `
| CLB LUTs                   | 1200 |     0 |          0 |    230400 |  0.52 |
|   LUT as Logic             | 1000 |     0 |          0 |    230400 |  0.43 |
| CLB Registers              | 3400 |     0 |          0 |    460800 |  0.74 |
|   Register as Flip Flop    | 3399 |     0 |          0 |    460800 |  0.74 |
| Block RAM Tile    |  2.5 |     0 |          0 |       312 |  0.80 |
|   RAMB36/FIFO*    |    2 |     0 |          0 |       312 |  0.64 |
|   RAMB18          |    1 |     0 |          0 |       624 |  0.16 |
| URAM              |    6 |     0 |          0 |        96 |  6.25 |
| DSPs           |    7 |     0 |          0 |      1728 |  0.41 |
|   DSP48E2 only |    7 |       |            |           |       |
`, dataflow.Resources{LUT: 1200, FF: 3400, BRAM: 5, URAM: 6, DSP: 7}, ""},
		{"7 series, synthesised", `
| Slice LUTs*             |  900 |     0 |     53200 |  1.69 |
| Slice Registers         | 1000 |     0 |    106400 |  0.94 |
| Block RAM Tile |    3 |     0 |       140 |  2.14 |
| DSPs           |    0 |     0 |       220 |  0.00 |
`, dataflow.Resources{LUT: 900, FF: 1000, BRAM: 6}, ""},
		{"Versal", `
| Registers                  |  77 |     0 |          0 |   1799680 |  0.01 |
| CLB LUTs                   |  88 |     0 |          0 |    899840 |  0.01 |
| Block RAM Tile    |    0 |     0 |          0 |       967 |  0.00 |
| URAM              |    1 |     0 |          0 |       463 |  0.22 |
| DSP Slices        |    3 |     0 |          0 |      1968 |  0.15 |
`, dataflow.Resources{LUT: 88, FF: 77, URAM: 1, DSP: 3}, ""},
		{"no tables", "nothing", dataflow.Resources{}, "without LUTs and registers"},
		{"text for a number", "| CLB LUTs | x | 0 | 1 | 1 |\n", dataflow.Resources{}, `"x" of CLB LUTs`},
		{"beyond numbers", "| CLB LUTs | 1e300 | 0 | 1 | 1 |\n", dataflow.Resources{}, `"1e300" of CLB LUTs`},
	} {
		got, err := utilised([]byte(c.text))
		if c.err == "" && (err != nil || got != c.want) {
			t.Errorf("%s: %+v, %v", c.name, got, err)
		}
		if c.err != "" && (err == nil || !strings.Contains(err.Error(), c.err)) {
			t.Errorf("%s: %v", c.name, err)
		}
	}
}

func TestPeriod(t *testing.T) {
	t.Parallel()
	head := "    WNS(ns)      TNS(ns)  TNS Failing Endpoints\n    -------      -------  ---------------------\n"
	const clocks = "\n\nClock             Waveform(ns)       Period(ns)      Frequency(MHz)\n" +
		"-----             ------------       ----------      --------------\n"
	const slow, made = "clk_pl_1          {0.000 5.000}      10.000          100.000\n",
		"  clk_pl_0        {0.000 2.666}      5.333           187.512\n" // for 200 MHz
	for _, c := range []struct {
		text string
		want float64
		ok   bool
	}{
		{head + "      0.750        0.000                      0\n" + clocks + made, 4.583, true},
		{head + "     -1.500      -20.000                     31\n" + clocks + slow + made + "\n" + slow, 6.833, true},
		{head + "      0.750        0.000                      0\n" + clocks + made + slow, 4.583, true},
		{head + "      0.750        0.000                      0\n" + clocks + slow, 9.25, true},
		{head + "      0.750        0.000                      0\n" + clocks, 0, false},
		{head + "      0.750        0.000                      0\n", 0, false},
		{head + "      0.750        0.000                      0\n" + clocks + "clk  {0.000 2.500} fast\n", 0, false},
		{head + "      0.750        0.000                      0\n" + clocks + "clk  {0.000 2.500} 0.000\n", 0, false},
		{head + "         NA           NA                     NA\n", 0, true},
		{head + "\n", 0, true},
		{head + " fast\n", 0, false},
		{head, 0, false},
		{"", 0, false},
	} {
		got, err := period([]byte(c.text), 200)
		if got != c.want || (err == nil) != c.ok {
			t.Errorf("%q: %v, %v", c.text, got, err)
		}
	}
}

// TestSlacks checks that both slacks are read, in the form of report_timing_summary (Vivado 2020.2).
func TestSlacks(t *testing.T) {
	t.Parallel()
	head := "    WNS(ns)      TNS(ns)  TNS Failing Endpoints  TNS Total Endpoints      WHS(ns)      THS(ns)  " +
		"THS Failing Endpoints  THS Total Endpoints     WPWS(ns)\n    -------      -------\n"
	for _, c := range []struct {
		text   string
		want   *Slacks
		missed bool
		ok     bool
	}{
		{head + "  0.750  0.000  0  100   0.012  0.000  0  100  1.000\n", &Slacks{0.75, 0.012}, false, true},
		{head + " -1.500 -20.000 31  100   0.012  0.000  0  100  1.000\n", &Slacks{-1.5, 0.012}, true, true},
		{head + "  0.000  0.000  0  100  -0.035 -0.035  1  100  1.000\n", &Slacks{0, -0.035}, true, true},
		{head + "     NA     NA  NA  NA       NA     NA  NA  NA  1.000\n", nil, false, true},
		{head + "  0.750  0.000  0  100   fast   0.000  0  100  1.000\n", nil, false, false},
		{head + "  0.750  0.000\n", nil, false, false},
		{"    WNS(ns)      TNS(ns)\n    -------\n  0.750  0.000\n", nil, false, false},
		{"", nil, false, false},
	} {
		got, err := slacksOf([]byte(c.text))
		if !reflect.DeepEqual(got, c.want) || (err == nil) != c.ok || got != nil && got.Missed() != c.missed {
			t.Errorf("%q: %v, %v", c.text, got, err)
		}
	}
}
