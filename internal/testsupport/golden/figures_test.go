package golden

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// TestSplit checks which numbers are figures, and that figures can be put back.
func TestSplit(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"fits yes: 25,293 of 161,280 LUT (2,376 of them)":    "fits yes: # of # LUT (# of them)",
		"MVAU_0 on zcu104 (xczu7ev-ffvc1156-2-e) at 200 MHz": "MVAU_0 on zcu104 (xczu7ev-ffvc1156-2-e) at # MHz",
		"load 5.325 % of 8x8 pixels, 2-bit weights.":         "load # % of 8x8 pixels, 2-bit weights.",
		"one every 12.5 clocks; -3 to 4, 5.":                 "one every # clocks; # to #, #.",
		"a (64-64-10) and s1, /features/features.0/MatMul":   "a (64-64-10) and s1, /features/features.0/MatMul",
		"[88 3] 1000000000000 frames":                        "[# #] # frames",
	} {
		holed, figures := split(text)
		if holed != want {
			t.Errorf("%q, want %q", holed, want)
		}
		if back, err := filled(holed, figures); err != nil || back != text {
			t.Errorf("%q, %v", back, err)
		}
	}
	_, figures := split("fits yes: 25,293 of 161,280 LUT\nMVAU_0 2 4 lut 7\n  1 2\n")
	var labels []string
	for _, f := range figures {
		labels = append(labels, f.Label+"="+f.Value)
	}
	want := "fits yes: # of=25,293; fits ... of # LUT=161,280; MVAU_0 #=2; MVAU_0 ... # lut=4; MVAU_0 ... lut #=7; " +
		"row, number 1=1; row, number 2=2"
	if got := strings.Join(labels, "; "); got != want {
		t.Errorf("%s, want %s", got, want)
	}
}

// priced is a golden file with figures, and pricedFigure the file of its figures.
const (
	priced       = "-- sum --\nfits: # of # LUT\n"
	pricedFigure = "golden,figure,value\nown/a sum,fits: # of,\"1,000\"\nown/a sum,fits: ... of # LUT,20\n" +
		"other/b x,y #,3\n"
)

// TestFigures checks the message about figures that differ, and the files that -figures writes. It writes none where
// the words of the text differ, too, or where only spaces do.
func TestFigures(t *testing.T) {
	t.Parallel()
	const table = "| golden | figure | old | new | per cent |\n| --- | --- | --: | --: | --: |\n"
	for _, c := range []struct {
		name            string
		got             string
		update, figures bool
		fails           string // contained in what fails; empty: nothing does
		file, text      string // that are written; empty: as they were
	}{
		{name: "equal", got: "fits: 1,000 of 20 LUT"},
		{name: "other figures", got: "fits: 1,100 of 20 LUT",
			fails: "other figures (-figures to accept)\n" + table +
				"| own/a sum | fits: # of | 1,000 | 1,100 | +10.00 |\n"},
		{name: "other text", got: "fills: 1,000 of 20 LUT", fails: "section sum (-update to accept)"},
		{name: "other text, and -figures", got: "fills: 1,100 of 20 LUT", figures: true,
			fails: "section sum (-update to accept)"},
		{name: "-figures", got: "fits: 1,100 of 20 LUT", figures: true,
			file: "golden,figure,value\nother/b x,y #,3\nown/a sum,fits: # of,\"1,100\"\n" +
				"own/a sum,fits: ... of # LUT,20\n"},
		{name: "-update", got: "5 fit", update: true, text: "-- sum --\n# fit\n",
			file: "golden,figure,value\nother/b x,y #,3\nown/a sum,# fit,5\n"},
		{name: "other spaces", got: "fits:  1,000 of 20 LUT", fails: "section sum (-update to accept)"},
		{name: "other spaces, and -figures", got: "fits:  1,000 of 20 LUT", figures: true,
			fails: "section sum (-update to accept)"},
		{name: "other spaces, and -update", got: "fits:  1,000 of 20 LUT", update: true,
			text: "-- sum --\nfits:  # of # LUT\n", file: pricedFigure},
		{name: "other spaces and figures", got: "fits:  100\n of 20 LUT",
			fails: "other figures (-figures to accept)\n" + table +
				"| own/a sum | fits: # of | 1,000 | 100 | -90.00 |\n"},
		{name: "other spaces and figures, and -figures", got: "fits:  100\n of 20 LUT", figures: true,
			text: "-- sum --\nfits:  #\n of # LUT\n",
			file: "golden,figure,value\nother/b x,y #,3\nown/a sum,fits: # of,100\n" +
				"own/a sum,fits: ... of # LUT,20\n"},
		{name: "a hole of its own", got: "fits: # of 20 LUT", fails: "which stands for a figure"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			root := t.TempDir()
			files := map[string]string{"go.mod": "", "own/a.txtar": priced, figuresFile: pricedFigure}
			for name, text := range files {
				path := filepath.Join(root, filepath.FromSlash(name))
				if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
					t.Fatal(err)
				}
				if err := os.WriteFile(path, []byte(text), 0o666); err != nil {
					t.Fatal(err)
				}
			}
			log := strings.Join(runs(filepath.Join(root, "own"), c.update, func(f *Folder, t testing.TB) {
				f.figures = c.figures
				f.Case(t, "a").WantScreen("sum", c.got, strings.Join(strings.Fields(c.got), " "))
			}), "; ")
			if (c.fails == "") != (log == "") || !strings.Contains(log, c.fails) {
				t.Errorf("it fails with %q, want %q", log, c.fails)
			}
			for name, want := range map[string]string{figuresFile: c.file, "own/a.txtar": c.text} {
				if want == "" {
					want = files[name]
				}
				got, err := os.ReadFile(filepath.Join(root, filepath.FromSlash(name)))
				if err != nil || string(got) != want {
					t.Errorf("%s is %q (%v), want %q", name, got, err, want)
				}
			}
			if c.fails == "" && c.file == "" {
				if got := Text(t, filepath.Join(root, "own", "a.txtar"), "sum"); got != c.got+"\n" {
					t.Errorf("the text is %q", got)
				}
			}
		})
	}
}

// TestOrphans checks that figures of missing sections and files are reported.
func TestOrphans(t *testing.T) {
	t.Parallel()
	root := t.TempDir()
	if err := os.MkdirAll(filepath.Join(root, "internal", "testsupport", "golden"), 0o777); err != nil {
		t.Fatal(err)
	}
	for name, text := range map[string]string{"go.mod": "", figuresFile: pricedFigure + "./z y,w #,1\n"} {
		if err := os.WriteFile(filepath.Join(root, filepath.FromSlash(name)), []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	log := runs(filepath.Join(root, "own"), true, func(f *Folder, t testing.TB) {
		f.Case(t, "c").Want("x", []byte("1"))
	})
	if want := figuresFile + ": no test claims own/a"; !slices.Contains(log, want) {
		t.Errorf("%q, want %q", log, want)
	}
}

// TestDifference checks the table of differences.
func TestDifference(t *testing.T) {
	t.Parallel()
	old := []Figure{{"a #", "1,000"}, {"b #", "2"}, {"b #", "3"}, {"c #", "0"}}
	now := []Figure{{"a #", "900"}, {"b #", "2"}, {"b #", "4.5"}, {"d #", "7"}, {"c #", "1"}}
	want := "| golden | figure | old | new | per cent |\n| --- | --- | --: | --: | --: |\n" +
		"| g | a # | 1,000 | 900 | -10.00 |\n| g | b # | 3 | 4.5 | +50.00 |\n| g | d # | - | 7 |  |\n" +
		"| g | c # | 0 | 1 |  |\n"
	if got := Difference("g", old, now); got != want {
		t.Errorf("got\n%swant\n%s", got, want)
	}
}
