package sweep

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"hlsgen/folding"
	"hlsgen/internal/diag"
	"hlsgen/internal/testsupport/tier"
)

// TestPictureTells checks what the pictures of a sweep show: no point over its budget's line is drawn as one that fits,
// what does not fit is struck out beyond some budget, a board has one colour, and a clock one mark.
func TestPictureTells(t *testing.T) {
	t.Parallel()
	tier.NotQuick(t)
	o := small(t.TempDir())
	o.MaxUses = []folding.MaxUseFractions{{}, {LUT: 0.03, LUTRAM: 0.03, FF: 1, BRAM: 1, URAM: 1, DSP: 1, Mean: 1}}
	o.Computes = o.Computes[:1]
	r := run(t, o)
	fits, over := 0, 0
	for i := range r.Points {
		p := &r.Points[i]
		switch {
		case p.Status == PointStatusFits:
			fits++
			if !p.Resources.IsWithin(p.Budget) || p.Over != nil {
				t.Errorf("point %d takes %+v of %+v", i, p.Resources, p.Budget)
			}
		case p.Over != nil:
			over++
			if p.Over.Resources.IsWithin(p.Budget) || p.Over.FPS < p.FPSAsked {
				t.Errorf("point %d does not fit with %+v of %+v, at %v of %v", i, p.Over.Resources, p.Budget,
					p.Over.FPS, p.FPSAsked)
			}
		case p.FPSAsked < 1e12: // which no budget makes possible
			t.Errorf("point %d has no design: %s", i, p.Reason)
		}
	}
	if fits == 0 || over == 0 {
		t.Fatalf("%d points fit, %d do not", fits, over)
	}
	colours, marks := map[string]int{}, map[string]int{}
	for _, f := range r.fronts() {
		_, at, err := f.DrawSVG()
		if err != nil {
			t.Fatal(err)
		}
		for s := range f.Series {
			board, clock, _ := strings.Cut(f.Series[s].Name, ", ")
			oneNumber(t, colours, board, f.Series[s].Colour)
			oneNumber(t, marks, clock, f.Series[s].Mark)
			line := 0.0
			for b, x := range at.Budgets {
				if f.Budgets[b].Colour == f.Series[s].Colour {
					line = max(line, x)
				}
			}
			for k, i := range f.dots[s] {
				if r.Points[i].Status != PointStatusFits || at.Dots[s][k].X > line+1e-6 {
					t.Errorf("%s: point %d at %v is drawn as fitting, the budget is at %v", f.file, i,
						at.Dots[s][k].X, line)
				}
			}
			for _, i := range f.over[s] {
				if r.Points[i].Status == PointStatusFits {
					t.Errorf("%s: point %d is struck out", f.file, i)
				}
			}
		}
	}
	if len(colours) != 2 || len(marks) != 2 {
		t.Errorf("colours %v, marks %v", colours, marks)
	}
	pageTells(t, r)
}

// oneNumber checks that a name has one number, and a number one name.
func oneNumber(t *testing.T, numbers map[string]int, name string, number int) {
	t.Helper()
	for other, n := range numbers {
		if (other == name) != (n == number) {
			t.Errorf("%s has %d, %s has %d", name, number, other, n)
		}
	}
	numbers[name] = number
}

// pageTells checks the page of a sweep: a row for every point, and spots that lead to rows, or to builds where there
// are some.
func pageTells(t *testing.T, r *SweepReport) {
	t.Helper()
	text, err := os.ReadFile(r.PathInOutputFolder(PageFileName))
	if err != nil {
		t.Fatal(err)
	}
	rows := regexp.MustCompile(`<tr id="(point-\d+)" data-state="([^"]+)"`).FindAllStringSubmatch(string(text), -1)
	if len(rows) != len(r.Points) {
		t.Fatalf("%d rows of %d points", len(rows), len(r.Points))
	}
	for i, row := range rows {
		if (row[2] == "fits") != (r.Points[i].Status == PointStatusFits) {
			t.Errorf("row %v of a point that %s", row, r.Points[i].Status)
		}
	}
	spots := regexp.MustCompile(`<a href="([^"]*)" aria-label="[^"]+"><circle class="spot" data-row="(point-\d+)"`)
	drawn := spots.FindAllStringSubmatch(string(text), -1)
	if len(drawn) == 0 {
		t.Fatal("no spots")
	}
	for _, s := range drawn {
		if s[1] != "#"+s[2] {
			t.Errorf("%v leads elsewhere", s)
		}
	}
	c := r.ChosenPoint()
	for _, there := range []struct{ file, link string }{{"manifest.json", "points/" + c.ID + "/"},
		{"report/report.html", "points/" + c.ID + "/report/report.html"}} {
		path := filepath.Join(r.Out, pointsFolder, c.ID, filepath.FromSlash(there.file))
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, nil, 0o644); err != nil {
			t.Fatal(err)
		}
		var d diag.List
		again := OpenSweep(r.Out, &d)
		if again == nil {
			t.Fatal(d.Diags)
		}
		for from, prefix := range map[string]string{r.Out: "", filepath.Dir(r.Out): filepath.Base(r.Out) + "/"} {
			page, err := again.HTMLPage(from)
			if err != nil || !strings.Contains(string(page), `<a href="`+prefix+there.link+`"`) {
				t.Errorf("%v: no link to %s%s", err, prefix, there.link)
			}
		}
	}
}

// TestSweepWithHostileNames draws a sweep of a model and a board with names that are no names.
func TestSweepWithHostileNames(t *testing.T) {
	t.Parallel()
	for _, name := range []string{`</script><img src=x onerror=alert(1)>`, strings.Repeat("x", 2000),
		"\x1b[31m\a\x00"} {
		r := &SweepReport{Model: name, Out: t.TempDir(), Points: []PointResult{
			{ID: "0123", Board: name, Part: name, Status: PointStatusFits, FPS: 5, Interval: 8, Reached: 100,
				ClockMHz: 100, Bottleneck: name, Chosen: true, Cycles: []LayerClocksPerFrame{{name, 8}}},
			{Board: name, Status: PointStatusRefused, Reason: name, Memory: name}}}
		r.Points[0].Resources.LUT, r.Points[0].Budget.LUT = 7, 9
		files, err := r.files()
		if err != nil {
			t.Fatal(err)
		}
		page, err := r.HTMLPage(r.Out)
		if err != nil {
			t.Fatal(err)
		}
		for _, f := range append(files, file{PageFileName, page}) {
			if strings.HasSuffix(f.name, ".png") {
				continue
			}
			text, data := string(f.data), f.name == sheetFile || f.name == "sweep.csv"
			if strings.Contains(text, "<img") && !data ||
				strings.ContainsAny(text, "\x1b\x00\a") {
				t.Errorf("%s has %q as it is", f.name, name)
			}
		}
	}
}
