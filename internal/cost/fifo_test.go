package cost

import "testing"

func TestImplementFIFO(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		words, width int
		want         FIFO
	}{
		{1, 8, FIFO{Depth: 2, Width: 8, Memory: Shift}},
		{2, 8, FIFO{Depth: 2, Width: 8, Memory: Shift}},
		{3, 8, FIFO{Depth: 32, Width: 8, Memory: Shift}},
		{32, 512, FIFO{Depth: 32, Width: 512, Memory: Shift}},
		{33, 8, FIFO{Depth: 64, Width: 8, Memory: Shift}},
		{1000, 8, FIFO{Depth: 1024, Width: 8, Memory: Shift}},   // 148 LUTs
		{1025, 16, FIFO{Depth: 1056, Width: 16, Memory: Shift}}, // 286 LUTs, and 2 RAMB18 are worth 380
		{3000, 16, FIFO{Depth: 3072, Width: 16, Memory: Block}}, // 776 LUTs, and 3 RAMB18 are worth 570
		{10000, 1, FIFO{Depth: 16384, Width: 1, Memory: Block}},
	} {
		if got := ImplementFIFO(tt.words, tt.width); got != tt.want {
			t.Errorf("%d words of %d bits: %+v, want %+v", tt.words, tt.width, got, tt.want)
		}
	}
	// No more words ever make a shallower memory.
	for width := 1; width < 200; width += 7 {
		depth := 0
		for words := 1; words < 5000; words++ {
			d := ImplementFIFO(words, width).Depth
			if d < words || d < depth {
				t.Fatalf("%d words of %d bits: depth %d after %d", words, width, d, depth)
			}
			depth = d
		}
	}
}
