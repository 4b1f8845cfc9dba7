package cost

import (
	"encoding/csv"
	"encoding/json"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"hlsgen/internal/testsupport/tier"
)

// shared returns the path of a file of the reference data. It skips the test if there is none.
func shared(t *testing.T, name string) string {
	t.Helper()
	return filepath.Join(tier.NeedsShared(t), "reference", name)
}

// document reads a JSON file.
func document(t *testing.T, name string, into any) {
	t.Helper()
	data, err := os.ReadFile(shared(t, name))
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(data, into); err != nil {
		t.Fatal(err)
	}
}

// table reads a CSV file as rows by column name.
func table(t *testing.T, name string) []map[string]string {
	t.Helper()
	f, err := os.Open(shared(t, filepath.Join("vivado", name)))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	r := csv.NewReader(f)
	r.FieldsPerRecord = -1
	records, err := r.ReadAll()
	if err != nil || len(records) < 2 {
		t.Fatalf("%s: %d records, %v", name, len(records), err)
	}
	var rows []map[string]string
	for _, record := range records[1:] {
		row := map[string]string{}
		for i, cell := range record[:min(len(record), len(records[0]))] {
			row[records[0][i]] = cell
		}
		rows = append(rows, row)
	}
	return rows
}

func number(t *testing.T, text string) float64 {
	t.Helper()
	x, err := strconv.ParseFloat(text, 64)
	if err != nil {
		t.Fatal(err)
	}
	return x
}

func atoi(t *testing.T, text string) int { return int(number(t, text)) }

// An mvu is one design of the sweeps, and its measurements by metric.
type mvu struct {
	sweep, arith, impl string
	MVAUShape
	metrics map[string]float64
}

// mvus returns the designs of the sweeps and of the heat map, in the order of the files.
func mvus(t *testing.T) []*mvu {
	t.Helper()
	var list []*mvu
	known := map[string]*mvu{}
	for _, row := range table(t, "mvu_vivado2020.csv") {
		if row["experiment"] == "sweep_mlp" && row["arith"] == "xnor_1b" {
			continue // repeats the RTL of std_4b
		}
		key := strings.Join([]string{row["experiment"], row["arith"], row["impl"], row["point"]}, " ")
		m := known[key]
		if m == nil {
			_, value, ok := strings.Cut(row["point"], "=")
			if !ok {
				t.Fatalf("point %q", row["point"])
			}
			m = newMVU(t, row["experiment"], row["arith"], row["impl"], atoi(t, value))
			known[key], list = m, append(list, m)
		}
		m.metrics[row["metric"]] = number(t, row["value"])
	}
	for _, row := range table(t, "mvu_4bit_heatmap.csv") {
		for _, impl := range []string{"hls", "rtl"} {
			m := newMVU(t, heatMap, "std_4b", impl, 0)
			m.PE, m.SIMD = atoi(t, row["PE"]), atoi(t, row["SIMD"])
			m.metrics["lut"] = number(t, row[strings.ToUpper(impl)+"_LUT"])
			list = append(list, m)
		}
	}
	for _, m := range list {
		m.store()
	}
	return list
}

const heatMap = "heat map"

// newMVU returns a design with the parameters in reference/estimator.md. That file lacks those of sweep_mlp, which the
// LUTs of the RTL tell: a square layer of the swept size, half unfolded in both directions.
func newMVU(t *testing.T, sweep, arith, impl string, swept int) *mvu {
	t.Helper()
	widths, ok := map[string][2]int{"xnor_1b": {1, 1}, "binwgt_4bact": {1, 4}, "std_4b": {4, 4}}[arith]
	if !ok {
		t.Fatalf("arithmetic %q", arith)
	}
	m := MVAUShape{MW: 1024, MH: 64, PE: 32, SIMD: 32, WeightBits: widths[0], InBits: widths[1], AccBits: 16}
	switch sweep {
	case heatMap, "sweep_out_wl":
	case "sweep_pe":
		m.PE, m.SIMD = swept, 64
	case "sweep_simd":
		m.PE, m.SIMD = 64, swept
	case "sweep_ifm_ch":
		m.PE, m.SIMD, m.MW = 2, 2, 16*swept
	case "sweep_ofm_ch":
		m.PE, m.SIMD, m.MH = 2, 2, swept
	case "sweep_kernel_dim":
		m.MW = 64 * swept * swept
	case "sweep_ifm_dim":
		m.AccBits = 11
	case "sweep_mlp":
		m.MW, m.MH, m.PE, m.SIMD = swept, swept, swept/2, swept/2
	default:
		t.Fatalf("sweep %q", sweep)
	}
	if sweep == "sweep_out_wl" {
		m.AccBits = swept
	}
	return &mvu{sweep, arith, impl, m, map[string]float64{}}
}

// store sets the memories of weights and input. Each PE has a memory of weights. HLS keeps those of up to 16 rows or
// 1024 bits in LUTs. Synthesis of the RTL keeps those of up to 64 rows there, except in sweep_out_wl, whose flip-flops
// say that the same design has block RAM there. FINN's HLS partitions the input buffer into registers;
// its RTL has a memory.
func (m *mvu) store() {
	rows := m.MW * m.MH / (m.PE * m.SIMD)
	m.Memory = StyleBlockRAM
	if m.impl == "hls" {
		m.Buffer = StyleRegisters
		if rows <= 16 || rows*m.SIMD*m.WeightBits <= 1024 {
			m.Memory = StyleDistributedRAM
		}
	} else if rows <= 64 && m.sweep != "sweep_out_wl" {
		m.Memory = StyleDistributedRAM
	}
}

func (m *mvu) design() string { return fmt.Sprintf("%s %+v", m.impl, m.MVAUShape) }

// blocks returns the RAMB18 of the weights, one memory for each PE.
func (m *mvu) blocks() int {
	if m.Memory != StyleBlockRAM {
		return 0
	}
	return m.PE * m.Fabric.blocks(m.MW*m.MH/(m.PE*m.SIMD), m.SIMD*m.WeightBits)
}

// mvuStudies returns the fits of one implementation: LUT, FF and delay.
func mvuStudies(t *testing.T, impl string) []study {
	list := []study{
		{name: "lut", coefs: []int{mvauLUT, product, popcount, accumulateLUT}},
		{name: "ff", coefs: []int{mvauFF, pipelineFF, accumulateFF}},
		{name: "dly", coefs: []int{clockDelay, productDelay, treeDelay}},
	}
	if impl == "hls" {
		list[0].coefs = append(list[0].coefs, inputMux, inputDecode)
	}
	for _, m := range mvus(t) {
		if m.impl != impl {
			continue
		}
		estimates := []func(*values) float64{
			func(v *values) float64 { return sum(m.shares(v)).lut },
			func(v *values) float64 { return sum(m.shares(v)).ff },
			func(v *values) float64 { return m.dot().delay(v) },
		}
		for i := range list {
			if measured, ok := m.metrics[list[i].name]; ok {
				finn := math.NaN()
				if list[i].name == "lut" {
					finn = float64(Total(m.FINNCost()).LUT)
				}
				list[i].points = append(list[i].points, point{m.sweep, m.design(), measured, estimates[i], finn})
			}
		}
	}
	return list
}

// TestSweepBlocks checks the block RAM of the sweeps. It leaves out sweep_ifm_ch, which has the values
// of sweep_ifm_dim, where 2 PEs cannot have 32 memories.
func TestSweepBlocks(t *testing.T) {
	t.Parallel()
	n := 0
	for _, m := range mvus(t) {
		measured, ok := m.metrics["bram"]
		if !ok || m.sweep == "sweep_ifm_ch" {
			continue
		}
		n++
		want := int(measured)
		if m.impl == "rtl" {
			want *= 2 // in RAMB36
			if m.MW/m.SIMD >= 128 && m.arith == "std_4b" {
				want -= 4 // the input buffer
			}
		}
		if got := m.blocks(); got != want {
			t.Errorf("%s %s %s: %d RAMB18, want %d: %+v", m.sweep, m.arith, m.impl, got, want, m.MVAUShape)
		}
	}
	if n < 20 {
		t.Errorf("only %d designs", n)
	}
}
