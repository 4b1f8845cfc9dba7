package folding

import (
	"bytes"
	"context"
	"errors"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"hlsgen/internal/dataflow"
	"hlsgen/internal/diag"
	"hlsgen/internal/testsupport/tier"
	"hlsgen/rtlsim"
)

// TestDepths checks that FIFOs are as deep as a file says, with FINN's attributes, and that omitted depths and 0 are
// sized.
func TestDepths(t *testing.T) {
	t.Parallel()
	m := mlp(rand.New(rand.NewPCG(5, 1)), uint2, 2, 2, 12, 6, 4)
	const folds = `"MVAU_0": {"PE": 2, "SIMD": 3%s}, "MVAU_1": {"PE": 1, "SIMD": 3%s}`
	for _, c := range []struct {
		name, first, second, around string
		// depths after x, MVAU_0, the width converter and MVAU_1; 0 if sized
		want  []int
		codes []string
	}{
		{"nothing", ``, ``, ``, []int{0, 0, 0, 0}, nil},
		{"FINN's lists", `, "inFIFODepths": [17], "outFIFODepths": [5]`, `, "inFIFODepths": [9], "outFIFODepths": [3]`,
			``, []int{17, 5, 9, 3}, nil},
		{"one side", `, "outFIFODepths": [5]`, ``, ``, []int{0, 5, 0, 0}, nil},
		{"left to hlsgen", `, "inFIFODepths": [0], "outFIFODepths": [5]`, `, "outFIFODepths": [0]`, ``, []int{0, 5, 0,
			0}, nil},
		{"FINN's older numbers", `, "inFIFODepth": 17, "outFIFODepth": 5`, ``, ``, []int{17, 5, 0, 0}, nil},
		{"nodes of FINN's", ``, ``, `FIFOs`, []int{17, 6, 9, 3}, []string{"note folding-invalid"}},
		{"layers before nodes", `, "outFIFODepths": [5]`, ``, `FIFOs`, []int{17, 5, 9, 3},
			[]string{"note folding-invalid"}},
		{"one for each", `, "inFIFODepths": [4, 4]`, ``, ``, nil,
			[]string{"error folding-invalid MVAU_0.inFIFODepths"}},
		{"a memory", `, "outFIFOMemory": ["block"]`, `, "inFIFOMemory": "auto"`, ``, []int{0, 0, 0, 0}, nil},
		{"a memory that cannot be had", `, "outFIFOMemory": ["ultra"]`, ``, ``, []int{0, 0, 0, 0}, nil},
		{"one memory for each", `, "inFIFOMemory": ["srl", "srl"]`, ``, ``, nil,
			[]string{"error folding-invalid MVAU_0.inFIFOMemory"}},
		{"no memory", `, "outFIFOMemory": ["registers"]`, ``, ``, nil,
			[]string{"error folding-invalid MVAU_0.outFIFOMemory"}},
		{"too deep", `, "inFIFODepths": [1048577]`, ``, ``, nil, []string{"error folding-invalid MVAU_0.inFIFODepths"}},
	} {
		layers := strings.Replace(strings.Replace(folds, "%s", c.first, 1), "%s", c.second, 1)
		file := "{" + layers + "}"
		if c.around != "" {
			first, second, _ := strings.Cut(layers, `, "MVAU_1"`)
			file = `{"StreamingFIFO_rtl_0": {"depth": 17, "impl_style": "rtl"}, ` + first + `, "StreamingFIFO_rtl_1": {"depth": 6},
				"StreamingDataWidthConverter_rtl_0": {}, "StreamingFIFO_rtl_2": {"depth": 9}, "MVAU_1"` + second + `, "StreamingFIFO_rtl_3": {"depth": 3}}`
		}
		var told diag.List
		fixed := ParseFoldingFile([]byte(file), &told)
		var d *Design
		if fixed != nil {
			var more *diag.List
			d, more = on(t, m, board("pynq-z1"), Goal{Fixed: fixed})
			told.Diags = append(told.Diags, more.Diags...)
		}
		if !slices.Equal(codes(&told), c.codes) || (d == nil) != (c.want == nil) {
			t.Errorf("%s: %s", c.name, text(&told))
			continue
		}
		if d == nil {
			continue
		}
		if block := d.FIFO[1].Memory == dataflow.MemoryBRAM; block != (c.name == "a memory") {
			t.Errorf("%s: %v", c.name, d.FIFO)
		}
		for s, want := range c.want {
			if want > 0 && d.FIFO[s].Depth != want || d.Given[s] != want {
				t.Errorf("%s: depths %v, given %v, want %v", c.name, d.FIFODepthsWords(), d.Given, c.want)
				break
			}
		}
	}
}

// TestNoNeighbours checks that a FIFO between layers that are no neighbours has no effect and gives a
// warning.
func TestNoNeighbours(t *testing.T) {
	t.Parallel()
	m := mlp(rand.New(rand.NewPCG(5, 1)), uint2, 2, 2, 12, 6, 4, 3)
	d, told := withFile(t, m, `{"MVAU_0": {}, "StreamingFIFO_0": {"depth": 9}, "MVAU_2": {}, "MVAU_1": {}}`, Goal{})
	if want := []string{"warning folding-invalid StreamingFIFO_0"}; d == nil || !slices.Equal(codes(told), want) {
		t.Errorf("%s", text(told))
	}
}

// TestShallow checks that depths that deadlock give that error for every goal, and that slow depths give their true
// interval, which a user can ask for.
func TestShallow(t *testing.T) {
	t.Parallel()
	tier.NotQuick(t)
	target := dataflow.Target{Board: board("zcu104"), ClockMHz: 100}
	slow, dead, full := 0, 0, 0
	for seed := range uint64(160) {
		r := rand.New(rand.NewPCG(seed, 12))
		m := randomNet(r, 2+r.IntN(4), 3)
		first := Goal{MaxUse: all(1), FIFO: FIFODepthPolicy{Words: 1 + int(seed%2)}}
		if whole, _ := designed(t, m, target, Goal{MaxUse: all(1)}); whole == nil {
			continue // the tiles cannot be joined
		}
		var told diag.List
		d, err := FindBestDesign(t.Context(), m, target, first, &told)
		switch {
		case err != nil:
			for _, wanted := range []Goal{{Interval: 1000}, {Latency: true}, {Least: ResourceMeasureFF},
				{MaxCycles: 1000}} {
				wanted.FIFO = first.FIFO
				deadlocked(t, m, target, wanted)
			}
			dead++
		case d == nil:
			t.Errorf("seed %d: %s", seed, text(&told))
		case d.Clocks.Interval > float64(d.Clocks.Slowest):
			slow++
			consistent(t, d, first)
			asked, _ := designed(t, m, target, Goal{MaxUse: all(1), FIFO: first.FIFO, FPS: d.SamplesPerSecond()})
			if asked == nil || asked.Clocks.Interval != d.Clocks.Interval {
				t.Errorf("seed %d: %v clocks, asked for %v", seed, d.Clocks.Interval, asked)
			}
			faster, told := designed(t, m, target, Goal{MaxUse: all(1), FIFO: first.FIFO,
				Interval: math.Floor(d.Clocks.Interval) - 1})
			if faster != nil || told.Diags[0].Code != diag.FPSUnreachable && told.Diags[0].Code != diag.BudgetExceeded {
				t.Errorf("seed %d: fewer than %v clocks: %v, %s", seed, d.Clocks.Interval, faster, text(told))
			}
		default:
			full++
		}
	}
	if slow < 5 || dead < 1 || full < 20 {
		t.Errorf("%d are slow, %d deadlock, %d are as fast as can be", slow, dead, full)
	}
}

// TestMinimal checks that minimal FIFOs are no deeper than others, and still free from deadlock.
func TestMinimal(t *testing.T) {
	t.Parallel()
	for seed := range uint64(60) {
		r := rand.New(rand.NewPCG(seed, 12))
		m := randomNet(r, 2+r.IntN(4), 1)
		target := dataflow.Target{Board: board("zcu104"), ClockMHz: 100}
		var told diag.List
		fast := must(FindBestDesign(t.Context(), m, target, Goal{MaxUse: all(1), Least: ResourceMeasureFF}, &told))
		if fast == nil {
			continue
		}
		least, _ := designed(t, m, target, Goal{MaxUse: all(1), Least: ResourceMeasureFF,
			FIFO: FIFODepthPolicy{Minimal: true}})
		if least == nil || least.Estimate.Total.FF > fast.Estimate.Total.FF {
			t.Errorf("seed %d: %v, for throughput %v", seed, least, fast.FIFO)
		}
	}
}

// TestFormatRoundTrip checks that a written file gives the same folds, depths and clocks, and names no width converter.
func TestFormatRoundTrip(t *testing.T) {
	t.Parallel()
	tier.NotQuick(t)
	r := rand.New(rand.NewPCG(8, 8))
	p := newPainter()
	s := p.image(6, 6, 4)
	f := p.fork(s, 2)
	forked := p.model("forked", p.conv(p.join(f[1], p.pool(f[0], 1)), 3, 1, 2))
	for _, m := range []*dataflow.Model{
		mlp(r, uint2, 2, 2, 784, 64, 64, 64, 10), mlp(r, uint2, 1, 1, 12, 5, 3), mlp(r, uint2, 2, 2, 1, 7, 1),
		withThresholds(r, 24, 6), forked,
	} {
		for _, wanted := range []Goal{{}, {FPS: 250_000}, {Interval: 4000, Least: ResourceMeasureFF}, {Latency: true},
			{FIFO: FIFODepthPolicy{Words: 40}}} {
			roundTrip(t, m, dataflow.Target{Board: board("zcu104"), ClockMHz: 200}, wanted)
		}
	}
	for seed := range uint64(60) {
		r := rand.New(rand.NewPCG(seed, 4))
		m := randomNet(r, 1+r.IntN(5), 5)
		roundTrip(t, m, dataflow.Target{Board: tight(r, m.Graph), ClockMHz: 100}, Goal{MaxUse: all(0.9),
			Least: ResourceMeasureLoad + ResourceMeasure(r.IntN(6))})
	}
}

// troubled reports whether there are diagnostics other than this warning: depths for a longer interval hold up a design
// that is made again without a rate.
func troubled(d *diag.List) bool {
	return slices.ContainsFunc(d.Diags, func(x diag.Diag) bool { return x.Code != diag.GivenFIFODepthsSlow })
}

func roundTrip(t *testing.T, m *dataflow.Model, target dataflow.Target, wanted Goal) {
	t.Helper()
	var d diag.List
	first := must(FindBestDesign(t.Context(), m, target, wanted, &d))
	if first == nil {
		return
	}
	written := FormatFoldingFile(first.Design, true)
	if bytes.Contains(written, []byte("WidthConverter")) || !bytes.Contains(written, []byte(`"Defaults": {}`)) {
		t.Errorf("file:\n%s", written)
	}
	next := Goal{Fixed: ParseFoldingFile(written, &d), Least: wanted.Least, MaxUse: wanted.MaxUse, FIFO: wanted.FIFO}
	same, told := designed(t, m, target, next)
	if same == nil || troubled(told) || len(d.Diags) > 0 {
		t.Errorf("%s, %+v\n%s\n%s", m.Name, wanted, written, text(told))
		return
	}
	if !slices.Equal(same.Folds, first.Folds) || !slices.Equal(same.FIFODepthsWords(), first.FIFODepthsWords()) ||
		same.Clocks.Interval != first.Clocks.Interval ||
		same.Clocks.Latency != first.Clocks.Latency {
		t.Errorf("%s, %+v\n%s\ngot  %v %v, %v clocks\nwant %v %v, %v clocks", m.Name, wanted, written, same.Folds,
			same.FIFO, same.Clocks.Interval,
			first.Folds, first.FIFO, first.Clocks.Interval)
	}
	// If the depth of a FIFO is given, its memory is still chosen by cost, and is no worse.
	if is, was := measure(wanted.Least, &first.Budget, same.Estimate.Total), measure(wanted.Least, &first.Budget,
		first.Estimate.Total); is > was+rounding {
		t.Errorf("%s, %+v: %v of %s, read back %v", m.Name, wanted, was, wanted.Least, is)
	}
	if again := FormatFoldingFile(same.Design, true); !bytes.Equal(again, written) {
		t.Errorf("%s\nis written as\n%s", written, again)
	}
	// With the memories, the whole design is the same.
	next.Fixed = ParseFoldingFile(FormatFoldingFileWithFIFOMemories(first.Design), &d)
	whole, told := designed(t, m, target, next)
	if whole == nil || troubled(told) || len(d.Diags) > 0 || !slices.Equal(whole.FIFO, first.FIFO) ||
		whole.Estimate.Total != first.Estimate.Total {
		t.Errorf("%s, %+v\n%s\ndoes not give the design back\n%s", m.Name, wanted,
			FormatFoldingFileWithFIFOMemories(first.Design),
			text(told))
	}
}

func TestFormat(t *testing.T) {
	t.Parallel()
	m := withThresholds(rand.New(rand.NewPCG(9, 9)), 24, 6)
	d := &dataflow.Design{Model: m, Folds: []dataflow.Fold{
		{PE: 4, SIMD: 1, Memory: dataflow.MemoryBRAM}, {PE: 3, SIMD: 1, Memory: dataflow.MemoryLUTRAM,
			Compute: dataflow.MultiplierInDSPs}}}
	want := `{
  "Defaults": {},
  "Thresholding_0": {
    "PE": 4,
    "ram_style": "block"
  },
  "MVAU_0": {
    "PE": 3,
    "SIMD": 1,
    "ram_style": "distributed",
    "resType": "dsp"
  }
}
`
	if got := string(FormatFoldingFile(d, false)); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}

func TestReadFile(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name, text string
		want       []string // diagnostics
	}{
		{"empty", `{}`, nil},
		{"FINN's", `{"Defaults": {}, "MVAU_hls_0": {"PE": 2, "SIMD": 28, "ram_style": "auto", "ram_style_thresholds": "auto", "resType": "lut",
			"mem_mode": "internal_decoupled", "runtime_writeable_weights": 0}, "Thresholding_rtl_0": {"PE": 1, "depth_trigger_uram": 0}}`, nil},
		{"sliding windows",
			`{"Defaults": {"parallel_window": [0, ["ConvolutionInputGenerator_rtl"]]}, "ConvolutionInputGenerator_rtl_0": {"SIMD": 2, "parallel_window": 1, "M": 1, "dynamic_mode": 0}}`, nil},
		{"no such window",
			`{"ConvolutionInputGenerator_0": {"parallel_window": 2}, "ConvolutionInputGenerator_1": {"parallel_window": "1", "M": 4}}`,
			[]string{"error folding-invalid ConvolutionInputGenerator_0.parallel_window",
				"error folding-invalid ConvolutionInputGenerator_1.parallel_window",
				"warning folding-invalid ConvolutionInputGenerator_1.M"}},
		{"two back ends",
			`{"MVAU_hls_0": {"PE": 1}, "MVAU_rtl_0": {"PE": 2}, "MVAU_rtl_1": {"PE": 3}, "MVAU_hls_1": {"PE": 4}}`,
			[]string{"note folding-invalid"}},
		{"defaults",
			`{"Defaults": {"PE": [2, ["MVAU_hls", "Thresholding"]], "resType": ["lut", "all"], "SIMD": [2, ["MVAU"], 1, "Pool"]}}`, nil},
		{"FIFO depths", `{"A_0": {"inFIFODepths": [2], "PE": 1}, "B_0": {"inFIFODepths": [32], "outFIFODepths": [2]}}`,
			nil},
		{"FINN's older depth", `{"A_0": {"inFIFODepth": 2, "outFIFODepth": 3}}`, nil},
		{"bad depths",
			`{"A_0": {"inFIFODepths": [2, -1], "outFIFODepths": [1.5]}, "B_0": {"inFIFODepths": "2", "outFIFODepths": [1048577]}, "StreamingFIFO_0": {"depth": []}, "StreamingFIFO_1": {"depth": [-1]}}`,
			[]string{"error folding-invalid A_0.inFIFODepths", "error folding-invalid A_0.outFIFODepths",
				"error folding-invalid B_0.inFIFODepths",
				"error folding-invalid B_0.outFIFODepths", "error folding-invalid StreamingFIFO_1.depth"}},
		{"FINN's own nodes",
			`{"StreamingFIFO_rtl_0": {"depth": 2, "impl_style": "rtl"}, "StreamingDataWidthConverter_rtl_0": {}}`,
			[]string{"note folding-invalid"}},
		{"not JSON", `{"A_0": {"PE": }}`, []string{"error folding-invalid"}},
		{"cut off", `{"A_0": {"PE": 1}`, []string{"error folding-invalid"}},
		{"nothing", ``, []string{"error folding-invalid"}},
		{"a list", `[]`, []string{"error folding-invalid"}},
		{"a number", `3`, []string{"error folding-invalid"}},
		{"two values", `{} {}`, []string{"error folding-invalid"}},
		{"NaN", `{"A_0": {"PE": NaN}}`, []string{"error folding-invalid"}},
		{"key twice", `{"A_0": {"PE": 1, "PE": 2}}`, []string{"error folding-invalid"}},
		{"layer twice", `{"A_0": {"PE": 1}, "A_0": {"PE": 2}}`, []string{"error folding-invalid"}},
		{"layer under two names", `{"A_hls_0": {"PE": 1}, "A_0": {"PE": 1}}`, []string{"error folding-invalid A_0"}},
		{"deep", `{"A_0": {"x": ` + strings.Repeat("[", 50) + strings.Repeat("]", 50) + `}}`,
			[]string{"error folding-invalid"}},
		{"layer no object", `{"A_0": 5, "Defaults": 3}`, []string{"error folding-invalid A_0",
			"error folding-invalid Defaults"}},
		{"bad numbers",
			`{"A_0": {"PE": 0, "SIMD": -3}, "B_0": {"PE": 1.5, "SIMD": "4"}, "C_0": {"PE": null, "SIMD": 99999999999}}`,
			[]string{"error folding-invalid A_0.PE", "error folding-invalid A_0.SIMD", "error folding-invalid B_0.PE",
				"error folding-invalid B_0.SIMD",
				"error folding-invalid C_0.PE", "error folding-invalid C_0.SIMD"}},
		{"bad styles",
			`{"A_0": {"ram_style": "bram", "resType": true, "mem_mode": "external"}, "B_0": {"mem_mode": 7}}`,
			[]string{"error folding-invalid A_0.ram_style", "error folding-invalid A_0.resType",
				"error folding-invalid A_0.mem_mode", "error folding-invalid B_0.mem_mode"}},
		{"unsupported", `{"A_0": {"runtime_writeable_weights": 1, "pumpedMemory": [1]}}`,
			[]string{"warning folding-invalid A_0.runtime_writeable_weights",
				"warning folding-invalid A_0.pumpedMemory"}},
		{"misspelt", `{"A_0": {"PE": 2, "SMID": 4}, "B_0": {"SMID": 2}}`, []string{"error folding-invalid A_0.SMID"}},
		{"misspelt in several ways", `{"A_0": {"pe": 4}, "Defaults": {"ram-style": ["block", "all"]}}`,
			[]string{"error folding-invalid A_0.pe", "error folding-invalid Defaults.ram-style"}},
		{"misspelt default", `{"Defaults": {"PE": [2, ["MAVU_hls"]], "SIMD": [2, "Poool"]}}`,
			[]string{"error folding-invalid Defaults.PE", "error folding-invalid Defaults.SIMD"}},
		{"defaults for FINN's own",
			`{"Defaults": {"ram_style": ["block", ["StreamingFIFO_rtl", "MVAU"]], "PE": [2, ["Reshape", "HWSoftmax"]]}}`, nil},
		{"what FINN alone knows",
			`{"MVAU_hls_0": {"MW": 4, "MH": 2, "PE": 1}, "MVAU_hls_1": {"MW": 4, "inputDataType": "INT2"}}`,
			[]string{"warning folding-invalid", "warning folding-invalid", "warning folding-invalid"}},
		{"bad defaults",
			`{"Defaults": {"PE": 2, "SIMD": [2], "ram_style": ["block", 5], "resType": ["x", "all"], "mem_mode": ["const", []]}}`,
			[]string{"error folding-invalid Defaults.PE", "error folding-invalid Defaults.SIMD",
				"error folding-invalid Defaults.ram_style",
				"error folding-invalid Defaults.resType", "error folding-invalid Defaults.mem_mode"}},
	} {
		var d diag.List
		f := ParseFoldingFile([]byte(c.text), &d)
		if got := codes(&d); !slices.Equal(got, c.want) {
			t.Errorf("%s:\ngot  %q\nwant %q", c.name, got, c.want)
		}
		if (f == nil) != d.HasErrors() {
			t.Errorf("%s: file %v with %q", c.name, f, codes(&d))
		}
	}
}

func TestReadFileSays(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"{\n\n\"A_0\": {\"PE\": 1,\n\"PE\": 2}}":  `line 4: key "PE" is given twice`,
		`{"A_0": {"ram_style": "bram"}}`:          `"bram" is not one of auto, block, distributed, ultra`,
		`{"A_0": {"PE": 2.5}}`:                    `2.5 is not a whole number from 1`,
		`{"A_0": {"x": 1}, "B_0": {"x": 1}}`:      `no layer has an attribute "x" (2 times)`,
		`{"A_0": {"MW": 1}, "B_0": {"MW": 1}}`:    `"MW" has no effect (2 times): FINN alone knows it`,
		`{"A_0": {"inFIFODepths": [-1]}}`:         `-1 is not a depth: a whole number of words up to 1048576, or 0 for as many as it takes`,
		`{"Defaults": {"PE": [2, ["MAVU_hls"]]}}`: `no layer is of kind "MAVU"`,
		`{"A_0": {"PE": "` + strings.Repeat("9", 100) + `"}}`: `"` + strings.Repeat("9",
			40) + `" is not a whole number from 1`,
		`{"A_0": ` + strings.Repeat(" ", 16<<20) + `{"PE": 2.5}}`: `larger than 16777216 bytes`,
	} {
		var d diag.List
		ParseFoldingFile([]byte(text), &d)
		if len(d.Diags) != 1 || !strings.Contains(d.Diags[0].Msg, want) {
			t.Errorf("%.60q: %q, want %q", text, d.Diags, want)
		}
	}
}

func FuzzReadFile(f *testing.F) {
	f.Add([]byte(`{"Defaults": {"PE": [2, ["MVAU_hls"]]}, "MVAU_hls_0": {"PE": 2, "SIMD": 4, "ram_style": "block", "inFIFODepths": [2]}}`))
	f.Add([]byte(`{"MVAU_0": {"PE": 3, "resType": "dsp", "mem_mode": "const"}}`))
	m := mlp(rand.New(rand.NewPCG(1, 1)), uint2, 2, 2, 12, 6, 4)
	f.Fuzz(func(t *testing.T, data []byte) {
		var d diag.List
		file := ParseFoldingFile(data, &d)
		if (file == nil) != d.HasErrors() {
			t.Fatalf("file %v, diagnostics %v", file, d.Diags)
		}
		if file == nil {
			return
		}
		r, err := FindBestDesign(context.Background(), m, dataflow.Target{Board: board("zcu104"), ClockMHz: 100},
			Goal{Fixed: file}, &d)
		if dead := new(rtlsim.Deadlock); errors.As(err, &dead) {
			return // caused by depths in the file
		}
		if err != nil || (r == nil) != d.HasErrors() {
			t.Fatalf("%v, %v, %v", r, err, d.Diags)
		}
	})
}
