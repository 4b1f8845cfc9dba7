package dup

import "hlsgen/internal/dataflow"

func (o *op) Emit(f dataflow.Fold, _ dataflow.Target) dataflow.Instance {
	return dataflow.Instance{
		Header: "dup.hpp",
		Func:   "duplicate",
		Config: []dataflow.Field{{Name: "words", Doc: "words in a frame", Value: o.words(f.PE)}},
	}
}
