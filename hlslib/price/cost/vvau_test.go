package cost

import "testing"

// finnVVAU returns a VVAUShape with the figures of FINN's formula.
func finnVVAU(channels, kernel, pe, simd, weight, in, acc int, signed bool, thresholds int, dsp bool,
	memory MemoryStyle) VVAUShape {
	return VVAUShape{
		Channels: channels, Kernel: kernel, PE: pe, SIMD: simd, WeightBits: weight, InBits: in, AccBits: acc,
		InSigned: signed, Thresholds: thresholds, DSP: dsp, Memory: memory,
	}
}

// TestVVAU checks FINN's formula by hand. Each LUT figure is 300 + 1.1*PE*(multipliers + adder tree +
// accumulator + comparators + thresholds), plus the memory.
func TestVVAU(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name string
		VVAUShape
		want Resources
	}{
		// 4+4+8
		{"one PE", finnVVAU(16, 9, 1, 1, 2, 2, 8, false, 0, false, StyleBlockRAM), Resources{LUT: 317, BRAM: 1}},
		// 9*2^3 = 72 takes 8 bits
		{"accumulator by types", finnVVAU(16, 9, 1, 1, 2, 2, 32, false, 0, false, StyleBlockRAM), Resources{LUT: 317,
			BRAM: 1}},
		// 16 + 3*8 + 3*8*16/64
		{"thresholds", finnVVAU(16, 9, 1, 1, 2, 2, 8, false, 3, false, StyleBlockRAM), Resources{LUT: 350, BRAM: 1}},
		// 317.6 + 2*3
		{"distributed", finnVVAU(16, 9, 1, 1, 2, 2, 8, false, 0, false, StyleDistributedRAM), Resources{LUT: 323}},
		// 4*(16*17 + 19); 288 bits in words of 32
		{"DSP of one position", finnVVAU(16, 9, 4, 9, 8, 8, 20, true, 0, true, StyleBlockRAM),
			Resources{LUT: 1580, BRAM: 9, DSP: 4}},
		// 4*(9*3*9 + 9*17 + 12)
		{"32 of 36 bits", finnVVAU(16, 9, 4, 9, 1, 8, 12, false, 0, false, StyleBlockRAM), Resources{LUT: 2095,
			BRAM: 2}},
		// 8*(16+19)
		{"ultra", finnVVAU(512, 9, 8, 1, 8, 8, 20, true, 0, true, StyleUltraRAM), Resources{LUT: 608, URAM: 1, DSP: 8}},
		// 4*(72+40+11+165+165), 192 rows of 48
		{"all", finnVVAU(256, 9, 4, 3, 4, 4, 11, false, 15, false, StyleBlockRAM), Resources{LUT: 2293, BRAM: 2}},
		// 2293.2 + 48*3
		{"all distributed", finnVVAU(256, 9, 4, 3, 4, 4, 11, false, 15, false, StyleDistributedRAM),
			Resources{LUT: 2437}},
	} {
		if got := Total(tt.FINNCost()); got != tt.want {
			t.Errorf("%s: %+v, want %+v", tt.name, got, tt.want)
		}
	}
}
