package cost

import "math"

// A FittedCoefficient is one fitted number of the formulas.
type FittedCoefficient struct {
	Value  float64
	Unit   string // unit of the value: what per what
	Of     string // the meaning of the value
	Source string // the measurements that it is fitted to
}

// fittedCoefficients holds every fitted number. The formulas count everything else, such as bits of registers and
// blocks of memories. TestCoefficients fits the values by least relative error, and writes them with -update;
// docs/estimator.md shows the errors of the fits.
var fittedCoefficients = [...]FittedCoefficient{
	mvauLUT: {103.6, "LUT per layer", "loop counters and handshake of an MVAU", sweeps},
	product: {0.9983, "LUT per bit",
		"partial products and adders of a product; w·a + w + a bits for w by a bits", sweeps},
	popcount:      {2.194, "LUT per bit", "XNOR and compressors of a product of two signs", sweeps},
	accumulateLUT: {0.8968, "LUT per bit", "adder and reset of an accumulator", sweeps},
	inputMux:      {0.2863, "LUT per bit", "multiplexer of an input buffer in registers", sweeps},
	inputDecode:   {1.038, "LUT per word", "write enables of an input buffer in registers", sweeps},
	mvauFF:        {139.7, "FF per layer", "loop counters, handshake and first registers of an MVAU", sweeps},
	pipelineFF:    {0.5351, "FF per bit", "pipeline registers of a product; w·a bits for w by a bits", sweeps},
	accumulateFF:  {2.514, "FF per bit", "accumulator, its output register and the stream's", sweeps},
	clockDelay:    {2.543, "ns", "clock to output, routing, setup and one level of logic", sweeps},
	productDelay: {2.32, "ns per level", "adders of a multiplier in LUTs; log2 of the narrower factor's bits",
		sweeps},
	treeDelay:      {0.2202, "ns per level", "adder tree; log2 of its inputs", sweeps},
	sliceTree:      {0.9022, "LUT per bit", "adders behind products in DSP slices; w + a bits for w by a", dspLayers},
	sliceFF:        {2.263, "FF per bit", "registers around a product in a slice; w + a bits for w by a", dspLayers},
	thresholdLUT:   {0.5164, "LUT per LUT", "bits of a threshold after the first, in tables in LUTs", dspLayers},
	thresholdFF:    {0.6353, "FF per bit", "register behind these bits", dspLayers},
	fifoLUT:        {4.089, "LUT per address bit", "counters and flags of a FIFO", layers},
	fifoFF:         {1.982, "FF per address bit", "counters and flags of a FIFO", layers},
	converterLUT:   {8.106, "LUT per layer", "counter and handshake of a width converter", layers},
	converterShift: {0.529, "LUT per bit", "loading and shifting the wide word of a width converter", layers},
	converterFF:    {4.105, "FF per layer", "counter and handshake of a width converter", layers},
	streamLUT: {34.65, "LUT per layer", "loop counters and handshake of a layer that only moves or compares",
		layers},
	streamFF:  {43.48, "FF per layer", "loop counters and handshake of a layer that only moves or compares", layers},
	windowLUT: {166.7, "LUT per layer", "addresses, counters and handshake of a sliding window", layers},
	windowFF:  {98.37, "FF per layer", "addresses, counters and handshake of a sliding window", layers},
	shellLUT:  {4433, "LUT", "AXI interconnect, reset and control around the DMAs of a Zynq", layers},
	shellFF:   {5414, "FF", "AXI interconnect, reset and control around the DMAs of a Zynq", layers},
}

// The indices of fittedCoefficients; each entry says what it counts.
const (
	mvauLUT = iota
	product
	popcount
	accumulateLUT
	inputMux
	inputDecode
	mvauFF
	pipelineFF
	accumulateFF
	clockDelay
	productDelay
	treeDelay
	sliceTree
	sliceFF
	thresholdLUT
	thresholdFF
	fifoLUT
	fifoFF
	converterLUT
	converterShift
	converterFF
	streamLUT
	streamFF
	windowLUT
	windowFF
	shellLUT
	shellFF
)

// The measurements to which coefficients are fitted: published results of Vivado.
const (
	// Out-of-context synthesis of FINN's MVU for xczu3eg at 5 ns, Vivado 2020.1, the data behind arXiv
	// 2201.11409.
	sweeps = "arXiv 2201.11409, HLS"
	// Layers of FINN accelerators in DSP slices. testdata/slices.csv lists them with the source of each.
	dspLayers = "FINN layers in DSP slices"
	// Synthesis of whole FINN accelerators, layer by layer: TFC, CNV and a cybersecurity MLP.
	layers = "FINN builds after synthesis"
)

// values holds the values of all fittedCoefficients, which a fit varies.
type values [len(fittedCoefficients)]float64

var fitted = func() (v values) {
	for i, c := range fittedCoefficients {
		v[i] = c.Value
	}
	return v
}()

// A share is a named part of a cost before its numbers are rounded.
type share struct {
	name            string
	lut, ff         float64
	lutram          float64 // the part of lut that is memory
	bram, uram, dsp int
}

func (s share) round() Resources {
	return Resources{LUT: int(math.Round(s.lut)), LUTRAM: int(math.Round(s.lutram)), FF: int(math.Round(s.ff)),
		BRAM: s.bram, URAM: s.uram, DSP: s.dsp}
}

// parts returns the shares as rounded parts, without those that are zero.
func parts(shares []share) []CostPart {
	list := make([]CostPart, 0, len(shares))
	for _, s := range shares {
		if r := s.round(); r != (Resources{}) {
			list = append(list, CostPart{s.name, r})
		}
	}
	return list
}
