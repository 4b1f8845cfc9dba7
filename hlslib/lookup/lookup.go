// Package lookup replaces indices by rows of a table: an embedding.
//
// PE elements of a row are written side by side. With n indices in a frame and rows of D elements the loop is
//
//	for i < n: for fold < D/PE: one clock
//
// or n*D/PE clocks a frame. Iterations with fold = 0 read a word, one index. Every iteration writes a word, the
// elements fold*PE .. fold*PE+PE-1 of the row. They are row index*D/PE + fold of the memory.
package lookup

import (
	"errors"
	"fmt"
	"math/bits"
	"slices"

	"hlsgen/hlslib/layer"
	"hlsgen/hlslib/price/cost"
	"hlsgen/hlslib/price/estimate"
	"hlsgen/internal/dataflow"
	"hlsgen/internal/num"
)

// LayerKind describes the lookup in the table of layers, hlslib.LayerKinds. New returns a layer of this kind with the
// given parameters, not yet bound to its inputs.
var LayerKind, New = layer.DefineKind(layer.KindDefinition[Params]{
	Name:    "Lookup",
	Doc:     "a row of a table for every index (Gather of constants, embeddings)",
	Example: `{"table":[[1,2],[3,4]]}`,
	Bind:    bind,
})

// Params hold the only parameter of the lookup: the table, one row for each index.
type Params struct {
	Table [][]int64 `json:"table"` // [V][D]
}

// Verify reports what is wrong with the parameters, whatever the inputs are.
func (p Params) Verify() error {
	if len(p.Table) == 0 || len(p.Table[0]) == 0 {
		return errors.New("the table is empty")
	}
	for i, row := range p.Table {
		if len(row) != len(p.Table[0]) {
			return fmt.Errorf("row %d of the table has %d elements, row 0 has %d", i, len(row), len(p.Table[0]))
		}
	}
	return nil
}

type op struct {
	layer.Base[Params]
	in, out dataflow.StreamType
	indices int   // per frame
	depth   int   // D
	pe      []int // the divisors of D
}

// bind returns the layer for one input of indices, of shape [n] or [..., 1]; any other shape is an error. The output
// has the shape [n, D] or [..., D], for rows of D elements. Its ranges are those of the columns, over the rows that can
// be reached. Indices that may be negative or beyond the table are an error.
func bind(b layer.Base[Params], in []dataflow.StreamType) (dataflow.Op, []dataflow.StreamType, error) {
	shape, table := in[0].Shape, b.P.Table
	if len(shape) > 1 && shape.ChannelCount() != 1 {
		return nil, nil, fmt.Errorf("indices of shape %v, want one axis, or a last axis of 1", shape)
	}
	reached := in[0].UnionOfRanges()
	if last := int64(len(table) - 1); reached.Lo < 0 || reached.Hi > last {
		return nil, nil, fmt.Errorf("indices in %v for a table of %d rows, want 0 to %d", reached, len(table), last)
	}
	o := &op{Base: b, in: in[0], indices: shape.ElementCount(), depth: len(table[0]),
		pe: dataflow.Divisors(len(table[0]))}
	if len(shape) > 1 {
		shape = shape[:len(shape)-1]
	}
	o.out = dataflow.StreamType{Shape: append(slices.Clone(shape), o.depth), Elem: num.NarrowestTypeOfValues(table...)}
	for d := range o.depth {
		r := num.SingleValueRange(table[reached.Lo][d])
		for _, row := range table[reached.Lo : reached.Hi+1] {
			r = r.Union(num.SingleValueRange(row[d]))
		}
		o.out.Range = append(o.out.Range, r)
	}
	return o, []dataflow.StreamType{o.out}, nil
}

// Describe returns the facts of the layer.
func (o *op) Describe() dataflow.LayerDescription {
	d := o.Base.Describe()
	d.Dependence = o.dependence
	d.Storage = o.Storage
	return d
}

// dependence says that every index is looked up independently.
func (o *op) dependence() dataflow.Dependence { return dataflow.NewSeparateDependence(1, o.indices) }

func (o *op) Eval(in []dataflow.Tensor) []dataflow.Tensor {
	y := dataflow.Tensor{Shape: o.out.Shape}
	for _, i := range in[0].Data {
		y.Data = append(y.Data, o.P.Table[i]...)
	}
	return []dataflow.Tensor{y}
}

// rows returns the number of rows of the memory, one output word each: those of all rows of the table.
func (o *op) rows(f dataflow.Fold) int { return len(o.P.Table) * o.words(f) }

// words returns the number of output words for one index.
func (o *op) words(f dataflow.Fold) int { return o.depth / f.PE }

// Folds yields every PE that divides the elements of a row, in increasing order, within the limits of HLS, with each
// memory. A table that is one word is wiring, and its memory is LUTRAM by convention.
func (o *op) Folds() dataflow.FoldIterator {
	return layer.FoldChoices{PE: o.pe, Fits: func(f dataflow.Fold) bool {
		return f.PE <= dataflow.MaxWordBits/o.out.Elem.Width &&
			o.indices <= dataflow.MaxIterationsPerFrame/o.words(f) &&
			o.rows(f) <= dataflow.MaxIterationsPerFrame
	}, Memory: func(f dataflow.Fold) []dataflow.Memory {
		if o.rows(f) == 1 {
			return []dataflow.Memory{dataflow.MemoryLUTRAM}
		}
		return []dataflow.Memory{dataflow.MemoryLUTRAM, dataflow.MemoryBRAM, dataflow.MemoryURAM}
	}}.AllFolds()
}

func (o *op) Ports(f dataflow.Fold) (in, out []dataflow.Port) {
	return []dataflow.Port{o.in.RowMajorPort(1)}, []dataflow.Port{o.out.RowMajorPort(f.PE)}
}

// Loop returns the loop over the output words. The first iteration for an index reads it. In HLS the latency is that of
// an index that is read, or kept, and looked up, in RTL the circuit's.
func (o *op) Loop(f dataflow.Fold, t dataflow.Target) dataflow.Loop {
	c := layer.NewIterationChain(t)
	c.DoConditionalStreamRead()
	c.DoSelect(o.in.Elem.Width)
	c.DoMemoryRead(o.rows(f), f.PE*o.out.Elem.Width, f.Memory)
	each, first := dataflow.IndexSet{Kind: dataflow.IndexSetKindEvery},
		dataflow.IndexSet{Kind: dataflow.IndexSetKindFirst}
	return layer.LoopWithBackEndLatency(o, f, t, dataflow.LoopNest{
		Trips:   []int{o.indices, o.words(f)},
		Read:    []dataflow.PortMoveIndices{{each, first}},
		Write:   []dataflow.PortMoveIndices{{each, each}},
		Latency: c.DoStreamWrite(),
	}.AsLoop())
}

type kernel struct {
	words int
	rows  [][]int64 // of the memory
	index int64
}

func (o *op) Kernel(f dataflow.Fold, _ dataflow.Target) dataflow.Kernel {
	return &kernel{words: o.words(f), rows: o.table(f.PE)}
}

func (k *kernel) Step(iteration int, in []dataflow.Word) []dataflow.Word {
	fold := iteration % k.words
	if fold == 0 {
		k.index = in[0][0]
	}
	return []dataflow.Word{slices.Clone(k.rows[int(k.index)*k.words+fold])}
}

// Cost returns the cost of the circuit if the target prices circuits. Otherwise it counts the table, the counters and
// the output's registers. If a row takes several clocks, it also counts the register of the index and the adder of the
// address. FINN itself has only a formula for block RAM, which is not used here.
func (o *op) Cost(f dataflow.Fold, t dataflow.Target) dataflow.Cost {
	if c, ok := layer.CircuitCost(o, f, t); ok {
		return c
	}
	m := estimate.CostModelOf(t)
	var address cost.Resources
	if o.words(f) > 1 {
		address = cost.AdderCost(bits.Len(uint(o.rows(f) - 1))).Plus(cost.Resources{FF: o.in.Elem.Width})
	}
	return estimate.MemoryAndLogicCost(m, o.Storage(f),
		m.StreamControlCost(cost.CounterCost(o.indices).Plus(cost.CounterCost(o.words(f)))),
		address.AsPart("address"),
		m.RegisterCost(f.PE*o.out.Elem.Width),
	)
}

// Storage returns the memory of the table.
func (o *op) Storage(f dataflow.Fold) []dataflow.Storage {
	return []dataflow.Storage{dataflow.NewTableStorage("table", "table", o.rows(f),
		f.PE*o.out.Elem.Width).MovedToMemory(f.Memory)}
}

func (o *op) Emit(f dataflow.Fold, _ dataflow.Target) dataflow.KernelInstance {
	return dataflow.KernelInstance{
		Header:  "lookup.hpp",
		Func:    "lookup",
		Streams: []string{"in_t", "in_width", "out_per_word", "out_width"},
		Config: []dataflow.ConfigField{
			{Name: "folds", Doc: "words per index", Value: o.words(f)},
		},
		Tables: []dataflow.Table{{Name: "table", Doc: "by index and fold: element pe", Elem: o.out.Elem,
			Rows: o.table(f.PE)}},
		Storage: o.Storage(f),
	}
}

// table returns the rows of the memory: the table's rows, cut into words of pe elements. They share memory with
// Params.Table.
func (o *op) table(pe int) (rows [][]int64) {
	for _, row := range o.P.Table {
		rows = slices.AppendSeq(rows, slices.Chunk(row, pe))
	}
	return rows
}
