package cost

import "testing"

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
		got := FIFOs(tt.words, tt.width, UltraScale)
		for i, want := range []FIFO{{tt.shift, tt.width, Shift, 0}, {tt.ram, tt.width, Distributed, 0},
			{tt.blocks, tt.width, Block, 0}, {tt.ultra, tt.width, Ultra, 0}} {
			if got[i] != want {
				t.Errorf("%d words of %d bits: %+v, want %+v", tt.words, tt.width, got[i], want)
			}
		}
	}
	// No more words ever make a shallower memory, and none is too shallow.
	for width := 1; width < 200; width += 7 {
		var depth [4]int
		for words := 1; words < 5000; words += 3 {
			for i, f := range FIFOs(words, width, Series7) {
				if f.Depth < words || f.Depth < depth[i] {
					t.Fatalf("%d words of %d bits: depth %d after %d", words, width, f.Depth, depth[i])
				}
				depth[i] = f.Depth
			}
		}
	}
}
