package formats

import (
	"slices"
	"strings"
	"testing"

	"hlsgen/boards"
	"hlsgen/internal/dataflow"
)

// TestWidths compares the widths with those that arXiv 2311.12359 publishes for 4,608 products, and with those that
// the largest values need.
func TestWidths(t *testing.T) {
	t.Parallel()
	for name, want := range map[string][2]int{
		"INT8": {30, 28}, "E2M3": {26, 25}, "E3M3": {34, 33}, "E4M3": {50, 49}, "E5M2": {80, 79},
		"OCP E4M3": {50, 49}, "OCP E5M2": {80, 77},
	} {
		i := slices.IndexFunc(FormatsToCompare(), func(f SignedFormat) bool { return f.Name == name })
		f := FormatsToCompare()[i]
		if got := [2]int{f.publishedAccumulatorBits(4608), f.ExactAccumulatorBits(4608)}; got != want {
			t.Errorf("%s: %v, want %v", name, got, want)
		}
	}
}

// TestLargest compares the largest values with those of the formats' definitions.
func TestLargest(t *testing.T) {
	t.Parallel()
	want := map[string]float64{"E2M1": 6, "E2M3": 7.5, "E3M2": 28, "E4M3": 480, "E5M2": 114688, "OCP E4M3": 448,
		"OCP E5M2": 57344, "INT8": 128}
	for _, f := range FormatsToCompare() {
		if w, ok := want[f.Name]; ok && f.largestReal() != w {
			t.Errorf("%s: %v, want %v", f.Name, f.largestReal(), w)
		}
		values := f.valuesInLeastUnits()
		if codes := 1<<f.Bits - 2*f.Top; len(values) != codes && len(values) != codes-1 {
			t.Errorf("%s has %d values of %d codes", f.Name, len(values), codes)
		}
	}
}

func TestCompare(t *testing.T) {
	t.Parallel()
	board, _ := boards.FindBoard("zcu104")
	rows, err := CompareDotProducts(4608, dataflow.Target{Board: board, ClockMHz: 100})
	if err != nil {
		t.Fatal(err)
	}
	for i, r := range rows {
		sum := 0
		for _, p := range r.Parts {
			sum += p.LUT
		}
		if sum != r.LUT || r.LUT == 0 || (r.Cells == nil) != (r.Exact > 63) {
			t.Errorf("%+v", r)
		}
		if more := r.Stored - r.Bits; more != 0 && r.Format != "E2M4" && r.Format != "E2M5" {
			t.Errorf("%s is stored in %d bits", r.Format, r.Stored)
		}
		if before := rows[max(0, i-1)]; r.Exponent > 2 && before.Bits == r.Bits && r.Exact <= before.Exact &&
			!strings.HasPrefix(r.Format, "OCP") {
			t.Errorf("%s takes no wider an accumulator than %s", r.Format, before.Format)
		}
	}
	if _, err := CompareDotProducts(0, dataflow.Target{}); err == nil {
		t.Error("sums of nothing are compared")
	}
}
