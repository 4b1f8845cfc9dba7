package operators

import (
	"fmt"
	"maps"
	"math"
	"slices"

	"hlsgen/frontend/graph"
	"hlsgen/frontend/program"
	"hlsgen/internal/diag"
)

// These limits bound the resources of a model, because a hostile file must not take unlimited memory or time. (The
// largest tensor of MobileNet at 224x224 has 1.2 million elements, and a run takes 2^29 multiplications.) They apply to
// the whole model. The resources of a node, including its constants, are counted before they are allocated. An element
// takes 16 bytes while it is computed (an interval). An element of a constant takes one byte as a code, and eight
// otherwise (Tensor). An entry of a table takes four.
const (
	maxElements = 1 << 26 // of one tensor
	maxTotal    = 1 << 28 // of all tensors that steps compute
	maxWork     = 1 << 36 // multiplications of a run
	maxFold     = 1 << 30 // multiplications of a product of constants; a larger one is not folded
	maxTables   = 1 << 27 // entries of all index tables
	maxRank     = 64      // numpy's limit
)

const (
	checkShapes = "a model of this size does not fit a streaming accelerator: check its shapes"
	smaller     = checkShapes + ", or export it for smaller frames (a picture of half the rows and columns, a " +
		"sequence of half the length)"
)

// A budget counts the elements, tables and multiplications of a program, and refuses a node that exceeds the limits.
type budget struct {
	counted map[any]bool // index tables, by the addresses of their first entries, and lists
	indices int          // entries of index tables
	total   int          // elements computed
	work    int          // multiplications
}

// step counts the resources of a step of the program. It refuses a step that exceeds the limits.
func (b *budget) step(s *program.Step) {
	n := graph.ElementCount(s.Shape)
	b.elements(n)
	b.total += n
	b.tables(s)
	if s.Dot == nil || n == 0 {
		return
	}
	if s.Dot.K > (maxWork-b.work)/n {
		tooLarge(checkShapes, "a run up to this node takes more than %d multiplications", maxWork)
	}
	b.work += s.Dot.K * n
}

// tables adds the index tables of a step. A table that steps share counts once.
func (b *budget) tables(s *program.Step) {
	for _, t := range s.AllIndexTables() {
		if len(t) == 0 || b.counted[&t[0]] {
			continue
		}
		b.counted[&t[0]] = true
		b.table(len(t))
		b.indices += len(t)
	}
	if s.Move != nil {
		b.indices += len(s.Move.Input) / 4
		if p := s.Move.Places; p != nil { // as many entries as a table would have
			n := p.Len()
			b.table(n)
			b.indices += n
			if s.Move.MayReadOtherInputs() {
				b.indices += n / 4
			}
		}
	}
	if s.Dot == nil {
		return
	}
	for _, l := range []*program.IndexList{s.Dot.ABase, s.Dot.BBase} {
		if !b.counted[l] {
			b.counted[l] = true
			b.table(l.Len())
			b.indices += l.Len()
		}
	}
}

// elements counts n further elements, and table n further entries of index tables. Both refuse the node if the limit is
// exceeded. Callers that need much memory call them before they allocate it.
func (b *budget) elements(n int) {
	if n > maxTotal-b.total {
		tooLarge(smaller, "the tensors up to this one have %d elements; at most %d are accepted", b.total+n, maxTotal)
	}
}

func (b *budget) table(n int) {
	if n > maxTables-b.indices {
		tooLarge(smaller, "the nodes up to this one move and pair %d elements; at most %d are accepted", b.indices+n,
			maxTables)
	}
}

// room refuses a tensor of moved elements that exceeds the limits.
func (b *budget) room(shape []int) {
	checkSize(shape)
	n := graph.ElementCount(shape)
	b.elements(n)
	b.table(n + n/4) // an index and an input number for each element
}

// loopCost is the cost per node of a run of a loop, besides its elements. elementCost is the cost of an element. Both
// are in multiplications.
const (
	loopCost    = 16
	elementCost = 64
)

// loop adds the resources of a loop: the time of all its runs, and the memory of one.
func (b *budget) loop(r *program.Recur) {
	of := preparationOf(r.Body).budget
	b.indices += of.indices
	if b.total += of.total; b.total > maxTotal || b.indices > maxTables {
		tooLarge(checkShapes,
			"the tensors up to this one, with those of one run of the loop, have more than %d elements", maxTotal)
	}
	once := of.work + elementCost*(of.total+loopCost*(len(r.Body.Steps)+1))
	if once > (maxWork-b.work)/r.Length {
		tooLarge(checkShapes+", or give it shorter sequences",
			"%d runs of the body take more than %d multiplications", r.Length, maxWork)
	}
	b.work += once * r.Length
}

// checkSize refuses a shape with too many axes or elements.
func checkSize(shape []int) {
	if len(shape) > maxRank {
		tooLarge(fmt.Sprintf("at most %d axes are accepted", maxRank), "a tensor of %d axes", len(shape))
	}
	n := 1
	for _, d := range shape {
		if d < 0 || d > 0 && n > maxElements/d {
			tooLarge(fmt.Sprintf("at most %d elements are accepted", maxElements), "a tensor of shape %v", shape)
		}
		n *= max(d, 1) // also bound an empty tensor, because its strides are computed like any other's
	}
}

// finite refuses constants and attributes that are NaN, and infinities for which a node has no value.
func (c *reading) finite() {
	endless := false
	for slot, k := range c.in {
		if k.Const != nil && !k.Const.IsCertainlyFinite() {
			without(c, slot, func(v float64) bool { return v != v })
			endless = true
		}
		endless = endless || c.p.InfinitySignsOf(c.Inputs[slot]) != 0
	}
	if endless {
		c.endless = passesOf(c)
	}
	isBad := func(v float64) bool { return v != v || math.IsInf(v, 0) && !HasTrait(c.Node, bounds) }
	for _, name := range slices.Sorted(maps.Keys(c.Attrs)) {
		a := c.Attrs[name]
		if a.Kind == graph.AttrKindFloat && isBad(a.F) {
			notReal("attribute "+name, 0, a.F)
		}
	}
}

// noInfinity refuses a node with a constant input, at slot, that holds an infinity.
func noInfinity(c *reading, slot int) {
	without(c, slot, func(v float64) bool { return math.IsInf(v, 0) })
}

// without refuses a node with a constant input, at slot, that holds a number for which bad is true.
func without(c *reading, slot int, bad func(v float64) bool) {
	k := c.in[slot]
	if k.Const == nil || k.Const.IsCertainlyFinite() {
		return
	}
	if i := k.Const.IndexOfFirstWhere(bad); i >= 0 {
		notReal(fmt.Sprintf("input %d (%q)", slot, c.Inputs[slot]), i, k.Const.FloatAt(i))
	}
}

func notReal(what string, i int, v float64) {
	refuse(diag.OpInvalid, "hardware cannot compute with NaN and infinity: check how "+
		"the model was trained and exported", "%s holds %v (element %d)", what, v, i)
}
