package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"hlsgen/frontend/graph"
	"hlsgen/internal/examples"
	"hlsgen/internal/npy"
	"hlsgen/internal/testsupport/onnxtest"
	"hlsgen/internal/testsupport/rnntest"
	"hlsgen/internal/testsupport/samplefiles"
	"hlsgen/internal/testsupport/tier"
)

// A python is an environment that internal/setup/pythons.sh has made.
type python struct{ version, path string }

// pythons returns the environments, oldest first. The test is skipped where there are none, or fails where nothing may
// be missing.
func pythons(t *testing.T) (all []python) {
	t.Helper()
	tier.NotQuick(t)
	for minor := 9; minor < 40; minor++ {
		version := fmt.Sprintf("3.%d", minor)
		made := filepath.Join(tier.Root(t), "bin", "python", version)
		if _, err := os.Stat(filepath.Join(made, "made")); err == nil {
			all = append(all, python{version, filepath.Join(made, "bin", "python")})
		}
	}
	const missing = "no Python is here: internal/setup/pythons.sh bin/python makes environments, make test calls it"
	switch {
	case all == nil && tier.Full():
		t.Fatal(missing)
	case all == nil:
		t.Skip(missing)
	}
	return all
}

// run runs a Python in a folder, with the packages in another, and returns what it prints. The test fails with it if
// the exit code is not 0.
func (p python) run(t *testing.T, dir, packages string, env []string, args ...string) string {
	t.Helper()
	c := exec.Command(p.path, args...)
	c.Dir = dir
	c.Env = append(append(c.Environ(), "PYTHONPATH="+packages, "MPLBACKEND=agg", "PYTHONDONTWRITEBYTECODE=1"), env...)
	said, err := c.CombinedOutput()
	if err != nil {
		t.Errorf("Python %s: %v\n%s", p.version, err, said)
	}
	return string(said)
}

// TestPackage writes the wheel of this platform, twice with equal bytes, and installs it with every Python: the API's
// tests pass, the page's block runs, and types are right.
func TestPackage(t *testing.T) {
	t.Parallel()
	all := pythons(t)
	tier.Needs(t, "g++", "verilator")
	root, folder := tier.Root(t), t.TempDir()
	wheels, err := write(t.Context(), "v1.2", folder, root, []string{"own"})
	if err != nil {
		t.Fatal(err)
	}
	again, err := write(t.Context(), "v1.2", t.TempDir(), root, []string{"own"})
	if err != nil {
		t.Fatal(err)
	}
	checkWheel(t, wheels[1])
	if !bytes.Equal(read(t, wheels[1]), read(t, again[1])) {
		t.Error("two runs give wheels with other bytes")
	}
	cases := writeCases(t)
	for k, p := range all {
		t.Run(p.version, func(t *testing.T) {
			t.Logf("Python %s", p.version)
			packages := t.TempDir()
			p.run(t, folder, "", nil, append([]string{"-m", "pip", "install", "--quiet", "--disable-pip-version-check",
				"--no-index", "--no-deps", "--target", packages}, wheels...)...)
			env := []string{"TEST_CASES=" + cases}
			if k == len(all)-1 {
				env = append(env, "TEST_COMPILERS=1") // accelerators over compiled C++ and SystemVerilog, too
			}
			p.run(t, t.TempDir(), packages, env, filepath.Join(root, "python", "tests", "test_hlsgen.py"))
			if k == 0 || k == len(all)-1 {
				block(t, p, packages, filepath.Dir(cases))
				types(t, p, packages, k == len(all)-1)
			}
			if k == len(all)-1 {
				fresh(t, p, filepath.Dir(wheels[0]))
			}
		})
	}
}

// fresh installs hlsgen by its name in a fresh environment, from a folder of wheels alone, with the numpy of p. Its
// script runs there.
func fresh(t *testing.T, p python, wheels string) {
	t.Helper()
	dir := t.TempDir()
	p.run(t, dir, "", nil, "-m", "venv", "env")
	inside := python{p.version, filepath.Join(dir, "env", "bin", "python")}
	const where = "import sysconfig; print(sysconfig.get_path('purelib'), end='')"
	packages, own := p.run(t, dir, "", nil, "-c", where), inside.run(t, dir, "", nil, "-c", where)
	if err := os.WriteFile(filepath.Join(own, "numpy_of_tests.pth"), []byte(packages+"\n"), 0o666); err != nil {
		t.Fatal(err)
	}
	inside.run(t, dir, "", nil, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--no-index",
		"--find-links", wheels, "hlsgen")
	said, err := exec.Command(filepath.Join(dir, "env", "bin", "hlsgen"), "version").CombinedOutput()
	if err != nil || !strings.HasPrefix(string(said), "hlsgen v1.2") {
		t.Errorf("%v\n%s", err, said)
	}
	const program = "import hlsgen; print(hlsgen.load().check().ok, end='')"
	if said := inside.run(t, dir, "", nil, "-c", program); said != "True" {
		t.Error(said)
	}
}

// fenced matches a block of the page for Python that is a test.
var fenced = regexp.MustCompile("(?s)```python block\n(.*?)```")

// block runs the block of docs/python.md in a folder that has what the block reads.
func block(t *testing.T, p python, packages, from string) {
	t.Helper()
	dir := t.TempDir()
	m := fenced.FindSubmatch(read(t, filepath.Join(tier.Root(t), "docs", "python.md")))
	if m == nil {
		t.Fatal("docs/python.md has no block")
	}
	const before = `
import sys
import numpy as np
folder = sys.argv[1]
x = ((np.load(folder + "/inputs.npy").clip(0, 10) * 25).round() / 255).astype(np.float32)
x_train, labels = x[:60], np.load(folder + "/labels.npy")
`
	text := before + string(m[1]) + `
assert c.ok and k.dtype == np.int64 and d.fits and (n.predict(x) == y).all() and len(s.rows) == 98, (c, k, d, s)
`
	net := filepath.Join(from, "examples", examples.IrisName)
	for name, data := range map[string][]byte{"net.onnx": read(t, filepath.Join(net, "model.onnx")),
		"block.py": []byte(text)} {
		if err := os.WriteFile(filepath.Join(dir, name), data, 0o666); err != nil {
			t.Fatal(err)
		}
	}
	if said := p.run(t, dir, packages, nil, "block.py", net); said != "" {
		t.Errorf("Python %s: the block prints\n%s", p.version, said)
	}
}

// types has mypy check the package, and a program that uses it.
func types(t *testing.T, p python, packages string, newest bool) {
	t.Helper()
	dir := t.TempDir()
	const program = `
import numpy as np
import hlsgen

m = hlsgen.load("net.onnx", input_type="UINT8:1/255")
ok: bool = m.check().ok
share: float = m.accuracy(np.zeros((1, 4)), [1]).value
d = m.build("pynq-z1", fps=10_000, backend="rtl", out="design")
fps: float = d.fps
lut: float = d.resources["LUT"].used
names: "list[str]" = [layer.name for layer in d.layers]
try:
    m.predict(np.zeros(4), engine="eval")
except hlsgen.NotMapped as e:
    print(e.code, e.node, e.hint)
`
	if err := os.WriteFile(filepath.Join(dir, "program.py"), []byte(program), 0o666); err != nil {
		t.Fatal(err)
	}
	targets := []string{""}
	if newest {
		targets = []string{"3.10", "3.14"}
	}
	for _, target := range targets {
		args := []string{"-m", "mypy", "--strict", "--cache-dir", filepath.Join(dir, "cache")}
		if target != "" {
			args = append(args, "--python-version", target)
		}
		p.run(t, dir, packages, []string{"MYPYPATH=" + packages}, append(args, "--config-file",
			filepath.Join(tier.Root(t), "python", "mypy.ini"), "-m", "program", "-p", "hlsgen")...)
	}
}

// A testCase is a model with samples, of which the package must give what the command line gives.
type testCase struct {
	Name    string            `json:"name"`
	Model   string            `json:"model"`
	X       map[string]string `json:"x"` // arrays by input; the only one may have any name
	Lengths string            `json:"lengths,omitempty"`
	Options map[string]string `json:"options,omitempty"`
}

// writeCases writes models of all families to a folder, with examples and a model that does not map, and returns the
// path of their list.
func writeCases(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	save := func(name string, a *npy.Array) string { return samplefiles.Save(t, filepath.Join(dir, name), a) }
	model := func(name string, b []byte) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, b, 0o666); err != nil {
			t.Fatal(err)
		}
		return path
	}
	own := filepath.Join(dir, "examples")
	if err := os.CopyFS(own, os.DirFS(samplefiles.Examples(t))); err != nil {
		t.Fatal(err)
	}
	var cases []testCase
	for _, name := range []string{examples.DigitsName, examples.IrisName} {
		at := filepath.Join(own, name)
		cases = append(cases, testCase{Name: name, Model: filepath.Join(at, "model.onnx"),
			X: map[string]string{"x": filepath.Join(at, "inputs.npy")}})
	}
	held := filepath.Join(tier.Root(t), "internal", "testsupport", "models")
	for _, name := range []string{"digits-cnn-w4a4", "digits-mobilenet-w4a4", "minifloat-mlp-e2m1",
		"lstm-h16-w8a8-pot"} {
		x := samplefiles.Read(t, filepath.Join(held, name, "inputs.npy"))
		if strings.HasPrefix(name, "lstm") { // samples, steps, a batch of one, features
			x.Shape = []int{x.Shape[0], x.Shape[1], 1, x.Shape[2]}
		}
		cases = append(cases, testCase{Name: name, Model: filepath.Join(held, name, "model.onnx"),
			X: map[string]string{"x": save(name+".npy", x)}})
	}
	image := samplefiles.Noise(1, 5, 1, 8, 8)
	image.DType = "uint8"
	for i := range image.Data {
		image.Data[i] = float64(i * 37 % 256)
	}
	cases = append(cases, testCase{Name: "uint8 images", Model: filepath.Join(held, "digits-cnn-w4a4", "model.onnx"),
		X: map[string]string{"x": save("image.npy", image)}, Options: map[string]string{"input_type": "UINT8:1/255"}})
	cases = append(cases, withLengths(t, model, save), twoInputs(model, save))
	unmapped := onnxtest.New(13).Opset("qonnx.custom_op.general", 2).Opset("somewhere.else", 1)
	unmapped.Input("x", graph.DTypeFloat32, 1, 4).Output("y", graph.DTypeFloat32, 1, 4)
	constants(unmapped)
	quantised(unmapped, "x", "a")
	unmapped.Node("Unknown", "a").Domain("somewhere.else").Out("p")
	quantised(unmapped, "p", "y")
	model("unmapped.onnx", unmapped.Bytes())
	text, err := json.Marshal(cases)
	if err != nil {
		t.Fatal(err)
	}
	return model("cases.json", text)
}

// constants adds a quantiser's scale, zero point and bits.
func constants(m *onnxtest.Model) {
	m.Init("scale", graph.DTypeFloat32, nil, 0.25).Init("zero", graph.DTypeFloat32, nil, 0)
	m.Init("bits", graph.DTypeFloat32, nil, 6)
}

// quantised adds a quantiser.
func quantised(m *onnxtest.Model, from, to string) {
	m.Node("Quant", from, "scale", "zero", "bits").Domain("qonnx.custom_op.general").Int("signed", 1).Out(to)
}

// withLengths is a recurrent network whose samples have one to five steps.
func withLengths(t *testing.T, model func(string, []byte) string, save func(string, *npy.Array) string) testCase {
	t.Helper()
	var n *rnntest.Network
	for seed := uint64(0); n == nil; seed++ {
		n = rnntest.Draw(rnntest.Seeded(seed), rnntest.Axes{})
		if n.Front != nil || len(n.Inputs) > 1 || !slices.ContainsFunc(n.Outputs, func(o rnntest.Output) bool {
			return o.Of == "sequence"
		}) {
			n = nil
		}
	}
	n.Lengths, n.Steps = true, 5
	lengths := []float64{1, 5, 3, 2, 4}
	choices := rnntest.Seeded(1)
	var data []float64
	for range lengths {
		data = append(data, n.Sample(choices)[0]...)
	}
	shape := []int{len(lengths), 5, 1, n.Inputs[0].Features}
	switch n.Form {
	case "samples first":
		shape = []int{len(lengths), 1, 5, n.Inputs[0].Features}
	case "flat":
		shape = []int{len(lengths), 5, n.Inputs[0].Features}
	}
	return testCase{Name: "recurrent, with lengths", Model: model("rnn.onnx", n.ONNX()),
		X:       map[string]string{"x": save("steps.npy", &npy.Array{DType: "float32", Shape: shape, Data: data})},
		Lengths: save("lengths.npy", &npy.Array{DType: "int64", Shape: []int{len(lengths)}, Data: lengths}),
		Options: map[string]string{"dim": "T=1..5"}}
}

// twoInputs is a model with two inputs and two outputs. planted.onnx is the same with another weight.
func twoInputs(model func(string, []byte) string, save func(string, *npy.Array) string) testCase {
	of := func(weight float64) []byte {
		m := onnxtest.New(13).Opset("qonnx.custom_op.general", 2)
		for _, name := range []string{"left", "right"} {
			m.Input(name, graph.DTypeFloat32, 1, 4)
		}
		constants(m)
		m.Init("w", graph.DTypeFloat32, []int{4, 2}, 1, -1, 2, 0, -2, 1, 0, weight)
		quantised(m, "left", "a")
		quantised(m, "right", "b")
		m.Node("Add", "a", "b").Out("s")
		quantised(m, "s", "sum")
		quantised(m, "w", "weights")
		m.Node("MatMul", "sum", "weights").Out("p")
		quantised(m, "p", "product")
		m.Output("sum", graph.DTypeFloat32, 1, 4).Output("product", graph.DTypeFloat32, 1, 2)
		return m.Bytes()
	}
	model("planted.onnx", of(2))
	return testCase{Name: "two inputs and outputs", Model: model("two.onnx", of(1)), X: map[string]string{
		"left": save("left.npy", samplefiles.Noise(2, 6, 4)), "right": save("right.npy", samplefiles.Noise(3, 6, 4))}}
}

// read returns the bytes of a file.
func read(t *testing.T, path string) []byte {
	t.Helper()
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return b
}
