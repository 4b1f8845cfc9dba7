package graph

// A run holds a tensor for as long as somebody can ask for it: a step that reads it, or a rounding that is decided
// exactly, which goes back from a step through all tensors that are not exact. So a step is over with what it reads
// when its output is exact, or else when everything is over with its output.

// A holding is what a run still needs.
type holding struct {
	all     map[string]*Reals
	readers map[string]int      // of a tensor, steps that are not over, and the part itself
	reads   map[string][]string // of a step, by its output, while it is not over
}

// holding is for a run that gives its outputs alone.
func (p *Part) holding(all map[string]*Reals) *holding {
	h := &holding{all: all, readers: map[string]int{}, reads: map[string][]string{}}
	for _, r := range p.runners {
		of := setOf(r.reads)
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

// computed is told of the output of a step.
func (h *holding) computed(output string, v *Reals) {
	if h.readers[output] == 0 {
		delete(h.all, output)
	}
	known := len(v.Lo) == 0 || &v.Lo[0] == &v.Hi[0] || v.Truth != nil
	if known || h.readers[output] == 0 {
		h.over(output)
	}
}

// over lets go what nobody needs when a step is over, given by its output.
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
			if h.reads[name] != nil { // the step that gave it was waiting for that
				rest = append(rest, name)
			}
		}
	}
}
