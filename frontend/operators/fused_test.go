package operators

import (
	"math/big"
	"math/rand/v2"
	"testing"

	"hlsgen/frontend/execution"
	"hlsgen/internal/testsupport/tier"
)

// A fused sum is the exact one, rounded once.
func TestFused(t *testing.T) {
	t.Parallel()
	tier.NotQuick(t)
	r := rand.New(rand.NewPCG(1, 2))
	draw := func() float32 {
		v := float32(int32(r.Uint32())>>8) * (1.0 / (1 << 20))
		if r.IntN(3) == 0 {
			v *= 1.0 / (1 << 26) // beyond the last bit of others
		}
		return v
	}
	once := 0
	for range 200_000 {
		x, y, z := draw(), draw(), draw()
		if r.IntN(4) == 0 {
			z = -x * y // nearly nothing is left
		}
		exact := func(v float32) *big.Rat { return new(big.Rat).SetFloat64(float64(v)) }
		sum := new(big.Rat).Mul(exact(x), exact(y))
		want, _ := sum.Add(sum, exact(z)).Float32()
		if got := execution.FusedMultiplyAdd32(x, y, z); got != want {
			t.Fatalf("%v*%v + %v is %v, want %v", x, y, z, got, want)
		}
		if float32(x*y)+z != want {
			once++
		}
	}
	if once == 0 {
		t.Errorf("no sum of rounded products differs")
	}
	// Half way between two float32, but for what a float64 leaves out.
	x, z := float32(1+0x1p-12), float32(0x1p-60)
	if up, down := execution.FusedMultiplyAdd32(x, x, z), execution.FusedMultiplyAdd32(x, x,
		-z); up != 1+0x1p-11+0x1p-23 || down != 1+0x1p-11 {
		t.Errorf("beside a tie: %v and %v", up, down)
	}
}
