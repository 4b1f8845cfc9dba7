package main

import (
	"slices"
	"strings"
	"testing"

	"hlsgen/internal/npy"
)

// labelFile is a file of labels.
func labelFile(t *testing.T, classes ...float64) string {
	t.Helper()
	b, err := npy.EncodeNPY(&npy.Array{DType: "int64", Shape: []int{len(classes)}, Data: classes})
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// TestWrong checks the messages about wrong uses of flags for accumulators, labels, quantisation and conversion.
// Nothing goes to stdout, and no flag is ignored.
func TestWrong(t *testing.T) {
	t.Parallel()
	files := map[string]string{"three.npy": labelFile(t, 0, 1, 2), "broken.npy": "no array", "there.onnx": "no model",
		"none.npy": labelFile(t, slices.Repeat([]float64{-1}, 88)...),
		"far.npy":  labelFile(t, slices.Repeat([]float64{3}, 88)...)}
	const (
		bits     = "want an integer from 1 to 64, or LAYER=BITS,... or hidden=BITS"
		run      = "simulate " + iris + " --input " + irisInputs
		narrow   = run + " --acc-bits 8 --acc-overflow "
		onZCU    = " " + iris + " --board zcu104 "
		on       = " --calibrate " + irisInputs + " "
		formats  = "sweep" + onZCU + "--requantize "
		format   = "want the bits of integers, 2 to 16, or a minifloat such as e4m3"
		sampled  = "a model that is quantised on samples: --calibrate FILE"
		excludes = "--requantize says what the model becomes, and writes it: it excludes --quantize and --save-model"
	)
	for _, c := range []struct {
		args   string
		code   int
		stderr string // contained
	}{
		{"check " + iris + " --acc-bits", exitUsage, "flag needs an argument: --acc-bits"},
		{"check " + iris + " --acc-bits 0", exitUsage, bits},
		{"check " + iris + " --acc-bits 65", exitUsage, bits},
		{"check " + iris + " --acc-bits MVAU_0=", exitUsage, bits},
		{"check " + iris + " --acc-bits =8", exitUsage, `"=8" says twice how many bits, or of nothing`},
		{"check " + iris + " --acc-bits 8,9", exitUsage, `"9" says twice how many bits`},
		{"check " + iris + " --acc-bits MVAU_0=8,MVAU_0=9", exitUsage, `"MVAU_0=9" says twice how many bits`},
		{"build" + onZCU + "--acc-bits MVAU_7=8", exitDiagnostics, "did you mean MVAU_0?"},
		{"build" + onZCU + "--acc-bits hiden=8", exitDiagnostics, "did you mean hidden?"},
		{"sweep" + onZCU + "--acc-bits 8", exitUsage, "--acc-bits belongs to build, check and simulate"},
		{"check " + iris + " --acc-per-pe", exitUsage, "--acc-per-pe belongs to build, simulate and sweep"},
		{"build" + onZCU + "--acc-per-pe=wide", exitUsage, `invalid argument "wide" for "--acc-per-pe" flag`},

		{run + " --acc-bits 8", exitUsage, "hlsgen check --acc-bits audits"},
		{run + " --acc-overflow wrap", exitUsage, "--acc-overflow needs the bits of accumulators"},
		{narrow + "wrp", exitUsage, "overflows are wrap, saturate, did you mean wrap?"},
		{narrow + "wrap --acc-order 3", exitUsage, "--acc-order is for --acc-overflow saturate"},
		{narrow + "saturate --acc-order 0", exitUsage, "want an integer from 1 to 1000"},
		{narrow + "saturate --acc-order 1001", exitUsage, "want an integer from 1 to 1000"},
		{run + " --acc-order 3", exitUsage, "--acc-order is for --acc-overflow saturate"},
		{narrow + "wrap --engine fast", exitUsage, "engine reference runs it, leave --engine out"},
		{narrow + "wrap --engine csim", exitUsage, "engine reference runs it, leave --engine out"},
		{narrow + "wrap --compare y.npy", exitUsage, "--compare, --trace and --codes are not for it"},
		{narrow + "wrap --trace all", exitUsage, "--compare, --trace and --codes are not for it"},
		{"check " + iris + " --acc-overflow wrap", exitUsage, "--acc-overflow belongs to simulate"},

		{run + " --labels three.npy", exitDiagnostics, "3 labels for 88 samples"},
		{run + " --labels far.npy", exitDiagnostics, "label 0 is 3, not a class"},
		{run + " --labels none.npy", exitDiagnostics, "no sample has a label: all are negative"},
		{run + " --labels broken.npy", exitDiagnostics, "error[data-invalid]"},
		{run + " --labels nothing.npy", exitDiagnostics, "error[file-unreadable]"},
		{run + " --labels= ", exitUsage, "want a FILE"},
		{"build" + onZCU + "--no-csim --labels three.npy", exitDiagnostics, "these are labels of no samples"},
		{"sweep" + onZCU + "--labels three.npy", exitDiagnostics, "these are labels of no samples"},
		{"sweep" + onZCU + "--input " + irisInputs, exitUsage, "samples that accuracy is measured on: --labels FILE"},
		{"check " + iris + " --labels three.npy", exitUsage, "--labels belongs to build, simulate and sweep"},

		{"build" + onZCU + "--quantize w4a4", exitUsage, sampled},
		{"check " + iris + " --scales max", exitUsage, sampled},
		{"simulate --save-model x.onnx", exitUsage, sampled},
		{"sweep" + onZCU + "--quantize w4a4", exitUsage, sampled},
		{"build" + onZCU + "--calibrate nothing.npy", exitDiagnostics, "error[file-unreadable]"},
		{"build" + onZCU + "--calibrate three.npy", exitDiagnostics, "give samples of shape [4]"},
		{"build" + onZCU + on + "--quantize w4", exitUsage,
			`"w4" is not of the form w8a8, w4a8, we4m3ae5m2 or w4a4p12`},
		{"build" + onZCU + on + "--quantize w99a4", exitUsage, format},
		{"build" + onZCU + on + "--quantize w4a4p99", exitUsage, "accumulators of 99 bits: want 4 to 48"},
		{"build" + onZCU + on + "--scales mean", exitUsage, "want mse, max, percentile"},
		{"build" + onZCU + on + "--save-model " + iris, exitDiagnostics,
			"--save-model would replace the model that is quantised"},
		{"convert " + iris + " --to qcdq --calibrate x.npy", exitUsage, "--calibrate belongs to build, check"},

		{formats + "wa=4", exitUsage, "--requantize chooses scales on samples: --calibrate FILE"},
		{formats + "4" + on, exitUsage, "want lists of formats, such as w=2..8,a=4,8"},
		{formats + "b=4" + on, exitUsage, `"b": want w=, a=, wa= and p=, each once`},
		{formats + "w=4,w=8,a=4" + on, exitUsage, `"w": want w=, a=, wa= and p=, each once`},
		{formats + "w=4" + on, exitUsage, "want w= and a=, or wa="},
		{formats + "wa=4,a=4" + on, exitUsage, "want w= and a=, or wa="},
		{formats + "wa=8..2" + on, exitUsage, `"8..2" is no range, such as 2..8`},
		{formats + "wa=1" + on, exitUsage, format},
		{formats + "wa=e9m9" + on, exitUsage, format},
		{formats + "wa=4,p=1" + on, exitUsage, "accumulators of 1 bits: want 4 to 48"},
		{formats + "wa=4 --quantize w4a4" + on, exitUsage, excludes},
		{formats + "wa=4 --save-model x.onnx" + on, exitUsage, excludes},
		{formats + "wa=4 --interleave 2" + on, exitUsage, "--requantize excludes --interleave"},
		{formats + "wa=4 --keep 0.9" + on, exitUsage, "--keep says how good the fewest bits have to be"},
		{formats + "least --keep 2" + on, exitUsage, "want a share above 0, up to 1, such as 0.99"},
		{"build" + onZCU + on + "--quantize least", exitUsage, "searched by sweep --requantize least"},
		{"build" + onZCU + "--requantize wa=4", exitUsage, "--requantize belongs to sweep"},

		{"convert " + iris, exitUsage, "convert wants --to qonnx, or --to qcdq, or --to qoperator, or --clean"},
		{"convert " + iris + " --to qnnx", exitUsage, "did you mean qonnx?"},
		{"convert " + iris + " --to qcdq --dim T=1..4", exitUsage, "convert takes one size for --dim"},
		{"convert " + iris + " --to qcdq --out there.onnx", exitDiagnostics, "error[output-foreign]"},
		{"convert " + iris + " --to qcdq --out no/such/folder/x.onnx", exitDiagnostics, "no such file or directory"},
		{"convert there.onnx --to qcdq", exitDiagnostics, "error[model-malformed]"},
		{"convert nothing.onnx --to qcdq", exitDiagnostics, "error[file-unreadable]"},
	} {
		t.Run(c.args, func(t *testing.T) {
			t.Parallel()
			got := say(filesIn(t, files), nil, strings.Fields(c.args)...)
			if got.code != c.code || got.stdout != "" {
				t.Errorf("exit code %d, want %d\nstdout: %s\nstderr: %s", got.code, c.code, got.stdout, got.stderr)
			}
			expect(t, "stderr", got.stderr, c.stderr)
		})
	}
}

// TestEngineSaid checks that the output names the engine that ran.
func TestEngineSaid(t *testing.T) {
	t.Parallel()
	for args, want := range map[string]string{
		"":                                  "engine fast",
		"--engine cycle":                    "engine cycle",
		"--trace all":                       "engine eval",
		"--acc-overflow wrap --acc-bits 63": "engine reference",
		"--acc-overflow wrap --acc-bits 63 --engine reference": "engine reference",
	} {
		got := say(filesIn(t, nil), nil, strings.Fields("simulate "+iris+" --input "+irisInputs+" "+args)...)
		first, _, _ := strings.Cut(got.stdout, "\n")
		if got.code != exitOK || !strings.Contains(first, want) {
			t.Errorf("%q: %d, %q, want %s\n%s", args, got.code, first, want, got.stderr)
		}
	}
}
