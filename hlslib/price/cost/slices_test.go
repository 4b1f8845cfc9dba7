package cost

import (
	"encoding/csv"
	"math"
	"os"
	"strings"
	"testing"
)

// facts reads a table of testdata, without its comments, as rows by column name.
func facts(t *testing.T, name string) []map[string]string {
	t.Helper()
	f, err := os.Open("testdata/" + name)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	r := csv.NewReader(f)
	r.Comment = '#'
	records, err := r.ReadAll()
	if err != nil || len(records) < 2 {
		t.Fatalf("%s: %d records, %v", name, len(records), err)
	}
	var rows []map[string]string
	for _, record := range records[1:] {
		row := map[string]string{}
		for i, cell := range record {
			row[records[0][i]] = cell
		}
		rows = append(rows, row)
	}
	return rows
}

// A sliceLayer is a matrix layer of FINN in DSP slices, with the result of Vivado.
type sliceLayer struct {
	name    string
	held    bool // whether the fit leaves it out
	unit    MVAUShape
	lut, ff float64
}

// sliceLayers returns the layers of testdata/slices.csv.
func sliceLayers(t *testing.T) []sliceLayer {
	t.Helper()
	var list []sliceLayer
	for _, row := range facts(t, "slices.csv") {
		m := MVAUShape{
			MW: atoi(t, row["MW"]), MH: atoi(t, row["MH"]), PE: atoi(t, row["PE"]), SIMD: atoi(t, row["SIMD"]),
			WeightBits: atoi(t, row["weight"]), InBits: atoi(t, row["input"]), AccBits: atoi(t, row["acc"]),
			Steps: atoi(t, row["steps"]), DSP: true, ThresholdBits: atoi(t, row["acc"]),
			Memory: map[string]MemoryStyle{"block": StyleBlockRAM,
				"distributed": StyleDistributedRAM}[row["memory"]],
			Fabric:          map[string]Fabric{"series7": FabricSeries7, "ultrascale": FabricUltraScale}[row["fabric"]],
			ThresholdMemory: StyleDistributedRAM,
		}
		if m.MH > m.PE {
			m.Buffer = StyleRegisters
		}
		m.Alike = row["same"] == "1"
		list = append(list, sliceLayer{row["source"] + " " + row["layer"], row["use"] == "held", m,
			number(t, row["LUT"]), number(t, row["FF"])})
	}
	return list
}

// shares returns the shares of the layer.
func (l sliceLayer) shares(v *values) []share { return l.unit.shares(v) }

// sliceStudies returns the fits of layers in DSP slices, for LUTs and for flip-flops, on those that are not left out.
func sliceStudies(t *testing.T) []study {
	t.Helper()
	list := []study{
		{name: "lut", coefs: []int{sliceTree, thresholdLUT}}, {name: "ff", coefs: []int{sliceFF, thresholdFF}},
	}
	for _, l := range sliceLayers(t) {
		if l.held {
			continue
		}
		list[0].points = append(list[0].points, point{design: l.name, measured: l.lut, finn: math.NaN(),
			estimate: func(v *values) float64 { return sum(l.shares(v)).lut }})
		list[1].points = append(list[1].points, point{design: l.name, measured: l.ff, finn: math.NaN(),
			estimate: func(v *values) float64 { return sum(l.shares(v)).ff }})
	}
	return list
}

// sliceBlock returns the table of the layers in DSP slices: measured, estimated, and the error.
func sliceBlock(t *testing.T) *block {
	t.Helper()
	b := &block{name: "slices"}
	const format = "%-27s %-5s %7s %7s %7s   %7s %7s %7s"
	b.line(format, "", "", "LUT", "ours", "%", "FF", "ours", "%")
	for _, l := range sliceLayers(t) {
		use := "fit"
		if l.held {
			use = "held"
		}
		s := sum(l.shares(&fitted))
		b.line(format, l.name, use, whole(l.lut), whole(s.lut), signed(s.lut/l.lut-1), whole(l.ff), whole(s.ff),
			signed(s.ff/l.ff-1))
	}
	return b
}

// TestSliceLayers checks LUTs of layers in DSP slices that the fit left out: within 15 % in the median and 30 % at
// worst.
func TestSliceLayers(t *testing.T) {
	t.Parallel()
	var errors []float64
	for _, l := range sliceLayers(t) {
		if e := sum(l.shares(&fitted)).lut/l.lut - 1; l.held {
			errors = append(errors, math.Abs(e))
		}
	}
	if len(errors) < 4 || median(errors) > .15 || worst(errors) > .30 {
		t.Errorf("%d layers, errors of LUTs %s %% in the median, %s %% at worst", len(errors),
			percent(median(errors)), percent(worst(errors)))
	}
}

// TestSliceBlocks checks the DSP slices and the block RAM of the weights, which need no fit.
func TestSliceBlocks(t *testing.T) {
	t.Parallel()
	rows := facts(t, "slices.csv")
	for i, l := range sliceLayers(t) {
		got := sum(l.shares(&fitted))
		if want := atoi(t, rows[i]["DSP"]); got.dsp != want {
			t.Errorf("%s: %d DSP, want %d", l.name, got.dsp, want)
		}
		if strings.HasPrefix(l.name, "CNV") {
			continue // it has twice the bits of binary weights
		}
		if want := atoi(t, rows[i]["BRAM18"]); got.bram != want {
			t.Errorf("%s: %d RAMB18, want %d", l.name, got.bram, want)
		}
	}
}
