package main

import (
	"bytes"
	"os"
	"strings"
	"testing"
	"time"

	"hlsgen/folding"
)

func TestInk(t *testing.T) {
	t.Parallel()
	if got := ink(false).red("x") + ink(false).bold("y"); got != "xy" {
		t.Errorf("%q", got)
	}
	if got := ink(true).red("x") + ink(true).bold("y") +
		ink(true).yellow("z"); got != "\x1b[1;31mx\x1b[0m\x1b[1my\x1b[0m\x1b[33mz\x1b[0m" {
		t.Errorf("%q", got)
	}
	file, err := os.Create(t.TempDir() + "/file")
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	a := bare()
	if a.ink(file) || a.ink(&bytes.Buffer{}) {
		t.Error("a file is no terminal")
	}
}

// TestProgress holds that stages are shown only once a command takes long, and leave nothing behind.
func TestProgress(t *testing.T) {
	t.Parallel()
	var quick bytes.Buffer
	p := newProgress(&quick, bare().logger())
	p.step("reading", 0, 0)
	p.close()
	if quick.Len() > 0 {
		t.Errorf("%q", quick.String())
	}

	var slow bytes.Buffer
	p = &progress{alive: true, log: bare().logger()}
	p.step("reading", 0, 0)
	p.step("importing", 0, 0)
	p.show(&slow)
	p.step("simulating", 3, 16)
	p.step("simulating", 16, 16)
	p.close()
	p.show(&slow) // too late: shows nothing
	if s := slow.String(); strings.Contains(s, "reading") || !strings.Contains(s, "importing") ||
		!strings.Contains(s, "simulating  18% |") || !strings.Contains(s, "(3/16)") {
		t.Errorf("%q", s)
	}
	if s := slow.String(); strings.TrimSpace(s[strings.LastIndex(strings.TrimRight(s, "\r"), "\r")+1:]) != "" {
		t.Errorf("the last line stays: %q", s)
	}
}

// TestStanding holds what is said of a search that goes on.
func TestStanding(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		found *folding.Standing
		want  string
	}{
		{nil, "no design yet"},
		{&folding.Standing{Interval: 12288, Floor: 10604, Share: 0.62149},
			"12,288 clocks a frame, none below 10,604; 62.1 % of the budget"},
		{&folding.Standing{Interval: 768, Floor: 768, Share: 0.876},
			"768 clocks a frame, the least there is; 87.6 % of the budget"},
		{&folding.Standing{Interval: 1250, Share: 0.5}, "1,250 clocks a frame; 50.0 % of the budget"},
		{&folding.Standing{Interval: 1, Floor: 1, Share: 0.5},
			"1 clock a frame, the least there is; 50.0 % of the budget"},
		{&folding.Standing{Latency: 4447, Floor: 4000, Share: 0.5},
			"latency 4,447 clocks, none below 4,000; 50.0 % of the budget"},
	} {
		if got := standing(c.found); got != c.want {
			t.Errorf("%q, want %q", got, c.want)
		}
	}
	for s, want := range map[float64]string{0.9: "0 s", 59.99: "59 s", 60: "1 min 0 s", 3725: "62 min 5 s"} {
		if got := elapsed(time.Duration(s * float64(time.Second))); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}

// TestPacing holds what is said of samples that pass.
func TestPacing(t *testing.T) {
	t.Parallel()
	for want, c := range map[string]struct{ done, total, seconds int }{
		"simulating  25,000 samples/s, 36 s left":    {100_000, 1_000_000, 4},
		"simulating  0.5 samples/s, 3 min 18 s left": {1, 100, 2},
		"simulating  10 samples/s, 0 s left":         {100, 100, 10},
	} {
		if got := pacing(c.done, c.total, time.Duration(c.seconds)*time.Second); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}

// TestProgressOfSearch holds that the stage that folds shows what it has, in no more columns than there are, and that
// what is said meanwhile has a line of its own.
func TestProgressOfSearch(t *testing.T) {
	t.Parallel()
	var shown bytes.Buffer
	p := &progress{alive: true, log: bare().logger()}
	p.step(folds, 0, 0)
	p.show(&shown)
	p.stand(folding.Standing{Interval: 123456789012, Floor: 123456789011, Share: 0.62149})
	p.say("the search ends")
	p.close()
	s := shown.String()
	for _, want := range []string{"folding  no design yet; 0 s", "\rhlsgen: the search ends\n",
		"folding  123,456,789,012 clocks a frame, none below 123,456,789,011; 62.1..."} {
		expect(t, "the terminal", s, want)
	}
	if strings.TrimSpace(s[strings.LastIndex(strings.TrimRight(s, "\r"), "\r")+1:]) != "" {
		t.Errorf("the last line stays: %q", s)
	}
}
