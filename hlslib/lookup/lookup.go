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

// Layer describes the lookup in the table of layers; New makes a layer of this kind.
var Layer, New = layer.DefineKind(layer.Definition[Params]{
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

// bind returns the layer for one input of indices, of shape [n] or [..., 1]. The output has the shape [n, D] or [...,
// D], for rows of D elements. Its ranges are those of the columns, over the rows that can be reached. Indices beyond
// the table are an error.
func bind(b layer.Base[Params], in []dataflow.StreamType) (dataflow.Op, []dataflow.StreamType, error) {
	shape, table := in[0].Shape, b.P.Table
	if len(shape) > 1 && shape.Channels() != 1 {
		return nil, nil, fmt.Errorf("indices of shape %v, want one axis, or a last axis of 1", shape)
	}
	reached := in[0].Union()
	if last := int64(len(table) - 1); reached.Lo < 0 || reached.Hi > last {
		return nil, nil, fmt.Errorf("indices in %v for a table of %d rows, want 0 to %d", reached, len(table), last)
	}
	o := &op{Base: b, in: in[0], indices: shape.Size(), depth: len(table[0]), pe: dataflow.Divisors(len(table[0]))}
	if len(shape) > 1 {
		shape = shape[:len(shape)-1]
	}
	o.out = dataflow.StreamType{Shape: append(slices.Clone(shape), o.depth), Elem: num.Narrowest(table...)}
	for d := range o.depth {
		r := num.SingleValue(table[reached.Lo][d])
		for _, row := range table[reached.Lo : reached.Hi+1] {
			r = r.Union(num.SingleValue(row[d]))
		}
		o.out.Range = append(o.out.Range, r)
	}
	return o, []dataflow.StreamType{o.out}, nil
}

// Dependence says that every index is looked up independently.
func (o *op) Dependence() dataflow.Dependence { return dataflow.SeparateParts(1, o.indices) }

func (o *op) Eval(in []dataflow.Tensor) []dataflow.Tensor {
	y := dataflow.Tensor{Shape: o.out.Shape}
	for _, i := range in[0].Data {
		y.Data = append(y.Data, o.P.Table[i]...)
	}
	return []dataflow.Tensor{y}
}

// rows returns the number of rows of the memory, each of which is an output word: those for all rows of the table.
func (o *op) rows(f dataflow.Fold) int { return len(o.P.Table) * o.words(f) }

// words returns the number of output words for one index.
func (o *op) words(f dataflow.Fold) int { return o.depth / f.PE }

// Folds yields every PE that divides the elements of a row, in increasing order, with each memory. A table that is one
// word is wiring, and its memory is LUTRAM by convention.
func (o *op) Folds() dataflow.Folds {
	return layer.Folds{PE: o.pe, Fits: func(f dataflow.Fold) bool {
		return f.PE <= dataflow.MaxWord/o.out.Elem.Width && o.indices <= dataflow.MaxIterations/o.words(f) &&
			o.rows(f) <= dataflow.MaxIterations
	}, Memory: func(f dataflow.Fold) []dataflow.Memory {
		if o.rows(f) == 1 {
			return []dataflow.Memory{dataflow.LUTRAM}
		}
		return []dataflow.Memory{dataflow.LUTRAM, dataflow.BRAM, dataflow.URAM}
	}}.All()
}

func (o *op) Ports(f dataflow.Fold) (in, out []dataflow.Port) {
	return []dataflow.Port{o.in.Port(1)}, []dataflow.Port{o.out.Port(f.PE)}
}

// Loop returns the loop over the output words. The first iteration for an index reads it. The latency is that of an
// index that is read, or kept, and looked up.
func (o *op) Loop(f dataflow.Fold, t dataflow.Target) dataflow.Loop {
	c := layer.NewIterationChain(t)
	c.ReadWhere()
	c.Choose(o.in.Elem.Width)
	c.Lookup(o.rows(f), f.PE*o.out.Elem.Width, f.Memory)
	each, first := dataflow.IndexSet{Kind: dataflow.EveryIndex}, dataflow.IndexSet{Kind: dataflow.FirstIndex}
	return layer.WithLatency(o, f, t, dataflow.LoopNest{
		Trips:   []int{o.indices, o.words(f)},
		Read:    []dataflow.PortIndices{{each, first}},
		Write:   []dataflow.PortIndices{{each, each}},
		Latency: c.Write(),
	}.Loop())
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

// Cost counts the table and the counters. If a row takes several clocks, it also counts the register of the index and
// the adder of the address. FINN has only a formula for block RAM, which counts no LUTs.
func (o *op) Cost(f dataflow.Fold, t dataflow.Target) dataflow.Cost {
	if c, ok := layer.CircuitCost(o, f, t); ok {
		return c
	}
	m := estimate.CostModelOf(t)
	var address cost.Resources
	if o.words(f) > 1 {
		address = cost.Adder(bits.Len(uint(o.rows(f) - 1))).Plus(cost.Resources{FF: o.in.Elem.Width})
	}
	return estimate.LayerCost(m, o.Storage(f),
		m.Control(cost.Counter(o.indices).Plus(cost.Counter(o.words(f)))),
		address.AsPart("address"),
		m.Registers(f.PE*o.out.Elem.Width),
	)
}

// Storage returns the memory of the table.
func (o *op) Storage(f dataflow.Fold) []dataflow.Storage {
	return []dataflow.Storage{dataflow.ROMStorage("table", "table", o.rows(f), f.PE*o.out.Elem.Width).At(f.Memory)}
}

func (o *op) Emit(f dataflow.Fold, _ dataflow.Target) dataflow.Instance {
	return dataflow.Instance{
		Header:  "lookup.hpp",
		Func:    "lookup",
		Streams: []string{"in_t", "in_width", "out_per_word", "out_width"},
		Config: []dataflow.Field{
			{Name: "folds", Doc: "words per index", Value: o.words(f)},
		},
		Tables: []dataflow.Table{{Name: "table", Doc: "by index and fold: element pe", Elem: o.out.Elem,
			Rows: o.table(f.PE)}},
		Storage: o.Storage(f),
	}
}

// table returns the rows of the memory: the table's rows, cut into words of pe elements.
func (o *op) table(pe int) (rows [][]int64) {
	for _, row := range o.P.Table {
		rows = slices.AppendSeq(rows, slices.Chunk(row, pe))
	}
	return rows
}
