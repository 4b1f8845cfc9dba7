package synthesis

import (
	"bytes"
	"cmp"
	"encoding/xml"
	"errors"
	"fmt"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"hlsgen/internal/dataflow"
)

// A csynth is the part of a csynth.xml, of Vivado HLS or Vitis HLS, with resources, clock and latency.
type csynth struct {
	XMLName     xml.Name `xml:"profile"`
	Performance struct {
		Timing struct {
			Period string `xml:"EstimatedClockPeriod"`
		} `xml:"SummaryOfTimingAnalysis"`
		Latency struct {
			Worst    string `xml:"Worst-caseLatency"`
			Interval string `xml:"Interval-max"`
		} `xml:"SummaryOfOverallLatency"`
	} `xml:"PerformanceEstimates"`
	Area struct {
		Resources struct {
			BRAM   string `xml:"BRAM_18K"`
			DSP    string `xml:"DSP"`
			DSP48E string `xml:"DSP48E"` // name of DSP up to version 2020.1
			FF     string `xml:"FF"`
			LUT    string `xml:"LUT"`
			URAM   string `xml:"URAM"`
		} `xml:"Resources"`
	} `xml:"AreaEstimates"`
}

// maxTags limits the tags of an XML file, for a tag may take much more memory than its few bytes.
const maxTags = 2_000_000

// readXML parses a report of HLS into to. The error says that it has more than maxTags tags or is malformed.
func readXML(data []byte, to any) error {
	if n := bytes.Count(data, []byte("<")); n > maxTags {
		return fmt.Errorf("it has %d tags, and no report has more than %d", n, maxTags)
	}
	return xml.Unmarshal(data, to)
}

// csynth adds the resources, the period, the latency and the schedule that a csynth.xml states.
func (r *VendorReport) csynth(data []byte) (err error) {
	var c csynth
	if err := readXML(data, &c); err != nil {
		return fmt.Errorf("not a report of HLS: %w", err)
	}
	var s ResourcesAndPeriod
	a := c.Area.Resources
	if a.LUT == "" || a.FF == "" {
		return errors.New("a report of HLS without resources")
	}
	for _, f := range []struct {
		to   *int
		text string
	}{{&s.Resources.LUT, a.LUT}, {&s.Resources.FF, a.FF}, {&s.Resources.BRAM, a.BRAM}, {&s.Resources.URAM, a.URAM},
		{&s.Resources.DSP, cmp.Or(a.DSP, a.DSP48E)}, {&r.Latency, c.Performance.Latency.Worst},
		{&r.Interval, c.Performance.Latency.Interval}} {
		text := strings.TrimSpace(f.text)
		if text == "" || text == "undef" || text == "-" || text == "?" {
			continue // for example a dataflow region's interval, or a device without URAM
		}
		n, err := strconv.Atoi(text)
		if err != nil || n < 0 {
			return fmt.Errorf("a report of HLS with %q where a number is due", text)
		}
		*f.to = n
	}
	if text := strings.TrimSpace(c.Performance.Timing.Period); text != "" {
		p, err := strconv.ParseFloat(text, 64)
		if err != nil || !(p >= 0) || math.IsInf(p, 0) {
			return fmt.Errorf("a report of HLS with a period of %q", text)
		}
		s.PeriodNS = p
	}
	r.HLS = &s
	r.schedule, err = csynthRun(data)
	return err
}

// The kinds of Vivado's reports that hlsgen reads.
const (
	utilisation = "Utilization Design Information"
	timing      = "Design Timing Summary"
)

// reportKind returns the kind of Vivado's report in data, utilisation or timing, by its heading, or "" for other files.
func reportKind(data []byte) string {
	for _, kind := range []string{utilisation, timing} {
		if strings.Contains(string(data), kind) {
			return kind
		}
	}
	return ""
}

// sites maps the kinds of resources to their rows in a report of utilisation, for 7 series, UltraScale+ and Versal.
var sites = []struct {
	name string
	in   func(*dataflow.Resources) *int
	rows []string
	each float64 // our units per unit of the row
}{
	{"LUT", func(r *dataflow.Resources) *int { return &r.LUT }, []string{"CLB LUTs", "Slice LUTs"}, 1},
	{"FF", func(r *dataflow.Resources) *int { return &r.FF },
		[]string{"CLB Registers", "Slice Registers", "Registers"}, 1},
	{"RAMB18", func(r *dataflow.Resources) *int { return &r.BRAM }, []string{"Block RAM Tile"}, 2},
	{"URAM", func(r *dataflow.Resources) *int { return &r.URAM }, []string{"URAM"}, 1},
	{"DSP", func(r *dataflow.Resources) *int { return &r.DSP }, []string{"DSPs", "DSP Slices"}, 1},
}

// utilised returns the resources in a report of report_utilization. Of several rows with one name, only the first
// counts, since later tables repeat some.
func utilised(data []byte) (r dataflow.Resources, err error) {
	seen := map[string]bool{} // by kind
	for line := range strings.Lines(string(data)) {
		cells := strings.Split(line, "|")
		if len(cells) < 4 {
			continue
		}
		name := strings.TrimRight(strings.TrimSpace(cells[1]), "*")
		for _, k := range sites {
			if seen[k.name] || !slices.Contains(k.rows, name) {
				continue
			}
			used, err := strconv.ParseFloat(strings.TrimSpace(cells[2]), 64)
			if err != nil || !(used >= 0) || used > 1e9 {
				return r, fmt.Errorf("a report of utilisation with %q of %s", strings.TrimSpace(cells[2]), name)
			}
			seen[k.name] = true
			*k.in(&r) = int(math.Round(used * k.each))
		}
	}
	if !seen["LUT"] || !seen["FF"] {
		return r, errors.New("a report of utilisation without LUTs and registers")
	}
	return r, nil
}

// clockPeriod returns the period in ns that a timing report's summary of clocks states. Of several clocks it is the one
// nearest to clockMHz: a PLL may not make exactly what was asked for. It returns an error if the report has no clocks.
func clockPeriod(data []byte, clockMHz float64) (float64, error) {
	_, table, _ := strings.Cut(string(data), "Period(ns)")
	_, table, _ = strings.Cut(table, "\n")
	best := math.Inf(1)
	for line := range strings.Lines(table) {
		if strings.TrimSpace(line) == "" {
			break
		}
		_, behind, ok := strings.Cut(line, "}") // of the waveform
		if fields := strings.Fields(behind); ok && len(fields) > 0 {
			ns, err := strconv.ParseFloat(fields[0], 64)
			if err != nil || !(ns > 0) || math.IsInf(ns, 0) {
				return 0, fmt.Errorf("a report of timing with a clock of %q ns", fields[0])
			}
			if asked := 1000 / clockMHz; math.Abs(ns-asked) < math.Abs(best-asked) {
				best = ns
			}
		}
	}
	if math.IsInf(best, 1) {
		return 0, errors.New("a report of timing without a clock")
	}
	return best, nil
}

// period returns the clock period in ns that a design reaches: that of its clock, which was to be clockMHz, minus the
// worst slack of a timing report. It returns 0 if the report has no paths, and an error if it has no slack or no clock.
func period(data []byte, clockMHz float64) (float64, error) {
	rows := 0 // position behind the heading: 1 at the line of dashes, 2 at the figures
	for line := range strings.Lines(string(data)) {
		fields := strings.Fields(line)
		switch {
		case rows == 0 && len(fields) > 0 && fields[0] == "WNS(ns)":
			rows = 1
		case rows == 1:
			rows = 2
		case rows == 2:
			if len(fields) == 0 || fields[0] == "NA" {
				return 0, nil
			}
			slack, err := strconv.ParseFloat(fields[0], 64)
			if err != nil || math.IsInf(slack, 0) || math.IsNaN(slack) {
				return 0, fmt.Errorf("a report of timing with a slack of %q", fields[0])
			}
			of, err := clockPeriod(data, clockMHz)
			if err != nil {
				return 0, err
			}
			return math.Round(1000*(of-slack)) / 1000, nil // both have picoseconds
		}
	}
	return 0, errors.New("a report of timing without a worst slack")
}

// Slacks are the worst slacks of a routed design in ns. Below 0 the design misses its clock.
type Slacks struct {
	WNS float64 `json:"wns_ns"` // of setup
	WHS float64 `json:"whs_ns"` // of hold, which no slower clock mends
}

// Missed reports whether the design misses its clock.
func (s *Slacks) Missed() bool { return s.WNS < 0 || s.WHS < 0 }

// columnGap separates the columns of a table in a report of timing.
var columnGap = regexp.MustCompile(`\s{2,}`)

// slacksOf returns the slacks that a timing report states, or nil if it has no paths.
func slacksOf(data []byte) (*Slacks, error) {
	lines := strings.Split(string(data), "\n")
	for i, line := range lines {
		head := columnGap.Split(strings.TrimSpace(line), -1)
		if head[0] != "WNS(ns)" || i+2 >= len(lines) {
			continue
		}
		row := strings.Fields(lines[i+2])
		at := slices.Index(head, "WHS(ns)")
		if len(row) == 0 || row[0] == "NA" {
			return nil, nil
		}
		if at < 0 || at >= len(row) {
			return nil, errors.New("a report of timing without a slack of hold")
		}
		var s Slacks
		for _, c := range []struct {
			text string
			to   *float64
		}{{row[0], &s.WNS}, {row[at], &s.WHS}} {
			ns, err := strconv.ParseFloat(c.text, 64)
			if err != nil || math.IsInf(ns, 0) || math.IsNaN(ns) {
				return nil, fmt.Errorf("a report of timing with a slack of %q", c.text)
			}
			*c.to = ns
		}
		return &s, nil
	}
	return nil, errors.New("a report of timing without slacks")
}
