package cost

// MinifloatProduct describes a product of minifloats. It is a product of significands, one of which may be an integer,
// shifted by the sum of the exponents. The zero value stands for a product of integers.
type MinifloatProduct struct {
	Weight, Input int  // bits of the significands
	Product       int  // bits of the largest magnitude of a product
	Exponents     int  // exponent bits of both factors together
	Levels        int  // stages of the shifter: the bits of the largest shift
	Signed        bool // whether a product may be subtracted
}

// floats reports whether the product is of minifloats.
func (f MinifloatProduct) floats() bool { return f.Weight > 0 }

// shares returns the cost of n products. A LUT derives the leading one of a significand from its exponent. One LUT per
// bit subtracts 1 from an exponent that is not 0; then exponents are added. A LUT selects one of four, two stages of a
// shifter for one bit. The adders behind handle signs.
func (f MinifloatProduct) shares(v *values, n float64) []share {
	bits := float64(f.Weight * f.Input)
	decoders := f.Exponents + f.Levels
	if f.Signed {
		decoders++
	}
	return []share{
		{name: "multipliers", lut: v[product] * n * bits, ff: v[pipelineFF] * n * bits},
		{name: "decoders", lut: n * float64(decoders)},
		{name: "shifters", lut: n * float64(f.Product*ceil(f.Levels, 2))},
		{name: "adder tree", lut: v[product] * n * float64(f.Product)},
	}
}
