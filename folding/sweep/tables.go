package sweep

import (
	"bytes"
	"encoding/csv"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/dustin/go-humanize"

	"hlsgen/internal/chart"
	"hlsgen/internal/compiler"
)

// A column is one of sweep.csv.
type column struct {
	name string
	of   func(i int, p *Point) string
}

var columns = []column{
	{"point", func(i int, _ *Point) string { return strconv.Itoa(i) }},
	{"id", func(_ int, p *Point) string { return p.ID }},
	{"board", func(_ int, p *Point) string { return p.Board }},
	{"part", func(_ int, p *Point) string { return p.Part }},
	{"clock_mhz", func(_ int, p *Point) string { return number(p.ClockMHz) }},
	{"fps_asked", func(_ int, p *Point) string { return known(p.FPSAsked) }},
	{"interval_asked_cycles", func(_ int, p *Point) string { return known(float64(p.Asked)) }},
	{"memory", func(_ int, p *Point) string { return p.Memory }},
	{"compute", func(_ int, p *Point) string { return p.Compute }},
	{"max_use", func(_ int, p *Point) string { return p.MaxUse }},
	{"status", func(_ int, p *Point) string { return p.Status }},
	{"fps", found(func(p *Point) string { return number(p.FPS) })},
	{"clock_reached_mhz", found(func(p *Point) string { return number(p.Reached) })},
	{"interval_cycles", found(func(p *Point) string { return number(p.Interval) })},
	{"latency_cycles", found(func(p *Point) string { return strconv.Itoa(p.Latency) })},
	{"latency_us", found(func(p *Point) string { return number(round(p.LatencyUS())) })},
	{"lut", found(func(p *Point) string { return strconv.Itoa(p.Resources.LUT) })},
	{"ff", found(func(p *Point) string { return strconv.Itoa(p.Resources.FF) })},
	{"bram18", found(func(p *Point) string { return strconv.Itoa(p.Resources.BRAM) })},
	{"uram", found(func(p *Point) string { return strconv.Itoa(p.Resources.URAM) })},
	{"dsp", found(func(p *Point) string { return strconv.Itoa(p.Resources.DSP) })},
	{"largest_share", found(func(p *Point) string { return number(p.Share) })},
	{"bottleneck", func(_ int, p *Point) string { return p.Bottleneck }},
	{"proved", found(func(p *Point) string { return strconv.FormatBool(p.Proved) })},
	{"front", func(_ int, p *Point) string { return strings.Join(p.Front, " ") }},
	{"chosen", func(_ int, p *Point) string { return strconv.FormatBool(p.Chosen) }},
	{"reason", func(_ int, p *Point) string { return p.Reason }},
}

// boundColumns are those of points that are bounds.
var boundColumns = []column{
	{"fps_at_most", bounded(func(b *Bounds) string { return known(b.FPS) })},
	{"interval_cycles_at_least", bounded(func(b *Bounds) string { return known(float64(b.Interval)) })},
	{"measure", bounded(func(b *Bounds) string { return b.Measure })},
	{"measure_at_least", bounded(func(b *Bounds) string { return number(b.Least) })},
}

// bounded leaves a column empty where a point is no bound.
func bounded(of func(*Bounds) string) func(int, *Point) string {
	return func(_ int, p *Point) string {
		if p.Bounds == nil {
			return ""
		}
		return of(p.Bounds)
	}
}

// known is a number, or nothing for 0.
func known(f float64) string {
	if f == 0 {
		return ""
	}
	return number(f)
}

// found leaves a column empty where there is no design.
func found(of func(*Point) string) func(int, *Point) string {
	return func(_ int, p *Point) string {
		if p.Interval == 0 {
			return ""
		}
		return of(p)
	}
}

// cell keeps a spreadsheet from taking a text for a formula.
func cell(s string) string {
	if s != "" && strings.ContainsRune("=+-@\t\r", rune(s[0])) {
		return "'" + s
	}
	return s
}

// table is sweep.csv; with bounds and with what the vendor's tools said, where there are any.
func table(points []Point) ([]byte, error) {
	all := slices.Clone(columns)
	if slices.ContainsFunc(points, func(p Point) bool { return p.Bounds != nil }) {
		all = append(all, boundColumns...)
	}
	if slices.ContainsFunc(points, func(p Point) bool { return p.Report != nil }) {
		all = append(all, reportColumns...)
	}
	var b bytes.Buffer
	w := csv.NewWriter(&b)
	var names []string
	for _, c := range all {
		names = append(names, c.name)
	}
	rows := [][]string{names}
	for i := range points {
		var row []string
		for _, c := range all {
			row = append(row, cell(c.of(i, &points[i])))
		}
		rows = append(rows, row)
	}
	err := w.WriteAll(rows)
	return b.Bytes(), err
}

// A sheet is sweep.json.
type sheet struct {
	compiler.Head
	Model  string  `json:"model"`
	Points []Point `json:"points"`
}

// ChosenFile is the folding file of the chosen design, below the output folder.
const ChosenFile = "chosen.json"

// write makes all files of the sweep but the journal.
func (r *Result) write() error {
	files, err := r.files()
	if err != nil {
		return err
	}
	for _, f := range files {
		if err := compiler.WriteFile(r.Path(f.name), f.data); err != nil {
			return err
		}
		r.Files = append(r.Files, f.name)
	}
	return nil
}

type file struct {
	name string
	data []byte
}

func (r *Result) files() (files []file, err error) {
	csv, err := table(r.Points)
	if err != nil {
		return nil, err
	}
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	e.SetIndent("", " ")
	if err := e.Encode(sheet{compiler.Versioned, r.Model, append([]Point{}, r.Points...)}); err != nil {
		return nil, err
	}
	files = []file{{"sweep.csv", csv}, {"sweep.json", b.Bytes()}}
	add := func(name string, p chart.Picture, err error) error {
		if err == nil {
			files = append(files, file{name + ".svg", p.SVG}, file{name + ".png", p.PNG})
		}
		return err
	}
	chosen := r.Chosen()
	if chosen == nil {
		return files, nil // there is nothing to draw
	}
	if len(chosen.Folding) > 0 { // a sweep.json that somebody else wrote may be without
		var asked bytes.Buffer
		if err := json.Indent(&asked, chosen.Folding, "", "  "); err != nil {
			return nil, err
		}
		files = append(files, file{ChosenFile, append(asked.Bytes(), '\n')})
	}
	for _, k := range kinds {
		if !k.drawn || !slices.ContainsFunc(r.Points, func(p Point) bool { return k.of(p.Resources) > 0 }) {
			continue
		}
		f := chart.Fronts{Title: r.Model + ": frames per second against " + k.name, Cost: k.name, Gain: "frames per second",
			Chosen: &chart.Point{Cost: float64(k.of(chosen.Resources)), Gain: chosen.FPS},
			Label:  fmt.Sprintf("%s frames/s, %s %s", chart.Amount(chosen.FPS), chart.Amount(float64(k.of(chosen.Resources))), k.name)}
		for _, group := range bySeries(r.Points) {
			s := chart.Series{Name: seriesName(group[0].Board, group[0].ClockMHz)}
			for _, p := range group {
				s.Points = append(s.Points, chart.Point{Cost: float64(k.of(p.Resources)), Gain: p.FPS})
			}
			f.Series = append(f.Series, s)
		}
		p, err := f.Draw()
		if err := add("pareto-"+k.file, p, err); err != nil {
			return nil, err
		}
	}
	p, err := chosen.clocks(r.Model).Draw()
	return files, add("cycles", p, err)
}

// clocks is the picture of what every layer takes, and what holds the design up where that is no layer.
func (p *Point) clocks(model string) chart.Bars {
	b := chart.Bars{Title: fmt.Sprintf("%s on %s: clocks per frame", model, seriesName(p.Board, p.ClockMHz)), Value: "clocks per frame", Mark: "bottleneck"}
	slowest := 0
	for _, l := range p.Cycles {
		slowest = max(slowest, l.Clocks)
		b.Rows = append(b.Rows, chart.Bar{Name: l.Name, Value: float64(l.Clocks), Text: whole(l.Clocks)})
	}
	if p.Interval > float64(slowest) {
		b.Rows = append(b.Rows, chart.Bar{Name: p.Bottleneck, Value: p.Interval, Text: humanize.Commaf(p.Interval)})
	}
	return b
}

// whole writes an integer with commas.
func whole(n int) string { return humanize.Comma(int64(n)) }
