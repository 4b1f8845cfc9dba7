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
	"hlsgen/internal/dataflow"
)

// A column is one of sweep.csv.
type column struct {
	name string
	of   func(i int, p *Point) string
}

// always is a column that every point has.
func always(name string, of func(*Point) string) column {
	return column{name, func(_ int, p *Point) string { return of(p) }}
}

// where is a column of a part of a point, empty where the point has none.
func where[T any](part func(*Point) *T, name string, of func(*T) string) column {
	return always(name, func(p *Point) string {
		if x := part(p); x != nil {
			return of(x)
		}
		return ""
	})
}

// amounts is a column for each kind of resource.
func amounts[T any](part func(*Point) *T, prefix string, of func(*T) dataflow.Resources) (list []column) {
	for _, k := range kinds {
		list = append(list, where(part, prefix+k.column, func(x *T) string { return strconv.Itoa(k.of(of(x))) }))
	}
	return list
}

// made is a point that has a design, bounds those of a point that is a bound.
func made(p *Point) *Point {
	if p.Interval == 0 {
		return nil
	}
	return p
}

func bounds(p *Point) *Bounds { return p.Bounds }

var columns = slices.Concat([]column{
	{"point", func(i int, _ *Point) string { return strconv.Itoa(i) }},
	always("id", func(p *Point) string { return p.ID }),
	always("board", func(p *Point) string { return p.Board }),
	always("part", func(p *Point) string { return p.Part }),
	always("clock_mhz", func(p *Point) string { return number(p.ClockMHz) }),
	always("fps_asked", func(p *Point) string { return known(p.FPSAsked) }),
	always("interval_asked_cycles", func(p *Point) string { return known(float64(p.Asked)) }),
	always("memory", func(p *Point) string { return p.Memory }),
	always("compute", func(p *Point) string { return p.Compute }),
	always("max_use", func(p *Point) string { return p.MaxUse }),
	always("status", func(p *Point) string { return p.Status }),
	where(made, "fps", func(p *Point) string { return number(p.FPS) }),
	where(made, "clock_reached_mhz", func(p *Point) string { return number(p.Reached) }),
	where(made, "interval_cycles", func(p *Point) string { return number(p.Interval) }),
	where(made, "latency_cycles", func(p *Point) string { return strconv.Itoa(p.Latency) }),
	where(made, "latency_us", func(p *Point) string { return number(round(p.LatencyUS())) }),
}, amounts(made, "", func(p *Point) dataflow.Resources { return p.Resources }), []column{
	where(made, "largest_share", func(p *Point) string { return number(p.Share) }),
	always("bottleneck", func(p *Point) string { return p.Bottleneck }),
	where(made, "proved", func(p *Point) string { return strconv.FormatBool(p.Proved) }),
	always("front", func(p *Point) string { return strings.Join(p.Front, " ") }),
	always("chosen", func(p *Point) string { return strconv.FormatBool(p.Chosen) }),
	always("reason", func(p *Point) string { return p.Reason }),
})

// boundColumns are those of points that are bounds.
var boundColumns = []column{
	where(bounds, "fps_at_most", func(b *Bounds) string { return known(b.FPS) }),
	where(bounds, "interval_cycles_at_least", func(b *Bounds) string { return known(float64(b.Interval)) }),
	where(bounds, "measure", func(b *Bounds) string { return b.Measure }),
	where(bounds, "measure_at_least", func(b *Bounds) string { return number(b.Least) }),
}

// known is a number, or nothing for 0.
func known(f float64) string {
	if f == 0 {
		return ""
	}
	return number(f)
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
		f := chart.Fronts{Title: r.Model + ": frames per second against " + k.name, Cost: k.name,
			Gain: "frames per second", Chosen: &chart.Dot{Cost: float64(k.of(chosen.Resources)), Gain: chosen.FPS},
			Label: fmt.Sprintf("%s frames/s, %s %s", chart.Amount(chosen.FPS),
				chart.Amount(float64(k.of(chosen.Resources))), k.name)}
		for _, group := range bySeries(r.Points) {
			s := chart.Series{Name: seriesName(group[0].Board, group[0].ClockMHz)}
			for _, p := range group {
				s.Dots = append(s.Dots, chart.Dot{Cost: float64(k.of(p.Resources)), Gain: p.FPS})
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
	b := chart.Bars{Title: fmt.Sprintf("%s on %s: clocks per frame", model, seriesName(p.Board, p.ClockMHz)),
		Value: "clocks per frame", Mark: "bottleneck"}
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
