package cost

import "testing"

func TestLogic(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name      string
		got, want Resources
	}{
		{"counter of one", CounterCost(1), Resources{}},
		{"counter of two", CounterCost(2), Resources{LUT: 2, FF: 1}},
		{"counter of 100", CounterCost(100), Resources{LUT: 7 + 2, FF: 7}},
		{"one word", MultiplexerCost(1, 8), Resources{}},
		{"one of two words", MultiplexerCost(2, 8), Resources{LUT: 8}},
		{"one of four words", MultiplexerCost(4, 8), Resources{LUT: 8}},
		{"one of five words", MultiplexerCost(5, 8), Resources{LUT: 16}},
		{"register", ReadWriteMemoryCost(24, 1, StyleRegisters), Resources{FF: 24}},
		{"shift register", ReadWriteMemoryCost(24, 32, StyleShiftRegister), Resources{LUT: 24, LUTRAM: 24, FF: 24}},
		{"32 words", ReadWriteMemoryCost(7, 32, StyleDistributedRAM), Resources{LUT: 8, LUTRAM: 8}},
		{"64 words", ReadWriteMemoryCost(100, 64, StyleDistributedRAM), Resources{LUT: 4 * 34, LUTRAM: 4 * 34}},
		{"1000 bits", ReadWriteMemoryCost(1, 1000, StyleDistributedRAM), Resources{LUT: 4 * 16, LUTRAM: 4 * 16}},
		{"1100 words of a bit", ReadWriteMemoryCost(1, 1100, StyleBlockRAM), Resources{BRAM: 1}},
		{"600 words of 36 bits", ReadWriteMemoryCost(36, 600, StyleBlockRAM), Resources{BRAM: 2}},
		{"600 words of 73 bits", ReadWriteMemoryCost(73, 600, StyleUltraRAM), Resources{URAM: 2}},
		{"one row", TableCost(100, 1, StyleBlockRAM), Resources{}},
		{"rows in LUTs", TableCost(5, 65, StyleDistributedRAM), Resources{LUT: 10}},
		{"rows in block RAM", TableCost(18, 1024, StyleBlockRAM), Resources{BRAM: 1}},
		{"rows in ultra RAM", TableCost(73, 100, StyleUltraRAM), Resources{URAM: 2}},
	} {
		if tt.got != tt.want {
			t.Errorf("%s: %+v, want %+v", tt.name, tt.got, tt.want)
		}
	}
}
