package cost

// Total returns the sum of the parts.
func Total(parts []CostPart) Resources {
	var r Resources
	for _, p := range parts {
		r = r.Plus(p.Resources)
	}
	return r
}

// sum returns the sum of shares.
func sum(shares []share) share {
	var total share
	for _, s := range shares {
		total.lut += s.lut
		total.lutram += s.lutram
		total.ff += s.ff
		total.bram += s.bram
		total.uram += s.uram
		total.dsp += s.dsp
	}
	return total
}
