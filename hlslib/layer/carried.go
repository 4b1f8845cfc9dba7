package layer

import (
	"fmt"
	"strings"

	"hlsgen/hlslib/delay"
	"hlsgen/internal/dataflow"
)

// place is the bits of the counters of a large frame.
const place = 17

// counted is the path from a state to the next one of a kernel that counts: a counter is compared, a level of nested
// loops ends with that, and another one and the frame choose. What such kernels accumulate takes no longer.
func counted(t dataflow.Target) dataflow.Path {
	return carried(t, delay.Compare, delay.Logic, delay.Select, delay.Select)
}

// stepped is that of a kernel that goes on by steps: one is added and compared with where places begin anew, or words
// that are there with those that are needed, and that is chosen under what is done in the clock.
func stepped(t dataflow.Target) dataflow.Path {
	return carried(t, delay.Add, delay.Compare, delay.Logic, delay.Select, delay.Select)
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
