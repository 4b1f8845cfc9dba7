package main

import (
	"flag"
	"os"
	"strings"
	"testing"

	"github.com/spf13/pflag"
)

var update = flag.Lookup("update") // of package golden

// answers has parts of the answers to words of other tools, and to typing errors.
var answers = map[string]string{
	"build --target-fps 1000":            "unknown flag: --target-fps, which is --fps here\nsee hlsgen build --help\n",
	"build --target_fps=1000":            "unknown flag: --target_fps, which is --fps here\n",
	"build --Target_FPS=1000":            "unknown flag: --Target_FPS, which is --fps here\n",
	"build --synth-clk-period-ns 5":      "which is --clock here: in MHz: 1000 divided by the period in ns\n",
	"build --mvau-wwidth-max 80":         "unknown flag: --mvau-wwidth-max: the search for the folding needs no such bound",
	"build --folding-config-file f.json": "which is --folding here: FINN's files are read\n",
	"build --fpga-part xc7z020clg400-1":  "which is --board here: a name of hlsgen boards, or a board file",
	"build --reuse-factor 4":             "which is --folding here: a factor for each layer",
	"build --output-dir o":               "which is --out here\n",
	"build --output_dir o":               "which is --out here\n",
	"check --target-fps 5":               "which is --fps here (--fps belongs to build, simulate and sweep)\n",
	"build --verify-input-npy x.npy":     "which is --input here: of build and simulate\n",
	"build --io-type io_stream":          "unknown flag: --io-type: there is one",
	"build -target_fps 5":                "which is --fps here",
	"build --max_use 0.5":                "unknown flag: --max_use, did you mean --max-use?\n",
	"build -board zcu104":                "did you mean --board?\n",
	"build -fps=5":                       "did you mean --fps?\n",
	"build --BOARD zcu104":               "did you mean --board?\n",
	"build --borad zcu104":               "did you mean --board?\n",
	"check --board zcu104": "unknown flag: --board (--board belongs to build, formats, simulate and " +
		"sweep)\n",
	"build --collect d":                "unknown flag: --collect (--collect belongs to sweep)\n",
	"build --xyzzy":                    "hlsgen: unknown flag: --xyzzy\nsee hlsgen build --help\n",
	"build -b zcu104":                  "unknown shorthand flag: 'b' in -b\n",
	"compile net.onnx -o d":            `unknown command "compile" for "hlsgen", which is hlsgen build MODEL.onnx --board BOARD here` + "\nsee hlsgen --help\n",
	"Compile":                          "which is hlsgen build",
	"build_dataflow --target-fps 3":    "which is hlsgen build MODEL.onnx --board BOARD here\n",
	"compile":                          "which is hlsgen build",
	"estimate net.onnx --board zcu104": "which is hlsgen sweep MODEL.onnx --board BOARD here: or build, which reports on one design\n",
	"synthesise":                       "which is hlsgen build",
	"predict":                          "which is hlsgen simulate MODEL.onnx --input x.npy here\n",
	"trace":                            "--trace DIR here\n",
	"profile":                          "--trace DIR here\n",
	"net.onnx":                         "a command comes first, as in hlsgen check MODEL.onnx\n",
	"calibrate net":                    "which is hlsgen latencies DIR here: its name before\n",
	"build --calibration c.json":       "which is --latencies here: its name before; --calibrate quantises",
	"simulat":                          `unknown command "simulat" for "hlsgen", did you mean simulate?`,
	"xyzzy":                            `unknown command "xyzzy" for "hlsgen"` + "\nsee hlsgen --help\n",
	`a"b\n`:                            "unknown command",
}

// TestForeign checks that words of other tools are answered with those of hlsgen, in any case and with any dashes.
func TestForeign(t *testing.T) {
	t.Parallel()
	for args, want := range answers {
		got := say(t.TempDir(), nil, strings.Fields(args)...)
		if got.code != exitUsage || got.stdout != "" || !strings.Contains(got.stderr, want) {
			t.Errorf("%s: %+v, want %q", args, got, want)
		}
	}
	dir := t.TempDir()
	write(t, dir+"/"+configName, "target_fps: 5\nsynth_clk_period_ns: 5\nio_type: x\ncalibration: c.json\n")
	got := say(dir, nil, "check")
	for _, want := range []string{
		`unknown key "target_fps", which is fps here`,
		`unknown key "synth_clk_period_ns", which is clock here: in MHz`,
		`unknown key "io_type": there is one`,
		`unknown key "calibration", which is latencies here: its name before`,
	} {
		expect(t, "stderr", got.stderr, want)
	}
}

// TestForeignTables checks that the tables name existing flags and commands, and that docs/other-tools.md shows them.
func TestForeignTables(t *testing.T) {
	t.Parallel()
	root := bare().root()
	flags, verbs := map[string]bool{}, map[string]bool{"help": true}
	for _, c := range root.Commands() {
		verbs[c.Name()] = true
		c.Flags().VisitAll(func(f *pflag.Flag) { flags[f.Name] = true })
	}
	page := "| option of FINN, hls4ml, da4ml | in hlsgen | |\n|---|---|---|\n"
	for _, table := range []struct {
		words []foreign
		own   map[string]bool
	}{{foreignFlags, flags}, {foreignVerbs, verbs}} {
		seen := map[string]bool{}
		for _, f := range table.words {
			if f.ours == "" && f.how == "" {
				t.Errorf("%s: nothing is said", f.theirs)
			}
			for _, name := range strings.Fields(f.theirs) {
				if normal(name) != name || seen[name] || table.own[name] {
					t.Errorf("%s is spelt otherwise, there twice, or our own", name)
				}
				seen[name] = true
			}
		}
	}
	for _, f := range foreignFlags {
		ours := "-"
		if f.ours != "" {
			ours = "`--" + f.ours + "`"
			if !flags[f.ours] {
				t.Errorf("there is no flag --%s", f.ours)
			}
		}
		page += "| " + inCode(f.theirs) + " | " + ours + " | " + f.how + " |\n"
	}
	page += "\n| command | in hlsgen | |\n|---|---|---|\n"
	for _, f := range foreignVerbs {
		words := strings.Fields(f.ours)
		c, _, err := root.Find(words[1:])
		if err != nil || !c.HasParent() {
			t.Errorf("%s: %v", f.ours, err)
			continue
		}
		for _, w := range words {
			if strings.HasPrefix(w, "--") && c.Flags().Lookup(w[2:]) == nil {
				t.Errorf("%s: there is no %s", f.ours, w)
			}
		}
		page += "| " + inCode(f.theirs) + " | `" + f.ours + "` | " + f.how + " |\n"
	}
	const file = "../../docs/other-tools.md"
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	begin := strings.Index(string(text), "| option of")
	if begin < 0 {
		t.Fatal("docs/other-tools.md has no table")
	}
	if string(text[begin:]) == page {
		return
	}
	if update.Value.String() == "true" {
		if err := os.WriteFile(file, append(text[:begin:begin], page...), 0o666); err != nil {
			t.Fatal(err)
		}
		return
	}
	t.Errorf("docs/other-tools.md has other tables (-update to accept), want\n%s", page)
}

// inCode sets words as code.
func inCode(words string) string {
	return "`" + strings.Join(strings.Fields(words), "`, `") + "`"
}

// TestUsageJSON checks that with --json an error of the command line, a variable or the configuration is one object,
// too.
func TestUsageJSON(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		args, yaml string
		env        map[string]string
		want       string // contained in the error; empty: no JSON
	}{
		{args: "build --json", want: "a board is needed"},
		{args: "--json build", want: "unknown flag: --json"},
		{args: "biuld --json", want: `unknown command "biuld" for "hlsgen", did you mean build?`},
		{args: "compile --json", want: "which is hlsgen build"},
		{args: "build --json --target-fps 5", want: "which is --fps here"},
		{args: "build --target-fps 5 --json", want: "which is --fps here"},
		{args: "build --fps x --json=true", want: `invalid argument "x" for "--fps" flag`},
		{args: "boards --json more", want: `unknown command "more" for "hlsgen boards"`},
		{args: "simulate --json --trace-vcd x.vcd", want: "add --engine cycle"},
		{args: "check --json a b", want: "takes one model, not 2"},
		{args: "check --json --config no.yaml", want: "no.yaml: no such file"},
		{args: "check --json", yaml: "bord: x\n", want: "did you mean board?"},
		{args: "check", yaml: "json: true\nbord: x\n", want: "did you mean board?"},
		{args: "build", yaml: "json: true\nboard: zcu104\nfps: fast\n", want: "want a number above 0"},
		{args: "check", env: map[string]string{"HLSGEN_JSON": "1", "HLSGEN_BORAD": "x"},
			want: "did you mean HLSGEN_BOARD?"},
		{args: "build", env: map[string]string{"HLSGEN_JSON": "true", "HLSGEN_FPS": "x"}, want: "HLSGEN_FPS"},
		{args: "explain --json no-such-code", want: "unknown flag: --json"},
		{args: "build --json=false", env: map[string]string{"HLSGEN_JSON": "1"}},
		{args: "build -- --json"},
		{args: "build --fps x --json=no"},
		{args: "build"},
	} {
		dir := t.TempDir()
		if c.yaml != "" {
			write(t, dir+"/"+configName, c.yaml)
		}
		got := say(dir, c.env, strings.Fields(c.args)...)
		if got.code != exitUsage || !strings.Contains(got.stderr, "see hlsgen") {
			t.Errorf("%+v: %+v", c, got)
		}
		if c.want == "" {
			if got.stdout != "" {
				t.Errorf("%+v: %+v", c, got)
			}
			continue
		}
		o := object(t, got)
		text, _ := o["error"].(string)
		if list, ok := o["diagnostics"].([]any); !ok || len(list) > 0 || len(o) != 3 || o["version"] != 2.0 ||
			!strings.Contains(text, c.want) || strings.Contains(text, "\t") {
			t.Errorf("%+v: %s", c, got.stdout)
		}
	}
}
