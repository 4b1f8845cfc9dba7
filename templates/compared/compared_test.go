package compared

import (
	"bytes"
	"encoding/xml"
	"errors"
	"fmt"
	"html"
	"io"
	"slices"
	"strings"
	"testing"

	"hlsgen/templates/report"
)

// hostile lists names that no page may take for anything but text.
var hostile = []string{`</script><img src=x onerror=alert(1)>`, `"><a href="javascript:alert(2)">`,
	strings.Repeat("x", 2000), "\x1b[31mred\x1b]0;title\a", "{{.Title}}", "\u202e"}

// elementsOf returns the names of a page's elements with their attributes' names, in order, and all of its text.
func elementsOf(t *testing.T, page []byte) (names []string, text string) {
	t.Helper()
	if i := bytes.IndexFunc(page, func(r rune) bool { return r < ' ' && r != '\n' && r != '\t' }); i >= 0 {
		t.Errorf("a control character at %d", i)
	}
	page = bytes.Replace(page, []byte(script), nil, 1) // which is no XML
	d := xml.NewDecoder(bytes.NewReader(page))
	d.Strict, d.AutoClose, d.Entity = false, xml.HTMLAutoClose, xml.HTMLEntity
	inScript := false
	for {
		token, err := d.Token()
		if errors.Is(err, io.EOF) {
			return names, text
		}
		if err != nil {
			t.Fatalf("%v after %d elements", err, len(names))
		}
		switch x := token.(type) {
		case xml.StartElement:
			name := x.Name.Local
			for _, a := range x.Attr {
				if name += " " + a.Name.Local; a.Name.Local == "href" && !strings.HasPrefix(a.Value, "#") &&
					!strings.HasPrefix(a.Value, "points/") {
					t.Errorf("a link leads to %.60q", a.Value)
				}
			}
			names = append(names, name)
			inScript = x.Name.Local == "script" || x.Name.Local == "style"
		case xml.EndElement:
			inScript = false
		case xml.CharData:
			if !inScript {
				text += " " + string(x)
			}
		}
	}
}

// sweepOf returns the page of a sweep whose texts are all the same.
func sweepOf(t *testing.T, text string) []byte {
	t.Helper()
	s := &Sweep{Model: text, Facts: report.Facts{{Name: text, Value: text, Note: text}}, Same: report.Facts{{Name: text,
		Value: text}}, Columns: []Column{{Name: "point", Number: true}, {Name: text}}, Left: 7,
		Pictures: []Picture{{Name: text, SVG: []byte("<?xml?>\n<svg width=\"10\"><path d=\"M0,0\"></path></svg>\n"),
			Spots: []Spot{{X: 1, Y: 2, Row: 3, Text: text}, {X: 1, Y: 2, Row: 4, Text: text}}}},
		Rows: []Row{{Number: 3, State: text, Fits: true, Chosen: true,
			Cells: []TableCell{{Text: "3", Value: 3, Known: true}, {Text: text}}},
			{Number: 4, Link: "points/0123/", State: text, Cells: []TableCell{{Text: "4", Over: true},
				{Text: text}}}}}
	page, err := s.RenderHTML()
	if err != nil {
		t.Fatal(err)
	}
	return page
}

// besideOf returns the page of two builds whose texts are all the same.
func besideOf(t *testing.T, text string) []byte {
	t.Helper()
	design := func(pe int) Design {
		return Design{text, &report.Page{Model: text, Board: text, Part: text, Tool: text, Block: text,
			Facts:     report.Facts{{Name: text, Value: fmt.Sprint(pe) + text, Note: text}},
			Warnings:  []report.DiagnosticNotice{{Severity: text, Text: text}},
			Resources: []report.ResourceUse{{Name: text, Used: pe, Budget: 9, Board: 10}},
			Layers: []report.LayerRow{{ResourceAmounts: report.ResourceAmounts{Name: text, LUT: pe},
				Nodes: []string{text}, In: []string{text}, Out: []string{text}, Memory: text, PE: pe}},
			FIFOs:  []report.FIFORow{{Stream: text, To: text, Memory: text, Depth: pe}, {Stream: text, To: text}},
			Before: []string{text}, Checks: report.Facts{{Name: text, Value: text}}, Given: report.Facts{{Name: text,
				Value: text}}}}
	}
	page, err := RenderTwoAsHTML(design(1), design(2))
	if err != nil {
		t.Fatal(err)
	}
	return page
}

// TestEscaped checks that pages have the same elements whatever names are, and show the names.
func TestEscaped(t *testing.T) {
	t.Parallel()
	for kind, of := range map[string]func(*testing.T, string) []byte{"sweep": sweepOf, "beside": besideOf} {
		want, _ := elementsOf(t, of(t, "name"))
		for _, name := range hostile {
			got, text := elementsOf(t, of(t, name))
			if !slices.Equal(got, want) {
				t.Errorf("%s: %.40q makes other elements", kind, name)
			}
			shown := strings.Map(func(r rune) rune {
				if r < ' ' || r == '\u202e' {
					return '\ufffd'
				}
				return r
			}, name)
			if strings.Count(text, shown) < 5 {
				t.Errorf("%s: %.40q is not shown", kind, name)
			}
		}
	}
}

// TestPolicy checks that a page loads nothing and allows its own script alone.
func TestPolicy(t *testing.T) {
	t.Parallel()
	for kind, of := range map[string]func(*testing.T, string) []byte{"sweep": sweepOf, "beside": besideOf} {
		page := html.UnescapeString(string(of(t, "name")))
		for _, never := range []string{"http:", "https:", "//cdn", "<link", "src=", "@import", "url("} {
			if strings.Contains(page, never) {
				t.Errorf("%s has %q", kind, never)
			}
		}
		if strings.Count(page, "<script>") != 1 || !strings.Contains(page, "script-src 'sha256-") ||
			!strings.Contains(page, "default-src 'none'") {
			t.Errorf("%s: another policy", kind)
		}
	}
}

// layer returns a layer of a test.
func layer(name string, pe int, nodes ...string) report.LayerRow {
	return report.LayerRow{ResourceAmounts: report.ResourceAmounts{Name: name, LUT: 10 * pe}, Nodes: nodes, PE: pe}
}

// TestPairs checks which layers of two designs match.
func TestPairs(t *testing.T) {
	t.Parallel()
	a := &report.Page{Layers: []report.LayerRow{layer("SWG_0", 1, "conv"), layer("MVAU_0", 1, "conv", "bn"),
		layer("Width_0", 1), layer("MVAU_1", 1, "fc"), layer("Only_0", 1, "old"), layer("MVAU_2", 8, "large")},
		FIFOs: []report.FIFORow{{From: "MVAU_0", To: "Width_0"}, {From: "Width_0", To: "MVAU_1"}}}
	b := &report.Page{Layers: []report.LayerRow{layer("SWG_0", 2, "conv"), layer("Width_0", 2),
		layer("MVAU_0", 2, "conv"), layer("Thresholding_0", 1, "bn"), layer("Width_1", 2), layer("MVAU_1", 4, "fc"),
		layer("MVAU_2_0", 4, "large"),
		layer("MVAU_2_1", 4, "large")},
		FIFOs: []report.FIFORow{{From: "SWG_0", To: "Width_0"}, {From: "Width_0", To: "MVAU_0"},
			{From: "Width_1", To: "MVAU_1"}}}
	var got []string
	for _, p := range pairs([2]*report.Page{a, b}) {
		lut := p.sum(func(l *report.LayerRow) int { return l.LUT })
		got = append(got, fmt.Sprintf("%s: %s=%s", p.names(), lut.Of[0], lut.Of[1]))
	}
	want := []string{"SWG_0: 10=20", "MVAU_0: 10=20", "Width_0 → Width_1: 10=20", "MVAU_1: 10=40", "Only_0: 10=",
		"MVAU_2 → MVAU_2_0, MVAU_2_1: 80=80", "Width_0: =20", "Thresholding_0: =10"}
	if !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
}

// TestDifferencesFirst checks that what differs comes before what does not, with the change of numbers.
func TestDifferencesFirst(t *testing.T) {
	t.Parallel()
	design := func(name string, lut int, layers ...report.LayerRow) Design {
		return Design{name, &report.Page{Model: "net", Board: name, Block: "RAMB18", Layers: layers,
			Resources: []report.ResourceUse{{Name: "LUT", Used: lut, Budget: 1000, Board: 2000},
				{Name: "DSP", Used: 5, Budget: 7, Board: 9}}}}
	}
	page, err := RenderTwoAsHTML(design("a", 100, layer("MVAU_0", 1, "same"), layer("MVAU_1", 2, "fc")),
		design("b", 150, layer("MVAU_0", 1, "same"), layer("MVAU_1", 4, "fc")))
	if err != nil {
		t.Fatal(err)
	}
	_, text := elementsOf(t, page)
	text = strings.Join(strings.Fields(text), " ")
	last := 0
	for _, want := range []string{"What differs", "board a b", "LUT 100 150 +50 (+50 %)",
		"Layers that differ: 1 of 2", "MVAU_1 fc 2 → 4", "20 → 40", "FIFOs that differ: 0 of 0",
		"The rest is the same", "model net", "DSP in the budget 7", "MVAU_0 same 1"} {
		at := strings.Index(text, want)
		if at < last {
			t.Errorf("%q at %d, behind %d, in\n%s", want, at, last, text)
		}
		last = max(at, last)
	}
}

// TestNoPicture checks that a picture that is none, and a spot without a row, are errors.
func TestNoPicture(t *testing.T) {
	t.Parallel()
	for _, p := range []Picture{{SVG: []byte("text")}, {SVG: []byte("<svg></svg>"), Spots: []Spot{{Row: 1}}}} {
		if _, err := (&Sweep{Pictures: []Picture{p}}).RenderHTML(); err == nil {
			t.Errorf("%+v is drawn", p)
		}
	}
}
