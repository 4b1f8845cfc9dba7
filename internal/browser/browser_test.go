// Package browser opens pages of builds in Chromium. It has tests alone. They need what make browser makes.
//
// In come builds, out comes whether their pages are sound: nothing loads, no message, no violation of axe-core's rules,
// and all of it worked by keys. testdata/pages.mjs drives the browser, and keys.mjs the keys; unet_test.go draws
// networks, times_test.go measures.
package browser

import (
	"context"
	"encoding/json"
	"flag"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"hlsgen/internal/build"
	"hlsgen/internal/diag"
	"hlsgen/internal/options"
	"hlsgen/internal/report"
	"hlsgen/internal/testsupport/models"
	"hlsgen/internal/testsupport/tier"
	pages "hlsgen/templates/report"
)

var shots = flag.String("shots", "", "write pictures of all pages to this folder")

// A sheet is a page to open. A page with keys is worked by keys alone, too. Of a timed one only the times are taken.
type sheet struct {
	File  string `json:"file"`
	Keys  bool   `json:"keys"`
	Timed bool   `json:"timed"`
}

// An answer is what pages.mjs says of a page.
type answer struct {
	File    string     `json:"file"`
	Faults  []string   `json:"faults"`
	Paint   float64    `json:"paint"`  // ms
	Change  float64    `json:"change"` // ms
	Plain   int        `json:"plain"`  // characters without scripts
	Name    string     `json:"name"`   // of the downloaded file
	Folding string     `json:"folding"`
	Sums    [][]string `json:"sums"` // of What if
}

// sharedModels are models outside the repository whose pages are opened.
var sharedModels = []string{"brevitas/bilstm-h32-w4a8/model.onnx", "brevitas/cnv-w2a2/model.onnx",
	"zoo/espcn_nn_resize/model.onnx", "zoo/exmodels_branched_model_ch_last/model.onnx",
	"shelf/direction_classifier/qdq.onnx"}

// TestPages opens pages of builds in Chromium.
func TestPages(t *testing.T) {
	t.Parallel()
	packages := tier.Needs(t, "browser")[0]
	dir := t.TempDir()
	var sheets []sheet
	data := map[string]*pages.Page{}
	add := func(name string, p *pages.Page, keys bool) {
		t.Helper()
		shown, err := pages.RenderHTML(p)
		if err != nil {
			t.Fatal(err)
		}
		if len(shown) > 3e6 {
			t.Errorf("the page of %s has %d bytes, more than 3 MB", name, len(shown))
		}
		file := filepath.Join(dir, name+".html")
		if err := os.WriteFile(file, shown, 0o666); err != nil {
			t.Fatal(err)
		}
		sheets, data[file] = append(sheets, sheet{File: file, Keys: keys}), p
	}
	first := pageOf(t, "", "zcu104")
	add("first", first, true)
	add("hostile", hostile(t, first), false)
	add("digits-resnet-w4a4", pageOf(t, models.Find(t, "digits-resnet-w4a4").Path("model.onnx"), "zcu104"), true)
	add("named", pageOf(t, named(t), "zcu104"), false)
	add("unet", pageOf(t, unet(t), "zcu104"), true)
	if shared := tier.Shared(t); shared != "" {
		for _, path := range sharedModels {
			add(strings.Split(path, "/")[1], pageOf(t, filepath.Join(shared, "models", path), "zcu104"), tier.Long())
		}
		if tier.Long() {
			add("resnet50", pageOf(t, drawn(t, shared, "resnet50"), "alveo-u250"), true)
		}
	}
	for _, a := range open(t, packages, sheets) {
		name := filepath.Base(a.File)
		for _, fault := range a.Faults {
			t.Errorf("%s: %s", name, fault)
		}
		if a.Plain < 2000 {
			t.Errorf("%s shows %d characters without scripts", name, a.Plain)
		}
		t.Logf("%s: first paint after %.0f ms, a change takes %.1f ms", name, a.Paint, a.Change)
		if a.Folding != "" {
			checkFolding(t, data[a.File].WhatIf, a)
		}
	}
}

// drawn returns the file of a network of a published shape with random weights.
func drawn(t testing.TB, shared, name string) string {
	t.Helper()
	python, file := tier.Needs(t, "onnx")[0], filepath.Join(t.TempDir(), name+".onnx")
	cmd := exec.Command(python, filepath.Join(shared, "models", "scale", "gen.py"), name, file)
	if said, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, said)
	}
	return file
}

// pageOf builds a model for a board and returns the data of its page.
func pageOf(t testing.TB, model, board string) *pages.Page {
	t.Helper()
	var d diag.List
	r, err := build.Run(context.Background(), build.Options{Source: options.Source{Model: model},
		Hardware:     options.Hardware{Board: board},
		Verification: options.Verification{NoCSim: true, Verify: 1},
		OutputFolder: options.OutputFolder{Out: filepath.Join(t.TempDir(), "out")}}, &d)
	if err != nil || r == nil {
		t.Fatal(err, d.Diags)
	}
	text, err := os.ReadFile(filepath.Join(r.Out, pages.DataFile))
	if err != nil {
		t.Fatal(err)
	}
	p, err := pages.ParsePage(text, report.JSONVersion)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// hostileNames try to be more than text.
var hostileNames = []string{`</script><img src=x onerror=alert(1)>`, strings.Repeat("long ", 400),
	"a\x1b[31mb\x00\u202e", `"><svg onload=alert(2)>`}

// hostile returns a page with names that try to be more than text in all places of names.
func hostile(t *testing.T, p *pages.Page) *pages.Page {
	t.Helper()
	text, err := json.Marshal(p)
	if err != nil {
		t.Fatal(err)
	}
	var v any
	if err := json.Unmarshal(text, &v); err != nil {
		t.Fatal(err)
	}
	spoilt := []string{"name", "stream", "from", "to", "model", "board", "type", "text", "note", "hint", "file"}
	n := 0
	var spoil func(v any) any
	spoil = func(v any) any {
		switch v := v.(type) {
		case map[string]any:
			for key, x := range v {
				if text, ok := x.(string); ok && slices.Contains(spoilt, key) && text != "" {
					n++
					v[key] = hostileNames[n%len(hostileNames)]
					continue
				}
				v[key] = spoil(x)
			}
		case []any:
			for i, x := range v {
				if _, ok := x.(string); ok {
					n++
					v[i] = hostileNames[n%len(hostileNames)]
					continue
				}
				v[i] = spoil(x)
			}
		}
		return v
	}
	if text, err = json.Marshal(spoil(v)); err != nil {
		t.Fatal(err)
	}
	spoiled, err := pages.ParsePage(text, report.JSONVersion)
	if err != nil {
		t.Fatal(err)
	}
	if n < 100 {
		t.Errorf("%d names are hostile", n)
	}
	return spoiled
}

// open opens pages in Chromium.
func open(t testing.TB, packages string, sheets []sheet) (list []answer) {
	t.Helper()
	asked, err := json.Marshal(map[string]any{"pages": sheets, "shots": *shots})
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command("node", "testdata/pages.mjs", packages, string(asked))
	cmd.Stderr = os.Stderr
	said, err := cmd.Output()
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(said, &list); err != nil || len(list) != len(sheets) {
		t.Fatalf("%v: %s", err, said)
	}
	return list
}

// checkFolding holds that a downloaded folding file names folds that the page offers, and that the page's sums are
// theirs.
func checkFolding(t *testing.T, w *pages.WhatIf, a answer) {
	t.Helper()
	var file map[string]struct {
		PE, SIMD int
		Memory   string `json:"ram_style"`
		Compute  string `json:"resType"`
		Steps    string `json:"steps"`
	}
	if err := json.Unmarshal([]byte(a.Folding), &file); err != nil || a.Name != "folding.json" {
		t.Fatalf("%s: %v\n%s", a.Name, err, a.Folding)
	}
	changed := 0
	sums := make([]int, 6)
	for _, l := range w.Layers {
		asks := file[l.Name]
		k := slices.IndexFunc(l.Folds, func(f []int) bool {
			return f[0] == asks.PE && f[1] == asks.SIMD && w.Memories[f[2]] == asks.Memory &&
				w.Computes[f[3]] == asks.Compute && w.Steps[f[4]] == asks.Steps
		})
		if k < 0 {
			t.Errorf("%s: no fold is %+v", l.Name, asks)
			continue
		}
		if k != l.Chosen {
			changed++
		}
		for i, n := range l.Folds[k][6:12] {
			sums[i] += n
		}
	}
	if changed == 0 {
		t.Error("no fold was changed")
	}
	want := []string{"layers"}
	for i, n := range sums {
		if w.Device[i] > 0 {
			want = append(want, strconv.Itoa(n))
		}
	}
	got := slices.Clone(a.Sums[0])
	for i := range got {
		got[i] = strings.ReplaceAll(got[i], ",", "")
	}
	if !slices.Equal(got, want) {
		t.Errorf("the page shows %v, want %v", got, want)
	}
}
