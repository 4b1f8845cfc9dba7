// Package report writes the page of a build: one HTML file that needs nothing else, runs no script and loads nothing.
// All that it shows is escaped where it stands; pictures alone are taken as they are, from those who draw them.
//
// In comes what a build found; out comes the page. It sees nothing of this module.
package report

import (
	"bytes"
	_ "embed"
	"errors"
	"fmt"
	"html/template"
	"strconv"

	"github.com/dustin/go-humanize"
)

// A Page is what the report shows. Names and texts may be anything.
type Page struct {
	Model, Board, Part, Tool string
	Block                    string   // the name of a block RAM
	Facts                    Facts    // the large figures on top
	Warnings                 []Notice // of the build
	Resources                []Resource
	Parts                    []Amounts // where the resources go: layers, FIFOs, host
	Layers                   []LayerRow
	Certificate              []string // lines of the proof
	Options                  Facts    // of layers: how many were looked at
	Series                   []string // what many frames take, and why
	Clocks, Timeline         SVG      // pictures; may be nil
	TimelineNote             string
	FIFOs                    []FIFO
	Ends                     []FIFO // that tell where sequences end: nothing is measured of them
	FIFONote                 string
	Before, After            []string // nodes on the host
	Checks                   Facts    // what was verified
	Given                    Facts    // model, options
}

// SVG is a picture, drawn by us: its texts are escaped already.
type SVG []byte

// A Fact is a name and what it is, with a remark.
type Fact struct{ Name, Value, Note string }

// Facts are shown in their order.
type Facts []Fact

// Add appends a fact; the note may be empty.
func (f *Facts) Add(name, value, note string) { *f = append(*f, Fact{name, value, note}) }

// A Notice is a diagnostic.
type Notice struct {
	Severity, Code, Text, Hint string
	Notes                      []string
}

// A Resource is how much of the board the design takes.
type Resource struct {
	Name                string
	Used, Budget, Board int
}

// Percent is a part of the board in percent, 0 to 100.
func (r Resource) Percent(part int) float64 {
	if r.Board <= 0 {
		return 0
	}
	return min(100, max(0, 100*float64(part)/float64(r.Board)))
}

// Over reports whether the design takes more than the budget.
func (r Resource) Over() bool { return r.Used > r.Budget }

// Amounts is what one thing takes.
type Amounts struct {
	Name                     string
	LUT, FF, BRAM, URAM, DSP int
}

// A LayerRow is a row of the table of layers.
type LayerRow struct {
	Amounts
	Nodes           []string // ONNX
	Modules         []string // of the network that these belong to
	In, Out         []string // types
	PE, SIMD        int
	Memory, Compute string
	Steps           string // serial, parallel, or none where there is no choice
	Cycles          int
	Path            float64 // ns, 0 where it has none
	Bottleneck      bool
	Busy            float64 // share of the simulated clocks in percent
	Starved         float64
	Blocked         float64
	Accumulator     *Accumulator
}

// An Accumulator is its width by four rules.
type Accumulator struct {
	DataType, L1, ZeroCentred, Exact, Used int
	Type                                   string
}

// A FIFO is a row of the table of FIFOs.
type FIFO struct {
	Stream, To, Memory, Reason string
	Width, Depth, Most         int
	Empty, Full                int // clocks that its reader and its writer waited
}

//go:embed page.html
var source string

var page = template.Must(template.New("page").Funcs(template.FuncMap{
	"whole":   whole,
	"percent": func(f float64) string { return strconv.FormatFloat(f, 'f', 1, 64) },
	"plain":   func(f float64) string { return strconv.FormatFloat(f, 'f', -1, 64) },
	"picture": picture,
	"most":    most,
	"share":   share,
}).Parse(source))

// Write makes the page.
func Write(p *Page) ([]byte, error) {
	for name, s := range map[string]SVG{"clocks": p.Clocks, "timeline": p.Timeline} {
		if s != nil && !bytes.Contains(s, []byte("<svg")) {
			return nil, fmt.Errorf("report: the picture of %s is no SVG", name)
		}
	}
	if p.Model == "" || p.Board == "" {
		return nil, errors.New("report: a page of what?")
	}
	var b bytes.Buffer
	if err := page.Execute(&b, p); err != nil {
		return nil, fmt.Errorf("report: %w", err)
	}
	return b.Bytes(), nil
}

// picture is an SVG without what stands in front of its root, which a page has no place for.
func picture(s SVG) template.HTML {
	return template.HTML(s[bytes.Index(s, []byte("<svg")):])
}

// most is the largest figure of a column of the layers.
func most(layers []LayerRow, column string) int {
	n := 0
	for i := range layers {
		n = max(n, layers[i].figure(column))
	}
	return n
}

func (l *LayerRow) figure(column string) int {
	switch column {
	case "cycles":
		return l.Cycles
	case "LUT":
		return l.LUT
	}
	panic("report: there is no column " + column)
}

// share is a part of a whole in percent.
func share(part, of int) string {
	if of <= 0 {
		return "0"
	}
	return strconv.FormatFloat(100*float64(part)/float64(of), 'f', 1, 64)
}

// whole writes an integer with commas.
func whole(n int) string { return humanize.Comma(int64(n)) }
