package main

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"
	"time"

	"hlsgen/folding"
	"hlsgen/internal/testsupport/schema"
	"hlsgen/internal/testsupport/tier"
)

// onto returns notes on a writer of unknown width.
func onto(w *bytes.Buffer) notes { return notes{Writer: w} }

// TestProgress checks that stages are shown only once a command takes long, and that they leave nothing behind.
func TestProgress(t *testing.T) {
	t.Parallel()
	var quick bytes.Buffer
	p := newProgress(onto(&quick), nil, false, logger(bare()))
	p.step("reading", 0, 0)
	p.close(true)
	if quick.Len() > 0 {
		t.Errorf("%q", quick.String())
	}

	var slow bytes.Buffer
	p = &progress{notes: onto(&slow), alive: true, log: logger(bare())}
	p.step("reading", 0, 0)
	p.step("importing", 0, 0)
	p.show()
	p.step("simulating", 3, 16)
	p.step("simulating", 16, 16)
	p.close(true)
	p.show() // too late: shows nothing
	if s := slow.String(); strings.Contains(s, "reading") || !strings.Contains(s, "importing") ||
		!strings.Contains(s, "simulating  0 s  18% |") || !strings.Contains(s, "(3/16)") {
		t.Errorf("%q", s)
	}
	if s := slow.String(); strings.TrimSpace(s[strings.LastIndex(strings.TrimRight(s, "\r"), "\r")+1:]) != "" {
		t.Errorf("the last line stays: %q", s)
	}
}

// TestStanding checks the text about a search that goes on.
func TestStanding(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		found *folding.BestDesignSoFarSummary
		want  string
	}{
		{nil, "no design yet"},
		{&folding.BestDesignSoFarSummary{Interval: 12288, Floor: 10604, Share: 0.62149},
			"12,288 clocks a frame, none below 10,604; 62.1 % of the budget"},
		{&folding.BestDesignSoFarSummary{Interval: 768, Floor: 768, Share: 0.876},
			"768 clocks a frame, the least there is; 87.6 % of the budget"},
		{&folding.BestDesignSoFarSummary{Interval: 1250, Share: 0.5}, "1,250 clocks a frame; 50.0 % of the budget"},
		{&folding.BestDesignSoFarSummary{Interval: 1, Floor: 1, Share: 0.5},
			"1 clock a frame, the least there is; 50.0 % of the budget"},
		{&folding.BestDesignSoFarSummary{Latency: 4447, Floor: 4000, Share: 0.5},
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

// TestPacing checks the text about samples that have passed so far.
func TestPacing(t *testing.T) {
	t.Parallel()
	for want, c := range map[string]struct{ done, total, seconds int }{
		"25,000 samples/s, 36 s left":    {100_000, 1_000_000, 4},
		"0.5 samples/s, 3 min 18 s left": {1, 100, 2},
		"10 samples/s, 0 s left":         {100, 100, 10},
	} {
		rate, left := pacing(c.done, c.total, time.Duration(c.seconds)*time.Second)
		if got := rate + ", " + left; got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}

// TestProgressFits checks that no line of a progress bar is wider than the terminal.
func TestProgressFits(t *testing.T) {
	t.Parallel()
	for _, width := range []int{60, 80, 120, 200} {
		for _, total := range []int{0, 16, 1_000_000} {
			for _, stage := range []string{"reading", folds, simulates} {
				var shown bytes.Buffer
				p := &progress{notes: onto(&shown), size: func() int { return width }, alive: true, log: logger(bare())}
				p.step(stage, 0, total)
				p.since = p.since.Add(-100 * time.Minute)
				p.show()
				p.stand(folding.BestDesignSoFarSummary{Interval: 123456789012, Floor: 123456789011, Share: 0.62149})
				p.bar.Describe(p.text())
				if total > 0 {
					p.step(stage, total/2, total)
					p.bar.Describe(p.text())
				}
				p.close(true)
				for line := range strings.SplitSeq(shown.String(), "\r") {
					if n := columnsOf(line); n >= width {
						t.Errorf("%d columns of %d: %q", n, width, line)
					}
				}
				expect(t, stage, shown.String(), stage+"  100 min 0 s")
			}
		}
	}
}

// TestProgressOfSearch checks that the folding stage shows the best design so far, within the width of the terminal.
// Messages meanwhile have lines of their own.
func TestProgressOfSearch(t *testing.T) {
	t.Parallel()
	var shown bytes.Buffer
	p := &progress{notes: onto(&shown), alive: true, log: logger(bare())}
	p.step(folds, 0, 0)
	p.show()
	p.stand(folding.BestDesignSoFarSummary{Interval: 123456789012, Floor: 123456789011, Share: 0.62149})
	p.say("the search ends")
	p.close(true)
	s := shown.String()
	for _, want := range []string{"folding  0 s; no design yet", "\rhlsgen: the search ends\n",
		"folding  0 s; 123,456,789,012 clocks a frame, none below 123,456,789,011"} {
		expect(t, "the terminal", s, want)
	}
	if strings.TrimSpace(s[strings.LastIndex(strings.TrimRight(s, "\r"), "\r")+1:]) != "" {
		t.Errorf("the last line stays: %q", s)
	}
}

// TestPhases checks the output about the phases of a build where stderr is a pipe: none by default, a line for each
// with --verbose, and an object for each with --log-format json.
func TestPhases(t *testing.T) {
	t.Parallel()
	build := "build " + iris + " --board pynq-z1 --no-csim --out "
	dir := filesIn(t, nil)
	if got := say(dir, nil, strings.Fields(build+"plain")...); got.code != exitOK || got.stderr != "" {
		t.Errorf("%+v", got)
	}
	phases := []string{"reading", "importing", "folding", "simulating", "generating", "writing", "finished"}
	got := say(dir, nil, strings.Fields(build+"spoken -v")...)
	lines := strings.Split(strings.TrimSpace(got.stderr), "\n")
	if got.code != exitOK || len(lines) != len(phases) {
		t.Fatalf("%+v", got)
	}
	for i, phase := range phases {
		if !strings.HasPrefix(lines[i], "hlsgen: "+phase+", after ") || !strings.HasSuffix(lines[i], " s") {
			t.Errorf("%q, want a line of %s", lines[i], phase)
		}
	}
	got = say(dir, nil, strings.Fields(build+"objects --log-format json")...)
	list := objects(t, got.stderr)
	if got.code != exitOK || len(list) != len(phases) {
		t.Fatalf("%+v", got)
	}
	for i, phase := range phases {
		_, timed := list[i]["elapsed_seconds"]
		if list[i]["phase"] != phase || list[i]["severity"] != "info" || !timed {
			t.Errorf("%v, want %s", list[i], phase)
		}
	}
}

// objects reads lines of JSON objects.
func objects(t *testing.T, text string) (list []map[string]any) {
	t.Helper()
	for line := range strings.Lines(text) {
		var v map[string]any
		if err := json.Unmarshal([]byte(line), &v); err != nil || v["severity"] == nil || v["message"] == nil {
			t.Errorf("%v: %s", err, line)
		}
		list = append(list, v)
	}
	return list
}

// TestQuiet checks that --quiet prints only errors, and the output that --json asks for.
func TestQuiet(t *testing.T) {
	t.Parallel()
	tier.NotQuick(t)
	dir := filesIn(t, nil)
	for _, c := range []struct {
		args           string
		code           int
		stdout, stderr string // contained; "" is nothing at all
	}{
		{"build " + iris + " --board pynq-z1 --no-csim --out a", exitOK, "", ""},
		{"build " + iris + " --board vck190 --no-csim --out b", exitOK, "", ""}, // which has a note
		{"build " + iris + " --board pynq-z1 --no-csim --json --out c", exitOK, `"fits": true`, ""},
		{"check", exitOK, "", ""},
		{"simulate", exitOK, "", ""},
		{"sweep --board pynq-z1 --fps 1000 --out d", exitOK, "", ""},
		{"build --board pynq-z1 --no-csim --fps 1e9", exitDiagnostics, "", "error[fps-unreachable]"},
		{"check --acc-bits 4", exitDiagnostics, "", "error[acc-bits-exceeded]"},
		{"build --bord x", exitUsage, "", "unknown flag: --bord"},
		{"build --board zcu104 -v", exitUsage, "", "--quiet and --verbose exclude each other"},
		{"simulate " + iris + " --input " + irisInputs + " --compare " + irisInputs, exitDiagnostics, "",
			"error[data-invalid]"},
	} {
		got := say(dir, nil, append(strings.Fields(c.args), "-q")...)
		if got.code != c.code {
			t.Errorf("%s: exit code %d, want %d", c.args, got.code, c.code)
		}
		expect(t, c.args+": stdout", got.stdout, c.stdout)
		expect(t, c.args+": stderr", got.stderr, c.stderr)
	}
}

// TestObjects checks that with --log-format json every line of stderr is an object, however a command ends, and beside
// --json, too.
func TestObjects(t *testing.T) {
	t.Parallel()
	tier.NotQuick(t)
	form := schema.Of(t, "log", "a line of stderr with --log-format json", record{})
	dir := filesIn(t, map[string]string{"json.yaml": "log-format: json\n", "bad.yaml": "log-format: json\nbord: x\n"})
	for _, c := range []struct {
		args string
		env  map[string]string
		code int
		want string // in stderr
	}{
		{"build --board zcu104 --no-csim --clock 900 --json --log-format json --out a", nil, exitOK,
			`{"severity":"warning","code":"clock-unreachable"`},
		{"build --board zcu104 --no-csim --clock 900 --log-format=json --out b", nil, exitOK,
			`{"severity":"warning","code":"clock-unreachable"`},
		{"check --acc-bits 4 --log-format json", nil, exitDiagnostics,
			`{"severity":"error","code":"acc-bits-exceeded"`},
		{"build --board zcu104 --fps 1e12 --json --log-format json", nil, exitDiagnostics,
			`{"severity":"error","code":"fps-unreachable"`},
		{"build --bord zcu104 --log-format json", nil, exitUsage,
			`{"severity":"error","message":"unknown flag: --bord, did you mean --board?",` +
				`"hint":"see hlsgen build --help"}`},
		{"build --bord zcu104", map[string]string{"HLSGEN_LOG_FORMAT": "json"}, exitUsage, `"severity":"error"`},
		{"simulate --config json.yaml", nil, exitOK, `"phase":"importing"`},
		{"check --config bad.yaml", nil, exitUsage, `unknown key`},
		{"simulate --log-format json", map[string]string{"HLSGEN_DEBUG": "1"}, exitOK,
			`{"severity":"debug","message":"importing","total":0}`},
		{"check -q --log-format json", nil, exitOK, ""},
		{"simulate --output - --log-format json", nil, exitOK, `"message":"digits-mlp-w2a2, engine fast: 141 samples"`},
	} {
		got := say(dir, c.env, strings.Fields(c.args)...)
		if got.code != c.code {
			t.Errorf("%s: exit code %d, want %d: %s", c.args, got.code, c.code, got.stderr)
		}
		expect(t, c.args, got.stderr, c.want)
		for i, v := range objects(t, got.stderr) {
			if v["severity"] != "debug" {
				form.Check(t, []byte(strings.Split(got.stderr, "\n")[i]))
			}
		}
	}
	if got := say(dir, nil, "check", "--log-format", "yaml"); got.code != exitUsage ||
		!strings.Contains(got.stderr, "formats are text, json") {
		t.Errorf("%+v", got)
	}
}
