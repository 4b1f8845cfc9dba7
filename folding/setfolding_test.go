package folding

import (
	"context"
	"math/rand/v2"
	"testing"

	"hlsgen/internal/dataflow"
	"hlsgen/internal/diag"
)

// SetFolding raises SIMD, then PE, each layer by itself, and stops at the width of weights that FINN allows.
func TestSetFolding(t *testing.T) {
	t.Parallel()
	m := mlp(rand.New(rand.NewPCG(2, 2)), uint2, 2, 2, 64, 32, 8)
	target := dataflow.Target{Board: board("zcu104"), ClockMHz: 200, Formula: dataflow.FINN}
	var d diag.List
	s, err := prepare(m, target, Goal{}, widthConverter, &d)
	if err != nil || s == nil {
		t.Fatal(err, d.Diags)
	}
	layers := s.greedies()
	for _, c := range []struct {
		target, bits int
		want         [2]dataflow.Fold // PE and SIMD
	}{
		{2048, finnWordBits, [2]dataflow.Fold{{PE: 1, SIMD: 1}, {PE: 1, SIMD: 1}}},
		{256, finnWordBits, [2]dataflow.Fold{{PE: 1, SIMD: 8}, {PE: 1, SIMD: 1}}},
		{32, 1 << 20, [2]dataflow.Fold{{PE: 1, SIMD: 64}, {PE: 1, SIMD: 8}}},
		{32, finnWordBits, [2]dataflow.Fold{{PE: 4, SIMD: 16}, {PE: 1, SIMD: 8}}}, // 2 bits by 32 are too many
		{20, finnWordBits, [2]dataflow.Fold{{PE: 8, SIMD: 16}, {PE: 1, SIMD: 16}}},
	} {
		for i, o := range s.setFolding(layers, c.target, c.bits) {
			if f := s.layers[i].options[o].fold; f.PE != c.want[i].PE || f.SIMD != c.want[i].SIMD || f.Compute != dataflow.LUT {
				t.Errorf("target %d, layer %d: %+v, want %+v", c.target, i, f, c.want[i])
			}
		}
	}
	r, err := SetFolding(context.Background(), m, target, Goal{}, &d)
	if err != nil || r == nil || !r.Total.Within(Budget(target.Board, Use{})) {
		t.Fatal(r, err, d.Diags)
	}
	if err := r.Design.Verify(); err != nil {
		t.Error(err)
	}
}

// A rate that the design with the shortest latency reaches does not make the latency longer.
func TestLatencyAtRate(t *testing.T) {
	t.Parallel()
	m := mlp(rand.New(rand.NewPCG(4, 1)), uint2, 2, 2, 64, 64, 64, 10)
	free, _ := run(t, m, board("zcu104"), Goal{Latency: true})
	slow, _ := run(t, m, board("zcu104"), Goal{Latency: true, FPS: 1000})
	if free == nil || slow == nil || slow.Latency != free.Latency {
		t.Errorf("%+v, %+v", free, slow)
	}
}
