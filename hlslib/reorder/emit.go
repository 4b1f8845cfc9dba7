package reorder

import (
	"hlsgen/internal/dataflow"
	"hlsgen/internal/num"
)

func (o *op) Emit(f dataflow.Fold, _ dataflow.Target) dataflow.Instance {
	in, out := o.words(f.SIMD)
	return dataflow.Instance{
		Header: "reorder.hpp",
		Func:   "reorder",
		Config: []dataflow.Field{
			{Name: "blocks", Doc: "blocks in a frame", Value: o.blocks},
			{Name: "in_words", Doc: "words of a block read", Value: in},
			{Name: "out_words", Doc: "words of a block written", Value: out},
			{Name: "chunk_words", Doc: "words of a chunk", Value: o.p.Chunk / f.SIMD},
		},
		Tables:  []dataflow.Table{o.order()},
		Storage: o.storage(f),
	}
}

func (o *op) order() dataflow.Table {
	t := dataflow.Table{Name: "order", Doc: "by chunk written: the chunk of the block read", Elem: num.Smallest(num.Range{Lo: 0, Hi: int64(o.p.Block - 1)})}
	for _, i := range o.p.Order {
		t.Rows = append(t.Rows, []int64{int64(i)})
	}
	return t
}
