package weights_test

import (
	"context"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"hlsgen/frontend/graph"
	"hlsgen/internal/build"
	"hlsgen/internal/dataflow"
	"hlsgen/internal/diag"
	"hlsgen/internal/engines"
	"hlsgen/internal/examples"
	"hlsgen/internal/npy"
	"hlsgen/internal/options"
	"hlsgen/internal/simulate"
	_ "hlsgen/internal/testsupport/golden" // -update, for the schema
	"hlsgen/internal/testsupport/maketest"
	"hlsgen/internal/testsupport/models"
	"hlsgen/internal/testsupport/onnxtest"
	"hlsgen/internal/testsupport/samplefiles"
	"hlsgen/internal/testsupport/schema"
	"hlsgen/internal/testsupport/simtest"
	"hlsgen/internal/testsupport/tier"
	"hlsgen/internal/weights"
)

// retrained is a file of the same network with other weights.
func retrained(t *testing.T, model []byte, seed uint64) string {
	t.Helper()
	m := onnxtest.Of(model)
	if m.Retrain(rand.New(rand.NewPCG(seed, 16))) == 0 {
		t.Fatal("nothing was changed")
	}
	path := filepath.Join(t.TempDir(), "retrained.onnx")
	if err := os.WriteFile(path, m.Bytes(), 0o644); err != nil {
		t.Fatal(err)
	}
	return path
}

// loadable is what a build of a model whose weights are loaded is asked for: it is in Out then.
func loadable(t *testing.T, model string, from options.WeightSource) build.Options {
	t.Helper()
	o := build.Options{Source: options.Source{Model: model}, Hardware: options.Hardware{Board: "zcu104",
		Backend: options.BackendRTL, Weights: from},
		Goal: options.Goal{Interval: 10_000}, Verification: options.Verification{NoCSim: true, Verify: 1},
		OutputFolder: options.OutputFolder{Out: filepath.Join(t.TempDir(), "out")}}
	loadableBy(t, o)
	return o
}

// loadableBy is the build of such options.
func loadableBy(t *testing.T, o build.Options) *build.Result {
	t.Helper()
	var d diag.List
	r, err := build.Run(context.Background(), o, &d)
	if err != nil || r == nil {
		t.Fatal(err, d.Diags)
	}
	return r
}

// refusedWeights is what is said of a model for a folder; nothing where its weights are written.
func refusedWeights(t *testing.T, model, dir string) string {
	t.Helper()
	l := weights.Options{Source: options.Source{Model: model}, Out: filepath.Join(t.TempDir(), "weights"), For: dir}
	var d diag.List
	r, err := weights.WriteForBuild(context.Background(), l, &d)
	said := ""
	for _, x := range d.Diags {
		if x.Severity != diag.SeverityError {
			continue
		}
		said += x.Where + ": " + x.Msg + "; " + x.Hint + "\n"
	}
	_, written := os.Stat(l.Out)
	if err != nil || (r == nil) != (said != "") || (r == nil) == (written == nil) {
		t.Errorf("%s for %s: %v, %v, %q, written: %v", model, dir, r, err, said, written)
	}
	return said
}

// grow makes the first of some float32 numbers three times as large as the greatest.
func grow(raw []byte) {
	most := float32(0)
	for at := 0; at < len(raw); at += 4 {
		v := math.Float32frombits(binary.LittleEndian.Uint32(raw[at:]))
		most = max(most, v, -v)
	}
	binary.LittleEndian.PutUint32(raw, math.Float32bits(3*most))
}

// requantised is a file of a network in which one of the quantisers has so many bits, of those
// of constants, one of which is three times as large then, or of data, whose codes are finer.
func requantised(t *testing.T, model []byte, which int, constants bool, bits float64) string {
	t.Helper()
	m := onnxtest.Of(model)
	made := map[string]bool{}
	for _, n := range m.Proto.Graph.Node {
		if n.GetOpType() != "Constant" {
			made[n.Output[0]] = true
		}
	}
	for _, in := range m.Proto.Graph.Input {
		made[in.GetName()] = true
	}
	m.Init("other_bits", graph.DTypeFloat32, nil, bits).Init("other_scale", graph.DTypeFloat32, nil, 1.0/64)
	for _, n := range m.Proto.Graph.Node {
		if n.GetOpType() != "Quant" || made[n.Input[0]] == constants {
			continue
		}
		if which--; which >= 0 {
			continue
		}
		n.Input[3] = "other_bits"
		if !constants {
			n.Input[1] = "other_scale"
		}
		for _, c := range m.Proto.Graph.Initializer {
			if c.GetName() == n.Input[0] {
				grow(c.RawData)
			}
		}
		break
	}
	path := filepath.Join(t.TempDir(), "requantised.onnx")
	if err := os.WriteFile(path, m.Bytes(), 0o644); err != nil {
		t.Fatal(err)
	}
	return path
}

// TestWeightsRefused refuses models that do not fit the hardware, and folders that are none, with the reason.
func TestWeightsRefused(t *testing.T) {
	t.Parallel()
	tier.NotQuick(t)
	of := func(name string) string { return models.Find(t, name).Path("model.onnx") }
	o := loadable(t, of("digits-mlp-w2a2"), options.WeightSourceRuntime)
	own := models.Find(t, "digits-mlp-w2a2").Read(t, "model.onnx")
	read := func(name string) []byte { return models.Find(t, name).Read(t, "model.onnx") }
	broken := filepath.Join(t.TempDir(), "broken.onnx")
	if err := os.WriteFile(broken, read("digits-mlp-w2a2")[:1000], 0o644); err != nil {
		t.Fatal(err)
	}
	plan, err := os.ReadFile(filepath.Join(o.Out, "weights.json"))
	if err != nil {
		t.Fatal(err)
	}
	schema.Of(t, "weights-plan", "weights.json of a build with --weights runtime or stream",
		weights.HardwareWithLoadedWeights{}).Check(t, plan)
	constant := o
	constant.Weights, constant.Out = options.WeightSourceConstant, filepath.Join(t.TempDir(), "constant")
	var list diag.List
	if r, err := build.Run(context.Background(), constant, &list); err != nil || r == nil {
		t.Fatal(err, list.Diags)
	}
	for _, tt := range []struct{ name, model, dir, want string }{
		{"itself", of("digits-mlp-w2a2"), o.Out, ""},
		{"other kinds", of("digits-cnn-w4a4"), o.Out,
			"layer 0 of this model is ConvolutionInputGenerator_0, that of the hardware MVAU_0"},
		{"other shapes", of("digits-mlp-w1a1"), o.Out, "it makes [1 128] of [1 64], that of the hardware"},
		{"wider weights", requantised(t, own, 1, true, 8), o.Out, "weight 0 is 3, and the hardware has room for " +
			"INT2, -1 to 1"},
		{"weights that are clipped", requantised(t, own, 1, true, 2), o.Out, ""},
		{"wider codes", requantised(t, own, 1, false, 3), o.Out, "a code is 4, and the hardware has room for " +
			"UINT2, 0 to 3"},
		{"narrower inputs", requantised(t, own, 0, false, 7), o.Out, "it takes UINT7, that of the hardware UINT8"},
		{"a truncated file", broken, o.Out, "the file is damaged"},
		{"constant weights", of("digits-mlp-w2a2"), constant.Out, "was built with constant weights"},
		{"no build", of("digits-mlp-w2a2"), t.TempDir(), "is no folder of hlsgen build"},
		{"other weights", retrained(t, own, 0), o.Out, ""},
	} {
		if said := refusedWeights(t, tt.model, tt.dir); (said == "") != (tt.want == "") ||
			!strings.Contains(said, tt.want) {
			t.Errorf("%s: %q, want %q", tt.name, said, tt.want)
		}
	}
}

// TestWeightsExternalRefused refuses models for hardware that reads one layer's weights with every frame, and those of
// the others once.
func TestWeightsExternalRefused(t *testing.T) {
	t.Parallel()
	tier.NotQuick(t)
	own := models.Find(t, "digits-mlp-w2a2").Read(t, "model.onnx")
	o := loadable(t, models.Find(t, "digits-mlp-w2a2").Path("model.onnx"), options.WeightSource("external=MVAU_0"))
	for _, tt := range []struct{ name, model, want string }{
		{"itself", o.Model, ""},
		{"wider weights", requantised(t, own, 1, true, 8), "weight 0 is 3, and the hardware has room for " +
			"INT2, -1 to 1"},
		{"other shapes", models.Find(t, "digits-mlp-w1a1").Path("model.onnx"), "it makes [1 128] of [1 64]"},
		{"narrower inputs", requantised(t, own, 0, false, 7), "it takes UINT7, that of the hardware UINT8"},
		{"other weights everywhere", retrained(t, own, 0), ""},
	} {
		if said := refusedWeights(t, tt.model, o.Out); (said == "") != (tt.want == "") ||
			!strings.Contains(said, tt.want) {
			t.Errorf("%s: %q, want %q", tt.name, said, tt.want)
		}
	}
}

// TestWeightsConstantTable refuses a model whose thresholds lie behind no weights, and are others than those of the
// hardware.
func TestWeightsConstantTable(t *testing.T) {
	t.Parallel()
	tier.NeedsLong(t)
	m := models.Find(t, "digits-resnet-w4a4")
	o := loadable(t, m.Path("model.onnx"), options.WeightSourceRuntime)
	other := requantised(t, m.Read(t, "model.onnx"), 5, false, 4)
	const want = "its table codes, a constant of the hardware, is another one for this model"
	if said := refusedWeights(t, other, o.Out); !strings.Contains(said, want) {
		t.Errorf("%q, want %q", said, want)
	}
}

// TestWeightsPlan refuses a weights.json that hlsgen has not written so.
func TestWeightsPlan(t *testing.T) {
	t.Parallel()
	tier.NotQuick(t)
	m := models.Find(t, "digits-mlp-w2a2")
	o := loadable(t, m.Path("model.onnx"), options.WeightSourceStream)
	path := filepath.Join(o.Out, "weights.json")
	plan, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct{ old, new, want string }{
		{`"schema": "hlsgen-weights"`, `"schema": "weights"`, `schema "weights"`},
		{`"design": "`, `"design": "x`, "is no hash of a design"},
		{`"top": "`, `"top": "$(id);`, `is no name of a top`},
		{`"dsp": 1728`, `"dsp": -1`, "the board: "},
		{`"clock_mhz": 187.5`, `"clock_mhz": 0`, "a clock of 0 MHz"},
		{`"cost": "hlsgen"`, `"cost": "none"`, `cost "none" is none of hlsgen, finn`},
		{`"counters": false`, `"calibration": {"family": "DSP48E2", "uncertainty": 2}, "counters": false`,
			"the calibration: "},
		{`"weight": "INT2"`, `"weight": "INT99"`, "unknown data type"},
		{`"memory": 4`, `"memory": 200`, "lies in memory 200"},
		{`"depth": 2`, `"depth": -2`, "the network is another one for this model"},
		{`"codes": "UINT2"`, `"codes": ""`, "it has step functions behind its sums, and the hardware gives the sums"},
		{`"kind": "MVAU"`, `"kind": "MVAU", "codes": "UINT2"`,
			"it gives its sums, and the hardware gives codes of UINT2"},
		{`{`, `[`, "is not as hlsgen wrote it"},
		{`"fifos": [`, `"fifos": [], "was": [`, "FIFOs, the hardware has 0"},
	} {
		at := strings.Index(string(plan), tt.old)
		if strings.HasPrefix(tt.old, `"kind"`) { // of the last layer, which gives its sums
			at = strings.LastIndex(string(plan), tt.old)
		}
		if at < 0 {
			t.Fatalf("no %s in the plan", tt.old)
		}
		changed := string(plan[:at]) + tt.new + string(plan[at+len(tt.old):])
		if err := os.WriteFile(path, []byte(changed), 0o644); err != nil {
			t.Fatal(err)
		}
		if said := refusedWeights(t, m.Path("model.onnx"), o.Out); !strings.Contains(said, tt.want) {
			t.Errorf("%s: %q, want %q", tt.new, said, tt.want)
		}
	}
}

// TestWeightsCalibrated has weights fit that are those of a build with --latencies, of which stages of its circuits
// are longer.
func TestWeightsCalibrated(t *testing.T) {
	t.Parallel()
	tier.NotQuick(t)
	m := models.Find(t, "digits-mlp-w2a2")
	calibration := filepath.Join(t.TempDir(), "calibration.json")
	text := `{"family": "DSP48E2", "uncertainty": 0.1, "stages": 1.5, "delays": [],
		"processes": [{"name": "x", "depth": 5, "interval": 1}]}`
	if err := os.WriteFile(calibration, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	o := build.Options{Source: options.Source{Model: m.Path("model.onnx")}, Hardware: options.Hardware{Board: "zcu104",
		Backend: options.BackendRTL,
		Weights: options.WeightSourceRuntime, ClockMHz: 300, Latencies: calibration},
		Goal:         options.Goal{Interval: 10_000},
		Verification: options.Verification{NoCSim: true, Verify: 1},
		OutputFolder: options.OutputFolder{Out: filepath.Join(t.TempDir(),
			"out")}}
	loadableBy(t, o)
	if said := refusedWeights(t, retrained(t, m.Read(t, "model.onnx"), 0), o.Out); said != "" {
		t.Error(said)
	}
}

// TestLoadReport has what it takes to load weights, on boards with memory and without.
func TestLoadReport(t *testing.T) {
	t.Parallel()
	tier.NotQuick(t)
	slow := slowed(t, "pynq-z1", 0.1)
	iris := filepath.Join(samplefiles.Examples(t), examples.IrisName, "model.onnx")
	for _, tt := range []struct {
		board string
		from  options.WeightSource
		want  string // with N for the words
	}{
		{"pynq-z1", options.WeightSourceConstant, ""},
		{"pynq-z1", options.WeightSourceStream,
			"N words of 32 bits in N/100 us, once, before the first frame: 0.4 GB/s, 50 % of " +
				"the port and 19 % of the memory"},
		{"zcu104", options.WeightSourceStream,
			"N words of 32 bits in N/187.5 us, once, before the first frame: 0.75 GB/s, 25 % of " +
				"the port and 4.4 % of the memory"},
		{slow, options.WeightSourceStream,
			"N words of 32 bits in N/25 us, once, before the first frame: 0.1 GB/s, 12.5 % of the " +
				"port and 100 % of the memory"},
		{"alveo-u250", options.WeightSourceStream,
			"N words of 32 bits in N/200 us, once, before the first frame: 0.8 GB/s, 6.3 % " +
				"of the port and 4.2 % of the memory"},
		{"arty-a7-35", options.WeightSourceStream,
			"N words of 32 bits in N/100 us, once, before the first frame: 0.4 GB/s; no " +
				"mover is made, as nothing is known of a memory that it could read"},
		{"icebreaker", options.WeightSourceRuntime,
			"N words of 32 bits, written to a register one by one before the first frame"},
	} {
		r := loadableBy(t, build.Options{Source: options.Source{Model: iris},
			Hardware:     options.Hardware{Board: tt.board, Backend: options.BackendRTL, Weights: tt.from},
			Goal:         options.Goal{Interval: 10_000},
			Verification: options.Verification{NoCSim: true, Verify: 1},
			OutputFolder: options.OutputFolder{Out: filepath.Join(t.TempDir(), "out")}})
		l := r.WeightLoadReport()
		if l == nil {
			if tt.want != "" {
				t.Errorf("%s, %s: nothing", tt.board, tt.from)
			}
			continue
		}
		text, err := os.ReadFile(filepath.Join(r.Out, "weights.json"))
		plan := new(weights.HardwareWithLoadedWeights)
		if err == nil {
			err = json.Unmarshal(text, plan)
		}
		if err != nil || l.Words != plan.Words+1 || l.Bytes != 4*l.Words || l.Tables != len(plan.Tables) ||
			l.From != tt.from {
			t.Errorf("%s, %s: %+v of a plan with %d words, %d tables, %v", tt.board, tt.from, l, plan.Words,
				len(plan.Tables), err)
		}
		want := tt.want
		for _, mhz := range []float64{25, 100, 187.5, 200} {
			want = strings.ReplaceAll(want, fmt.Sprintf("N/%g us", mhz),
				fmt.Sprint(math.Round(10*float64(l.Words)/mhz)/10, " us"))
		}
		if want = strings.ReplaceAll(want, "N words", fmt.Sprint(l.Words, " words")); l.String() != want {
			t.Errorf("%s, %s: %q, want %q", tt.board, tt.from, l, want)
		}
	}
}

// around is the clocks that a program has around a load: it writes registers of the mover, and looks every 50 clocks
// whether the mover is through.
const around = 300

// TestWeightsAXI drives accelerators behind their movers, in Verilator, with weights that are loaded: those of the
// model, those of others that were trained anew, and those of the model again. Results are, byte for byte, those of
// engine eval of that model.
func TestWeightsAXI(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		model string
		from  options.WeightSource
		long  bool
	}{
		{"digits-mlp-w2a2", options.WeightSourceRuntime, false},
		{"digits-mlp-w2a2", options.WeightSourceStream, false},
		{"digits-mlp-w2a2", "external=MVAU_0,MVAU_1,MVAU_2", false},
		{"digits-mlp-w1a1", "external=MVAU_0", true},
		{"digits-cnn-w4a4", "external=MVAU_0,MVAU_1,MVAU_2", true},
		{"digits-mlp-w1a1", options.WeightSourceRuntime, true},
		{"digits-cnn-w4a4", options.WeightSourceRuntime, true},
		{"digits-cnn-w4a4", options.WeightSourceStream, true},
		{"digits-mobilenet-w4a4", options.WeightSourceStream, true},
	} {
		t.Run(c.model+" "+strings.NewReplacer("=", " ", ",", " ").Replace(string(c.from)), func(t *testing.T) {
			t.Parallel()
			if c.long {
				tier.NeedsLong(t)
			}
			tools := tier.Needs(t, "make", "verilator", "g++", "numpy")
			m := models.Find(t, c.model)
			o := build.Options{Source: options.Source{Model: m.Path("model.onnx")},
				Hardware: options.Hardware{Board: "zcu104",
					Backend: options.BackendRTL, Weights: c.from}, Goal: options.Goal{Interval: 10_000},
				Verification: options.Verification{NoCSim: true, Verify: 1},
				OutputFolder: options.OutputFolder{Out: filepath.Join(t.TempDir(), "out")}}
			load := loadableBy(t, o).WeightLoadReport()
			maketest.Make(t, filepath.Join(o.Out, "rtl", "axi"), maketest.OneUnit)
			libs, err := filepath.Glob(filepath.Join(o.Out, "rtl", "axi", "build", "lib*.so"))
			if err != nil || len(libs) != 1 {
				t.Fatal(libs, err)
			}
			x := m.Recorded(t).X
			in := &npy.Array{DType: x.DType, Shape: append([]int{12}, x.Shape[1:]...)}
			for i := range dataflow.Shape(in.Shape).ElementCount() {
				in.Data = append(in.Data, x.Data[i%len(x.Data)])
			}
			input := samplefiles.Write(t, in)
			expected := func(model string) string {
				s := simulate.Options{Source: options.Source{Model: model,
					SampleFiles: options.SampleFiles{Data: input}},
					Engine: engines.EngineEval,
					OutputFileOptions: simulate.OutputFileOptions{Output: filepath.Join(t.TempDir(),
						"y.npy")}}
				simtest.RunOK(t, s)
				return s.Output
			}
			own := []string{filepath.Join(o.Out, "deploy", "host", "host.json"), expected(o.Model)}
			args := append([]string{"testdata/weights.py", filepath.Join(o.Out, "deploy"), libs[0], input}, own...)
			for seed := range uint64(2) {
				l := weights.Options{Source: options.Source{Model: retrained(t, m.Read(t, "model.onnx"), seed)},
					Out: filepath.Join(t.TempDir(), "weights"), For: o.Out}
				var d diag.List
				if r, err := weights.WriteForBuild(context.Background(), l, &d); r == nil || err != nil {
					t.Fatal(err, d.Diags)
				}
				args = append(args, filepath.Join(l.Out, "host.json"), expected(l.Model))
			}
			said, err := exec.Command(tools[3], append(args, own...)...).CombinedOutput()
			if err != nil || !strings.Contains(string(said), "PASS ") {
				t.Errorf("%v\n%s", err, said)
			}
			if c.from == options.WeightSourceRuntime {
				return
			}
			if load.External != nil {
				stalled := exec.Command(tools[3], append(args, own...)...)
				stalled.Env = append(stalled.Environ(), "AXI_STALL=30")
				if said, err := stalled.CombinedOutput(); err != nil || !strings.Contains(string(said), "PASS ") {
					t.Errorf("with stalls: %v\n%s", err, said)
				}
			}
			words, clocks := 0, 0
			_, last, _ := strings.Cut(string(said), "LOADED ")
			_, err = fmt.Sscanf(last, "%d words in %d clocks", &words, &clocks)
			t.Logf("%d words in %d clocks", words, clocks)
			if err != nil || words != load.Words || clocks < load.Clocks || clocks > load.Clocks*100/95+around {
				t.Errorf("%d words in %d clocks, %v; the report has %+v", words, clocks, err, load)
			}
		})
	}
}
