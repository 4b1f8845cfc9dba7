package circuit_test

import (
	"testing"

	"hlsgen/internal/testsupport/circuittest"
)

// TestDrawings compares random circuits of numbers of up to 128 bits, of all operations that a layer can build, with
// math/big.
func TestDrawings(t *testing.T) {
	t.Parallel()
	for seed := range uint64(60) {
		d := circuittest.Draw(seed)
		if err := timed(d.Module); err != nil {
			t.Fatalf("seed %d: %v", seed, err)
		}
		r := newMachine(t, d.Module)
		for range 12 {
			word := d.Word()
			if lacks, err := r.Iterate([][]uint64{circuittest.Limbs(word, d.In)}); lacks >= 0 || err != nil {
				t.Fatalf("seed %d: %d, %v", seed, lacks, err)
			}
			got, want := circuittest.OfLimbs(r.WrittenWord(0)), d.Iterate(word)
			if got.Cmp(want) != 0 {
				t.Fatalf("seed %d: %s", seed, d.Describe(got, want))
			}
		}
	}
}
