package sweep

import (
	"bytes"
	"encoding/csv"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"hlsgen/internal/chart"
	"hlsgen/internal/dataflow"
	"hlsgen/internal/diag"
	"hlsgen/internal/folder"
	"hlsgen/internal/outputdir"
	"hlsgen/internal/report"
	"hlsgen/internal/safefile"
	"hlsgen/internal/samples"
	"hlsgen/internal/synthesis"
	"hlsgen/templates"
)

// A column is one cell of sweep.csv: the name of its column, and the text of one point in it.
type column struct{ name, text string }

// where returns the columns as given if has is true, or else the same columns with empty texts. It changes list in
// place.
func where(has bool, list ...column) []column {
	for i := range list {
		if !has {
			list[i].text = ""
		}
	}
	return list
}

// amounts returns a column for each kind of resource, with the amount in r and prefix in its name.
func amounts(prefix string, r dataflow.Resources) (list []column) {
	for _, k := range kinds {
		list = append(list, column{prefix + k.column, strconv.Itoa(k.of(r))})
	}
	return list
}

// columns returns the columns of a point, which is row i of sweep.csv, except those that only some sweeps have.
func (p *PointResult) columns(i int) []column {
	made := p.Interval != 0
	return slices.Concat([]column{
		{"point", strconv.Itoa(i)},
		{"id", p.ID},
		{"board", p.Board},
		{"part", p.Part},
		{"clock_mhz", number(p.ClockMHz)},
		{"fps_asked", known(p.FPSAsked)},
		{"interval_asked_clocks", known(p.Asked)},
		{"memory", p.Memory},
		{"compute", p.Compute},
		{"max_use", p.MaxUse},
		{"interleave", strconv.Itoa(p.Samples)},
		{"backend", p.Backend},
	}, p.precision(), []column{
		{"status", p.Status},
	}, where(made, slices.Concat([]column{
		{"fps", number(p.FPS)},
		{"clock_reached_mhz", number(p.Reached)},
		{"interval_clocks", number(p.Interval)},
		{"latency_clocks", strconv.Itoa(p.Latency)},
		{"latency_us", number(round(p.latencyMicroseconds()))},
	}, amounts("", p.Resources), []column{{"largest_share", number(p.Share)}})...), []column{
		{"bottleneck", p.Bottleneck},
	}, where(made, column{"proved", strconv.FormatBool(p.Proved)}), []column{
		{"front", strings.Join(p.Front, " ")},
		{"chosen", strconv.FormatBool(p.Chosen)},
		{"reason", p.Reason},
	}, where(p.Budget != dataflow.Resources{}, amounts("budget_", p.Budget)...))
}

// columns returns the columns of a design over the budget. They are empty if o is nil.
func (o *OverBudgetDesign) columns() []column {
	has := o != nil
	if !has {
		o = &OverBudgetDesign{}
	}
	return where(has, append([]column{
		{"over_budget_fps", number(o.FPS)},
		{"over_budget_interval_clocks", number(o.Interval)},
		{"over_budget_latency_clocks", strconv.Itoa(o.Latency)},
	}, amounts("over_budget_", o.Resources)...)...)
}

// columns returns the columns of bounds. They are empty if b is nil.
func (b *PointBounds) columns() []column {
	has := b != nil
	if !has {
		b = &PointBounds{}
	}
	return where(has, []column{
		{"fps_at_most", known(b.FPS)},
		{"interval_clocks_at_least", known(float64(b.Interval))},
		{"measure", b.Measure},
		{"measure_at_least", number(b.Least)},
	}...)
}

// sequences returns the columns of the sequences' lengths and of the shortest sequence's figures. They are empty if s
// is nil.
func sequences(s *report.SequenceRatesReport) []column {
	has := s != nil
	if !has {
		s = &report.SequenceRatesReport{}
	}
	return where(has, []column{
		{"steps_min", strconv.Itoa(s.Shortest.Steps)},
		{"steps_max", strconv.Itoa(s.Longest.Steps)},
		{"clocks_per_step", number(s.Longest.PerStep)},
		{"shortest_interval_clocks", number(s.Shortest.Interval)},
		{"shortest_latency_clocks", strconv.Itoa(s.Shortest.Latency)},
	}...)
}

// reportColumns returns the columns of the tools' reports. They are empty if r is nil.
func reportColumns(r *synthesis.VendorReport) []column {
	has := r != nil
	if !has {
		r = &synthesis.VendorReport{}
	}
	return slices.Concat(synthesisColumns("hls_", r.HLS), where(has, []column{
		{"hls_interval_clocks", known(float64(r.Interval))},
		{"hls_latency_clocks", known(float64(r.Latency))},
	}...), synthesisColumns("vivado_", r.Vivado))
}

// synthesisColumns returns the columns for the resources and the period of one synthesis, with prefix in their names.
// They are empty if s is nil.
func synthesisColumns(prefix string, s *synthesis.ResourcesAndPeriod) []column {
	has := s != nil
	if !has {
		s = &synthesis.ResourcesAndPeriod{}
	}
	return where(has, append(amounts(prefix, s.Resources), column{prefix + "period_ns", known(s.PeriodNS)})...)
}

// known returns the number as text, or "" for 0, which stands for an unknown number.
func known(f float64) string {
	if f == 0 {
		return ""
	}
	return number(f)
}

// cell returns s with a quote in front if a spreadsheet would take it for a formula, and without characters that
// control a terminal.
func cell(s string) string {
	s = strings.Map(func(r rune) rune {
		if unicode.IsControl(r) && r != '\n' && r != '\t' && r != '\r' {
			return unicode.ReplacementChar
		}
		return r
	}, s)
	if s != "" && strings.ContainsRune("=+-@\t\r", rune(s[0])) {
		return "'" + s
	}
	return s
}

// table returns the content of sweep.csv. Columns of sequences, bounds, designs over the budget and reports are present
// if some point has them.
func table(points []PointResult) ([]byte, error) {
	lengths := slices.ContainsFunc(points, func(p PointResult) bool { return p.Sequences != nil })
	bounds := slices.ContainsFunc(points, func(p PointResult) bool { return p.Bounds != nil })
	over := slices.ContainsFunc(points, func(p PointResult) bool { return p.Over != nil })
	reports := slices.ContainsFunc(points, func(p PointResult) bool { return p.Report != nil })
	rows := make([][]string, 1+len(points)) // the names, then the texts of each point
	for i := range points {
		p := &points[i]
		all := p.columns(i)
		if lengths {
			all = append(all, sequences(p.Sequences)...)
		}
		if bounds {
			all = append(all, p.Bounds.columns()...)
		}
		if over {
			all = append(all, p.Over.columns()...)
		}
		if reports {
			all = append(all, reportColumns(p.Report)...)
		}
		var names, texts []string
		for _, c := range all {
			names, texts = append(names, c.name), append(texts, cell(c.text))
		}
		rows[0], rows[1+i] = names, texts
	}
	var b bytes.Buffer
	w := csv.NewWriter(&b)
	err := w.WriteAll(rows)
	return b.Bytes(), err
}

// A sheet is the content of sweep.json: the points and what they have in common.
type sheet struct {
	report.ReportHead
	Model     string               `json:"model"`
	Precision *PrecisionAccuracies `json:"precision,omitempty"` // if the model was quantised again
	Accuracy  *samples.Accuracy    `json:"accuracy,omitempty"`  // if the model stays as it is and there are labels
	Points    []PointResult        `json:"points"`
}

// sheetFile is the name of the tables in JSON in the output folder.
const sheetFile = "sweep.json"

// maxSheet is the largest sweep.json, in bytes, that is read.
const maxSheet = 64 << 20

// readSheet reads the tables of the sweep in a folder. It returns nil after adding an error to d if there are none.
func readSheet(dir string, d *diag.List) *sheet {
	s := new(sheet)
	data, err := safefile.ReadRegularFile(filepath.Join(dir, sheetFile), maxSheet)
	if err == nil {
		err = safefile.SimplifyJSONError(json.Unmarshal(data, s))
	}
	if err == nil && len(s.Points) == 0 {
		err = errors.New("it has no points")
	}
	if err != nil {
		d.AddError(diag.FileUnreadable, sheetFile, err.Error(), "give the folder of a finished sweep")
		return nil
	}
	return s
}

// OpenSweep reads the finished sweep in a folder. It returns nil after adding an error to d if there is none.
func OpenSweep(dir string, d *diag.List) *SweepReport {
	s := readSheet(dir, d)
	if s == nil {
		return nil
	}
	r := &SweepReport{Model: s.Model, Points: s.Points, Out: dir, Precision: s.Precision, Accuracy: s.Accuracy}
	for i := range r.Points {
		r.Points[i].Samples = max(1, r.Points[i].Samples) // older sweeps do not record it
	}
	return r
}

// HasSweep reports whether a folder holds the tables of a sweep.
func HasSweep(dir string) bool {
	info, err := os.Stat(filepath.Join(dir, sheetFile))
	return err == nil && info.Mode().IsRegular()
}

// PageFileName is the name of the page of all points in the output folder.
const PageFileName = "sweep.html"

// ChosenFoldingFileName is the name of the chosen design's folding file in the output folder.
const ChosenFoldingFileName = "chosen.json"

// write writes all files of the sweep except the journal. It adds a diagnostic to d if a file is in the way.
func (r *SweepReport) write(d *diag.List) error {
	files, err := r.files()
	if err != nil {
		return err
	}
	page, err := r.HTMLPage(r.Out)
	if err != nil {
		return err
	}
	files = append(files, file{PageFileName, page})
	for _, f := range files {
		r.Files = append(r.Files, f.name)
	}
	return r.put(files, d)
}

// put writes files into the output folder. It adds a diagnostic to d if a file is in the way.
func (r *SweepReport) put(files []file, d *diag.List) error {
	return folder.WriteToSharedFolder(r.Out, d, func(dir *outputdir.SharedFolder) error {
		for _, f := range files {
			if err := dir.WriteOwnFile(f.name, f.data); err != nil {
				return err
			}
		}
		return nil
	})
}

// admitted reports, before any work, whether the sweep may replace all files of sweeps in the folder. If a file was
// changed since a sweep wrote it, d names it.
func (r *SweepReport) admitted(d *diag.List) (ok bool, err error) {
	there, err := os.ReadDir(r.Out)
	if err != nil {
		return false, err
	}
	var names []string
	for _, e := range there {
		if name := e.Name(); templates.AnyReadmeEntryMatches(sweepFiles, name) && name != journalFile &&
			name != outputdir.SharedFileListName {
			names = append(names, name)
		}
	}
	err = folder.WriteToSharedFolder(r.Out, d,
		func(dir *outputdir.SharedFolder) error { return dir.CheckMayWrite(names...) })
	return err == nil && !d.HasErrors(), err
}

type file struct {
	name string
	data []byte
}

func (r *SweepReport) files() (files []file, err error) {
	csv, err := table(r.Points)
	if err != nil {
		return nil, err
	}
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	e.SetIndent("", " ")
	all := sheet{report.CurrentReportHead, r.Model, r.Precision, r.Accuracy, append([]PointResult{}, r.Points...)}
	if err := e.Encode(all); err != nil {
		return nil, err
	}
	files = []file{{"sweep.csv", csv}, {sheetFile, b.Bytes()}}
	add := func(name string, p chart.SVGAndPNG, err error) error {
		if err == nil {
			files = append(files, file{name + ".svg", p.SVG}, file{name + ".png", p.PNG})
		}
		return err
	}
	chosen := r.ChosenPoint()
	if chosen != nil && len(chosen.Folding) > 0 { // a sweep.json from elsewhere may have none
		var asked bytes.Buffer
		if err := json.Indent(&asked, chosen.Folding, "", "  "); err != nil {
			return nil, err
		}
		files = append(files, file{ChosenFoldingFileName, append(asked.Bytes(), '\n')})
	}
	if r.Precision != nil && chosen != nil {
		for _, a := range r.accuracies() {
			p, err := a.Draw()
			if err := add("accuracy-"+a.file, p, err); err != nil {
				return nil, err
			}
		}
		files = append(files, r.Precision.files()...)
	}
	for _, f := range r.fronts() {
		p, err := f.Draw()
		if err := add("pareto-"+f.file, p, err); err != nil {
			return nil, err
		}
	}
	if chosen == nil {
		return files, nil
	}
	p, err := chosen.clocks(r.Model).Draw()
	return files, add("cycles", p, err)
}
