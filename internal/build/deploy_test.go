package build

import (
	"context"
	"fmt"
	"math"
	"math/big"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"hlsgen/frontend"
	"hlsgen/frontend/graph"
	"hlsgen/internal/dataflow"
	"hlsgen/internal/diag"
	"hlsgen/internal/engines"
	"hlsgen/internal/npy"
	"hlsgen/internal/num"
	"hlsgen/internal/options"
	"hlsgen/internal/simulate"
	"hlsgen/internal/testsupport/maketest"
	"hlsgen/internal/testsupport/models"
	"hlsgen/internal/testsupport/onnxtest"
	"hlsgen/internal/testsupport/samplefiles"
	"hlsgen/internal/testsupport/simtest"
	"hlsgen/internal/testsupport/tier"
)

// driverOf builds a network of 3 bits and returns its folder deploy. Lengths make its frames differ in size.
func driverOf(t *testing.T, model string, lengths *frontend.AxisLengthRange) string {
	t.Helper()
	o := Options{Source: options.Source{Model: model}, Hardware: options.Hardware{Board: "zcu104"},
		Goal: options.Goal{FPS: 5000}, Verification: options.Verification{NoCSim: true, Verify: 1},
		OutputFolder: options.OutputFolder{Out: filepath.Join(t.TempDir(), "out")}}
	o.Lengths = lengths
	var d diag.List
	if r, err := Run(context.Background(), o, &d); err != nil || r == nil || r.NoDriver != "" {
		t.Fatal(err, d.Diags, r)
	}
	return filepath.Join(o.Out, "deploy")
}

// TestDriverXRT compiles the door to XRT without a warning: against the headers of Debian, and against such that
// declare hw_context and deprecate what XRT does.
func TestDriverXRT(t *testing.T) {
	t.Parallel()
	tools := tier.Needs(t, "g++", "xrt")
	deploy := driverOf(t, quantisedBetween(t, false, 13, 3), nil)
	newer := []string{"testdata/xrt", "testdata/xrt_newer"}
	for _, c := range []struct {
		include, flags []string
		wants          string
	}{
		{[]string{tools[1]}, nil, ""},
		{newer, nil, ""},
		{newer, []string{"-DOLD_CALLS"}, "is deprecated: use kernel(hw_context, name)"}, // such a warning is an error
	} {
		args := append([]string{"-std=c++17", "-Wall", "-Wextra", "-Werror", "-fsyntax-only", "-I", deploy}, c.flags...)
		for _, folder := range c.include {
			args = append(args, "-isystem", folder)
		}
		said, err := exec.Command(tools[0], append(args, "testdata/card.cpp")...).CombinedOutput()
		if fails := c.wants != ""; (err != nil) != fails || !strings.Contains(string(said), c.wants) ||
			!fails && len(said) > 0 {
			t.Errorf("%v %v: %v\n%s", c.include, c.flags, err, said)
		}
	}
}

// TestDriverMisbehaves: a device in C++ that gives too few, too many or wrong words, reports an error or hangs, is an
// error that names the stream and the sizes, under sanitizers, and leaves nothing in use: with XRT's calls of today,
// and newer ones.
func TestDriverMisbehaves(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name    string
		include []string
		lengths []string
	}{
		{"today", []string{"testdata/xrt"}, nil},
		{"newer, sequences", []string{"testdata/xrt", "testdata/xrt_newer"}, []string{"2", "1", "3"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			tools := tier.Needs(t, "g++")
			model, lengths := quantisedBetween(t, false, 13, 3), (*frontend.AxisLengthRange)(nil)
			if c.lengths != nil {
				model = models.Find(t, "bilstm-h32-w4a4").Path("model.onnx")
				lengths = &frontend.AxisLengthRange{Axis: "inp.25:0", Min: 1, Max: 16}
			}
			program := filepath.Join(t.TempDir(), "misbehaves")
			args := []string{"-std=c++17", "-Wall", "-Wextra", "-Werror", "-O0", "-fsanitize=address,undefined",
				"-fno-sanitize-recover=all", "-I", driverOf(t, model, lengths), "-I", "testdata/xrt"}
			for _, folder := range c.include {
				args = append(args, "-isystem", folder)
			}
			args = append(args, "testdata/misbehaves.cpp", "-o", program)
			if said, err := exec.Command(tools[0], args...).CombinedOutput(); err != nil {
				t.Fatalf("%v\n%s", err, said)
			}
			said, err := exec.Command(program, c.lengths...).CombinedOutput()
			if err != nil || !strings.HasSuffix(string(said), "PASS\n") {
				t.Errorf("%v", err)
			}
			t.Logf("%s", said)
		})
	}
}

// whole is the shared model of a name, of which there are all samples: the repository has some.
func whole(t *testing.T, name string) models.Model {
	t.Helper()
	tier.NeedsLong(t)
	tier.NeedsShared(t)
	list := models.All(t)
	i := slices.IndexFunc(list, func(m models.Model) bool { return m.Name == "brevitas/"+name })
	if i < 0 {
		t.Fatalf("no shared model is called %s", name)
	}
	return list[i]
}

// TestDriver has the Python of a build drive its C++ as a library: results are, byte for byte, what engine eval
// writes, on all recorded samples, in batches of any size, of any type and order; of sequences, of any length. What
// fits neither the model nor the accelerator is refused with a reason. The long tier has the shared models, with more
// samples.
func TestDriver(t *testing.T) {
	t.Parallel()
	cases := []struct {
		model   string
		lengths []int
		bytes   bool // less a half, a mean and by a deviation of each channel
	}{
		{"digits-mlp-w2a2", nil, true},
		{"bilstm-h32-w4a4", []int{1, 3, 16, 8, 16, 1}, false},
		{"bilstm-scan-h32-w4a8", nil, false}, // whose output is made of two streams
		{"digits-cnn-w4a4", nil, true},
		{"digits-resnet-w4a4", nil, false},
	}
	if !tier.Long() { // images, as those of the long tier, cost most
		cases = cases[:tier.CasesToRun(3)]
	}
	all := len(cases)
	for _, model := range []string{"digits-mlp-w2a2", "digits-cnn-w4a4", "digits-resnet-w4a4", "bilstm-h32-w4a8"} {
		c := cases[0]
		c.model, c.bytes = model, false
		if cases = append(cases, c); !strings.HasPrefix(model, "bilstm") {
			c.bytes = true
		} else {
			c.lengths = []int{1, 3, 16, 8, 16, 1}
		}
		cases = append(cases, c)
	}
	for i, c := range cases {
		t.Run(fmt.Sprint(c.model, " ", c.lengths, " ", c.bytes, " ", i >= all), func(t *testing.T) {
			t.Parallel()
			var m models.Model
			if i < all {
				m = models.Find(t, c.model)
			} else {
				m = whole(t, c.model)
			}
			tools := tier.Needs(t, "make", "g++", "numpy")
			o := Options{Source: options.Source{Model: m.Path("model.onnx")},
				Hardware: options.Hardware{Board: "zcu104"},
				Goal:     options.Goal{FPS: 5000}, Verification: options.Verification{NoCSim: true, Verify: 1}}
			o.Out = filepath.Join(t.TempDir(), "out")
			x := m.Recorded(t).X
			in := &npy.Array{DType: "float32", Shape: x.Shape, Data: x.Data}
			args := []string{"testdata/predict.py", filepath.Join(o.Out, "deploy"), "", "", ""}
			sim := simulate.Options{Engine: engines.EngineEval}
			if c.bytes {
				in.DType = "uint8"
				o.InputType = &frontend.IntegerInputType{Type: num.Type{Kind: num.KindUInt, Width: 8},
					Scale:  big.NewRat(1, 15),
					Offset: big.NewRat(-1, 2)}
				for c := range x.Shape[1] {
					o.InputType.Mean = append(o.InputType.Mean, big.NewRat(int64(c%7-3), 100))
					o.InputType.Deviation = append(o.InputType.Deviation, big.NewRat(int64(8+c%5), 10))
				}
				in.Data = make([]float64, len(x.Data))
				for i := range in.Data {
					in.Data[i] = float64(i * 7 % 16)
				}
			}
			var d diag.List
			if c.lengths != nil {
				features := x.Shape[2]
				in.Shape = []int{len(c.lengths), 16, 1, features}
				in.Data = make([]float64, dataflow.Shape(in.Shape).ElementCount())
				for i := range in.Data {
					in.Data[i] = x.Data[i%len(x.Data)]
				}
				sim.LengthsFile = samplefiles.Save(t, filepath.Join(t.TempDir(), "n.npy"), stepsOf(c.lengths))
				args = append(args, sim.LengthsFile)
				o.Lengths = &frontend.AxisLengthRange{Axis: "inp.25:0", Min: 1, Max: 16}
			}
			r, err := Run(context.Background(), o, &d)
			if err != nil || r == nil {
				t.Fatal(err, d.Diags)
			}
			if shape := r.Imported.Model.In[0].Shape; len(x.Shape) == 3 && c.lengths == nil {
				in.Shape = append([]int{x.Shape[0]}, shape...)
			}
			if r.NoDriver != "" {
				t.Fatal(r.NoDriver)
			}
			lib := maketest.Library(t, filepath.Join(o.Out, "hls"), "lib", "CXXFLAGS=-O1")
			sim.Source, sim.Hardware, sim.Goal = o.Source, o.Hardware, o.Goal
			sim.Data, sim.Output = samplefiles.Write(t, in), filepath.Join(t.TempDir(), "y.npy")
			if c.bytes {
				samplefiles.Save(t, sim.Data+".reals.npy", normalised(o.InputType, in))
			}
			simtest.RunOK(t, sim)
			args[2], args[3], args[4] = lib, sim.Data, sim.Output
			programs := [][]string{args, append([]string{"testdata/card.py"}, args[1:]...)}
			if c.lengths == nil {
				programs = append(programs, append([]string{"testdata/driver.py"}, args[1:]...))
			}
			for _, args := range programs {
				said, err := exec.Command(tools[2], args...).CombinedOutput()
				if err != nil || !strings.Contains(string(said), "PASS ") {
					t.Errorf("%s: %v\n%s", args[0], err, said)
				}
				t.Logf("%s", said)
			}
		})
	}
}

// normalised is what a float32 program makes of integers that stand for numbers, channels along axis 1.
func normalised(t *frontend.IntegerInputType, in *npy.Array) *npy.Array {
	single := func(r *big.Rat) float32 {
		f, _ := r.Float32()
		return f
	}
	out := &npy.Array{DType: "float32", Shape: in.Shape}
	inner := dataflow.Shape(in.Shape[2:]).ElementCount()
	for i, k := range in.Data {
		c := i / inner % in.Shape[1]
		v := float32(k)*single(t.Scale) + single(t.Offset)
		out.Data = append(out.Data, float64((v-single(t.Mean[c]))/single(t.Deviation[c])))
	}
	return out
}

// TestDriverAXI drives accelerators behind their movers, in Verilator: results are those of engine eval, with a memory
// that is always ready and with one that is often not. The long tier has more kinds of networks.
func TestDriverAXI(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		model   string
		lengths []int
		all     bool // samples, of the shared model
	}{
		{"digits-mlp-w2a2", nil, false},
		{"bilstm-h32-w4a8", []int{1, 3, 16, 8, 16, 1}, true},
		{"bilstm-h32-w4a8", nil, true},
		{"digits-mlp-w2a2", nil, true},
		{"digits-cnn-w4a4", nil, true},
		{"digits-resnet-w4a4", nil, true},
	} {
		t.Run(fmt.Sprint(c.model, " ", c.lengths, " ", c.all), func(t *testing.T) {
			t.Parallel()
			var m models.Model
			if c.all {
				m = whole(t, c.model)
			} else {
				m = models.Find(t, c.model)
			}
			tools := tier.Needs(t, "make", "verilator", "g++", "numpy")
			o := Options{Source: options.Source{Model: m.Path("model.onnx")},
				Hardware: options.Hardware{Board: "zcu104",
					Backend: options.BackendRTL}, Goal: options.Goal{Interval: 10_000},
				Verification: options.Verification{NoCSim: true,
					Verify: 1}, OutputFolder: options.OutputFolder{Out: filepath.Join(t.TempDir(), "out")}}
			x := m.Recorded(t).X
			samples := 12
			if c.all {
				samples = x.Shape[0]
			}
			in := &npy.Array{DType: x.DType, Shape: append([]int{samples}, x.Shape[1:]...)}
			sim := simulate.Options{Engine: engines.EngineEval,
				OutputFileOptions: simulate.OutputFileOptions{Output: filepath.Join(t.TempDir(), "y.npy")}}
			var args []string
			if c.lengths != nil {
				in.Shape = []int{len(c.lengths), 16, 1, x.Shape[2]}
				sim.LengthsFile = samplefiles.Save(t, filepath.Join(t.TempDir(), "n.npy"), stepsOf(c.lengths))
				args = []string{sim.LengthsFile}
				o.Lengths = &frontend.AxisLengthRange{Axis: "inp.25:0", Min: 1, Max: 16}
			}
			var d diag.List
			r, err := Run(context.Background(), o, &d)
			if err != nil || r == nil {
				t.Fatal(err, d.Diags)
			}
			if shape := r.Imported.Model.In[0].Shape; len(x.Shape) == 3 && c.lengths == nil {
				in.Shape = append([]int{samples}, shape...)
			}
			lib := maketest.Library(t, filepath.Join(o.Out, "rtl", "axi"), maketest.OneUnit)
			for i := range dataflow.Shape(in.Shape).ElementCount() {
				in.Data = append(in.Data, x.Data[i%len(x.Data)])
			}
			sim.Source, sim.Hardware, sim.Goal = o.Source, o.Hardware, o.Goal
			sim.Data = samplefiles.Write(t, in)
			simtest.RunOK(t, sim)
			args = append([]string{"testdata/axi.py", filepath.Join(o.Out, "deploy"), lib, sim.Data, sim.Output},
				args...)
			for _, stall := range []string{"0", "30", "80"} {
				c := exec.Command(tools[3], args...)
				c.Env = append(c.Environ(), "AXI_STALL="+stall)
				if said, err := c.CombinedOutput(); err != nil || !strings.Contains(string(said), "PASS ") {
					t.Errorf("%s of 100 clocks pass: %v\n%s", stall, err, said)
				}
			}
		})
	}
}

// stepsOf is lengths as an array.
func stepsOf(list []int) *npy.Array {
	a := &npy.Array{DType: "int64", Shape: []int{len(list)}}
	for _, n := range list {
		a.Data = append(a.Data, float64(n))
	}
	return a
}

// quantisedBetween is a network between parts that are not quantised, where asked for: a product in front, a
// softmax behind. opset is the version of ONNX' operators, bits the width of its integers.
func quantisedBetween(t *testing.T, parts bool, opset int64, bits float64) string {
	t.Helper()
	m := onnxtest.New(opset).Opset("qonnx.custom_op.general", 2)
	last := "x"
	m.Input(last, graph.DTypeFloat32, 1, 6)
	product := func(name string, weight func(k int) float64) {
		w := make([]float64, 36)
		for k := range w {
			w[k] = weight(k)
		}
		m.Init(name+".weight", graph.DTypeFloat32, []int{6, 6}, w...)
		m.Node("MatMul", last, name+".weight").Name(name).Out(name + ".out")
		last = name + ".out"
	}
	quant := func(name string, scales ...float64) {
		m.Init(name+".scale", graph.DTypeFloat32, []int{len(scales)}, scales...)
		m.Init(name+".zero", graph.DTypeFloat32, nil, 0).Init(name+".bits", graph.DTypeFloat32, nil, bits)
		m.Node("Quant", last, name+".scale", name+".zero", name+".bits").Domain("qonnx.custom_op.general").
			Int("signed", 1).Int("narrow", 0).Str("rounding_mode", "ROUND").Name(name).Out(name + ".out")
		last = name + ".out"
	}
	if parts {
		product("mixed", func(k int) float64 { return math.Round(8*math.Sin(float64(k+1))) / 8 })
	}
	quant("in", 0.5, 0.25, 0.5, 0.5, 1, 0.5)
	product("fc", func(k int) float64 { return float64(k%5 - 2) })
	quant("act", 0.75)
	product("top", func(k int) float64 { return float64(k%7-3) / 4 })
	if parts {
		m.Node("Softmax", last).Name("softmax").Out("softmax.out")
		last = "softmax.out"
	}
	m.Output(last, graph.DTypeFloat32, 1, 6)
	path := filepath.Join(t.TempDir(), "model.onnx")
	if err := os.WriteFile(path, m.Bytes(), 0o644); err != nil {
		t.Fatal(err)
	}
	return path
}

// TestDriverWords: the driver packs integers of widths that are no power of two, some of them in a word, and gives what
// engine eval does.
func TestDriverWords(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		bits     float64
		interval float64
	}{{3, 1}, {5, 2}, {12, 3}} {
		t.Run(fmt.Sprint(c.bits), func(t *testing.T) {
			t.Parallel()
			tools := tier.Needs(t, "make", "g++", "numpy")
			o := Options{Source: options.Source{Model: quantisedBetween(t, false, 13, c.bits)},
				Hardware: options.Hardware{Board: "kv260"}, Goal: options.Goal{Interval: c.interval},
				Verification: options.Verification{NoCSim: true, Verify: 1},
				OutputFolder: options.OutputFolder{Out: filepath.Join(t.TempDir(), "out")}}
			var d diag.List
			if r, err := Run(context.Background(), o, &d); err != nil || r == nil || r.NoDriver != "" {
				t.Fatal(err, d.Diags, r)
			}
			in := &npy.Array{DType: "float32", Shape: []int{300, 6}}
			for i := range 1800 {
				in.Data = append(in.Data, math.Round(16*math.Exp2(c.bits)*math.Sin(float64(i*i)))/16)
			}
			sim := simulate.Options{Source: o.Source, Engine: engines.EngineEval,
				OutputFileOptions: simulate.OutputFileOptions{Output: filepath.Join(t.TempDir(), "y.npy")}}
			sim.Data = samplefiles.Write(t, in)
			simtest.RunOK(t, sim)
			lib := maketest.Library(t, filepath.Join(o.Out, "hls"), "lib", "CXXFLAGS=-O1")
			said, err := exec.Command(tools[2], "testdata/driver.py", filepath.Join(o.Out, "deploy"), lib, sim.Data,
				sim.Output, fmt.Sprint(c.bits)).CombinedOutput()
			if err != nil || !strings.Contains(string(said), "PASS ") {
				t.Errorf("%v\n%s", err, said)
			}
		})
	}
}

// TestDriverInside: where the host computes more than functions of one element, pre.onnx and post.onnx have its nodes,
// and the driver gives what engine eval does, with what runs them. Without, it names what it needs; asked to, it takes
// and gives tensors inside of the model, and names what is outside. Products in front are of numbers with so few bits
// that float32 holds their sums.
func TestDriverInside(t *testing.T) {
	t.Parallel()
	tools := tier.Needs(t, "make", "g++", "onnx")
	o := Options{Source: options.Source{Model: quantisedBetween(t, true, 13, 4)},
		Hardware: options.Hardware{Board: "kv260"},
		Goal:     options.Goal{Interval: 100}, Verification: options.Verification{NoCSim: true, Verify: 1},
		OutputFolder: options.OutputFolder{Out: filepath.Join(t.TempDir(), "out")}}
	var d diag.List
	r, err := Run(context.Background(), o, &d)
	if err != nil || r == nil || r.NoDriver != "" || r.System == nil {
		t.Fatal(err, d.Diags, r)
	}
	in := &npy.Array{DType: "float32", Shape: []int{50, 6}}
	for i := range 300 {
		in.Data = append(in.Data, math.Round(48*math.Sin(float64(i*i)))/16)
	}
	sim := simulate.Options{Source: options.Source{Model: quantisedBetween(t, false, 13, 4),
		SampleFiles: options.SampleFiles{Data: samplefiles.Write(t,
			in)}}, Engine: engines.EngineEval,
		OutputFileOptions: simulate.OutputFileOptions{Output: filepath.Join(t.TempDir(),
			"y.npy")}}
	simtest.RunOK(t, sim)
	whole := sim
	whole.Model, whole.Output = o.Model, filepath.Join(t.TempDir(), "whole.npy")
	simtest.RunOK(t, whole)
	lib := maketest.Library(t, filepath.Join(o.Out, "hls"), "lib", "CXXFLAGS=-O1")
	said, err := exec.Command(tools[2], "testdata/inside.py", filepath.Join(o.Out, "deploy"), lib, sim.Data,
		sim.Output, whole.Output).CombinedOutput()
	if err != nil || !strings.Contains(string(said), "PASS ") {
		t.Errorf("%v\n%s", err, said)
	}
	page, err := os.ReadFile(filepath.Join(o.Out, "README.md"))
	if err != nil || !strings.Contains(string(page), "takes `mixed.out` instead of the model's inputs: what is in "+
		"front of that, `mixed`, the driver runs with onnxruntime") ||
		!strings.Contains(string(page), "gives `top.out` instead") {
		t.Errorf("%v\n%s", err, page)
	}
}

// TestDriverOld: what an old version of ONNX' operators says is not said in pre.onnx and post.onnx, which have a newer
// one: then the driver names the nodes, and predicts between tensors inside of the model alone.
func TestDriverOld(t *testing.T) {
	t.Parallel()
	python := tier.Needs(t, "numpy")[0]
	o := Options{Source: options.Source{Model: quantisedBetween(t, true, 10, 4)},
		Hardware: options.Hardware{Board: "kv260"},
		Goal:     options.Goal{Interval: 100}, Verification: options.Verification{NoCSim: true, Verify: 1},
		OutputFolder: options.OutputFolder{Out: filepath.Join(t.TempDir(), "out")}}
	var d diag.List
	if r, err := Run(context.Background(), o, &d); err != nil || r == nil || r.NoDriver != "" {
		t.Fatal(err, d.Diags, r)
	}
	const program = `
from accelerator import Accelerator, Unfit, _load
class Device:
    hash = _load("host/host.json")["hash"]
Accelerator(Device(), inside=True)
try:
    Accelerator(Device())
except Unfit as e:
    print(e)
`
	c := exec.Command(python, "-c", program)
	c.Dir = filepath.Join(o.Out, "deploy")
	said, err := c.CombinedOutput()
	if err != nil || !strings.Contains(string(said), "the model computes mixed outside of the accelerator, which "+
		"pre.onnx and post.onnx do not say: ") || !strings.Contains(string(said), "between the tensors mixed.out: ") {
		t.Errorf("%v\n%s", err, said)
	}
}
