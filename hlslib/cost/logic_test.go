package cost

import "testing"

func TestLogic(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name      string
		got, want Resources
	}{
		{"counter of one", Counter(1), Resources{}},
		{"counter of two", Counter(2), Resources{LUT: 2, FF: 1}},
		{"counter of 100", Counter(100), Resources{LUT: 7 + 2, FF: 7}},
		{"one word", Multiplexer(1, 8), Resources{}},
		{"one of two words", Multiplexer(2, 8), Resources{LUT: 8}},
		{"one of four words", Multiplexer(4, 8), Resources{LUT: 8}},
		{"one of five words", Multiplexer(5, 8), Resources{LUT: 16}},
		{"register", Buffer(24, 1, Registers), Resources{FF: 24}},
		{"shift register", Buffer(24, 32, Shift), Resources{LUT: 24, LUTRAM: 24, FF: 24}},
		{"32 words", Buffer(7, 32, Distributed), Resources{LUT: 8, LUTRAM: 8}},
		{"64 words", Buffer(100, 64, Distributed), Resources{LUT: 4 * 34, LUTRAM: 4 * 34}},
		{"1000 bits", Buffer(1, 1000, Distributed), Resources{LUT: 4 * 16, LUTRAM: 4 * 16}},
		{"1100 words of a bit", Buffer(1, 1100, Block), Resources{BRAM: 1}},
		{"600 words of 36 bits", Buffer(36, 600, Block), Resources{BRAM: 2}},
		{"600 words of 73 bits", Buffer(73, 600, Ultra), Resources{URAM: 2}},
		{"one row", Table(100, 1, Block), Resources{}},
		{"rows in LUTs", Table(5, 65, Distributed), Resources{LUT: 10}},
		{"rows in block RAM", Table(18, 1024, Block), Resources{BRAM: 1}},
		{"rows in ultra RAM", Table(73, 100, Ultra), Resources{URAM: 2}},
	} {
		if tt.got != tt.want {
			t.Errorf("%s: %+v, want %+v", tt.name, tt.got, tt.want)
		}
	}
}
