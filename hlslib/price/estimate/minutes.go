package estimate

import "hlsgen/internal/dataflow"

// The line through the two known times of synthesis: of FINN's MVU alone, Vitis HLS and Vivado together, on one machine
// (arXiv 2201.11409). They are 1,026 s at PE 1 and 2,632 s at PE 64, with SIMD 64.
const (
	leastSeconds      = 1026 - 64*secondsPerProduct
	secondsPerProduct = (2632. - 1026) / (64*64 - 64)
)

// LayerSynthesisMinutes returns roughly how long the vendor's tools take for a layer alone. For a layer that multiplies
// it is an order of magnitude, measured at two points. For any other layer it is a guess: the time that the line gives
// without products.
func LayerSynthesisMinutes(op dataflow.Op, f dataflow.Fold) float64 {
	products := 0
	if m, ok := op.(dataflow.HasUnrolledProducts); ok {
		products, _ = m.Products(f, 1)
	}
	return (leastSeconds + secondsPerProduct*float64(products)) / 60
}
