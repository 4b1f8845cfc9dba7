package sweep

import (
	"encoding/json"
	"errors"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"

	"hlsgen/internal/dataflow"
	"hlsgen/internal/diag"
	"hlsgen/internal/regular"
)

// A Report is what the vendor's tools say of a design. What they have not said is nil.
type Report struct {
	HLS      *Synthesis `json:"hls,omitempty"`    // csynth.xml: the estimate of HLS
	Vivado   *Synthesis `json:"vivado,omitempty"` // the reports of utilisation and timing
	Interval int        `json:"hls_interval_cycles,omitempty"`
	Latency  int        `json:"hls_latency_cycles,omitempty"`
}

// A Synthesis is amounts and the period that is reached.
type Synthesis struct {
	Resources dataflow.Resources `json:"resources"`
	PeriodNS  float64            `json:"period_ns,omitempty"` // 0 where nothing says it
}

// columns is what there is to say of reports; r may be nil.
func (r *Report) columns() []column {
	has := r != nil
	if !has {
		r = &Report{}
	}
	return slices.Concat(r.HLS.columns("hls_"), where(has, []column{
		{"hls_interval_cycles", known(float64(r.Interval))},
		{"hls_latency_cycles", known(float64(r.Latency))},
	}...), r.Vivado.columns("vivado_"))
}

// columns is what there is to say of a synthesis; s may be nil.
func (s *Synthesis) columns(prefix string) []column {
	has := s != nil
	if !has {
		s = &Synthesis{}
	}
	return where(has, append(amounts(prefix, s.Resources), column{prefix + "period_ns", known(s.PeriodNS)})...)
}

// What is read at most.
const (
	maxReport = 64 << 20
	maxFound  = 100_000 // files below a point
)

// Collect reads what the vendor's tools have left below the points of the sweep in dir, and writes its tables again
// with it. Points without reports stay as they are.
func Collect(dir string, d *diag.List) (*Result, error) {
	var s sheet
	data, err := regular.ReadFile(filepath.Join(dir, "sweep.json"), maxReport)
	if err == nil {
		err = json.Unmarshal(data, &s)
	}
	if err == nil && len(s.Points) == 0 {
		err = errors.New("it has no points")
	}
	if err != nil {
		d.Fail(diag.FileUnreadable, "sweep.json", err.Error(), "give the folder of a finished sweep")
		return nil, nil
	}
	r := &Result{Model: s.Model, Points: s.Points, Out: dir}
	known := map[string]*Report{}
	for i := range r.Points {
		p := &r.Points[i]
		p.Samples = max(1, p.Samples) // older sweeps do not say it
		if p.Interval == 0 || !identifier(p.ID) {
			continue
		}
		found, seen := known[p.ID]
		if !seen {
			if found, err = collectPoint(filepath.Join(dir, pointsFolder, p.ID), p.ClockMHz, d); err != nil {
				return nil, err
			}
			known[p.ID] = found
			if found != nil {
				r.Collected++
			}
		}
		p.Report = found
	}
	if r.Collected == 0 {
		d.Fail(diag.FileUnreadable, pointsFolder, "no point has a report of synthesis",
			"run the job array first: sbatch "+scriptFile)
		return nil, nil
	}
	if d.Failed() {
		return nil, nil
	}
	judge(r.Points)
	return r, r.write(d)
}

// identifier reports whether s is an ID of ours, which is safe in a path.
func identifier(s string) bool {
	return s != "" && strings.Trim(s, "0123456789abcdef") == ""
}

// collectPoint reads the reports below a point's folder; nil where there is none. A report that cannot be read is told.
func collectPoint(dir string, clockMHz float64, d *diag.List) (*Report, error) {
	files, err := reports(dir, func(name string) bool {
		return name == "csynth.xml" || strings.HasSuffix(name, ".rpt")
	})
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	var r Report
	for _, path := range files {
		err := r.read(path, clockMHz)
		if err != nil {
			shown, _ := filepath.Rel(filepath.Dir(filepath.Dir(dir)), path)
			d.Add(diag.Diag{Severity: diag.Warning, Code: diag.FileUnreadable, Where: shown, Msg: err.Error(),
				Hint: "run the point again"})
		}
	}
	if r.HLS == nil && r.Vivado == nil {
		return nil, nil
	}
	return &r, nil
}

// read takes one file's figures.
func (r *Report) read(path string, clockMHz float64) error {
	data, err := regular.ReadFile(path, maxReport)
	if err != nil {
		return err
	}
	if filepath.Base(path) == "csynth.xml" {
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
