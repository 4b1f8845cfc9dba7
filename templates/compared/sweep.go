package compared

import (
	"bytes"
	"errors"
	"fmt"
	"html"
	"html/template"

	"hlsgen/templates/report"
)

// A Sweep holds everything that the page of a sweep shows. Texts need no escaping.
type Sweep struct {
	Model    string
	Facts    report.Facts // the main figures
	Same     report.Facts // settings that all points have in common
	Pictures []Picture
	Columns  []Column
	Rows     []Row
	Left     int // points without a row
}

// A Picture is a drawing of points. The texts in SVG are escaped. Spots lie on its points.
type Picture struct {
	Name  string
	SVG   []byte
	Spots []Spot
}

// A Spot is a link on a point of a picture, to the design of row number Row. X and Y are in the units of the picture,
// from its upper left corner. Text describes the point.
type Spot struct {
	X, Y float64
	Row  int
	Text string
}

// A Column is a column of a table. Numbers stand on the right. A wide column has sentences.
type Column struct {
	Name   string
	Number bool
	Wide   bool
}

// A Row is a point of the sweep. Its cells are in the order of the columns.
type Row struct {
	Number int    // of the point
	Link   string // address of the design's page or folder; empty if there is none
	State  string // whether it fits
	Fits   bool
	Chosen bool
	Cells  []TableCell
}

// ID returns the row's name as the target of links.
func (r Row) ID() string { return fmt.Sprintf("point-%d", r.Number) }

// Where returns the address to which a spot of the row leads: its design, or the row itself.
func (r Row) Where() string {
	if r.Link != "" {
		return r.Link
	}
	return "#" + r.ID()
}

// A TableCell is the text of one cell. Numbers are sorted by Value; Known says whether there is one.
type TableCell struct {
	Text  string
	Value float64
	Known bool
	Over  bool // more than the budget
}

// RenderHTML returns the page of a sweep. It returns an error if a picture is no SVG, or a spot leads to no row.
func (s *Sweep) RenderHTML() ([]byte, error) {
	shown := struct {
		*Sweep
		Drawn []template.HTML
	}{Sweep: s}
	at := map[int]*Row{}
	for i := range s.Rows {
		at[s.Rows[i].Number] = &s.Rows[i]
	}
	for _, p := range s.Pictures {
		drawn, err := p.html(at)
		if err != nil {
			return nil, err
		}
		shown.Drawn = append(shown.Drawn, drawn)
	}
	return render(sweepTemplate, s.Model+": a sweep", shown)
}

// html returns the picture with a link on each spot. rows has the rows by their numbers.
func (p *Picture) html(rows map[int]*Row) (template.HTML, error) {
	from, to := bytes.Index(p.SVG, []byte("<svg")), bytes.LastIndex(p.SVG, []byte("</svg>"))
	if from < 0 || to < from {
		return "", errors.New("page: a picture is no SVG")
	}
	var b bytes.Buffer
	fmt.Fprintf(&b, `<svg role="group" aria-label="%s"`, html.EscapeString(p.Name))
	b.Write(p.SVG[from+len("<svg") : to])
	for _, s := range p.Spots {
		row := rows[s.Row]
		if row == nil {
			return "", fmt.Errorf("page: there is no row of point %d", s.Row)
		}
		text := html.EscapeString(s.Text)
		fmt.Fprintf(&b, `<a href="%s" aria-label="%s"><circle class="spot" data-row="%s" cx="%.2f" cy="%.2f" r="7"/>`+
			"<title>%s</title></a>\n", html.EscapeString(row.Where()), text, row.ID(), s.X, s.Y, text)
	}
	b.WriteString("</svg>")
	return template.HTML(b.String()), nil
}
