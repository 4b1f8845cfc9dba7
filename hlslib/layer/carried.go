package layer

import (
	"fmt"
	"strings"

	"hlsgen/hlslib/delay"
	"hlsgen/internal/dataflow"
)

// place is the bits of the counters of a large frame.
const place = 17

// counted returns the path from state to state of a kernel with nested counters: it compares a counter, combines that
// with the levels inside, and chooses the next count twice: for the level, and for the frame. Accumulators take no
// longer.
func counted(t dataflow.Target) dataflow.Path {
	return carried(t, delay.Compare, delay.Logic, delay.Select, delay.Select)
}

// stepped returns the path of a kernel that adds before it compares: the sum is held against the end of a ring, or
// against the number of words that are needed. The two choices are those of counted.
func stepped(t dataflow.Target) dataflow.Path {
	return carried(t, delay.Add, delay.Compare, delay.Logic, delay.Select, delay.Select)
}

// Told returns the path of a stepped kernel that is told where sequences end, and begins anew there: one choice more.
func Told(t dataflow.Target) dataflow.Path {
	return carried(t, delay.Add, delay.Compare, delay.Logic, delay.Select, delay.Select, delay.Select)
}

func carried(t dataflow.Target, chain ...delay.Op) (p dataflow.Path) {
	c := t.Delays()
	var names []string
	for _, op := range chain {
		ns := c.NS(op, place)
		p.NS += ns
		names = append(names, fmt.Sprintf("%v %.2f", op, ns))
	}
	p.Steps = strings.Join(names, " -> ")
	return p
}

// Carries is the path of a layer, as its definition says.
func (b Base[P]) Carries(_ dataflow.Fold, t dataflow.Target) dataflow.Path {
	if b.def.Stepped {
		return stepped(t)
	}
	return counted(t)
}
