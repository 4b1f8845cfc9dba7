package luts

import (
	"encoding/binary"
	"slices"
	"sync"

	"hlsgen/hlslib/price/cost"
)

// A part is logic that reads no gate of the rest of a circuit, and of which the rest reads none: leaves alone lie
// between them. ABC maps each part by itself, but for the longest path. So equal parts, such as those of the PEs of a
// layer, are mapped once.
type part struct {
	leaf  []int32 // per member that is a leaf: its number among all gates; else 0
	in    [][2]signal
	kind  []CellPurpose
	ends  []signal
	depth int16  // the most gates in a row
	key   string // equal for parts that are mapped alike
}

// partsOf divides gates into parts. Leaves precede the gates of a part, except that all members keep their order where
// a function of many inputs is made of several LUTs, because the order of the inputs then counts.
func (d *SynthesisRules) partsOf(g *gates) []part {
	up := make([]int32, len(g.in)) // of gates of one part, all but one lead to another one
	root := func(i int32) int32 {
		for up[i] != i {
			up[i] = up[up[i]]
			i = up[i]
		}
		return i
	}
	for i := range g.in {
		up[i] = int32(i)
		for _, s := range g.in[i] {
			if k := s.gate(); !g.leaves(int32(i)) && !g.leaves(k) {
				up[root(k)] = root(int32(i))
			}
		}
	}
	number := make([]int32, len(g.in)) // per root: its part, from 1 on
	var members [][]int32
	for i := range g.in {
		if g.leaves(int32(i)) {
			continue
		}
		r := root(int32(i))
		if number[r] == 0 {
			members = append(members, nil)
			number[r] = int32(len(members))
		}
		members[number[r]-1] = append(members[number[r]-1], int32(i))
	}
	parts := make([]part, len(members))
	local, in := make([]int32, len(g.in)), make([]int32, len(g.in)) // per gate: its number in the last part it is in
	for k, list := range members {
		parts[k] = newPart(g, d.ordered(g, list, in, int32(k+1)), local)
	}
	return parts
}

// ordered returns the members of a part: its gates, and the leaves that they read. in says of leaves in which part they
// were met last.
func (d *SynthesisRules) ordered(g *gates, list, in []int32, number int32) []int32 {
	var all []int32
	for _, i := range list {
		for _, s := range g.in[i] {
			if k := s.gate(); g.leaves(k) && in[k] != number {
				in[k] = number
				all = append(all, k)
			}
		}
	}
	all = append(all, list...)
	if d.Small {
		slices.Sort(all)
	}
	return all
}

// newPart returns the part with the given members. Gate 0 of it has the constants, as in all gates. local is scratch.
func newPart(g *gates, members, local []int32) part {
	n := len(members) + 1
	p := part{leaf: make([]int32, n), in: make([][2]signal, n), kind: make([]CellPurpose, n)}
	depth, key := make([]int16, n), make([]byte, 0, 8*n)
	for k, i := range members {
		at := int32(k + 1)
		local[i] = at
		if g.leaves(i) {
			p.leaf[at] = i
			key = append(key, 0)
			continue
		}
		for o, s := range g.in[i] {
			x := local[s.gate()]
			p.in[at][o] = signal(2 * x).when(s.turned())
			depth[at] = max(depth[at], depth[x]+1)
			key = binary.AppendUvarint(key, uint64(p.in[at][o]))
		}
		p.kind[at], p.depth = g.kind[i], max(p.depth, depth[at])
		ends := byte(0)
		for turned := range 2 {
			if g.isEnd(signal(2*i + int32(turned))) {
				p.ends, ends = append(p.ends, signal(2*at+int32(turned))), ends|1<<turned
			}
		}
		key = append(key, byte(p.kind[at]), ends)
	}
	p.key = string(key)
	return p
}

// A partCount is the number of a part's LUTs by purpose, and how they read its leaves.
type partCount struct {
	luts   [CellPurposeCount]int
	reads  []int32 // per leaf: how many LUTs read it
	behind []behind
}

// A behind is a LUT that reads leaves.
type behind struct {
	kind   CellPurpose
	inputs int
	leaves []int32
}

// A partKey identifies a part on a fabric, and how many LUTs its paths may have in a row at most: 0 for the fewest.
type partKey struct {
	of      cost.Fabric
	longest int16
	part    string
}

// mostKnown is the most bytes of keys of parts that are remembered.
const mostKnown = 8 << 20

// A KnownParts holds facts about parts of circuits: their longest paths, and their LUTs. The zero value has none.
// Several goroutines may use it at a time.
type KnownParts struct {
	mutex   sync.Mutex
	bytes   int
	longest map[partKey]int16
	counts  map[partKey]*partCount
}

// path returns the longest path of a part. ok is false if it is not known.
func (k *KnownParts) path(key partKey) (longest int16, ok bool) {
	k.mutex.Lock()
	defer k.mutex.Unlock()
	longest, ok = k.longest[key]
	return longest, ok
}

// count returns the LUTs of a part, or nil if they are not known.
func (k *KnownParts) count(key partKey) *partCount {
	k.mutex.Lock()
	defer k.mutex.Unlock()
	return k.counts[key]
}

// learn calls keep to add a fact about the part with the given key. It forgets all others first if they take too much.
func (k *KnownParts) learn(key partKey, keep func()) {
	k.mutex.Lock()
	defer k.mutex.Unlock()
	if k.bytes += len(key.part); k.longest == nil || k.bytes > mostKnown {
		k.bytes, k.longest, k.counts = len(key.part), map[partKey]int16{}, map[partKey]*partCount{}
	}
	keep()
}

// A partMapping maps a part in two steps, since the second one depends on the other parts.
type partMapping struct {
	*part
	d     *SynthesisRules
	begun *mapping // nil if the part's longest path was known
}

// mappings returns the mappings of the parts of gates.
func (d *SynthesisRules) mappings(g *gates) []partMapping {
	parts := d.partsOf(g)
	list := make([]partMapping, len(parts))
	for i := range parts {
		list[i] = partMapping{part: &parts[i], d: d}
	}
	return list
}

// begin returns the fastest mapping of the part.
func (p *partMapping) begin() *mapping {
	if p.begun == nil {
		p.begun = p.d.fastest(&gates{in: p.in, kind: p.kind, ends: p.ends})
	}
	return p.begun
}

// longest returns the number of LUTs on the longest path through the part.
func (p *partMapping) longest() int16 {
	key := partKey{of: p.d.Fabric, part: p.key}
	longest, ok := p.d.known.path(key)
	if !ok {
		longest = p.begin().longest
		p.d.known.learn(key, func() { p.d.known.longest[key] = longest })
	}
	return longest
}

// count returns the LUTs of the part where no path may have more of them than longest, which must be no less than the
// longest path of all parts.
func (p *partMapping) count(longest int16) *partCount {
	key := partKey{p.d.Fabric, min(longest, p.depth), p.key} // a LUT has at least one gate of a path
	if c := p.d.known.count(key); c != nil {
		return c
	}
	m := p.begin()
	m.economise(key.longest)
	c := &partCount{reads: m.refs}
	for i := range m.in {
		if !m.used(int32(i)) {
			continue
		}
		best := &m.best[i]
		c.luts[m.kind[i]] += m.tables(int32(i))
		b := behind{kind: m.kind[i], inputs: int(best.n)}
		for _, l := range best.list() {
			if m.leaves(l) {
				b.leaves = append(b.leaves, l)
			}
		}
		if b.leaves != nil && p.d.Absorbs {
			c.behind = append(c.behind, b)
		}
	}
	if p.d.Packs {
		for _, i := range m.packed() {
			c.luts[m.kind[i]]--
		}
	}
	p.begun = nil
	p.d.known.learn(key, func() { p.d.known.counts[key] = c })
	return c
}
