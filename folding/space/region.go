package space

import (
	"cmp"
	"maps"
	"slices"
)

// A Region is a part of the space: what foldings are searched among.
type Region struct {
	Limit int          // clocks per frame of every layer and of the host's port, at most
	Paths []Path       // whose clocks are counted
	class []int32      // per layer: the class that it has; -1 where that is open; nil: all are open
	not   []exclusion  // classes that layers do not have
	words map[Side]int // of FIFOs that hold more than two, at least
}

// An exclusion is a layer and a class that it does not have.
type exclusion struct {
	layer int
	class int32
}

// A Side is one of the two FIFOs of a stream that has a width converter; of a stream without one there is only the one
// behind its writer, which then holds what either is to hold. Or it is a FIFO between the nodes of a split.
type Side struct {
	stream int  // of a split: the one that its layer writes
	front  bool // in front of the reader
	inside int  // of a split: the number of its FIFO, from 1 on
}

// compare orders FIFOs along the network.
func (s Side) compare(o Side) int {
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

// allows reports whether a layer may have a class.
func (r *Region) allows(s *Space, layer int, class int) bool {
	switch {
	case s.Layers[layer].Classes[class].Clocks > r.Limit:
		return false
	case r.class != nil && r.class[layer] >= 0:
		return r.class[layer] == int32(class)
	}
	return !slices.Contains(r.not, exclusion{layer, int32(class)})
}

// Whole reports whether the region is all foldings within its limit.
func (r *Region) Whole() bool { return r.class == nil && len(r.not) == 0 && len(r.words) == 0 }

// Holding is the region in which the FIFOs of a design hold so many words at least.
func (r Region) Holding(b *Built, words []int) Region {
	r.words = maps.Clone(r.words)
	for id, n := range words {
		r.deepen(b.sides[id], n)
	}
	return r
}

func (r *Region) deepen(s Side, words int) {
	if r.words == nil {
		r.words = map[Side]int{}
	}
	r.words[s] = max(words, r.words[s])
}

// Divide is the parts of a region without the folding of these classes: first those in which one of some layers has
// another class, the ones before it the same (Lawler 1972); all layers where none are named. Then, of the part in which
// they have these classes, those in which one of some FIFOs is deeper, as deep as these say.
//
// Of three layers with classes 4, 0 and 2, and a FIFO of 2 words, the parts are: not 4; 4, not 0; 4, 0, not 2; and
// 4, 0, 2 with 32 words.
func (r Region) Divide(class []int32, layers []int, deeper map[Side]int) (parts []Region) {
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
	for _, side := range slices.SortedFunc(maps.Keys(deeper), Side.compare) {
		part := r
		part.words = maps.Clone(r.words)
		part.deepen(side, deeper[side])
		parts = append(parts, part)
	}
	return parts
}
