package mac

import (
	"fmt"

	"hlsgen/hlslib/price/cost"
	"hlsgen/internal/circuit"
	"hlsgen/internal/dataflow"
	"hlsgen/internal/num"
)

// An UnitCircuitBuilder builds the products, sums and step functions of a unit in RTL, for one fold.
type UnitCircuitBuilder struct {
	*Unit
	b *circuit.Builder
	f dataflow.Fold
	p cost.DSPPacking
	c *num.Coding // of the weights' table; nil for plain numbers
	// types of the PEs' accumulators; nil if all have type Unit.Acc
	lanes []num.Type
	// functions keeps the dot products, and keys their keys there
	functions *circuit.FunctionLibrary
	keys      map[dotKey]string
}

// A dotKey names a function of one builder: its name, its products per channel, and its channels.
type dotKey struct {
	name           string
	simd, channels int
}

// NewCircuitBuilder returns the builder of the unit's circuit in b, with products packed as p says. Weights come from a
// table with the given rows.
func (u *Unit) NewCircuitBuilder(b *circuit.Builder, f dataflow.Fold, p cost.DSPPacking, rows int) UnitCircuitBuilder {
	if u.room != nil {
		circuit.MakeTablesLoadable(b)
	}
	return UnitCircuitBuilder{Unit: u, b: b, f: f, p: p, c: u.Codes.CodingForRows(rows), functions: u.dots,
		keys: map[dotKey]string{}}
}

// ForTarget returns the builder of the circuit for a target. It may ask for accumulators of individual widths, and have
// functions that layers share.
func (c UnitCircuitBuilder) ForTarget(t dataflow.Target) UnitCircuitBuilder {
	c.lanes = c.Unit.LaneAccumulatorTypes(c.f, t)
	if t.Functions != nil {
		c.functions = t.Functions
	}
	return c
}

// lane returns the type of the accumulator of channel pe of a word: Unit.Acc, unless lanes have individual widths.
func (c UnitCircuitBuilder) lane(pe int) num.Type {
	if c.lanes == nil {
		return c.Acc
	}
	return c.lanes[pe]
}

// WeightRow returns an iteration's row of weights, at address row of the table. External weights are the next word from
// memory instead.
func (c UnitCircuitBuilder) WeightRow(row circuit.Value) circuit.Value {
	if c.External() {
		return circuit.AddWeightStreamInput(c.b, c.WeightPort(c.f).Width())
	}
	return c.table().ReadRow(row)
}

// table returns the table of the unit's weights.
func (c UnitCircuitBuilder) table() circuit.ConstantTable {
	s := c.WeightStorage(c.f)
	return c.b.AddTable("weights", s.CircuitStyle(), c.stored(), c.f.PE*c.f.SIMD, s.Rows,
		func() [][]int64 { return c.WeightTable(c.f).Rows })
}

// ChannelOutputs returns the outputs of PE channels. inputs returns the input word of a channel, the same for all if
// products are packed. weights is a row of weights. A new sum begins when first holds. row is the address of the step
// functions' tables, at stage 0.
func (c UnitCircuitBuilder) ChannelOutputs(inputs func(pe int) circuit.Value, weights, first,
	row circuit.Value) []circuit.Value {
	sums := c.dotProducts(c.f.PE, inputs, weights)
	for pe, dot := range sums {
		sums[pe] = c.b.AddRunningSum(fmt.Sprint("sum", pe), c.lane(pe), first, dot)
	}
	return c.outputs(sums, row)
}

// most is the largest number of products per channel that one circuit function sums. Wider sums are built from
// several calls, which keeps the circuits small.
const most = 64

// dotProducts returns the sums of one clock's products for the given number of channels. inputs and weights are as for
// ChannelOutputs.
func (c UnitCircuitBuilder) dotProducts(channels int, inputs func(pe int) circuit.Value,
	weights circuit.Value) (dots []circuit.Value) {
	if c.f.Compute == dataflow.SharedAdders {
		return sharedSums(c.b, c.Unit, inputs(0))
	}
	side, bits := 1, c.stored().Width
	if c.p.HasMultipleLanes() {
		side = len(c.p.Lanes)
	}
	for pe := 0; pe < channels; pe += side {
		n := min(side, channels-pe)
		if c.f.SIMD <= most {
			w := circuit.SliceBits(weights, pe*c.f.SIMD*bits, n*c.f.SIMD*bits)
			dots = append(dots, c.call("dot", n, inputs(pe), w, UnitCircuitBuilder.whole)...)
			continue
		}
		addends := make([][]circuit.Value, n)
		step := most
		if c.p.HasMultipleLanes() {
			step = max(1, most/c.p.Terms) * c.p.Terms
		}
		for from := 0; from < c.f.SIMD; from += step {
			part := c
			part.f.SIMD = min(step, c.f.SIMD-from)
			var w []circuit.Value
			for lane := range n {
				w = append(w, circuit.SliceBits(weights, ((pe+lane)*c.f.SIMD+from)*bits, part.f.SIMD*bits))
			}
			x := circuit.SliceBits(inputs(pe), from*c.in.Width, part.f.SIMD*c.in.Width)
			some := part.call("addends", n, x, circuit.ConcatenateWords(w...), UnitCircuitBuilder.addends)
			for lane := range n {
				addends[lane] = append(addends[lane], some[lane*len(some)/n:(lane+1)*len(some)/n]...)
			}
		}
		for _, a := range addends {
			dots = append(dots, c.added(a, weights.Stage() == circuit.ConstantStage))
		}
	}
	return dots
}

// added returns the sum of a channel's addends. own says that the weights are this channel's constants, so that the
// adder cannot be shared; otherwise it calls a shared circuit function.
func (c UnitCircuitBuilder) added(addends []circuit.Value, own bool) circuit.Value {
	if own {
		return c.total(addends)
	}
	key := fmt.Sprint("total ", c.dotType(c.f.SIMD))
	return c.b.CallFunction(c.functions, key, addends, func(b *circuit.Builder, v []circuit.Value) []circuit.Value {
		c.b = b
		return []circuit.Value{c.total(v)}
	})[0]
}

// call returns the results of a circuit function with the given name, for the inputs x and weights w of n channels. It
// builds the function at the first call.
func (c UnitCircuitBuilder) call(name string, n int, x, w circuit.Value,
	f func(c UnitCircuitBuilder, x, w circuit.Value, n int) []circuit.Value) []circuit.Value {
	if w.Stage() == circuit.ConstantStage {
		return f(c, x, w, n)
	}
	in := circuit.AlignInRegisters(x, w) // registers, because the words are wide and may come from far away
	return c.b.CallFunction(c.functions, c.key(name, n), in, func(b *circuit.Builder,
		v []circuit.Value) []circuit.Value {
		c.b = b
		return f(c, v[0], v[1], n)
	})
}

// key returns the key of the function with the given name for n channels. It holds all that the function depends on,
// because other layers may share it.
func (c UnitCircuitBuilder) key(name string, n int) string {
	k := dotKey{name, c.f.SIMD, n}
	key, ok := c.keys[k]
	if !ok {
		key = fmt.Sprint(name, " ", c.f.SIMD, c.f.Compute, n, c.p, c.dotType(c.f.SIMD), c.Weight, c.c, c.XNOR, c.span,
			c.in, c.inputs, c.raw, c.product, c.requant)
		c.keys[k] = key
	}
	return key
}

// outputs returns the outputs for the accumulators' values sums. row is the address of the step functions' tables.
func (c UnitCircuitBuilder) outputs(sums []circuit.Value, row circuit.Value) []circuit.Value {
	if form := c.form(c.f); form != nil {
		return form.BuildCircuit(c.b, row, sums)
	}
	if !c.XNOR {
		return sums
	}
	for i, s := range sums { // from matches to the sum
		sums[i] = circuit.AssumeRange(circuit.SumOfTwo(circuit.MultiplyByConstant(s, 2), c.b.ConstantNumber(-c.length)),
			c.Out.Range())
	}
	return sums
}

// whole returns, by channel, the sum of one clock's products for n channels. x is the word of inputs, and w that of
// weights.
func (c UnitCircuitBuilder) whole(x, w circuit.Value, n int) (dots []circuit.Value) {
	for _, h := range c.heaps(x, w, n) {
		dots = append(dots, h.Sum(c.dotType(c.f.SIMD).Range()))
	}
	return dots
}

// addends returns, for each of n channels, the same number of addends. Their sum is that of one clock's products of
// inputs x and weights w.
func (c UnitCircuitBuilder) addends(x, w circuit.Value, n int) (list []circuit.Value) {
	for _, h := range c.heaps(x, w, n) {
		list = append(list, h.ReduceToAddends()...)
	}
	return list
}

// total returns the sum of a channel's addends, in dotType.
func (c UnitCircuitBuilder) total(addends []circuit.Value) circuit.Value {
	h := c.b.NewBitHeap()
	for _, a := range addends {
		h.AddShifted(a, 0)
	}
	return h.Sum(c.dotType(c.f.SIMD).Range())
}

// heaps returns, for each of n channels, the bits of one clock's products that are still to be added.
func (c UnitCircuitBuilder) heaps(x, w circuit.Value, n int) []*circuit.BitHeap {
	if c.p.HasMultipleLanes() {
		return c.packed(x, w, n)
	}
	h := c.b.NewBitHeap()
	for i := range c.f.SIMD {
		switch {
		case c.XNOR:
			h.AddOneIfEqual(circuit.BitOf(x, i), circuit.BitOf(w, i))
		case c.f.Compute == dataflow.MultiplierInDSPs && c.requant == nil:
			h.AddShifted(c.product1(x, w, i), 0)
		case c.requant != nil:
			h.AddShifted(c.requantised(c.product1(x, w, i)), 0)
		default:
			c.put(h, x, w, i)
		}
	}
	return []*circuit.BitHeap{h}
}

// stored returns the element type of the rows in the table of weights.
func (c UnitCircuitBuilder) stored() num.Type {
	if c.c != nil {
		return c.c.Code
	}
	return c.Weight
}

// weight returns weight i of the row w, decoded if the table holds codes.
func (c UnitCircuitBuilder) weight(w circuit.Value, i int) circuit.Value {
	if c.c != nil {
		return circuit.DecodeElementByCoding(w, i, c.c)
	}
	return circuit.ElementOf(w, i, c.Weight)
}

// factor returns weight i of the row w as a factor of a product of minifloats.
func (c UnitCircuitBuilder) factor(w circuit.Value, i int) circuit.MultiplierOperand {
	if c.c != nil {
		return circuit.OperandOfInteger(c.weight(w, i))
	}
	return circuit.OperandOfElement(w, i, c.Weight)
}

// put adds the product of input i of the word x and weight i of the row w to the heap.
func (c UnitCircuitBuilder) put(h *circuit.BitHeap, x, w circuit.Value, i int) {
	switch {
	case floats(c.Unit):
		h.AddOperandProduct(circuit.OperandOfElement(x, i, c.in), c.factor(w, i), rawBits(c.Unit))
	case c.Weight.Kind == num.KindBipolar:
		h.AddOrSubtract(circuit.BitOf(w, i), circuit.ElementOf(x, i, c.in))
	case c.in.Kind == num.KindBipolar:
		h.AddOrSubtract(circuit.BitOf(x, i), c.weight(w, i))
	case c.Weight.Kind == num.KindTernary:
		h.AddTernaryMultiple(circuit.BitOf(w, 2*i), circuit.BitOf(w, 2*i+1), circuit.ElementOf(x, i, c.in))
	default:
		h.AddProduct(circuit.ElementOf(x, i, c.in), c.weight(w, i))
	}
}

// product1 returns the product of input i of the word x and weight i of the row w as a number.
func (c UnitCircuitBuilder) product1(x, w circuit.Value, i int) circuit.Value {
	if c.f.Compute == dataflow.MultiplierInDSPs {
		most := num.Type{Kind: num.KindInt, Width: num.MaxTypeBits} // no weight meets an input that leaves it
		return circuit.MultiplyInDSPWithin(circuit.ElementOf(x, i, c.in), c.weight(w, i), most)
	}
	h := c.b.NewBitHeap()
	c.put(h, x, w, i)
	return h.Sum(c.raw)
}

// requantised returns the product p after the unit's requantiser, which must exist.
func (c UnitCircuitBuilder) requantised(p circuit.Value) circuit.Value {
	return circuit.AssumeRange(circuit.Requantise(p, *c.requant), c.product)
}
