package mac

import (
	"fmt"
	"math/bits"
	"slices"

	"hlsgen/hlslib/cost"
	"hlsgen/hlslib/delay"
	"hlsgen/hlslib/estimate"
	"hlsgen/hlslib/layer"
	"hlsgen/hlslib/steps"
	"hlsgen/internal/dataflow"
	"hlsgen/internal/num"
)

// Folds yields, for every PE and SIMD that fit, the memories and multipliers to choose from. Bipolar operands need no
// multiplier, and the significands of minifloats a small one.
func (u *Unit) Folds(pe, simd []int, fits func(dataflow.Fold) bool) dataflow.Folds {
	compute := []dataflow.Compute{dataflow.LUT, dataflow.DSP}
	if u.Weight.Kind == num.Bipolar || u.in.Kind == num.Bipolar || floats(u) {
		compute = compute[:1]
	}
	memory := []dataflow.Memory{dataflow.LUTRAM, dataflow.BRAM, dataflow.URAM}
	if u.External() {
		memory = []dataflow.Memory{dataflow.NoMemory}
	}
	return layer.Folds{
		PE: pe, SIMD: simd, Fits: fits, Compute: compute,
		Memory: func(dataflow.Fold) []dataflow.Memory { return memory },
	}.All()
}

// Fits holds a fold against what Vitis HLS accepts: input words of so many elements, output words of PE elements, the
// rows of the tables, and the iterations of a frame in which every weight meets so many vectors.
func (u *Unit) Fits(word int, f dataflow.Fold, vectors int) bool {
	channels := f.PE
	if u.compare.Shared() {
		channels = 1
	}
	row := max(f.PE*f.SIMD*u.Codes.Stored(tableRows(u, f)).Width, channels*u.compare.Steps()*u.Acc.Width)
	return word*u.in.Width <= dataflow.MaxWord && f.PE*u.Out.Width <= dataflow.MaxWord && row <= dataflow.MaxRow &&
		vectors <= dataflow.MaxIterations/(len(u.weights)/f.PE)/(len(u.weights[0])/f.SIMD)
}

// Delay is what a layer carries from clock to clock: the adder of the accumulator.
func (u *Unit) Delay(dataflow.Fold, dataflow.Target) float64 { return cost.CarriedDelay(1) }

// Chain is inputs that meet their weights, as far as the outputs; products are packed as p says.
func (u *Unit) Chain(c *layer.Chain, f dataflow.Fold, p cost.Packing) {
	u.Sum(c, f, p, tableRows(u, f))
	if f.SIMD < len(u.weights[0]) { // to the sum so far, which is begun anew with every row of weights
		c.Carried(u.Acc.Width, delay.Select, delay.Add)
	}
	switch form := u.form(f); {
	case form != nil:
		c.Steps(form, u.compare, u.Acc.Width, f.PE, dataflow.NoMemory)
	case u.XNOR:
		c.Do(delay.Add, u.Acc.Width) // of matches the sum
	}
}

// Sum is one clock's products, with weights out of so many rows, and their sum.
func (u *Unit) Sum(c *layer.Chain, f dataflow.Fold, p cost.Packing, rows int) {
	c.Fetch(rows, f.PE*f.SIMD*u.Codes.Stored(rows).Width, f.Memory)
	if u.Codes.Logic(1, rows) != nil {
		c.Do(delay.Logic, 1)
	}
	width := num.Smallest(u.raw).Width
	switch {
	case u.XNOR:
		c.Do(delay.Logic, 1)
		width = 1
	case floats(u):
		f := Factors(u)
		c.Do(delay.Logic, f.Weight+f.Input) // exponents that are 0
		c.Product(f.Weight, f.Input, false)
		for range f.Levels {
			c.Choose(width)
		}
		c.Do(delay.Add, width) // what may be taken off
	case u.Weight.Kind == num.Bipolar || u.in.Kind == num.Bipolar:
		c.Do(delay.Add, width) // what may be taken off
		c.Choose(width)
	default:
		c.Product(u.Weight.Width, u.in.Width, f.Compute == dataflow.DSP)
	}
	if u.requant != nil {
		c.Requant(*u.requant, width, f.Compute == dataflow.DSP)
		width = num.Smallest(u.product).Width
	}
	c.Tree(f.SIMD, width, delay.Add)
	if p.Packs() {
		c.Do(delay.Add, u.dotType(f.SIMD).Width) // what lanes have borrowed of those above them
	}
}

// FactorBits is the bits of a weight or of an input, which of them has fewer.
func (u *Unit) FactorBits() int { return min(u.Weight.Width, u.in.Width) }

// Packing is how DSP slices make the products of so many channels that share their inputs, each of SIMD products a
// clock: its cost and its C++ both follow. Products that are requantised are not packed.
func (u *Unit) Packing(channels int, f dataflow.Fold, t dataflow.Target) cost.Packing {
	if f.Compute != dataflow.DSP || u.requant != nil {
		return cost.Packing{}
	}
	return cost.FabricOf(t.Board).Pack(channels, f.SIMD, u.span, u.inputs)
}

// packFields are the config fields of a packing that core/mac.hpp asks for; none where nothing is packed.
func packFields(p cost.Packing) []dataflow.Field {
	if !p.Packs() {
		return nil
	}
	at, overlaps := make([]int, len(p.Lanes)), make([]int, len(p.Lanes))
	for i, l := range p.Lanes {
		if at[i] = l.At; l.Overlap {
			overlaps[i] = 1
		}
	}
	signed := func(bits int) num.Type { return num.Type{Kind: num.Int, Width: bits} }
	return []dataflow.Field{
		{Name: "lanes", Doc: "of the weights that share a DSP slice, where each begins", Value: at},
		{Name: "overlaps", Doc: "1 where it begins with the highest bit of the one below", Value: overlaps},
		{Name: "terms", Doc: "products that are added before lanes are taken apart", Value: p.Terms},
		{Name: "packed_t", Doc: "weights that share a slice", Value: signed(p.Wide)},
		{Name: "packed_sum_t", Doc: "sum of their products", Value: signed(p.Sum)},
	}
}

// SumFields are the config fields that core/mac.hpp asks for.
func (u *Unit) SumFields(f dataflow.Fold, p cost.Packing) []dataflow.Field {
	config := []dataflow.Field{
		{Name: "acc_t", Doc: "accumulator", Value: u.Acc},
		{Name: "dot_t", Doc: "sum of one clock's products", Value: u.dotType(f.SIMD)},
		{Name: "use_dsp", Doc: "multiply in DSP slices", Value: f.Compute == dataflow.DSP},
	}
	if u.requant != nil {
		config = append(config,
			dataflow.Field{Name: "product_t", Doc: "a product as it is summed", Value: num.Smallest(u.product)},
			dataflow.RequantField("product", "every product's requantiser", u.raw, *u.requant))
	}
	return append(config, packFields(p)...)
}

// Emit is the fold of a layer by its name: the fields of its loop, and the fields and tables that core/mac.hpp and
// core/compare.hpp ask for. It computes so and so side by side, and consumes so and so of each a clock.
func (u *Unit) Emit(f dataflow.Fold, p cost.Packing, name, channels, inputs string,
	loop ...dataflow.Field) dataflow.Instance {
	var fields []dataflow.Field
	var tables []dataflow.Table
	switch form := u.form(f); {
	case form != nil:
		fields, tables = form.Fields(), form.Tables()
	case u.XNOR:
		fields = steps.None("accumulator", 2, -len(u.weights[0]))
	default:
		fields = steps.None("accumulator", 1, 0)
	}
	sums := u.SumFields(f, p)
	if p.Packs() { // which is in DSP slices
		sums = slices.DeleteFunc(sums, func(m dataflow.Field) bool { return m.Name == "use_dsp" })
	}
	return dataflow.Instance{
		Header:  name + ".hpp",
		Func:    name,
		Streams: []string{"in_t", "in_width", "out_t", "out_width"},
		Config: slices.Concat(loop, []dataflow.Field{
			{Name: "pe", Doc: channels + " computed side by side", Value: f.PE},
			{Name: "simd", Doc: inputs + " of each consumed a clock", Value: f.SIMD},
		}, sums, u.Codes.Fields(tableRows(u, f)), fields),
		Tables:  append([]dataflow.Table{u.WeightTable(f)}, tables...),
		Storage: u.Storage(f),
		Alike:   true,
	}
}

// Storage is that of the tables of Emit: the weights lie in the fold's memory.
func (u *Unit) Storage(f dataflow.Fold) []dataflow.Storage {
	list := append(make([]dataflow.Storage, 0, 6), u.WeightStorage(f)) // the layer may have more
	if form := u.form(f); form != nil {
		list = append(list, form.Storage()...)
	}
	return list
}

// WeightStorage is that of the weights alone.
func (u *Unit) WeightStorage(f dataflow.Fold) dataflow.Storage {
	rows := tableRows(u, f)
	return dataflow.ROM("weights", "weight memory", rows, f.PE*f.SIMD*u.Codes.Stored(rows).Width).At(f.Memory)
}

// tableRows is how many rows of weights there are.
func tableRows(u *Unit, f dataflow.Fold) int {
	return len(u.weights) * len(u.weights[0]) / (f.PE * f.SIMD)
}

// WeightPort is the rows of weights as words.
func (u *Unit) WeightPort(f dataflow.Fold) dataflow.Port {
	rows := tableRows(u, f)
	return dataflow.Port{Elem: u.Codes.Stored(rows), PerWord: f.PE * f.SIMD, Words: rows}
}

// Plain is a fold without the memory that it asks for, where weights of one row need none: the same hardware.
func Plain(u *Unit, f dataflow.Fold) dataflow.Fold {
	if u.WeightStorage(f).Rows == 1 {
		f.Memory = dataflow.NoMemory
	}
	return f
}

// Priced is what a layer's circuit takes, as layer.Priced says it, and what its weights come through that come from
// memory.
func Priced(u *Unit, o layer.Circuited, f dataflow.Fold, t dataflow.Target) (c dataflow.Cost, ok bool) {
	c, ok = layer.Priced(o, Plain(u, f), t)
	if ok && u.External() {
		fifo := estimate.FIFO(t, dataflow.WeightFIFO, u.WeightPort(f)).Total()
		c = append(slices.Clone(c), dataflow.Part{Name: "FIFO of weights", Resources: fifo})
	}
	return c, ok
}

// Adds is how many bits the circuit of a fold adds for n products in a clock. Of a product by a constant they are as
// many addends as the weight has signed digits; by a weight that lies in a memory, one for each of its bits; of a
// multiplier of the device one, its result.
func Adds(u *Unit, n int, f dataflow.Fold) (added int) {
	switch {
	case f.Compute == dataflow.DSP:
		return n * (u.in.Width + u.Weight.Width)
	case tableRows(u, f) > 1 || u.External() || u.room != nil:
		return n * u.in.Width * u.Weight.Width
	}
	for _, row := range u.weights {
		for _, w := range row {
			added += bits.OnesCount64(uint64(w)^uint64(3*w)) * u.in.Width
		}
	}
	return added
}

// WeightTable is the weights, in rows of what one clock takes.
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
	return u.Codes.Table("by nf and sf: element pe*simd + i", rows)
}

// Counts gives a frame's multiply-accumulates by input and weight type, and parameters by type, where every weight
// meets so many inputs.
func (u *Unit) Counts(vectors int) map[string]int64 {
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
