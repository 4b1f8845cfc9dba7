package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"hlsgen/internal/testsupport/golden"
	"hlsgen/internal/testsupport/schema"
	"hlsgen/internal/testsupport/tier"
)

// A bench is a build in a folder, with stand-ins for the vendor's tools. These note their actions in the file ran.
type bench struct{ dir, ran, tools string }

// newBench builds iris for a board, in a folder called "a [b] $c".
func newBench(t *testing.T, backend string) bench {
	t.Helper()
	tier.Needs(t, "make", "tclsh", "bash", "flock", "sha256sum")
	b := bench{dir: filesIn(t, nil), ran: filepath.Join(t.TempDir(), "ran")}
	var err error
	if b.tools, err = filepath.Abs("../../internal/synthesis/testdata/stand-in"); err != nil {
		t.Fatal(err)
	}
	b.build(t, "--interval", "1", "--backend", backend)
	return b
}

const built2 = "a [b] $c"

// build makes the build, or makes it again.
func (b bench) build(t *testing.T, args ...string) {
	t.Helper()
	got := say(b.dir, nil, append([]string{"build", iris, "--board", "pynq-z1", "--no-csim", "--verify", "1", "--force",
		"--out", built2}, args...)...)
	if got.code != exitOK {
		t.Fatalf("%+v", got)
	}
}

// hlsgen runs a command in a process of its own, with the stand-ins in its path. It returns the sorted actions of the
// stand-ins, too.
func (b bench) hlsgen(t *testing.T, env []string, args ...string) (got said, ran []string) {
	t.Helper()
	if err := os.RemoveAll(b.ran); err != nil {
		t.Fatal(err)
	}
	cmd, out, errs := b.command(t, env, args...)
	err := cmd.Run()
	if exit := new(exec.ExitError); err != nil && !errors.As(err, &exit) {
		t.Fatal(err)
	}
	text, _ := os.ReadFile(b.ran)
	ran = strings.FieldsFunc(string(text), func(r rune) bool { return r == '\n' })
	slices.Sort(ran)
	return said{cmd.ProcessState.ExitCode(), out.String(), errs.String()}, ran
}

func (b bench) command(t *testing.T, env []string, args ...string) (cmd *exec.Cmd, out, errs *bytes.Buffer) {
	cmd, _ = process(t, b.dir, append([]string{"PATH=" + b.tools + ":" + os.Getenv("PATH"), "RAN=" + b.ran}, env...),
		args...)
	out, errs = &bytes.Buffer{}, &bytes.Buffer{}
	cmd.Stdout, cmd.Stderr = out, errs
	return cmd, out, errs
}

// path returns the path of a file of the build.
func (b bench) path(name string) string {
	return filepath.Join(b.dir, built2, filepath.FromSlash(name))
}

// swap replaces text in a file of the build.
func (b bench) swap(t *testing.T, name, from, to string) {
	t.Helper()
	text, err := os.ReadFile(b.path(name))
	if err != nil || !bytes.Contains(text, []byte(from)) {
		t.Fatalf("%s has no %q: %v", name, from, err)
	}
	write(t, b.path(name), strings.Replace(string(text), from, to, 1))
}

// each lists the actions of the stand-ins for all layers and ends of the HLS flow.
var each = []string{"hls MVAU_0", "hls MVAU_1", "hls m_axis_0_end", "hls s_axis_0_end", "vivado MVAU_0",
	"vivado MVAU_1", "vivado m_axis_0_end", "vivado s_axis_0_end"}

// TestSynth checks that every layer goes through the tools once, and again only if one of its sources has changed. A
// layer that failed, was ended or is half-written does not count as done. The others go on.
func TestSynth(t *testing.T) {
	t.Parallel()
	tier.NotQuick(t)
	b := newBench(t, "hls")
	want := func(what string, env, ran []string, code int, stdout, stderr string, args ...string) {
		t.Helper()
		got, did := b.hlsgen(t, env, append([]string{"synth", built2}, args...)...)
		if got.code != code || !slices.Equal(did, ran) {
			t.Errorf("%s: ran %q, want %q; %+v", what, did, ran, got)
		}
		expect(t, what+": stdout", got.stdout, stdout)
		expect(t, what+": stderr", got.stderr, stderr)
	}
	want("HLS alone", nil, each[:4], exitOK, "4 parts, 4 synthesised now, 0 unchanged\n", "",
		"--until", "hls", "--jobs", "2")
	want("Vivado, too", nil, each[4:], exitOK, "4 parts, 4 synthesised now, 0 unchanged\n", "")
	want("again", nil, nil, exitOK, "0 synthesised now, 4 unchanged\nnext         hlsgen collect 'a [b] $c'\n", "")
	b.build(t, "--interval", "1", "--backend", "hls")
	want("after the same build", nil, nil, exitOK, "4 unchanged\n", "")
	b.swap(t, "hls/layers/MVAU_1.cpp", "void", "\nvoid")
	want("one layer", nil, []string{"hls MVAU_1"}, exitOK, "1 synthesised now, 3 unchanged\n", "")
	if err := os.Remove(b.path("synth/hls/MVAU_0/timing.rpt")); err != nil {
		t.Fatal(err)
	}
	want("a report that is gone", nil, []string{"vivado MVAU_0"}, exitOK, "1 synthesised now", "")
	b.swap(t, "hls/layers/MVAU_0.cpp", "void", "\nvoid")
	b.swap(t, "hls/layers/m_axis_0_end.cpp", "void", "\nvoid")
	want("a layer that fails in HLS", []string{"HLS_FAILS=MVAU_0"}, []string{"hls MVAU_0", "hls m_axis_0_end"},
		exitDiagnostics, "1 synthesised now, 2 unchanged\nfailed       MVAU_0\n",
		"error[synthesis-failed]: MVAU_0: Vitis HLS has failed\n   hls/build.ip/MVAU_0/log\n   hint: ")
	want("what it says", []string{"HLS_FAILS=MVAU_0"}, []string{"hls MVAU_0"}, exitDiagnostics, "failed       MVAU_0",
		"\n   also: ERROR: [HLS 207-3777] use of undeclared identifier 'x'", "--json=false")
	want("made up for", nil, []string{"hls MVAU_0"}, exitOK, "1 synthesised now, 3 unchanged\n", "")
	if err := os.RemoveAll(b.path("synth/hls/MVAU_1")); err != nil {
		t.Fatal(err)
	}
	want("in Vivado", []string{"VIVADO_FAILS=MVAU_1"}, []string{"vivado MVAU_1"}, exitDiagnostics,
		"failed       MVAU_1", "MVAU_1: Vivado has failed\n   synth/hls/MVAU_1/log\n")
	want("made up for", nil, []string{"vivado MVAU_1"}, exitOK, "1 synthesised now", "")
	want("a bitstream", nil, []string{"bitstream model_top"}, exitOK, "5 parts, 1 synthesised now, 4 unchanged\n", "",
		"--until", "bitstream")
	for _, name := range []string{"MVAU_0", "MVAU_1", "m_axis_0_end"} {
		b.swap(t, "hls/layers/"+name+".cpp", "\nvoid", "void")
	}
	b.build(t, "--interval", "1", "--backend", "hls")
	want("after the same build", nil, []string{"hls MVAU_0", "hls MVAU_1", "hls m_axis_0_end"}, exitOK,
		"5 parts, 3 synthesised now, 2 unchanged\n", "", "--until", "bitstream")
	write(t, b.path("vivado/build/model_top.bit"), "")
	want("a bitstream that fails", []string{"VIVADO_FAILS=bitstream"}, []string{"bitstream model_top"}, exitDiagnostics,
		"failed       model_top\n", "ERROR: [Synth 8-439]", "--until", "bitstream")
	want("made up for", nil, []string{"bitstream model_top"}, exitOK, "1 synthesised now", "", "--until", "bitstream")
	b.build(t, "--interval", "1", "--backend", "hls", "--clock", "50")
	want("another clock", nil, each, exitOK, "4 parts, 4 synthesised now", "")
}

// TestSynthIsResumed ends hlsgen in the middle. By a signal its tools end with it; killed, it leaves one that ends by
// itself. What was finished is not done again, by neither.
func TestSynthIsResumed(t *testing.T) {
	t.Parallel()
	for _, by := range []os.Signal{os.Interrupt, os.Kill} {
		b := newBench(t, "hls")
		released := filepath.Join(t.TempDir(), "go")
		cmd, _, errs := b.command(t, []string{"HLS_WAITS=MVAU_1", "GO=" + released}, "synth", built2, "--jobs", "1")
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		for tries := 0; ; tries++ {
			if _, err := os.Stat(released + ".waiting"); err == nil {
				break
			}
			if time.Sleep(10 * time.Millisecond); tries > 6000 {
				t.Fatalf("MVAU_1 is never synthesised: %s", errs)
			}
		}
		if err := cmd.Process.Signal(by); err != nil {
			t.Fatal(err)
		}
		cmd.Wait()
		before, err := os.ReadFile(b.ran)
		if err != nil {
			t.Fatal(err)
		}
		if by == os.Interrupt {
			if cmd.ProcessState.ExitCode() != exitInterrupted ||
				!strings.Contains(errs.String(), "are done: the same command goes on from there\n") {
				t.Errorf("%v: %s", cmd.ProcessState, errs)
			}
		} else if status := cmd.ProcessState.Sys().(syscall.WaitStatus); !status.Signaled() {
			t.Errorf("%v", status)
		}
		write(t, released, "")
		got, did := b.hlsgen(t, nil, "synth", built2)
		if got.code != exitOK {
			t.Fatalf("%+v", got)
		}
		all := strings.Fields(string(before))
		var again []string
		for _, task := range did {
			if slices.Contains(strings.Split(string(before), "\n"), task) {
				again = append(again, task)
			}
		}
		want := []string{"hls MVAU_1"}
		if by == os.Kill { // the one that was left has done its work
			want = nil
		}
		if !slices.Equal(again, want) || len(all) == 0 {
			t.Errorf("after %v: done before %q, and again %q", by, before, again)
		}
		if got, did := b.hlsgen(t, nil, "synth", built2); len(did) > 0 {
			t.Errorf("after %v not all was done: %q, %+v", by, did, got)
		}
	}
}

// TestSynthNeedsTools checks that a missing program is named, with a hint, and so is a folder that is no build.
func TestSynthNeedsTools(t *testing.T) {
	t.Parallel()
	b := newBench(t, "hls")
	for _, c := range []struct {
		path, env, stderr string
		args              []string
	}{
		{"", "X=", "error[tool-missing]: vitis_hls or vitis-run is not in the PATH\n   hint: source " +
			"settings64.sh", nil},
		{"", "HLSGEN_HLS=/no/vitis-run", "/no/vitis-run is not in the PATH", nil},
		{b.tools, "HLSGEN_VIVADO=/no/vivado", "/no/vivado is not in the PATH", nil},
		{"", "X=", "error[backend-unfit]: the build has no rtl", []string{"--backend", "rtl"}},
		{"", "X=", "did you mean bitstream?", []string{"--until", "bitstrem"}},
	} {
		cmd, _, errs := b.command(t, []string{"PATH=" + c.path + ":" + os.Getenv("PATH"), c.env},
			append([]string{"synth", built2}, c.args...)...)
		if err := cmd.Run(); err == nil {
			t.Errorf("%s: it runs", c.stderr)
		}
		expect(t, "stderr", errs.String(), c.stderr)
	}
	for folder, want := range map[string]string{
		".": "it is no folder that hlsgen build has written: it has no manifest.json", "none": "manifest.json",
	} {
		got := say(b.dir, nil, "synth", folder)
		if got.code != exitDiagnostics {
			t.Errorf("%+v", got)
		}
		expect(t, "stderr", got.stderr, want)
	}
	b.swap(t, "manifest.json", `"part": "xc7z020clg400-1"`, `"part": "xc7z020; rm -rf /"`)
	if got := say(b.dir, nil, "synth", built2); got.code != exitDiagnostics {
		t.Errorf("a part that is none: %+v", got)
	}
}

// TestCollect checks the table as results of the tools are added, and the messages about reports that are torn, hostile
// or of other sources.
func TestCollect(t *testing.T) {
	t.Parallel()
	tier.NotQuick(t)
	b := newBench(t, "both")
	c := golden.Dir(t, "testdata/collect").Case(t, "iris")
	collect := func(args ...string) said {
		t.Helper()
		return say(b.dir, nil, append([]string{"collect", built2}, args...)...)
	}
	if got := collect(); got.code != exitDiagnostics {
		t.Errorf("%+v", got)
	} else {
		expect(t, "stderr", got.stderr, "no tool has a report of it as it is now")
	}
	run := func(env []string, args ...string) {
		t.Helper()
		if got, _ := b.hlsgen(t, env, append([]string{"synth", built2}, args...)...); got.code != exitOK {
			t.Fatalf("%+v", got)
		}
	}
	run(nil, "--until", "hls", "--backend", "hls")
	hls := collect().stdout
	c.WantScreen("hls", hls, flat(hls))
	got, _ := b.hlsgen(t, []string{"VIVADO_MISSES=1"}, "synth", built2, "--until", "bitstream")
	expect(t, "a clock that is missed", got.stderr, "ERROR: the clock is missed")
	missed := collect().stdout
	c.WantScreen("missed", missed[strings.Index(missed, "WNS, ns"):], flat(missed[strings.Index(missed, "WNS, ns"):]))
	expect(t, "collect", missed, "\nclock        missed: vivado/build/model_top_missed.bit may compute wrong results\n")
	run(nil, "--until", "bitstream")
	var host struct{ Hash string }
	if data, err := os.ReadFile(b.path("deploy/host/host.json")); err != nil || json.Unmarshal(data, &host) != nil {
		t.Fatal(err)
	}
	measured := filepath.Join(b.dir, "measured.json")
	write(t, measured, `{"hash": "`+host.Hash+`", "samples_per_second": 61234567.5}`)
	all := collect("--measured", "measured.json", "--csv", "table.csv")
	if all.code != exitOK || all.stderr != "" {
		t.Errorf("%+v", all)
	}
	c.WantScreen("all", all.stdout, flat(all.stdout))
	rows, err := os.ReadFile(filepath.Join(b.dir, "table.csv"))
	if err != nil {
		t.Fatal(err)
	}
	c.WantFigures("csv", bytes.ReplaceAll(rows, []byte(","), []byte(" , "))) // a comma is no part of a figure
	if got := collect("--csv", "table.csv"); got.code != exitDiagnostics {
		t.Errorf("over a file: %+v", got)
	}
	form := schema.Of(t, "collect", "what hlsgen collect --json prints", collected{})
	form.Check(t, []byte(collect("--json", "--measured", "measured.json").stdout))
	synth, _ := b.hlsgen(t, nil, "synth", built2, "--json")
	schema.Of(t, "synth", "what hlsgen synth --json prints", synthesised{}).Check(t, []byte(synth.stdout))
	latencies := say(b.dir, nil, "latencies", built2)
	expect(t, "latencies", latencies.stdout, "\nMVAU_0            7       2")
	b.hostile(t, collect)
}

// hostile checks the output of collect for damaged reports and files.
func (b bench) hostile(t *testing.T, collect func(...string) said) {
	t.Helper()
	report := b.path("hls/build.ip/MVAU_1/project/solution1/syn/report/csynth.xml")
	good, err := os.ReadFile(report)
	if err != nil {
		t.Fatal(err)
	}
	for what, text := range map[string]string{
		"torn":     string(good[:len(good)/2]),
		"entities": `<!DOCTYPE a [<!ENTITY b "ccc">]><profile>&b;&b;</profile>`,
		"deep":     strings.Repeat("<a>", 1_000_000),
		"wide":     "<profile>" + strings.Repeat("<a/>", 3_000_000) + "</profile>",
		"empty":    "",
		"numbers":  strings.Replace(string(good), "<LUT>611", "<LUT>-1e9", 1),
	} {
		write(t, report, text)
		got := collect()
		if got.code != exitOK || !strings.Contains(got.stderr, "warning[file-unreadable]") ||
			!strings.Contains(got.stderr, "hls/build.ip/MVAU_1/project/") ||
			!strings.Contains(got.stdout, "missing      hls/MVAU_1\n") {
			t.Errorf("%s: %+v", what, got)
		}
	}
	write(t, report, string(good))
	b.swap(t, "synth/hls/MVAU_0/utilization.rpt", "Slice LUTs*             | 3890", "Slice LUTs*             | x")
	b.swap(t, "synth/bitstream/hls/utilization.rpt", "11002", "many")
	got := collect()
	expect(t, "stderr", got.stderr, `a report of utilisation with "x" of Slice LUTs`)
	expect(t, "stderr", got.stderr, `a report of utilisation with "many" Total LUTs of "system_wrapper"`)
	b.swap(t, "hls/layers/MVAU_1.cpp", "void", "\nvoid")
	expect(t, "of other sources", collect().stdout, "missing      hls/MVAU_0, hls/MVAU_1\n")
	for text, want := range map[string]string{
		`{`: "error[file-unreadable]", `{"hash": "0", "samples_per_second": 5}`: "it was measured with another build",
		`{"samples_per_second": -5}`: "-5 samples per second",
	} {
		write(t, b.path("synth/measured.json"), text)
		expect(t, "measured.json "+text, collect().stderr, want)
	}
}
