package axes

import (
	"math/rand/v2"
	"testing"

	"hlsgen/frontend/graph"
	"hlsgen/frontend/program"
)

// TestSums holds that sums of which not every term is compared are those whose terms all are the same.
func TestSums(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(4, 6))
	table := func(n, below int) []int32 {
		out := make([]int32, n)
		for i := range out {
			out[i] = int32(r.IntN(below))
		}
		return out
	}
	skipped, compared := 0, 0
	for range 20000 {
		const n, inner = 2, 3
		c := &contrast{n: n}
		constant := &graph.ConstantTensor{DType: graph.DTypeFloat32, Shape: []int{8}, F: []float64{1, 1, 2, 1, 1, 2, 1,
			1}}
		other := *constant
		kinds := []operand{
			{inner: inner, size: n * inner},     // a sample's elements side by side
			{inner: inner, size: 2 * n * inner}, // or in two places
			{size: 12},                          // shared
			{many: constant, one: constant},
			{many: constant, one: &other},
		}
		operands := []operand{kinds[r.IntN(len(kinds))], kinds[r.IntN(len(kinds))]}
		k := 1 + r.IntN(2)
		below := [2]int{3, 3}
		for i, o := range operands {
			if o.inner*n == o.size && o.inner > 0 {
				below[i] = 2 // a sample has three elements
			}
		}
		e := &program.Dot{B: 1, K: k}
		e.ABase, e.AOffset = program.NewIndexList(table(1, below[0])), table(k, below[0])
		e.BBase, e.BOffset = program.NewIndexList(table(1, below[1])), table(k, below[1])
		d := *e
		sample := r.IntN(n)
		// often what a sample has in place of the single one
		for _, base := range []**program.IndexList{&d.ABase, &d.BBase} {
			*base = program.NewIndexList([]int32{(*base).At(0) + int32(r.IntN(2)*sample*inner)})
		}
		if r.IntN(3) == 0 {
			d.AOffset = table(k, below[0])
		}
		s, t1 := &program.Step{Dot: &d}, &program.Step{Dot: e}
		same := true
		for i := range 2 * k {
			slot, of := readOf(s, 0, i)
			_, to := readOf(t1, 0, i)
			same = same && c.same(operands[slot], sample, of, to)
		}
		switch first := c.sums(&d, e, operands)(sample, 0, 0); {
		case first == 0:
			compared++
		case first != 2*k || !same:
			t.Fatalf("%d of %d terms are skipped, the same: %t; %+v %+v %+v", first, 2*k, same, operands, d, e)
		default:
			skipped++
		}
	}
	if skipped < 1000 || compared < 1000 {
		t.Errorf("%d sums were skipped, %d compared", skipped, compared)
	}
}
