// Package compared writes pages that compare designs: the points of a sweep, and two builds side by side. A page is one
// HTML file that is complete in itself and loads nothing. Its policy allows one script by its hash, which sorts and
// filters tables. Without scripts, the page shows the same pictures and tables. All texts are escaped.
//
// In come figures with their names; out comes a page.
//
//	compared.go  the frame of all pages: style, script and policy
//	sweep.go     the page of a sweep
//	beside.go    the page of two builds
//	match.go     layers of two builds that compute the same
package compared

import (
	"bytes"
	"crypto/sha256"
	_ "embed"
	"encoding/base64"
	"fmt"
	"html/template"
	"strconv"

	"github.com/dustin/go-humanize"

	"hlsgen/templates/report"
)

// These are the texts of the pages: templates, what all have in common, and the script.
//
//go:embed frame.html
var frameSource string

//go:embed sweep.html
var sweepSource string

//go:embed beside.html
var besideSource string

//go:embed style.css
var style string

//go:embed tables.js
var script string

// The parsed templates. Each has the frame.
var (
	sweepTemplate  = parse(sweepSource)
	besideTemplate = parse(besideSource)
)

// parse returns the template of a page in the frame.
func parse(source string) *template.Template {
	return template.Must(template.Must(template.New("page").Funcs(template.FuncMap{
		"whole": whole,
		"plain": func(f float64) string { return strconv.FormatFloat(f, 'f', -1, 64) },
		"rows":  func(t besideTable) int { return len(t.Differ) + len(t.Same) },
		"both":  rowsOf,
		"at":    func(i int) int { return i + besideNames },
	}).Parse(frameSource)).Parse(source))
}

// A framed is what the frame of a page needs: its title and the content of its template.
type framed struct {
	Title string
	Of    any
}

// Style returns the style of the page.
func (framed) Style() template.CSS { return template.CSS(style) }

// Script returns the script of the page.
func (framed) Script() template.JS { return template.JS(script) }

// Policy returns the content security policy of the page, which allows nothing but the script and styles.
func (framed) Policy() string {
	sum := sha256.Sum256([]byte(script))
	return "default-src 'none'; base-uri 'none'; form-action 'none'; style-src 'unsafe-inline'; script-src 'sha256-" +
		base64.StdEncoding.EncodeToString(sum[:]) + "'"
}

// render returns a page with a title. Characters that control a terminal are replaced, so that a page is harmless
// there, too.
func render(t *template.Template, title string, of any) ([]byte, error) {
	var b bytes.Buffer
	if err := t.Execute(&b, framed{title, of}); err != nil {
		return nil, fmt.Errorf("page: %w", err)
	}
	return report.ReplaceControls(b.Bytes()), nil
}

// whole returns an integer as text, with commas between groups of three digits.
func whole(n int) string { return humanize.Comma(int64(n)) }
