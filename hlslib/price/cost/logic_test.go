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
		{"one word", multiplexerCost(1, 8), Resources{}},
		{"one of two words", multiplexerCost(2, 8), Resources{LUT: 8}},
		{"one of four words", multiplexerCost(4, 8), Resources{LUT: 8}},
		{"one of five words", multiplexerCost(5, 8), Resources{LUT: 16}},
		{"register", readWriteMemoryCost(24, 1, StyleRegisters), Resources{FF: 24}},
		{"shift register", readWriteMemoryCost(24, 32, StyleShiftRegister), Resources{LUT: 24, LUTRAM: 24, FF: 24}},
		{"32 words", readWriteMemoryCost(7, 32, StyleDistributedRAM), Resources{LUT: 8, LUTRAM: 8}},
		{"64 words", readWriteMemoryCost(100, 64, StyleDistributedRAM), Resources{LUT: 4 * 34, LUTRAM: 4 * 34}},
		{"1000 bits", readWriteMemoryCost(1, 1000, StyleDistributedRAM), Resources{LUT: 4 * 16, LUTRAM: 4 * 16}},
		{"1100 words of a bit", readWriteMemoryCost(1, 1100, StyleBlockRAM), Resources{BRAM: 1}},
		{"600 words of 36 bits", readWriteMemoryCost(36, 600, StyleBlockRAM), Resources{BRAM: 2}},
		{"600 words of 73 bits", readWriteMemoryCost(73, 600, StyleUltraRAM), Resources{URAM: 2}},
		{"one row", tableCost(100, 1, StyleBlockRAM), Resources{}},
		{"rows in LUTs", tableCost(5, 65, StyleDistributedRAM), Resources{LUT: 10}},
		{"rows in block RAM", tableCost(18, 1024, StyleBlockRAM), Resources{BRAM: 1}},
		{"rows in ultra RAM", tableCost(73, 100, StyleUltraRAM), Resources{URAM: 2}},
	} {
		if tt.got != tt.want {
			t.Errorf("%s: %+v, want %+v", tt.name, tt.got, tt.want)
		}
	}
}
