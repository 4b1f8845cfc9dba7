package rnn

import "hlsgen/internal/dataflow"

func (o *op) Emit(f dataflow.Fold, _ dataflow.Target) dataflow.Instance {
	i := dataflow.Instance{Header: "rnn.hpp", Func: "rnn", Storage: o.storage(f)}
	return i
}
