package cost

import "testing"

func TestWindowBuffer(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		width, rows int
		memory      MemoryStyle
		want        Resources
	}{
		{8, 512, StyleBlockRAM, Resources{BRAM: 1}},
		{37, 512, StyleBlockRAM, Resources{BRAM: 2}},
		{36, 513, StyleBlockRAM, Resources{BRAM: 2}},
		{8, 1024, StyleBlockRAM, Resources{BRAM: 1}},
		{10, 2048, StyleBlockRAM, Resources{BRAM: 2}},
		{8, 4096, StyleBlockRAM, Resources{BRAM: 2}},
		{8, 8192, StyleBlockRAM, Resources{BRAM: 4}},
		{8, 8193, StyleBlockRAM, Resources{BRAM: 8}},
		{8, 16384, StyleBlockRAM, Resources{BRAM: 8}},
		{8, 16384 + 512, StyleBlockRAM, Resources{BRAM: 8 + 1}}, // FINN: 2 deep, 8 wide, less 7
		{8, 2*16384 + 3000, StyleBlockRAM, Resources{BRAM: 16 + 2}},
		{72, 4096, StyleUltraRAM, Resources{URAM: 1}},
		{73, 4097, StyleUltraRAM, Resources{URAM: 4}},
		{12, 38, StyleDistributedRAM, Resources{LUT: 12, LUTRAM: 12}},
		{12, 39, StyleDistributedRAM, Resources{LUT: 24, LUTRAM: 24}},
	} {
		if got := FINNWindowBufferCost(tt.width, tt.rows, tt.memory); got != tt.want {
			t.Errorf("%d rows of %d bits: %+v, want %+v", tt.rows, tt.width, got, tt.want)
		}
	}
}
