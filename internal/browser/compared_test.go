package browser

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"hlsgen/folding"
	"hlsgen/folding/sweep"
	"hlsgen/internal/diag"
	"hlsgen/internal/options"
	"hlsgen/internal/testsupport/tier"
	"hlsgen/templates/compared"
)

// TestComparedPages opens pages of several designs in Chromium: of a sweep with points that do not fit, of two builds
// side by side, and both with hostile names.
func TestComparedPages(t *testing.T) {
	t.Parallel()
	packages := tier.Needs(t, "browser")[0]
	dir := t.TempDir()
	var d diag.List
	r, err := sweep.RunSweep(context.Background(), sweep.Options{OutputFolder: options.OutputFolder{Out: dir,
		Version: "test"}, Boards: []string{"pynq-z1", "zcu104"}, FPS: []float64{1e4, 1e6, 1e12},
		MaxUses: []folding.MaxUseFractions{{},
			{LUT: 0.03, LUTRAM: 0.03, FF: 1, BRAM: 1, URAM: 1, DSP: 1, Mean: 1}}}, &d)
	if err != nil || r == nil {
		t.Fatal(err, d.Diags)
	}
	var sheets []sheet
	add := func(name string, page []byte, err error) {
		t.Helper()
		file := filepath.Join(dir, name+".html")
		if err == nil {
			err = os.WriteFile(file, page, 0o666)
		}
		if err != nil {
			t.Fatal(err)
		}
		sheets = append(sheets, sheet{File: file})
	}
	page, err := r.HTMLPage(dir)
	add("sweep", page, err)
	a, b := pageOf(t, "", "zcu104"), pageOf(t, "", "pynq-z1")
	page, err = compared.RenderTwoAsHTML(compared.Design{Name: "a", Page: a}, compared.Design{Name: "b", Page: b})
	add("beside", page, err)
	page, err = compared.RenderTwoAsHTML(compared.Design{Name: hostileNames[0], Page: hostile(t, a)},
		compared.Design{Name: hostileNames[1], Page: hostile(t, b)})
	add("beside-hostile", page, err)
	r.Model = hostileNames[0]
	for i := range r.Points {
		p := &r.Points[i]
		p.Board, p.Bottleneck, p.Reason = hostileNames[i%4], hostileNames[(i+1)%4], hostileNames[(i+2)%4]
	}
	page, err = r.HTMLPage(dir)
	add("sweep-hostile", page, err)
	for _, a := range open(t, packages, sheets) {
		for _, fault := range a.Faults {
			t.Errorf("%s: %s", filepath.Base(a.File), fault)
		}
		if a.Plain < 1000 || strings.Contains(a.File, "hostile") && a.Plain < 2000 {
			t.Errorf("%s shows %d characters without scripts", a.File, a.Plain)
		}
	}
}
