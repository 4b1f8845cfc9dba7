package frontend_test

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"testing"

	"hlsgen/frontend/canon"
	"hlsgen/frontend/execution"
	"hlsgen/frontend/graph"
	"hlsgen/frontend/onnxio"
	"hlsgen/frontend/pass"
	"hlsgen/frontend/program"
	"hlsgen/internal/diag"
	"hlsgen/internal/testsupport/onnxtest"
)

// TestDecidedAgain changes, one after the other, codes of elements that float32 may round to several. The elements that
// are computed again must equal those of a whole run with these codes.
func TestDecidedAgain(t *testing.T) {
	t.Parallel()
	for seed := range uint64(12) {
		r := rand.New(rand.NewPCG(seed, 7))
		part := decidedPart(t, r)
		x := &program.Reals{Shape: []int{1, 2, 6, 6}}
		for range 72 {
			x.Lo = append(x.Lo, float64(r.IntN(64)-32)/64)
		}
		x.Hi = x.Lo
		taken := map[string]float64{}
		choose := func(name string, i int, lo, hi, _ float64) float64 {
			if v, ok := taken[fmt.Sprint(name, i)]; ok {
				return min(hi, max(lo, v))
			}
			return lo
		}
		now := part.RunFloat32BoundsChoosingCodes([]*program.Reals{x}, choose)
		moved := 0
		for range 12 {
			type place struct {
				name string
				i    int
				hi   float64
			}
			var open []place
			now.VisitAmbiguousElements(func(name string, i int, _, hi float64) {
				open = append(open, place{name, i,
					hi})
			})
			if len(open) == 0 {
				break
			}
			at := open[r.IntN(len(open))]
			taken[fmt.Sprint(at.name, at.i)] = at.hi
			again, whole := now.RerunWithCodes(at.name, []int{at.i}, choose, nil),
				part.RunFloat32BoundsChoosingCodes([]*program.Reals{x},
					choose)
			for _, name := range slices.Sorted(maps.Keys(whole.All)) {
				a, b := again.All[name], whole.All[name]
				if !slices.Equal(a.Lo, b.Lo) || !slices.Equal(a.Hi, b.Hi) {
					t.Fatalf("seed %d, %q after %v: %v, want %v", seed, name, at, a, b)
				}
				if !slices.Equal(now.All[name].Lo, a.Lo) {
					moved++
				}
			}
			if got, want := listed(again), listed(whole); !slices.Equal(got, want) {
				t.Fatalf("seed %d: %v are open, want %v", seed, got, want)
			}
			if again.Work > whole.Work {
				t.Errorf("seed %d: %d steps of work, for the whole %d", seed, again.Work, whole.Work)
			}
			now = again
		}
		if moved == 0 {
			t.Errorf("seed %d: no value changes", seed)
		}
	}
}

// listed returns the codes that are open in a run.
func listed(d *execution.ChosenCodesRun) (open []string) {
	d.VisitAmbiguousElements(func(name string, i int, lo, hi float64) {
		open = append(open, fmt.Sprint(name, i, lo,
			hi))
	})
	return open
}

// decidedPart draws a network of the operations that make codes: products, maxima, means, sums, moves.
func decidedPart(t *testing.T, r *rand.Rand) *execution.ProgramPart {
	n := newNet(13).Input("x", graph.DTypeFloat32, 1, 2, 6, 6).quant("x", "q", "sx", 0, 5, 1)
	for _, s := range []string{"s0", "s1", "s2", "s3"} {
		n.Init(s, graph.DTypeFloat32, nil, 0.25+r.Float64())
	}
	n.Init("sx", graph.DTypeFloat32, nil, 1.0/32)
	n.op("Conv", "c", "q", n.c([]int{3, 2, 3, 3}, whole(r, 54, -3, 3)...)).Ints("pads", 1, 1, 1, 1)
	n.quant("c", "a", "s0", 0, 6, 1)
	n.op("Conv", "d", "a", n.c([]int{3, 1, 3, 3}, whole(r, 27, -3, 3)...), n.c([]int{3}, 0.5, 1, -1)).
		Int("group", 3).Ints("pads", 1, 1, 1, 1)
	n.op("HardSigmoid", "h", "d").quant("d", "b", "s1", 0, 7, 1).op("Mul", "m", "b", "h").quant("m", "e", "s2", 0, 6, 1)
	n.op("Add", "f", "e", "a").op("MaxPool", "g", "f").Ints("kernel_shape", 2, 2).Ints("strides", 2, 2)
	n.op("Concat", "i", "g", "g").Int("axis", 1).op("GlobalAveragePool", "j", "i").op("Flatten", "k", "j")
	n.quant("k", "l", "s3", 0, 8, 1).op("MatMul", "o", "l", n.c([]int{6, 4}, whole(r, 24, -3, 3)...))
	n.quant("o", "p", "s0", 0, 8, 1)
	n.op("Softmax", "y", "p")
	file := n.output(1, 4)
	var d diag.List
	g := onnxio.ParseGraph("m", file.Bytes(), &d)
	if g == nil {
		t.Fatal(d.Diags)
	}
	p, err := canon.NormaliseGraph(&canon.PassState{Program: onnxtest.Prepare(t, g)}, pass.Options[*canon.PassState]{},
		&d)
	if err != nil || p == nil {
		t.Fatal(err, d.Diags)
	}
	part, err := execution.NewProgramPart(p, []string{"x"}, []string{"y"})
	if err != nil {
		t.Fatal(err)
	}
	return part
}
