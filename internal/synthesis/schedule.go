package synthesis

import (
	"bytes"
	"regexp"
	"strconv"
	"strings"

	"hlsgen/hlslib/price/delay"
)

// A timedRun holds what one report states about a run of HLS: its target, pipelines of processes, and delays. Missing
// values are zero.
type timedRun struct {
	family, part, tool  string
	period, uncertainty float64 // ns
	processes           []delay.ReportedPipelineDepth
	delays              []operation
}

// An operation is a kind of operation of the given bits, with the delay that a schedule gives it in ns.
type operation struct {
	op   delay.PipelineOp
	bits int
	ns   float64
}

// A scheduled is the part of a csynth.xml about scheduling: the target of the run, and the pipelines of its modules.
// Type csynth has the rest.
type scheduled struct {
	Version string `xml:"ReportVersion>Version"`
	Given   struct {
		Family      string `xml:"ProductFamily"`
		Part        string `xml:"Part"`
		Period      string `xml:"TargetClockPeriod"`
		Uncertainty string `xml:"ClockUncertainty"`
	} `xml:"UserAssignments"`
	Modules []struct {
		Name    string `xml:"Name"`
		Overall struct {
			Type     string `xml:"PipelineType"`
			Depth    string `xml:"PipelineDepth"`
			Latency  string `xml:"Worst-caseLatency"`
			Interval string `xml:"PipelineInitiationInterval"`
		} `xml:"PerformanceEstimates>SummaryOfOverallLatency"`
		Loops struct {
			All []struct {
				Depth    string `xml:"PipelineDepth"`
				Interval string `xml:"PipelineII"`
			} `xml:",any"` // each element is called like its loop
		} `xml:"PerformanceEstimates>SummaryOfLoopLatency"`
	} `xml:"ModuleInformation>Module"`
}

// csynthRun returns the target, the clock and the pipelines that a csynth.xml states. The error states why it is none.
func csynthRun(data []byte) (r timedRun, err error) {
	var s scheduled
	if err := readXML(data, &s); err != nil {
		return r, err
	}
	r = timedRun{family: s.Given.Family, part: s.Given.Part, tool: s.Version, period: number0(s.Given.Period),
		uncertainty: number0(s.Given.Uncertainty)}
	for _, m := range s.Modules {
		for _, l := range m.Loops.All {
			r.add(m.Name, int(number0(l.Depth)), int(number0(l.Interval)))
		}
		if t := m.Overall; strings.HasPrefix(t.Type, "yes") {
			depth := int(number0(t.Depth))
			if latency := number0(t.Latency); depth == 0 && t.Latency != "" {
				depth = int(latency) + 1
			}
			r.add(m.Name, depth, int(number0(t.Interval)))
		}
	}
	return r, nil
}

// add adds a pipeline of a process, with its depth and initiation interval in clocks. It ignores one without a depth.
func (r *timedRun) add(name string, depth, interval int) {
	if depth > 0 && depth < 1e6 {
		r.processes = append(r.processes, delay.ReportedPipelineDepth{Name: process(name), Depth: depth,
			Interval: interval})
	}
}

// process returns the name of the function to which a module of HLS belongs: its own, or that of the function whose
// loop it is.
func process(module string) string {
	name, _, _ := strings.Cut(module, "_Pipeline_")
	return strings.TrimSuffix(name, "_s")
}

// number0 returns the number in a text, which "ns" may follow. It returns 0 if there is none, or it is negative or
// absurdly large.
func number0(text string) float64 {
	x, err := strconv.ParseFloat(strings.TrimSpace(strings.TrimSuffix(strings.TrimSpace(text), "ns")), 64)
	if err != nil || !(x >= 0 && x < 1e12) {
		return 0
	}
	return x
}

// hlsReport is the beginning of the title of a report of Vitis HLS in text.
var hlsReport = []byte("== Vitis HLS Report for '")

// These patterns match lines of a text report of Vitis HLS.
var (
	module = regexp.MustCompile(`(?m)^== Vitis HLS Report for '([^']+)'`)
	field  = regexp.MustCompile(`(?m)^\* (Version|Product family|Target device): +(\S+)`)
	clock  = regexp.MustCompile(`(?m)^ *\|ap_clk +\| +([0-9.]+) ns\| +[0-9.]+ ns\| +([0-9.]+) ns\|`)
	// pipeline matches the line of a pipeline: number, interval and depth.
	pipeline = regexp.MustCompile(`(?m)^ *\* Pipeline-\d+: initiation interval \(II\) = (\d+), depth = (\d+)`)
	// loopRow matches the row of a loop: least and greatest latency, depth, interval reached and asked for, trips.
	loopRow = regexp.MustCompile(`(?m)^ *\|[-+ ]+\S+ *\|[^|]*\|[^|]*\| *(\d+)\| *(\d+)\|[^|]*\|[^|]*\| *yes`)
	// stated matches an operation in one state: delay, operation, bits, and the core that computes it.
	stated = regexp.MustCompile(`\[1/1\] \(([0-9.]+)ns\)[^>]*--->   "(?:%\S+ = )?(\w+)[^"]*"[^\n]*<CoreInst = "(\w+)">`)
	bitsOf = regexp.MustCompile(`\bi(\d+)\b`)
)

// vivadoReport matches the title of a text report of Vivado HLS, which Vitis HLS replaced in 2020.2. Its schedules have
// another form.
var vivadoReport = regexp.MustCompile(`(?m)^== Vivado HLS Report for '`)

// vivadoHLSVersion returns the version of Vivado HLS that wrote a text report. ok is false for other files.
func vivadoHLSVersion(data []byte) (version string, ok bool) {
	if !vivadoReport.Match(data) {
		return "", false
	}
	for _, f := range field.FindAllSubmatch(data, -1) {
		if string(f[1]) == "Version" {
			return string(f[2]), true
		}
	}
	return "of an unknown version", true
}

// textRun returns what a text report, *_csynth.rpt or *.verbose.sched.rpt, states. ok is false for other files.
func textRun(data []byte) (r timedRun, ok bool) {
	name := module.FindSubmatch(data)
	if !bytes.Contains(data, hlsReport) || name == nil {
		return r, false
	}
	for _, f := range field.FindAllSubmatch(data, -1) {
		switch string(f[1]) {
		case "Version":
			r.tool = string(f[2])
		case "Product family":
			r.family = string(f[2])
		case "Target device":
			r.part = string(f[2])
		}
	}
	if c := clock.FindSubmatch(data); c != nil {
		r.period, r.uncertainty = number0(string(c[1])), number0(string(c[2]))
	}
	pipes := pipeline.FindAllSubmatch(data, -1)
	for _, p := range pipes {
		r.add(string(name[1]), int(number0(string(p[2]))), int(number0(string(p[1]))))
	}
	if len(pipes) == 0 {
		for _, p := range loopRow.FindAllSubmatch(data, -1) {
			r.add(string(name[1]), int(number0(string(p[1]))), int(number0(string(p[2]))))
		}
	}
	for line := range bytes.Lines(data) {
		if m := stated.FindSubmatch(line); m != nil {
			r.operate(number0(string(m[1])), string(m[2]), string(m[3]), line)
		}
	}
	return r, true
}

// operate adds an operation of a schedule with its delay in ns, if it is of a kind that chains contain. does is its
// name, core what computes it, and line its line.
func (r *timedRun) operate(ns float64, does, core string, line []byte) {
	var op delay.PipelineOp
	switch core {
	case "Adder":
		op = delay.OpAdd
	case "Cmp":
		op = delay.OpCompare
	case "Sel":
		op = delay.OpSelect
	case "LogicGate":
		op = delay.OpLogicGate
	case "Multiplier":
		op = delay.OpMultiplyInLUTs
	case "FIFO", "FIFO_SRL":
		if op = delay.OpStreamRead; does == "write" {
			op = delay.OpStreamWrite
		}
	default:
		return
	}
	widths := bitsOf.FindAllSubmatch(line, 2)
	if !(ns > 0) || len(widths) == 0 {
		return // part of another operation
	}
	width := widths[0]
	switch {
	case op == delay.OpSelect && len(widths) > 1:
		width = widths[1] // the first width is that of the condition
	case op == delay.OpStreamRead || op == delay.OpStreamWrite || op == delay.OpLogicGate:
		width = [][]byte{nil, []byte("1")}
	}
	if bits := int(number0(string(width[1]))); bits > 0 {
		r.delays = append(r.delays, operation{op, bits, ns})
	}
}
