package build

import (
	"html"
	"strings"
	"testing"

	"hlsgen/internal/diag"
	"hlsgen/internal/options"
	"hlsgen/internal/report"
	"hlsgen/internal/source"
	"hlsgen/internal/testsupport/samplefiles"
	pages "hlsgen/templates/report"
)

// TestPage holds that a build's page shows what the build knows, with the model's name as text.
func TestPage(t *testing.T) {
	t.Parallel()
	model := samplefiles.WriteFile(t, "<b>net & co.onnx", source.ReadModelFile("", &diag.List{}).ONNX)
	r, _ := told(t, Options{Source: options.Source{Model: model}, Hardware: options.Hardware{Board: "zcu104",
		ClockMHz: 900},
		Goal: options.Goal{FPS: 1e5}, Verification: options.Verification{NoCSim: true, Verify: 2}})
	page := string(readReport(t, r, "report/report.html"))
	wanted := []string{"<title>&lt;b&gt;net &amp; co on zcu104</title>", "clock-unreachable",
		"2 samples, engines eval, cycle", "INT13", "--fps", "<small>bottleneck</small>", ">starved</text>"}
	for _, line := range append(r.Design.Certificate.DescribeInLines(), r.Design.Bottleneck.Reason,
		r.Design.Bottleneck.Cure) {
		wanted = append(wanted, html.EscapeString(line))
	}
	for _, want := range wanted {
		if !strings.Contains(page, want) {
			t.Errorf("the page has no %q", want)
		}
	}
	for _, n := range r.Design.Model.Graph.Nodes {
		if strings.Count(page, n.Name) < 4 { // table, clocks, states, timeline
			t.Errorf("%s stands on the page %d times", n.Name, strings.Count(page, n.Name))
		}
	}
	for _, p := range r.Design.Model.Prefix.Nodes {
		if !strings.Contains(page, p) {
			t.Errorf("%s of the host is missing", p)
		}
	}
	if strings.Contains(page, "<b>net") || strings.Count(page, "<svg ") != 2 || strings.Count(page, "<script") != 2 {
		t.Error("a name is not escaped, or a picture is missing")
	}
}

// TestPageSources holds that the page has the generated text of every layer, in each language of the back ends.
func TestPageSources(t *testing.T) {
	t.Parallel()
	r, _ := told(t, Options{Hardware: options.Hardware{Board: "zcu104", Backend: options.BackendBoth},
		Verification: options.Verification{NoCSim: true}})
	p, err := pages.ParsePage(readReport(t, r, pages.DataFile), report.JSONVersion)
	if err != nil {
		t.Fatal(err)
	}
	for _, l := range p.Layers {
		if len(l.Sources) != 2 {
			t.Errorf("%s has the files %+v", l.Name, l.Sources)
			continue
		}
		for _, s := range l.Sources {
			if whole := string(readReport(t, r, s.File)); s.Text == "" || !strings.HasPrefix(whole, s.Text) ||
				len(whole) != len(s.Text)+s.More {
				t.Errorf("%s is not shown as it is", s.File)
			}
		}
	}
}

// A design that waits for the host has a bar for it beside those of the layers.
func TestPageOfHost(t *testing.T) {
	t.Parallel()
	r, _ := told(t, Options{Hardware: options.Hardware{Board: "zcu104"},
		Verification: options.Verification{NoCSim: true}})
	page := readReport(t, r, "report/report.html")
	bar := strings.Contains(string(page), `<th scope="row">host</th>`)
	if r.Design.Bottleneck.Host != bar || !bar {
		t.Errorf("%+v, or a bar that is missing", r.Design.Bottleneck)
	}
}

// TestPageSums holds that the page compares the sums of the given samples with the range that is proved, and has none
// of made-up samples.
func TestPageSums(t *testing.T) {
	t.Parallel()
	model := samplefiles.WriteFile(t, "made-up.onnx", source.ReadModelFile("", &diag.List{}).ONNX)
	for _, file := range []string{"", model} {
		r, _ := told(t, Options{Source: options.Source{Model: file}, Hardware: options.Hardware{Board: "zcu104"},
			Verification: options.Verification{NoCSim: true, Verify: 8}})
		p, err := pages.ParsePage(readReport(t, r, pages.DataFile), report.JSONVersion)
		if err != nil {
			t.Fatal(err)
		}
		if file == model {
			if len(p.Sums) > 0 {
				t.Errorf("made-up samples have sums %+v", p.Sums)
			}
			continue
		}
		if len(p.Sums) != len(r.Imported.Model.Graph.Nodes) {
			t.Errorf("%d layers have sums: %+v", len(p.Sums), p.Sums)
		}
		for _, s := range p.Sums {
			within := s.Min <= s.SeenMin && s.SeenMin < s.SeenMax && s.SeenMax <= s.Max && s.SeenBits <= s.Bits
			if !within || s.Samples != 8 {
				t.Errorf("%+v", s)
			}
		}
	}
}
