package luts

import (
	"encoding/binary"
	"math"
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
	// how many times the gates of the part the circuit has; more than 1 where the part stands for a larger one
	times float64
}

// mostMapped is the number of gates beyond which a part is too large to be mapped as a whole. Circuits of that size are
// layers with all their weights as constants, whose channels are much alike.
const mostMapped = 1 << 14

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
		some := list
		if len(list) > mostMapped {
			some = firstCones(g, list)
		}
		parts[k] = newPart(g, d.ordered(g, some, in, int32(k+1)), local)
		parts[k].times = float64(len(list)) / float64(len(some))
	}
	return parts
}

// firstCones returns the gates behind the first ends among the gates in list: those of as many ends as have mostMapped
// gates together.
func firstCones(g *gates, list []int32) (some []int32) {
	met := make([]bool, len(g.in))
	var visit func(i int32)
	visit = func(i int32) {
		if met[i] || g.leaves(i) {
			return
		}
		met[i] = true
		some = append(some, i)
		for _, s := range g.in[i] {
			visit(s.gate())
		}
	}
	for _, i := range list {
		if g.endings(i) != 0 && len(some) < mostMapped {
			visit(i)
		}
	}
	slices.Sort(some)
	return some
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
		ends := g.endings(i)
		for turned := range 2 {
			if ends>>turned&1 != 0 {
				p.ends = append(p.ends, signal(2*at+int32(turned)))
			}
		}
		key = append(key, byte(p.kind[at]), byte(ends))
	}
	p.key = string(key)
	return p
}

// A partCount is the number of a part's LUTs by purpose, and how they read its leaves.
type partCount struct {
	longest, from int16 // the longest path that was allowed; with any from this one on, nothing changes
	luts          [CellPurposeCount]int
	reads         []int32 // per leaf: how many LUTs read it
	behind        []behind
}

// A behind is a LUT that reads leaves.
type behind struct {
	kind   CellPurpose
	inputs int
	leaves []int32
}

// A partKey identifies a part on a fabric.
type partKey struct {
	of   cost.Fabric
	part string
}

// mostKnown is the most bytes of parts that are remembered.
const mostKnown = 32 << 20

// A KnownParts holds facts about parts of circuits: their fastest mappings, and their LUTs. It also has memory for
// reuse. The zero value has none of these.
// Several goroutines may use it at a time.
type KnownParts struct {
	mutex   sync.Mutex
	bytes   int
	fastest map[partKey]*fastMapping
	counts  map[partKey][]*partCount
	walks   sync.Pool // walks that are done, whose memory the next ones take
}

// A fastMapping is the result of fastest in few bytes: what each gate's lookup table reads, one gate after the other.
type fastMapping struct {
	longest int16
	inputs  []int8 // per gate
	reads   []int32
}

// mapping returns the fastest mapping of a part, or nil if it is not known.
func (k *KnownParts) mapping(key partKey) *fastMapping {
	k.mutex.Lock()
	defer k.mutex.Unlock()
	return k.fastest[key]
}

// count returns the LUTs of a part whose paths may have up to longest LUTs in a row, or nil if they are not known.
func (k *KnownParts) count(key partKey, longest int16) *partCount {
	k.mutex.Lock()
	defer k.mutex.Unlock()
	for _, c := range k.counts[key] {
		if longest == c.longest || longest >= c.from {
			return c
		}
	}
	return nil
}

// learn calls keep to add a fact of the given bytes about a part. It forgets all others first if they take too much.
func (k *KnownParts) learn(bytes int, keep func()) {
	k.mutex.Lock()
	defer k.mutex.Unlock()
	if k.bytes += bytes; k.counts == nil || k.bytes > mostKnown {
		k.bytes, k.fastest, k.counts = bytes, map[partKey]*fastMapping{}, map[partKey][]*partCount{}
	}
	keep()
}

// A partMapping maps a part in two steps, since the second one depends on the other parts.
type partMapping struct {
	*part
	d *SynthesisRules
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

// fastest returns the fastest mapping of the part.
func (p *partMapping) fastest() *fastMapping {
	key := p.known()
	f := p.d.known.mapping(key)
	if f == nil {
		m := p.d.fastest(p.gates())
		f = &fastMapping{longest: m.longest, inputs: make([]int8, len(m.best))}
		for i := range m.best {
			f.inputs[i] = m.best[i].n
			f.reads = append(f.reads, m.best[i].list()...)
		}
		p.d.known.learn(len(p.key)+len(f.inputs)+4*len(f.reads), func() { p.d.known.fastest[key] = f })
	}
	return f
}

// known returns the key of what is known of the part.
func (p *partMapping) known() partKey { return partKey{p.d.Fabric, p.key} }

func (p *partMapping) gates() *gates { return &gates{in: p.in, kind: p.kind, ends: p.ends} }

// longest returns the number of LUTs on the longest path through the part.
func (p *partMapping) longest() int16 { return p.fastest().longest }

// single reports whether each output of the part is a function of so few leaves that it takes one LUT: however
// synthesis writes it anew, it takes that one.
func (p *partMapping) single() bool {
	f := p.fastest()
	return f.longest == 1 && int(slices.Max(f.inputs)) <= p.d.Inputs
}

// count returns the LUTs of the part where no path may have more of them than longest, which must be no less than the
// longest path of all parts.
func (p *partMapping) count(longest int16) *partCount {
	key := p.known()
	longest = min(longest, p.depth) // a LUT has at least one gate of a path
	if c := p.d.known.count(key, longest); c != nil {
		return c
	}
	m := p.d.begun(p.gates(), p.fastest())
	m.economise(longest)
	c := &partCount{longest: longest, from: math.MaxInt16, reads: m.refs}
	if m.spare >= 0 {
		c.from = m.longest - m.spare
	}
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
	p.d.known.learn(len(p.key)+4*len(c.reads), func() {
		p.d.known.counts[key] = append(p.d.known.counts[key], c)
	})
	return c
}
