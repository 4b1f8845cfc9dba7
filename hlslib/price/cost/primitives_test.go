package cost

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// A primitive is one row of the memory table: the measured count and ours.
type primitive struct {
	kind, fabric, name string
	measured, counted  float64
	finn               float64 // FINN's count, NaN if it has no formula
	bound              bool    // whether the measured count is a lower bound
}

func (p primitive) error() float64 { return math.Abs(p.counted/p.measured - 1) }

// primitives returns the rows of the table of measured memories and DSP slices.
func primitives(t *testing.T) []primitive {
	t.Helper()
	fabrics := map[string]Fabric{"ultrascale+": FabricUltraScale, "series7": FabricSeries7, "versal": FabricVersal,
		"DSP48E2": FabricUltraScale}
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

// dotProduct counts packed DSP slices of a unit such as pe16_simd16 with weights and inputs such as "2bit narrow".
// FINN's mvau_rtl puts four lanes in a slice.
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
	return float64(f.PackProducts(pe, simd, weights, inputs).slices(pe, simd)), float64(ceil(pe, 4) * simd)
}

// TestPrimitives checks that counts are exact, except for the multiplexers of memories in LUTs.
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

// A deep is a memory with the result of its synthesis and the source of that.
type deep struct {
	f           Fabric
	rows, width int
	blocks      int // in RAMB18
	source      string
}

// deeps lists memories whose depth, or whose width, fills no block. The first are the weights of a public build of an
// object detector (lpyolo on Pynq-Z2, Vivado 2022.2), then two layers of CNV on the same board. The others are
// synthesised netlists in public repositories, and examples of AMD's guides.
var deeps = []deep{
	{FabricSeries7, 24, 72, 2, "lpyolo MVAU_0"},
	{FabricSeries7, 144, 32, 1, "lpyolo MVAU_1"},
	{FabricSeries7, 576, 16, 1, "lpyolo MVAU_2"},
	{FabricSeries7, 2304, 16, 4, "lpyolo MVAU_3"},
	{FabricSeries7, 8064, 16, 8, "lpyolo MVAU_4"},
	{FabricSeries7, 26208, 16, 32, "lpyolo MVAU_5 and MVAU_8 without 7 RAMB18 of thresholds"},
	{FabricSeries7, 32448, 48, 96, "lpyolo MVAU_6, without 7 RAMB18 of thresholds"},
	{FabricSeries7, 11648, 8, 8, "lpyolo MVAU_7"},
	{FabricSeries7, 16848, 8, 16, "lpyolo MVAU_9"},
	{FabricSeries7, 9216, 32, 32, "CNV MVAU_4"},
	{FabricSeries7, 65536, 4, 16, "CNV MVAU_6, outputs inferred: pairs of 32768 x 1"},
	{FabricSeries7, 147456, 8, 80, "CNV MVAU_5, outputs inferred: five times 32768 x 1"},
	{FabricSeries7, 1872, 72, 8, "netlist, FINN weights: four columns of 2048 x 18"},
	{FabricSeries7, 12544, 64, 64, "netlist, FINN weights: columns of 16384 x 2"},
	{FabricSeries7, 16384, 26, 26, "netlist, an HLS table: columns of 16384 x 2"},
	{FabricSeries7, 65535, 16, 64, "netlist, a frame buffer: pairs of 32768 x 1, cascaded"},
	{FabricSeries7, 40960, 36, 144, "UG906, 40K x 36: 36 pairs of 32768 x 1"},
	{FabricUltraScale, 3456, 8, 2, "netlist, FINN weights: one 4096 x 9"},
	{FabricUltraScale, 768, 128, 8, "netlist, FINN weights: three of 1024 x 36, one of 1024 x 20"},
	{FabricUltraScale, 2048, 48, 6, "netlist, FINN weights: two of 1024 x 36 cascaded, one of 2048 x 12"},
	{FabricUltraScale, 4096, 24, 6, "netlist, FINN weights: two of 2048 x 18 cascaded, one of 4096 x 6"},
	{FabricUltraScale, 16384, 8, 8, "netlist, FINN weights: four of 4096 x 8 cascaded"},
	{FabricUltraScale, 16384, 18, 16, "netlist, a histogram: eight of 2048 x 18 cascaded"},
	{FabricUltraScale, 16384, 16, 15, "netlist, an HLS array: 9, 4, 2 and 1 bits, cascaded"},
	{FabricUltraScale, 2048, 26, 3, "netlist, a FIFO: 2048 x 18 and 2048 x 8"},
}

// TestDepths checks the block RAM of deep memories.
func TestDepths(t *testing.T) {
	t.Parallel()
	for _, d := range deeps {
		if got := d.f.blocks(d.rows, d.width); got != d.blocks {
			t.Errorf("%d x %d: %d RAMB18, want %d (%s)", d.rows, d.width, got, d.blocks, d.source)
		}
	}
	if got := FabricVersal.ultraBlocks(28*1024, 768); got != 96 {
		t.Errorf("28672 x 768 on Versal: %d URAM, want 96 (UG1387)", got)
	}
}

// TestBanked checks the blocks that Yosys 0.23 makes on fabrics with LUTs of four inputs. For a table of 2304 rows of
// eight bits, logic selects among five banks; for 700 rows of 36 bits, among three banks that share blocks.
func TestBanked(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		f                   Fabric
		rows, width, blocks int
		table               bool
	}{
		{FabricICE40, 2304, 8, 5, true}, {FabricICE40, 300, 12, 2, true}, {FabricICE40, 1100, 7, 3, true},
		{FabricICE40, 3000, 4, 3, true},
		{FabricICE40, 700, 36, 7, true}, {FabricICE40, 5000, 3, 4, true}, {FabricICE40, 2049, 16, 9, true},
		{FabricICE40, 600, 24, 5, true},
		{FabricICE40, 300, 12, 2, false}, {FabricICE40, 600, 9, 2, false}, {FabricICE40, 1100, 7, 3, false},
		{FabricICE40, 2500, 4, 3, false},
		{FabricICE40, 512, 20, 3, false}, {FabricICE40, 300, 40, 5, false}, {FabricECP5, 18432, 8, 8, true},
		{FabricECP5, 2400, 12, 2, true},
		{FabricECP5, 8800, 7, 4, true}, {FabricECP5, 24000, 4, 6, true}, {FabricECP5, 5600, 36, 12, true}, {FabricECP5,
			40000, 3, 7, true},
		{FabricECP5, 16392, 16, 16, true}, {FabricECP5, 4800, 24, 7, true}, {FabricECP5, 2400, 12, 3, false},
		{FabricECP5, 4800, 9, 3, false},
		{FabricECP5, 8800, 7, 5, false}, {FabricECP5, 20000, 4, 5, false}, {FabricECP5, 4096, 20, 5, false},
		{FabricECP5, 2400, 40, 7, false},
	} {
		if got := tt.f.BankedLayout(tt.rows, tt.width, tt.table); got.Blocks != tt.blocks {
			t.Errorf("fabric %d, %d x %d: %+v, want %d blocks", tt.f, tt.rows, tt.width, got, tt.blocks)
		}
	}
	for shape, want := range map[[2]int]BankedMemory{{2304, 8}: {Blocks: 5, Banks: 5}, {700, 36}: {Blocks: 7,
		Banks: 3}} {
		if got := FabricICE40.BankedLayout(shape[0], shape[1], true); got != want {
			t.Errorf("%v: %+v, want %+v", shape, got, want)
		}
	}
}

// TestColumns checks that no other columns of full depth take less.
func TestColumns(t *testing.T) {
	t.Parallel()
	for _, f := range []Fabric{FabricUltraScale, FabricSeries7, FabricVersal} {
		for _, rows := range []int{1, 512, 513, 2048, 3000, 5000, 9000, 20000, 40000, 65536, 65537, 147456} {
			least := []int{0}
			for width := 1; width <= 160; width++ {
				least = append(least, math.MaxInt)
				for i, a := range blockAspects {
					n := ceil(depth(512, rows), a.rows)
					if f == FabricVersal && i > 2 || f == FabricSeries7 && n > 2 && a.width > 1 {
						continue
					}
					least[width] = min(least[width], least[max(0, width-a.width)]+n)
				}
				if got := f.blocks(rows, width); got != least[width] {
					t.Fatalf("fabric %d, %d x %d: %d RAMB18, want %d", f, rows, width, got, least[width])
				}
			}
		}
	}
}

func TestSlices(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		f       Fabric
		w, a, n int
	}{
		{FabricSeries7, 8, 8, 1}, {FabricSeries7, 18, 25, 1}, {FabricSeries7, 25, 18, 1}, {FabricSeries7, 18, 26, 2},
		{FabricUltraScale, 18, 27, 1},
		{FabricUltraScale, 24, 24, 2}, {FabricVersal, 24, 24, 1}, {FabricUltraScale, 32, 32, 4}, {FabricUltraScale, 1,
			8, 1},
	} {
		if got := tt.f.slices(tt.w, tt.a); got != tt.n {
			t.Errorf("fabric %d, %d by %d bits: %d slices, want %d", tt.f, tt.w, tt.a, got, tt.n)
		}
	}
}
