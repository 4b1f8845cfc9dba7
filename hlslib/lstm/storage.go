package lstm

import (
	"hlsgen/internal/dataflow"
)

// storage is the layer's memories, the weights first: the tables, and the state. Of h there are two halves, one that is
// read and one that is written.
func (o *op) storage(f dataflow.Fold) []dataflow.Storage {
	lanes, word, cells := f, o.word(f), len(o.P.Cells)
	lanes.PE *= o.P.lanes()
	list := []dataflow.Storage{
		o.unit.WeightStorage(lanes),
		o.P.biases(f.PE).Storage("bias memory").At(dataflow.LUTRAM),
		o.P.peepholes(f.PE).Storage("bias memory").At(dataflow.LUTRAM),
		o.P.factors().Storage("factor memory"),
	}
	for _, t := range o.P.starts(word, f.PE) {
		list = append(list, t.Storage("state memory"))
	}
	for g := o.P.firstGate(); g <= tanh; g++ {
		list = append(list, o.steps[g].storage(f.PE)...)
	}
	return append(list,
		dataflow.RAM("h", "state memory", 2*cells*o.units/word, word*o.h.Width),
		dataflow.RAM("c", "state memory", cells*o.units/f.PE, f.PE*o.c.Width))
}
