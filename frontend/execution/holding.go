package execution

import (
	"hlsgen/frontend/graph"
	"hlsgen/frontend/program"
)

// A run keeps a tensor as long as something can read it. That is a step, or an exact decision of a rounding, which goes
// back through all tensors that are not exact. So a step is over with its inputs if its output is exact, or otherwise
// when all readers of its output are over.

// A holding counts the remaining readers of each tensor of a run, and drops tensors that have none.
type holding struct {
	all     map[string]*program.Reals
	readers map[string]int      // by tensor: the number of readers that are not over, including the part's outputs
	reads   map[string][]string // by output of a step that is not over: the tensors that it reads
}

// holding returns the holding of a run. The run keeps in all only its outputs and the values that exact decisions on
// them need.
func (p *ProgramPart) holding(all map[string]*program.Reals) *holding {
	h := &holding{all: all, readers: map[string]int{}, reads: map[string][]string{}}
	for _, r := range p.runners {
		of := graph.NewNameSet(r.reads)
		for name := range of {
			h.reads[r.step.Output] = append(h.reads[r.step.Output], name)
			h.readers[name]++
		}
	}
	for _, name := range p.to {
		h.readers[name]++
	}
	return h
}

// computed records that a step has computed its output v, and drops tensors that are no longer needed.
func (h *holding) computed(output string, v *program.Reals) {
	if h.readers[output] == 0 {
		delete(h.all, output)
	}
	known := len(v.Lo) == 0 || &v.Lo[0] == &v.Hi[0] || v.Truth != nil
	if known || h.readers[output] == 0 {
		h.over(output)
	}
}

// over records that the step with the given output reads nothing any more, and drops tensors that nothing else needs.
func (h *holding) over(output string) {
	for rest := []string{output}; len(rest) > 0; {
		last := rest[len(rest)-1]
		rest = rest[:len(rest)-1]
		reads := h.reads[last]
		delete(h.reads, last)
		for _, name := range reads {
			if h.readers[name]--; h.readers[name] > 0 {
				continue
			}
			delete(h.all, name)
			if h.reads[name] != nil { // the step that computed it is over, too
				rest = append(rest, name)
			}
		}
	}
}
