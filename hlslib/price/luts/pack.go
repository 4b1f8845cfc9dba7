package luts

import (
	"math/bits"
	"slices"
)

// packed returns the gates of superfluous LUTs, as ABC's lutpack finds them. Three LUTs that form a function of few
// bits may become two, one of which reads the other. Both may read one bit in common.
func (m *mapping) packed() (roots []int32) {
	done := make([]bool, len(m.in))
	alone := func(i int32) (list []int32) { // lookup tables that only this one reads
		for _, l := range m.best[i].list() {
			if m.refs[l] == 1 && m.best[l].n > 0 && !done[l] {
				list = append(list, l)
			}
		}
		return list
	}
	for i := len(m.in) - 1; i > 0; i-- {
		root := int32(i)
		if !m.used(root) || done[i] {
			continue
		}
		first := alone(root)
		for k, a := range first {
			for _, b := range slices.Concat(first[k+1:], alone(a)) {
				if !done[root] && m.two(root, a, b) {
					done[root], done[a], done[b] = true, true, true
					roots = append(roots, root)
				}
			}
		}
	}
	return roots
}

// two reports whether two LUTs can compute the function of three: the LUTs of the gates root, a and b.
func (m *mapping) two(root, a, b int32) bool {
	inside := []int32{root, a, b}
	var in []int32
	for _, i := range inside {
		for _, l := range m.best[i].list() {
			if !slices.Contains(inside, l) && !slices.Contains(in, l) {
				in = append(in, l)
			}
		}
	}
	n := len(in)
	if n > 2*m.d.Inputs-1 || n > 7 {
		return false
	}
	values := map[int32]truth{}
	for k, l := range in {
		values[l] = variable(k)
	}
	f := m.value(root, values)
	for set := range 1 << n { // the bits that only the first lookup table reads
		own := bits.OnesCount(uint(set))
		if own < 2 || own > m.d.Inputs {
			continue
		}
		if n-own+1 <= m.d.Inputs && halvesAlike(f, n, set, -1) {
			return true
		}
		if own == m.d.Inputs || n-own+1 > m.d.Inputs {
			continue
		}
		for shared := range n { // the second lookup table reads it, too
			if set>>shared&1 == 0 && halvesAlike(f, n, set, shared) {
				return true
			}
		}
	}
	return false
}

// A truth holds a function of up to eight bits as its values: bit n of it is the value for the inputs n.
type truth [4]uint64

// variable returns the function that is input k of eight.
func variable(k int) truth {
	switch k {
	case 6:
		return truth{0, ^uint64(0), 0, ^uint64(0)}
	case 7:
		return truth{0, 0, ^uint64(0), ^uint64(0)}
	}
	return truth{low[k], low[k], low[k], low[k]}
}

// value returns gate i as a function of the signals in known.
func (m *mapping) value(i int32, known map[int32]truth) truth {
	if v, ok := known[i]; ok {
		return v
	}
	v := truth{^uint64(0), ^uint64(0), ^uint64(0), ^uint64(0)}
	for _, s := range m.in[i] {
		x := m.value(s.gate(), known)
		for k := range v {
			if s.turned() {
				v[k] &^= x[k]
			} else {
				v[k] &= x[k]
			}
		}
	}
	known[i] = v
	return v
}

// halvesAlike reports whether a function of n bits depends on those of a set only through one bit, for each value of a
// shared bit.
func halvesAlike(f truth, n, set, shared int) bool {
	var columns [2][2]uint64 // the different functions of the other bits, by the shared bit
	var count [2]int
	for at := set; ; at = (at - 1) & set {
		for s := range 2 {
			if shared < 0 && s == 1 {
				break
			}
			base := at
			if shared >= 0 {
				base |= s << shared
			}
			var column uint64
			k := 0
			for rest := 0; rest < 1<<n; rest++ {
				if rest&set != 0 || shared >= 0 && rest>>shared&1 != 0 {
					continue
				}
				r := base | rest
				column |= f[r/64] >> (r % 64) & 1 << k
				k++
			}
			if !slices.Contains(columns[s][:count[s]], column) {
				if count[s] == 2 {
					return false
				}
				columns[s][count[s]] = column
				count[s]++
			}
		}
		if at == 0 {
			return true
		}
	}
}
