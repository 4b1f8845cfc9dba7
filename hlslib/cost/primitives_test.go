package cost

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// A primitive is one row of the memory table: what was counted, and what we count.
type primitive struct {
	kind, fabric, name string
	measured, counted  float64
	finn               float64 // NaN where FINN has no formula
	bound              bool    // the measured count is a lower bound
}

func (p primitive) error() float64 { return math.Abs(p.counted/p.measured - 1) }

// primitives are the rows of the table of measured memories and DSP slices.
func primitives(t *testing.T) []primitive {
	t.Helper()
	fabrics := map[string]Fabric{"ultrascale+": UltraScale, "series7": Series7, "versal": Versal, "DSP48E2": UltraScale}
	var list []primitive
	for _, row := range table(t, "vivado2025_memory_primitives.csv") {
		f, ok := fabrics[row["fabric"]]
		if !ok {
			t.Fatalf("fabric %q", row["fabric"])
		}
		p := primitive{kind: row["kind"], fabric: row["fabric"], name: row["words"] + " x " + row["bits"],
			finn: math.NaN()}
		text, _, more := strings.Cut(row["measured"], "+")
		p.measured = number(t, text)
		if extra := strings.TrimPrefix(row["measured"], text+"+"); more && extra != "" {
			p.measured += number(t, extra)
		} else {
			p.bound = more
		}
		if p.kind == "packed_dotp_dsp" {
			p.counted, p.finn = dotProduct(t, f, row["words"], row["bits"])
		} else {
			p.count(f, atoi(t, row["words"]), atoi(t, row["bits"]))
		}
		list = append(list, p)
	}
	return list
}

func (p *primitive) count(f Fabric, rows, width int) {
	switch p.kind {
	case "bram18":
		p.counted, p.finn = float64(f.blocks(rows, width)), float64(bram18(width, rows))
	case "uram":
		p.counted, p.finn = float64(f.ultraBlocks(rows, width)), float64(uram(width, rows))
	case "lutram_storage":
		p.counted = float64(f.lutStorage(rows, width))
	case "lutram_total":
		p.counted = f.lutRAM(rows, width)
	case "rom_lutram_1port":
		p.counted, p.finn = f.lutROM(rows, width), float64(width*ceil(rows, 64))
	}
}

// dotProduct counts packed DSP slices of a unit like pe16_simd16 with weights and inputs like "2bit narrow"; FINN's
// mvau_rtl takes four lanes to a slice.
func dotProduct(t *testing.T, f Fabric, unit, widths string) (packed, finn float64) {
	var pe, simd int
	if _, err := fmt.Sscanf(unit, "pe%d_simd%d", &pe, &simd); err != nil {
		t.Fatalf("%q: %v", unit, err)
	}
	digits, rest, _ := strings.Cut(widths, "bit")
	w, err := strconv.Atoi(digits)
	if err != nil {
		t.Fatalf("%q: %v", widths, err)
	}
	weights, inputs := signedRange(w), signedRange(w)
	if strings.Contains(rest, "narrow") {
		weights.Lo++
	}
	return float64(f.Pack(pe, simd, weights, inputs).slices(pe, simd)), float64(ceil(pe, 4) * simd)
}

// TestPrimitives holds that counts are exact, but for the multiplexers of memories in LUTs.
func TestPrimitives(t *testing.T) {
	t.Parallel()
	list := primitives(t)
	for _, p := range list {
		limit := 0.
		switch {
		case p.bound:
			if p.counted < p.measured {
				t.Errorf("%+v: counted less than the bound", p)
			}
			continue
		case slices.Contains([]string{"lutram_total", "rom_lutram_1port"}, p.kind):
			limit = .005
		}
		if p.error() > limit {
			t.Errorf("%+v: off by more than %g", p, limit)
		}
	}
	if len(list) < 40 {
		t.Errorf("only %d rows", len(list))
	}
}

func TestSlices(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		f       Fabric
		w, a, n int
	}{
		{Series7, 8, 8, 1}, {Series7, 18, 25, 1}, {Series7, 25, 18, 1}, {Series7, 18, 26, 2}, {UltraScale, 18, 27, 1},
		{UltraScale, 24, 24, 2}, {Versal, 24, 24, 1}, {UltraScale, 32, 32, 4}, {UltraScale, 1, 8, 1},
	} {
		if got := tt.f.slices(tt.w, tt.a); got != tt.n {
			t.Errorf("fabric %d, %d by %d bits: %d slices, want %d", tt.f, tt.w, tt.a, got, tt.n)
		}
	}
}
