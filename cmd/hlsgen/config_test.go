package main

import (
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/spf13/cobra"
	"go.yaml.in/yaml/v3"
)

// configured parses a command line of build or simulate in dir and returns the model and the flags' texts.
func configured(dir string, env map[string]string, args ...string) (model string, flags map[string]string, err error) {
	a := newApp(world{env: func(name string) string { return env[name] }, environ: pairs(env), dir: dir}, nil)
	root := a.root()
	cmd, rest, err := root.Find(args)
	if err != nil {
		return "", nil, err
	}
	flags = map[string]string{}
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		model, err = a.configure(cmd, args)
		for _, key := range keys(root) {
			if f := cmd.Flags().Lookup(key); f != nil && f.Value.String() != f.DefValue {
				flags[key] = f.Value.String()
			}
		}
		return err
	}
	root.SetArgs(append([]string{cmd.Name()}, rest...))
	err = root.Execute()
	return model, flags, err
}

func TestConfig(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name  string
		yaml  string
		env   map[string]string
		args  string
		model string
		want  map[string]string
	}{
		{name: "nothing", args: "build"},
		{name: "flags alone", args: "build m.onnx --board zcu104 --fps 5 --dim T=3 --dim N=2 --force",
			model: "DIR/m.onnx", want: map[string]string{"board": "zcu104", "fps": "5", "dim": "N=2,T=3",
				"force": "true"}},
		{name: "file", args: "build",
			yaml: "model: m.onnx\nboard: zcu104\nfps: 1e3\nclock: 187.5\nmax-use: 0.5\nfifo: 64\nno-csim: " +
				"true\nverify: 4\ndim: [T=3, N=2]\nout: o\nfolding: f.json\ncost: finn\n",
			model: "DIR/m.onnx",
			want: map[string]string{"board": "zcu104", "fps": "1000", "clock": "187.5", "max-use": "0.5", "fifo": "64",
				"no-csim": "true", "verify": "4", "dim": "N=2,T=3", "out": "DIR/o", "folding": "DIR/f.json",
				"cost": "finn"}},
		{name: "objectives", args: "build",
			yaml: "latency: true\nleast: dsp\nsearch-time: 30s\npareto: true\npoints: 9\n",
			want: map[string]string{"latency": "true", "least": "dsp", "search-time": "30s", "pareto": "true",
				"points": "9"}},
		{name: "what Ctrl-C does", args: "build", yaml: "on-interrupt: stop\n",
			env: map[string]string{"HLSGEN_ON_INTERRUPT": "best"}, want: map[string]string{"on-interrupt": "best"}},
		{name: "a list of samples that take turns", args: "sweep", yaml: "interleave: 1,2,4\nboard: zcu104\n",
			want: map[string]string{"interleave": "1,2,4", "board": "zcu104"}},
		{name: "environment", args: "build",
			env: map[string]string{"HLSGEN_MODEL": "e.onnx", "HLSGEN_BOARD": "./b.json",
				"HLSGEN_MAX_USE": "lut=0.7,bram=0.9", "HLSGEN_NO_CSIM": "true", "HLSGEN_DIM": "T=3,N=2",
				"HLSGEN_SHARED": "../shared", "HLSGEN_BOGUS": "", "PATH": "/bin"},
			model: "DIR/e.onnx",
			want: map[string]string{"board": "DIR/b.json", "max-use": "lut=0.7,bram=0.9", "no-csim": "true",
				"dim": "N=2,T=3"}},
		{name: "flag over environment over file", args: "build a.onnx --fps 3",
			yaml:  "model: y.onnx\nfps: 1\nclock: 1\nverify: 1\nboard: zcu104\n",
			env:   map[string]string{"HLSGEN_MODEL": "e.onnx", "HLSGEN_FPS": "2", "HLSGEN_CLOCK": "2"},
			model: "DIR/a.onnx",
			want:  map[string]string{"fps": "3", "clock": "2", "verify": "1", "board": "zcu104"}},
		{name: "a repeated flag replaces the list", args: "build --dim N=2", yaml: "dim: [T=3]",
			want: map[string]string{"dim": "N=2"}},
		{name: "initial states", args: "build --initial-state h0=zero --initial-state a=b=quant,zero",
			want: map[string]string{"initial-state": "zero,a=b=quant,h0=zero"}},
		{name: "a list of initial states", args: "build", yaml: "initial-state: [h0=zero, quant]",
			want: map[string]string{"initial-state": "quant,h0=zero"}},
		{name: "shapes", args: "build --shape a=b=1,2 --shape 3,4 --shape 3,4",
			want: map[string]string{"shape": "3,4 a=b=1,2"}},
		{name: "a list of shapes", args: "build", yaml: `shape: ["x=1,3", "y=2"]`,
			want: map[string]string{"shape": "x=1,3 y=2"}},
		{name: "a single dim", args: "build", yaml: "dim: T=3", want: map[string]string{"dim": "T=3"}},
		{name: "an empty variable is none", args: "build", yaml: "fps: 1", env: map[string]string{"HLSGEN_FPS": ""},
			want: map[string]string{"fps": "1"}},
		{name: "an empty key is none", args: "build", yaml: "fps:\n"},
		{name: "an empty file", args: "build", yaml: "# nothing\n"},
		{name: "keys in any case", args: "build", yaml: "Board: zcu104\n", want: map[string]string{"board": "zcu104"}},
		{name: "a command takes what it has flags for", args: "simulate",
			yaml: "out: o\nverify: 3\nengine: cycle\ninput: x.npy\n",
			want: map[string]string{"engine": "cycle", "input": "DIR/x.npy"}},
		{name: "a path without setting", args: "build --board ./b --out /abs",
			want: map[string]string{"board": "DIR/b", "out": "/abs"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			if c.yaml != "" {
				write(t, filepath.Join(dir, configName), c.yaml)
			}
			model, flags, err := configured(dir, c.env, strings.Fields(c.args)...)
			if err != nil {
				t.Fatal(err)
			}
			for k, v := range flags {
				flags[k] = strings.ReplaceAll(v, dir, "DIR")
			}
			if model = strings.ReplaceAll(model, dir, "DIR"); model != c.model || !maps.Equal(flags, c.want) {
				t.Errorf("model %q, flags %v, want %q, %v", model, flags, c.model, c.want)
			}
		})
	}
}

// TestConfigFile checks where the configuration file is looked for, and where relative paths in it start.
func TestConfigFile(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	write(t, filepath.Join(dir, "sub", "other.conf"), "model: m.onnx\nout: o\nboard: ./b.json\nfps: 7\n")
	write(t, filepath.Join(dir, configName), "fps: 8\nclock: 9\n")
	write(t, filepath.Join(dir, "hlsgen"), "a program\n")
	write(t, filepath.Join(dir, "hlsgen.toml"), "fps = 10\n")
	model, flags, err := configured(dir, map[string]string{"HLSGEN_FOLDING": "f.json"}, "build", "--config",
		"sub/other.conf")
	want := map[string]string{"out": dir + "/sub/o", "board": dir + "/sub/b.json", "fps": "7",
		"folding": dir + "/f.json"}
	if err != nil || model != dir+"/sub/m.onnx" || !maps.Equal(flags, want) {
		t.Errorf("model %q, flags %v, want %v, error %v", model, flags, want, err)
	}
	_, flags, err = configured(dir, nil, "build")
	if want := map[string]string{"fps": "8", "clock": "9"}; err != nil || !maps.Equal(flags, want) {
		t.Errorf("flags %v, want %v, error %v", flags, want, err)
	}
}

func TestConfigRefuses(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		yaml string
		env  map[string]string
		want string
	}{
		{yaml: "bord: zcu104", want: `hlsgen.yaml: unknown key "bord", did you mean board?`},
		{yaml: "max_use: 0.5", want: `hlsgen.yaml: unknown key "max_use", did you mean max-use?`},
		{yaml: "colour: red\nfsp: 1",
			want: "hlsgen.yaml: unknown key \"colour\"\nhlsgen.yaml: unknown key \"fsp\", did you mean fps?"},
		{yaml: "xyzzy:", want: `unknown key "xyzzy"`},
		{yaml: "layers:\n  MVAU_0: {PE: 4}", want: `unknown key "layers.mvau_0.pe"`},
		{yaml: "max-use: {lut: 0.5}", want: "hlsgen.yaml: max-use: want one text, such as lut=0.7,bram=0.9"},
		{yaml: "dim: {T: 5, N: 3}", want: "hlsgen.yaml: dim: want a list, such as [T=520, N=4]"},
		{yaml: "initial-state: {h0: zero}",
			want: "hlsgen.yaml: initial-state: want a list, such as [h0=zero, c0=quant]"},
		{yaml: "board: [zcu104, pynq-z1]", want: "hlsgen.yaml: board: want a single value"},
		{yaml: "fps: fast", want: `hlsgen.yaml: fps: "fast": want a number above 0`},
		{yaml: "verify: 1.5", want: `hlsgen.yaml: verify: "1.5": want an integer`},
		{yaml: "force: maybe", want: `hlsgen.yaml: force: "maybe"`},
		{yaml: "dim: [T]", want: `hlsgen.yaml: dim: "T": want AXIS=SIZE`},
		{yaml: "fps: 1\nfps: 2", want: "already defined"},
		{yaml: "[1, 2]", want: "hlsgen.yaml: While parsing config"},
		{yaml: "\x00\x01", want: "hlsgen.yaml: "},
		{env: map[string]string{"HLSGEN_FPS": "fast"}, want: `HLSGEN_FPS: "fast": want a number above 0`},
		{env: map[string]string{"HLSGEN_MAX_USE": "2"},
			want: `HLSGEN_MAX_USE: "2": max-use "2": "2" is not a fraction from 0 to 1`},
		{yaml: "clock: 100", env: map[string]string{"HLSGEN_CLOCK": "-1"}, want: `HLSGEN_CLOCK: "-1"`},
	} {
		dir := t.TempDir()
		if c.yaml != "" {
			write(t, filepath.Join(dir, configName), c.yaml)
		}
		got := say(dir, c.env, "build", "--board", "zcu104")
		if c.yaml == "board: [zcu104, pynq-z1]" {
			got = say(dir, c.env, "build")
		}
		if got.code != exitUsage || got.stdout != "" || !strings.Contains(got.stderr, c.want) ||
			!strings.HasSuffix(got.stderr, "\nsee hlsgen build --help\n") {
			t.Errorf("%q %v: %+v, want %q", c.yaml, c.env, got, c.want)
		}
	}
}

// FuzzConfig checks that no file makes the command line panic, and that every file with an unknown key is refused.
func FuzzConfig(f *testing.F) {
	f.Add("board: zcu104\nfps: 1e3\ndim: [T=3]\n")
	f.Add("max-use: {lut: 0.7}\n? [a]\n: b\n")
	f.Add("a.b: 1\n\"\": 2\n2024-01-01: x\nfps: 2024-01-01\n")
	f.Add("model: &a [*a]\n")
	f.Fuzz(func(t *testing.T, text string) {
		dir := t.TempDir()
		write(t, filepath.Join(dir, configName), text)
		known := keys(bare().root())
		if _, err := (world{env: noEnv, dir: dir}).settings("", known); err != nil {
			return
		}
		var top map[string]any
		if err := yaml.Unmarshal([]byte(text), &top); err != nil {
			t.Errorf("taken, but no YAML: %v", err)
		}
		for key := range top {
			if !slices.Contains(known, strings.ToLower(key)) {
				t.Errorf("taken, with key %q", key)
			}
		}
	})
}

func write(t *testing.T, path, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o666); err != nil {
		t.Fatal(err)
	}
}

// read returns the content of a file in a folder.
func read(t *testing.T, dir, name string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(dir, filepath.FromSlash(name)))
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}
