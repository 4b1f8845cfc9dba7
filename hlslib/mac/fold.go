package mac

import (
	"fmt"
	"math/bits"
	"slices"

	"hlsgen/hlslib/layer"
	"hlsgen/hlslib/price/cost"
	"hlsgen/hlslib/price/delay"
	"hlsgen/hlslib/price/estimate"
	"hlsgen/hlslib/steps"
	"hlsgen/internal/dataflow"
	"hlsgen/internal/num"
)

// FoldsThatFit yields every PE and SIMD of the lists for which fits reports true, with each memory and each kind of
// multiplier. Bipolar operands need no multiplier, and minifloats only a small one in LUTs. With all weights in one
// clock there is also the fold whose outputs share adders.
func (u *Unit) FoldsThatFit(pe, simd []int, fits func(dataflow.Fold) bool) dataflow.FoldIterator {
	compute := []dataflow.MultiplierKind{dataflow.MultiplierInLUTs, dataflow.MultiplierInDSPs}
	if u.Weight.Kind == num.KindBipolar || u.in.Kind == num.KindBipolar || floats(u) {
		compute = compute[:1]
	}
	memory := []dataflow.Memory{dataflow.MemoryLUTRAM, dataflow.MemoryBRAM, dataflow.MemoryURAM}
	if u.External() {
		memory = []dataflow.Memory{dataflow.NoMemory}
	}
	all := layer.FoldChoices{
		PE: pe, SIMD: simd, Fits: fits, Compute: compute,
		Memory: func(dataflow.Fold) []dataflow.Memory { return memory },
	}.AllFolds()
	return func(yield func(dataflow.Fold) bool) {
		for f := range all {
			if !yield(f) {
				return
			}
			if f.Memory == memory[0] && f.Compute == dataflow.MultiplierInLUTs && sharesAdders(u, f) {
				if f.Compute = dataflow.SharedAdders; !yield(f) {
					return
				}
			}
		}
	}
}

// IsFoldWithinHLSLimits reports whether a fold stays within the limits of Vitis HLS. The limits concern input words of
// word elements, output words of PE elements, the rows of the tables, and the iterations of a frame. In a frame every
// weight meets the given number of vectors. Where a frame is one vector, a row of weights that are all constants of one
// clock may be twice as wide: circuits have no table of them, and C++ divides it among processes
// (dataflow.Target.MinProcesses). A search prices the circuit of every fold that is fast enough, and larger ones take
// seconds each.
func (u *Unit) IsFoldWithinHLSLimits(word int, f dataflow.Fold, vectors int) bool {
	channels := f.PE
	if u.compare.HasSharedRow() {
		channels = 1
	}
	row := channels * u.compare.ThresholdsPerChannel() * u.Acc.Width
	weights := u.RowBits(f)
	if vectors == 1 && hasConstantProducts(u, f) {
		weights /= 2
	}
	return word*u.in.Width <= dataflow.MaxWordBits && f.PE*u.Out.Width <= dataflow.MaxWordBits &&
		max(row, weights) <= dataflow.MaxTableRowBits &&
		vectors <= dataflow.MaxIterationsPerFrame/(len(u.weights)/f.PE)/(len(u.weights[0])/f.SIMD)
}

// CarriedDelayNS returns the delay of the loop through the accumulator's adder, in nanoseconds.
func CarriedDelayNS(dataflow.Fold, dataflow.Target) float64 {
	return cost.LoopCarriedDelayNSForLevels(1)
}

// DescribeUnit adds what a unit has to the description of its layer.
func DescribeUnit(u *Unit, d *dataflow.LayerDescription) {
	d.Minifloats = dataflow.MinifloatsMultiplied
	d.Accumulators, d.ChannelSums, d.PEAccumulators = u.AccumulatorWidthsByRule, u.channelSums, u.LaneAccumulatorTypes
	d.Storage, d.NarrowerFactorBits, d.CarriedDelayNS = u.Storage, u.narrowerFactorBits, CarriedDelayNS
}

// AppendToChain adds the operations from inputs to outputs to c, for a fold whose products are packed as p says.
func (u *Unit) AppendToChain(c *layer.PipelineChain, f dataflow.Fold, p cost.DSPPacking) {
	u.AppendDotProductToChain(c, f, p, tableRows(u, f))
	if f.SIMD < len(u.weights[0]) { // adds to the sum so far, or begins a new one
		c.DoInOneStage(u.Acc.Width, delay.OpSelect, delay.OpAdd)
	}
	switch form := u.form(f); {
	case form != nil:
		c.DoStepFunctions(form, u.compare, u.Acc.Width, f.PE, dataflow.NoMemory)
	case u.XNOR:
		c.DoOp(delay.OpAdd, u.Acc.Width) // from matches to the sum
	}
}

// AppendDotProductToChain adds one clock's products and their sum to c. Products are packed as p says, and weights come
// from a table with the given rows.
func (u *Unit) AppendDotProductToChain(c *layer.PipelineChain, f dataflow.Fold, p cost.DSPPacking, rows int) {
	c.DoCounterLookup(rows, f.PE*f.SIMD*u.Codes.StoredType(rows).Width, f.Memory)
	if u.Codes.DecoderCost(1, rows) != nil {
		c.DoOp(delay.OpLogicGate, 1)
	}
	width := num.NarrowestIntTypeFor(u.raw).Width
	switch {
	case u.XNOR:
		c.DoOp(delay.OpLogicGate, 1)
		width = 1
	case floats(u):
		f := MinifloatProductOf(u)
		c.DoOp(delay.OpLogicGate, f.Weight+f.Input) // tells whether exponents are 0
		c.DoProduct(f.Weight, f.Input, false)
		for range f.Levels {
			c.DoSelect(width)
		}
		c.DoOp(delay.OpAdd, width) // negates the product
	case u.Weight.Kind == num.KindBipolar || u.in.Kind == num.KindBipolar:
		c.DoOp(delay.OpAdd, width) // negates the input
		c.DoSelect(width)
	default:
		c.DoProduct(u.Weight.Width, u.in.Width, f.Compute == dataflow.MultiplierInDSPs)
	}
	if u.requant != nil {
		c.DoRequant(*u.requant, width, f.Compute == dataflow.MultiplierInDSPs)
		width = num.NarrowestIntTypeFor(u.product).Width
	}
	c.DoReductionTree(f.SIMD, width, delay.OpAdd)
	if p.HasMultipleLanes() {
		c.DoOp(delay.OpAdd, u.dotType(f.SIMD).Width) // adds back what lower lanes borrowed
	}
}

// narrowerFactorBits returns the bits of the narrower factor of products: weights or inputs.
func (u *Unit) narrowerFactorBits() int { return min(u.Weight.Width, u.in.Width) }

// DSPPackingForChannels returns how DSP slices share the products of channels with common inputs, SIMD products each
// per clock. The cost and the C++ both follow it. Without DSP slices, and for requantised products, it packs nothing.
func (u *Unit) DSPPackingForChannels(channels int, f dataflow.Fold, t dataflow.Target) cost.DSPPacking {
	if f.Compute != dataflow.MultiplierInDSPs || u.requant != nil {
		return cost.DSPPacking{}
	}
	return cost.FabricOf(t.Board).PackProducts(channels, f.SIMD, u.span, u.inputs)
}

// packFields returns the fields of the C++ for core/mac.hpp that describe a packing, or none if nothing is packed.
func packFields(p cost.DSPPacking) []dataflow.ConfigField {
	if !p.HasMultipleLanes() {
		return nil
	}
	at, overlaps := make([]int, len(p.Lanes)), make([]int, len(p.Lanes))
	for i, l := range p.Lanes {
		if at[i] = l.At; l.Overlap {
			overlaps[i] = 1
		}
	}
	signed := func(bits int) num.Type { return num.Type{Kind: num.KindInt, Width: bits} }
	return []dataflow.ConfigField{
		{Name: "lanes", Doc: "lowest bit of each weight that shares a DSP slice", Value: at},
		{Name: "overlaps", Doc: "1 if it is the highest bit of the weight below", Value: overlaps},
		{Name: "terms", Doc: "products that are added before the lanes are unpacked", Value: p.Terms},
		{Name: "packed_t", Doc: "weights that share a slice", Value: signed(p.Wide)},
		{Name: "packed_sum_t", Doc: "sum of the products of packed weights", Value: signed(p.Sum)},
	}
}

// SumConfigFields returns the fields of the C++ for the products and sums of core/mac.hpp.
func (u *Unit) SumConfigFields(f dataflow.Fold, p cost.DSPPacking) []dataflow.ConfigField {
	config := []dataflow.ConfigField{
		{Name: "acc_t", Doc: "accumulator", Value: u.Acc},
		{Name: "dot_t", Doc: "sum of one clock's products", Value: u.dotType(f.SIMD)},
		{Name: "use_dsp", Doc: "multiply in DSP slices", Value: f.Compute == dataflow.MultiplierInDSPs},
	}
	if u.requant != nil {
		config = append(config,
			dataflow.ConfigField{Name: "product_t", Doc: "a product after its requantiser",
				Value: num.NarrowestIntTypeFor(u.product)},
			dataflow.NewRequantField("product", "every product's requantiser", u.raw, *u.requant))
	}
	return append(config, packFields(p)...)
}

// EmitInstance returns the data of the C++ instance of the layer called name. loop are the fields of its loop; it adds
// what core/mac.hpp and core/compare.hpp need. The texts channels and inputs name, in the plural, what PE and SIMD
// count.
func (u *Unit) EmitInstance(f dataflow.Fold, p cost.DSPPacking, name, channels, inputs string,
	loop ...dataflow.ConfigField) dataflow.KernelInstance {
	var fields []dataflow.ConfigField
	var tables []dataflow.Table
	switch form := u.form(f); {
	case form != nil:
		fields, tables = form.ConfigFields(), form.Tables()
	case u.XNOR:
		fields = steps.ConfigFieldsWithoutThresholds("accumulator", 2, -len(u.weights[0]))
	default:
		fields = steps.ConfigFieldsWithoutThresholds("accumulator", 1, 0)
	}
	sums := u.SumConfigFields(f, p)
	if p.HasMultipleLanes() { // packed products always use DSP slices
		sums = slices.DeleteFunc(sums, func(m dataflow.ConfigField) bool { return m.Name == "use_dsp" })
	}
	return dataflow.KernelInstance{
		Header:  name + ".hpp",
		Func:    name,
		Streams: []string{"in_t", "in_width", "out_t", "out_width"},
		Config: slices.Concat(loop, []dataflow.ConfigField{
			{Name: "pe", Doc: channels + " computed side by side", Value: f.PE},
			{Name: "simd", Doc: inputs + " of each consumed per clock", Value: f.SIMD},
		}, sums, u.Codes.DecoderConfigFields(tableRows(u, f)), fields),
		Tables:  append([]dataflow.Table{u.WeightTable(f)}, tables...),
		Storage: u.Storage(f),
		Alike:   true,
	}
}

// Storage returns the memories of the fold's tables: of weights, in the fold's memory, and of step functions.
func (u *Unit) Storage(f dataflow.Fold) []dataflow.Storage {
	list := append(make([]dataflow.Storage, 0, 6), u.WeightStorage(f)) // room for memories that the layer adds
	if form := u.form(f); form != nil {
		list = append(list, form.Storage()...)
	}
	return list
}

// WeightStorage returns the memory of the fold's table of weights.
func (u *Unit) WeightStorage(f dataflow.Fold) dataflow.Storage {
	rows := tableRows(u, f)
	return dataflow.NewTableStorage("weights", "weight memory", rows,
		f.PE*f.SIMD*u.Codes.StoredType(rows).Width).MovedToMemory(f.Memory)
}

// tableRows returns the number of rows in the fold's table of weights.
func tableRows(u *Unit, f dataflow.Fold) int {
	return len(u.weights) * len(u.weights[0]) / (f.PE * f.SIMD)
}

// WeightPort returns the stream of the weights' rows, one row per word.
func (u *Unit) WeightPort(f dataflow.Fold) dataflow.Port {
	rows := tableRows(u, f)
	return dataflow.Port{Elem: u.Codes.StoredType(rows), PerWord: f.PE * f.SIMD, Words: rows}
}

// FoldWithoutUnusedMemory returns the fold with NoMemory if the weights have a single row, because all memories are
// then the same hardware. Else it returns f.
func FoldWithoutUnusedMemory(u *Unit, f dataflow.Fold) dataflow.Fold {
	if u.WeightStorage(f).Rows == 1 {
		f.Memory = dataflow.NoMemory
	}
	return f
}

// CircuitCostWithWeightFIFO returns the cost of the layer's circuit, as layer.CircuitCost does. If the weights are
// external, the cost includes their FIFO.
func CircuitCostWithWeightFIFO(u *Unit, o layer.LayerWithCircuit, f dataflow.Fold, t dataflow.Target) (c dataflow.Cost,
	ok bool) {
	c, ok = layer.CircuitCost(o, FoldWithoutUnusedMemory(u, f), t)
	if ok && u.External() {
		fifo := estimate.FIFOCost(t, dataflow.ExternalWeightFIFO, u.WeightPort(f)).Total()
		c = append(slices.Clone(c), dataflow.CostContribution{Name: "FIFO of weights", Resources: fifo})
	}
	return c, ok
}

// RowBits returns the bits of the weights that an iteration of a fold reads from a table.
func (u *Unit) RowBits(f dataflow.Fold) int {
	return f.PE * f.SIMD * u.Codes.StoredType(tableRows(u, f)).Width
}

// hasConstantProducts reports whether every product of a fold has a constant weight of its own.
func hasConstantProducts(u *Unit, f dataflow.Fold) bool {
	return tableRows(u, f) == 1 && u.room == nil && !u.External()
}

// ProductsPerClock returns how many products a fold computes in a clock, in the part with most if it is divided into
// several parts. Products by constants that are zero do not count.
func ProductsPerClock(u *Unit, f dataflow.Fold, parts int) int {
	if !hasConstantProducts(u, f) {
		return f.PE * f.SIMD / parts
	}
	return mostOfParts(u, parts, func(w int64) int {
		if w == 0 {
			return 0
		}
		return 1
	})
}

// AddendBitsPerClock returns how many bits the fold's circuit adds in a clock, in the part with most if it is divided
// into several parts. A DSP multiplier's product is one addend. A product by a weight from memory has an addend for
// each bit of the weight. A constant weight has an addend for each of its signed digits.
func AddendBitsPerClock(u *Unit, f dataflow.Fold, parts int) int {
	switch {
	case f.Compute == dataflow.MultiplierInDSPs:
		return ProductsPerClock(u, f, parts) * (u.in.Width + u.Weight.Width)
	case !hasConstantProducts(u, f):
		return f.PE * f.SIMD / parts * u.in.Width * u.Weight.Width
	}
	return u.in.Width * mostOfParts(u, parts, func(w int64) int { return bits.OnesCount64(uint64(w) ^ uint64(3*w)) })
}

// mostOfParts divides all channels into equal parts and returns the greatest sum, over the weights of a part, of what
// of returns.
func mostOfParts(u *Unit, parts int, of func(w int64) int) (most int) {
	for channels := range slices.Chunk(u.weights, len(u.weights)/parts) {
		n := 0
		for _, row := range channels {
			for _, w := range row {
				n += of(w)
			}
		}
		most = max(most, n)
	}
	return most
}

// WeightTable returns the table of the weights. Each row holds the weights of one clock.
func (u *Unit) WeightTable(f dataflow.Fold) dataflow.Table {
	k := len(u.weights[0])
	rows := make([][]int64, 0, tableRows(u, f))
	for c := 0; c < len(u.weights); c += f.PE {
		for s := 0; s < k; s += f.SIMD {
			row := make([]int64, 0, f.PE*f.SIMD)
			for _, channel := range u.weights[c : c+f.PE] {
				row = append(row, channel[s:s+f.SIMD]...)
			}
			rows = append(rows, row)
		}
	}
	return u.Codes.EncodedTable("by nf and sf: element pe*simd + i", rows)
}

// OpAndParamCounts returns a frame's multiply-accumulates, by input and weight type, and the parameters by type, under
// FINN's names. Every weight meets the given number of vectors.
func (u *Unit) OpAndParamCounts(vectors int) map[string]int64 {
	weights := int64(len(u.weights)) * u.length
	c := map[string]int64{
		fmt.Sprintf("op_mac_%s_%s", u.in, u.Weight): weights * int64(vectors),
		fmt.Sprintf("param_weight_%s", u.Weight):    weights,
	}
	if n := u.Thresholds(); n > 0 {
		c[fmt.Sprintf("param_threshold_%s", u.Acc)] = int64(len(u.weights)) * int64(n)
	}
	return c
}
