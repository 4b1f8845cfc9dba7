// Package report writes the page of a build: one HTML file that is complete in itself and loads nothing. Its script
// makes it answer; without scripts it shows the same content. All texts are escaped when they are inserted, in pictures
// too.
//
// In come the data of a page; out comes the page.
//
//	data.go      the data of a page
//	network.go   the arrows of the network
//	page.html    the template; page.css, its style; page.js, its script; served.js, that of a served page
//	report.go    the page
//	timeline.go  the picture of what layers did over time
package report

import (
	"bytes"
	"crypto/sha256"
	_ "embed"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"html/template"
	"strconv"
	"unicode"

	"github.com/dustin/go-humanize"
)

// The parts of the page: its template, its style and its script.
var (
	//go:embed page.html
	source string
	//go:embed page.css
	style string
	//go:embed page.js
	script string
	//go:embed served.js
	servedScript string
)

// page is the parsed template of the report, with the functions that it calls.
var page = template.Must(template.New("page").Funcs(template.FuncMap{
	"whole":   whole,
	"comma":   humanize.Comma,
	"percent": func(f float64) string { return strconv.FormatFloat(f, 'f', 1, 64) },
	"plain":   func(f float64) string { return strconv.FormatFloat(f, 'f', -1, 64) },
	"more":    func(a, b float64) float64 { return a + b },
	"less":    func(a, b float64) float64 { return a - b },
	"row":     func(top float64, i int) float64 { return top + 29 + 12*float64(i) },
	"most":    most,
	"longest": func(bars []ClockBar) (most float64) {
		for _, b := range bars {
			most = max(most, b.Clocks)
		}
		return most
	},
	"ratio": func(part, of float64) string { return strconv.FormatFloat(100*part/max(1e-9, of), 'f', 1, 64) },
	"share": share,
}).Parse(source))

// RenderHTML returns the page as HTML. It returns an error if the page cannot be drawn, such as one of a model without
// a name. The browser runs the script by its hash, and no other.
func RenderHTML(p *Page) ([]byte, error) { return render(p, "") }

// RenderServedHTML returns the page as hlsgen report --serve shows it: a second script asks its server for other
// designs.
func RenderServedHTML(p *Page) ([]byte, error) { return render(p, servedScript) }

// render returns the page as HTML, with a further script that may ask the page's own server; none if it is empty.
func render(p *Page, further string) ([]byte, error) {
	if err := p.verify(); err != nil {
		return nil, fmt.Errorf("report: %w", err)
	}
	data, err := json.Marshal(p) // which escapes <, > and &
	if err != nil {
		return nil, fmt.Errorf("report: %w", err)
	}
	shown := struct {
		*Page
		Style               template.CSS
		Drawn, Data, Script template.HTML // in which texts are escaped
		Served              template.HTML
		ScriptHash          template.HTMLAttr
		ServedHash          template.HTMLAttr
	}{Page: p, Style: template.CSS(style),
		Data:       template.HTML(`<script type="application/json" id="data">` + string(data) + `</script>`),
		Script:     template.HTML("<script>" + script + "</script>"),
		ScriptHash: hashOf(script)}
	if further != "" {
		shown.Served, shown.ServedHash = template.HTML("<script>"+further+"</script>"), hashOf(further)
	}
	if p.Timeline != nil {
		shown.Drawn = template.HTML(p.Timeline.svg())
	}
	var b bytes.Buffer
	if err := page.Execute(&b, shown); err != nil {
		return nil, fmt.Errorf("report: %w", err)
	}
	return ReplaceControls(b.Bytes()), nil
}

// ReplaceControls returns a page with a mark in place of each character that a terminal or an editor obeys, and of
// those that turn a text round. Names of a model may have them.
func ReplaceControls(page []byte) []byte {
	return bytes.Map(func(r rune) rune {
		if unicode.In(r, unicode.Bidi_Control, unicode.Zl, unicode.Zp) ||
			unicode.IsControl(r) && r != '\n' && r != '\t' {
			return unicode.ReplacementChar
		}
		return r
	}, page)
}

// hashOf returns a script's hash, by which a page allows it.
func hashOf(script string) template.HTMLAttr {
	sum := sha256.Sum256([]byte(script))
	return template.HTMLAttr("sha256-" + base64.StdEncoding.EncodeToString(sum[:]))
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
