package main

import (
	"encoding/json"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"hlsgen/internal/testsupport/tier"
)

// TestServedPage works a served page by keys in Chromium: every button builds the design that it says, and the page
// shows that. A board that does not exist is refused in words, and a build can be stopped.
func TestServedPage(t *testing.T) {
	t.Parallel()
	packages := tier.Needs(t, "browser")[0]
	dir := filesIn(t, nil)
	made := say(dir, nil, strings.Fields("build --board pynq-z1 --fps 1000 --no-csim --verify 1 --out built")...)
	if made.code != exitOK {
		t.Fatalf("%+v", made)
	}
	p := servesPage(t, dir, "built")
	cmd := exec.Command("node", "../../internal/browser/testdata/served.mjs", packages,
		filepath.Join(packages, "chromium"), p.address)
	said, err := cmd.Output()
	if err != nil {
		if x, ok := err.(*exec.ExitError); ok {
			t.Fatalf("%v: %s", err, x.Stderr)
		}
		t.Fatal(err)
	}
	var got struct {
		Faults []string
		Shown  []struct {
			Text     string
			Board    string
			Interval float64
			Clock    float64
		}
	}
	if err := json.Unmarshal(said, &got); err != nil || len(got.Shown) != 6 {
		t.Fatalf("%v: %s", err, said)
	}
	for _, fault := range got.Faults {
		t.Error(fault)
	}
	first, fastest, folded, least, other, reset := got.Shown[0], got.Shown[1], got.Shown[2], got.Shown[3], got.Shown[4],
		got.Shown[5]
	switch {
	case fastest.Interval >= first.Interval, folded.Interval <= fastest.Interval, least.Interval != folded.Interval,
		other.Board != "zcu104", other.Clock != 100, reset.Board != first.Board, reset.Interval != first.Interval:
		t.Errorf("the page shows %+v", got.Shown)
	}
	p.stop()
	<-p.code
}
