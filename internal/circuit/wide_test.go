package circuit_test

import (
	"fmt"
	"strings"
	"testing"

	"hlsgen/internal/circuit"
	"hlsgen/internal/num"
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

// TestTooWide checks that numbers beyond 128 bits are refused, and that no wide number passes for an int64.
func TestTooWide(t *testing.T) {
	t.Parallel()
	all := num.Type{Kind: num.KindInt, Width: 128}
	b := circuit.NewBuilder(rates[0])
	always := b.ConstantNumber(1)
	x := circuit.LowBitsAsType(b.AddInputStream(128, always), all)
	for want, f := range map[string]func(){
		"a result leaves 128 bits": func() { circuit.SumOfTwo(x, always) },
		"leaves 128 bits":          func() { circuit.Negate(x) },
		"128 bits":                 func() { circuit.MultiplyInDSP(x, x) },
		"leaves 128":               func() { circuit.ShiftByConstant(x, 1) },
		"has no range of int64s":   func() { x.Range() },
		"no range of int64s":       func() { circuit.EncodeAsType(x, num.Type{Kind: num.KindInt, Width: 64}) },
		"register r of [0,1] is set to [-170141183460469231731687303715884105728,": func() {
			b.AddRegister("r", 0, num.Range{Hi: 1}).SetNext(x, always)
		},
	} {
		said := func() (said string) {
			defer func() { said = fmt.Sprint(recover()) }()
			f()
			return ""
		}()
		if !strings.Contains(said, want) {
			t.Errorf("%q, want %q", said, want)
		}
	}
}
