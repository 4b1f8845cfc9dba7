package space

import (
	"cmp"
	"maps"
	"slices"
)

// A FoldingRegion is the set of foldings that a search considers. They keep a limit of clocks; layers may have to have
// some classes, and FIFOs some depths.
type FoldingRegion struct {
	Limit  int                 // the most clocks per frame of any layer and of the host's port
	Spares bool                // whether no DSP slice multiplies factors of few bits (goal.KindNarrowFactorDSP)
	Paths  []PathClocksByClass // paths whose clocks the search counts
	class  []int32             // per layer: its class, or -1 if any is allowed; nil allows any class everywhere
	not    []exclusion         // classes that layers may not have
	words  map[FIFOPlace]int   // the least depth of each FIFO that must hold more than two words
}

// An exclusion says that a layer may not have a class.
type exclusion struct {
	layer int
	class int32
}

// A FIFOPlace names one FIFO. A stream with a width converter has two: one behind its writer, and one in front of its
// reader. A stream without a width converter has only the FIFO behind its writer, which must hold what either would.
// Inside a split, each stream between the nodes has one FIFO.
type FIFOPlace struct {
	stream int  // for a FIFO inside a split: the stream that the split's layer writes
	front  bool // whether the FIFO stands in front of the reader
	inside int  // for a FIFO inside a split: its number, from 1 on; else 0
}

// compare orders FIFOs along the network; the result is negative if s comes before o.
func (s FIFOPlace) compare(o FIFOPlace) int {
	switch {
	case s.stream != o.stream || s.inside != o.inside:
		return cmp.Or(s.stream-o.stream, s.inside-o.inside)
	case s.front == o.front:
		return 0
	case o.front:
		return -1
	}
	return 1
}

// allows reports whether the region lets a layer have a class.
func (r *FoldingRegion) allows(s *FoldingSpace, layer int, class int) bool {
	switch {
	case s.Layers[layer].Classes[class].Clocks > r.Limit:
		return false
	case r.class != nil && r.class[layer] >= 0:
		return r.class[layer] == int32(class)
	}
	return !slices.Contains(r.not, exclusion{layer, int32(class)})
}

// IsWhole reports whether the region contains all foldings of the space that keep its limit of clocks.
func (r *FoldingRegion) IsWhole() bool { return r.class == nil && len(r.not) == 0 && len(r.words) == 0 }

// WithMinFIFODepths returns the region r with FIFOs that hold at least the given words, one number per stream of the
// design.
func (r FoldingRegion) WithMinFIFODepths(b *FoldedDesign, words []int) FoldingRegion {
	r.words = maps.Clone(r.words)
	for id, n := range words {
		r.deepen(b.sides[id], n)
	}
	return r
}

func (r *FoldingRegion) deepen(s FIFOPlace, words int) {
	if r.words == nil {
		r.words = map[FIFOPlace]int{}
	}
	r.words[s] = max(words, r.words[s])
}

// DivideWithoutFolding splits the region, without the folding of the given classes, into parts. In each of the first
// parts, one of the layers has another class, and the layers before it have the given ones (Lawler 1972); these parts
// are disjoint. A nil layers means all layers. In the remaining parts, the layers have the given classes, and one FIFO
// is deeper, as deeper says. These may overlap if deeper names several FIFOs.
//
// For example, three layers have the classes 4, 0 and 2, and there is a FIFO of 2 words. The parts are: not 4; 4, not
// 0; 4, 0, not 2; and 4, 0, 2 with 32 words.
func (r FoldingRegion) DivideWithoutFolding(class []int32, layers []int,
	deeper map[FIFOPlace]int) (parts []FoldingRegion) {
	if layers == nil {
		for l := range class {
			layers = append(layers, l)
		}
	}
	if r.class == nil {
		r.class = slices.Repeat([]int32{-1}, len(class))
	}
	for _, l := range layers {
		if r.class[l] >= 0 {
			continue
		}
		other := r
		other.not = append(slices.Clip(r.not), exclusion{l, class[l]})
		parts = append(parts, other)
		r.class = slices.Clone(r.class)
		r.class[l] = class[l]
	}
	for _, side := range slices.SortedFunc(maps.Keys(deeper), FIFOPlace.compare) {
		part := r
		part.words = maps.Clone(r.words)
		part.deepen(side, deeper[side])
		parts = append(parts, part)
	}
	return parts
}
