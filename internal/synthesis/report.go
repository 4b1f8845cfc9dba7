// Package synthesis runs builds through the vendor's tools, layer by layer, and reads their reports. Each result is
// stored with the hashes of its sources. So a result whose sources have not changed is not made again, and a
// half-written result of a killed run does not count. In come folders; out come the outcome of a run, a table of
// figures, a calibration of latencies. It may import the compiler and what that may.
//
//	project.go   Project: the description that a build wrote of itself
//	task.go      tasks, and whether their results are current; task.sh and vivado.tcl do one task
//	run.go       Synthesise: runs tasks on this machine, some at a time, or as jobs of Slurm (slurm.sh)
//	collect.go   ProjectFigures: estimate, HLS, Vivado, bitstream and board; hierarchy.go reads the report of the
//	             whole design
//	report.go    VendorReport: the tools' figures for one design; vendor.go reads their files
//	latencies.go latencies from such reports; schedule.go reads the schedules of HLS
package synthesis

import (
	"path/filepath"
	"strings"

	"hlsgen/internal/dataflow"
	"hlsgen/internal/safefile"
)

// A VendorReport holds the vendor's figures for one design. Missing figures are nil.
type VendorReport struct {
	HLS      *ResourcesAndPeriod `json:"hls,omitempty"`    // from csynth.xml: the estimate of HLS
	Vivado   *ResourcesAndPeriod `json:"vivado,omitempty"` // from the reports of utilisation and timing
	Interval int                 `json:"hls_interval_clocks,omitempty"`
	Latency  int                 `json:"hls_latency_clocks,omitempty"`
	schedule timedRun            // schedule of HLS
}

// depth returns the depth, in clocks, of the deepest pipeline of the process with the given name. It returns 0 if no
// report states one.
func (r *VendorReport) depth(name string) (most int) {
	for _, p := range r.schedule.processes {
		if p.Name == name {
			most = max(most, p.Depth)
		}
	}
	return most
}

// A ResourcesAndPeriod holds the resources and the clock period of a design.
type ResourcesAndPeriod struct {
	Resources dataflow.Resources `json:"resources"`
	PeriodNS  float64            `json:"period_ns,omitempty"` // shortest period that the tool states; 0 if none
}

// Limits of reading.
const (
	maxReport = 64 << 20 // bytes of a file
	maxFound  = 100_000  // files below a folder
)

// ReadVendorReport reads the reports of one design below a folder, for a design clocked at clockMHz. It returns nil if
// there are none. It calls told for each unreadable file and goes on.
func ReadVendorReport(dir string, clockMHz float64, told func(path string, err error)) (*VendorReport, error) {
	files, err := reports(dir, func(name string) bool {
		return name == csynthFile || strings.HasSuffix(name, ".rpt")
	})
	if err != nil {
		return nil, err
	}
	var r VendorReport
	for _, path := range files {
		if err := r.read(path, clockMHz); err != nil {
			told(path, err)
		}
	}
	if r.HLS == nil && r.Vivado == nil {
		return nil, nil
	}
	return &r, nil
}

// csynthFile is the name of the XML report in which HLS sums up a module.
const csynthFile = "csynth.xml"

// read adds the figures of one report, whichever tool wrote it. It ignores files that are no report.
func (r *VendorReport) read(path string, clockMHz float64) error {
	data, err := safefile.ReadRegularFile(path, maxReport)
	if err != nil {
		return err
	}
	if filepath.Base(path) == csynthFile {
		return r.csynth(data)
	}
	kind := reportKind(data)
	if kind == "" {
		return nil // another kind of report
	}
	if r.Vivado == nil {
		r.Vivado = &ResourcesAndPeriod{}
	}
	if kind == utilisation {
		r.Vivado.Resources, err = utilised(data)
	} else {
		r.Vivado.PeriodNS, err = period(data, clockMHz)
	}
	return err
}
