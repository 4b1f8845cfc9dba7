package cost

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"hlsgen/internal/num"
	"hlsgen/internal/testsupport/tier"
)

// The MVAUShape cases come from FINN's test_fpgadataflow_res_estimate.py (the first four) and its cybersecurity MLP
// test (test_end2end_cybsec_mlp.py; the whole network has 36 RAMB18 and 7899 LUT). The others are rows of FINN's
// own per-layer estimates of TFC_2W2A, kwsmlp_w3a3, unsw_nb15 and CNV_2W2A after bit width minimisation.
var mvaus = []struct {
	name                 string
	m                    MVAUShape
	lut, bram, uram, dsp int
}{
	{"4x4 embedded", finnMVAU(4, 4, 1, 1, 2, 2, 32, true, false, StyleInKernel), 317, 0, 0, 0},
	{"4x4 embedded dsp", finnMVAU(4, 4, 1, 1, 2, 2, 32, true, true, StyleInKernel), 313, 0, 0, 1},
	{"4x4 decoupled", finnMVAU(4, 4, 1, 1, 2, 2, 32, true, false, StyleBlockRAM), 315, 1, 0, 0},
	{"4x4 decoupled dsp", finnMVAU(4, 4, 1, 1, 2, 2, 32, true, true, StyleBlockRAM), 311, 1, 0, 1},
	{"cybsec 0", finnMVAU(600, 64, 32, 15, 2, 1, 9, true, false, StyleBlockRAM), 5263, 27, 0, 0},
	{"cybsec 1", finnMVAU(64, 64, 4, 16, 2, 2, 8, false, false, StyleBlockRAM), 1162, 4, 0, 0},
	{"cybsec 2", finnMVAU(64, 64, 4, 16, 2, 2, 7, false, false, StyleBlockRAM), 1158, 4, 0, 0},
	{"cybsec 3", finnMVAU(64, 1, 1, 1, 2, 2, 7, false, false, StyleBlockRAM), 316, 1, 0, 0},
	{"unsw 1", finnMVAU(64, 64, 4, 16, 2, 8, 14, false, false, StyleBlockRAM), 3837, 4, 0, 0},
	{"tfc-2w2a 0", finnMVAU(784, 64, 16, 49, 2, 2, 10, true, false, StyleBlockRAM), 10754, 44, 0, 0},
	{"tfc-2w2a 1", finnMVAU(64, 64, 8, 8, 2, 2, 8, true, false, StyleBlockRAM), 1180, 4, 0, 0},
	{"tfc-2w2a 3", finnMVAU(64, 10, 10, 8, 2, 2, 8, true, false, StyleDistributedRAM), 1560, 0, 0, 0},
	{"kws 0", finnMVAU(490, 256, 32, 10, 3, 8, 18, true, false, StyleBlockRAM), 19906, 27, 0, 0},
	{"kws 1", finnMVAU(256, 256, 32, 8, 3, 3, 13, false, false, StyleBlockRAM), 5615, 22, 0, 0},
	{"kws 3", finnMVAU(256, 12, 1, 8, 3, 3, 14, false, false, StyleBlockRAM), 467, 1, 0, 0},
	{"tfc-1w1a 0", finnMVAU(784, 64, 16, 49, 1, 1, 10, false, false, StyleBlockRAM), 5615, 22, 0, 0},
	{"cnv-2w2a 6", finnMVAU(256, 512, 1, 2, 2, 2, 10, true, false, StyleDistributedRAM), 4429, 0, 0, 0},
	{"cnv-2w2a 5", finnMVAU(2304, 256, 1, 8, 2, 2, 13, true, false, StyleBlockRAM), 415, 72, 0, 0},
	{"4x4 ultra", finnMVAU(4, 4, 1, 1, 2, 2, 32, true, false, StyleUltraRAM), 315, 0, 1, 0},
	{"embedded counts twice", finnMVAU(784, 64, 1, 49, 2, 2, 10, true, false, StyleInKernel), 953, 6, 2, 0},
}

// finnMVAU returns an MVAUShape with the figures of FINN's formula.
func finnMVAU(mw, mh, pe, simd, weight, in, acc int, signed, dsp bool, memory MemoryStyle) MVAUShape {
	return MVAUShape{
		MW: mw, MH: mh, PE: pe, SIMD: simd, WeightBits: weight, InBits: in, AccBits: acc,
		InSigned: signed, DSP: dsp, Memory: memory,
	}
}

func TestMVAU(t *testing.T) {
	t.Parallel()
	for _, tt := range mvaus {
		want := Resources{LUT: tt.lut, BRAM: tt.bram, URAM: tt.uram, DSP: tt.dsp}
		if got := Total(tt.m.FINNCost()); got != want {
			t.Errorf("%s: %+v, want %+v", tt.name, got, want)
		}
	}
}

// TestMVAUParts checks that rounding never makes a part negative or moves it by a whole LUT from its real value.
func TestMVAUParts(t *testing.T) {
	t.Parallel()
	m := finnMVAU(490, 256, 32, 10, 3, 8, 18, true, false, StyleBlockRAM)
	want := []CostPart{
		{"weight memory", Resources{BRAM: 27}},
		{"stream control", Resources{LUT: 300}},
		{"multipliers", Resources{LUT: 11616}}, // 1.1*32*10*3*11
		{"adder tree", Resources{LUT: 7356}},   // 1.1*32*11*19 = 7356.8
		{"accumulators", Resources{LUT: 634}},  // 1.1*32*18 = 633.6, plus .8 from above
	}
	got := m.FINNCost()
	if len(got) != len(want) {
		t.Fatalf("%d parts, want %d", len(got), len(want))
	}
	for i := range got {
		if got[i] != want[i] {
			t.Errorf("%+v, want %+v", got[i], want[i])
		}
	}
}

// TestCybsecTotal sums up the whole network, with the foldings 15/32, 16/4, 16/4, 1/1.
func TestCybsecTotal(t *testing.T) {
	t.Parallel()
	var r Resources
	for _, tt := range mvaus {
		if strings.HasPrefix(tt.name, "cybsec") {
			r = r.Plus(Total(tt.m.FINNCost()))
		}
	}
	if r.BRAM != 36 || r.LUT != 7899 {
		t.Errorf("%+v, want 36 RAMB18 and 7899 LUT", r)
	}
}

// TestMVAUEstimates reproduces FINN's own estimates, layer by layer.
func TestMVAUEstimates(t *testing.T) {
	t.Parallel()
	shared := tier.NeedsShared(t)
	files, err := filepath.Glob(filepath.Join(shared, "reference", "finn_estimates", "*", "layers_*_minimize.json"))
	if err != nil || len(files) == 0 {
		t.Fatalf("no estimates under %s: %v", shared, err)
	}
	n := 0
	for _, file := range files {
		data, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		var layers []struct {
			Name, Op string
			InDT     []string `json:"in_dt"`
			Attrs    struct {
				PE, SIMD, MW, MH int
				ResType          string `json:"resType"`
				Acc              string `json:"accDataType"`
				Style            string `json:"ram_style"`
				Mode             string `json:"mem_mode"`
			}
			LUT  float64 `json:"lut_estimation"`
			BRAM int     `json:"bram_estimation"`
			URAM int     `json:"uram_estimation"`
			DSP  int     `json:"dsp_estimation"`
		}
		if err := json.Unmarshal(data, &layers); err != nil {
			t.Fatalf("%s: %v", file, err)
		}
		for _, l := range layers {
			if l.Op != "MVAU_hls" {
				continue
			}
			in, err1 := num.ParseType(l.InDT[0])
			weight, err2 := num.ParseType(l.InDT[1])
			acc, err3 := num.ParseType(l.Attrs.Acc)
			memory := map[string]MemoryStyle{"auto": StyleBlockRAM, "block": StyleBlockRAM,
				"distributed": StyleDistributedRAM,
				"ultra":       StyleUltraRAM}[l.Attrs.Style]
			if err1 != nil || err2 != nil || err3 != nil || memory == 0 || l.Attrs.Mode != "internal_decoupled" {
				t.Fatalf("%s %s: %+v", file, l.Name, l)
			}
			a := l.Attrs
			m := finnMVAU(a.MW, a.MH, a.PE, a.SIMD, weight.Width, in.Width, acc.Width, in.IsSigned(),
				a.ResType == "dsp",
				memory)
			want := Resources{LUT: int(l.LUT), BRAM: l.BRAM, URAM: l.URAM, DSP: l.DSP}
			if got := Total(m.FINNCost()); got != want {
				t.Errorf("%s %s: %+v, want %+v", filepath.Base(filepath.Dir(file)), l.Name, got, want)
			}
			n++
		}
	}
	if n < 40 {
		t.Errorf("only %d layers were compared", n)
	}
}

func TestThresholding(t *testing.T) {
	t.Parallel()
	tests := []struct {
		t         ThresholdingShape
		lut, bram int
	}{
		{ThresholdingShape{InBits: 8, PE: 4, Rows: 1, Memory: StyleDistributedRAM}, 32, 0},
		{ThresholdingShape{InBits: 8, PE: 4, Rows: 64, Memory: StyleDistributedRAM}, 64, 0},
		{ThresholdingShape{InBits: 8, PE: 4, Rows: 65, Memory: StyleDistributedRAM}, 96, 0},
		{ThresholdingShape{InBits: 8, PE: 4, Rows: 65, Memory: StyleBlockRAM}, 32, 2},
		{ThresholdingShape{InBits: 8, PE: 3, Rows: 1025, Memory: StyleBlockRAM}, 24, 4},
		{ThresholdingShape{InBits: 8, PE: 3, Rows: 1, Memory: StyleBlockRAM}, 24, 0},
	}
	for _, tt := range tests {
		if got, want := Total(tt.t.FINNCost()), (Resources{LUT: tt.lut, BRAM: tt.bram}); got != want {
			t.Errorf("%+v: %+v, want %+v", tt.t, got, want)
		}
	}
}

func TestWidthConverter(t *testing.T) {
	t.Parallel()
	// The results of FINN's lut_estimation.
	for _, tt := range []struct{ in, out, lut int }{
		{8, 8, 0},
		{8, 32, 2 + 32},           // widening only
		{32, 8, 2 + 8},            // narrowing only
		{8, 24, 1 + 24},           // log2 3 is rounded down when widening
		{24, 8, 2 + 8},            // and up when narrowing
		{16, 24, 1 + 48 + 1 + 24}, // through 48 bits
		{15, 24, 3 + 120 + 3 + 24},
	} {
		if got := Total(finnWidthConverterCost(tt.in, tt.out)); got != (Resources{LUT: tt.lut}) {
			t.Errorf("%d to %d: %+v, want %d LUT", tt.in, tt.out, got, tt.lut)
		}
	}
}

func TestFIFO(t *testing.T) {
	t.Parallel()
	tests := []struct {
		f    FIFOShape
		want Resources
	}{
		{FIFOShape{Depth: 2, Width: 8, Memory: StyleShiftRegister}, Resources{LUT: 2 + 4, LUTRAM: 4}},
		{FIFOShape{Depth: 32, Width: 7, Memory: StyleShiftRegister}, Resources{LUT: 10 + 4, LUTRAM: 4}},
		{FIFOShape{Depth: 33, Width: 8, Memory: StyleShiftRegister}, Resources{LUT: 12 + 8, LUTRAM: 8}},
		{FIFOShape{Depth: 1000, Width: 1, Memory: StyleBlockRAM}, Resources{LUT: 20, BRAM: 1}},
		{FIFOShape{Depth: 16385, Width: 1, Memory: StyleBlockRAM}, Resources{LUT: 30, BRAM: 2}},
		{FIFOShape{Depth: 8192, Width: 2, Memory: StyleBlockRAM}, Resources{LUT: 26, BRAM: 1}},
		{FIFOShape{Depth: 4097, Width: 3, Memory: StyleBlockRAM}, Resources{LUT: 26, BRAM: 2}},
		{FIFOShape{Depth: 2048, Width: 9, Memory: StyleBlockRAM}, Resources{LUT: 22, BRAM: 1}},
		{FIFOShape{Depth: 1024, Width: 10, Memory: StyleBlockRAM}, Resources{LUT: 20, BRAM: 1}},
		{FIFOShape{Depth: 512, Width: 36, Memory: StyleBlockRAM}, Resources{LUT: 18, BRAM: 1}},
		{FIFOShape{Depth: 513, Width: 36, Memory: StyleBlockRAM}, Resources{LUT: 20, BRAM: 2}},
		{FIFOShape{Depth: 5000, Width: 73, Memory: StyleUltraRAM}, Resources{LUT: 26, URAM: 4}},
	}
	for _, tt := range tests {
		if got := Total(tt.f.FINNCost()); got != tt.want {
			t.Errorf("%+v: %+v, want %+v", tt.f, got, tt.want)
		}
	}
}
