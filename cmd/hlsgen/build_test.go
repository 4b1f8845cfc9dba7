package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"hlsgen/internal/build"
	"hlsgen/internal/diag"
	"hlsgen/internal/examples"
	"hlsgen/internal/report"
	"hlsgen/internal/source"
	"hlsgen/internal/testsupport/tier"
	"hlsgen/internal/verify"
)

// shownByDefault lists texts in the output of a build of the embedded example.
var shownByDefault = []string{
	"digits-mlp-w2a2 on zcu104 (xczu7ev-ffvc1156-2-e) at 187.5 MHz\n",
	"% (119/128; 95 % interval 87.2 to 96.3 %), of real digits\n",
	"verified     bit-exact: 16 samples, three engines (eval, cycle, csim)\n",
	"next         make -C DIR/hlsgen-out/digits-mlp-w2a2-zcu104/hls csim\n",
}

// TestBuild runs the default build with its C simulation, in an empty folder.
func TestBuild(t *testing.T) {
	t.Parallel()
	tier.Needs(t, "g++")
	dir := t.TempDir()
	got := say(dir, nil, "build", "--board", "zcu104")
	if got.code != exitOK || got.stderr != "" {
		t.Fatalf("%+v", got)
	}
	for _, want := range shownByDefault {
		expect(t, "stdout", got.stdout, want)
	}
	for _, f := range []string{"hls/Makefile", "hls/top.cpp", "report/layers.json", "folding.json", "manifest.json"} {
		if _, err := os.Stat(filepath.Join(dir, "hlsgen-out/digits-mlp-w2a2-zcu104", f)); err != nil {
			t.Error(err)
		}
	}
	again := say(dir, nil, "build", "--board", "zcu104")
	if again.code != exitDiagnostics || again.stdout != "" {
		t.Errorf("%+v", again)
	}
	expect(t, "stderr", again.stderr, "error[output-exists]")
	expect(t, "stderr", again.stderr, "`hlsgen explain output-exists` tells more\n")
}

// TestAssumedPLL checks that a build says, wherever it says what clock the board makes, that no source states the
// board's PLL, and says nothing where one does.
func TestAssumedPLL(t *testing.T) {
	t.Parallel()
	tier.NotQuick(t)
	dir := filesIn(t, nil)
	for _, c := range []struct {
		board   string
		assumed bool
	}{{"zcu102", true}, {"zcu104", false}} {
		args := strings.Fields("build " + iris + " --no-csim --verify 1 --force --out out --board " + c.board)
		got := say(dir, nil, args...)
		places := map[string]string{"stdout": got.stdout, "--json": say(dir, nil, append(args, "--json")...).stdout}
		for _, name := range []string{"README.md", "report/report.html"} {
			text, err := os.ReadFile(filepath.Join(dir, "out", name))
			if err != nil {
				t.Fatal(err)
			}
			places[name] = string(text)
		}
		for place, words := range map[string]string{
			"stdout": "of a PLL with 1500 MHz in the processor, as on most boards: no source states that of zcu102",
			"--json": `"assumed_pll_mhz": 1500`, "README.md": "No source states the processor's PLL on this board.",
			"report/report.html": "1500 MHz, assumed"} {
			said := strings.Join(strings.Fields(places[place]), " ")
			if strings.Contains(said, words) != c.assumed || said == "" {
				t.Errorf("%s of %s: %q is there: %v, want %v", place, c.board, words, !c.assumed, c.assumed)
			}
		}
	}
}

// TestBoardClock checks that a build says what clock results, if the board's PLL does not make the one asked for.
func TestBoardClock(t *testing.T) {
	t.Parallel()
	tier.NotQuick(t)
	dir := filesIn(t, nil)
	for _, c := range []struct{ flags, results string }{
		{"kv260 --clock 150", "142.857143 MHz"},
		{"kv260 --clock 200", ""},
		{"kv260", ""},
		{"kr260 --clock 199", "166.666667 MHz"},
		{"zcu104 --clock 200", "187.5 MHz"},
		{"zcu104", ""},
	} {
		args := "build " + iris + " --no-csim --verify 1 --force --out out --board " + c.flags
		got := say(dir, nil, strings.Fields(args)...)
		_, said, _ := strings.Cut(got.stdout, "on board     ")
		said, _, _ = strings.Cut(said, ", what the processor's dividers make")
		if got.code != exitOK || said != c.results {
			t.Errorf("%s: %q, want %q; %+v", c.flags, said, c.results, got)
		}
	}
}

// TestBuildKeeps checks the values of --force, and that a build names the files that it keeps.
func TestBuildKeeps(t *testing.T) {
	t.Parallel()
	dir := filesIn(t, map[string]string{"out/notes.txt": "mine"})
	build := strings.Fields("build " + iris + " --board pynq-z1 --no-csim --verify 1 --out")
	if got := say(dir, nil, append(build, "out", "--force=keep")...); got.code != exitDiagnostics {
		t.Errorf("%+v", got)
	}
	say(dir, nil, append(build, "made")...)
	write(t, filepath.Join(dir, "made", "notes.txt"), "mine")
	for _, c := range []struct {
		env    map[string]string
		more   string
		code   int
		stdout string
		stderr string
	}{
		{nil, "", exitDiagnostics, "", "error[output-exists]"},
		{nil, "--force=false", exitDiagnostics, "", "error[output-exists]"},
		{nil, "--force", exitDiagnostics, "", `what hlsgen did not write: "notes.txt"`},
		{map[string]string{"HLSGEN_FORCE": "1"}, "", exitDiagnostics, "", "error[output-foreign]"},
		{map[string]string{"HLSGEN_FORCE": "keep"}, "", exitOK, "kept         \"notes.txt\"\n", ""},
		{nil, "--force=keep --json", exitOK, `"kept": [`, ""},
	} {
		got := say(dir, c.env, append(append(build, "made"), strings.Fields(c.more)...)...)
		if got.code != c.code {
			t.Errorf("%v %s: %+v", c.env, c.more, got)
		}
		expect(t, "stdout", got.stdout, c.stdout)
		expect(t, "stderr", got.stderr, c.stderr)
	}
}

func TestBuildJSON(t *testing.T) {
	t.Parallel()
	dir := filesIn(t, map[string]string{
		"hlsgen.yaml": "model: " + iris + "\nboard: pynq-z1\nno-csim: true\nverify: 3\n",
		"sub/mine.json": `{"name":"mine","part":"xc7z020clg400-1","lut":20000,"ff":40000,"bram36":50,"uram":0,"dsp":66,"dsp_type":"DSP48E1",
			"host_port_bits":64,"default_clock_mhz":80,"part_source":"mine","resource_source":"mine"}`,
	})
	got := say(dir, nil, "build", "--json")
	if got.code != exitOK || got.stderr != "" {
		t.Fatalf("%+v", got)
	}
	var b built
	if err := json.Unmarshal([]byte(got.stdout), &b); err != nil {
		t.Fatal(err)
	}
	if b.Model != "model" || b.Board != "pynq-z1" || b.ClockMHz != 100 || b.FPS <= 0 || len(b.Layers) < 2 ||
		b.Verified.Samples != 3 || b.Latency <= 0 || b.Files < 10 || len(b.Prefix) == 0 || b.Diagnostics == nil ||
		b.Error != "" || strings.ReplaceAll(b.Out, dir, "DIR") != "DIR/hlsgen-out/model-pynq-z1" {
		t.Errorf("%s", got.stdout)
	}
	used := map[string]float64{}
	for _, s := range b.Resources {
		used[s.Name] = s.Used
	}
	lut := b.FIFOs.LUT + b.Host.LUT
	for _, l := range b.Layers {
		lut += l.Total.LUT
	}
	if used["LUT"] != float64(lut) || lut == 0 {
		t.Errorf("%v LUT, its layers, FIFOs and host port have %d", used["LUT"], lut)
	}

	// Flags and variables come first; the folding that was written is honoured.
	env := map[string]string{"HLSGEN_VERIFY": "0", "HLSGEN_BOARD": "zcu104"}
	got = say(dir, env, "build", "--json", "--board", "./sub/mine.json", "--folding",
		"hlsgen-out/model-pynq-z1/folding.json")
	var c built
	if err := json.Unmarshal([]byte(got.stdout), &c); err != nil || got.code != exitOK {
		t.Fatalf("%v, %+v", err, got)
	}
	if c.Board != "mine" || c.ClockMHz != 80 || c.Verified.Samples != 0 || c.Latency <= 0 || c.Interval != b.Interval {
		t.Errorf("%s", got.stdout)
	}

	got = say(dir, nil, "build", "--json")
	if list := object(t, got)["diagnostics"].([]any); got.code != exitDiagnostics || got.stderr != "" ||
		list[0].(map[string]any)["code"] != string(diag.OutputFolderUnusable) {
		t.Errorf("%+v", got)
	}
}

// TestDump checks that the graph is written after every pass that changed it.
func TestDump(t *testing.T) {
	t.Parallel()
	dir := filesIn(t, nil)
	got := say(dir, nil, "build", iris, "--board", "zcu104", "--no-csim", "--verify", "1", "--dump-passes", "passes")
	if got.code != exitOK {
		t.Fatalf("%+v", got)
	}
	all, err := filepath.Glob(filepath.Join(dir, "passes", "*.txt"))
	if err != nil || len(all) < 3 {
		t.Errorf("%v, %v", all, err)
	}
	got = say(dir, nil, "check", iris, "--dump-passes", "first", "--passes-until", "4") // the three before are of loops
	all, err = filepath.Glob(filepath.Join(dir, "first", "*.txt"))
	if err != nil || len(all) != 1 || filepath.Base(all[0]) != "04-fold-constants.txt" {
		t.Errorf("%v, %v, %+v", all, err, got)
	}
}

func TestVerified(t *testing.T) {
	t.Parallel()
	own := source.ReadModelFile("", &diag.List{})
	for _, c := range []struct {
		v    verify.VerificationReport
		from *source.ModelSource
		want string
	}{
		{verify.VerificationReport{Samples: 16, Engines: []string{"eval", "cycle", "csim"}}, own,
			"bit-exact: 16 samples, three engines (eval, cycle, csim)"},
		{verify.VerificationReport{Samples: 1, Engines: []string{"eval", "cycle"}}, own,
			"bit-exact: 1 sample, two engines (eval, cycle)"},
		{verify.VerificationReport{Samples: 4, Engines: []string{"eval", "cycle"}, Left: "csim"},
			&source.ModelSource{},
			"bit-exact: 4 samples, two engines (eval, cycle), random inputs in range; left out: csim"},
		{verify.VerificationReport{}, own, "not verified: no samples were asked for (--verify 0)"},
	} {
		if got := verified(&build.Result{Build: report.Build{Source: c.from, Verified: c.v,
			RealSamples: c.from == own}}); got != c.want {
			t.Errorf("%q, want %q", got, c.want)
		}
	}
	if examples.NamesAndDocs[0].Name != own.Name {
		t.Errorf("the example is %s, the list begins with %s", own.Name, examples.NamesAndDocs[0].Name)
	}
}

func TestQuoted(t *testing.T) {
	t.Parallel()
	for path, want := range map[string]string{
		"hlsgen-out/a_1.b-zcu104/hls": "hlsgen-out/a_1.b-zcu104/hls",
		"my model":                    "'my model'",
		"it's; rm":                    `'it'\''s; rm'`,
		"":                            "''",
		"$(x)":                        "'$(x)'",
	} {
		if got := quoted(path); got != want {
			t.Errorf("%q: %s, want %s", path, got, want)
		}
	}
}
