package build_test

import (
	"bytes"
	"context"
	"io"
	"maps"
	"math"
	"math/big"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"hlsgen/folding"
	"hlsgen/folding/sweep"
	"hlsgen/frontend"
	"hlsgen/frontend/convert"
	"hlsgen/frontend/graph"
	"hlsgen/frontend/operators"
	"hlsgen/internal/build"
	"hlsgen/internal/check"
	"hlsgen/internal/dataflow"
	"hlsgen/internal/diag"
	"hlsgen/internal/engines"
	"hlsgen/internal/npy"
	"hlsgen/internal/num"
	"hlsgen/internal/options"
	"hlsgen/internal/outputdir"
	"hlsgen/internal/simulate"
	"hlsgen/internal/source"
	"hlsgen/internal/synthesis"
	"hlsgen/internal/testsupport/golden"
	"hlsgen/internal/testsupport/rnntest"
	"hlsgen/internal/testsupport/tier"
)

const tinyBoard = `{"name": "tiny", "part": "xc7z007sclg400-1", "lut": 300, "ff": 600, "bram36": 4, "uram": 0, "dsp": 4,
"dsp_type": "DSP48E1", "host_port_bits": 64, "default_clock_mhz": 100}`

// priced are the diagnostics with figures that every change of a price changes.
var priced = []diag.Code{diag.BudgetExceeded, diag.NetlistTooLarge, diag.SearchInterrupted}

// provocations has, for every code, what makes hlsgen say it. They run in an empty folder.
var provocations = map[diag.Code]func(t *testing.T, d *diag.List) (ok bool){
	diag.FileUnreadable: func(t *testing.T, d *diag.List) bool { return checked(t, "missing.onnx", d) },
	diag.ModelMalformed: func(t *testing.T, d *diag.List) bool {
		return checked(t, file(t, small()[:200]), d)
	},
	diag.ModelTooLarge: func(t *testing.T, d *diag.List) bool {
		return checked(t, file(t, chainFrom(1<<40, 8).matmul("fc1", 4, ones).end()), d)
	},
	diag.ExternalTensorUnreadable: func(t *testing.T, d *diag.List) bool {
		m := chain(8).quant("in", 8, 0, 0.5).matmul("fc1", 4, ones)
		m.External("fc1.weight", "weights.bin")
		return checked(t, file(t, m.end()), d)
	},
	diag.OpUnsupported: func(t *testing.T, d *diag.List) bool {
		c := chain(8).quant("in", 8, 0, 0.5).matmul("fc1", 4, ones).node("CumSum", "/positions/CumSum")
		return checked(t, file(t, c.end()),
			d)
	},
	diag.OpInvalid: func(t *testing.T, d *diag.List) bool {
		m := chain(8).quant("in", 8, 0, 0.5)
		m.width = 7
		return checked(t, file(t, m.matmul("fc1", 4, ones).end()), d)
	},
	diag.ShapeUnknown: func(t *testing.T, d *diag.List) bool {
		return checked(t, file(t, chainFrom("T", 8).quant("in", 8, 0, 0.5).matmul("fc1", 4, ones).end()), d)
	},
	diag.QuantiserInvalid: func(t *testing.T, d *diag.List) bool {
		return checked(t, file(t, chain(8).quant("in", 8, 0, 0).matmul("fc1", 4, ones).quant("act", 2.5, 1, 1).end()),
			d)
	},
	diag.RoundingUndecided: func(t *testing.T, d *diag.List) bool {
		// Twice divided by the root of 2, a sum of 1 is one half: on the boundary between the codes 0 and 1.
		m := chain(4).quant("in", 4, 0, 1).matmul("fc1", 4, ones)
		m.Init("one", graph.DTypeFloat32, []int{4}, 1, 1, 1, 1).Init("zero", graph.DTypeFloat32, []int{4}, 0, 0, 0,
			0).Init("two",
			graph.DTypeFloat32, []int{4}, 2, 2, 2, 2)
		for _, name := range []string{"bn1", "bn2"} {
			m.Node("BatchNormalization", m.last, "one", "zero", "zero", "two").Float("epsilon",
				0).Name(name).Out(name + ".out")
			m.last = name + ".out"
		}
		return checked(t, file(t, m.quant("act", 2, 0, 1).matmul("fc2", 2, ones).end()), d)
	},
	diag.NothingQuantised: func(t *testing.T, d *diag.List) bool {
		return checked(t, file(t, chain(8).matmul("fc1", 4, ones).node("Relu", "relu").matmul("fc2", 2, ones).end()), d)
	},
	diag.NodeNotMapped: func(t *testing.T, d *diag.List) bool {
		return checked(t, file(t, chain(8).quant("in", 8, 0, 0.5).matmul("fc1", 4, ones).node("Sigmoid",
			"sigmoid").matmul("fc2", 2, ones).end()), d)
	},
	diag.ProductsOnHost: func(t *testing.T, d *diag.List) bool {
		return checked(t, file(t, chain(8).matmul("fc1", 4, ones).quant("in", 8, 0, 0.5).matmul("fc2", 2, ones).end()),
			d)
	},
	diag.WeightsNotInteger: func(t *testing.T, d *diag.List) bool {
		return checked(t, file(t, chain(8).quant("in", 8, 0, 0.5).matmul("fc1", 4,
			func(i, o int) float64 { return math.Sin(float64(i + 8*o + 1)) }).end()), d)
	},
	diag.ScalePerInputChannel: func(t *testing.T, d *diag.List) bool {
		return checked(t, file(t, chain(9).quant("in", 8, 0, 0.1, 0.07, 0.3, 0.9, 0.2, 0.5, 0.6, 0.7,
			1.1).matmul("fc1", 4, ones).end()), d)
	},
	diag.PaddingNotMultipleOfScale: func(t *testing.T, d *diag.List) bool { return checked(t, file(t, farOut()), d) },
	diag.AccumulatorTooWide: func(t *testing.T, d *diag.List) bool {
		return checked(t, file(t, chain(1024).quant("in", 32, 0, 1).matmul("fc1", 1,
			func(i, _ int) float64 { return float64(1<<23 - i%2) }).end()), d)
	},
	diag.ActivationRangeTooWide: func(t *testing.T, d *diag.List) bool {
		return checked(t, file(t, chain(8).quant("in", 16, 0, 1.0/65536).matmul("fc1", 4, ones).node("Tanh",
			"tanh").quant("act", 16, 1, 1.0/32768).matmul("fc2", 2, ones).end()), d)
	},
	diag.BoardUnknown: func(t *testing.T, d *diag.List) bool {
		return run(t, build.Options{Hardware: options.Hardware{Board: "zcu140"}}, d)
	},
	diag.BoardInvalid: func(t *testing.T, d *diag.List) bool {
		return run(t, build.Options{Hardware: options.Hardware{Board: write(t, "mine.json",
			bytes.Replace([]byte(tinyBoard), []byte(`"dsp":`), []byte(`"dsps":`), 1))}}, d)
	},
	diag.BoardResourcesUnverified: func(t *testing.T, d *diag.List) bool {
		return run(t, build.Options{Hardware: options.Hardware{Board: "vck190"},
			Verification: options.Verification{NoCSim: true}}, d)
	},
	diag.BackendUnfitForBoard: func(t *testing.T, d *diag.List) bool {
		return run(t, build.Options{Hardware: options.Hardware{Board: "icebreaker", Backend: options.BackendHLS}},
			d)
	},
	diag.EngineUnfitForModel: func(t *testing.T, d *diag.List) bool {
		_, err := simulate.Run(context.Background(), simulate.Options{Engine: engines.EngineFloat}, d)
		return err == nil && !d.HasErrors()
	},
	diag.StreamUnknown: func(t *testing.T, d *diag.List) bool {
		return run(t, build.Options{Hardware: options.Hardware{ILA: []string{"m_axis_1"}}}, d)
	},
	diag.WeightsNotLoadable: func(t *testing.T, d *diag.List) bool {
		return run(t, build.Options{Hardware: options.Hardware{Weights: options.WeightSourceRuntime}}, d)
	},
	diag.BudgetExceeded: func(t *testing.T, d *diag.List) bool {
		return run(t, build.Options{Hardware: options.Hardware{Board: write(t, "tiny.json", []byte(tinyBoard))}}, d)
	},
	diag.FPSUnreachable: func(t *testing.T, d *diag.List) bool {
		return run(t, build.Options{Source: options.Source{Model: file(t, wide())},
			Hardware: options.Hardware{Board: "pynq-z1"}, Goal: options.Goal{FPS: 8e7}}, d)
	},
	diag.LatencyUnreachable: func(t *testing.T, d *diag.List) bool {
		return run(t, build.Options{Source: options.Source{Model: file(t, wide())},
			Hardware: options.Hardware{Board: "pynq-z1"}, Goal: options.Goal{MaxLatency: 3}}, d)
	},
	diag.SearchInterrupted: func(t *testing.T, d *diag.List) bool {
		user := new(folding.SearchStopper) // who ends the search as soon as it has a design
		return run(t, build.Options{Source: options.Source{Model: file(t, wide())},
			Goal: options.Goal{Interrupt: user,
				SearchProgress: func(folding.BestDesignSoFarSummary) { user.TryStop() }},
			Verification: options.Verification{NoCSim: true}}, d)
	},
	diag.LayerTooSlowForClock: func(t *testing.T, d *diag.List) bool {
		return run(t, build.Options{Hardware: options.Hardware{ClockMHz: 500},
			Verification: options.Verification{NoCSim: true}}, d)
	},
	diag.GivenFIFODepthsSlow: func(t *testing.T, d *diag.List) bool {
		return run(t, build.Options{Hardware: options.Hardware{IO: dataflow.HostIOStream},
			Goal: options.Goal{Folding: write(t, "folding.json",
				[]byte(`{"MVAU_0": {"PE": 1, "SIMD": 8}, "MVAU_1": {"PE": 2, "SIMD": 1, "inFIFODepths": [1]}}`))},
			Verification: options.Verification{NoCSim: true}}, d)
	},
	diag.LargeTableInLUTs: func(t *testing.T, d *diag.List) bool {
		return run(t, build.Options{Source: options.Source{Model: file(t, large())},
			Goal: options.Goal{Folding: write(t, "folding.json",
				[]byte(`{"MVAU_0": {"PE": 1, "SIMD": 1, "ram_style": "distributed"}}`))},
			Verification: options.Verification{NoCSim: true}}, d)
	},
	diag.FoldingFileInvalid: func(t *testing.T, d *diag.List) bool {
		return run(t, build.Options{Goal: options.Goal{Folding: write(t, "folding.json",
			[]byte(`{"MVAU_0": {"PE": 3, "SIMD": 2}, "MVAU_1": {"ram_style": "ultra"}}`))}}, d)
	},
	diag.FoldingFileLayerUnknown: func(t *testing.T, d *diag.List) bool {
		return run(t, build.Options{Goal: options.Goal{Folding: write(t, "folding.json",
			[]byte(`{"MVAU_hls_0": {"PE": 2, "SIMD": 2}, "MVAU_hls_7": {"PE": 2}}`))},
			Verification: options.Verification{NoCSim: true}}, d)
	},
	diag.UnrollLimitExceeded: func(t *testing.T, d *diag.List) bool {
		return run(t, build.Options{Source: options.Source{Model: file(t, wide())},
			Hardware: options.Hardware{MaxUnroll: dataflow.UnrollLimits{Wide: 32, Few: 32,
				One: 32}}, Goal: options.Goal{Folding: write(t, "folding.json",
				[]byte(`{"MVAU_0": {"PE": 4, "SIMD": 64}}`))}}, d)
	},
	diag.StreamWordTooWide: func(t *testing.T, d *diag.List) bool {
		return run(t, build.Options{Source: options.Source{Model: file(t, wide())}, Goal: options.Goal{
			Folding: write(t, "folding.json", []byte(`{"MVAU_0": {"SIMD": 1024}}`))}}, d)
	},
	diag.InputDataInvalid: func(t *testing.T, d *diag.List) bool {
		data, err := npy.EncodeNPY(&npy.Array{DType: "float32", Shape: []int{3, 7}, Data: make([]float64, 21)})
		if err != nil {
			t.Fatal(err)
		}
		o := simulate.Options{Source: options.Source{Model: file(t, small()),
			SampleFiles: options.SampleFiles{Data: write(t, "x.npy", data)}}, Engine: engines.EngineEval}
		r, err := simulate.Run(context.Background(), o, d)
		if err != nil {
			t.Fatal(err)
		}
		return r != nil
	},
	diag.SamplesHeldInMemory: func(t *testing.T, d *diag.List) bool {
		data, err := npy.EncodeNPY(&npy.Array{DType: "float32", Shape: []int{2, 8}, Data: make([]float64, 16)})
		if err != nil {
			t.Fatal(err)
		}
		fortran := bytes.Replace(data, []byte("False"), []byte("True "), 1)
		var packed bytes.Buffer
		if err := npy.WriteNPZOfNPYFiles(&packed, map[string]io.Reader{"x": bytes.NewReader(fortran)}); err != nil {
			t.Fatal(err)
		}
		o := simulate.Options{Source: options.Source{Model: file(t, small()),
			SampleFiles: options.SampleFiles{Data: write(t, "x.npz", packed.Bytes())}}, Engine: engines.EngineEval}
		r, err := simulate.Run(context.Background(), o, d)
		if err != nil {
			t.Fatal(err)
		}
		return r != nil
	},
	diag.NodeNotConvertible: func(t *testing.T, d *diag.List) bool {
		m := chain(8).quant("in", 8, 0, 0.5).matmul("fc1", 4, ones)
		m.Init("half", graph.DTypeFloat32, nil, -0.5).Init("two", graph.DTypeFloat32, nil, 2).Init("s",
			graph.DTypeFloat32, nil, 0.25)
		m.Node("Quant", m.last, "s", "half", "two").Domain(operators.QONNXDomain).Name("balanced").Out("balanced.out")
		m.last = "balanced.out"
		o := build.Options{Source: options.Source{Model: file(t, m.end())}}
		c, err := source.ConvertModelFile(o.Source, convert.Options{To: convert.DialectQCDQ}, "out.onnx", false, d)
		if err != nil {
			t.Fatal(err)
		}
		return c != nil
	},
	diag.WeightsRecovered: func(t *testing.T, d *diag.List) bool {
		products := func(i, o int) float64 { return float64(float32(0.1) * float32((3*i+o)%15-7)) }
		return checked(t, file(t, chain(8).quant("in", 8, 0, 0.5).matmul("fc1", 4, products).end()), d)
	},
	diag.InputQuantiserAdded: func(t *testing.T, d *diag.List) bool {
		quantise := &frontend.AddedInputQuantiser{Type: num.Type{Kind: num.KindInt, Width: 8}, Scale: 0.0625}
		return run(t, build.Options{Source: options.Source{Model: file(t, chain(8).matmul("fc1", 4, ones).end()),
			ModelInputs: options.ModelInputs{InputQuant: quantise}},
			Verification: options.Verification{NoCSim: true}}, d)
	},
	diag.InitialStateChangedOrUnfit: func(t *testing.T, d *diag.List) bool {
		return run(t, build.Options{Source: options.Source{Model: file(t, begins(false)),
			ModelInputs: options.ModelInputs{
				Initial: frontend.InitialStateModesByInput{"h0": frontend.InitialStateModeQuant}}},
			Verification: options.Verification{NoCSim: true}}, d)
	},
	diag.ModelCutAtOutputs: func(t *testing.T, d *diag.List) bool {
		m := chain(8).quant("in", 8, 0, 0.5).matmul("fc1", 4, ones).node("Softmax", "shares").quant("act", 4, 0, 0.25)
		return run(t, build.Options{Source: options.Source{Model: file(t, m.matmul("fc2", 2, ones).end()),
			ModelInputs: options.ModelInputs{Outputs: []string{"fc1.out"}}},
			Verification: options.Verification{NoCSim: true}}, d)
	},
	diag.InputFlagsUnfit: func(t *testing.T, d *diag.List) bool {
		one := big.NewRat(1, 2)
		input := options.ModelInputs{InputType: &frontend.IntegerInputType{
			Type: num.Type{Kind: num.KindUInt, Width: 8}, Scale: one,
			InputNormalisation: frontend.InputNormalisation{Mean: []*big.Rat{one, one, one}}}}
		return run(t, build.Options{Source: options.Source{ModelInputs: input},
			Verification: options.Verification{NoCSim: true}}, d)
	},
	diag.AskedOutputUnknown: func(t *testing.T, d *diag.List) bool {
		return run(t, build.Options{
			Source:       options.Source{ModelInputs: options.ModelInputs{Outputs: []string{"fc1.oot"}}},
			Verification: options.Verification{NoCSim: true}}, d)
	},
	diag.ModelRequantised: func(t *testing.T, d *diag.List) bool {
		x := &npy.Array{DType: "float32", Shape: []int{4, 8}}
		for i := range 32 {
			x.Data = append(x.Data, float64(i%7-3)/2)
		}
		data, err := npy.EncodeNPY(x)
		if err != nil {
			t.Fatal(err)
		}
		return run(t, build.Options{Source: options.Source{Model: file(t, chain(8).matmul("fc1", 4, ones).end()),
			Quantisation: options.Quantisation{Calibrate: write(t, "x.npy", data)}},
			Verification: options.Verification{NoCSim: true}}, d)
	},
	diag.ModelNotQuantisable: func(t *testing.T, d *diag.List) bool {
		data, err := npy.EncodeNPY(&npy.Array{DType: "float32", Shape: []int{1, 8}, Data: make([]float64, 8)})
		if err != nil {
			t.Fatal(err)
		}
		return run(t, build.Options{Source: options.Source{Model: file(t, small()),
			Quantisation: options.Quantisation{Calibrate: write(t, "x.npy", data)},
			ModelInputs:  options.ModelInputs{Stateful: true}}, Verification: options.Verification{NoCSim: true}}, d)
	},
	diag.LSTMGateFormatsMissing: func(t *testing.T, d *diag.List) bool {
		return checked(t, file(t, gated("LSTM", 4)),
			d)
	},
	diag.GRUOrRNNGateFormatsMissing: func(t *testing.T, d *diag.List) bool {
		return checked(t, file(t, gated("GRU", 3)),
			d)
	},
	diag.StatefulFlagUnfit: func(t *testing.T, d *diag.List) bool {
		o := build.Options{Source: options.Source{Model: file(t, small()),
			ModelInputs: options.ModelInputs{Stateful: true}}}
		if _, err := check.Run(context.Background(), check.Options{Source: o.Source, AccBits: o.AccBits},
			d); err != nil {
			t.Fatal(err)
		}
		return !d.HasErrors()
	},
	diag.SequenceLengthsUnfit: func(t *testing.T, d *diag.List) bool {
		n := rnntest.Draw(rnntest.Seeded(0), rnntest.Axes{})
		n.Lengths, n.Steps = true, 4
		o := build.Options{Source: options.Source{Model: file(t, n.ONNX()),
			ModelInputs: options.ModelInputs{Interleave: 2, Lengths: &frontend.AxisLengthRange{Axis: "T", Min: 1,
				Max: 4}}}}
		if _, err := check.Run(context.Background(), check.Options{Source: o.Source, AccBits: o.AccBits},
			d); err != nil {
			t.Fatal(err)
		}
		return !d.HasErrors()
	},
	diag.SamplesNotInterleaved: func(t *testing.T, d *diag.List) bool {
		o := build.Options{Source: options.Source{Model: file(t, small()),
			ModelInputs: options.ModelInputs{Interleave: 2}}}
		if _, err := check.Run(context.Background(), check.Options{Source: o.Source, AccBits: o.AccBits},
			d); err != nil {
			t.Fatal(err)
		}
		return !d.HasErrors()
	},
	diag.AskedAccBitsExceeded: func(t *testing.T, d *diag.List) bool {
		return run(t, build.Options{AccBits: accBits("9")}, d)
	},
	diag.AccBitsFlagUnfit: func(t *testing.T, d *diag.List) bool {
		return run(t, build.Options{AccBits: accBits("MVAU_7=12")}, d)
	},
	diag.OutputFolderUnusable: func(t *testing.T, d *diag.List) bool {
		write(t, "design/notes.txt", []byte("mine\n"))
		return run(t, build.Options{OutputFolder: options.OutputFolder{Out: "design"}}, d)
	},
	diag.OutputHasForeignFiles: func(t *testing.T, d *diag.List) bool {
		if !run(t, build.Options{Verification: options.Verification{NoCSim: true},
			OutputFolder: options.OutputFolder{Out: "design"}}, &diag.List{}) {
			t.Fatal("it cannot be built at all")
		}
		write(t, "design/notes.txt", []byte("mine\n"))
		write(t, "design/hls/top.cpp", []byte("// mine\n"))
		_, err := build.Run(context.Background(), build.Options{Source: options.Source{Model: file(t,
			small())}, Hardware: options.Hardware{Board: "zcu104"}, Verification: options.Verification{NoCSim: true,
			Verify: 1}, OutputFolder: options.OutputFolder{Out: "design", Force: true}}, d)
		return err == nil && !d.HasErrors()
	},
	diag.OutputFolderBusy: func(t *testing.T, d *diag.List) bool {
		full, err := filepath.Abs("design")
		if err != nil {
			t.Fatal(err)
		}
		other, err := outputdir.ClaimFolder(full, nil)
		if err != nil {
			t.Fatal(err)
		}
		defer other.ReleaseClaim()
		return run(t, build.Options{OutputFolder: options.OutputFolder{Out: "design"}}, d)
	},
	diag.SweepJournalDamaged: func(t *testing.T, d *diag.List) bool {
		o := sweep.Options{Source: options.Source{Model: file(t, small())},
			OutputFolder: options.OutputFolder{Out: "swept"}, Boards: []string{"zcu104"}, FPS: []float64{1000}}
		if _, err := sweep.RunSweep(context.Background(), o, &diag.List{}); err != nil {
			t.Fatal(err)
		}
		journal, err := os.ReadFile("swept/journal.jsonl")
		if err != nil {
			t.Fatal(err)
		}
		journal[len(journal)-9] ^= 1
		write(t, "swept/journal.jsonl", journal)
		r, err := sweep.RunSweep(context.Background(), o, d)
		return err == nil && r != nil
	},
	diag.InputBatchFixed: func(t *testing.T, d *diag.List) bool {
		return checked(t, file(t, four(true)), d) && checked(t, file(t, four(false)), d)
	},
	diag.CppCompilerMissing: func(t *testing.T, d *diag.List) bool {
		t.Setenv("PATH", "")
		t.Setenv("CXX", "")
		return run(t, build.Options{}, d)
	},
	diag.VerilatorMissing: func(t *testing.T, d *diag.List) bool {
		t.Setenv("PATH", "")
		return run(t, build.Options{Hardware: options.Hardware{Backend: options.BackendRTL}}, d)
	},
	diag.YosysMissing: func(t *testing.T, d *diag.List) bool {
		t.Setenv("PATH", "")
		return netlist(t, 10, d)
	},
	diag.VendorToolMissing: func(t *testing.T, d *diag.List) bool {
		p, o := synthesised(t), synthesis.Options{Last: synthesis.StageVivado, Step: func(string, int, int) {}}
		o.Env = func(name string) string { return "/opt/" + strings.ToLower(strings.TrimPrefix(name, "HLSGEN_")) }
		r, err := p.Synthesise(context.Background(), o, d)
		return err != nil || r != nil
	},
	diag.SynthesisFailed: func(t *testing.T, d *diag.List) bool {
		p := synthesised(t)
		write(t, "out/synth/hls/MVAU_0/failed", []byte("Vitis HLS: hls/build.ip/MVAU_0/log\n"))
		write(t, "out/hls/build.ip/MVAU_0/log", []byte("INFO: [HLS 200-10] Analyzing design file "+
			"'../../layers/MVAU_0.cpp' ...\nERROR: [HLS 200-101] 'create_clock': Clock period must be positive.\n"))
		p.ReportFailedTask(synthesis.ToolTask{Flow: synthesis.VerilogSourceHLS, Name: "MVAU_0",
			Last: synthesis.StageHLS}, d)
		return !d.HasErrors()
	},
	diag.NetlistTooLarge: func(t *testing.T, d *diag.List) bool {
		dir := t.TempDir()
		for _, program := range []string{"yosys", "verilator", "g++"} { // which are not called
			if err := os.WriteFile(filepath.Join(dir, program), []byte("#!/bin/false\n"), 0o777); err != nil {
				t.Fatal(err)
			}
		}
		t.Setenv("PATH", dir)
		return netlist(t, 1e6, d)
	},
}

// gated is a recurrent operator of two units with so many gates, its weights and input quantised.
func gated(op string, gates int) []byte {
	m := chainFrom("T", 2)
	m.Proto.Graph.Input = nil
	m.Input("sequence", graph.DTypeFloat32, 4, 1, 2)
	m.last = "sequence"
	m.quant("in", 8, 1, 0.0078125)
	for _, name := range []string{"W", "R"} {
		m.Init(name, graph.DTypeFloat32, []int{1, 2 * gates, 2}, make([]float64, 4*gates)...)
	}
	return m.node(op, strings.ToLower(op), "W", "R").quant("out", 6, 1, 0.03125).end()
}

// netlist simulates the embedded example as cells.
func netlist(t *testing.T, fps float64, d *diag.List) (ok bool) {
	t.Helper()
	o := simulate.Options{Hardware: options.Hardware{Board: "zcu104"}, Goal: options.Goal{FPS: fps},
		Engine: engines.EngineNetlist}
	if _, err := simulate.Run(context.Background(), o, d); err != nil {
		t.Fatal(err)
	}
	return !d.HasErrors()
}

func checked(t *testing.T, model string, d *diag.List) (ok bool) {
	t.Helper()
	if _, err := check.Run(context.Background(), check.Options{Source: options.Source{Model: model}},
		d); err != nil {
		t.Fatal(err)
	}
	return !d.HasErrors()
}

// run builds the small model for zcu104 unless o says otherwise.
func run(t *testing.T, o build.Options, d *diag.List) (ok bool) {
	t.Helper()
	if o.Model == "" {
		o.Model = file(t, small())
	}
	if o.Board == "" {
		o.Board = "zcu104"
	}
	if o.Out == "" {
		o.Out = "out"
	}
	o.Verify = 1
	r, err := build.Run(context.Background(), o, d)
	if err != nil {
		t.Fatal(err)
	}
	_, err = os.Stat(filepath.Join(o.Out, "manifest.json"))
	if written := err == nil; written != (r != nil) {
		t.Errorf("result %v, but folder written: %t", r, written)
	}
	return r != nil
}

func file(t *testing.T, model []byte) string { return write(t, "model.onnx", model) }

// synthesised is a build that the tools are to have.
func synthesised(t *testing.T) *synthesis.Project {
	t.Helper()
	var d diag.List
	if !run(t, build.Options{Verification: options.Verification{NoCSim: true}}, &d) {
		t.Fatal(d.Diags)
	}
	p := synthesis.OpenProject("out", &d)
	if p == nil {
		t.Fatal(d.Diags)
	}
	return p
}

func write(t *testing.T, path string, data []byte) string {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, data, 0o666); err != nil {
		t.Fatal(err)
	}
	return "./" + path
}

// Every code is provoked and printed. What is printed is the example on the code's page, which a test of docs holds
// true.
func TestDiagnostics(t *testing.T) {
	tier.NotQuick(t)
	dir, err := filepath.Abs("testdata/diag")
	if err != nil {
		t.Fatal(err)
	}
	cases := golden.Dir(t, dir)
	for _, code := range slices.Sorted(maps.Keys(diag.CodeMeanings)) {
		t.Run(string(code), func(t *testing.T) {
			provoke := provocations[code]
			if provoke == nil {
				t.Fatal("there is no provocation of this code")
			}
			c := cases.Case(t, string(code))
			t.Chdir(t.TempDir())
			var d diag.List
			ok := provoke(t, &d)
			if ok == d.HasErrors() {
				t.Errorf("result: %t, errors: %t", ok, d.HasErrors())
			}
			if !slices.ContainsFunc(d.Diags, func(x diag.Diag) bool { return x.Code == code }) {
				t.Error("the provocation fails to provoke it")
			}
			var b bytes.Buffer
			d.Write(&b)
			if slices.Contains(priced, code) {
				c.WantFigures("printed", b.Bytes())
			} else {
				c.Want("printed", b.Bytes())
			}
		})
	}
}

// accBits is what --acc-bits says.
func accBits(s string) options.AskedAccBits {
	a, err := options.ParseAccBits(s)
	if err != nil {
		panic(err)
	}
	return a
}

// TestFIFOsAsked has a flag take the place of the depths of a folding file.
func TestFIFOsAsked(t *testing.T) {
	t.Chdir(t.TempDir())
	o := build.Options{Source: options.Source{Model: file(t, small())},
		Hardware:     options.Hardware{Board: "zcu104", IO: dataflow.HostIOStream},
		Verification: options.Verification{NoCSim: true, Verify: 1}, OutputFolder: options.OutputFolder{Force: true,
			Out: "out"}}
	o.Folding = write(t, "folding.json",
		[]byte(`{"MVAU_0": {"PE": 1, "SIMD": 8}, "MVAU_1": {"PE": 2, "SIMD": 1, "inFIFODepths": [1]}}`))
	for _, c := range []struct {
		asked  bool
		clocks float64
	}{{false, 8}, {true, 4}} {
		var d diag.List
		o.FIFOAsked = c.asked
		r, err := build.Run(t.Context(), o, &d)
		if err != nil || r == nil || r.Design.Clocks.Interval != c.clocks || len(d.Diags) > 0 == c.asked {
			t.Errorf("asked %v: %v, %v, want %v clocks", c.asked, err, d.Diags, c.clocks)
		}
	}
}
