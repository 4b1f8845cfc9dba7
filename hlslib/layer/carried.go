package layer

import (
	"fmt"
	"strings"

	"hlsgen/hlslib/price/delay"
	"hlsgen/internal/dataflow"
)

// place is the width in bits of the counters of a large frame.
const place = 17

// counted returns the path from one clock's state to the next in a kernel with nested counters. The kernel compares a
// counter, combines the result with the levels inside, and chooses the next count twice: for the level, and for the
// frame. The path through an accumulator is no longer.
func counted(_ dataflow.Fold, t dataflow.Target) dataflow.TimingPath {
	return carried(t, delay.OpCompare, delay.OpLogicGate, delay.OpSelect, delay.OpSelect)
}

// stepped returns the path from one clock's state to the next in a kernel that adds before it compares. It compares the
// sum with the end of a ring, or with the number of words that are needed. The two choices are those of counted.
func stepped(_ dataflow.Fold, t dataflow.Target) dataflow.TimingPath {
	return carried(t, delay.OpAdd, delay.OpCompare, delay.OpLogicGate, delay.OpSelect, delay.OpSelect)
}

// TimingPathOfSequenceEnd returns the path from one clock's state to the next in a kernel that starts anew at a
// signalled end of a sequence. It has one choice more than that of a stepped kernel.
func TimingPathOfSequenceEnd(_ dataflow.Fold, t dataflow.Target) dataflow.TimingPath {
	return carried(t, delay.OpAdd, delay.OpCompare, delay.OpLogicGate, delay.OpSelect, delay.OpSelect, delay.OpSelect)
}

func carried(t dataflow.Target, chain ...delay.PipelineOp) (p dataflow.TimingPath) {
	c := t.OperationDelays()
	var names []string
	for _, op := range chain {
		ns := c.OpDelayNS(op, place)
		p.NS += ns
		names = append(names, fmt.Sprintf("%v %.2f", op, ns))
	}
	p.Steps = strings.Join(names, " -> ")
	return p
}

// Describe returns what the definition says of all layers of the kind. A kind with more to say has a method of its own,
// which adds to the result.
func (b Base[P]) Describe() dataflow.LayerDescription {
	if b.def.Stepped {
		return dataflow.LayerDescription{CarriedStatePath: stepped}
	}
	return dataflow.LayerDescription{CarriedStatePath: counted}
}
