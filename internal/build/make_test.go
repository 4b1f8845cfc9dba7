package build_test

import (
	"bytes"
	"context"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"hlsgen/frontend/graph"
	"hlsgen/internal/build"
	"hlsgen/internal/diag"
	"hlsgen/internal/options"
	"hlsgen/internal/testsupport/onnxtest"
	"hlsgen/internal/testsupport/synthtest"
	"hlsgen/internal/testsupport/tier"
	"hlsgen/templates"
)

// made is a project per family of networks, with as many clocks per frame as make small C++ of it.
var made = []struct {
	family, model string // a path below the root, or empty: drawn
	clocks        int
	draw          func() []byte
	part          bool // another family has all that its processes do to each other
	long          bool // smaller families have all that it has
}{
	{"MLP", "internal/testsupport/models/digits-mlp-balanced2/model.onnx", 4096, nil, true, false},
	{"CNN", "internal/testsupport/models/digits-cnn-w4a4/model.onnx", 100_000, nil, true, true},
	{"depthwise", "", 8192, drawnDepthwise, true, false},
	{"residual", "", 8192, drawnResidual, false, false},
	{"LSTM", "internal/testsupport/models/lstm-h16-w8a8-pot/model.onnx", 8192, nil, false, false},
	{"bidirectional LSTM", "internal/testsupport/models/bilstm-h32-w4a4/model.onnx", 20_000, nil, false, true},
	{"U-Net", "", 8192, drawnUNet, false, false},
	{"embedding", "", 64, drawnEmbedding, false, false},
}

// A drawing is a network in the making.
type drawing struct {
	*onnxtest.Model
	r     *rand.Rand
	names int
}

func draw() *drawing {
	d := &drawing{Model: onnxtest.New(14).Opset("qonnx.custom_op.general", 2), r: rand.New(rand.NewPCG(7, 7))}
	d.Init("scale", graph.DTypeFloat32, nil, 0.25).Init("zero", graph.DTypeFloat32, nil, 0).Init("bits",
		graph.DTypeFloat32, nil, 4)
	return d
}

func (d *drawing) name() string {
	d.names++
	return fmt.Sprintf("t%d", d.names)
}

// weights is a constant of a shape, of 4 bits.
func (d *drawing) weights(shape ...int) string {
	size, name := 1, d.name()
	for _, n := range shape {
		size *= n
	}
	values := make([]float64, size)
	for i := range values {
		values[i] = float64(d.r.IntN(15)-7) / 8
	}
	d.Init(name, graph.DTypeFloat32, shape, values...)
	return name
}

// quantised is x in codes of 4 bits.
func (d *drawing) quantised(x string) string {
	y := d.name()
	d.Node("Quant", x, "scale", "zero", "bits").Out(y).Domain("qonnx.custom_op.general").Int("signed", 1).
		Int("narrow", 0).Str("rounding_mode", "ROUND")
	return y
}

func (d *drawing) conv(x string, in, out int) string {
	y := d.name()
	d.Node("Conv", x, d.weights(out, in, 3, 3)).Out(y).Ints("kernel_shape", 3, 3).Ints("pads", 1, 1, 1, 1)
	return d.quantised(y)
}

// grouped is a convolution of every channel by itself.
func (d *drawing) grouped(x string, channels int) string {
	y := d.name()
	d.Node("Conv", x, d.weights(channels, 1, 3, 3)).Out(y).Ints("kernel_shape", 3, 3).Ints("pads", 1, 1, 1, 1).
		Ints("strides", 2, 2).Int("group", int64(channels))
	return d.quantised(y)
}

// drawnDepthwise convolves channels one by one, then a pixel's among themselves.
func drawnDepthwise() []byte {
	d := draw()
	d.Input("x", graph.DTypeFloat32, 1, 4, 8, 8)
	d.Node("Conv", d.grouped(d.quantised("x"), 4), d.weights(6, 4, 1, 1)).Out("points")
	d.Node("Identity", d.grouped(d.quantised("points"), 6)).Out("y")
	d.Output("y", graph.DTypeFloat32, 1, 6, 2, 2)
	return d.Bytes()
}

// drawnResidual adds what it convolves to what it did not, and takes the mean of every channel.
func drawnResidual() []byte {
	d := draw()
	d.Input("x", graph.DTypeFloat32, 1, 3, 8, 8)
	first := d.conv(d.quantised("x"), 3, 4)
	d.Node("Add", d.conv(first, 4, 4), first).Out("sum")
	d.Node("GlobalAveragePool", d.quantised("sum")).Out("mean")
	d.Node("Identity", d.quantised("mean")).Out("y")
	d.Output("y", graph.DTypeFloat32, 1, 4, 1, 1)
	return d.Bytes()
}

// drawnUNet goes down one level, up again, and has a skip connection.
func drawnUNet() []byte {
	d := draw()
	d.Input("x", graph.DTypeFloat32, 1, 2, 8, 8)
	top := d.conv(d.quantised("x"), 2, 4)
	d.Node("MaxPool", top).Out("down").Ints("kernel_shape", 2, 2).Ints("strides", 2, 2)
	low := d.conv("down", 4, 8)
	d.Init("scales", graph.DTypeFloat32, []int{4}, 1, 1, 2, 2)
	d.Node("Resize", low, "", "scales").Out("up").Str("mode", "nearest").
		Str("coordinate_transformation_mode", "asymmetric").Str("nearest_mode", "floor")
	d.Node("Concat", "up", top).Out("both").Int("axis", 1)
	d.Node("Identity", d.conv("both", 12, 2)).Out("y")
	d.Output("y", graph.DTypeFloat32, 1, 2, 8, 8)
	return d.Bytes()
}

// drawnEmbedding looks rows up, and multiplies them.
func drawnEmbedding() []byte {
	d := draw()
	d.Input("x", graph.DTypeUInt8, 1, 4)
	d.Node("Gather", d.weights(256, 6), "x").Out("rows")
	d.Node("MatMul", d.quantised("rows"), d.weights(6, 5)).Out("sums")
	d.Node("Identity", d.quantised("sums")).Out("y")
	d.Output("y", graph.DTypeFloat32, 1, 4, 5)
	return d.Bytes()
}

// TestMakeCSim builds a project of every family, and has its own Makefile compile and run it with both compilers: with
// our headers with one, and with headers that have the habits of the vendor's with the other, turn about; the long tier
// has all four. Then a second compiler looks at what synthesis is to make of it, and as synthesis sees it, it runs with
// a thread for every process. Families that are part of others have only our headers below the long tier. Long ones
// are built there alone.
func TestMakeCSim(t *testing.T) {
	t.Parallel()
	for i, c := range made[:tier.CasesToRun(len(made))] {
		t.Run(c.family, func(t *testing.T) {
			t.Parallel()
			if c.long {
				tier.NeedsLong(t)
			}
			make := tier.Needs(t, "make", "g++", "clang++")[0]
			dir := t.TempDir()
			o := build.Options{Source: options.Source{Model: filepath.Join(tier.Root(t),
				filepath.FromSlash(c.model))}, Hardware: options.Hardware{Board: "zcu104"},
				Goal: options.Goal{Interval: float64(c.clocks)}, Verification: options.Verification{Verify: 2,
					NoCSim: true}, OutputFolder: options.OutputFolder{Out: filepath.Join(dir, "out")}}
			if c.draw != nil {
				o.Model = filepath.Join(dir, "drawn.onnx")
				if err := os.WriteFile(o.Model, c.draw(), 0o666); err != nil {
					t.Fatal(err)
				}
			}
			var d diag.List
			built, err := build.Run(context.Background(), o, &d)
			if err != nil || d.HasErrors() {
				t.Fatal(err, d.Diags)
			}
			hls := filepath.Join(built.Out, "hls")
			files := recorded(t, built.Out)
			writeHabits(t, built.Out)
			const empty = "DEFINES=-DALLOW_EMPTY_HLS_STREAM_READS"
			for k, args := range [][]string{
				{"CXX=g++", "BUILD=b1"},
				{"CXX=clang++", "BUILD=b2"},
				{"CXX=clang++", "BUILD=b3", empty, "HLS_INCLUDE=habits"},
				{"CXX=g++", "BUILD=b4", empty, "HLS_INCLUDE=habits"},
			} {
				if !tier.Long() && (k%2 != i%2 || c.part && k > 1) {
					continue
				}
				args = append(args, "CXXFLAGS=-O0 -ftrivial-auto-var-init=pattern")
				cmd := exec.CommandContext(t.Context(), make, append([]string{"-C", hls, "csim"}, args...)...)
				if out, err := cmd.CombinedOutput(); err != nil || !passed.Match(out) || warned.Match(out) {
					t.Errorf("make csim %v: %v\n%.4000s", args, err, out)
				}
			}
			if c.part && !tier.Long() {
				return
			}
			synthtest.Check(t, files, synthtest.Promises(files))
			cxx := []string{"g++", "clang++"}[i%2]
			if err := synthtest.CheckThreaded(t.Context(), t.TempDir(), cxx, 120, files); err != nil {
				t.Error(err)
			}
		})
	}
}

var (
	passed = regexp.MustCompile(`(?m)^PASS \d+ checks on \d+ frames$`)
	warned = regexp.MustCompile(`(?mi)^warning`)
)

// recorded is the C++ project of a folder, with its recordings.
func recorded(t *testing.T, folder string) (files templates.ProjectFiles) {
	t.Helper()
	root := os.DirFS(folder)
	err := fs.WalkDir(root, "hls", func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || strings.HasPrefix(path, "hls/b") || strings.HasPrefix(path, "hls/habits") {
			return err
		}
		data, err := fs.ReadFile(root, path)
		files = append(files, templates.GeneratedFile{Path: path, Data: data})
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return files
}

// TestThreadsFind: processes that are threads find a port that is asked whether it is empty, words that are others, and
// words that never come.
func TestThreadsFind(t *testing.T) {
	t.Parallel()
	tier.NotQuick(t)
	tier.Needs(t, "g++")
	files := recorded(t, builtEmbedding(t).Out)
	for _, c := range []struct{ path, from, to, want string }{
		{"axis.hpp", "#ifdef __SYNTHESIS__", "#if 0", "FAIL s_axis_0: a port is asked whether it is empty"},
		{"lookup.hpp", "row += fold.at;", "row += 1;", "got 0x"},
		{"axis.hpp", "= in.read();", "= in.read();\n    in.read();", "FAIL bench: nothing comes"},
	} {
		t.Run(c.to, func(t *testing.T) {
			t.Parallel()
			planted := slices.Clone(files)
			for i, f := range planted {
				if strings.HasSuffix(f.Path, "/"+c.path) {
					planted[i].Data = bytes.Replace(f.Data, []byte(c.from), []byte(c.to), 1)
				}
			}
			err := synthtest.CheckThreaded(t.Context(), t.TempDir(), "g++", 5, planted)
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("%v, want %s", err, c.want)
			}
		})
	}
}

// builtEmbedding is a small project, with headers of the vendor's habits.
func builtEmbedding(t *testing.T) *build.Result {
	t.Helper()
	dir := t.TempDir()
	o := build.Options{Source: options.Source{Model: filepath.Join(dir, "drawn.onnx")},
		Hardware: options.Hardware{Board: "zcu104"}, Goal: options.Goal{Interval: 64},
		Verification: options.Verification{Verify: 1, NoCSim: true},
		OutputFolder: options.OutputFolder{Out: filepath.Join(dir, "out")}}
	if err := os.WriteFile(o.Model, drawnEmbedding(), 0o666); err != nil {
		t.Fatal(err)
	}
	var d diag.List
	built, err := build.Run(t.Context(), o, &d)
	if err != nil || d.HasErrors() {
		t.Fatal(err, d.Diags)
	}
	writeHabits(t, built.Out)
	return built
}

// writeHabits puts headers that behave as the vendor's beside those of a project.
func writeHabits(t *testing.T, folder string) {
	t.Helper()
	habits, err := synthtest.VendorHeaders(recorded(t, folder))
	if err == nil {
		err = habits.WriteBelow(folder)
	}
	if err != nil {
		t.Fatal(err)
	}
}

// TestMakeNamesFaults: of the warnings that the vendor's headers print, those of streams are faults, and the Makefile
// says which stream.
func TestMakeNamesFaults(t *testing.T) {
	t.Parallel()
	tier.NotQuick(t)
	make := tier.Needs(t, "make", "g++")[0]
	hls := filepath.Join(builtEmbedding(t).Out, "hls")
	bench := filepath.Join(hls, "tb", "tb.cpp")
	text, err := os.ReadFile(bench)
	if err != nil {
		t.Fatal(err)
	}
	const read, kept = "is read while empty", "contains leftover data"
	for _, c := range []struct{ planted, warning, fault string }{
		{"ap_uint<3> bits = 1; bits |= ap_uint<5>(2);", "Bitsize mismatch", ""},
		{"hls::stream<int> spare(\"spare\"); spare.read();", read, "Hls::stream 'spare' " + read},
		{"hls::stream<int> spare(\"spare\"); spare.write(1);", kept, "Hls::stream 'spare' " + kept},
	} {
		const main = "int main(int argc, char** argv) {\n"
		planted := strings.Replace(string(text), main, main+c.planted+"\n", 1)
		if err := os.WriteFile(bench, []byte(planted), 0o666); err != nil {
			t.Fatal(err)
		}
		out, err := exec.CommandContext(t.Context(), make, "-C", hls, "csim", "BUILD=b", "HLS_INCLUDE=habits",
			"CXXFLAGS=-O0", "DEFINES=-DALLOW_EMPTY_HLS_STREAM_READS").CombinedOutput()
		says := strings.Contains(string(out), "FAIL a stream was read empty, or kept words: WARNING: "+c.fault)
		if fails := c.fault != ""; !strings.Contains(string(out), c.warning) || (err != nil) != fails || says != fails {
			t.Errorf("%s: %v\n%.4000s", c.planted, err, out)
		}
	}
}
