// Package report writes the page of a build: one HTML file that is complete in itself, runs no script and loads
// nothing. All texts are escaped when they are inserted, in pictures too.
//
// In come the data of a page; out comes the page.
//
//	data.go      the data of a page
//	report.go    the page
//	timeline.go  the picture of what layers did over time
package report

import (
	"bytes"
	_ "embed"
	"encoding/json"
	"fmt"
	"html/template"
	"strconv"

	"github.com/dustin/go-humanize"

	"hlsgen/internal/chart"
)

// source is the text of the report's template.
//
//go:embed page.html
var source string

// page is the parsed template of the report, with the functions that it calls.
var page = template.Must(template.New("page").Funcs(template.FuncMap{
	"whole":   whole,
	"percent": func(f float64) string { return strconv.FormatFloat(f, 'f', 1, 64) },
	"plain":   func(f float64) string { return strconv.FormatFloat(f, 'f', -1, 64) },
	"most":    most,
	"share":   share,
}).Parse(source))

// RenderHTML returns the page as HTML. It returns an error if the page cannot be drawn, such as one of a model without a
// name.
func RenderHTML(p *Page) ([]byte, error) {
	if err := p.verify(); err != nil {
		return nil, fmt.Errorf("report: %w", err)
	}
	shown := struct {
		*Page
		Clocks, Steps template.HTML // pictures, in which texts are escaped; may be empty
	}{Page: p}
	if len(p.Bars) > 0 {
		b := chart.BarChart{Title: "Clocks per frame of every layer", Value: "clocks per frame", Mark: "bottleneck"}
		for _, bar := range p.Bars {
			b.Rows = append(b.Rows, chart.Bar{Name: bar.Name, Value: bar.Clocks, Text: bar.Text})
		}
		svg, err := b.DrawSVG()
		if err != nil {
			return nil, fmt.Errorf("report: %w", err)
		}
		shown.Clocks = template.HTML(svg[bytes.Index(svg, []byte("<svg")):]) // HTML allows no XML declaration there
	}
	if p.Timeline != nil {
		shown.Steps = template.HTML(p.Timeline.svg())
	}
	var b bytes.Buffer
	if err := page.Execute(&b, shown); err != nil {
		return nil, fmt.Errorf("report: %w", err)
	}
	return b.Bytes(), nil
}

// The files of a page, by their paths below the folder of a build.
const (
	DataFile = "report/page.json"
	HTMLFile = "report/report.html"
)

// Encode returns the contents of DataFile and of HTMLFile.
func (p *Page) Encode() (data, shown []byte, err error) {
	if data, err = json.Marshal(p); err != nil {
		return nil, nil, fmt.Errorf("report: %w", err)
	}
	shown, err = RenderHTML(p)
	return append(data, '\n'), shown, err
}

// most returns the largest number in a column of the table of layers, "cycles" or "LUT", or 0 without layers. It panics
// for any other column.
func most(layers []LayerRow, column string) int {
	n := 0
	for i := range layers {
		n = max(n, layers[i].figure(column))
	}
	return n
}

// figure returns the number in a column of the row, "cycles" or "LUT". It panics for any other column.
func (l *LayerRow) figure(column string) int {
	switch column {
	case "cycles":
		return l.Cycles
	case "LUT":
		return l.LUT
	}
	panic("report: there is no column " + column)
}

// share returns which share part is of a whole in percent, with one decimal. It returns "0" if the whole is not
// positive.
func share(part, of int) string {
	if of <= 0 {
		return "0"
	}
	return strconv.FormatFloat(100*float64(part)/float64(of), 'f', 1, 64)
}

// whole returns an integer as text, with commas between groups of three digits.
func whole(n int) string { return humanize.Comma(int64(n)) }
