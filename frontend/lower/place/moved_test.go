package place

import (
	"math/rand/v2"
	"slices"
	"testing"
)

// TestMovement compares movements with lists of wires and positions.
func TestMovement(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(1, 4))
	for range 2000 {
		h, w, c := 1+r.IntN(4), 1+r.IntN(4), 1+r.IntN(3)
		var m Movement
		var from []int16
		var at []int32
		for i := range h * w * c {
			f, a := int16(r.IntN(3)-1), int32(r.IntN(5))
			if i > 0 && r.IntN(3) > 0 { // adjacent to the position before
				f, a = from[i-1], at[i-1]+1
			}
			from, at = append(from, f), append(at, a)
			m.AppendPosition(f, a)
		}
		for range 20 {
			k := r.IntN(len(at))
			if f, a := m.SourceOf(k); m.Len() != len(at) || f != from[k] || f != ConstantWireIndex && a != at[k] {
				t.Fatalf("%v %v: position %d is %d of %d", from, at, k, a, f)
			}
		}
		if !slices.Equal(m.froms(), from) {
			t.Fatalf("%v, want %v", m.froms(), from)
		}
		for k, a := range m.places() {
			if from[k] != ConstantWireIndex && a != at[k] {
				t.Fatalf("%v: position %d is %d, want %d", from, k, a, at[k])
			}
		}
		if b, ok := m.StridedBoxOfNonConstants(h, w, c); ok {
			part := m.PartInBox(b, w, c)
			f, a := b.cut(w, c, from, at)
			if !slices.Equal(part.froms(), f) || !slices.Equal(part.places(), a) {
				t.Fatalf("%v %v: %v is %v %v", from, at, b, part.froms(), part.places())
			}
		}
		whole := !slices.ContainsFunc(from, func(f int16) bool { return f != from[0] }) &&
			(from[0] == ConstantWireIndex || slices.Equal(at, inOrder(len(at))))
		if _, ok := m.whole(); ok != whole && from[0] != ConstantWireIndex {
			t.Fatalf("%v %v: whole is %t", from, at, ok)
		}
	}
}

// inOrder returns the positions of n elements in order.
func inOrder(n int) []int32 {
	m := newInOrderMovement(n)
	return m.places()
}
