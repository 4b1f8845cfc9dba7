package cost

// Factors is what a product of minifloats is made of: one of significands, of which one may be an integer, shifted by
// the sum of the exponents. The zero value is a product of integers.
type Factors struct {
	Weight, Input int  // bits of the significands
	Product       int  // of the largest magnitude of a product
	Exponents     int  // of both factors together
	Levels        int  // stages of the shifter: bits of the largest shift
	Signed        bool // a product may be taken off
}

// floats is whether there are any.
func (f Factors) floats() bool { return f.Weight > 0 }

// shares is n products of them. A table of a LUT tells the leading one of a significand from its exponent, and takes 1
// off each bit of an exponent that is not 0; exponents are added; a LUT of six inputs chooses one of four, and is two
// stages of a shifter for one bit. Signs go into the adders behind.
func (f Factors) shares(v *values, n float64) []share {
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
