package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"hlsgen/internal/testsupport/tier"
)

// TestReportOfSeveral writes the pages of a sweep and of two builds side by side.
func TestReportOfSeveral(t *testing.T) {
	t.Parallel()
	tier.NotQuick(t)
	dir := filesIn(t, nil)
	for _, line := range []string{"build " + iris + " --board pynq-z1 --no-csim --verify 0 --out a",
		"build " + iris + " --board zcu104 --backend rtl --interval 8 --no-csim --verify 0 --out b/a",
		"sweep " + iris + " --board pynq-z1,zcu104 --interval 8,32 --out swept"} {
		if got := say(dir, nil, strings.Fields(line)...); got.code != exitOK {
			t.Fatalf("%+v", got)
		}
	}
	for _, c := range []struct {
		args, file string
		want       reportMade
		texts      []string // of the page
	}{
		{"report swept", "swept.html", reportMade{Kind: "sweep", Points: 4},
			[]string{": a sweep</title>", `href="#point-3"`, "budget of zcu104"}},
		{"report swept --out swept/mine.html", "swept/mine.html", reportMade{Kind: "sweep", Points: 4}, nil},
		{"report a b/a", "a-a.html", reportMade{Kind: "two builds", Board: "pynq-z1", OtherBoard: "zcu104"},
			[]string{"<title>a and b/a</title>", "What differs", "zcu104"}},
		{"report a a --force", "a-a.html", reportMade{Kind: "two builds", Board: "pynq-z1", OtherBoard: "pynq-z1"},
			[]string{"Nothing but what the tables", "Layers that differ: 0 of"}},
		{"report a", "a.html", reportMade{Kind: "build", Board: "pynq-z1"}, nil},
	} {
		got := say(dir, nil, append(strings.Fields(c.args), "--json")...)
		var made reportMade
		if err := json.Unmarshal([]byte(got.stdout), &made); err != nil || got.code != exitOK {
			t.Errorf("%s: %v, %+v", c.args, err, got)
			continue
		}
		page, err := os.ReadFile(filepath.Join(dir, c.file))
		if err != nil || made.Kind != c.want.Kind || made.Points != c.want.Points || made.Board != c.want.Board ||
			made.OtherBoard != c.want.OtherBoard || made.Bytes != len(page) {
			t.Errorf("%s: %v, %+v", c.args, err, made)
		}
		for _, text := range c.texts {
			if !strings.Contains(string(page), text) {
				t.Errorf("%s: no %q in the page", c.args, text)
			}
		}
	}
	if swept := read(t, dir, "swept/sweep.html"); swept != read(t, dir, "swept.html") {
		t.Error("report draws another page of a sweep than sweep does")
	}
	for _, c := range []struct{ args, want string }{
		{"report a swept", "holds no page of a build"}, {"report a none", "holds no page of a build"},
	} {
		got := say(dir, nil, strings.Fields(c.args)...)
		if got.code != exitDiagnostics || !strings.Contains(got.stderr, c.want) {
			t.Errorf("%s: %+v", c.args, got)
		}
	}
	write(t, filepath.Join(dir, "swept/sweep.json"), `{"points": [`)
	if got := say(dir, nil, "report", "swept", "--force"); got.code != exitDiagnostics ||
		!strings.Contains(got.stderr, "give the folder of a finished sweep") {
		t.Errorf("%+v", got)
	}
}
