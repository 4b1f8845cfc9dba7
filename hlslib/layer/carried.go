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
func counted(t dataflow.Target) dataflow.TimingPath {
	return carried(t, delay.OpCompare, delay.OpLogicGate, delay.OpSelect, delay.OpSelect)
}

// stepped returns the path from one clock's state to the next in a kernel that adds before it compares. It compares the
// sum with the end of a ring, or with the number of words that are needed. The two choices are those of counted.
func stepped(t dataflow.Target) dataflow.TimingPath {
	return carried(t, delay.OpAdd, delay.OpCompare, delay.OpLogicGate, delay.OpSelect, delay.OpSelect)
}

// TimingPathOfSequenceEnd returns the path from one clock's state to the next in a kernel that starts anew at a
// signalled end of a sequence. It has one choice more than that of a stepped kernel.
func TimingPathOfSequenceEnd(t dataflow.Target) dataflow.TimingPath {
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

// CarriedStatePath returns the longest path from one clock's state to the next. It is that of a stepped kernel if
// KindDefinition.Stepped is set, else that of a counted one.
func (b Base[P]) CarriedStatePath(_ dataflow.Fold, t dataflow.Target) dataflow.TimingPath {
	if b.def.Stepped {
		return stepped(t)
	}
	return counted(t)
}
