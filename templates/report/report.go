// Package report writes the page of a build: one HTML file that is complete in itself, runs no script and loads
// nothing. All texts are escaped when they are inserted. Only pictures are inserted unchanged; their authors must
// escape texts.
//
// In come the results of a build; out comes the page.
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

// A Page holds everything that the report of a build shows. Texts need no escaping.
type Page struct {
	Model, Board, Part, Tool string
	Block                    string             // the device's name for a block RAM
	Facts                    Facts              // the large figures at the top
	Warnings                 []DiagnosticNotice // of the build
	Resources                []ResourceUse
	Parts                    []ResourceAmounts // resources by layer, FIFO and host port
	Layers                   []LayerRow
	Certificate              []string // lines of the proof
	Options                  Facts    // numbers of folds that the search examined
	Series                   []string // the clocks of many frames, and the reasons
	Clocks, Timeline         SVG      // pictures; may be nil
	TimelineNote             string
	FIFOs                    []FIFORow
	Ends                     []FIFORow // FIFOs that tell where sequences end, without measurements
	FIFONote                 string
	Before, After            []string // nodes on the host
	Checks                   Facts    // the verifications
	Given                    Facts    // the model and the options
}

// SVG is the text of a picture, in which texts are already escaped. It is inserted unchanged.
type SVG []byte

// A Fact is a named value with a remark, which may be empty.
type Fact struct{ Name, Value, Note string }

// Facts are facts in the order in which the page shows them.
type Facts []Fact

// AddFact appends a fact. The note may be empty.
func (f *Facts) AddFact(name, value, note string) { *f = append(*f, Fact{name, value, note}) }

// A DiagnosticNotice is a warning or a note about the build, with its code, a hint, and further notes.
type DiagnosticNotice struct {
	Severity, Code, Text, Hint string
	Notes                      []string
}

// A ResourceUse compares how much of a resource the design uses with the budget, and with all that the board has.
type ResourceUse struct {
	Name                string
	Used, Budget, Board int
}

// Percent returns which share part is of the board's amount, in percent from 0 to 100. It returns 0 if the board has
// none.
func (r ResourceUse) Percent(part int) float64 {
	if r.Board <= 0 {
		return 0
	}
	return min(100, max(0, 100*float64(part)/float64(r.Board)))
}

// Over reports whether the design uses more of the resource than the budget.
func (r ResourceUse) Over() bool { return r.Used > r.Budget }

// ResourceAmounts lists how much a named part of the design takes of every resource.
type ResourceAmounts struct {
	Name                     string
	LUT, FF, BRAM, URAM, DSP int
}

// A LayerRow is a row of the table of layers: the layer's names, its fold, its clocks per frame, its waits and its
// resources.
type LayerRow struct {
	ResourceAmounts
	Nodes           []string // ONNX nodes
	Modules         []string // modules of the network that contain these
	In, Out         []string // element types
	PE, SIMD        int
	Memory, Compute string
	Steps           string // serial, parallel, or none if there is no choice
	Cycles          int
	Path            float64 // delay in ns; 0 if there is none
	Bottleneck      bool
	Busy            float64 // share of the simulated clocks in percent
	Starved         float64
	Blocked         float64
	Accumulator     *AccumulatorWidths
}

// An AccumulatorWidths holds an accumulator's width in bits by each of four rules, and the width and type that are
// used. ZeroCentred is 0 if that rule does not apply.
type AccumulatorWidths struct {
	DataType, L1, ZeroCentred, Exact, Used int
	Type                                   string
}

// A FIFORow is a row of the table of FIFOs: one FIFO with its size, its memory, and how full it became.
type FIFORow struct {
	Stream, To, Memory, Reason string
	Width, Depth, Most         int
	Empty, Full                int // clocks that its reader and its writer waited
}

// source is the text of the report's template.
//
//go:embed page.html
var source string

// page is the parsed template of the report, with the functions that it calls.
var page = template.Must(template.New("page").Funcs(template.FuncMap{
	"whole":   whole,
	"percent": func(f float64) string { return strconv.FormatFloat(f, 'f', 1, 64) },
	"plain":   func(f float64) string { return strconv.FormatFloat(f, 'f', -1, 64) },
	"picture": picture,
	"most":    most,
	"share":   share,
}).Parse(source))

// RenderHTML returns the page as HTML. It returns an error if a picture has no <svg> element, or the model or board no
// name.
func RenderHTML(p *Page) ([]byte, error) {
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

// picture returns the text of an SVG from its <svg> element on, without what precedes it; HTML allows no XML
// declaration there. It panics if there is no <svg> element.
func picture(s SVG) template.HTML {
	return template.HTML(s[bytes.Index(s, []byte("<svg")):])
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
