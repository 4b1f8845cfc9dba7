// Package synthesis takes builds through the vendor's tools, layer by layer, and reads the reports that these leave.
// Results are known by the contents of what they were made of: what has not changed is not made again, and what a
// killed run has left half-written does not count. In come folders; out come what became of a run, a table of figures,
// a calibration of latencies. It may import the compiler and what that may.
//
//	project.go   a Project: what a build says of itself
//	task.go      the tasks, and whether their results are current; task.sh and vivado.tcl do one
//	run.go       Synthesise: tasks here, some at a time, or as jobs of Slurm (slurm.sh)
//	collect.go   a Table: estimate, HLS, Vivado, bitstream and board; hierarchy.go, the whole design's report
//	report.go    a Report: what the tools say of one design; vendor.go reads their files
//	calibrate.go latencies out of such reports; schedule.go reads those of HLS
package synthesis

import (
	"path/filepath"
	"strings"

	"hlsgen/internal/dataflow"
	"hlsgen/internal/regular"
)

// A Report is what the vendor's tools say of a design. What they have not said is nil.
type Report struct {
	HLS      *Synthesis `json:"hls,omitempty"`    // csynth.xml: the estimate of HLS
	Vivado   *Synthesis `json:"vivado,omitempty"` // the reports of utilisation and timing
	Interval int        `json:"hls_interval_clocks,omitempty"`
	Latency  int        `json:"hls_latency_clocks,omitempty"`
	schedule timedRun   // of HLS
}

// depth is that of the pipeline of a process, as a calibration has it; 0 where nothing says it.
func (r *Report) depth(name string) (most int) {
	for _, p := range r.schedule.processes {
		if p.Name == name {
			most = max(most, p.Depth)
		}
	}
	return most
}

// A Synthesis is amounts and the period that is reached.
type Synthesis struct {
	Resources dataflow.Resources `json:"resources"`
	PeriodNS  float64            `json:"period_ns,omitempty"` // 0 where nothing says it
}

// What is read at most.
const (
	maxReport = 64 << 20
	maxFound  = 100_000 // files below a folder
)

// Below reads the reports below a folder, of one design; nil where there is none. What cannot be read is told.
func Below(dir string, clockMHz float64, told func(path string, err error)) (*Report, error) {
	files, err := reports(dir, func(name string) bool {
		return name == csynthFile || strings.HasSuffix(name, ".rpt")
	})
	if err != nil {
		return nil, err
	}
	var r Report
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

// csynthFile is the name of HLS's report in XML.
const csynthFile = "csynth.xml"

// read takes one file's figures.
func (r *Report) read(path string, clockMHz float64) error {
	data, err := regular.ReadFile(path, maxReport)
	if err != nil {
		return err
	}
	if filepath.Base(path) == csynthFile {
		return r.csynth(data)
	}
	kind := reportKind(data)
	if kind == "" {
		return nil // of something else
	}
	if r.Vivado == nil {
		r.Vivado = &Synthesis{}
	}
	if kind == utilisation {
		r.Vivado.Resources, err = utilised(data)
	} else {
		r.Vivado.PeriodNS, err = period(data, clockMHz)
	}
	return err
}
