package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"hlsgen/hlslib"
	"hlsgen/internal/crash"
	"hlsgen/internal/engines"
	"hlsgen/internal/examples"
	"hlsgen/internal/testsupport/golden"
	"hlsgen/rtlsim"
)

// A said is the result of a command: its exit code and its output. The name DIR stands for the folder it ran in.
type said struct {
	code           int
	stdout, stderr string
}

// say runs hlsgen in dir.
func say(dir string, env map[string]string, args ...string) said {
	return sayIn(context.Background(), dir, env, args...)
}

func sayIn(ctx context.Context, dir string, env map[string]string, args ...string) said {
	var stdout, stderr bytes.Buffer
	code := run(ctx, args, world{env: func(name string) string { return env[name] }, environ: pairs(env), dir: dir,
		stdout: &stdout, stderr: &stderr})
	name := func(b *bytes.Buffer) string { return strings.ReplaceAll(b.String(), dir, "DIR") }
	return said{code, name(&stdout), name(&stderr)}
}

// noEnv is an environment without variables.
func noEnv(string) string { return "" }

// bare is an app in an empty world.
func bare() *app { return newApp(world{env: noEnv}, nil) }

// pairs is an environment as the process has it.
func pairs(env map[string]string) func() []string {
	return func() (all []string) {
		for name, value := range env {
			all = append(all, name+"="+value)
		}
		return all
	}
}

// filesIn is a folder with the embedded examples and the given files.
func filesIn(t *testing.T, files map[string]string) string {
	t.Helper()
	dir := t.TempDir()
	if err := os.CopyFS(dir, examples.EmbeddedFiles); err != nil {
		t.Fatal(err)
	}
	for name, text := range files {
		write(t, filepath.Join(dir, name), text)
	}
	return dir
}

const (
	iris       = examples.IrisName + "/model.onnx"
	irisInputs = examples.IrisName + "/inputs.npy"
	irisLabels = examples.IrisName + "/labels.npy"
)

// TestExit checks exit codes, and the messages with them.
func TestExit(t *testing.T) {
	t.Parallel()
	files := map[string]string{
		"broken.onnx":   "not a model",
		"broken.npy":    "not an array",
		"board.json":    `{"name": "mine"}`,
		"folding.json":  `{"MVAU_0": {"PE": 3}}`,
		"full/file":     "",
		"full/file2":    "",
		"not-yaml.yaml": "a: [",
		"every.json":    `{"*": {"output": {"scale": 1, "bits": 8, "signed": true}}}`,
		"one.json":      `{"/lstm": {"output": {"scale": 1, "bits": 8, "signed": true}}}`,
	}
	for _, c := range []struct {
		args   string
		code   int
		stdout string // contained; "" is nothing at all
		stderr string // contained; "" is nothing at all
	}{
		{"", exitOK, "hlsgen build --board zcu104", ""},
		{"--help", exitOK, "On a model:", ""},
		{"help build", exitOK, "--max-use", ""},
		{"version", exitOK, "hlsgen dev\n", ""},
		{"--version", exitOK, "hlsgen dev\n", ""},
		{"-v", exitOK, "hlsgen dev\n", ""},
		{"completion bash", exitOK, "complete", ""},
		{"completion fish", exitOK, "complete", ""},
		{"completion powershell", exitOK, "Register-ArgumentCompleter", ""},
		{"completion zsh", exitOK, "#compdef hlsgen", ""},
		{"__complete build --board z", exitOK, "zcu104\n", "ShellCompDirective"},
		{"__complete build --on-interrupt b", exitOK, "best\n", "ShellCompDirective"},
		{"__complete simulate --engine c", exitOK, "cycle\ncsim\n", "ShellCompDirective"},
		{"__complete explain fps", exitOK, "fps-unreachable\n", "ShellCompDirective"},

		{"biuld", exitUsage, "",
			"hlsgen: unknown command \"biuld\" for \"hlsgen\", did you mean build?\nsee hlsgen --help\n"},
		{"--frob", exitUsage, "", "hlsgen: unknown flag: --frob\nsee hlsgen --help\n"},
		{"build --bord zcu104", exitUsage, "",
			"hlsgen: unknown flag: --bord, did you mean --board?\nsee hlsgen build --help\n"},
		{"build --no\x1b[31mred", exitUsage, "", "hlsgen: unknown flag: --no?[31mred\n"},
		{"check --config no\x1b[31mred", exitUsage, "", "no?[31mred"},
		{"check " + iris + " --lstm-config every.json", exitOK, "MVAU",
			"note[lstm-cell-formats]: --lstm-config has formats for \"*\", and this model has no node left"},
		{"check " + iris + " --cell-config one.json", exitDiagnostics, "MVAU", "error[cell-formats]"},
		{"build -b zcu104", exitUsage, "", "unknown shorthand flag: 'b'"},
		{"build --board", exitUsage, "", "flag needs an argument: --board"},
		{"build --board zcu104 a b", exitUsage, "", "hlsgen build takes one model, not 2"},
		{"build", exitUsage, "",
			"a board is needed: --board zcu104, or another that hlsgen boards lists, or a file of your own, --board " +
				"./mine.json"},
		{"check " + iris + " --input-type INT8:9.84184371191077e-05", exitOK, "MVAU", ""},
		{"check " + iris + " --input-quant INT8:1.234567890123E-02", exitOK, "MVAU",
			"with scale 0.0123456"},
		{"check " + iris + " --input-type INT8:1/64:-1e-3 --input-mean 0.1,-0.2,0,1/3 --input-std 2", exitOK, "MVAU",
			""},
		{"check " + iris + " --input-type INT8 --input-mean other=1", exitDiagnostics, "", "which is no input of real"},
		{"check --input-mean =1", exitUsage, "", "want the name of an input"},
		{"check " + iris + " --input-mean 0.1", exitDiagnostics, "", "give --input-type, too"},
		{"check " + iris + " --input-type INT8 --input-std 1,2", exitDiagnostics, "", "error[input-unfit]"},
		{"check --input-type INT8:1:2:3", exitUsage, "", "want TYPE:SCALE:OFFSET at most"},
		{"check --input-type E4M3", exitUsage, "", "want a type of integers"},
		{"check --input-type INT8:1:x", exitUsage, "", "want a number such as 0"},
		{"check --input-std 1,0", exitUsage, "", "want a scale above 0"},
		{"check --input-mean 1,,2", exitUsage, "", "want a number such as 0"},
		{"check --initial-state", exitUsage, "", "flag needs an argument"},
		{"check --initial-state h0=one", exitUsage, "", "want zero or quant, or one of them for an input"},
		{"check --initial-state =zero", exitUsage, "", "want zero or quant"},
		{"check --initial-state h0=zero,h0=quant", exitUsage, "", "the initial state h0 is zero already"},
		{"check --initial-state zero --initial-state quant", exitUsage, "", "initial states are zero already"},
		{"check " + iris + " --initial-state zero", exitDiagnostics, "", "error[initial-state]"},
		{"check " + iris + " --outputs nowhere --outputs neither,here", exitDiagnostics, "",
			"error[output-unknown]: output \"neither\""},
		{"check --outputs a,", exitUsage, "", "want the name of a tensor"},
		{"check --input-quant INT8:1e-400000000", exitUsage, "", "want a scale"},
		{"check --input-quant INT8:1e400000000", exitUsage, "", "want a scale"},
		{"build --board zcu104 --fps 0", exitUsage, "", `invalid argument "0" for "--fps" flag: want a number above 0`},
		{"build --board zcu104 --clock NaN", exitUsage, "", "want a number above 0"},
		{"build --board zcu104 --clock Inf", exitUsage, "", "want a number above 0"},
		{"build --board zcu104 --force=kept", exitUsage, "", "want true, false or keep"},
		{"build --board zcu104 --max-use 1.5", exitUsage, "", `"1.5" is not a fraction from 0 to 1`},
		{"build --board zcu104 --max-use luts=0.5", exitUsage, "", `unknown resource "luts"`},
		{"build --board zcu104 --least luts", exitUsage, "", "want load, lut, ff, bram, uram, dsp"},
		{"build --board zcu104 --search-time 5", exitUsage, "", "want a time such as 500ms, 30s or 5m"},
		{"build --board zcu104 --on-interrupt bets", exitUsage, "", "actions are best, stop, did you mean best?"},
		{"simulate --on-interrupt best", exitUsage, "", "unknown flag: --on-interrupt"},
		{"build --board zcu104 --pareto --points 1", exitUsage, "", "want an integer from 2 to"},
		{"build --board zcu104 --pareto --latency", exitUsage, "", "--pareto excludes --latency and --max-latency"},
		{"build --board zcu104 --fifo most", exitUsage, "", "want minimal, throughput or an integer"},
		{"build --board zcu104 --fifo 0", exitUsage, "", "want minimal, throughput or an integer from 1 to 1048576"},
		{"simulate --trace-vcd x.vcd", exitUsage, "", "add --engine cycle"},
		{"simulate --engine cycle --max-latency 9", exitUsage, "", "limits a design for a board: add --board"},
		{"build --board zcu104 --cost fitted", exitUsage, "", "want hlsgen or finn"},
		{"build --board zcu104 --dim 5", exitUsage, "", "want AXIS=SIZE, such as T=520"},
		{"build --board zcu104 --dim T=0", exitUsage, "", "want AXIS=SIZE"},
		{"build --board zcu104 --dim T=4 --dim T=5", exitUsage, "", "axis T is 4 already"},
		{"build --board zcu104 --acc-bits 0", exitUsage, "", "want an integer from 1 to 64"},
		{"build --board zcu104 --verify -1", exitUsage, "", "want an integer from 0 to 65536"},
		{"build --board zcu104 --passes-until 99", exitUsage, "", "want an integer from 1 to"},
		{"build --board zcu104 --out= ", exitUsage, "", "want a DIR"},
		{"build --board zcu104 --config nothing.yaml", exitUsage, "", "nothing.yaml: no such file"},
		{"build --board zcu104 --config not-yaml.yaml", exitUsage, "", "not-yaml.yaml: While parsing config"},
		{"build --board zcu104 --config full", exitUsage, "", "full is no regular file"},
		{"simulate --engine quick", exitUsage, "", "engines are reference, float, fast, eval, cycle, csim"},
		{"simulate --engine cylce", exitUsage, "", "did you mean cycle?"},
		{"simulate " + iris, exitUsage, "", "data are needed: --input x.npy"},
		{"sweep", exitUsage, "", "boards are needed: --board zcu104,pynq-z1"},
		{"sweep --board zcu104 --memory bram", exitUsage, "", `"bram": want auto, distributed, block, ultra`},
		{"sweep --board zcu104 --compute dps", exitUsage, "", "did you mean dsp?"},
		{"sweep --board zcu104 --fps 10,x", exitUsage, "", `"x": want a number above 0`},
		{"sweep --board zcu104 --max-use 0.5,2", exitUsage, "", `"2" is not a fraction from 0 to 1`},
		{"sweep --board zcu104 --jobs many", exitUsage, "", "want a number from 1 to 4096, or slurm"},
		{"sweep --board zcu104 --pareto --points 1", exitUsage, "", "want an integer from 2"},
		{"boards all", exitUsage, "", `unknown command "all" for "hlsgen boards"`},
		{"explain a b", exitUsage, "", "accepts at most 1 arg(s), received 2"},
		{"explain fps-unreachabel", exitUsage, "",
			`no diagnostic has the code "fps-unreachabel", did you mean fps-unreachable?`},
		{"explain ../README", exitUsage, "", `no diagnostic has the code "../README"`},
		{"completion", exitUsage, "", "which shell? bash, fish, powershell, zsh"},
		{"completion tcsh", exitUsage, "", "which shell?"},

		{"build " + iris + " --board VCK190 --no-csim --verify 0 --out unverified", exitOK, "model on vck190 (",
			"note[board-unverified]"},
		{"build " + iris + " --board u50 --no-csim --verify 0 --out alias", exitOK, "model on alveo-u50 (", ""},

		{"check nothing.onnx", exitDiagnostics, "", "error[file-unreadable]"},
		{"check broken.onnx", exitDiagnostics, "", "error[model-malformed]"},
		{"check full", exitDiagnostics, "", "error[file-unreadable]"},
		{"check " + iris + " --acc-bits 4", exitDiagnostics, "MVAU_0", "error[acc-bits-exceeded]"},
		{"build --board zcu140", exitDiagnostics, "", `unknown board "zcu140", did you mean "zcu104"?`},
		{"build --board ./board.json", exitDiagnostics, "", "error[board-invalid]"},
		{"build --board nowhere/board.json", exitDiagnostics, "", "error[board-"},
		{"build --board pynq-z1 --no-csim --fps 1e9", exitDiagnostics, "", "error[fps-unreachable]"},
		{"build --board pynq-z1 --no-csim --folding nothing.json", exitDiagnostics, "", "error[file-unreadable]"},
		{"build --board pynq-z1 --no-csim --folding folding.json", exitDiagnostics, "", "error[folding-invalid]"},
		{"build --board pynq-z1 --no-csim --out full", exitDiagnostics, "", "error[output-exists]"},
		{"sweep --board zcu104,zcu140", exitDiagnostics, "", `unknown board "zcu140", did you mean "zcu104"?`},
		{"sweep --board zcu104 --out full", exitDiagnostics, "", "holds no sweep"},
		{"sweep --collect full", exitDiagnostics, "", "error[file-unreadable]"},
		{"sweep broken.onnx --board zcu104", exitDiagnostics, "", "error[model-malformed]"},
		{"simulate " + iris + " --input broken.npy", exitDiagnostics, "", "error[data-invalid]"},
		{"simulate " + iris + " --input " + examples.DigitsName + "/inputs.npy", exitDiagnostics, "",
			"error[data-invalid]"},
		{"simulate --output no/such/folder/y.npy", exitDiagnostics, "", "hlsgen: "},
		{"examples .", exitDiagnostics, "", "error[output-exists]: DIR/digits-mlp-w2a2 exists"},
	} {
		t.Run(c.args, func(t *testing.T) {
			t.Parallel()
			got := say(filesIn(t, files), nil, strings.Fields(c.args)...)
			if got.code != c.code {
				t.Errorf("exit code %d, want %d\nstderr: %s", got.code, c.code, got.stderr)
			}
			expect(t, "stdout", got.stdout, c.stdout)
			expect(t, "stderr", got.stderr, c.stderr)
		})
	}
}

func expect(t *testing.T, what, got, want string) {
	t.Helper()
	if want == "" && got != "" || !strings.Contains(got, want) {
		t.Errorf("%s is %q, want %q in it", what, got, want)
	}
}

// TestFail checks the exit codes and messages of errors that no test can cause from outside.
func TestFail(t *testing.T) {
	t.Parallel()
	cancelled, cancel := context.WithCancel(context.Background())
	cancel()
	for _, c := range []struct {
		err    error
		ctx    context.Context
		debug  string
		code   int
		stderr string
	}{
		{nil, context.Background(), "", exitOK, ""},
		{fmt.Errorf("sample 3: %w", &engines.MismatchError{Msg: "engine cycle against eval"}),
			context.Background(),
			"",
			exitMismatch, "hlsgen: sample 3: engine cycle against eval\n"},
		{&rtlsim.Deadlock{Clock: 7}, context.Background(), "", exitMismatch, "deadlock at clock 7"},
		{&crash.InternalError{Msg: "index 3", Stack: "goroutine 1"}, context.Background(), "", exitInternal,
			"hlsgen: internal error: index 3\n   this is a defect of hlsgen: please report it, with the model if " +
				"you can\n   HLSGEN_DEBUG=1 shows where it happened\n"},
		{&crash.InternalError{Msg: "index 3", Stack: "goroutine 1"}, context.Background(), "1", exitInternal,
			"if you can\ngoroutine 1"},
		{fmt.Errorf("write: %w", syscall.ENOSPC), context.Background(), "", exitDiagnostics,
			"hlsgen: write: no space left on device\n"},
		{fmt.Errorf("write: %w", syscall.EPIPE), context.Background(), "", exitDiagnostics, ""},
		{errors.New("interrupt signal received"), cancelled, "", exitInterrupted, "hlsgen: interrupted\n"},
	} {
		var stderr bytes.Buffer
		a := newApp(world{env: func(string) string { return c.debug }, stderr: &stderr}, nil)
		a.running = true
		if code := a.fail(c.ctx, &cobra.Command{}, c.err); code != c.code {
			t.Errorf("%v: exit code %d, want %d", c.err, code, c.code)
		}
		expect(t, "stderr", stderr.String(), c.stderr)
	}
}

// TestPanic checks that a defect of the command line itself is reported as a defect.
func TestPanic(t *testing.T) {
	t.Parallel()
	var stdout, stderr bytes.Buffer
	env := func(name string) string {
		if name == "HLSGEN_FPS" {
			panic("boom")
		}
		return ""
	}
	if code := run(context.Background(), []string{"check"}, world{env: env, dir: t.TempDir(), stdout: &stdout,
		stderr: &stderr}); code != exitInternal {
		t.Errorf("exit code %d", code)
	}
	expect(t, "stderr", stderr.String(), "hlsgen: internal error: boom")
	if code := run(context.Background(), []string{"check", "--json"}, world{env: env, dir: t.TempDir(), stdout: &stdout,
		stderr: &stderr}); code != exitInternal {
		t.Errorf("exit code %d", code)
	}
	expect(t, "stdout", stdout.String(), `"error": "internal error: boom"`)
}

type broken struct{ err error }

func (b broken) Write([]byte) (int, error) { return 0, b.err }

func TestOutputFails(t *testing.T) {
	t.Parallel()
	for _, args := range [][]string{{"boards"}, {"check"}, {"--help"}, {"boards", "--json"}} {
		var stderr bytes.Buffer
		w := world{env: noEnv, dir: t.TempDir(), stdout: broken{syscall.ENOSPC}, stderr: &stderr}
		if code := run(context.Background(), args, w); code != exitDiagnostics ||
			stderr.String() != "hlsgen: no space left on device\n" {
			t.Errorf("%v: exit code %d, stderr %q", args, code, stderr.String())
		}
		w.stdout = broken{syscall.EPIPE}
		stderr.Reset()
		if code := run(context.Background(), args, w); code != exitDiagnostics || stderr.String() != "" {
			t.Errorf("%v, closed pipe: exit code %d, stderr %q", args, code, stderr.String())
		}
	}
}

func TestInterrupt(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	dir := t.TempDir()
	got := sayIn(ctx, dir, nil, "build", "--board", "zcu104")
	if got.code != exitInterrupted || got.stdout != "" || got.stderr != "hlsgen: interrupted\n" {
		t.Errorf("%+v", got)
	}
	left, err := filepath.Glob(filepath.Join(dir, "hlsgen-out", "*"))
	if err != nil || len(left) > 0 {
		t.Errorf("left behind: %v %v", left, err)
	}
}

// TestLayers checks that the list has every kind of layer, with the text of its row.
func TestLayers(t *testing.T) {
	t.Parallel()
	want := "layer what it does"
	for _, k := range hlslib.LayerKinds {
		want += " " + k.Name + " " + k.Doc
	}
	if got := say(t.TempDir(), nil, "layers"); got.code != 0 || strings.Join(strings.Fields(got.stdout), " ") != want {
		t.Errorf("%+v, want %s", got, want)
	}
}

// priced are the goldens with figures that every change of a price changes.
var priced = map[string]bool{"simulate-cycle": true, "simulate-board": true, "build": true, "build-own": true,
	"build-finn": true, "build-latency": true, "pareto": true, "sweep": true}

// spaces matches the space between the cells of a table, and behind the name of a field.
var spaces = regexp.MustCompile(` {2,}`)

// flat returns a screen with each field on one line, and a single space between the cells of a table. The labels of
// figures are taken from it, so that they do not depend on line breaks.
func flat(screen string) string {
	screen = strings.ReplaceAll(screen, "\n"+beside, " ")
	var b strings.Builder
	for line := range strings.Lines(screen) {
		b.WriteString(strings.TrimLeft(spaces.ReplaceAllString(line, " "), " "))
	}
	return b.String()
}

// TestGolden checks the exact output of commands.
func TestGolden(t *testing.T) {
	t.Parallel()
	files := golden.Dir(t, "testdata")
	dir := filesIn(t, nil)
	for name, args := range map[string]string{
		"boards":         "boards",
		"examples":       "examples",
		"check":          "check",
		"check-qcdq":     "check " + examples.IrisName + "/qcdq.onnx",
		"simulate":       "simulate",
		"simulate-cycle": "simulate " + iris + " --input " + irisInputs + " --engine cycle",
		"simulate-board": "simulate " + iris + " --input " + irisInputs +
			" --engine cycle --board pynq-z1 --fps 1e6 --output y.npy --compare " + examples.IrisName + "/outputs.npy",
		"build":          "build --board zcu104 --no-csim",
		"build-own":      "build " + iris + " --board pynq-z1 --no-csim --fps 1000 --clock 125 --out own",
		"build-finn":     "build --board zcu104 --no-csim --cost finn --out finn",
		"build-latency":  "build " + iris + " --board pynq-z1 --no-csim --verify 1 --fps 1e5 --latency --out latency",
		"pareto":         "build " + iris + " --board pynq-z1 --pareto --least lut --points 8",
		"pareto-refused": "build " + iris + " --board pynq-z1 --pareto --fps 1e12",
		"sweep": "sweep " + iris +
			" --board zcu104,pynq-z1 --fps 1e4,1e7,1e12 --memory auto,ultra --max-use 0.5 --out swept",
		"refused": "build " + iris + " --board pynq-z1 --fps 1e12",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c := files.Case(t, name)
			got := say(dir, nil, strings.Fields(args)...)
			c.Want("command", []byte("hlsgen "+args))
			if priced[name] {
				c.WantScreen("stdout", got.stdout, flat(got.stdout))
			} else {
				c.Want("stdout", []byte(got.stdout))
			}
			c.Want("stderr", []byte(got.stderr))
			c.Want("exit", fmt.Append(nil, got.code))
		})
	}
}

// TestHelp checks that every command and flag in a help text exists.
func TestHelp(t *testing.T) {
	t.Parallel()
	root := bare().root()
	for _, c := range append(root.Commands(), root) {
		if c.Short == "" || c.RunE != nil && c.GroupID == "" {
			t.Errorf("%s has no short help or no group", c.CommandPath())
		}
		for line := range strings.Lines(c.Long + "\n" + c.Example) {
			line, _, _ = strings.Cut(line, "#")
			for _, part := range strings.Split(line, "hlsgen ")[1:] {
				args := strings.Fields(strings.Trim(part, " \n.)"))
				found, rest, err := bare().root().Find(args)
				if err != nil || !found.HasParent() {
					continue // a sentence about hlsgen
				}
				found.InitDefaultHelpFlag()
				if err := found.ParseFlags(rest); err != nil && !errors.Is(err, pflag.ErrHelp) {
					t.Errorf("%s: %q: %v", c.CommandPath(), part, err)
				}
			}
		}
	}
}

func TestExplain(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	list := say(dir, nil, "explain")
	if list.code != exitOK || list.stderr != "" {
		t.Errorf("%+v", list)
	}
	for _, code := range codes() {
		expect(t, "the list", list.stdout, code)
		page := say(dir, nil, "explain", code)
		if page.code != exitOK || page.stderr != "" || !strings.Contains(page.stdout, code) {
			t.Errorf("%s: %+v", code, page)
		}
	}
}

func TestExamples(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	got := say(dir, nil, "examples", "new")
	if got != (said{exitOK, "DIR/new/digits-mlp-w2a2\nDIR/new/iris-mlp-w3a3\n", ""}) {
		t.Errorf("%+v", got)
	}
	for _, f := range []string{"new/" + iris, "new/" + irisInputs, "new/digits-mlp-w2a2/labels.npy"} {
		want, err := examples.EmbeddedFiles.ReadFile(strings.TrimPrefix(f, "new/"))
		if err != nil {
			t.Fatal(err)
		}
		if b, err := os.ReadFile(filepath.Join(dir, f)); err != nil || !bytes.Equal(b, want) {
			t.Errorf("%s: %v", f, err)
		}
	}
	// One folder that exists is enough: nothing is written.
	if err := os.MkdirAll(filepath.Join(dir, "half", examples.IrisName), 0o777); err != nil {
		t.Fatal(err)
	}
	if got := say(dir, nil, "examples", "half"); got.code != exitDiagnostics {
		t.Errorf("%+v", got)
	}
	if _, err := os.Stat(filepath.Join(dir, "half", examples.DigitsName)); !os.IsNotExist(err) {
		t.Errorf("half of it was written: %v", err)
	}
}

// object reads the JSON that a command printed.
func object(t *testing.T, s said) map[string]any {
	t.Helper()
	var v map[string]any
	if err := json.Unmarshal([]byte(s.stdout), &v); err != nil {
		t.Fatalf("%v in %q; stderr %s", err, s.stdout, s.stderr)
	}
	return v
}
