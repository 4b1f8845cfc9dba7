package cost

import (
	"slices"
	"testing"
)

func TestFIFOs(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		words, width              int
		shift, ram, blocks, ultra int
	}{
		{1, 8, 2, 32, 2048, 4096},
		{2, 8, 2, 32, 2048, 4096},
		{3, 8, 32, 32, 2048, 4096},
		{32, 512, 32, 32, 512, 4096},
		{33, 8, 64, 64, 2048, 4096},
		{65, 8, 96, 128, 2048, 4096},
		{1000, 18, 1024, 1024, 1024, 4096},
		{1025, 16, 1056, 1088, 2048, 4096},
		{3000, 16, 3008, 3008, 4096, 4096},
		{10000, 1, 10016, 10048, 16384, 12288},
	} {
		want := []FIFOShape{{tt.shift, tt.width, StyleShiftRegister, 0}, {tt.ram, tt.width, StyleDistributedRAM, 0},
			{tt.blocks, tt.width, StyleBlockRAM, 0}, {tt.ultra, tt.width, StyleUltraRAM, 0}}
		if tt.shift == 2 { // two ways: registers, or a shift register
			want = slices.Insert(want, 1, FIFOShape{32, tt.width, StyleShiftRegister, 0})
		}
		if got := (CostModel{FormulaFitted, FabricUltraScale}).FIFOOptions(tt.words, tt.width); !slices.Equal(got,
			want) {
			t.Errorf("%d words of %d bits: %+v, want %+v", tt.words, tt.width, got, want)
		}
	}
	// More words never give a shallower memory, and no memory is too shallow.
	for _, formula := range []CostFormula{FormulaFitted, FormulaFINN} {
		for width := 1; width < 200; width += 7 {
			depth := map[MemoryStyle]int{}
			for words := 1; words < 5000; words += 3 {
				least := map[MemoryStyle]int{}
				for _, f := range (CostModel{formula, FabricSeries7}).FIFOOptions(words, width) {
					if f.Depth < words || f.Depth < depth[f.Memory] {
						t.Fatalf("%d words of %d bits: depth %d after %d", words, width, f.Depth, depth[f.Memory])
					}
					if least[f.Memory] == 0 {
						least[f.Memory] = f.Depth
					}
				}
				depth = least
			}
		}
	}
}

// TestFIFOsByFINN checks that no FIFO is deeper than what the given words cost anyway. FINN's logic grows with
// the depth, so a deeper FIFO could have a cheaper memory when asked for again.
func TestFIFOsByFINN(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		words, width         int
		shift, blocks, ultra int
	}{
		{1, 8, 2, 2, 2},
		{3, 16, 4, 4, 4},
		{20, 16, 32, 32, 32},
		{33, 8, 64, 64, 64},
		{70, 8, 96, 128, 128},
		{1000, 18, 1024, 1024, 1024},
	} {
		got := CostModel{FormulaFINN, FabricUltraScale}.FIFOOptions(tt.words, tt.width)
		for i, want := range map[int]int{0: tt.shift, 2: tt.blocks, 3: tt.ultra} {
			if got[i].Depth != want {
				t.Errorf("%d words of %d bits: %+v, want %d deep", tt.words, tt.width, got[i], want)
			}
			exact := got[i]
			exact.Depth = tt.words
			if tt.words > 2 && Total(got[i].FINNCost()) != Total(exact.FINNCost()) {
				t.Errorf("%d words cost %v, as deep as %d %v", tt.words, exact.FINNCost(), want, got[i].FINNCost())
			}
		}
	}
}
