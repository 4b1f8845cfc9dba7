package cost

// Lanes is how many products of a weight of w bits and an input of a bits one DSP slice makes when a kernel packs
// several weights into the wide port and corrects the carries between the lanes. Narrow weights leave out their most
// negative value, which saves a bit. HLS does not pack by itself.
//
// Source: the lanes of FINN's mvu.sv; the 2-bit and 4-bit lines of vivado2025_memory_primitives.csv.
func (f Fabric) Lanes(w, a int, narrow bool) int {
	port := 27
	if f == Series7 {
		port = 25
	}
	if !narrow {
		port--
	}
	return max(1, 1+(port-w)/max(1, w+a-1))
}

// PackedDSPs is the slices of pe times simd products that share their inputs along pe. The dot product mode of a DSP58
// takes three products of 8 by 9 bits.
func (f Fabric) PackedDSPs(pe, simd, w, a int, narrow bool) int {
	lanes := f.Lanes(w, a, narrow)
	if f == Versal && lanes <= 3 && w <= 8 && a <= 9 {
		return pe * ceil(simd, 3)
	}
	return ceil(pe, lanes) * simd
}

// slices is the DSP slices of one product by itself: tiles of the multiplier, 18 by 25 bits (DSP48E1), 18 by 27
// (DSP48E2) or 24 by 27 (DSP58), of which all but the first of a number lose the sign bit.
func (f Fabric) slices(w, a int) int {
	narrow, wide := 18, 27
	switch f {
	case Series7:
		wide = 25
	case Versal:
		narrow = 24
	}
	tiles := func(bits, tile int) int { return max(1, ceil(bits-1, tile-1)) }
	return min(tiles(w, narrow)*tiles(a, wide), tiles(w, wide)*tiles(a, narrow))
}
